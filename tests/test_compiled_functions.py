"""`annotune.compile`: C functions that Python calls on arrays of NumPy's, checked before each."""

from __future__ import annotations

import inspect
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.laws import IS_THOROUGH

import annotune
from annotune import kernels
from annotune.compiled import CallMemory, CompiledFunction, Library, built
from annotune.frontend.prototype import prototype
from annotune.frontend.read.preprocess import HeaderSearch
from annotune.measure.compile import CompileJob, TranslationUnit
from annotune.measure.machine import NoGpu
from annotune.measure.toolchain import Toolchains, find_toolchains
from annotune.report.findings import Emission

REGION = "/*@ begin PerfTuning ( def input_params { param n = 300; param m = 100; } ) @*/"
TEXT = f"""\
#define K 2
typedef double real8;
real8 scale(int n, int m, double y[restrict n][m*K], const real8 *restrict x, float s)
{{
    {REGION}
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m*K; j++)
            y[i][j] = s * x[i*m*K + j] + y[i][j];
    /*@ end @*/
    return s;
}}
void twice(int n, double *restrict a)
{{
    {REGION.replace(" param m = 100;", "")}
    for (int i = 0; i < n; i++)
        a[i] = 2 * a[i];
    /*@ end @*/
}}
"""


@pytest.fixture(autouse=True)
def _quickly_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have CUDA for this processor compiled as fast as can be: of results it makes none other."""

    def made(library: Library, job: CompileJob, tools: Toolchains) -> CompiledFunction:
        quick = replace(job, optimisation=("-O0",)) if job.kind == "cuda-cpu" else job
        return built(library, quick, tools)

    if not IS_THOROUGH:
        monkeypatch.setattr(kernels, "built", made)


@pytest.fixture(scope="module")
def emission() -> Emission:
    return annotune.emit(TEXT)


@pytest.fixture(scope="module")
def scale(emission: Emission) -> CompiledFunction:
    return annotune.compile(emission, region="scale")


def of(text: str, name: str, memory: CallMemory = CallMemory.HOST) -> CompiledFunction:
    """Return a function of a C text that no target has written."""
    found = prototype("a.c", text, name, HeaderSearch())
    library = Library(found, "c", "here", memory)
    job = CompileJob((TranslationUnit(text + library.bridge()),), "c")
    return built(library, job, find_toolchains(os.environ))


@pytest.mark.parametrize("target", ["openmp", "openacc", "openmp_target", "cuda"])
def test_a_target_s_function_computes_what_c_says(target: str) -> None:
    made = annotune.emit(TEXT, target=target)
    kernel = annotune.compile(made, target, region=0)
    x, y = np.arange(60.0), np.ones((10, 6))
    assert kernel(10, 3, y, x, s=2) == 2.0
    assert np.array_equal(y, 1 + 2 * x.reshape(10, 6))
    assert kernel(s=-2.0, x=x, y=y, m=np.int64(3), n=np.int8(10)) == -2.0
    assert np.array_equal(y, np.ones((10, 6)))
    assert kernel.library.target == target
    twice = annotune.compile(made, target, region="twice")
    assert twice(60, x) is None
    assert np.array_equal(x, 2 * np.arange(60.0))


def test_the_function_says_what_it_takes(scale: CompiledFunction) -> None:
    assert list(inspect.signature(scale).parameters) == ["n", "m", "y", "x", "s"]
    declared = "double scale(int n, int m, double y[restrict n][m * K], const real8 * restrict x, "
    assert repr(scale) == f"<{declared}float s): openmp, on this processor>"
    assert str(inspect.signature(scale)).endswith("s: 'float s') -> 'double'")
    assert scale.__name__ == "scale"
    assert declared in (scale.__doc__ or "")


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    array.flags.writeable = False
    return array


def unaligned(count: int) -> np.ndarray[Any, Any]:
    return np.zeros(8 * count + 1, "u1")[1:].view("f8")


Y, X = np.ones((10, 6)), np.arange(60.0)


@pytest.mark.parametrize(
    ("changed", "kind", "words"),
    [
        ({"n": 10.5}, TypeError, "'n' is no whole number but float"),
        ({"n": 2**31}, ValueError, "'n' is 2147483648, beyond -2147483648 to 2147483647"),
        ({"n": 11}, ValueError, "'y' has the shape (10, 6), expected (11, 6)"),
        ({"m": 4}, ValueError, "'y' has the shape (10, 6), expected (10, 8)"),
        ({"s": "2"}, TypeError, "'s' is no number but str"),
        ({"s": 1j}, TypeError, "'s' is no number but complex"),
        ({"y": Y.tolist()}, TypeError, "'y' is no array but list"),
        ({"y": Y.astype("f4")}, TypeError, "'y' has elements of float32, expected float64"),
        ({"y": Y.astype(">f8")}, TypeError, "'y' has elements of >f8, expected float64"),
        ({"y": Y.ravel()}, ValueError, "'y' has 1 axes, expected 2"),
        ({"y": Y.copy("F")}, ValueError, "'y' does not lie in memory row after row"),
        ({"y": np.ones((20, 6))[::2]}, ValueError, "'y' does not lie in memory row after row"),
        ({"y": read_only(Y.copy())}, ValueError, "'y' is read-only"),
        ({"x": X[::2]}, ValueError, "'x' does not lie in memory row after row"),
        ({"x": unaligned(60)}, ValueError, "'x' does not lie in memory row after row"),
        ({"z": 1}, TypeError, "unexpected keyword argument 'z'"),
    ],
)
def test_what_c_would_not_take_is_refused(
    scale: CompiledFunction, changed: dict[str, Any], kind: type[Exception], words: str
) -> None:
    before = Y.copy()
    given = {"n": 10, "m": 3, "y": Y, "x": X, "s": 2, **changed}
    with pytest.raises(kind, match=re.escape(words)) as refused:
        scale(**given)
    assert str(refused.value).startswith("scale(): ")
    assert "C has" in str(refused.value)
    assert np.array_equal(Y, before)


def test_what_c_takes_is_taken(scale: CompiledFunction) -> None:
    for x in (X.reshape(10, 6), X.reshape(6, 10).copy("F"), read_only(X.copy())):
        longer = np.zeros((12, 6))
        scale(10, 3, longer, x, np.float32(1))
        assert np.array_equal(longer[:10].ravel(), x.ravel("K"))
        assert not longer[10:].any()
    assert scale(0, 3, np.zeros((0, 6)), X, np.array(3)) == 3.0


KINDS = """\
#include <stddef.h>
double _Complex turned(double _Complex z, float _Complex *w, long n)
{
    for (long i = 0; i < n; i++)
        w[i] *= 3.0f;
    return 2.0 * z;
}
unsigned char counted(size_t n, const _Bool *flags, unsigned short limit, _Bool all)
{
    unsigned char count = all;
    for (size_t i = 0; i < n && count < limit; i++)
        count += flags[i];
    return count;
}
static float inner(int n, double (*a)[3], signed char shift[static 2])
{
    return n + a[1][2] + shift[1];
}
void nothing(void) { }
int moved(int from, int in) { return 10 * from + in; }
struct pair { int a, b; };
void of_struct(struct pair p) { }
void of_rows(double **p) { }
void of_bytes(void *p) { }
void of_many(int n, ...) { }
void of_function(double (*f)(int)) { }
int *of_address(int n) { return 0; }
int of_old(n) int n; { return n; }
"""


def test_numbers_are_passed_as_c_has_them() -> None:
    w = np.array([1 + 2j, 3], "c8")
    assert of(KINDS, "turned")(1 + 1j, w, 2) == 2 + 2j
    assert w.tolist() == [3 + 6j, 9]
    counted = of(KINDS, "counted")
    flags = np.array([True, False, True, True])
    assert counted(4, flags, 9, False) == 3
    assert counted(4, flags.view("u1"), 2, True) == 2
    with pytest.raises(ValueError, match="'n' is -1, beyond 0 to 18446744073709551615"):
        counted(-1, flags, 9, False)
    inner = of(KINDS, "inner")
    assert inner(1, np.arange(6.0).reshape(2, 3), np.array([0, -3], "i1")) == 3.0
    with pytest.raises(ValueError, match=re.escape("'a' has the shape (3, 2), expected (any, 3)")):
        inner(1, np.zeros((3, 2)), np.zeros(2, "i1"))
    with pytest.raises(ValueError, match=re.escape("'shift' has the shape (1,), expected (2)")):
        inner(1, np.zeros((1, 3)), np.zeros(1, "i1"))
    assert of(KINDS, "nothing")() is None
    assert of(KINDS, "moved")(4, in_=2) == of(KINDS, "moved")(in_=2, from_=4) == 42


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("of_struct", "its parameter 'p' has the type 'struct'"),
        ("of_rows", "its parameter 'p' is no array of numbers in one piece of memory"),
        ("of_bytes", "its parameter 'p' points to no numbers"),
        ("of_many", "a parameter has no name, or their number varies"),
        ("of_function", "its parameter 'f' is no array of numbers in one piece of memory"),
        ("of_address", "it returns no number"),
        ("of_old", "its parameters are declared in the style before ANSI C"),
        ("missing", "the file does not define it"),
    ],
)
def test_a_function_that_python_cannot_call_is_refused(name: str, reason: str) -> None:
    with pytest.raises(annotune.AnnotuneError, match=re.escape(reason)) as refused:
        of(KINDS, name)
    assert [one.code for one in refused.value.diagnostics] == ["AT680"]


@dataclass
class OnDevice:
    """An array as CuPy and pycuda show it: here the memory is the host's."""

    array: np.ndarray[Any, Any]
    is_read_only: bool = False
    strides: tuple[int, ...] | None = None

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.array.shape,
            "typestr": self.array.dtype.str,
            "data": (self.array.ctypes.data, self.is_read_only),
            "strides": self.strides,
            "version": 3,
        }


