"""Prints how long annotune's own steps take, and what tuned OpenMP gains, on this machine.

    python benchmarks/speed.py

Times are whole processes where a user waits for one. Nothing is asserted: figures belong to
the machine that printed them.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from annotune.codegen.target import load_target
from annotune.measure.check import Checker
from annotune.measure.machine import cpu_facts
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.sizes import open_sizes
from annotune.measure.toolchain import find_toolchains
from annotune.pipeline import Settings, emit

ROOT = Path(__file__).parent.parent
TRIPLES = ROOT / "c_examples/nwchem/sd_t_d1.c"
FUNCTION = "sd_t_d1_1"
ANNOTUNE = (sys.executable, "-m", "annotune")
REPEATS = 5
REDUCED = (2, 3, 4, 5, 6, 7, 3)


def process_s(*arguments: str) -> float:
    """Return the least seconds of a few runs of an annotune command."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        subprocess.run([*ANNOTUNE, *arguments], check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return min(times)


def processor_s(*arguments: str) -> float:
    """Return the least processor seconds of a few runs of an annotune command."""
    times = []
    for _ in range(REPEATS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*ANNOTUNE, *arguments], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(times)


def check_variant_s(folder: Path) -> float:
    """Return the seconds to check one CUDA variant on the CPU at reduced sizes.

    Compilation of the variant is part of it; the oracle, which all variants share, is not.
    """
    target = load_target("cuda")
    made = emit(Settings(TRIPLES, ("cuda",), function=FUNCTION), [target])
    report = made.reports[0]
    assert report.analysis is not None
    oracle = Oracle(made.source, report.analysis, find_toolchains(os.environ), folder)
    sizes = dict(zip(open_sizes(report.region), REDUCED, strict=True))
    oracle.reference(sizes, 1)
    code = target.region(made.variants[0]["cuda"], resident=False)
    program = Program("cuda", "cuda-cpu", code, target.device_file(code))
    start = time.perf_counter()
    trial = Checker(oracle).check(program, CheckPlan((sizes,)))
    assert trial.verified, trial.reason
    return time.perf_counter() - start


def openmp_rows(source: Path, *arguments: str) -> dict[str, float]:
    """Return GFLOP/s of the measured rows of one run with the OpenMP target alone."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*ANNOTUNE, "run", str(source), "--target", "openmp", "-o", folder, "--json"]
        done = subprocess.run([*command, *arguments], check=True, capture_output=True, text=True)
    (region,) = json.loads(done.stdout)["regions"]
    return {r["name"]: r["gflops"] for r in region["rows"] if r["status"] == "measured"}


def main() -> None:
    """Print all figures."""
    cpu = cpu_facts(find_toolchains(os.environ))
    print(f"{cpu.model}, {cpu.cores} cores, {platform.platform()}")
    print(
        f"stream {cpu.bandwidth_bytes_s / 1e9:.1f} GB/s, peak {cpu.peak_flop_s / 1e9:.0f} GFLOP/s"
    )
    only = ("--function", FUNCTION)
    demo = ROOT / "c_examples/nekbone/local_grad3.c"
    print(f"--help, of a processor       {processor_s('--help'):6.2f} s")
    print(f"check of the demo, likewise  {processor_s('check', str(demo)):6.2f} s")
    print(f"check, one triples kernel    {process_s('check', str(TRIPLES), *only):6.2f} s")
    with tempfile.TemporaryDirectory() as folder:
        seconds = process_s("emit", str(TRIPLES), *only, "-o", folder)
        print(f"emit, three targets          {seconds:6.2f} s")
        print(f"one CUDA variant on the CPU  {check_variant_s(Path(folder)):6.2f} s")
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*ANNOTUNE, "run", str(demo), "-o", folder], check=True, capture_output=True)
    print(f"the demo's run               {time.perf_counter() - start:6.2f} s")
    for source, arguments in ((TRIPLES, only), (demo, ())):
        rows = openmp_rows(source, *arguments)
        figures = ", ".join(f"{name} {value:.1f}" for name, value in rows.items())
        gain = rows["openmp"] / rows["openmp_naive"]
        print(f"{source.stem}: GFLOP/s: {figures}; tuned over naive OpenMP {gain:.2f}x")


if __name__ == "__main__":
    main()
