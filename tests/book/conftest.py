"""Where the built site is, and what happens when it or the browser is missing."""

import os

import browser
import pytest
from watched import FORGETFUL, PATIENCE, SITE, Tab, Watched, context


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
    """The one browser of this worker."""
    if browser.chromium() is None:
        missing(f"no browser is installed (looked for {', '.join(browser.NAMES)})")
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE)
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
        page.context.add_init_script(FORGETFUL)
        yield page


@pytest.fixture(scope="session")
def from_disk(chromium, site):
    """The same for the site as files, which a browser treats more strictly than what is served."""
    with Watched(chromium, f"{site.as_uri()}/", 1440) as page:
        page.context.add_init_script(FORGETFUL)
        yield page


def shared(chromium, width, **options):
    """A context for the tests of this worker. Its first page stays open: without any, the window would be made anew."""
    made = context(chromium, width, **options)
    made.new_page()
    yield made
    made.close()


@pytest.fixture(scope="session")
def phone_context(chromium):
    yield from shared(chromium, 390, has_touch=True)


@pytest.fixture(scope="session")
def desk_context(chromium):
    yield from shared(chromium, 1440, color_scheme="light")


@pytest.fixture
def phone(phone_context, address):
    """A page on a phone, as on a first visit, which must not have complained in the end."""
    with Tab(phone_context, address) as watched:
        yield watched
        assert not watched.faults


@pytest.fixture
def desk(desk_context, address):
    """A page on a desk, likewise."""
    with Tab(desk_context, address) as watched:
        yield watched
        assert not watched.faults


@pytest.fixture(scope="session")
def scriptless_context(chromium):
    yield from shared(chromium, 1440, java_script_enabled=False)


@pytest.fixture
def without_scripts(scriptless_context):
    """A page of a browser that runs no script."""
    page = scriptless_context.new_page()
    yield page
    page.close()


@pytest.fixture
def own_phone(chromium, address):
    """A page on a phone in a context of its own, for a test that changes the context."""
    with Watched(chromium, address, 390, has_touch=True) as watched:
        yield watched
        assert not watched.faults


@pytest.fixture
def own_desk(chromium, address):
    """A page on a desk, likewise."""
    with Watched(chromium, address, 1440, color_scheme="light") as watched:
        yield watched
        assert not watched.faults
