"""The exercise on scores under a soft cap."""

import cmath

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe
from attnexercises.puzzles.slopes import slopes_of


def softcap_backward(d_out, scores, cap):
    shares = np.tanh(scores / cap)
    slope = 1 - shares**2
    d_scores = d_out * slope
    d_cap = (d_out * (shares - scores / cap * slope)).sum()
    return d_scores, d_cap


def _softcap_oracle(d_out, scores, cap):
    def loss(numbers, limit):
        return sum(g * limit * cmath.tanh(x / limit) for g, x in zip(d_out.ravel(), numbers, strict=True))

    d_scores, d_cap = slopes_of(loss, scores.ravel(), cap)
    return d_scores.reshape(scores.shape), d_cap


def _scores(*shape, cap, size=1.0):
    return lambda rng: (rng.standard_normal(shape), size * rng.standard_normal(shape), cap)


_SOFTCAP = Exercise(
    title="Scores under a soft cap", level="medium", minutes=12, blanks=3, oracle=_softcap_oracle, solution=softcap_backward,
    outputs=("d_scores", "d_cap"),
    probes=(
        Probe("2 × 3 × 4 scores", _scores(2, 3, 4, cap=1.7, size=2.0)),
        Probe("3 × 5 scores", _scores(3, 5, cap=0.6), why="A cap below 1, and one axis less."),
        Probe("a row", _scores(4, cap=30.0, size=20.0), why="A cap as models have it."),
        Probe("scores far above the cap", _scores(2, 3, cap=2.0, size=2e3), "edge", "No slope is left: zero, no NaN."),
    ),
    mistakes=(
        Mistake("no_inner", "d_scores = d_out * slope -> d_scores = d_out * slope * cap",
            "In the scores, the cap in front meets the slope of scores / cap, which is 1 / cap.", 1, sets="factor"),
        Mistake("no_outer", "d_scores = d_out * slope -> d_scores = d_out * slope / cap",
            "In the scores, the slope of scores / cap is there, but not the cap in front.", 1, sets="factor"),
        Mistake("only_square", "1 - shares**2 -> shares**2",
            "The slope of tanh is one minus its square. You used the square alone.", 1, sets="slope"),
        Mistake("slope_plus", "1 - shares**2 -> 1 + shares**2",
            "The slope of tanh is one minus its square. You added the square.", 1, sets="slope"),
        Mistake("capped_square", "shares**2 -> (cap * shares)**2",
            "You squared the capped score. The slope of tanh is one minus the square of the tanh itself.", 1, sets="slope"),
        Mistake("no_square", "shares**2 -> shares", "The slope of tanh is one minus its square.", 1),
        Mistake("uncapped", "tanh(scores / cap) -> tanh(scores)", "The tanh is of scores / cap, also where its slope is taken.", 1),
        Mistake("outer_only", "shares - scores / cap * slope -> shares",
            "Only the cap in front was followed; the cap also divides inside the tanh.", 2, sets="paths"),
        Mistake("inner_only", "(shares - scores -> (-scores",
            "Only the cap inside the tanh was followed; it stands in front as well.", 2, sets="paths"),
        Mistake("sign", "shares - scores -> shares + scores", "A larger cap makes scores / cap smaller: that path has a minus.", 2),
        Mistake("scores_tanh", "d_scores = d_out * slope -> d_scores = d_out * shares",
            "Your d_scores contains the tanh itself. Take its slope.", 1, sets="factor"),
        Mistake("tanh_itself", "slope = 1 - shares**2 -> slope = shares",
            "The tanh itself was taken for its slope.", 2),
        Mistake("no_power", "1 - shares**2 -> np.sqrt(1 - shares**2)",
            "You used 1 / cosh for the slope of tanh. The slope is the square of that.", 2, sets="slope"),
        Mistake("multiplied", "np.tanh(scores / cap) -> np.tanh(scores * cap)",
            "The cap multiplies inside the tanh in yours. It divides the scores.", 1),
        Mistake("inner_square", "scores / cap * slope -> scores * slope",
            "The slope of scores / cap in the cap is -scores / cap²; the cap in front takes only one of the two away.", 3),
        Mistake("not_summed", ".sum() ->", "One cap serves all scores: its gradient is one number.", 2),
        Mistake("cap_mean", "scores / cap * slope)).sum() -> scores / cap * slope)).mean()",
            "d_cap is a mean over the scores. Every score uses the same cap, so their gradients are added.", 2),
        Mistake("no_upstream", "d_out * (shares -> (shares", "In d_cap the upstream gradient is left out.", 3),
    ),
    hints=(
        "Write t = tanh(z) with z = scores / cap. What is the slope of tanh, in terms of t?",
        "For one score: out = cap t(z). The score reaches it through z alone; the cap in front and through z. Two paths add up.",
        "For d_scores the cap in front and the 1 / cap of z cancel. For d_cap: t, minus z times one minus t squared; times the "
        "upstream gradient; summed over all scores.",
    ),
    why="The caps cancel in d_scores, so small scores pass as if there were no cap. The cap itself is reached in front and inside; "
    "it is one number, so all scores add up.",
    insight="Far above the cap a score gets no gradient, and the cap gets all of it.",
    cancelling=(frozenset({"no_inner", "no_outer"}),),
)  # fmt: skip
