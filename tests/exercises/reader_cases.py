"""What tests of a reader's session share: a usual wrong answer, and what was printed."""

import numpy as np


def no_shift(x):
    return np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)


def out(capsys):
    return capsys.readouterr().out
