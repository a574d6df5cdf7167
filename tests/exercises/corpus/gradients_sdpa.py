"""Wrong answers to `sdpa_backward`."""

import math

import numpy as np

from . import wrong
from .parts import softmax, softmax_grad

ID = "sdpa_backward"


def root(query):
    return math.sqrt(query.shape[-1])


def weights_of(query, key):
    return softmax(query @ key.mT / root(query))


def back(d_out, query, key, value, through=softmax_grad, factor=None, P=None):
    """The backward pass with another step through the softmax, factor or weights."""
    P = weights_of(query, key) if P is None else P
    dS = through(d_out @ value.mT, P) * (1 / root(query) if factor is None else factor)
    return dS @ key, dS.mT @ query, P.mT @ d_out


def through(rule, what, **told):
    """An answer whose step from d_weights to d_scores is `rule`."""
    wrong(ID, what, **told)(lambda d_out, query, key, value: back(d_out, query, key, value, rule))


# the step through the softmax
through(lambda dP, P: P * (dP + (P * dP).sum(-1, keepdims=True)), "the row mean added", named=("plus",))
through(lambda dP, P: P * dP - (P * dP).sum(-1, keepdims=True), "the row mean taken off outside", named=("no_bracket",))
through(lambda dP, P: P * (P * dP - (P * dP).sum(-1, keepdims=True)), "the product used again",
    named=("product_reused",))
through(lambda dP, P: P * ((P * dP).sum(-1, keepdims=True) - dP), "row mean minus d_weights", named=("sign",))
through(lambda dP, P: softmax_grad(P, dP), "the two arguments exchanged", named=("swapped",))
through(lambda dP, P: dP - P * dP.sum(-1, keepdims=True), "the gradient of log-softmax", named=("log_softmax",))
through(lambda dP, P: P * dP / (P * dP).sum(-1, keepdims=True), "normalised again", named=("divided",))
through(lambda dP, P: P - dP, "weights minus target", named=("ce_shortcut",))
through(lambda dP, P: P * (dP - np.einsum("...k,...k->...", P, dP)), "einsum without its axis", named=("no_keepdims",))
through(lambda dP, P: P * (dP - np.einsum("...qk,...qk->...k", P, dP)[..., None, :]), "means by key", named=("D_axis",))
through(lambda dP, P: P * (dP - (P * dP).sum(axis=1, keepdims=True)), "the sum over axis 1", named=("axis_1",))
through(lambda dP, P: P * (dP - (P * dP).sum()), "one sum for everything", named=("D_all",))
through(lambda dP, P: softmax_grad(dP, softmax(P)), "the softmax of the weights", named=("slope_again",))
through(lambda dP, P: P * (dP - dP.max(-1, keepdims=True)), "the largest in the place of the mean", named=("largest",))
through(lambda dP, P: P * (1 - P), "the slope of a sigmoid, and no upstream")
through(lambda dP, P: -P * (P @ dP.mT @ P if dP.shape[-1] == P.shape[-2] else (P * dP).sum(-1, keepdims=True)),
        "off the diagonal only")  # fmt: skip
through(lambda dP, P: (P - P**2) * dP, "the diagonal of the Jacobian", named=("sigmoid",))
through(lambda dP, P: dP - (P * dP).sum(-1, keepdims=True), "the weight in front forgotten", named=("no_outer",))
through(lambda dP, P: np.where(P > 0.5, dP, 0), "the gradient of a maximum")
through(lambda dP, P: (softmax_grad(dP, P)).round(3), "rounded on the way", says=r"digits only")
through(lambda dP, P: softmax_grad(dP, P) * P, "the weight multiplied once more", named=("weight_squared",))
through(lambda dP, P: softmax_grad(dP, P / (1 + 1e-6)), "an epsilon in the weights", says=r"digits only")


@wrong(ID, "the Jacobian of each row, transposed where it does not matter, multiplied entry by entry")
def _(d_out, query, key, value):
    def rule(dP, P):
        J = P[..., :, None] * np.eye(P.shape[-1]) - P[..., :, None] * P[..., None, :]
        return (J * dP[..., None]).mean(-2)

    return back(d_out, query, key, value, rule)


