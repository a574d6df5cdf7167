"""Sphinx extension: code that has not changed since an earlier build has its colours already (see `book.cache`).

Pygments needs seconds for the cells of the book and the source of the library. Code that it cannot read is never kept, so
the warning comes with every build.
"""

import importlib.metadata

from sphinx.highlighting import logger

from book.cache import digest

MADE_BY = ("sphinx", "pygments", "myst-nb", "ipython")  # the packages with the lexers and the formatter


class Complaint(Exception):
    """Something is wrong with the code."""


def setup(app):
    app.connect("builder-inited", keep)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def keep(app):
    if app.builder.format == "html":
        bridge = app.builder.highlighter
        bridge.highlight_block = keeping(bridge.highlight_block, app.kept, bridge.formatter_args["style"])


def keeping(colour, kept, style):
    """A function like `colour`, Sphinx's `highlight_block`, that asks first for what is kept."""
    version = digest(style, *map(importlib.metadata.version, MADE_BY))

    def without_complaint(source, language, options, force, others):
        logger.logger.addFilter(complain)
        try:
            return colour(source, language, options, force, **others)
        finally:
            logger.logger.removeFilter(complain)

    def highlight_block(source, lang, opts=None, force=False, location=None, **others):
        try:
            return kept.get(without_complaint, source, lang, opts, force, others, version=version)
        except Complaint:
            return colour(source, lang, opts, force, location, **others)

    return highlight_block


def complain(record):
    raise Complaint(record.getMessage())
