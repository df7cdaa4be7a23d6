"""Outputs to which the host adds what comes back: less is copied, no bit differs."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from support.cli import annotune
from support.executed import CUDA, SHARED, emitted, run
from support.laws import IS_THOROUGH
from support.python import python
from test_transfers import (
    DEVICE,
    LENGTHS,
    LIMIT_S,
    MANAGED,
    PAGEABLE,
    PINNED,
    TEXT,
    TUNED,
    Job,
    Library,
)

from annotune.codegen.recipes import exact_recipe
from annotune.measure.cuda_text import translate
from annotune.runtime.texts import standalone_text

RECIPE = '/*@ begin CHiLL ( add_on_host(0, "y") ) @*/\n    for'
ADDED = TEXT.replace("for", RECIPE, 1).replace("/*@ end @*/", "/*@ end @*/ /*@ end @*/")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    files = emitted(tmp_path_factory.mktemp("text"), ADDED).files
    return standalone_text(files[".cu"]), files["_cuda.c"]


@pytest.fixture(scope="module")
def library(texts: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library(tmp_path_factory.mktemp("right"), *texts)


@pytest.mark.parametrize("n", LENGTHS)
def test_what_is_added_to_is_not_sent(n: int, library: Library) -> None:
    kinds = PAGEABLE, PINNED, MANAGED, DEVICE
    jobs = [Job((one, two, two), n, calls=2) for one in kinds for two in kinds[:2]]
    size = 8 * n
    for job, outcome in zip(jobs, library.outcomes(*jobs), strict=True):
        assert outcome.is_right, (job, outcome)
        y = job.kinds[0] in (PAGEABLE, PINNED)
        assert outcome.moved == [2 * size, 2 * size * (y + 1)], job
        assert outcome.allocations == 0, job


def test_a_build_may_have_it_sent(texts: tuple[str, str], tmp_path: Path) -> None:
    sent = Library(tmp_path / "sent", *texts, "-DANNOTUNE_ADD_ON_HOST=0")
    for outcome in sent.outcomes(Job((PAGEABLE,) * 3), Job((PINNED,) * 3, TUNED)):
        assert outcome.is_right, outcome
        assert outcome.moved[0] == outcome.moved[1]


@pytest.mark.alike(2)
@pytest.mark.parametrize("kind", [PAGEABLE, PINNED])
def test_whatever_fails_nothing_is_added_twice(kind: str, library: Library) -> None:
    jobs = [job for n in LENGTHS for job in library.every_failure(Job((kind,) * 3, n))]
    assert len(jobs) > 80
    twice = [replace(job, calls=2) for job in jobs[:: 1 if IS_THOROUGH else 3]]
    for job, outcome in zip(twice, library.outcomes(*twice), strict=True):
        assert outcome.is_right, (job, outcome)


MISTAKES = {
    "a result is added before it has come": (
        "const cudaError_t status = cudaEventSynchronize(slot.event);",
        "const cudaError_t status = cudaSuccess;",
    ),
    "a part is added before it has been computed": (
        "cudaStreamWaitEvent(stream, computed, 0);",
        "cudaSuccess;",
    ),
    "what comes back takes the place of what was there": (
        "slot.add = adding == NULL ? NULL : adding->add;",
        "slot.add = NULL;",
    ),
    "kernels begin at what the memory has": ("status = array.adding->begin(", "(void)("),
    "of what has been added nothing is put back": ("    annotune_put_back();\n", ""),
    "more is put back than has been added": (
        "array.added = array.adding == NULL ? 0 : chunk.from + chunk.bytes();",
        "array.added = array.adding == NULL ? 0 : array.bytes;",
    ),
    "less is put back than has been added": (
        "array.added = array.adding == NULL ? 0 : chunk.from + chunk.bytes();",
        "array.added = array.adding == NULL ? 0 : chunk.from;",
    ),
}


@pytest.mark.alike(4)
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found(
    name: str, texts: tuple[str, str], library: Library, tmp_path: Path
) -> None:
    old, new = MISTAKES[name]
    device, host = texts
    assert old in device
    made = Library(tmp_path / "wrong", device.replace(old, new), host)
    plain = [Job((kind,) * 3, n) for n in LENGTHS for kind in (PAGEABLE, PINNED)]
    failing = [job for one in plain for job in library.every_failure(one)]
    assert any(
        not all(one is not None and one.is_right for one in made.run(*jobs)[0])
        for jobs in (plain, failing[::3])
    )


EDGES = """\
void f(int n, double *restrict y, float *restrict z, const double *restrict x)
{
    /*@ begin PerfTuning (def input_params { param n = 768; }) @*/
    /*@ begin CHiLL ( add_on_host(0, "y") add_on_host(1, "z") ) @*/
    for (int i = 0; i < n; i++) {
        if (i % 3 < 2)
            y[i] += x[i];
        if (x[i] > 0.5)
            z[i] -= (float)x[i];
    }
    /*@ end @*/
    /*@ end @*/
}
"""
_CHILD = """
import ctypes, itertools, json, sys
import numpy as np

