"""A page opened in a real browser without a window and without a network."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
LIMIT_S = 600


@dataclass(frozen=True)
class Opened:
    """The page after its scripts have run, what they complained of, and what it asked for."""

    dom: str
    console: tuple[str, ...]
    requests: tuple[str, ...]


def browser() -> str:
    """Return the path of a browser; the test is skipped where there is none."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no browser here: none of {', '.join(NAMES)} is on PATH")
    return found


def opened(page: Path, width: int = 1300, is_dark: bool = False) -> Opened:
    """Return `page` as a browser shows it, every name of a host unresolvable."""
    scratch = page.parent / f"browser-{page.stem}-{width}-{is_dark}"
    log = scratch / "net.json"
    scratch.mkdir()
    done = subprocess.run(
        [
            browser(),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--enable-logging=stderr",
            f"--blink-settings=preferredColorScheme={0 if is_dark else 1}",
            f"--user-data-dir={scratch / 'profile'}",
            f"--log-net-log={log}",
            f"--window-size={width},900",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        # It keeps caches and settings in a home, which later tests have to find empty.
        env={**os.environ, "HOME": str(scratch)},
    )
    assert done.returncode == 0, done.stderr
    console = tuple(re.findall(r":CONSOLE[:(]\d+\)?\] (.*)", done.stderr))
    return Opened(done.stdout, console, _requests(log.read_text()))


def _requests(log: str) -> tuple[str, ...]:
    """Return the addresses that the page itself asked for, apart from its own file.

    The browser has wishes of its own, which have no page as their initiator.
    """
    try:
        events = json.loads(log)["events"]
    except json.JSONDecodeError:
        # The log of a browser that ends at once lacks its end.
        events = json.loads(log.rstrip().rstrip(",") + "]}")["events"]
    asked = [event["params"] for event in events if "initiator" in event.get("params", {})]
    return tuple(a["url"] for a in asked if a["initiator"] != "not an origin" and "url" in a)
