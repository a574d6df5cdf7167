"""Do the checks in the browser see what they are for? A fault is planted on a real page, and must be found."""

import re

import pytest
from watched import Tab, accessibility, look

from tools import browser
from tools.browser import narrow

FORMULA = "#a-formula"


@pytest.fixture
def opened(watched):
    """A function that opens a page as a phone shows it, with a formula that scrolls and, where planted, code that does not wrap."""

    def open_page(name):
        watched.resize(narrow.PHONE)
        watched.page.emulate_media(color_scheme="light")
        page = watched.open(name)
        page.add_style_tag(content=".bd-content pre.planted { white-space: pre !important }")
        first, second = page.locator(".bd-content div.math").all()[:2]
        first.evaluate("(block, id) => { block.id = id }", FORMULA[1:])
        second.evaluate("block => { block.id = 'another-formula' }")
        watched.widen(FORMULA)
        return page

    return open_page


@pytest.fixture
def page(opened):
    return opened("chapters/api/masks.html")  # a short one


def plant(page, html):
    page.evaluate("html => document.querySelector('.bd-content section').insertAdjacentHTML('beforeend', html)", html)
    browser.settle(page)


def formula_colour(page, colour):
    page.add_style_tag(content=f"{FORMULA} mjx-c {{ color: {colour} }}")
    return page.evaluate("probes.pale()")


# What axe finds


@pytest.mark.parametrize("colours", [pytest.param("every", marks=pytest.mark.thorough), "each look"])
def test_axe_sees_formulas_code_and_names(colours, opened):
    page = opened("chapters/01_softmax.html")
    page.evaluate("formula => document.querySelector(`${formula} mjx-container`).removeAttribute('tabindex')", FORMULA)
    page.evaluate("document.querySelector('.theme-switch-button').removeAttribute('aria-label')")
    # Behind an editor axe cannot tell what a reader sees, so that on a page that can run only code in the text is left.
    code, name = ("p .literal", ".literal") if page.locator("html.live").count() else ("pre [l]", 'c-[l=""]')
    page.add_style_tag(content=f"{code} {{ color: #ddd !important }}")
    found = "\n".join(accessibility(page, colours))
    assert "scrollable-region-focusable" in found and "mjx-container" in found
    assert "color-contrast" in found and name in found
    assert "button-name" in found


def test_axe_sees_one_pale_text_among_many_of_its_kind_and_one_plain_link(page):
    plant(page, "<p>read me</p>" * 5 + '<p style="color: #bbb" id="pale-one">read me</p>' + "<p>read me</p>" * 5)
    plain = "color: inherit; text-decoration: none"
    links = "".join(f'<p>Many words around <a href="#x" style="{style}">a link</a>.</p>' for style in ("", plain, ""))
    plant(page, f'<div id="links">{links}</div>')
    found = "\n".join(accessibility(page))
    assert "color-contrast" in found and "#pale-one" in found
    assert accessibility(page, "none") == []
    plant(page, '<p>Many words around <a href="#x" style="color: #000080; text-decoration: none" id="dark-link">a link</a>.</p>')
    found = "\n".join(accessibility(page))
    assert "link-in-text-block" in found and "#dark-link" in found


def test_a_page_is_the_same_after_axe_has_seen_it(page):
    whole = "document.querySelector('article').outerHTML"
    before = page.evaluate(whole)
    for colours in ("each look", "every", "none"):
        accessibility(page, colours)
    assert page.evaluate(whole) == before and "mjx-c class" in before


def test_folding_the_parts_of_code_and_formulas_says_if_it_changes_them(page):
    page.add_style_tag(content=".bd-content pre:has([l]) { white-space: pre !important } pre [l] { padding: 1em }")
    assert any("changes when its parts are folded" in fault for fault in accessibility(page))


