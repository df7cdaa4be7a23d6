"""How much memory children may hold: of this machine's, or of what a container leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotune.measure import machine as this_machine
from annotune.measure.machine import memory_limit_mib


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "meminfo").write_text("MemTotal:       10240000 kB\nMemFree: 1 kB\n")
    monkeypatch.setattr(this_machine, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(this_machine, "_GROUP_LIMITS", (tmp_path / "max", tmp_path / "limit"))
    return tmp_path


def test_a_part_of_the_machine_is_left_to_others(machine: Path) -> None:
    assert memory_limit_mib() == 9000


def test_the_lowest_limit_counts(machine: Path) -> None:
    (machine / "max").write_text("max\n")
    assert memory_limit_mib() == 9000
    (machine / "limit").write_text(f"{1000 << 20}\n")
    assert memory_limit_mib() == 900


def test_no_limit_where_nothing_is_known(machine: Path) -> None:
    (machine / "meminfo").unlink()
    assert memory_limit_mib() == 0
