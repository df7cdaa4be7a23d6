"""Each test begins in an empty folder, with a home of its session that nobody has worked in.

Its child processes inherit both, so nothing depends on what lies in the checkout, such as the
results of `make demo`, or on the settings and caches of a person.
"""

from __future__ import annotations

import os
import site
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# Where programs look for a person's files, or which change what they print.
_PERSONAL = ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
_APPEARANCE = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE")


class CleanPlace:
    """A plugin that gives each test, with its fixtures of any scope, an empty working directory."""

    def __init__(self, config: pytest.Config) -> None:
        folder = tempfile.TemporaryDirectory(prefix="annotune-tests-", ignore_cleanup_errors=True)
        config.add_cleanup(folder.cleanup)
        self._folder = Path(folder.name)
        home = self._folder / "home"
        home.mkdir()
        # What a person has installed for all environments stays in reach of child processes.
        os.environ.setdefault("PYTHONUSERBASE", site.getuserbase())
        for name in (*_PERSONAL, *_APPEARANCE):
            os.environ.pop(name, None)
        os.environ["HOME"] = str(home)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        """Run a test in a folder that is removed after it."""
        before = Path.cwd()
        with tempfile.TemporaryDirectory(dir=self._folder, ignore_cleanup_errors=True) as place:
            os.chdir(place)
            try:
                return (yield)
            finally:
                os.chdir(before)
