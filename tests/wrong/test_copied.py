"""What is copied to and from a device: no byte beyond what the original touches at that call."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.borders import border_faults, check_borders
from support.executed import SHARED, run

from annotune.codegen.target import load_target
from annotune.diagnostics import AnnotuneError
from annotune.pipeline import Settings, check, emit
from wrong.called import PROGRAMS, Array, Call, Program, some

SUM = "double f(long n, const double *x, double *y)\n{{ double s = 0; {} return s; }}\n"
ADDED = "for (long i = 2; i < n; i++) s += x[3 * i];"


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (ADDED, ""),
        ("if (n > 2) s += 0 * *(volatile const double *)(x + 3 * n - 2);" + ADDED, "end: SIGSEGV"),
        ("if (n > 2) s += 0 * *(volatile const double *)(x + 5);" + ADDED, "start: SIGSEGV"),
        ("s += 0 * *(volatile const double *)x;" + ADDED, "null: SIGSEGV"),
        (ADDED + "s += n == 3;", "another value"),
        ("y[n] = 0;" + ADDED, "start: SIGSEGV"),
    ],
)
def test_a_byte_beyond_what_the_original_touches_is_found(
    text: str, fault: str, tmp_path: Path
) -> None:
    libraries = {}
    for name, body in (("original", ADDED), ("made", text)):
        source = tmp_path / f"{name}.c"
        source.write_text(SUM.format(body))
        libraries[name] = tmp_path / f"{name}.so"
        run("gcc", "-O1", *SHARED, "-shared", source, "-o", libraries[name])
    calls = [Call("f", n, Array("f8", 99), Array("f8", 9), returns="f8") for n in (0, 3, 5)]
    found = [one for faults in border_faults(libraries, *calls) for one in faults]
    assert any(fault in one for one in found) if fault else not found, found


def check_copies(program: Program, *calls: Call, rows: bool = False) -> None:
    """Assert that no build touches more; with `rows` OpenACC may take whole ones."""
    at_borders = {
        name: path
        for name, path in program.libraries.items()
        if not (rows and name.startswith("openacc"))
    }
    check_borders(at_borders, *some(calls))
    if rows:
        program.check(*calls)


# Calls at no size, at one, at the tuned sizes and far from them.
REPRODUCERS: dict[str, tuple[Call, ...]] = {
    "acc_section_too_small": tuple(
        Call(
            *("q6024", nx, n, Array("i2", 2000, offset=200), Array("i4", 50)),
            *(Array("i2", 99, offset=30), Array("u1", 700, offset=100)),
        )
        for nx, n in ((0, 0), (1, 1), (5, 12), (3, 12), (5, 15))
    ),
    "condition_counted": tuple(
        Call(
            *("counted", n, ("f8", mx), Array("i2", 10), Array("i2", 20)),
            *(Array("i2", 110), Array("i8", 900)),
        )
        for n in (0, 1, 5, 9)
        for mx in (1.0, 2.0)
    ),
    "openacc_copyout_whole_array": tuple(Call("f", n) for n in (-1, 0, 1, 16, 99)),
    "openacc_ghost_rows": tuple(
        Call("f", n, m, Array("f8", 900, offset=200), Array("f8", 700))
        for n, m in ((0, 0), (1, 0), (0, 5), (1, 1), (16, 8), (21, 5))
    ),
    "size_zero_divides": tuple(
        Call(
            *("q3133", 0, nx, one, two, Array("i4", 9000, offset=200)),
            *(Array("f8", 5000, offset=1000), Array("f8", 1)),
        )
        for nx, one, two in ((0, 0, 0), (-1, -1, -1), (1, 1, 1), (9, 12, 9), (12, 3, 2))
    ),
    "nothing_of_restrict": tuple(
        Call("within", n, Array("f8", 20), Array("i4", 9, (-1,) * 9)) for n in (0, 1, 3, 8, 9)
    ),
    "null_opt2": tuple(
        Call("null_opt2", n, be, Array("f8", 99), Array("f8", 99))
        for n in (-1, 0, 1, 16, 23)
        for be in (0.0, 0.5)
    ),
}


@pytest.mark.alike(7)
@pytest.mark.parametrize("name", REPRODUCERS)
def test_a_reproducer_touches_what_the_original_touches(name: str, tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / f"{name}.c")
    rows = name in ("acc_section_too_small", "condition_counted", "size_zero_divides")
    check_copies(program, *REPRODUCERS[name], rows=rows)


def test_elements_that_only_an_abstract_machine_reads(tmp_path: Path) -> None:
    """gcc drops ``b[i] > b[i]``; what C says is touched is what the copies may take."""
    program = Program(tmp_path, PROGRAMS / "copy_beyond_touched.c", targets=("cuda",))
    source = tmp_path / "kept.c"
    source.write_text(program.source.read_text().replace("int *b", "volatile int *b"))
    kept = tmp_path / "kept.so"
    run("gcc", "-O1", *SHARED, "-shared", source, "-o", kept)
    calls = [
        Call("p489", n, n, m, Array("f8", 1), Array("i4", 400), Array("f8", 1))
        for n, m in ((0, 0), (5, 16), (3, 3), (9, 4), (16, 40))
    ]
    check_borders({"original": kept, "cuda": program.libraries["cuda"]}, *calls)


# Each with what stands before its loops, the loops, and what gives the arrays their sizes.
FAMILY = """
void declared(int n, double y[n][n], const double x[n][n])
{{ {} for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)
     y[i][j] = x[i-1][j] + x[i+1][j] + x[i][j-1] + x[i][j+1]; {} }}
