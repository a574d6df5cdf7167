"""Wrong values for the questions of the chapters on masks, several heads and Flash attention."""

import math

import numpy as np

from . import wrong

# --- masks ----------------------------------------------------------------------------------------

wrong("allowed_pairs", "the short sentence as 3 squared, the long one causal")(3 * 3 + 15)
wrong("allowed_pairs", "the short sentence causal, the long one as 5 squared")(6 + 25)
wrong("allowed_pairs", "the diagonal of both taken twice")(21 + 8)
wrong("allowed_pairs", "the padded queries see themselves", named=("padded_see_themselves",))(21 + 2)
wrong("allowed_pairs", "half of the 50 pairs")(25)
wrong("allowed_pairs", "half of the pairs of real tokens")((9 + 25) / 2)
wrong("allowed_pairs", "both counts, one for each sentence", says=r"one number is expected, not 2")((6, 15))
wrong("allowed_pairs", "the counts multiplied")(6 * 15)
wrong("allowed_pairs", "a share in place of a number", says=r"50 times too small|share")(21 / 50)
wrong("allowed_pairs", "a word", says=r"number is expected")("21 pairs")
wrong("allowed_pairs", "rows of 1 to 5 for both, the short one without its first two", named=())(15 + 12)
wrong("spot_mask", "a plausible word that is not on the list", says=r"one of|words")("no renormalisation")
wrong("spot_mask", "the words run together", says=r"one of|words")("aftersoftmax")
wrong("spot_mask", "a sentence", says=r"one of|words")("The mask is applied after the softmax.")
wrong("spot_mask", "the letter of the row in the table", says=r"a word is expected")(4)

# --- several heads --------------------------------------------------------------------------------

wrong("spot_multihead", "the name of the function", says=r"one of|words")("merge_heads")
wrong("spot_multihead", "the other half of the pair", named=("split_no_transpose",))("split")
wrong("spot_multihead", "a word in another language", says=r"one of|words")("zusammenführen")
wrong("mha_parameters", "three biases of length m, out without bias", named=("no_out_bias",))(4 * 768**2 + 3 * 768)
wrong("mha_parameters", "one bias for all", named=("one_bias",))(4 * 768**2 + 768)
wrong("mha_parameters", "one number of bias for each projection")(4 * 768**2 + 4)
wrong("mha_parameters", "a bias only in the out projection", named=("one_bias",))(4 * 768 * 768 + 768)
wrong("mha_parameters", "12 heads of three 768 by 64, no out weight", named=("no_Wo",))(12 * 3 * (768 * 64 + 64))
wrong("mha_parameters", "12 heads of three 768 by 64, no out weight, no bias", named=("no_Wo_no_bias",))(12 * 3 * 768 * 64)
wrong("mha_parameters", "12 heads of four 768 by 64, no bias", named=("no_bias",))(12 * 4 * 768 * 64)
wrong("mha_parameters", "five matrices")(5 * (768**2 + 768))
wrong("mha_parameters", "the out weight from 64", named=("out_from_one_head",))(3 * (768**2 + 768) + 64 * 768 + 768)
wrong("mha_parameters", "in millions", says=r"1 ?000 ?000|million|too small")(2.362368)
wrong("score_mebibytes", "both kinds of heads")((32 + 8) * 2048**2 * 2 / 2**20)
wrong("score_mebibytes", "the scores and the weights", says=r"2 times the right one")(512)
wrong("score_mebibytes", "the group of four heads")(4 * 2048**2 * 2 / 2**20)
wrong("score_mebibytes", "n scores for each head, not n squared")(32 * 2048 * 2 / 2**20)
wrong("score_mebibytes", "half of the pairs: causal", says=r"2 times too small")(128.0)
wrong("score_mebibytes", "in GiB", says=r"1024 times too small")(0.25)
wrong("score_mebibytes", "in KiB", says=r"1024 times the right one")(32 * 2048**2 * 2 / 2**10)
wrong("score_mebibytes", "16 bytes for float16", named=("bits",), says=r"8 times")(32 * 2048**2 * 16 / 2**20)

# --- Flash attention ------------------------------------------------------------------------------

