"""What the exercises on several heads share: the columns of one head, one head in loops, a layer's inputs."""

import math

import numpy as np


def one_head(query, key, value):
    """Attention of one head, as nested lists, with `math`: out and weights."""
    root, out, weights = math.sqrt(query.shape[-1]), [], []
    for asked in query.tolist():
        scores = [math.fsum(a * b for a, b in zip(asked, k, strict=True)) / root for k in key.tolist()]
        powers = [math.exp(score - max(scores)) for score in scores]
        row = [power / math.fsum(powers) for power in powers]
        weights.append(row)
        out.append([math.fsum(p * x for p, x in zip(row, column, strict=True)) for column in value.T.tolist()])
    return np.array(out), np.array(weights)


def columns(weight, head, heads):
    """The block of columns that belongs to one head."""
    width = weight.shape[1] // heads
    return weight[:, head * width : (head + 1) * width]


def layer(b, n, m, heads, d, v=None, large=False, upstream=False):
    """Make a probe's inputs: tokens, the four weights and the number of heads; first an upstream gradient, if wanted."""
    v = d if v is None else v

    def make(rng):
        x = rng.standard_normal((b, n, m))
        shapes = ((m, heads * d), (m, heads * d), (m, heads * v), (heads * v, m))
        weights = [rng.standard_normal(shape) / math.sqrt(m) for shape in shapes]
        if large:
            # A query's first feature, -1, 0 or 1, meets a key's second one, 1 or 2: some rows of scores lie at -1200,
            # some at 1200, and one key 1200 from the others.
            x[..., 0], x[..., 1] = np.arange(n) % 3 - 1, 1 + (np.arange(n) == 1)
            for place, (weight, number) in enumerate(zip(weights, (40.0, 60.0), strict=False)):
                weight[:, ::d] = 0.0
                weight[place, ::d] = number
        d_out = (rng.standard_normal((b, n, m)),) if upstream else ()
        return *d_out, x, *weights, heads

    return make
