"""Calls that the host and a GPU share: no bit differs, and whatever fails nothing is lost."""

from __future__ import annotations

import ctypes
import re
import subprocess
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.executed import CUDA, SHARED, emitted, run
from support.laws import IS_THOROUGH
from test_transfers import DEVICE, LIMIT_S, MANAGED, PAGEABLE, PINNED, TEXT, Job, Library

from annotune.measure.cuda_text import translate
from annotune.runtime.texts import CUDA_RUNTIME, standalone_text

N = 2048
RECIPE = '/*@ begin CHiLL ( both(0, "{share}", gpus={gpus}){more} ) @*/\n    for'
ADDED = ' add_on_host(0, "y")'


def _shared(share: str, more: str = "", gpus: int = 1) -> str:
    recipe = RECIPE.format(share=share, more=more, gpus=gpus)
    text = TEXT.replace("for", recipe, 1).replace("768", str(N))
    return text.replace("/*@ end @*/", "/*@ end @*/ /*@ end @*/")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    made = emitted(tmp_path_factory.mktemp("text"), _shared("0.25")).files
    return standalone_text(made[".cu"]), made["_cuda.c"]


@pytest.fixture(scope="module")
def library(texts: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library(tmp_path_factory.mktemp("right"), *texts)


def test_the_host_computes_its_share(library: Library) -> None:
    kinds = [(one, two, two) for one in (PAGEABLE, PINNED) for two in (PAGEABLE, PINNED)]
    jobs = [Job(one, N, calls=2) for one in kinds]
    sent = 2 * N * 8 * 3 // 4
    for job, outcome in zip(jobs, library.outcomes(*jobs), strict=True):
        assert outcome.is_right, (job, outcome)
        assert outcome.moved == [2 * sent, 2 * sent], job
        assert outcome.allocations == 0, job


def test_what_the_host_cannot_touch_is_the_devices_alone(library: Library) -> None:
    jobs = [Job((kind, PAGEABLE, PAGEABLE), N) for kind in (MANAGED, DEVICE)]
    for job, outcome in zip(jobs, library.outcomes(*jobs), strict=True):
        assert outcome.is_right, (job, outcome)
        assert outcome.moved == [8 * N, 8 * N]


def test_other_sizes_are_the_devices_alone(library: Library) -> None:
    for outcome in library.outcomes(Job((PAGEABLE,) * 3, N - 1), Job((PINNED,) * 3, 1)):
        assert outcome.is_right, outcome


@pytest.mark.alike(4)
@pytest.mark.parametrize("share", ["counter", "0.25"])
@pytest.mark.parametrize("more", [ADDED, ""])
def test_whatever_fails_nothing_is_lost(share: str, more: str, tmp_path: Path) -> None:
    made = emitted(tmp_path, _shared(share, more)).files
    library = Library(tmp_path / "made", made[".cu"], made["_cuda.c"])
    for kind in (PAGEABLE, PINNED):
        plain = Job((kind, PAGEABLE, kind), N, calls=2)
        # With a counter nobody knows how many calls of CUDA's there are.
        jobs = [replace(plain, fail_at=k) for k in range(1, 240, 1 if IS_THOROUGH else 3)]
        found = [*zip(jobs, library.outcomes(*jobs), strict=True)]
        assert all(one.same for _, one in found)
        failed = [(job, one) for job, one in found if job.fail_at <= one.counted]
        assert all(one.is_right for _, one in failed)


def test_all_device_memory_may_be_gone(library: Library) -> None:
    jobs = [replace(Job((PAGEABLE,) * 3, N), fail_at=-k) for k in range(1, 40)]
    for job, outcome in zip(jobs, library.outcomes(*jobs), strict=True):
        assert outcome.is_right, (job, outcome)


MISTAKES = {
    "an iteration is computed twice": (
        "is_counted ? iterations : iterations - own,",
        "is_counted ? iterations : iterations - own + 1,",
    ),
    "an iteration is left out": (
        "host(iterations - own, iterations);",
        "host(iterations - own + 1, iterations);",
    ),
    "the call returns before the device has done": (
        "pthread_join(threads[k], NULL);",
        "pthread_detach(threads[k]);",
    ),
    "what has failed stays undone": (
        "host(driven[k].first, driven[k].first + driven[k].failed);",
        ";",
    ),
    "what has been added is added again": ("annotune_asides = driven[k].asides;", ";"),
    "the device gets other bytes than its share": (
        "array.bytes -= array.step * (size_t)(iterations - some);",
        ";",
    ),
}
OF_THE_COUNTER = {
    "a share begins where the first one does": (
        "(char *)array.first + array.step * (size_t)first;",
        "(char *)array.first;",
    ),
    "the host takes what the device has": ("*first = back;", "*first = back - 1;"),
    "the host leaves some out": ("back -= some;", "back -= some + (some < left);"),
    "the device leaves some out": ("front += some;", "front += some + (some < left);"),
    "what has failed stays undone": MISTAKES["what has failed stays undone"],
    "what has been added is added again": MISTAKES["what has been added is added again"],
}
# The device then has time for several shares of a counter's; or for one, long after the host's.
SLOW = "#pragma omp", "usleep(3000);\n    #pragma omp"
LATE = "        most = own.failed > most", "        usleep(200000), most = own.failed > most"


def _is_found(share: str, old: str, new: str, folder: Path) -> bool:
    """Return whether some call is wrong with a mistake."""
    made = emitted(folder, _shared(share, ADDED)).files
    device, host = standalone_text(made[".cu"]), made["_cuda.c"]
    assert old in device
    if share == "counter" or "detach" in new:
        host = "#include <unistd.h>\n" + host.replace(*SLOW)
    if "detach" in new:
        assert LATE[0] in device
        device = "#include <unistd.h>\n" + device.replace(*LATE)
    right = Library(folder / "right", device, host)
    wrong = Library(folder / "wrong", device.replace(old, new), host)
    plain = Job((PAGEABLE,) * 3, N, calls=2)
    assert right.outcomes(plain)[0].is_right
    for jobs in ([plain], right.every_failure(plain)[::5]):
        if not all(one is not None and one.is_right for one in wrong.run(*jobs)[0]):
            return True
    return False


@pytest.mark.alike(6)
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found(name: str, tmp_path: Path) -> None:
    assert _is_found("0.25", *MISTAKES[name], tmp_path)


@pytest.mark.alike(6)
@pytest.mark.parametrize("name", OF_THE_COUNTER)
def test_a_mistake_of_the_counter_is_found(name: str, tmp_path: Path) -> None:
    assert _is_found("counter", *OF_THE_COUNTER[name], tmp_path)


MAIN = """\
#include <stdlib.h>
void f(int, double *, double *, const double *);
int annotune_cpu_red_zone_violations(void);
unsigned annotune_cpu_devices_used(void);
int main(void)
{
    enum { N = 14336 };
    double *y = calloc(N, 8), *z = calloc(N, 8), *x = calloc(N, 8);
    for (int i = 0; i < N; i++)
        x[i] = i % 5;
    for (int k = 1; k <= 10; k++) {
        f(N, y, z, x);
        for (int i = 0; i < N; i++)
            if (y[i] != 3.0 * k * (i % 5) || z[i] != 2.0 * (i % 5))
                return 1;
    }
    if (annotune_cpu_devices_used() != (1u << GPUS) - 1)
        return 2;
    return annotune_cpu_red_zone_violations();
}
"""


# No device is so fast that the others get nothing.
IN_TURN = LATE[0], LATE[1].replace("200000", "1000")


def _program(folder: Path, share: str, gpus: int, *changes: tuple[str, str]) -> Path:
    """Return a program that calls `f` again and again, with something replaced in its text."""
    made = emitted(folder, _shared(share, ADDED, gpus).replace(str(N), "14336")).files
    device = "#include <unistd.h>\n" + standalone_text(made[".cu"])
    for old, new in (IN_TURN, *changes):
        assert old in device
        device = device.replace(old, new)
    (folder / "host.c").write_text(made["_cuda.c"])
    (folder / "main.c").write_text(MAIN)
    (folder / "device.cu").write_text(translate(device))
    # gcc's own detector, and not the one for kernels that stands in its place elsewhere.
    flags = ("-O0", "-fsanitize=thread", "-U__SANITIZE_THREAD__", f"-DGPUS={gpus}")
    for name in ("host", "main"):
        run("gcc", *flags, "-c", folder / f"{name}.c", "-o", folder / f"{name}.o")
    sizes = ("-DANNOTUNE_CHUNK=512", "-DANNOTUNE_SLOTS=3", "-DANNOTUNE_COPIERS=3")
    given = (folder / "host.o", folder / "main.o", *CUDA, folder / "device.cu")
    run("g++", *flags, *sizes, f"-DANNOTUNE_DEVICES={gpus}", *given, "-o", folder / "program")
    return folder / "program"


def _ended(program: Path) -> tuple[int, str]:
    done = subprocess.run([program], capture_output=True, text=True, timeout=LIMIT_S)
    return done.returncode, done.stderr[:2000]


@pytest.mark.alike(3)
@pytest.mark.parametrize(("share", "gpus"), [("counter", 2), ("0.25", 1), ("0", 2)])
def test_the_threads_have_no_race(share: str, gpus: int, tmp_path: Path) -> None:
    assert _ended(_program(tmp_path, share, gpus)) == (0, "")


# All blocks of memory then have one length, and whoever asks next has any of them.
ONE_BY_ONE = "is_counted ? 8 * many : many > 1 ? 2 * many : 1;", "1000;"
OF_DEVICES = {
    "a thread uses the first device": ("own.status = cudaSetDevice(own.device);", ";"),
    "memory is that of another device": (": cudaGetDevice(&place);", ": (place = 0, cudaSuccess);"),
    "one device alone shares": ("found[k] = (found[0] + k) % count;", "found[k] = found[0];"),
}


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", OF_DEVICES)
def test_a_mistake_of_several_devices_is_found(name: str, tmp_path: Path) -> None:
    assert _ended(_program(tmp_path, "0", 2, ONE_BY_ONE, OF_DEVICES[name]))[0] != 0


@pytest.mark.alike(3)
@pytest.mark.parametrize("there", [3, 2, 1])
def test_several_devices_lose_nothing_whatever_fails(there: int, tmp_path: Path) -> None:
    made = emitted(tmp_path, _shared("counter" if there == 3 else "0", ADDED, gpus=3)).files
    flag = f"-DANNOTUNE_DEVICES={there}"
    library = Library(tmp_path / "made", made[".cu"], made["_cuda.c"], flag)
    plain = Job((PAGEABLE,) * 3, N, calls=2)
    jobs = [plain, *(replace(plain, fail_at=k) for k in range(1, 300, 3))]
    for job, one in zip(jobs, library.outcomes(*jobs), strict=True):
        assert one.same, (job, one)
        assert one.violations == 0, one.message
        assert one.left == 0 or job.fail_at > one.counted, (job, one)


TAKEN = """
struct annotune_lock {{
    pthread_mutex_t *const mutex;
    annotune_lock(pthread_mutex_t *one) : mutex(one) {{ pthread_mutex_lock(mutex); }}
    ~annotune_lock() {{ pthread_mutex_unlock(mutex); }}
}};
{text}
static annotune_shares shares;
extern "C" void begin(long all, long split, long least)
{{
    shares = {{0, all, split, least, PTHREAD_MUTEX_INITIALIZER}};
}}
extern "C" long take(int is_host, long *first)
{{
    return is_host ? shares.hosts(first) : shares.taken(first);
}}
"""


@pytest.fixture(scope="module")
def counter(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    text = CUDA_RUNTIME.texts[CUDA_RUNTIME.source]
    found = re.search(r"^struct annotune_shares \{.*?^\};", text, re.DOTALL | re.MULTILINE)
    assert found is not None
    folder = tmp_path_factory.mktemp("counter")
    (folder / "taken.cpp").write_text("#include <pthread.h>\n" + TAKEN.format(text=found[0]))
    run("g++", "-O1", *SHARED, "-shared", folder / "taken.cpp", "-o", folder / "taken.so")
    made = ctypes.CDLL(str(folder / "taken.so"))
    made.begin.argtypes = (ctypes.c_long,) * 3
    made.take.restype = ctypes.c_long
    return made


@given(
    st.integers(0, 1000),
    st.integers(1, 40),
    st.integers(1, 64),
    st.lists(st.booleans(), min_size=1),
)
def test_each_iteration_is_taken_once(
    counter: ctypes.CDLL, iterations: int, split: int, least: int, turns: list[bool]
) -> None:
    counter.begin(iterations, split, least)
    first, taken, last = ctypes.c_long(), list[int](), iterations + 1
    for is_host in cycle(turns):
        some = counter.take(is_host, ctypes.byref(first))
        if not some:
            break
        assert is_host or split == 1 or some <= max(last, least)
        last = last if is_host else some
        taken += range(first.value, first.value + some)
    assert sorted(taken) == [*range(iterations)]