def test_code_that_just_fits_is_not_said_to_change(page):
    """Rounding decides whether it scrolls, and folding rounds otherwise."""
    words = "".join(f'<span class="n" style="padding-right: 0.3px">word{number}</span>' for number in range(4))
    plant(page, f'<pre id="edge" style="padding: 0; border: 0; overflow-x: auto; white-space: pre; width: 0">{words}</pre>')
    toggled = page.evaluate(
        """() => {
            const box = document.getElementById("edge"), words = [...box.childNodes], range = document.createRange();
            range.selectNodeContents(box);
            const { width } = range.getBoundingClientRect();
            const scrolls = () => box.scrollWidth > box.clientWidth;
            for (let less = -1; less < 3; less += 0.05) {
                box.style.width = `${width - less}px`;
                const before = scrolls();
                box.replaceChildren(box.textContent);
                const after = scrolls();
                box.replaceChildren(...words);
                if (before && !after) return true;
            }
            return false;
        }"""
    )
    assert toggled
    assert not any("changes when its parts are folded" in fault for fault in accessibility(page))


# Colours


def test_a_pale_formula_is_found_at_the_limit_of_wcag(page):
    assert formula_colour(page, "#767676") == []  # 4.54 : 1 on white
    found = formula_colour(page, "#777777")
    assert len(found) == 1 and "4.48 : 1" in found[0] and FORMULA in found[0]


def test_a_pale_formula_is_judged_on_what_lies_behind_it(page):
    page.add_style_tag(content=f"{FORMULA} {{ background: rgb(0 0 0 / 50%) }}")
    assert any(FORMULA in fault for fault in formula_colour(page, "#444"))


@pytest.mark.parametrize(
    ("style", "ratio"),
    [
        ("color: #767676", None),
        ("color: #777", "4.48"),
        ("color: #949494; font-size: 24px", None),
        ("color: #969696; font-size: 24px", "2.96"),
        ("color: #949494; font-size: 23px", "3.03"),
        ("color: #949494; font-size: 19px; font-weight: 700", None),
        ("color: #ddd; visibility: hidden", None),
    ],
)
def test_a_pale_text_is_found_at_the_limit_of_wcag(style, ratio, page):
    plant(page, f'<p style="background: white; {style}" id="planted">words</p>')
    found = page.evaluate("probes.pale()")
    assert [fault.split(" : ")[0] for fault in found] == ([f"contrast {ratio}"] if ratio else [])


def test_colours_that_do_not_follow_the_scheme_are_found(page):
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    browser.settle(page)
    assert any("the colours stay dark" in fault for fault in look(page, "light"))


# What scrolls, is cut, or is wide


@pytest.mark.parametrize(("mark", "fault"), [("tabindex", "no stop"), ("role", "no role"), ("aria-label", "no name")])
def test_what_scrolls_without_a_mark_is_found(mark, fault, page):
    assert page.evaluate("probes.unreachable()") == []
    page.locator(f"{FORMULA} mjx-container").evaluate("(formula, mark) => formula.removeAttribute(mark)", mark)
    found = page.evaluate("probes.unreachable()")
    assert len(found) == 1 and fault in found[0] and FORMULA in found[0]


def test_a_mark_on_what_does_not_scroll_is_found(page):
    assert page.evaluate("probes.stale()") == []
    plant(page, '<pre tabindex="0" role="group" aria-label="Code, scrolls sideways" id="planted">x</pre>')
    assert page.evaluate("probes.stale()") == ["pre in #planted: is said to scroll, and does not"]


def test_a_formula_cut_at_a_side_or_below_is_found(page):
    before = narrow.wide(page)
    assert before["formulas cut"] == [] and before["formulas that scroll"]
    page.add_style_tag(content=f"{FORMULA} > mjx-container {{ overflow: hidden !important }}")
    after = page.evaluate("probes.wide()")
    assert after["formulas that scroll"] == []
    assert sorted(after["formulas cut"]) == sorted(
        place.replace("mjx-container", "mjx-math") for place in before["formulas that scroll"]
    )
    page.add_style_tag(content="#another-formula mjx-container { max-height: 0.2rem; overflow: hidden !important }")
    assert any("another-formula" in place for place in page.evaluate("probes.wide()")["formulas cut"])


def test_each_kind_of_wide_box_is_counted(page):
    before = {kind: len(places) for kind, places in narrow.wide(page).items()}
    plant(
        page,
        f"""<div style="overflow: auto"><table style="width: 999px"><tr><td>wide</td></tr></table></div>
        <figure style="overflow: auto"><div style="width: 999px">wide</div></figure>
        <div class="cell_output"><pre class="planted" style="overflow: auto">{"wide " * 99}</pre></div>
        <pre class="planted" style="overflow: auto">{"wide " * 99}</pre>""",
    )
    after = {kind: len(places) for kind, places in narrow.wide(page).items()}
    grown = {kind for kind in after if after[kind] == before[kind] + 1}
    assert grown == {"tables that scroll", "figures that scroll", "outputs that scroll", "code that scrolls"}


