"""The built site in a real browser: every page, on a desk and on a phone, light and dark; then the things one can click."""

import re

import browser
import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import SITE

PAGES = browser.pages(SITE) if SITE.is_dir() else ["no site"]
AXE = Axe()
# preload: axe would fetch every style sheet again, from the wrong folder. The rule is off by default, and we keep it.
AXE_OPTIONS = {"resultTypes": ["violations"], "preload": False, "rules": {"label-content-name-mismatch": {"enabled": True}}}
# The inside of a formula: thousands of elements that MathJax makes, in the colour of the text around them.
AXE_CONTEXT = {"exclude": [["mjx-container > *"]]}
STILL = "*, *::before, *::after { transition: none !important; animation: none !important; scroll-behavior: auto !important }"


class Watched:
    """A page that notes every request to another site, every failed request and every complaint on the console."""

    def __init__(self, chromium, address, width, **options):
        self.address, self.faults, self.log = address, [], []
        size = {"width": width, "height": browser.WIDTHS[width]}
        self.context = chromium.new_context(viewport=size, **options)
        self.context.set_default_timeout(120_000)
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self.fault(request.url, "asks another site"))
        self.page.on("requestfailed", lambda request: self.faults.append(f"failed: {request.url}"))
        self.page.on("response", lambda answer: answer.status < 400 or self.faults.append(f"{answer.status}: {answer.url}"))
        self.page.on("console", lambda message: message.type in ("error", "warning") and self.faults.append(message.text))
        self.page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))

    def fault(self, url, text):
        if not url.startswith((self.address, "data:", "blob:")):
            self.faults.append(f"{text}: {url}")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.context.close()

    def open(self, name):
        self.page.goto(self.address + name)
        self.page.wait_for_load_state("networkidle")
        self.page.add_style_tag(content=STILL)
        browser.settle(self.page)
        return self.page


@pytest.mark.parametrize("name", PAGES)
def test_page(name, chromium, address, record_property):
    found, views = [], 0
    for width in browser.WIDTHS:
        with Watched(chromium, address, width, color_scheme="light") as watched:
            page = watched.open(name)
            for scheme in browser.SCHEMES:
                page.emulate_media(color_scheme=scheme)
                browser.settle(page)
                found += [f"{width} px, {scheme}: {fault}" for fault in look(page, scheme)]
                views += 1
            found += [f"{width} px: {fault}" for fault in watched.faults]
    record_property("checked views of pages (page × width × scheme) in the browser", views)
    assert not found, f"{name}:\n" + "\n".join(found)


def look(page, scheme):
    """What is wrong with the page as it is shown now."""
    seen = page.evaluate(
        """() => ({
            tooWide: document.documentElement.scrollWidth - window.innerWidth,
            scheme: document.documentElement.dataset.theme,
            formulas: document.querySelectorAll('.math:not(.math .math)').length,
            typeset: document.querySelectorAll('.math:not(.math .math) mjx-container').length,
            raw: [...document.querySelectorAll('.math:not(.math .math)')].filter(m => !m.querySelector('mjx-container')).map(m => m.textContent),
            errors: [...document.querySelectorAll('mjx-merror, [data-mjx-error]')].map(e => e.dataset.mjxError || e.textContent),
            pictures: [...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src),
        })"""
    )
    found = [f"{seen['tooWide']} px wider than the window"] if seen["tooWide"] > 0 else []
    if seen["scheme"] not in (scheme, None):  # the page that only leads to the first one has no scheme
        found.append(f"the colours stay {seen['scheme']}")
    if seen["typeset"] < seen["formulas"] or seen["raw"]:
        found.append(f"{seen['typeset']} of {seen['formulas']} formulas typeset; not: {seen['raw'][:3]}")
    found += [f"TeX error: {text}" for text in seen["errors"]]
    found += [f"picture not shown: {source}" for source in seen["pictures"]]
    for violation in AXE.run(page, AXE_CONTEXT, AXE_OPTIONS).response["violations"]:
        where = "; ".join(" ".join(map(str, node["target"])) for node in violation["nodes"][:3])
        found.append(f"axe: {violation['id']}: {violation['help']}: {where}")
    return found


