"""What the CUDA of every example asks of the library: in a first call, a second, and a failed one.

A second call allocates and pins nothing. What crosses the bus are the bytes of what the region
reads, and of what it writes, once each. A call that fails leaves what the original computes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pytest
from test_examples_run import DEFINES, EXAMPLES, LEAST, regions, sizes_of, tools

from annotune.analysis.facts import Analysis
from annotune.codegen.target import load_target
from annotune.frontend.read.preprocess import HeaderSearch
from annotune.measure.oracle import Oracle
from annotune.measure.program import Program, compile_job_of
from annotune.measure.run import Child, Computed, RunJob, task_of_one
from annotune.measure.sizes import evaluate, known_values
from annotune.measure.values import element_of, signature
from annotune.pipeline import Settings, emit

CHILD = Path(__file__).parent / "support" / "counted_child.py"
LIMIT_S = 300
REAL_BYTES = 8
# Of the ring when it runs on the CPU.
CHUNK = 16384


def made(file: str, function: str, folder: Path) -> tuple[Oracle, Program, Mapping[str, int]]:
    """Return an example's original, the CUDA for it, and sizes to call it with."""
    search = HeaderSearch(defines=DEFINES.get(file, {}))
    settings = Settings(EXAMPLES / file, ("cuda",), search=search, function=function)
    target = load_target("cuda")
    emission = emit(settings, [target])
    report = emission.reports[0]
    assert report.analysis is not None
    flags = tuple(f"-D{name}={value}" for name, value in search.defines.items())
    oracle = Oracle(emission.source, report.analysis, tools(), folder, flags)
    code = target.region(emission.variants[0]["cuda"], resident=False)
    sizes, *_ = sizes_of(report, LEAST.get(file, 1))
    return oracle, Program("cuda", target.kind, code, target.device_file(code)), sizes


def moved(
    analysis: Analysis, sizes: Mapping[str, int], seen: int, added: Collection[str]
) -> tuple[list[int], list[int]]:
    """Return the bytes of what a region reads, or leaves in part as it was, and of what it writes.

    A scalar that it computes is read for the sum that goes on from there, and comes back, but for
    so many as are `seen` by both sides.
    """
    region, values = analysis.region, known_values(analysis.region, sizes)
    names = signature(region)
    scalars = [REAL_BYTES for name in names.reals if name in names.written][seen:]
    read, written = [*scalars], [*scalars]
    for name, shape in analysis.shapes.items():
        use = analysis.uses[name]
        part = shape.length if shape.touched is None else shape.touched.count
        size = evaluate(part, values) * element_of(region.arrays[name].element).dtype.itemsize
        if not analysis.stays_on_device(name):
            is_sent = use.is_read or not use.overwritten
            read += [size] if is_sent and name not in added else []
            written += [size] if use.is_written else []
    return read, written


SHOWN = ("sd_t_d1_1", "glsc3", "jacobi")
CASES = [
    pytest.param(f, n, id=n, marks=() if n in SHOWN else (pytest.mark.slow,)) for f, n in regions()
]


@pytest.mark.alike(4)
@pytest.mark.parametrize(("file", "function"), CASES)
def test_a_call_allocates_and_copies_the_least(file: str, function: str, tmp_path: Path) -> None:
    oracle, program, sizes = made(file, function, tmp_path)
    built = oracle.compile(compile_job_of(program, program.kind, oracle))
    assert built.ok, built.output
    reference = oracle.reference(sizes, 1)
    assert not reference.problem
    task = task_of_one(Child(built.path, built.entry), RunJob(reference.inputs))
    (tmp_path / "task.json").write_text(json.dumps(task))
    command: list[Any] = [sys.executable, CHILD, tmp_path / "task.json", tmp_path / "output"]
    child = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=LIMIT_S
    )
    assert child.returncode == 0, child.stderr
    first, second, *failed = json.loads(child.stdout)
    # Memory, copies, events, waits, a launch.
    assert len(failed) >= 10
    for one in (first, second, *failed):
        scalars = (tuple(values) for values in one["scalars"])
        computed = Computed(Path(one["output"]), 0, *scalars)
        assert not oracle.mismatch(reference, computed), one
        assert not one.get("wrong")
        assert not one.get("left")
    one, two = first["counted"], second["counted"]
    assert one["launches"] == two["launches"] > 0
    assert one["mallocs"] > 0
    assert (two["mallocs"], two["pins"], one["frees"], two["frees"]) == (0, 0, 0, 0)
    seen = program.device.count("true, true, 0, true},")
    added = re.findall(r"\(void \*\)\((\w+).*&annotune_host_sums<", program.device)
    into, out = moved(oracle.analysis, sizes, seen, added)
    least = sum(-(-size // CHUNK) for size in (*into, *out))
    # Each part of a call may end with a chunk of each array that is not full.
    is_cut = 'annotune_call("' in program.device
    most = least + (len((*into, *out)) * one["launches"] if is_cut else 0)
    for counted in (one, two):
        assert (counted["bytes_in"], counted["bytes_out"]) == (sum(into), sum(out))
        assert least <= counted["memcpys"] <= most
    for counted in (other["counted"] for other in failed):
        assert counted["bytes_in"] <= sum(into)
        assert counted["bytes_out"] <= sum(out)
