"""Wrong answers to `product_transpose`."""

import functools

import numpy as np

from . import wrong

ID = "product_transpose"

wrong(ID, "np.transpose, which reverses all axes", named=("batch_reversed",))(
    lambda a_t, b, c_t: np.matmul(np.matmul(c_t, np.transpose(b)), a_t)
)

wrong(ID, "the product of what is given, transposed at the end", named=("all_transposed",))(
    lambda a_t, b, c_t: (a_t @ b @ c_t).mT
)

wrong(ID, "multi_dot in the old order", named=("order_kept",))(
    lambda a_t, b, c_t: np.linalg.multi_dot([a_t, b.T, c_t])
)

wrong(ID, "einsum with n and d exchanged in the result", named=("not_transposed",))(
    lambda a_t, b, c_t: np.einsum("mn,mk,dk->nd", a_t, b, c_t)
)

wrong(ID, "reduce over the reversed list", named=("order_kept",))(
    lambda a_t, b, c_t: functools.reduce(np.matmul, [c_t, b.mT, a_t][::-1])
)

wrong(ID, "the last two transposed as one product")(lambda a_t, b, c_t: c_t @ (b @ a_t).mT)

wrong(ID, "the first two transposed as one product")(lambda a_t, b, c_t: (c_t @ b).mT @ a_t)

wrong(ID, "np.dot, which pairs each batch element with each", named=("dot",))(
    lambda a_t, b, c_t: np.dot(np.dot(c_t, b.mT), a_t)
)


@wrong(ID, "reshape in the place of a transpose", named=("reshaped",))
def _(a_t, b, c_t):
    *lead, m, k = b.shape
    b_t = b.reshape(*lead, k, m)
    return c_t @ b_t @ a_t


@wrong(ID, "loops for matrices only", says=r"too many values to unpack")
def _(a_t, b, c_t):
    d, k = c_t.shape
    m, n = a_t.shape
    out = np.zeros((d, n))
    for r in range(d):
        for s in range(n):
            for i in range(m):
                for j in range(k):
                    out[r, s] += c_t[r, j] * b[i, j] * a_t[i, s]
    return out


@wrong(ID, "the first batch element only", says=r"case \"a batch\": the shape is")
def _(a_t, b, c_t):
    if a_t.ndim > 2:
        a_t, b, c_t = a_t[0], b[0], c_t[0]
    return c_t @ b.mT @ a_t


wrong(ID, "tensordot, which knows no batch", says=r"case \"a batch\"")(
    lambda a_t, b, c_t: np.tensordot(c_t, b, axes=(-1, -1)) @ a_t
)

wrong(ID, "entry by entry with np.multiply", named=("elementwise",))(
    lambda a_t, b, c_t: np.multiply(np.multiply(c_t, b.T), a_t)
)

wrong(ID, "an inverse in the place of a transpose", says=r"square")(
    lambda a_t, b, c_t: c_t @ np.linalg.inv(b) @ a_t
)

wrong(ID, "each factor transposed in its place", named=("order_kept",))(
    lambda a_t, b, c_t: a_t.mT @ b.mT @ c_t.mT
)

wrong(ID, "stops after the second factor", says=r"the shape is")(lambda a_t, b, c_t: c_t @ b.mT)

wrong(ID, "swaps axes 0 and 1", says=r"case \"a batch\"")(
    lambda a_t, b, c_t: c_t @ b.swapaxes(0, 1) @ a_t
)

wrong(ID, "transposes with the axes of a matrix", says=r"axes don't match array")(
    lambda a_t, b, c_t: c_t @ b.transpose(1, 0) @ a_t
)

wrong(ID, "single precision", says=r"float32")(
    lambda a_t, b, c_t: c_t.astype(np.float32) @ b.mT.astype(np.float32) @ a_t.astype(np.float32)
)

wrong(ID, "rounded for a nicer look", says=r"rounded")(lambda a_t, b, c_t: (c_t @ b.mT @ a_t).round(4))

wrong(ID, "squeezed", says=r"an axis of size 1 is missing")(lambda a_t, b, c_t: np.squeeze(c_t @ b.mT @ a_t))

wrong(ID, "transposed twice", named=("b_not_transposed",))(lambda a_t, b, c_t: c_t @ (b.mT).swapaxes(-2, -1) @ a_t)

wrong(ID, "einsum with dots, the result turned", named=("not_transposed",))(
    lambda a_t, b, c_t: np.einsum("...dk,...mk,...mn->...nd", c_t, b, a_t)
)

wrong(ID, "np.inner, right for matrices", says=r"case \"a batch\"")(lambda a_t, b, c_t: np.inner(c_t, b) @ a_t)

wrong(ID, "broadcasting thought out for matrices", says=r"case \"a batch\"")(
    lambda a_t, b, c_t: (c_t[:, None, :] * b[None, :, :]).sum(-1) @ a_t
)


class Transposed:
    def __init__(self, flip):
        self.flip = flip

    def __call__(self, a_t, b, c_t):
        left, right = (c_t, a_t) if self.flip else (a_t, c_t)
        return left @ b @ right


wrong(ID, "a class that reverses and forgets b", named=("b_not_transposed",))(Transposed(flip=True))


@wrong(ID, "c and a exchanged by hand, b transposed, the result turned back", named=("not_transposed",))
def _(a_t, b, c_t):
    a, c = a_t.mT, c_t.mT
    abc = a @ b
    abc = abc @ c
    return abc.mT.mT


@wrong(ID, "a loop over the batch that keeps the last", says=r"case \"a batch\"")
def _(a_t, b, c_t):
    if b.ndim == 2:
        return c_t @ b.T @ a_t
    for a_, b_, c_ in zip(a_t, b, c_t):
        out = c_ @ b_.T @ a_
    return out


@wrong(ID, "a loop over the batch that adds up", says=r"case \"a batch\"")
def _(a_t, b, c_t):
    return sum(c_ @ b_.T @ a_ for a_, b_, c_ in zip(a_t, b, c_t)) if b.ndim > 2 else c_t @ b.T @ a_t


wrong(ID, "one batch axis, no more", says=r"three leading axes")(
    lambda a_t, b, c_t: np.array([c_t[i] @ b[i].T @ a_t[i] for i in range(len(b))]) if b.ndim > 2 else c_t @ b.T @ a_t
)
