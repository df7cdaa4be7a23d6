"""What ``static.py --check`` promises, with a kernel that keeps it and others that miss."""

from __future__ import annotations

from dataclasses import replace

import pytest
import static
from machine_code.global_access import GlobalAccess, global_accesses
from machine_code.judge import KernelRow, WorkloadRow
from machine_code.promises import PROMISED, PROMISES, missed, verdict
from machine_code.shared import SharedAccess
from machine_code.workloads import all_workloads, chosen
from support.nest_text import parse_nest
from support.regions import analysis_of

from annotune.measure.trial import KernelFacts
from annotune.model.traffic import Residency
from annotune.schedule.candidate import ContractionTile
from annotune.schedule.plan import Kernel
from annotune.strategies.copy_layout import Passes

(WORKLOAD,) = chosen(["sd_t_d1_1-A"], all_workloads())
COPY = GlobalAccess("t2", "t2[h7]", False, True, 256, 256, 256, 4096)
LOAD = GlobalAccess("t3", "t3[h3]", False, False, 32, 32, 128, 1)
STORE = replace(LOAD, is_write=True)
USE = SharedAccess("t2_tile[h7]", False, False, Passes(4, 8, 8))
FILL = SharedAccess("t2_tile[h7_s]", True, True, Passes(4, 14, 8))
TILE = ContractionTile(("h3", 16), ("p5", 8), ("h2", 8), ("p4", 8), ("h7", 16))
KERNEL = KernelRow(
    "sd_t_d1_1_1_s0",
    KernelFacts("k", "sm_90", 165),
    128,
    Residency(3, 0.19, "registers"),
    (USE, FILL),
    None,
    accesses=(COPY, replace(COPY, array="v2"), LOAD, STORE),
    tile=TILE,
    trips=dict.fromkeys(("h3", "h2", "h1", "p6", "p5", "p4", "h7"), 16),
)


def row(kernel: KernelRow) -> WorkloadRow:
    return WorkloadRow(WORKLOAD, (kernel,))


def test_a_kernel_that_keeps_every_promise() -> None:
    assert missed(row(KERNEL)) == ()
    text, every = verdict([row(KERNEL), row(KERNEL)])
    assert every == ()
    assert text.splitlines() == [f"{promise}: 2 of 2" for promise in PROMISES]


@pytest.mark.parametrize(
    ("kernel", "promise", "found"),
    [
        (
            replace(KERNEL, accesses=(COPY, replace(COPY, array="v2", is_copy=False), LOAD, STORE)),
            "both inputs pass through shared memory",
            "v2 is read by the threads that use it",
        ),
        (
            replace(KERNEL, accesses=(COPY, LOAD, STORE)),
            "both inputs pass through shared memory",
            "v2 is read by the threads that use it",
        ),
        (
            replace(KERNEL, accesses=(*KERNEL.accesses, replace(COPY, sectors=512))),
            "copies are coalesced",
            "t2 takes 2.00 times the sectors that it must",
        ),
        (
            replace(KERNEL, tile=replace(TILE, register_y=("p4", 4))),
            "8 by 8 outputs per thread",
            "4 along p4, which allows 8",
        ),
        (replace(KERNEL, tile=None), "8 by 8 outputs per thread", "no tile"),
        (
            replace(KERNEL, facts=replace(KERNEL.facts, spill_store_bytes=8, spill_load_bytes=16)),
            "no spills",
            "8 bytes stored, 16 loaded for sm_90",
        ),
        (
            replace(KERNEL, facts=replace(KERNEL.facts, stack_bytes=128)),
            "no stack frame",
            "128 bytes of local memory for sm_90",
        ),
        (
            replace(KERNEL, shared=(replace(USE, passes=Passes(4, 12, 8)),)),
            "no bank conflicts in the inner loop",
            "1.50 times the transactions that the accesses need",
        ),
        (
            replace(KERNEL, shared=(FILL,)),
            "no bank conflicts in the inner loop",
            "nothing is read from shared memory",
        ),
        (
            replace(KERNEL, accesses=(*KERNEL.accesses[:-1], replace(STORE, run_bytes=64))),
            "stores of 128 bytes",
            "64 neighbouring bytes of t3 at a time",
        ),
        (
            replace(KERNEL, accesses=(*KERNEL.accesses, LOAD)),
            "t3 is read once and written once",
            "t3 is read 2 times",
        ),
        (
            replace(KERNEL, accesses=(*KERNEL.accesses[:-1], replace(STORE, repeats=16))),
            "t3 is read once and written once",
            "t3 is written 16 times",
        ),
    ],
)
def test_each_promise_may_be_missed(kernel: KernelRow, promise: str, found: str) -> None:
    (miss,) = missed(row(kernel))
    assert (miss.promise, miss.found) == (promise, found)
    text, _ = verdict([row(kernel), row(KERNEL)])
    assert f"{promise}: 1 of 2" in text
    assert f"missed: sd_t_d1_1-A: {promise}: {found}" in text