void triangle(int n, double y[n], const double x[n][n])
{{ {} for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) y[i] += x[i][j]; {} }}
void backwards(int n, double *restrict y, const double *restrict x)
{{ {} for (int i = n; i > 0; i--) y[i] = x[2 * n - 2 * i]; {} }}
void switches(int n, int p, double q, double *restrict y, const double *restrict x,
              const double *restrict w)
{{ {} for (int i = 0; i < n; i++) {{
     if (p > 3) y[i] += x[i]; else y[i] -= w[i];
     if (q != 0) y[i] += q * w[i + 2];
   }} {} }}
void written_at_will(int n, float q, double *restrict y, double *restrict z)
{{ {} for (int i = 0; i < n; i++) {{ z[i] = 2 * i; if (q > 1.5f) y[3 * i + 1] = z[i]; }} {} }}
void masked(int n, double *restrict y, const double *restrict x, const int *restrict m)
{{ {} for (int i = 0; i < n; i++) if (m[0] > 3) y[i] += x[i]; {} }}
void parts(int n, int m, double *restrict y, const double x[n + m])
{{ {} for (int i = 0; i < n; i++) y[i] = x[i + m];
   for (int i = 0; i < m; i++) y[i] += 1; {} }}
void strips(int n, int k, double *restrict y, const double *restrict x)
{{ {} for (int i = 0; i < n; i++) if (k != 0) y[i] += x[i + n / k]; {} }}
"""
BEGIN = "/*@ begin PerfTuning ( def input_params { param n = 12; param m = 7; param k = 3; } ) @*/"


def family_calls() -> list[Call]:
    calls = []
    for n in (-1, 0, 1, 2, 3, 5, 12, 17):
        calls += [Call(f, n, Array("f8", 400), Array("f8", 400)) for f in ("declared", "triangle")]
        calls += [Call("backwards", n, Array("f8", 99), Array("f8", 99, offset=40))]
        for value in (0.0, 2.0):
            arrays = (Array("f8", 99), Array("f8", 99))
            calls += [
                Call("switches", n, p, value, *arrays, Array("f8", 99, seed=3)) for p in (3, 4)
            ]
            calls += [Call("written_at_will", n, ("f4", value), *arrays)]
            there = arrays if value else (Array("f8", None),) * 2
            calls += [Call("masked", n, *there, Array("i4", 9, values=(int(2 * value + 2),)))]
        shifted = (Array("f8", 99), Array("f8", 99, offset=20))
        calls += [Call("parts", n, m, *shifted) for m in (-1, 0, 1, 7, 9)]
        calls += [Call("strips", n, k, *arrays) for k in (0, 1, 3)]
    return calls


DIVIDED = """
void ahead(int n, int k, double *restrict y, const double *restrict x)
{{ {} for (int i = 0; i < n; i++) if (k != 0) y[i] += x[i + n / k]; {} }}
void as_many(int n, int k, double *y, const double *x)
{{ {} if (k != 0) for (int i = 0; i < n / k; i++) y[i] += x[i]; {} }}
"""


def test_what_is_left_alone_is_not_divided_for(tmp_path: Path) -> None:
    source = tmp_path / "divided.c"
    source.write_text(DIVIDED.format(*(BEGIN, "/*@ end @*/") * 2))
    arrays = (Array("f8", 99), Array("f8", 99, seed=3))
    calls = [Call(f, 5, k, *arrays) for f in ("ahead", "as_many") for k in (0, 1)]
    check_copies(Program(tmp_path, source), *calls)


@pytest.mark.slow
def test_what_sizes_and_switches_leave_out_need_not_be_there(tmp_path: Path) -> None:
    source = tmp_path / "family.c"
    source.write_text(FAMILY.format(*(BEGIN, "/*@ end @*/") * 8))
    program = Program(tmp_path, source)
    of_rows = [call for call in family_calls() if call.function in ("declared", "triangle")]
    check_copies(program, *of_rows, rows=True)
    check_copies(
        program, *(call for call in family_calls() if call.function not in ("declared", "triangle"))
    )


# Where memory decides, or a scalar that the region changes, the host looks before it copies.
LOOKED_FOR = """
void mask(int n, double *restrict y, const double *restrict x, const int *restrict m)
{{ {} for (int i = 0; i < n; i++) if (m[i] > 3) y[i + 2] += x[3 * i]; {} }}
void chosen(int n, double *restrict y, const double *restrict x, const double *restrict w)
{{ {} for (int i = 0; i < n; i++) y[i] = w[i] > 3 && w[n - 1] < 9 ? x[i] : i; {} }}
void columns(int n, int m, const double *restrict y, double *restrict a, const double *restrict x)
{{ double t;
   {} for (int j = 0; j < n; j++) {{ t = 2 * x[j]; if (t > 7)
     for (int i = j; i < n; i += 2) a[i + j * m] += t * y[i]; }} {} }}
