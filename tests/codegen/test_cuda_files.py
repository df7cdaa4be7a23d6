"""The text of S.cu and S_cuda.c: what it holds, what it copies, and that nvcc takes it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import Golden
from support.executed import emitted
from support.regions import EXAMPLES

from annotune.codegen.cuda.target import CudaTarget
from annotune.diagnostics import AnnotuneError
from annotune.measure.cuda_text import timed_device_text
from annotune.pipeline import Settings, emit
from annotune.runtime.texts import RUNTIME_TEXTS

NVCC_PLACES = "lib/python*/site-packages/nvidia/cu*/bin/nvcc"


def body(text: str) -> str:
    """Return a text without its provenance, in which a predicted time stands."""
    return re.sub(r"/\*\n \* Generated.*?\*/\n", "", text, count=1, flags=re.DOTALL)


def cuda_files(name: str, function: str = "") -> dict[str, str]:
    made = emit(Settings(EXAMPLES / name, ("cuda",), function=function), [CudaTarget()])
    return dict(made.files)


def test_local_grad3(golden: Golden) -> None:
    files = cuda_files("nekbone/local_grad3.c")
    golden.check("codegen/cuda_local_grad3.cu", body(files[".cu"]))
    golden.check("codegen/cuda_local_grad3.c", body(files["_cuda.c"]))


def test_sd_t_d1_1(golden: Golden) -> None:
    files = cuda_files("nwchem/sd_t_d1.c", "sd_t_d1_1")
    golden.check("codegen/cuda_sd_t_d1_1.cu", body(files[".cu"]))


def test_gemm(golden: Golden) -> None:
    golden.check("codegen/cuda_gemm.cu", body(cuda_files("gemm/gemm.c")[".cu"]))


def test_no_name_of_a_kernel_brings_helpers_of_calls() -> None:
    # What the tensor cores add to is a variable of the kernel.
    settings = Settings(EXAMPLES / "gemm/gemm.c", ("cuda",), function="gemm", resident=True)
    text = emit(settings, [CudaTarget()]).files[".cu"]
    assert "annotune_mma" in text
    assert not {"annotune_adding", "annotune_nothing"} & set(re.findall(r"\w+", text))
    assert ("pthread_mutex_lock" in text) is ("#include <pthread.h>" in text)


def test_every_array_is_allocated_and_copied_once() -> None:
    # Fig. 4.4 of the thesis: 6 allocations, and 6 + 3 copies instead of 11; of the latter those
    # to which the host adds what comes back are not sent.
    text = re.sub(r"\n {9}", " ", cuda_files("nekbone/local_grad3.c")[".cu"])
    rows = [line for line in text.splitlines() if line.startswith("        {(void *)")]
    assert len(rows) == 6
    assert sum(row.count("true") for row in rows) == 9
    assert sum("annotune_host_sums<double>" in row for row in rows) == 3
    # The call as one, and in parts.
    assert text.count("<<<") == 1 + 1


def test_an_output_that_is_overwritten_is_not_copied_in(tmp_path: Path) -> None:
    text = """
void f(int n, double *restrict c, const double *restrict a) {
  /*@ begin PerfTuning (def input_params { param n = 64; }) @*/
  for (int i = 0; i < n; i++) c[i] = 2.0 * a[i];
  /*@ end @*/
}
"""
    made = emitted(tmp_path, text).files[".cu"]
    assert "{(void *)(a), a_bytes, 0, a_bytes, true, false}," in made
    assert "{(void *)(c), c_bytes, 0, c_bytes, false, true}," in made


def test_bytes_outside_the_regions_stay(tmp_path: Path) -> None:
    text = (EXAMPLES / "gemm" / "gemm.c").read_text()
    host = cuda_files("gemm/gemm.c")["_cuda.c"]
    ours = re.split(r"/\*@ begin PerfTuning.*?/\*@ end @\*/", text, flags=re.DOTALL)
    for part in ours:
        assert part in host


def test_a_scalar_has_no_place_in_resident_data(tmp_path: Path) -> None:
    text = """
