"""Number questions of the chapter on Flash attention: operations, and bytes of scores."""

from attnexercises.engine.model import Mistake, value_exercise

# attention_flops: 300 queries, 700 keys, d = 64, v = 96


def _attention_flops():
    q, k, d, v = 300, 700, 64, 96
    return 2 * q * k * (d + v)


def _counted_one_by_one():
    """For one query, count; every query does the same."""
    multiply_adds = 0
    for _ in range(700):
        multiply_adds += 64 + 96  # one term of the score for each d, one term of the output for each v
    return 300 * 2 * multiply_adds


# who counts the softmax as well takes anything from the exponential alone to six operations for each score
_WITH_SOFTMAX = tuple(
    Mistake(f"softmax_{each}", f"return -> return {each} * q * k +",
        "You counted the softmax as well; the question is about the two products.", 2)
    for each in range(1, 7)
)  # fmt: skip

_FLOPS = value_exercise(
    title="How many operations?", level="easy", minutes=5, answer=_attention_flops, oracle=_counted_one_by_one,
    mistakes=(
        Mistake("no_two", "return 2 * -> return",
            "Those are multiply-adds; each counts as two operations, a product and a sum.", 3),
        Mistake("scores_only", "(d + v) -> d", "That is the product that makes the scores; a second one averages the values.", 2),
        Mistake("values_only", "(d + v) -> v", "That is the product with the values; a first one makes the scores.", 2),
        Mistake("d_twice", "(d + v) -> (d + d)",
            "You took d for both products, or counted only the second one's multiply-adds as two operations.", 2),
        Mistake("v_twice", "(d + v) -> (v + v)",
            "You took v for both products; a score has one term for each of the d features.", 2),
        Mistake("q_squared", "q * k -> q * q", "You counted q by q scores; each query meets every key.", 1),
        Mistake("k_squared", "q * k -> k * k", "You counted k by k scores; the rows of the scores are the queries.", 1),
        Mistake("all_sizes", "2 * q * k * (d + v) -> q * k * d * v",
            "You multiplied all four sizes; the two products come one after the other, so their costs add up.", 2),
        Mistake("all_sizes_twice", "(d + v) -> d * v",
            "You multiplied all four sizes; the two products come one after the other, so their costs add up.", 2),
        Mistake("q_plus_k", "q * k -> (q + k)",
            "You added queries and keys, as if each were used once; each query meets every key.", 1),
        Mistake("half_doubled", "2 * q * k * (d + v) -> q * k * (2 * d + v)",
            "You doubled the first product alone: in both, each multiply-add counts as two operations.", 3),
        Mistake("exact_sums", "2 * q * k * (d + v) -> q * k * (2 * d - 1) + q * v * (2 * k - 1)",
            "A sum of n terms takes n - 1 additions, true; here each multiply-add counts as two.", 3),
        Mistake("values_once", "2 * q * k * (d + v) -> 2 * q * (k * d + v)",
            "In the second product each of the q v entries of the output is a sum over all keys.", 2),
        *_WITH_SOFTMAX,
    ),
    hints=(
        "How many pairs of a query and a key are there?",
        "One pair costs d multiply-adds for its score and v for its share in the output.",
        "Pairs times (d + v) multiply-adds, and each of these is two operations.",
    ),
    why="A product of a (q, d) and a (d, k) matrix has q k entries of d multiply-adds; the second product has q v entries of k "
    "multiply-adds.",
    insight="Flash attention does the same number of these, to the last one.",
)  # fmt: skip


# scores_bytes: 32 heads, from 8192 to 8193 tokens, float16


def _scores_bytes():
    heads, n, bytes_each = 32, 8192, 2
    return heads * ((n + 1) ** 2 - n**2) * bytes_each


_SCORES = value_exercise(
    title="One more token", level="easy", minutes=5, answer=_scores_bytes,
    oracle=lambda: 32 * sum(2 for i in range(8193) for j in ((8192,) if i < 8192 else range(8193))),
    mistakes=(
        Mistake("row_only", "((n + 1) ** 2 - n**2) -> (n + 1)",
            "That is the row of the new query. The new token is a key as well: each old query gets a score more.", 2),
        Mistake("old_keys_only", "((n + 1) ** 2 - n**2) -> n",
            "You counted the new token against the old ones in one direction; it is a query and a key.", 2),
        Mistake("no_corner", "((n + 1) ** 2 - n**2) -> 2 * n",
            "One score for each head is missing: the new token looks at itself, too.", 3),
        Mistake("corner_twice", "((n + 1) ** 2 - n**2) -> 2 * (n + 1)",
            "A row and a column, but the score where they meet is counted twice.", 3),
        Mistake("one_number", "* ((n + 1) ** 2 - n**2) ->",
            "That is one score for each head; how many pairs does one token take part in?", 1),
        Mistake("all_after", "((n + 1) ** 2 - n**2) -> (n + 1) ** 2",
            "Those are all scores of the longer text; the question is by how much they grew.", 1),
        Mistake("all_before", "((n + 1) ** 2 - n**2) -> n**2",
            "Those are all scores of the shorter text; the question is by how much they grow.", 1),
        Mistake("no_heads", "return heads * -> return", "You counted one head; each of the 32 has scores of its own.", 1),
        Mistake("numbers", "* bytes_each ->", "That is how many numbers there are; each takes 2 bytes in float16.", 3),
        Mistake("float32", "8192, 2 -> 8192, 4",
            "That is 4 bytes for each number, or two matrices for each head; float16 has 2 bytes, and scores are asked for.", 3),
        Mistake("bits", "8192, 2 -> 8192, 16", "That is in bits.", 3),
        Mistake("mebibytes", "* bytes_each -> * bytes_each / 2**20", "The size is right, in MiB; the question asks for bytes.", 3),
        Mistake("kibibytes", "* bytes_each -> * bytes_each / 2**10", "The size is right, in KiB; the question asks for bytes.", 3),
        Mistake("queries", "((n + 1) ** 2 - n**2) -> 64",
            "That is how much the queries grow, with d = 64; the question is about the scores.", 2),
        Mistake("keys_and_values", "((n + 1) ** 2 - n**2) -> 2 * 64",
            "That is how much keys and values grow, with d = 64; the question is about the scores.", 2),
        Mistake("row_numbers", "((n + 1) ** 2 - n**2) * bytes_each -> (n + 1)",
            "Those are the numbers in the row of the new query: a number has 2 bytes, and there is a new key as well.", 2),
        Mistake("times_d", "* bytes_each -> * 64 * bytes_each",
            "A score is one number, whatever the width d of queries and keys.", 2),
        Mistake("one_head_numbers", "heads * ((n + 1) ** 2 - n**2) * bytes_each -> (n + 1) ** 2 - n**2",
            "That is how many numbers one head gets; there are 32 heads, and each number has 2 bytes.", 3),
    ),
    hints=(
        "Draw the matrix of one head, and what is added when a token comes.",
        "The new token is a query, so there is a new row, and a key, so there is a new column.",
        "Heads times (a row of n, a column of n and one where they meet) times the bytes of one number.",
    ),
    why="(n + 1)(n + 1) - n n is 2 n + 1: a row, a column and the corner.",
    insight="A MiB for a single token, in one layer, and the next token costs more. Its queries take 4 KiB, each time.",
)  # fmt: skip