void changed(int n, long p, double *restrict y, const int *restrict m, long *restrict out)
{{ {} for (int i = 0; i < n; i++) {{ if (p > 3) y[i] = m[i]; }}
   for (int i = 0; i < n; i++) p += m[i]; {} out[0] = p; }}
void cleared(int n, double *restrict y, double *restrict x)
{{ {} for (int i = 0; i < n; i++) if (x[i] > 3) {{ y[i] = x[i]; x[i] = 0; }} {} }}
void rows(int n, double (*restrict y)[7], const double (*restrict x)[7], const int *restrict m)
{{ {} for (int i = 0; i < n; i++) for (int j = 1; j < 7; j++)
     if (m[i] > 3) y[i][j] = x[i + 1][j]; {} }}
"""


def looked_for_calls() -> list[Call]:
    calls = []
    masks = (), (5,), (1, 1, 9, 2, 7, 3, 1, 1, 1, 1, 1, 1), (1,) * 12, (9,) * 12
    for n in (0, 5, 12):
        for values in masks:
            real, whole = (Array(kind, 60, values=values) for kind in ("f8", "i4"))
            arrays = Array("f8", 60), Array("f8", 60, seed=1)
            calls += [Call("mask", n, *arrays, whole), Call("chosen", n, *arrays, real)]
            calls += [Call("columns", n, n + 2, Array("f8", 60), Array("f8", 400), real)]
            calls += [Call("cleared", n, Array("f8", 60), real)]
            calls += [Call("rows", n, Array("f8", 200), Array("f8", 200), whole)]
        calls += [
            Call("changed", n, p, Array("f8", 60), Array("i4", 60), Array("i8", 1)) for p in (3, 4)
        ]
    return calls


@pytest.mark.slow
def test_what_memory_leaves_out_need_not_be_there(tmp_path: Path) -> None:
    source = tmp_path / "looked_for.c"
    source.write_text(LOOKED_FOR.format(*(BEGIN.replace("m = 7", "m = 14"), "/*@ end @*/") * 6))
    program = Program(tmp_path, source, targets=("cuda", "openacc"))
    calls = looked_for_calls()
    check_copies(program, *(call for call in calls if call.function == "rows"), rows=True)
    check_copies(program, *(call for call in calls if call.function != "rows"))


# What a number that is no size says of a call: it has no value to be tuned for.
NUMBERED = """
static long met;
void below(int n, long t, double *restrict y)
{{ {} for (int i = 0; i < n; i++) for (int k = 0; k < 3; k++) if (t + i > 2) y[i * 3 + k] = t; {} }}
void counted(int n, long t, double *restrict y)
{{ met = t;
   {} for (int i = 0; i < n; i++) {{
     for (int k = 0; k < 3; k++) if (met > 2) y[3 * i + k] = met;
     met = met + 1; }} {} }}
