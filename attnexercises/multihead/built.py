"""The two heads that are built by hand: one looks at the token before, one at the first token of its kind."""

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe
from attnexercises.multihead import accepts
from attnexercises.multihead.looks import LOOKS, behaviour, expected


def _before(text, i):
    return i - 1


def _first(text, i):
    return text.index(text[i])


def _previous_oracle(letters, places):
    return expected(_before, 1, letters, places)


def _first_oracle(letters, places):
    return expected(_first, 0, letters, places)


def previous_token_head(letters, places):
    query_weight = np.zeros((letters + places, places))
    key_weight = np.zeros((letters + places, places))
    ahead = np.log(9 * places)  # by how much the right score leads
    query_weight[letters:] = np.sqrt(places) * ahead * np.eye(places, k=-1)
    key_weight[letters:] = np.eye(places)
    return query_weight, key_weight


def _previous_family(bugs):
    def variant(letters, places):
        query_weight, key_weight = np.zeros((2, letters + places, places))
        size = np.sqrt(places) * np.log(9 * places)
        if "flat" in bugs:
            size = 1.0
        if "fixed" in bugs:
            size = 12.0
        if "sign" in bugs:
            size = -size
        offset = 0 if "itself" in bugs else 1 if "ahead" in bugs else -2 if "two_back" in bugs else -1
        query_weight[letters:] = size * np.eye(places, k=offset)
        key_weight[letters:] = np.eye(places)
        if "letters" in bugs:
            query_weight, key_weight = np.zeros((2, letters + places, letters))
            query_weight[:letters] = size * np.eye(letters)
            key_weight[:letters] = np.eye(letters)
        return (0 * query_weight if "nothing" in bugs else query_weight), key_weight

    return variant


_PREVIOUS = Exercise(
    "previous_token_head",
    title="A head that looks one back",
    chapter="multihead",
    level="medium",
    minutes=15,
    blanks=2,
    oracle=_previous_oracle,
    solution=previous_token_head,
    family=_previous_family,
    behaviour=behaviour(_before, 1),
    outputs=LOOKS,
    probes=(
        Probe("3 letters, 6 places", lambda rng: (3, 6)),
        Probe("4 letters, 4 places", lambda rng: (4, 4), "equal", "a row of a letter taken for that of a place"),
        Probe("2 letters, 100 places", lambda rng: (2, 100), "edge"),
    ),
    mistakes=(
        Mistake(
            "nothing", "W_Q = 0",
            "Every token looks at all tokens alike: no score differs from another.", 1,
        ),
        Mistake(
            "itself", "W_Q = s I",
            "The query of a place asks for the key of the same place; the one before is wanted.", 1,
            sets="place",
        ),
        Mistake(
            "ahead", "W_Q = s eye(k=1)",
            "The row of a place asks for the place after it; the one before is wanted.", 2,
            sets="place",
        ),
        Mistake(
            "two_back", "W_Q = s eye(k=-2)",
            "The row of a place asks for the place two before it; the one before is wanted.", 2,
            sets="place",
        ),
        Mistake(
            "letters", "the rows of the letters",
            "The rows of the letters are filled, not those of the places: a token asks for its own letter.", 1,
            sets="place",
        ),
        Mistake(
            "sign", "W_Q = - s eye(k=-1)",
            "The sign of the scores is turned round: the wanted token has to get more than all others.", 2,
        ),
        Mistake(
            "flat", "the factor 1, or without sqrt(d)",
            "The scores need a larger factor: one token has to get more than 0.9 of its row.", 3,
            sets="size",
        ),
        Mistake(
            "fixed", "the factor 12, for any number of places",
            "The scores have one factor for texts of any length: the more keys there are, the more the wanted score "
            "must lead.", 3,
            sets="size",
        ),
    ),
    hints=(
        "Give every place a feature of its own in the keys: which rows of key_weight are then an identity matrix?",
        "The row of place i in query_weight is what a token at place i asks for: the feature of place i - 1, and no "
        "other. Where does that put the numbers, above or below the diagonal?",
        "One score leads n - 1 others by a. Its weight is e^a / (e^a + n - 1), more than 0.9 if e^a is more than "
        "9 (n - 1). And a score is divided by the root of d, so multiply by that.",
    ),
    why="The key of a place is one hot; the query of place i asks for place i - 1. The factor makes the lead of the right "
    "score log(9 p), so that its exponential outweighs p - 1 others nine times.",
    insight="A pattern is in the product of the two matrices; how sharp it is depends on their size.",
    accepts={
        "the shift in the keys": lambda letters, places: (
            np.vstack([np.ones((letters, places)), 99 * np.sqrt(places) * np.eye(places)]),
            np.vstack([np.zeros((letters, places)), np.eye(places, k=1)]),
        ),
        "in a circle, in float32": lambda letters, places: (
            np.vstack([np.zeros((letters, places)), 200 * np.roll(np.eye(places), -1, axis=1)]).astype(np.float32),
            np.vstack([np.ones((letters, places)), np.eye(places)]).astype(np.float32),
        ),
        **accepts.PREVIOUS,
    },
)  # fmt: skip


