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
_WITH_SOFTMAX = {
    Mistake(
        f"softmax_{each}", f"2 q k (d + v) + {each} q k",
        "You counted the softmax as well; the question is about the two products.", 2,
    ): lambda each=each: 300 * 700 * (2 * 160 + each)
    for each in range(1, 7)
}  # fmt: skip

_FLOPS = value_exercise(
    "attention_flops",
    title="How many operations?",
    chapter="flash",
    level="easy",
    minutes=5,
    answer=_attention_flops,
    oracle=_counted_one_by_one,
    wrong={
        Mistake(
            "no_two", "q k (d + v)",
            "Those are multiply-adds; each counts as two operations, a product and a sum.", 3,
        ): lambda: 300 * 700 * 160,
        Mistake(
            "scores_only", "2 q k d",
            "That is the product that makes the scores; a second one averages the values.", 2,
        ): lambda: 2 * 300 * 700 * 64,
        Mistake(
            "values_only", "2 q k v",
            "That is the product with the values; a first one makes the scores.", 2,
        ): lambda: 2 * 300 * 700 * 96,
        Mistake(
            "d_twice", "4 q k d",
            "You took d for both products, or counted only the second one's multiply-adds as two operations.", 2,
        ): lambda: 4 * 300 * 700 * 64,
        Mistake(
            "v_twice", "4 q k v",
            "You took v for both products; a score has one term for each of the d features.", 2,
        ): lambda: 4 * 300 * 700 * 96,
        Mistake(
            "q_squared", "2 q q (d + v)",
            "You counted q by q scores; each query meets every key.", 1,
        ): lambda: 2 * 300 * 300 * 160,
        Mistake(
            "k_squared", "2 k k (d + v)",
            "You counted k by k scores; the rows of the scores are the queries.", 1,
        ): lambda: 2 * 700 * 700 * 160,
        Mistake(
            "all_sizes", "q k d v",
            "You multiplied all four sizes; the two products come one after the other, so their costs add up.", 2,
        ): lambda: 300 * 700 * 64 * 96,
        Mistake(
            "all_sizes_twice", "2 q k d v",
            "You multiplied all four sizes; the two products come one after the other, so their costs add up.", 2,
        ): lambda: 2 * 300 * 700 * 64 * 96,
        Mistake(
            "q_plus_k", "2 (q + k) (d + v)",
            "You added queries and keys, as if each were used once; each query meets every key.", 1,
        ): lambda: 2 * (300 + 700) * (64 + 96),
        Mistake(
            "half_doubled", "2 q k d + q k v",
            "You doubled the first product alone: in both, each multiply-add counts as two operations.", 3,
        ): lambda: 300 * 700 * (2 * 64 + 96),
        Mistake(
            "exact_sums", "a sum of n terms as n - 1 additions",
            "A sum of n terms takes n - 1 additions, true; here each multiply-add counts as two.", 3,
        ): lambda: 300 * 700 * (2 * 64 - 1) + 300 * 96 * (2 * 700 - 1),
        Mistake(
            "values_once", "2 q k d + 2 q v",
            "In the second product each of the q v entries of the output is a sum over all keys.", 2,
        ): lambda: 2 * 300 * (700 * 64 + 96),
        **_WITH_SOFTMAX,
    },
    hints=(
        "How many pairs of a query and a key are there?",
        "One pair costs d multiply-adds for its score and v for its share in the output.",
        "Pairs times (d + v) multiply-adds, and each of these is two operations.",
    ),
    why="A product of a (q, d) and a (d, k) matrix has q k entries of d multiply-adds; the second product has q v "
    "entries of k multiply-adds.",
    insight="Flash attention does the same number of these, to the last one.",
)  # fmt: skip


# scores_bytes: 32 heads, from 8192 to 8193 tokens, float16


def _scores_bytes():
    heads, n, bytes_each = 32, 8192, 2
    return heads * ((n + 1) ** 2 - n**2) * bytes_each


