"""Exercises on padding together with causality: the attention, and how many pairs are left."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe, value_exercise
from attnexercises.masks import padding_mistakes

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
    title="Padded sentences, attended causally", level="medium", minutes=20, blanks=3, oracle=_padded_oracle,
    solution=padded_causal_attention,
    probes=(
        Probe("padding on the left", _sequences(_LEFT)),
        Probe("padding on the right", _sequences(_RIGHT), why="here the causal mask hides the padding by itself"),
        Probe("b = n, with holes", _sequences([[1, 0, 1], [0, 1, 1], [1, 1, 1]]), "equal"),
        Probe("no padding", _sequences([[1, 1, 1, 1]] * 2, d=3, v=5), why="then it is causal attention"),
        Probe("large scores", _sequences(_LEFT, size=40.0), "edge", "nothing may overflow"),
        Probe("real keys near -4e9, padding near 4e9", _below_every_fill, "edge",
            "no finite number hides a key, neither in the place of its score nor added to it"),
        Probe("one token", _sequences([[1], [0]], d=3, v=2), "edge", "axes of size 1 stay; the other sees nothing"),
        Probe("one sentence, one feature", _sequences([[0, 1, 1, 0]], d=1, v=1), "edge", "axes of size 1 stay"),
        Probe("a sentence of padding alone", _sequences([[1, 1, 0], [0, 0, 0]], d=5, v=4), "edge", "all its rows are zero"),
        Probe("zeros among the scores", _zero_scores, "edge", "a score of 0 is a score like any other"),
    ),
    mistakes=padding_mistakes.PADDED_CAUSAL_ATTENTION,
    hints=(
        "`real` has one entry for each key of each sentence. All queries of a sentence share this row, so give it an axis of size "
        "1 where the queries are.",
        "A key must be a real token, and it must not come after the query. Join the two masks, (n, n) and (b, 1, n), before the "
        "softmax.",
        "Compute the scores and divide them by the root of d. Give them and the joined mask to your `masked_softmax`, which also "
        "takes care of queries that see nothing. Multiply its weights by the values.",
    ),
    why="The masks broadcast to (b, n, n) when they are joined. With `masked_softmax` from exercise 4.3, four lines are enough.",
    insight="Padding on the left empties rows, padding on the right does not: test a mask with both.",
)  # fmt: skip


# allowed_pairs: two sentences of 3 and 5 tokens


def _allowed_pairs():
    # A sentence of n real tokens has n (n + 1) / 2 allowed pairs, wherever it stands.
    return 3 * 4 // 2 + 5 * 6 // 2


def _count_pairs():
    return sum(j <= i and j >= 5 - length for length in (3, 5) for i in range(5) for j in range(5))


_PAIRS = value_exercise(
    title="How many pairs are left?", level="easy", minutes=5, answer=_allowed_pairs, oracle=_count_pairs,
    mistakes=(
        Mistake("right_side", lambda: 27,
            "That is the count for padding on the right, where padded queries still see real tokens before them.", 2),
        Mistake("no_padding", lambda: 30,
            "That is the causal mask alone. The padding keys of the short sentence are hidden, too.", 2),
        Mistake("only_pad", lambda: 40, "That is the padding mask alone. Nobody may look ahead, either.", 1),
        Mistake("square", lambda: 34, "Those are the pairs of real tokens in both directions. Many of them look ahead.", 1),
        Mistake("strict", lambda: 13, "You left out the diagonal: a token may look at itself.", 1),
        Mistake("all", lambda: 50, "That is every pair, with no mask at all.", 1),
        Mistake("hidden", lambda: 29, "That is how many pairs are hidden.", 3),
        Mistake("or", lambda: 49, "A pair has to pass both masks. You counted the pairs that pass at least one.", 2),
        Mistake("one", lambda: 6, "That is the short sentence alone. The long sentence is missing.", 3),
        Mistake("other", lambda: 15, "That is the long sentence alone. The short sentence is missing.", 3),
        Mistake("padded_see_themselves", lambda: 23,
            "You let the two padding queries see themselves. They see nothing, because their own keys are padding, too.", 2),
        Mistake("short_square", lambda: 24,
            "Your count of the long sentence is causal. In the short sentence nobody may look ahead, either.", 1),
        Mistake("long_square", lambda: 31,
            "Your count of the short sentence is causal. In the long sentence nobody may look ahead, either.", 1),
        Mistake("half", lambda: 25,
            "The masks do not leave half of all pairs: the diagonal stays, and the columns of padding go.", 2),
        Mistake("half_real", lambda: 17,
            "If you take half of the pairs of real tokens, you lose half of the diagonal. A token may look at itself.", 2),
    ),
    hints=(
        "Draw the two grids, 5 by 5. Cross out what lies above the diagonal, and then the columns of padding.",
        "The short sentence is in the last three places. How many keys does each of its five queries see?",
        "The short sentence has 0 + 0 + 1 + 2 + 3 pairs. The long sentence has the full triangle of 5.",
    ),
    why="The last three queries of the short sentence see 1, 2 and 3 keys, and the first two see none. The long sentence is a full "
    "triangle.",
    insight="Two rows are empty. With padding on the right no row is empty, and there are six more pairs.",
)  # fmt: skip
