"""One test for many cases that are alike: it goes through all, and names each that fails."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def check_each(cases: Iterable[T], check: Callable[[T], None], folder: Path | None = None) -> None:
    """Call `check` for every case, each in a new folder below `folder` where that is given."""
    seen = 0
    failed: list[str] = []
    for number, case in enumerate(cases):
        seen += 1
        if folder is not None:
            own = folder / f"case{number}"
            own.mkdir()
            os.chdir(own)
        try:
            check(case)
        except Exception as error:  # whatever it is, the others are looked at as well
            failed.append(f"{case!r}: {type(error).__name__}: {error}")
    assert seen
    assert not failed, f"{len(failed)} of {seen} fail:\n\n" + "\n\n".join(failed)
