"""The exercise on training a table of scores: one step of gradient descent, where a row can be pushed several times."""

import cmath
import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


def score_table_step(scores, now, following, rate):
    rows = scores[now]
    exponentials = np.exp(rows - rows.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    right = np.eye(len(scores))[following]
    d_rows = (weights - right) / len(now)
    d_scores = np.zeros(scores.shape)
    np.add.at(d_scores, now, d_rows)
    return scores - rate * d_scores


def _oracle(scores, now, following, rate):
    """Slopes of the loss by the complex step: no formula of a gradient in it."""
    after = np.array(scores, dtype=float)
    for i in range(len(scores)):
        came = [int(f) for n, f in zip(now, following, strict=True) if n == i]
        for j in range(len(scores)):
            row = [complex(score) for score in scores[i]]
            largest = max(score.real for score in row)
            row[j] += 1e-30j
            ell = cmath.log(sum(cmath.exp(score - largest) for score in row)).imag
            slope = math.fsum(ell - row[f].imag for f in came) / 1e-30
            after[i, j] -= rate * slope / len(now)
    return after


def _one_by_one(scores, now, following, rate):
    """A step for each pair in turn, for the mistake `one_by_one`."""
    after = np.array(scores, dtype=float)
    for i, f in zip(now, following, strict=True):
        exponentials = np.exp(after[i] - after[i].max())
        push = exponentials / exponentials.sum()
        push[f] -= 1
        after[i] -= rate * push / len(now)
    return after


def _not_fused(weights, right):
    """Through the slopes of the weights and the softmax's own backward pass, for the mistake `not_fused`."""
    d_weights = -right / weights
    return weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))


def _pairs(rng, letters, count, rate=2.5):
    """Pairs in which the first two letters repeat, and the last letter is never read."""
    now = rng.integers(letters - 1, size=count)
    now[:2] = 0
    return rng.normal(size=(letters, letters)), now, rng.integers(letters, size=count), rate


def _same_pair_often(rng):
    return rng.normal(size=(3, 3)), np.array([1, 1, 1, 0]), np.array([2, 2, 2, 1]), 1.5


def _each_once(rng):
    return rng.normal(size=(4, 4)), np.array([2, 0, 3, 1]), np.array([0, 3, 1, 2]), 2.0


def _large_scores(rng):
    scores, now, following, rate = _pairs(rng, 4, 6, 50.0)
    scores[0] += 1000.0
    scores[1] -= 1000.0
    scores[2, 1] += 900.0
    now[-2:] = 1, 2
    return scores, now, following, rate


def _a_table(args):
    """What a case that was made smaller still has to be: a square table, and pairs of its letters."""
    scores, now, following, rate = args
    if scores.ndim != 2 or now.shape != following.shape:
        raise ValueError("no table with pairs of its letters")
    letters = min(scores.shape)
    inside = (now < letters) & (following < letters)
    if not inside.any():
        raise ValueError("no pair is left")
    return scores[:letters, :letters], now[inside], following[inside], rate


