"""Plans are made of schedules: the same steps make the same plan again."""

from __future__ import annotations

import pytest
from codegen.emitted import EXAMPLES, analysed, source_of, variants

from annotune.analysis.analyse import analyse
from annotune.codegen.target import TARGET_NAMES, load_target
from annotune.diagnostics import Diagnostic, Span
from annotune.ir.nest import Level
from annotune.schedule.apply import apply
from annotune.schedule.plan import Plan
from annotune.transforms.cache import Resident
from annotune.transforms.distribute import Distribute
from annotune.transforms.map import Map
from annotune.transforms.registers import Registers
from annotune.transforms.tile import Tile
from annotune.transforms.tile_ends import Pad
from annotune.transforms.transform import Context

# The recipe of one is wrong, and refused.
WRONG = "thesis/fig4_7.c"
NAMES = [
    name
    for path in sorted(EXAMPLES.glob("*/*.c"))
    if "PerfTuning" in path.read_text() and (name := str(path.relative_to(EXAMPLES))) != WRONG
]
ROWS = """
void f(int n, int m, double y[restrict n], const double A[restrict n][m])
{
  /*@ begin PerfTuning ( def input_params { param n = 64; param m = 8; } ) @*/
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[i] += A[i][j];
  /*@ end @*/
}
"""


@pytest.mark.alike(23)
@pytest.mark.parametrize("kind", TARGET_NAMES)
@pytest.mark.parametrize(
    "name",
    # Its regions of many statements take half a minute each.
    [pytest.param(x, marks=pytest.mark.slow) if x.endswith("ccsd_t.c") else x for x in NAMES],
)
def test_a_schedule_makes_its_plan_again(name: str, kind: str) -> None:
    # The other regions of a file are mostly like its first.
    (found,) = variants(load_target(kind), analysed(name), 1)
    for plan in (plan for plan in (found.tuned, found.general, found.partly) if plan):
        assert plan.schedule
        assert hash(plan.schedule) == hash(tuple(plan.schedule))
        again = apply(plan.schedule, Context(found.analysis, plan.constants))
        assert isinstance(again, Plan)
        assert again.steps == plan.steps


def test_a_schedule_by_hand() -> None:
    analysis = analyse(source_of(ROWS).regions[0])
    steps = (
        Distribute(((0,),)),
        Tile(0, "i", 16),
        Map(0, (("i_t", Level.BLOCK_X), ("i", Level.THREAD_X)), max_blocks=3),
        Registers(0, "j"),
        Pad(0, ("i",)),
        Resident(0, 2),
    )
    plan = apply(steps, Context(analysis))
    assert isinstance(plan, Plan)
    (kernel,) = plan.kernels()
    assert (kernel.max_blocks, kernel.resident) == (3, 2)
    exact = apply(steps, Context(analysis, {"n": 64}))
    assert isinstance(exact, Plan)
    assert exact.steps != plan.steps


def test_the_first_illegal_step_says_why() -> None:
    analysis = analyse(source_of(ROWS).regions[0])
    place = Span("t.c", 3, 1)
    steps = (Distribute(((0,),)), Tile(0, "q", 16, span=place), Tile(0, "i", 0))
    refusal = apply(steps, Context(analysis))
    assert isinstance(refusal, Diagnostic)
    assert (refusal.code, refusal.span) == ("AT251", place)
