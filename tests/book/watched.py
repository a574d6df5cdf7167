"""A page in the browser that is watched while it is used, and what can be wrong with what it shows."""

import os
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe

from tools import browser

SITE = Path(__file__).resolve().parents[2] / "_build" / "html"
PAGES = browser.pages(SITE) if SITE.is_dir() else ["no site"]
CHAPTERS = [name for name in PAGES if name.startswith("chapters/") and not name.startswith("chapters/api/")]
# Milliseconds. What a busy machine delays is no fault of the book; who writes a test sets ATTNLIB_PATIENCE=5, in seconds.
PATIENCE = 1000 * int(os.environ.get("ATTNLIB_PATIENCE", 300))
# preload: axe would fetch every style sheet again, from the wrong folder. The rule is off by default, and we keep it.
AXE_OPTIONS = {"resultTypes": ["violations"], "preload": False, "rules": {"label-content-name-mismatch": {"enabled": True}}}
# A page is looked at where things have come to rest, also a page that a click has led to.
RULES = "*, *::before, *::after { transition: none !important; animation: none !important; scroll-behavior: auto !important }"
STILL = f"""{{
    const still = new CSSStyleSheet();
    still.replaceSync(`{RULES}`);
    document.adoptedStyleSheets.push(still);
}}"""
# What a browser does that keeps no solved exercises.
NO_STORAGE = """for (const name of ["getItem", "setItem"]) {
    const usual = Storage.prototype[name];
    Storage.prototype[name] = function (key, ...rest) {
        if (key.includes("solved")) throw new DOMException("denied", "SecurityError");
        return usual.call(this, key, ...rest);
    };
}"""
# For a page on which many are looked at: each is shown as on a first visit, whatever the others have stored.
FORGETFUL = "try { localStorage.clear(); sessionStorage.clear() } catch {}"


def context(chromium, width, **options):
    """A context of the browser, with storage of its own, in which every page can be probed."""
    size = {"width": width, "height": browser.WIDTHS[width]}
    made = chromium.new_context(viewport=size, **options)
    made.set_default_timeout(PATIENCE)
    made.add_init_script(Axe().axe_script + browser.PROBES + STILL)
    return made


class Page:
    """A page that notes every request to another site, every failed request and every complaint on the console."""

    def __init__(self, page, address):
        self.page, self.address, self.faults = page, address, []
        page.on("request", lambda request: self.fault(request.url, "asks another site"))
        page.on("requestfailed", self.failed)
        page.on("response", lambda answer: answer.status < 400 or self.faults.append(f"{answer.status}: {answer.url}"))
        page.on("console", lambda message: message.type in ("error", "warning") and self.faults.append(message.text))
        page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))

    def fault(self, url, text):
        if not url.startswith((self.address, "data:", "blob:")):
            self.faults.append(f"{text}: {url}")

    def failed(self, request):
        if request.failure != "net::ERR_ABORTED":  # the first page goes on to the next before it has loaded everything
            self.faults.append(f"{request.failure}: {request.url}")

    def open(self, name):
        self.page.goto(self.address + name)
        if name == "index.html":  # leads to the first page at once
            self.page.wait_for_url("**/chapters/index.html")
        browser.settle(self.page)
        return self.page

    def widen(self, formula="#equation-eq-logsumexp"):
        """Make a formula wider than the page, so that it scrolls: the book's own shrink to fit."""
        self.page.add_style_tag(content=f"{formula} > mjx-container {{ font-size: 3rem !important; overflow: auto hidden !important }}")
        self.page.evaluate("document.dispatchEvent(new Event('toggle'))")  # the page looks again for what scrolls
        browser.settle(self.page)

    def resize(self, width, height=None):
        self.page.set_viewport_size({"width": width, "height": height or browser.WIDTHS[width]})
        browser.settle(self.page)


class Watched(Page):
    """A watched page in a context of its own, which a test may change."""

    def __init__(self, chromium, address, width, **options):
        self.context = context(chromium, width, **options)
        super().__init__(self.context.new_page(), address)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.context.close()


class Tab(Page):
    """A watched page of a context that many tests share, emptied of what the others have stored.

    A context costs as much as opening a page twice. A test that changes the context itself (an init script, a route of
    its own, no network) needs a `Watched`: a Tab offers no `context`.
    """

    def __init__(self, shared, address):
        page = shared.new_page()
        session = shared.new_cdp_session(page)
        session.send("Storage.clearDataForOrigin", {"origin": address.rstrip("/"), "storageTypes": "all"})
        session.detach()
        super().__init__(page, address)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.page.close()


def broken(page, scheme):
    """What is wrong with the page as it is shown now, as far as it is quickly told."""
    shown = page.evaluate("document.documentElement.dataset.theme")
    found = [f"the colours stay {shown}"] if shown not in (scheme, None) else []  # the page that only leads on has none
    return found + page.evaluate("[...probes.broken(), ...probes.pale()]")


def look(page, scheme, colours="each look"):
    """What is wrong with the page as it is shown now, axe included."""
    return broken(page, scheme) + accessibility(page, colours)


def accessibility(page, colours="each look"):
    """What axe finds on the page as it is. It judges the colours of "every" text, of one of "each look", or of "none"."""
    return page.evaluate("given => probes.accessible(...given)", [AXE_OPTIONS, colours])


# (width, scheme, is everything unfolded?): each width and each scheme is seen as the page is first, and unfolded.
VIEWS = [(1440, "light", False), (1440, "dark", True), (390, "light", True), (390, "dark", False)]


def check_page(name, watched, record_property, thorough):
    """Look at one page in both widths and both schemes, with axe.

    A thorough look opens the page anew for each width, and asks axe in all four views about every text. On a push the
    page is opened once. Axe is asked where everything is unfolded, which is once for each width and each scheme, and
    about the colours of one text of each look; the quick probes, for pale texts among them, are asked in all four views.
    """
    page, found, shown = watched.page, [], None
    watched.faults.clear()
    for width, scheme, unfolded in VIEWS:
        if width != shown:
            page.set_viewport_size({"width": width, "height": browser.WIDTHS[width]})
        page.emulate_media(color_scheme=scheme)
        if shown is None or thorough and width != shown:
            watched.open(name)
        page.evaluate("probes.unfold()" if unfolded else "probes.refold()")
        browser.settle(page)
        faults = look(page, scheme, "every") if thorough else look(page, scheme) if unfolded else broken(page, scheme)
        found += [f"{width} px, {scheme}: {fault}" for fault in faults]
        shown = width
    record_property("checked views of pages (page × width × scheme)", len(VIEWS))
    found += watched.faults
    assert not found, f"{name}:\n" + "\n".join(found)
