"""Draw where *it* looks in the book's sentence, with the weights that chapter 2 computes.

python -m tools.recorded.looks        writes chapters/diagrams/looks.svg

The words and weights are those of chapter 2's own cells, run here. Whoever changes the example there draws again.
"""

import json
from pathlib import Path

import numpy as np

from attnlib.attention import attention

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = ROOT / "chapters" / "02_attention.ipynb"
PICTURE = ROOT / "chapters" / "diagrams" / "looks.svg"
CELLS = ("sentence-features", "sentence-table", "version-2-run")

SENTENCE = "The cat sat on the mat because it was tired ."
ASKS = "it"
PLACES = (18, 56, 90, 122, 152, 188, 244, 293, 327, 368)  # of the words' centres
WIDTH, HEIGHT, LINE = 396, 158, 106  # the words stand on the line
THICKEST = 14  # the width that a weight of 1 would have

TITLE = "Where it looks"
TEXT = (
    "The sentence: The cat sat on the mat because it was tired. From the word it a line leads to every other word but "
    "the two articles, and one back to itself. The line to cat is by far the thickest, the one to mat is thin, all "
    "others are hairlines."
)


def weights():
    """{word: weight that *it* gives it}, from the cells of chapter 2."""
    names = after_the_cells()
    return dict(zip(names["tokens"], names["looks"][names["tokens"].index(ASKS)].tolist(), strict=True))


def query_and_keys():
    """The query of *it*, and {word: key}."""
    names = after_the_cells()
    return names["Q"][names["tokens"].index(ASKS)], dict(zip(names["tokens"], names["K"], strict=True))


def after_the_cells():
    """The names that chapter 2's cells define."""
    cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(CHAPTER.read_text(encoding="utf-8"))["cells"]}
    names = {"np": np, "attention": attention, "table": lambda *rows, **settings: None, "print": lambda *words: None}
    for name in CELLS:
        exec(cells[name], names)
    return names


def drawing(weights):
    """The picture as SVG: the thickness of a line is the weight."""
    words = SENTENCE.removesuffix(" .").split()
    if missing := set(weights) - set(words):
        raise ValueError(f"drawing: the sentence lacks the words {sorted(missing)} of chapter 2")
    places = dict(zip(words, PLACES, strict=True))
    start = places[ASKS]
    lines, numbers, letters = [], [], []
    for word, weight in sorted(weights.items(), key=lambda pair: -pair[1]):
        lines.append(f'<path d="{_way(start, places[word])}" stroke-width="{THICKEST * weight:.1f}"/>')
    for word, place in zip(words, PLACES, strict=True):
        kind = "query" if word == ASKS else "key" if word in weights else ""
        shown = f'<tspan class="{kind}" fill="currentColor">{word}</tspan>' if kind else word
        letters.append(f'<text x="{place}" y="{LINE}">{shown}{"." if word == words[-1] else ""}</text>')
        if word in weights:
            numbers.append(f'<text x="{place}" y="{LINE + 22}">{100 * weights[word]:.1f}</text>')
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" style="min-width:0;max-width:38rem;display:block;margin:auto" role="img" '
            'aria-labelledby="looks-title looks-text">',
            '<rect width="100%" height="100%" fill="white"/>',
            "<style>.query { color: #0b5cad } .key { color: #b34700 } .weights { color: #b3186d }</style>",
            f'<title id="looks-title">{TITLE}</title>',
            f'<desc id="looks-text">{TEXT}</desc>',
            '<g class="weights" fill="none" stroke="currentColor">',
            *lines,
            "</g>",
            '<g fill="currentColor" font-size="16" text-anchor="middle">',
            *letters,
            "</g>",
            '<g class="weights" fill="currentColor" font-size="15" text-anchor="middle">',
            *numbers,
            "</g>",
            f'<g fill="currentColor" font-size="15"><text x="{WIDTH / 2:g}" y="{LINE + 47}" text-anchor="middle">'
            f'<tspan class="query" fill="currentColor">{ASKS}</tspan> looks at each word with the '
            '<tspan class="weights" fill="currentColor">weight</tspan> under it, in %</text></g>',
            "</svg>\n",
        ]
    )


def _way(start, end):
    """An arc over the words, the higher the longer; to the word itself, a loop."""
    top = LINE - 16
    if start == end:
        return f"M{start - 3} {top} C {start - 14} {top - 26}, {start + 14} {top - 26}, {start + 3} {top}"
    height = 12 + 0.31 * abs(end - start)
    return f"M{start} {top} C {start} {top - height:.1f}, {end} {top - height:.1f}, {end} {top}"


if __name__ == "__main__":
    PICTURE.write_text(drawing(weights()), encoding="utf-8")
    print(PICTURE.relative_to(ROOT))