# the factor
wrong(ID, "no factor in either direction", named=("forward_unscaled", "no_scale"))(
    lambda d_out, query, key, value: back(d_out, query, key, value, factor=1, P=softmax(query @ key.mT))
)
wrong(ID, "divided by d in either direction", named=("scale_d",))(
    lambda d_out, query, key, value: back(
        d_out, query, key, value, factor=1 / query.shape[-1], P=softmax(query @ key.mT / query.shape[-1])
    )
)
wrong(ID, "the backward pass multiplied by the root of d", says=r"times the right one|too large by")(
    lambda d_out, query, key, value: back(d_out, query, key, value, factor=root(query))
)
wrong(ID, "the root of the number of keys", named=("scale_nk",))(
    lambda d_out, query, key, value: back(
        d_out, query, key, value, factor=key.shape[-2] ** -0.5, P=softmax(query @ key.mT * key.shape[-2] ** -0.5)
    )
)


@wrong(ID, "the factor in d_key only", named=("no_scale_dq",))
def _(d_out, query, key, value):
    attn = weights_of(query, key)
    dS = softmax_grad(d_out @ value.mT, attn)
    return np.matmul(dS, key), np.matmul(dS.mT, query) / root(query), np.matmul(attn.mT, d_out)


@wrong(ID, "the query scaled first, its gradient not", named=("no_scale_dq",))
def _(d_out, query, key, value):
    q = query / root(query)
    P = softmax(q @ key.mT)
    dS = softmax_grad(d_out @ value.mT, P)
    return dS @ key, dS.mT @ q, P.mT @ d_out


@wrong(ID, "the scaled query, and the factor as well", named=("scale_twice_dk",))
def _(d_out, query, key, value):
    q = query / root(query)
    P = softmax(q @ key.mT)
    dS = softmax_grad(d_out @ value.mT, P) / root(query)
    return dS @ key, dS.mT @ q, P.mT @ d_out


@wrong(ID, "scaled in dS and again at the end, by einsum", named=("scale_twice",))
def _(d_out, query, key, value):
    c = root(query)
    P = softmax(np.einsum("...qd,...kd->...qk", query, key) / c)
    dS = softmax_grad(np.einsum("...qv,...kv->...qk", d_out, value), P) / c
    return (
        np.einsum("...qk,...kd->...qd", dS, key) / c,
        np.einsum("...qk,...qd->...kd", dS, query) / c,
        np.einsum("...qk,...qv->...kv", P, d_out),
    )


@wrong(ID, "the factor in all three", says=r"d_value: .*every number is too small")
def _(d_out, query, key, value):
    c = query.shape[-1] ** -0.5
    return tuple(c * g for g in back(d_out, query, key, value, factor=1))


# products
def products(what, formula, **told):
    @wrong(ID, what, **told)
    def _(d_out, query, key, value):
        P = weights_of(query, key)
        return formula(d_out, query, key, value, P, softmax_grad(d_out @ value.mT, P) / root(query))


products("each with itself", lambda dO, Q, K, V, P, dS: (dS @ Q, dS.mT @ K, P.mT @ dO), named=("own_arrays",))
products("values first", lambda dO, Q, K, V, P, dS: (P.mT @ dO, dS @ K, dS.mT @ Q), says=r"order of the outputs")
products("values in the middle", lambda dO, Q, K, V, P, dS: (dS @ K, P.mT @ dO, dS.mT @ Q),
    says=r"order of the outputs")
