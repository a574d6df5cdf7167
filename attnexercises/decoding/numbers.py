"""Number questions of the chapter on decoding: bytes of a cache, blocks of texts that begin alike."""

from math import ceil

from attnexercises.engine.model import Mistake, value_exercise

# kv_cache_bytes: batch 3, 7 layers, 1000 tokens, 12 query heads, 4 key heads, d = v = 80, float32


def _kv_cache_bytes():
    batch, layers, n, kv_heads, d, bytes_each = 3, 7, 1000, 4, 80, 4
    return 2 * batch * layers * n * kv_heads * d * bytes_each


def _bytes_by_counting():
    """One token of one text leaves a key and a value in each head of each layer."""
    of_a_token = 0
    for _ in range(7):
        for _ in range(4):
            of_a_token += 80 * 4 + 80 * 4
    return sum(of_a_token for _ in range(3 * 1000))


_BYTES = value_exercise(
    "kv_cache_bytes",
    title="How large is the cache?",
    chapter="decoding",
    level="easy",
    minutes=5,
    answer=_kv_cache_bytes,
    oracle=_bytes_by_counting,
    mistakes=(
        Mistake("no_values", "return 2 * -> return", "Half is missing: a cache holds a value beside each key.", 2),
        Mistake("query_heads", "1000, 4 -> 1000, 12",
                "You counted a key for each query head; heads of a group share theirs.", 1),
        Mistake("with_queries", "return 2 -> return 3",
                "Three arrays were counted; a query is asked once, and is not kept.", 2),
        Mistake("one_layer", "layers * n -> n", "That is one layer; each of the 7 has a cache of its own.", 1),
        Mistake("one_text", "batch * layers -> layers", "That is one text; each of the 3 has keys of its own.", 1),
        Mistake("one_text_one_layer", "batch * layers * n -> n",
                "That is one layer for one text: all 7 layers keep keys, for each of 3 texts.", 1),
        Mistake("one_token", "layers * n -> layers", "That is what one token adds in each text; there are 1000.", 1),
        Mistake("numbers", "* bytes_each ->",
                "That is how many numbers there are, or the bytes of one key head: there are 4, and a number has 4 bytes.", 3),
        Mistake("no_d", "* d * -> *", "A key is not one number: it has 80 features.", 1),
        Mistake("scores", lambda: 3 * 7 * 12 * 1000**2 * 4,
                "You counted scores, n times n for each head; they are not kept.", 1),
        Mistake("bits", "* bytes_each -> * 8 * bytes_each", "That is in bits.", 3),
        Mistake("mebibytes", "* bytes_each -> * bytes_each / 2**20",
                "The size is right, in MiB; the question asks for bytes.", 3),
        Mistake("megabytes", "* bytes_each -> * bytes_each / 10**6",
                "The size is right, in MB; the question asks for bytes.", 3),
    ),
    hints=(
        "What does one token of one text leave behind in one head of one layer?",
        "A key and a value of 80 numbers each, for every key head; the number of query heads does not matter.",
        "Two arrays, times texts, layers, tokens, key heads, features, and 4 bytes for each number.",
    ),
    why="Everything multiplies: nothing in a cache is shared but by the query heads of one group.",
    insight="With a key head for each query head it would be three times as much.",
)  # fmt: skip


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
    "shared_blocks",
    title="Three answers to one prompt",
    chapter="decoding",
    level="medium",
    minutes=8,
    answer=_shared_blocks,
    oracle=_blocks_by_filling,
    mistakes=(
        Mistake("nothing_shared", lambda: sum(ceil((50 + more) / 16) for more in (10, 20, 30)),
                "Each text was given pages of its own; those that the prompt fills can be shared.", 1),
        Mistake("prompt_rounded_up", lambda: ceil(50 / 16) + sum(ceil(more / 16) for more in (10, 20, 30)),
                "A page was shared that the prompt does not fill; each text writes its own tokens into the rest of it.", 2),
        Mistake("tokens_packed", lambda: ceil(110 / 16),
                "The tokens were packed without gaps, all in one row of pages; no two texts can write into one page.", 2),
        Mistake("padded", lambda: 3 * ceil(80 / 16),
                "Each text was made as long as the longest: a table needs no page before it is written to.", 1),
        Mistake("own_only", lambda: 5,
                "Only the pages that belong to a single text are counted; those that all three share take memory, too.", 3),
        Mistake("own_rounded_down", lambda: 3 + sum((2 + more) // 16 for more in (10, 20, 30)),
                "A page that a text does not fill takes its memory all the same: round up.", 3),
        Mistake("slots", lambda: 8 * 16,
                "That is how many tokens would fit; the question is how many pages there are.", 3),
        Mistake("tokens", lambda: 110,
                "Those are the tokens in the cache; the question is how many pages hold them.", 1),
    ),
    hints=(
        "Cut the first text, 50 + 10 tokens, into pages of 16. Which of them hold tokens of the prompt alone?",
        "Three pages are full of the prompt. The fourth has 2 tokens of it, and then the texts part: each needs its own.",
        "3 shared ones, and for each text the pages of 2 tokens and its own, rounded up.",
    ),
    why="A page can be shared as long as nobody writes into it, and nobody writes into a full one.",
    insight="The longer the common beginning, the nearer the memory of many texts comes to that of one.",
)  # fmt: skip

EXERCISES = (_BYTES, _BLOCKS)
