"""One style sheet for the whole site: the rules of all sheets, in their order, that can match something.

A rule is left out if each of its selectors names a class or an id that no page has and no script mentions; nine tenths
of the theme's rules are like that. What else a selector asks for (elements, attributes, `:not(...)`) is not looked at.
"""

import posixpath
import re

import tinycss2
from sphinx.errors import ExtensionError

from book.light_pages import icons

GROUPS = {"media", "supports", "layer", "container"}  # rules that hold rules
ADDRESS = re.compile(r"""url\(\s*(["']?)(?!data:|[a-z]+://|[/#])([^"')]+)\1\s*\)""")
READ = re.compile(r"var\(\s*(--[\w-]+)")
VARIABLE = re.compile(r"""(?<=[{;\s])(--[\w-]+)\s*:(?:"(?:\\.|[^"\\])*"|'[^']*'|[^;{}"'])*;?""")
KEYFRAMES = re.compile(r"@(?:-\w+-)?keyframes\s+([\w-]+)\s*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}\n?")


def merged(folder, paths, words, drawn):
    """The style sheets at these paths in a folder as one for the same folder, as text.

    `words` are all classes and ids that there may be, and the names of variables that pages and scripts read; `drawn`
    gives declarations with drawn icons (see `icons.Icons.in_rule`).
    """
    text = "".join(used_rules(rules(folder, path), words, drawn) for path in paths)
    text = without_idle_variables(text, words)
    check_addresses(folder, text)
    played = set(re.findall(r"[\w-]+", KEYFRAMES.sub("", text)))
    return '@charset "UTF-8";\n' + KEYFRAMES.sub(lambda found: found[0] if found[1] in played else "", text)


def check_addresses(folder, text):
    """Each file that a sheet of this folder asks for is there, or this is an error."""
    for _, address in ADDRESS.findall(text):
        if not (folder / address).is_file():
            raise ExtensionError(f"the file _static/{address} is missing, and the style sheet asks for it")


def rules(folder, path):
    """The rules of a sheet, those of the sheets it imports in their place, with addresses as seen from the folder."""

    def moved(found):
        return f'url("{posixpath.normpath(posixpath.join(posixpath.dirname(path), found[2]))}")'

    source = ADDRESS.sub(moved, (folder / path).read_text(encoding="utf-8"))
    found = []
    for rule in tinycss2.parse_stylesheet(source, skip_comments=True, skip_whitespace=True):
        if rule.type == "at-rule" and rule.lower_at_keyword == "import":
            (address,) = [token.value for token in rule.prelude if token.type != "whitespace"]
            found += rules(folder, posixpath.normpath(posixpath.join(posixpath.dirname(path), address)))
        else:
            found.append(rule)
    return found


def used_rules(rules, words, drawn):
    """The rules that can match something, as text."""
    text = ""
    for rule in rules:
        if rule.type == "qualified-rule":
            selectors = [tinycss2.serialize(each).strip() for each in split(rule.prelude) if names(each) <= words]
            selector = ",".join(each for each in selectors if not icons.is_of_font(each))
            if selector and (body := drawn(selector, tinycss2.serialize(rule.content).strip())):
                text += f"{selector}{{{body}}}\n"
        elif rule.type == "at-rule" and rule.lower_at_keyword in GROUPS and rule.content is not None:
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            if body := used_rules(inner, words, drawn):
                text += f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{body}}}\n"
        elif rule.type == "at-rule" and rule.lower_at_keyword != "charset" and icons.FONTS not in rule.serialize():
            text += rule.serialize() + "\n"
    return text


def split(prelude):
    """The selectors of a list, each as a list of tokens."""
    selectors = [[]]
    for token in prelude:
        if token == ",":
            selectors.append([])
        else:
            selectors[-1].append(token)
    return selectors


def names(selector):
    """The classes and ids in a selector, without those in brackets."""
    ids = {token.value for token in selector if token.type == "hash"}
    return ids | {name.value for dot, name in zip(selector, selector[1:], strict=False) if dot == "." and name.type == "ident"}


def without_idle_variables(text, words):
    """Leave out the custom properties that nothing reads."""
    before = None
    while text != before:  # what only one of those reads is idle too
        before, read = text, words | set(READ.findall(text))
        text = VARIABLE.sub(lambda found, read=read: found[0] if found[1] in read else "", text)
    return text
