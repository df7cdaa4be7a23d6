"""What Nsight Compute counts: from its CSV, and of a program under it, which is made up here."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from annotune.measure.inputs import Buffer, Inputs
from annotune.measure.machine import NoGpu, report
from annotune.measure.run import Child, RunJob
from annotune.measure.toolchain import find_toolchains
from annotune.tuning.profiling import (
    METRICS,
    NO_NCU,
    NOTHING_COUNTED,
    Profiler,
    ncu_command,
    profile_of,
)

HEAD = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",'
    '"Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"'
)
# Two kernels of 100 and 300 us, in the order of `METRICS`: a time, bytes read and written, bytes of
# the L2, passes over shared memory, threads of a warp, and warps in per cent.
KERNELS = (
    (
        *(("usecond", "100.00"), ("Mbyte", "200.00"), ("Mbyte", "100.00"), ("Mbyte", "500.00")),
        *(("", "1,000,000"), ("", "32"), ("%", "50.00")),
    ),
    (
        *(("us", "300.00"), ("MB", "100.00"), ("byte", "0"), ("Gbyte", "0.30")),
        *(("", "0"), ("", "16"), ("%", "90.00")),
    ),
)


def csv_of(*kernels: tuple[tuple[str, str], ...]) -> str:
    """Return what ncu writes of kernels, its own lines around it."""
    rows = [
        f'"{number}","77","python","here","rows_1_s0_tuned(double *, int)","1","7","(16, 8, 1)",'
        f'"(2048, 1, 1)","0","9.0","Command line profiler metrics","{name}","{unit}","{value}"'
        for number, kernel in enumerate(kernels)
        for name, (unit, value) in zip(METRICS, kernel, strict=True)
    ]
    return "\n".join(["==PROF== Connected to process 77", HEAD, *rows, "==PROF== Disconnected"])


def test_kernels_are_added_up_by_their_times() -> None:
    found = profile_of(csv_of(*KERNELS))
    assert found.reason == ""
    assert found.time_s == pytest.approx(4e-4)
    assert found.bytes_s["device memory"] == pytest.approx(4e8 / 4e-4)
    assert found.bytes_s["L2"] == pytest.approx(8e8 / 4e-4)
    assert found.bytes_s["shared memory"] == pytest.approx(128e6 / 4e-4)
    assert found.warp_efficiency == pytest.approx((1.0 + 3 * 0.5) / 4)
    assert found.occupancy == pytest.approx((0.5 + 3 * 0.9) / 4)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", NOTHING_COUNTED),
        ("==PROF== Connected\n==WARNING== No kernels were profiled.", NOTHING_COUNTED),
        (
            "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission",
            "ERR_NVGPUCTRPERM - The user does not have permission",
        ),
        (
            csv_of(KERNELS[0]).replace("Mbyte", "sector"),
            "ncu counts dram__bytes_read.sum in 'sector'",
        ),
        (csv_of(KERNELS[0]).replace("200.00", "n/a"), "ncu says 'n/a' of dram__bytes_read.sum"),
        (
            "\n".join(r for r in csv_of(*KERNELS).split("\n") if "lts__" not in r),
            "ncu does not tell lts__t_bytes.sum on this device",
        ),
        (csv_of(KERNELS[0]).replace('"100.00"', '"0"'), "ncu says that the kernels took no time"),
    ],
)
def test_what_is_not_counted_has_a_reason(text: str, reason: str) -> None:
    found = profile_of(text)
    assert found.reason == reason
    assert (found.time_s, found.occupancy, dict(found.bytes_s)) == (None, None, {})


def test_the_command_names_every_metric_and_the_program() -> None:
    command = ncu_command("/opt/ncu", Path("log"), ("python", "-c", "pass"))
    assert command[0] == "/opt/ncu"
    assert command[command.index("--metrics") + 1] == ",".join(METRICS)
    assert command[command.index("--log-file") + 1] == "log"
    assert command[-3:] == ("python", "-c", "pass")


C_TEXT = """
#include <stdio.h>
void annotune_call(void **arrays, long long *integers, double *reals)
{
    FILE *file = fopen("%s", "w");
    fprintf(file, "%%g %%lld %%g", ((double *)arrays[0])[1], integers[0], reals[0]);
    fclose(file);
}
"""


def _library(folder: Path) -> tuple[Child, RunJob]:
    """Return a library that writes what it is given to a file, and a run of it."""
    text, built = folder / "a.c", folder / "a.so"
    text.write_text(C_TEXT % (folder / "seen"))
    subprocess.run(["gcc", "-shared", "-fPIC", str(text), "-o", str(built)], check=True)
    (folder / "inputs").write_bytes(np.array([1.5, 2.5]).tobytes())
    buffers = (Buffer("x", "double", 2, 0, 0, False),)
    inputs = Inputs(folder / "inputs", buffers, (7,), (0.25,), {}, 1)
    return Child(built), RunJob(inputs)


def test_without_ncu_nothing_is_measured(tmp_path: Path) -> None:
    child, job = _library(tmp_path)
    found = Profiler().profile(child, job)
    assert (found.reason, found.time_s) == (NO_NCU, None)


FAKE = """#!{python}
import subprocess, sys
words = sys.argv[1:]
log = words[words.index("--log-file") + 1]
program = words[words.index("--metrics") + 2:]
ended = subprocess.run(program)
if {is_allowed}:
    open(log, "w").write({csv!r})
