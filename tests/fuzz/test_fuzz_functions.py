"""Random whole functions: what the checkers notice, and the texts of all targets executed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.laws import IS_THOROUGH

from .execute import Builder
from .functions.batch import numbered, outcome, point
from .functions.emitted import Made, emitted
from .functions.run import run
from .functions.source import Call, Entry, Fill, Slot, Source, read

# Processor time of a call, far more than any that ends.
LIMIT_S = 0.5
LEAST_ACCEPTED = 0.6
BODY = "  for (int i = 1; i < n; i++) a[i] += al;\n  out_[1] = n;\n"
HARNESS = """\
void NAME_call(int function, void **p) {
  NAME(*(int *)p[0], *(double *)p[1], p[2], (double *)p[3]);
}
long NAME_extent(int function, int slot, void **p) { return 0; }
long NAME_row(int function, int slot, void **p) { return 1; }
void *NAME_object(int k) { return 0; }
"""
SLOTS = (Slot("n", "value", "int"), Slot("al", "value", "double"), Slot("a", "array", "double"))


def made(name: str, body: str, instead: str, sizes: tuple[int, ...] = (0, 1, 33)) -> Made:
    """Return a file with a function's body, and a text of OpenMP that has another one."""
    head = f"void {name}(int n, double al, double *a, double *out_)\n{{\n"
    calls = tuple(Call({"n": str(n), "al": "2.0"}, {"a": Fill("nan")}) for n in sizes)
    entry = Entry(name, SLOTS, calls)
    harness = HARNESS.replace("NAME", name)
    source = Source(name, head + body + "}\n", harness, (entry,), sums=False)
    return Made(source, files={"openmp": {"_omp.c": head + instead + "}\n"}})


WRONG = {
    "right": BODY,
    "value": BODY.replace("i < n", "i < n - 1"),
    "scalar": BODY.replace("= n;", "= n + 1;"),
    "before": "  double kept = n > 1 ? a[0] : 0;\n" + BODY + "  a[n] = kept;\n",
    "zero": BODY + "  for (int i = 1; i < n; i++) a[i] = a[i] == 0 ? -a[i] : a[i];\n",
    "compiler": BODY + "  nothing;\n",
    "crash": BODY + "  *(volatile int *)n = 1;\n",
    "hang": BODY.replace("  out_", "  for (volatile int i = 0; n == 33; ) i++;\n  out_"),
}
NOTICED = {
    "value": "a[32] is",
    "scalar": "out_[1] is",
    "before": "died of -11",
    "zero": "zero's sign",
    "compiler": "does not compile",
    "crash": "died of -11",
    "hang": "died of -27",
}


@pytest.mark.slow
def test_each_kind_of_mistake_is_noticed(tmp_path: Path) -> None:
    """Also what reads before or behind what the original touches, and a zero's sign."""
    ones = [made(f"f_{name}", BODY, body) for name, body in WRONG.items()]
    ran = run(ones, Builder(tmp_path, 1), tmp_path, LIMIT_S)
    found = {ones[fault.number].source.name[2:]: fault.words for fault in ran.faults}
    assert set(found) == set(NOTICED)
    for name, words in NOTICED.items():
        assert words in found[name], (name, found[name])


@pytest.mark.slow
def test_either_zero_is_right_where_the_library_may_return_either(tmp_path: Path) -> None:
    body = BODY.replace("+= al", "= fmax(a[i], 0.0)")
    other = body + "  for (int i = 1; i < n; i++) a[i] = a[i] == 0 ? -a[i] : a[i];\n"
    own = "static double fmax(double x, double y) { return x > y ? x : y; }\n"
    include = "#include <math.h>\n"
    ones = [made("f_library", body, other), made("f_own", body, other)]
    for one, head in zip(ones, (include, own), strict=True):
        one.source = replace(one.source, text=head + one.source.text)
        one.files["openmp"]["_omp.c"] = head + one.files["openmp"]["_omp.c"]
    ones[1].source = replace(ones[1].source, own=("fmax",))
    assert [one.source.leaves_zeros_open for one in ones] == [True, False]
    ran = run(ones, Builder(tmp_path, 1), tmp_path, LIMIT_S)
    assert {fault.number for fault in ran.faults} == {1}
    assert all("zero's sign" in fault.words for fault in ran.faults)


