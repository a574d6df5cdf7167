"""The known mistakes in `mha_backward`, in the order of the search, and what is said to them."""

from attnexercises.engine.model import Mistake

MHA_BACKWARD = (
    Mistake(
        "dW_keep_batch", "dW without summing over b",
        "Your weight gradients have the batch axis: a weight is shared by all batch elements, so their shares add "
        "up.", 1,
        sets="batch",
    ),
    Mistake(
        "dW_mean", "mean over the batch",
        "The weight gradients are means over the batch: those of a shared weight add up; averaging belongs into "
        "the loss.", 1,
        shows="factor", sets="batch",
    ),
    Mistake(
        "dW_last", "only the last batch element",
        "The weight gradients hold the share of the last batch element only: add up all of them.", 1,
        sets="batch",
    ),
    Mistake(
        "dW_T", "dy^T x",
        "The weight gradients were transposed: a gradient has the shape of its weight.", 1,
    ),
    Mistake(
        "dx_q_only", "d_x from the queries only",
        "x feeds queries, keys and values, so d_x has three parts; yours is the part of the queries.", 3,
        sets="dx",
    ),
    Mistake(
        "dx_overwritten", "d_x from the values only",
        "d_x holds the part of the values only: the three parts were assigned one over another; add them.", 3,
        sets="dx",
    ),
    Mistake(
        "dx_no_q", "d_x from keys and values",
        "d_x misses the part that came through the queries: x feeds queries, keys and values.", 3,
    ),
    Mistake(
        "dx_no_k", "d_x from queries and values",
        "d_x misses the part that came through the keys: x feeds queries, keys and values.", 3,
    ),
    Mistake(
        "dx_no_v", "d_x from queries and keys",
        "d_x misses the part that came through the values: x feeds queries, keys and values.", 3,
    ),
    Mistake(
        "no_WoT", "d_out @ out_weight",
        "On its way back, the gradient has to meet the out weight transposed.", 2,
    ),
    Mistake(
        "dWo_uses_x", "x^T d_out",
        "d_out_weight pairs d_out with x; what enters the out weight is the merged heads.", 2,
    ),
    Mistake(
        "split_no_transpose", "d_merged.reshape(b, h, n, v)",
        "The gradient of the merged heads was split by a reshape alone; it needs the same two steps as the forward.", 2,
    ),
    Mistake(
        "merge_no_transpose", "d_query.reshape(b, n, h·d)",
        "The heads' gradients were merged by a reshape alone; the axes have to be exchanged back before.", 3,
    ),
    Mistake(
        "ds_no_rowsum", "dS = P dP",
        "The scores' gradient misses the weighted mean of each row.", 2,
        sets="mean",
    ),
    Mistake(
        "mean_plain", "D = mean(dP)",
        "The plain mean of dP was taken from each row; the mean has to be weighted by the weights.", 2,
        sets="mean",
    ),
    Mistake(
        "no_scale", "scale missing in d_query and d_key",
        "The scale is missing in the gradients of query and key: it multiplies gradients as well.", 2,
        shows="factor",
    ),
    Mistake(
        "swap", "dW^K returned as dW^Q",
        "The query weight and the key weight have each other's gradient.",
    ),
    Mistake(
        "no_max", "softmax without the maximum",
        "Large exponents overflow: the softmax has to measure each row against its maximum.",
        shows="lost",
    ),
    Mistake(
        "sigmoid", "dS = P (1 - P) dP",
        "For the softmax you used the sigmoid rule: a score also moves the other weights of its row.", 2,
        sets="mean",
    ),
    Mistake(
        "sign", "dS = - P (dP - D)",
        "The gradient of the scores has the wrong sign: the row's mean is taken off d_weights, not the "
        "other way round.", 2,
        shows="minus",
    ),
    Mistake(
        "plus", "dS = P (dP + D)",
        "The row's mean was added to d_weights, not taken off.", 2,
        sets="mean",
    ),
    Mistake(
        "paren", "dS = P dP - D",
        "The row's mean was taken off after the weights were applied; it belongs to d_weights.", 2,
        sets="mean",
    ),
    Mistake(
        "ds_is_dp", "dS = dP",
        "The gradient of the weights went on as that of the scores: the softmax between them is missing.", 2,
        sets="mean",
    ),
    Mistake(
        "sum_plain", "D = sum(dP)",
        "From each row of d_weights its plain sum was taken off; what belongs there is the mean weighted "
        "by the weights.", 2,
        sets="mean",
    ),
    Mistake(
        "mean_queries", "D = sum(P dP) over the queries",
        "The weighted mean of d_weights was taken along the queries; a softmax ties the keys of one query.", 2,
        sets="mean",
    ),
    Mistake(
        "scale_twice", "dQ, dK times 1 / d",
        "On the way back the scale was applied twice: once is enough for each of query and key.", 2,
        shows="factor", sets="back",
    ),
    Mistake(
        "no_scale_dk", "scale missing in d_key",
        "On the way back the gradient of the keys misses the scale, which stands in front of both.", 2,
        sets="back",
    ),
    Mistake(
        "scores_no_scale", "S = Q K^T",
        "The scores are not scaled when the weights are computed; the scale belongs into both passes.", 2,
        sets="forth",
    ),
    Mistake(
        "scale_model", "1 / sqrt(m)",
        "You scaled by the width of a token; the dot product of one head has d terms.", 2,
        sets="back forth",
    ),
    Mistake(
        "dk_no_T", "dK = dS Q",
        "For the keys the gradient of the scores has to be turned round: its columns belong to keys.", 2,
    ),
    Mistake(
        "dv_no_T", "dV = P dO",
        "For the values the weights have to be turned round: a value gathers from all queries that look "
        "at it.", 2,
    ),
    Mistake(
        "merge_interleaved", "features before heads",
        "The heads' gradients were merged with the heads last; those of one head have to stay neighbours.", 3,
        sets="merge",
    ),
    Mistake(
        "dW_mean_all", "mean over batch and positions",
        "You averaged over batch and positions; every use of a shared weight adds its share to the gradient.", 1,
        shows="factor", sets="batch",
    ),
    Mistake(
        "dW_first", "only the first batch element",
        "The weight gradients hold the share of the first batch element only: add up all of them.", 1,
        sets="batch",
    ),
    Mistake(
        "dx_k_only", "d_x from the keys only",
        "x feeds queries, keys and values, so d_x has three parts; yours is the part of the keys.", 3,
        sets="dx",
    ),
    Mistake(
        "softmax_heads", "softmax over the heads",
        "The softmax runs over the heads; every head needs its own, along the keys.", 2,
    ),
)
