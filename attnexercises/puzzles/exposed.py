"""Does an input expose a wrong function? The one of `suspects` and a right one are run on what the reader gives."""

from numbers import Real

import numpy as np

from attnexercises.puzzles.suspects import (
    corner_mask,
    filled_softmax,
    hasty_attention,
    mean_shift_softmax,
    tiled_heads,
)

EXPOSED = ("right", "")
SCORES, VALUES = np.array([1.0, 0.0, 2.0, 1.0, 3.0, 0.0]), np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])


def _numbers(answer, at_least, at_most):
    """A list, tuple or array of so many numbers as floats; None if it is anything else."""
    parts = answer.tolist() if type(answer) is np.ndarray else answer
    if type(parts) not in (list, tuple) or not at_least <= len(parts) <= at_most:
        return None
    if not all(isinstance(part, (Real, np.bool_)) for part in parts):
        return None
    return np.array([float(part) for part in parts])


def _pair(answer, largest):
    """Two whole numbers from 1 to `largest`; None if it is anything else."""
    numbers = _numbers(answer, 2, 2)
    if numbers is None or any(number != np.floor(number) or not 1 <= number <= largest for number in numbers):
        return None
    return tuple(int(number) for number in numbers)


def _truths(answer, count):
    """So many truth values; None if it is anything else."""
    numbers = _numbers(answer, *count)
    return None if numbers is None or not np.isin(numbers, (0.0, 1.0)).all() else numbers == 1


def _softmax(x):
    powers = np.exp(x - x.max())
    return powers / powers.sum()


def judge_shift(x):
    x = _numbers(x, 2, 8)
    if x is None:
        return "unreadable", "your input is not valid: a list of 2 to 8 numbers is expected."
    if not np.isfinite(x).all():
        return "infinite", "your input is not valid: one of its numbers is not finite."
    with np.errstate(all="ignore"):
        wrong, right = mean_shift_softmax(x), _softmax(x)
        if not np.allclose(wrong, right, rtol=1e-9, atol=1e-12):
            return EXPOSED
        exponent = x.max() - x.mean()
    return (
        "alike" if x.max() > 709 and exponent < 100 else "close",
        f"both give the same on your input. The largest number lies {exponent:.4g} above the mean.",
    )


def judge_fill(answer):
    pair = list(answer) if type(answer) in (list, tuple) and len(answer) == 2 else [None, None]
    scores = _numbers(pair[0], 2, 8)
    mask = None if scores is None else _truths(pair[1], (len(scores), len(scores)))
    if mask is None or not np.isfinite(scores).all():
        wanted = "2 to 8 finite scores, and as many True and False"
        return "unreadable", f"your input is not valid: a pair is expected, {wanted}."
    if mask.all():
        return "nothing_hidden", "both give the same on your input."
    if not mask.any():
        return "nothing_visible", "your input is not valid: at least one key is to be visible."
    share = filled_softmax(scores, mask)[~mask].sum()
    if share > 0.5:
        return EXPOSED
    raised = scores[~mask].max() > scores[mask].max() > -5  # lower visible scores are on the way to the answer
    return (
        "raised" if raised else "little",
        f"the hidden keys get {share:.2g} of the weight; more than half is asked for.",
    )


def judge_causal(answer):
    sizes = _pair(answer, 8)
    if sizes is None:
        return "unreadable", "your input is not valid: two whole numbers from 1 to 8 are expected, q and k."
    q, k = sizes
    if q > k:
        return "more_queries", "your input is not valid: it has more queries than keys."
    right = np.arange(k) <= np.arange(q)[:, np.newaxis] + k - q
    return ("square", "both give the same on your input.") if np.array_equal(corner_mask(q, k), right) else EXPOSED


def judge_groups(answer):
    heads = _pair(answer, 16)
    if heads is None:
        return "unreadable", "your input is not valid: two whole numbers from 1 to 16 are expected."
    query_heads, kv_heads = heads
    if query_heads % kv_heads:
        return "uneven", f"your input is not valid: {kv_heads} does not divide {query_heads}."
    right = np.arange(query_heads) // (query_heads // kv_heads)
    if not np.array_equal(tiled_heads(query_heads, kv_heads), right):
        return EXPOSED
    return "one" if kv_heads == 1 else "all", "both give the same on your input."


def judge_skip(answer):
    mask = _truths(answer, (6, 6))
    if mask is None:
        return "unreadable", "your input is not valid: six times True or False are expected."
    powers = np.where(mask, np.exp(SCORES), 0.0)
    right = powers @ VALUES / powers.sum() if mask.any() else 0.0
    if not np.isclose(hasty_attention(SCORES, mask, VALUES), right, rtol=1e-9):
        return EXPOSED
    hidden = [not block.any() for block in mask.reshape(3, 2)]
    return "at_end" if any(hidden) else "none_hidden", f"both give {right:.4f} on your input."
