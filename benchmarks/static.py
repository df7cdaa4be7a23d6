"""Prints what the CUDA that annotune emits is like, without a GPU: compiled, never run.

    python benchmarks/static.py
    python benchmarks/static.py --workloads 'sd_t_d1_*-A' gemm-1024 --json static.json
    python benchmarks/static.py --check

docs/benchmarks.md explains the columns. Times are the model's, for the device that is named.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from machine_code.judge import Judge, WorkloadRow
from machine_code.promises import PROMISED, verdict
from machine_code.table import json_form, table
from machine_code.workloads import UnknownWorkload, all_workloads, chosen

from annotune.annotation.devices import load_device
from annotune.diagnostics import AnnotuneError
from annotune.measure.toolchain import find_toolchains
from annotune.strategies.registry import AUTO, STRATEGY_NAMES

# All contractions at the sizes that fill whole tiles, one kernel of each kind at the others.
USUAL = (
    *(f"sd_t_d{kind}_*-{size}" for kind in (1, 2) for size in "ACE"),
    *(f"sd_t_d{one}-{size}" for one in ("1_1", "1_6", "2_1", "2_9") for size in "BD"),
    "sd_t_s1_*-A",
    "ccsd_t_*",
    "gemm-*",
    "local_grad3-*",
    "matrix_sum-*",
    "riemann_christoffel-*",
    "ax-*",
    "action_*",
    "interpolate-*",
    "batched_gemm-*",
)


# Registers and shared memory are allocated in other units before (cuda_occupancy.h).
OLDEST = 8.0


class TooOld(Exception):
    """The rules of `annotune.model.traffic` do not hold for a device."""


def main(words: Sequence[str]) -> int:
    """Print the table of the chosen workloads; return the exit code."""
    given = _parser().parse_args(words)
    try:
        usual = PROMISED if given.check else USUAL
        workloads = chosen(given.workloads or usual, all_workloads())
        device = load_device(given.device)
        if float(device.compute_capability) < OLDEST:
            raise TooOld(
                f"{device.name} has compute capability {device.compute_capability}, and "
                f"what is told here holds from {OLDEST} on"
            )
    except (UnknownWorkload, TooOld, AnnotuneError) as mistake:
        said = mistake.diagnostics[0].message if isinstance(mistake, AnnotuneError) else mistake
        print(f"error: {said}", file=sys.stderr)
        return 2
    if given.list or given.commands:
        for workload in workloads:
            print(workload.options() if given.commands else workload.name)
        return 0
    tools = find_toolchains(os.environ)
    with tempfile.TemporaryDirectory(prefix="annotune-static-") as scratch:
        judge = Judge(tools, given.device, given.keep or Path(scratch), given.strategy)
        if judge.no_machine_code:
            print(f"no machine code is shown: {judge.no_machine_code}", file=sys.stderr)
        rows: list[WorkloadRow] = []
        for workload in workloads:
            rows.append(judge.row(workload))
            _progress(len(rows), len(workloads), workload.name)
    nvcc = tools.nvcc.version if tools.nvcc else "none"
    origin = f"predicted for {device.vendor_name}, compiled for {device.arch}, nvcc: {nvcc}"
    print(f"{origin}; strategy {given.strategy}")
    print(table(rows))
    is_missed = given.check and not _holds(rows)
    if given.json:
        known = {"nvcc": nvcc, "nvdisasm": tools.nvdisasm, "strategy": given.strategy}
        text = json.dumps(json_form(rows, device.vendor_name, known), indent=1)
        given.json.write_text(f"{text}\n")
    return int(is_missed or any(row.problem for row in rows))


def _holds(rows: Sequence[WorkloadRow]) -> bool:
    """Print which promises the triples kernels keep and miss; return whether they keep all."""
    text, every = verdict(rows)
    print(text)
    return not every


def _progress(done: int, count: int, name: str) -> None:
    """Tell a person who waits which workload is through."""
    if sys.stderr.isatty():
        end = "\n" if done == count else ""
        print(f"\r\033[K{done}/{count} {name}", end=end, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="static.py", description="see docs/benchmarks.md")
    parser.add_argument("--workloads", nargs="+", metavar="NAME", help="such as 'sd_t_d1_*-A'")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a promise is missed")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to FILE")
    parser.add_argument("--device", default="h200", help="a preset of annotations/devices/")
    parser.add_argument("--strategy", default=AUTO, choices=STRATEGY_NAMES, help="as in annotune")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what is compiled in DIR")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--commands", action="store_true", help="print annotune's options and stop")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
