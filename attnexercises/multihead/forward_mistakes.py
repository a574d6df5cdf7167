"""The known mistakes in `mha`, in the order of the search, and what is said to them."""

from attnexercises.engine.model import Mistake

MHA = (
    Mistake(
        "split_no_transpose", "x.reshape(b, h, n, d)",
        "Reshaped straight to (b, h, n, d), the sequence is cut into pieces: split the features, then exchange "
        "two axes.", 2,
        sets="split",
    ),
    Mistake(
        "split_interleaved", "x.reshape(b, n, d, h)",
        "Each of your heads takes every h-th feature; a head owns a block of neighbours, so in the reshape h goes "
        "before d.", 2,
        sets="split",
    ),
    Mistake(
        "merge_no_transpose", "o.reshape(b, n, h·v) from (b, h, n, v)",
        "Merged without exchanging the axes back: heads and positions are mixed up in the last step before the "
        "out weight.", 3,
        sets="merge",
    ),
    Mistake(
        "merge_interleaved", "o.transpose(0, 2, 3, 1), then flattened",
        "Merged with the heads last: the features of one head have to stay neighbours, so h goes before v.", 3,
        sets="merge",
    ),
    Mistake(
        "heads_mean", "heads averaged, not side by side",
        "The heads were averaged; put them side by side, so that the out weight can mix them.", 3,
        sets="merge",
    ),
    Mistake(
        "scale_model", "divide by sqrt(m)",
        "You scaled by the width of a token; the dot product of one head has d terms, fewer than that.", 1,
        sets="scale",
    ),
    Mistake(
        "scale_all_heads", "divide by sqrt(h d)",
        "You scaled by the width of all heads together; the dot product of one head has d terms.", 1,
        sets="scale",
    ),
    Mistake(
        "no_scale", "softmax(Q K^T)",
        "The scores are not scaled: divide them by the root of d in each head.", 1,
        sets="scale",
    ),
    Mistake(
        "no_Wo", "no out_weight",
        "The out weight is missing: it has to mix the heads.", 3,
    ),
    Mistake(
        "W_T", "x @ W.T for all four",
        "All weights are used transposed, as PyTorch stores them; here a projection is x times weight.", 1,
    ),
    Mistake(
        "one_head", "h ignored",
        "The features were not split: there is one single head of full width.", 2,
        sets="heads",
    ),
    Mistake(
        "softmax_heads", "softmax over the heads",
        "The softmax runs over the heads; every head needs its own, along the keys, the last axis.", 1,
        sets="axis",
    ),
    Mistake(
        "softmax_queries", "softmax over the queries",
        "The softmax runs over the queries; each row, along the keys, has to sum to 1.", 1,
        sets="axis",
    ),
    Mistake(
        "no_max", "exp without the maximum",
        "Large exponents overflow: the softmax has to measure each row against its maximum.", 1,
        shows="lost",
    ),
    Mistake(
        "scale_heads", "divide by sqrt(h)",
        "You scaled by the root of the number of heads; what belongs there is the root of d, the width "
        "of one head.", 1,
        sets="scale",
    ),
    Mistake(
        "scale_v", "divide by sqrt(v)",
        "You scaled by the width of the values; a score is a dot product of d terms.", 1,
        sets="scale",
    ),
    Mistake(
        "scale_d", "divide by d",
        "In all, the scores were divided by d and not by its root: by d itself, or by the root twice.", 1,
        sets="scale",
    ),
    Mistake(
        "scale_after", "softmax(Q K^T) / sqrt(d)",
        "The weights were divided by the root of d; it is the scores, before the softmax, that have to be.", 1,
        sets="scale",
    ),
    Mistake(
        "max_global", "one maximum for the whole array",
        "One maximum serves several rows: one that lies far below it underflows to 0. Each row needs "
        "its own.", 1,
        shows="lost",
    ),
    Mistake(
        "weights_T", "P^T V",
        "The weights meet the values turned round: a row of weights belongs to a query.", 1,
    ),
    Mistake(
        "swap", "Q from W^K, K from W^Q",
        "Query and key changed places: the query weight makes the queries, whose index is that of a row.", 1,
    ),
    Mistake(
        "within_tokens", "no exchange of n and h at all",
        "In each token its heads look at one another; each head should look at all tokens: exchange the "
        "axes n and h.", 2,
    ),
    Mistake(
        "across_batch", "b and n flattened",
        "Tokens look at those of other batch elements as well: keep the axis of the batch.", 1,
    ),
    Mistake(
        "causal", "keys after the query hidden",
        "A causal mask is in it, and none is asked for: every token looks at all tokens.", 1,
    ),
    Mistake(
        "heads_added", "heads added, not side by side",
        "The heads were added; put them side by side, so that the out weight can mix them.", 3,
        sets="merge",
    ),
    Mistake(
        "heads_reversed", "the last head first",
        "The heads stand in the opposite order: the first head comes first, as its rows in the out weight do.", 3,
        sets="merge",
    ),
    Mistake(
        "last_head", "out = ..., in a loop over heads",
        "Only the last head is left: each head adds its part to the output.", 3,
        sets="merge",
    ),
    Mistake(
        "one_head_early", "range(h - 1)",
        "The last head is missing: a loop over the heads has to go through all of them.", 2,
        sets="merge heads",
    ),
    Mistake(
        "one_head_late", "range(1, h)",
        "The first head is missing: a loop over the heads starts with head 0.", 2,
        sets="merge heads",
    ),
)
