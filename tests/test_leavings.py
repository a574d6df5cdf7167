"""What one test leaves behind the next one does not find: conftest.py takes it away between the two."""

import signal

import matplotlib.pyplot as plt
import numpy as np

USUAL = np.get_printoptions(), signal.getsignal(signal.SIGTERM), plt.rcParams["figure.dpi"]


def test_one_leaves_everything_as_it_should_not_be():
    np.set_printoptions(precision=1)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    plt.rcParams["figure.dpi"] = 37
    plt.figure()
    assert plt.get_fignums()


def test_another_finds_nothing_of_it():
    assert not plt.get_fignums()
    assert (np.get_printoptions(), signal.getsignal(signal.SIGTERM), plt.rcParams["figure.dpi"]) == USUAL
