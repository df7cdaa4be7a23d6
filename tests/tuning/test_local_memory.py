"""What should be in registers and is in local memory counts against a variant, and no more."""

from __future__ import annotations

from dataclasses import replace

import pytest
from decide.gemm_texts import gemm
from decide.recipes import Decided, decided_text

from annotune.annotation.devices import load_device
from annotune.codegen.target import load_target
from annotune.measure.trial import KernelFacts, Status, Trial
from annotune.space.variants import Variant
from annotune.strategies.registry import AUTO
from annotune.tuning.tuner import judged, not_in_registers

H200 = load_device("h200")
# 4 by 4 outputs of 8 bytes.
BLOCK_BYTES = 128
OWN_ARRAY = """\
void f(int n, double *restrict a, const double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 1000; } ) @*/
    for (int i = 0; i < n; i++) {
        double own[8];
        for (int j = 0; j < 8; j++)
            own[j] = b[8*i + j];
        a[i] = own[i % 8];
    }
    /*@ end @*/
}
"""


def variant_of(one: Decided) -> Variant:
    return load_target("cuda").points(one.base, one.space, H200).listing(1).variant(0)


@pytest.fixture(scope="module")
def held() -> Variant:
    found = variant_of(decided_text(gemm(512), AUTO))
    assert found.general is not None
    return found


def trial(stack_bytes: int, spill_bytes: int = 0, name: str = "_Z12f_1_s0_tunedPdPKdS1_") -> Trial:
    facts = KernelFacts(name, "sm_90", 96, stack_bytes, spill_bytes, spill_bytes)
    facts_ = {"spill_bytes": 2 * spill_bytes, "stack_bytes": stack_bytes}
    return replace(Trial("cuda", {}, Status.CORRECT), facts=facts_, kernels=(facts,))


def test_a_frame_of_the_size_of_a_block(held: Variant) -> None:
    assert not_in_registers(held, trial(BLOCK_BYTES)) == (
        "has a stack frame of 128 bytes, C_block being in local memory"
    )


def test_a_frame_that_has_no_room_for_a_block(held: Variant) -> None:
    assert not_in_registers(held, trial(0)) == ""
    # A slow path of sin() takes forty bytes.
    assert not_in_registers(held, trial(BLOCK_BYTES - 8)) == ""


def test_kernels_for_other_sizes_do_not_count(held: Variant) -> None:
    assert not_in_registers(held, trial(BLOCK_BYTES, name="_Z6f_1_s0iiiPdPKdS1_")) == ""


def test_spills_come_first(held: Variant) -> None:
    assert not_in_registers(held, trial(BLOCK_BYTES, 16)) == "spills 32 bytes of registers"


def test_an_array_of_the_text_may_be_where_it_likes() -> None:
    own = variant_of(decided_text(OWN_ARRAY, AUTO))
    assert not_in_registers(own, trial(64)) == ""


def test_no_prediction_is_made_for_what_works_on_local_memory(held: Variant) -> None:
    bad = judged(held, trial(BLOCK_BYTES), "sm_90", "NVIDIA H200")
    assert (bad.status, bad.time_s) == (Status.CONSTRAINTS, None)
    assert bad.reason == (
        "has a stack frame of 128 bytes, C_block being in local memory, compiled for sm_90"
    )
    good = judged(held, trial(0), "sm_90", "NVIDIA H200")
    assert (good.status, good.device, good.is_predicted) == (Status.CORRECT, "NVIDIA H200", True)
    assert good.time_s == good.predicted_s
    failed = replace(trial(0), status=Status.RUNTIME)
    assert judged(held, failed, "sm_90", "NVIDIA H200") == failed
