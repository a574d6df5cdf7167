"""A fourth corpus, written from the statements alone, before anything was mended: puzzles."""

import numpy as np

from . import wrong
from .parts import softmax

loop = []
for q in "012":
    loop += ["load Q" + q]
    for k in "012":
        loop += ["load K" + k, f"compute Q{q} K{k}", "drop K" + k]
    loop += ["store O" + q, "drop O" + q, "drop Q" + q]
tri = []
for q in "0123":
    tri += ["load Q" + q]
    for k in "0123"[: int(q) + 1]:
        tri += ["load K" + k, f"compute Q{q} K{k}", "drop K" + k]
    tri += ["store O" + q, "drop O" + q, "drop Q" + q]
full = []
for t in range(7):
    full += [f"token {t}"]


def rms(x):
    return np.sqrt((x * x).mean(-1, keepdims=True))


# --- soft_maximum_slopes ---------------------------------------------------------------------------


@wrong("soft_maximum_slopes", "d_temperature lacks the logarithm", named=("inner_only",))
def _(x, temperature):
    p = softmax(x / temperature)
    return p, -(p * x).sum(-1) / temperature


@wrong("soft_maximum_slopes", "d_x divided by the temperature", named=("no_outer",))
def _(x, temperature):
    p = softmax(x / temperature)
    l = np.logaddexp.reduce(x / temperature, -1)
    return p / temperature, l - (p * x).sum(-1) / temperature


@wrong("soft_maximum_slopes", "the logarithm only", named=("outer_only",))
def _(x, temperature):
    p = softmax(x / temperature)
    return p, np.logaddexp.reduce(x / temperature, -1)


@wrong("soft_maximum_slopes", "second term divided by the square of the temperature", named=("inner_again",))
def _(x, temperature):
    p = softmax(x / temperature)
    l = np.logaddexp.reduce(x / temperature, -1)
    return p, l - (p * x).sum(-1) / temperature**2


@wrong("soft_maximum_slopes", "plus between the two terms", named=("sign",))
def _(x, temperature):
    p = softmax(x / temperature)
    l = np.logaddexp.reduce(x / temperature, -1)
    return p, l + (p * x).sum(-1) / temperature


@wrong("soft_maximum_slopes", "d_temperature summed over the rows")
def _(x, temperature):
    p = softmax(x / temperature)
    l = np.logaddexp.reduce(x / temperature, -1)
    return p, (l - (p * x).sum(-1) / temperature).sum()


@wrong("soft_maximum_slopes", "the maximum's share is forgotten when shifting: log of shifted sum", named=("shift_kept",))
def _(x, temperature):
    s = x / temperature
    top = s.max(-1, keepdims=True)
    e = np.exp(s - top)
    p = e / e.sum(-1, keepdims=True)
    return p, np.log(e.sum(-1)) - (p * s).sum(-1)


# --- expose_shift ----------------------------------------------------------------------------------

wrong("expose_shift", "all scores large and alike, so the mean does it", named=("alike",))([1000, 1000, 1001])
wrong("expose_shift", "small scores", named=("close",))([1, 2, 3])
wrong("expose_shift", "one score only")([1e6])
wrong("expose_shift", "a far low score", named=("close",))([0, -700.0])
wrong("expose_shift", "infinite", named=("infinite",))([np.inf, 0])

# --- softcap_backward ------------------------------------------------------------------------------


@wrong("softcap_backward", "d_cap lacks the second term", named=("outer_only",))
def _(d_out, scores, cap):
    t = np.tanh(scores / cap)
    return d_out * (1 - t**2), (d_out * t).sum()


@wrong("softcap_backward", "d_scores divided by the cap", named=("no_outer",))
def _(d_out, scores, cap):
    t = np.tanh(scores / cap)
    return d_out * (1 - t**2) / cap, (d_out * (t - scores / cap * (1 - t**2))).sum()


@wrong("softcap_backward", "d_cap for each score", named=("not_summed",))
def _(d_out, scores, cap):
    t = np.tanh(scores / cap)
    return d_out * (1 - t**2), d_out * (t - scores / cap * (1 - t**2))


@wrong("softcap_backward", "plus in d_cap", named=("sign",))
def _(d_out, scores, cap):
    t = np.tanh(scores / cap)
    return d_out * (1 - t**2), (d_out * (t + scores / cap * (1 - t**2))).sum()


@wrong("softcap_backward", "derivative 1 - y squared instead of 1 - tanh squared")
def _(d_out, scores, cap):
    t = np.tanh(scores / cap)
    y = cap * t
    return d_out * (1 - y**2), (d_out * (t - scores / cap * (1 - t**2))).sum()


@wrong("softcap_backward", "the second term of d_cap without the scores")
def _(d_out, scores, cap):
    t = np.tanh(scores / cap)
    s = 1 - t**2
    return d_out * s, (d_out * (t - s / cap)).sum()


@wrong("softcap_backward", "d_cap as a mean", named=("cap_mean",))
def _(d_out, scores, cap):
    t = np.tanh(scores / cap)
    s = 1 - t**2
    return d_out * s, (d_out * (t - scores / cap * s)).mean()


# --- rms_backward ----------------------------------------------------------------------------------


@wrong("rms_backward", "the length taken for a constant", named=("constant",))
def _(d_out, query, gain):
    r = rms(query)
    y = query / r
    return d_out * gain / r, (d_out * y).reshape(-1, len(gain)).sum(0)


@wrong("rms_backward", "gain lacks in d_query", named=("no_gain",))
def _(d_out, query, gain):
    r = rms(query)
    y = query / r
    return (d_out - y * (d_out * y).mean(-1, keepdims=True)) / r, (d_out * y).reshape(-1, len(gain)).sum(0)


