"""attnpage.plotting: does a figure say so if it lacks one of its labels or arrows?"""

import matplotlib as mpl
import pytest
from matplotlib import pyplot

from attnpage import plotting


@pytest.mark.parametrize("label, place", [("C", (7, -3)), ("", (0.5, 2))])  # a label, and an arrow alone
def test_an_annotation_that_the_picture_lacks_is_told(label, place):
    with mpl.rc_context():
        plotting.setup()
        ax = pyplot.figure().subplots()
        try:
            ax.set(xlim=(0, 1), ylim=(0, 1))
            ax.annotate("seen", (0.5, 1))
            ax.figure.canvas.draw()  # no warning: it would be an error here
            ax.annotate(label, place, (0.2, 0.2), arrowprops={"arrowstyle": "->"})
            with pytest.warns(UserWarning, match=rf"{label!r} is not drawn: it points to \({place[0]:g}, {place[1]:g}\)"):
                ax.figure.canvas.draw()
            ax.set(xlim=(-10, 10), ylim=(-10, 10))
            ax.figure.canvas.draw()
        finally:
            pyplot.close(ax.figure)
