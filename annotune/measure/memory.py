"""How much memory of this machine measuring children may hold."""

from __future__ import annotations

import re
from pathlib import Path

SHARE = 0.9
"""The part of the memory that all children may hold together; the rest is for everything else."""

_MEMINFO = Path("/proc/meminfo")
# The limits that a container or a batch system sets, in the two versions of control groups.
_GROUP_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def memory_limit_mib() -> int:
    """Return the MiB that all measuring children may hold; 0, no limit, where none is known."""
    known = [*_meminfo_mib(_MEMINFO), *(mib for path in _GROUP_LIMITS for mib in _group_mib(path))]
    return int(SHARE * min(known)) if known else 0


def _meminfo_mib(path: Path) -> list[int]:
    try:
        found = re.search(r"^MemTotal:\s+(\d+) kB", path.read_text(), re.MULTILINE)
    except OSError:
        return []
    return [int(found[1]) >> 10] if found else []


def _group_mib(path: Path) -> list[int]:
    """Return the limit in a file of a control group; ``max`` is none."""
    try:
        text = path.read_text().strip()
    except OSError:
        return []
    return [int(text) >> 20] if text.isdecimal() else []
