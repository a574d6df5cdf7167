"""A page in the browser that is watched while it is used, and what can be wrong with what it shows."""

from pathlib import Path

import browser
from axe_playwright_python.sync_playwright import Axe

SITE = Path(__file__).resolve().parents[2] / "_build" / "html"
PAGES = browser.pages(SITE) if SITE.is_dir() else ["no site"]
AXE = Axe()
# preload: axe would fetch every style sheet again, from the wrong folder. The rule is off by default, and we keep it.
AXE_OPTIONS = {"resultTypes": ["violations"], "preload": False, "rules": {"label-content-name-mismatch": {"enabled": True}}}
# axe's time grows with the number of elements, and most of them are the insides of formulas (made by MathJax, in the
# colour of the text around them) and the words of coloured code. So a formula becomes an empty box of its size, and of
# the coloured words the first of each kind stays.
SIMPLIFY = """() => {
    // Measure everything, then change everything: the other way round, each change would lay the page out again.
    const formulas = [...document.querySelectorAll('mjx-container:has(> mjx-math)')]
        .map(formula => [formula, formula.querySelector(':scope > mjx-math').getBoundingClientRect()]);
    const seen = new Set(), repeated = [];
    for (const word of document.querySelectorAll('pre span:not(:has(*)):not([id])')) {
        const kind = word.className + getComputedStyle(word).color;
        if (seen.has(kind)) repeated.push(word);
        else if (word.checkVisibility()) seen.add(kind);
    }
    for (const [formula, size] of formulas) {
        const box = document.createElement('span');
        box.style.cssText = `display: inline-block; width: ${size.width}px; height: ${size.height}px`;
        formula.replaceChildren(box);
    }
    repeated.forEach(word => word.replaceWith(word.textContent));
    document.querySelectorAll('pre').forEach(block => block.normalize());
}"""
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
    found += accessibility(page)
    return found


def accessibility(page):
    """What axe finds."""
    page.evaluate(SIMPLIFY)
    found = []
    for violation in AXE.run(page, options=AXE_OPTIONS).response["violations"]:
        where = "; ".join(" ".join(map(str, node["target"])) for node in violation["nodes"][:3])
        found.append(f"axe: {violation['id']}: {violation['help']}: {where}")
    return found


UNFOLD = "document.querySelectorAll('.bd-content details').forEach(box => box.open = true)"


def check_page(name, chromium, address, record_property):
    """Look at one page in both widths and both schemes: first as it is, then with everything unfolded."""
    found, views = [], 0
    for width, schemes in zip(browser.WIDTHS, [browser.SCHEMES, browser.SCHEMES[::-1]], strict=True):
        with Watched(chromium, address, width, color_scheme=schemes[0]) as watched:
            page = watched.open(name)
            for scheme in schemes:
                page.emulate_media(color_scheme=scheme)
                browser.settle(page)
                found += [f"{width} px, {scheme}: {fault}" for fault in look(page, scheme)]
                views += 1
                page.evaluate(UNFOLD)
            found += [f"{width} px: {fault}" for fault in watched.faults]
    record_property("checked views of pages (page × width × scheme) in the browser", views)
    assert not found, f"{name}:\n" + "\n".join(found)
