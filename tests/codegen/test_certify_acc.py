"""Certificates of OpenACC plans: those of the first choices hold."""

from __future__ import annotations

import pytest
from codegen.emitted import EXAMPLES, example

from annotune.analysis.analyse import analyse
from annotune.certify.certificate import verify
from annotune.certify.kernels import certify_acc
from annotune.space.decision import Base
from annotune.space.points import acc_space, decide_acc, first_acc_plan
from annotune.space.space import region_space

# The recipe of fig4_7 is refused, as its own text says.
NAMES = sorted(
    str(path.relative_to(EXAMPLES))
    for path in EXAMPLES.glob("*/*.c")
    if path.name not in ("main.c", "fig4_7.c")
)


@pytest.mark.alike(6)
@pytest.mark.parametrize(
    "name",
    # Regions of many statements take up to half a minute.
    [
        pytest.param(x, marks=pytest.mark.slow) if x.endswith(("ccsd_t.c", "ax_loops.c")) else x
        for x in NAMES
    ],
)
def test_the_first_choice_of_every_example_holds(name: str) -> None:
    # The triples of one file differ in the order of their indices alone.
    for region in example(name).regions[:2]:
        analysis = analyse(region)
        base = Base.of(analysis)
        decision = decide_acc(base, acc_space(region_space(base)).first)
        assert verify(certify_acc(analysis, first_acc_plan(analysis, decision))) == ()
