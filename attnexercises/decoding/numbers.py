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
    mistakes=(
        Mistake("half", "return 2 * -> return",
            "That is half. Either the values are missing, which a cache holds beside the keys, or you counted 2 bytes for a number; "
            "float32 takes 4.", 2),
        Mistake("query_heads", "1000, 4 -> 1000, 12", "You counted a key for each query head; heads of a group share theirs.", 1),
        Mistake("with_queries", "return 2 -> return 3", "Three arrays were counted; a query is asked once, and is not kept.", 2),
        Mistake("one_layer", "layers * n -> n", "That is one layer; each of the 7 has a cache of its own.", 1),
        Mistake("one_text", "batch * layers -> layers", "That is one text; each of the 3 has keys of its own.", 1),
        Mistake("one_text_one_layer", "batch * layers * n -> n",
            "That is one layer for one text: all 7 layers keep keys, for each of 3 texts.", 1),
        Mistake("one_token", "layers * n -> layers", "That is what one token adds in each text; there are 1000.", 1),
        Mistake("numbers", "* bytes_each ->",
            "That is how many numbers there are, or the bytes of one key head: there are 4, and a number has 4 bytes.", 3),
        Mistake("no_d", "* d * -> *", "A key is not one number: it has 80 features.", 1),
        Mistake("scores", lambda: 3 * 7 * 12 * 1000**2 * 4, "You counted scores, n times n for each head; they are not kept.", 1),
        Mistake("bits", "* bytes_each -> * 8 * bytes_each", "That is in bits.", 3),
        Mistake("mebibytes", "* bytes_each -> * bytes_each / 2**20", "The size is right, in MiB; the question asks for bytes.", 3),
        Mistake("megabytes", "* bytes_each -> * bytes_each / 10**6", "The size is right, in MB; the question asks for bytes.", 3),
    ),
    hints=(
        "What does one token of one text leave behind in one head of one layer?",
        "A key and a value of 80 numbers each, for every key head; the number of query heads does not matter.",
        "Two arrays, times texts, layers, tokens, key heads, features, and 4 bytes for each number.",
    ),
    why="Everything multiplies: nothing in a cache is shared but by the query heads of one group.",
    insight="With a key head for each query head it would be three times as much.",
)  # fmt: skip
