"""Sizes, blocks, bands and masks of the tests of Flash attention, and plain attention to compare with."""

import numpy as np
import pytest
from array_tools import query_key_value

from attnlib.attention import attention, attention_backward
from attnlib.flash import flash_attention, flash_attention_backward
from attnlib.masks import combine_masks

# Every axis has its own size, so that mixing up two axes cannot go unnoticed.
B, H, HEADS, Q, K, D, V = 2, 6, 3, 8, 11, 5, 4
INF, NAN = np.inf, np.nan

# One by one, ragged, dividing 8 and 11 exactly, exactly all, one axis larger than all, four heads in a tile, all.
BLOCKS = [(1, 1), (2, 3), (3, 2), (4, 11), (8, 11), (1, 64), (64, 1), (8, 44), (64, 64)]
blocks = pytest.mark.parametrize(("block_q", "block_k"), BLOCKS)

BANDS = {
    "all": {},
    "causal": {"causal": True},
    "causal, last query sees all": {"causal": True, "offset": K - Q},
    "causal, first queries see nothing": {"causal": True, "offset": -3},
    "window": {"window": 3},
    "window and causal": {"window": 3, "causal": True},
    "window, last query sees the last key": {"window": 4, "offset": K - Q},
    "symmetric window": {"window": 5, "offset": 2},
    "window of one": {"window": 1, "offset": -2},
    "window larger than all": {"window": 99, "offset": 99},
    "window after all keys": {"window": 2, "offset": 50},
}
bands = pytest.mark.parametrize("band", BANDS.values(), ids=BANDS)


def in_thirds(names, rows, columns):
    """Each row with each column: on every push a third of the pairs, in which each has its turn several times over.

    Rows and columns are dictionaries from what a test's name says to a tuple of values. What only one pair can show is
    a bug of that very pair; the thorough run looks for it.
    """
    pairs = [
        pytest.param(*row, *column, id=f"{one}-{other}", marks=[pytest.mark.thorough] if (i + j) % 3 else [])
        for i, (one, row) in enumerate(rows.items())
        for j, (other, column) in enumerate(columns.items())
    ]
    return pytest.mark.parametrize(names, pairs)


EACH_BAND = {name: (band,) for name, band in BANDS.items()}
EACH_BLOCK = {f"{block_q}x{block_k}": (block_q, block_k) for block_q, block_k in BLOCKS}


def make_inputs(rng, leading=(B, H), heads=HEADS, q=Q, k=K, d=D, v=V, dtype=np.float64):
    return query_key_value(rng, leading, heads, q, k, d, v, dtype)


def allowed(q, k, causal=False, window=None, offset=0):
    """The band as a mask, by how far each key lies ahead of its query."""
    ahead = np.arange(k) - np.arange(q)[:, np.newaxis] - offset
    mask = ahead <= 0 if causal or window is not None else np.ones((q, k), bool)
    return mask if window is None else mask & (ahead > -window)


def some_masks(rng, shape=(B, H, Q, K)):
    """A mask of each kind, by name. The second query of the dense ones may look at nothing."""
    keep = rng.random(shape) < 0.5
    keep[..., 1, :] = False
    return {
        "none": None,
        "boolean": keep,
        "additive": np.where(keep, rng.normal(size=shape), -INF),
        "keys": rng.random(shape[-1]) < 0.6,
        "queries": rng.normal(size=(shape[-2], 1)),
        "batch": rng.random((shape[0], 1, 1, shape[-1])) < 0.6,
        "heads": rng.normal(size=(shape[1], 1, shape[-1])),
        "float64": rng.normal(size=shape[-2:]),
        "one number": np.full((1, 1), 0.25),
    }


MASKS = list(some_masks(np.random.default_rng(0)))
masks = pytest.mark.parametrize("kind", MASKS)
EACH_MASK = {kind: (kind,) for kind in MASKS}


def flash(inputs, d_out=None, mask=None, **options):
    """out, logsumexp and, if there is `d_out`, d_query, d_key, d_value."""
    saved = flash_attention(*inputs, mask=mask, **options)
    return saved if d_out is None else (*saved, *flash_attention_backward(d_out, *inputs, *saved, mask=mask, **options))


def plain(inputs, d_out=None, mask=None, scale=None, **band):
    """The same by plain attention and the formula of logsumexp."""
    query, key, value = inputs
    mask = combine_masks(mask, allowed(query.shape[-2], key.shape[-2], **band))
    out, weights = attention(*inputs, mask=mask, scale=scale)
    repeated = np.repeat(key, query.shape[-3] // max(1, key.shape[-3]), axis=-3) if query.ndim > 2 else key
    scores = (query.shape[-1] ** -0.5 if scale is None else scale) * (query @ repeated.mT)
    scores = np.where(mask, scores, -INF) if mask.dtype == bool else scores + mask
    logsumexp = np.logaddexp.reduce(scores, axis=-1)
    if d_out is None:
        return out, logsumexp
    return out, logsumexp, *attention_backward(d_out, *inputs, weights, scale=scale)


def assert_close(actual, expected, tolerance=1e-13):
    """Equal within `tolerance` of the largest finite entry, but at least of 1."""
    assert np.shape(actual) == np.shape(expected)
    size = np.abs(expected, where=np.isfinite(expected), out=np.zeros(np.shape(expected))).max(initial=1)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * size)


def assert_all_close(actual, expected, tolerance=1e-13):
    for a, b in zip(actual, expected, strict=True):
        assert_close(a, b, tolerance)


def inputs(seed, n, d, v):
    """A gradient of the output, queries, keys and values at random."""
    draw = np.random.default_rng(seed).standard_normal
    return draw((n, v)), draw((n, d)), draw((n, d)), draw((n, v))


def alike(ones, others):
    """Are all arrays of two lists equal up to rounding?"""
    return all(np.allclose(one, other, rtol=0, atol=1e-10) for one, other in zip(ones, others, strict=True))
