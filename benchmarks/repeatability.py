"""Tunes one region again and again, and tells whether each run names the same winner.

    python benchmarks/repeatability.py [SOURCE.c] [--runs 10] [--search auto] [--budget 30]
        [--time 60] [--constraint FORMULA] [--set NAME=VALUE]... [--json FILE] [--check]

Each run has a folder of its own, so nothing is reused. A run agrees with the first when it names
the same winner, or says of the first one's winner that it cannot be told from its own. Exits with
1 with --check where a run does not agree. Meant for a quiet machine: the load is printed.

Without a source it is gemm and as many points as the budget holds. Of a larger space each run
tries other points, since a search goes on from times with noise: `--constraint ""` shows it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from annotune.measure.trial import Final, Verdict
from annotune.report.figures import time_text
from annotune.report.results_json import RESULTS_FILE, read_results
from annotune.report.summary import config_text, verdict_text
from annotune.tuning.results import Results

ROOT = Path(__file__).parent.parent
TARGET = "openmp"
# A run may take this much longer than its time: what it owes, and its proofs.
EXTRA_S = 300
# Of gemm: 24 points, all of which every run tries.
FEW = 'S0.schedule == "static" and flags == "-O3" and S1.copies == 1'
Config = Mapping[str, str | int | float]


@dataclass(frozen=True)
class Named:
    """What one run says: its winner, and how each finalist compares with that."""

    winner: Config
    final: Final
    others: tuple[tuple[Config, Final], ...]
    tried: tuple[Config, ...]
    warnings: tuple[str, ...] = ()

    def verdict(self, config: Config) -> str:
        """Return in words what this run says of a configuration."""
        if config == self.winner:
            return "the same winner"
        found = next((final for own, final in self.others if own == config), None)
        if found is not None:
            return verdict_text(found)
        return "not among the finalists" if config in self.tried else "not tried"

    def agrees(self, first: Named) -> bool:
        """Return whether this run names the first one's winner, or cannot tell its own from it."""
        ties = [own for own, final in self.others if final.verdict is Verdict.TIED]
        return first.winner == self.winner or first.winner in ties


def named(results: Results) -> Named:
    """Return what the run of one region says.

    Raises:
        SystemExit: It has no winner that was measured in finals.
    """
    (region,) = results.regions
    row = next(row for row in region.rows if row.name == TARGET)
    if row.final is None:
        raise SystemExit(f"no finals of {TARGET}: {row.reason or 'nothing to compare with'}")
    own = [trial for trial in region.trials if trial.target == TARGET]
    others = tuple(
        (t.config, t.final) for t in own if t.final is not None and t.config != row.config
    )
    tried = tuple(trial.config for trial in own)
    return Named(row.config, row.final, others, tried, results.warnings)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    options = _options(arguments)
    print(f"load {os.getloadavg()[0]:.2f} on {len(os.sched_getaffinity(0))} cores at the start")
    found: list[Named] = []
    for number in range(options.runs):
        found.append(named(_run(options)))
        print(_line(number + 1, found[-1], found[0]), flush=True)
    agreeing = sum(one.agrees(found[0]) for one in found)
    same = sum(one.winner == found[0].winner for one in found)
    print(
        f"{agreeing} of {len(found)} runs ({agreeing / len(found):.0%}) name the winner of the"
        f" first or cannot tell it from their own; {same} name the same"
    )
    if options.json:
        rows = [asdict(one) | {"agrees": one.agrees(found[0])} for one in found]
        options.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 1 if options.check and agreeing < len(found) else 0


def _line(number: int, one: Named, first: Named) -> str:
    """Return what is printed of one run."""
    final = one.final
    interval = f"{time_text(final.low_s)} to {time_text(final.high_s)}"
    ties = sum(final.verdict is Verdict.TIED for _, final in one.others)
    told = f"{ties} of {len(one.others)} other finalists a statistical tie"
    lines = [
        f"run {number}: {config_text(one.winner)}",
        f"    {time_text(final.time_s)} ({interval}), {len(final.times_s)} rounds; {told}",
        f"    the winner of run 1: {one.verdict(first.winner)}",
        *(f"    warning: {warning}" for warning in one.warnings),
    ]
    return "\n".join(lines)


def _run(options: argparse.Namespace) -> Results:
    """Return the results of one run in a folder of its own, which is removed."""
    with tempfile.TemporaryDirectory(prefix="annotune-repeat-") as folder:
        command = [sys.executable, "-m", "annotune", "run", str(options.source), "-o", folder]
        command += ["--target", TARGET, "--fresh", "--search", options.search]
        command += ["--budget", str(options.budget), "--time", f"{options.time}s"]
        if options.constraint:
            command += ["--constraint", options.constraint]
        for setting in options.set:
            command += ["--set", setting]
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            env=environ,
            timeout=options.time + EXTRA_S,
        )
        path = Path(folder) / RESULTS_FILE
        if not path.exists():
            raise SystemExit(f"the run failed:\n{done.stderr.strip()}")
        return read_results(path)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Does each of several runs name the same winner?")
    default = ROOT / "c_examples" / "gemm" / "gemm.c"
    parser.add_argument("source", type=Path, nargs="?", help="with one region")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--search", default="auto")
    parser.add_argument("--budget", type=int, default=30, help="variants of each run")
    parser.add_argument("--time", type=float, default=60.0, help="seconds of each run")
    parser.add_argument("--constraint", help="of the points, as of annotune run")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--json", type=Path, help="write every run's finals to this file")
    parser.add_argument("--check", action="store_true", help="exit with 1 where runs disagree")
    found = parser.parse_args(arguments)
    if found.runs < 1:
        parser.error("--runs: at least 1")
    if found.constraint is None:
        found.constraint = "" if found.source else FEW
    found.source = found.source or default
    return found


if __name__ == "__main__":
    sys.exit(main())
