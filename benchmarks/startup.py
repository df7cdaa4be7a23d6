"""How long a user waits for the first word: the processor time of short commands."""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parent.parent
EXAMPLE = "c_examples/thesis/fig3_9a.c"
# Of so many runs the least counts: what else the machine does only ever adds to a time.
RUNS = 7
SLOW = {"islpy", "jinja2", "lark", "msgspec", "numpy", "optuna", "pycparser", "rich", "sklearn"}
CODE = """
import sys
from annotune.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
finally:
    print(*sys.modules, file=sys.stderr)
"""


@dataclass(frozen=True)
class Promise:
    """What a command may take, in seconds of processor time, and which slow packages it imports."""

    words: tuple[str, ...]
    most_s: float
    packages: frozenset[str] = frozenset()


PROMISES = (
    Promise(("--help",), 0.15),
    Promise(("run", "--help"), 0.15),
    Promise(("explain", "AT253"), 0.15),
    Promise(("check", EXAMPLE), 0.5, frozenset({"islpy", "lark", "pycparser"})),
)


def processor_s(command: tuple[str, ...], environ: Mapping[str, str]) -> float:
    """Return the seconds, of the user and the system, that a command takes of the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, cwd=PROJECT, env=environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def imported(words: tuple[str, ...], environ: Mapping[str, str]) -> set[str]:
    """Return those of the slow packages that a command imports."""
    command = (sys.executable, "-c", CODE, *words)
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=PROJECT, env=environ
    )
    return SLOW & set(done.stderr.splitlines()[-1].split())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit with 1 where one takes more")
    asked = parser.parse_args()
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        # The byte code and the tables of the grammar are there, as after the first command.
        environ = {**os.environ, "PYTHONPYCACHEPREFIX": folder, "PYTHONPATH": str(PROJECT)}
        environ.pop("PYTHONDONTWRITEBYTECODE", None)
        for promise in PROMISES:
            command = (sys.executable, "-m", "annotune", *promise.words)
            name = " ".join(("annotune", *promise.words))
            processor_s(command, environ)
            least_s = min(processor_s(command, environ) for _ in range(RUNS))
            print(f"{name}: {least_s:.3f} s of {promise.most_s:g} s")
            if least_s > promise.most_s:
                missed.append(f"{name} takes {least_s:.3f} s, more than {promise.most_s:g} s")
            more = imported(promise.words, environ) - promise.packages
            if more:
                missed.append(f"{name} imports {', '.join(sorted(more))}")
    if asked.check:
        print("\n".join(f"missed: {one}" for one in missed) or "all as promised")
    return int(asked.check and bool(missed))


if __name__ == "__main__":
    sys.exit(main())
