"""Wrong values: the questions of the prerequisites and of the chapters on attention and gradients."""

import numpy as np

from . import wrong


def value(id, what, given, named=(), says=""):
    wrong(id, what, named, says)(given)


value("matrix_shapes", "a list of axes, one too many", (2, 3, 7, 4), says=r"has 4 numbers; 3 are expected")
value("matrix_shapes", "the number of entries", 24, says=r"tuple of numbers is expected")
value("matrix_shapes", "features and queries exchanged", (3, 2, 4), says=r"another order")
value("matrix_shapes", "five and seven multiplied", (2, 3, 35), says=r"1 of 3 numbers (are|is) wrong")
value("matrix_shapes", "as text", "(2, 3, 4)", says=r"not a word")
value("delta_sum", "the product of the diagonal's terms", 1 * 50 * 1000, named=("terms_multiplied",))
value("delta_sum", "the last term left out", 51, named=("last_left_out",))
value("delta_sum", "the trace times the largest", 1600)
value("delta_sum", "ten for one hundred", 1 + 50 + 100)
value("delta_sum", "in a list", [1051], says=r"bare number")
value("vjp_cost", "a column from the right", 400 * 500 + 300 * 500, named=("last_size_twice",))
value("vjp_cost", "multiplications and additions, one less each", 2 * (300 * 400 + 400 * 500) - 900, named=("one_less",))
value("vjp_cost", "in thousands", 320, says=r"1000 times too small")
value("vjp_cost", "the two products multiplied", 300 * 400 * 400 * 500, named=("products_multiplied",))
value("variance_of_sum", "the root of 64 times 4", 32, named=("root_of_count",))
value("variance_of_sum", "64 + 4", 68, named=("count_added",))
value("variance_of_sum", "a half", 128 / 1.0, named=("root_of_variance",))
value("variance_of_sum", "minus", -256, says=r"sign is wrong")
value("two_token_weight", "as percent", 64.04, says=r"100 times")
value("two_token_weight", "one place only", 0.6)
value("two_token_weight", "the score of the other sign", 0.3596, named=("other_key",))
value("two_token_weight", "both weights", (0.36, 0.64), says=r"one number is expected")
value("two_token_weight", "the scale of 4 features", 1 / (1 + np.exp(-0.5)), named=("scale_4",))
value("attention_shape", "heads of 8", (4, 8, 128, 48), says=r"has 4 numbers; 3 are expected")
value("attention_shape", "both sequences", (4, 328, 48), says=r"1 of 3 numbers (are|is) wrong")
value("attention_shape", "features of both", (4, 128, 112), says=r"1 of 3 numbers (are|is) wrong")
value("attention_shape", "queries and values exchanged", (4, 48, 128), says=r"another order")
value("spot_attention", "softmax over axis 0", "axis 0")
value("spot_attention", "a number", 0, says=r"word")
value("score_gradient", "all three gradients", (-2.5, 0.25, 2.25), says=r"one number is expected")
value("score_gradient", "the unweighted difference of values", 0.5 * (1 - 13 / 3))
value("score_gradient", "weights squared", 0.25 * (2 - 7), named=("no_upstream",))
value("spot_gradient", "said in other words", "one mean for all rows")
value("spot_gradient", "a mistake of the text", "scale twice", says=r"not one of the words")
value("spot_gradient", "the axis", "wrong axis", named=("D_axis",))