PLAYED = """\
static int waits;
int cudaDeviceSynchronize(void) { waits += 1; return 0; }
int copied(int n, double a[n], const double *b)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i];
    return waits;
}
"""


def test_arrays_on_a_gpu_are_given_by_their_addresses() -> None:
    a, b = np.zeros(4), np.arange(4.0)
    either = of(PLAYED, "copied", CallMemory.EITHER)
    assert either(4, OnDevice(a), b) == 1
    assert np.array_equal(a, b)
    device = of(PLAYED, "copied", CallMemory.DEVICE)
    assert device(4, OnDevice(a, strides=(8,)), OnDevice(b, is_read_only=True)) == 1
    for wrong, words in (
        ((4, a, OnDevice(b)), "'a' lies in the host's memory"),
        ((4, OnDevice(a, is_read_only=True), OnDevice(b)), "'a' is read-only"),
        ((4, OnDevice(a, strides=(16,)), OnDevice(b)), "'a' does not lie in memory"),
        ((5, OnDevice(a), OnDevice(b)), "'a' has the shape (4,), expected (5)"),
        ((4, OnDevice(a.astype("f4")), OnDevice(b)), "'a' has elements of float32"),
    ):
        with pytest.raises((TypeError, ValueError), match=re.escape(words)):
            device(*wrong)
    host = of(PLAYED, "copied")
    with pytest.raises(TypeError, match="'a' lies on a GPU, and this is here"):
        host(4, OnDevice(a), b)


