"""How a page arrives: few bytes, nothing that moves, and a link into it that lands at its place."""

import gzip
import re
from collections import Counter
from urllib.parse import urlsplit

import pytest
from watched import PATIENCE

from book.light_pages import scripts
from tools import browser

# Bytes of a first visit on a phone, as a server sends them with gzip; measured, and a tenth more.
BUDGETS = {
    "chapters/index.html": {"html": 18_300, "css": 40_000, "js": 43_500, "fonts": 134_000},
    "chapters/02_attention.html": {"html": 46_000, "css": 40_000, "js": 54_000, "fonts": 198_000},
    "chapters/06_flash.html": {"html": 49_700, "css": 40_000, "js": 54_000, "fonts": 198_000},
}
WITH_PYTHON = {"css": 2_700, "js": 8_800}  # what a page that can run has more, before the button is pressed
KINDS = {"html": "html", "css": "css", "js": "js", "woff": "fonts", "woff2": "fonts"}
# Every shift so far. Those of which the browser has not yet told are asked for.
SHIFTS = """{
    const found = [];
    const note = shifts => {
        for (const shift of shifts) {
            const text = node => (node && (node.outerHTML || node.data) || "").slice(0, 80);
            found.push([shift.value, shift.sources.map(each => text(each.node))]);
        }
    };
    const observer = new PerformanceObserver(list => note(list.getEntries()));
    observer.observe({ type: "layout-shift", buffered: true });
    window.shifts = () => { note(observer.takeRecords()); return found; };
}"""
CHAPTER = "chapters/02_attention.html"
# Late in their chapters, but with more than a screen below them: the browser can scroll that far.
PLACES = [
    "02_attention.html#what-the-factor-does-to-the-weights",
    "02_attention.html#what-do-real-layers-start-with",
    "07_recompute.html#split-the-keys-over-workers",
    "07_recompute.html#what-flash-changes-and-what-it-does-not",
]


@pytest.fixture
def opened(chromium):
    """A function that makes a page of a width, as a first visit: nothing is stored yet."""
    contexts = []

    def make(width):
        size = {"width": width, "height": browser.WIDTHS[width]}
        contexts.append(chromium.new_context(viewport=size))
        contexts[-1].set_default_timeout(PATIENCE)
        return contexts[-1].new_page()

    yield make
    for context in contexts:
        context.close()


def arrive_with_late_fonts(page, address, meanwhile=lambda: None):
    """Open a page and hold back every font until its text is shown, as a slow network does, and `meanwhile` has run."""
    held, shown = [], False
    page.route("**/*.woff*", lambda route: route.continue_() if shown else held.append(route))
    page.goto(address, wait_until="domcontentloaded")
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
    frames(page)
    assert held, "the page asks for no font"
    meanwhile()
    shown = True
    for route in held:
        route.continue_()
    page.wait_for_load_state("load")
    browser.settle(page)


def frames(page, number=5):
    page.evaluate("async number => { for (; number > 0; number--) await new Promise(requestAnimationFrame) }", number)


def over_budget(name, asked, site):
    """{kind: (bytes, most)} of what a page asks for too much of. `asked`: the paths of its requests."""
    weight = Counter()
    for file in asked:
        if kind := KINDS.get(file.rsplit(".", 1)[-1]):
            content = (site / file).read_bytes()
            weight[kind] += len(content if kind == "fonts" else gzip.compress(content, 6, mtime=0))
    assert weight.keys() == BUDGETS[name].keys()
    more = WITH_PYTHON if any("/live/" in file for file in asked) else {}
    budget = {kind: most + more.get(kind, 0) for kind, most in BUDGETS[name].items()}
    return {kind: (weight[kind], most) for kind, most in budget.items() if weight[kind] > most}


@pytest.mark.parametrize("width", browser.WIDTHS)
@pytest.mark.parametrize("name", BUDGETS)
def test_nothing_moves_while_a_page_arrives_and_it_is_no_heavier_than_its_budget(name, width, opened, address, site):
    page, asked = opened(width), set()
    page.on("request", lambda request: asked.add(urlsplit(request.url).path.lstrip("/")))
    page.add_init_script(SHIFTS)
    arrive_with_late_fonts(page, address + name)
    shifts = page.evaluate("shifts()")
    assert sum(value for value, _ in shifts) < 0.02, shifts
    if width == 390:  # the budget is that of a phone
        assert over_budget(name, asked, site) == {}


