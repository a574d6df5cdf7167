"""The pages about the library and those that the build adds (search, index, source code), as in test_browser_views.py.

A file of its own so that two workers share the pages.
"""

import pytest
from test_browser_views import on_a_push
from watched import CHAPTERS, PAGES, check_page


@pytest.mark.parametrize("name", on_a_push([name for name in PAGES if name not in CHAPTERS]))
def test_page(name, watched, record_property, request):
    check_page(name, watched, record_property, thorough=request.config.option.thorough)
