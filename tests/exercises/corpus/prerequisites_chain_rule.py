"""Wrong answers to `linear_backward` and `used_twice`."""

import numpy as np

from . import wrong

# --- linear_backward ------------------------------------------------------------------------------

ID = "linear_backward"


@wrong(ID, "a loop over rows that overwrites d_weight", named=("dw_last_row",))
def _(d_out, x, weight):
    d_x = np.zeros_like(x)
    for i in range(len(x)):
        d_x[i] = d_out[i] @ weight.T
        d_weight = np.outer(x[i], d_out[i])
    return d_x, d_weight


wrong(ID, "the weight transposed twice", named=("dx_not_transposed",))(
    lambda d_out, x, weight: (np.dot(d_out, weight.T.T), np.dot(x.T, d_out))
)

wrong(ID, "vectors as columns: weight @ d_out.T", named=("dx_transposed",))(
    lambda d_out, x, weight: (weight @ d_out.T, x.T @ d_out)
)

wrong(ID, "outer products the other way round", named=("dw_transposed",))(
    lambda d_out, x, weight: (d_out @ weight.T, sum(np.outer(g, row) for g, row in zip(d_out, x)))
)


@wrong(ID, "both gradients averaged over the rows", says=r"too small by a factor of the number of rows of d_out")
def _(d_out, x, weight):
    n = x.shape[0]
    return d_out @ weight.T / n, x.T @ d_out / n


wrong(ID, "sums of rows multiplied", named=("dw_sums_first",))(
    lambda d_out, x, weight: (d_out @ weight.T, np.outer(x.sum(0), d_out.sum(0)))
)

wrong(ID, "einsum with a wrong letter", named=("dx_not_transposed",))(
    lambda d_out, x, weight: (np.einsum("ij,jk->ik", d_out, weight), np.einsum("ij,ik->jk", x, d_out))
)

wrong(ID, "the 2 of a squared loss", says=r"2 times")(
    lambda d_out, x, weight: (2 * d_out @ weight.T, 2 * x.T @ d_out)
)

wrong(ID, "the gradient of a bias", says=r"the shape is")(
    lambda d_out, x, weight: (d_out @ weight.T, d_out.sum(axis=0))
)

wrong(ID, "a bias that nobody asked for", says=r"returns 3 things")(
    lambda d_out, x, weight: (d_out @ weight.T, x.T @ d_out, d_out.sum(0))
)


@wrong(ID, "a step of gradient descent")
def _(d_out, x, weight):
    lr = 0.1
    dw = x.T @ d_out
    weight = weight - lr * dw
    return d_out @ weight.T, dw


@wrong(ID, "returns the new weight")
def _(d_out, x, weight):
    return d_out @ weight.T, weight - 0.01 * (x.T @ d_out)


@wrong(ID, "the upstream times the output", named=("output_twice",))
def _(d_out, x, weight):
    out = x @ weight
    delta = d_out * out
    return delta @ weight.T, x.T @ delta


wrong(ID, "minus, to go downhill", says=r"minus the right|sign")(
    lambda d_out, x, weight: (-d_out @ weight.T, -x.T @ d_out)
)

wrong(ID, "the first row alone", named=("dw_first_row",))(
    lambda d_out, x, weight: (d_out @ weight.T, np.outer(x[0], d_out[0]))
)


@wrong(ID, "list comprehensions with k and j exchanged", named=("dx_not_transposed",))
def _(d_out, x, weight):
    n, m = x.shape
    d = d_out.shape[1]
    dx = [[sum(d_out[i][k] * weight[k][j] for k in range(d)) for j in range(m)] for i in range(n)]
    dw = [[sum(x[i][j] * d_out[i][k] for i in range(n)) for k in range(d)] for j in range(m)]
    return np.array(dx), np.array(dw)


wrong(ID, "broadcast and summed over the wrong axis", says=r"the shape is")(
    lambda d_out, x, weight: ((d_out[:, None, :] * weight).sum(1), (x[:, :, None] * d_out[:, None, :]).sum(0))
)


@wrong(ID, "differences of the sum of out", named=("no_upstream",))
def _(d_out, x, weight):
    eps, grads = 1e-5, []
    for array in (x, weight):
        g = np.zeros_like(array)
        for where in np.ndindex(array.shape):
            step = np.zeros_like(array)
            step[where] = eps
            if array is x:
                up, down = ((x + step) @ weight).sum(), ((x - step) @ weight).sum()
            else:
                up, down = (x @ (weight + step)).sum(), (x @ (weight - step)).sum()
            g[where] = (up - down) / (2 * eps)
        grads.append(g)
    return tuple(grads)


