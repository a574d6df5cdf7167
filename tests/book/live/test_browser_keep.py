"""The book kept for offline use: stored on request, read and run without its server, removed again."""

import re

import pytest
from running import Running, expect, has_python
from watched import Watched

from tools import browser

CHAPTER = "chapters/01_softmax.html"


# Firefox asks the reader whether the site may keep its files for good, and the reader may not answer.
UNANSWERED = "StorageManager.prototype.persist = () => new Promise(() => {});"


@pytest.fixture(autouse=True)
def with_python(site):
    has_python(site)


def unfold(running):
    running.page.locator(".live-work > summary").click()
    return running.page.get_by_role("button", name="Keep for offline use"), running.page.get_by_role("button", name="Remove the kept copy")


def test_kept_read_run_and_searched_without_a_server_and_removed(chromium, site):
    with browser.served(site) as address, Watched(chromium, address, 1440) as watched:
        watched.context.add_init_script(UNANSWERED)
        running = Running(watched.open(CHAPTER))
        asked = []
        watched.context.on("request", lambda request: asked.append(request.url))
        keep, remove = unfold(running)
        words = running.page.locator(".live-keep > p")
        expect(words).to_have_text(re.compile(r"^On request this browser keeps the whole book and Python, \d+ MB, and opens them"))
        expect(remove).to_be_hidden()
        keep.click()
        expect(running.page.locator(".live-head > .live-said")).to_have_text(
            re.compile(r"^The book and Python are kept, \d+ MB: this address opens without a network\.$")
        )
        expect(words).to_contain_text("are kept in this browser")
        running.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        expect(keep).to_be_hidden()
        assert not watched.faults
        watched.context.set_offline(True)
        watched.page.goto("about:blank")
        watched.page.goto(address)  # the root leads to the first page
        watched.page.wait_for_url("**/chapters/index.html")
        running = Running(watched.open(CHAPTER))
        assert "mat" in running.run(running.cell(2), "print('mat')")
        assert running.page.evaluate("[...document.images].filter(image => image.complete && !image.naturalWidth).length") == 0
        watched.page.goto(f"{address}search.html?q=causal+mask")
        watched.page.wait_for_selector("#search-results .context")
        answer = watched.page.goto(f"{address}chapters/gone/page.html")  # an address that no page has
        assert answer.status == 404
        expect(watched.page.locator("h1")).to_have_text("This page does not exist")
        watched.page.locator("article a", has_text="Turn scores into weights").click()
        watched.page.wait_for_url(f"**/{CHAPTER}")
        watched.context.set_offline(False)
        running = Running(watched.open(CHAPTER))
        keep, remove = unfold(running)
        remove.click()
        expect(running.page.locator(".live-head > .live-said")).to_have_text("The kept copy is removed.")
        assert running.page.evaluate("caches.keys().then(names => names.length)") == 0
        assert running.page.evaluate("navigator.serviceWorker.getRegistrations().then(found => found.length)") == 0


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("missing", r"The file chapters/notation\.html is missing on this site \(answer 404\)\. Nothing was kept\."),
        ("altered", r"The file chapters/notation\.html on this site is not the one that belongs to the book\. Nothing was kept\."),
        ("network", r"The network was lost while chapters/notation\.html was fetched\. Nothing was kept\."),
        ("full", r"The browser has room for 1 MB here, and the book needs \d+ MB\. Nothing was kept\."),
        ("fills up", r"The browser's store for this site is full\. Nothing was kept\."),
        ("private", r"This browser cannot keep the book here: that needs https, and no private window\."),
    ],
)
def test_a_fault_is_one_sentence_and_nothing_is_kept(chromium, address, fault, words):
    with Watched(chromium, address, 1440) as watched:
        context = watched.context
        if fault == "full":
            context.add_init_script("StorageManager.prototype.estimate = async () => ({ quota: 3e6, usage: 2e6 });")
        if fault == "fills up":
            context.add_init_script("Cache.prototype.put = async () => { throw new DOMException('no', 'QuotaExceededError'); };")
        if fault == "private":
            context.add_init_script("delete globalThis.caches;")
        running = Running(watched.open(CHAPTER))
        answers = {"missing": {"status": 404}, "altered": {"body": "short"}}
        if fault in ("missing", "altered", "network"):
            route = "**/chapters/notation.html"
            context.route(route, lambda route: route.fulfill(**answers[fault]) if fault in answers else route.abort())
        keep, _ = unfold(running)
        expect(running.page.locator(".live-keep > p")).to_contain_text("On request")
        keep.click()
        expect(running.page.locator(".live-head > .live-said")).to_have_text(re.compile(words))
        if fault != "private":
            assert running.page.evaluate("caches.keys().then(names => names.length)") == 0


def test_a_book_that_has_changed_says_so_and_is_kept_anew(chromium, address):
    with Watched(chromium, address, 1440) as watched:
        running = Running(watched.open(CHAPTER))
        running.page.evaluate("caches.open(`attention-derived-kept:${new URL('..', location.href).pathname}:older-36`).then(() => true)")
        running.page.locator(".live-work > summary").click()
        expect(running.page.locator(".live-keep > p")).to_contain_text("The book has changed since then.")
        running.page.get_by_role("button", name="Keep the changed book").click()
        expect(running.page.locator(".live-head > .live-said")).to_contain_text("are kept")
        names = running.page.evaluate("caches.keys()")
        assert len(names) == 1 and "older" not in names[0]
