"""Wrong answers that were told a mistake which they do not have."""

import numpy as np

from . import wrong

# --- softmax --------------------------------------------------------------------------------------


def stable_logsumexp(x):
    m = x.max(-1)
    return m + np.log(np.exp(x - m[..., None]).sum(-1))


@wrong("softmax", "exp(x - logsumexp), where the maximum lacks keepdims", named=("max_no_keepdims", "sum_no_keepdims"))
def _(x):
    m = x.max(-1)
    lse = m + np.log(np.exp(x - m).sum(-1))
    return np.exp(x - lse)


@wrong("softmax", "exp(x - logsumexp), where only the logsumexp lacks its axis", named=("lse_no_keepdims",))
def _(x):
    return np.exp(x - stable_logsumexp(x))


@wrong("temperature_gradient", "a central difference of the loss", says=r"differen|digits")
def _(d_weights, scores, temperature):
    def loss(t):
        e = np.exp((scores - scores.max(-1, keepdims=True)) / t)
        return (d_weights * e / e.sum(-1, keepdims=True)).sum()

    return (loss(temperature + 1e-2) - loss(temperature - 1e-2)) / 2e-2


@wrong("temperature_gradient", "the raw scores less the mean over everything", says=r"^(?!.*digits)")
def _(d_weights, scores, temperature):
    e = np.exp((scores - scores.max(-1, keepdims=True)) / temperature)
    p = e / e.sum(-1, keepdims=True)
    return -(p * (d_weights - (p * d_weights).mean()) * scores).sum() / temperature**2


# --- online softmax and traffic -------------------------------------------------------------------


@wrong("online_softmax", "a block measured against the old maximum, in the first one infinite", named=("minus_infinite_maximum",))
def _(x, block):
    maximum, total = -np.inf, 0.0
    for start in range(0, len(x), block):
        scores = x[start : start + block]
        new_maximum = max(maximum, scores.max())
        total = total * np.exp(maximum - new_maximum) + np.exp(scores - maximum).sum()
        maximum = new_maximum
    return maximum, total


