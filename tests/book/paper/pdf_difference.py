"""Where two PDF files differ first. Pytest's own comparison of megabytes takes an hour."""

import collections
import io
import os
import re

import pypdf


def first_difference(one, other):
    """The first object in which two PDF files differ, as text, or ""."""
    if one == other:
        return ""
    pair = [pypdf.PdfReader(io.BytesIO(content)) for content in (one, other)]
    more, fewer = (sorted((kinds(a) - kinds(b)).elements()) for a, b in (pair, pair[::-1]))
    if more or fewer:
        return f"only in the first: {more}; only in the second: {fewer}"
    for number in range(1, max(reader.trailer["/Size"] for reader in pair)):
        shown = [in_full(reader.get_object(number)) for reader in pair]
        if shown[0] != shown[1]:
            place = len(os.path.commonprefix(shown))
            return f"object {number}, from letter {place}: " + ", ".join(text[max(0, place - 80) : place + 200] for text in shown)
    return "the same objects, stored differently"


def kinds(reader):
    """How many objects of each kind a file has; fonts by their names, streams by their beginning."""
    found = collections.Counter()
    for number in range(1, reader.trailer["/Size"]):
        thing = reader.get_object(number)
        if isinstance(thing, dict):
            stream = repr(thing.get_data()[:60]) if hasattr(thing, "get_data") and "/Length1" not in thing else ""
            found[" ".join([*(str(thing.get(key, "")) for key in ("/Type", "/Subtype", "/BaseFont", "/S")), stream])] += 1
    return found


def in_full(thing):
    """An object of a PDF as text, with the content of a stream."""
    text = re.sub(r"IndirectObject\((\d+), \d+, \d+\)", r"\1", str(thing))  # without the place of its reader in the memory
    return f"{text} {thing.get_data()!r}" if hasattr(thing, "get_data") else text
