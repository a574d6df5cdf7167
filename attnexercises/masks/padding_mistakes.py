"""The known mistakes in `padded_causal_attention`, in the order of the search, and what is said to them."""

from attnexercises.engine.model import Mistake

PADDED_CAUSAL_ATTENTION = (
    Mistake(
        "query_axis", "real[:, :, None]",
        "`real` stands on the axis of the queries; it is keys that have to be hidden.", 1,
        sets="real",
    ),
    Mistake(
        "no_query_axis", "real as (queries, keys)",
        "`real`, (b, n), was broadcast as (queries, keys): its first axis is the batch, so an axis is missing "
        "between.", 1,
        sets="real",
    ),
    Mistake(
        "or", "causal | real",
        "The two masks were joined with OR; a key has to pass both.", 2,
        sets="keep",
    ),
    Mistake(
        "only_causal", "padding ignored",
        "Only the causal mask is active; padding has to be hidden as well.", 2,
        sets="keep real",
    ),
    Mistake(
        "only_pad", "causality ignored",
        "Only the padding mask is active; a query must not see its future either.", 2,
        sets="keep",
    ),
    Mistake(
        "mask_v", "values of padding = 0",
        "You set values to zero, but their keys still take their share of the weights; it is the scores that need "
        "the mask.", 2,
        sets="keep real",
    ),
    Mistake(
        "nan_rows", "no care for empty rows",
        "A query that sees no key meets -inf minus -inf; it should return zeros.", 3,
        shows="lost",
    ),
    Mistake(
        "inverted", "True = padding",
        "The padding mask is turned round: True means a real token.", 1,
    ),
    Mistake(
        "strict", "k < q",
        "The causal mask lacks its diagonal; a token may look at itself.", 2,
    ),
    Mistake(
        "triu", "k >= q",
        "The causal mask is turned round: it has to show the past, not the future.", 2,
    ),
    Mistake(
        "both_axes", "padding hidden on both axes",
        "The padding mask stands on the queries, too; a padding query that sees a real token returns an output "
        "like any other.", 1,
    ),
    Mistake(
        "no_scale", "softmax(QK^T)",
        "The scores are not divided by the root of d.", 2,
        sets="scale",
    ),
    Mistake(
        "scale_d", "softmax(QK^T / d)",
        "The scores are divided by d, not by its root.", 2,
        sets="scale",
    ),
    Mistake(
        "scale_n", "softmax(QK^T / sqrt(n))",
        "The scores are scaled by the length n, where the number of features d belongs.", 2,
        sets="scale",
    ),
    Mistake(
        "minus_1e9", "hidden scores = -1e9",
        "Hidden scores are finite, far below the others; a query that sees nothing then looks at forbidden keys.", 3,
        sets="hide",
    ),
    Mistake(
        "empty_even", "1 / n for empty rows",
        "A query that sees nothing but padding shares itself evenly among forbidden keys; it should return zeros.", 3,
        sets="empty",
    ),
    Mistake(
        "after_no_renorm", "softmax(s) * keep",
        "Keys were hidden after the softmax, and took their share of the sum with them; hide them before it.", 2,
        sets="hide",
    ),
    Mistake(
        "after_renorm", "softmax(s) * keep / sum",
        "Keys were hidden after the softmax: one with a huge score has wiped out the visible ones by then.", 2,
        sets="hide",
    ),
    Mistake(
        "times_zero", "softmax(s * keep)",
        "A score of 0 does not hide a key: the exponential of 0 is 1, and the key still gets a weight.", 2,
        sets="hide",
    ),
    Mistake(
        "keys_zero", "keys of padding = 0",
        "Keys of padding were set to zero: their scores are then 0, and the exponential of 0 is 1.", 2,
        sets="keep real",
    ),
    Mistake(
        "first_sentence", "real[0] for all",
        "All sentences were padded as the first one is; each has a row of its own in `real`.", 1,
        shows="one_element", sets="real",
    ),
    Mistake(
        "as_if_right", "the first real.sum() keys",
        "You counted the real tokens and took that many from the start; padding may stand anywhere.", 1,
        sets="real",
    ),
    Mistake(
        "looks_at_itself", "diagonal always allowed",
        "A padding token looks at itself; a query that sees no real token should return zeros.", 3,
        sets="empty",
    ),
    Mistake(
        "softmax_queries", "softmax along the queries",
        "The softmax runs along the queries; it is the keys that share a query's weight.", 2,
    ),
    Mistake(
        "scale_v", "softmax(QK^T / sqrt(v))",
        "The scores are scaled by the width v of the values, where that of queries and keys, d, belongs.", 2,
        sets="scale",
    ),
)
