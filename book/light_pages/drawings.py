"""Figures in fewer bytes: the same shapes, without what Matplotlib writes for other readers than a browser.

Matplotlib gives each element an id, keeps six decimals of a point, describes the file, and writes equal words of a figure again
and again. A browser needs none of that. Here a figure becomes less than half as long, before it is read for the first time:

* ids that nothing refers to, descriptions, comments and groups that do nothing go, and the other ids are short;
* coordinates have two decimals of a point, less than a fiftieth of a pixel, and paths say how far the pen moves, not where it is;
* a word that stands in a figure more than once is drawn once, and used again; so is a style;
* a picture in it names its colours once, if these are few.
"""

import base64
import io
import re
from collections import Counter
from xml.etree import ElementTree

from PIL import Image

SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
PATH_PART = re.compile(rf"[A-Za-z]|{NUMBER.pattern}")
POINTS = {"M": 1, "L": 1, "Q": 2, "C": 3}  # of a command of a path; Matplotlib uses these and z
REFERENCE = re.compile(r"#([^)\"']+)")
MOVED = re.compile(r"translate\(\s*([-\d.]+)(?:[\s,]+([-\d.]+))?\s*\)")
PLACED = re.compile(r"translate\((?P<x>[-\d.]+) ?(?P<y>[-\d.]+)?\)(?P<size>(?:rotate\(.+?\))?scale\(.+?\))")  # a word
LETTERS = "abcdefghijklmnopqrstuvwxyz"
OF_FIGURE, OF_LETTERS = 2, 1  # decimals: of points, and of hundredths of a letter's size
OUTLINE = "scale(0.015625)"  # of a letter, in steps of a 6400th of its size: sixteen of them are a fortieth of a point
COARSE, COARSER = 16, "scale(.25)"


def thinned(text):
    """The text of an SVG file of Matplotlib in fewer bytes; any other SVG file as it is."""
    if 'id="figure_1"' not in text:
        return text
    ElementTree.register_namespace("", SVG[1:-1])
    figure = ElementTree.fromstring(text)  # comments stay behind
    for element in figure.iter():
        shorten_attributes(element)
    unwrap(figure)
    share_words(figure)
    shorten_ids(figure)
    share_styles(figure)  # which may refer to the ids
    return ElementTree.tostring(figure, encoding="unicode").replace(" />", "/>") + "\n"


def shorten_attributes(element):
    """Remove blanks, needless digits and the older name of `href` from the attributes of an element."""
    element.text = (element.text or "").strip() or None
    element.tail = None
    given = dict(element.attrib)
    element.attrib.clear()
    for name, value in given.items():
        if name == "d":
            value = path(value, 1 / COARSE if given.get("transform") == OUTLINE else 10**OF_FIGURE)
        elif name == "style":
            value = re.sub(r"\s*([:;,])\s*", r"\1", value.strip()).rstrip(";")
        elif name == "transform" and "d" in given and value == OUTLINE:
            value = COARSER
        elif name == "transform":
            value = transform(value, OF_LETTERS if element.tag == SVG + "use" else OF_FIGURE)
        elif name == XLINK + "href":
            name, value = "href", picture(re.sub(r"\s", "", value))
        elif name in ("x", "y") and element.tag == SVG + "use":
            value = short(value, OF_FIGURE)
        element.set(name, value)
    moved = element.tag == SVG + "use" and "x" not in given and MOVED.fullmatch(element.get("transform", ""))
    if moved:  # x and y of a use mean the same
        del element.attrib["transform"]
        element.attrib.update({name: value for name, value in zip("xy", moved.groups("0"), strict=True) if value != "0"})


def picture(address):
    """A picture that is given as data, with a list of its colours where that is shorter."""
    kind, _, data = address.partition("base64,")
    if kind != "data:image/png;":
        return address
    with Image.open(io.BytesIO(base64.b64decode(data))) as image:
        colours = image.getcolors(256)
        if not colours or image.mode == "RGBA" and min(colour[3] for _, colour in colours) < 255:
            return address
        plain, made = image.convert("RGB"), io.BytesIO()
        plain.convert("P", palette=Image.Palette.ADAPTIVE, colors=len(colours)).save(made, "PNG", optimize=True)
        with Image.open(made) as listed:
            same = listed.convert("RGB").tobytes() == plain.tobytes()
    found = base64.b64encode(made.getvalue()).decode()
    return f"{kind}base64,{found}" if same and len(found) < len(data) else address


def short(number, digits):
    """The number with so many decimals at most, without a zero before the point."""
    found = f"{float(number):.{digits}f}"
    found = found.rstrip("0").rstrip(".") if "." in found else found
    return re.sub(r"^(-?)0\.", r"\1.", "0" if found == "-0" else found)


def transform(value, digits):
    """A transform whose shifts have so many decimals; factors and angles stay exact."""

    def shorter(found):
        exact = found[1] != "translate"
        numbers = [short(number, 9 if exact else digits) for number in NUMBER.findall(found[2])]
        if found[1] == "translate" and numbers[1:] == ["0"]:
            numbers.pop()
        return f"{found[1]}({' '.join(numbers)})"

    return re.sub(r"(\w+)\(([^)]*)\)\s*", shorter, value)