def test_a_face_that_changes_while_it_is_read_would_be_seen(opened, address, site):
    page = opened(390)
    page.add_init_script(SHIFTS)
    sheet = (site / "_static" / "style.css").read_text(encoding="utf-8")
    swapping = sheet.replace("font-display: optional", "font-display: swap")
    assert swapping != sheet
    page.route("**/style.css*", lambda route: route.fulfill(body=swapping, content_type="text/css"))
    arrive_with_late_fonts(page, address + "chapters/02_attention.html")
    assert sum(value for value, _ in page.evaluate("shifts()")) > 0.02


@pytest.mark.parametrize("width", browser.WIDTHS)
@pytest.mark.parametrize("place", [PLACES[0], *(pytest.param(place, marks=pytest.mark.thorough) for place in PLACES[1:])])
def test_a_link_into_a_chapter_lands_at_its_place(place, width, opened, address):
    page = opened(width)
    page.add_init_script("addEventListener('scrollend', () => { window.arrived = true }, true)")
    arrive_with_late_fonts(page, f"{address}chapters/{place}")
    assert page.locator(":target").count(), "there is no such place"
    page.wait_for_function("window.arrived")  # a glide would be under way while the fonts come
    browser.settle(page)
    off = page.evaluate(
        """() => {
            const target = document.querySelector(":target");
            const length = text => parseFloat(text) || 0; // "auto" is none
            const padding = length(getComputedStyle(document.documentElement).scrollPaddingTop);
            const room = padding + length(getComputedStyle(target).scrollMarginTop);
            const below = document.documentElement.scrollHeight - innerHeight - scrollY;
            return { off: target.getBoundingClientRect().top - room, below };
        }"""
    )
    assert off["below"] > 0, "the chapter ends here: any place would do"
    assert abs(off["off"]) <= 2, off


# Nothing is done because much time has passed: a busy machine may take that long to show a page.
TIMELESS = f"""{{
    const usual = setTimeout;
    window.setTimeout = (call, wait, ...given) => wait >= {scripts.LONGEST} ? 0 : usual(call, wait, ...given);
}}"""
IMPATIENT = TIMELESS.replace("? 0 :", "? call() :")


def asked_scripts(page):
    """The names of the scripts that a page asks for from now on, without the one of print, in their order."""
    asked = []
    page.on("request", lambda request: asked.append(urlsplit(request.url).path.rsplit("/", 1)[-1]))
    return lambda: [name for name in asked if name.endswith(".js") and name != "paper.js"]


def test_a_page_is_shown_before_it_asks_for_its_scripts(opened, address, site):
    page, when_shown = opened(390), []
    page.add_init_script(TIMELESS)
    asked = asked_scripts(page)
    arrive_with_late_fonts(page, address + CHAPTER, lambda: when_shown.append(asked()))
    assert when_shown == [[]]
    later = named(site / CHAPTER)
    assert asked() == later and len(later) > 5


def named(path):
    return re.findall(r'<script type="later" src="[^"?]*?([^"?/]+)[?"]', path.read_text(encoding="utf-8"))


def test_a_page_that_takes_long_to_arrive_runs_all_its_scripts_once(opened, address, site):
    page = opened(390)
    asked = asked_scripts(page)
    page.add_init_script(IMPATIENT)
    page.goto(address + CHAPTER)
    browser.settle(page)
    assert asked() == named(site / CHAPTER)


UNSEEN = "Object.defineProperty(document, 'hidden', { value: true }); window.requestAnimationFrame = () => 0;"  # no frames


def test_a_page_in_a_tab_that_nobody_looks_at_runs_its_scripts(opened, address):
    page = opened(390)
    page.add_init_script(TIMELESS + UNSEEN)
    page.goto(address + CHAPTER)
    page.wait_for_function(browser.STARTED, polling=10)


def test_a_file_that_never_arrives_holds_up_no_script(opened, address):
    page = opened(390)
    page.clock.install()
    page.route("**/*.woff*", lambda route: None)
    page.goto(address + CHAPTER, wait_until="domcontentloaded")
    page.clock.fast_forward(scripts.LONGEST)
    page.wait_for_function(browser.STARTED)
