"""The two heads that are built by hand: one looks at the token before, one at the first token of its kind."""

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe
from attnexercises.multihead.looks import LOOKS, alike, behaviour, expected, products, texts


def _before(text, i):
    return i - 1


def _first(text, i):
    return text.index(text[i])


def _previous_oracle(letters, places):
    return expected(_before, 1, letters, places)


def _first_oracle(letters, places):
    return expected(_first, 0, letters, places)


def _previous_cause(tried):
    """What is wrong with the size of the lead, which shows when texts of several lengths are compared."""
    each = [products(arguments, returned, [0] * arguments[1]) for arguments, returned in tried]
    leads, flat = [], True  # whether all other tokens have the same score
    for (letters, places), returned in tried:
        of_texts = [products((letters, places), returned, text).of for text in texts(letters, places)]
        rows = [(of[i, i - 1], np.delete(of[i], i - 1)) for of in of_texts for i in range(1, len(of))]
        leads.append(min(wanted - others.max() for wanted, others in rows))
        flat = flat and all(np.ptp(others) <= 1e-5 * abs(wanted) for wanted, others in rows)
    if not np.isfinite(leads).all() or min(leads) <= 0:
        return ""  # another token gets as much weight, which is another mistake
    divided = [lead / np.sqrt(one.d) for lead, one in zip(leads, each, strict=True)]
    needed = [np.log(9 * (one.places - 1)) for one in each]
    enough = [lead > least for lead, least in zip(divided, needed, strict=True)]
    grows = len({one.d for one in each}) == len({one.places for one in each})
    if alike(leads) and grows:
        return "fixed" if any(enough) else "flat"
    if alike(divided) and flat and divided[0] < _LEAD_OF_A_MILLION:
        return "no_logarithm"
    if not all(enough) and all(lead > least for lead, least in zip(leads, needed, strict=True)):
        return "no_root"
    return ""


_LEAD_OF_A_MILLION = np.log(9e6)  # a smaller lead, the same in all texts, is too small for some text of a million tokens


def previous_token_head(letters, places):
    query_weight = np.zeros((letters + places, places))
    key_weight = np.zeros((letters + places, places))
    ahead = np.log(9 * places)  # by how much the right score leads
    query_weight[letters:] = np.sqrt(places) * ahead * np.eye(places, k=-1)
    key_weight[letters:] = np.eye(places)
    return query_weight, key_weight


_PREVIOUS = Exercise(
    title="A head that looks one back", level="medium", minutes=15, blanks=2, oracle=_previous_oracle, solution=previous_token_head,
    behaviour=behaviour(_before, 1, _previous_cause), outputs=LOOKS,
    probes=(
        Probe("3 letters, 6 places", lambda rng: (3, 6)),
        Probe("4 letters, 4 places", lambda rng: (4, 4), "equal", "a row of a letter taken for that of a place"),
        Probe("2 letters, 100 places", lambda rng: (2, 100), "edge"),
        Probe("3 letters, 20 places", lambda rng: (3, 20), "edge", "leads that grow too slowly fail at different lengths"),
    ),
    mistakes=(
        Mistake("nothing", "return query_weight -> return 0 * query_weight",
            "Every token looks at all tokens alike: no score differs from another.", 1),
        Mistake("itself", "k=-1 -> k=0",
            "The query of a place asks for the key of the same place; the one before is wanted.", 1, sets="place"),
        Mistake("ahead", "k=-1 -> k=1",
            "The row of a place asks for the place after it. It has to ask for the place before it.", 2, sets="place"),
        Mistake("two_back", "k=-1 -> k=-2",
            "The row of a place asks for the place two before it. It has to ask for the place before it.", 2, sets="place"),
        Mistake("letters",
            ("places, places -> places, letters", "[letters:] -> [:letters]", "np.eye(places, k=-1) -> np.eye(letters)",
             "np.eye(places) -> np.eye(letters)"),
            "The rows of the letters are filled in place of those of the places, so a token asks for its own letter.", 1,
            sets="place"),
        Mistake("sign", "= np.sqrt(places) -> = -np.sqrt(places)",
            "The sign of the scores is flipped. The wanted token has to get more weight than all others.", 2),
        Mistake("flat", "np.sqrt(places) * ahead -> 1.0",
            "The scores need a larger factor, because one token has to get more than 0.9 of its row. Attention divides them by √d.", 3,
            sets="size"),
        Mistake("fixed", "np.sqrt(places) * ahead -> 30.0",
            "Your factor is the same for every number of places. But d grows with them, so √d outgrows any fixed factor: let it "
            "depend on `places`.", 3, sets="size"),
        Mistake("no_root", "np.sqrt(places) -> 4.4",
            "The lead is large enough only until the products are divided by √d, and d grows with the number of places. Make up for "
            "that division.", 3, sets="size"),
        Mistake("no_logarithm", "* ahead * np.eye -> * 3.6 * np.eye",
            "After the division by √d your lead is the same for every length. The more keys there are, the further the wanted score "
            "must lead.", 3, sets="size"),
    ),
    hints=(
        "Give every place a feature of its own in the keys. Which rows of key_weight are then an identity matrix?",
        "The row of place i in query_weight says what a token at place i asks for, which is the feature of place i - 1 and no "
        "other. Are these numbers above or below the diagonal?",
        "One score leads n - 1 others by a. Its weight is e^a / (e^a + n - 1), which is more than 0.9 if e^a is more than 9 (n - "
        "1). A score is also divided by the root of d, so multiply by it.",
    ),
    why="The key of a place is one hot, and the query of place i asks for place i - 1. The factor makes the lead of the right "
    "score log(9 p), so that its exponential outweighs p - 1 others nine times.",
    insight="The product of the two matrices holds the pattern. Their size decides how sharp it is.",
)  # fmt: skip


