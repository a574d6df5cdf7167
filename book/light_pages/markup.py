"""Markup without what only its writers read: comments, indentation, names that no style and no script asks for, and a second
element around code of the same colour.

Templates indent what they write, and a browser keeps each blank between two elements as a piece of text. Where blanks count (`<pre>`,
fields of text, scripts, styles), nothing changes.
"""

import re

COUNTS = r"<(?P<kind>pre|textarea|script|style)\b.*?</(?P=kind)>"
PART = re.compile(rf"{COUNTS}|(?P<blanks>(?:\s|<!--.*?-->)+)|(?P<tag><(?:[^>\"']|\"[^\"]*\"|'[^']*')*>)", re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
IN_TAG = re.compile(r"\"[^\"]*\"|'[^']*'|(?P<blanks>\s\s+|\n)")
SCRIPT_TEXT = re.compile(r"(<script\b(?![^>]*json)[^>]*>\s*)(.*?)\s*(</script>)", re.S)
# Docutils' names for every link, every piece of code and each of its words. In the list of pages the theme asks for one of them.
IDLE = re.compile(r'(?<!has-children"><a)(?<=<a) class="reference internal"|(?<=<code class=")docutils (?=literal)|(?<=<code class="xref )py py-obj docutils (?=literal)')
CODE_WORD = re.compile(r'<span class="pre">([^<]*)</span>')
NOTE = re.compile(r"(?m)^[ \t]*(?://.*)?\n|^[ \t]+")
ALIKE = re.compile(r'(<span class="(\w+)">[^<]*)</span>(\s*)<span class="\2">')


def lean(text):
    """The page with the same words in fewer bytes."""
    return PART.sub(part, CODE_WORD.sub(r"\1", IDLE.sub("", text)))


def part(found):
    if found["blanks"]:
        blanks = COMMENT.sub("", found[0])
        return "\n" if "\n" in blanks else " " if blanks else ""
    if found["tag"]:
        return found[0] if "\n" not in found[0] and "  " not in found[0] else IN_TAG.sub(lambda each: " " if each["blanks"] else each[0], found[0])
    if found["kind"] == "pre":
        return joined(found[0])
    return plain(found[0]) if found["kind"] == "script" else found[0]


def joined(code):
    """Code in which neighbours of one colour are one element: only the blanks between them are in no colour, and have none to show."""
    before = None
    while code != before:
        before, code = code, ALIKE.sub(r"\1\3", code)
    return code


def plain(script):
    """A script of the page without lines of comments and indentation; one with a text of several lines stays as it is."""
    return script if any(line.count("`") % 2 for line in script.splitlines()) else SCRIPT_TEXT.sub(lambda found: found[1] + NOTE.sub("", found[2]) + found[3], script)