def test_a_float_that_a_double_keeps_is_rounded_as_a_float(tmp_path: Path) -> None:
    body = "  TYPE s = 0; for (int i = 1; i < n; i++) s += 0.1; out_[1] = s;\n"
    ones = []
    for type_ in ("float", "double"):
        text = body.replace("TYPE", type_)
        one = made(f"f_{type_}", text, text.replace("[1] = s", "[1] = s * (1 + 1e-6)"), (33,))
        one.source = replace(one.source, sums=True, discrete=False)
        ones.append(one)
    ran = run(ones, Builder(tmp_path, 1), tmp_path, LIMIT_S)
    assert [fault.number for fault in ran.faults] == [1]


def test_what_gcc_need_not_read_is_there_all_the_same(tmp_path: Path) -> None:
    body = "  double s = 0; for (int i = 0; i < n; i++) s += (a[i] < 0 ? 1 : 2) < 0 ? 1 : 2;\n"
    body += "  out_[1] = s;\n"
    ones = [made("f_read", body, body.replace("a[i] <", "((volatile double *)a)[i] <"))]
    assert not run(ones, Builder(tmp_path, 1), tmp_path, LIMIT_S).faults


def test_a_sum_may_be_exact_in_one_order_alone(tmp_path: Path) -> None:
    """With 1e30 at both places of the array it is 3, and 0 where the 3 comes first."""
    body = "  double s = a[0]; if (n) s = s - a[2] + 3; out_[1] = s;\n"
    ones = [
        made(f"f_{name}", body, body.replace("- a[2] + 3", "+ 3 - a[2]"), (33,))
        for name in ("sum", "none")
    ]
    for one in ones:
        (entry,) = one.source.entries
        calls = tuple(replace(c, arrays={"a": Fill("extreme", 5)}) for c in entry.calls)
        one.source = replace(one.source, entries=(replace(entry, calls=calls),))
    ones[0].source = replace(ones[0].source, sums=True)
    ran = run(ones, Builder(tmp_path, 1), tmp_path, LIMIT_S)
    assert [fault.number for fault in ran.faults] == [1]


@pytest.mark.slow
def test_calls_that_c_does_not_define_are_left_out(tmp_path: Path) -> None:
    bodies = {
        "overflow": "  int x = 2147483647; x += n; out_[1] = x;\n",
        "divided": "  out_[1] = 7 / n;\n",
        "shifted": "  out_[1] = 1 << (n + 40);\n",
        "endless": "  for (unsigned i = n; i != 5; ) ;\n",
        "far": "  out_[1] = n ? a[n * 100000000L] : 0;\n",
    }
    ones = [made(f"f_{name}", body, BODY) for name, body in bodies.items()]
    ran = run(ones, Builder(tmp_path, 1), tmp_path, LIMIT_S)
    assert ran.counts["calls undefined"] == 2 + 1 + 3
    assert ran.counts["calls too long"] == 3
    assert ran.counts["calls crashed"] == 2


def test_a_file_comes_back_from_its_text() -> None:
    for number in range(40):
        source = numbered(1, number)
        assert read(source.whole()) == source
        assert numbered(1, number) == source


@pytest.mark.slow
def test_texts_of_random_functions_run_as_the_original(tmp_path: Path) -> None:
    numbers = (5, 7, 9, 10, 11) if IS_THOROUGH else (5, 10)
    (tmp_path / "emitted").mkdir()
    ones = [emitted(numbered(1, k), tmp_path / "emitted", point(k)) for k in numbers]
    assert not [words for one in ones for words in (*one.crashes, *one.faults)]
    ready = [one for one in ones if one.files]
    assert len(ready) >= LEAST_ACCEPTED * len(ones)
    ran = run(ready, Builder(tmp_path, 1), tmp_path)
    assert not ran.faults, "\n".join(f"{f.number} {f.library}: {f.words}" for f in ran.faults)
    for library in ("cuda", "openacc", "openacc-played", "openmp"):
        assert ran.counts[f"executed {library}"] == len(ready)
    assert ran.counts["calls that launch kernels"] > 0


@pytest.mark.slow
def test_files_with_other_texts_alone_are_built_again(tmp_path: Path) -> None:
    numbers = (9, 11)
    first = outcome(1, numbers, tmp_path / "first", 0)
    assert first.counts["executed cuda"] > 0
    assert len(set(first.digests)) == len(numbers)
    again = outcome(1, numbers, tmp_path / "again", 0, before=first.digests)
    assert again.digests == first.digests
    assert again.counts["files taken over"] == len(numbers)
    assert again.counts["executed cuda"] == 0
    others = outcome(1, numbers, tmp_path / "others", 0, before=["", *first.digests[1:]])
    assert others.counts["files taken over"] == len(numbers) - 1
    assert others.counts["executed cuda"] == 1
