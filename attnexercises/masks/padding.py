"""Exercises on padding together with causality: the attention, and how many pairs are left."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe, value_exercise
from attnexercises.masks import accepts, padding_mistakes
from attnexercises.softmax.stable import careful_softmax

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
        causal = causal.T if "triu" in bugs else causal
        real = ~real if "inverted" in bugs else real
        if "first_sentence" in bugs:
            real = np.broadcast_to(real[:1], real.shape)
        if "as_if_right" in bugs:
            real = np.arange(n) < real.sum(axis=-1, keepdims=True)
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
        if "both_axes" in bugs:
            keep = keep & real[:, :, np.newaxis]
        if "looks_at_itself" in bugs:
            keep = causal & (visible_keys | np.eye(n, dtype=bool))
        if "mask_v" in bugs:
            value = np.where(real[:, :, np.newaxis], value, 0)
        if "keys_zero" in bugs:
            key, keep = np.where(real[:, :, np.newaxis], key, 0), causal
        return weights_for(query @ key.mT / divisor(n, query.shape[-1], value.shape[-1]), keep) @ value

    def divisor(n, d, v):
        if "no_scale" in bugs or "scale_d" in bugs:
            return 1.0 if "no_scale" in bugs else d
        return np.sqrt(n if "scale_n" in bugs else v if "scale_v" in bugs else d)

    def weights_for(scores, keep):
        if "after_no_renorm" in bugs or "after_renorm" in bugs:
            weights = careful_softmax(scores, bugs) * keep
            total = weights.sum(axis=-1, keepdims=True)
            return weights if "after_no_renorm" in bugs else weights / np.where(total == 0, 1, total)
        if "times_zero" in bugs:
            return careful_softmax(scores * keep, bugs)
        visible = np.where(keep, scores, -1e9 if "minus_1e9" in bugs else -np.inf)
        if "softmax_queries" in bugs:
            return careful_softmax(visible.mT, bugs).mT
        weights = careful_softmax(visible, bugs)
        return np.where(keep.any(axis=-1, keepdims=True), weights, 1 / keep.shape[-1]) if "empty_even" in bugs else weights

    return variant


def _sequences(real, d=4, v=2, size=1.0):
    def make(rng):
        mask = np.array(real, dtype=bool)
        query, key = size * rng.standard_normal((2, *mask.shape, d))
        return query, key, rng.standard_normal((*mask.shape, v)), mask

    return make


_LEFT = [[1, 1, 1, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
_RIGHT = [row[::-1] for row in _LEFT]


def _zero_scores(rng):
    """Half of the scores are exactly 0."""
    query, key, value, mask = _sequences(_LEFT, d=2, v=3)(rng)
    query[:, ::2, 0], query[:, 1::2, 1], key[:, ::2, 0], key[:, 1::2, 1] = 0.0, 0.0, 0.0, 0.0
    return query, key, value, mask


def _below_every_fill(rng):
    # Whole numbers, and d = 4: every score is exact, and hundreds from the next, so that each weight is 0 or 1.
    query, key, value, mask = _sequences(_LEFT)(rng)
    query[...] = 0.0
    query[..., 0], query[..., 1] = 2.0**16, 2.0
    key[..., 0], key[..., 1] = np.where(mask, -1, 1) * 2.0**17, 128.0 * rng.permuted(np.tile(np.arange(5), (3, 1)), axis=1)
    return query, key, value, mask


_PADDED = Exercise(
    "padded_causal_attention",
    title="Padded sentences, attended causally",
    chapter="masks",
    level="medium",
    minutes=20,
    blanks=3,
    oracle=_padded_oracle,
    solution=padded_causal_attention,
    family=_padded_family,
    probes=(
        Probe("padding on the left", _sequences(_LEFT)),
        Probe("padding on the right", _sequences(_RIGHT), why="here the causal mask hides the padding by itself"),
        Probe("b = n, with holes", _sequences([[1, 0, 1], [0, 1, 1], [1, 1, 1]]), "equal"),
        Probe("no padding", _sequences([[1, 1, 1, 1]] * 2, d=3, v=5), why="then it is causal attention"),
        Probe("large scores", _sequences(_LEFT, size=40.0), "edge", "nothing may overflow"),
        Probe(
            "real keys near -4e9, padding near 4e9", _below_every_fill, "edge",
            "no finite number hides a key, neither in the place of its score nor added to it",
        ),
        Probe("one token", _sequences([[1], [0]], d=3, v=2), "edge", "axes of size 1 stay; the other sees nothing"),
        Probe("one sentence, one feature", _sequences([[0, 1, 1, 0]], d=1, v=1), "edge", "axes of size 1 stay"),
        Probe("a sentence of padding alone", _sequences([[1, 1, 0], [0, 0, 0]], d=5, v=4), "edge", "all its rows are zero"),
        Probe("zeros among the scores", _zero_scores, "edge", "a score of 0 is a score like any other"),
    ),
    mistakes=padding_mistakes.PADDED_CAUSAL_ATTENTION,
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
            careful_softmax(
                query @ key.mT / np.sqrt(query.shape[-1])
                + np.where(real, 0, -np.inf)[:, None, :]
                + np.triu(np.full((real.shape[1],) * 2, -np.inf), k=1)
            )
            @ value
        ),
        **accepts.PADDED,
    },
)  # fmt: skip


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
        Mistake(
            "padded_see_themselves", "21 + 2",
            "You let the two padded queries see themselves; they see nothing, for padding is no key.", 2,
        ): lambda: 23,
        Mistake(
            "short_square", "3 * 3 + 15",
            "The long sentence is causal in your count; in the short one, too, nobody may look ahead.", 1,
        ): lambda: 24,
        Mistake(
            "long_square", "6 + 5 * 5",
            "The short sentence is causal in your count; in the long one, too, nobody may look ahead.", 1,
        ): lambda: 31,
        Mistake(
            "half", "50 / 2",
            "Half of all pairs is not what the masks leave: the diagonal stays, and the columns of padding go.", 2,
        ): lambda: 25,
        Mistake(
            "half_real", "(3 * 3 + 5 * 5) / 2",
            "Half of the pairs of real tokens leaves out half of the diagonal; a token may look at itself.", 2,
        ): lambda: 17,
    },
    hints=(
        "Draw the two grids, 5 by 5. Cross out what lies above the diagonal, and then the columns of padding.",
        "The short sentence stands in the last three places. How many keys do its five queries see, one by one?",
        "0 + 0 + 1 + 2 + 3 for the short sentence; the full triangle of 5 for the long one.",
    ),
    why="The last three queries of the short sentence see 1, 2 and 3 keys, the first two none. The long one is a "
    "full triangle.",
    insight="Two rows are empty. With padding on the right no row is, and there are six pairs more.",
)  # fmt: skip

EXERCISES = (_PAIRS, _PADDED)
