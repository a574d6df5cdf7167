"""Slips in accepted answers that are right again, in chapters 4 and 5: exercise, way, reason, slips."""

from equivalent_reasons import (
    AN_AXIS,
    AS_TRUTH,
    AT_LEAST_1,
    CANCELS,
    DEFAULT,
    EMPTY_HEAD,
    EVEN,
    FINITE,
    FLOAT,
    FREE,
    HIDDEN,
    JOINED,
    LISTS,
    LOOKS_BACK,
    MATRIX_OF_ROWS,
    NO_MISMATCH,
    NOTHING,
    ONLY_ONE,
    OVERWRITTEN,
    PRODUCT,
    ROW_SUMS,
    SHARP,
    SQUARE,
    SQUARED,
    SYMMETRIC,
    TWO_AXES,
    WRAPS,
)

MASKS_AND_HEADS = {
    "paper_mask": {
        "loops": {
            OVERWRITTEN: ("np.zeros -> np.ones",),
            LOOKS_BACK: ("(i[row, 0], j[column]) -> (j[column], i[row, 0])", "query - key -> key - query"),
            ONLY_ONE: ("0 -> -1",),
        },
        "where": {
            AS_TRUTH: (
                "np.where(np.abs(i - j) <= window / 2, True, False) -> "
                "np.where(True, np.abs(i - j) <= window / 2, False)",
                "np.where(np.abs(i - j) <= window / 2, True, False) -> np.abs(i - j) <= window / 2",
            ),
            LOOKS_BACK: ("i - j -> j - i",),
        },
        "row by row": {
            ONLY_ONE: ("i.ravel() -> i",),
            LISTS: ("np.array(rows) -> rows",),
            EVEN: ("window // 2 -> window / 2",),
        },
        "two bounds": {
            EVEN: ("window // 2 -> window / 2",),
            JOINED: (
                "np.broadcast_arrays((i - half <= j) & (j <= i + half), has_global[i], has_global[j]) -> "
                "np.broadcast_arrays(has_global[i], (i - half <= j) & (j <= i + half), has_global[j])",
            ),
        },
        "nested lists": {
            LOOKS_BACK: (
                "def may_look(query, key) -> def may_look(key, query)", "query - key -> key - query",
                "may_look(query, key) -> may_look(key, query)",
            ),
            AS_TRUTH: ("bool(may_look(query, key)) -> may_look(query, key)",),
            ONLY_ONE: ("i[:, 0] -> i", "(:, 0) -> (:, :)", "0 -> -1"),
        },
        "writing into it": {
            SQUARED: ("i - j -> j - i",),
            EVEN: ("window // 2 -> window / 2",),
            ONLY_ONE: ("0 -> -1",),
        },
        "what is hidden": {
            EVEN: ("window // 2 -> window / 2",),
            LOOKS_BACK: ("i - j -> j - i",),
        },
        "a block of the whole": {
            EVEN: ("window // 2 -> window / 2",),
            LOOKS_BACK: ("(i, j) -> (j, i)",),
        },
    },
    "causal_mask": {
        "where": {
            AS_TRUTH: (
                "np.where(np.subtract.outer(np.arange(q) + k - q, np.arange(k)) >= 0, True, False) -> "
                "np.where(True, np.subtract.outer(np.arange(q) + k - q, np.arange(k)) >= 0, False)",
                "np.where(np.subtract.outer(np.arange(q) + k - q, np.arange(k)) >= 0, True, False) -> "
                "np.subtract.outer(np.arange(q) + k - q, np.arange(k)) >= 0",
            ),
        },
    },
    "masked_softmax": {
        "loops": {
            FINITE: ("0.0 -> 1.0", "0.0 -> -1.0",),
        },
        "einsum": {
            FINITE: ("0 -> 1", "0 -> -1",),
            NOTHING: ("1 -> 2",),
        },
        "tensordot": {
            AT_LEAST_1: ("1e-300 -> 1.0",),
            FINITE: ("0 -> 1", "0 -> -1",),
            ROW_SUMS: ("(scores.shape[-1], 1) -> (scores.shape[-1], scores.shape[-1])",),
        },
        "logaddexp": {
            FINITE: ("0 -> 1", "0 -> -1",),
        },
        "exponential, then zero": {
            NOTHING: ("np.zeros_like(powers) -> powers",),
        },
    },
    "padded_causal_attention": {
        "additive": {
            MATRIX_OF_ROWS: ("(real.shape[1],) * 2 -> (real.shape[1],)", "2 -> 1",),
            CANCELS: ("0 -> 1", "0 -> -1",),
        },
        "loops": {
            PRODUCT: ("query[b, i] @ key[b, j] -> key[b, j] @ query[b, i]",),
        },
        "einsum": {
            AS_TRUTH: ("np.tri(n, dtype=bool) -> np.tri(n)",),
        },
        "tensordot": {
            LISTS: ("np.array(out) -> out",),
        },
    },
    "distance_bias_backward": {
        "each pair by its distance": {
            LISTS: (
                "np.array([total[distance == r].sum() for r in range(n)]) -> "
                "[total[distance == r].sum() for r in range(n)]",
            ),
            SQUARE: ("1 -> 2",),
        },
        "einsum": {
            WRAPS: ("(np.arange(n)[:, None] - np.arange(n)) % n -> np.arange(n)[:, None] - np.arange(n)",),
            HIDDEN: ("'bqk,qkr->r' -> 'bqk,qrk->r'",),
            SQUARE: ("1 -> 2",),
        },
        "loops": {
            SQUARE: ("1 -> 2",),
            PRODUCT: ("zip(weights[lead][i], d_weights) -> zip(d_weights, weights[lead][i])",),
        },
        "tensordot": {
            DEFAULT: (
                "np.tensordot(d_scores.sum(axis=0), distance[..., None] == np.arange(n), axes=2) -> "
                "np.tensordot(d_scores.sum(axis=0), distance[..., None] == np.arange(n))",
            ),
            SQUARE: ("1 -> 2",),
        },
        "where": {
            LISTS: (
                "np.array([np.where(distance == r, d_scores, 0).sum() for r in range(n)]) -> "
                "[np.where(distance == r, d_scores, 0).sum() for r in range(n)]",
            ),
            SQUARE: ("1 -> 2",),
        },
    },
    "previous_token_head": {
        "the shift in the keys": {
            SHARP: (
                "np.ones -> np.zeros", "99 * np.sqrt(places) -> 99 + np.sqrt(places)", "99 * np.sqrt(places) -> 99",
                "np.zeros -> np.ones", "99 -> 100", "99 -> 98", "np.sqrt(places) -> places",
            ),
        },
        "in a circle, in float32": {
            FLOAT: (
                "np.vstack([np.zeros((letters, places)), 40 * np.sqrt(places) * np.roll(np.eye(places), -1, axis=1)])"
                ".astype(np.float32) -> "
                "np.vstack([np.zeros((letters, places)), 40 * np.sqrt(places) * np.roll(np.eye(places), -1, axis=1)])",
                "np.vstack([np.ones((letters, places)), np.eye(places)]).astype(np.float32) -> "
                "np.vstack([np.ones((letters, places)), np.eye(places)])",
            ),
            SHARP: ("np.zeros -> np.ones", "40 -> 41", "40 -> 39", "np.sqrt(places) -> places", "np.ones -> np.zeros",),
        },
        "loops": {
            FREE: ("if place > 0: -> if True:", "place > 0 -> place >= 0", "0 -> -1",),
            SHARP: (
                "10 * math.sqrt(places) -> 10 + math.sqrt(places)", "10 * math.sqrt(places) -> 10",
                "10 * math.sqrt(places) -> math.sqrt(places)", "10 -> 11", "10 -> 9", "math.sqrt(places) -> places",
                "10.0 -> 11.0", "10.0 -> 9.0", "0.0 -> 1.0", "0.0 -> -1.0",
            ),
        },
        "where": {
            SHARP: (
                "(letters + places, places) -> (letters + places, letters + places)",
                "100 * np.sqrt(places) -> 100 + np.sqrt(places)", "100 * np.sqrt(places) -> 100", "0 -> 1", "0 -> -1",
                "1 -> 2", "100 -> 101", "100 -> 99", "np.sqrt(places) -> places",
            ),
            FLOAT: (
                "np.where(row - letters == column, 1, 0) -> np.where(1, row - letters == column, 0)",
                "np.where(row - letters == column, 1, 0) -> row - letters == column",
            ),
        },
        "by distance, with two features": {
            SHARP: ("12 -> 13", "12 -> 11",),
        },
    },
    "first_of_its_kind_head": {
        "loops": {
            FREE: ("range(letters) -> range(letters + 1)",),
            SHARP: ("20.0 -> 21.0", "20.0 -> 19.0", "1.0 -> 2.0", "40.0 -> 41.0", "40.0 -> 39.0", "1 -> 2",),
        },
        "where": {
            SHARP: (
                "np.where(row < letters, row == column, np.where(column == letters, letters - row, 0)) -> "
                "np.where(row == column, row < letters, np.where(column == letters, letters - row, 0))",
                "(letters + places, letters + 1) -> (letters + places, letters + places)", "20.0 -> 21.0",
                "20.0 -> 19.0", "row < letters -> row <= letters", "np.where(row < letters, asks, 0) -> asks",
                "0 -> 1", "0 -> -1", "1 -> 2", "40.0 -> 41.0", "40.0 -> 39.0",
            ),
            FLOAT: ("has.astype(float) -> has",),
        },
        "with huge numbers": {
            SHARP: (
                "100000.0 -> 100001.0", "100000.0 -> 99999.0", "np.zeros -> np.ones", "1000000.0 -> 1000001.0",
                "1000000.0 -> 999999.0", ":letters -> :",
            ),
        },
        "the 1 from the places": {
            SHARP: (
                "np.zeros -> np.ones", "8.0 -> 9.0", "8.0 -> 7.0", "80.0 -> 81.0", "80.0 -> 79.0", "letters: -> :",
                "5.0 -> 6.0", "5.0 -> 4.0",
            ),
        },
    },
    "mha": {
        "slices of each head": {
            EMPTY_HEAD: ("range(heads) -> range(heads + 1)",),
        },
        "einsum": {
            AN_AXIS: ("-1 -> 1",),
        },
        "loops": {
            PRODUCT: ("asked @ found -> found @ asked", "zip(weights, value) -> zip(value, weights)",),
        },
        "tensordot": {
            TWO_AXES: (
                "np.tensordot(x, weight.reshape(len(weight), heads, -1), axes=([2], [0])).swapaxes(1, 2) -> "
                "np.tensordot(x, weight.reshape(len(weight), heads, -1), axes=([2], [0])).swapaxes(2, 1)",
            ),
        },
    },
    "mha_backward": {
        "loops": {
            EMPTY_HEAD: ("range(heads) -> range(heads + 1)",),
            NO_MISMATCH: (
                "zip(*inputs, strict=True) -> zip(*inputs)", "True -> False",
                "zip(outputs, weights, strict=True) -> zip(outputs, weights)",
            ),
        },
        "where": {
            SYMMETRIC: (
                "(weights[..., :, None], weights[..., None, :]) -> (weights[..., None, :], weights[..., :, None])",
            ),
            AS_TRUTH: ("np.eye(weights.shape[-1], dtype=bool) -> np.eye(weights.shape[-1])",),
            ONLY_ONE: ("0 -> -1",),
            SQUARE: ("1 -> 2",),
        },
    },
    "gqa": {
        "repeat": {
            FLOAT: ("query.shape[1] // array.shape[1] -> query.shape[1] / array.shape[1]",),
        },
        "tensordot": {
            OVERWRITTEN: ("np.zeros -> np.ones",),
        },
        "where": {
            FLOAT: ("query.shape[1] // key.shape[1] -> query.shape[1] / key.shape[1]",),
        },
    },
    "gqa_backward": {
        "tensordot": {
            FLOAT: ("d_repeated.shape[1] // kv_heads -> d_repeated.shape[1] / kv_heads",),
        },
        "where": {
            FLOAT: ("d_repeated.shape[1] // kv_heads -> d_repeated.shape[1] / kv_heads",),
        },
    },
}  # fmt: skip
