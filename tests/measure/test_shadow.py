"""The magnitude and the count of a result, as C and as numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from compilers import here
from made_by_hand import CLOSE, OPEN, Use, integers, made, matvec

from annotune.codegen.target import RegionCode
from annotune.ir.region import Region, Scalar
from annotune.measure.check import Checker
from annotune.measure.oracle import NothingToCompare, Oracle, Tolerance
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.tolerance import UNIT_ROUNDOFF, shadow_of
from annotune.measure.trial import NOTHING_COMPARED

U = UNIT_ROUNDOFF["double"]


def region(nest: str, *scalars: Scalar) -> Region:
    _, analysis = made(
        f"{OPEN}{CLOSE}",
        nest,
        {name: Use(f"double *{name}", "n", "rw") for name in ("a", "b", "c")},
        (*integers("n", "i", "j"), *scalars),
        {"n": 3},
    )
    return analysis.region


def statement(nest: str, counting: bool = False) -> str:
    shadow = shadow_of(region(nest))
    text = shadow.count if counting else shadow.magnitude
    return next(line.strip() for line in text.splitlines() if "=" in line and "for" not in line)


def test_every_minus_becomes_a_plus_of_absolute_values() -> None:
    text = statement("for i in 0:n: a[i] -= b[i] * c[i] - 0.5 * a[i]")
    f = "__builtin_fabs"
    assert text == (f"a[i] = {f}(a[i]) + ({f}(b[i]) * {f}(c[i]) + {f}(0.5) * {f}(a[i]));")


def test_subscripts_and_bounds_stay() -> None:
    text = shadow_of(region("for i in 0:n-1: a[n-1-i] = -b[i-1]")).magnitude
    assert "i < n - 1" in text
    assert "a[n - 1 - i] = __builtin_fabs(-b[i - 1]);" in text


def test_counts_of_a_sum_of_products() -> None:
    text = statement("for i in 0:n: for j in 0:n: a[i] += b[j] * c[j]", counting=True)
    assert text == "a[i] = __builtin_fmax(a[i], 1) + 1;"


def test_counts_follow_values_from_statement_to_statement() -> None:
    nest = "for i in 0:n\n  a[i] = b[i] * c[i]\n  b[i] += a[i] * c[i]\n"
    shadow = shadow_of(region(nest))
    assert "a[i] = b[i] + 1;" in shadow.count
    # a holds a count of its own, so that any term may come first.
    assert "b[i] = b[i] + (a[i] + 1) + 1;" in shadow.count


@pytest.mark.parametrize(
    ("nest", "is_linear"),
    [
        ("for i in 0:n: a[i] = b[i] / c[i]", True),
        ("for i in 0:n: a[i] /= b[i] + c[i]", False),
        ("for i in 0:n: a[i] = sqrt(b[i])", False),
        ("for i in 0:n: a[i] = fmax(b[i], a[i])", True),
    ],
)
def test_what_can_magnify_an_error_is_said(nest: str, is_linear: bool) -> None:
    assert shadow_of(region(nest)).is_linear is is_linear


@pytest.mark.skipif(here().c is None, reason="no C compiler")
def test_no_bound_is_asked_for_the_bits_of_the_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, analysis = matvec()
    checker = Checker(Oracle(source, analysis, here(), tmp_path))

    def ends_badly(_: object) -> Tolerance:
        raise NothingToCompare("the bound on the original: died")

    monkeypatch.setattr(checker.oracle, "tolerance", ends_badly)
    same = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i] += A[i][j] * x[j];"
    other = "for (int i = 0; i < n; i++) for (int j = m; j--;) y[i] += A[i][j] * x[j];"
    plan = CheckPlan(({"n": 4, "m": 50},))
    right, unknown = (
        checker.check(Program("c", "c", RegionCode(f"{{ {body} }}")), plan)
        for body in (same, other)
    )
    assert right.verified
    assert not unknown.verified
    assert unknown.reason.startswith(NOTHING_COMPARED)
    assert "died" in unknown.reason


@pytest.mark.skipif(here().c is None, reason="no C compiler")
def test_the_bound_of_a_matrix_times_vector(tmp_path: Path) -> None:
    source, analysis = matvec()
    oracle = Oracle(source, analysis, here(), tmp_path)
    reference = oracle.reference({"n": 4, "m": 50}, 1)
    inputs = reference.inputs
    y, a, x = (abs(inputs.read(b)) for b in inputs.buffers)
    magnitude = y + a.reshape(4, 50) @ x
    # 50 additions and one product on the longest chain, for both sides of the comparison.
    assert oracle.tolerance(reference).arrays["y"] == pytest.approx(
        2 * 51 * U * magnitude, rel=1e-9
    )


def test_where_arrays_share_memory_what_is_only_read_may_be_computed() -> None:
    copied = region("for i in 0:n: a[i] = b[i]")
    assert "b[i]" not in shadow_of(copied).count
    assert "a[i] = b[i];" in shadow_of(copied, is_shared=True).count