products("d_key turned", lambda dO, Q, K, V, P, dS: (dS @ K, Q.mT @ dS, P.mT @ dO), says=r"d_key: .*the shape")
products("d_value turned", lambda dO, Q, K, V, P, dS: (dS @ K, dS.mT @ Q, dO.mT @ P), says=r"d_value: .*the shape")
products("values in the place of d_out", lambda dO, Q, K, V, P, dS: (dS @ K, dS.mT @ Q, P.mT @ V))
products("no sum over queries", lambda dO, Q, K, V, P, dS: (dS @ K, dS.mT @ Q, P @ V), says=r"d_value: .*the shape")
products("key transposed", lambda dO, Q, K, V, P, dS: (dS @ K.mT, dS.mT @ Q, P.mT @ dO))
products(".T for d_key", lambda dO, Q, K, V, P, dS: (dS @ K, dS.T @ Q, P.mT @ dO), says=r"`\.T` turns all axes round")
products(".T for d_value", lambda dO, Q, K, V, P, dS: (dS @ K, dS.mT @ Q, P.T @ dO), says=r"`\.T` turns all axes round")
products("both transposes forgotten", lambda dO, Q, K, V, P, dS: (dS @ K, dS @ Q, P @ dO), named=("dk_no_T", "dv_no_T"))
products("d_scores for the weights", lambda dO, Q, K, V, P, dS: (dS @ K, dS.mT @ Q, dS.mT @ dO),
    named=("dv_from_scores",))
products("weights for d_scores in d_key", lambda dO, Q, K, V, P, dS: (dS @ K, P.mT @ Q, P.mT @ dO))
products("only one of three", lambda dO, Q, K, V, P, dS: (dS @ K, np.zeros_like(K), np.zeros_like(V)))
products("squeezed", lambda dO, Q, K, V, P, dS: (np.squeeze(dS @ K), np.squeeze(dS.mT @ Q), np.squeeze(P.mT @ dO)),
         says=r"an axis of size 1 is missing")  # fmt: skip
products("averaged over the batch", lambda dO, Q, K, V, P, dS: tuple(
    g / len(dO) if dO.ndim > 2 else g for g in (dS @ K, dS.mT @ Q, P.mT @ dO)), says=r"too small")  # fmt: skip
products("summed over the batch, axis kept", lambda dO, Q, K, V, P, dS: tuple(
    g.sum(0, keepdims=True) if dO.ndim > 2 else g for g in (dS @ K, dS.mT @ Q, P.mT @ dO)),
        says=r"d_query: .*the shape")
products("a stack", lambda dO, Q, K, V, P, dS: np.concatenate([(dS @ K).ravel(), (dS.mT @ Q).ravel()]),
         says=r"returns one array")  # fmt: skip
products("with the weights", lambda dO, Q, K, V, P, dS: (dS @ K, dS.mT @ Q, P.mT @ dO, P), says=r"returns 4 things")
products("gradients as a dict", lambda dO, Q, K, V, P, dS: dict(q=dS @ K, k=dS.mT @ Q, v=P.mT @ dO),
    says=r"returns one dict")


# the whole
@wrong(ID, "upstream gradient of ones", named=("no_upstream",))
def _(d_out, query, key, value):
    return back(np.ones(d_out.shape), query, key, value)


wrong(ID, "softmax over the queries, in both passes", named=("forward_axis_q", "D_axis"))(
    lambda d_out, query, key, value: (
        lambda P, dP: (lambda dS: (dS @ key / root(query), dS.mT @ query / root(query), P.mT @ d_out))(
            P * (dP - (P * dP).sum(-2, keepdims=True))
        )
    )(softmax(query @ key.mT / root(query), axis=-2), d_out @ value.mT)
)

wrong(ID, "softmax over the queries in the forward pass", named=("forward_axis_q",))(
    lambda d_out, query, key, value: back(d_out, query, key, value, P=softmax(query @ key.mT / root(query), axis=-2))
)

wrong(ID, "scores for weights", named=("ds_is_dp", "scores_as_weights"))(
    lambda d_out, query, key, value: back(
        d_out, query, key, value, through=lambda dP, P: dP, P=query @ key.mT / root(query)
    )
)


@wrong(ID, "the weights overwritten before d_value", named=("dv_from_scores",))
def _(d_out, query, key, value):
    weights = weights_of(query, key)
    dP = d_out @ value.mT
    D = (weights * dP).sum(axis=-1, keepdims=True)
    weights *= dP - D
    return weights @ key / root(query), weights.mT @ query / root(query), weights.mT @ d_out


@wrong(ID, "one maximum for all", says=r"case \"large scores\"")
def _(d_out, query, key, value):
    S = query @ key.mT / root(query)
    P = np.exp(S - S.max())
    return back(d_out, query, key, value, P=P / P.sum(-1, keepdims=True))