def path(outline, unit):
    """A path in steps of whole parts of 1 (`unit` is 100: hundredths); where `unit` is a sixteenth, in sixteens, and a sixteenth as large.

    A rounded step starts from a rounded place, so that no error grows along the path.
    """
    parts, words, last = PATH_PART.findall(outline), [], ""
    place = begin = (0, 0)  # in units
    numbers = []
    command = None

    def say(name, steps):
        nonlocal last
        values = [short(step / max(unit, 1), OF_FIGURE) for step in steps]
        joined = "".join(value if value[0] == "-" or not at else " " + value for at, value in enumerate(values))
        same = name == last and name != "z"
        words.append((" " if same and joined[0] != "-" else "") + joined if same else name + joined)
        last = {"m": "l"}.get(name, name)

    for part in parts:
        if part == "z":
            say("z", [])
            place = begin
        elif part in POINTS:
            command, numbers = part, []
        elif part.isalpha():
            raise ValueError(f"a path of a figure has the command {part!r}, which the book does not know how to shorten")
        else:
            numbers.append(round(float(part) * unit))
            if len(numbers) == 2 * POINTS[command]:
                steps = [number - place[at % 2] for at, number in enumerate(numbers)]
                place = tuple(numbers[-2:])
                if command == "L" and 0 in steps:
                    name, steps = ("v", steps[1:]) if steps[0] == 0 else ("h", steps[:1])
                else:
                    name = command.lower()
                begin = place if command == "M" else begin
                say(name, steps)
                numbers, command = [], {"M": "L"}.get(command, command)
    return "".join(words)


def unwrap(figure):
    """Remove what describes the file, ids that nothing refers to, and groups that are empty or do nothing."""
    for described in figure.findall(SVG + "metadata"):
        figure.remove(described)
    used = {found for element in figure.iter() for value in element.attrib.values() for found in REFERENCE.findall(value)}
    for element in figure.iter():
        if element.get("id") not in used:
            element.attrib.pop("id", None)

    def clean(parent):
        kept = []
        for child in parent:
            clean(child)
            group = child.tag in (SVG + "g", SVG + "defs")
            if group and not len(child):
                continue
            kept += list(child) if child.tag == SVG + "g" and not child.attrib else [child]
        parent[:] = kept

    empty = [path for path in figure.iter(SVG + "path") if "d" not in path.attrib]  # a space is a letter without a line
    spaces = {"#" + path.get("id", "") for path in empty}
    for parent in figure.iter():
        parent[:] = [child for child in parent if child not in empty and child.get("href") not in spaces]
    clean(figure)


def share_words(figure):
    """Draw each word once: where the same letters stand again, in the same size, they are used again."""
    words, parents = {}, {child: parent for parent in figure.iter() for child in parent}
    for group in list(figure.iter(SVG + "g")):
        placed = PLACED.fullmatch(group.get("transform", ""))
        others = [child for child in group if child.tag not in (SVG + "use", SVG + "defs")]
        if placed and not others and set(group.attrib) <= {"transform", "style"}:
            drawn = tuple(ElementTree.tostring(child) for child in group if child.tag == SVG + "use")
            words.setdefault((placed["size"], drawn), []).append((group, placed))
    for number, ((size, drawn), groups) in enumerate(words.items()):
        if len(groups) == 1 and len(drawn) > 1:
            continue
        name = f"word {number}"
        for at, (group, placed) in enumerate(groups):
            letters = [child for child in group if child.tag == SVG + "use"]
            definitions = [child for child in group if child.tag == SVG + "defs"]
            if len(groups) == 1:
                (again,) = letters
                again.attrib.update(group.attrib)
            else:
                again = ElementTree.Element(SVG + "use", {"href": "#" + name, "x": placed["x"], "y": placed["y"] or "0"})
                again.attrib.update({key: value for key, value in group.attrib.items() if key == "style"})
            if at == 0 and len(groups) > 1:
                word = ElementTree.Element(SVG + "g", {"id": name, "transform": size})
                word.extend(letters)
                definitions = [*definitions, ElementTree.Element(SVG + "defs")]
                definitions[-1].append(word)
            parent = parents[group]
            place = list(parent).index(group)
            parent[place : place + 1] = [*definitions, again]


def share_styles(figure):
    """Name the styles that several elements have: as classes, in the style sheet of the figure."""
    counts = Counter(element.get("style") for element in figure.iter() if element.get("style"))
    names = {style: letters(at) for at, (style, count) in enumerate(counts.most_common()) if count > 1}
    for element in figure.iter():
        if element.get("style") in names:
            element.set("class", names[element.attrib.pop("style")])
    sheet = next(figure.iter(SVG + "style"))  # Matplotlib's own rule for all elements, which a class outdoes
    sheet.text = re.sub(r"\s*([:;{}])\s*", r"\1", sheet.text) + "".join(f".{name}{{{style}}}" for style, name in names.items())


def shorten_ids(figure):
    """Name what is referred to a, b, c and so on, the most used first."""
    counts = Counter(
        name for element in figure.iter() for value in element.attrib.values() if "data:" not in value for name in REFERENCE.findall(value)
    )
    ids = {element.get("id") for element in figure.iter()}
    order = sorted(ids & counts.keys(), key=lambda name: (-counts[name], name))
    names = {name: letters(at) for at, name in enumerate(order)}
    for element in figure.iter():
        for key, value in element.attrib.items():
            if key == "id":
                element.set(key, names[value])
            elif "#" in value and "data:" not in value:
                element.set(key, REFERENCE.sub(lambda found: "#" + names.get(found[1], found[1]), value))


def letters(number):
    """a to z, then aa, ab and so on."""
    rest, last = divmod(number, len(LETTERS))
    return (letters(rest - 1) if rest else "") + LETTERS[last]
