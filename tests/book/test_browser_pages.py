"""Every chapter of the built site in a real browser: on a desk and on a phone, light and dark."""

import pytest
from watched import PAGES, check_page

CHAPTERS = [name for name in PAGES if name.startswith("chapters/") and not name.startswith("chapters/api/")]


@pytest.mark.parametrize("name", CHAPTERS or ["no site"])
def test_page(name, watched, record_property):
    check_page(name, watched, record_property)