wrong("scores_bytes", "a row alone, its keys n, and a column of n + 1: as numbers")(8192 + 8193)
wrong("scores_bytes", "twice the heads", says=r"2 times the right one")(2 * 32 * 16385 * 2)
wrong("scores_bytes", "the keys and values of the token", named=("keys_and_values",))(2 * 32 * 64 * 2)
wrong("scores_bytes", "the row of the new query in numbers")(32 * 8193)
wrong("scores_bytes", "with the width d")(32 * 16385 * 64 * 2)
wrong("scores_bytes", "causal: the new row alone, no bytes for the column", named=("row_only",))(32 * 8193 * 2)
wrong("attention_flops", "the output counted as 2 q v")(2 * 300 * 700 * 64 + 2 * 300 * 96)
wrong("attention_flops", "q k d + 2 q k v", named=("one_doubled",))(300 * 700 * 64 + 2 * 300 * 700 * 96)
wrong("attention_flops", "2 q k d + q k v", named=("one_doubled",))(2 * 300 * 700 * 64 + 300 * 700 * 96)
wrong("attention_flops", "2 d - 1 for each score, 2 k - 1 for each output", named=("exact_sums",))(
    300 * 700 * (2 * 64 - 1) + 300 * 96 * (2 * 700 - 1)
)
wrong("attention_flops", "four for each multiply-add", says=r"2 times the right one")(4 * 300 * 700 * 160)
wrong("attention_flops", "squares of both sizes")(2 * (300**2 + 700**2) * 160)
wrong("attention_flops", "d times v")(2 * 300 * 700 + 64 * 96)
wrong("attention_flops", "in GFLOP", says=r"too small")(0.0672)
wrong("one_tile", "rounded to a whole number", says=r"digits|rounded|decimals")(36.0)
wrong("one_tile", "the factor exp(1 - 4) of the new key for the old sums")(
    (30 * math.exp(-3) + 50 + 10 * math.exp(-3)) / (1.5 * math.exp(-3) + 1 + math.exp(-3))
)
wrong("one_tile", "the new values measured against 3", named=("new_not_shifted",))(
    (30 * math.exp(-1) + math.e * 50 + 10 * math.exp(-2)) / (1.5 * math.exp(-1) + math.e + math.exp(-2))
)
wrong("one_tile", "the exponentials of 4 and 1 themselves", named=("new_not_shifted_at_all",))(
    (30 * math.exp(-1) + 50 * math.exp(4) + 10 * math.e) / (1.5 * math.exp(-1) + math.exp(4) + math.e)
)
wrong("one_tile", "the values exchanged", named=("values_swapped",))(
    (30 * math.exp(-1) + 10 + 50 * math.exp(-3)) / (1.5 * math.exp(-1) + 1 + math.exp(-3))
)
wrong("one_tile", "the second key forgotten", named=("one_key",))((30 * math.exp(-1) + 50) / (1.5 * math.exp(-1) + 1))
wrong("one_tile", "output and total", says=r"one number is expected, not 2")(np.array([38.4, 1.6]))
wrong("one_tile", "the mean of the three numbers")(30.0)
wrong("spot_flash", "the chapter's word", says=r"one of|words")("padding")
wrong("spot_flash", "a function's id", says=r"one of|words")("pad_zero_keys")
wrong("spot_flash", "the block sizes that fail", says=r"a word is expected")((4, 5))
wrong("causal_tiles", "the triangle of 4 rows of tiles", named=("square_grid",))(4 * 5 // 2)
wrong("causal_tiles", "the triangle of 5 columns of tiles", named=("square_grid",))(5 * 6 // 2)
wrong("causal_tiles", "the diagonal tiles alone", named=("diagonal_tiles",))(8)
wrong("causal_tiles", "one tile for each block of queries", named=())(4)
wrong("causal_tiles", "14 * 14 / (4 * 3) / 2, rounded up")(math.ceil(14 * 14 / 12 / 2))
wrong("causal_tiles", "visible pairs over the size of a tile, rounded up")(math.ceil(105 / 12))
wrong("causal_tiles", "blocks exchanged: 3 for the queries, 4 for the keys", named=("blocks_swapped",))(
    sum(min(top + 2, 13) // 4 + 1 for top in range(0, 14, 3))
)
wrong("causal_tiles", "counted from 0: the last block of each row left out")(10)
