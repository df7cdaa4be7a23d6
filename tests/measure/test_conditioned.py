"""What is far from the original by roundings alone is right; what is not is still found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from codegen.emitted import source_of
from compilers import here

from annotune.analysis.analyse import analyse
from annotune.codegen.target import RegionCode
from annotune.measure.check import Checker
from annotune.measure.inputs import MOST_UNITS, shaken_inputs
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.tolerance import LARGEST_RELATIVE, LAST_BITS, widened
from annotune.measure.trial import Status

pytestmark = pytest.mark.skipif(here().c is None, reason="no C compiler")

# Some of so many denominators are nearly 0, and their last bits are most of them.
TEXT = """\
void f(int n, double *restrict y, const double *restrict a, const double *restrict b)
{
    /*@ begin PerfTuning (def input_params { param n = 200000; }) @*/
    for (int i = 0; i < n; i++)
        y[i] = 1.0 / (a[i] * a[i] - b[i] * b[i]);
    /*@ end @*/
}
"""
FUSED = "__builtin_fma(a[i], a[i], -(b[i] * b[i]))"
LOOP = "for (int i = 0; i < n; i++) y[i] = 1.0 / ({});"


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Checker:
    source = source_of(TEXT)
    folder = tmp_path_factory.mktemp("oracle")
    return Checker(Oracle(source, analyse(source.regions[0]), here(), folder))


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (FUSED, Status.CORRECT),
        (f"{FUSED} * (1 + 1e-9)", Status.CORRECTNESS),
        (f"{FUSED} + (i == n / 2) * 1e-3", Status.CORRECTNESS),
    ],
)
def test_a_variant_by_other_roundings(checker: Checker, value: str, status: Status) -> None:
    made = Program("openmp", "c", RegionCode(LOOP.format(value)))
    trial = checker.check(made, CheckPlan(({"n": 200_000},)))
    assert trial.status is status, trial.reason


def test_inputs_are_moved_by_their_last_bits(checker: Checker, tmp_path: Path) -> None:
    inputs = checker.oracle.reference({"n": 1000}, 0).inputs
    shaken = shaken_inputs(inputs, tmp_path)
    for buffer in inputs.buffers:
        before, after = inputs.read(buffer), shaken.read(buffer)
        if buffer.name == "y":
            continue
        apart = np.abs(after - before)
        assert np.count_nonzero(apart) > 0.9 * np.count_nonzero(before)
        assert np.all(apart <= (MOST_UNITS + 1) * np.spacing(np.abs(before)))
        assert 0 < np.count_nonzero(after > before) < before.size


def test_no_tolerance_is_wider_than_a_share_of_the_largest() -> None:
    found = widened(np.array([1e-9, 1e-9]), np.array([1e-6, 1.0]), np.array([3.0, -100.0]))
    assert found.tolist() == [LAST_BITS * 1e-6, LARGEST_RELATIVE * 100.0]
