"""The number question of the chapter on serving: the pages of texts that begin alike."""

from math import ceil

from attnexercises.engine.model import Mistake, value_exercise

# shared_blocks: a prompt of 50 tokens, continued by 10, 20 and 30; pages of 16


def _shared_blocks():
    prompt, own, size = 50, (10, 20, 30), 16
    shared = prompt // size  # only a full page will never be written into
    return shared + sum(-(-(prompt + more) // size) - shared for more in own)  # -(-a // b): rounded up


def _blocks_by_filling():
    """Every block by what it holds: texts that begin alike have the same full blocks."""
    blocks = set()
    for text, more in enumerate((10, 20, 30)):
        tokens = [("prompt", place) for place in range(50)] + [(text, place) for place in range(more)]
        for start in range(0, len(tokens), 16):
            held = tuple(tokens[start : start + 16])
            mine = len(held) < 16 or any(owner != "prompt" for owner, _ in held)
            blocks.add((text if mine else "all", held))
    return len(blocks)


_BLOCKS = value_exercise(
    title="Three answers to one prompt", level="medium", minutes=8, answer=_shared_blocks, oracle=_blocks_by_filling,
    mistakes=(
        Mistake("nothing_shared", lambda: sum(ceil((50 + more) / 16) for more in (10, 20, 30)),
            "You gave each text pages of its own. The pages that the prompt fills can be shared.", 1),
        Mistake("prompt_rounded_up", lambda: ceil(50 / 16) + sum(ceil(more / 16) for more in (10, 20, 30)),
            "That is one too many. Either you shared the page that the prompt only begins, or you gave every text two pages of its "
            "own. How many does the first text need?", 2),
        Mistake("tokens_packed", lambda: ceil(110 / 16),
            "You packed all tokens without gaps. Two texts cannot write into the same page.", 2),
        Mistake("padded", lambda: 3 * ceil(80 / 16),
            "You gave each text the room of the longest one. A text takes a page only when it needs it.", 1),
        Mistake("own_only", lambda: 5,
            "You counted only the pages that belong to one text. The pages that all three share take memory, too.", 3),
        Mistake("own_rounded_down", lambda: 3 + sum((2 + more) // 16 for more in (10, 20, 30)),
            "Only the pages that the prompt fills are shared. Each text has pages of its own for the rest, and their number is rounded up.", 3),
        Mistake("slots", lambda: 8 * 16, "That is how many tokens would fit into the pages. The question asks for the number of pages.", 3),
        Mistake("tokens", lambda: 110, "That is the number of tokens in the cache. The question asks for the number of pages.", 1),
    ),
    hints=(
        "Cut the first text, 50 + 10 tokens, into blocks of 16. Which blocks are full and hold only tokens of the prompt?",
        "The prompt fills three pages. Two of its tokens are left over, and each text needs its own page for them.",
        "Add the 3 shared pages, and for each text the pages that hold 2 tokens and its own answer, rounded up.",
    ),
    why="A page can be shared as long as nobody writes into it, and nobody writes into a full page.",
    insight="The longer the common beginning is, the less memory each further text needs.",
)  # fmt: skip
