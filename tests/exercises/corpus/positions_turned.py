"""Wrong answers to `rope`, `rope_scores` and `rope_backward`, as readers may write them."""

import numpy as np

from . import wrong


def table(pos, d):
    angles = np.outer(pos, 10000.0 ** (-np.arange(0, d, 2) / d))
    return np.cos(angles), np.sin(angles)


def paired(one, two):
    return np.stack([one, two], axis=-1).reshape(*one.shape[:-1], -1)


def turned(x, pos):
    cos, sin = table(pos, x.shape[-1])
    return paired(x[..., ::2] * cos - x[..., 1::2] * sin, x[..., ::2] * sin + x[..., 1::2] * cos)


@wrong("rope", "rotate_half, as in many libraries", named=("half",))
def rotate_half(x, pos):
    half = x.shape[-1] // 2
    cos, sin = (np.tile(part, 2) for part in table(pos, x.shape[-1]))
    return x * cos + np.concatenate([-x[..., half:], x[..., :half]], axis=-1) * sin


@wrong("rope", "the new pairs as two halves", named=("half_out",))
def halves_out(x, pos):
    cos, sin = table(pos, x.shape[-1])
    even, odd = x[..., ::2], x[..., 1::2]
    return np.concatenate([even * cos - odd * sin, even * sin + odd * cos], -1)


@wrong("rope", "the other way round", named=("inverse",))
def other_way(x, pos):
    return turned(x, -pos)


@wrong("rope", "no minus", named=("no_minus",))
def no_minus(x, pos):
    cos, sin = table(pos, x.shape[-1])
    return paired(x[..., ::2] * cos + x[..., 1::2] * sin, x[..., ::2] * sin + x[..., 1::2] * cos)


@wrong("rope", "written in place", named=("overwritten",))
def in_place(x, pos):
    out = np.array(x, dtype=float)
    cos, sin = table(pos, x.shape[-1])
    out[..., 0::2] = out[..., 0::2] * cos - out[..., 1::2] * sin
    out[..., 1::2] = out[..., 0::2] * sin + out[..., 1::2] * cos
    return out


@wrong("rope", "the exponent without its 2", named=("i_over_d",))
def without_two(x, pos):
    d = x.shape[-1]
    angles = pos[:, None] * 10000.0 ** (-np.arange(d // 2) / d)
    hands = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)
    return paired(hands.real, hands.imag)


@wrong("rope", "rows counted anew", named=("pos_restart",))
def rows_counted(x, pos):
    return turned(x, np.arange(x.shape[-2]))


@wrong("rope", "positions looked up in a table of 512", named=("whole",), says=r"stops with IndexError")
def looked_up(x, pos):
    cos, sin = (part[pos] for part in table(np.arange(512), x.shape[-1]))
    return paired(x[..., ::2] * cos - x[..., 1::2] * sin, x[..., ::2] * sin + x[..., 1::2] * cos)


@wrong("rope", "one angle for all pairs", named=("one_speed",))
def one_angle(x, pos):
    c, s = np.cos(pos)[:, None], np.sin(pos)[:, None]
    return paired(x[..., ::2] * c - x[..., 1::2] * s, x[..., ::2] * s + x[..., 1::2] * c)


@wrong("rope", "waves added", named=("added",), says=r"wrong|differ")
def waves_added(x, pos):
    cos, sin = table(pos, x.shape[-1])
    return x + paired(cos, sin)


@wrong("rope", "cosine alone", named=("own_only",))
def cosine_alone(x, pos):
    return x * np.repeat(table(pos, x.shape[-1])[0], 2, axis=-1)


@wrong("rope", "angles in float32", says=r"case|float32|digits|precise|precision")
def narrow_angles(x, pos):
    d = x.shape[-1]
    angles = (pos[:, None] / 10000 ** (np.arange(0, d, 2) / d)).astype(np.float32)
    hands = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angles.astype(float))
    return paired(hands.real, hands.imag)


# --- rope_scores ----------------------------------------------------------------------------------


@wrong("rope_scores", "queries alone", named=("q_only",))
def queries_alone(q, k, pos_q, pos_k):
    return np.einsum("qd,kd->qk", turned(q, pos_q), k)