double f(int n, double *restrict a) {
  double s = 0;
  /*@ begin PerfTuning (def input_params { param n = 64; }) @*/
  for (int i = 0; i < n; i++) a[i] = 2.0 * a[i];
  for (int i = 0; i < n; i++) s += a[i];
  /*@ end @*/
  return s;
}
"""
    with pytest.raises(AnnotuneError) as error:
        emitted(tmp_path, text, resident=True)
    (refusal,) = error.value.diagnostics
    assert (refusal.code, refusal.span.line) == ("AT401", 4)
    assert refusal.message == (
        "'s' is computed in this region, and with --data resident nothing copies it back"
    )
    assert "double *s" in emitted(tmp_path, text).files[".cu"]


def test_resident_data_are_neither_allocated_nor_copied(tmp_path: Path) -> None:
    text = (EXAMPLES / "nekbone" / "local_grad3.c").read_text()
    made = emitted(tmp_path, text, resident=True).files[".cu"]
    assert "annotune_allocate" not in made
    assert "annotune_send" not in made
    assert "local_grad3_1_original<<<1, 1>>>(" in made


def nvcc() -> str:
    """Return nvcc's path: on PATH, or NVIDIA's wheels in this environment."""
    import sys

    found = shutil.which("nvcc") or next(map(str, Path(sys.prefix).glob(NVCC_PLACES)), "")
    if not found:
        pytest.skip("nvcc is neither on PATH nor installed as a wheel (annotune[nvcc])")
    return found


def compiled(folder: Path, text: str) -> str:
    """Return what ptxas says of a CUDA text, which must compile without a warning."""
    source = folder / "device.cu"
    source.write_text(text)
    flags = ["-arch=sm_90", "-Xptxas", "-v", "-Werror", "all-warnings", f"-I{RUNTIME_TEXTS}", "-c"]
    done = subprocess.run(
        [nvcc(), *flags, str(source), "-o", str(folder / "device.o")],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.alike(4)
@pytest.mark.parametrize(
    ("name", "function"),
    [("nekbone/local_grad3.c", ""), ("nwchem/sd_t_d1.c", "sd_t_d1_1"), ("gemm/gemm.c", "")],
)
def test_nvcc_takes_it_without_warnings_or_spills(tmp_path: Path, name: str, function: str) -> None:
    said = compiled(tmp_path, cuda_files(name, function)[".cu"])
    assert "0 bytes spill stores, 0 bytes spill loads" in said
    assert not re.search(r"[1-9]\d* bytes spill", said)


TIMED = """
void f(int n, double c, double *restrict a, const double *restrict b) {
  /*@ begin PerfTuning (def input_params { param n = 1000; }) @*/
  for (int i = 0; i < n; i++) a[i] = c * a[i] + b[i];
  /*@ end @*/
}
"""


@pytest.mark.alike(2)
@pytest.mark.parametrize("resident", [False, True])
def test_nvcc_takes_what_is_timed(tmp_path: Path, resident: bool) -> None:
    made = emitted(tmp_path, TIMED, resident=resident).files[".cu"]
    text = timed_device_text(made)
    assert text.count("annotune_before_launch();") >= 2
    compiled(tmp_path, text)


@pytest.mark.slow
def test_nvcc_takes_all_triples(tmp_path: Path) -> None:
    for name in ("sd_t_d1.c", "sd_t_d2.c", "sd_t_s1.c"):
        assert "bytes spill" in compiled(tmp_path, cuda_files(f"nwchem/{name}")[".cu"])


def test_an_unsigned_loop_behind_its_end_asks_for_no_blocks(tmp_path: Path) -> None:
    # Of gamma = n there is nothing left, not the 2^32 - 1 blocks of C's 11 - gamma.
    text = """
        void f(signed char n, short *x)
        {
          /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
          for (unsigned gamma = 1; gamma <= n; gamma++)
            for (unsigned col = gamma + 1; col < n; col++)
              x[col] -= x[gamma];
          /*@ end @*/
        }
    """
    counts = re.findall(r"annotune_extent\(([^;]*), \d+\)", emitted(tmp_path, text).files[".cu"])
    asked = [count for count in counts if "gamma" in count]
    assert asked
    assert all("(long)gamma" in count for count in asked)


def test_what_unrolling_leaves_over_stages_in_the_same_array(tmp_path: Path) -> None:
    text = """
        void f(int n, int p, int t, double *restrict c, const double *restrict a,
               const double *restrict b)
        {
          /*@ begin PerfTuning (
            def input_params { param n = 16; param p = 8; param t = 16; }
          ) @*/
          /*@ begin CHiLL (
            tile(0, "i", 4)
            cuda(0, block={"j","i_t"}, thread={"i"})
            unroll(0, "k", 4)
            stage(0, "a")
          ) @*/
          for (int i = 0; i < n; i++)
            for (int j = 0; j < p; j++)
              for (int k = 0; k < t; k++)
                c[i * p + j] += a[i * 20 + k] * b[k * p + j];
          /*@ end @*/
          /*@ end @*/
        }
    """
    made = emitted(tmp_path, text).files[".cu"]
    assert made.count("__shared__ double a_tile[4];") == made.count("__global__") == 2
