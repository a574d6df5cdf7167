"""Wrong answers to `backward_with_logsumexp`, as readers may write them."""

import numpy as np

from . import wrong


def forward(query, key, value):
    s = query @ key.T / np.sqrt(query.shape[1])
    e = np.exp(s - s.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return s, p, p @ value


def answer(d_out, d_logsumexp, query, key, value, d_scores, d_value=None, scale=None):
    s, p, out = forward(query, key, value)
    mean = (d_out * out).sum(axis=1, keepdims=True)
    ds = d_scores(p, d_out @ value.T, mean, d_logsumexp[:, None], s)
    scale = query.shape[1] ** -0.5 if scale is None else scale
    return scale * ds @ key, scale * ds.T @ query, d_value(p, d_out, d_logsumexp) if d_value else p.T @ d_out


@wrong("backward_with_logsumexp", "as if the loss knew the output alone", named=("ignored",))
def output_alone(*args):
    return answer(*args, lambda p, dp, mean, dl, s: p * (dp - mean))


@wrong("backward_with_logsumexp", "the new term inside the bracket with the mean's sign", named=("sign",))
def sign(*args):
    return answer(*args, lambda p, dp, mean, dl, s: p * (dp - (mean + dl)))


@wrong("backward_with_logsumexp", "the new term outside, without the weight", named=("unweighted",))
def outside(*args):
    return answer(*args, lambda p, dp, mean, dl, s: p * (dp - mean) + dl)


@wrong("backward_with_logsumexp", "shared out over the keys", named=("spread",))
def shared_out(*args):
    return answer(*args, lambda p, dp, mean, dl, s: p * (dp - mean) + np.ones_like(p) * dl / p.shape[1])


@wrong("backward_with_logsumexp", "shared out over the queries", named=("over_queries",))
def shared_over_queries(*args):
    return answer(*args, lambda p, dp, mean, dl, s: p * (dp - mean) + dl / len(p))


@wrong("backward_with_logsumexp", "the slope of a weight", named=("centred",))
def slope_of_a_weight(*args):
    return answer(*args, lambda p, dp, mean, dl, s: p * (dp - mean + dl * (1 - p)))


@wrong("backward_with_logsumexp", "the new term in place of the mean", named=("no_mean",))
def in_place_of_the_mean(*args):
    return answer(*args, lambda p, dp, mean, dl, s: p * (dp + dl))


@wrong("backward_with_logsumexp", "minus the new term in place of the mean", named=("no_mean", "sign"))
def minus_in_place_of_the_mean(*args):
    return answer(*args, lambda p, dp, mean, dl, s: p * (dp - dl))


@wrong("backward_with_logsumexp", "the new term times the mean", named=("times_mean",))
def times_the_mean(*args):
    return answer(*args, lambda p, dp, mean, dl, s: p * (dp - mean * dl))


@wrong("backward_with_logsumexp", "the new term times the score", named=("times_score",))
def times_the_score(*args):
    return answer(*args, lambda p, dp, mean, dl, s: p * (dp - mean) + s * dl)


@wrong("backward_with_logsumexp", "the new term times the exponential of the score", named=("exponential",))
def times_the_exponential(*args):
    return answer(*args, lambda p, dp, mean, dl, s: p * (dp - mean) + np.exp(s) * dl)


@wrong("backward_with_logsumexp", "the new term squared in the weight", named=("squared",))
def weight_squared(*args):
    return answer(*args, lambda p, dp, mean, dl, s: p * (dp - mean + p * dl))


@wrong("backward_with_logsumexp", "the new term at the largest key only, as for a maximum", named=("as_maximum",))
def as_for_a_maximum(*args):
    return answer(*args, lambda p, dp, mean, dl, s: p * (dp - mean) + dl * (p == p.max(axis=1, keepdims=True)))


@wrong("backward_with_logsumexp", "through the softmax: the mean of the new term is subtracted", named=("ignored",))
def through_the_softmax(*args):
    def d_scores(p, dp, mean, dl, s):
        dp = dp + dl
        return p * (dp - (p * dp).sum(axis=1, keepdims=True))

    return answer(*args, d_scores)


@wrong("backward_with_logsumexp", "along the wrong axis: d_logsumexp[None, :]", named=())
def along_the_keys(d_out, d_logsumexp, query, key, value):
    return answer(
        d_out, d_logsumexp, query, key, value, lambda p, dp, mean, dl, s: p * (dp - mean + np.resize(d_logsumexp, p.shape[1]))
    )


@wrong("backward_with_logsumexp", "no scale in the gradients", named=("no_scale",))
def no_scale(*args):
    return answer(*args, lambda p, dp, mean, dl, s: p * (dp - mean + dl), scale=1.0)


@wrong("backward_with_logsumexp", "the new term is not scaled", named=("new_unscaled",))
def new_term_not_scaled(d_out, d_logsumexp, query, key, value):
    root = np.sqrt(query.shape[1])
    return answer(d_out, d_logsumexp, query, key, value, lambda p, dp, mean, dl, s: p * (dp - mean + root * dl))


@wrong("backward_with_logsumexp", "the scale twice", named=("scale_twice",))
def scale_twice(d_out, d_logsumexp, query, key, value):
    d = query.shape[1]
    return answer(d_out, d_logsumexp, query, key, value, lambda p, dp, mean, dl, s: p * (dp - mean + dl), scale=1 / d)


@wrong("backward_with_logsumexp", "the mean of out and out", named=("mean_of_out",))
def out_twice(d_out, d_logsumexp, query, key, value):
    _, p, out = forward(query, key, value)
    mean = np.vecdot(out, out)[:, None]
    return answer(d_out, d_logsumexp, query, key, value, lambda p, dp, _, dl, s: p * (dp - mean + dl))


@wrong("backward_with_logsumexp", "the values get a share", named=("value_too",))
def values_get_a_share(*args):
    return answer(
        *args,
        lambda p, dp, mean, dl, s: p * (dp - mean + dl),
        d_value=lambda p, g, dl: p.T @ g + (p.T @ dl)[:, None],
    )


@wrong("backward_with_logsumexp", "the values get a share, the scores do not", named=("value_too", "ignored"))
def values_only(*args):
    return answer(*args, lambda p, dp, mean, dl, s: p * (dp - mean), d_value=lambda p, g, dl: p.T @ (g + dl[:, None]))


@wrong("backward_with_logsumexp", "d_out is enlarged, everywhere", named=("into_d_out",))
def d_out_enlarged(d_out, d_logsumexp, query, key, value):
    g = d_out + d_logsumexp[:, None]
    return answer(g, d_logsumexp, query, key, value, lambda p, dp, mean, dl, s: p * (dp - mean))


@wrong("backward_with_logsumexp", "the new gradients returned alone", named=("alone",))
def new_gradients_alone(*args):
    return answer(*args, lambda p, dp, mean, dl, s: p * dl)


@wrong("backward_with_logsumexp", "the logsumexp without a maximum", named=("no_max",), says=r"rows far apart.*NaN")
def no_maximum(d_out, d_logsumexp, query, key, value):
    c = 1 / np.sqrt(query.shape[1])
    s = c * query @ key.T
    lse = np.log(np.exp(s).sum(axis=1, keepdims=True))
    p = np.exp(s - lse)
    mean = (d_out * (p @ value)).sum(1, keepdims=True)
    ds = p * (d_out @ value.T - mean + d_logsumexp[:, None])
    return c * ds @ key, c * ds.T @ query, p.T @ d_out


@wrong("backward_with_logsumexp", "the softmax without a maximum", named=("no_max",))
def softmax_without_maximum(d_out, d_logsumexp, query, key, value):
    c = query.shape[1] ** -0.5
    e = np.exp(c * query @ key.T)
    p = e / e.sum(axis=1, keepdims=True)
    ds = c * p * (d_out @ value.T - (d_out * (p @ value)).sum(1, keepdims=True) + d_logsumexp[:, None])
    return ds @ key, ds.T @ query, p.T @ d_out


@wrong("backward_with_logsumexp", "d_key with queries and keys exchanged", says=r"order of the outputs")
def d_key_not_turned(*args):
    d_query, d_key, d_value = answer(*args, lambda p, dp, mean, dl, s: p * (dp - mean + dl))
    return d_key, d_query, d_value


@wrong("backward_with_logsumexp", "the scores are not scaled", named=("scores_no_scale",))
def scores_not_scaled(d_out, d_logsumexp, query, key, value):
    c = 1 / np.sqrt(query.shape[1])
    s = query @ key.T
    p = np.exp(s - np.logaddexp.reduce(s, axis=1, keepdims=True))
    ds = p * (d_out @ value.T - (d_out * (p @ value)).sum(1, keepdims=True) + d_logsumexp[:, None])
    return c * ds @ key, c * ds.T @ query, p.T @ d_out


@wrong("backward_with_logsumexp", "the bracket closed too early", named=("paren",))
def bracket_closed_too_early(*args):
    return answer(*args, lambda p, dp, mean, dl, s: p * dp - mean + p * dl)