else:
    open(log, "w").write("==ERROR== ERR_NVGPUCTRPERM - not allowed")
sys.exit(ended.returncode or {code})
"""


def _fake(folder: Path, is_allowed: bool = True, code: int = 0) -> str:
    path = folder / "ncu"
    given = {"python": sys.executable, "csv": csv_of(*KERNELS)}
    path.write_text(FAKE.format(**given, is_allowed=is_allowed, code=code))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_a_library_is_called_once_under_it(tmp_path: Path) -> None:
    child, job = _library(tmp_path)
    found = Profiler(_fake(tmp_path)).profile(child, job)
    assert (found.reason, found.time_s) == ("", pytest.approx(4e-4))
    assert (tmp_path / "seen").read_text() == "2.5 7 0.25"
    assert not [*tmp_path.glob("annotune-profile-*")]


@pytest.mark.parametrize(
    ("is_allowed", "code", "reason"),
    [
        (False, 1, "ncu: ERR_NVGPUCTRPERM - not allowed"),
        # Figures that are there count, whatever the program says at its end.
        (True, 3, ""),
    ],
)
def test_what_ncu_refuses_is_told(tmp_path: Path, is_allowed: bool, code: int, reason: str) -> None:
    found = Profiler(_fake(tmp_path, is_allowed, code)).profile(*_library(tmp_path))
    assert found.reason == reason


def test_a_broken_ncu_is_told(tmp_path: Path) -> None:
    broken = tmp_path / "ncu"
    broken.write_text("#!/bin/sh\necho no driver >&2\nexit 9\n")
    broken.chmod(0o755)
    found = Profiler(str(broken)).profile(*_library(tmp_path))
    assert found.reason == "ncu: exit code 9: no driver"


def test_an_endless_ncu_is_killed(tmp_path: Path) -> None:
    endless = tmp_path / "ncu"
    endless.write_text("#!/bin/sh\nexec sleep 60\n")
    endless.chmod(0o755)
    found = Profiler(str(endless)).profile(*_library(tmp_path), limit_s=0.2)
    assert found.reason.startswith("ncu: killed after 0.")


def test_it_is_found_on_the_path(tmp_path: Path) -> None:
    fake = _fake(tmp_path)
    found = find_toolchains({"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert found.ncu == fake
    items = {item.name: item for item in report(found, NoGpu("none")).items}
    assert items["ncu"].where == fake
