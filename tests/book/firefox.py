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

CONTROL, ENTER = "\ue009", "\ue007"
NAMES = ("firefox-esr", "firefox")
# No first page, and no requests of its own.
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
"""
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
def launched(width=1440, height=900):
    """A window of Firefox without a profile of its own."""
    with tempfile.TemporaryDirectory() as profile:
        (Path(profile) / "user.js").write_text(PREFERENCES)
        command = [firefox(), "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0", "about:blank"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            window = Window(address(Path(profile) / "WebDriverBiDiServer.json", process), width, height)
            yield window
            window.close()
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

    def __init__(self, address, width, height):
        self.socket = websocket.create_connection(f"{address}/session", timeout=PATIENCE / 1000, suppress_origin=True)
        self.number, self.faults = 0, []
        self.send("session.new", capabilities={})
        self.send("session.subscribe", events=["log.entryAdded", "network.responseCompleted"])
        self.page = self.send("browsingContext.create", type="tab")["context"]
        self.send("browsingContext.setViewport", context=self.page, viewport={"width": width, "height": height})

    def close(self):
        self.socket.close()

    def send(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv())
            if answer["type"] == "event":
                self.hear(answer["method"], answer["params"])
            elif answer.get("id") == self.number:
                assert answer["type"] == "success", f"{method}: {answer}"
                return answer["result"]

    def hear(self, event, told):
        if event == "log.entryAdded" and told["level"] in ("error", "warn"):
            self.faults.append(told["text"])
        elif event == "network.responseCompleted" and told["response"]["status"] >= 400:
            self.faults.append(f"{told['response']['status']}: {told['response']['url']}")

    def open(self, address):
        self.send("browsingContext.navigate", context=self.page, url=address, wait="complete")
        self.ask("() => document.fonts.ready.then(() => true)")  # a font that is left on its way is a complaint

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

    def click(self, selector):
        """Press the left button where the first visible element of this selector is, as a hand does."""
        place = self.ask(
            """(selector) => {
                const shown = [...document.querySelectorAll(selector)].find((element) => element.checkVisibility());
                shown.scrollIntoView({ block: "center", behavior: "instant" });
                const { x, y, width, height } = shown.getBoundingClientRect();
                return [Math.round(x + width / 2), Math.round(y + height / 2)];
            }""",
            selector,
        )
        moves = [{"type": "pointerMove", "x": place[0], "y": place[1]}, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.send("input.performActions", context=self.page, actions=[{"type": "pointer", "id": "mouse", "actions": moves}])

    def type(self, text):
        keys = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.send("input.performActions", context=self.page, actions=[{"type": "key", "id": "keys", "actions": keys}])

    def press(self, *together):
        keys = [{"type": "keyDown", "value": key} for key in together] + [{"type": "keyUp", "value": key} for key in reversed(together)]
        self.send("input.performActions", context=self.page, actions=[{"type": "key", "id": "keys", "actions": keys}])
