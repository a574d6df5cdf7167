"""The known mistakes in `sdpa`, in the order of the search, and what is said to them."""

from attnexercises.engine.model import Mistake

SDPA = (
    Mistake(
        "no_scale", "softmax(QK^T) V",
        "The scores are not scaled: divide the dot products by the root of d before the softmax.", 2,
        sets="scale",
    ),
    Mistake(
        "scale_d", "softmax(QK^T / d) V",
        "You divided by d, not by its root: d terms of variance 1 add up to a standard deviation of sqrt(d).", 2,
        sets="scale",
    ),
    Mistake(
        "scale_nk", "softmax(QK^T / sqrt(k)) V",
        "You scaled by the number of keys, a sequence length; what counts is the number of features d of a "
        "query.", 2,
        sets="scale",
    ),
    Mistake(
        "scale_times", "softmax(QK^T * sqrt(d)) V",
        "You multiplied the scores by the root of d; the factor is one over that root, it makes them smaller.", 2,
        sets="scale",
    ),
    Mistake(
        "scale_v", "softmax(QK^T / sqrt(v)) V",
        "You scaled by the number of features of a value; a score is a sum over the features d of query and "
        "key.", 2,
        sets="scale",
    ),
    Mistake(
        "scale_axis_1", "softmax(QK^T / sqrt(query.shape[1])) V",
        "You scaled by the size of axis 1, which is d without a batch only; the features d are always the last "
        "axis.", 2,
        sets="scale",
    ),
    Mistake(
        "scale_axis_0", "softmax(QK^T / sqrt(len(query))) V",
        "You scaled by the size of axis 0, the batch if there is one; the features d are always the last axis.", 2,
        sets="scale",
    ),
    Mistake(
        "scale_after", "(softmax(QK^T) / sqrt(d)) V",
        "You scaled after the softmax; scale the scores before it.", 2,
        shows="factor",
    ),
    Mistake(
        "axis_q", "softmax over axis -2 (queries)",
        "The softmax ran over the queries; each query has to spread 1 over the keys.", 2,
        sets="axis",
    ),
    Mistake(
        "axis_0", "softmax over axis 0",
        "The softmax ran over axis 0 and mixed batch elements (or queries, without a batch); it belongs on the "
        "last axis.", 2,
        sets="axis",
    ),
    Mistake(
        "no_softmax", "(QK^T / sqrt(d)) V",
        "There is no softmax: the raw scores serve as weights.", 2,
        sets="axis",
    ),
    Mistake(
        "no_transpose", "Q @ K",
        "The keys are not transposed. It runs only where k equals d, and then pairs features with positions.", 1,
        sets="turned",
    ),
    Mistake(
        "reshape_k", "K.reshape(..., d, k) for K^T",
        "Keys and features got mixed up: `reshape` reads the same numbers in another order; it does not "
        "transpose.", 1,
        sets="turned",
    ),
    Mistake(
        "T_all", "K.T on a batched array",
        "`.T` reverses all axes, the batch included; exchange just the last two.", 1,
        sets="turned",
    ),
    Mistake(
        "roles_swapped", "softmax(KQ^T / sqrt(d)) V",
        "Key and query have changed places in the product: the scores need a row for each query.", 1,
    ),
    Mistake(
        "p_T", "P^T V",
        "The weights were transposed before they met the values, so your outputs are sorted by key, not by query.",
        3,
    ),
    Mistake("values_k", "P K", "You averaged the keys; the weights are there to average the values.", 3),
    Mistake("return_p", "P", "You returned the attention weights; use them to average the values.", 3),
    Mistake(
        "first_batch_k", "K[0] for every batch element",
        "All batch elements were compared with the keys of the first.", 1,
        shows="one_element",
    ),
    Mistake(
        "no_max", "exp(S) / exp(S).sum(-1) without the maximum",
        "Large exponents overflow: the softmax has to measure each row against its maximum.", 2,
        shows="lost",
    ),
    Mistake(
        "axis_1", "softmax over axis 1",
        "The softmax ran over axis 1, the keys without a batch only; the keys are always the last axis.", 2,
        sets="axis",
    ),
    Mistake(
        "axis_both", "softmax over queries and keys together",
        "One softmax ran over all scores of a batch element; each query has to spread its own weights over "
        "the keys.", 2,
        sets="axis",
    ),
    Mistake(
        "axis_all", "softmax over everything",
        "One softmax ran over all scores, the batch included; each query has to spread its own weights over "
        "the keys.", 2,
        sets="axis",
    ),
    Mistake(
        "sum_no_keepdims", "exp(S) / exp(S).sum(-1) without keepdims",
        "The sums of the rows lost their axis and met the columns: with `keepdims=True` each stays beside "
        "its own row.", 2,
    ),
    Mistake(
        "max_axis_q", "subtract the maximum over the queries",
        "The maximum was taken over the queries: that shifts each key by another number; one shift belongs "
        "to each row.", 2,
    ),
    Mistake(
        "not_normalised", "exp(QK^T / sqrt(d)) V",
        "The exponentials met the values as they are; each row of them has to be divided by its sum first.", 2,
        sets="weights",
    ),
    Mistake(
        "softmax_twice", "softmax(softmax(S)) V",
        "The softmax was applied twice: the weights went through it as if they were scores.", 2,
        sets="weights",
    ),
    Mistake(
        "log_weights", "log(softmax(S)) V",
        "The logarithms of the weights met the values; the weights themselves form the average.", 2,
        sets="weights",
    ),
    Mistake(
        "sigmoid", "sigmoid(S) V",
        "Each score went through a logistic function by itself; the keys of a query have to share one "
        "softmax.", 2,
        sets="weights",
    ),
    Mistake(
        "hardmax", "the value of the best key",
        "You picked the best key; the softmax gives each key a share.", 2,
        sets="weights",
    ),
    Mistake(
        "negative", "softmax(-S) V",
        "The scores have the wrong sign: the key that fits best has to get most.", 2,
        sets="scores",
    ),
    Mistake(
        "cosine", "softmax of cosines",
        "Queries and keys were brought to length one: these scores are cosines, not scaled dot products.", 2,
        sets="scores",
    ),
    Mistake(
        "causal", "softmax(S + mask) V",
        "Each query was kept from the keys behind it; no mask is asked for yet, every query sees every key.", 2,
    ),
)
