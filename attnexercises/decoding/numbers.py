"""The number question of the chapter on decoding: the bytes of a cache."""

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
    title="How large is the cache?", level="easy", minutes=5, answer=_kv_cache_bytes, oracle=_bytes_by_counting,
    quantities={"7 layers": 7, "12 query heads": 12, "4 key heads": 4, "80 features": 80, "3 texts": 3, "1000 tokens": 1000},
    mistakes=(
        Mistake("half", "return 2 * -> return",
            "Half of it is missing: either the values, or two of the four bytes of each number.", 2),
        Mistake("query_heads", "1000, 4 -> 1000, 12",
            "You counted a key for each of the 12 query heads. They share 4 key heads.", 1),
        Mistake("with_queries", "return 2 -> return 3", "You counted three arrays. A query is used once and is not kept.", 2),
        Mistake("one_layer", "layers * n -> n", "That is one layer. Each of the 7 layers has a cache of its own.", 1),
        Mistake("one_text", "batch * layers -> layers",
            "That is one text. Each of the 3 texts has keys and values of its own.", 1),
        Mistake("one_text_one_layer", "batch * layers * n -> n",
            "That is one layer for one text. All 7 layers keep keys and values, for each of the 3 texts.", 1),
        Mistake("one_token", "layers * n -> layers",
            "That is what one token adds in each of the 3 texts. Each text has 1000 tokens.", 1),
        Mistake("numbers", "* bytes_each ->",
            "That is how many numbers there are, or the bytes of one key head. There are 4 key heads, and a number has 4 bytes.",
            3),
        Mistake("no_d", "* d * -> *", "You counted one number for a key. It has 80 features, each of which is a number.", 1),
        Mistake("scores", lambda: 3 * 7 * 12 * 1000**2 * 4,
            "You counted the scores, n times n for each head. Scores are not kept.", 1),
        Mistake("bits", "* bytes_each -> * 8 * bytes_each", "That is the size in bits. The question asks for bytes.", 3),
        Mistake("mebibytes", "* bytes_each -> * bytes_each / 2**20",
            "The size is right, but in MiB. The question asks for bytes.", 3),
        Mistake("megabytes", "* bytes_each -> * bytes_each / 10**6",
            "The size is right, but in MB. The question asks for bytes.", 3),
    ),
    hints=(
        "What does one token of one text leave in one key head of one layer?",
        "It leaves a key and a value of 80 numbers each, in every key head. The number of query heads does not matter.",
        "Multiply 2 (keys and values) by the texts, layers, tokens of a text, key heads, features, and 4 bytes for each number.",
    ),
    why="Each token of each text keeps a key and a value in every key head of every layer. Only the query heads of a group share them.",
    insight="With a key head for each of the 12 query heads, the cache would be three times as large.",
)  # fmt: skip
