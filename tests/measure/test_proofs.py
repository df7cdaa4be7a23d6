"""What a text stands before it wins finds what its trials do not: each rule, and its mistake."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from compilers import here
from support.laws import IS_THOROUGH
from support.regions import EXAMPLES, analysis_of, text_source

from annotune.analysis.analyse import analyse
from annotune.annotation.devices import load_device
from annotune.codegen.several_sizes import at_other_sizes
from annotune.codegen.target import RegionCode, load_target
from annotune.measure.check import Checker
from annotune.measure.inputs import ENDING, WHOLE, Overlap, Values, make_inputs, overlaps
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan, Failures, Odd, long_proofs, proofs, runs_of
from annotune.measure.program import (
    Original,
    Program,
    TextForm,
    blocks,
    has_way_out,
    taking_way_out,
    with_small_grids,
)
from annotune.measure.run import Order
from annotune.measure.sizes import awkward_sizes, border_sizes, tuned_sizes
from annotune.measure.trial import Status
from annotune.measure.values import bears_special
from annotune.space.decision import Base
from annotune.space.space import region_space

needs_compilers = pytest.mark.skipif(
    here().cxx is None or not here().openmp, reason="no C++ compiler with OpenMP"
)
TEXT = """\
void f(int n, int m, int ld, const double *x, double *y, const int *restrict at,
       const float z[9])
{
    /*@ begin PerfTuning ( def input_params { param n = 12; param m = 8; param ld = 8; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (x[i * ld + j] < 0.625)
                y[i * ld + j] = x[i * ld + j] + z[at[j]];
    /*@ end @*/
}
"""


def test_sizes_lie_at_the_borders_of_the_tuned_ones_of_none_and_of_the_conditions() -> None:
    analysis = analysis_of(TEXT)
    found = [tuple(sizes.values()) for sizes in border_sizes(analysis)]
    assert {(13, 8, 8), (11, 8, 8), (12, 7, 8), (12, 8, 9), (24, 8, 8), (24, 16, 16)} <= {*found}
    assert {(0, 13, 13), (11, 0, 13), (0, 0, 0)} <= {*found}
    assert any(sizes[0] > 1 << 16 for sizes in found)
    # The proofs need ld >= m: one less, just so, and one more.
    assert {(11, 13, 12), (11, 13, 13), (11, 13, 14)} <= {*found}
    assert len(found) == len({*found})
    assert border_sizes(analysis, limit=100) == tuple(
        sizes for sizes in border_sizes(analysis) if sizes["n"] * sizes["m"] <= 100
    )


def test_arrays_share_memory_only_where_c_lets_them_and_values_stay_what_they_are() -> None:
    found = overlaps(analysis_of(TEXT), {"n": 2, "m": 3, "ld": 4})
    assert set(found) == {
        *(Overlap("x", "y", n) for n in (0, 1, WHOLE)),
        *(Overlap("y", "x", n) for n in (0, 1)),
    }
    restricted = TEXT.replace("double *y", "double *restrict y")
    assert overlaps(analysis_of(restricted), {"n": 2, "m": 3, "ld": 4}) == ()


def test_what_is_only_read_may_share_memory_restrict_or_not() -> None:
    text = TEXT.replace("const double *x", "const double *restrict x, const double *w")
    analysis = analysis_of(text.replace("x[i * ld + j] + ", "x[i * ld + j] + w[j] + "))
    found = overlaps(analysis, {"n": 2, "m": 3, "ld": 4}, has_inputs=True)
    assert {frozenset((one.first, one.second)) for one in found} == {
        frozenset("wx"),
        frozenset("wy"),
    }
    # What is copied for both may be there in part, from its beginning or to its end.
    ends = [one for one in found if one.shared == ENDING]
    assert [{one.first, one.second} for one in ends] == [{"w", "x"}]


@pytest.mark.parametrize(("shared", "first"), [(0, 8), (1, 7), (WHOLE, 0)])
def test_a_shared_element_is_one_element(shared: int, first: int, tmp_path: Path) -> None:
    sizes = {"n": 2, "m": 4, "ld": 4}
    overlap = Overlap("y", "x", shared)
    made = make_inputs(analysis_of(TEXT), sizes, 1, tmp_path, overlap=overlap)
    x, y = (next(b for b in made.buffers if b.name == name) for name in "xy")
    assert x.block == y.block
    assert (x.offset - y.offset) // 8 == first
    others = [b for b in made.buffers if b.name not in "xy"]
    assert all(b.offset + b.size_bytes <= min(x.offset, y.offset) for b in others)


@pytest.mark.parametrize("names", [("x", "w"), ("w", "x")])
def test_two_inputs_of_which_one_is_longer_end_at_one_place(
    names: tuple[str, str], tmp_path: Path
) -> None:
    text = TEXT.replace("const double *x", "const double *restrict x, const double *w")
    analysis = analysis_of(text.replace("x[i * ld + j] + ", "x[i * ld + j] + w[j] + "))
    sizes = {"n": 2, "m": 4, "ld": 4}
    made = make_inputs(analysis, sizes, 1, tmp_path, overlap=Overlap(*names, ENDING))
    w, x = (next(b for b in made.buffers if b.name == name) for name in "wx")
    assert w.size_bytes < x.size_bytes
    assert w.block == x.block
    assert w.offset + w.size_bytes == x.offset + x.size_bytes


MIXED = """\
void mixed(int n, int m, const int *a, const unsigned char *b, const {third} *c, double *out)
{{
    /*@ begin PerfTuning ( def input_params {{ param n = 9; param m = 5; }} ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[i] += a[i] * b[j] {op} c[i];
    /*@ end @*/
}}
"""


@pytest.mark.parametrize(
    ("third", "op", "pairs"),
    [
        ("short", "+", {"ab", "ac", "bc"}),
        # Not of reals, and not where zeros among the bytes would divide.
        ("float", "+", {"ab"}),
        ("short", "/", set()),
        ("short", "%", set()),
    ],
)
def test_integers_of_two_types_share_memory_where_nothing_writes_them(
    third: str, op: str, pairs: set[str]
) -> None:
    analysis = analysis_of(MIXED.format(third=third, op=op))
    found = overlaps(analysis, {"n": 9, "m": 5}, has_inputs=True)
    mixed = [one for one in found if "out" not in (one.first, one.second)]
    assert {one.first + one.second for one in mixed} == pairs
    assert {one.shared for one in mixed} <= {WHOLE, ENDING}


@pytest.mark.parametrize(("n", "m"), [(9, 5), (2, 9), (1, 7)])
def test_bytes_of_integers_are_small_integers_too(n: int, m: int, tmp_path: Path) -> None:
    analysis = analysis_of(MIXED.format(third="short", op="+"))
    for number, names in enumerate(("ab", "ba")):
        folder = tmp_path / str(number)
        made = make_inputs(analysis, {"n": n, "m": m}, 1, folder, overlap=Overlap(*names, ENDING))
        a, b = (next(one for one in made.buffers if one.name == name) for name in "ab")
        assert a.offset + a.size_bytes == b.offset + b.size_bytes
        assert a.offset % 4 == 0
        assert all(-3 <= value <= 8 for value in made.read(a))


def test_of_two_inputs_each_is_the_longer_one_at_some_sizes() -> None:
    analysis = analysis_of(MIXED.format(third="short", op="+"))
    code = Program("openacc", "openacc", RegionCode(""))
    plan = CheckPlan(({"n": 9, "m": 5},))
    longer: dict[str, set[str]] = {}
    for proof in proofs(code, analysis, plan, ()):
        ends = {one for one in proof.odd.overlaps if one.shared == ENDING}
        for sizes in proof.sizes if proof.races else ():
            lengths = {"a": 4 * sizes["n"], "b": sizes["m"], "c": 2 * sizes["n"]}
            for one in ends:
                names = (one.first, one.second)
                longer.setdefault("".join(names), set()).add(max(names, key=lengths.__getitem__))
    # An int of `a` has twice the bytes of a short of `c`, whatever the sizes.
    assert longer == {"ab": {"a", "b"}, "ac": {"a"}, "bc": {"b", "c"}}


def test_equal_values_hold_what_the_region_compares_with(tmp_path: Path) -> None:
    sizes = {"n": 20, "m": 20, "ld": 20}
    made = make_inputs(analysis_of(TEXT), sizes, 1, tmp_path, Values.EQUAL)
    x = next(b for b in made.buffers if b.name == "x")
    values = {float(v) for v in made.read(x)}
    assert 0.625 in values
    assert len(values) < 10


RIGHT = """\
{
    const long size = (long)(n - 1) * ld + m;
    if (0 < n && 0 < m && ld >= m && (x + size <= y || y + size <= x)) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                if (x[i * ld + j] < 0.625)
                    y[i * ld + j] = x[i * ld + j] + z[at[j]];
    } else {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                if (x[i * ld + j] < 0.625)
                    y[i * ld + j] = x[i * ld + j] + z[at[j]];
    }
}
"""
MISTAKES = {
    "a comparison holds at its border too": ("< 0.625", "<= 0.625"),
    "arrays may share an element": ("x + size <= y", "x + size - 1 <= y"),
    "arrays may be one": ("(x + size <= y || y + size <= x)", "1"),
    "the last row counts as long as the others": ("ld >= m", "ld >= m - 1"),
    "the way out does too little": ("else {\n        for (int i = 0", "else {\n for (int i = 1"),
    "long loops are cut short": ("{\n    const", "{\n    if (n > 65535) n = 65535;\n    const"),
    "the tuned size is told apart wrongly": ("m; j++", "m - (n == 13); j++"),
}


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Checker:
    source = text_source(TEXT, "f.c")
    analysis = analyse(source.regions[0])
    return Checker(Oracle(source, analysis, here(), tmp_path_factory.mktemp("oracle")))


EXTREMUM = """\
void g(int n, int m, const double *restrict x, double *restrict top)
{
    /*@ begin PerfTuning ( def input_params { param n = 12; param m = 20; } ) @*/
    for (int i = 0; i < n; i++) {
        double most = x[i * m];
        for (int j = 1; j < m; j++)
            if (x[i * m + j] > most)
                most = x[i * m + j];
        top[i] = most;
    }
    /*@ end @*/
}
"""
LOOPS = """\
{
    if (0 < n && 1 < m) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) {
            double most = x[i * m];
            for (int j = 1; j < m; j++)
                if (x[i * m + j] > most)
                    most = x[i * m + j];
            top[i] = most;
        }
    }
    else {
        /* As written: for loops that do not run, and what the tests exclude. */
        for (int i = 0; i < n; i++) {
            double most = x[i * m];
            for (int j = 1; j < m; j++)
                most = x[i * m + j] > most ? x[i * m + j] : most;
            top[i] = most;
        }
    }
}
"""


@pytest.fixture(scope="module")
def of_extrema(tmp_path_factory: pytest.TempPathFactory) -> Checker:
    source = text_source(EXTREMUM, "g.c")
    folder = tmp_path_factory.mktemp("extrema")
    return Checker(Oracle(source, analyse(source.regions[0]), here(), folder))


@needs_compilers
def test_a_right_extremum_stands_its_proofs(of_extrema: Checker) -> None:
    assert _fate(of_extrema, LOOPS) == (True, "")


@pytest.mark.alike(2)
@needs_compilers
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if (x[i * m + j] > most)", "if (!(x[i * m + j] <= most))"),
        ("most = x[i * m + j] >", "most = x[i * m + j + 0 * i] <"),
        (
            "j = 1; j < m; j++)\n                most",
            "j = 2; j < m; j++)\n                most",
        ),
    ],
    ids=["an element that is NaN is taken", "the way out finds the least", "its loop is short"],
)
def test_extrema_meet_nan_and_a_way_out_its_loops(old: str, new: str, of_extrema: Checker) -> None:
    assert old in LOOPS
    is_tried_right, reason = _fate(of_extrema, LOOPS.replace(old, new))
    assert is_tried_right
    assert reason


@pytest.mark.parametrize(
    ("statement", "meets"),
    [
        ("if (x[i * ld + j] < 0.625) y[i * ld + j] = x[i * ld + j];", True),
        ("if (x[i * ld + j] < 0.625) y[i * ld + j] = 1.0 / x[i * ld + j];", False),
        ("y[i * ld + j] += x[i * ld + j];", False),
    ],
)
def test_special_values_are_for_reals_that_are_compared(statement: str, meets: bool) -> None:
    loops = TEXT.partition("if (x")[0] + statement + "\n    /*@ end @*/\n}\n"
    assert bears_special(analysis_of(loops).region) is meets


def test_a_text_of_annotune_s_takes_its_way_out_line_by_line() -> None:
    analysis = analysis_of(EXTREMUM)
    target, base = load_target("openmp"), Base.of(analysis)
    one = target.points(base, region_space(base), load_device("h200")).listing(1).variant(0)
    variant = Program("openmp", "openmp", target.region(one, False))
    assert has_way_out(variant)
    taken = taking_way_out(variant).code.body
    assert taken.replace("1 ? 0 : ", "", 1) == variant.code.body
    assert blocks(taken) == tuple(
        replace(b, text=b.text.replace("if (", "if (1 ? 0 : ")) if n == 0 else b
        for n, b in enumerate(blocks(variant.code.body))
    )


def _fate(checker: Checker, body: str) -> tuple[bool, str]:
    """Return whether the trial of a text finds it right, and what its proofs find."""
    variant = Program("openmp", "openmp", RegionCode(body))
    analysis = checker.oracle.analysis
    awkward = awkward_sizes(analysis)
    plan = CheckPlan((*awkward, tuned_sizes(analysis.region)), threads=2)
    trial = checker.check(variant, plan)
    for proof in proofs(variant, analysis, plan, awkward):
        found = checker.check(variant, proof)
        if found.is_wrong:
            return trial.verified, found.reason
    return trial.verified, ""


@needs_compilers
def test_a_right_text_stands_its_proofs(checker: Checker) -> None:
    assert _fate(checker, RIGHT) == (True, "")


@needs_compilers
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_that_no_trial_sees_is_found(name: str, checker: Checker) -> None:
    old, new = MISTAKES[name]
    assert old in RIGHT
    is_tried_right, reason = _fate(checker, RIGHT.replace(old, new))
    assert is_tried_right
    assert reason


@pytest.mark.alike(2)
@needs_compilers
@pytest.mark.parametrize("name", [None, "arrays may share an element", "arrays may be one"])
def test_of_runs_too_long_for_the_detector_the_order_of_threads_shows(
    name: str | None, checker: Checker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotune.measure.plan.DETECT_AT_MOST", 99)
    old, new = MISTAKES[name] if name else ("", "")
    variant = Program("openmp", "openmp", RegionCode(RIGHT.replace(old, new)))
    analysis = checker.oracle.analysis
    plan = CheckPlan((tuned_sizes(analysis.region),))
    proof = next(p for p in proofs(variant, analysis, plan, ()) if p.odd.overlaps and p.races)
    assert {overlap.shared for overlap in proof.odd.overlaps} == {1}
    assert {run.kind for run in runs_of(variant, proof, checker.oracle)} == {
        "openmp",
        "openmp-ordered",
    }
    assert checker.check(variant, proof).is_wrong == (name is not None)


@pytest.mark.alike(2)
@needs_compilers
@pytest.mark.parametrize("name", [None, "arrays may share an element", "arrays may be one"])
def test_where_runs_take_long_each_pair_of_arrays_that_share_memory_is_met_once(
    name: str | None, checker: Checker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotune.measure.plan.BORDER_ITERATIONS", 9)
    old, new = MISTAKES[name] if name else ("", "")
    variant = Program("openmp", "openmp", RegionCode(RIGHT.replace(old, new)))
    analysis = checker.oracle.analysis
    plan = CheckPlan((tuned_sizes(analysis.region),), threads=2)
    every = [p for p in proofs(variant, analysis, plan, ()) if p.odd.overlaps]
    shared = [p for p in every if p.odd.form is not TextForm.MARKED]
    once = [p for p in shared if p.odd.once]
    assert [len(p.odd.overlaps) for p in once] == [1] * len(once)
    assert len({p.odd.overlaps for p in once}) == len(once) > 1
    for proof in once:
        assert [run.kind for run in runs_of(variant, proof, checker.oracle)] == ["openmp-ordered"]
    (marked,) = (p for p in every if p.odd.form is TextForm.MARKED)
    with_overlaps = [r for r in runs_of(variant, marked, checker.oracle) if r.overlap is not None]
    assert len(with_overlaps) == 1
    assert any(checker.check(variant, proof).is_wrong for proof in once) == (name is not None)


MASKED = """\
void h(int n, const int *restrict kind, const double *restrict u, double *restrict v)
{
    /*@ begin PerfTuning ( def input_params { param n = 40; } ) @*/
    for (int i = 0; i < n; i++)
        if (kind[i] > 2)
            v[i] += u[i];
    /*@ end @*/
}
"""


@needs_compilers
@pytest.mark.skipif(not here().asan, reason="no address sanitizer")
def test_what_is_copied_beside_what_the_original_touches_is_found(tmp_path: Path) -> None:
    source = text_source(MASKED, "h.c")
    analysis = analyse(source.regions[0])
    oracle = Oracle(source, analysis, here(), tmp_path)
    whole, part = (oracle.reference({"n": 40}, 1, is_narrow=narrow) for narrow in (False, True))
    kind, u = (next(b for b in whole.inputs.buffers if b.name == name) for name in ("kind", "u"))
    touched = [i for i, value in enumerate(whole.inputs.read(kind)) if value > 2]
    found = next(b for b in part.inputs.buffers if b.name == "u")
    assert u.count == 40
    assert (found.first, found.count) == (touched[0], touched[-1] - touched[0] + 1)
    assert np.array_equal(
        part.inputs.read(found), whole.inputs.read(u)[touched[0] :][: found.count]
    )
    target, base = load_target("cuda"), Base.of(analysis)
    one = target.points(base, region_space(base), load_device("h200")).listing(1).variant(0)
    code = target.region(one, False)
    right = Program("cuda", "cuda-cpu", code, target.device_file(code))
    plan = CheckPlan(({"n": 40}, {"n": 5}))
    checker = Checker(oracle)
    small = tuple({"n": n} for n in range(1, 6))
    narrow = next(p for p in proofs(right, analysis, plan, small) if p.odd.is_narrow)
    assert checker.check(right, narrow).verified
    kernels, host, look = right.device_text.partition("annotune_u_low")
    mistakes = (("_low + 1 : 0", "_low + 1 : 1"), ("if (kind[i] > 2)", "if (1)"))
    for old, new in mistakes[: 2 if IS_THOROUGH else 1]:
        assert old in look
        wrong = replace(right, device=kernels + host + look.replace(old, new, 1))
        assert checker.check(wrong, plan).verified
        assert checker.check(wrong, narrow).is_wrong, new


def test_rows_that_a_pointer_points_at_are_whole(tmp_path: Path) -> None:
    text = MASKED.replace("const double *restrict u", "const double (*restrict u)[8]")
    source = text_source(text.replace("+= u[i]", "+= u[i][2] + u[i][5]"), "h.c")
    oracle = Oracle(source, analyse(source.regions[0]), here(), tmp_path)
    for is_narrow in (False, True):
        made = oracle.reference({"n": 9}, 1, is_narrow=is_narrow).inputs
        u = next(b for b in made.buffers if b.name == "u")
        assert u.count
        assert (u.first % 8, u.count % 8) == (0, 0)


GRID = """\
void f(int n, int m, const double *restrict x, double *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 12; param m = 40; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i * m + j] = 2.0 * x[i * m + j];
    /*@ end @*/
}
"""


# An error of each kind of call that is passed over.
LOST_ERRORS = (
    ("return cudaGetLastError();", "return cudaSuccess;"),
    ("cudaError_t status = annotune_new(memory, place, bytes);",
     "cudaError_t status = (annotune_new(memory, place, bytes), cudaSuccess);"),
    ("status = cudaEventCreateWithFlags(", "status = cudaSuccess, cudaEventCreateWithFlags("),
    ("status = cudaMemcpyAsync(to, from, chunk.bytes(), cudaMemcpyDefault, stream);",
     "status = cudaSuccess;\n"
     "    cudaMemcpyAsync(to, from, chunk.bytes(), cudaMemcpyDefault, stream);"),
    ("return cudaEventRecord(slot.event, stream);",
     "cudaEventRecord(slot.event, stream);\n    return cudaSuccess;"),
    ("status = cudaEventSynchronize(slot.event);",
     "status = (cudaEventSynchronize(slot.event), cudaSuccess);"),
)  # fmt: skip


@needs_compilers
def test_cuda_is_run_on_grids_too_small_and_with_failing_calls(tmp_path: Path) -> None:
    source = text_source(GRID, "f.c")
    analysis = analyse(source.regions[0])
    target, base = load_target("cuda"), Base.of(analysis)
    for one in target.points(base, region_space(base), load_device("h200")).listing(20).variants():
        text = target.device_file(target.region(one, False))
        if "+= gridDim.x" in text:
            break
    assert with_small_grids(text) != text
    checker = Checker(Oracle(source, analysis, here(), tmp_path))
    right = Program("cuda", "cuda-cpu", target.region(one, False), text)
    plan = CheckPlan(({"n": 12, "m": 40}, {"n": 5, "m": 7}))
    # Sizes at borders find some of these too: what the others find is shown here.
    found = list(proofs(right, analysis, plan, ({"n": 5, "m": 7},)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("annotune.measure.plan.BORDER_ITERATIONS", 9)
        *others, once = proofs(right, analysis, plan, ({"n": 5, "m": 7},))
    assert not any(one.odd.failures is Failures.EACH_KIND for one in others)
    small = next(one for one in found if one.odd.form is TextForm.SMALL_GRIDS)
    failing = next(one for one in found if one.odd.failures)
    for proof, old, new in (
        (small, "+= gridDim.x", "+= n * m"),
        (failing, "\n    f_1_original(", "\n    if (n > 99) f_1_original("),
        (failing, "status == cudaSuccess)\n            return;", "1) return;"),
        *((failing, old, new) for old, new in (LOST_ERRORS if IS_THOROUGH else LOST_ERRORS[::6])),
        (once, "\n    f_1_original(", "\n    if (n > 99) f_1_original("),
        (once, "status == cudaSuccess)\n            return;", "1) return;"),
    ):
        assert old in text
        wrong = replace(right, device=text.replace(old, new))
        assert checker.check(wrong, plan).status is Status.CORRECT
        assert checker.check(wrong, proof).is_wrong, new
    for proof in (small, failing, once):
        assert not checker.check(right, proof).is_wrong


SEVERAL = """\
void f(int n, const double *x, double *y)
{
    /*@ begin PerfTuning ( def input_params { param n[] = [40,64,5000000]; } ) @*/
    for (int i = 0; i < n; i++)
        y[i] += 2.0 * x[i];
    /*@ end @*/
}
"""


def test_a_text_for_several_sizes_is_proved_at_each() -> None:
    first = analysis_of(SEVERAL)
    others = [analyse(one) for one in at_other_sizes(first.region, first)]
    every = ({"n": 40}, {"n": 64}, {"n": 5_000_000})
    plan = CheckPlan(every, threads=2)
    variant = Program("openmp", "openmp", RegionCode(""))
    *found, last = proofs(variant, first, plan, ({"n": 7},), others)

    def places(odd: Odd) -> list[tuple[int, ...]]:
        return [tuple(s["n"] for s in one.sizes) for one in found if one.odd == odd]

    at_borders = [n for one in places(Odd(may_fall_back=True)) for n in one]
    assert {39, 41, 80, 63, 65, 128} <= {*at_borders}
    # A detector takes too long at the last.
    assert places(Odd()) == [(7, 40, 64)]
    # And so do others, each of which may be left out.
    assert places(Odd(values=(Values.EQUAL,))) == [(7, 11, 40, 64), (5_000_000,)]
    shared = [one.sizes for one in found if one.odd.overlaps]
    assert [one for one in every if (one,) in shared] == [*every[:2]]
    original = Original(text_source(SEVERAL), first, here(), Path())
    runs = list(runs_of(variant, last, original))
    valued = [run.sizes for run in runs if run.values is Values.ZEROS]
    assert valued == [{"n": 11}, *every]


def test_a_device_s_threads_run_less_often_where_a_run_takes_long() -> None:
    region = analysis_of(SEVERAL)
    small, long = {"n": 7}, {"n": 5_000_000}
    text = Original(text_source(SEVERAL), region, here(), Path())
    variant = Program("cuda", "cuda-cpu", RegionCode(""), "f<<<1, 1>>>();")

    def met(sizes: dict[str, int], values: Values) -> list[tuple[str, Order]]:
        every = proofs(variant, region, CheckPlan((small, long)), (small,))
        runs = (run for plan in every for run in runs_of(variant, plan, text))
        plain = (r for r in runs if r.overlap is None and not r.fail_at and not r.is_narrow)
        own = [r for r in plain if r.sizes == sizes and r.values is values]
        return [(r.kind, r.order) for r in own if r.kind in ("cuda-cpu", "cuda-cpu-marked")]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("annotune.measure.plan.LONG_ITERATIONS", 1_000_000)
        trial = [*runs_of(variant, CheckPlan((small, long)), text)]
        orders = [(run.sizes["n"], run.order) for run in trial]
        assert orders[:3] == [(7, one) for one in Order]
        assert orders[3:] == [(5_000_000, Order.FORWARD), (5_000_000, Order.REVERSE)]
        assert {order for _, order in met(small, Values.EQUAL)} == {*Order}
        assert met(long, Values.EQUAL) == [("cuda-cpu", Order.REVERSE)]
        assert met(long, Values.ZEROS) == [("cuda-cpu-marked", Order.FORWARD)]
    assert len(met(long, Values.EQUAL)) == len(Order)
    assert {kind for kind, _ in met(long, Values.ZEROS)} == {"cuda-cpu", "cuda-cpu-marked"}


BESIDE = """\
for (int i = 0; i < n; i++) y[i] += 2.0 * x[i];
if (n == 500000) { volatile double t = x[n]; }
"""


@needs_compilers
def test_what_kernels_for_a_size_of_their_own_read_beside_an_array_is_found(tmp_path: Path) -> None:
    source = text_source(SEVERAL.replace("40,64,", "500000,"))
    checker = Checker(Oracle(source, analyse(source.regions[0]), here(), tmp_path))
    is_tried_right, reason = _fate(checker, BESIDE)
    assert is_tried_right
    assert reason.startswith("at n=500000: ")
    assert "AddressSanitizer" in reason


def test_the_long_proofs_are_those_that_are_made() -> None:
    # C fixes its sizes, and nobody says that its six arrays do not overlap.
    fixed = analysis_of((EXAMPLES / "nekbone/local_grad3.c").read_text())
    assert long_proofs("openmp", fixed) == 24
    assert long_proofs("openmp", analysis_of((EXAMPLES / "gemm/gemm.c").read_text())) == 0