@wrong("flash_traffic", "the tile rounded to the nearest", named=("rounded_nearest",))
def _(n, d, capacity):
    tile = round((capacity - 2 * d) / (2 * d + 3))
    return n * d + -(-n // tile) * n * 2 * d + n * (d + 1)


@wrong("flash_traffic", "no room for the score, by whole divisions", named=("no_scores",))
def _(n, d, capacity):
    tile = (capacity - 2 * d) // (d + d + 2)
    passes = (n + tile - 1) // tile
    return n * d + 2 * passes * n * d + n * d + n


# --- find an input --------------------------------------------------------------------------------

for number in (-9.9, -10, -10.0, -9.95):
    wrong("expose_fill", f"a hidden key of 5 and a visible one of {number}", named=("little",))(([5.0, number], [False, True]))
wrong("expose_fill", "a hidden key that was raised to 50", named=("raised",))(([50.0, 0.0], [False, True]))
wrong("expose_shift", "710 beside 0", named=("close",))([0.0, 710.0])
wrong("expose_shift", "1419 beside 0", named=("close",))([0.0, 1419.0])
wrong("expose_shift", "1400 beside -10", named=("close",))([-10.0, 1400.0])
wrong("expose_shift", "large scores that hardly differ", named=("alike",))([5000.0, 5001.0, 5002.0])

# --- positions, caches, pages ---------------------------------------------------------------------


@wrong("sinusoidal", "the quotient rounded down, not that of column and two", named=("one_speed",))
def _(n, m):
    c = np.arange(m)
    angle = np.arange(n)[:, None] / 10000 ** (2 * (c // 2) // m)
    return np.where(c % 2 == 0, np.sin(angle), np.cos(angle))


wrong(
    "causal_schedule", "keys are stored", says=r"store K1: slow memory has this K1 already\.$"
)(["load Q1", "load K1", "compute Q1 K1", "store K1"])


wrong(
    "causal_schedule", "keys are stored that are not there", says=r"store K1: K1 is not on the chip\.$"
)(["load Q1", "store K1"])


@wrong("gqa_backward", "divided by the root of the group", named=("root",))
def _(d_repeated, kv_heads):
    b, h, n, d = d_repeated.shape
    return d_repeated.reshape(b, kv_heads, h // kv_heads, n, d).sum(axis=2) / np.sqrt(h // kv_heads)


@wrong("gqa_backward", "times the root of the group", says=r"root of .*(group|heads|h / )")
def _(d_repeated, kv_heads):
    b, h, n, d = d_repeated.shape
    return d_repeated.reshape(b, kv_heads, h // kv_heads, n, d).sum(axis=2) * np.sqrt(h / kv_heads)


# --- numbers that are not the right one rounded ---------------------------------------------------

wrong("delta_sum", "a thousand alone", named=("last_term",))(1000)
wrong("delta_sum", "1100: the terms of round numbers", says=r"too large")(1100)
wrong("vjp_cost", "three of the sizes: 300 thousand", says=r"too small")(300_000)
wrong("allowed_pairs", "20 for 21", says=r"too small")(20)
wrong("variance_of_sum", "rounded to hundreds", says=r"too large")(300)

SIZES = "the sizes that are tried are right, larger ones are not"

# --- heads with a fixed factor --------------------------------------------------------------------


@wrong("previous_token_head", "a factor of 100 for every length", named=("fixed",), rule=SIZES)
def _(letters, places):
    zeros = np.zeros((letters, places))
    return np.vstack([zeros, 100 * np.eye(places, k=-1)]), np.vstack([zeros, np.eye(places)])


@wrong("previous_token_head", "a factor of 68 for every length", named=("fixed",), rule=SIZES)
def _(letters, places):
    wq, wk = np.zeros((2, letters + places, places))
    for i in range(1, places):
        wq[letters + i, i - 1] = 68.0
    wk[letters:] = np.eye(places)
    return wq, wk


@wrong("previous_token_head", "a factor of 1000 for every length", named=("fixed",), rule=SIZES)
def _(letters, places):
    wq, wk = np.zeros((2, letters + places, places))
    wq[letters + 1 :, :-1] = 1000 * np.eye(places - 1)
    wk[letters:] = np.eye(places)
    return wq, wk


@wrong("previous_token_head", "ten times the logarithm of the length, and no root", named=("no_root",))
def _(letters, places):
    zeros = np.zeros((letters, places))
    lead = 10 * np.log(places)
    return np.vstack([zeros, lead * np.eye(places, k=-1)]), np.vstack([zeros, np.eye(places)])


@wrong("previous_token_head", "the root of the length, and no logarithm", named=("no_logarithm",))
def _(letters, places):
    zeros = np.zeros((letters, places))
    return np.vstack([zeros, 3 * np.sqrt(places) * np.eye(places, k=-1)]), np.vstack([zeros, np.eye(places)])


@wrong("first_of_its_kind_head", "1000 for the letter and 10 for each place", named=("fixed",))
def _(letters, places):
    wq, wk = np.zeros((2, letters + places, letters + 1))
    wq[:letters, :letters], wk[:letters, :letters] = 1000 * np.eye(letters), np.eye(letters)
    wq[:letters, -1] = 1
    wk[letters:, -1] = -10 * np.arange(places)
    return wq, wk


@wrong("first_of_its_kind_head", "100000 for the letter and 50 for each place", named=("fixed",), rule=SIZES)
def _(letters, places):
    wq, wk = np.zeros((2, letters + places, letters + 1))
    for a in range(letters):
        wq[a, a], wk[a, a], wq[a, letters] = 1e5, 1.0, 1.0
    wk[letters:, letters] = -50.0 * np.arange(places)
    return wq, wk


@wrong("first_of_its_kind_head", "a step of 10 for every number of letters", named=("no_root",))
def _(letters, places):
    wq, wk = np.zeros((2, letters + places, letters + 1))
    wq[:letters, :letters], wk[:letters, :letters] = 20 * places * np.eye(letters), np.eye(letters)
    wq[:letters, -1] = 1
    wk[letters:, -1] = -10 * np.arange(places)
    return wq, wk


@wrong("previous_token_head", "ten times the root: too small for 2500 places", named=("no_logarithm",), rule=SIZES)
def _(letters, places):
    zeros = np.zeros((letters, places))
    return np.vstack([zeros, 10 * np.eye(places, k=-1)]), np.vstack([zeros, np.sqrt(places) * np.eye(places)])


@wrong("rope", "the quotient of pair and width rounded down", named=("one_speed",))
def _(x, pos):
    d = x.shape[-1]
    a = pos[:, None] / 10000 ** (2 * np.arange(d // 2) // d)
    z = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * a)
    return np.stack([z.real, z.imag], axis=-1).reshape(x.shape)
