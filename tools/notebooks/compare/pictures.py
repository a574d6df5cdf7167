"""Do two pictures show the same to a reader? Another processor may move a point by the last digit of a coordinate.

A picture is an SVG. It is gone through as a browser draws it: transforms are applied, and what is referred to is
drawn where it is referred to. So neither the names of ids count nor the place of a definition, but what is seen.
The marks have to be the same ones in the same order: elements, texts, colours, styles, the commands of paths, what
they are clipped by and the pixels of images exactly, every point within `TOLERANCE` in each direction.

Matplotlib leaves out points of a long line that change nothing that can be seen, and rounding decides which. So of a
long line it is the course that counts, not the points that it is drawn through.

Matplotlib draws the letters of a text as paths and writes the text into a comment: so comments count, as texts.
Metadata and groups without a style are not seen and do not count.

Another Matplotlib joins and spaces letters in another way, and axes take what room letters leave. Its figures can be
compared without their layout: elements, texts, colours and styles still count, points, pixels and letters do not.
"""

import base64
import hashlib
import io
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from itertools import zip_longest

from tools.notebooks.compare import geometry

TOLERANCE = 0.3  # pt
LAYOUT = {"points", "commands", "pixels"}
LONG_LINE = re.compile("ML{99,}")  # Matplotlib leaves lines of fewer than 128 points alone

REFERENCE = re.compile(r"""url\(\s*["']?#([^)"']+)["']?\s*\)""")
DEFINITIONS = {"defs", "clipPath", "symbol", "pattern", "marker", "mask", "filter", "linearGradient", "radialGradient"}
NOT_IN_PLACE = DEFINITIONS | {"metadata", "style"}


def difference(stored, new, *, layout=True):
    """Return "" if the two pictures show the same, else where they differ first, in words."""
    marks = []
    for name, svg in (("stored", stored), ("new", new)):
        try:
            marks.append(list(_Picture(svg).marks()))
        except (ElementTree.ParseError, OSError, ValueError) as error:
            return f"the {name} picture cannot be read: {error}"
    if not layout:
        marks = map(_without_layout, marks)
    return next(filter(None, (_difference(old, now) for old, now in zip_longest(*marks))), "")


@dataclass
class Mark:
    """Something that is drawn: where in the picture, what has to be the same, and its points on the page."""

    place: str
    exact: dict
    points: list = field(default_factory=list)

    def __str__(self):
        return f"{self.exact['element']} {self.exact.get('text', '')}".strip()


def _without_layout(marks):
    texts = {mark.place for mark in marks if mark.exact["element"] == "text"}  # their letters have the same place
    for mark in marks:
        if mark.place not in texts or mark.exact["element"] in ("text", "g", "end of g"):
            yield Mark(mark.place, {key: value for key, value in mark.exact.items() if key not in LAYOUT})


def _difference(old, now):
    if old is None or now is None:
        return f"{now.place}: {now} was not there" if old is None else f"{old.place}: {old} is missing"
    if old.exact["element"] != now.exact["element"]:
        return f"{old.place}: stored {old}, now {now}"
    long = LONG_LINE.fullmatch(old.exact.get("commands", "")) and LONG_LINE.fullmatch(now.exact.get("commands", ""))
    for key in old.exact | now.exact:
        if long and key in ("points", "commands"):
            continue
        a, b = old.exact.get(key, "none"), now.exact.get(key, "none")
        if a != b:
            return f"{old.place}: {key} of {old.exact['element']}: stored {a[:60]}, now {b[:60]}"
    if long:
        lost = geometry.off_course(old.points, now.points, TOLERANCE) or geometry.off_course(now.points, old.points, TOLERANCE)
        return f"{old.place}: {old} takes another course near ({lost[0]:.2f}, {lost[1]:.2f})" if lost else ""
    for number, (a, b) in enumerate(zip(old.points, now.points, strict=True), start=1):
        if not all(round(abs(p - q), 6) <= TOLERANCE for p, q in zip(a, b, strict=True)):
            spots = "stored at ({:.2f}, {:.2f}), now at ({:.2f}, {:.2f})".format(*a, *b)
            return f"{old.place}: point {number} of {len(old.points)} of {old}: {spots}"
    return ""


class _Picture:
    def __init__(self, svg):
        parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
        self.root = ElementTree.fromstring(svg, parser)
        self.named = {element.get("id"): element for element in reversed([*self.root.iter()])}  # of two, the first

    def marks(self):
        for element in self.root.iter():
            if _local(element.tag) == "style":
                yield Mark("style sheet", {"element": "style", "text": _words(element)})
        yield from self.drawn(self.root, geometry.IDENTITY, "picture", ())

    def drawn(self, element, outer, place, through):
        """The marks of an element inside the transform `outer`; `through` are the references that led to it."""
        name, attributes = _local(element.tag), _attributes(element)
        place = place if through else element.get("id", place)
        transform = geometry.then(outer, attributes.pop("transform", ""))
        if name == "use":
            transform = geometry.then(transform, f"translate({attributes.pop('x', 0)} {attributes.pop('y', 0)})")
        link = attributes.pop("href", "")
        commands, points = geometry.shape(name, attributes)
        exact = {"element": name, "points": str(len(points)), "commands": commands, "text": _words(element)}
        exact |= {"pixels": _pixels(link)} if link and link[0] != "#" else {}
        exact |= {key: REFERENCE.sub("url(#)", value) for key, value in attributes.items()}
        seen = name != "g" or attributes
        if seen:
            yield Mark(place, exact, [geometry.applied(transform, point) for point in points])
        targets = [target for value in attributes.values() for target in REFERENCE.findall(value)]
        for target in targets + [link[1:]] * link.startswith("#"):
            if target in through or target not in self.named:
                raise ValueError(f"#{target} refers to {'itself' if target in through else 'nothing'}")
            yield from self.drawn(self.named[target], transform, place, (*through, target))
        for child in element:
            if _local(child.tag) not in NOT_IN_PLACE:
                yield from self.drawn(child, transform, place, through)
        if seen and name != "svg":
            yield Mark(place, {"element": f"end of {name}"})


def _local(name):
    """The name without its namespace. A comment's is a function."""
    return "text" if name is ElementTree.Comment else name.rpartition("}")[2]


def _attributes(element):
    """What is set on an element, as an attribute or in its style."""
    attributes = {_local(key): value for key, value in element.attrib.items()}
    attributes.pop("id", None)
    for declaration in filter(str.strip, attributes.pop("style", "").split(";")):
        key, _, value = declaration.partition(":")
        attributes[key.strip()] = value.strip()
    return attributes


def _words(element):
    texts = (element.text, *(child.tail for child in element))
    return " ".join(text.strip() for text in texts if text and text.strip())


def _pixels(link):
    """The size and the fingerprint of an image's pixels; a PNG can be packed in more than one way."""
    if not link.startswith("data:image/png;base64,"):
        return link
    from PIL import Image

    image = Image.open(io.BytesIO(base64.b64decode(link.partition(",")[2]))).convert("RGBA")
    return f"{image.width} x {image.height}, {hashlib.sha256(image.tobytes()).hexdigest()[:16]}"
