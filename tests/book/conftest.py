"""The pages of the built site in a browser, as tests look at them and use them."""

import pytest
from watched import FORGETFUL, Tab, Watched, context


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
