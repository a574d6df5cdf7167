"""Slips in accepted answers other than the solution that are right answers again: exercise, way, reason, slips.

Read one by one, like those in `equivalents.py`.
"""

OVERWRITTEN = "Every entry is written before it is read."
SYMMETRIC = "The Jacobian of a softmax is symmetric: row and column may change places."
AS_TRUTH = "1 and 0 choose as True and False do."
ONE_AXIS = "The second factor has one axis: its first is its last."
PRODUCT = "The two only meet in a product: their order does not matter."
SQUARED = "A difference that is squared, the other way round."
AN_AXIS = "The same axis, counted from the other end."
TWO_AXES = "The same two axes change places."
ONLY_ONE = "An axis of size 1: its first entry is its last."
SQUARE = "The weights of self-attention are square: either of the last two sizes will do."
FINITE = "Any finite number will do where exp(-inf - number) = 0 is wanted."
NOTHING = "Where the total is 0 so is what it divides, or its logarithm is -inf with or without this."
AT_LEAST_1 = "The largest exponential is 1: the total is 0 or at least 1."
EMPTY_SUM = "The first rescale factor is exp(-inf) = 0: what the sums start from does not matter."
BROADCAST = "It broadcasts to the same thing."
LISTS = "A list of the same numbers."
CANCELS = "The same for all keys of a query: it cancels in the softmax."
CENTRED = "If one factor of a covariance has mean 0, the other may be shifted."
ROW_SUMS = "Sums of rows in every column: any one of them will do, or all."
DEFAULT = "This is what the function does by itself."
FLOAT = "The same number, as a float."
SHARP = "Other numbers, and still sharp enough; or the same added to the scores of all keys."
ANY_BLOCK = "Blocks of another size, down to single scores: the values are the same."
CUT = "A slice ends where the array ends."
AGAIN = "Rows or keys are looked at once more than needed, with the same result."
EMPTY_HEAD = "One head more, without features: it adds nothing."
WRAPS = "A negative number counts from the end, as the remainder does."
OWNER = "The keys' worker has no larger number exactly where no round has wrapped: turn <= worker."
NEITHER = "exp(-inf) is 0 by itself."
TIE = "Two equal scores: the old sum times exp(0)."
HIDDEN = "What is counted for a hidden pair does not matter, and modulo n the two numbers change places."
FREE = "Token 0 may look anywhere; or the feature of a place is filled in afterwards."
MATRIX_OF_ROWS = "`np.triu` makes a matrix of a row by itself."
NO_MISMATCH = "The lengths agree: it makes no difference whether that is checked."
FROM_START = "A slice starts at 0 by itself."
ONE_ROW = "Rolled as one long row: what crosses the end of a token is never the partner that is taken."
ONCE = "Each entry is written once, and was 0."
NO_AXES = "No axis is summed over: counted down from -1 there is none, either."

EQUIVALENT_WAYS = {
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
                "np.vstack([np.zeros((letters, places)), 200 * np.roll(np.eye(places), -1, axis=1)])"
                ".astype(np.float32) -> "
                "np.vstack([np.zeros((letters, places)), 200 * np.roll(np.eye(places), -1, axis=1)])",
                "np.vstack([np.ones((letters, places)), np.eye(places)]).astype(np.float32) -> "
                "np.vstack([np.ones((letters, places)), np.eye(places)])",
            ),
            SHARP: ("np.zeros -> np.ones", "200 -> 201", "200 -> 199", "np.ones -> np.zeros",),
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
        "by logsumexp": {
            FINITE: ("0 -> 1", "0 -> -1",),
        },
        "einsum": {
            LISTS: (
                "np.stack([total_a, total_b]) -> [total_a, total_b]", "np.stack([out_a, out_b]) -> [out_a, out_b]",
            ),
            NOTHING: ("1 -> 2",),
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
            OVERWRITTEN: ("np.empty -> np.ones",),
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
}  # fmt: skip
