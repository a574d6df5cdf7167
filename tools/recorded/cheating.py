"""Train the two layers that open chapter 4 from ten starts, and keep how many words they name right at each place.

    python -m tools.recorded.cheating

It runs the chapter's own cells and writes chapters/data/cheating.npz; `about` in the file says what the arrays are.
"""

from pathlib import Path

import nbformat
import numpy as np

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"
TARGET = CHAPTERS / "data" / "cheating.npz"
CELLS = ("cheat-words", "cheat-train", "cheat-run")
STARTS, SPREADS = range(10), (0.05, 0.3)
ABOUT = """Made by tools/recorded/cheating.py with the cells of chapter 4.
`shares` has the axes: spread of the start (0.05, 0.3), start (0 to 9), layer (no mask, future hidden),
question, place. The questions: is the right word named in the whole sentence; is it named while the sentence is being
written; is the own word named then; is the word of the key with the largest weight named then?"""


def experiment(words=5):
    """The names that the chapter's cells define, `train`, `by_place` and what they use, with a circle of so many words."""
    from attnlib.attention import attention, attention_backward

    cells = {cell.id: cell.source for cell in nbformat.read(CHAPTERS / "04_masks.ipynb", as_version=4).cells}
    names = {"np": np, "attention": attention, "attention_backward": attention_backward}
    for name in CELLS:
        source = cells[name].partition("\ntrained = ")[0].partition("\nrows = ")[0]  # the definitions alone
        exec(compile(source.replace("n, size = 6, 5", f"n, size = 6, {words}"), name, "exec"), names)
    assert names["size"] == words
    return names


def shares(names, start, spread):
    """The shares of both layers after one start: (layer, question, place)."""
    return [
        names["by_place"](names["train"](causal, start=start, spread=spread)[0], causal) for causal in (False, True)
    ]


if __name__ == "__main__":
    names = experiment()
    found = [[shares(names, start, spread) for start in STARTS] for spread in SPREADS]
    np.savez_compressed(TARGET, shares=np.array(found), about=ABOUT)
    print(np.array(found).shape, TARGET.stat().st_size, "bytes")
