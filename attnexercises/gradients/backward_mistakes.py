"""The known mistakes in `sdpa_backward`, in the order of the search, and what is said to them."""

from attnexercises.engine.model import Mistake

SDPA_BACKWARD = (
    Mistake(
        "ds_no_rowsum", "dS = P dP",
        "dS misses the row's weighted mean, which is taken from dP first.", 2,
        sets="softmax",
    ),
    Mistake(
        "ds_is_dp", "dS = dP",
        "The gradient passed the softmax unchanged, as if weights were scores; its Jacobian has to be applied.", 2,
        sets="softmax",
    ),
    Mistake(
        "sigmoid", "dS = P (1 - P) dP",
        "You used the sigmoid rule, the diagonal of the Jacobian: a score moves the other weights of its row "
        "too.", 2,
        sets="softmax",
    ),
    Mistake(
        "D_plain", "D = rowsum(dP)",
        "The number taken from each row is the sum of dP; it has to be the sum weighted by the weights.", 2,
        sets="softmax",
    ),
    Mistake(
        "mean_plain", "D = mean(dP)",
        "The plain mean of dP was taken from each row; the mean has to be weighted by the weights.", 2,
        sets="softmax",
    ),
    Mistake(
        "no_outer", "dS = dP - D",
        "dS is how far dP lies from the row's mean, times the weight; that last factor is missing.", 2,
    ),
    Mistake(
        "mean_product", "D = mean(P dP)",
        "The products P dP were averaged along the row; the weights already do the averaging, so they are "
        "summed.", 2,
        sets="softmax",
    ),
    Mistake(
        "D_axis", "D = colsum(P dP)",
        "The weighted mean was taken over the queries; each row needs its own, over its keys: the last axis.", 2,
        sets="softmax",
    ),
    Mistake(
        "no_keepdims", "rowsum(P dP) without keepdims",
        "The row means lost their axis and met the columns: each row got the means of other rows. Keep that "
        "axis.", 2,
        sets="softmax",
    ),
    Mistake(
        "forward_unscaled", "weights = softmax(Q K^T)",
        "The weights are recomputed from scores without their scale: divide by the root of d before the "
        "softmax.", 1,
    ),
    Mistake(
        "no_scale", "dQ = dS K, dK = dS^T Q",
        "The scale is missing in front of d_query and d_key: it multiplies gradients as well.", 3,
        shows="factor", sets="scale",
    ),
    Mistake(
        "no_scale_dk", "the scale is missing in dK only",
        "The scale stands in front of d_query, but not of d_key; it belongs to both.", 3,
        shows="factor", sets="scale",
    ),
    Mistake(
        "scale_twice", "the scale is applied twice",
        "Was the scale applied once in dS and once more at the end? Once is enough.", 3,
        shows="factor", sets="scale",
    ),
    Mistake(
        "dv_no_T", "dV = P dO",
        "The weights must be transposed for d_value: a value collects from all queries that looked at it.", 1,
    ),
    Mistake(
        "dk_no_T", "dK = dS Q",
        "d_key needs dS transposed: its rows belong to keys, and keys are the columns of dS.", 3,
    ),
    Mistake(
        "swap", "(dK, dQ, dV)",
        "d_query and d_key are returned in each other's place.",
    ),
    Mistake(
        "batch_sum", "gradients summed over the batch",
        "You summed over the batch. Each batch element has its own query, key and value; "
        "only shared weights add up.",
        1,
    ),
    Mistake(
        "no_max", "softmax without the maximum",
        "Large exponents overflow: the softmax has to measure each row against its maximum.",
        shows="lost",
    ),
    Mistake(
        "plus", "dS = P (dP + D)",
        "The row's weighted mean was added to dP; it has to be taken from it.", 2,
        sets="softmax",
    ),
    Mistake(
        "sign", "dS = P (D - dP)",
        "In dS the weighted mean comes first and dP is taken from it; it is the other way round.", 2,
        sets="softmax",
    ),
    Mistake(
        "no_bracket", "dS = P dP - D",
        "The weighted mean was taken off after the product; the weights have to multiply the whole "
        "difference.", 2,
        sets="softmax",
    ),
    Mistake(
        "product_reused", "dS = P (P dP - D)",
        "The product P dP is for the sum only; in the difference stands dP by itself.", 2,
        sets="softmax",
    ),
    Mistake(
        "swapped", "dS = dP (P - D)",
        "Weights and dP have changed places in dS: dP stands in the difference, the weights in front of it.", 2,
        sets="softmax",
    ),
    Mistake(
        "log_softmax", "dS = dP - P rowsum(dP)",
        "This step is the gradient of log-softmax; the forward pass uses the weights themselves, not their "
        "logarithms.", 2,
        sets="softmax",
    ),
    Mistake(
        "D_all", "D = sum(P dP) over everything",
        "One number was taken from all rows: each row needs a weighted mean of its own, over its keys.", 2,
        sets="softmax",
    ),
    Mistake(
        "no_scale_dq", "the scale is missing in dQ only",
        "The scale stands in front of d_query as well: both query and key are multiplied by it in the "
        "scores.", 3,
        sets="scale",
    ),
    Mistake(
        "scale_twice_dk", "the scale is applied twice in dK",
        "The scale went into d_key twice: if the query was scaled first, dS holds it no more.", 3,
        sets="scale",
    ),
    Mistake(
        "scale_d", "1 / d in both passes",
        "d itself divides here, in both passes; the scores are divided by its root.", 1,
    ),
    Mistake(
        "own_arrays", "dQ = dS Q, dK = dS^T K",
        "The two products got each other's array: a query receives from the keys, a key from the queries.", 3,
    ),
    Mistake(
        "dv_from_scores", "dV = dS^T dO",
        "d_value was formed with dS (or with weights that had been overwritten by it); the values were "
        "averaged by the weights.", 1,
    ),
    Mistake(
        "no_upstream", "dO taken as ones",
        "You differentiated the sum of out: d_out is not used. The chain rule multiplies by it.", 1,
    ),
    Mistake(
        "last_query", "dK and dV of the last query alone",
        "Only the last query counts in d_key and d_value: in a loop over queries, add each one's part to "
        "what is there.", 3,
    ),
    Mistake(
        "forward_axis_q", "weights = softmax over the queries",
        "The softmax of the forward pass ran over the queries; each query has to spread its weights over "
        "the keys.", 1,
    ),
    Mistake(
        "causal", "weights = softmax(S + mask)",
        "Each query was kept from the keys behind it; no mask is asked for, every query sees every key.", 1,
    ),
    Mistake(
        "ce_shortcut", "dS = P - dP",
        "Weights minus target is the gradient of softmax together with cross-entropy; dP is a gradient, not "
        "a target.", 2,
        sets="softmax",
    ),
)
