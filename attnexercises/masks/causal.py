"""The exercise on the causal mask: where its diagonal ends when queries and keys differ in number."""

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


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


_CAUSAL = Exercise(
    title="A causal mask for decoding", level="easy", minutes=10, oracle=_causal_oracle, solution=causal_mask,
    probes=(
        Probe("3 queries, 5 keys", lambda rng: (3, 5)),
        Probe("one query, 5 keys", lambda rng: (1, 5), why="the step of a decoder"),
        Probe("4 queries, 4 keys", lambda rng: (4, 4), "equal", "where both alignments agree"),
        Probe("more queries than keys", lambda rng: (4, 2), "edge", "the first queries may look at nothing"),
        Probe("3 queries, one key", lambda rng: (3, 1), "edge", "a column: the last query alone may look"),
    ),
    mistakes=(
        Mistake("top_left", "(k - q) -> 0",
            "Your diagonal starts in the first corner. It has to end in the last corner, because the last query sees every key.", 2,
            sets="offset"),
        Mistake("wrong_way", "k - q -> q - k",
            "Your diagonal moved to the wrong side. If there are more keys than queries, the first query sees more keys.", 2,
            sets="offset"),
        Mistake("strict", "+ (k - q) -> + (k - q) - 1",
            "Your diagonal is one place too far to the left. A token may look at itself.", 3),
        Mistake("one_ahead", "+ (k - q) -> + (k - q) + 1",
            "Your diagonal is one place too far to the right. A query must not see a token of its future.", 3),
        Mistake("twice", "(k - q) -> 2 * (k - q)",
            "With more keys than queries, your queries see keys of their future. The diagonal moves by k - q, and no further.", 2,
            sets="offset"),
        Mistake("last_key", "np.arange(k) <= position -> (np.arange(k) <= position) & (np.arange(k) < k - 1)",
            "Your mask hides the last key from every query. The last query may look at it.", 3, sets="last"),
        Mistake("first_key", "np.arange(k) <= position -> (np.arange(k) <= position) & (np.arange(k) > 0)",
            "Your mask hides the first key from every query. It comes before all other tokens, so the last query may look at it.", 1, sets="first"),
        Mistake("never_left", "(k - q) -> max(k - q, 0)",
            "Your diagonal never moves to the left. With more queries than keys, the first queries come before all keys and see none.", 2, sets="offset"),
        Mistake("no_sign", "(k - q) -> abs(k - q)",
            "You took the shift without its sign. With more queries than keys, the diagonal moves to the left.", 2, sets="offset"),
        Mistake("first_visible", "return np.arange(k) <= position -> return (np.arange(k) <= position) | (np.arange(k) == 0)",
            "The first key is visible to every query. With more queries than keys, the first queries come before it.", 2, sets="first"),
        Mistake("triu", "<= -> >=",
            "You took the upper triangle, but the lower triangle is the part that is allowed.", 1, sets="all"),
        Mistake("inverted", "<= -> >",
            "True and False have changed places: True has to mean that the query may look at the key.", 1, shows="complement"),
        Mistake("additive", "np.arange(k) <= position -> np.where(np.arange(k) <= position, 0.0, -np.inf)",
            "You returned the additive form, 0 and -inf; this exercise asks for True and False.", 1),
        Mistake("upside_down", "np.arange(q)[ -> np.arange(q)[::-1][",
            "Your rows are in the opposite order. Row 0 belongs to the first query, which has the shortest past.", 2, sets="order"),
        Mistake("mirrored", "np.arange(k) -> np.arange(k)[::-1]",
            "Your columns are in the opposite order. Column 0 belongs to the first key, at which every later query may look.", 2,
            sets="order"),
        Mistake("all_visible", "(k - q) -> k",
            "Your mask hides nothing. A query must not look at the keys that come after its place.", 1, sets="all offset order"),
        Mistake("itself_only", "<= -> ==",
            "In your mask each query sees only the key at its own place. All keys before it are allowed as well.", 1, sets="all"),
    ),
    hints=(
        "True = may look. Draw the mask for 2 queries and 4 keys on paper. The last row is all True.",
        "If the queries are the last q of k tokens, at which place among the keys does query 0 stand?",
        "Query number i stands at place i + k - q. It may look at every key whose number is at most its place.",
    ),
    why="A column of places against a row of key numbers: the comparison broadcasts to (q, k). With q = k the shift is 0, and it "
    "is the usual lower triangle.",
    insight="One query, k keys: the whole row is True, so a decoder that takes one token at a time needs no causal mask.",
)  # fmt: skip
