"""Train the two layers that open chapter 4 from ten starts, and keep how many words they name right at each place.

    python -m tools.recorded.cheating

It runs the chapter's own cell and writes chapters/data/cheating.npz; `about` in the file says what the arrays are.
"""

from functools import cache
from pathlib import Path

import nbformat
import numpy as np

CHAPTERS = Path(__file__).resolve().parents[2] / "chapters"
TARGET = CHAPTERS / "data" / "cheating.npz"
STARTS = range(10)
ABOUT = """Made by tools/recorded/cheating.py with a cell of chapter 4.
`shares` has the axes: start (0 to 9, entries of size 0.05), layer (learned without a mask, with the causal mask),
question, place. The questions: is the right word named in the whole sentence; while the sentence is being written?
`losses` has the axes: start, layer; it is the training loss.
`maps` has the axes: start, question, query, key; it is the mean weight in the layer without a mask.
`copied` has the axes: start, question: how often does that layer name the word just read, and any word read before, while a sentence is
being written?
`no_mask` has the axes: start, size of the entries at the start (0.05, 0.25), words, question, place; it is what the layer without a
mask, trained on the sentences of the chapter, names right among 1000 new sentences, and among as many in which every word is drawn at random."""
SPREADS = (0.05, 0.25)


@cache
def cells():
    return {cell.id: cell.source for cell in nbformat.read(CHAPTERS / "04_masks.ipynb", as_version=4).cells}


def experiment(seed=0, follow=0.8):
    """The names that the chapter's cells define, `train`, `by_place` and what they use.

    The lessons are drawn with this seed, and `follow` is how often a word is the successor without being drawn.
    """
    from attnlib.attention import attention, attention_backward

    names = {"np": np, "attention": attention, "attention_backward": attention_backward}
    source = cells()["cheat-run"].partition("\ntrained = ")[0]  # the definitions alone
    changes = {"sentences(300, seed=0)": f"sentences(300, seed={seed})", "seed, follow=0.8)": f"seed, follow={follow})"}
    for said, other in changes.items():
        assert source.count(said) == 1, said
        source = source.replace(said, other)
    exec(compile(source, "cheat-run", "exec"), names)
    exec(compile(cells()["copy-map"].partition("\nfig, ")[0], "copy-map", "exec"), names)
    exec(compile(cells()["least-loss-run"].partition("\nwith np.load")[0], "least-loss-run", "exec"), names)
    return names


def shares(names, start):
    """What both layers name right after one start, (layer, question, place), and their training losses."""
    both = {causal: names["train"](causal, start=start) for causal in (False, True)}
    return [names["by_place"](matrices, causal) for causal, (matrices, _) in both.items()], [loss for _, loss in both.values()]


def copies(names, start):
    """Mean weights of the layer without a mask, (question, query, key), and what it copies while a sentence is being written.

    That is how often it names the word that it has just read, and how often one of all that it has read.
    """
    matrices, _ = names["train"](False, start=start)
    words = names["fresh"][:, :-1]
    read = [words[:, : i + 1] for i in range(words.shape[1])]
    named = [names["named"](matrices, False, so_far)[:, -1:] for so_far in read]
    own = np.mean([so_far[:, -1:] == word for so_far, word in zip(read, named, strict=True)])
    seen = np.mean([(so_far == word).any(axis=1) for so_far, word in zip(read, named, strict=True)])
    return names["mean_weights"](matrices), [own, seen]


def no_mask(names, start):
    """What the layer without a mask names right after one start, (size of the entries, words, question, place)."""
    trained = [names["train"](False, start=start, spread=spread)[0] for spread in SPREADS]
    random = experiment(follow=0)["fresh"]
    return [[names["by_place"](matrices, False, words) for words in (names["fresh"], random)] for matrices in trained]


if __name__ == "__main__":
    names = experiment()
    found, losses = zip(*(shares(names, start) for start in STARTS), strict=True)
    maps, copied = zip(*(copies(names, start) for start in STARTS), strict=True)
    sizes = [no_mask(names, start) for start in STARTS]
    kept = {"shares": found, "losses": losses, "maps": maps, "copied": copied, "no_mask": sizes}
    np.savez_compressed(TARGET, **{name: np.array(values) for name, values in kept.items()}, about=ABOUT)
    print(np.array(found).shape, TARGET.stat().st_size, "bytes")
