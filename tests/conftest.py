"""What every test file shares: a generator of random numbers, and property tests without a stopwatch and without luck."""

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# A property that takes long on a busy machine is no less true, and a run draws the same examples as the run before.
# `pytest --hypothesis-profile=searching` draws others, once a week: what it finds is a new fixed case.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
settings.register_profile("searching", settings.get_profile("steady"), derandomize=False, print_blob=True)
settings.load_profile("steady")


@pytest.fixture
def rng():
    """A fresh generator with a fixed seed: the same numbers in every run, in any order of the tests."""
    return np.random.default_rng(20260101)
