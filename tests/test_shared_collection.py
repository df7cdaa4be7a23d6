"""Processes that collect from different ends have the same tests in the same order."""

from __future__ import annotations

from itertools import groupby
from types import SimpleNamespace

import pytest
from support.shared_collection import SharedCollection, is_backwards


def test_what_is_collected_backwards_has_the_order_of_the_others(
    request: pytest.FixtureRequest,
) -> None:
    items = list(request.session.items)
    modules = [list(found) for _, found in groupby(items, key=lambda item: item.path)]
    backwards = [item for found in reversed(modules) for item in found]
    SharedCollection().pytest_collection_modifyitems(backwards)
    assert backwards == items


def test_every_second_process_collects_backwards() -> None:
    def config(worker: str, *args: str) -> SimpleNamespace:
        return SimpleNamespace(workerinput={"workerid": worker}, args=list(args))

    assert [is_backwards(config(f"gw{n}", "tests")) for n in range(3)] == [False, True, False]
    assert not is_backwards(config("gw1", "tests/test_cli.py", "tests/test_help.py"))
    assert not is_backwards(SimpleNamespace(args=["tests"]))
