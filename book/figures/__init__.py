"""Sphinx extension: figures in steps (`attnpage/stepped.py`) and tables of weights to tap (`attnpage/tap.py`)."""

from pathlib import Path

from book.static_files import add_script, add_styles

HERE = Path(__file__).parent


def setup(app):
    add_styles(app, HERE, "tap.css")
    add_script(app, HERE, "stepped.js", used_with="stepped")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
