"""A page asks for little and holds still: pictures with sizes, no script for formulas, nothing missing in silence."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import pytest
from docutils import nodes
from fontTools.ttLib import TTFont
from sphinx.errors import ExtensionError
from sphinx.util.images import get_image_size

from book import formulas, light_pages, look
from book.light_pages import icons, pictures, plain_code, style_sheet

ROOT = Path(__file__).resolve().parents[3]

STYLES = ("a11y-high-contrast-light", "a11y-high-contrast-dark")


@pytest.fixture(scope="module")
def pages(site):
    """{path: text} of every page but the one that only leads to the first."""
    found = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html") if "_static" not in path.parts}
    return {path: text for path, text in found.items() if path != site / "index.html"}


def attribute(name, tag):
    found = re.search(rf'\s{name}="([^"]*)"', tag)
    return found[1] if found else None


def test_every_picture_says_its_size_and_in_the_ratio_of_its_file(pages):
    seen = 0
    for path, text in pages.items():
        for tag in pictures.IMAGE.findall(text):
            source = attribute("src", tag)
            assert not source.startswith("data:"), f"{path.name}: a picture in the page: {source[:60]}"
            width, height = get_image_size(str(path.parent / unquote(source)))
            said = attribute("width", tag), attribute("height", tag)
            assert all(size and size.isdigit() for size in said), f"{path.name}: {source} has no size"
            # one pixel of either side is what rounding may cost
            assert abs(int(said[0]) * height - int(said[1]) * width) <= max(width, height), f"{path.name}: {source}"
            seen += 1
    assert seen > 20


@pytest.mark.parametrize("source", ["gone.svg", "data:image/gif;base64,R0lGOD", "broken.svg"])
def test_a_picture_whose_size_cannot_be_read_stops_the_build(source, tmp_path):
    (tmp_path / "broken.svg").write_text("no picture")
    with pytest.raises(ExtensionError, match=re.escape(source[:20])):
        pictures.sized(f'<article><img src="{source}" alt="">', tmp_path / "page.html", tmp_path / "_images")


def test_no_page_loads_a_script_for_formulas_or_icons(pages):
    for path, text in pages.items():
        scripts = re.findall(r"<script\b[^>]*\bsrc=[^>]*>", text)
        assert scripts, path
        assert not [script for script in scripts if re.search("mathjax|katex|fontawesome", script, re.I)], path


def test_every_script_waits_for_the_page(pages):
    for path, text in pages.items():
        for tag in re.findall(r"<script\b[^>]*\bsrc=[^>]*>", text):
            # That of print has to be there when a reader or a program prints the page as soon as it is shown.
            waits = r"\sdefer[\s>]" if "/paper.js" in tag else r'\stype="later"[\s>]'
            assert re.search(waits, tag), f"{path.name}: {tag}"


def test_no_script_of_a_page_waits_for_what_has_happened_before_it_runs(pages):
    sources = {(path.parent / source).resolve() for path, text in pages.items() for source in re.findall(r'<script type="later" src="([^"?]*)', text)}
    assert len(sources) > 15
    for source in sources:
        text = source.read_text(encoding="utf-8")
        waits = re.search(r"""addEventListener\(["'](?:DOMContentLoaded|load)["']""", text)
        assert "readyState" in text or not waits, f"{source.name} waits for an event that is over when the script runs"


def test_no_page_has_a_place_for_advertising(pages):
    assert not [path for path, text in pages.items() if re.search(r"ethical-ad|rtd-footer", text)]


# Fonts and icons that are not there


def context(**more):
    return {"pathto": lambda name, resource: f"../{name}", **more}


@pytest.mark.parametrize("name", [*look.FIRST_FONTS, look.ITALIC])
def test_a_missing_font_stops_the_build_with_its_name(name, tmp_path, monkeypatch):
    slanted = nodes.paragraph("", "", nodes.emphasis("", "slanted"))
    (tmp_path / "fonts").mkdir()
    for font in {*look.FIRST_FONTS, look.ITALIC} - {name}:
        (tmp_path / font).touch()
    monkeypatch.setattr(look, "HERE", tmp_path)
    with pytest.raises(ExtensionError, match=re.escape(name)):
        look.preload(context(), slanted)
    (tmp_path / name).touch()
    assert name in look.preload(context(), slanted)


def test_a_font_that_only_a_style_sheet_names_stops_the_build_too(tmp_path):
    (tmp_path / "sheet.css").write_text('@font-face { font-family: "A"; src: url("fonts/a.woff") }')
    with pytest.raises(ExtensionError, match=r"_static/fonts/a\.woff"):
        style_sheet.merged(tmp_path, ["sheet.css"], set(), lambda selector, body: body)
    (tmp_path / "fonts").mkdir()
    (tmp_path / "fonts" / "a.woff").touch()
    assert "fonts/a.woff" in style_sheet.merged(tmp_path, ["sheet.css"], set(), lambda selector, body: body)


@pytest.fixture
def drawing():
    """The icons of a script with one icon a pack."""
    packs = (f'{{{name}:[10,20,["other"],"{code}","M0 0"]}}("{pack}",p);' for pack, name, code in PACKS)
    return icons.Icons("".join(packs))


PACKS = [("fa-brands", "github", "f09b"), ("fa-regular", "circle", "f111"), ("fa-solid", "bars", "f0c9")]


def test_an_icon_is_drawn_and_a_missing_one_stops_the_build_with_its_name(drawing):
    drawn = drawing.on_page('<i class="fa-solid fa-bars"></i>')
    assert drawn == '<svg class="book-icon fa-bars" aria-hidden="true"></svg>'
    assert re.fullmatch(r'\.fa-bars\{--icon:url\("data:image/svg\+xml,.*viewBox=.0 0 10 20.*"\);width:0.5em\}\n', drawing.rules())
    with pytest.raises(ExtensionError, match="'no-such-icon' in fa-solid"):
        drawing.on_page('<i class="fa-solid fa-no-such-icon"></i>')


def test_a_missing_icon_of_a_style_sheet_stops_the_build_with_its_code(drawing):
    assert "svg" in drawing.in_rule("a", 'content:"\\f0c9"')
    with pytest.raises(ExtensionError, match="'f0ff'"):
        drawing.in_rule("a", 'content:"\\f0ff"')


def test_a_theme_whose_icons_are_elsewhere_stops_the_build():
    with pytest.raises(ExtensionError, match=re.escape(icons.SCRIPT)):
        icons.Icons("nothing").named("fa-solid", "bars")


def test_pages_ask_at_once_for_the_fonts_that_they_show(pages):
    for path, text in pages.items():
        asked = json.loads(re.search(r"for \(const href of (\[.*?\])\)", text)[1])
        assert all((path.parent / address).is_file() for address in asked), path
        names = {address.rsplit("/", 1)[-1] for address in asked}
        assert {Path(name).name for name in look.FIRST_FONTS} <= names, path
        assert ("<mjx-math" in text) == set(formulas.FIRST_FONTS).issubset(names), path


# Fonts of formulas with what is used alone


STYLE = 'mjx-c.mjx-c2211::before { content: "\\2211"; } mjx-c.mjx-c31::before { content: "1\\2032\\2032 2" }'


def test_the_characters_of_a_style_sheet_are_read_with_their_codes():
    assert formulas.characters(STYLE) == set(map(ord, "∑1′2"))


def test_the_fonts_of_formulas_hold_the_characters_that_are_used_and_little_else(site, tmp_path):
    formulas.write_fonts(tmp_path, set(map(ord, "1→")))
    with TTFont(tmp_path / "MathJax_Main-Regular.woff") as font:
        assert set(font.getBestCmap()) == set(map(ord, "1→"))
    rules = re.findall(r"(?m)^mjx[^{]*\{[^{}]*\}", (site / "_static" / "style.css").read_text(encoding="utf-8"))
    used = formulas.characters("".join(rules))
    assert len(used) > 50
    sheet = (site / "_static" / "style.css").read_text(encoding="utf-8")
    built = {path.name for path in (site / "_static" / "mathjax" / "woff-v2").iterdir()}
    assert built == set(re.findall(r"woff-v2/([\w-]+\.woff)", sheet)) and "MathJax_Fraktur-Regular.woff" not in built
    for path in (formulas.mathjax() / "output" / "chtml" / "fonts" / "woff-v2").glob("*.woff"):
        if path.name not in built:
            continue
        with TTFont(path) as whole, TTFont(site / "_static" / "mathjax" / "woff-v2" / path.name) as built:
            assert set(whole.getBestCmap()) & used <= set(built.getBestCmap() or ()), path.name
            for side in ("ascent", "descent"):
                assert getattr(built["hhea"], side) == getattr(whole["hhea"], side), path.name


# Code


def test_words_that_look_like_text_have_no_element():
    plain = plain_code.plain_classes(STYLES)
    assert {"n", "p", "w"} <= plain and not {"k", "o", "s2", "c1", "mi", "nf"} & plain
    code = '<pre><span class="k">def</span><span class="w"> </span><span class="nf">f</span>'
    code += '<span class="p">(</span></pre>'
    outside = '<em class="sig-param"><span class="n">x</span></em>'
    found = plain_code.unwrapped(code + outside, plain)
    assert found == '<pre><span class="k">def</span> <span class="nf">f</span>(</pre>' + outside


def test_kinds_that_look_alike_have_one_name_and_prompts_keep_theirs():
    twins = plain_code.twins(STYLES)
    assert twins["s2"] == twins["sa"] == twins["o"] == "s" and twins["mi"] == twins["nb"] == "l" and twins["nf"] not in ("s", "l", "k")
    code = '<pre>\n<span></span><span class="gp">&gt;&gt;&gt; </span><span class="sa">f</span><span class="s2">"a</span></pre>'
    found = plain_code.unwrapped(code, set(), twins)
    assert found == '<pre>\n<span class="gp">&gt;&gt;&gt; </span><span class="s">f</span><span class="s">"a</span></pre>'


def test_coloured_words_have_short_elements_for_which_the_style_sheet_has_rules():
    code = '<pre><span class="k">def</span> <span class="gp">a</span><span class="query">b</span></pre>'
    assert plain_code.short(code) == '<pre><c- k>def</c-> <span class="gp">a</span><span class="query">b</span></pre>'
    assert plain_code.short('<em><span class="n">x</span></em>') == '<em><span class="n">x</span></em>'
    rules = "html .highlight .k{color:red}.highlight .hll{}.highlight .kn:hover{}"
    assert plain_code.short_rules(rules) == "html .highlight [k]{color:red}.highlight .hll{}.highlight [kn]:hover{}"


def test_every_coloured_word_has_a_rule_in_both_schemes(pages, site):
    sheet = (site / "_static" / "style.css").read_text(encoding="utf-8")
    used = {name for text in pages.values() for name in re.findall(r"<c- (\w+)>", text)}
    assert len(used) > 4 and "k" in used
    for name in used:
        for scheme in ("light", "dark"):
            assert f'html[data-theme="{scheme}"] .highlight [{name}]' in sheet, name


def test_a_class_is_plain_only_if_every_style_shows_it_as_text():
    assert plain_code.plain_classes([STYLES[0], "default"]) < plain_code.plain_classes(STYLES[:1])


def test_no_code_of_the_site_has_elements_without_a_colour(pages):
    plain = re.compile(rf'<span class="(?:{"|".join(plain_code.plain_classes(STYLES))})">')
    blocks = [block for text in pages.values() for block in plain_code.BLOCK.findall(text)]
    assert len(blocks) > 300 and not [block[:80] for block in blocks if plain.search(block)]


def test_nothing_is_done_to_half_a_site():
    app = SimpleNamespace(builder=SimpleNamespace(format="html"))  # has no folder: to go on would fail
    assert light_pages.finish(app, exception=ValueError()) is None


# The whole site


# Bytes of the site without Python. Before formulas, figures, code and the pages of source were thinned it was 16.6 million.
SITE = {"chapters": 6_000_000, "_images": 1_900_000, "_modules": 1_000_000, "everything": 10_000_000}


def test_the_site_is_no_larger_than_its_budget(site):
    weights = dict.fromkeys(SITE, 0)
    for path in site.rglob("*"):
        first, *more = path.relative_to(site).parts
        if path.is_file() and [first, *more[:1]] != ["_static", "live"]:
            for part in {first, "everything"} & SITE.keys():
                weights[part] += path.stat().st_size
    assert {part: weight for part, weight in weights.items() if weight > SITE[part]} == {}
