"""The theme's icons, drawn where they stand: neither the script nor the fonts of Font Awesome.

The theme names an icon (`<i class="fa-solid fa-bars">`) and brings all of Font Awesome to draw it: fonts, and a script of
half a megabyte that holds up the page until it has arrived. Here that script is read while the book is built, and each
icon becomes an empty `<svg>` with its name: a box in the colour of the text, cut out by the shape that the style sheet holds
once for all pages (`icons.css` has its size). So do the few icons that a style sheet adds.
"""

import re
from functools import cached_property
from urllib.parse import quote

from sphinx.errors import ExtensionError

SCRIPT = "scripts/fontawesome.js"  # both below the theme's folder of static files
FONTS = "vendor/fontawesome"
PACKS = {"fa-solid": ("fa", "fas"), "fa-regular": ("far",), "fa-brands": ("fab",)}  # and their short names
SIZES = {"fa-lg", "fa-fw"}  # no icons
# In the script: name: [width, height, [other names], code of the character, path]
ENTRY = re.compile(
    r'(?:"(?P<quoted>[\w-]+)"|(?P<bare>\w+)):'
    r'\[(?P<width>\d+),(?P<height>\d+),\[(?P<others>[^\]]*)\],"(?P<code>[0-9a-f]+)","(?P<path>[^"]+)"\]'
)
ELEMENT = re.compile(r'<(?P<tag>i|span)\b(?P<before>[^>]*?) class="(?P<words>[^"]*\bfa[^"]*)"(?P<after>[^>]*)>\s*</(?P=tag)>')
# In a style sheet an icon is a character of a font, often with a name: --pst-icon-search: "\f002"
CHARACTER = re.compile(r'(?P<what>--pst-icon-[\w-]+|content):\s*"(?:\\(?P<code>f[0-9a-f]{3})|(?P<char>[\uf000-\uf8ff]))"')
NAMED = re.compile(r"content:\s*(var\(--pst-icon-[\w-]+\))")
FONT = re.compile(r"font:\s*var\(--fa-font-\w+\)|font-family:\s*Font Awesome\\ 6 \w+")
OF_FONT = re.compile(r"--fa-[\w-]+:[^;}]*;?")
BOX = "display:inline-block;width:1em;height:1em;background:currentcolor;mask:var(--icon) no-repeat center/contain"


class Icons:
    """The icons of the theme whose script this is."""

    def __init__(self, script):
        self.script, self.boxes = script, []
        self.on_pages = {}  # {class: the icon}

    @cached_property
    def packs(self):
        """{pack: {name: match of `ENTRY`}}. In the script each pack's icons stand before its name."""
        parts = re.split(r'\("(fa-\w+)",p\)', self.script)
        found = dict(zip(parts[1::2], map(entries, parts[0::2]), strict=False))
        if found.keys() != PACKS.keys():
            raise ExtensionError(f"{SCRIPT} of the theme is not as it was: its packs are {list(found)}")
        return found

    def on_page(self, text):
        """The page with its icons drawn."""
        return ELEMENT.sub(self.element, text)

    def element(self, found):
        words = found["words"].split()
        pack = next((pack for pack, short in PACKS.items() if {pack, *short} & set(words)), None)
        if pack is None:
            return found[0]
        words = [word for word in words if word not in (pack, *PACKS[pack])]
        (name,) = [word for word in words if word.startswith("fa-") and word not in SIZES] or [""]
        attributes = re.sub(r'\s+title="[^"]*"', "", found["before"] + found["after"])  # the button has a name
        icon = self.named(pack, name[3:])
        if self.on_pages.setdefault(name, icon)["path"] != icon["path"]:
            raise ExtensionError(f"two packs have an icon {name!r}, and pages use both")
        classes = " ".join(["book-icon", *words])
        return f'<svg class="{classes}"{attributes} aria-hidden="true"></svg>'

    def named(self, pack, name):
        if name not in self.packs[pack]:
            raise ExtensionError(f"there is no icon {name!r} in {pack} of the theme")
        return self.packs[pack][name]

    def coded(self, code):
        for pack in self.packs.values():
            for icon in pack.values():
                if icon["code"] == code:
                    return icon
        raise ExtensionError(f"there is no icon with the code {code!r} in the theme")

    def in_rule(self, selector, declarations):
        """The declarations of a rule with shapes in place of the characters of the icon fonts."""

        def shape(found):
            name = 'content:"";--icon' if found["what"] == "content" else found["what"]
            return f"{name}:{shape_of(self.coded(found['code'] or format(ord(found['char']), 'x')))}"

        declarations = CHARACTER.sub(shape, OF_FONT.sub("", declarations))
        declarations = NAMED.sub(r'content:"";--icon:\1', declarations)
        declarations, boxes = FONT.subn(BOX, declarations)
        self.boxes += [selector] * bool(boxes)
        return declarations

    def rules(self):
        """The shapes of the icons on pages."""
        widths = {name: int(icon["width"]) / int(icon["height"]) for name, icon in sorted(self.on_pages.items())}
        return "".join(f".{name}{{--icon:{shape_of(self.on_pages[name])};width:{width:.4g}em}}\n" for name, width in widths.items())

    def in_forced_colours(self):
        """Where the system sets the colours it paints over backgrounds, unless they are one of its own colours."""
        boxes = ",".join([".book-icon", *self.boxes])
        return f"@media (forced-colors:active){{{boxes}{{background:CanvasText}}}}\n"


SAFE = " =:/',"  # what may stand in a quoted address as it is


def entries(text):
    """{name: match} of the icons in a part of the script, under each of their names."""
    icons = list(ENTRY.finditer(text))
    others = {name: icon for icon in icons for name in re.findall(r'"([\w-]+)"', icon["others"])}
    return others | {icon["quoted"] or icon["bare"]: icon for icon in icons}


def shape_of(icon):
    """An icon as the address of a picture, for a style sheet."""
    picture = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {icon['width']} {icon['height']}'><path d='{icon['path']}'/></svg>"
    return f'url("data:image/svg+xml,{quote(picture, safe=SAFE)}")'


def is_of_font(selector):
    """Is a rule with this selector Font Awesome's own, and so of no use without its fonts?"""
    return re.match(r"\.fa(?:[a-z]{0,2}|-[\w-]+)(?![\w-])", selector) is not None
