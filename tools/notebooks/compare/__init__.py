"""Would a reader say that two outputs are the same? What `make test` asks of every output of every notebook.

Read in this order: `text` (words exactly, a number but for one unit of its last digit), `markup` (HTML: tags exactly,
texts as texts), `pictures` (SVG: what is drawn exactly, its points within 0.3 pt) and `geometry`, which finds the
points. Anything else has to be equal.
"""

from itertools import zip_longest

from tools.notebooks.compare import markup, pictures, text

LIKE_TEXT = {"stdout", "text/plain", "text/latex"}


def same(kind, stored, new, *, layout=True, digits=False):
    """Return "" if a reader would take `new` for `stored`, else a sentence that says where and how they differ.

    The kind is that of an output's content: a MIME type, "stdout" or "stderr", or a field of an error. Without `layout`
    it does not count where in a picture its parts lie: that is for figures of another Matplotlib, and only for them. With
    `digits` the last digit of a number counts, which another processor may round the other way.
    """
    if stored == new:
        return ""
    if kind in LIKE_TEXT:
        return text.difference(stored, new, digits=digits)
    if kind == "text/markdown":
        return text.difference(stored, new, markdown=True, digits=digits)
    if kind == "text/html":
        return markup.difference(stored, new, layout=layout, digits=digits)
    if kind == "image/svg+xml":
        return pictures.difference(stored, new, layout=layout)
    return f"stored {str(stored)[:200]!r}, now {str(new)[:200]!r}"


def outputs(stored, new, ignored=(), *, layout=True, digits=False):
    """`same` for all outputs of a cell, in order and with all their kinds; an ignored kind has to be there, too."""
    for number, (old, now) in enumerate(zip_longest(map(_contents, stored), map(_contents, new)), start=1):
        if old is None or now is None:
            return f"output {number}: {_list(old or now)} {'is missing' if old else 'was not there'}"
        if list(old) != list(now):
            return f"output {number}: stored {_list(old)}, now {_list(now)}"
        for kind in old:
            if kind not in ignored and (said := same(kind, old[kind], now[kind], layout=layout, digits=digits)):
                return f"output {number}, {kind}: {said}"
    return ""


def _contents(output):
    """What an output shows, by kind. How it came to be shown, when and with which metadata is not shown."""
    if output["output_type"] == "stream":
        return {output["name"]: output["text"]}
    if output["output_type"] == "error":
        return {"error": output["ename"], "error message": output["evalue"]}
    return {kind: output["data"][kind] for kind in sorted(output["data"])}


def _list(contents):
    return " with ".join(contents)
