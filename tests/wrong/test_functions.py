"""Functions of the user's under the names of those that annotune knows."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.each import check_each
from support.regions import text_regions

from annotune.codegen.target import load_target
from annotune.diagnostics import AnnotuneError
from annotune.ir.functions import FUNCTIONS
from annotune.pipeline import Settings, emit
from wrong.called import PROGRAMS, Array, Call, Program

SIZES = (0, 1, 64, 1001)
NEST = """
void f(int n, double *restrict a, const double *restrict b)
{{{local}
    /*@ begin PerfTuning (
      def input_params {{ param n = 64; }}
      def assume {{ {assumed} }}
    ) @*/
    for (int i = 0; i < n; i++)
        a[i] = {value};
    /*@ end @*/
}}
"""


def nest(value: str, assumed: str = "", local: str = "") -> str:
    return NEST.format(value=value, assumed=assumed, local=local)


def call_of(name: str) -> str:
    arity = len(FUNCTIONS[name].parameters) if name in FUNCTIONS else 2
    return f"{name}({', '.join(['b[i]'] * arity)})"


def refusal(text: str, **options: str) -> tuple[str, str]:
    with pytest.raises(AnnotuneError) as refused:
        text_regions(text, **options)
    (diagnostic,) = refused.value.diagnostics
    return diagnostic.code, diagnostic.message


@pytest.mark.parametrize(
    "name", ["h_round2.c", "header_function.c", "max_hidden.c", "abs_nodecl.c"]
)
def test_a_function_of_another_is_refused_where_it_is_called(name: str, tmp_path: Path) -> None:
    with pytest.raises(AnnotuneError) as refused:
        emit(Settings(PROGRAMS / name, ("openmp",)), [load_target("openmp")])
    (found,) = refused.value.diagnostics
    called = {"h_round2.c": "round", "header_function.c": "round", "max_hidden.c": "max"}
    line = (PROGRAMS / name).read_text().split("\n")[found.span.line - 1]
    assert found.code == "AT167"
    assert line[found.span.column - 1 :].startswith(f"{called.get(name, 'abs')}(")


# What stands before the function and in it, its first parameters, and the refusal.
OTHERS = (
    ("short {0}(double);", "", "int n,", "AT167"),
    ("static inline double {0}(double x) {{ return x; }}", "", "int n,", "AT167"),
    ("double {0}(double *);", "", "int n,", "AT167"),
    ("double {0}(double, ...);", "", "int n,", "AT167"),
    ("", "double (*{0})(double) = 0;", "int n,", "AT167"),
    ("", "short {0}(double, int);", "int n,", "AT167"),
    ("", "", "int n, double (*{0})(),", "AT167"),
    # A macro means what it says: of another function nothing is known.
    ("#define {0} mine\n", "", "int n,", "AT130"),
    ("#define {0}(...) mine(__VA_ARGS__)\n", "", "int n,", "AT130"),
)
NAMES = (*FUNCTIONS, "min", "max")


def test_every_known_name_may_be_another_s() -> None:
    for place, name in enumerate(NAMES):
        # A third of the ways for each name.
        for before, local, parameters, code in OTHERS[place % 3 :: 3]:
            text = nest(call_of(name), local=local.format(name))
            text = text.replace("int n,", parameters.format(name))
            assert refusal(before.format(name) + text)[0] == code, (name, before, local)


def test_what_the_library_declares_is_the_library_s() -> None:
    def check(name: str) -> None:
        known = FUNCTIONS[name]
        for parameters in (", ".join(known.parameters), ""):
            text = f"extern {known.result} {name}({parameters});" + nest(call_of(name))
            if parameters or known.parameters[0] == "double":
                (found,) = text_regions(text)
                assert not found.functions
            else:
                assert "C does not convert" in refusal(text)[1]

    check_each([n for n in FUNCTIONS if FUNCTIONS[n].header == "math.h"], check)


def test_without_a_declaration_maxima_may_be_macros_of_a_header_alone() -> None:
    text = nest("max(i, 3)")
    assert refusal(text) == (
        "AT167",
        "'max' is not the function that annotune knows under this name: "
        "the C library has none, and no macro of the name is defined",
    )
    for before in ('#include "not_there.h"\n', "#define max(a, b) ((a) > (b) ? (a) : (b))\n"):
        assert text_regions(before + text)


HEADER = "static double round(double x) { return (double)(int)(x + 0.25); }\n"
# What stands before the function, the value in the loop, and the functions vouched for.
RUNS = {
    "double fabs(double); double min(int x, double y) { return x < y ? x : 2*y; }"
    "static int abs(double x) { return x < 0 ? (int)(-x*4) : (int)(x*2); }"
    "static inline float fmaxf(float x, int y) { return y > x ? x : y; }"
    "static long sqrt(long x, int y) { return x + y; }": (
        "min(b[i], b[i]*.3) + abs(b[i]/3) + fmaxf(b[i]*.7, b[i]) + sqrt(b[i]*1.5, 3)"
        " + fabs(b[i])",
        "arg pure = ['min', 'abs', 'fmaxf', 'sqrt'];",
    ),
    # Ones that call others of the names.
    "static double fabs(double x) { return x*x; }\n"
    "static double max(int x, double y) { return fabs(x) > y ? fabs(x) : y; }": (
        "max(b[i], 7.5) + (i > 3 ? max(i, 2) : 0)",
        "arg pure = ['max'];",
    ),
    '#include "util.h"\n#include <math.h>': (
        "round(b[i]*10.3) + floor(b[i]*.3)", "arg pure = ['round'];"
    ),
    "#include <stdlib.h>\n": ("abs(b[i]*.37) + labs(b[i]*1e10)", ""),
    "#include <tgmath.h>\n": ("sqrt((float)b[i]*b[i]*.1f)*3 + fmax((float)b[i]/3, 2) + exp(i)", ""),
    "#define max(a, b) ((a) > (b) ? (a) : (b))\n#define fabs(x) max(x, -(x))\n": (
        "max(b[i], 3) + fabs(b[i]*.1) + max(i, 5)", ""
    ),
    "double round(double); double fmin(); extern float fabsf(float x);": (
        "round(b[i]*.3) + fmin(b[i], 2.) + fabsf(b[i]*.1)", ""
    ),
}  # fmt: skip


@pytest.mark.alike(8)
@pytest.mark.parametrize("before", RUNS)
def test_each_is_called_as_c_calls_it(before: str, tmp_path: Path) -> None:
    value, assumed = RUNS[before]
    (tmp_path / "util.h").write_text(HEADER)
    source, made = tmp_path / "s.c", tmp_path / "made"
    source.write_text(before + nest(value, assumed))
    made.mkdir()
    program = Program(made, source)
    values = (-3, -2.5, "-0.0", 0.25, 3.5, -7.25, 8)
    program.check(*(Call("f", n, Array("f8", n), Array("f8", n, values[:n])) for n in SIZES))


@pytest.mark.alike(2)
@pytest.mark.parametrize("name", ["fn_abs_user.c", "user_max.c"])
def test_a_user_s_maximum_is_the_user_s(name: str, tmp_path: Path) -> None:
    program = Program(tmp_path, PROGRAMS / name)
    function = "f" if name == "user_max.c" else "fn_abs_user"
    values = (3, -2.5, "nan", 0.25)
    program.check(*(Call(function, n, Array("f8", n), Array("f8", n, values[:n])) for n in SIZES))
