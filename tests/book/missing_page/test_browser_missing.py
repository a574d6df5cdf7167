"""The page that a server shows for an address that no page has, wherever the book lies and however deep the address."""

import functools
import threading
from http import HTTPStatus
from urllib.parse import urlsplit

import pytest
from watched import PATIENCE, Axe, accessibility

from tools import browser

GONE = ["gone.html", "chapters/gone.html", "chapters/a/b/", "a/b/c/d"]
ROOTS = ["", "user/book/", pytest.param("book/", marks=pytest.mark.thorough)]  # where the book lies on its server
deepest = pytest.mark.parametrize("root", ["user/book/"], indirect=True)  # for what the place makes no difference to


@pytest.fixture(scope="module", params=ROOTS)
def root(request, site, tmp_path_factory):
    """The address of the book on a server that answers with `404.html`, as GitHub Pages does."""
    content = (site / "404.html").read_bytes()

    class Pages(browser.Quiet):
        def send_error(self, code, *arguments, **more):
            if code != HTTPStatus.NOT_FOUND:
                return super().send_error(code, *arguments, **more)
            self.send_response(code)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

    folder = tmp_path_factory.mktemp("server")
    place = folder / "root" / request.param
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(site)
    server = browser.Server(("127.0.0.1", 0), functools.partial(Pages, directory=str(folder / "root")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/{request.param}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def page(chromium):
    """A page in a context of its own: the addresses of these servers are nobody else's."""
    with chromium.new_context(viewport={"width": 1440, "height": 900}) as context:
        context.set_default_timeout(PATIENCE)
        yield context.new_page()


def test_it_looks_like_the_book_and_leads_back(root, page):
    here = urlsplit(root).path
    for address in GONE:
        assert page.goto(root + address).status == 404
        assert page.inner_text("h1") == "This page does not exist"
        assert "Source Sans 3" in page.evaluate("getComputedStyle(document.querySelector('h1')).fontFamily")
        links = page.evaluate("[...document.querySelectorAll('a')].map(link => new URL(link.href).pathname)")
        assert f"{here}chapters/01_softmax.html" in links
        assert all(link.startswith(here) for link in links), links
    page.evaluate("document.querySelector('a[href$=\"#main-content\"]').click()")
    assert page.url == f"{root}{GONE[-1]}#main-content"  # a link within it stays on it
    page.locator("article a", has_text="Turn scores into weights").click()
    page.wait_for_url(f"{root}chapters/01_softmax.html")


def test_its_search_works(root, page):
    page.goto(f"{root}a/b/gone")
    page.locator("article input[name=q]").fill("causal mask")
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-results .context")
    assert page.url.startswith(f"{root}search.html")


@deepest
def test_it_is_accessible_where_it_is_shown(root, page):
    page.add_init_script(Axe().axe_script + browser.PROBES)
    page.goto(f"{root}a/gone")
    browser.settle(page)
    assert not accessibility(page)


@deepest
def test_without_scripts_it_can_be_read(root, without_scripts):
    page = without_scripts
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{root}a/b/gone")
    assert page.locator("h1").bounding_box()["y"] < 200, "something stands in front of the words"
    assert "shorten the address" in page.inner_text("article")
    assert max(icon["height"] for icon in map(lambda icon: icon.bounding_box(), page.locator("svg:visible").all())) < 40
    link = page.locator("article a", has_text="Turn scores into weights")
    assert link.get_attribute("href") == "chapters/01_softmax.html"
