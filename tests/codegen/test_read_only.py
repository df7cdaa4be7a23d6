"""Inputs that a kernel only reads: their parameters, the loads that nvcc makes, and overlaps."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from codegen.test_cuda_files import nvcc
from support.executed import Call, Part, emitted, executable

from annotune.runtime.texts import RUNTIME_TEXTS

TEXT = """\
void f(int n, double {promise}a, double {promise}b, const double {promise}c)
{{
    /*@ begin PerfTuning ( def input_params {{ param n = 64; }} ) @*/
    for (int i = 0; i < n; i++)
        a[i] = a[i] + b[i] * c[i];
    /*@ end @*/
}}
"""
PROMISED, SILENT = (TEXT.format(promise=p) for p in ("*restrict ", "*"))


def heads(text: str) -> list[str]:
    return re.findall(r"__global__[^{]*", text)


@pytest.mark.parametrize("text", [PROMISED, SILENT])
def test_what_a_kernel_only_reads_is_const_and_restrict(text: str, tmp_path: Path) -> None:
    made = heads(emitted(tmp_path, text).files[".cu"])
    assert len(made) == 2
    for head in made:
        assert "const double *__restrict__ b" in head
        assert "const double *__restrict__ c" in head
        assert re.search(r"(?<!const )double \*__restrict__ a\b", head)


def made_ptx(folder: Path) -> None:
    """Have nvcc make ``d.ptx`` of ``device.cu`` in a folder."""
    words = (nvcc(), "-arch=sm_90", f"-I{RUNTIME_TEXTS}", "-ptx", folder / "device.cu")
    subprocess.run([*words, "-o", folder / "d.ptx"], check=True, timeout=120)


def test_nvcc_loads_them_through_the_read_only_path(tmp_path: Path) -> None:
    (tmp_path / "device.cu").write_text(emitted(tmp_path, PROMISED).files[".cu"])
    made_ptx(tmp_path)
    bodies = re.split(r"\.entry", (tmp_path / "d.ptx").read_text())[1:]
    assert len(bodies) == 2
    for body in bodies:
        loads = re.findall(r"ld\.global(\.nc)?\.[bf]64", body)
        # Of b and c, but not of a, which the kernel writes; the loop may be written out.
        assert loads.count(".nc") == 2 * loads.count("") > 0


@pytest.mark.alike(4)
@pytest.mark.parametrize("offset", [0, 1, 63, 64])
def test_where_c_promises_nothing_overlaps_keep_the_promise_from_the_kernels(
    offset: int, tmp_path: Path
) -> None:
    program = executable(tmp_path, SILENT)
    call = Call("f", (64, Part(0), Part(0, offset), Part(1)), (200, 64))
    program.check(call, launches=offset >= 64)
    # Two inputs in one place are no overlap that matters.
    program.check(Call("f", (64, Part(0), Part(1), Part(1)), (64, 64)), launches=True)


CHOSEN = """\
void f(int n, double *restrict c, const double *restrict a)
{{
    /*@ begin PerfTuning ( def input_params {{ param n = 24; }} ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 5; j++) {{ {statement} }}
    /*@ end @*/
}}
"""
CHOICES = (
    "c[8*i + j] = a[j] > 0 ? c[8*i + 2] : a[8*i + j];",
    "c[8*i + j] = c[8*i + 2] > a[j] ? c[8*i + 2] : a[j];",
    "if (a[j] > 0) c[8*i] += c[8*i + j]; else c[8*i] += a[8*i + j];",
    "c[8*i + j] = c[8*i + 2]; if (a[j] > 0) c[8*i + j] = a[8*i + j];",
)


@pytest.mark.alike(2)
@pytest.mark.parametrize("statement", CHOICES)
def test_nvcc_makes_no_read_only_load_of_what_the_kernel_writes(
    statement: str, tmp_path: Path
) -> None:
    made = emitted(tmp_path, CHOSEN.format(statement=statement)).files[".cu"]
    assert all("const double *a" in head for head in heads(made))
    (tmp_path / "device.cu").write_text(made)
    made_ptx(tmp_path)
    chosen: set[str] = set()
    for line in (tmp_path / "d.ptx").read_text().splitlines():
        registers = re.findall(r"%rd\d+", line)
        if "selp.b64" in line or ("add.s64" in line and chosen & set(registers[1:])):
            chosen.add(registers[0])
        assert "ld.global.nc" not in line or not chosen & set(registers), line


STORED = """\
void f(int n, double *restrict c, const double *restrict a, const double *restrict b,
       double *restrict e, double z)
{
    /*@ begin PerfTuning ( def input_params { param n = 20; } ) @*/
    for (int i = 0; i < n; i++) {
        e[i] *= 2;
        for (int j = 0; j < 20; j++) {
            c[i*20 + j] = c[2*i*20 + j] > 0 ? z : b[j*n + i];
            z += a[i + 2];
        }
    }
    /*@ end @*/
    c[0] = z;
}
"""


def test_nvcc_stores_what_a_chosen_load_may_read(tmp_path: Path) -> None:
    """A sum of one thread, in memory for what follows: each of its steps is read."""
    made = emitted(tmp_path, STORED).files[".cu"]
    assert re.findall(r"\bdouble \*(?:__restrict__ )?z\b", made)
    assert not re.search(r"__restrict__ z\b", made)
    (tmp_path / "device.cu").write_text(made)
    made_ptx(tmp_path)
    bodies = re.split(r"\.entry", (tmp_path / "d.ptx").read_text())[1:]
    chosen = [body for body in bodies if "selp.b64" in body]
    assert chosen
    for body in chosen:
        assert body.count("st.global") >= 2 * body.count("selp.b64")


KEPT = """\
void f(int n, int m, double c[n][m + 13][8])
{
    /*@ begin PerfTuning ( def input_params { param n = 30; param m = 3; } ) @*/
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 5; i++) {
            c[k][i + 2][4] += 1.0;
            c[k][m - i + 1][4] = c[k][i + 2][2] != 1.0 ? c[k][i + 2][4] : c[k][3 * i + 2][3];
        }
    /*@ end @*/
}
"""


def test_nvcc_stores_what_a_choice_between_elements_of_one_array_may_read(tmp_path: Path) -> None:
    made = emitted(tmp_path, KEPT).files[".cu"]
    assert all("double *c" in head for head in heads(made))
    (tmp_path / "device.cu").write_text(made)
    made_ptx(tmp_path)
    for body in re.split(r"\.entry", (tmp_path / "d.ptx").read_text())[1:]:
        assert body.count("st.global") >= 2 * body.count("selp.b64") > 0


def test_a_choice_between_inputs_is_read_only(tmp_path: Path) -> None:
    statement = "c[8*i + j] = c[8*i + 2] + (a[j] > 0 ? a[8*i + j] : 2*a[j]);"
    for head in heads(emitted(tmp_path, CHOSEN.format(statement=statement)).files[".cu"]):
        assert "const double *__restrict__ a" in head
