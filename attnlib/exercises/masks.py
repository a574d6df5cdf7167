"""Exercises of the chapter on masks: causal alignment, a masked softmax, padding, a bug to spot, a count."""

import math

import numpy as np

from attnlib.exercises._model import Exercise, Mistake, Probe, value_exercise

# causal_mask


def causal_mask(q, k):
    position = np.arange(q)[:, np.newaxis] + (k - q)
    return np.arange(k) <= position


def _causal_oracle(q, k):
    """The last query sees all k keys, the one before it one key less, and so on."""
    mask = np.zeros((q, k), dtype=bool)
    visible = k
    for row in reversed(range(q)):
        for column in range(max(visible, 0)):
            mask[row, column] = True
        visible -= 1
    return mask


def _causal_family(bugs):
    def variant(q, k):
        offset = 0 if "top_left" in bugs else q - k if "wrong_way" in bugs else k - q
        offset += ("one_ahead" in bugs) - ("strict" in bugs)
        query, key = np.arange(q)[:, np.newaxis] + offset, np.arange(k)
        mask = key >= query if "triu" in bugs else key <= query
        mask = ~mask if "inverted" in bugs else mask
        return np.where(mask, 0.0, -np.inf) if "additive" in bugs else mask

    return variant


_CAUSAL = Exercise(
    "causal_mask",
    title="A causal mask for decoding",
    chapter="masks",
    level="easy",
    minutes=10,
    oracle=_causal_oracle,
    solution=causal_mask,
    family=_causal_family,
    probes=(
        Probe("3 queries, 5 keys", lambda rng: (3, 5)),
        Probe("one query, 5 keys", lambda rng: (1, 5), why="the step of a decoder"),
        Probe("4 queries, 4 keys", lambda rng: (4, 4), "equal", "where both alignments agree"),
        Probe("more queries than keys", lambda rng: (4, 2), "edge", "the first queries may look at nothing"),
    ),
    mistakes=(
        Mistake(
            "top_left", "k <= q",
            "Right only if q = k. Here the last query must see every key: the diagonal has to end in the last corner.", 2,
        ),
        Mistake(
            "wrong_way", "k <= q + (q - k)",
            "The diagonal moved to the wrong side: more keys than queries means that the first query sees more.", 2,
        ),
        Mistake(
            "strict", "k < q + offset",
            "Your mask hides each query's own position; a token may look at itself.", 3,
        ),
        Mistake(
            "one_ahead", "k <= q + offset + 1",
            "Each query sees one token of its future: the diagonal lies one place too far to the right.", 3,
        ),
        Mistake(
            "triu", "k >= q + offset",
            "Queries see the future and not the past: it is the lower triangle that is allowed.", 1,
        ),
        Mistake(
            "inverted", "True = hidden",
            "Your mask is the exact complement: True has to mean that the query may look at the key.", 1,
        ),
        Mistake(
            "additive", "0 and -inf",
            "You returned the additive form, 0 and -inf; here True and False are wanted.", 1,
        ),
    ),
    hints=(
        "True = may look. Draw the mask for 2 queries and 4 keys on paper. The last row is all True.",
        "If the queries are the last q of k tokens, at which place among the keys does query 0 stand?",
        "Query number i stands at place i + k - q. It may look at every key whose number is at most its place.",
    ),
    why="A column of places against a row of key numbers: the comparison broadcasts to (q, k). "
    "With q = k the shift is 0, and it is the usual lower triangle.",
    insight="One query, k keys: the whole row is True, so a decoder that takes one token at a time needs no causal mask.",
    accepts={
        "lower triangle": lambda q, k: np.tril(np.ones((q, k), dtype=bool), k=k - q),
        "not the upper triangle": lambda q, k: ~np.triu(np.ones((q, k), dtype=bool), 1 + k - q),
        "the last rows of a square": lambda q, k: (
            np.tril(np.ones((max(q, k), max(q, k)), dtype=bool))[-q:, max(q, k) - k :]
        ),
        "indices": lambda q, k: np.fromfunction(lambda i, j: j - i <= k - q, (q, k)),
    },
    cancelling=(frozenset({"strict", "one_ahead"}),),
)


