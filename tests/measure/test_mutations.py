"""Wrong code must not pass: generated texts with one mistake each, and the trial of each.

The mistakes are those a code generator makes: a term dropped, an index off by one, a copy or a
clause forgotten, a loop run by threads that must not be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import pytest
from compilers import here
from support.regions import text_source

from annotune.analysis.analyse import analyse
from annotune.annotation.devices import load_device
from annotune.codegen.target import RegionCode, load_target
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.trial import Status
from annotune.space.decision import Base
from annotune.space.space import region_space

pytestmark = pytest.mark.skipif(
    here().cxx is None or not here().openmp, reason="no C++ compiler with OpenMP"
)

TEXT = """\
int f(int n, int m, const double *restrict A, const double *restrict x, double *restrict y,
      double *restrict z)
{
    int i, j;
    double t;
    /*@ begin PerfTuning (
      def input_params { param n = 12; param m = 16; }
    ) @*/
    for (i = 0; i < n; i++) {
        t = 0.0;
        for (j = 0; j < m; j++)
            t += A[i * m + j] * x[j];
        y[i] += t;
    }
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            z[j * n + i] = A[i * m + j] - x[j];
    /*@ end @*/
    return 1000 * i + j;
}
"""
KINDS = {
    "cuda": "cuda-cpu",
    "openacc": "openacc",
    "openmp": "openmp",
    "openmp_target": "openmp_target",
}
# The tuned sizes, at which the tuned kernel runs, and others, at which the general one does.
PLAN = CheckPlan(({"n": 12, "m": 16}, {"n": 29, "m": 19}), threads=2)


@dataclass(frozen=True)
class Mutation:
    """One mistake: `old` stands in the generated text, `new` in its place, once or everywhere.

    `needs_races` marks those that give right values when threads run one after another.
    """

    name: str
    old: str
    new: str
    needs_races: bool = False
    is_everywhere: bool = False


CUDA = (
    Mutation("a term is dropped", "+ A[i * m + 3] * x[3]\n", "\n"),
    Mutation("a term is doubled", "+ A[i * m + 3] * x[3]\n", "+ 2 * A[i * m + 3] * x[3]\n"),
    Mutation("a sign is wrong", "+ A[i * m + 3] * x[3]\n", "- A[i * m + 3] * x[3]\n"),
    Mutation("an index is one off", "A[i * m + 3] * x[3]", "A[i * m + 4] * x[3]"),
    Mutation("an index reads past the array", "x[15];", "x[16];"),
    Mutation("the extents are exchanged", "z[j * n + i]", "z[j * m + i]"),
    Mutation("the indices are exchanged", "z[j * n + i]", "z[i * m + j]"),
    Mutation("= became +=", "z[j * n + i] = ", "z[j * n + i] += "),
    Mutation("+= became =", "y[i] += t", "y[i] = t"),
    Mutation("a temporary is not reset", "t = 0.0;", "", True),
    Mutation("a loop is one short", "j < m; j++) {\n        z[", "j < m - 1; j++) {\n        z["),
    Mutation(
        "a loop starts late", "j = 0; j < m; j++) {\n        z", "j = 1; j < m; j++) {\n        z"
    ),
    Mutation("there is no remainder loop", "j = m - m % 16; j < m", "j = m; j < m"),
    Mutation("the remainder runs twice", "j = m - m % 16; j < m", "j = m - m % 16 - 1; j < m"),
    Mutation("the threads do not stride", "i += blockDim.x", "i += n"),
    Mutation("a thread is missing", "threads(12, 1, 1)", "threads(11, 1, 1)"),
    Mutation("a thread too many", "threads(12, 1, 1)", "threads(13, 1, 1)"),
    Mutation("a reduction on a thread axis", "threads(12, 1, 1)", "threads(12, 2, 1)", True),
    Mutation("a reduction on blocks", "blocks(1, 1, 1)", "blocks(2, 1, 1)", True),
    Mutation("too many threads for a block", "threads(12, 1, 1)", "threads(1025, 1, 1)"),
    Mutation("the kernel is for other sizes", "n == 12 && m == 16", "n > 0"),
    Mutation("two arguments are exchanged", "(A, x, y, z)", "(x, A, y, z)"),
    Mutation("an input is not copied", "x_bytes, true, false", "x_bytes, false, false"),
    Mutation("an accumulator is not copied", "y_bytes, true, true", "y_bytes, false, true"),
    Mutation("a copy is too short", "(A), A_bytes, 0", "(A), A_bytes - 8, 0"),
    Mutation("a result is not copied back", "z_bytes, false, true", "z_bytes, false, false"),
    Mutation("a result goes to another array", "(y), y_bytes", "(z), y_bytes"),
    Mutation("an allocation is too small", "return m * n;", "return m * n - 1;"),
    Mutation("memory is not freed", "annotune_free(array.device, status);", ""),
    Mutation("a host pointer reaches a kernel", "f_1_launch(n, m, d_A", "f_1_launch(n, m, A", True),
    Mutation("the original runs instead", "if (fits) {", "if (!fits) {"),
    Mutation("the original runs at the tuned sizes", "0 < n;", "n != 12;"),
    Mutation("an iterator keeps another value", "i += 1;", "", is_everywhere=True),
)
OPENACC = (
    Mutation("a sequential loop on vector", "acc loop seq", "acc loop vector", True),
    Mutation("a term is dropped", "+ A[i * m + 3] * x[3]\n", "\n"),
    Mutation("a loop is one short", "i < n", "i < n - 1"),
    Mutation("a temporary is shared", "double t;\n", "", True),
    Mutation("= became +=", "z[j * n + i] = ", "z[j * n + i] += "),
)
OPENMP = (
    Mutation("a temporary is shared", "double t;\n", "static double t;\n", True),
    Mutation("a loop is one short", "i < n", "i < n - 1"),
    Mutation("the indices are exchanged", "z[j * n + i] = ", "z[i * m + j] = "),
    Mutation("= became +=", "z[j * n + i] = ", "z[j * n + i] += "),
    Mutation("threads write one element", "y[i] += t", "y[0] += t", True),
    Mutation("a fixed schedule is assumed", "y[i] += t;", "y[i] += t; y[i / 2] += 0;", True),
)
OPENMP_TARGET = (
    Mutation("an input is not mapped", "map(to: A[0:m * n], x[0:m])", "map(to: A[0:m * n])"),
    Mutation("an input is only allocated", "map(to: A", "map(alloc: A"),
    Mutation("an accumulator is only allocated", "map(tofrom: y", "map(alloc: y"),
    Mutation("an accumulator is not copied back", "map(tofrom: y", "map(to: y"),
    Mutation("an accumulator is not copied in", "map(tofrom: y", "map(from: y"),
    Mutation("a result stays on the device", "map(from: z", "map(to: z"),
    Mutation("a section is too short", "map(to: A[0:m * n]", "map(to: A[0:m * n - 1]"),
    Mutation("a section begins late", "map(from: z[0:n * m]", "map(from: z[1:n * m - 1]"),
    Mutation("a temporary is shared", "double t;\n", "", True),
    Mutation("a loop is one short", "i < n", "i < n - 1"),
    Mutation("the indices are exchanged", "z[j * n + i] = ", "z[i * m + j] = "),
    Mutation("= became +=", "z[j * n + i] = ", "z[j * n + i] += "),
    Mutation("teams write one element", "y[i] += t", "y[0] += t", True),
)
ALL = {"cuda": CUDA, "openacc": OPENACC, "openmp": OPENMP, "openmp_target": OPENMP_TARGET}
MUTATIONS = [
    pytest.param(target, one, id=f"{target}: {one.name}")
    for target, table in ALL.items()
    for one in table
]


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Checker:
    source = text_source(TEXT, "user.c")
    return Checker(
        Oracle(source, analyse(source.regions[0]), here(), tmp_path_factory.mktemp("oracle"))
    )


@lru_cache
def generated() -> Mapping[str, Program]:
    """Return the first variant of every target, as the generator writes it."""
    region = text_source(TEXT, "user.c").regions[0]
    base = Base.of(analyse(region))
    out: dict[str, Program] = {}
    for name, kind in KINDS.items():
        target = load_target(name)
        space, device = region_space(base), load_device("h200")
        code = target.region(target.points(base, space, device).listing(1).variant(0), False)
        text = target.device_file(code) if code.device else ""
        out[name] = Program(name, kind, code, text)
    return out


def mutated(variant: Program, one: Mutation) -> Program:
    """Return `variant` with the mistake at the first place where `old` stands."""
    places = (variant.device, variant.code.helper, variant.code.body)
    assert any(one.old in text for text in places), "\n".join(places)
    done = False
    texts = []
    for text in places:
        here_too = one.old in text and not done
        count = (-1 if one.is_everywhere else 1) if here_too else 0
        texts.append(text.replace(one.old, one.new, count))
        done |= here_too
    device, helper, body = texts
    code = RegionCode(body, helper, variant.code.device and device)
    return replace(variant, device=device, code=code)


@pytest.mark.alike(2)
@pytest.mark.parametrize("target", KINDS)
def test_the_generated_text_passes(target: str, checker: Checker) -> None:
    trial = checker.check(generated()[target], replace(PLAN, races=True))
    assert (trial.status, trial.reason) == (Status.CORRECT, "")
    assert trial.verified


@pytest.mark.alike(6)
@pytest.mark.parametrize(("target", "one"), MUTATIONS)
def test_a_mistake_does_not_pass(target: str, one: Mutation, checker: Checker) -> None:
    plan = replace(PLAN, races=one.needs_races)
    trial = checker.check(mutated(generated()[target], one), plan)
    assert trial.status in (Status.CORRECTNESS, Status.RUNTIME, Status.COMPILE), trial
    assert not trial.verified
    assert trial.reason
