"""Slips in accepted answers that are right again, in chapters 6 to 13 and the puzzles: exercise, way, reason, slips."""

from equivalent_reasons import (
    AGAIN,
    AN_AXIS,
    AS_TRUTH,
    AT_LEAST_1,
    BROADCAST,
    CUT,
    EMPTY_SUM,
    FINITE,
    FLOAT,
    FROM_START,
    LISTS,
    NO_AXES,
    NOTHING,
    ONCE,
    ONE_AXIS,
    ONE_ROW,
    OVERWRITTEN,
    OWNER,
    PRODUCT,
    SYMMETRIC,
    WRAPS,
)

FROM_FLASH_ON = {
    "flash_forward": {
        "queries in tiles, too": {
            AGAIN: (
                "range(0, len(query), block) -> range(0, len(query))",
                "if causal and start > rows.stop - 1 + offset: -> if False:",
                "min(top + block, len(query)) -> len(query)", "1 -> 0", "rows.stop - 1 -> rows.stop + 1",
                "rows.stop - 1 -> rows.stop",
            ),
            OVERWRITTEN: ("np.zeros -> np.ones", "-np.inf -> np.inf",),
            BROADCAST: ("np.full(n, -np.inf) -> -np.inf",),
            FINITE: ("0 -> 1", "0 -> -1",),
            NOTHING: ("np.where(total > 0, total, 1) -> total", "total > 0 -> total >= 0", "1 -> 2",),
            AT_LEAST_1: ("1e-300 -> 1.0",),
        },
        "loops": {
            FINITE: ("0.0 -> 1.0",),
            CUT: ("min(start + block, len(key), last + 1) -> min(start + block, last + 1)",),
        },
        "einsum": {
            BROADCAST: ("np.full(len(query), -np.inf) -> -np.inf",),
            EMPTY_SUM: ("np.zeros -> np.ones",),
            FINITE: ("0 -> 1", "0 -> -1",),
        },
        "tensordot": {
            BROADCAST: ("np.full((len(query), 1), -np.inf) -> -np.inf", "(len(query), 1) -> (1, 1)",),
            EMPTY_SUM: ("np.zeros -> np.ones",),
            FINITE: ("0 -> 1", "0 -> -1",),
        },
    },
    "flash_backward": {
        "loops": {
            CUT: (
                "len(key) - 1 -> len(key) + 1", "len(key) - 1 -> len(key)",
                "max(start, min(start + block_k, last + 1)) -> min(start + block_k, last + 1)", "1 -> 0",
            ),
            PRODUCT: ("d_out[i] @ out[i] -> out[i] @ d_out[i]",),
        },
    },
    "merge_partials": {
        "by logaddexp": {
            FINITE: ("0 -> 1", "0 -> -1",),
        },
        "einsum": {
            LISTS: ("np.stack([out_a, out_b]) -> [out_a, out_b]",),
            NOTHING: ("1 -> 2", "1 -> 0", "np.where(total == 0, 1, total) -> total"),
            FINITE: ("0 -> 1", "0 -> -1",),
        },
    },
    "backward_with_logsumexp": {
        "loops": {
            PRODUCT: ("zip(weights, d_weights) -> zip(d_weights, weights)",),
        },
        "where": {
            SYMMETRIC: ("(weights[:, :, None], weights[:, None, :]) -> (weights[:, None, :], weights[:, :, None])",),
            AS_TRUTH: ("np.eye(len(key), dtype=bool) -> np.eye(len(key))",),
        },
    },
    "ring_backward": {
        "loops": {
            PRODUCT: (
                "d_out[i] @ (held[w][1][j] - out[i]) -> (held[w][1][j] - out[i]) @ d_out[i]",
                "c * query[i] @ held[w][0][j] -> held[w][0][j] @ (c * query[i])",
            ),
        },
        "tensordot": {
            OVERWRITTEN: ("np.zeros -> np.ones",),
        },
    },
    "striped_pairs": {
        "loops": {
            FLOAT: ("np.zeros((workers, workers), dtype=int) -> np.zeros((workers, workers))",),
            OWNER: ("query - key -> key",),
        },
        "einsum": {
            OWNER: (
                "by_owner[turned[:, None], (turned[:, None] - turned) % workers] -> by_owner",
                "(turned[:, None] - turned) % workers -> (turned[:, None] - turned) // workers",
                "turned[:, None] - turned -> turned",
            ),
            WRAPS: ("(turned[:, None] - turned) % workers -> turned[:, None] - turned",),
        },
        "tensordot": {
            WRAPS: ("(worker[:, None] - worker) % workers -> worker[:, None] - worker",),
            OWNER: ("worker[:, None] - worker -> worker",),
        },
    },
    "soft_maximum_slopes": {
        "loops": {
            OVERWRITTEN: ("np.zeros -> np.ones",),
            "An array without axes is a number, too.": ("d_temperature[()] -> d_temperature",),
        },
        "tensordot": {
            ONE_AXIS: ("(-1, 0) -> (-1, -1)",),
        },
        "where": {
            "Times a weight of 0 the logarithm of any number is 0.": ("1 -> 2",),
        },
    },
    "softcap_backward": {
        "loops": {
            OVERWRITTEN: ("np.zeros -> np.ones",),
        },
        "tensordot": {
            PRODUCT: (
                "np.tensordot(d_out, shares, axes) -> np.tensordot(shares, d_out, axes)",
                "np.tensordot(d_scores, scores / cap, axes) -> np.tensordot(scores / cap, d_scores, axes)",
            ),
        },
        "where": {
            "At 0 the share is 0, with either sign.": ("scores < 0 -> scores <= 0",),
        },
    },
    "rms_backward": {
        "loops": {
            OVERWRITTEN: ("np.zeros -> np.ones",),
            PRODUCT: ("zip(d_out[row], gain, query[row]) -> zip(gain, d_out[row], query[row])",),
        },
        "tensordot": {
            ONE_AXIS: ("(-1, 0) -> (-1, -1)",),
        },
        "with the Jacobian": {
            "Of an axis of size 1 the first is the last.": ("0 -> -1",),
        },
    },
    "sinusoidal": {
        "tensordot": {
            NO_AXES: ("0 -> -1",),
        },
        "by logarithm": {
            OVERWRITTEN: ("np.zeros -> np.ones",),
            FROM_START: ("0::2 -> ::2",),
        },
    },
    "rope": {
        "einsum": {
            LISTS: (
                "np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]]) -> "
                "[[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]]",
            ),
        },
        "tensordot": {
            OVERWRITTEN: ("np.zeros -> np.ones",),
            AN_AXIS: ("([-1], [1]) -> ([-1], [-1])",),
        },
        "where": {
            ONE_ROW: (
                "np.roll(x, 1, axis=-1) -> np.roll(x, 1)", "np.roll(x, -1, axis=-1) -> np.roll(x, -1)",
            ),
        },
        "complex numbers": {
            FROM_START: ("0::2 -> ::2",),
        },
    },
    "rope_scores": {
        "einsum": {
            FROM_START: ("0::2 -> ::2",),
        },
        "where": {
            ONE_ROW: (
                "np.roll(both, 1, axis=1) -> np.roll(both, 1)", "np.roll(both, -1, axis=1) -> np.roll(both, -1)",
            ),
        },
    },
    "rope_backward": {
        "loops": {
            ONCE: (
                "d_x[place][i] += c * d_out[place][i] + s * d_out[place][i + 1] -> "
                "d_x[place][i] = c * d_out[place][i] + s * d_out[place][i + 1]",
                "d_x[place][i + 1] += c * d_out[place][i + 1] - s * d_out[place][i] -> "
                "d_x[place][i + 1] = c * d_out[place][i + 1] - s * d_out[place][i]",
            ),
        },
        "einsum": {
            LISTS: (
                "np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]]) -> "
                "[[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]]",
            ),
        },
        "tensordot": {
            OVERWRITTEN: ("np.zeros -> np.ones",),
        },
        "where": {
            ONE_ROW: (
                "np.roll(d_out, -1, axis=-1) -> np.roll(d_out, -1)",
                "np.roll(d_out, 1, axis=-1) -> np.roll(d_out, 1)",
            ),
        },
        "complex numbers": {
            FROM_START: ("0::2 -> ::2",),
        },
    },
    "alibi": {
        "tensordot": {
            NO_AXES: ("0 -> -1",),
        },
    },
    "kv_cache": {
        "loops": {"Each row is written before it is read.": ("np.zeros -> np.ones",)},
        "einsum": {
            "Each row is written before it is read.": ("np.zeros -> np.ones",),
            "Rows that are never written are never read.": ("min(window, len(x)) -> window",),
            "A slice ends where the array does.": ("min(t + 1, size) -> t + 1",),
        },
        "tensordot": {
            "A list of the same rows.": ("np.stack(rows) -> rows",),
            "Every row of the matrix has d features.": ("0 -> 1", "0 -> -1"),
        },
    },
    "paged_lookup": {
        "loops": {
            "A list of the same rows.": (
                "np.array([pages[table[position // size]][position % size] for position in positions]) -> "
                "[pages[table[position // size]][position % size] for position in positions]",
            ),
            "Every page has as many rows.": ("0 -> 1", "0 -> -1"),
        },
    },
    "linear_step": {
        "loops": {
            "A list of the same numbers.": (
                "np.array([sum(query * state[:, c]) / divisor for c in range(len(value))]) -> "
                "[sum(query * state[:, c]) / divisor for c in range(len(value))]",
            ),
        },
        "tensordot": {
            "The product of two vectors is the same both ways.": (
                "np.tensordot(query, total, axes=1) -> np.tensordot(total, query, axes=1)",
            ),
        },
    },
    "adam_direction": {
        "loops": {"A list of the same numbers.": ("np.array(out) -> out",)},
    },
    "layer_norm": {
        "tensordot": {"Each column holds the same variance.": ("(m, 1) -> (m, m)",)},
        "where": {
            "It puts 0 where there is 0.": (
                "np.where(left == 0, 0.0, left) -> left", "np.where(left == 0, 0.0, left) -> np.where(0.0, left == 0, left)",
            ),
            "Wrong only where a number lies exactly 1 from its mean, which happens in no case.": ("0 -> 1", "0 -> -1"),
            "Either of the two squares may come first.": ("np.hypot(size, epsilon ** 0.5) -> np.hypot(epsilon ** 0.5, size)",),
        },
    },
    "gelu": {
        "loops": {OVERWRITTEN: ("np.empty -> np.ones",)},
        "tensordot": {
            "A sum over one number, and a reshape behind it.": (
                "np.tensordot(flat[:, None] * below, np.ones(1), axes=1) -> flat[:, None] * below", "1 -> 0",
            ),
            LISTS: (
                "np.array([[0.5 + math.erf(number / math.sqrt(2)) / 2] for number in flat]) -> "
                "[[0.5 + math.erf(number / math.sqrt(2)) / 2] for number in flat]",
            ),
        },
        "where": {"At 0 the area is 0, and it is multiplied by 0.": ("x < 0 -> x <= 0",)},
    },
}  # fmt: skip
