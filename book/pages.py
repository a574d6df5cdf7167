"""What several features ask of the pages of the book: their order, the title of a finished page, where a block ends."""

import re

from sphinx.errors import ExtensionError

HEADING = re.compile(r"<h[1-4]>(.*?)</h[1-4]>", re.S)
NOT_WORDS = re.compile(r'<a class="[^"]*\bheaderlink\b[^"]*".*?</a>|<mjx-math.*?</mjx-math>|<[^>]*>', re.S)


def reading_order(env):
    """The pages as the table of contents lists them."""

    def below(docname):
        yield docname
        for child in env.toctree_includes.get(docname, ()):
            yield from below(child)

    return below(env.config.root_doc)


def title_of(page):
    """The title with its number; before the article stands another without it, for the theme's print."""
    return words(HEADING.search(page, page.index("<article"))[1])


def words(heading):
    return re.sub(r"\s+", " ", NOT_WORDS.sub("", heading)).strip()


def end_of(text, start):
    """Where the `div` that begins at `start` ends."""
    depth = 0
    for tag in re.compile(r"<div\b|</div>").finditer(text, start):
        depth += 1 if tag[0] == "<div" else -1
        if depth == 0:
            return tag.end()
    raise ExtensionError(f"a div does not end: {text[start : start + 80]}")
