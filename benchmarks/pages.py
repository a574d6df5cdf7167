"""How long a reader waits in a page that runs: from the press of a button to the result, in Chromium, after `make live`.

    python benchmarks/pages.py [--times 3] [--site _build/html]

A cold visit is the first with an empty profile; for a warm one the browser is started anew with the same profile, which has
kept the files. For each visit: the megabytes that were sent, when the last file was fetched (Matplotlib comes when a cell
draws, the trained model when a cell needs it), when Python had started for the last time that it said so, and when the
result stood on the page. A table shows the median of the visits and, in brackets, the shortest and the longest. The numbers are
those of one machine beside its load, both of which are printed; no check depends on them.
"""

import argparse
import functools
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from machine import processor  # noqa: E402

from tools import browser  # noqa: E402

SITE = ROOT / "_build" / "html"
PATIENCE = 1_200_000  # milliseconds
# Notes every sentence under the title with its time, from now on.
LISTEN = """() => {
    const line = document.querySelector(".live-head > .live-said > span");
    const heard = (window.heard = []);
    new MutationObserver(() => heard.push([performance.now(), line.textContent])).observe(line, {
        childList: true, characterData: true, subtree: true,
    });
    window.pressed = performance.now();
}"""
IDLE = """() => document.querySelector(".live-head > .live-button").textContent === "Run this page" """
DRAWS = """() => [...document.querySelectorAll("div.cell")].findIndex((cell) => cell.querySelector(".cell_output :is(img, svg)"))"""


class Visit(NamedTuple):
    """What one visit took, in seconds from the press of the button; `sent` in megabytes."""

    sent: float
    fetched: float
    started: float
    done: float


class Counting(browser.Quiet):
    """A server that counts the bytes of the files that it sends."""

    sent = 0

    def copyfile(self, source, outputfile):
        content = source.read()
        Counting.sent += len(content)
        outputfile.write(content)


def visit(context, address, name, press):
    """Open a page, press what starts it, and wait for the result."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(address + name)
    page.wait_for_selector("html.live", state="attached")
    browser.settle(page)
    Counting.sent = 0
    page.evaluate(LISTEN)
    press(page)
    page.wait_for_function(f"() => window.heard.length && ({IDLE})()", timeout=PATIENCE)
    pressed, heard, now = page.evaluate("[window.pressed, window.heard, performance.now()]")
    page.close()
    fetching = [time for time, said in heard if said.startswith(("Fetching", "Reading"))]
    before = [i for i, (_, said) in enumerate(heard) if said.startswith(("Fetching", "Reading", "Starting"))]
    after = [time for time, _ in heard[max(before, default=-1) + 1 :]]
    ends = [max(fetching, default=pressed), min(after, default=now), now]
    return Visit(Counting.sent / 1e6, *((end - pressed) / 1000 for end in ends))


def cell(number, page):
    """Press the button of the cell of this number, from 0."""
    place = page.locator("div.cell").nth(number)
    place.evaluate("cell => cell.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    place.locator(".live-button").first.click()


def first_figure(page):
    cell(page.evaluate(DRAWS), page)


def with_the_model(page):
    """Press *Run this page*, and agree to fetch the trained model where the page asks."""
    page.locator(".live-head > .live-button").click()
    fetch = page.get_by_role("button", name="Fetch")
    page.wait_for_function(f"() => document.querySelector('.live-ask') || ({IDLE})()", timeout=PATIENCE)
    if fetch.count():
        fetch.click()


TASKS = {
    "chapter 1, a cell that draws nothing": ("chapters/01_softmax.html", functools.partial(cell, 1)),
    "chapter 1, its first figure": ("chapters/01_softmax.html", first_figure),
    "chapter 13, every cell, with the trained model": ("chapters/13_pretrained.html", with_the_model),
}


def measured(site, times):
    """{(task, "cold" or "warm"): its visits}"""
    from playwright.sync_api import sync_playwright

    found = {}
    with sync_playwright() as playwright, browser.served(site, Counting) as address:
        for task, (name, press) in TASKS.items():
            for _ in range(times):
                with tempfile.TemporaryDirectory() as profile:  # without one, Chromium keeps no large file
                    for kind in ("cold", "warm"):
                        context = playwright.chromium.launch_persistent_context(
                            profile, executable_path=browser.chromium(), args=browser.ARGUMENTS, viewport={"width": 1440, "height": 900}
                        )
                        found.setdefault((task, kind), []).append(visit(context, address, name, press))
                        context.close()
    return found


def table(found):
    """Markdown: a row for each task and kind of visit."""
    lines = ["| what | visit | MB sent | fetched, s | Python started, s | result, s |", "|---|---|---|---|---|---|"]
    for (task, kind), visits in found.items():
        cells = [f"{statistics.median(each.sent for each in visits):.1f}"]
        for field in ("fetched", "started", "done"):
            numbers = [getattr(each, field) for each in visits]
            cells.append(f"{statistics.median(numbers):.1f} ({min(numbers):.1f} to {max(numbers):.1f})")
        lines.append(f"| {task} | {kind} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Measure how long a reader waits in a page that runs.")
    parser.add_argument("--times", type=int, default=3, help="visits of each kind (default 3)")
    parser.add_argument("--site", type=Path, default=SITE, help="default: _build/html")
    options = parser.parse_args(arguments)
    if not (options.site / "_static" / "live").is_dir():
        sys.exit("pages: the site has no Python in its pages; run: make live")
    if browser.chromium() is None:
        sys.exit(f"pages: no browser; looked for {', '.join(browser.NAMES)}")
    print(f"{processor()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(table(measured(options.site, options.times)))


if __name__ == "__main__":
    main()
