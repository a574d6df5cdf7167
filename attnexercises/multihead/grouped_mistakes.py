"""The known mistakes in `gqa` and `gqa_backward`, in the order of the search, and what is said to them."""

from attnexercises.engine.model import Mistake

GQA = (
    Mistake(
        "tile", "np.tile: head i uses key head i % G",
        "Neighbours share: the first query heads all use key head 0. You dealt the key heads out in turn.", 2,
        sets="share",
    ),
    Mistake(
        "v_tile", "key repeated, value tiled",
        "The value heads were dealt out in turn, unlike the key heads: both have to follow the same rule.", 2,
        sets="share",
    ),
    Mistake(
        "first_kv", "only key head 0",
        "All your query heads use key head 0; each group of query heads has a key head of its own.", 1,
        sets="share",
    ),
    Mistake(
        "mean_kv", "key heads averaged",
        "The key heads were averaged into one; each group of query heads has its own.", 1,
        sets="share",
    ),
    Mistake(
        "joint_softmax", "softmax over all heads of a group",
        "The softmax ran over all query heads of a group at once; they share keys, but each row is normalised on "
        "its own.", 3,
        sets="axis",
    ),
    Mistake(
        "softmax_queries", "softmax over the queries",
        "The softmax runs over the queries; each row, along the keys, has to sum to 1.", 3,
        sets="axis",
    ),
    Mistake(
        "no_scale", "softmax(Q K^T) V",
        "The scores are not scaled: divide them by the root of d.", 3,
        sets="scale",
    ),
    Mistake(
        "no_max", "exp without the maximum",
        "Large exponents overflow: the softmax has to measure each row against its maximum.", 3,
        shows="lost",
    ),
    Mistake(
        "k_tile", "key tiled, value repeated",
        "The values are shared as they should be, the keys are dealt out in turn: both have to follow "
        "the same rule.", 2,
        sets="share",
    ),
    Mistake(
        "out_in_turn", "heads of the output dealt out in turn",
        "The outputs stand in another order of heads than the queries: unfold group and member as they "
        "were folded.", 2,
    ),
    Mistake(
        "last_kv", "only the last key head",
        "All your query heads use the last key head; each group of query heads has a key head of its own.", 1,
        sets="share",
    ),
    Mistake(
        "sum_kv", "key heads added",
        "The key heads were added into one; each group of query heads has its own.", 1,
        sets="share",
    ),
    Mistake(
        "reversed", "the last key head for the first group",
        "The key heads are used in the opposite order: the first group of query heads uses key head 0.", 2,
        sets="share",
    ),
    Mistake(
        "softmax_heads", "softmax over the heads",
        "The softmax runs over the heads; each row, along the keys, has to sum to 1.", 3,
        sets="axis",
    ),
    Mistake(
        "scale_d", "softmax(Q K^T / d)",
        "The scores were divided by d, not by its root.", 3,
        sets="scale",
    ),
    Mistake(
        "scale_k", "softmax(Q K^T / sqrt(k))",
        "The scores were divided by the root of the number of keys, where that of d belongs.", 3,
        sets="scale",
    ),
    Mistake(
        "max_global", "one maximum for the whole array",
        "One maximum serves several rows: one that lies far below it underflows to 0. Each row needs "
        "its own.", 3,
        shows="lost",
    ),
)

GQA_BACKWARD = (
    Mistake(
        "no_sum", "one gradient per query head",
        "A key head is shared, so the gradients of its query heads have to be added; yours still has h heads.", 1,
    ),
    Mistake(
        "mean", "mean over the group",
        "You averaged over the group; the gradients of copies add up.", 1,
        shows="factor", sets="sum",
    ),
    Mistake(
        "first", "only the first head of the group",
        "Only the first query head of each group is left: add up all of them.", 1,
        sets="sum",
    ),
    Mistake(
        "last", "only the last head of the group",
        "Only the last query head of each group is left: add up all of them.", 1,
        sets="sum",
    ),
    Mistake(
        "tile_order", "reshape(b, g, G, ...) then sum",
        "The groups are those of key heads dealt out in turn; query heads that share a key head are "
        "neighbours.", 2,
    ),
    Mistake(
        "first_heads", "d_repeated[:, :kv_heads]",
        "You took the first few query heads as they are: add up those that share a key head.", 1,
        sets="sum",
    ),
    Mistake(
        "all_heads", "all query heads added",
        "All query heads were added up; only those that share a key head belong together.", 2,
        sets="sum",
    ),
    Mistake(
        "one_short", "one member of each group left out",
        "One query head of each group is left out of the sum: an end is excluded where it should not be.", 2,
        sets="sum",
    ),
    Mistake(
        "product", "the members multiplied",
        "The query heads of a group were multiplied; gradients of a copy add up.", 1,
        sets="sum",
    ),
)
