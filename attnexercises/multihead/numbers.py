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
    title="Count the parameters", level="easy", minutes=5, answer=_mha_parameters, oracle=_parameters_by_counting,
    quantities={"12 heads": 12, "64 features in a head": 64, "768 features in a token": 768, "4 projections": 4},
    mistakes=(
        Mistake("no_bias", lambda: 4 * 768**2,
            "Those are the weights. Each of the four projections also has a bias, with one number per column.", 2),
        Mistake("no_Wo", lambda: 3 * (768**2 + 768),
            "Queries, keys and values are counted. The out projection, back to tokens, is missing.", 1),
        Mistake("full_heads", lambda: 12 * 4 * (768**2 + 768),
            "You gave every head matrices of full width. A head owns only 64 of the 768 columns.", 1),
        Mistake("full_qkv", lambda: 12 * 3 * (768**2 + 768) + 768**2 + 768,
            "You gave every head three matrices of full width. A head owns only 64 of the 768 columns.", 1),
        Mistake("one_head", lambda: 4 * (768 * 64 + 64), "That is one head of 64 features, and there are 12.", 1),
        Mistake("small_bias", lambda: 4 * 768**2 + 3 * 64 + 768,
            "The weights are right, but a bias has one number per column, for all heads together.", 2),
        Mistake("bias_for_a_head", lambda: 4 * 768**2 + 4 * 12,
            "The weights are right, but you gave each head a bias of one number. A bias has one number per column.", 2),
        Mistake("three_biases", lambda: 4 * 768**2 + 3 * 768,
            "One bias is missing. The out projection has one, and the keys have one, too: it never learns, but it is a parameter.", 2),
        Mistake("one_bias", lambda: 4 * 768**2 + 768,
            "One bias is there, as long as a token. Each of the four projections has its own.", 2),
        Mistake("bias_numbers", lambda: 4 * 768**2 + 4,
            "A bias is not a single number. It has one number for each column of its matrix.", 2),
        Mistake("no_Wo_no_bias", lambda: 3 * 768**2,
            "The out projection, back to tokens, is missing, and so are the biases, one number per column.", 1),
        Mistake("out_from_one_head", lambda: 3 * (768**2 + 768) + 64 * 768 + 768,
            "Your out projection starts from one head. It takes the features of all heads side by side.", 1),
        Mistake("five", lambda: 5 * (768**2 + 768),
            "That is one matrix too many. There is one for queries, keys and values each, and one that leads back to tokens.", 1),
    ),
    hints=(
        "Four matrices. Three lead from a token of 768 numbers to 12 heads of 64 features each; the fourth leads back.",
        "A bias has as many numbers as its matrix has columns.",
        "All four matrices are square here: 4 times (768 times 768, plus 768).",
    ),
    why="The heads share the columns of one matrix, and 12 times 64 columns make 768. How many heads there are makes no difference "
    "to the count.",
    insight="Any number of heads that divides m gives the same count: heads use parameters, they add none. The 768 key biases count, "
    "although they never learn (chapter 3).",
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
    title="The memory of the scores", level="easy", minutes=5, answer=_score_mebibytes, oracle=_mebibytes_by_adding, rtol=1e-3,
    quantities={"32 query heads": 32, "8 key heads": 8, "2048 tokens": 2048},
    mistakes=(
        Mistake("kv_heads", lambda: 64.0,
            "You counted one score matrix per key head. Heads that share keys still have scores of their own.", 1),
        Mistake("one_head", lambda: 8.0, "That is one head. Every query head has a score matrix of its own.", 1),
        Mistake("float32", lambda: 512.0,
            "That is 4 bytes for each number, or two matrices for each head. A float16 number has 2 bytes, and only scores are "
            "asked for.", 2),
        Mistake("no_bytes", lambda: 128.0,
            "That is one byte for each pair, or half of the pairs. A float16 number takes two bytes, and nothing is hidden here.",
            2),
        Mistake("megabytes", lambda: 32 * 2048**2 * 2 / 1e6, "That counts millions of bytes. A MiB is 1024 times 1024 bytes.", 3),
        Mistake("bytes", lambda: float(32 * 2048**2 * 2), "That is the number of bytes. Divide it by 1024 twice to get MiB.", 3),
        Mistake("both_heads", lambda: 320.0,
            "You counted score matrices for query heads and for key heads. A score belongs to a query head.", 1),
        Mistake("one_group", lambda: 32.0, "That is one group of four query heads. All 32 have score matrices of their own.", 1),
        Mistake("one_row", lambda: 0.125, "That is one score for each token. Every token has a score for every token.", 1),
        Mistake("bits", lambda: 2048.0, "A float16 number has 16 bits: 2 bytes, not 16.", 2),
    ),
    hints=(
        "There is one score for each query head and each pair of a query and a key.",
        "A float16 number takes 2 bytes.",
        "Multiply 32 by 2048, by 2048 and by 2 bytes, and divide by 1024 twice.",
    ),
    why="Each query head compares every token with every token, whoever owns the keys. Sharing keys makes the keys smaller, not "
    "the scores.",
    insight="One layer and one text need a quarter of a GiB. Chapter 6 gets rid of these scores.",
)  # fmt: skip
