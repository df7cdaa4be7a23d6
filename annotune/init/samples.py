"""Where a user's program spends its time, by the samples of a profiler that is here."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from tempfile import TemporaryDirectory

from annotune.frozen import dataclass
from annotune.measure.command import Finished, run_command

# A user's program takes what it takes; a profiler that reads its samples does not.
_PROGRAM_LIMIT_S, _REPORT_LIMIT_S = 24 * 3600.0, 300.0
# Samples each second of processor time: no multiple of what runs by the clock.
_RATE_HZ = 999
# Of fewer nothing can be told.
LEAST_SAMPLES = 20
_LINE = re.compile(r"\s*(?P<count>\d+)\s*;\s*\[.\]\s*(?P<symbol>[^;]*?)\s*;\s*(?P<place>.*?)\s*$")
_FLAT = re.compile(r"\s*\d+\.\d+\s+\d+\.\d+\s+(?P<self>\d+\.\d+)\s.*?(?P<symbol>\S+)\s*$")


@dataclass(frozen=True, slots=True)
class Samples:
    """How often a `profiler` found a program in each function, and in each line of its sources.

    `by_line` has the names of files without their folders; it is empty where the program has no
    line numbers. There is no profiler where `reason` says why nothing is known.
    """

    profiler: str = ""
    total: int = 0
    by_function: Mapping[str, int] = field(default_factory=dict)
    by_line: Mapping[tuple[str, int], int] = field(default_factory=dict)
    reason: str = ""

    def of_lines(self, file: str, first: int, last: int) -> float | None:
        """Return the share of all samples in lines of a file; None where it has no lines here."""
        if not any(name == file for name, _ in self.by_line):
            return None
        lines = range(first, last + 1)
        own = (n for (name, line), n in self.by_line.items() if name == file and line in lines)
        return sum(own) / self.total

    def of_function(self, name: str) -> float | None:
        """Return the share of all samples in a function, None where the program has none such."""
        return self.by_function[name] / self.total if name in self.by_function else None


def sampled(command: Sequence[str], environ: Mapping[str, str]) -> Samples:
    """Return the samples of a command that is run for it: perf's, or gprof's without perf.

    What the program prints is not shown.
    """
    path = environ.get("PATH")
    if shutil.which(command[0], path=path) is None:
        return Samples(reason=f"there is no program '{command[0]}'")
    perf, gprof = (shutil.which(name, path=path) for name in ("perf", "gprof"))
    reasons = []
    with TemporaryDirectory(prefix="annotune-") as folder:
        if perf is not None:
            found = _by_perf(perf, command, environ, Path(folder))
            if not found.reason:
                return found
            reasons.append(f"perf: {found.reason}")
        if gprof is not None:
            found = _by_gprof(gprof, command, environ, Path(folder))
            if not found.reason:
                return found
            reasons.append(f"gprof: {found.reason}")
    return Samples(reason="; ".join(reasons) or "neither perf nor gprof is on PATH")


def _by_perf(
    perf: str, command: Sequence[str], environ: Mapping[str, str], folder: Path
) -> Samples:
    data = str(folder / "perf.data")
    record = (perf, "record", "-q", "-F", str(_RATE_HZ), "-o", data, "--", *command)
    ran = run_command(record, _PROGRAM_LIMIT_S, environ=environ)
    if not Path(data).exists():
        return Samples(reason=_ending(ran))
    report = (perf, "report", "-i", data, "--stdio", "-q", "-t", ";", "-F")
    told = run_command((*report, "sample,sym,srcline"), _REPORT_LIMIT_S, environ=environ)
    if not told.ok:
        return Samples(reason=_ending(told))
    return _counted("perf", told.output) or Samples(reason=_few(ran))


def _counted(profiler: str, text: str) -> Samples | None:
    """Return the samples that perf lists, None where these are too few."""
    functions: Counter[str] = Counter()
    lines: Counter[tuple[str, int]] = Counter()
    for found in filter(None, map(_LINE.match, text.splitlines())):
        count = int(found["count"])
        functions[_function(found["symbol"])] += count
        file, _, line = found["place"].rpartition(":")
        if file and line.isdecimal() and int(line):
            lines[Path(file).name, int(line)] += count
    total = functions.total()
    if total < LEAST_SAMPLES:
        return None
    return Samples(profiler, total, dict(functions), dict(lines))


def _function(symbol: str) -> str:
    """Return the function that a symbol is a part of, such as ``f`` of ``f._omp_fn.0``."""
    return symbol.partition(".")[0]


def _by_gprof(
    gprof: str, command: Sequence[str], environ: Mapping[str, str], folder: Path
) -> Samples:
    own = {**environ, "GMON_OUT_PREFIX": str(folder / "gmon")}
    ran = run_command(command, _PROGRAM_LIMIT_S, environ=own)
    found = sorted(folder.glob("gmon*"))
    if not found:
        return Samples(reason=_ending(ran) if not ran.ok else "the program was not built with -pg")
    program = shutil.which(command[0], path=environ.get("PATH")) or command[0]
    told = run_command((gprof, "-b", "-p", program, *map(str, found)), _REPORT_LIMIT_S)
    if not told.ok:
        return Samples(reason=_ending(told))
    functions: Counter[str] = Counter()
    for row in filter(None, map(_FLAT.match, told.output.splitlines())):
        # gprof's clock ticks each hundredth of a second.
        functions[_function(row["symbol"])] += round(100 * float(row["self"]))
    if functions.total() < LEAST_SAMPLES:
        return Samples(reason=_few(ran))
    return Samples("gprof", functions.total(), dict(functions))


def _ending(ran: Finished) -> str:
    """Return how a command ended, and the first of its last words."""
    words = next((line.strip() for line in ran.output.splitlines() if line.strip()), "")
    return f"{ran.ending()}{f', {words}' if words else ''}"


def _few(ran: Finished) -> str:
    return f"fewer than {LEAST_SAMPLES} samples in {ran.time_s:.2g} s ({ran.ending()})"