_SCORES = value_exercise(
    "scores_bytes",
    title="One more token",
    chapter="flash",
    level="easy",
    minutes=5,
    answer=_scores_bytes,
    oracle=lambda: 32 * sum(2 for i in range(8193) for j in ((8192,) if i < 8192 else range(8193))),
    wrong={
        Mistake(
            "row_only", "n + 1 for each head",
            "That is the row of the new query. The new token is a key as well: each old query gets a score more.", 2,
        ): lambda: 32 * 8193 * 2,
        Mistake(
            "old_keys_only", "n for each head",
            "You counted the new token against the old ones in one direction; it is a query and a key.", 2,
        ): lambda: 32 * 8192 * 2,
        Mistake(
            "no_corner", "2 n for each head",
            "One score for each head is missing: the new token looks at itself, too.", 3,
        ): lambda: 32 * 2 * 8192 * 2,
        Mistake(
            "corner_twice", "2 (n + 1) for each head",
            "A row and a column, but the score where they meet is counted twice.", 3,
        ): lambda: 32 * 2 * 8193 * 2,
        Mistake(
            "one_number", "1 for each head",
            "That is one score for each head; how many pairs does one token take part in?", 1,
        ): lambda: 32 * 2,
        Mistake(
            "all_after", "(n + 1) (n + 1)",
            "Those are all scores of the longer text; the question is by how much they grew.", 1,
        ): lambda: 32 * 8193**2 * 2,
        Mistake(
            "all_before", "n n", "Those are all scores of the shorter text; the question is by how much they grow.", 1
        ): lambda: 32 * 8192**2 * 2,
        Mistake(
            "no_heads", "one head", "You counted one head; each of the 32 has scores of its own.", 1
        ): lambda: 16385 * 2,
        Mistake(
            "numbers", "no bytes", "That is how many numbers there are; each takes 2 bytes in float16.", 3
        ): lambda: 32 * 16385,
        Mistake(
            "float32", "4 bytes", "That is 4 bytes for each number, or two matrices for each head; float16 has 2 bytes, and scores are asked for.", 3
        ): lambda: 32 * 16385 * 4,
        Mistake(
            "bits", "16 for each", "That is in bits.", 3
        ): lambda: 32 * 16385 * 16,
        Mistake(
            "mebibytes", "in MiB", "The size is right, in MiB; the question asks for bytes.", 3
        ): lambda: 32 * 16385 * 2 / 2**20,
        Mistake(
            "kibibytes", "in KiB", "The size is right, in KiB; the question asks for bytes.", 3
        ): lambda: 32 * 16385 * 2 / 2**10,
        Mistake(
            "queries", "d", "That is how much the queries grow, with d = 64; the question is about the scores.", 2
        ): lambda: 32 * 64 * 2,
        Mistake(
            "keys_and_values", "2 d",
            "That is how much keys and values grow, with d = 64; the question is about the scores.", 2,
        ): lambda: 2 * 32 * 64 * 2,
        Mistake(
            "row_numbers", "n + 1 for each head, no bytes",
            "Those are the numbers in the row of the new query: a number has 2 bytes, and there is a new key "
            "as well.", 2,
        ): lambda: 32 * 8193,
        Mistake(
            "times_d", "times d",
            "A score is one number, whatever the width d of queries and keys.", 2,
        ): lambda: 32 * 16385 * 64 * 2,
        Mistake(
            "one_head_numbers", "2 n + 1",
            "That is how many numbers one head gets; there are 32 heads, and each number has 2 bytes.", 3,
        ): lambda: 16385,
    },
    hints=(
        "Draw the matrix of one head, and what is added when a token comes.",
        "The new token is a query, so there is a new row, and a key, so there is a new column.",
        "Heads times (a row of n, a column of n and one where they meet) times the bytes of one number.",
    ),
    why="(n + 1)(n + 1) - n n is 2 n + 1: a row, a column and the corner.",
    insight="A MiB for a single token, in one layer, and the next token costs more. Its queries take 4 KiB, each time.",
)  # fmt: skip

EXERCISES = (_FLOPS, _SCORES)
