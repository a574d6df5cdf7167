"""Every chapter and reference page of the built site in a real browser: on a desk and on a phone, light and dark."""

import pytest
from watched import PAGES, check_page


@pytest.mark.parametrize("name", [name for name in PAGES if name.startswith("chapters/")] or ["no site"])
def test_page(name, chromium, address, record_property):
    check_page(name, chromium, address, record_property)
