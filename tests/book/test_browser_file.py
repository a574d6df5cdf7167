"""The site opened from a disk, without a server: everything on it works, and the browser has nothing to complain of."""

import pytest
from watched import Watched, broken

from tools import browser


@pytest.fixture
def disk(chromium, site):
    """A page of the files. That each page opens without a complaint is asked in test_browser_pages.py."""
    with Watched(chromium, f"{site.as_uri()}/", 1440, color_scheme="light") as watched:
        yield watched
        assert not watched.faults


def test_formulas_and_pictures_are_there(disk):
    page = disk.open("chapters/04_masks.html")
    assert page.locator("article mjx-container").count() > 50
    page.evaluate("document.querySelectorAll('img[loading=lazy]').forEach(image => image.loading = 'eager')")
    page.wait_for_function("[...document.images].every(image => image.complete)")
    assert broken(page, "light") == []
    loaded = "[...document.fonts].filter(face => face.status === 'loaded').map(face => face.family).join()"
    assert "Source Serif 4" in page.evaluate(loaded) and "MJX" in page.evaluate(loaded)


def test_the_search_dialog_leads_to_results_and_on_to_the_place(disk):
    page = disk.open("chapters/api/softmax.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("causal mask")
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-results .context")
    assert page.url.startswith("file:") and "q=causal+mask" in page.url
    assert page.locator("#search-results .context .highlighted").count() > 3
    page.locator("#search-results a", has_text="A causal mask for decoding").click()
    page.wait_for_selector("article .highlighted")
    assert "/chapters/04_masks.html#exercise-4-2" in page.url


def test_a_slider_moves_its_figure(disk):
    page = disk.open("chapters/06_flash.html")
    figure = page.locator("figure.stepped").first
    figure.locator("input").focus()
    page.keyboard.press("ArrowRight")
    assert "2 of" in figure.inner_text()
    step = figure.locator(".step:not([hidden]) img").first
    page.wait_for_function("image => image.complete && image.naturalWidth", arg=step.element_handle())


def test_predictions_hints_and_solutions_unfold(disk):
    page = disk.open("chapters/01_softmax.html")
    for kind in ("answer", "exercise-hint", "exercise-solution"):
        box = page.locator(f"details.{kind}").first
        box.locator("summary").first.click()
        if page.locator(".live-ask").count():  # a page that runs asks before it shows a solution
            page.locator(".live-ask button").click()
        assert box.get_attribute("open") is not None
        assert box.locator(":scope > :not(summary)").first.is_visible(), kind


COLOUR = "getComputedStyle(document.body).backgroundColor"


def test_the_colours_change_and_stay(disk):
    page = disk.open("chapters/index.html")
    seen = set()
    for _ in range(3):  # light, dark, as the system
        page.locator("button.theme-switch-button:visible").first.click()
        chosen = page.evaluate(COLOUR)
        seen.add(chosen)
        disk.open("chapters/04_masks.html")
        assert page.evaluate(COLOUR) == chosen
    assert len(seen) == 2


# The first frame answers this script first, which begins before the page.
WHEN_READ = """
let framed = false;
requestAnimationFrame(() => framed = true);
window.readAfterFrame = [];
const { get } = Object.getOwnPropertyDescriptor(window, "localStorage");
Object.defineProperty(window, "localStorage", { configurable: true, get: () => (readAfterFrame.push(framed), get.call(window)) });
"""


def test_no_page_reads_the_storage_before_its_first_frame(disk, site):
    """Chromium now and then gives a page that does so a storage that ends with the page: 16 of 429 beside seven busy browsers."""
    disk.context.add_init_script(WHEN_READ)
    source = next((site / "_modules" / "attnlib").rglob("*.html")).relative_to(site).as_posix()
    for address in ("chapters/index.html", "chapters/04_masks.html", "chapters/review.html", "chapters/api/softmax.html", "search.html", source):
        read = disk.open(address).evaluate("readAfterFrame")
        assert read and all(read), address


def test_a_page_in_a_tab_that_nobody_looks_at_keeps_the_colours(disk):
    """Such a page has no frames. The theme would store another scheme if it found none."""
    disk.open("chapters/index.html").evaluate("localStorage.setItem('mode', 'dark')")
    disk.context.add_init_script("""
        window.requestAnimationFrame = () => 0;
        Object.defineProperty(document, "hidden", { get: () => document.readyState !== "loading" });  // left while it arrives
    """)
    disk.page.goto(f"{disk.address}chapters/04_masks.html")
    disk.page.wait_for_function(browser.STARTED, polling=100)
    assert disk.page.evaluate("[document.documentElement.dataset.theme, localStorage.getItem('mode')]") == ["dark", "dark"]


def test_review_shows_one_chapter_and_goes_on_doing_so(disk):
    for visit in ("to choose", "to find what was chosen"):
        page = disk.open("chapters/review.html")
        if visit == "to choose":
            page.get_by_role("combobox", name="Show").select_option("4. Decide who may look at whom")
        places = page.locator(".predict-all .predict-place a").evaluate_all("links => links.map(a => a.getAttribute('href'))")
        assert places and all(place.startswith("04_masks.html#") for place in places)
