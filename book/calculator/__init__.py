"""Sphinx extension: the calculator of shapes and costs, a script whose numbers a test compares with `attnlib.costs`."""

from pathlib import Path

from book.static_files import add_script, add_styles

HERE = Path(__file__).parent


def setup(app):
    add_styles(app, HERE, "calculator.css")
    add_script(app, HERE, "calculator.js", used_with="cost-calculator")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
