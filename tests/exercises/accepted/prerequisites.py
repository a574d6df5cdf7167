"""Other right ways to write the functions of the prerequisites."""

import numpy as np


def product_in_loops(a_t, b, c_t):
    out = np.zeros((*b.shape[:-2], c_t.shape[-2], a_t.shape[-1]))
    for *lead, row, column in np.ndindex(out.shape):
        first, middle, last = a_t[tuple(lead)], b[tuple(lead)], c_t[tuple(lead)]
        for i in range(len(middle)):
            for j in range(len(middle[i])):
                out[(*lead, row, column)] += last[row, j] * middle[i, j] * first[i, column]
    return out


def product_by_tensordot(a_t, b, c_t):
    out = np.zeros((*b.shape[:-2], c_t.shape[-2], a_t.shape[-1]))
    for lead in np.ndindex(b.shape[:-2]):
        out[lead] = np.tensordot(np.tensordot(c_t[lead], b[lead], axes=([1], [1])), a_t[lead], axes=([1], [0]))
    return out


def linear_in_loops(d_out, x, weight):
    rows, inputs, outputs = range(len(x)), range(len(weight)), range(weight.shape[1])
    d_x = [[sum(d_out[r, o] * weight[i, o] for o in outputs) for i in inputs] for r in rows]
    d_weight = [[sum(x[r, i] * d_out[r, o] for r in rows) for o in outputs] for i in inputs]
    return d_x, d_weight


def linear_by_tensordot(d_out, x, weight):
    return np.tensordot(d_out, weight, axes=([-1], [-1])), np.tensordot(x, d_out, axes=([0], [0]))


def twice_in_loops(d_out, x, a):
    d_x = np.zeros(x.shape)
    for i, j in np.ndindex(d_out.shape):
        for k, m in np.ndindex(a.shape):
            d_x[i, k] += d_out[i, j] * a[k, m] * x[j, m]
            d_x[j, m] += d_out[i, j] * x[i, k] * a[k, m]
    return d_x


def twice_by_tensordot(d_out, x, a):
    once = np.tensordot(np.tensordot(d_out, x, axes=([1], [0])), a, axes=([1], [1]))
    return once + np.tensordot(np.tensordot(d_out, x, axes=([0], [0])), a, axes=([1], [0]))


def _linear_backward_row_by_row(d_out, x, weight):
    d_x, d_weight = np.zeros(x.shape), np.zeros(weight.shape)
    for i in range(len(x)):
        d_x[i] = weight @ d_out[i]
        d_weight += np.outer(x[i], d_out[i])
    return d_x, d_weight


def _through_one_product(d_out, x, a):
    y = x @ a  # out = y @ x.T
    d_y = d_out @ x
    return d_y @ a.T + d_out.T @ y


ACCEPTED = {
    "product_transpose": {
        "transpose at the end": lambda a_t, b, c_t: (a_t.mT @ b @ c_t.mT).mT,
        "einsum": lambda a_t, b, c_t: np.einsum("...mn,...mk,...dk->...dn", a_t, b, c_t),
        "loops": product_in_loops,
        "tensordot": product_by_tensordot,
    },
    "linear_backward": {
        "einsum": lambda d_out, x, weight: (
            np.einsum("nd,md->nm", d_out, weight), np.einsum("nm,nd->md", x, d_out),
        ),
        "row by row": _linear_backward_row_by_row,
        "loops": linear_in_loops,
        "tensordot": linear_by_tensordot,
    },
    "used_twice": {
        "einsum": lambda d_out, x, a: (
            np.einsum("ij,kl,jl->ik", d_out, a, x) + np.einsum("ij,kl,ik->jl", d_out, a, x)
        ),
        "through one product": _through_one_product,
        "loops": twice_in_loops,
        "tensordot": twice_by_tensordot,
    },
}  # fmt: skip
