"""Half of the processes of a session collect their tests from the end.

pytest rewrites the asserts of each module and keeps the result for whoever imports it later.
Processes that begin together would all rewrite all modules of a fresh checkout; so each finds half
of them done.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import pytest


class SharedCollection:
    """A plugin for every second process: it collects folders backwards, and restores the order."""

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Iterator[pytest.CollectReport]:
        report = yield
        if isinstance(collector, pytest.Directory):
            report.result.reverse()
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Give modules the order that all other processes have; inside of one nothing changes."""
        modules = [list(found) for _, found in groupby(items, key=lambda item: item.path)]
        items[:] = [item for found in reversed(modules) for item in found]


def is_backwards(config: pytest.Config) -> bool:
    """Return whether a process is to collect from the end; a few named tests are not worth it."""
    worker: str = getattr(config, "workerinput", {}).get("workerid", "gw0")
    return len(config.args) == 1 and int(worker.removeprefix("gw")) % 2 == 1