# masked_softmax


def masked_softmax(scores, keep):
    alive = keep.any(axis=-1, keepdims=True)  # may this query look at anything?
    visible = np.where(keep | ~alive, scores, -np.inf)
    exponentials = np.exp(visible - visible.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return np.where(alive, weights, 0)


def _masked_oracle(scores, keep):
    weights = np.zeros(scores.shape)
    for row in np.ndindex(scores.shape[:-1]):
        allowed = [j for j, may in enumerate(keep[row]) if may]
        largest = max((scores[row][j] for j in allowed), default=0.0)
        powers = [math.exp(scores[row][j] - largest) for j in allowed]
        for j, power in zip(allowed, powers, strict=True):
            weights[(*row, j)] = power / math.fsum(powers)
    return weights


def _softmax(scores, bugs=frozenset()):
    """Softmax with care for rows of -inf, and the mistakes that concern the maximum and that care."""
    largest = scores.max(axis=None if "max_global" in bugs else -1, keepdims=True)
    if "no_max" in bugs:
        largest = np.zeros(())
    if "nan_rows" not in bugs:
        largest = np.where(np.isneginf(largest), 0, largest)
    exponentials = np.exp(scores - largest)
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / (total if "nan_rows" in bugs else np.where(total == 0, 1, total))


_FILLS = {"times_zero": 0.0, "minus_ten": -10.0, "minus_1e9_fill": -1e9}


def _masked_family(bugs):
    def variant(scores, keep):
        keep = ~keep if "inverted" in bugs else keep
        keep = keep[:1] if "first_of_batch" in bugs and keep.ndim > 2 else keep
        given = scores.copy()
        if "inplace" in bugs:
            np.copyto(scores, -np.inf, where=~keep)
        if "after_no_renorm" in bugs or "after_renorm" in bugs:
            weights = _softmax(given, bugs) * keep
            total = weights.sum(axis=-1, keepdims=True)
            if "nan_rows" not in bugs:
                total = np.where(total == 0, 1, total)
            return weights if "after_no_renorm" in bugs else weights / total
        if "inf_times" in bugs:
            return _softmax(given + ~keep * -np.inf, bugs)
        if "add_bool" in bugs:
            return _softmax(given + keep, bugs)
        if "minus_1e9_add" in bugs:
            return _softmax(given + np.where(keep, 0, -1e9), bugs)
        fill = next((number for bug, number in _FILLS.items() if bug in bugs), -np.inf)
        return _softmax(np.where(keep, given, fill), bugs)

    return variant


def _padding(rng):
    keep = np.arange(5) < np.array([[[3]], [[4]]])
    return rng.standard_normal((2, 3, 5)), np.broadcast_to(keep, (2, 3, 5)).copy()


def _shifted(by):
    def make(rng):
        keep = np.arange(6) <= np.arange(4)[:, np.newaxis] + 1
        return by + rng.standard_normal((4, 6)), keep

    return make


def _empty_rows(rng):
    keep = np.tril(np.ones((4, 4), dtype=bool)) & (np.arange(4) >= 2)
    return rng.standard_normal((4, 4)), keep


def _huge_hidden(rng):
    scores, keep = _shifted(0.0)(rng)
    scores[0, 3] = scores[2, 5] = 900.0
    return scores, keep


_MASKED = Exercise(
    "masked_softmax",
    title="A softmax with a mask",
    chapter="masks",
    level="medium",
    minutes=15,
    oracle=_masked_oracle,
    solution=masked_softmax,
    family=_masked_family,
    probes=(
        Probe("padding", _padding),
        Probe(
            "causal",
            lambda rng: (rng.standard_normal((4, 4)), np.tril(np.ones((4, 4), dtype=bool))),
            "equal",
            "square, so that mixed-up axes run",
        ),
        Probe(
            "all allowed",
            lambda rng: (rng.standard_normal((3, 5)), np.ones((3, 5), dtype=bool)),
            why="then it is a softmax",
        ),
        Probe("scores near -30", _shifted(-30.0), why="below every modest fill"),
        Probe("scores near 1000", _shifted(1000.0), "edge"),
        Probe("a row that sees nothing", _empty_rows, "edge"),
        Probe("a hidden key has a huge score", _huge_hidden, "edge"),
        Probe(
            "rows far apart",
            lambda rng: (_shifted(0.0)(rng)[0] - [[0], [2000], [0], [1000]], _shifted(0.0)(rng)[1]),
            "edge",
        ),
    ),
    mistakes=(
        Mistake("inverted", "keep and hide swapped", "You hid exactly the allowed keys: True means keep.", 1),
        Mistake(
            "after_no_renorm", "softmax(s) * keep",
            "You masked after the softmax, so rows no longer sum to 1; hidden keys have to go before it.", 2,
        ),
        Mistake(
            "after_renorm", "softmax(s) * keep / sum",
            "Right until a hidden key has a huge score, which wipes out the visible ones: hide it before the maximum is taken.",
            2,
        ),
        Mistake(
            "times_zero", "softmax(s * keep)",
            "A score of 0 does not hide a key: the exponential of 0 is 1, and the key still gets a weight.", 2,
        ),
        Mistake(
            "add_bool", "softmax(s + keep)",
            "You added True and False, 1 and 0, to the scores: hidden keys are only e times less likely.", 2,
        ),
        Mistake(
            "minus_ten", "hidden scores = -10",
            "A finite number such as -10 hides a key only while the real scores are higher.", 2,
        ),
        Mistake(
            "inf_times", "s + (1 - keep) * -inf",
            "0 times infinity is NaN, so the allowed entries became NaN: choose between two numbers, do not multiply.", 2,
        ),
        Mistake(
            "first_of_batch", "keep[0] for all",
            "Right for the first batch element; the others were masked with the mask of the first.", 1,
        ),
        Mistake(
            "inplace", "scores[~keep] = -inf",
            "The weights are right, but you wrote into the caller's scores; work on an array of your own.", 1,
        ),
        Mistake(
            "nan_rows", "no care for empty rows",
            "A query with no allowed key got NaN, -inf minus -inf; it should get zeros.", 3,
        ),
        Mistake(
            "minus_1e9_add", "s + -1e9",
            "Right for ordinary rows, but a query with no allowed key looks at everything, as if there were no mask.", 3,
        ),
        Mistake(
            "minus_1e9_fill", "hidden scores = -1e9",
            "Right for ordinary rows, but a query with no allowed key shares itself evenly among the forbidden ones.", 3,
        ),
        Mistake(
            "no_max", "exp without the maximum",
            "Right on ordinary scores, NaN near 1000: shift each row by its largest visible score.", 2,
        ),
        Mistake(
            "max_global", "one maximum for the whole array",
            "One maximum for all rows: a row that lies far below it underflows to zeros. Each row needs its own.", 2,
        ),
    ),
    hints=(
        "Choose score by score, with `np.where`: the score itself if the key is allowed, otherwise a number whose "
        "exponential is exactly 0.",
        "Only minus infinity is below every score. Put it in before the maximum is taken and before the sum; then the "
        "softmax of chapter 1 does the rest, row by row.",
        "In a row without an allowed key the maximum is minus infinity as well. Find those rows with `keep.any` along "
        "the last axis, give them harmless scores, and put zeros in at the end.",
    ),
    why="Rows with nothing to look at keep their scores, so that no infinity meets another, and are set to zero at the "
    "end. The library replaces their maximum by 0 instead; the weights are the same.",
    insight="Hidden keys get exactly 0, whatever their scores: as if they had been deleted.",
    accepts={
        "maximum replaced": lambda scores, keep: _softmax(np.where(keep, scores, -np.inf)),
        "exponential, then zero": lambda scores, keep: _exponential_then_zero(scores, keep),
        "row by row": lambda scores, keep: np.stack(
            [_one_row(s, m) for s, m in zip(scores.reshape(-1, scores.shape[-1]), keep.reshape(-1, keep.shape[-1]))]
        ).reshape(scores.shape),
    },
)


def _exponential_then_zero(scores, keep):
    largest = scores.max(axis=-1, keepdims=True, where=keep, initial=-1e300)
    powers = np.zeros_like(scores)
    np.exp(scores - largest, out=powers, where=keep)
    total = powers.sum(axis=-1, keepdims=True)
    return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)