wrong(ID, "tensordot over the neighbouring axes", named=("dw_not_transposed",))(
    lambda d_out, x, weight: (np.tensordot(d_out, weight, axes=(1, 1)), np.tensordot(x, d_out, axes=1))
)


@wrong(ID, "gradients clipped to norm one")
def _(d_out, x, weight):
    def clip(g):
        return g / max(1.0, np.linalg.norm(g))

    return clip(d_out @ weight.T), clip(x.T @ d_out)


wrong(ID, "single precision upstream", says=r"float32")(
    lambda d_out, x, weight: (d_out.astype("f4") @ weight.T, x.T @ d_out.astype("f4"))
)


class Linear:
    def __init__(self):
        self.grad = 0.0

    def __call__(self, d_out, x, weight):
        if np.shape(self.grad) != weight.shape:
            self.grad = np.zeros(weight.shape)
        self.grad = self.grad + x.T @ d_out
        return d_out @ weight.T, self.grad


wrong(ID, "gradients that nobody sets back to zero", says=r"called twice")(Linear())


@wrong(ID, "a sum that is an assignment, in both", named=("dw_last_row", "dx_last"))
def _(d_out, x, weight):
    d_x, d_w = np.zeros(x.shape), np.zeros(weight.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for k in range(weight.shape[1]):
                d_x[i, j] = d_out[i, k] * weight[j, k]
                d_w[j, k] = d_out[i, k] * x[i, j]
    return d_x, d_w


wrong(ID, "a dictionary of gradients", says=r"returns one dict")(
    lambda d_out, x, weight: {"d_x": d_out @ weight.T, "d_weight": x.T @ d_out}
)

wrong(ID, "the weight first", named=("swapped",))(lambda d_out, x, weight: [x.T @ d_out, d_out @ weight.T][:2])

wrong(ID, "the input in the place of the upstream gradient")(
    lambda d_out, x, weight: (d_out @ weight.T, np.matmul(x.T, x @ weight))
)

wrong(ID, "the sign of the upstream alone", named=("signs_only",))(
    lambda d_out, x, weight: (np.sign(d_out) @ weight.T, x.T @ np.sign(d_out))
)


@wrong(ID, "solves for x as if the product were undone")
def _(d_out, x, weight):
    return d_out @ np.linalg.pinv(weight), np.linalg.pinv(x) @ d_out


@wrong(ID, "a mask of a ReLU that is not there")
def _(d_out, x, weight):
    delta = np.where(x @ weight > 0, d_out, 0)
    return delta @ weight.T, x.T @ delta


@wrong(ID, "everything in columns", named=("dx_transposed", "dw_transposed"))
def _(d_out, x, weight):
    g, x_cols = d_out.T, x.T
    dx = weight @ g
    dw = g @ x_cols.T
    return dx, dw


# --- used_twice -----------------------------------------------------------------------------------

ID = "used_twice"

wrong(ID, "d_out made symmetric, A as it is", named=("a_as_it_is",))(
    lambda d_out, x, a: (d_out + d_out.T) @ x @ a
)

wrong(ID, "the formula of a quadratic form", named=("upstream_as_it_is",))(
    lambda d_out, x, a: d_out @ (x @ (a + a.T))
)

wrong(ID, "x squared: twice the one path", named=("doubled",))(
    lambda d_out, x, a: 2 * np.einsum("ij,jl,kl->ik", d_out, x, a)
)

wrong(ID, "both made symmetric, halved", named=("symmetrised",))(
    lambda d_out, x, a: (d_out + d_out.T) @ x @ (a + a.T) / 2
)

wrong(ID, "twice d_out x a, nothing transposed", named=("doubled", "a_as_it_is"))(lambda d_out, x, a: 2 * d_out @ x @ a)

wrong(ID, "the first path alone, transposed", named=("first_only", "transposed"))(
    lambda d_out, x, a: a @ x.T @ d_out.T
)

wrong(ID, "both paths side by side", says=r"the shape is")(
    lambda d_out, x, a: np.concatenate([d_out @ x @ a.T, d_out.T @ x @ a], axis=1)
)

wrong(ID, "both paths, not added", says=r"returns 2 things")(
    lambda d_out, x, a: (d_out @ x @ a.T, d_out.T @ x @ a)
)


@wrong(ID, "loops in which the second path overwrites the first", named=("second_only",))
def _(d_out, x, a):
    n, m = x.shape
    d_x = np.zeros((n, m))
    for i in range(n):
        for k in range(m):
            d_x[i, k] = sum(d_out[i, j] * a[k, q] * x[j, q] for j in range(n) for q in range(m))
            d_x[i, k] = sum(d_out[j, i] * a[q, k] * x[j, q] for j in range(n) for q in range(m))
    return d_x


@wrong(ID, "loops with one of the two lines", named=("first_only",))
def _(d_out, x, a):
    d_x = np.zeros_like(x)
    for i, j in np.ndindex(d_out.shape):
        d_x[i] += d_out[i, j] * (a @ x[j])
    return d_x


wrong(ID, "the textbook's (A + A^T) x, without upstream", named=("textbook",))(lambda d_out, x, a: x @ (a + a.T))

wrong(ID, "x transposed in the second path")(
    lambda d_out, x, a: d_out @ x @ a.T + d_out.T @ x.T @ a
)

wrong(ID, "the paths subtracted", named=("subtracted",))(lambda d_out, x, a: d_out @ x @ a.T - d_out.T @ x @ a)

wrong(ID, "d_out transposed in both", named=("upstream_turned",))(
    lambda d_out, x, a: d_out.T @ x @ a.T + d_out.T @ x @ a
)

wrong(ID, "the transposes of A exchanged", named=("a_as_it_is", "a_turned", "upstream_as_it_is", "upstream_turned", "a_exchanged"))(
    lambda d_out, x, a: sum(g @ x @ b for g, b in ((d_out, a), (d_out.T, a.T)))
)

wrong(ID, "np.mean over the two paths", named=("mean",))(
    lambda d_out, x, a: np.mean([d_out @ x @ a.T, d_out.T @ x @ a], axis=0)
)

wrong(ID, "divided by the number of tokens", says=r"too small by a factor of the number of rows of d_out")(
    lambda d_out, x, a: (d_out @ x @ a.T + d_out.T @ x @ a) / len(x)
)

wrong(ID, "upstream in one path only", named=("upstream_once",))(lambda d_out, x, a: d_out @ x @ a.T + x @ a)

wrong(ID, "the forward pass", says=r"the shape is")(lambda d_out, x, a: x @ a @ x.T)

wrong(ID, "single precision", says=r"float32")(
    lambda d_out, x, a: (lambda g, y, b: g @ y @ b.T + g.T @ y @ b)(*(np.float32(z) for z in (d_out, x, a)))
)


@wrong(ID, "a complex step of the plain sum", named=("no_upstream",))
def _(d_out, x, a):
    grad = np.empty(x.shape)
    for where in np.ndindex(*x.shape):
        z = x.astype(complex)
        z[where] += 1e-20j
        grad[where] = np.sum(z @ a @ z.T).imag / 1e-20
    return grad


wrong(ID, "einsum with a wrong letter in the second path", named=("upstream_as_it_is",))(
    lambda d_out, x, a: np.einsum("ij,kl,jl->ik", d_out, a, x) + np.einsum("ij,kl,jk->il", d_out, a, x)
)


@wrong(ID, "three tokens, as in the picture")
def _(d_out, x, a):
    g = np.zeros_like(x)
    for i in range(min(3, len(x))):
        for j in range(min(3, len(x))):
            g[i] += d_out[i, j] * a @ x[j]
            g[j] += d_out[i, j] * a.T @ x[i]
    return g


@wrong(ID, "a variable used again", named=("reused",))
def _(d_out, x, a):
    x = d_out @ x @ a.T
    second = d_out.T @ x @ a
    return x + second


@wrong(ID, "d_out made symmetric in place", says=r"changes its input")
def _(d_out, x, a):
    first = d_out @ x @ a.T
    d_out[:] = d_out.T.copy()
    return first + d_out @ x @ a


wrong(ID, "only the lower half of d_out")(
    lambda d_out, x, a: np.tril(d_out) @ x @ a.T + np.tril(d_out).T @ x @ a
)


@wrong(ID, "through Y = X A, Y's own part forgotten", named=("second_only",))
def _(d_out, x, a):
    y = np.dot(x, a)
    d_xt = np.dot(y.T, d_out)
    return d_xt.T


@wrong(ID, "through Y = X A, with Y's gradient from the wrong side", named=("upstream_turned",))
def _(d_out, x, a):
    y = x @ a
    d_y = d_out.T @ x
    return d_y @ a.T + d_out.T @ y


@wrong(ID, "through Y = X A, the last step forgotten")
def _(d_out, x, a):
    y = x @ a
    d_y = d_out @ x
    return d_y + d_out.T @ y


wrong(ID, "A taken for symmetric", named=("a_turned", "a_as_it_is"))(
    lambda d_out, x, a: np.add(*(np.linalg.multi_dot([g, x, a.T]) for g in (d_out, d_out.T)))
)