void shared_out(int n, short t, double *restrict y, double *restrict z)
{{ {} for (int i = 0; i < n; i++) if (i < t) y[i] = i; else z[2 * i] = i; {} }}
void window(int n, unsigned t, double *restrict y, const double *restrict x)
{{ {} for (unsigned i = 0; i < (unsigned)n; i++) y[i] = t <= i && i < t + 4 ? x[i + 1] : 0.5; {} }}
void later_columns(int n, long t, double *restrict a, const double *restrict x)
{{ {} for (int j = 1; j <= n; j++) for (int i = 1; i <= j; i++)
     if (j - t >= 2) a[i - 1 + (j - 1) * n] += x[n - j]; {} }}
void halved(int n, long t, double *restrict d, double *restrict y)
{{ {} for (int i = 0; i < n; i++) for (int k = 0; k < 3; k++) {{
     d[(k - 1) * 3 + i / 2] = i; if (t - i > 2) y[(i - 2) * 3 + k] = t; }} {} }}
"""


def numbered_calls() -> list[Call]:
    calls = []
    for n in (0, 1, 5, 12, 13):
        for t in (-60, -3, 0, 1, 4, 9, 70):
            arrays = Array("f8", 400, offset=60), Array("f8", 400, offset=60, seed=1)
            calls += [Call(f, n, t, arrays[0]) for f in ("below", "counted")]
            calls += [Call("shared_out", n, ("i2", t), *arrays)]
            calls += [Call("window", n, ("u4", t % 2**32), *arrays)]
            calls += [Call(f, n, t, *arrays) for f in ("later_columns", "halved")]
    return calls


@pytest.mark.parametrize("target", [pytest.param("cuda", marks=pytest.mark.slow), "openacc"])
def test_what_other_numbers_leave_out_need_not_be_there(target: str, tmp_path: Path) -> None:
    source = tmp_path / "numbered.c"
    source.write_text(NUMBERED.format(*(BEGIN, "/*@ end @*/") * 6))
    check_copies(Program(tmp_path, source, targets=(target,)), *numbered_calls())


# Where the text chooses an index, exactly or between bounds.
CHOSEN = """
void ring(int n, double *restrict y, const double *restrict x)
{{ int ip, im; {} for (int i = 0; i < n; i++) {{
     ip = i + 1; if (ip > n - 1) ip = 0; im = i - 1; if (im < 0) im = n - 1;
     y[i] = x[ip] - x[im]; }} {} }}
