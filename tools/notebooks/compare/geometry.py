"""Where the points of an SVG's shapes lie on the page: transforms, paths, corners."""

import math
import re

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def numbers(text):
    """The numbers of a list; ValueError if there is anything else in it."""
    if rest := NUMBER.sub("", text).replace(",", "").strip():
        raise ValueError(f"{rest[:20]!r} where a number was expected")
    return [float(number) for number in NUMBER.findall(text)]


# Transforms: (a, b, c, d, e, f) takes the point (x, y) to (a x + c y + e, b x + d y + f).

IDENTITY = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def applied(transform, point):
    a, b, c, d, e, f = transform
    x, y = point
    return a * x + c * y + e, b * x + d * y + f


def then(outer, text):
    """The transform inside an element whose attribute `transform` is the text, itself inside `outer`."""
    if rest := re.sub(r"\w+\s*\([^()]*\)", "", text).replace(",", "").strip():
        raise ValueError(f"{rest[:20]!r} where a transform was expected")
    for name, inside in re.findall(r"(\w+)\s*\(([^()]*)\)", text):
        a, b, c, d, e, f = outer
        p, q, r, s, t, u = _matrix(name, numbers(inside))
        outer = (a * p + c * q, b * p + d * q, a * r + c * s, b * r + d * s, a * t + c * u + e, b * t + d * u + f)
    return outer


def _matrix(name, values):
    match name, values:
        case "matrix", [_, _, _, _, _, _]:
            return values
        case "translate", [x]:
            return 1, 0, 0, 1, x, 0
        case "translate", [x, y]:
            return 1, 0, 0, 1, x, y
        case "scale", [x]:
            return x, 0, 0, x, 0, 0
        case "scale", [x, y]:
            return x, 0, 0, y, 0, 0
        case "rotate", [angle]:
            cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
            return cos, sin, -sin, cos, 0, 0
        case "rotate", [angle, x, y]:
            return then(IDENTITY, f"translate({x} {y}) rotate({angle}) translate({-x} {-y})")
        case "skewX", [angle]:
            return 1, 0, math.tan(math.radians(angle)), 1, 0, 0
        case "skewY", [angle]:
            return 1, math.tan(math.radians(angle)), 0, 1, 0, 0
    raise ValueError(f"{name} of {len(values)} numbers where a transform was expected")


# Paths

NUMBERS_OF = {"M": 2, "L": 2, "T": 2, "H": 1, "V": 1, "Q": 4, "S": 4, "C": 6, "A": 7, "Z": 0}


def path(data):
    """The commands of a path in capitals, and its points on the page: those of relative commands are added up."""
    commands, points = [], []
    here = start = (0.0, 0.0)
    for letter, values in _commands(data):
        command = letter.upper()
        origin = here if letter.islower() else (0.0, 0.0)
        if command == "Z":
            here = start
        elif command == "H":
            here = (origin[0] + values[0], here[1])
        elif command == "V":
            here = (here[0], origin[1] + values[0])
        else:
            if command == "A":  # radii, angle and flags of an arc stay as they are
                command += str(values[:5])
                values = values[5:]
            pairs = [(origin[0] + x, origin[1] + y) for x, y in zip(values[::2], values[1::2], strict=True)]
            points += pairs[:-1]
            here = pairs[-1]
            start = here if command == "M" else start
        commands.append(command)
        if command != "Z":
            points.append(here)
    return "".join(commands), points


def _commands(data):
    """Each command with its own numbers; one letter may stand for several commands."""
    before, *parts = re.split(r"([A-DF-Za-df-z])", data)
    for letter, text in zip(["", *parts[::2]], [before, *parts[1::2]], strict=True):
        values, size = numbers(text), NUMBERS_OF.get(letter.upper(), 0)
        if size == 0 and not values and letter in "zZ":
            if letter:
                yield letter, []
        elif size == 0 or not values or len(values) % size:
            raise ValueError(f"{letter!r} with {len(values)} numbers where part of a path was expected")
        else:
            for first in range(0, len(values), size):
                yield letter, values[first : first + size]
                letter = {"M": "L", "m": "l"}.get(letter, letter)


# Courses


def off_course(points, line, tolerance):
    """The first of the points that does not lie on the line, or None.

    Both are lists of points in the order in which they are drawn, and each point has to come on the line at or after
    the one before it, within the tolerance in each direction. The ends have to be ends of the line.
    """
    ends = [(points[0], line[0]), (points[-1], line[-1])]
    for point, end in ends:
        if not _near(point, end, tolerance):
            return point
    reached = 0
    for point in points:
        for segment in range(reached, len(line) - 1):
            if _near(point, _nearest(point, *line[segment : segment + 2]), tolerance):
                reached = segment
                break
        else:
            return point
    return None


def _near(point, other, tolerance):
    return all(round(abs(p - q), 6) <= tolerance for p, q in zip(point, other, strict=True))


def _nearest(point, start, end):
    """The point between two others that is nearest to the first."""
    across = [q - p for p, q in zip(start, end, strict=True)]
    length = sum(x * x for x in across)
    along = sum(x * (p - q) for x, p, q in zip(across, point, start, strict=True)) / length if length else 0.0
    return tuple(q + x * min(max(along, 0.0), 1.0) for q, x in zip(start, across, strict=True))


# Shapes


def shape(name, attributes):
    """The commands and the points of a shape, taken out of its attributes. Circles and the like stay as written."""
    if name == "path":
        return path(attributes.pop("d", ""))
    if name in ("rect", "image"):
        x, y, width, height = (numbers(attributes.pop(key, "0"))[0] for key in ("x", "y", "width", "height"))
        return "", [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    values = numbers(attributes.pop({"polyline": "points", "polygon": "points", "svg": "viewBox"}.get(name), ""))
    if name == "svg":
        for key in ("width", "height"):
            values += numbers(attributes.pop(key).removesuffix("pt")) if attributes.get(key, "").endswith("pt") else []
    return "", list(zip(values[::2], values[1::2], strict=True))
