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
            "You counted the softmax as well. The question is about the two products.", 2)
    for each in range(1, 7)
)  # fmt: skip

_FLOPS = value_exercise(
    title="How many operations?", level="easy", minutes=5, answer=_attention_flops, oracle=_counted_one_by_one,
    quantities={"300 queries": 300, "700 keys": 700, "64 features in a key": 64, "96 features in a value": 96},
    mistakes=(
        Mistake("no_two", "return 2 * -> return",
                "That is half. Either you counted a multiplication and its addition as one operation, or you left out half of the pairs.", 3),
        Mistake("scores_only", "(d + v) -> d",
                "That is the product that makes the scores. A second product averages the values.", 2),
        Mistake("values_only", "(d + v) -> v", "That is the product with the values. Another product makes the scores.", 2),
        Mistake("d_twice", "(d + v) -> (d + d)",
                "You took d for both products, or you counted two operations only in the second product.", 2),
        Mistake("v_twice", "(d + v) -> (v + v)",
                "You took v for both products. A score has one term for each of the d features.", 2),
        Mistake("q_squared", "q * k -> q * q", "You counted q by q scores. Each query meets every key.", 1),
        Mistake("k_squared", "q * k -> k * k", "You counted k by k scores. The rows of the scores belong to the queries.", 1),
        Mistake("all_sizes", "2 * q * k * (d + v) -> q * k * d * v",
            "You multiplied all four sizes; the two products come one after the other, so their costs add up.", 2),
        Mistake("all_sizes_twice", "(d + v) -> d * v",
            "You multiplied all four sizes; the two products come one after the other, so their costs add up.", 2),
        Mistake("q_plus_k", "q * k -> (q + k)",
                "You added queries and keys, as if each were used once. Each query meets every key.", 1),
        Mistake("half_doubled", "2 * q * k * (d + v) -> q * k * (2 * d + v)",
                "You doubled only the first product. In both products a multiplication and an addition count as two "
                "operations.", 3),
        Mistake("exact_sums", "2 * q * k * (d + v) -> q * k * (2 * d - 1) + q * v * (2 * k - 1)",
                "It is true that a sum of n terms takes n - 1 additions. Here every multiplication is counted with "
                "one addition.", 3),
        Mistake("values_once", "2 * q * k * (d + v) -> 2 * q * (k * d + v)",
                "Each of the q v entries of the output is a sum over all keys, so the second product takes q k v "
                "multiplications.", 2),
        *_WITH_SOFTMAX,
    ),
    hints=(
        "How many pairs of a query and a key are there?",
        "One pair costs d multiplications and additions for its score, and v for its share of the output.",
        "Multiply the number of pairs by d + v. Each multiplication with its addition is two operations.",
    ),
    why="A product of a (q, d) and a (d, k) matrix has q k entries, and each takes d multiplications and "
                "additions. The second product has q v entries, and each takes k of them.",
    insight="Without a mask Flash attention does exactly as many.",
)  # fmt: skip


# scores_bytes: 32 heads, from 8192 to 8193 tokens, float16


def _scores_bytes():
    heads, n, bytes_each = 32, 8192, 2
    return heads * ((n + 1) ** 2 - n**2) * bytes_each


_SCORES = value_exercise(
    title="One more token", level="easy", minutes=5, answer=_scores_bytes,
    quantities={"32 heads": 32, "64 features": 64, "8192 tokens": 8192},
    oracle=lambda: 32 * sum(2 for i in range(8193) for j in ((8192,) if i < 8192 else range(8193))),
    mistakes=(
        Mistake("row_only", "((n + 1) ** 2 - n**2) -> (n + 1)",
                "That is the row of the new query. The new token is a key as well, and everything is computed again, "
                "so each old query gets one more score.", 2),
        Mistake("old_keys_only", "((n + 1) ** 2 - n**2) -> n",
                "You counted the new token against the old tokens in one direction. The new token is a query and a "
                "key.", 2),
        Mistake("no_corner", "((n + 1) ** 2 - n**2) -> 2 * n",
                "One score for each head is missing. The new token looks at itself as well.", 3),
        Mistake("corner_twice", "((n + 1) ** 2 - n**2) -> 2 * (n + 1)",
                "You counted a row and a column, but the score where they meet counts only once.", 3),
        Mistake("one_number", "* ((n + 1) ** 2 - n**2) ->",
                "That is one score for each head. In how many pairs does the new token take part?", 1),
        Mistake("all_after", "((n + 1) ** 2 - n**2) -> (n + 1) ** 2",
                "Those are all scores of the longer text. By how much did they grow?", 1),
        Mistake("all_before", "((n + 1) ** 2 - n**2) -> n**2",
                "Those are all scores of the shorter text. By how much do they grow?", 1),
        Mistake("no_heads", "return heads * -> return",
                "You counted one head. Each of the 32 heads has its own scores.", 1),
        Mistake("numbers", "* bytes_each ->", "That is the number of scores. Each takes 2 bytes in float16.", 3),
        Mistake("float32", "8192, 2 -> 8192, 4",
                "You counted 4 bytes for each number, or two matrices for each head. A float16 number has 2 bytes, "
                "and the question is about the scores alone.", 3),
        Mistake("bits", "8192, 2 -> 8192, 16", "That is the number of bits. A byte has 8 bits.", 3),
        Mistake("mebibytes", "* bytes_each -> * bytes_each / 2**20",
                "That is the right size in MiB. The question asks for bytes.", 3),
        Mistake("kibibytes", "* bytes_each -> * bytes_each / 2**10",
                "That is the right size in KiB. The question asks for bytes.", 3),
        Mistake("queries", "((n + 1) ** 2 - n**2) -> 64",
                "The queries of a head grow by that many numbers, with d = 64. The question is about the scores.", 2),
        Mistake("keys_and_values", "((n + 1) ** 2 - n**2) -> 2 * 64",
                "The keys and values of a head grow by that many numbers, with d = 64. The question is about the "
                "scores.", 2),
        Mistake("row_numbers", "((n + 1) ** 2 - n**2) * bytes_each -> (n + 1)",
                "Those are the numbers in the row of the new query. A number has 2 bytes, and there is a new key as "
                "well.", 2),
        Mistake("times_d", "* bytes_each -> * 64 * bytes_each",
            "A score is one number, whatever the width d of queries and keys.", 2),
        Mistake("one_head_numbers", "heads * ((n + 1) ** 2 - n**2) * bytes_each -> (n + 1) ** 2 - n**2",
                "One head gets that many new numbers. There are 32 heads, and each number has 2 bytes.", 3),
    ),
    hints=(
        "Draw the matrix of scores of one head. What is added to it when a token comes?",
        "The new token is a query, so there is a new row, and a key, so there is a new column.",
        "A head gets a row of n, a column of n, and one score where they meet. Multiply by the heads and by "
                "the bytes of one number.",
    ),
    why="(n + 1)(n + 1) - n n is 2 n + 1, which is a row, a column and the corner.",
    insight="A single token costs one MiB of scores in one layer, and the next token costs more. With 64 features, "
                "its queries always take 4 KiB.",
)  # fmt: skip
