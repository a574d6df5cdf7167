"""Where the built site is, and what happens when it or the browser is missing."""

import os

import browser
import pytest
from watched import SITE, Watched


def missing(reason):
    """Skip and say why; fail instead where nothing may be left out."""
    if os.environ.get("CI") == "true" or os.environ.get("ATTNLIB_REQUIRE_BROWSER") == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def site():
    """The built site."""
    if not (SITE / "index.html").is_file():
        missing("the site is not built; run: make book")
    return SITE


@pytest.fixture(scope="session")
def chromium(site):
    """A running browser."""
    if browser.chromium() is None:
        missing(f"no browser is installed (looked for {', '.join(browser.NAMES)})")
    from playwright.sync_api import expect

    expect.set_options(timeout=120_000)  # as for all else that is waited for: a busy machine is no fault of the book
    with browser.launched() as running:
        yield running


@pytest.fixture(scope="session")
def address(site):
    """The address of the site while it is served on this machine."""
    with browser.served(site) as url:
        yield url


@pytest.fixture(scope="session")
def watched(chromium, address):
    """One page for all that is only looked at: what a site's pages share is fetched and compiled once."""
    with Watched(chromium, address, 1440) as page:
        yield page


@pytest.fixture
def phone(chromium, address):
    """A page on a phone, which must not have complained in the end."""
    with Watched(chromium, address, 390, has_touch=True) as watched:
        yield watched
        assert not watched.faults


@pytest.fixture
def desk(chromium, address):
    """A page on a desk, likewise."""
    with Watched(chromium, address, 1440, color_scheme="light") as watched:
        yield watched
        assert not watched.faults
