"""Wrong values for the questions of the chapters on masks, several heads and Flash attention."""

import math

import numpy as np

from . import wrong

# --- masks ----------------------------------------------------------------------------------------

wrong("allowed_pairs", "the short sentence as 3 squared, the long one causal", named=("short_square",))(3 * 3 + 15)
wrong("allowed_pairs", "the short sentence causal, the long one as 5 squared", named=("long_square",))(6 + 25)
wrong("allowed_pairs", "the padded queries see themselves", named=("padded_see_themselves",))(21 + 2)
wrong("allowed_pairs", "half of the 50 pairs", named=("half",))(25)
wrong("allowed_pairs", "half of the pairs of real tokens", named=("half_real",))((9 + 25) / 2)
wrong("allowed_pairs", "both counts, one for each sentence", says=r"one number is expected, not 2")((6, 15))
wrong("allowed_pairs", "the counts multiplied")(6 * 15)
wrong("allowed_pairs", "a share in place of a number", says=r"50 times too small")(21 / 50)
wrong("allowed_pairs", "a word", says=r"number is expected")("21 pairs")
wrong("spot_mask", "a plausible word that is not on the list", says=r"one of the words")("no renormalisation")
wrong("spot_mask", "the words run together", says=r"one of the words")("finitefill")
wrong("spot_mask", "a sentence", says=r"one of the words")("Hidden scores are set to -10.")
wrong("spot_mask", "the letter of the row in the table", says=r"a word is expected")(4)

# --- several heads --------------------------------------------------------------------------------

wrong("spot_multihead", "the name of the function", says=r"one of the words")("merge_heads")
wrong("spot_multihead", "the other half of the pair", named=("split_no_transpose",))("split")
wrong("spot_multihead", "a word in another language", says=r"one of the words")("zusammenführen")
wrong("mha_parameters", "three biases of length m, without that of the keys, which never learns", named=("three_biases",), says="never learns")(4 * 768**2 + 3 * 768)
wrong("mha_parameters", "one bias for all", named=("one_bias",))(4 * 768**2 + 768)
wrong("mha_parameters", "one number of bias for each projection", named=("bias_numbers",))(4 * 768**2 + 4)
wrong("mha_parameters", "12 heads of three 768 by 64, no out weight", named=("no_Wo",))(12 * 3 * (768 * 64 + 64))
wrong("mha_parameters", "12 heads of three 768 by 64, no out weight, no bias", named=("no_Wo_no_bias",))(12 * 3 * 768 * 64)
wrong("mha_parameters", "12 heads of four 768 by 64, no bias", named=("no_bias",))(12 * 4 * 768 * 64)
wrong("mha_parameters", "five matrices", named=("five",))(5 * (768**2 + 768))
wrong("mha_parameters", "the out weight from 64", named=("out_from_one_head",))(3 * (768**2 + 768) + 64 * 768 + 768)
wrong("mha_parameters", "in millions", says=r"1.?000.?000 times too small|million")(2.362368)
wrong("score_mebibytes", "both kinds of heads", named=("both_heads",))((32 + 8) * 2048**2 * 2 / 2**20)
wrong("score_mebibytes", "the scores and the weights", named=("float32",), says=r"2 times the right one")(512)
wrong("score_mebibytes", "the group of four heads", named=("one_group",))(4 * 2048**2 * 2 / 2**20)
wrong("score_mebibytes", "n scores for each head, not n squared", named=("one_row",))(32 * 2048 * 2 / 2**20)
wrong("score_mebibytes", "half of the pairs: causal", named=("no_bytes",), says=r"2 times too small")(128.0)
wrong("score_mebibytes", "in GiB", says=r"1024 times too small")(0.25)
wrong("score_mebibytes", "in KiB", says=r"1024 times the right one")(32 * 2048**2 * 2 / 2**10)
wrong("score_mebibytes", "16 bytes for float16", named=("bits",), says=r"8 times")(32 * 2048**2 * 16 / 2**20)

# --- Flash attention ------------------------------------------------------------------------------

