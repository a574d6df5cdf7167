"""The styles and scripts of a feature lie beside its Python; here they become files of the site that the pages ask for.

Their order is that of the features in `book/__init__.py`, and within a feature the order in which it names them.
"""

from pathlib import Path

PRIORITY = 800  # behind those of the theme and of other extensions, as Sphinx does with the files of a book


def add_styles(app, folder, *names, priority=PRIORITY):
    """Add style sheets of a folder to every page; `light_pages` makes one of all of them."""
    for name in names:
        publish(app, Path(folder) / name)
        app.add_css_file(name, priority=priority)


def add_script(app, folder, name, used_with=None):
    """Add a script of a folder to the pages with one of the classes `used_with` (`"stepped|tap"`), by default to every page.

    The classes are those of elements of the finished page; `light_pages` takes the script out of every other page.
    """
    publish(app, Path(folder) / name)
    app.add_js_file(name, priority=PRIORITY)
    if used_with is not None:
        classes_of_scripts(app)[name] = used_with


def classes_of_scripts(app):
    """{script: the classes of which a page needs one} of all features."""
    return vars(app).setdefault("classes_of_scripts", {})


def add_templates(app, folder):
    """Let Sphinx look for the templates of pages in this folder first."""

    def add(app, config):
        config.templates_path = [str(folder), *config.templates_path]

    app.connect("config-inited", add)


def publish(app, path):
    """Copy a file to the site's folder `_static`."""

    def add(app, config):
        config.html_static_path = [*config.html_static_path, str(path)]

    app.connect("config-inited", add)