def first_of_its_kind_head(letters, places):
    query_weight = np.zeros((letters + places, letters + 1))
    key_weight = np.zeros((letters + places, letters + 1))
    step = 3 * np.sqrt(letters + 1)  # a key loses 3 from place to place
    query_weight[:letters, :letters] = step * places * np.eye(letters)
    query_weight[:letters, letters] = 1.0
    key_weight[:letters, :letters] = np.eye(letters)
    key_weight[letters:, letters] = -step * np.arange(places)
    return query_weight, key_weight


def _first_family(bugs):
    def variant(letters, places):
        query_weight, key_weight = np.zeros((2, letters + places, letters + 1))
        step = (0.1 if "gentle" in bugs else 3.0) * np.sqrt(letters + 1)
        kind = 0.0 if "any_letter" in bugs else step * (1 if "weak" in bugs else places)
        query_weight[:letters, :letters] = -kind * np.eye(letters) if "other_kind" in bugs else kind * np.eye(letters)
        key_weight[:letters, :letters] = np.eye(letters)
        if "own_place" in bugs:
            query_weight[letters:, letters] = np.arange(places)
        else:
            query_weight[:letters, letters] = 1.0
        fall = 0.0 if "whole_kind" in bugs else step if "last" in bugs else -step
        key_weight[letters:, letters] = fall * np.arange(places)
        if "itself" in bugs:
            query_weight, key_weight = np.zeros((2, letters + places, places))
            query_weight[letters:], key_weight[letters:] = 99 * np.sqrt(places) * np.eye(places), np.eye(places)
        return query_weight, key_weight

    return variant


_FIRST = Exercise(
    "first_of_its_kind_head",
    title="A head that finds the first of its kind",
    chapter="multihead",
    level="hard",
    minutes=20,
    blanks=4,
    oracle=_first_oracle,
    solution=first_of_its_kind_head,
    family=_first_family,
    behaviour=behaviour(_first, 0),
    outputs=LOOKS,
    probes=(
        Probe("3 letters, 6 places", lambda rng: (3, 6)),
        Probe("4 letters, 4 places", lambda rng: (4, 4), "equal", "a row of a letter taken for that of a place"),
        Probe("5 letters, 60 places", lambda rng: (5, 60), why="far from the start, other letters have the early places"),
    ),
    mistakes=(
        Mistake(
            "whole_kind", "no feature for the place",
            "Nothing prefers an early place: among the tokens of a letter the first has to win.", 1,
            sets="step share",
        ),
        Mistake(
            "any_letter", "no features for the letter",
            "The query does not ask for its letter, only for a place.", 1,
        ),
        Mistake(
            "other_kind", "the letters with a minus",
            "The sign of the letters' features is turned round: a token has to ask for its own letter.", 2,
        ),
        Mistake(
            "last", "+ j in the keys",
            "The feature of the place grows where it should fall: the first of a letter is wanted, not the last.", 2,
        ),
        Mistake(
            "itself", "the place asks for the place",
            "A token asks for its own place; it has to ask for its letter and for an early place.", 1,
        ),
        Mistake(
            "own_place", "i in the query, -j in the key",
            "It is the token's own place that asks for early ones, and for token 0 that place is 0.", 2,
        ),
        Mistake(
            "gentle", "a small step from place to place",
            "From place to place a key has to lose more: the first of a letter needs a share of 0.9.", 3,
            sets="step",
        ),
        Mistake(
            "weak", "the letter counts as much as one place",
            "The letter counts as much as one place only; over many places the feature of the place outweighs it.", 3,
            sets="share",
        ),
    ),
    hints=(
        "Two wishes, so two groups of columns: one feature for each letter, so that a token asks for its own, and one "
        "more that is larger for early keys.",
        "Every token has exactly one letter. So a column of query_weight with a 1 in each row of a letter gives all "
        "queries a 1. The keys answer with a number that falls from place to place.",
        "If the scores of one letter fall by 3 from place to place, the first gets at least 0.95 of what these share. The right "
        "letter must be worth more than the whole fall, from the first place to the last.",
    ),
    why="The score is a bonus for the own letter, minus 3 for each place. Among keys of one letter the first wins with 0.95; the "
    "bonus, 3 times the number of places, is more than any early place of another letter can make up for.",
    insight="Scores add up wishes: the larger one is decided first, the smaller one among what is left.",
    accepts=accepts.FIRST,
)  # fmt: skip


EXERCISES = (_PREVIOUS, _FIRST)
