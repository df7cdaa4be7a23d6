"""What Nsight Compute counts of a variant's kernels, where it is installed: one run under `ncu`.

Metrics are those that its documentation names for what nvprof told (Nsight Compute CLI, "nvprof
metric comparison"): throughput of device memory, of the L2 and of shared memory, threads of a warp
that take part in an instruction, and warps that are resident.
"""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from annotune.frozen import dataclass
from annotune.measure.command import Finished, run_command
from annotune.measure.run import Child, RunJob, environ_of_one, program_of_one, task_of_one
from annotune.schedule.launch_sizes import WARP
from annotune.tuning.results import MEMORY, SHARED, Profile

# Counting repeats each kernel several times, and starts CUDA anew.
PROFILE_LIMIT_S = 60.0
NO_NCU = "ncu is not installed"
NOTHING_COUNTED = "ncu has counted no kernel"

# With this the CSV begins.
_HEAD = '"ID",'
_TIME = "gpu__time_duration.sum"
_READ, _WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
_L2 = "lts__t_bytes.sum"
_WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
_LANES = "smsp__thread_inst_executed_per_inst_executed.ratio"
_WARPS = "sm__warps_active.avg.pct_of_peak_sustained_active"
METRICS = (_TIME, _READ, _WRITTEN, _L2, _WAVEFRONTS, _LANES, _WARPS)
# A wavefront of shared memory is at most a word of four bytes from each of 32 banks.
WAVEFRONT_BYTES = 128
# ncu names its units in two ways, by its age.
_UNITS: Mapping[str, float] = {
    **{"nsecond": 1e-9, "usecond": 1e-6, "msecond": 1e-3, "second": 1.0},
    **{"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0},
    **{"byte": 1.0, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12},
    **{"B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12},
    **{"": 1.0, "%": 0.01, "inst": 1.0, "thread": 1.0},
}


def ncu_command(ncu: str, log: Path, program: Sequence[str]) -> tuple[str, ...]:
    """Return the command that counts what the kernels of a program do, and writes it to `log`.

    Clocks stay as they are when times are taken; before each repetition caches are emptied.
    """
    return (
        *(ncu, "--csv", "--page", "details", "--log-file", str(log)),
        *("--target-processes", "all", "--clock-control", "none", "--cache-control", "all"),
        *("--metrics", ",".join(METRICS), *program),
    )


class _Uncounted(Exception):
    """Why there are no figures."""


def profile_of(text: str) -> Profile:
    """Return what the CSV of ncu says of all kernels together, or why it says nothing.

    What ncu says in lines of its own, and what the program prints, may stand between its rows.
    """
    try:
        kernels = _kernels(text)
        if not kernels:
            raise _Uncounted(_complaint(text) or NOTHING_COUNTED)
        return _together(list(kernels.values()))
    except _Uncounted as why:
        return Profile(reason=str(why))


def _kernels(text: str) -> dict[str, dict[str, float]]:
    """Return the metrics of each launch by its number."""
    lines = [line for line in text[max(0, text.find(_HEAD)) :].splitlines() if line[:1] == '"']
    found: dict[str, dict[str, float]] = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines))):
        name = row.get("Metric Name") or ""
        if name in METRICS:
            value = _value(name, row.get("Metric Value") or "", row.get("Metric Unit") or "")
            found.setdefault(row.get("ID") or "", {})[name] = value
    return found


def _value(name: str, text: str, unit: str) -> float:
    # With LC_ALL=C a comma stands between thousands.
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        raise _Uncounted(f"ncu says '{text}' of {name}") from None
    scale = 1.0 if name == _LANES else _UNITS.get(unit)
    if scale is None:
        raise _Uncounted(f"ncu counts {name} in '{unit}'")
    return number * scale


def _together(kernels: Sequence[Mapping[str, float]]) -> Profile:
    """Return the figures of kernels one after another: shares are weighted by their times."""
    missing = [name for name in METRICS if any(name not in kernel for kernel in kernels)]
    if missing:
        raise _Uncounted(f"ncu does not tell {', '.join(missing)} on this device")
    time_s = sum(kernel[_TIME] for kernel in kernels)
    if time_s <= 0:
        raise _Uncounted("ncu says that the kernels took no time")

    def mean(name: str) -> float:
        return sum(kernel[name] * kernel[_TIME] for kernel in kernels) / time_s

    def rate(*names: str, size: float = 1.0) -> float:
        return sum(size * kernel[name] for kernel in kernels for name in names) / time_s

    rates = {
        MEMORY: rate(_READ, _WRITTEN),
        "L2": rate(_L2),
        SHARED: rate(_WAVEFRONTS, size=WAVEFRONT_BYTES),
    }
    return Profile(time_s, rates, mean(_LANES) / WARP, mean(_WARPS))


def _complaint(text: str) -> str:
    """Return the first error that ncu tells, such as that its user may not count."""
    errors = (line for line in text.splitlines() if line.startswith("==ERROR=="))
    return " ".join(next(errors, "").removeprefix("==ERROR==").split())


@dataclass(frozen=True)
class Profiler:
    """Counts what kernels do with `ncu`, the path of the program; nothing where it is not here."""

    ncu: str = ""

    def profile(self, child: Child, job: RunJob, limit_s: float = PROFILE_LIMIT_S) -> Profile:
        """Return what one run of a library does on the GPU, or why that is not known."""
        if not self.ncu:
            return Profile(reason=NO_NCU)
        with tempfile.TemporaryDirectory(prefix="annotune-profile-") as name:
            task, log = Path(name) / "task.json", Path(name) / "ncu.csv"
            task.write_text(json.dumps(task_of_one(child, job)))
            command = ncu_command(self.ncu, log, program_of_one(task))
            environ = {**os.environ, **environ_of_one(child), "LC_ALL": "C"}
            ended = run_command(command, limit_s, environ=environ)
            text = log.read_text(errors="replace") if log.is_file() else ended.output
        found = profile_of(text)
        if found.reason and not ended.ok:
            return Profile(reason=f"ncu: {_ending(ended, found.reason)}")
        return found


def _ending(ended: Finished, reason: str) -> str:
    if reason != NOTHING_COUNTED:
        return reason
    said = _complaint(ended.output) or " ".join(_last_lines(ended.output))
    return f"{ended.ending()}: {said}".rstrip(": ")


def _last_lines(output: str) -> Iterator[str]:
    yield from [line.strip() for line in output.splitlines() if line.strip()][-2:]
