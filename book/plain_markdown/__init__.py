"""Sphinx extension: plain Markdown in the notebooks, references and numbers on the site.

JupyterLab, VS Code and GitHub do not know MyST. A notebook therefore writes what a reader is to see, as a link:

====================  =====================================================================
a place to refer to   ``<a id="ex-softmax"></a>``, an empty line, then the heading
a numbered formula    ``<a id="eq-online"></a>``, an empty line, ``$$ … \\tag{1.8} $$``
a formula             ``[(1.8)](#eq-online)``, ``[(1.8)](01_softmax.ipynb#eq-online)``
a work                ``[Dao [2023]](references.bib#dao2023flashattention2)``,
                      ``[[Dao, 2023]](references.bib#dao2023flashattention2)``
a term                ``[score](glossary.md)``
a section             ``[Rows and columns](01_softmax.ipynb#Rows-and-columns)``, as JupyterLab names it
a diagram             ``![What it shows](diagrams/paths.svg)``; the next paragraph is its caption
                      (in a Markdown page, too)
====================  =====================================================================

Here each becomes the MyST that it stands for, before a page is parsed. So the site numbers, links and names things by
itself, and every number and name in a notebook that is not the one on the site is a warning.
"""

import json
import re
from pathlib import Path

from docutils import nodes
from myst_parser.mdit_to_docutils.base import default_slugify
from sphinx.util import logging

logger = logging.getLogger(__name__)

PLACE = re.compile(r'<a id="((?!eq-)[\w-]+)"></a>\n\n(?=#)')
FORMULA = re.compile(r'<a id="(eq-[\w-]+)"></a>\n\n(\$\$(?:(?!\$\$).)*?) ?\\tag\{([\d.]+)\}(\s*\$\$)', re.DOTALL)
FORMULA_LINK = re.compile(r"\[(\([\d.]+\))\]\(([\w.]*)#(eq-[\w-]+)\)")
WORK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])+)\]\(references\.bib#([\w,]+)\)")
SECTION_LINK = re.compile(r"(?<=\]\()([\w.]+\.ipynb#)([A-Z][^()\s]*)(?=\))")
TERM = re.compile(r"\[([^\[\]]+)\]\(glossary\.md\)")
DIAGRAM = re.compile(r"!\[([^\[\]]*)\]\((diagrams/[\w-]+\.svg)\)\n\n(.+)")
LEFT_OVER = re.compile(r'\\tag\{.*?\}|<a id=".*?">|\]\((?:[\w.]*#eq-|references\.bib|diagrams/).*?\)')
# What a diagram needs to stand alone, on a page that may be dark: its size, a typeface, paper, colours.
ALONE = re.compile(
    r'<svg xmlns="http://www.w3.org/2000/svg" width="[\d.]+" height="[\d.]+" font-family="sans-serif"(.*?>)\n'
    r'<rect width="100%" height="100%" fill="white"/>\n(?:<style>(.*?)</style>\n)?'
)


def setup(app):
    app.connect("source-read", read)
    app.connect("doctree-resolved", compare)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def read(app, docname, source):
    """Translate a notebook's text into MyST."""
    path = Path(app.env.doc2path(docname))
    if path.suffix == ".ipynb":
        notebook = json.loads(source[0])
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = translated("".join(cell["source"]), path.parent)
                for found in LEFT_OVER.findall(cell["source"]):
                    logger.warning("%s: this form of a reference is not known", found, location=docname, type="plain")
        source[0] = json.dumps(notebook)
    elif path.suffix == ".md":  # which may hold the forms of MyST itself, but for a diagram
        source[0] = with_diagrams(source[0], path.parent)


def translated(text, folder):
    text = PLACE.sub(r"(\1)=\n", text)
    text = FORMULA.sub(r"\2\4 (\1)", text)
    text = FORMULA_LINK.sub(r"{eq}`\3`", text)
    text = WORK.sub(lambda work: f"{{cite:{'p' if work[1].startswith('[') else 't'}}}`{work[2]}`", text)
    text = TERM.sub(r"{term}`\1`", text)
    text = SECTION_LINK.sub(lambda link: link[1] + default_slugify(link[2]), text)
    return with_diagrams(text, folder)


def with_diagrams(text, folder):
    return DIAGRAM.sub(lambda diagram: inlined(folder / diagram[2], diagram[3]), text)


def inlined(path, caption):
    """A diagram as a part of the page, where it takes on the page's colours."""
    drawing = ALONE.sub(r"<svg\1\n", path.read_text(encoding="utf-8").strip(), count=1)
    caption = re.sub(r"\*(.+?)\*", r"<em>\1</em>", caption)
    return f'<figure class="diagram">\n{drawing}\n<figcaption>{caption}</figcaption>\n</figure>'


def compare(app, doctree, docname):
    """Warn of every number and name in a notebook that is not what the site prints."""
    path = Path(app.env.doc2path(docname))
    if path.suffix != ".ipynb":
        return
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    said = [(label, f"({tag})", "") for label, _, tag, _ in FORMULA.findall(text)]
    said += [(label, number, file) for number, file, label in FORMULA_LINK.findall(text)]
    wrong = [(label, words, formula(app.env, docname, label, file)) for label, words, file in said]
    wrong = [(label, words, found) for label, words, found in wrong if words != found]
    cited = [node for node in doctree.findall(nodes.inline) if "bibtex-citation" in node["classes"]]
    works = {(node.rawsource, node.astext()) for node in cited}
    wrong += [(keys, words, dict(works).get(keys)) for words, keys in WORK.findall(text) if (keys, words) not in works]
    for what, words, found in wrong:
        logger.warning("%s: the notebook says %s, the site %s", what, words, found, location=docname, type="plain")


def formula(env, docname, label, file):
    """The number that the site prints for a formula, or where the formula is if that is another file."""
    equation = env.get_domain("math").equations.get(label)
    if equation is None:
        return None
    home = Path(env.doc2path(equation[0])).name
    if home != (file or Path(env.doc2path(docname)).name):
        return f"in {home}"
    number = env.toc_fignumbers[equation[0]]["displaymath"][nodes.make_id(f"equation-{label}")]
    return f"({'.'.join(map(str, number))})"
