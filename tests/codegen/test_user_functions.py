"""Copies of the user's functions for devices: what they look like, and when there is none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import Golden
from emitted import here
from support.regions import text_regions

from annotune.codegen.target import load_target
from annotune.diagnostics import AnnotuneError, Severity
from annotune.frontend.read.preprocess import HeaderSearch
from annotune.ir.region import UserFunction
from annotune.measure.compile import CompileJob, TranslationUnit, compile_job
from annotune.pipeline import Emission, Settings, emit

KERNELS = Path(__file__).parent.parent / "kernels"
NEST = """
void f(int n, double *restrict a, const double *restrict b)
{
    /*@ begin PerfTuning (
      def input_params { param n = 100; }
      def assume { arg pure = ['g']; }
    ) @*/
    for (int i = 0; i < n; i++)
        a[i] = g(b[i]);
    /*@ end @*/
}
"""
G = "static double g(double x) "


def function_of(text: str, name: str = "g", **defines: str) -> UserFunction:
    (region,) = text_regions(text, defines=defines)
    return next(function for function in region.functions if function.name == name)


def emitted(folder: Path, text: str, *targets: str, **defines: str) -> Emission:
    source = folder / "s.c"
    source.write_text(text)
    made = Settings(source, targets, search=HeaderSearch((str(folder),), defines))
    return emit(made, [load_target(target) for target in targets])


# Definitions, and the reason why there is no copy.
REFUSED = {
    "double g(double x);": "it is not defined in this file, nor in a header that was read",
    f"static double k = 2;\n{G}{{ return k*x; }}": "it uses 'k', a variable of the file",
    f"extern const double k;\n{G}{{ return k*x; }}": "it uses 'k', whose value is not in this file",
    f"{G}{{ return k*x; }}": "it uses 'k', which nothing that was read declares",
    f"{G}{{ static double k = 2; return k*x; }}": "its 'k' is static",
    f"static int calls;\n{G}{{ calls++; return x; }}": "it writes 'calls', which is not its own",
    "static double g(double x[2]) { return x[0]; }":
        "parameter 'x' is no number but a place in memory",
    "static double g(double x, ...) { return x; }": "it takes a variable number of arguments",
    f"{G}{{ return x < 1 ? x : g(x / 2); }}": "it calls itself",
    f"double g(double);\nstatic double h(double x) {{ return g(x); }}\n{G}{{ return h(x); }}":
        "it calls 'h': it calls 'g', which calls it",
    f"double h(double x);\n{G}{{ return h(x); }}":
        "it calls 'h', which this file does not define",
    f"{G}{{ return sqrt(x, x); }}": "it calls 'sqrt' with 2 argument(s)",
    f"{G}{{ double (*h)(double) = sqrt; return h(x); }}":
        "'h' is no number but a place in memory",
    f"{G}{{ double *p = &x; return *p; }}": "'p' is no number but a place in memory",
    f"{G}{{ return *&x; }}": "it uses '*', which is about memory",
    f"static double h(double x) {{ return x; }}\n{G}{{ double y[2] = {{x, x}}; return h(y); }}":
        "it passes on where 'y' is in memory",
    f"{G}{{ double y[2] = {{[1] = x}}; return y[0]; }}":
        "C++ has no designated initialisers for arrays",
    f"{G}{{ double y[(int)x]; y[0] = x; return y[0]; }}": "the extent of 'y' is no constant",
    f"{G}{{ _Bool b = x > 0; return b; }}": "'b' is of type '_Bool'",
    f"{G}{{ long double b = x; return b; }}": "'b' is of type 'long double'",
    f"{G}{{ volatile double b = x; return b; }}": "'b' is volatile",
    f"{G}{{ return x + sizeof x; }}": "it uses 'sizeof', which is about memory",
    f"{G}{{ return x + 'ab'; }}": "it uses the literal 'ab'",
    f"{G}{{ return x + 1.0L; }}": "it uses the literal 1.0L",
    f"{G}{{ struct s {{ double d; }} s = {{x}}; return s.d; }}": "'s' is of type 'struct'",
    f"{G}{{ for (int i = 0; i < 2; i++) {{ int i = 3; x += i; }} return x; }}":
        "its 'i' hides another one",
    f"static const double k = 2;\n{G}{{ double y = k; {{ double k = 3; y += k; }} return y; }}":
        "its 'k' hides another one",
    f"{G}{{ if (x > 0) goto end; x = 1; end: return x; }}": "it holds a 'goto'",
    f"{G}{{ switch ((int)x) {{ case 1: return 2; }} return x; }}": "it holds a 'switch'",
    "static double g(x) double x; { return x; }":
        "its parameters are declared in the style before ANSI C",
    f"{G}{{ return SCALE*x; }}\n#undef SCALE\n#define SCALE 3.5":
        "it uses macro 'SCALE', which a compiler's -D may change",
    f"{G}{{ double n = x; return n; }}\n#define n n": "its 'n' is a macro where the region stands",
    f"#define K 2\n{G}{{\n#if K > LEVEL\nx = 1;\n#endif\nreturn x; }}\n#undef K\n#define K 3":
        "its '#if' asks for 'K', which changes in the file",
    f"static double h(double x) {{ return @; }}\n{G}{{ return h(x); }}":
        "it calls 'h': in its text, not C that annotune understands: unexpected '@'",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_why_there_is_no_copy(text: str) -> None:
    found = function_of(text + NEST, SCALE="2.5", LEVEL="1")
    assert found.reason == REFUSED[text]
    assert not found.body


@pytest.mark.parametrize(
    "text",
    [
        f"static double k = 2;\n{G}{{ return k*x; }}",
        "static double g(double class) { return class; }",
        f"{G}{{ double and = x; return and; }}",
    ],
)
def test_cuda_refuses_what_it_cannot_copy(text: str, tmp_path: Path) -> None:
    with pytest.raises(AnnotuneError) as refused:
        emitted(tmp_path, text + NEST, "cuda")
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code == "AT402"
    assert diagnostic.message.startswith("a CUDA kernel cannot call 'g': it")
    assert "--target openacc,openmp" in diagnostic.help
    left = emitted(tmp_path, text + NEST, "cuda", "openacc")
    assert [name for name in left.files if "cuda" in name or name.endswith(".cu")] == []
    assert {d.severity for d in left.diagnostics if d.code == "AT402"} == {Severity.WARNING}


def test_the_other_targets_call_the_user_s_own(tmp_path: Path) -> None:
    text = f"static double k = 2;\n{G}{{ return k*x; }}{NEST}"
    files = emitted(tmp_path, text, "openacc", "openmp").files
    for name in ("_acc.c", "_omp.c"):
        assert "g(b[i])" in files[name]
        assert "annotune_f_1_g" not in files[name]


def test_what_the_copies_look_like(golden: Golden) -> None:
    made = emit(
        Settings(KERNELS / "eos.c", ("cuda", "openacc")),
        [load_target("cuda"), load_target("openacc")],
    )
    golden.check("codegen/user_functions.cu", made.files[".cu"])
    golden.check("codegen/user_functions_acc.c", made.files["_acc.c"])


def test_a_function_stands_once_in_a_file(tmp_path: Path) -> None:
    text = f"{G}{{ return x*x; }}{NEST}{NEST.replace('void f', 'void h')}"
    files = emitted(tmp_path, text, "cuda", "openacc").files
    assert files[".cu"].count("double annotune_g_pure(double x)\n{") == 1
    assert files["_acc.c"].count("#pragma acc routine seq") == 2


def test_a_header_s_function_in_the_header_s_words(tmp_path: Path) -> None:
    # `real` is f2c's float where nothing says otherwise.
    (tmp_path / "types.h").write_text("typedef double real;\n#define HALF (1/2.)\n")
    (tmp_path / "g.h").write_text(
        "static const real third = 1/3.;\n"
        "static inline real g(real x) { real y = x*third; return y*HALF; }\n"
    )
    text = f'#include "types.h"\n#include "g.h"\n{NEST}'
    device = emitted(tmp_path, text, "cuda").files[".cu"]
    assert (
        "static __host__ __device__ double annotune_g_pure(double x)\n{\n"
        "    const double third = 1 / 3.;\n"
        "    double y = x * third;\n    return y * (1 / 2.);\n}\n"
    ) in device


def test_macros_that_a_compiler_may_change_are_asked_for(tmp_path: Path) -> None:
    text = f"{G}{{\n#ifdef TWICE\n    x *= 2;\n#endif\n    return x * LEVEL + SCALE;\n}}{NEST}"
    made = emitted(tmp_path, text, "cuda", "openacc", "openmp", LEVEL="3", SCALE="2.5")
    for name in ("_cuda.c", "_acc.c", "_omp.c"):
        path = tmp_path / f"s{name}"
        path.write_text(made.files[name])

        def accepted(*flags: str, path: Path = path) -> bool:
            scale = () if "SCALE" in "".join(flags) else ("-DSCALE=2.5",)
            done = subprocess.run(
                ["gcc", "-fsyntax-only", *scale, *flags, path], capture_output=True, text=True
            )
            assert done.returncode == 0 or "annotune read this region" in done.stderr
            return done.returncode == 0

        assert accepted("-DLEVEL=3")
        # OpenMP calls the function that the same compiler reads.
        assert accepted("-DLEVEL=4") is (name == "_omp.c")
        assert accepted("-DLEVEL=3", "-DTWICE") is (name == "_omp.c")
        assert accepted("-DLEVEL=3", "-DSCALE=2.6") is (name == "_omp.c")


def test_nvcc_takes_the_copies_without_a_warning(tmp_path: Path) -> None:
    nvcc = here().nvcc
    if nvcc is None:
        pytest.skip(f"no nvcc: {here().problems.get('nvcc')}")
    device = emit(Settings(KERNELS / "eos.c", ("cuda",)), [load_target("cuda")]).files[".cu"]
    result = compile_job(
        CompileJob((TranslationUnit(device, "cuda"),), "cuda-cubin", arch="sm_90"), here(), tmp_path
    )
    assert result.ok, result.output
    assert "warning" not in result.output
