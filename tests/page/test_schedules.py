"""attnpage.schedules: the picture says what the run did."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from attnexercises import TODO
from attnexercises.engine.registry import registry
from attnexercises.puzzles import FLASH, WINDOW
from attnpage import draw_schedule, plotting, show_schedule


def drawn(run):
    return draw_schedule(*Figure().subplots(2), run)


def bars(ax):
    """(row, first step, last step, colour) of each stay on the chip."""
    return [
        (round(bar.get_y() + bar.get_height() / 2), bar.get_x() + 0.5, bar.get_x() + bar.get_width() - 0.5, to_hex(bar.get_facecolor()))
        for bar in ax.patches
    ]


def test_each_stay_is_a_bar_in_the_colour_of_its_kind():
    run = FLASH.run("load Q0; load K1; compute Q0 K1; store O0; drop O0; drop K1; load K1")
    above, _ = drawn(run)
    q, k, o = plotting.QUERY, plotting.KEY, plotting.OUTPUT
    assert sorted(bars(above)) == [(0, 1, 7, q), (4, 2, 5, k), (4, 7, 7, k), (6, 3, 4, o)]
    assert [label.get_text() for label in above.get_yticklabels()] == list(FLASH.sizes)


def test_loads_stores_and_work_have_their_marks():
    above, below = drawn(FLASH.run("load Q0; load K1; compute Q0 K1; store O0"))
    marks = {line.get_label(): list(zip(*map(list, line.get_data()), strict=True)) for line in above.lines if line.get_label()[0] != "_"}
    assert marks == {"load": [(1, 0), (2, 4)], "store": [(4, 6)], "compute": [(3, 0), (3, 4), (3, 6)]}
    held, budget = below.lines[:2]
    assert list(held.get_ydata()) == [64, 192, 272, 272] and set(budget.get_ydata()) == {FLASH.budget}


@pytest.mark.parametrize("id, puzzle", [("flash_schedule", FLASH), ("window_cache", WINDOW)])
def test_a_schedule_to_its_end_has_no_line_where_it_stops(id, puzzle):
    above, _ = drawn(puzzle.run(registry()[id].solution()))
    assert above.get_title(loc="left") == f"{puzzle.least} bytes moved, {puzzle.least} are enough"
    assert not above.texts
    broken, _ = drawn(puzzle.run(registry()[id].solution()[:-3]))
    assert broken.get_title(loc="left").endswith("so far") and len(broken.texts) == 1


def test_it_is_shown_as_soon_as_there_is_a_step(monkeypatch):
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(plt.gcf()))
    for nothing in (TODO, [], [TODO], 7, ["eat"]):
        show_schedule(FLASH, nothing)
    assert shown == []
    with mpl.rc_context():
        show_schedule(FLASH, ["load Q0", TODO])
        show_schedule(FLASH, ["load Q0", "eat"])
    assert len(shown) == 2 and all(figure.get_size_inches()[0] <= 5.5 for figure in shown)
    plt.close("all")
