"""A page in the browser that is watched while it is used, and what can be wrong with what it shows."""

from pathlib import Path

import browser
from axe_playwright_python.sync_playwright import Axe

SITE = Path(__file__).resolve().parents[2] / "_build" / "html"
PAGES = browser.pages(SITE) if SITE.is_dir() else ["no site"]
# preload: axe would fetch every style sheet again, from the wrong folder. The rule is off by default, and we keep it.
AXE_OPTIONS = {"resultTypes": ["violations"], "preload": False, "rules": {"label-content-name-mismatch": {"enabled": True}}}
STILL = "*, *::before, *::after { transition: none !important; animation: none !important; scroll-behavior: auto !important }"


class Watched:
    """A page that notes every request to another site, every failed request and every complaint on the console."""

    def __init__(self, chromium, address, width, **options):
        self.address, self.faults, self.log = address, [], []
        size = {"width": width, "height": browser.WIDTHS[width]}
        self.context = chromium.new_context(viewport=size, **options)
        self.context.set_default_timeout(120_000)
        self.context.add_init_script(Axe().axe_script + browser.PROBES)
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self.fault(request.url, "asks another site"))
        self.page.on("requestfailed", self.failed)
        self.page.on("response", lambda answer: answer.status < 400 or self.faults.append(f"{answer.status}: {answer.url}"))
        self.page.on("console", lambda message: message.type in ("error", "warning") and self.faults.append(message.text))
        self.page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))

    def fault(self, url, text):
        if not url.startswith((self.address, "data:", "blob:")):
            self.faults.append(f"{text}: {url}")

    def failed(self, request):
        if request.failure != "net::ERR_ABORTED":  # the first page goes on to the next before it has loaded everything
            self.faults.append(f"{request.failure}: {request.url}")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.context.close()

    def open(self, name):
        self.page.goto(self.address + name)
        if name == "index.html":  # leads to the first page at once
            self.page.wait_for_url("**/chapters/index.html")
        self.page.add_style_tag(content=STILL)
        browser.settle(self.page)
        return self.page

    def widen(self, formula="#equation-eq-logsumexp"):
        """Make a formula wider than the page, so that it scrolls: the book's own shrink to fit."""
        self.page.add_style_tag(content=f"{formula} > mjx-container {{ font-size: 3rem !important; overflow: auto hidden !important }}")
        self.page.evaluate("document.dispatchEvent(new Event('toggle'))")  # the page looks again for what scrolls
        browser.settle(self.page)

    def resize(self, width):
        self.page.set_viewport_size({"width": width, "height": browser.WIDTHS[width]})
        browser.settle(self.page)


def look(page, scheme):
    """What is wrong with the page as it is shown now."""
    shown = page.evaluate("document.documentElement.dataset.theme")
    found = [f"the colours stay {shown}"] if shown not in (scheme, None) else []  # the page that only leads on has none
    return found + page.evaluate("[...probes.broken(), ...probes.paleFormulas()]") + accessibility(page)


def accessibility(page):
    """What axe finds on the page as it is; only the coloured words of code are fewer, because each costs axe a millisecond."""
    found = [f"{block}: changes its width when its words are folded" for block in page.evaluate("probes.foldWords()")]
    for violation in page.evaluate("async options => (await axe.run(options)).violations", AXE_OPTIONS):
        where = "; ".join(" ".join(map(str, node["target"])) for node in violation["nodes"][:3])
        found.append(f"axe: {violation['id']}: {violation['help']}: {where}")
    return found


def check_page(name, watched, record_property):
    """Look at one page in both widths and both schemes: first as it is, then with everything unfolded."""
    found, views = [], 0
    for width, schemes in zip(browser.WIDTHS, [browser.SCHEMES, browser.SCHEMES[::-1]], strict=True):
        watched.faults.clear()
        watched.resize(width)
        watched.page.emulate_media(color_scheme=schemes[0])
        page = watched.open(name)
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme)
            browser.settle(page)
            found += [f"{width} px, {scheme}: {fault}" for fault in look(page, scheme)]
            views += 1
            page.evaluate("probes.unfold()")
        found += [f"{width} px: {fault}" for fault in watched.faults]
    record_property("checked views of pages (page × width × scheme) in the browser", views)
    assert not found, f"{name}:\n" + "\n".join(found)