@wrong("rms_backward", "sum where the mean belongs", named=("sum",))
def _(d_out, query, gain):
    r = rms(query)
    y = query / r
    g = d_out * gain
    return (g - y * (g * y).sum(-1, keepdims=True)) / r, (d_out * y).reshape(-1, len(gain)).sum(0)


@wrong("rms_backward", "d_gain from the unscaled query", named=("gain_unscaled",))
def _(d_out, query, gain):
    r = rms(query)
    y = query / r
    g = d_out * gain
    return (g - y * (g * y).mean(-1, keepdims=True)) / r, (d_out * query).reshape(-1, len(gain)).sum(0)


@wrong("rms_backward", "d_gain sums one axis only")
def _(d_out, query, gain):
    r = rms(query)
    y = query / r
    g = d_out * gain
    return (g - y * (g * y).mean(-1, keepdims=True)) / r, (d_out * y).sum(axis=0)


@wrong("rms_backward", "as layer norm: the mean of the gradient is taken away, too")
def _(d_out, query, gain):
    r = rms(query)
    y = query / r
    g = d_out * gain
    return (g - g.mean(-1, keepdims=True) - y * (g * y).mean(-1, keepdims=True)) / r, (d_out * y).reshape(-1, len(gain)).sum(0)


@wrong("rms_backward", "not divided by the length", named=("no_rms",))
def _(d_out, query, gain):
    r = rms(query)
    y = query / r
    g = d_out * gain
    return g - y * (g * y).mean(-1, keepdims=True), (d_out * y).reshape(-1, len(gain)).sum(0)


# --- expose_fill -----------------------------------------------------------------------------------

wrong("expose_fill", "hidden score is large, visible ones too", named=("raised",))(([5, 100], [True, False]))
wrong("expose_fill", "all visible", named=("nothing_hidden",))(([-20, -30], [True, True]))
wrong("expose_fill", "none visible", named=("nothing_visible",))(([-20, -30], [False, False]))
wrong("expose_fill", "scores just above -10", named=("little",))(([-9.0, 0.0], [True, False]))

# --- expose_causal ---------------------------------------------------------------------------------

wrong("expose_causal", "a square", named=("square",))((5, 5))
wrong("expose_causal", "more queries than keys", named=("more_queries",))((6, 4))
wrong("expose_causal", "too large")((4, 12))

# --- expose_groups ---------------------------------------------------------------------------------

wrong("expose_groups", "as many as query heads", named=("all",))((8, 8))
wrong("expose_groups", "one head for all", named=("one",))((8, 1))
wrong("expose_groups", "no divisor", named=("uneven",))((8, 3))
wrong("expose_groups", "exchanged", named=("uneven",))((2, 8))

# --- expose_skip -----------------------------------------------------------------------------------

wrong("expose_skip", "the last block is empty, leaving is right", named=("at_end",))([True, True, True, True, False, False])
wrong("expose_skip", "all visible", named=("none_hidden",))([True] * 6)
wrong("expose_skip", "holes inside the blocks only", named=("none_hidden",))([True, False, False, True, True, False])
wrong("expose_skip", "all hidden", named=("at_end",))([False] * 6)
wrong("expose_skip", "five entries")([False, False, True, True, True])

# --- flash_schedule --------------------------------------------------------------------------------

wrong("flash_schedule", "the loop of the example", named=("keys_each_time",))(loop)
wrong("flash_schedule", "forgets to store the last output", named=("lost",))([s for s in loop if s != "store O2"])
wrong("flash_schedule", "never drops", named=("over",))([s for s in loop if not s.startswith("drop")])
wrong("flash_schedule", "computes eight pairs", named=("unfinished",))([s for s in loop if s != "compute Q2 K2"])
wrong("flash_schedule", "writes compute with a comma")([s.replace(" K", ", K") if s.startswith("compute") else s for s in loop])

# --- causal_schedule -------------------------------------------------------------------------------

wrong("causal_schedule", "the plain loop over visible pairs", named=("keys_each_time",))(tri)
wrong("causal_schedule", "computes a hidden pair", named=("hidden",))(tri[:4] + ["load K1", "compute Q0 K1", "drop K1"] + tri[4:])
wrong("causal_schedule", "loads O, which was never stored")(["load O0"] + tri)

# --- window_cache ----------------------------------------------------------------------------------

wrong("window_cache", "never drops and never stores", named=("over",))(full)
wrong("window_cache", "stores every block")([s for t in range(7) for s in (f"token {t}", f"store C{t}", f"drop C{t}")])
wrong("window_cache", "drops the sink", named=("gone",))(["token 0", "token 1", "token 2", "drop C0", "token 3", "drop C1", "token 4", "drop C2", "token 5", "drop C3", "token 6"])

# --- text_cache ------------------------------------------------------------------------------------

wrong("text_cache", "loads everything in every token", named=("prompt_again",))([s for _ in range(3) for x in "ABC" for s in ("load P", "load " + x, "token " + x, "drop " + x, "drop P")])
wrong("text_cache", "the same order in every round", named=("one_just_left",))(["load P"] + [s for _ in range(3) for x in "ABC" for s in ("load " + x, "token " + x, "drop " + x)])
wrong("text_cache", "text by text, so rounds are broken", named=("unfair",))(["load P"] + [s for x in "ABC" for s in ("load " + x, *["token " + x] * 3, "drop " + x)])
wrong("text_cache", "one load more than it takes: two texts change places in the third round")(["load P", "load A", "token A", "load B", "token B", "drop A", "load C", "token C",
      "token C", "token B", "drop B", "load A", "token A", "token A", "drop C", "load B", "token B", "drop A", "load C", "token C"])
