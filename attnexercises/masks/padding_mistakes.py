"""The known mistakes in `padded_causal_attention`, in the order of the search, and what is said to them."""

from attnexercises.engine.model import Mistake

_CARELESS = "keep.any(axis=-1, keepdims=True) -> np.True_"  # no care for rows that see nothing

PADDED_CAUSAL_ATTENTION = (
    Mistake("query_axis", "real[:, np.newaxis, :] -> real[:, :, np.newaxis]",
            "You put `real` on the axis of the queries, but it is the keys that have to be hidden.", 1, sets="real"),
    Mistake("no_query_axis", "real[:, np.newaxis, :] -> real",
            "Your `real`, (b, n), was broadcast as (queries, keys). Its first axis is the batch, so an axis is missing "
            "between the two.", 1, sets="real"),
    Mistake("or", "& -> |", "You joined the two masks with OR. A key has to pass both of them.", 2, sets="keep"),
    Mistake("only_causal", "& real[:, np.newaxis, :] ->",
            "You used only the causal mask. Padding has to be hidden as well.", 2, sets="keep real"),
    Mistake("only_pad", "np.tril(np.ones((n, n), dtype=bool)) & ->",
            "You used only the padding mask. A query must not see its future, either.", 2, sets="keep"),
    Mistake("mask_v", ("& real[:, np.newaxis, :] ->", "@ value -> @ np.where(real[:, :, np.newaxis], value, 0)"),
            "You set values to zero, but their keys still take their share of the weights. It is the scores that need "
            "the mask.", 2, sets="keep real"),
    Mistake("nan_rows", _CARELESS,
            "For a query that sees no key you compute -inf minus -inf. Such a query should return zeros.", 3,
            shows="lost", sets="empty"),
    Mistake("inverted", "n = -> real = ~real\nn =", "Your padding mask works the wrong way round: True means a real "
        "token.", 1),
    Mistake("strict", "np.ones((n, n), dtype=bool) -> np.ones((n, n), dtype=bool), k=-1",
            "Your causal mask lacks its diagonal. A token may look at itself.", 2),
    Mistake("triu", "np.tril(np.ones((n, n), dtype=bool)) -> np.tril(np.ones((n, n), dtype=bool)).T",
            "Your causal mask works the wrong way round. It has to show the past, not the future.", 2),
    Mistake("both_axes", "alive = -> keep = keep & real[:, :, np.newaxis]\nalive =",
            "You hid padding queries, too. A padding query that sees a real token returns an output like any other "
            "query.", 1),
    Mistake("no_scale", "/ np.sqrt(query.shape[-1]) ->",
            "The scores are not divided by the root of d.", 2, sets="scale"),
    Mistake("scale_d", "np.sqrt(query.shape[-1]) -> query.shape[-1]",
            "The scores are divided by d, not by its root.", 2, sets="scale"),
    Mistake("scale_n", "np.sqrt(query.shape[-1]) -> np.sqrt(n)",
            "You scaled the scores with the length n. The scale depends on the number of features d.", 2, sets="scale"),
    Mistake("minus_1e9", (_CARELESS, "-np.inf -> -1e9"),
            "You hide a key with a finite number. A query that sees nothing then looks at forbidden keys.",
            3, sets="hide"),
    Mistake("empty_even", "weights, 0 -> weights, 1 / n",
            "A query that sees nothing but padding spreads its weight evenly over forbidden keys. It should return "
            "zeros.",
            3, sets="empty hide"),
    Mistake("after_no_renorm", ("keep | ~alive -> True", "alive, weights, 0 -> keep, weights, 0"),
            "You hid the keys after the softmax, when they had already taken their share of the sum. Hide them before "
            "it.", 2,
            sets="hide"),
    Mistake("after_renorm",
            ("keep | ~alive -> True",
             "exponentials / exponentials.sum(axis=-1, keepdims=True) -> "
             "exponentials * keep / np.maximum((exponentials * keep).sum(axis=-1, keepdims=True), 1e-300)"),
            "You hid the keys after the softmax. By then a key with a huge score has wiped out the visible keys.", 2,
            sets="hide"),
    Mistake("times_zero", (_CARELESS, "-np.inf -> 0.0"),
            "A score of 0 does not hide a key: the exponential of 0 is 1, and the key still gets a weight.", 2,
            sets="hide"),
    Mistake("keys_zero", ("& real[:, np.newaxis, :] ->", "key.mT -> np.where(real[:, :, np.newaxis], key, 0).mT"),
            "You set the keys of padding to zero. Their scores are then 0, and the exponential of 0 is 1.", 2,
            sets="keep real"),
    Mistake("first_sentence", "keep = -> real = np.broadcast_to(real[:1], real.shape)\nkeep =",
            "You used the padding of the first sentence for all of them. Each sentence has its own row in `real`.", 1,
            shows="one_element", sets="real"),
    Mistake("as_if_right", "keep = -> real = np.arange(n) < real.sum(axis=-1, keepdims=True)\nkeep =",
            "You counted the real tokens and took that many from the start. Padding may be anywhere.", 1,
            sets="real"),
    Mistake("looks_at_itself", "real[:, np.newaxis, :] -> (real[:, np.newaxis, :] | np.eye(n, dtype=bool))",
            "In your mask a padding token looks at itself. A query that sees no real token should return zeros.", 3,
            sets="empty keep"),
    Mistake("softmax_queries", "axis=-1 -> axis=-2",
            "Your softmax runs along the queries. It is the keys that share a query's weight.", 2),
    Mistake("scale_v", "np.sqrt(query.shape[-1]) -> np.sqrt(value.shape[-1])",
            "You scaled the scores with the width v of the values. The scale depends on d, the width of queries and "
            "keys.", 2,
            sets="scale"),
)
