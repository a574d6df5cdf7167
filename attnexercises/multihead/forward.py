"""The exercise on the forward pass of all heads, and a wrong one for `multihead_spot`."""

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe
from attnexercises.multihead.heads import columns, layer, one_head


def _mha_oracle(x, query_weight, key_weight, value_weight, out_weight, heads):
    out = np.zeros((*x.shape[:-1], out_weight.shape[1]))
    for b in range(len(x)):
        for head in range(heads):
            inputs = (x[b] @ columns(weight, head, heads) for weight in (query_weight, key_weight, value_weight))
            out[b] += one_head(*inputs)[0] @ columns(out_weight.T, head, heads).T
    return out


def mha(x, query_weight, key_weight, value_weight, out_weight, heads):
    b, n, _ = x.shape

    def split(y):
        return y.reshape(b, n, heads, y.shape[-1] // heads).transpose(0, 2, 1, 3)

    query, key, value = split(x @ query_weight), split(x @ key_weight), split(x @ value_weight)
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    attended = weights @ value
    merged = attended.transpose(0, 2, 1, 3).reshape(b, n, len(out_weight))
    return merged @ out_weight


_MISTAKES = (
    Mistake("split_no_transpose",
        "reshape(b, n, heads, y.shape[-1] // heads).transpose(0, 2, 1, 3) -> reshape(b, heads, n, y.shape[-1] // heads)",
        "A reshape straight to (b, h, n, d) cuts the sequence into pieces. Split the features first, then exchange two axes.", 2,
        sets="split"),
    Mistake("split_interleaved",
        "reshape(b, n, heads, y.shape[-1] // heads).transpose(0, 2, 1, 3) -> reshape(b, n, y.shape[-1] // heads, "
        "heads).transpose(0, 3, 1, 2)",
        "Each of your heads takes every h-th feature. A head owns a block of neighbours, so in the reshape h goes before d.", 2,
        sets="split"),
    Mistake("merge_no_transpose", "attended.transpose(0, 2, 1, 3) -> attended",
        "The heads were merged without exchanging the axes back, so heads and positions are mixed up before the out weight.", 3,
        sets="merge"),
    Mistake("merge_interleaved", "attended.transpose(0, 2, 1, 3) -> attended.transpose(0, 2, 3, 1)",
        "The heads were merged with h as the last axis. The features of one head have to stay neighbours, so h goes before v.", 3,
        sets="merge"),
    Mistake("heads_mean", "attended.transpose(0, 2, 1, 3).reshape(b, n, len(out_weight)) -> np.tile(attended.mean(axis=1), heads)",
        "The heads were averaged. Put them side by side, so that the out weight can mix them.", 3, sets="merge"),
    Mistake("scale_model", "query.shape -> x.shape",
        "You scaled by the width of a token. The dot product of one head has only d terms.", 1, sets="scale"),
    Mistake("scale_all_heads", "np.sqrt(query.shape[-1]) -> np.sqrt(heads * query.shape[-1])",
        "You scaled by the width of all heads together. The dot product of one head has only d terms.", 1, sets="scale"),
    Mistake("no_scale", "/ np.sqrt(query.shape[-1]) ->",
        "The scores are not scaled: divide them by the root of d in each head.", 1, sets="scale"),
    Mistake("no_Wo", "merged @ out_weight -> merged", "The out weight is missing: it has to mix the heads.", 3),
    Mistake("W_T",
        "heads): -> heads):\n"
        "    query_weight, key_weight, value_weight, out_weight = query_weight.T, key_weight.T, value_weight.T, out_weight.T",
        "All weights are used transposed, as PyTorch stores them. Here a projection is x times weight.", 1),
    Mistake("one_head", "query, key, value = -> heads = 1\nquery, key, value =",
        "The features were not split, so there is one single head of full width.", 2, sets="heads"),
    Mistake("softmax_heads", "axis=-1 -> axis=1",
        "The softmax runs over the heads; every head needs its own, along the keys, the last axis.", 1, sets="axis"),
    Mistake("softmax_queries", "axis=-1 -> axis=-2",
        "The softmax runs over the queries; each row, along the keys, has to sum to 1.", 1, sets="axis"),
    Mistake("no_max", "scores - scores.max(axis=-1, keepdims=True) -> scores",
        "Large exponents overflow: the softmax has to measure each row against its maximum.", 1, shows="lost"),
    Mistake("scale_heads", "np.sqrt(query.shape[-1]) -> np.sqrt(heads)",
        "You scaled by the root of the number of heads. It has to be the root of d, the width of one head.", 1, sets="scale"),
    Mistake("scale_v", "query.shape -> value.shape",
        "You scaled by the width of the values; a score is a dot product of d terms.", 1, sets="scale"),
    Mistake("scale_times", "/ np.sqrt(query.shape[-1]) -> * np.sqrt(query.shape[-1])",
        "The scores were multiplied by the root of d. Divide by it.", 1, sets="scale"),
    Mistake("scale_d", "np.sqrt(query.shape[-1]) -> query.shape[-1]",
        "The scores were divided by d in all: either by d itself, or twice by its root.", 1, sets="scale"),
    Mistake("scale_after",
        ("/ np.sqrt(query.shape[-1]) ->",
         "exponentials / exponentials.sum(axis=-1, keepdims=True) -> exponentials / exponentials.sum(axis=-1, keepdims=True) / "
         "np.sqrt(query.shape[-1])"),
        "The weights were divided by the root of d. Divide the scores by it, before the softmax.", 1, sets="scale"),
    Mistake("max_global", "scores.max(axis=-1, keepdims=True) -> scores.max()",
        "Several rows share one maximum, so a row that lies far below it underflows to 0. Each row needs its own maximum.", 1,
        shows="lost"),
    Mistake("weights_T", "weights @ -> weights.mT @",
        "The weights were transposed before they met the values. A row of weights belongs to a query.", 1),
    Mistake("swap", "x @ query_weight), split(x @ key_weight) -> x @ key_weight), split(x @ query_weight)",
        "Query and key are exchanged. The query weight makes the queries, and each query has a row of scores.", 1),
    Mistake("within_tokens", ".transpose(0, 2, 1, 3) ->",
        "Inside each token the heads look at one another. Each head should look at all tokens, so exchange the axes n and h.", 2,
        sets="split merge"),
    Mistake("across_batch",
        ("b, n, _ = x.shape -> shape = x.shape\nx = x.reshape(1, -1, shape[-1])\nb, n, _ = x.shape",
         "reshape(b, n, len -> reshape(*shape[:2], len"),
        "Tokens also look at tokens of other batch elements. Keep the axis of the batch.", 1),
    Mistake("causal",
        "exponentials = -> scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)\nexponentials =",
        "There is a causal mask, and none was asked for. Every token looks at all tokens.", 1),
    Mistake("residual", "return merged @ out_weight -> return x + merged @ out_weight",
        "You added x at the end, as a residual connection does. The layer itself returns only what the heads found.", 3),
    Mistake("softmax_all", "axis=-1, keepdims=True)) weights = exponentials / exponentials.sum(axis=-1 -> axis=(-2, -1), keepdims=True))\nweights = exponentials / exponentials.sum(axis=(-2, -1)",
        "One softmax ran over all scores of a head. Each query needs a softmax of its own over the keys.", 2),
    Mistake("scale_m_share", "np.sqrt(query.shape[-1]) -> np.sqrt(x.shape[-1] / heads)",
        "You scaled by the root of m / h. The width d of a head is that of its queries, and need not be m / h.", 2),
    Mistake("first_rows", "return merged @ out_weight -> return (attended @ out_weight[: attended.shape[-1]]).sum(axis=1)",
        "Every head was multiplied by the first rows of the out weight. Each head has rows of its own there.", 3),
    Mistake("uniform", "weights = exponentials / exponentials.sum(axis=-1, keepdims=True) -> weights = 0 * scores + 1 / n",
        "Every key gets the same weight. The scores have to decide how much each of them counts.", 2),
    Mistake("heads_added", "attended.transpose(0, 2, 1, 3).reshape(b, n, len(out_weight)) -> np.tile(attended.sum(axis=1), heads)",
        "The heads were added. Put them side by side, so that the out weight can mix them.", 3, sets="merge"),
    Mistake("heads_reversed", "attended.transpose -> attended[:, ::-1].transpose",
        "The heads are in the opposite order. The first head comes first, as its rows in the out weight do.", 3, sets="merge"),
    Mistake("first_values", "weights @ value -> weights @ value[:, :1]",
        "Every head reads the values of the first head. Each head has values of its own.", 1, sets="heads"),
    Mistake("last_head", "merged = -> attended[:, :-1] = 0\nmerged =",
        "Only the last head is left. Each head has to add its part to the output.", 3, sets="merge"),
    Mistake("one_head_early", "merged = -> attended[:, -1] = 0\nmerged =",
        "The last head is missing. A loop over the heads has to go through all of them.", 2, sets="merge heads"),
    Mistake("one_head_late", "merged = -> attended[:, 0] = 0\nmerged =",
        "The first head is missing. A loop over the heads starts with head 0.", 2, sets="merge heads"),
)

_MHA = Exercise(
    title="All heads at once", level="medium", minutes=20, blanks=6, oracle=_mha_oracle, solution=mha,
    probes=(
        Probe("all sizes differ", layer(b=2, n=5, m=19, heads=3, d=4, v=7)),
        Probe("m = h·d", layer(b=2, n=5, m=12, heads=3, d=4), "equal", "all weights are square here"),
        Probe("n = d = v", layer(b=2, n=4, m=8, heads=2, d=4), "equal", "a wrong split has the right shape here"),
        Probe("one head", layer(b=2, n=5, m=6, heads=1, d=6), "edge", "mistakes in splitting do not show here"),
        Probe("heads of one feature", layer(b=2, n=3, m=4, heads=4, d=1), "equal", "as many heads as features"),
        Probe("large scores", layer(b=2, n=5, m=12, heads=3, d=4, large=True), "edge"),
        Probe("one token", layer(b=1, n=1, m=5, heads=2, d=3, v=1), "edge", "axes of size 1 stay"),
        Probe("one output feature", layer(b=2, n=3, m=1, heads=2, d=5, v=2), "edge", "tokens of one feature"),
    ),
    mistakes=_MISTAKES,
    hints=(
        "Project first, with the whole weights. Once the arrays are (b, h, n, d), use the attention of chapter 2. It works on the "
        "last two axes, whatever axes stand in front.",
        "To split, cut the last axis into two, (b, n, h, d). The heads are the first of the two, because a head owns neighbouring "
        "features. Then exchange the axes n and h.",
        "To merge, go the same way back: exchange the axes h and n, then join the last two axes. The last step is a product with "
        "`out_weight`.",
    ),
    why="To split is to reshape and then to exchange two axes, and to merge is to undo both steps in reverse order. Between them "
    "are the three lines of attention, unchanged, because head and batch are leading axes.",
    insight="The loop over heads is gone: three large products replace 3 h small ones.",
)  # fmt: skip


# spot_multihead: the reader sees what `suspect` makes of four tokens when the weights do nothing

suspect = _MHA.family(frozenset({"merge_no_transpose"}))
