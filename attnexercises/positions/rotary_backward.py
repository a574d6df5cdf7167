"""The exercise on the gradient of rotary positions: readers derive it."""

import numpy as np

from attnexercises.engine.model import Exercise, Mistake
from attnexercises.positions.rotary_embedding import PROBES, places


def rope_backward(d_out, pos):
    d = d_out.shape[-1]
    angles = pos[:, np.newaxis] / 10000 ** (np.arange(0, d, 2) / d)
    cos, sin = np.cos(angles), np.sin(angles)
    d_first, d_second = d_out[..., 0::2], d_out[..., 1::2]
    d_x = np.zeros(d_out.shape)
    # forward: out[1::2] = first * sin + second * cos; out[0::2] = first * cos - second * sin
    d_x[..., 0::2] = d_first * cos + d_second * sin
    d_x[..., 1::2] = d_second * cos - d_first * sin
    return d_x


def _oracle(d_out, pos):
    """Each entry as the slope of the loss: the forward is linear, so a step of 1 from zero measures it."""
    n, d = d_out.shape[-2:]
    d_x = np.zeros(d_out.shape)
    for place in range(n):
        for feature in range(d):
            step = np.zeros(d)
            step[feature] = 1.0
            angle = float(pos[place]) / 10000 ** (2 * (feature // 2) / d)
            even = feature - feature % 2
            hand = complex(*step[even : even + 2]) * np.exp(1j * angle)
            d_x[..., place, feature] = d_out[..., place, even] * hand.real + d_out[..., place, even + 1] * hand.imag
    return d_x


_BACKWARD = Exercise(
    title="The gradient of a turn", level="medium", minutes=15, blanks=2, oracle=_oracle, solution=rope_backward,
    probes=PROBES,
    mistakes=(
        Mistake("forward", "np.sin(angles) -> -np.sin(angles)",
            "The gradient is turned like the features in the forward pass. On the way back, the matrix is transposed.", 2, sets="turn"),
        Mistake("own_only", ("d_first * cos + d_second * sin -> d_first * cos", "d_second * cos - d_first * sin -> d_second * cos"),
            "Each feature got only the gradient of its own place. It also had a share in its partner's new value.", 1,
            sets="turn"),
        Mistake("derivative",
            ("d_first * cos + d_second * sin -> d_second * cos - d_first * sin",
             "d_second * cos - d_first * sin -> -d_first * cos - d_second * sin"),
            "Cosine and sine are differentiated here. But the angle is given, and the exercise asks for the gradient with respect to x.", 1, sets="turn"),
        Mistake("derivative_forward",
            ("d_first * cos + d_second * sin -> -d_first * sin - d_second * cos",
             "d_second * cos - d_first * sin -> d_first * cos - d_second * sin"),
            "This is the slope of the turn in its angle. The angle is given, and the exercise asks for the gradient with respect to x.", 1, sets="turn"),
        Mistake("no_minus", "d_first * cos + -> d_first * cos -",
            "Both components have a minus before their sine. In the transposed rotation only the second has one.", 3,
            sets="turn"),
        Mistake("minus_twice", "d_second * cos - -> d_second * cos +",
            "No component has a minus before its sine. In the transposed rotation the second has one.", 3, sets="turn"),
        Mistake("overwritten", "d_first * sin -> (d_first * cos + d_second * sin) * sin",
            "The second component is computed from the new value of the first. It needs the old value.", 3, sets="turn"),
        Mistake("swap", "np.cos(angles), np.sin(angles) -> np.sin(angles), np.cos(angles)",
            "Sine and cosine are exchanged. At angle 0 the gradient should pass unchanged.", 3, sets="turn"),
        Mistake("half", ("[..., 0::2] -> [..., : d // 2]", "[..., 1::2] -> [..., d // 2 :]"),
            "Features half a vector apart are paired here. The forward pass paired neighbours.", 1, sets="pairs"),
        Mistake("half_out", ("d_x[..., 0::2] -> d_x[..., : d // 2]", "d_x[..., 1::2] -> d_x[..., d // 2 :]"),
            "Neighbours are paired, but the result is stored in two halves. Put each pair back into its own places.", 1,
            shows="permuted", sets="pairs"),
        *places("d_out"),
    ),
    hints=(
        "The first feature of a pair enters both components of the result. Write its two shares; each is a gradient times a factor.",
        "A pair is multiplied by a 2 by 2 matrix A that does not depend on x. What is the gradient of A x with respect to x?",
        "The transpose of a rotation turns back. If g1 and g2 are the gradients of a pair, then d_x1 = g1 cos + g2 sin and "
        "d_x2 = g2 cos - g1 sin.",
    ),
    why="The forward pass multiplies each pair by a rotation, so the backward pass multiplies by its transpose, which turns by the "
    "opposite angle. Only the positions have to be saved.",
    insight="If you turn and then turn back, nothing has changed: `rope_backward(rope(x, pos), pos)` is x. Gradients keep their lengths, too.",
    outputs=("d_x",), atol=1e-10,
)  # fmt: skip
