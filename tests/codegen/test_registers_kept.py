"""What is held in registers stays there: ptxas has no stack frame for it, and spills nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from codegen.test_cuda_files import compiled
from decide.gemm_texts import ROLES, gemm, with_sum
from decide.test_two_level import contraction
from support.executed import emitted
from support.regions import EXAMPLES

from annotune.measure.compile import parse_ptxas
from annotune.measure.trial import KernelFacts
from annotune.strategies.registry import AUTO, DIRECT

SIZES = "thread_x=16, thread_y=8, register_x=4, register_y=4, step=16, "
BOTH = 'assign={"cyclic","cyclic"})'
TRIPLES = 'sum="h7", thread_x=8, thread_y=4, register_x=4, register_y=4, step=8'
# In local memory before loops over registers were counted: what is cyclic along both axes, and
# tiles that may be cut short.
PROGRAMS = {
    "a product, cyclic along both axes": gemm(512, f"{ROLES}{SIZES}{BOTH}"),
    "a private sum, cyclic along both axes": with_sum(
        512, f"{ROLES.replace('0', '1', 1)}{SIZES}{BOTH}"
    ),
    "tiles of tiles": gemm(512, f'{ROLES}{SIZES}assign={{"adjacent","adjacent"}})'),
    "whole tiles of 8 by 8": gemm(1024),
    "two loops of each input": contraction(
        f'contract(0, thread={{"h3","p5"}}, register={{"h2","p4"}}, {TRIPLES})', n=16
    ),
    "a contraction, cyclic along both axes": contraction(
        f'contract(0, thread={{"h3","p4"}}, register={{"h3","p4"}}, {TRIPLES}, {BOTH}', n=16
    ),
    "merged loops": contraction("", n=20),
    "tiles cut short": gemm(
        150,
        'tile(0, "i", 6) tile(0, "j", 24) cyclic(0, "j", 8)'
        ' permute(0, ("i_t","j_t","j_w","l","i","j"))'
        ' cuda(0, block={"j_t","i_t"}, thread={"j_w"}) hold(0, "l")',
    ),
}
# At sizes that arrive at run time ptxas has addresses to keep beside 64 outputs.
TUNED_ALONE = {"whole tiles of 8 by 8", "merged loops"}


def kernels(folder: Path, text: str, strategy: str = AUTO) -> tuple[KernelFacts, ...]:
    return parse_ptxas(compiled(folder, emitted(folder, text, strategy=strategy).files[".cu"]))


@pytest.mark.alike(8)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_block_stays_in_registers(program: str, tmp_path: Path) -> None:
    found = kernels(tmp_path, PROGRAMS[program])
    tuned = [one for one in found if one.plain_name.endswith("_tuned")]
    assert tuned
    for one in tuned if program in TUNED_ALONE else found:
        assert (one.stack_bytes, one.spills) == (0, False), one


@pytest.mark.slow
def test_addresses_of_own_arrays_that_registers_do_not_hold_are_not_spilled(
    tmp_path: Path,
) -> None:
    """Left to its guess at occupancy, ptxas has 128 registers for the 3-D one and spills."""
    text = (EXAMPLES / "fem" / "mass_action.c").read_text()
    every = kernels(tmp_path, text, DIRECT)
    tuned = [one for one in every if one.plain_name.endswith("_tuned")]
    assert max(one.stack_bytes for one in tuned) > 4096
    assert not any(one.spills for one in tuned)
    # A block that has an element has its arrays in shared memory.
    blocks = [one for one in kernels(tmp_path, text) if one.plain_name.endswith("_tuned")]
    assert [(one.stack_bytes, one.spills) for one in blocks] == [(0, False)] * 2
