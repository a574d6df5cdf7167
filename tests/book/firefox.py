"""Firefox by its own protocol, WebDriver BiDi: enough to open pages, click, type, and hear what the console says.

Playwright drives builds of Firefox of its own; this asks for nothing but the browser that a reader has.
"""

import contextlib
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import websocket
from watched import PATIENCE

from tools.browser import STARTED

CONTROL, ENTER = "\ue009", "\ue007"
NAMES = ("firefox-esr", "firefox")
# No first page, no requests of its own, and scroll bars that take no room, as on a phone.
PREFERENCES = """
user_pref("app.normandy.enabled", false);
user_pref("app.update.enabled", false);
user_pref("browser.aboutwelcome.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.safebrowsing.malware.enabled", false);
user_pref("browser.safebrowsing.phishing.enabled", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("extensions.update.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("services.settings.server", "data:,none");
user_pref("toolkit.telemetry.enabled", false);
user_pref("ui.useOverlayScrollbars", 1);
"""
# Firefox says so of a formula that it draws before all of it has arrived; `test_firefox.py` counts what is there in the end.
HALF_A_FORMULA = "Invalid markup: Incorrect number of children for <m"
WAIT = """async ([found, seconds]) => {
    const until = Date.now() + 1000 * seconds;
    for (;;) {
        const value = await (0, eval)(`(${found})`)();
        if (value) return value;
        if (Date.now() > until) throw new Error("in vain: " + found);
        await new Promise((next) => setTimeout(next, 100));
    }
}"""