def test_a_short_loop_allows_fewer_outputs() -> None:
    short = replace(TILE, register_y=("p4", 5))
    assert missed(row(replace(KERNEL, tile=short, trips={"h2": 16, "p4": 5}))) == ()


def test_what_is_not_compiled_keeps_no_promise() -> None:
    (miss,) = missed(WorkloadRow(WORKLOAD, problem="no nvcc"))
    assert str(miss) == "sd_t_d1_1-A: it is compiled: no nvcc"
    text, _ = verdict([WorkloadRow(WORKLOAD, problem="no nvcc")])
    assert f"{PROMISES[0]}: 0 of 1" in text


def test_the_check_exits_with_1_when_a_promise_is_missed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--check", "--workloads", "sd_t_d1_1-A"]
    for kernel, code in ((KERNEL, 0), (replace(KERNEL, tile=None), 1)):
        found = row(kernel)
        monkeypatch.setattr(static.Judge, "row", lambda _self, _workload, found=found: found)
        assert static.main(words) == code
        assert ("missed: " in capsys.readouterr().out) is bool(code)
    assert len(chosen(PROMISED, all_workloads())) == 54


BLOCKS = """\
for i_t in 0:n step 4 @block.x tile_of i
  for j_t in 0:n step 16 @block.y tile_of j
    for j in j_t:j_t + 16 @thread.x
      for i in i_t:i_t + 4 @thread.y
        shared double x_tile[16]
        for k in 0:16 @cooperative
          copy: x_tile[k] = x[k]
        for k in 0:16
          S0: y[n*i + j] += x_tile[k] * z[i + n*j]
"""


def test_accesses_of_a_kernel_counted_by_hand() -> None:
    analysis = analysis_of(
        "void f(int n, double y[restrict 64][64], double z[restrict 64][64], double x[restrict 64])"
        "\n{\n/*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/\n"
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < 16; k++)\n"
        "y[i][j] += x[k] * z[j][i];\n/*@ end @*/\n}\n"
    )
    body = parse_nest(BLOCKS).body
    found = global_accesses(Kernel("k", (0,), body, body), analysis, {"n": 64})
    by_name = {(one.array, one.is_write): one for one in found}
    # Two warps, each of two rows of 16 neighbours; 16 runs of the sum touch the same element.
    y = by_name["y", True]
    assert (y.sectors, y.least, y.run_bytes, y.repeats, y.is_copy) == (16, 16, 128, 16, False)
    assert by_name["y", False] == replace(y, is_write=False)
    # Neighbouring threads are 64 elements apart, and two rows of threads share a sector.
    z = by_name["z", False]
    assert (z.sectors, z.least, z.run_bytes, z.repeats) == (32, 16, 16, 16)
    assert z.factor == 2
    # One half-warp fills the copy, in all 64 blocks.
    x = by_name["x", False]
    assert (x.sectors, x.least, x.run_bytes, x.repeats, x.is_copy) == (4, 4, 128, 64, True)
