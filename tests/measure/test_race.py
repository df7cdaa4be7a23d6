"""The race detector on CUDA text: a verdict that no order of execution changes."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import pytest
from cpu_builds import CUDA, answers, build, run, runtime_object
from hypothesis import given
from hypothesis import strategies as st

from annotune.measure.cuda_text import translate

N = 96
# Every kernel takes (int n, const double *a, double *b) and runs on 3 blocks of n / 3.
TEXT = r"""
#include <cuda_pipeline.h>
#define HERE (blockIdx.x * blockDim.x + threadIdx.x)
#define ENTRY(NAME, ...)                                                                  \
  extern "C" int run_##NAME(int n, const double *in, double *out) {                       \
    double *a, *b;                                                                        \
    cudaMalloc(&a, n * sizeof(double)); cudaMalloc(&b, n * sizeof(double));               \
    cudaMemcpy(a, in, n * sizeof(double), cudaMemcpyHostToDevice);                        \
    cudaMemset(b, 0, n * sizeof(double));                                                 \
    launch_##NAME(n, a, b);                                                               \
    cudaMemcpy(out, b, n * sizeof(double), cudaMemcpyDeviceToHost);                       \
    cudaFree(a); cudaFree(b);                                                             \
    return cudaGetLastError();                                                            \
  }