def firefox():
    """The path of an installed Firefox, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextlib.contextmanager
def launched(preferences=None):
    """A window of Firefox with an empty profile, in which these preferences, by their names, are set, too."""
    with tempfile.TemporaryDirectory() as profile:
        own = "".join(f'user_pref("{name}", {json.dumps(value)});\n' for name, value in (preferences or {}).items())
        (Path(profile) / "user.js").write_text(PREFERENCES + own)
        command = [firefox(), "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0", "about:blank"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            session = f"{address(Path(profile) / 'WebDriverBiDiServer.json', process)}/session"
            with contextlib.closing(websocket.create_connection(session, timeout=PATIENCE / 1000, suppress_origin=True)) as socket:
                yield Window(socket)
        finally:
            process.terminate()
            process.wait()


def address(file, process):
    """Where Firefox listens: it writes that into its profile when it does."""
    until = time.monotonic() + PATIENCE / 1000
    while process.poll() is None and time.monotonic() < until:
        with contextlib.suppress(OSError, ValueError):
            told = json.loads(file.read_text())
            return f"ws://{told['ws_host']}:{told['ws_port']}"
        time.sleep(0.1)
    raise TimeoutError("Firefox does not listen")


class Window:
    """One page. `faults`: what the console complained of, and answers that were no success."""

    def __init__(self, socket):
        self.socket, self.number, self.faults = socket, 0, []
        self.user = self.page = None  # Firefox may tell of its own first tab before there is one of ours
        self.loaded = False
        self.send("session.new", capabilities={})
        self.send("session.subscribe", events=["log.entryAdded", "network.responseCompleted", "browsingContext.load"])
        self.anew()

    def anew(self, width=1440, height=900):
        """Go on as on a first visit: in a new tab with an empty store of its own. The tab before it is closed."""
        before, self.user = self.user, self.send("browser.createUserContext")["userContext"]
        self.page = self.send("browsingContext.create", type="tab", userContext=self.user)["context"]
        self.send("browsingContext.setViewport", context=self.page, viewport={"width": width, "height": height})
        if before:
            self.send("browser.removeUserContext", userContext=before)
        self.faults.clear()

    def send(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while (answer := self.receive()).get("id") != self.number:
            pass
        assert answer["type"] == "success", f"{method}: {answer}"
        return answer["result"]

    def receive(self):
        """The next message of Firefox, which has been heard if it tells of an event."""
        message = json.loads(self.socket.recv())
        if message["type"] == "event":
            self.hear(message["method"], message["params"])
        return message

    def hear(self, event, told):
        if event == "log.entryAdded" and told["level"] in ("error", "warn") and not told["text"].startswith(HALF_A_FORMULA):
            self.faults.append(told["text"])
        elif event == "network.responseCompleted" and told["response"]["status"] >= 400:
            self.faults.append(f"{told['response']['status']}: {told['response']['url']}")
        elif event == "browsingContext.load" and told["context"] == self.page:
            self.loaded = True

    def open(self, address):
        self.send("browsingContext.navigate", context=self.page, url=address, wait="complete")
        self.ask("() => document.fonts.ready.then(() => true)")  # a font that is left on its way is a complaint
        self.wait(f"() => {STARTED}")

    def follow(self, action, *arguments):
        """Do what leads to another page, and return when that has loaded. A page that goes never answers what it was asked."""
        self.loaded = False
        action(*arguments)
        while not self.loaded:
            self.receive()

    def ask(self, function, *arguments):
        """What a function of the page returns for these arguments."""
        told = self.send(
            "script.callFunction",
            functionDeclaration=f"async (given) => JSON.stringify(await ({function})(...JSON.parse(given)))",
            arguments=[{"type": "string", "value": json.dumps(arguments)}],
            target={"context": self.page},
            awaitPromise=True,
            userActivation=True,
        )
        assert told["type"] == "success", told["exceptionDetails"]["text"]
        value = told["result"].get("value")
        return json.loads(value) if value else None

    def wait(self, found):
        """Wait until this function of the page returns something that is true, and return it."""
        return self.ask(WAIT, [found, PATIENCE / 1000])

    def middle(self, selector, scroll=True):
        """Where the middle of the first visible element of this selector is, after the page has scrolled to it.

        And after two frames: what a press meets is found where the page was last drawn.
        """
        return self.ask(
            """async (selector, scroll) => {
                const shown = [...document.querySelectorAll(selector)].find((element) => element.checkVisibility());
                if (scroll) shown.scrollIntoView({ block: "center", behavior: "instant" });
                for (const frame of [1, 2]) await new Promise(requestAnimationFrame);
                const { x, y, width, height } = shown.getBoundingClientRect();
                return [Math.round(x + width / 2), Math.round(y + height / 2)];
            }""",
            selector,
            scroll,
        )

    def click(self, selector):
        """Press the left button where the first visible element of this selector is, as a hand does."""
        self.drag(self.middle(selector), (0, 0), "mouse", steps=0)

    def drag(self, start, by, pointer="touch", steps=6):
        """A pointer of this kind goes down at a place, moves in so many steps, and goes up."""
        moves = [{"type": "pointerMove", "x": start[0], "y": start[1]}, {"type": "pointerDown", "button": 0}]
        for step in range(1, steps + 1):
            x, y = (round(where + far * step / steps) for where, far in zip(start, by))
            moves.append({"type": "pointerMove", "x": x, "y": y, "duration": 50})
        source = {"type": "pointer", "id": pointer, "parameters": {"pointerType": pointer}}
        self.send("input.performActions", context=self.page, actions=[{**source, "actions": [*moves, {"type": "pointerUp", "button": 0}]}])

    def upload(self, selector, path):
        """Choose a file in the first input of this selector, whether it is visible or not."""
        found = self.send("browsingContext.locateNodes", context=self.page, locator={"type": "css", "value": selector}, maxNodeCount=1)
        element = {"sharedId": found["nodes"][0]["sharedId"]}
        self.send("input.setFiles", context=self.page, element=element, files=[str(path)])

    def type(self, text):
        keys = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.send("input.performActions", context=self.page, actions=[{"type": "key", "id": "keys", "actions": keys}])

    def press(self, *together):
        keys = [{"type": "keyDown", "value": key} for key in together] + [{"type": "keyUp", "value": key} for key in reversed(together)]
        self.send("input.performActions", context=self.page, actions=[{"type": "key", "id": "keys", "actions": keys}])
