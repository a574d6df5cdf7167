"""Do two texts say the same to a reader? Another processor may round a number's last digit the other way.

Word by word and mark by mark the same, except for numbers:

* One with a decimal point or an exponent may differ by one unit of its last printed digit: 0.245 and 0.246.
  Where the two end at different digits (1.0e-03 and 9.9e-04), the smaller unit counts.
* An integer is a count, a size or an index and stays as it is; so does a number that ends in its point (``2.``).
* NumPy leaves out trailing zeros: within square brackets the longest number says how many digits all of them have.
* Zero has no sign. The same number in another format (0.25 and 0.250) is another text.
* Versions (1.22.3), names with digits (x2, float32) and code in Markdown are words.

A number that gets wider (9.99 and 10.00) moves what stands beside it: then, and only then, spaces do not count,
nor do the ends of lines within square brackets.
"""

import os
import re
from dataclasses import dataclass
from decimal import Decimal
from itertools import zip_longest

MINUS = "\u2212"  # as wide as a plus

TEXT = r"""
      (?P<word> \d+(?:\.\d+){2,}[\w.+]* | 0[xX][\da-fA-F]+ | [^\W\d]\w*(?:\.\w+)* )
    | (?P<number>
        (?P<sign> [-+\u2212]? )
        (?P<whole> \d{1,3}(?:,\d{3})+ | \d+ | (?=\.\d) ) (?: (?P<point>\.) (?P<decimals>\d*) )?
        (?: [eE](?P<e>[-+]?\d+) | \s*(?:×|\\times|\\cdot)\s*10(?:\^\{?|<sup>)(?P<ten>[-+\u2212]?\d+)(?:\}|</sup>)? )?
        (?! \.?\d )
      )
    | (?P<space> \s+ )
    | (?P<mark> . )
"""
IN_TEXT = re.compile(TEXT, re.VERBOSE)
IN_MARKDOWN = re.compile(r"(?P<code> ```(?s:.*?)``` | `[^`\n]+` ) |" + TEXT, re.VERBOSE)


def difference(stored, new, *, markdown=False, digits=False):
    """Return "" if the two texts say the same, else where they differ first, in words. With `digits` the last digit counts, too."""
    old, now = _tokens(stored, markdown), _tokens(new, markdown)
    if [len(token.text) for token in old if token.number] != [len(token.text) for token in now if token.number]:
        old, now = _without_spaces(old), _without_spaces(now)
    for a, b in zip_longest(old, now):
        if a is None or b is None or not _agree(a, b) or (digits and a.number and _value(a.number) != _value(b.number)):
            return _sentence(stored, new, a, b)
    return ""


@dataclass
class Token:
    text: str
    start: int
    number: re.Match | None
    decimals: int  # digits after the point, left out or not
    in_array: bool = False


def _tokens(text, markdown):
    tokens, opened = [], []
    for match in (IN_MARKDOWN if markdown else IN_TEXT).finditer(text):
        number = match if match["number"] else None
        tokens.append(Token(match[0], match.start(), number, len(number["decimals"] or "") if number else 0))
        if match[0] == "[":
            opened.append(len(tokens) - 1)
        elif match[0] == "]" and opened:
            array = tokens[opened.pop() :]
            longest = max(token.decimals for token in array)
            for token in array:
                token.in_array = True
                token.decimals = longest
    return tokens


def _without_spaces(tokens):
    """Of all spaces only the ends of lines outside arrays."""
    for token in tokens:
        if token.text.isspace():
            token.text = "" if token.in_array else "\n" * token.text.count("\n")
    return [token for token in tokens if token.text]


def _agree(a, b):
    """Whether two tokens are one to a reader."""
    if a.text == b.text:
        return True
    if not (a.number and b.number):
        return False
    old, new = _value(a.number), _value(b.number)
    if old == new:
        return old == 0 and _unsigned(a.number) == _unsigned(b.number)
    decimals = max(a.decimals, b.decimals)
    if not (_is_rounded(a.number, decimals) and _is_rounded(b.number, decimals)):
        return False
    one_unit = min(Decimal(1).scaleb(_exponent(token.number) - decimals) for token in (a, b))
    return {_sign(a.number), _sign(b.number)} != {"", "+"} and abs(old - new) <= one_unit


def _is_rounded(number, decimals):
    return bool(number["e"] or number["ten"] or (number["point"] and decimals))


def _exponent(number):
    return int((number["e"] or number["ten"] or "0").replace(MINUS, "-"))


def _sign(number):
    return number["sign"].replace(MINUS, "-")


def _unsigned(number):
    return number[0].removeprefix(number["sign"])


def _value(number):
    whole, decimals = number["whole"].replace(",", ""), number["decimals"] or ""
    return Decimal(f"{_sign(number)}{whole}.{decimals}e{_exponent(number)}")


def _sentence(stored, new, a, b):
    """Where the texts part: the line with both readings of it."""
    starts = [token.start if token else len(text) for token, text in ((a, stored), (b, new))]
    shared = len(os.path.commonprefix([a.text, b.text])) if a and b else 0
    line = 1 + stored.count("\n", 0, starts[0] + shared)
    return f"line {line}: stored {_around(stored, starts[0] + shared)}, now {_around(new, starts[1] + shared)}"


def _around(text, place):
    """The line at a place of the text, cut to what fits into a message."""
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    line = text[max(start, place - 60) : min(end if end >= 0 else len(text), place + 60)]
    return repr(line) if place < len(text) else f"{line!r} and no more"
