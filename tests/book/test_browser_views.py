"""Pages in a real browser with axe, on a desk and on a phone, light and dark: the chapters and what belongs to them.

On a push one page of each kind is looked at (kinds.py), before publishing every page and every text on it.
"""

import pytest
from kinds import LOOKED_AT
from watched import CHAPTERS, check_page


def on_a_push(names):
    """The pages as parameters: those that no push looks at are marked."""
    return [name if name in LOOKED_AT else pytest.param(name, marks=pytest.mark.thorough) for name in names] or ["no site"]


@pytest.mark.parametrize("name", on_a_push(CHAPTERS))
def test_page(name, watched, record_property, request):
    check_page(name, watched, record_property, thorough=request.config.option.thorough)
