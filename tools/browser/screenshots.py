"""Photograph pages of the built site, for looking at: two widths, light and dark, the whole page.

A page that is taller than `TALLEST` comes in pieces, NAME-390-dark-1.png and so on: Chromium leaves a picture black
below 16 384 pixels.

python -m tools.browser.screenshots FOLDER [PAGE ...]    PAGE is a path below the site's root; default: every page
"""

import argparse
import importlib.util
import sys
from pathlib import Path

from tools import browser

ROOT = Path(__file__).resolve().parents[2]
TALLEST = 15000  # pixels


def main():
    parser = argparse.ArgumentParser(description="Photograph pages of the built site.")
    parser.add_argument("folder", type=Path, help="where the PNG files go")
    parser.add_argument("pages", nargs="*", help="paths below the site's root; default: every page")
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html", help="default: _build/html")
    options = parser.parse_intermixed_args()  # also FOLDER --site SITE PAGE
    if not options.site.is_dir():
        sys.exit(f"screenshots: {options.site} is missing; run: make book")
    if browser.chromium() is None:
        sys.exit(f"screenshots: no browser; looked for {', '.join(browser.NAMES)}")
    if importlib.util.find_spec("playwright") is None:
        sys.exit("screenshots: the package playwright is missing; run: pip install -r requirements.txt")
    options.folder.mkdir(parents=True, exist_ok=True)
    with browser.served(options.site) as address, browser.launched() as chromium:
        for name in options.pages or browser.pages(options.site):
            for width, height in browser.WIDTHS.items():
                for scheme in browser.SCHEMES:
                    page = chromium.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
                    page.goto(address + name)
                    settle_and_shoot(page, options.folder / f"{name.replace('/', '-')[:-5]}-{width}-{scheme}.png")
                    page.close()


def settle_and_shoot(page, path):
    page.wait_for_load_state("networkidle")
    browser.settle(page)
    # Pictures that load only when they come into view are on the photograph too.
    page.evaluate("document.querySelectorAll('img[loading=lazy]').forEach(image => image.loading = 'eager')")
    width, height = page.evaluate("[document.documentElement.clientWidth, document.documentElement.scrollHeight]")
    tops = range(0, height, TALLEST)
    for number, top in enumerate(tops, 1):
        piece = path if len(tops) == 1 else path.with_stem(f"{path.stem}-{number}")
        clip = {"x": 0, "y": top, "width": width, "height": min(TALLEST, height - top)}
        page.screenshot(path=piece, full_page=True, clip=clip)
        print(piece)


if __name__ == "__main__":
    main()