void met(int n, double *restrict y, const double *restrict x)
{{ int j; {} for (int i = 0; i < n; i++) {{ j = i + 1; if (j == n) j = 0; y[i] = x[j]; }} {} }}
void mirror(int n, double *restrict y, const double *restrict x)
{{ {} for (int i = 0; i < n; i++) y[i] = x[i < 3 ? 3 - i : i - 3]; {} }}
void nearest(int n, int m, double *restrict y, const double *restrict x, const int *restrict k)
{{ int j; {} for (int i = 0; i < n; i++) {{
     j = k[i]; if (j > m) j = m; if (j < 1) j = 1; y[i] = x[j] + x[2 * j]; }} {} }}
void clamped(int n, int m, double *restrict y, const double *restrict x, const double *restrict k)
{{ int i, j, l; {} for (i = 0; i < n; i++) for (j = 0; j < 2; j++) {{
     l = (int)k[i] < 1 ? 1 : (int)k[i]; l = l < m - 1 ? l : m - 1;
     y[2 * i + j] = x[(l - j) * 2 + 1]; }} {} }}
void upwind(int n, double *restrict y, const double *restrict x, const double *restrict f)
{{ int u; {} for (int i = 0; i < n; i++) {{
     if (f[i] > 3) u = i - 1; else u = i + 2; y[i] = x[u + 1]; }} {} }}
void kept(int n, double *restrict y, const double *restrict x, int *restrict k)
{{ int j; {} for (int i = 0; i < n; i++) {{
     j = k[i]; k[i] = 7; if (j > 9) j = 9; if (j < 0) j = 0; y[i] = x[j]; }} {} }}
void inner(int n, int m, double *restrict y, const double *restrict x, const int *restrict k)
{{ int j; {} for (int i = 0; i < n; i++) {{ j = k[i] > 3 ? i : 2 * n;
     for (int l = 0; l < m; l++) y[i] += x[j + l]; }} {} }}
