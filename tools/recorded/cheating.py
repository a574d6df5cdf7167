"""Train the two layers that open chapter 4 from ten starts, and keep how many words they name right at each place.

    python -m tools.recorded.cheating

It runs the chapter's own cell and writes chapters/data/cheating.npz; `about` in the file says what the arrays are.
"""

from pathlib import Path

import nbformat
import numpy as np

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"
TARGET = CHAPTERS / "data" / "cheating.npz"
STARTS = range(10)
ABOUT = """Made by tools/recorded/cheating.py with a cell of chapter 4.
`shares` has the axes: start (0 to 9, entries of size 0.05), layer (learned without a mask, with the causal mask),
question, place. The questions: is the right word named in the whole sentence; while the sentence is being written?
`losses` has the axes: start, layer; it is the training loss."""


def experiment(seed=0):
    """The names that the chapter's cell defines, `train`, `by_place` and what they use; the lessons are drawn with this seed."""
    from attnlib.attention import attention, attention_backward

    cells = {cell.id: cell.source for cell in nbformat.read(CHAPTERS / "04_masks.ipynb", as_version=4).cells}
    names = {"np": np, "attention": attention, "attention_backward": attention_backward}
    source = cells["cheat-run"].partition("\ntrained = ")[0]  # the definitions alone
    lessons = "sentences(300, seed=0)"
    assert source.count(lessons) == 1
    exec(compile(source.replace(lessons, f"sentences(300, seed={seed})"), "cheat-run", "exec"), names)
    exec(compile(cells["least-loss-run"].partition("\nprint")[0], "least-loss-run", "exec"), names)
    return names


def shares(names, start):
    """What both layers name right after one start, (layer, question, place), and their training losses."""
    both = {causal: names["train"](causal, start=start) for causal in (False, True)}
    return [names["by_place"](matrices, causal) for causal, (matrices, _) in both.items()], [loss for _, loss in both.values()]


if __name__ == "__main__":
    names = experiment()
    found, losses = zip(*(shares(names, start) for start in STARTS))
    np.savez_compressed(TARGET, shares=np.array(found), losses=np.array(losses), about=ABOUT)
    print(np.array(found).shape, TARGET.stat().st_size, "bytes")