wrong("scores_bytes", "a row alone, its keys n, and a column of n + 1: as numbers", named=("one_head_numbers",))(8192 + 8193)
wrong("scores_bytes", "twice the heads", named=("float32",), says=r"2 times the right one")(2 * 32 * 16385 * 2)
wrong("scores_bytes", "the keys and values of the token", named=("keys_and_values",))(2 * 32 * 64 * 2)
wrong("scores_bytes", "the row of the new query in numbers", named=("row_numbers",))(32 * 8193)
wrong("scores_bytes", "with the width d", named=("times_d",))(32 * 16385 * 64 * 2)
wrong("scores_bytes", "causal: the new row alone, no bytes for the column", named=("row_only",))(32 * 8193 * 2)
wrong("attention_flops", "the output counted as 2 q v", named=("values_once",))(2 * 300 * 700 * 64 + 2 * 300 * 96)
wrong("attention_flops", "q k d + 2 q k v", named=("d_twice",))(300 * 700 * 64 + 2 * 300 * 700 * 96)
wrong("attention_flops", "2 q k d + q k v", named=("half_doubled",))(2 * 300 * 700 * 64 + 300 * 700 * 96)
wrong("attention_flops", "2 d - 1 for each score, 2 k - 1 for each output", named=("exact_sums",))(
    300 * 700 * (2 * 64 - 1) + 300 * 96 * (2 * 700 - 1)
)
wrong("attention_flops", "four for each multiply-add", says=r"2 times the right one")(4 * 300 * 700 * 160)
wrong("attention_flops", "squares of both sizes")(2 * (300**2 + 700**2) * 160)
wrong("attention_flops", "d times v")(2 * 300 * 700 + 64 * 96)
wrong("attention_flops", "in GFLOP", says=r"1.?000.?000.?000 times too small")(0.0672)
wrong("one_tile", "rounded to a whole number", says=r"digits|rounded|two decimals")(36.0)
wrong("one_tile", "the factor exp(1 - 4) of the new key for the old sums", named=("kept_new",))(
    (30 * math.exp(-3) + 50 + 10 * math.exp(-3)) / (1.5 * math.exp(-3) + 1 + math.exp(-3))
)
wrong("one_tile", "the new values measured against 3", named=("new_not_shifted",))(
    (30 * math.exp(-1) + math.e * 50 + 10 * math.exp(-2)) / (1.5 * math.exp(-1) + math.e + math.exp(-2))
)
wrong("one_tile", "the exponentials of 4 and 1 themselves", named=("plain_new",))(
    (30 * math.exp(-1) + 50 * math.exp(4) + 10 * math.e) / (1.5 * math.exp(-1) + math.exp(4) + math.e)
)
wrong("one_tile", "the values exchanged", named=("values_swapped",))(
    (30 * math.exp(-1) + 10 + 50 * math.exp(-3)) / (1.5 * math.exp(-1) + 1 + math.exp(-3))
)
wrong("one_tile", "the second key forgotten", named=("one_key",))((30 * math.exp(-1) + 50) / (1.5 * math.exp(-1) + 1))
wrong("one_tile", "output and total", says=r"one number is expected, not 2")(np.array([38.4, 1.6]))
wrong("one_tile", "the mean of the three numbers", named=("old_a",))(30.0)
wrong("spot_flash", "the chapter's word", says=r"one of the words")("padding")
wrong("spot_flash", "a function's id", says=r"one of the words")("pad_zero_keys")
wrong("spot_flash", "the block sizes that fail", says=r"a word is expected")((4, 5))
wrong("causal_tiles", "the triangle of 4 rows of tiles", named=("half",))(4 * 5 // 2)
wrong("causal_tiles", "the triangle of 5 columns of tiles", named=("beyond",))(5 * 6 // 2)
wrong("causal_tiles", "the tiles that the diagonal cuts", named=("skipped",))(6)
wrong("causal_tiles", "one tile for each block of queries", named=())(4)
wrong("causal_tiles", "14 * 14 / (4 * 3) / 2, rounded up", named=("no_tail",))(math.ceil(14 * 14 / 12 / 2))
wrong("causal_tiles", "blocks exchanged: 3 for the queries, 4 for the keys", named=("strict",))(
    sum(min(top + 2, 13) // 4 + 1 for top in range(0, 14, 3))
)
wrong("causal_tiles", "visible pairs over the size of a tile", says=r"whole")(105 / 12)
