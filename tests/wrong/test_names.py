"""Names: generated ones beside the user's, and macros that mean another thing elsewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.executed import CUDA, SHARED, run
from support.regions import text_regions

from annotune.codegen.target import DEFAULT_TARGETS, load_target
from annotune.ir.region import SourceFile
from annotune.measure.cuda_text import translate
from annotune.measure.program import oracle_source
from annotune.pipeline import Settings, emit

from .called import GCC, HOST_ACC, PROGRAMS, Array, Call, Program

SIZES = (0, 1, 16, 37)
OPTIONS = {"_acc.c": HOST_ACC, "_omp.c": ("-fopenmp",), "_cuda.c": ()}


def double(count: int, seed: int = 0) -> Array:
    return Array("f8", max(count, 1), seed=seed)


# Each program with the calls at one size; `s` is its square.
CALLS = {
    "nm_gen5": lambda n, s: [Call("nm_gen5", n, double(s), double(s, 1), double(s, 2))],
    "nm_macro": lambda n, s: [Call("nm_macro", n, double(s), double(s, 1), double(s, 2))],
    "nm_made": lambda n, s: [
        Call("counted_down", n, double(n + 1), double(s + 1, 1), Array("i4", 1))
    ],
    "acc_end_twice": lambda n, s: [
        Call("f", n, m, double(m * m), double(m, 1)) for m in (0, 5, n, n + 3)
    ],
    "macro_in_function": lambda n, s: [
        Call("f", n, m, double((n + 8) * (m + 1))) for m in (0, 8, n)
    ],
    "macro_variable": lambda n, s: [Call("f", n, double(s), double(s, 1))],
    "names_of_others": lambda n, s: [
        Call("all", n, double(s), double(s, 1), double(s, 2), double(s, 3), double(s, 4), 2),
        Call("own_sum", n, double(1), *(double(n + 1, k) for k in range(4))),
    ],
    "names_of_functions": lambda n, s: [
        Call("twice", n, double(s), double(s, 1)),
        *(Call(name, n, double(n)) for name in ("own_twice", "once", "value")),
    ],
    "loop_named_as_a_tile": lambda n, s: [
        Call("apart", n, double(n), double(s + 37, 1)),
        Call("nested", n, double(s), double(s + n, 1)),
    ],
    "macros_of_directives": lambda n, s: [
        Call("sums", n, Array("f4", n + 1), Array("f4", n + 1, seed=1)),
        Call("table", n, Array("f4", 192), Array("f4", 144, seed=1)),
    ],
    "sizes_elsewhere": lambda n, s: [Call("made_f", n, double(40)), Call("g", double(40))],
    "names_of_macros": lambda n, s: [Call("f", n, double(s + n), double(n, 1))],
}
FLAGS = {"names_of_others": ("-std=c99",)}
# Where only some targets put a text beside functions, or loops behind each other.
TARGETS = {
    "acc_end_twice": ("openacc", "openmp"),
    "macro_in_function": ("openmp",),
    "macro_variable": ("openmp",),
}


@pytest.mark.alike(12)
@pytest.mark.parametrize("name", CALLS)
def test_every_text_leaves_what_the_original_leaves(name: str, tmp_path: Path) -> None:
    source, targets = PROGRAMS / f"{name}.c", TARGETS.get(name, DEFAULT_TARGETS)
    program = Program(tmp_path, source, targets, FLAGS.get(name, ()))
    program.check(*(call for n in SIZES for call in CALLS[name](n, n * n)))


def test_static_functions_of_one_name_link(tmp_path: Path) -> None:
    """So do one that an earlier line says to be static, and a file with an odd name."""
    bodies = {
        "one": "static void f(int n, double *restrict a)",
        "2 two": "static void f(int, double *restrict);\nvoid f(int n, double *restrict a)",
        "in_one": "void f(int n, double *restrict a)",
    }
    names: list[set[str]] = []
    for number, (stem, head) in enumerate(bodies.items(), 1):
        source = tmp_path / f"{stem}.c"
        source.write_text(
            f"{head}\n{{\n/*@ begin PerfTuning ( def input_params {{ param n = 8; }} ) @*/\n"
            f"for (int i = 0; i < n; i++) a[i] += {number};\n/*@ end @*/\n}}\n"
            f"void call{number}(int n, double *restrict a) {{ f(n, a); }}\n"
        )
        device = tmp_path / f"device{number}.cu"
        files = emit(Settings(source, ("cuda",)), [load_target("cuda")]).files
        device.write_text(translate(files[".cu"]))
        run("g++", "-w", *SHARED, *CUDA, "-c", device, "-o", device.with_suffix(".o"))
        # The runtime of the checks stands in each file under the same names.
        made = defined(device.with_suffix(".o"))
        names.append({name for name in made if re.search(r"annotune_f_|_s0", name)})
        assert re.search(rf"\bvoid ({'|'.join(names[-1])})\(", files["_cuda.c"])
    assert [len(found) for found in names] == [len(names[0])] * 3
    assert len(names[0] | names[1] | names[2]) == 3 * len(names[0]) > 3
    assert "annotune_f_1" in names[2]
    assert "annotune_f_in_one_1" in names[0]


def defined(path: Path) -> list[str]:
    """Return the symbols that an object defines for others."""
    listed = subprocess.check_output(["nm", "--defined-only", "-g", path], text=True)
    return [line.split()[-1] for line in listed.splitlines()]


def compiled(source: Path, texts: Sequence[tuple[str, str]], flags: Sequence[str]) -> set[str]:
    """Return which of the emitted texts a compiler takes with `flags`; others it stops at."""
    taken = set()
    for suffix, text in texts:
        made = source.with_name(f"made{suffix}")
        made.write_text(text)
        options = (*OPTIONS[suffix], "-I", PROGRAMS, *flags, "-fsyntax-only")
        done = subprocess.run([*GCC, *options, made], capture_output=True, text=True)
        stopped = "annotune read this region where" in done.stderr
        assert stopped == (done.returncode != 0), done.stderr
        taken |= set() if stopped else {suffix}
    return taken


# Other meanings of what the text is made of, and the same ones again.
OTHERS = {
    "macro_texts": (
        *("-DSCALE=1.0", "-DAT(a,i,j)=a[(j)*n+(i)]", "-DGAIN(x)=(x)", "-DREAL=float", "-DSTEP=3"),
        *("-DW=8", "-DMAXI(a,b)=(a)", "-DRST=", "-DLOOP(v,lo,hi)=for(int v=(lo)+1;v<(hi);v++)"),
    ),
    "macro_branches": ("-DSINGLE", "-DRSTR", "-DLEVEL=4"),
}
SAME = {
    "macro_texts": ("-DREAL=double", "-DRST=restrict", "-DSTEP=2", "-DSTR=1", "-DSETTLED=5.5"),
    "macro_branches": ("-DUNUSED", "-DLEVEL=3"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_text_under_another_macro_stops_the_compiler(name: str, tmp_path: Path) -> None:
    source = tmp_path / f"{name}.c"
    source.write_text((PROGRAMS / f"{name}.c").read_text())
    for header in PROGRAMS.glob("*.h"):
        shutil.copy(header, tmp_path)
    files = emit(Settings(source), [load_target(target) for target in DEFAULT_TARGETS]).files
    texts = [(suffix, text) for suffix, text in files.items() if suffix in OPTIONS]
    assert compiled(source, texts, ()) == set(OPTIONS)
    for flag in OTHERS[name]:
        assert compiled(source, texts, (flag,)) == set(), flag
    for flag in SAME[name]:
        assert compiled(source, texts, (flag,)) == set(OPTIONS), flag


@pytest.mark.alike(2)
@pytest.mark.parametrize("size", [50, 20])
def test_an_integer_macro_may_be_another(size: int, tmp_path: Path) -> None:
    """What is no integer may not: a text that holds 2.0 would be wrong under another SCALE."""
    flags = (f"-DN={size}",)
    program = Program(tmp_path, PROGRAMS / "macro_value_baked.c", flags=flags)
    program.check(Call("f", double(size * size), double(size, 1)))
    texts = [(s, t) for s, t in program.files.items() if s in OPTIONS]
    assert compiled(program.source, texts, (*flags, "-DSCALE=2.0")) == set(OPTIONS)
    assert compiled(program.source, texts, (*flags, "-DSCALE=3.0")) == set()


@pytest.mark.parametrize("name", ["macro_variable", "names_of_functions"])
def test_what_is_measured_sees_the_macros_of_its_place(name: str, tmp_path: Path) -> None:
    """It stands at the end of the file, where names of the region may be macros."""
    text = (PROGRAMS / f"{name}.c").read_text()
    text = text.replace("void f(", "#define AT(p, i, ...) p[i]\nvoid f(") + "#undef AT\n"
    text = text.replace("a[i*n + j] +=", "AT(a, i*n + j) +=")
    source = SourceFile(f"{name}.c", text, text_regions(text))
    for number, region in enumerate(source.regions):
        made = tmp_path / f"{number}.c"
        made.write_text(oracle_source(source, region))
        run(*GCC, "-Werror", "-fsyntax-only", made)


def test_macro_texts_are_those_of_the_compiler(tmp_path: Path) -> None:
    """Odd white space, quotes, nested, empty and variadic macros, and ones of no arguments."""
    macros = (
        "A0  1.0+ -2.5 /* c */ *3.",
        "A1(x)( x )",
        "A2(x,y) A1( x )+A1(y)-A0",
        "A3(f, ...) f( __VA_ARGS__ )",
        "A4(f, args...) f(0 , ##args)",
        'A5() \'c\'+"a\\"b"[0]',
        "A6(x) x##_t #x",
        "A7",
        "A8(x)-x- -x",
        "A9 A8(A7) A2 (1 , 2)",
    )
    defined = "".join(
        f"#ifndef {m.split('(')[0].split()[0]}\n#define {m}\n#endif\n" for m in macros
    )
    uses = "A0 A1(b) A2 A3 A4 A5 A6 A7 A8 A9"
    source = tmp_path / "s.c"
    source.write_text(
        f"{defined}void f(int n, double *restrict a)\n{{\n"
        "#define KEEP(...)\n"
        "    /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/\n"
        f"    for (int i = 0; i < n; i++) {{ KEEP({uses}) a[i] += A0*A1(2.5); }}\n"
        "    /*@ end @*/\n}\n"
    )
    files = emit(Settings(source, ("openmp",)), [load_target("openmp")]).files
    assert files["_omp.c"].count("_Static_assert") == len(macros)
    assert compiled(source, [("_omp.c", files["_omp.c"])], ()) == {"_omp.c"}


OF_SIZES = """
void f(int n, double *restrict {0}, double *restrict {1})
{{
  /*@ begin PerfTuning ( def input_params {{ param n = 8; }} ) @*/
  for (int i = 0; i < n; i++) {{ {0}[i] = 2 * {1}[i]; {1}[i] += 1; }}
  /*@ end @*/
}}
"""


def test_the_size_of_an_array_is_not_the_copy_of_another(tmp_path: Path) -> None:
    source = tmp_path / "f.c"
    source.write_text(OF_SIZES.format("d", "bytes"))
    text = emit(Settings(source, ("cuda",)), [load_target("cuda")]).files[".cu"]
    body = text.partition("f_1_device(")[2].partition("\n}\n")[0]
    declared = re.findall(r"^ +\w[\w ]* (?:\*const )?(\w+) = ", body, re.MULTILINE)
    assert len(declared) == len(set(declared)) > 4, declared


# What a schedule makes of loops i, j, k and arrays, and how it may name that.
MADE = {
    "tiles": "i_t j_t k_t i_t_t j_t_t ij ji",
    "registers": "i_r j_r k_r x_block w_block",
    "copies": "i_s j_s k_s i_t_s j_t_s x_tile w_tile y_tile",
    "ends": "i_end j_end k_end i_w j_w k_w i_u j_u k_u",
}
LOOPS = {
    "products": """\
  for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)
    x[i * n + j] += w[i * n + k] * y[k * n + j];""",
    "neighbours": """\
  for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)
    x[i * n + j] = w[i * n + j - 1] + w[i * n + j + 1] + y[(i - 1) * n + j];""",
    "sums": """\
  for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) x[i] += w[i * n + k];""",
}
NAMED = """
void {}(int n, double *restrict x, const double *restrict w, const double *restrict y, {})
{{
  /*@ begin PerfTuning ( def input_params {{ param n = 16; {} }} ) @*/
{}
  /*@ end @*/
}}
"""


@pytest.mark.slow
def test_sizes_that_no_loop_uses_may_have_the_names_of_what_is_made(tmp_path: Path) -> None:
    text = ""
    for group, names in MADE.items():
        parameters = ", ".join(f"int {name}" for name in names.split())
        values = " ".join(f"param {name} = 16;" for name in names.split())
        for shape, loops in LOOPS.items():
            text += NAMED.format(f"{shape}_{group}", parameters, values, loops)
    source = tmp_path / "sizes_named_as_made.c"
    source.write_text(text)
    program = Program(tmp_path, source)
    program.check(
        *(
            Call(
                f"{shape}_{group}",
                n,
                *(double(400, k) for k in range(3)),
                *[16] * len(MADE[group].split()),
            )
            for group in MADE
            for shape in LOOPS
            for n in (16, 17)
        )
    )