"""
RIGHT = {
    "barrier": "__shared__ double t[64]; t[threadIdx.x] = a[HERE]; __syncthreads(); "
    "b[HERE] = t[blockDim.x - 1 - threadIdx.x];",
    "shared_reused_by_blocks": "__shared__ double t[1]; if (threadIdx.x == 0) t[0] = a[HERE]; "
    "if (threadIdx.x == 0) b[HERE] = t[0];",
    "all_read_all": "double s = 0; for (int i = 0; i < n; i++) s += a[i]; b[HERE] = s;",
    "own_accumulator": "for (int i = 0; i < n; i++) b[HERE] += a[i];",
    "atomic": "atomicAdd(&b[0], a[HERE]);",
    "private_array": "double p[4]; for (int i = 0; i < 4; i++) p[(i + HERE) % 4] = a[HERE] * i; "
    "b[HERE] = p[n % 4];",
    "warp_sync": "__shared__ double t[32]; t[threadIdx.x] = a[HERE]; __syncwarp(); "
    "b[HERE] = t[31 - threadIdx.x];",
    "bytes": "__shared__ char t[64]; t[threadIdx.x] = 1; b[HERE] = t[threadIdx.x];",
    "floats": "((float *)b)[2 * HERE] = 1; ((float *)b)[2 * HERE + 1] = (float)a[HERE];",
    "async_copy": "__shared__ double t[2][32]; for (int k = 0; k < 4; k++) {"
    "__pipeline_memcpy_async(&t[k % 2][threadIdx.x], &a[HERE], 8); __pipeline_commit();"
    "__pipeline_wait_prior(0); __syncthreads(); b[HERE] += t[k % 2][31 - threadIdx.x]; }",
}
BROKEN = {
    "missing_barrier": "__shared__ double t[64]; t[threadIdx.x] = a[HERE]; "
    "if (n < 0) __syncthreads(); b[HERE] = t[blockDim.x - 1 - threadIdx.x];",
    "missing_second_barrier": "__shared__ double t[64]; for (int k = 0; k < 2; k++) { "
    "t[threadIdx.x] = a[HERE]; __syncthreads(); b[HERE] += t[31 - threadIdx.x]; }",
    "reduction_on_threads": "b[blockIdx.x] += a[HERE];",
    "reduction_on_blocks": "b[threadIdx.x] += a[HERE];",
    "same_value_written": "b[0] = 1;",
    "carried": "if (HERE) b[HERE] = b[HERE - 1] + a[HERE];",
    "read_by_all_then_written": "double s = b[0]; b[HERE == n - 1 ? 0 : HERE + 1] = s;",
    "atomic_and_plain": "atomicAdd(&b[0], a[HERE]); b[HERE] = 1;",
    "warp_sync_is_no_barrier": "__shared__ double t[64]; t[threadIdx.x] = a[HERE]; __syncwarp(); "
    "b[HERE] = t[blockDim.x - 1 - threadIdx.x];",
    "shuffle_is_no_barrier": "__shared__ double t[32]; t[threadIdx.x] = a[HERE]; "
    "__shfl_sync(~0u, 1.0, 0); b[HERE] = t[31 - threadIdx.x];",
    "bytes_overlap": "__shared__ char t[64]; t[threadIdx.x / 2] = 1; b[HERE] = t[0];",
    "float_halves": "((float *)b)[HERE] = 1; b[HERE / 2] = 2;",
    "async_copy_too_early": "__shared__ double t[32]; for (int k = 0; k < 4; k++) {"
    "__pipeline_memcpy_async(&t[threadIdx.x], &a[HERE], 8); __pipeline_commit();"
    "__pipeline_wait_prior(0); __syncthreads(); b[HERE] += t[31 - threadIdx.x]; }",
}
# Two warps in a block only where warps shall differ.
BLOCK = {"warp_sync_is_no_barrier": "n / 2"}
MORE = r"""
__global__ void twice(int n, const double *a, double *b) { b[HERE] += a[n - 1 - HERE]; }
static void launch_two_launches(int n, double *a, double *b) {
  twice<<<3, n / 3>>>(n, a, b);
  twice<<<3, n / 3>>>(n, b, a);
}
ENTRY(two_launches)
extern "C" int run_host_pointer(int n, const double *in, double *out) {
  twice<<<3, n / 3>>>(n, in, out);
  return 0;
}
__global__ void triples(int n, const double *a, double *b) {
  for (int i = 0; i < 5000; i++) b[HERE] += a[i % n] * a[threadIdx.x];
}
static void launch_long_run(int n, double *a, double *b) { triples<<<8, n / 8>>>(n, a, b); }
ENTRY(long_run)
"""


def cuda_text() -> str:
    kernels = "".join(
        f"__global__ void {name}(int n, const double *a, double *b) {{ {body} }}\n"
        f"static void launch_{name}(int n, double *a, double *b) {{ "
        f"{name}<<<n / ({BLOCK.get(name, 'n / 3')}), {BLOCK.get(name, 'n / 3')}>>>(n, a, b); }}\n"
        f"ENTRY({name})\n"
        for name, body in {**RIGHT, **BROKEN}.items()
    )
    return TEXT + kernels + MORE


SCRIPT = f"""
for mode in (0, 1, 2):
    lib.annotune_cpu_set_order(mode)
    lib.annotune_race_reset()
    error, _ = call(name, {N}, [1.0] * {N})
    say(error, lib.annotune_race_count() > 0, races())
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("race")
    compiled = build(folder, "text.cu", translate(cuda_text()), ("-fsanitize=thread", *CUDA))
    # No -fsanitize=thread here: libtsan stays out, race.cpp answers instead.
    run("g++", "-shared", compiled, runtime_object(folder, "race"), "-o", folder / "text.so")
    return folder / "text.so"


@pytest.mark.alike(5)
@pytest.mark.parametrize("name", [*RIGHT, "two_launches"])
def test_a_right_kernel_has_no_race_in_any_order(library: Path, name: str) -> None:
    assert answers(library, f"name = 'run_{name}'" + SCRIPT) == [[0, False, []]] * 3


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_kernel_is_caught_in_every_order(library: Path, name: str) -> None:
    for said in answers(library, f"name = 'run_{name}'" + SCRIPT):
        assert isinstance(said, list)
        error, has_race, messages = said
        assert (error, has_race) == (0, True)
        assert messages[0].startswith(f"{name}: thread (")


def test_a_message_names_kernel_threads_and_memory(library: Path) -> None:
    (said,) = answers(
        library, f"call('run_reduction_on_blocks', {N}, [1.0] * {N}); say(races()[0])"
    )
    assert isinstance(said, list)
    assert said[0].rsplit(" (code", 1)[0] == (
        "reduction_on_blocks: thread (0,0,0) of block (1,0,0) after barrier 0 reads byte 0 of "
        "device allocation 2 (768 bytes), which thread (0,0,0) of block (0,0,0) after barrier 0 "
        "wrote; nothing orders the two"
    )


