"""What every test file shares: a generator of random numbers, property tests without a stopwatch and without luck, and the
built site with a browser, or what happens when either is missing."""

import os

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


def missing(reason):
    """Skip and say why; fail instead where nothing may be left out."""
    if os.environ.get("CI") == "true" or os.environ.get("ATTNLIB_REQUIRE_BROWSER") == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def site():
    """The built site."""
    from watched import SITE  # here, for the page's own Python runs other tests without it

    if not (SITE / "index.html").is_file():
        missing("the site is not built; run: make book")
    return SITE


@pytest.fixture(scope="session")
def chromium(site):
    """The one browser of this worker."""
    from playwright.sync_api import expect
    from watched import PATIENCE

    from tools import browser

    if browser.chromium() is None:
        missing(f"no browser is installed (looked for {', '.join(browser.NAMES)})")
    expect.set_options(timeout=PATIENCE)
    with browser.launched() as running:
        yield running


@pytest.fixture(scope="session")
def address(site):
    """The address of the site while it is served on this machine."""
    from tools import browser

    with browser.served(site) as url:
        yield url