found = []
for path in sys.argv[1:]:
    lib = ctypes.CDLL(path)
    signalling = np.array([0x7FF0000000000123], np.uint64).view(np.float64)[0]
    values = [0.0, -0.0, 1.5, -1.5, 5e-324, np.inf, -np.inf, np.nan, 1e308]
    for n in (768, 700):
        pairs = list(itertools.islice(itertools.cycle(itertools.product(values, values)), n))
        y, x = (np.array(one) for one in zip(*pairs))
        y = y.copy()
        # What no iteration touches keeps even the bits of a NaN that signals.
        y[2::3].view(np.uint64)[::2] = signalling.view(np.uint64)
        z = y.astype(np.float32)
        lib.f(n, *(ctypes.c_void_p(one.ctypes.data) for one in (y, z, x)))
        untouched = y[2::3].view(np.uint64).tolist()
        y[np.isnan(y)] = z[np.isnan(z)] = np.nan
        found.append([y.view(np.uint64).tolist(), z.view(np.uint32).tolist(), untouched])
half = len(found) // 2
print(json.dumps(found[:half] == found[half:]))
"""


def test_no_bit_differs(tmp_path: Path) -> None:
    files = emitted(tmp_path, EDGES).files
    assert files[".cu"].count("annotune_host_sums<") == 2
    text = standalone_text(files[".cu"])
    for begin, same in (("-0.0", True), ("0.0", False)):
        device = text.replace("first[k] = (Real)-0.0;", f"first[k] = (Real){begin};")
        Library(tmp_path / begin, device, files["_cuda.c"])
        original = tmp_path / f"original{begin}.so"
        run("gcc", "-O1", *SHARED, "-shared", tmp_path / "user.c", "-o", original)
        child = python(_CHILD, original, tmp_path / begin / "made.so", timeout=LIMIT_S)
        assert child.returncode == 0, child.stderr
        assert json.loads(child.stdout) is same


MAIN = """\
#include <stdlib.h>
void f(int, double *, double *, const double *);
int annotune_cpu_red_zone_violations(void);
int main(void)
{
    enum { N = 14000 };
    double *y = calloc(N, 8), *z = calloc(N, 8), *x = calloc(N, 8);
    for (int i = 0; i < N; i++)
        x[i] = i % 5;
    for (int k = 1; k <= 10; k++) {
        f(N, y, z, x);
        for (int i = 0; i < N; i++)
            if (y[i] != 3.0 * k * (i % 5))
                return 1;
    }
    return annotune_cpu_red_zone_violations();
}
"""


def test_the_threads_that_add_have_no_race(texts: tuple[str, str], tmp_path: Path) -> None:
    device, host = texts
    (tmp_path / "host.c").write_text(host)
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "device.cu").write_text(translate(device))
    for name in ("host", "main"):
        run("gcc", "-O1", "-c", tmp_path / f"{name}.c", "-o", tmp_path / f"{name}.o")
    # gcc's own detector, and not the one for kernels that stands in its place elsewhere.
    flags = ("-O0", "-fsanitize=thread", "-U__SANITIZE_THREAD__")
    sizes = ("-DANNOTUNE_CHUNK=512", "-DANNOTUNE_SLOTS=3", "-DANNOTUNE_COPIERS=6")
    given = (tmp_path / "host.o", tmp_path / "main.o", *CUDA, tmp_path / "device.cu")
    run("g++", *flags, *sizes, *given, "-o", tmp_path / "program")
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr[:2000]


LONG = (
    "void f(int n, double *restrict y, const double *restrict x)\n{{\n"
    "    /*@ begin PerfTuning (def input_params {{ param n = {n}; }}) @*/\n"
    "    for (int i = 0; i < n; i++) y[i] += x[i];\n    /*@ end @*/\n}}\n"
)


@pytest.mark.parametrize(("n", "resident"), [(1000, False), (1000000, False), (1000000, True)])
def test_the_rules_say_it_in_recipe_and_text(n: int, resident: bool, tmp_path: Path) -> None:
    text = LONG.format(n=n)
    emission = emitted(tmp_path, text, resident=resident)
    is_added = n == 1000000 and not resident
    assert ("annotune_host_sums<double>" in emission.files[".cu"]) is is_added
    exact = exact_recipe("cuda", emission.variants[0]["cuda"])
    # For data on the device the step says nothing.
    assert ('add_on_host(0, "y")' in exact) is (n == 1000000)
    # A recipe that says all of a target says this, too.
    said = "".join(x for x in exact.splitlines(True) if "add_on_host" not in x)
    for recipe in (exact, said):
        text = LONG.format(n=n).replace("for", f"/*@ begin CHiLL (\n{recipe}) @*/\n    for")
        text = text.replace("/*@ end @*/", "/*@ end @*/ /*@ end @*/")
        made = emitted(tmp_path, text, resident=resident).files[".cu"]
        assert ("annotune_host_sums<double>" in made) is (is_added and recipe == exact)


def test_check_says_it(tmp_path: Path) -> None:
    (tmp_path / "user.c").write_text(LONG.format(n=1000000))
    done = [annotune("check", tmp_path / "user.c", "--data", data) for data in ("host", "resident")]
    assert [one.out.count("y: added on the host (it is only added to") for one in done] == [1, 0]