def test_a_kernel_that_is_given_host_memory_is_caught(library: Path) -> None:
    (said,) = answers(library, f"call('run_host_pointer', {N}, [1.0] * {N}); say(races()[0])")
    assert isinstance(said, list)
    assert "in no device allocation" in said[0]


def test_a_long_kernel_is_checked_before_its_child_is_given_up(library: Path) -> None:
    # 720 threads, 5000 iterations each; measured 0.2 s.
    script = "call('run_long_run', 720, [1.0] * 720); say(lib.annotune_race_count())"
    assert answers(library, script) == [[0]]


LEVELS = 3
SOMEWHERE = 1 << 32  # never dereferenced


@dataclass(frozen=True)
class Access:
    """One access by the place with these phases and members, outermost first."""

    phases: tuple[int, ...]
    members: tuple[int, ...]
    first: int
    size: int
    is_write: bool
    exclusion: int

    def conflicts_with(self, other: Access) -> bool:
        overlap = self.first < other.first + other.size and other.first < self.first + self.size
        excluded = self.exclusion and self.exclusion == other.exclusion
        return (
            overlap
            and not excluded
            and (self.is_write or other.is_write)
            and self.is_unordered_with(other)
        )

    def is_unordered_with(self, other: Access) -> bool:
        for level in range(LEVELS):
            if self.phases[level] != other.phases[level]:
                return False
            if self.members[level] != other.members[level]:
                return True
        return False


class PlaceStruct(ctypes.Structure):
    _fields_ = [("phase", ctypes.c_uint32 * LEVELS), ("member", ctypes.c_uint32 * LEVELS)]


@pytest.fixture(scope="module")
def detector(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("detector")
    run("g++", "-shared", runtime_object(folder, "race"), "-o", folder / "race.so")
    return ctypes.CDLL(str(folder / "race.so"))


def accesses(exclusions: list[int]) -> st.SearchStrategy[list[Access]]:
    few = st.tuples(*[st.integers(0, 1)] * LEVELS)
    one = st.builds(
        Access,
        few,
        few,
        st.integers(0, 9),
        st.sampled_from([1, 2, 4, 8]),
        st.booleans(),
        st.sampled_from(exclusions),
    )
    return st.lists(one, max_size=12)


def found_conflicts(detector: ctypes.CDLL, run_of: list[Access], by_block: bool) -> int:
    """Return how many conflicts are reported, with the accesses in an order that can be."""
    words = (ctypes.c_void_p * 2)()
    detector.annotune_race_reset()
    detector.annotune_race_enter(b"law", words, 0)
    for each in sorted(
        run_of, key=lambda a: (a.phases[0], by_block and a.members[0], a.phases[1:])
    ):
        place = PlaceStruct(
            (ctypes.c_uint32 * LEVELS)(*each.phases), (ctypes.c_uint32 * LEVELS)(*each.members)
        )
        detector.annotune_race_at(ctypes.byref(place), ctypes.c_void_p(1), ctypes.c_void_p(1))
        detector.annotune_race_access(
            ctypes.c_void_p(SOMEWHERE + each.first),
            ctypes.c_size_t(each.size),
            int(each.is_write),
            each.exclusion,
        )
    detector.annotune_race_leave()
    return int(detector.annotune_race_count())


@given(run_of=accesses([0, 0, 1]), by_block=st.booleans())
def test_conflicts_are_found_exactly(
    detector: ctypes.CDLL, run_of: list[Access], by_block: bool
) -> None:
    expected = any(a.conflicts_with(b) for a, b in combinations(run_of, 2))
    assert (found_conflicts(detector, run_of, by_block) > 0) == expected


@given(run_of=accesses([0, 1, 2]), by_block=st.booleans())
def test_no_conflict_is_missed_whatever_the_locks(
    detector: ctypes.CDLL, run_of: list[Access], by_block: bool
) -> None:
    if any(a.conflicts_with(b) for a, b in combinations(run_of, 2)):
        assert found_conflicts(detector, run_of, by_block) > 0