@wrong("rope_scores", "keys turned back", named=("opposite",))
def keys_back(q, k, pos_q, pos_k):
    return turned(q, pos_q) @ turned(k, -pos_k).T


@wrong("rope_scores", "both counted from 0", named=("same_pos", "restart_k", "both_from_0"), says=r"same|wrong")
def both_from_0(q, k, pos_q, pos_k):
    return turned(q, np.arange(len(q))) @ turned(k, np.arange(len(k))).T


@wrong("rope_scores", "queries counted from 0", named=("same_pos",))
def queries_from_0(q, k, pos_q, pos_k):
    return turned(q, pos_q - pos_q[0]) @ turned(k, pos_k).T


@wrong("rope_scores", "turned in the cache and again", named=("twice",))
def twice(q, k, pos_q, pos_k):
    return turned(turned(q, pos_q), pos_q) @ turned(turned(k, pos_k), pos_k).T


@wrong("rope_scores", "scaled", named=("scaled",))
def scaled(q, k, pos_q, pos_k):
    return turned(q, pos_q) @ turned(k, pos_k).T * q.shape[1] ** -0.5


@wrong("rope_scores", "no turn at all", named=("none",))
def no_turn(q, k, pos_q, pos_k):
    return q @ k.T


@wrong("rope_scores", "only the difference, in the wrong direction", named=("both_back",))
def wrong_direction(q, k, pos_q, pos_k):
    a, b = q[:, ::2] + 1j * q[:, 1::2], k[:, ::2] - 1j * k[:, 1::2]
    angles = (pos_k - pos_q[:, None])[..., None] * 10000.0 ** (-np.arange(0, q.shape[1], 2) / q.shape[1])
    return np.einsum("qi,ki,qki->qk", a, b, np.exp(1j * angles)).real


@wrong("rope_scores", "positions exchanged", named=("pos_swapped",), says=r"broadcast")
def exchanged(q, k, pos_q, pos_k):
    return turned(q, pos_k) @ turned(k, pos_q).T


# --- rope_backward --------------------------------------------------------------------------------


@wrong("rope_backward", "the forward again", named=("forward",))
def forward_again(d_out, pos):
    return turned(d_out, pos)


@wrong("rope_backward", "each feature for itself", named=("own_only",))
def each_for_itself(d_out, pos):
    return d_out * table(pos, d_out.shape[-1])[0].repeat(2, axis=1)


@wrong("rope_backward", "cosine and sine differentiated", named=("derivative",))
def differentiated(d_out, pos):
    cos, sin = table(pos, d_out.shape[-1])
    one, two = d_out[..., ::2], d_out[..., 1::2]
    return paired(one * -sin + two * cos, -(two * sin) - one * cos)


@wrong("rope_backward", "halves as pairs", named=("half",))
def halves(d_out, pos):
    one, two = np.split(d_out, 2, axis=-1)
    cos, sin = table(pos, d_out.shape[-1])
    return np.concatenate([one * cos + two * sin, two * cos - one * sin], axis=-1)


@wrong("rope_backward", "plus in both", named=("minus_twice",))
def plus_in_both(d_out, pos):
    cos, sin = table(pos, d_out.shape[-1])
    return paired(d_out[..., ::2] * cos + d_out[..., 1::2] * sin, d_out[..., 1::2] * cos + d_out[..., ::2] * sin)


@wrong("rope_backward", "divided by the cosine", says=r"wrong|differ|times")
def divided(d_out, pos):
    return d_out / table(pos, d_out.shape[-1])[0].repeat(2, axis=1)


@wrong("rope_backward", "rows counted anew", named=("pos_restart",))
def rows_again(d_out, pos):
    return turned(d_out, -np.arange(d_out.shape[-2]))


@wrong("rope_backward", "the gradient as it is", says=r"wrong|differ|not")
def as_it_is(d_out, pos):
    return d_out.copy()


@wrong("rope_backward", "written in place", named=("overwritten",))
def back_in_place(d_out, pos):
    d_x, (cos, sin) = np.array(d_out), table(pos, d_out.shape[-1])
    d_x[..., 0::2] = d_x[..., 0::2] * cos + d_x[..., 1::2] * sin
    d_x[..., 1::2] = d_x[..., 1::2] * cos - d_x[..., 0::2] * sin
    return d_x
