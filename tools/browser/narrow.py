"""Count what does not fit a phone, page by page: formulas that are cut, and what has to be scrolled sideways.

python -m tools.browser.narrow [PAGE ...]    PAGE is a path below the site's root; default: the chapters
"""

import argparse
from pathlib import Path

from tools import browser

SITE = Path(__file__).resolve().parents[2] / "_build" / "html"
PHONE = min(browser.WIDTHS)


def wide(page):
    """What does not fit the window of this page, with everything unfolded: for each kind, the places."""
    page.evaluate("probes.unfold()")
    browser.settle(page)
    return page.evaluate("probes.wide()")


def main():
    parser = argparse.ArgumentParser(description="Count what does not fit a phone.")
    parser.add_argument("pages", nargs="*", help="paths below the site's root; default: the chapters")
    parser.add_argument("--site", type=Path, default=SITE, help="default: _build/html")
    options = parser.parse_args()
    with browser.served(options.site) as address, browser.launched() as chromium:
        page = chromium.new_page(viewport={"width": PHONE, "height": browser.WIDTHS[PHONE]})
        page.add_init_script(browser.PROBES)
        for number, name in enumerate(options.pages or filter(is_chapter, browser.pages(options.site))):
            page.goto(address + name)
            browser.settle(page)
            found = wide(page)
            if number == 0:
                print("  ".join(found))
            print("  ".join(str(len(places)).rjust(len(kind)) for kind, places in found.items()), "", name)


def is_chapter(name):
    return name.startswith("chapters/") and "/api/" not in name


if __name__ == "__main__":
    main()
