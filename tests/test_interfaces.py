"""What is emitted is called from Fortran, C++ and C, by the interfaces that annotune writes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from support.cli import annotune

from annotune import emit

AXPY = """\
void axpy(int n, double a, double *restrict y, const double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 1000; } ) @*/
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
    /*@ end @*/
}
"""
SCALE = """\
long scaled(int n, int m, double y[n][m], const double x[n][m], float _s, int N)
{
    /*@ begin PerfTuning ( def input_params { param n = 100; param m = 40; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i][j] = _s * x[i][j];
    /*@ end @*/
    return N;
}
"""
FORTRAN = """\
program demo
  use, intrinsic :: iso_c_binding
  use k_interfaces
  implicit none
  real(c_double) :: y(3) = [1, 2, 3], x(3) = 1, a(2, 3), b(2, 3)
  integer(c_long) :: found
  call axpy(3_c_int, 2d0, y, x)
  print '(3f6.1)', y
  b = reshape([1d0, 2d0, 3d0, 4d0, 5d0, 6d0], [2, 3])
  found = scaled(3_c_int, 2_c_int, a, b, 3.0_c_float, 7_c_int)
  print '(6f6.1,i6)', a, found
end program
"""
CALLER = """\
#include <stdio.h>
#include "k_interfaces.h"
int main(void)
{
    double y[2] = {1, 2}, x[2] = {1, 1};
    axpy(2, 2.0, y, x);
    printf("%g %g\\n", y[0], y[1]);
    return 0;
}
"""


def needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not on PATH")


def ran(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def emitted(text: str, *options: str) -> str:
    """Write a text's files for OpenMP with its interfaces; return what was said."""
    Path("k.c").write_text(text)
    done = annotune("emit", "k.c", "-o", ".", "--target", "openmp", "--interfaces", *options)
    assert done.code == 0, done.err
    assert [line for line in done.out.splitlines() if "interfaces" in line] == [
        "k_interfaces.f90",
        "k_interfaces.h",
    ]
    return done.err


def test_fortran_calls_what_is_emitted() -> None:
    needs("gcc", "gfortran")
    emitted(AXPY + SCALE)
    Path("main.f90").write_text(FORTRAN)
    ran("gcc", "-O2", "-fopenmp", "-c", "k_omp.c")
    ran("gfortran", "-std=f2018", "-Wall", "-Werror", "-c", "k_interfaces.f90")
    ran("gfortran", "-fopenmp", "main.f90", "k_interfaces.o", "k_omp.o", "-lm", "-o", "demo")
    first, second = ran("./demo").splitlines()
    assert first.split() == ["3.0", "4.0", "5.0"]
    # What C has as rows of 2 are columns of 2 in Fortran.
    assert second.split() == ["3.0", "6.0", "9.0", "12.0", "15.0", "18.0", "7"]


@pytest.mark.parametrize(("compiler", "file"), [("gcc", "main.c"), ("g++", "main.cpp")])
def test_c_and_cpp_call_what_is_emitted(compiler: str, file: str) -> None:
    needs("gcc", compiler)
    emitted(
        AXPY + SCALE.replace("float _s", "double complex *z, float _s").replace("n][m]", "n][2]")
    )
    Path(file).write_text(CALLER)
    ran("gcc", "-O2", "-fopenmp", "-include", "complex.h", "-c", "k_omp.c")
    ran(compiler, "-Wall", "-Werror", "-fopenmp", file, "k_omp.o", "-lm", "-o", "demo")
    assert ran("./demo") == "3 4\n"


def test_what_the_others_cannot_call_is_told_and_left_out() -> None:
    hidden = AXPY.replace("void axpy", "static void hidden")
    taking = AXPY.replace("void axpy(", "void taking(struct a *p, ")
    said = emitted(f"struct a {{ int n; }};\n{AXPY}{hidden}{taking}")
    for name, reason in (("hidden", "it is static"), ("taking", "its parameter 'p' has the type")):
        assert f"warning: '{name}' cannot be called from outside of C: {reason}" in said
    text = Path("k_interfaces.f90").read_text() + Path("k_interfaces.h").read_text()
    assert "axpy" in text
    assert "hidden" not in text
    assert "taking" not in text


def test_names_differ_where_fortran_has_no_case() -> None:
    needs("gfortran")
    long = ", ".join(f"int size_{number}" for number in range(40))
    emitted(AXPY.replace("int n, double a", f"int n, double N, double a, {long}, float axpy"))
    lines = Path("k_interfaces.f90").read_text().splitlines()
    assert max(map(len, lines)) <= 132
    assert "            real(c_double), value :: N_2" in lines
    ran("gfortran", "-std=f2018", "-Wall", "-Werror", "-c", "k_interfaces.f90")


def test_arrays_of_the_device_are_addresses() -> None:
    Path("k.c").write_text(AXPY)
    how = ("--target", "cuda", "--data", "resident", "--interfaces")
    assert annotune("emit", "k.c", "-o", ".", *how).code == 0
    text = Path("k_interfaces.f90").read_text()
    assert "type(c_ptr), value :: y" in text
    found = emit("k.c", target="cuda", data="resident", interfaces=True)
    assert found.files["_interfaces.f90"] == text