"""


def chosen_calls() -> list[Call]:
    calls = []
    for n in (0, 1, 2, 3, 5, 12, 17):
        for function in ("ring", "met", "mirror"):
            calls += [Call(function, n, Array("f8", 99), Array("f8", 99, offset=20))]
        for values in ((), (5,) * 17, (-7, 90, 3), (9, 9, 1)):
            reals, whole = (Array(kind, 99, values=values) for kind in ("f8", "i4"))
            arrays = Array("f8", 99), Array("f8", 99, offset=20, seed=1)
            calls += [Call("upwind", n, *arrays, reals), Call("kept", n, *arrays, whole)]
            for m in (0, 1, 2, 7, 11):
                calls += [
                    Call("nearest", n, m, *arrays, whole),
                    Call("inner", n, m, *arrays, whole),
                ]
                calls += [Call("clamped", n, m, *arrays, reals)]
    return calls


@pytest.mark.slow
def test_what_a_chosen_index_leaves_out_need_not_be_there(tmp_path: Path) -> None:
    source = tmp_path / "chosen.c"
    source.write_text(CHOSEN.format(*(BEGIN, "/*@ end @*/") * 8))
    program = Program(tmp_path, source)
    check_copies(program, *chosen_calls())
    program.check(*chosen_calls())


NOT_CHOSEN = {
    "what memory has by then": "j = k[i]; k[i] = 20; if (k[i] > 9) j = 9; if (j < 0) j = 0;",
    "one end only": "j = k[i]; if (j > 9) j = 9;",
    "a sum of itself": "j = k[i] > 0; j += k[i];",
    "another loop's": "j = j > 9 ? 9 : j < 0 ? 0 : j + k[i];",
    "without a sign": "j = (unsigned)k[i] < 9u ? k[i] : 9; if (j < 1u) j = 1;",
    "a set under a loop": "j = 0; for (int l = 0; l < n; l++) j = k[l] > 9 ? 9 : 0;",
}


@pytest.mark.parametrize("why", NOT_CHOSEN)
def test_an_index_without_two_ends_needs_a_length(why: str, tmp_path: Path) -> None:
    source = tmp_path / "f.c"
    source.write_text(
        "void f(int n, double *restrict y, const double *restrict x, int *restrict k)\n{\n"
        f"  int j = 0;\n  {BEGIN}\n  for (int i = 0; i < n; i++) {{\n    {NOT_CHOSEN[why]}\n"
        "    y[i] = x[j];\n  }\n  /*@ end @*/\n}\n"
    )
    assert "AT214" in {d.code for d in check(Settings(source)).diagnostics}


UNSEEN = """
void f(int n, double *restrict y, const double *restrict x, int *restrict m)
{
  /*@ begin PerfTuning ( def input_params { param n = 12; } ASSUMED ) @*/
  for (int i = 0; i < n; i++) m[i] = 2 * i;
  for (int i = 0; i < n; i++) if (m[i] > 3) y[i] += x[i];
  /*@ end @*/
}
"""


@pytest.mark.parametrize("target", ["cuda", "openacc", "openmp"])
def test_what_the_region_makes_itself_cannot_be_looked_at_before(
    target: str, tmp_path: Path
) -> None:
    source = tmp_path / "unseen.c"
    source.write_text(UNSEEN.replace("ASSUMED", ""))
    settings, targets = Settings(source, (target,)), [load_target(target)]
    if target == "openmp":
        assert {d.code for d in emit(settings, targets).diagnostics} == {"AT225"}
    else:
        with pytest.raises(AnnotuneError) as refused:
            emit(settings, targets)
        assert {d.code for d in refused.value.diagnostics} == {"AT225"}
        resident = emit(Settings(source, (target,), resident=True), targets)
        assert not any("annotune_x_" in text for text in resident.files.values())
    for told in ("extent = ['x[n]', 'y[n]']", "whole = True"):
        source.write_text(UNSEEN.replace("ASSUMED", f"def assume {{ arg {told}; }}"))
        made = emit(settings, targets)
        assert not made.diagnostics
        assert not any("annotune_x_" in text for text in made.files.values())


def test_resident_data_are_all_there(tmp_path: Path) -> None:
    source = tmp_path / "looked_for.c"
    source.write_text(LOOKED_FOR.format(*(BEGIN.replace("m = 7", "m = 14"), "/*@ end @*/") * 6))
    made = emit(Settings(source, ("openacc",), resident=True), [load_target("openacc")])
    assert "present(m[0:n], y[2:n], x[0:3 * n - 2])" in made.files["_acc.c"]
    assert "annotune_x_" not in made.files["_acc.c"]


OVERLAPPING = """
void f(int n, double *restrict y, const double *restrict x, const double *restrict z)
{
  /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
  for (int i = 0; i < n; i++) y[i] = x[i] + 2 * z[i];
  for (int i = 0; i < n; i++) y[i] += x[i] * y[n - 1 - i];
  /*@ end @*/
}
void moved(int n, int by, double *y, const double *x) { f(n, y, x, x + by); }
"""


def test_inputs_that_share_a_part_of_their_memory(tmp_path: Path) -> None:
    """A section that begins in another one that is present is an error of OpenACC's."""
    source = tmp_path / "overlapping.c"
    source.write_text(OVERLAPPING)
    program = Program(tmp_path, source, targets=("openacc",))
    arrays = Array("f8", 40), Array("f8", 60, offset=20)
    program.check(*(Call("moved", 12, by, *arrays) for by in (-12, -5, 0, 1, 12)))
    assert "|| x == z)" in program.files["_acc.c"]


def test_what_tests_exclude_runs_where_resident_data_are(tmp_path: Path) -> None:
    source = PROGRAMS / "resident_otherwise.c"
    program = Program(tmp_path, source, ("openacc",), resident=True)
    arrays = Array("f8", 500), Array("f8", 500)
    sizes = [Call("sizes", ("i4", n), *arrays) for n in (0, 1, 64, 65, 200)]
    solved = [Call("solve", ("u4", m), *arrays) for m in (0, 1, 2, 8)]
    totals = [
        Call("total", ("i4", n), ("i4", m), *arrays, returns="f8")
        for n in (0, 64, 70)
        for m in (0, 1, 8, 70)
    ]
    program.check(*sizes, *solved, *totals)
