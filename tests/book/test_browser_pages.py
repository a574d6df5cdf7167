"""Every page of the built site in a real browser: on a desk and on a phone, light and dark."""

import browser
import pytest
from watched import PAGES, Watched, look


@pytest.mark.parametrize("name", PAGES)
def test_page(name, chromium, address, record_property):
    found, views = [], 0
    for width in browser.WIDTHS:
        with Watched(chromium, address, width, color_scheme="light") as watched:
            page = watched.open(name)
            for scheme in browser.SCHEMES:
                page.emulate_media(color_scheme=scheme)
                browser.settle(page)
                found += [f"{width} px, {scheme}: {fault}" for fault in look(page, scheme)]
                views += 1
            found += [f"{width} px: {fault}" for fault in watched.faults]
    record_property("checked views of pages (page × width × scheme) in the browser", views)
    assert not found, f"{name}:\n" + "\n".join(found)