@pytest.fixture
def phone(chromium, address):
    with Watched(chromium, address, 390, has_touch=True) as watched:
        yield watched
        assert not watched.faults


@pytest.fixture
def desk(chromium, address):
    with Watched(chromium, address, 1440, color_scheme="light") as watched:
        yield watched
        assert not watched.faults


def test_search_finds_a_word(desk):
    page = desk.open("search.html?q=softmax")
    page.wait_for_selector("#search-results li a")
    text = page.inner_text("#search-results")
    assert re.search(r"found [1-9]\d* page", text), text
    assert "softmax" in text.lower()


def test_search_dialog_opens_by_keyboard_and_leads_to_results(desk):
    page = desk.open("chapters/index.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("softmax")
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-results li a")
    assert "q=softmax" in page.url


def test_menu_opens_and_closes_on_a_phone(phone):
    page = phone.open("chapters/index.html")
    link = page.locator(".bd-sidebar-primary nav a.reference").first

    def visible():
        box = link.bounding_box()
        return box is not None and box["x"] >= 0 and link.is_visible()

    assert not visible()
    page.locator("button.primary-toggle:visible, label.sidebar-toggle.primary-toggle:visible").first.click()
    page.wait_for_timeout(400)
    assert visible(), "the menu does not open"
    assert not AXE.run(page, AXE_CONTEXT, AXE_OPTIONS).response["violations"]
    page.mouse.click(380, 400)
    page.wait_for_timeout(400)
    assert not visible(), "the menu does not close"


def test_button_changes_the_colours(desk):
    page = desk.open("chapters/index.html")
    seen = set()
    for _ in range(3):
        page.locator("button.theme-switch-button:visible").first.click()
        seen.add((page.evaluate("document.documentElement.dataset.theme"), page.evaluate("getComputedStyle(document.body).backgroundColor")))
    assert {theme for theme, _ in seen} == {"light", "dark"}
    assert len({colour for _, colour in seen}) == 2


FOLDED = {"answer": ".answer", "hint": ":is(.hint, .exercise-hint)", "solution": ":is(.solution, .exercise-solution)"}


@pytest.mark.parametrize("kind", FOLDED)
def test_folded_text_opens_by_keyboard(kind, desk, site):
    pattern = re.compile(rf'<details class="[^"]*\b{kind}\b')
    name = next((name for name in PAGES if pattern.search((site / name).read_text(encoding="utf-8"))), None)
    assert name, f"no page has a folded {kind}"
    page = desk.open(name)
    box = page.locator(f"details{FOLDED[kind]}").first
    assert box.get_attribute("open") is None
    box.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert box.get_attribute("open") is not None, "Enter does not open it"
    page.keyboard.press("Space")
    assert box.get_attribute("open") is None, "Space does not close it"


def test_pages_are_as_good_with_everything_unfolded(phone):
    for name in PAGES:
        page = phone.open(name)
        if not page.evaluate("[...document.querySelectorAll('.bd-content details')].map(box => box.open = true).length"):
            continue
        browser.settle(page)
        for scheme in browser.SCHEMES:
            page.emulate_media(color_scheme=scheme)
            browser.settle(page)
            assert not (found := look(page, scheme)), f"{name}, {scheme}, unfolded:\n" + "\n".join(found)


def test_what_scrolls_sideways_is_reached_by_keyboard(phone):
    unreachable = """() => [...document.querySelectorAll('.bd-content *')].filter(box =>
        box.scrollWidth > box.clientWidth + 1 && ['auto', 'scroll'].includes(getComputedStyle(box).overflowX)
        && box.clientWidth > 0 && !box.closest('[tabindex="0"]') && !box.querySelector('[tabindex="0"], a, button')
    ).map(box => box.outerHTML.slice(0, 120))"""
    for name in PAGES:
        if name.startswith("chapters/"):
            assert not (boxes := phone.open(name).evaluate(unreachable)), f"{name}: {boxes}"
