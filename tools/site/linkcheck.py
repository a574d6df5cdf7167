"""Check the built site: every link, anchor, picture and reference leads somewhere, and nothing comes from elsewhere.

python -m tools.site.linkcheck [_build/html]

Reads files only. Links to other sites are counted, not fetched. Exit code 1 if anything is wrong.
"""

import argparse
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]
# What a browser loads by itself, not at a reader's click.
LOADS = {
    "script": ("src",), "img": ("src", "srcset"), "source": ("src", "srcset"), "iframe": ("src",), "embed": ("src",),
    "audio": ("src",), "video": ("src", "poster"), "object": ("data",),
    "image": ("href", "xlink:href"), "use": ("href", "xlink:href"),
}  # fmt: skip
LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "manifest", "shortcut"}
CSS_ADDRESS = re.compile(r"""(?:url\(|@import(?!\s+url))\s*(["']?)([^"')]+)\1""")
LEFT_OVER = {"system-message": "an error message of the build", "problematic": "text the build did not understand"}


class Report(NamedTuple):
    """What was found: sentences about what is wrong, and how much was checked."""

    problems: list
    counts: dict


class Page(HTMLParser):
    """Everything in one page that names something or points at something."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.ids, self.repeated, self.links, self.loads, self.pictures, self.left_over = set(), [], [], [], [], []
        self.in_style, self.language, self.titled = False, None, False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        get = attributes.get
        if tag == "html":
            self.language = get("lang")
        self.titled |= tag == "title"
        self.in_style = tag == "style"
        for name in {get("id"), get("name") if tag == "a" else None} - {None, ""}:
            if name in self.ids:
                self.repeated.append(name)
            self.ids.add(name)
        if tag in ("a", "area") and get("href") is not None:
            self.links.append(attributes["href"])
        if tag == "link" and get("href"):
            relations = set((get("rel") or "").split())
            (self.loads if relations & LOADED_LINKS else self.links).append(attributes["href"])
        if tag == "meta" and (get("http-equiv") or "").lower() == "refresh" and "url=" in (get("content") or ""):
            self.links.append(attributes["content"].split("url=", 1)[1])
        for name in LOADS.get(tag, ()):
            if get(name):
                parts = attributes[name].split(",") if name == "srcset" else [attributes[name]]
                self.loads += [part.split()[0] for part in parts if part.strip()]
        if tag == "img":
            decoration = get("aria-hidden") == "true" or get("role") == "presentation"
            self.pictures.append((get("src") or "", get("alt"), decoration))
        if get("style"):
            self.loads += [address for _, address in CSS_ADDRESS.findall(attributes["style"])]
        self.left_over += [LEFT_OVER[name] for name in (get("class") or "").split() if name in LEFT_OVER]

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag):
        self.in_style &= tag != "style"

    def handle_data(self, data):
        if self.in_style:
            self.loads += [address for _, address in CSS_ADDRESS.findall(data)]


def check(site):
    """Check the site in a folder. Returns a `Report`."""
    site = Path(site).resolve()
    # Files in _static are templates and parts, not pages.
    paths = sorted(path for path in site.rglob("*.html") if path.relative_to(site).parts[0] != "_static")
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    counts = dict.fromkeys(("pages", "links", "anchors", "loads", "pictures", "ids", "external"), 0)
    counts["pages"] = len(pages)
    problems = [] if pages else [f"{site}: no pages"]
    for path, page in pages.items():
        found = [f"the id {name!r} is there twice" for name in dict.fromkeys(page.repeated)] + page.left_over
        found += [] if page.language else ["no language (html lang)"]
        found += [] if page.titled else ["no title"]
        for address in page.links:
            found += follow(site, path, address, pages, counts)
        for address in page.loads:
            found += load(path, address, counts)
        for source, alt, decoration in page.pictures:
            counts["pictures"] += 1
            found += picture(source, alt, decoration)
        counts["ids"] += len(page.ids)
        problems += [f"{path.relative_to(site)}: {text}" for text in dict.fromkeys(found)]
    for path in sorted(site.rglob("*.css")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
        for _, address in CSS_ADDRESS.findall(text):
            problems += [f"{path.relative_to(site)}: {text}" for text in load(path, address.strip(), counts)]
    return Report(problems, counts)


def follow(site, path, address, pages, counts):
    """What is wrong with a link that a reader may follow."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        counts["external"] += 1
        known = parts.scheme in ("http", "https", "mailto") and (parts.netloc or parts.path)
        return [] if known else [f"a link that leads nowhere: {address}"]
    counts["links"] += 1
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file() or not target.is_relative_to(site):
        return [f"a broken link: {address}"]
    if parts.fragment and target.suffix == ".html":
        counts["anchors"] += 1
        if unquote(parts.fragment) not in pages[target].ids:
            return [f"a link to an anchor that is not there: {address}"]
    return []


def load(path, address, counts):
    """What is wrong with something that the browser loads."""
    parts = urlsplit(address)
    if parts.scheme == "data" or (not parts.path and parts.fragment):
        return []
    counts["loads"] += 1
    if parts.scheme or parts.netloc:
        return [f"loads from another site: {address}"]
    if not (path.parent / unquote(parts.path)).is_file():
        return [f"loads a file that is not there: {address}"]
    return []


def picture(source, alt, decoration):
    """What is wrong with the text that stands for a picture."""
    if alt is None or (not alt.strip() and not decoration):
        return [f"a picture without alternative text: {source[:80]}"]
    if alt.strip() and re.fullmatch(r"\S*[/\\]\S*|\S+\.(?:svg|png|jpe?g|gif)", alt.strip()):
        return [f"the alternative text is a file name: {alt}"]
    return []


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Check the links of the built site.")
    parser.add_argument("site", nargs="?", type=Path, default=ROOT / "_build" / "html", help="default: _build/html")
    options = parser.parse_args(arguments)
    if not options.site.is_dir():
        print(f"linkcheck: {options.site} is missing; run: make book", file=sys.stderr)
        return 1
    problems, counts = check(options.site)
    print("\n".join(problems) + "\n" if problems else "", end="")
    checked = ", ".join(f"{number} {name}" for name, number in counts.items())
    print(f"linkcheck: {checked}; {len(problems)} problems")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
