"""Code in colour: few elements, with short names.

Pygments wraps every word of code. In both of the book's styles, names, punctuation and blanks look like the text around
them, and need no element of their own; other kinds look like each other, so that neighbours become one element (`markup`).
What is left is most of the markup of a page with code: `<span class="k">def</span>` is shorter as `<c- k>def</c->`, an
element with a name that HTML leaves to pages.
"""

import re

from pygments.styles import get_style_by_name
from pygments.token import STANDARD_TYPES, Text

BLOCK = re.compile(r"<pre>.*?</pre>", re.S)
WORD = re.compile(r'<span class="(\w+)">([^<]*)</span>')
SHORT = re.compile("[a-fh-z][a-z0-9]?")  # a name that Pygments gives to words of a program; with g begin prompts and their answers


def plain_classes(styles):
    """The classes of the words that each of these styles shows as it shows text."""
    found = [get_style_by_name(name) for name in styles]
    alike = (kind for kind in STANDARD_TYPES if all(look(style, kind) == look(style, Text) for style in found))
    return {STANDARD_TYPES[kind] for kind in alike} - {""}


def look(style, kind):
    return style.style_for_token(kind)


def twins(styles):
    """{class: the shortest class that each of these styles shows in the same way}."""
    found = [get_style_by_name(name) for name in styles]
    kinds = sorted(((name, kind) for kind, name in STANDARD_TYPES.items() if SHORT.fullmatch(name)), key=lambda each: len(each[0]))
    first = {}
    return {name: first.setdefault(str([look(style, kind) for style in found]), name) for name, kind in kinds}


def unwrapped(text, classes, twins=None):
    """The page without the elements of these classes in its code; what stood in them stays. Others are called as their twins."""
    twins = twins or {}

    def plain(word):
        return word[2] if word[1] in classes else f'<span class="{twins.get(word[1], word[1])}">{word[2]}</span>'

    return BLOCK.sub(lambda block: WORD.sub(plain, block[0].replace("<span></span>", "")), text)


def short(text):
    """The page with short elements in its code."""
    return BLOCK.sub(lambda block: WORD.sub(lambda word: f"<c- {word[1]}>{word[2]}</c->" if SHORT.fullmatch(word[1]) else word[0], block[0]), text)


def short_rules(text):
    """The style sheet for such pages."""
    return re.sub(rf"(\.highlight )\.({SHORT.pattern})(?![\w-])", r"\1[\2]", text)
