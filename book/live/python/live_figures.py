"""Matplotlib's way to the page: a figure that is shown becomes an SVG picture, as in the notebooks of the course."""

import io

from IPython import get_ipython
from matplotlib._pylab_helpers import Gcf
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_svg import FigureCanvasSVG

FigureCanvas, FigureManager = FigureCanvasSVG, FigureManagerBase


def show(*arguments, **options):
    """Show every open figure and close it."""
    try:
        for manager in Gcf.get_all_fig_managers():
            figure = manager.canvas.figure
            if figure.axes or figure.lines:
                get_ipython().display_pub.publish({"text/plain": repr(figure), "image/svg+xml": svg(figure)})
    finally:
        Gcf.destroy_all()


def svg(figure):
    """The picture as text, cut to what is drawn, without a date."""
    file = io.BytesIO()
    figure.canvas.print_figure(
        file,
        format="svg",
        facecolor=figure.get_facecolor(),
        edgecolor=figure.get_edgecolor(),
        dpi=figure.dpi,
        bbox_inches="tight",
        metadata={"Date": None, "Creator": None},
    )
    return file.getvalue().decode("utf-8")
