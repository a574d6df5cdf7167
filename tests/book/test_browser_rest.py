"""The pages that the build adds (first page, search, index, source code) in a real browser, as in test_browser_pages.py.

A file of its own so that two workers share the pages.
"""

import pytest
from watched import PAGES, check_page


@pytest.mark.parametrize("name", [name for name in PAGES if not name.startswith("chapters/")])
def test_page(name, chromium, address, record_property):
    check_page(name, chromium, address, record_property)
