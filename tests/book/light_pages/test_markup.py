"""Markup without what only its writers read: the same words, blanks where they count, and one element for code of one colour."""

import pytest

from book.light_pages import markup


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("<p>\n      a  b</p>", "<p>\na b</p>"),
        ("<b>a</b> <i>b</i>", "<b>a</b> <i>b</i>"),
        ("a <!-- note --> b", "a b"),
        ("a<!-- note -->b", "ab"),
        ("a\n\n  <!-- a\n note -->\n\n  b", "a\nb"),
        ('<a class="x"\n     href="y"\n>z</a>', '<a class="x" href="y" >z</a>'),
        ('<a title="two  blanks\n and a line">z</a>', '<a title="two  blanks\n and a line">z</a>'),
        ('<p data-way="&lt;li&gt;a > b  c">', '<p data-way="&lt;li&gt;a > b  c">'),
        ("<textarea>\n  a  b <!-- c --></textarea>", "<textarea>\n  a  b <!-- c --></textarea>"),
        ("<style>a  { b }</style>", "<style>a  { b }</style>"),
        ("<script>\n// why\n  a;\n  b; // as `b`\n</script>", "<script>\na;\nb; // as `b`</script>"),
        ("<script>\n  const a = `two\n    lines`;\n</script>", "<script>\n  const a = `two\n    lines`;\n</script>"),
        ('<script type="application/json">{"a":  1}</script>', '<script type="application/json">{"a":  1}</script>'),
    ],
)
def test_blanks_go_where_they_do_not_count(text, short):
    assert markup.lean(text) == short


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ('<a class="reference internal" href="a">a</a>', '<a href="a">a</a>'),
        ('<li class="has-children"><a class="reference internal" href="a">', '<li class="has-children"><a class="reference internal" href="a">'),
        ('<a class="reference external" href="a">', '<a class="reference external" href="a">'),
        ('<a class="term reference internal" href="a">', '<a class="term reference internal" href="a">'),
        ('<code class="docutils literal notranslate"><span class="pre">a</span> <span class="pre">b</span></code>', '<code class="literal notranslate">a b</code>'),
        ('<code class="xref py py-obj docutils literal notranslate"><span class="pre">a</span></code>', '<code class="xref literal notranslate">a</code>'),
        ('<div class="docutils container">', '<div class="docutils container">'),
    ],
)
def test_names_go_that_nothing_asks_for(text, short):
    assert markup.lean(text) == short


def test_code_keeps_its_blanks_and_neighbours_of_one_colour_become_one():
    code = '<pre>a  <span class="o">=</span> <span class="o">-</span><span class="mi">1</span>\n    <span class="mi">2</span></pre>'
    assert markup.lean(code) == '<pre>a  <span class="o">= -</span><span class="mi">1\n    2</span></pre>'
