"""Pictures: each says its size, so that nothing moves when it arrives, and is fetched when a reader comes near.

A picture that stands in the page as data (the steps of a figure) becomes a file: the page is shorter, and pays only for
the steps that are looked at.
"""

import base64
import hashlib
import html
import re
from urllib.parse import unquote

from sphinx.errors import ExtensionError
from sphinx.util.images import get_image_size

IMAGE = re.compile(r"""<img\b(?:[^>"']|"[^"]*"|'[^']*')*>""")
SOURCE = re.compile(r'\bsrc="([^"]*)"')
DATA = re.compile(r"data:image/(svg\+xml|png);base64,(.*)", re.S)
SUFFIX = {"svg+xml": ".svg", "png": ".png"}
FIRST_SCREEN = 1500  # characters of text that fit above a picture on the first screen
TEXT = re.compile(r"<[^>]*>|\s+|([^<\s]+|<)")


def sized(text, page, folder):
    """The page with a size on each picture. `page` is its path; new files go to `folder`."""
    below = below_first_screen(text)

    def complete(found):
        tag = found[0]
        source = html.unescape(SOURCE.search(tag)[1])
        path = stored(source, folder) if source.startswith("data:") else page.parent / unquote(source.split("?")[0])
        size = get_image_size(str(path))
        if size is None and "_static" in path.parts:
            return tag  # a logo on a button of the theme, whose style sheet gives it its size
        if size is None:
            raise ExtensionError(f"{page.name}: the size of the picture {source[:80]} cannot be read")
        if source.startswith("data:"):
            up = "../" * (len(page.relative_to(folder.parent).parts) - 1)
            tag = SOURCE.sub(f'src="{up}{folder.name}/{path.name}"', tag, count=1)
        added = {"width": size[0], "height": size[1], "decoding": "async"}
        added |= {"loading": "lazy"} if found.start() >= below else {}
        new = "".join(f' {name}="{value}"' for name, value in added.items() if not re.search(rf"\s{name}=", tag))
        return "<img" + new + tag[len("<img") :]

    return IMAGE.sub(complete, text)


def below_first_screen(text):
    """Where in a page the text ends that fits on the first screen."""
    start, characters = text.find("<article"), 0
    for part in TEXT.finditer(text, start if start >= 0 else len(text)):
        characters += len(part[1] or "")
        if characters > FIRST_SCREEN:
            return part.end()
    return len(text)


def stored(source, folder):
    """Write a picture that is given as data to a file named by its content. Returns the path."""
    found = DATA.fullmatch(source)
    if found is None:
        raise ExtensionError(f"a picture of a kind that is not known: {source[:40]}")
    content = base64.b64decode(found[2])
    folder.mkdir(exist_ok=True)
    path = folder / (hashlib.sha256(content).hexdigest() + SUFFIX[found[1]])
    path.write_bytes(content)
    return path
