"""What a cell shows besides text: HTML, Markdown, SVG, and `display` for more than the last value."""


class _Shown:
    kind = ""

    def __init__(self, data=""):
        self.data = data

    def _repr_mimebundle_(self):
        return {self.kind: str(self.data)}

    def __repr__(self):
        return f"<IPython.core.display.{type(self).__name__} object>"


class HTML(_Shown):
    """Markup."""

    kind = "text/html"


class Markdown(_Shown):
    """Markdown: on these pages code between fences, and paragraphs."""

    kind = "text/markdown"


class SVG(_Shown):
    """A picture."""

    kind = "image/svg+xml"


def clear_output(wait=False):
    """Take away what the cell has shown so far: at once, or when the next output comes."""
    import runtime

    runtime.clear(bool(wait))


def display(*objects):
    """Show each object as the last value of a cell is shown."""
    import runtime
    from IPython import get_ipython

    for shown in objects:
        get_ipython().display_pub.publish(runtime.contents(shown))
