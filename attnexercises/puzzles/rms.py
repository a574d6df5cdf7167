"""The exercise on queries that are scaled to one length."""

import cmath

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe
from attnexercises.puzzles.slopes import slopes_of


def rms_backward(d_out, query, gain):
    rms = np.sqrt((query**2).mean(axis=-1, keepdims=True))
    scaled = query / rms
    d_gain = (d_out * scaled).sum(axis=tuple(range(query.ndim - 1)))
    d_scaled = d_out * gain
    # the rms moves with every feature of its row
    row_mean = (d_scaled * scaled).mean(axis=-1, keepdims=True)
    d_query = (d_scaled - scaled * row_mean) / rms
    return d_query, d_gain


def _rms_oracle(d_out, query, gain):
    def loss(numbers, factors):
        total, width = 0, len(factors)
        for start in range(0, len(numbers), width):
            row = numbers[start : start + width]
            rms = cmath.sqrt(sum(x * x for x in row) / width)
            upstream = d_out.ravel()[start : start + width]
            total += sum(g * factor * x / rms for g, factor, x in zip(upstream, factors, row, strict=True))
        return total

    d_query, d_gain = slopes_of(loss, query.ravel(), gain)
    return d_query.reshape(query.shape), d_gain


def _queries(*shape, size=1.0):
    return lambda rng: (rng.standard_normal(shape), size * rng.standard_normal(shape), rng.uniform(0.5, 2, shape[-1]))


def _rows_apart(rng):
    d_out, query, gain = _queries(3, 4)(rng)
    return d_out, query * np.array([[1e-3], [1.0], [1e3]]), gain


_RMS = Exercise(
    title="Queries scaled to one length", level="hard", minutes=20, blanks=4, oracle=_rms_oracle, solution=rms_backward,
    outputs=("d_query", "d_gain"),
    probes=(
        Probe("3 queries of 5 features", _queries(3, 5)),
        Probe("2 × 3 queries of 4 features", _queries(2, 3, 4), why="The gain's gradient adds over both axes."),
        Probe("q = d", _queries(4, 4), "equal", why="A mean along the wrong axis runs here."),
        Probe("short and long queries", _rows_apart, why="Each row has its own length."),
        Probe("one feature", _queries(3, 1), "edge", why="One number is scaled to ±1, whatever it is: no slope in it."),
    ),
    mistakes=(
        Mistake("constant", "d_scaled - scaled * row_mean -> d_scaled",
            "The length was held fixed: it moves with every feature of the query.", 2, sets="length"),
        Mistake("sum", "scaled).mean( -> scaled).sum(",
            "Within the length there is a mean over the features: a 1 / d is missing.", 3, sets="mean"),
        Mistake("no_own_gain", "(d_scaled - scaled * row_mean) -> (d_out - scaled * row_mean)",
            "In d_query, the direct path lacks the gain. The gain multiplies the scaled query on both paths.", 2, sets="gain"),
        Mistake("inner_gain", "d_scaled * scaled).mean -> d_out * scaled).mean",
            "In the term through the length, the gain is left out. It lies on that path, too.", 2, sets="gain"),
        Mistake("norm", ".mean( -> .sum(",
            "That is the gradient for queries of norm 1; here the mean square becomes 1.", 1, sets="mean"),
        Mistake("sign", "d_scaled - scaled -> d_scaled + scaled",
            "A longer query is divided by more: the term through the length has a minus.", 2, sets="length"),
        Mistake("no_rms", "row_mean) / rms -> row_mean)",
            "The last step back, through the division by the length, is left out.", 3),
        Mistake("mean_square", "row_mean) / rms -> row_mean) / rms**2",
            "On the last step back you divided by the mean square. The queries are divided by its root.", 3, sets="last"),
        Mistake("no_gain", "d_out * gain -> d_out",
            "In d_query the gain is left out: it stands between the output and the query.", 2),
        Mistake("unscaled", ("(d_scaled * scaled) -> (d_scaled * query)", "scaled * row_mean -> query * row_mean"),
            "The term through the length takes the scaled query, twice; yours takes the query itself.", 3),
        Mistake("gain_unscaled", "(d_out * scaled) -> (d_out * query)", "What the gain multiplies is the scaled query.", 1),
        Mistake("gain_mean", "(d_out * scaled).sum( -> (d_out * scaled).mean(",
            "d_gain is a mean over the queries. All queries use the same gain, so their gradients are added.", 1),
        Mistake("gain_not_upstream", "(d_out * scaled).sum( -> (d_out * gain * scaled).sum(",
            "d_gain itself contains the gain. The output is the gain times the scaled query, so its slope is the scaled query.", 1),
        Mistake("layer_norm", "rms = -> query = query - query.mean(axis=-1, keepdims=True)\nrms =",
            "You took the mean off first, as a layer norm does. Here only the root of the mean square divides.", 1),
        Mistake("gain_per_row", ".sum(axis=tuple(range(query.ndim - 1))) ->",
            "One gain serves all queries: its gradient adds up over them.", 1),
    ),
    hints=(
        "Name the step between: scaled = query / rms, out = gain * scaled. The gain is shared by all queries, so its gradient is a "
        "sum.",
        "A feature reaches `scaled` by two paths: as the numerator of its own entry, and through the rms of all entries of the "
        "row. The slope of the rms in feature j is query_j / (d rms).",
        "With d_scaled = d_out times gain: take off scaled times the row's mean of d_scaled times scaled, and divide by the rms. "
        "It has the form of the softmax's backward.",
    ),
    why="Dividing by the rms takes away the direction along the query itself, as a softmax takes away what all scores share: the "
    "row's mean of d_scaled * scaled, times scaled.",
    insight="d_query is at right angles to query: a longer query gives the same output.",
)  # fmt: skip
