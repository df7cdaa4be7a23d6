"""The temporary folder of a run, and the end of those that killed runs have left behind."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "annotune-run-"
_LOCK = "lock"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a folder that goes at the end, or with the next run where this one is killed."""
    _remove_abandoned(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        # Locked before it has the name that other runs look for.
        lock = os.open(folder / "new-lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            os.rename(folder / "new-lock", folder / _LOCK)
            yield folder
        finally:
            os.close(lock)


def _remove_abandoned(place: Path) -> None:
    """Remove our user's scratch folders in `place` whose process is no more.

    A lock of the file system ends with the process that holds it.
    """
    for folder in place.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
