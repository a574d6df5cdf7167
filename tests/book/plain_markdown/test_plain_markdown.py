"""Plain Markdown in the notebooks: does the site make references of it, and say where it prints something else?"""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[3]
CONF = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
extensions = ["myst_nb", "sphinxcontrib.bibtex", "book.plain_markdown"]
myst_enable_extensions = ["dollarmath"]
nb_execution_mode = "off"
myst_heading_anchors = 2
numfig = True
bibtex_bibfiles = ["references.bib"]
bibtex_reference_style = "author_year"
html_theme = "basic"
"""
PAGES = {
    "index.md": "# Book\n\n![An arrow](diagrams/arrow.svg)\n\nIt *points*.\n\n"
    "```{toctree}\n:numbered:\nright\nwrong\nreferences\nglossary\n```\n",
    "references.md": "# Works\n\n```{bibliography}\n```\n",
    "glossary.md": "# Terms\n\n```{glossary}\nscore\n    A number.\n```\n",
    "references.bib": "@misc{dao2023, author={Dao, Tri}, title={A}, year={2023}}\n"
    "@misc{clark2019, author={Clark, Kevin and Khandelwal, Urvashi and Levy, Omer}, title={B}, year={2019}}\n",
    "diagrams/arrow.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="5" font-family="sans-serif"'
    ' viewBox="0 0 9 5">\n'
    '<rect width="100%" height="100%" fill="white"/>\n<style>.key { color: red }</style>\n<rect width="9" height="5"/>\n</svg>\n',
}
RIGHT = r"""# Right

<a id="ex-first"></a>

## Exercise

<a id="eq-one"></a>

$$
a = b \tag{1.1}
$$

<a id="eq-two"></a>

$$ c = d \tag{1.2} $$

By [(1.1)](#eq-one) and [(1.2)](right.ipynb#eq-two), [Dao [2023]](references.bib#dao2023) gives each
[score](glossary.md) [[Clark et al., 2019, Dao, 2023]](references.bib#clark2019,dao2023). See [above](#ex-first)
and [there](wrong.ipynb#Why-divide,-by-√d).

![An arrow](diagrams/arrow.svg)

It *points*.

A last line, as in $a$."""
WRONG = r"""# Wrong

## Why divide, by √d

<a id="eq-three"></a>

$$ e = f \tag{1.3} $$

See [(2.2)](#eq-three), [(1.1)](wrong.ipynb#eq-one), [(1.1)](right.ipynb#eq-two), [(9.9)](#eq-none),
[(2.1) here](#eq-three), [there](right.ipynb#Not-there), [Dao (2023)](references.bib#dao2023), [Clark and Levy [2019]](references.bib#clark2019).

$$ g = h \tag{2.9} $$

<a id="lost"></a>

Text."""
SAID = [
    "local id not found in doc 'right': 'not-there' [myst.xref_missing]",
    r"\tag{2.9}: this form of a reference is not known",
    '<a id="lost">: this form of a reference is not known',
    "](#eq-three): this form of a reference is not known",
    "eq-three: the notebook says (1.3), the site (2.1)",
    "eq-three: the notebook says (2.2), the site (2.1)",
    "eq-one: the notebook says (1.1), the site in right.ipynb",
    "eq-two: the notebook says (1.1), the site (1.2)",
    "eq-none: the notebook says (9.9), the site None",
    "dao2023: the notebook says Dao (2023), the site Dao [2023]",
    "clark2019: the notebook says Clark and Levy [2019], the site Clark et al. [2019]",
]


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A small book, built; returns its pages and what was warned of, page by page."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "diagrams").mkdir()
    for name, text in {"conf.py": CONF, **PAGES}.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name, text in {"right": RIGHT, "wrong": WRONG}.items():
        nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)]), folder / f"{name}.ipynb")
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-w", folder / "warnings.txt"]
    subprocess.run([*sphinx, folder, folder / "out"], check=True, capture_output=True)
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (folder / "out").glob("*.html")}
    return pages, (folder / "warnings.txt").read_text(encoding="utf-8").splitlines()


def test_the_site_numbers_and_links_by_itself(book):
    page = book[0]["right"]
    assert re.findall(r'<span class="eqno">(\(.*?\))', page) == ["(1.1)", "(1.2)"]
    linked = re.findall(r'href="(#equation-[^"]*)">(.*?)</a>', page)
    assert linked == [("#equation-eq-one", "(1.1)"), ("#equation-eq-two", "(1.2)")]
    assert r"\tag" not in page
    assert 'href="wrong.html#why-divide-by-d"' in page and '<section id="why-divide-by-d">' in book[0]["wrong"]
    assert re.search(r'<section id="exercise">\s*<span id="ex-first">', page)
    assert '<a class="reference internal" href="#ex-first">' in page
    assert re.search(r'href="glossary.html#term-score"><span.*?>score</span>', page)
    cited = [re.sub("<.*?>", "", found) for found in re.findall(r'<span class="bibtex-citation".*?>(.*?)</span>', page)]
    assert cited == ["Dao [2023]", "[Clark et al., 2019, Dao, 2023]"]


@pytest.mark.parametrize("name", ["right", "index"])
def test_a_diagram_becomes_part_of_the_page_without_its_paper(name, book):
    figure = '<figure class="diagram">\n<svg viewBox="0 0 9 5">\n<rect width="9" height="5"/>\n</svg>\n'
    assert figure + "<figcaption>It <em>points</em>.</figcaption>\n</figure>" in book[0][name]


def test_what_follows_a_caption_stays(book):
    assert "A last line, as in" in book[0]["right"]


def test_a_page_that_says_what_the_site_prints_warns_of_nothing(book):
    assert [line for line in book[1] if "right" in line.split("WARNING:")[0]] == []


@pytest.mark.parametrize("said", SAID)
def test_what_the_site_would_not_print_is_a_warning(book, said):
    assert sum(line.endswith(f"WARNING: {said}") for line in book[1]) == 1, "\n".join(book[1])


def test_there_is_no_other_warning_than_that_of_sphinx_for_a_formula_that_is_not_there(book):
    rest = [line for line in book[1] if not any(line.endswith(said) for said in SAID)]
    assert len(rest) == 1 and "equation not found: eq-none" in rest[0], rest
