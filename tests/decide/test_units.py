"""Units: what is launched together, what stays on the host, and what no loop may share."""

from __future__ import annotations

import pytest
from recipes import decided_text
from support.interpreter import assert_same, plan_body

from annotune.annotation.devices import load_device
from annotune.model.predict import predict
from annotune.schedule.plan import HostLoop, Kernel


def source(nest: str, sizes: str = "param n = 6;") -> str:
    return (
        "double f(int n, double *restrict a, double *restrict b, double *restrict c)\n{\n"
        f"int i, j, k, t; double s = 1.0;\n/*@ begin PerfTuning ( def input_params {{ {sizes} }} )"
        f" @*/\n{nest}\n/*@ end @*/\nreturn s;\n}}\n"
    )


# The nest, the groups that may not be taken apart, and per kernel: statements, blocks and
# threads, host loops.
CASES = {
    "bounds that only the host's loop sets": (
        "for (k = 0; k < n; k++) for (i = k + 1; i < n; i++) for (j = k + 1; j < n; j++)"
        " a[i*n + j] -= a[i*n + k]*a[k*n + j];",
        ((0,),),
        [((0,), ("j_t", "i_t", "j", "i"), ("k",))],
    ),
    "two statements of one loop": (
        "for (i = 0; i < n; i++) { a[i] = b[i]; c[i] = b[i]; }",
        ((0,), (1,)),
        [((0, 1), ("i",), ())],
    ),
    "a recurrence through two statements": (
        "for (i = 1; i < n; i++) { a[i] = b[i - 1]; b[i] = a[i]; }",
        ((0, 1),),
        [((0, 1), (), ())],
    ),
    "a temporary ties its users": (
        "for (i = 0; i < n; i++) { double x = a[i]; b[i] = x; c[i] = x * x; }",
        ((0, 1, 2),),
        [((0, 1, 2), ("i",), ())],
    ),
    "a statement between tied ones is tied": (
        "for (i = 1; i < n; i++) { a[i] = b[i - 1]; c[i] = 1.0; b[i] = a[i]; }",
        ((0, 1, 2),),
        [((0, 1, 2), (), ())],
    ),
    "a time loop stays on the host": (
        "for (t = 0; t < 3; t++) {\n"
        "  for (i = 1; i < n - 1; i++) b[i] = a[i - 1] + a[i + 1];\n"
        "  for (i = 1; i < n - 1; i++) a[i] = b[i];\n}",
        ((0, 1),),
        [((0,), ("i",), ()), ((1,), ("i",), ())],
    ),
    "a recurrence around parallel loops": (
        "for (t = 1; t < n; t++) for (i = 0; i < n; i++) a[t*n+i] += a[(t-1)*n+(n-1-i)];",
        ((0,),),
        [((0,), ("i",), ("t",))],
    ),
    "a sum is shared by the threads of a block": (
        "for (i = 0; i < n; i++) s += a[i];\nfor (i = 0; i < n; i++) b[i] = s * a[i];",
        ((0,), (1,)),
        [((0,), ("i",), ()), ((1,), ("i",), ())],
    ),
    "a sum over two loops": (
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) s += a[i*n + j];",
        ((0,),),
        [((0,), ("j",), ())],
    ),
    # Threads along i would move the row's sum, and along j alone too.
    "sums over the rows of a matrix and over all of it": (
        "for (i = 0; i < n; i++)"
        " for (j = 0; j < n; j++) { double x = a[i*n + j]; b[i] += x; s += x * x; }",
        ((0, 1, 2),),
        [((0, 1, 2), ("i", "j"), ())],
    ),
    "a sum in each step of a recurrence": (
        "for (t = 1; t < n; t++) for (i = 0; i < n; i++) a[t] += a[t - 1] * b[i];",
        ((0,),),
        [((0,), ("i",), ("t",))],
    ),
    "a sum below two recurrences is one thread's": (
        "for (t = 1; t < n; t++) for (k = 1; k < n; k++) for (i = 0; i < n; i++)"
        " a[t*n + k] += a[t*n + k - n - 1] * a[t*n + k - 1] * b[i];",
        ((0,),),
        [((0,), (), ())],
    ),
    "a loop of the text may be parallel for some of its statements": (
        "for (i = 0; i < n; i++)"
        " for (j = 0; j < n; j++) { b[j] += a[i*n + j]; c[i] += a[i*n + j]; }",
        ((0,), (1,)),
        [((0,), ("j",), ()), ((1,), ("i",), ())],
    ),
    # Only the second of two loops called i is parallel.
    "loops of one name are told apart": (
        "for (i = 1; i < n; i++) a[i] = a[i - 1];\nfor (i = 0; i < n; i++) b[i] = a[i];",
        ((0,), (1,)),
        [((0,), (), ()), ((1,), ("i",), ())],
    ),
    "a statement outside all loops": (
        "s = 0.0;\nfor (i = 0; i < n; i++) b[i] = a[i];",
        ((0,), (1,)),
        [((0,), (), ()), ((1,), ("i",), ())],
    ),
    "a triangle's inner loop is the thread's": (
        "for (i = 0; i < n; i++) for (k = i + 1; k < n; k++) c[i] += a[k];",
        ((0,),),
        [((0,), ("i",), ())],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_units(name: str) -> None:
    nest, groups, kernels = CASES[name]
    one = decided_text(source(nest))
    assert one.decision.groups == groups
    found = [(c.statements, (*c.blocks, *c.threads), c.host) for c in one.decision.choices]
    assert found == kernels
    assert_same(plan_body(one.plan()), one.region, None, one.analysis.private)


def test_the_host_loop_holds_its_kernels() -> None:
    one = decided_text(source(CASES["a time loop stays on the host"][0]))
    (step,) = one.plan().steps
    assert isinstance(step, HostLoop)
    assert (step.loop.var, step.loop.body) == ("t", ())
    assert all(isinstance(inner, Kernel) for inner in step.steps)


def test_registers_leave_out_what_would_go_stale_or_never_run() -> None:
    stale = "for (i = 0; i < n; i++) for (k = 0; k < n; k++) a[i + n] += b[k]*a[i];"
    (choice,) = decided_text(source(stale)).decision.choices
    assert choice.registers == ()
    triangle = CASES["a triangle's inner loop is the thread's"][0]
    (choice,) = decided_text(source(triangle)).decision.choices
    assert choice.registers == ()


def test_a_tile_whose_name_is_taken_is_not_made() -> None:
    text = source("for (i = 0; i < n; i++) b[i] = a[i];").replace("int n,", "int i_t,")
    text = text.replace("i < n", "i < i_t").replace("param n = 6", "param i_t = 1000")
    (choice,) = decided_text(text).decision.choices
    assert choice.tiles == ()
    assert choice.threads == ("i",)


@pytest.mark.parametrize(("count", "size"), [(64, 0), (65, 64), (256, 64), (257, 256)])
def test_a_long_loop_gets_more_blocks_than_one(count: int, size: int) -> None:
    text = source("for (i = 0; i < n; i++) b[i] = a[i];", f"param n = {count};")
    (choice,) = decided_text(text).decision.choices
    assert choice.tiles == ((("i", size),) if size else ())
    assert choice.blocks == (("i_t",) if size else ())


def test_a_loop_that_the_host_shortens_gets_blocks() -> None:
    nest = "for (t = 0; t < n; t++) for (i = t + 1; i < n; i++) a[i] += a[t]*b[i];"
    (choice,) = decided_text(source(nest, "param n = 5000;")).decision.choices
    assert (choice.host, choice.tiles) == (("t",), (("i", 256),))


ELIMINATION = (
    "for (t = 0; t < n; t++) for (i = t + 1; i < n; i++)\n"
    "  for (k = t + 1; k < n; k++) a[i*n + k] -= b[i*n + t]*a[t*n + k];"
)


def test_a_count_that_varies_is_its_mean() -> None:
    """A third of n^3 iterations are n times 0.58 n times 0.58 n."""
    one = decided_text(source(ELIMINATION, "param n = 300;"))
    (unit,) = one.base.apart
    assert unit.trips == {"t": 300, "i": None, "k": None}
    assert unit.mean_trips == {"t": 300, "i": 173, "k": 173}
    (whole,) = decided_text(source("for (i = 0; i < n; i++) b[i] = a[i];")).base.apart
    assert whole.mean_trips == whole.trips


def test_a_launch_that_the_host_shortens_is_predicted_by_its_mean_size() -> None:
    """A lower-upper decomposition of 400 rows took 3.06 ms of an H100, 400 launches.

    With one iteration for each count that varies a launch would be one thread.
    """
    one = decided_text(source(ELIMINATION, "param n = 400;"))
    (unit,), (choice,) = one.base.apart, one.decision.choices
    assert 1e-3 < predict(unit, choice, load_device("h200")).time_s < 6e-3
