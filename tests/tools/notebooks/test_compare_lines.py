"""A long line is the same if it takes the same course, whichever of its points Matplotlib has kept."""

import io
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from tools.notebooks.compare import geometry, pictures

HEIGHT = 200  # of the axes, in pt
STEPS = np.arange(500)
ZIGZAG = np.where(STEPS < 300, np.exp(-STEPS / 30), 0.5 + 0.3 * np.sin(STEPS**2 / 7))


def long_line(change=lambda y: y, **settings):
    with mpl.rc_context(settings):
        fig = plt.figure(figsize=(4, 4))
        ax = fig.add_axes((0.2, 0.2, HEIGHT / 288, HEIGHT / 288))
        ax.plot(STEPS / 500, change(ZIGZAG))
        ax.set(xlim=(0, 1), ylim=(0, 1))
        file = io.StringIO()
        fig.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
        plt.close(fig)
    return file.getvalue()


def points_of(picture):
    return max(path.count("L") for path in re.findall(r' d="([^"]*)"', picture))


def test_of_a_long_line_the_course_counts_and_not_the_points_that_matplotlib_keeps():
    kept, every = long_line(), long_line(**{"path.simplify": False})
    assert 100 < points_of(kept) < points_of(every) == len(STEPS) - 1
    assert pictures.difference(kept, every) == pictures.difference(every, kept) == ""
    assert pictures.difference(kept, long_line(lambda y: y + 0.29 / HEIGHT)) == ""


@pytest.mark.parametrize(
    "change",
    [
        lambda y: y + 0.31 / HEIGHT,
        lambda y: np.where(STEPS == 150, y + 2 / HEIGHT, y),
        lambda y: np.where(STEPS == 499, y + 2 / HEIGHT, y),
        lambda y: np.where(STEPS > 490, y[490], y),
        lambda y: np.where(STEPS == 400, np.nan, y),
        lambda y: y[::-1],
    ],
    ids=["all of it", "a point", "its last point", "its end cut off", "a gap", "the other way round"],
)
def test_another_course_of_a_long_line_is_seen(change):
    assert pictures.difference(long_line(), long_line(change)) != ""
    assert pictures.difference(long_line(change), long_line()) != ""


def test_the_way_back_along_a_long_line_is_another_course():
    there = [(float(x), 0.0) for x in range(100)]
    assert geometry.off_course(there, there, 0.3) is None
    assert geometry.off_course(there[:60] + there[20:], there, 0.3) is not None
    assert geometry.off_course(there[::-1], there, 0.3) == (99.0, 0.0)