def _first_cause(tried):
    """Whether letter and place keep their factors while texts grow: then a long text has places enough to outweigh the letter."""
    shares, steps, grow = [], [], set()
    for (letters, places), returned in tried:
        one = products((letters, places), returned, [0, 1] + [0] * (places - 2))
        same = products((letters, places), returned, [0] * places)
        steps.append(-np.diff(same.of[-1]))
        shares.append(one.of[-1, 2] - one.of[-1, 1] + steps[-1][0])  # the own letter's advantage at the same place
        grow.add(places)
    if not np.isfinite(np.concatenate(steps)).all() or min(map(min, steps)) <= 0:
        return ""
    return "fixed" if alike(np.concatenate(steps)) and alike(shares) and shares[0] > steps[0][0] * min(grow) else ""


def first_of_its_kind_head(letters, places):
    query_weight = np.zeros((letters + places, letters + 1))
    key_weight = np.zeros((letters + places, letters + 1))
    step = 3 * np.sqrt(letters + 1)  # a key loses 3 from place to place
    query_weight[:letters, :letters] = step * places * np.eye(letters)
    query_weight[:letters, letters] = 1.0
    key_weight[:letters, :letters] = np.eye(letters)
    key_weight[letters:, letters] = -step * np.arange(places)
    return query_weight, key_weight


_FIRST = Exercise(
    title="A head that finds the first of its kind", level="hard", minutes=20, blanks=4, oracle=_first_oracle,
    solution=first_of_its_kind_head, behaviour=behaviour(_first, 0, _first_cause), outputs=LOOKS,
    probes=(
        Probe("3 letters, 6 places", lambda rng: (3, 6)),
        Probe("4 letters, 4 places", lambda rng: (4, 4), "equal", "a row of a letter taken for that of a place"),
        Probe("5 letters, 60 places", lambda rng: (5, 60), why="far from the start, other letters have the early places"),
        Probe("26 letters, 30 places", lambda rng: (26, 30), "edge", "the root of d is larger with many letters"),
    ),
    mistakes=(
        Mistake("whole_kind", "-step * np.arange(places) -> 0.0",
            "Nothing prefers an early place. Among the tokens of one letter the first has to win.", 1, sets="step share"),
        Mistake("any_letter", "step * places -> 0.0", "The query asks only for a place. It has to ask for its letter as well.", 1),
        Mistake("other_kind", "= step * places -> = -step * places",
            "The sign of the letters' features is flipped. A token has to ask for its own letter.", 2),
        Mistake("last", "-step -> step",
            "The feature of the place grows where it should fall, but the first token of a letter is wanted.", 2),
        Mistake("itself",
            "return query_weight, key_weight -> place = np.eye(letters + places)[:, letters:]\n"
            "return 99 * np.sqrt(places) * place, place",
            "A token asks for its own place. It has to ask for its letter and for an early place.", 1),
        Mistake("own_place", "query_weight[:letters, letters] = 1.0 -> query_weight[letters:, letters] = np.arange(places)",
            "The token's own place asks for early places, and for token 0 this place is the number 0, which asks for nothing.", 2),
        Mistake("gentle", "step = 3 -> step = 0.1",
            "From place to place a key has to lose more, because the first of a letter needs a share of 0.9.", 3, sets="step"),
        Mistake("weak", "step * places -> step",
            "The letter counts only as much as one place. Over many places the feature of the place outweighs it.", 3,
            sets="share"),
        Mistake("fixed", ("step * places -> 150.0", "step = 3 * np.sqrt(letters + 1) -> step = 10.0"),
            "Letter and place have factors that never change. In a long text the fall over all its places outweighs the letter: let "
            "the letter's factor grow with `places`.", 3, sets="step share"),
        Mistake("no_root", "3 * np.sqrt(letters + 1) -> 8",
            "The step from place to place is large enough only until it is divided by √d, and d grows with the number of letters.", 3,
            sets="step"),
    ),
    hints=(
        "There are two wishes, so use two groups of columns. One feature for each letter lets a token ask for its own letter. One "
        "more feature is larger for early keys.",
        "Every token has exactly one letter. So a column of query_weight with a 1 in each row of a letter gives all queries a 1. "
        "The keys answer this 1 with a number that falls from place to place.",
        "If the scores of one letter fall by 3 from place to place, the first gets at least 0.95 of what these share. The right "
        "letter must be worth more than the whole fall, from the first place to the last.",
    ),
    why="The score is a bonus for the own letter, minus t for each place. Among the keys of one letter the first gets at least 1 / "
    "(1 + e^-t + e^-2t + ...) = 1 - e^-t, so any t above log 10 gives it more than 0.9; with t = 3 it gets 0.95. The bonus, t "
    "times the number of places, is more than any early place of another letter can make up for.",
    insight="A score adds up wishes. The larger wish is decided first, and the smaller wish decides among what is left.",
)  # fmt: skip