def test_what_is_broken_is_found(page):
    plant(
        page,
        r"""<div style="width: 999px">wide</div><span class="math">\(x\)</span><img src="missing.svg" alt="">
        <span data-mjx-error="Undefined control sequence"></span>""",
    )
    page.wait_for_function("document.querySelector('img[src=\"missing.svg\"]').complete")
    found = "\n".join(page.evaluate("probes.broken()"))
    for fault in ("wider than the window", "not typeset: \\(x\\)", "TeX error: Undefined", "missing.svg"):
        assert fault in found


def test_a_note_out_of_its_place_is_found(watched, page):
    plant(page, '<section><p>One line.</p><div class="note" id="note">A side note</div><p>Text.</p><div class="note">Another</div></section>')
    assert page.evaluate("probes.notes(false)") == []
    watched.resize(1680, 900)
    assert page.evaluate("probes.notes(true)") == []
    for style, fault in [
        ("#note { float: none !important; margin: 0 !important }", '"A side note" is not in the margin'),
        ("#note { float: none !important; position: fixed; top: 0; right: -9px }", '"A side note" reaches beyond its edge'),
        (".note { position: fixed !important; top: 0; right: 0 }", '"Another" lies on the note "A side note"'),
    ]:
        planted = page.add_style_tag(content=style)
        assert any(fault in found for found in page.evaluate("probes.notes(true)")), fault
        planted.evaluate("style => style.remove()")


def test_what_was_folded_can_be_folded_again(watched):
    page = watched.open("chapters/puzzles.html")
    opened_ones = "document.querySelectorAll('.bd-content details[open]').length"
    before = page.evaluate(opened_ones)
    page.evaluate("probes.unfold()")
    assert page.evaluate(opened_ones) > before
    page.evaluate("probes.refold()")
    assert page.evaluate(opened_ones) == before


# The browser and its pages


def test_our_switches_keep_those_of_playwright(chromium):
    """Only the last of several lists counts. Where Playwright turns off another feature, add it to PLAYWRIGHT_OFF."""
    command = chromium.new_browser_cdp_session().send("SystemInfo.getInfo")["commandLine"]
    first, *others = [set(names.split(",")) for names in re.findall(r"--disable-features=(\S+)", command)]
    assert others == [first | set(browser.OWN_PAGES)]


def test_a_tab_knows_nothing_of_the_last(desk_context, address):
    kept = """async () => [
        localStorage.getItem("left"), sessionStorage.getItem("left"), document.cookie,
        (await caches.keys()).length, (await indexedDB.databases()).length,
    ]"""
    for _ in range(2):
        with Tab(desk_context, address) as tab:
            page = tab.open("404.html")
            assert page.evaluate(kept) == [None, None, "", 0, 0]
            page.evaluate("""async () => {
                localStorage.setItem("left", "behind");
                sessionStorage.setItem("left", "behind");
                document.cookie = "left=behind";
                await caches.open("left");
                await new Promise(done => { indexedDB.open("left").onsuccess = done; });
            }""")
            assert page.evaluate(kept) == ["behind", "behind", "left=behind", 1, 1]
            assert not hasattr(tab, "context")  # who changes the context needs one of their own


def test_what_is_looked_at_is_looked_at_as_on_a_first_visit(watched):
    page = watched.open("chapters/puzzles.html")
    page.locator("input[data-exercise]").first.check()
    page = watched.open("chapters/puzzles.html")
    assert not page.locator("input[data-exercise]").first.is_checked()


def test_nothing_moves_on_a_page_that_a_click_has_led_to(desk):
    page = desk.open("404.html")
    page.locator("article a", has_text="Turn scores into weights").click()
    page.wait_for_url("**/chapters/01_softmax.html")
    durations = "[...new Set([...document.querySelectorAll('*')].map(box => getComputedStyle(box).transitionDuration))]"
    assert page.evaluate(durations) == ["0s"]