@wrong(ID, "exponentials clipped", says=r"case \"large scores\"")
def _(d_out, query, key, value):
    E = np.exp(np.clip(query @ key.mT / root(query), -50, 50))
    return back(d_out, query, key, value, P=E / E.sum(-1, keepdims=True))


wrong(ID, "single precision", says=r"float32")(
    lambda *args: back(*(a.astype(np.float32) for a in args))
)


@wrong(ID, "forward differences", says=r"digits only")
def _(d_out, query, key, value):
    def loss(*arrays):
        return (d_out * (weights_of(arrays[0], arrays[1]) @ arrays[2])).sum()

    arrays, eps, grads = [query, key, value], 1e-4, []
    for n, array in enumerate(arrays):
        grad = np.zeros_like(array)
        for place in np.ndindex(array.shape):
            moved = array.copy()
            moved[place] += eps
            grad[place] = (loss(*arrays[:n], moved, *arrays[n + 1 :]) - loss(*arrays)) / eps
        grads.append(grad)
    return tuple(grads)


@wrong(ID, "loops over a batch, for three axes only", says=r"case \"no batch\"|stops with")
def _(d_out, query, key, value):
    dq, dk, dv = np.zeros_like(query), np.zeros_like(key), np.zeros_like(value)
    for b in range(query.shape[0]):
        P = weights_of(query[b], key[b])
        dP = d_out[b] @ value[b].T
        for i in range(query.shape[1]):
            J = np.diag(P[i]) - np.outer(P[i], P[i])
            ds = J @ dP[i] / np.sqrt(query.shape[2])
            dq[b, i] = ds @ key[b]
            dk[b] += np.outer(ds, query[b, i])
            dv[b] += np.outer(P[i], d_out[b, i])
    return dq, dk, dv


@wrong(ID, "a loop over queries that overwrites", named=("last_query",))
def _(d_out, query, key, value):
    dq, dk, dv = np.zeros_like(query), np.zeros_like(key), np.zeros_like(value)
    for *lead, i in np.ndindex(query.shape[:-1]):
        b = tuple(lead)
        q, k, v, g = query[b][i], key[b], value[b], d_out[b][i]
        p = softmax(k @ q / np.sqrt(len(q)))
        ds = p * (v @ g - p @ (v @ g)) / np.sqrt(len(q))
        dq[(*b, i)] = ds @ k
        dk[b] = np.outer(ds, q)
        dv[b] = np.outer(p, g)
    return dq, dk, dv


@wrong(ID, "a causal mask nobody asked for", named=("causal",))
def _(d_out, query, key, value):
    S = query @ key.mT / root(query)
    S = np.where(np.tri(*S.shape[-2:], dtype=bool), S, -np.inf)
    return back(d_out, query, key, value, P=softmax(S))


@wrong(ID, "D from the output, summed over the queries", named=("D_axis",))
def _(d_out, query, key, value):
    P = weights_of(query, key)
    D = (d_out * (P @ value)).sum(axis=-2, keepdims=True)
    dS = P * (d_out @ value.mT - D) / root(query)
    return dS @ key, dS.mT @ query, P.mT @ d_out


@wrong(ID, "D from the output squared", named=("D_of_output",))
def _(d_out, query, key, value):
    P = weights_of(query, key)
    out = P @ value
    dS = P * (d_out @ value.mT - (out * out).sum(-1, keepdims=True)) / root(query)
    return dS @ key, dS.mT @ query, P.mT @ d_out


@wrong(ID, "query written to", says=r"changes its input query")
def _(d_out, query, key, value):
    query *= 1 / root(query)
    P = softmax(query @ key.mT)
    dS = softmax_grad(d_out @ value.mT, P)
    dq, dk = dS @ key / root(query), dS.mT @ query
    return dq, dk, P.mT @ d_out


@wrong(ID, "scores of 0 hidden", says=r"case \"a query of zeros\"")
def _(d_out, query, key, value):
    S = query @ key.mT / root(query)
    S[S == 0] = -1e9
    return back(d_out, query, key, value, P=softmax(S))
