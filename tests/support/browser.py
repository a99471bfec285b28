"""A real browser for tests of pages: headless Chromium, driven over a pipe by its DevTools protocol.

https://chromedevtools.github.io/devtools-protocol: JSON messages that end in a zero byte, on the file descriptors 3 and
4 of the browser. Mouse and keys are the browser's own events, as a user's are.
"""

import json
import os
import select
import shutil
import subprocess
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE_S = 120.0
FLAGS = ("--headless", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage", "--remote-debugging-pipe")


class Page:
    """The one page of a browser."""

    def __init__(self, requests: int, answers: int) -> None:
        self._requests, self._answers = requests, answers
        self._number, self._read = 0, b""
        self._session: str | None = None
        # What the page got wrong; what the browser refused: by a policy, or an answer that failed.
        self.errors: list[str] = []
        self.logged: list[str] = []
        # Where it asked for something.
        self.requests: list[str] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.send("Runtime.enable")
        self.send("Page.enable")
        self.send("Network.enable")
        self.send("Log.enable")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask the browser, and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._requests, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer = self._next(deadline)
            self._hear(answer.get("method"), answer.get("params", {}))
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result

    def _hear(self, event: str | None, told: dict[str, Any]) -> None:
        if event == "Runtime.exceptionThrown":
            details = told["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif event == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.logged.append(told["entry"]["text"])
        elif event == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._read:
            ready, _, _ = select.select([self._answers], [], [], max(deadline - time.monotonic(), 0))
            assert ready, f"the browser did not answer in {PATIENCE_S:g} s"
            self._read += os.read(self._answers, 1 << 20)
        message, _, self._read = self._read.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def open(self, place: Path | str, width: int = 1200, height: int = 1000, *, dark: bool = False) -> None:
        """Open a file, or what is at an address, in a window of this size."""
        url = place.as_uri() if isinstance(place, Path) else place
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.send("Page.navigate", url=url)
        self.wait(f"document.readyState === 'complete' && location.protocol === {json.dumps(url.partition('/')[0])}")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true on the page."""
        deadline = time.monotonic() + PATIENCE_S
        while not self.value(condition):
            assert time.monotonic() < deadline, f"not in {PATIENCE_S:g} s: {condition}"
            time.sleep(0.02)

    def value(self, expression: str) -> Any:
        """What an expression is on the page."""
        found = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def text(self, selector: str) -> str:
        """The text of the first element that a selector finds."""
        return str(self.value(f"document.querySelector({json.dumps(selector)}).innerText"))

    def mouse(self, kind: str, x: float, y: float, *, held: bool = False) -> None:
        """Move, press or release the mouse (`mouseMoved`, `mousePressed`, `mouseReleased`) at a place in the window."""
        button = "none" if kind == "mouseMoved" and not held else "left"
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=int(held), clickCount=1)

    def click(self, x: float, y: float) -> None:
        """Press and release."""
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, held=True)
        self.mouse("mouseReleased", x, y)

    def drag(self, x: float, to_x: float, y: float) -> None:
        """Press, move and release."""
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, held=True)
        self.mouse("mouseMoved", (x + to_x) / 2, y, held=True)
        self.mouse("mouseMoved", to_x, y, held=True)
        self.mouse("mouseReleased", to_x, y)

    def press(self, key: str, *, shift: bool = False) -> None:
        """A key by its name: `ArrowLeft`, `Enter`, `a`."""
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, modifiers=8 if shift else 0)

    def choose(self, selector: str, value: str) -> None:
        """Choose an option of a list."""
        self.value(
            f"(list => {{ list.value = {json.dumps(value)}; list.dispatchEvent(new Event('change')); }})"
            f"(document.querySelector({json.dumps(selector)}))"
        )

    def screenshot(self, file: Path) -> None:
        """Keep what the whole page looks like."""
        taken = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(b64decode(taken["data"]))


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """Chromium with an empty profile in a folder; it ends with the block."""
    assert CHROMIUM, "there is no Chromium"
    their_input, requests = os.pipe()
    answers, their_output = os.pipe()
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    command = [CHROMIUM, *FLAGS, *sandbox, f"--user-data-dir={folder}", "about:blank"]
    process = subprocess.Popen(
        ["bash", "-c", f'exec "$@" 3<&{their_input} 4>&{their_output}', "bash", *command],
        pass_fds=(their_input, their_output),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # Under another clock (tests/anywhere.sh) it does not answer.
        env=os.environ | {"HOME": str(folder), "LD_PRELOAD": ""},
    )
    os.close(their_input)
    os.close(their_output)
    try:
        yield Page(requests, answers)
    finally:
        # Without its pipe the browser ends by itself.
        os.close(requests)
        try:
            process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(answers)
