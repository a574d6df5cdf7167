"""Slips in accepted answers that are right again, in chapters 1 to 3 and what they need: exercise, way, reason, slips."""

from equivalent_reasons import (
    AGAIN,
    AN_AXIS,
    ANY_BLOCK,
    AS_TRUTH,
    CANCELS,
    CENTRED,
    FINITE,
    LISTS,
    NEITHER,
    ONLY_ONE,
    OVERWRITTEN,
    PRODUCT,
    ROW_SUMS,
    SQUARED,
    SYMMETRIC,
    TIE,
    TWO_AXES,
)

ATTENTION = {
    "product_transpose": {
        "tensordot": {
            OVERWRITTEN: ("np.zeros -> np.ones",),
        },
    },
    "linear_backward": {
        "row by row": {
            OVERWRITTEN: ("np.zeros -> np.ones",),
        },
        "tensordot": {
            AN_AXIS: ("-1 -> 1",),
        },
    },
    "softmax": {
        "loops": {
            OVERWRITTEN: ("np.zeros -> np.ones",),
        },
        "tensordot": {
            ROW_SUMS: ("(x.shape[-1], 1) -> (x.shape[-1], x.shape[-1])",),
        },
    },
    "softmax_backward": {
        "explicit jacobian": {
            ONLY_ONE: ("0 -> -1",),
        },
        "loops": {
            OVERWRITTEN: ("np.zeros -> np.ones",),
        },
        "where": {
            SYMMETRIC: (
                "(weights[..., :, None], weights[..., None, :]) -> (weights[..., None, :], weights[..., :, None])",
            ),
            AS_TRUTH: ("np.eye(weights.shape[-1], dtype=bool) -> np.eye(weights.shape[-1])",),
        },
    },
    "score_table_step": {
        "where": {
            AS_TRUTH: (
                "np.where(following[:, None] == letters, 1.0, 0.0) -> following[:, None] == letters",
                "np.where(following[:, None] == letters, 1.0, 0.0) -> "
                "np.where(1.0, following[:, None] == letters, 0.0)",
            ),
        },
        "letter by letter": {
            AGAIN: ("np.unique(now) -> now",),
        },
    },
    "temperature_gradient": {
        "covariance": {
            CENTRED: (
                "(d_weights, scores) -> (d_weights, d_weights)", "(d_weights, scores) -> (scores, scores)",
                "scores - x_mean -> scores + x_mean", "scores - x_mean -> scores",
                "d_weights - g_mean -> d_weights + g_mean", "d_weights - g_mean -> d_weights",
            ),
        },
        "with the Jacobian": {
            SYMMETRIC: (
                "g @ jacobian @ (-scores[row] / temperature ** 2) -> "
                "-scores[row] / temperature ** 2 @ (g @ jacobian)",
                "g @ jacobian -> jacobian @ g",
            ),
        },
        "loops": {
            PRODUCT: ("zip(weights, d_weights[row]) -> zip(d_weights[row], weights)",),
        },
        "tensordot": {
            PRODUCT: (
                "np.tensordot(d_scaled, scores, axes=scores.ndim) -> "
                "np.tensordot(scores, d_scaled, axes=scores.ndim)",
            ),
        },
        "where": {
            SYMMETRIC: (
                "(weights[..., :, None], weights[..., None, :]) -> (weights[..., None, :], weights[..., :, None])",
            ),
            AS_TRUTH: ("np.eye(weights.shape[-1], dtype=bool) -> np.eye(weights.shape[-1])",),
        },
    },
    "online_softmax": {
        "loops": {
            TIE: ("score > maximum -> score >= maximum",),
        },
        "safe shift": {
            ANY_BLOCK: (
                "np.split(x, range(block, len(x), block)) -> x",
                "range(block, len(x), block) -> range(block, len(x))", "range(block, len(x), block) -> len(x)",
                "range(block, len(x), block) -> range(block - 1, len(x), block)",
            ),
            FINITE: ("0.0 -> 1.0", "0.0 -> -1.0",),
        },
        "tensordot": {
            PRODUCT: (
                "np.tensordot(np.exp(scores - new), np.ones(len(scores)), axes=1) -> "
                "np.tensordot(np.ones(len(scores)), np.exp(scores - new), axes=1)",
            ),
        },
        "where": {
            FINITE: ("0.0 -> 1.0", "0.0 -> -1.0",),
            NEITHER: (
                "np.where(np.isneginf(scores), 0.0, np.exp(scores - shift)) -> "
                "np.where(0.0, np.isneginf(scores), np.exp(scores - shift))",
                "np.where(np.isneginf(scores), 0.0, np.exp(scores - shift)) -> np.exp(scores - shift)",
            ),
        },
    },
    "distance_attention": {
        "all differences": {
            SQUARED: ("query[:, np.newaxis] - key -> key - query[:, np.newaxis]",),
        },
        "with the query's length": {
            CANCELS: (
                "query @ key.T - (query ** 2).sum(axis=1, keepdims=True) / 2 -> "
                "query @ key.T + (query ** 2).sum(axis=1, keepdims=True) / 2",
                "query @ key.T - (query ** 2).sum(axis=1, keepdims=True) / 2 -> query @ key.T",
                "(query ** 2).sum(axis=1, keepdims=True) / 2 -> (query ** 2).sum(axis=1, keepdims=True) * 2",
                "(query ** 2).sum(axis=1, keepdims=True) / 2 -> 2 / (query ** 2).sum(axis=1, keepdims=True)",
                "(query ** 2).sum(axis=1, keepdims=True) / 2 -> (query ** 2).sum(axis=1, keepdims=True)",
                "(query ** 2).sum(axis=1, keepdims=True) / 2 -> 2",
                "(query ** 2).sum(axis=1, keepdims=True) -> (query ** 2).sum(keepdims=True)", "2 -> 3", "2 -> 1",
                "(query ** 2).sum -> (query ** 2).mean", "query ** 2 -> query * 2", "query ** 2 -> 2 ** query",
                "query ** 2 -> query",
            ),
        },
        "loops": {
            LISTS: ("np.array(out) -> out",),
            PRODUCT: (
                "zip(plain_softmax(scores), value) -> zip(value, plain_softmax(scores))",
                "zip(asked, found) -> zip(found, asked)",
            ),
            SQUARED: ("a - b -> b - a",),
        },
    },
    "sdpa": {
        "query scaled first": {
            TWO_AXES: ("key.swapaxes(-1, -2) -> key.swapaxes(-2, -1)",),
        },
        "loops": {
            PRODUCT: (
                "zip(powers, value[lead]) -> zip(value[lead], powers)",
                "zip(query[lead][i], found) -> zip(found, query[lead][i])",
            ),
        },
        "tensordot": {
            OVERWRITTEN: ("np.zeros -> np.ones",),
        },
    },
    "sdpa_backward": {
        "the whole Jacobian": {
            SYMMETRIC: ("'...qj,...qjk->...qk' -> '...qj,...qkj->...qk'",),
        },
        "loops": {
            PRODUCT: ("zip(weights, d_weights) -> zip(d_weights, weights)",),
        },
        "tensordot": {
            OVERWRITTEN: ("np.zeros -> np.ones",),
        },
        "where": {
            SYMMETRIC: (
                "(weights[..., :, None], weights[..., None, :]) -> (weights[..., None, :], weights[..., :, None])",
            ),
            AS_TRUTH: ("np.eye(weights.shape[-1], dtype=bool) -> np.eye(weights.shape[-1])",),
            ONLY_ONE: ("0 -> -1",),
        },
    },
    "additive_backward": {
        "w as a column, row mean from the output": {
            ONLY_ONE: ("0 -> -1",),
        },
        "loops": {
            PRODUCT: ("zip(weights, d_weights) -> zip(d_weights, weights)",),
        },
        "tensordot": {
            AN_AXIS: ("([-1], [0]) -> ([-1], [-1])", "0 -> -1",),
        },
        "where": {
            SYMMETRIC: (
                "(weights[..., :, None], weights[..., None, :]) -> (weights[..., None, :], weights[..., :, None])",
            ),
            AS_TRUTH: ("np.eye(weights.shape[-1], dtype=bool) -> np.eye(weights.shape[-1])",),
        },
    },
}  # fmt: skip
