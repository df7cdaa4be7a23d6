"""Inputs are fresh, laid out with room between arrays, and poisoned where only written."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from made_by_hand import CLOSE, OPEN, Use, expr, integers, made, matvec, scale
from support.nest_text import parse_nest
from support.regions import analysis_of

from annotune.ir.expr import print_expr
from annotune.measure.child import GuardedArray, GuardedMemory
from annotune.measure.inputs import START, make_inputs, zero_inputs
from annotune.measure.sizes import awkward_sizes, evaluate, iterations, open_sizes, reduced_sizes
from annotune.measure.values import is_poison


def test_lengths_follow_the_sizes(tmp_path: Path) -> None:
    _, analysis = matvec()
    inputs = make_inputs(analysis, {"n": 3, "m": 5}, 1, tmp_path)
    assert {b.name: b.count for b in inputs.buffers} == {"y": 3, "A": 15, "x": 5}
    assert inputs.integers == (3, 5, START, START)
    for buffer in inputs.buffers:
        values = inputs.read(buffer)
        assert np.all(np.abs(values) <= 1.0)
        assert len(np.unique(values)) == buffer.count


def test_a_seed_gives_the_same_values_again_and_another_gives_others(tmp_path: Path) -> None:
    _, analysis = matvec()
    first, again, other = (
        make_inputs(analysis, {}, seed, tmp_path / name)
        for name, seed in (("a", 7), ("b", 7), ("c", 8))
    )
    buffer = first.buffers[1]
    assert np.array_equal(first.read(buffer), again.read(buffer))
    assert not np.array_equal(first.read(buffer), other.read(buffer))


def test_outputs_that_are_only_written_hold_poison(tmp_path: Path) -> None:
    _, analysis = scale({"n": 6})
    inputs = make_inputs(analysis, {}, 1, tmp_path)
    b, a = inputs.buffers
    assert (b.name, b.first, b.count) == ("b", 1, 5)
    assert is_poison(inputs.read(b), b.number).all()
    assert not is_poison(inputs.read(a), a.number).any()
    assert len(inputs.reals) == 1
    assert -1.0 <= inputs.reals[0] <= 1.0


def test_a_declared_array_is_there_as_a_whole(tmp_path: Path) -> None:
    _, analysis = made(
        f"{OPEN}{CLOSE}",
        "for i in 1:9: a[i] = 0.0",
        {"a": Use("double a[10]", "8", "wo", ("10",), is_pointer=False, lowest="1")},
        integers("i"),
        {},
    )
    (buffer,) = make_inputs(analysis, {}, 1, tmp_path).buffers
    assert (buffer.first, buffer.count) == (0, 10)


def test_behind_a_parameter_there_may_be_more_than_c_declares(tmp_path: Path) -> None:
    text = """void f(int n, double a[4][5]) {
        /*@ begin PerfTuning ( def input_params { param n = 4; } ) @*/
        for (int i = 0; i < n; i++)
            a[i][0] = 0.0;
        /*@ end @*/
    }"""
    for n, count in ((1, 20), (4, 20), (7, 35)):
        (buffer,) = make_inputs(analysis_of(text), {"n": n}, 1, tmp_path / str(n)).buffers
        assert (buffer.first, buffer.count) == (0, count)


def test_where_a_condition_of_the_proofs_is_broken_every_subscript_counts(tmp_path: Path) -> None:
    analysis = analysis_of(
        "void f(int n, int m, double *restrict a, double *restrict b)\n{\n"
        "/*@ begin PerfTuning ( def input_params { param n = 9; param m = 9; } ) @*/\n"
        "for (int i = 0; i < n; i++) a[i] = 1;\nfor (int j = 1; j < m; j++) b[j] = a[j];\n"
        "/*@ end @*/\n}\n"
    )
    assert [print_expr(one) for one in analysis.conditions] == ["n >= m"]
    for n, m, first, count in ((5, 4, 0, 5), (5, 9, 0, 9), (0, 9, 1, 8)):
        a, _ = make_inputs(analysis, {"n": n, "m": m}, 1, tmp_path / f"{n}{m}").buffers
        assert (a.first, a.count) == (first, count)


def test_sizes_at_which_c_itself_leaves_its_array_are_refused(tmp_path: Path) -> None:
    _, analysis = made(
        f"{OPEN}{CLOSE}",
        "for i in 0:n: a[i] = 0.0",
        {"a": Use("double a[10]", "n", "wo", ("10",), is_pointer=False)},
        integers("n", "i"),
        {"n": 10},
    )
    with pytest.raises(ValueError, match="from 0 to 10, and C declares 10 elements"):
        make_inputs(analysis, {"n": 11}, 1, tmp_path)


def test_a_division_keeps_away_from_zero(tmp_path: Path) -> None:
    _, analysis = made(
        f"{OPEN}{CLOSE}",
        "for i in 0:n: a[i] = a[i] / b[i]",
        {"a": Use("double *a", "n", "rw"), "b": Use("double *b", "n")},
        integers("n", "i"),
        {"n": 50},
    )
    inputs = make_inputs(analysis, {}, 1, tmp_path)
    assert all(inputs.read(b).min() >= 0.25 for b in inputs.buffers)


def test_zeros_have_the_same_layout(tmp_path: Path) -> None:
    _, analysis = matvec()
    inputs = make_inputs(analysis, {}, 1, tmp_path / "a")
    zeros = zero_inputs(inputs, analysis.region, tmp_path / "b")
    assert zeros.buffers == inputs.buffers
    # What is only read stays: conditions are made of it.
    assert [bool(zeros.read(b).any()) for b in zeros.buffers] == [
        b.name != "y" for b in inputs.buffers
    ]


def test_a_size_without_a_value_is_named(tmp_path: Path) -> None:
    _, analysis = made(
        f"{OPEN}{CLOSE}",
        "for i in 0:n: a[i] = 0.0",
        {"a": Use("double *a", "n*ld", "wo")},
        integers("n", "ld", "i"),
        {"n": 3},
    )
    with pytest.raises(ValueError, match="ld"):
        make_inputs(analysis, {}, 1, tmp_path)


@pytest.mark.parametrize(
    ("text", "value"),
    [("n*m-1", 34), ("(n+1)/2*3", 9), ("n%4", 1), ("min(n, m)", 5), ("max(n, 2*m)", 14)],
)
def test_evaluate(text: str, value: int) -> None:
    assert evaluate(expr(text), {"n": 5, "m": 7}) == value


def test_iterations_of_a_triangle_are_about_half() -> None:
    nest = parse_nest("for i in 0:n: for j in 0:i: a[i][j] = 0.0")
    assert iterations(nest, {"n": 100}) == 5000


def test_awkward_sizes_are_ones_unequal_and_primes() -> None:
    _, analysis = matvec()
    assert open_sizes(analysis.region) == ("n", "m")
    ones, small, primes, scaled = awkward_sizes(analysis)
    assert ones == {"n": 1, "m": 1}
    assert small == {"n": 2, "m": 3}
    assert primes == {"n": 37, "m": 19}
    assert scaled == {"n": 20, "m": 30}


def test_many_loops_get_smaller_primes() -> None:
    names = ("a", "b", "c", "d", "e", "f", "g")
    loops = "".join(f"for {n} in 0:{n}u: " for n in names)
    _, analysis = made(
        f"{OPEN}{CLOSE}",
        f"{loops}t[a] += x[b]",
        {"t": Use("double *t", "au", "rw"), "x": Use("double *x", "bu")},
        integers(*(f"{n}u" for n in names), *names),
        dict.fromkeys((f"{n}u" for n in names), 16),
    )
    found = awkward_sizes(analysis)
    assert tuple(found[1].values()) == (2, 3, 4, 5, 6, 7, 3)
    assert all(v <= 13 for sizes in found for v in sizes.values())
    assert set(reduced_sizes(analysis, 300_000).values()) == {4}


def test_sizes_that_c_fixes_are_left_alone() -> None:
    _, analysis = made(
        f"{OPEN}{CLOSE}",
        "for i in 0:8: a[i] = 0.0",
        {"a": Use("double *a", "8", "wo")},
        integers("i"),
        {},
    )
    assert awkward_sizes(analysis) == ()


def test_a_write_beside_a_guarded_array_is_seen() -> None:
    for index, side in ((-1, "before"), (5, "after")):
        memory = GuardedMemory(40)
        array = GuardedArray(memory, np.dtype(np.float64), 0, 5)
        array.values[:] = 1.0
        assert array.address % 64 == 0
        assert memory.broken_zone() == ""
        ctypes.c_double.from_address(array.address + 8 * index).value = 2.0
        assert memory.broken_zone() == side


def test_awkward_sizes_beside_a_given_one() -> None:
    _, analysis = matvec()
    found = awkward_sizes(analysis, fixed={"n": 24})
    assert {sizes["n"] for sizes in found} == {24}
    assert len({sizes["m"] for sizes in found}) == len(found) >= 3
    assert awkward_sizes(analysis, fixed={"n": 10**6}) == ()


def test_awkward_sizes_fulfil_the_conditions_of_a_proof() -> None:
    """Else the original would be compared with itself."""
    analysis = analysis_of(
        "void f(int ld, int m, int n, double *restrict a)\n{\n"
        "/*@ begin PerfTuning (\n"
        "def input_params { param m = 9; param n = 8; param ld = 8; }\n) @*/\n"
        "for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) a[i*ld + j] = 1;\n"
        "/*@ end @*/\n}\n"
    )
    assert [print_expr(one) for one in analysis.conditions] == ["ld >= n"]
    ones, *others = awkward_sizes(analysis)
    assert ones == {"ld": 1, "m": 1, "n": 1}
    assert any(sizes["ld"] == sizes["n"] > 1 for sizes in others)
    assert all(sizes["ld"] >= sizes["n"] for sizes in others)
