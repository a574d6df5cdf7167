"""A schedule under a budget as a picture: which blocks lie on the chip at each step, and how many bytes they are."""

import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

from attnpage import plotting

_COLOURS = {"Q": plotting.QUERY, "O": plotting.OUTPUT}  # all other blocks hold keys, with their values


def draw_schedule(above, below, run):
    """Draw what a schedule does, step by step.

    Parameters
    ----------
    above, below : matplotlib Axes
        Drawn on and returned: the blocks, a row each; the bytes they take, under a line for the budget.
    run : Run
        What ``puzzle.run(schedule)`` returned: with the `steps` that were done, the blocks that each of them `touched`,
        the blocks `held` and the `bytes_held` after it, the bytes `moved`, and whether it `stopped` early.

    Returns
    -------
    above, below : matplotlib Axes

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from matplotlib.figure import Figure
    >>> puzzle = SimpleNamespace(sizes={"Q0": 64, "K0": 128}, budget=256, least=192, verb="compute")
    >>> run = SimpleNamespace(puzzle=puzzle, steps=[("load", "Q0"), ("load", "K0")], touched=[("Q0",), ("K0",)],
    ...                       held=[("Q0",), ("Q0", "K0")], bytes_held=[64, 192], moved=192, stopped=True)
    >>> above, below = draw_schedule(*Figure().subplots(2), run)
    >>> above.get_title(loc="left")
    '192 bytes moved so far'
    """
    names, count = list(run.puzzle.sizes), len(run.steps)
    for row, name in enumerate(names):
        _draw_stays(above, row, [name in held for held in run.held], _COLOURS.get(name[0], plotting.KEY))
    _draw_marks(above, run, names)
    above.set_yticks(range(len(names)), names)
    above.set_ylim(len(names) - 0.4, -0.6)
    enough = " so far" if run.stopped else f", {run.puzzle.least} are enough"
    above.set_title(f"{run.moved} bytes moved{enough}", loc="left")
    handles, labels = above.get_legend_handles_labels()
    if handles:
        above.legend(handles, labels, loc="lower right", bbox_to_anchor=(1.02, 1.08), ncols=3,
                     handletextpad=0.1, columnspacing=0.8, borderpad=0)  # fmt: skip
    below.step(range(1, count + 1), run.bytes_held, where="mid", color=plotting.INK)
    below.axhline(run.puzzle.budget, color=plotting.OCHRE, linestyle="--", linewidth=1.5)
    below.set_yticks([0, run.puzzle.budget])
    below.set(ylim=(0, 1.15 * run.puzzle.budget), xlabel="step", ylabel="bytes")
    for ax in (above, below):
        ax.set_xlim(0.3, count + (2.7 if run.stopped else 0.7))
        if run.stopped:
            ax.axvline(count + 1, color=plotting.INK, linestyle=":", linewidth=1.5)
    below.xaxis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]))
    above.tick_params(bottom=False, labelbottom=False, left=False)
    if run.stopped:
        above.text(count + 1.2, len(names) / 2, "?", fontsize=14, va="center")
    return above, below


def show_schedule(puzzle, schedule):
    """Show the picture of a schedule, up to the step that breaks; nothing if there is no step yet.

    Parameters
    ----------
    puzzle : Puzzle
        It has a method `run` that takes the schedule and returns what `draw_schedule` draws.
    schedule : list
        The steps, as the puzzle writes them.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> show_schedule(SimpleNamespace(run=lambda schedule: SimpleNamespace(steps=schedule)), [])
    """
    run = puzzle.run(schedule)
    if not run.steps:
        return
    rows = len(puzzle.sizes)
    fig, axes = plt.subplots(
        2, sharex=True, figsize=(5.5, 1.7 + 0.24 * rows), height_ratios=(0.24 * rows, 0.7)
    )  # fmt: skip
    draw_schedule(*axes, run)
    plt.show()
    plt.close(fig)


def _draw_stays(ax, row, there, color):
    """A bar for each stretch of steps after which the block is there."""
    start = None
    for step, now in enumerate([*there, False], 1):
        if now and start is None:
            start = step
        elif not now and start is not None:
            ax.barh(row, step - start, left=start - 0.5, height=0.62, color=color, alpha=0.3, linewidth=0)
            start = None


def _draw_marks(ax, run, names):
    """Loads, stores, and what meets: a dot on each block that a piece of work uses."""
    marks = {"load": ([], []), "store": ([], []), "work": ([], [])}
    for step, ((verb, *_), touched) in enumerate(zip(run.steps, run.touched, strict=True), 1):
        kind = verb if verb in marks else "work"
        for name in touched:
            marks[kind][0].append(step)
            marks[kind][1].append(names.index(name))
    for kind, marker, name in (("load", "v", "load"), ("store", "^", "store"), ("work", "o", run.puzzle.verb)):
        if marks[kind][0]:
            size = 3.5 if kind == "work" else 5
            ax.plot(*marks[kind], marker, color=plotting.INK, markersize=size, linestyle="none", label=name)
