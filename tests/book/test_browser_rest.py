"""The pages about the library and those that the build adds (search, index, source code), as in test_browser_pages.py.

A file of its own so that two workers share the pages.
"""

import pytest
from test_browser_pages import CHAPTERS
from watched import PAGES, check_page


@pytest.mark.parametrize("name", [name for name in PAGES if name not in CHAPTERS])
def test_page(name, watched, record_property):
    check_page(name, watched, record_property)
