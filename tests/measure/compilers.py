"""Compiler wrappers for tests: they misbehave for sources that hold a marker."""

from __future__ import annotations

import os
import stat
from functools import lru_cache
from pathlib import Path

from annotune.measure.toolchain import Toolchains, find_toolchains

_WRAPPER = r"""#!/bin/sh
for word in "$@"; do
  case "$word" in
    *.c|*.cu)
      if grep -q MARK_HANG "$word"; then sleep 600; fi
      if grep -q MARK_CRASH "$word"; then kill -SEGV $$; fi
      if grep -q MARK_FAIL "$word"; then echo "internal compiler error: boom" >&2; exit 1; fi
      if grep -q MARK_NOTHING "$word"; then exit 0; fi
      if grep -q MARK_WRONG "$word"; then sed -i 's/y\[i\] +=/y[i] -=/' "$word"; fi
      ;;
  esac
done
exec {real} "$@"
"""


@lru_cache(maxsize=1)
def here() -> Toolchains:
    """Return the machine's own compilers."""
    return find_toolchains(os.environ)


def wrapper(folder: Path, real: str) -> Path:
    """Return a script that behaves like the compiler `real` but for marked sources."""
    path = folder / f"wrapped-{Path(real).name}"
    path.write_text(_WRAPPER.replace("{real}", real))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path