def _one_row(scores, keep):
    weights = np.zeros(len(scores))
    if keep.any():
        powers = np.exp(scores[keep] - scores[keep].max())
        weights[keep] = powers / powers.sum()
    return weights


# padded_causal_attention


def padded_causal_attention(query, key, value, real):
    n = query.shape[-2]
    keep = np.tril(np.ones((n, n), dtype=bool)) & real[:, np.newaxis, :]
    alive = keep.any(axis=-1, keepdims=True)
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    visible = np.where(keep | ~alive, scores, -np.inf)
    exponentials = np.exp(visible - visible.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return np.where(alive, weights, 0) @ value


def _padded_oracle(query, key, value, real):
    out = np.zeros((*query.shape[:-1], value.shape[-1]))
    for b, i in np.ndindex(query.shape[:-1]):
        allowed = [j for j in range(i + 1) if real[b, j]]
        scores = [math.fsum(x * y for x, y in zip(query[b, i], key[b, j], strict=True)) for j in allowed]
        scores = [score / math.sqrt(query.shape[-1]) for score in scores]
        powers = [math.exp(score - max(scores)) for score in scores]
        for feature in range(value.shape[-1]):
            mixed = math.fsum(power * value[b, j, feature] for power, j in zip(powers, allowed, strict=True))
            out[b, i, feature] = mixed / math.fsum(powers) if allowed else 0.0
    return out


def _padded_family(bugs):
    def variant(query, key, value, real):
        n = query.shape[-2]
        causal = np.tril(np.ones((n, n), dtype=bool), k=-1 if "strict" in bugs else 0)
        real = ~real if "inverted" in bugs else real
        visible_keys = real[:, np.newaxis, :]
        if "query_axis" in bugs:
            visible_keys = real[:, :, np.newaxis]
        elif "no_query_axis" in bugs:
            visible_keys = real
        if "only_causal" in bugs or "mask_v" in bugs:
            keep = causal
        elif "only_pad" in bugs:
            keep = visible_keys
        else:
            keep = causal | visible_keys if "or" in bugs else causal & visible_keys
        if "mask_v" in bugs:
            value = np.where(real[:, :, np.newaxis], value, 0)
        scores = query @ key.mT / (1.0 if "no_scale" in bugs else np.sqrt(query.shape[-1]))
        return _softmax(np.where(keep, scores, -np.inf), bugs) @ value

    return variant


def _sequences(real, d=4, v=2, size=1.0):
    def make(rng):
        mask = np.array(real, dtype=bool)
        query, key = size * rng.standard_normal((2, *mask.shape, d))
        return query, key, rng.standard_normal((*mask.shape, v)), mask

    return make


_LEFT = [[1, 1, 1, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
_RIGHT = [row[::-1] for row in _LEFT]

_PADDED = Exercise(
    "padded_causal_attention",
    title="Padded sentences, attended causally",
    chapter="masks",
    level="hard",
    minutes=20,
    oracle=_padded_oracle,
    solution=padded_causal_attention,
    family=_padded_family,
    probes=(
        Probe("padding on the left", _sequences(_LEFT)),
        Probe("padding on the right", _sequences(_RIGHT), why="here the causal mask hides the padding by itself"),
        Probe("b = n, with holes", _sequences([[1, 0, 1], [0, 1, 1], [1, 1, 1]]), "equal"),
        Probe("no padding", _sequences([[1, 1, 1, 1]] * 2, d=3, v=5), why="then it is causal attention"),
        Probe("large scores", _sequences(_LEFT, size=40.0), "edge", "nothing may overflow"),
    ),
    mistakes=(
        Mistake(
            "query_axis", "real[:, :, None]",
            "`real` stands on the axis of the queries; it is keys that have to be hidden.", 1,
        ),
        Mistake(
            "no_query_axis", "real as (queries, keys)",
            "`real`, (b, n), was broadcast as (queries, keys): its first axis is the batch, so an axis is missing between.",
            1,
        ),
        Mistake("or", "causal | real", "The two masks were joined with OR; a key has to pass both.", 2),
        Mistake(
            "only_causal", "padding ignored",
            "Padding is still looked at: only the causal mask is active. With padding on the right this does not show.", 2,
        ),
        Mistake("only_pad", "causality ignored", "Queries see the future: only the padding mask is active.", 2),
        Mistake(
            "mask_v", "values of padding = 0",
            "Padding hands over zeros but still takes its share of the weights; it is the scores that need the mask.", 2,
        ),
        Mistake(
            "nan_rows", "no care for empty rows",
            "A query that sees nothing but padding became NaN; it should return zeros.", 3,
        ),
        Mistake(
            "inverted", "True = padding",
            "You hid the real tokens and kept the padding: True means a real token.", 1,
        ),
        Mistake(
            "strict", "k < q",
            "Your mask hides each token from itself; a token may look at itself.", 2,
        ),
        Mistake("no_scale", "softmax(QK^T)", "The masks are right; the scores are not divided by the root of d.", 2),
    ),
    hints=(
        "`real` has one entry per key of each sentence. Every query of the sentence gets the same row: give it an axis "
        "of size 1 where the queries stand.",
        "A key must have a position not after the query, and be a real token: both. Join the two masks, (n, n) and "
        "(b, 1, n), before the softmax.",
        "Scores, divided by the root of d; the joined mask; your `masked_softmax`, which also looks after queries that "
        "see nothing; times the values.",
    ),
    why="The masks broadcast to (b, n, n) when they are joined. With `masked_softmax` from the exercise before, four "
    "lines are enough.",
    insight="Padding on the left empties rows, padding on the right does not: test a mask with both.",
    accepts={
        "additive": lambda query, key, value, real: (
            _softmax(
                query @ key.mT / np.sqrt(query.shape[-1])
                + np.where(real, 0, -np.inf)[:, None, :]
                + np.triu(np.full((real.shape[1],) * 2, -np.inf), k=1)
            )
            @ value
        ),
        "sentence by sentence": lambda query, key, value, real: np.stack(
            [_one_sentence(*sentence) for sentence in zip(query, key, value, real)]
        ),
    },
)


def _one_sentence(query, key, value, real):
    out = np.zeros((len(query), value.shape[-1]))
    for i in range(len(query)):
        seen = np.flatnonzero(real[: i + 1])
        if seen.size:
            out[i] = _softmax(key[seen] @ query[i] / np.sqrt(query.shape[-1])) @ value[seen]
    return out


# allowed_pairs: two sentences of 3 and 5 tokens


def _allowed_pairs():
    # A sentence of n real tokens has n (n + 1) / 2 allowed pairs, wherever it stands.
    return 3 * 4 // 2 + 5 * 6 // 2


def _count_pairs():
    return sum(j <= i and j >= 5 - length for length in (3, 5) for i in range(5) for j in range(5))


_PAIRS = value_exercise(
    "allowed_pairs",
    title="How many pairs are left?",
    chapter="masks",
    level="easy",
    minutes=5,
    answer=_allowed_pairs,
    oracle=_count_pairs,
    wrong={
        Mistake(
            "right_side", "padding on the right",
            "That is the count for padding on the right, where padded queries still see real tokens before them.", 2,
        ): lambda: 27,
        Mistake(
            "no_padding", "2 * 15", "That is causality alone; the padding keys of the short sentence are hidden too.", 2
        ): lambda: 30,
        Mistake(
            "only_pad", "5 * 3 + 5 * 5", "That is the padding mask alone; nobody may look ahead either.", 1
        ): lambda: 40,
        Mistake(
            "square", "3 * 3 + 5 * 5",
            "Those are the pairs of real tokens in both directions; half of them look ahead.", 1,
        ): lambda: 34,
        Mistake("strict", "3 + 10", "You left out the diagonal: a token may look at itself.", 1): lambda: 13,
        Mistake("all", "2 * 25", "That is every pair, with no mask at all.", 1): lambda: 50,
        Mistake("hidden", "50 - answer", "That is how many pairs are hidden.", 3): lambda: 29,
        Mistake("or", "either mask", "A pair has to pass both masks; you counted those that pass one or the other.", 2): (
            lambda: 49
        ),
        Mistake("one", "3 tokens alone", "That is the short sentence; the long one is missing.", 3): lambda: 6,
        Mistake("other", "5 tokens alone", "That is the long sentence; the short one is missing.", 3): lambda: 15,
    },
    hints=(
        "Draw the two grids, 5 by 5. Cross out what lies above the diagonal, and then the columns of padding.",
        "The short sentence stands in the last three places. How many keys do its five queries see, one by one?",
        "0 + 0 + 1 + 2 + 3 for the short sentence; the full triangle of 5 for the long one.",
    ),
    why="The last three queries of the short sentence see 1, 2 and 3 keys, the first two none. The long one is a "
    "full triangle.",
    insight="Two rows are empty. With padding on the right no row is, and there are six pairs more.",
)


# spot_mask: the reader sees the weights of `suspect`, 3 queries and 5 keys

suspect = _masked_family(frozenset({"after_no_renorm"}))


def _spot_mask():
    # Zeros in the right places, but only the last row, which hides nothing, sums to one.
    return "after softmax"


def _name_of_the_bug():
    """Find out by running: do hidden scores still take part in the sum?"""
    keep = np.array([[True, True, False]])
    one, other = (suspect(np.array([[0.0, 1.0, hidden]]), keep) for hidden in (0.0, 5.0))
    return "something else" if np.allclose(one, other) or one[0, 2] else "after softmax"


_SPOT = value_exercise(
    "spot_mask",
    title="Spot the bug",
    chapter="masks",
    level="easy",
    minutes=5,
    answer=_spot_mask,
    oracle=_name_of_the_bug,
    wrong={
        Mistake(
            "top_left", "k <= q",
            "Then the last of the three queries would see three keys only; here it sees all five, as it should.", 1,
        ): lambda: "top left",
        Mistake(
            "one_ahead", "k <= q + offset + 1",
            "Then the first query would see four keys; count the cells that are not zero.", 1,
        ): lambda: "one ahead",
        Mistake(
            "finite_fill", "hidden scores = -10",
            "Then hidden keys would hold a small weight and each row would sum to 1; add up the first row.", 2,
        ): lambda: "finite fill",
        Mistake(
            "no_scale", "scores not divided by the root of d",
            "Then the weights would be sharper, but each row would still sum to 1; add up the first row.", 2,
        ): lambda: "no scale",
        Mistake(
            "wrong_axis", "softmax along the queries",
            "Then each column would sum to 1; add up the last one.", 2,
        ): lambda: "wrong axis",
    },
    hints=(
        "Are the zeros in the right places? The last query has to see all keys, the one before it one key less.",
        "Add up each row. Which of them sum to one?",
        "The row that hides nothing is right, the others are too small. At which step did their missing share get lost?",
    ),
    why="The zeros are in the right places. But rows that hide something sum to less than one: the hidden keys took "
    "their share in the softmax and were crossed out afterwards.",
    insight="It looks like a mask and leaks like none: what is missing from a row tells how strong the hidden keys were.",
)

EXERCISES = (_SPOT, _CAUSAL, _MASKED, _PAIRS, _PADDED)
