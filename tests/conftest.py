"""What every test file shares: a generator of random numbers, and no stopwatch in the property tests."""

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# A property that takes long on a busy machine is no less true.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture
def rng():
    """A fresh generator with a fixed seed: the same numbers in every run, in any order of the tests."""
    return np.random.default_rng(20260101)
