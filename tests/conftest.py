"""Fixtures that every test file shares."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    """A fresh generator with a fixed seed: the same numbers in every run, in any order of the tests."""
    return np.random.default_rng(20260101)