SCORE_TABLE_STEP = Exercise(
    title="One step of training", level="medium", minutes=15, blanks=4, oracle=_oracle, solution=score_table_step,
    probes=(
        Probe("5 letters, 9 pairs", lambda rng: _pairs(rng, 5, 9)),
        Probe("4 letters, 4 pairs", lambda rng: _pairs(rng, 4, 4), "equal", why="As many pairs as letters: a slip in the axes runs."),
        Probe("one pair three times", _same_pair_often, why="The gradients of all three pairs have to arrive in the same row."),
        Probe("each letter once", _each_once, "edge", why="No row gets two gradients, so that every other slip stands alone."),
        Probe(
            "equal scores", lambda rng: (np.zeros((4, 4)), *_pairs(rng, 4, 7)[1:]), "edge",
            why="The table before training: all weights are 1/4.",
        ),
        Probe("large scores", _large_scores, "edge", why="Any shift but that by each row's own maximum ends in NaN here."),
        Probe("one pair", lambda rng: (rng.normal(size=(3, 3)), np.array([1]), np.array([2]), 0.5), "edge",
            why="A mean over one pair; two of the three rows stay as they are."),
    ),
    mistakes=(
        Mistake("overwritten", "np.add.at(d_scores, now, d_rows) -> d_scores[now] += d_rows",
            "A letter that is read several times keeps the gradient of only one of its pairs: with a repeated index NumPy writes the row anew each time.",
            3, sets="add"),
        Mistake("sum", "/ len(now) ->", "The loss is a mean over the pairs; what you differentiated is their sum.", 2, sets="count"),
        Mistake("entries", "/ len(now) -> / weights.size",
            "You divided by the number of weights. The loss is a mean over the pairs.", 2, sets="count"),
        Mistake("letters", "len(now) -> len(scores)", "You divided by the number of letters; the mean is over the pairs.", 2, sets="count"),
        Mistake("each_letter", "/ len(now) -> / np.bincount(now)[now][:, np.newaxis]",
            "You took a separate mean for each letter. The loss is a single mean over all pairs.", 2, sets="count"),
        Mistake("sign", "scores - rate -> scores + rate",
            "The step follows the gradient uphill; the loss falls in the other direction.", 1, sets="end"),
        Mistake("gradient", "return scores - rate * d_scores -> return d_scores",
            "You returned the gradient. Return the table after the step: the old table minus rate times the gradient.", 3,
            sets="end"),
        Mistake("change", "return scores - rate -> return -rate",
            "You returned the change of the table; it still has to be added to the table.", 3, sets="end"),
        Mistake("no_rate", "rate * d_scores -> d_scores", "The rate is missing: it says how long the step is.", 3, sets="end"),
        Mistake("no_right", "(weights - right) -> weights",
            "The letters that really followed are missing: nothing pulls their scores up.", 1, sets="slope"),
        Mistake("only_right", "(weights - right) -> right * (weights - right)",
            "Only the score of the letter that followed gets a gradient; the others of its row have to give way.", 1, sets="slope"),
        Mistake("weights_slope", "(weights - right) -> (-right / weights)",
            "This is the slope with respect to the weights; the softmax still lies between them and the scores.", 1, sets="slope"),
        Mistake("not_fused", "d_rows = (weights - right) / len(now) -> d_rows = _not_fused(weights, right) / len(now)",
            "You went through the slope -1/p of the weights. On paper the result is p - y, but where a weight is 0 this is infinity "
            "times 0. Compute p - y itself.", 1, shows="lost"),
        Mistake("two_steps", "return scores - rate * d_scores -> return scores - 2 * rate * d_scores",
            "The step is twice as long as rate times the gradient.", 3, sets="end"),
        Mistake("no_softmax", "(weights - right) -> (rows - right)",
            "You subtract the right answers from the scores. Subtract them from the weights: the softmax is missing.", 1,
            sets="slope"),
        Mistake("to_following", "np.add.at(d_scores, now -> np.add.at(d_scores, following",
            "You added the gradients to the rows of the letters in `following`. The weights came from the rows of `now`, so their gradients belong there.", 3, sets="add"),
        Mistake("transposed", "np.add.at(d_scores, now -> np.add.at(d_scores.T, now",
            "The gradients were added along columns; a row of the table holds the scores after one letter.", 3, sets="add"),
        Mistake("swapped", "rows = -> now, following = following, now\nrows =",
            "You swapped now and following: the row to change is that of the letter `now`.", 1),
        Mistake("first_pair", "rows = scores[now] -> now, following = now[:1], following[:1]\nrows = scores[now]",
            "Only the first pair is used. The loss is a mean over all pairs.", 1, sets="add count"),
        Mistake("last_pair", "np.add.at(d_scores, now, d_rows) -> d_scores[now[-1]] = d_rows[-1]",
            "Only the last pair counts here: in a loop over the pairs, add each pair's gradient to what is there.", 3, sets="add"),
        Mistake("one_by_one", "return scores - rate * d_scores -> return _one_by_one(scores, now, following, rate)",
            "You change the table after every pair, so later pairs meet scores that have already moved. Make one step, for all "
            "pairs together.", 3, sets="end"),
        Mistake("no_max", "rows - rows.max(axis=-1, keepdims=True) -> rows",
            "Large exponents overflow: shift each row by its own maximum before `exp`.", 1, shows="lost"),
        Mistake("one_softmax",
            "weights = exponentials / exponentials.sum(axis=-1, keepdims=True) -> weights = (np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum())[now]",
            "One softmax ran over the whole table. Each row has a softmax of its own.", 1, sets="slope"),
        Mistake("columns",
            "weights = exponentials / exponentials.sum(axis=-1, keepdims=True) -> weights = (np.exp(scores - scores.max(axis=0)) / np.exp(scores - scores.max(axis=0)).sum(axis=0))[now]",
            "The softmax ran down the columns of the table. A row holds what may follow one letter, so it runs along the rows.", 1, sets="slope"),
        Mistake("axis_0", "axis=-1 -> axis=0",
            "The softmax ran over the pairs; each pair has a softmax of its own, along its row.", 1),
        Mistake("inplace", "return scores - rate * d_scores -> scores -= rate * d_scores\nreturn scores",
            "You changed the caller's table; leave it as it is and return a new one.", 3, sets="end"),
    ),
    hints=(
        "`scores[now]` has one row of scores for each pair. The softmax of this row gives the weights, and the gradient of its "
        "cross-entropy is the weights minus the right answer. The rows of `np.eye(k)[following]` are the right answers.",
        "The loss is a mean, so each pair's gradient is divided by the number of pairs. Then each of these gradients is added to "
        "the row of the table that its scores came from.",
        "If a letter is read five times, five rows are added to its row of the table. `table[now] += rows` does not add them: it "
        "keeps the last one. `np.add.at(table, now, rows)` adds all five. In the end subtract rate times the gradient.",
    ),
    why="Each pair adds weights minus right answer to the gradient of one row, that of the letter it reads. A row that is used "
    "several times collects all these gradients, as every number does that reaches the loss on several paths.",
    insight="Every row of the table keeps its sum: what the letters that came gain, the others lose.",
    consistent=_a_table, outputs=("scores",),
)  # fmt: skip
