"""Sphinx extension: the list of works is labelled as the text cites them, and leads back to where they are cited.

* Works of the same authors and year get letters, in the text and in the list: Bridle [1990a], Bridle [1990b].
* The style ``author_year`` of a ``{bibliography}`` sorts by author and year and shows them as the label.
* Under each work stand the sections that cite it.
"""

from itertools import groupby
from pathlib import Path

from docutils import nodes
from pybtex.plugin import find_plugin, register_plugin
from pybtex.style.formatting.plain import Style as PlainStyle
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.sorting.author_year_title import SortingStyle
from sphinx.util.nodes import make_refnode
from sphinxcontrib.bibtex.style.referencing import PersonStyle
from sphinxcontrib.bibtex.style.template import join, year

from book.pages import reading_order
from book.static_files import add_styles

# What sphinxcontrib-bibtex asks pybtex for, once for each citation.
ASKED_FOR = (("pybtex.backends", "plaintext"), ("pybtex.backends", "docutils"), ("pybtex.style.names", "last"), ("pybtex.style.names", "plain"))
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def setup(app):
    add_styles(app, Path(__file__).parent, "bibliography.css")
    register_plugin("pybtex.style.formatting", "author_year", AuthorYearStyle)
    for group, name in ASKED_FOR:  # or pybtex would look through all installed packages each time
        register_plugin(group, name, find_plugin(group, name), force=True)
    app.connect("env-before-read-docs", letters)
    app.connect("doctree-resolved", back_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def label(entry):
    """A work as the text cites it between brackets: Dao et al., 2022."""
    style = AuthorYearLabels.naming
    template = join(sep=", ")[style.author_or_editor_or_title(full=False), year]
    return str(template.format_data({"entry": entry, "style": AuthorYearLabels}))


class AuthorYearLabels(BaseLabelStyle):
    """The labels of a list of works."""

    naming = person = PersonStyle()  # as the citations in the text; `person` is where its templates look

    def format_labels(self, sorted_entries):
        return [label(entry) for entry in sorted_entries]


class SortedByAuthor(SortingStyle):
    """The order of a list of works: an author in braces, {{DeepSeek-AI}}, stands where its letters belong."""

    def person_key(self, person):
        return super().person_key(person).replace("{", "").replace("}", "")


class AuthorYearStyle(PlainStyle):
    """Sorted by author, year and title, with the label that the text uses."""

    default_sorting_style = SortedByAuthor
    default_label_style = AuthorYearLabels


def letters(app, env, docnames):
    """Give the years of works that would look the same a letter, in the order of the list."""
    entries = AuthorYearStyle().sort(env.get_domain("cite").bibdata.data.entries.values())
    for _, group in groupby(sorted(entries, key=label), key=label):
        same = list(group)
        if len(same) > 1:
            for entry, letter in zip(same, LETTERS, strict=False):
                entry.fields["year"] += letter


def back_links(app, doctree, docname):
    """Say under each work where it is cited."""
    domain = app.env.get_domain("cite")
    keys = {citation.citation_id: citation.key for citation in domain.citations if citation.bibliography_key.docname == docname}
    works = [node for node in doctree.findall(nodes.citation) if node["ids"][0] in keys]
    if not works:
        return
    sections = {name: sections_of(app.env.get_doctree(name)) for name in {ref.docname for ref in domain.citation_refs}}
    order = list(reading_order(app.env))
    for work in works:
        refs = [ref for ref in domain.citation_refs if keys[work["ids"][0]] in {target.key for target in ref.targets}]
        refs.sort(key=lambda ref: order.index(ref.docname))
        if refs:
            work += cited_in(app, docname, refs, sections)


def sections_of(doctree):
    """The section around each citation of a page, by the citation's id."""
    found = {}
    for node in doctree.findall(lambda node: isinstance(node, nodes.Element) and node.get("refdomain") == "cite"):
        section = node.parent
        while not isinstance(section, nodes.section):
            section = section.parent
        found[node["ids"][0]] = section
    return found


def cited_in(app, docname, refs, sections):
    """Cited in chapter 1 (Why the exponential, Recap), chapter 6 (Recap)."""
    line = nodes.paragraph("", "Cited in ", classes=["cited-in"])
    for number, (page, on_page) in enumerate(groupby(refs, key=lambda ref: ref.docname)):
        line += nodes.Text(", " * bool(number) + page_name(app.env, page) + " (")
        first = {}  # citation in each section
        for ref in on_page:
            first.setdefault(sections[page][ref.citation_ref_id], ref.citation_ref_id)
        for place, (section, target) in enumerate(first.items()):
            title = nodes.inline("", "", *section.next_node(nodes.title).deepcopy().children)
            line += [nodes.Text(", " * bool(place)), make_refnode(app.builder, docname, page, target, title)]
        line += nodes.Text(")")
    return line


def page_name(env, docname):
    number = env.toc_secnumbers.get(docname, {}).get("")
    return f"chapter {number[0]}" if number else env.titles[docname].astext()
