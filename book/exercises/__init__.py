"""Sphinx extension: hints, solution and a box to tick after each exercise (`help`), and the index of all (`index`)."""

from pathlib import Path

from book.static_files import add_script, add_styles

HERE = Path(__file__).parent


def setup(app):
    app.setup_extension("book.exercises.help")
    app.setup_extension("book.exercises.index")
    add_styles(app, HERE, "exercises.css")
    add_script(app, HERE, "exercise_index.js", used_with="exercise-index")
    add_script(app, HERE, "solved.js", used_with="exercise-solved|chapter-cards")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
