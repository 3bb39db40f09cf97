"""A headless Chromium, controlled through its DevTools pipe: opens a page, runs a line of script, takes a picture."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE = 60  # seconds


def find_chromium():
    """The path of a Chromium, or the test is skipped."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        pytest.skip(f"no Chromium found: tried {', '.join(PROGRAMS)}")
    return found


class Page:
    """One page of a browser of its own. `errors` are those that scripts and the console report."""

    def __init__(self, program, width=1200, height=900, dark=False):
        self.errors, self.messages, self.number, self.rest = [], [], 0, b""
        self.profile = tempfile.TemporaryDirectory(prefix="kgalign-browser-", ignore_cleanup_errors=True)
        to_browser, self.writing = high_pipe()
        self.reading, from_browser = high_pipe()

        def connect():  # the file descriptors that --remote-debugging-pipe expects
            os.dup2(to_browser, 3)
            os.dup2(from_browser, 4)

        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--remote-debugging-pipe",
            "--no-first-run",
            "--disable-background-networking",
        ]
        options += ["--disable-dev-shm-usage", f"--user-data-dir={self.profile.name}"]
        self.process = subprocess.Popen(
            [program, *options], preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_browser)
        os.close(from_browser)
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        self.resize(width, height)
        if dark:
            self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE)
        os.close(self.writing)
        os.close(self.reading)
        self.profile.cleanup()

    def resize(self, width, height):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def open(self, place):
        """Opens a file, or an address."""
        self.messages.clear()
        self.ask("Page.navigate", url=place if isinstance(place, str) else place.resolve().as_uri())
        self.wait(lambda message: message.get("method") == "Page.loadEventFired")

    def run(self, script):
        """The value of the script's expression."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def run_until(self, script):
        """The value of the script's expression, as soon as that is true."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if value := self.run(script):
                return value
            time.sleep(0.02)
        raise AssertionError(f"never true: {script}; the page shows: {self.run('document.body.innerText')}")

    def press(self, key, code=None):
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        named = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38, "/": 191, "?": 191, "-": 189}
        number = named[key] if key in named else ord(key.upper())
        for kind in ("keyDown", "keyUp"):
            self.ask(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=code or key,
                text=text if kind == "keyDown" else "",
                windowsVirtualKeyCode=number,
            )

    def picture(self, path):
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        answer = self.wait(lambda message: message.get("id") == self.number)
        assert "error" not in answer, answer
        return answer["result"]

    def wait(self, wanted):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for position, message in enumerate(self.messages):
                if wanted(message):
                    return self.messages.pop(position)
            ready, _, _ = select.select([self.reading], [], [], 1)
            if not ready:
                continue
            block = os.read(self.reading, 1 << 20)
            assert block, "the browser has ended"
            *whole, self.rest = (self.rest + block).split(b"\0")
            for message in map(json.loads, whole):
                self.listen(message)
                self.messages.append(message)
        raise AssertionError("the browser does not answer")

    def listen(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(parameters["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] == "error":
            self.errors.append(str(parameters["args"]))


def high_pipe():
    """A pipe whose ends have numbers above those that the browser uses."""
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return high
