"""Chromium without a screen, driven through its pipe: files chosen, texts read."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")


_START = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Starts a browser that speaks the protocol on descriptors 3 and 4."""


class Tab:
    """A page that is open."""

    def __init__(self, writer: int, reader: int) -> None:
        self._writer, self._reader = writer, reader
        self._held = b""
        self._count = 0
        self._session: str | None = None
        self.log: list[str] = []

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Return the answer to a command of the protocol."""
        self._count += 1
        message: dict[str, Any] = {
            "id": self._count,
            "method": method,
            "params": params,
        }
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._writer, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self._count:
                assert "error" not in found, found
                result: dict[str, Any] = found["result"]
                return result
            if found.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown"):
                self.log.append(json.dumps(found["params"]))

    def open(self, url: str, before: str = "") -> None:
        """Open a page; ``before`` runs before its own script."""
        (page,) = [
            one
            for one in self.ask("Target.getTargets")["targetInfos"]
            if one["type"] == "page"
        ][:1]
        answer = self.ask(
            "Target.attachToTarget", targetId=page["targetId"], flatten=True
        )
        self._session = answer["sessionId"]
        for domain in ("Page", "DOM", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        if before:
            self.ask("Page.addScriptToEvaluateOnNewDocument", source=before)
        self.ask("Page.navigate", url=url)
        self.until("document.readyState === 'complete'")

    def value(self, expression: str) -> Any:
        """Return the value of an expression."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        return answer["result"].get("value")

    def until(self, expression: str) -> Any:
        """Wait until an expression is true, and return its value."""
        for _ in range(1200):
            found = self.value(expression)
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"never true: {expression}")

    def choose(self, selector: str, files: Sequence[Path]) -> None:
        """Choose files in an input of the page."""
        root = self.ask("DOM.getDocument")["root"]["nodeId"]
        node = self.ask("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.ask("DOM.setFileInputFiles", nodeId=node, files=[str(f) for f in files])

    def drop(self, paths: Sequence[Path]) -> None:
        """Drop files and folders on the page, as a person does."""
        data = {"items": [], "files": list(map(str, paths)), "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.ask("Input.dispatchDragEvent", type=kind, x=60, y=100, data=data)

    def picture(self, path: Path, *, width: int, height: int, dark: bool) -> None:
        """Write a picture of the page."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=False)
        path.write_bytes(base64.b64decode(shot["data"]))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._held:
            more = os.read(self._reader, 1 << 20)
            assert more, "the browser has ended"
            self._held += more
        message, _, self._held = self._held.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found


@contextmanager
def tab(folder: Path) -> Iterator[Tab]:
    """Return a new tab of a browser of its own, which ends with it."""
    assert BROWSER is not None
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()

    # The protocol speaks on 3 and 4, and neither may be one of these.
    pair = [fcntl.fcntl(one, fcntl.F_DUPFD, 20) for one in (to_read, from_write)]
    browser = subprocess.Popen(
        [
            sys.executable,
            "-c",
            _START,
            *map(str, pair),
            BROWSER,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--remote-debugging-pipe",
            f"--user-data-dir={folder / 'profile'}",
            "about:blank",
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=pair,
    )
    for one in (to_read, from_write, *pair):
        os.close(one)
    try:
        yield Tab(to_write, from_read)
    finally:
        browser.terminate()
        browser.wait()
        os.close(to_write)
        os.close(from_read)
