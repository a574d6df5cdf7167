"""Do two pieces of HTML show the same to a reader? Tag by tag, attribute by attribute, text by text.

Texts, also those that a screen reader speaks, are compared as texts; pictures in an address as pictures; everything
else exactly. A power of ten that is typeset, ``2.5 × 10<sup>−7</sup>``, is one number.
"""

import base64
import binascii
import contextlib
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import zip_longest

from tools.notebooks.compare import pictures, text

SPOKEN = {"alt", "title", "aria-label", "aria-valuetext", "data-names", "data-said", "data-way"}
POWER = re.compile(r"[-\u2212]?\d+")
PICTURE = "data:image/svg+xml;base64,"


def difference(stored, new, *, layout=True, digits=False):
    """Return "" if the two show the same, else where they differ first, in words. `layout` is that of the pictures, `digits` as for a text."""
    pairs = zip_longest(_Pieces(stored).pieces, _Pieces(new).pieces)
    return next(filter(None, (_difference(old, now, layout, digits) for old, now in pairs)), "")


@dataclass
class Piece:
    """A tag, or what stands between two tags."""

    place: str
    kind: str
    words: str
    attributes: dict = field(default_factory=dict)

    def __str__(self):
        return f"<{self.words}>" if self.kind == "tag" else f"the {self.kind} {self.words[:60]!r}"


def _difference(old, now, layout, digits):
    if old is None or now is None:
        return f"{now.place}: {now} was not there" if old is None else f"{old.place}: {old} is missing"
    if old.kind == now.kind == "text":
        said = text.difference(old.words, now.words, digits=digits)
        return said and f"{old.place}: {said}"
    if (old.kind, old.words) != (now.kind, now.words):
        return f"{old.place}: stored {old}, now {now}"
    if old.attributes.keys() != now.attributes.keys():
        return f"{old.place}: attributes of {old}: stored {list(old.attributes)}, now {list(now.attributes)}"
    for key, a in old.attributes.items():
        if said := _difference_of_values(key, a or "", now.attributes[key] or "", layout, digits):
            return f"{old.place}: {key} of {old}: {said}"
    return ""


def _difference_of_values(key, stored, new, layout, digits):
    if stored == new:
        return ""
    if key in SPOKEN:
        return text.difference(stored, new, digits=digits)
    if stored.startswith(PICTURE) and new.startswith(PICTURE):
        with contextlib.suppress(binascii.Error):
            svgs = [base64.b64decode(address.removeprefix(PICTURE)) for address in (stored, new)]
            return pictures.difference(*svgs, layout=layout)
    return f"stored {stored[:60]!r}, now {new[:60]!r}"


class _Pieces(HTMLParser):
    def __init__(self, markup):
        super().__init__()
        self.pieces = []
        self.place, self.row, self.cell, self.image = "start", 0, 0, 0
        self.feed(markup)
        self.close()

    def add(self, kind, words, attributes=()):
        self.pieces.append(Piece(self.place, kind, words, dict(attributes)))

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.row = 0
        elif tag == "tr":
            self.row, self.cell = self.row + 1, 0
            self.place = f"row {self.row}"
        elif tag in ("th", "td"):
            self.cell += 1
            self.place = f"row {self.row}, cell {self.cell}"
        elif tag == "img":
            self.image += 1
            self.place = f"image {self.image}"
        self.add("tag", tag, attributes)

    def handle_endtag(self, tag):
        if tag == "sup" and self.ends_in_a_power_of_ten():
            base, _, power = self.pieces[-3:]
            base.words += f"<sup>{power.words}</sup>"
            del self.pieces[-2:]
        else:
            self.add("tag", f"/{tag}")

    def ends_in_a_power_of_ten(self):
        match self.pieces[-3:]:
            case [Piece(kind="text") as base, Piece(kind="tag", words="sup") as start, Piece(kind="text") as power]:
                return base.words.endswith("× 10") and not start.attributes and POWER.fullmatch(power.words)
        return False

    def handle_data(self, data):
        if self.cdata_elem:
            self.add("code", data)
        elif self.pieces and self.pieces[-1].kind == "text":
            self.pieces[-1].words += data
        else:
            self.add("text", data)

    def handle_comment(self, data):
        self.add("comment", data)

    def handle_decl(self, decl):
        self.add("declaration", decl)

    def handle_pi(self, data):
        self.add("instruction", data)

    def unknown_decl(self, data):
        self.add("declaration", data)