def test_a_missing_file_is_told_with_its_reason(emission: Emission) -> None:
    only = annotune.emit(TEXT, target="cuda")
    with pytest.raises(annotune.AnnotuneError, match=r"for openmp: .*not asked for \[AT682\]"):
        annotune.compile(only, region=0)
    with pytest.raises(ValueError, match="no target 'opnmp'"):
        annotune.compile(emission, "opnmp")
    with pytest.raises(ValueError, match="one of 'scale', 'twice'"):
        annotune.compile(emission)
    for wrong in (2, -1, "thrice"):
        with pytest.raises(ValueError, match="there is no region"):
            annotune.compile(emission, region=wrong)


def test_what_the_file_lacks_is_told(emission: Emission) -> None:
    calling = emission.files["_omp.c"].replace("return s;", "return other(s);")
    declared = calling.replace("real8 scale", "double other(double);\nreal8 scale")
    for text, words in ((declared, "undefined symbol: other"), (calling + "}", "error: expected")):
        broken = replace(emission, files={"_omp.c": text})
        with pytest.raises(annotune.AnnotuneError, match=words) as refused:
            annotune.compile(broken, region="scale")
        assert refused.value.diagnostics[0].code in ("AT681", "AT105")


def test_resident_data_need_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "find_gpu", lambda: NoGpu("none was named"))
    played = annotune.compile(annotune.emit(TEXT, target="cuda"), "cuda", region="twice")
    assert repr(played).endswith("played by this processor, without a GPU: none was named>")
    with pytest.raises(TypeError, match="'a' lies on a GPU, and this is played by this processor"):
        played(1, OnDevice(np.zeros(1)))
    made = annotune.emit(TEXT, target="cuda", data="resident")
    with pytest.raises(annotune.AnnotuneError, match=r"there is none: none was named \[AT683\]"):
        annotune.compile(made, "cuda", region="twice")


@pytest.mark.slow
def test_what_a_folder_holds_is_compiled_with_its_headers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    (project / "include").mkdir(parents=True)
    elsewhere.mkdir()
    (project / "include" / "lengths.h").write_text("#define K 2\n")
    (project / "types.h").write_text("typedef double real8;\n")
    headers = '#include "types.h"\n#include <lengths.h>\n'
    (project / "f.c").write_text(headers + TEXT.partition("typedef double real8;\n")[2])
    monkeypatch.chdir(project)
    options: Any = {"target": "openmp", "time": 60, "budget": 1, "output": "out"}
    results = annotune.tune("f.c", include="include", define={"SPARE": 1}, **options)
    monkeypatch.chdir(elsewhere)
    # Which target wins is the machine's; the text that there would be stands for it.
    written = annotune.emit(project / "f.c", include=project / "include", target="openmp")
    # Of a command that may come from anybody the flags alone count, and those that are harmless.
    own = "-O3 -march=native -fopenmp -fplugin=evil.so -I../include -iquote .. main.c f_omp.c -lm"
    command = f"{tmp_path / 'evil'} {own}"
    given = {"texts": {"f_omp.c": written.files["_omp.c"]}, "commands": {"openmp": (command,)}}
    moved = replace(results, folder=str(project / "out"), **given)
    y = np.ones((10, 6))
    annotune.compile(moved, region="scale")(10, 3, y, X, 2)
    assert np.array_equal(y, 1 + 2 * X.reshape(10, 6))
    loaded = annotune.load_results(project / "out")
    assert loaded.folder == str(project / "out")
    missing = replace(loaded, texts={})
    with pytest.raises(annotune.AnnotuneError, match=r"no file of 'f\.c' for openmp"):
        annotune.compile(missing, region="scale")
