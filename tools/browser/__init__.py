"""What the browser tests and the screenshots share: find Chromium, serve the built site, open a page that is settled."""

import contextlib
import functools
import shutil
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Every window of Chromium prepares two pages for its own address bar, which is a third of the work of a short test.
OWN_PAGES = ["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"]
# Only the last list of features on a command line counts, so ours has to repeat what Playwright turns off.
PLAYWRIGHT_OFF = [
    "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay", "MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect",
    "TcpPortRandomizationWin", "OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch",
    "msForceBrowserSignIn", "msEdgeUpdateLaunchServicesPreferredVersion",
]  # fmt: skip
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join([*PLAYWRIGHT_OFF, *OWN_PAGES])}",
]
PROBES = (Path(__file__).parent / "probes.js").read_text(encoding="utf-8")
WIDTHS = {1440: 900, 390: 844}  # width: height
# A page of the book is shown before its scripts run (book/light_pages/scripts.py).
STARTED = """!document.querySelector('script[type="later"]') || "started" in document.documentElement.dataset"""
SCHEMES = ("light", "dark")


def chromium():
    """The path of an installed Chromium or Chrome, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        if not isinstance(sys.exception(), ConnectionError):  # a browser that closes a page hangs up
            super().handle_error(request, address)


@contextlib.contextmanager
def served(folder, handler=Quiet):
    """Serve a folder on a free port of the loopback interface; yields the address."""
    server = Server(("127.0.0.1", 0), functools.partial(handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def launched():
    """A running Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # A busy machine may take minutes to start a browser; that is no fault of the book.
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS, timeout=300_000)
        try:
            yield browser
        finally:
            browser.close()


def pages(folder):
    """Every page of the site, as an address below its root."""
    folder = Path(folder)
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html") if "_static" not in path.parts)


def settle(page):
    """Wait until the fonts are there and the page's own scripts have run.

    The scripts answer to a new size, a new scheme and an opened fold within the next frames, and one answer can lead to
    another. So this counts frames, and tasks between them, which a busy machine makes later but not fewer.
    """
    page.wait_for_function(STARTED, polling=10)
    page.evaluate(
        """async () => {
            if (document.fonts) await document.fonts.ready;
            for (let frame = 0; frame < 5; frame++) {
                await new Promise(requestAnimationFrame);
                await new Promise((done) => setTimeout(done));
            }
        }"""
    )
