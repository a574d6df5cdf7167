"""The known mistakes in `additive_backward`, in the order of the search, and what is said to them."""

from attnexercises.engine.model import Mistake

ADDITIVE_BACKWARD = (
    Mistake(
        "no_rowsum", "dS = P dP",
        "Between weights and scores the row's weighted mean has to be taken from d_weights.", 1,
        sets="softmax",
    ),
    Mistake(
        "ds_is_dp", "dS = dP",
        "The gradient of the weights went on as that of the scores; the softmax between them is missing.", 1,
        sets="softmax",
    ),
    Mistake(
        "sigmoid", "dS = P (1 - P) dP",
        "Between weights and scores you used the sigmoid rule; a score moves the other weights of its row too.", 1,
        sets="softmax",
    ),
    Mistake(
        "forward_scaled", "softmax(match w / sqrt(d))",
        "In the forward pass you divided the scores by sqrt(d); these scores have no such scale.",
    ),
    Mistake(
        "scaled", "dS / sqrt(d)",
        "The gradient of the scores was divided by sqrt(d); these scores have no such scale.", 2,
        shows="factor",
    ),
    Mistake(
        "dot_product", "dQ = dS K, dK = dS^T Q",
        "d_query and d_key were made as for a dot product: here query and key are added.", 2,
        sets="tanh",
    ),
    Mistake(
        "no_w", "d_match = dS",
        "On the way to query and key each feature of the gradient still needs its factor in w.", 2,
    ),
    Mistake(
        "no_tanh", "d_sum = d_match",
        "On the way to query and key the gradient passed the tanh as if it were not there.", 2,
        sets="tanh",
    ),
    Mistake(
        "tanh_plain", "1 - t",
        "You took 1 - t for the slope of t = tanh(z); differentiate it again: at z = 0 both give 1, elsewhere "
        "not.", 3,
        sets="tanh",
    ),
    Mistake(
        "tanh_sigmoid", "t (1 - t)",
        "t (1 - t) is the slope of a logistic sigmoid; the slope of tanh is another one: at 0 it is 1.", 3,
        sets="tanh",
    ),
    Mistake(
        "tanh_unbent", "1 - z^2",
        "The slope of t = tanh(z) was written with z where t belongs: that slope is never negative.", 3,
        sets="tanh",
    ),
    Mistake(
        "mean", "means over keys and over queries",
        "You averaged over keys and over queries; a vector that is used in several scores gets the sum of their "
        "gradients.", 3,
    ),
    Mistake(
        "swap", "sums over the wrong axis",
        "d_query and d_key stand in each other's place: a query collects over the keys, a key over the queries.", 3,
    ),
    Mistake(
        "dw_weights", "d_w = sum of P match",
        "d_w: w receives the gradients of the scores, not the weights.", 1,
    ),
    Mistake(
        "dw_unbent", "d_w = sum of dS (query + key)",
        "d_w: in the forward pass w multiplies the tanh, not the sum inside it.", 1,
    ),
    Mistake(
        "dw_batch", "d_w with batch axes",
        "d_w keeps the leading axes: one w serves the whole batch, so its gradient sums over that, too.", 3,
    ),
    Mistake(
        "dv_no_T", "dV = P dO",
        "The weights must be transposed for d_value: a value collects from all queries that looked at it.", 1,
    ),
    Mistake(
        "no_max", "softmax without the maximum",
        "Large exponents overflow: the softmax has to measure each row against its maximum.",
        shows="lost",
    ),
    Mistake(
        "plus", "dS = P (dP + D)",
        "Between weights and scores the row's weighted mean was added; it has to be subtracted.", 1,
        sets="softmax",
    ),
    Mistake(
        "sign", "dS = P (D - dP)",
        "Between weights and scores the difference is turned round: the weighted mean is taken from "
        "d_weights.", 1,
        sets="softmax",
    ),
    Mistake(
        "no_bracket", "dS = P dP - D",
        "The weighted mean was taken off after the product; the weights have to multiply the whole "
        "difference.", 1,
        sets="softmax",
    ),
    Mistake(
        "no_outer", "dS = dP - D",
        "Between weights and scores the weight in front of the difference is missing.", 1,
        sets="softmax",
    ),
    Mistake(
        "D_plain", "D = rowsum(dP)",
        "The plain sum of d_weights was taken from each row; the sum has to be weighted by the weights.", 1,
        sets="softmax",
    ),
    Mistake(
        "mean_plain", "D = mean(dP)",
        "The plain mean of d_weights was taken from each row; the mean has to be weighted by the weights.", 1,
        sets="softmax",
    ),
    Mistake(
        "D_axis", "D = colsum(P dP)",
        "The weighted mean was taken over the queries; each row needs its own, over its keys: the last "
        "axis.", 1,
        sets="softmax",
    ),
    Mistake(
        "no_keepdims", "rowsum(P dP) without keepdims",
        "The row means lost their axis and met the columns. Keep that axis.", 1,
        sets="softmax",
    ),
    Mistake(
        "swapped", "dS = dP (P - D)",
        "Weights and d_weights have changed places: the latter stands in the difference, the weights in "
        "front of it.", 1,
        sets="softmax",
    ),
    Mistake(
        "tanh_twice", "1 - tanh(t)^2",
        "The tanh was applied once more in its slope: t is tanh(z) already.", 3,
        sets="tanh",
    ),
    Mistake(
        "tanh_plus", "1 + t^2",
        "The slope of t = tanh(z) has a sign in the middle, and here it is the wrong one: the slope falls "
        "as z moves away from 0.", 3,
        sets="tanh",
    ),
    Mistake(
        "tanh_itself", "t",
        "The tanh itself was taken for its slope.", 3,
        sets="tanh",
    ),
    Mistake(
        "tanh_root", "1 / cosh(z)",
        "The slope of tanh is one over the square of cosh(z), or written with t; here the square is "
        "missing.", 3,
        sets="tanh",
    ),
    Mistake(
        "as_product", "dQ = sum(d_sum K), dK = sum(d_sum Q)",
        "Behind the tanh, query and key were treated as factors; they are added there, and a sum hands its "
        "gradient on as it is.", 2,
    ),
    Mistake(
        "key_sign", "dK with a minus",
        "d_key has a minus in front, as if the key were subtracted; query and key are added.", 2,
    ),
    Mistake(
        "dw_slope", "d_w = sum of dS (1 - t^2)",
        "The slope of tanh went into d_w; w multiplies the tanh itself, behind it.", 1,
    ),
    Mistake(
        "forward_unbent", "softmax((query + key) w)",
        "The scores of the forward pass were formed without the tanh.",
    ),
    Mistake(
        "forward_axis_q", "weights = softmax over the queries",
        "The softmax of the forward pass ran over the queries; each query has to spread its weights over "
        "the keys.",
    ),
    Mistake(
        "no_upstream", "dO taken as ones",
        "You differentiated the sum of out: d_out is not used. The chain rule multiplies by it.",
    ),
)
