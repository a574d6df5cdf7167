"""Code in colour: a name or a bracket that has the colour of all other text needs no element of its own.

Pygments wraps every word of code. In both of the book's styles, names, punctuation and blanks look like the text around
them; without their elements a chapter has a third fewer to read, style and lay out.
"""

import re

from pygments.styles import get_style_by_name
from pygments.token import STANDARD_TYPES, Text

BLOCK = re.compile(r"<pre>.*?</pre>", re.S)


def plain_classes(styles):
    """The classes of the words that each of these styles shows as it shows text."""
    found = [get_style_by_name(name) for name in styles]
    alike = (kind for kind in STANDARD_TYPES if all(look(style, kind) == look(style, Text) for style in found))
    return {STANDARD_TYPES[kind] for kind in alike} - {""}


def look(style, kind):
    return style.style_for_token(kind)


def unwrapped(text, classes):
    """The page without the elements of these classes in its code; what stood in them stays."""
    word = re.compile(rf'<span class="(?:{"|".join(sorted(classes))})">([^<]*)</span>')
    return BLOCK.sub(lambda block: word.sub(r"\1", block[0]), text) if classes else text
