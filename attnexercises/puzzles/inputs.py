"""The exercises in which an input is to be found that exposes a wrong function."""

from attnexercises.engine.model import Mistake, judged_exercise
from attnexercises.puzzles.exposed import judge_causal, judge_fill, judge_groups, judge_shift, judge_skip


def _expose_shift():
    return [0.0, 2000.0]


def _expose_fill():
    return [-30.0, 0.0], [True, False]


def _expose_causal():
    return 1, 4


def _expose_groups():
    return 4, 2


def _expose_skip():
    return [True, True, False, False, True, True]


_COMMON = {"level": "easy", "minutes": 5}

_SHIFT = judged_exercise(
    judge=judge_shift, answer=_expose_shift,
    mistakes=(
        Mistake("alike", lambda: [1000.0, 1001.0], "Large numbers alone do no harm: the shift takes away what they share.", 1),
        Mistake("close", lambda: [0.0, 700.0], "No exponential overflows yet. With two numbers the mean lies halfway.", 2),
        Mistake("infinite", lambda: [0.0, float("inf")], "Both functions are to be tried on ordinary, finite scores.", 1),
    ),
    title="A shift by the mean",
    hints=(
        "The weights do not change if every score is shifted alike, so the shift itself is right. What can still go wrong in "
        "`exp`?",
        "In float64 `exp` overflows a little above 709. Which exponent is the largest after this shift?",
        "The largest number has to lie more than 709 above the mean. With two numbers that is half their distance.",
    ),
    why="After a shift by the mean the largest exponent is the distance from the mean to the maximum, here 1000. After a shift by "
    "the maximum it is 0, whatever the scores are.",
    insight="Standard normal scores never expose it: a test on them alone passes for ever.",
    **_COMMON,
)  # fmt: skip

_FILL = judged_exercise(
    judge=judge_fill, answer=_expose_fill,
    mistakes=(
        Mistake("nothing_hidden", lambda: ([-30.0, 0.0], [True, True]), "Where no key is hidden, nothing is filled in.", 1),
        Mistake("nothing_visible", lambda: ([-30.0, 0.0], [False, False]), "An empty row is another question.", 1),
        Mistake("raised", lambda: ([0.0, 1000.0], [True, False]),
            "The score of a hidden key is replaced: how large it was does not matter.", 1),
        Mistake("little", lambda: ([0.0, -5.0], [True, False]),
            "What do the visible scores have to be, compared with the fill?", 2),
    ),
    title="A mask that fills in −10",
    hints=(
        "What does a hidden key's weight depend on: its own score, or the number that is filled in?",
        "The weight of a hidden key is exp(-10) over the sum of all exponentials. What makes that sum small?",
        "All visible scores well below -10: then the number that was to hide the keys is the largest of the row.",
    ),
    why="A finite fill hides only as long as the visible scores lie far above it. Here they lie below, and the hidden key gets "
    "nearly everything.",
    insight="With minus infinity there is no such input. A fill of -1e9 only moves it further away.",
    **_COMMON,
)  # fmt: skip

_CAUSAL = judged_exercise(
    judge=judge_causal, answer=_expose_causal,
    mistakes=(
        Mistake("square", lambda: (4, 4), "With as many queries as keys both corners are aligned at once.", 2),
        Mistake("more_queries", lambda: (5, 3), "Here the queries are the last tokens of the keys.", 1),
    ),
    title="A causal mask at the wrong corner",
    hints=(
        "The queries are the last q of the k tokens. Which keys may the first query see, and which does the mask show it?",
        "`tril` begins at the top left corner; the rule here is aligned at the bottom right.",
        "Fewer queries than keys, as when one token is generated after several.",
    ),
    why="One new query is the last of four tokens and may see all four keys. The mask from the top left shows it one.",
    insight="Training has q = k and never shows it; decoding a token after others always does.",
    **_COMMON,
)  # fmt: skip

_GROUPS = judged_exercise(
    judge=judge_groups, answer=_expose_groups,
    mistakes=(
        Mistake("one", lambda: (4, 1), "One head of keys and values serves all, in any order.", 2),
        Mistake("all", lambda: (4, 4), "Each query head has keys and values of its own: nothing is shared.", 2),
        Mistake("uneven", lambda: (4, 3), "All groups have the same size.", 1),
    ),
    title="Heads handed out in turn",
    hints=(
        "Write down both lists for some heads: the right one gives neighbours the same keys and values.",
        "There are two cases in which every order is right. Which numbers of key and value heads are they?",
        "More than one head of keys and values, fewer than query heads.",
    ),
    why="Of four query heads the first two share head 0 of keys and values, the others head 1. The list that repeats 0, 1 gives "
    "query head 1 the wrong one.",
    insight="Multi-head and multi-query attention are the two ends at which this mistake is invisible.",
    **_COMMON,
)  # fmt: skip

_SKIP = judged_exercise(
    judge=judge_skip, answer=_expose_skip,
    mistakes=(
        Mistake("none_hidden", lambda: [True, False, True, False, False, True],
            "The line in question runs only if both keys of a block are hidden.", 1),
        Mistake("at_end", lambda: [True, True, True, True, False, False],
            "After a hidden block there has to be something that is missed.", 2),
    ),
    title="A loop that leaves too early",
    hints=(
        "Which line is not in the loop of chapter 6? When does it run?",
        "It leaves the loop, not only the block. When does that do no harm, and when does it?",
        "A block of two hidden keys, and a visible key in a block behind it.",
    ),
    why="The second block is hidden, so the loop ends there, and the visible keys of the third are never seen.",
    insight="Under a causal mask hidden blocks come last, and leaving is right: it skips about half of the work.",
    **_COMMON,
)  # fmt: skip
