"""Wrong answers to `score_table_step`: a step of training for a table of scores."""

import numpy as np

from . import wrong

ID = "score_table_step"


def weights_of(rows):
    powers = np.exp(rows - rows.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def pushes(scores, now, following):
    return (weights_of(scores[now]) - np.eye(len(scores))[following]) / len(now)


@wrong(ID, "the table's rows with a minus and an equals sign", named=("overwritten",))
def _(scores, now, following, rate):
    scores = scores.copy()
    scores[now] -= rate * pushes(scores, now, following)
    return scores


@wrong(ID, "the gradient is assigned row by row", named=("overwritten",))
def _(scores, now, following, rate):
    d = np.zeros_like(scores)
    for n, push in zip(now, pushes(scores, now, following)):
        d[n] = push
    return scores - rate * d


@wrong(ID, "no mean", named=("sum",))
def _(scores, now, following, rate):
    d = np.zeros_like(scores)
    np.add.at(d, now, weights_of(scores[now]) - np.eye(len(scores))[following])
    return scores - rate * d


@wrong(ID, "a mean over all entries of the pushes", named=("entries",), says=r"rows|differs|times|off|right")
def _(scores, now, following, rate):
    d = np.zeros_like(scores)
    push = weights_of(scores[now]) - np.eye(len(scores))[following]
    np.add.at(d, now, push / push.size)
    return scores - rate * d


@wrong(ID, "divided by the number of letters", named=("letters",))
def _(scores, now, following, rate):
    d = np.zeros_like(scores)
    for n, f in zip(now, following):
        d[n] += weights_of(scores[n])
        d[n, f] -= 1
    return scores - rate * d / scores.shape[0]


@wrong(ID, "a mean for each letter", named=("each_letter",))
def _(scores, now, following, rate):
    out = scores.copy()
    for letter in set(now.tolist()):
        at = now == letter
        out[letter] -= rate * (weights_of(scores[now[at]]) - np.eye(len(scores))[following[at]]).mean(axis=0)
    return out


@wrong(ID, "plus for minus", named=("sign",))
def _(scores, now, following, rate):
    d = np.zeros_like(scores)
    np.add.at(d, now, pushes(scores, now, following))
    return scores + rate * d


@wrong(ID, "truth minus guess, and subtracted", named=("sign",))
def _(scores, now, following, rate):
    out = scores.copy()
    for n, f in zip(now, following):
        out[n] -= rate * (np.eye(len(scores))[f] - weights_of(scores[n])) / len(now)
    return out


@wrong(ID, "the gradient is returned", named=("gradient",))
def _(scores, now, following, rate):
    return np.eye(len(scores))[now].T @ pushes(scores, now, following)


@wrong(ID, "the change is returned", named=("change",))
def _(scores, now, following, rate):
    return -rate * np.eye(len(scores))[now].T @ pushes(scores, now, following)


@wrong(ID, "the rate is not used", named=("no_rate",))
def _(scores, now, following, rate):
    return scores - np.eye(len(scores))[now].T @ pushes(scores, now, following)


@wrong(ID, "one row for each pair", says=r"shape|\(9, 5\)")
def _(scores, now, following, rate):
    return scores[now] - rate * pushes(scores, now, following)


@wrong(ID, "read and following changed places", named=("swapped",))
def _(scores, now, following, rate):
    return scores - rate * np.eye(len(scores))[following].T @ pushes(scores, following, now)


@wrong(ID, "added to the rows of the following letters", named=("to_following",))
def _(scores, now, following, rate):
    return scores - rate * np.eye(len(scores))[following].T @ pushes(scores, now, following)


@wrong(ID, "the product is transposed", named=("transposed",))
def _(scores, now, following, rate):
    return scores - rate * pushes(scores, now, following).T @ np.eye(len(scores))[now]


@wrong(ID, "only the letter that came is pushed", named=("only_right",))
def _(scores, now, following, rate):
    out = scores.copy()
    for n, f in zip(now, following):
        out[n, f] += rate * (1 - weights_of(scores[n])[f]) / len(now)
    return out


@wrong(ID, "the others are pushed down, none up", named=("no_right",))
def _(scores, now, following, rate):
    out = scores.copy()
    for n in now:
        out[n] -= rate * weights_of(scores[n]) / len(now)
    return out


@wrong(ID, "the slope of the logarithm alone", named=("weights_slope",))
def _(scores, now, following, rate):
    out = scores.copy()
    for n, f in zip(now, following):
        out[n, f] += rate / weights_of(scores[n])[f] / len(now)
    return out


@wrong(ID, "no softmax", named=("no_softmax",))
def _(scores, now, following, rate):
    out = scores.copy()
    for n, f in zip(now, following):
        out[n] -= rate * (scores[n] - np.eye(len(scores))[f]) / len(now)
    return out


@wrong(ID, "a step after each pair", named=("one_by_one",), says=r"rows|differs|off|right|number")
def _(scores, now, following, rate):
    out = scores.copy()
    for n, f in zip(now, following):
        out[n] -= rate * (weights_of(out[n]) - np.eye(len(scores))[f]) / len(now)
    return out


@wrong(ID, "a softmax over the whole table", named=("one_softmax",), says=r"rows|differs|off|right|number")
def _(scores, now, following, rate):
    whole = np.exp(scores - scores.max())
    whole /= whole.sum()
    return scores - rate * np.eye(len(scores))[now].T @ (whole[now] - np.eye(len(scores))[following]) / len(now)


@wrong(ID, "exp without a shift", named=("no_max",))
def _(scores, now, following, rate):
    powers = np.exp(scores[now])
    push = powers / powers.sum(axis=-1, keepdims=True) - np.eye(len(scores))[following]
    return scores - rate * np.eye(len(scores))[now].T @ push / len(now)


@wrong(ID, "each letter counted once", says=r"rows|differs|off|right|number")
def _(scores, now, following, rate):
    seen = np.unique(now)
    counts = np.zeros_like(scores)
    np.add.at(counts, (now, following), 1)
    out = scores.copy()
    out[seen] -= rate * (weights_of(scores[seen]) - counts[seen]) / len(now)
    return out


@wrong(ID, "the caller's table is changed", named=("inplace",))
def _(scores, now, following, rate):
    np.subtract.at(scores, now, rate * pushes(scores, now, following))
    return scores
