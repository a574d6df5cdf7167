"""Number questions of the chapter on several heads: parameters, bytes of scores."""

import numpy as np

from attnexercises.engine.model import Mistake, value_exercise

# mha_parameters: m = 768, h = 12, d = v = 64, with biases


def _mha_parameters():
    m, heads, d = 768, 12, 64
    weights = 3 * m * (heads * d) + (heads * d) * m
    biases = 3 * heads * d + m
    return weights + biases


def _parameters_by_counting():
    per_head = 3 * sum(1 for _ in range(64) for _ in range(768 + 1))  # 64 columns, each with its bias
    out = sum(1 for _ in range(768) for _ in range(12 * 64 + 1))
    return 12 * per_head + out


_PARAMETERS = value_exercise(
    "mha_parameters",
    title="Count the parameters",
    chapter="multihead",
    level="easy",
    minutes=5,
    answer=_mha_parameters,
    oracle=_parameters_by_counting,
    wrong={
        Mistake(
            "no_bias", "4 m²", "Those are the weights; each of the four projections has a bias too, one number per column.", 2
        ): lambda: 4 * 768**2,
        Mistake(
            "no_Wo", "3 (m² + m)",
            "Queries, keys and values are counted; the out projection, back to tokens, is missing.", 1,
        ): lambda: 3 * (768**2 + 768),
        Mistake(
            "full_heads", "h times 4 (m² + m)",
            "You gave every head matrices of full width; a head owns only 64 of the 768 columns.", 1,
        ): lambda: 12 * 4 * (768**2 + 768),
        Mistake(
            "full_qkv", "3 h m² and one out",
            "You gave every head three matrices of full width; a head owns only 64 of the 768 columns.", 1,
        ): lambda: 12 * 3 * (768**2 + 768) + 768**2 + 768,
        Mistake(
            "one_head", "4 (m d + d)", "That is one head of 64 features; there are 12.", 1
        ): lambda: 4 * (768 * 64 + 64),
        Mistake(
            "small_bias", "biases of length d",
            "The weights are right, but a bias has one number per column, for all heads together.", 2,
        ): lambda: 4 * 768**2 + 3 * 64 + 768,
        Mistake(
            "no_out_bias", "3 biases", "Close: the out projection has a bias too, as long as a token.", 2
        ): lambda: 4 * 768**2 + 3 * 768,
        Mistake(
            "one_bias", "4 m² + m",
            "One bias is there, as long as a token; each of the four projections has its own.", 2,
        ): lambda: 4 * 768**2 + 768,
        Mistake(
            "bias_numbers", "4 m² + 4",
            "A bias is not one number: it has one for each column of its matrix.", 2,
        ): lambda: 4 * 768**2 + 4,
        Mistake(
            "no_Wo_no_bias", "3 m²",
            "The out projection, back to tokens, is missing, and so are the biases, one number per column.", 1,
        ): lambda: 3 * 768**2,
        Mistake(
            "out_from_one_head", "3 (m² + m) + d m + m",
            "Your out projection starts from one head; it takes the features of all heads side by side.", 1,
        ): lambda: 3 * (768**2 + 768) + 64 * 768 + 768,
        Mistake(
            "five", "5 (m² + m)",
            "One matrix too many: queries, keys, values, and back to tokens.", 1,
        ): lambda: 5 * (768**2 + 768),
    },
    hints=(
        "Four matrices. Three lead from a token of 768 numbers to 12 heads of 64 features each; the fourth leads back.",
        "A bias has as many numbers as its matrix has columns.",
        "All four matrices are square here: 4 times (768 times 768, plus 768).",
    ),
    why="The heads cut up the same matrix, they do not multiply it: 12 times 64 columns make 768. How many heads there "
    "are makes no difference to the count.",
    insight="Any number of heads that divides m gives the same count: heads are a way to use parameters, not to add some.",
)  # fmt: skip


# score_mebibytes: 32 query heads, 8 key heads, 2048 tokens, float16


def _score_mebibytes():
    heads, n, bytes_each = 32, 2048, 2
    return heads * n * n * bytes_each / 2**20


def _mebibytes_by_adding():
    """Head by head, from the size of an array that is never filled."""
    one_head = np.broadcast_to(np.float16(0), (2048, 2048))
    return sum(one_head.size * one_head.itemsize for _ in range(32)) / 1024 / 1024


_SCORE_MEBIBYTES = value_exercise(
    "score_mebibytes",
    title="The memory of the scores",
    chapter="multihead",
    level="easy",
    minutes=5,
    answer=_score_mebibytes,
    oracle=_mebibytes_by_adding,
    rtol=1e-3,
    wrong={
        Mistake(
            "kv_heads", "8 heads",
            "You counted one score matrix per key head; heads that share keys still have scores of their own.", 1,
        ): lambda: 64.0,
        Mistake("one_head", "1 head", "That is one head; every query head has a score matrix of its own.", 1): lambda: 8.0,
        Mistake(
            "float32", "4 bytes", "That is 4 bytes for each number, or two matrices for each head; float16 has 2 bytes, and only scores are asked for.", 2
        ): lambda: 512.0,
        Mistake(
            "no_bytes", "1 byte",
            "That is one byte for each pair, or half of the pairs: float16 takes two bytes, and nothing is hidden here.", 2,
        ): lambda: 128.0,
        Mistake("megabytes", "MB", "That is in units of a million bytes; a MiB is 1024 times 1024 bytes.", 3): (
            lambda: 32 * 2048**2 * 2 / 1e6
        ),
        Mistake("bytes", "bytes", "That is the number of bytes; divide by 1024 twice to get MiB.", 3): (
            lambda: float(32 * 2048**2 * 2)
        ),
        Mistake(
            "both_heads", "32 + 8 heads",
            "You counted score matrices for query heads and key heads; a score belongs to a query head.", 1,
        ): lambda: 320.0,
        Mistake(
            "one_group", "4 heads",
            "That is one group of four query heads; all 32 have score matrices of their own.", 1,
        ): lambda: 32.0,
        Mistake(
            "one_row", "n for each head",
            "That is one score for each token; every token has a score for every token.", 1,
        ): lambda: 0.125,
        Mistake(
            "bits", "16 for each",
            "A float16 number has 16 bits: 2 bytes, not 16.", 2,
        ): lambda: 2048.0,
    },
    hints=(
        "One score for each query head and each pair of a query and a key.",
        "A float16 number takes 2 bytes.",
        "32 times 2048 times 2048 times 2 bytes; then divide by 1024 twice.",
    ),
    why="Each query head compares every token with every token, whoever owns the keys. Sharing keys makes the keys smaller, "
    "not the scores.",
    insight="One layer, one text, a quarter of a GiB: the scores are what chapter 6 gets rid of.",
)  # fmt: skip

EXERCISES = (_PARAMETERS, _SCORE_MEBIBYTES)
