"""Programs that record their regions: what they leave, however they end, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support.cli import Outcome, annotune

from annotune.ir.recorded import RecordedCall
from annotune.measure.capture.records import Records, read_records
from annotune.measure.inputs import recorded_values

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")

ELL = """\
#define _GNU_SOURCE
#include "beside.h"
#include <stdio.h>

int line_of_file(void) { return __LINE__; }

void ell(int n, int w, const int *col, const double *val, const double *x, double *y)
{
    int i, k;
    /*@ begin PerfTuning () @*/
    for (i = 0; i < n; i++)
        for (k = 0; k < w; k++)
            y[i] += val[i * w + k] * x[col[i * w + k]];
    /*@ end @*/
    last_line = __LINE__;
}

char *told(int calls)
{
    char *text = NULL;
    return asprintf(&text, "%d calls", calls) < 0 ? NULL : text;
}
"""

# The sizes of call r are (100, 3), or (40, 3) for every third of them; y begins as r.
MAIN = """\
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int last_line;
void ell(int n, int w, const int *col, const double *val, const double *x, double *y);
int line_of_file(void);
char *told(int calls);

static void call(int r)
{
    int n = r % 3 == 2 ? 40 : 100, w = 3, i;
    int *col = malloc(n * w * sizeof *col);
    double *val = malloc(n * w * sizeof *val), *x = malloc(n * sizeof *x);
    double *y = malloc(n * sizeof *y);
    for (i = 0; i < n * w; i++) { col[i] = (7 * i + r) % n; val[i] = i; }
    for (i = 0; i < n; i++) { x[i] = 0.5 * i; y[i] = r; }
    errno = 77;
    ell(n, w, col, val, x, y);
    if (errno != 77) exit(9);
    free(col); free(val); free(x); free(y);
}

int main(int argc, char **argv)
{
    int calls = atoi(argv[1]), r;
    const char *how = argc > 2 ? argv[2] : "";
    if (!strcmp(how, "fork") && !fork()) {
        for (r = 0; r < calls; r++) call(r);
        exit(0);
    }
    for (r = 0; r < calls; r++) call(r);
    if (!strcmp(how, "fork")) wait(&r);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "_exit")) _exit(3);
    if (!strcmp(how, "exit")) exit(3);
    printf("%s, lines %d and %d\\n", told(calls), line_of_file(), last_line);
    return 0;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the program, built once of what records, and nothing recorded."""
    folder = tmp_path_factory.mktemp("capture")
    (folder / "ell.c").write_text(ELL)
    (folder / "beside.h").write_text("extern int last_line;\n")
    (folder / "main.c").write_text(MAIN)
    done = capture(folder, "--build", build(folder, "-Wall -Wextra -Werror"))
    assert (done.code, done.err) == (0, "")
    assert done.out == f"{folder / 'records' / 'ell.c'}\n"
    return folder


def build(folder: Path, flags: str) -> str:
    return f"cd {folder} && gcc -O2 {flags} {{file}} main.c -o program"


def capture(folder: Path, *arguments: str, name: str = "ell.c") -> Outcome:
    return annotune("capture", folder / name, "-o", folder / "records", *arguments)


def record(folder: Path, *program: str, options: tuple[str, ...] = ()) -> tuple[Outcome, Records]:
    """Run the program; return what is said of it, and what it has recorded."""
    done = capture(folder, *options, "--", str(folder / "program"), *program)
    return done, read_records(folder / "records", "ell.c")


def values(call: RecordedCall) -> dict[str, np.ndarray]:
    return {array.name: recorded_values(call, array) for array in call.arrays}


def check_values(call: RecordedCall) -> None:
    """Check what a call was recorded with against what `MAIN` calls it with."""
    r, n, found = call.number - 1, call.sizes["n"], values(call)
    order = np.arange(3 * n)
    assert n == (40 if r % 3 == 2 else 100)
    assert call.integers == {"n": n, "w": 3, "col_low": 0, "col_high": n - 1}
    np.testing.assert_array_equal(found["col"], (7 * order + r) % n)
    np.testing.assert_array_equal(found["val"], order)
    np.testing.assert_array_equal(found["x"], 0.5 * np.arange(n))
    np.testing.assert_array_equal(found["y"], np.full(n, float(r)))


def test_calls_are_counted_and_some_are_kept_with_their_arguments(folder: Path) -> None:
    how = ("-D", "UNUSED", "-I", ".", "--function", "ell")
    done, found = record(folder, "20", options=how)
    assert done.code == 0
    (region,) = found.regions
    assert (region.function, region.index, region.calls) == ("ell", 1, 20)
    at = {one.sizes["n"]: one for one in region.at}
    assert {n: (one.calls, len(one.kept)) for n, one in at.items()} == {100: (14, 3), 40: (6, 3)}
    assert at[100].kept[0].number == 1
    assert at[40].kept[0].number == 3
    for call in (call for one in region.at for call in one.kept):
        check_values(call)
    assert 0 < region.time_s < found.program_s
    assert region.time_s == pytest.approx(sum(one.time_s for one in region.at))
    assert (found.processes, found.unended) == (1, 0)
    said = done.out.splitlines()
    assert re.match(r"ell, region 1: 20 calls, .*, \d+% of the program$", said[0])
    assert any(re.match(r"  n=100, w=3: 14 calls, .*, 3 kept$", line) for line in said)
    inputs = f"--inputs {folder / 'records'} -I. -DUNUSED=1 --function ell"
    assert said[-1] == f"next: annotune run {folder / 'ell.c'} {inputs}"
    # Nothing is left of calls that made way for later ones.
    files = sorted(path.suffix for path in (folder / "records").iterdir())
    assert files == [*[".bin"] * 6, ".c", ".json", ".taken"]


def test_the_program_is_what_it_was_but_for_its_records(folder: Path) -> None:
    done = subprocess.run([folder / "program", "4"], capture_output=True, text=True, check=True)
    lines = [n for n, line in enumerate(ELL.splitlines(), 1) if "__LINE__" in line]
    assert done.stdout == f"4 calls, lines {lines[0]} and {lines[1]}\n"
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("how", "said"), [("exit", "exit code 3"), ("_exit", "exit code 3"), ("abort", "SIGABRT")]
)
def test_a_program_may_end_in_any_way(folder: Path, how: str, said: str) -> None:
    done, found = record(folder, "5", how)
    assert done.code == 0
    assert f"the program ended with {said}; " in done.err
    assert found.unended == (how != "exit")
    (region,) = found.regions
    # What is not kept is counted at the latest a second afterwards, and at the end.
    assert region.calls == 5 or (found.unended and region.calls == 4)
    for call in (call for one in region.at for call in one.kept):
        check_values(call)


def test_processes_have_records_of_their_own(folder: Path) -> None:
    _, found = record(folder, "4", "fork")
    assert found.processes == 2
    (region,) = found.regions
    assert region.calls == 8
    (most, _) = sorted(region.at, key=lambda one: -one.calls)
    assert (most.calls, [call.number for call in most.kept]) == (6, [1, 2, 4] * 2)


def test_records_are_replaced_or_added_to(folder: Path) -> None:
    for options, calls in (((), 3), ((), 3), (("--add",), 6)):
        _, found = record(folder, "3", options=options)
        assert found.regions[0].calls == calls


# A call of 100 takes 6 kB, two blocks; one of 40 takes one.
def test_what_is_kept_is_bounded_and_what_is_counted_is_not(folder: Path) -> None:
    done, found = record(folder, "30", options=("--max-bytes", "12K", "--calls", "2"))
    (region,) = found.regions
    assert region.calls == 30
    assert found.size_bytes <= 12 << 10
    assert sum(len(one.kept) for one in region.at) == 2
    assert sum(one.beyond_bound for one in region.at) >= 2
    assert "did not fit into --max-bytes" in done.out


def test_a_folder_that_is_gone_is_said_once(folder: Path, tmp_path: Path) -> None:
    environ = {"ANNOTUNE_CAPTURE": str(tmp_path / "none")}
    command = [str(folder / "program"), "9"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environ)
    assert done.stdout.startswith("9 calls")
    assert re.fullmatch(r"annotune capture: cannot write '.*/none/.*'\n", done.stderr)


# What is not whole is refused -----------------------------------------------------------------


@pytest.fixture
def recorded(folder: Path) -> Path:
    """Return the folder of whole records."""
    record(folder, "3")
    return folder / "records"


def _only(recorded: Path, pattern: str) -> Path:
    return next(iter(sorted(recorded.glob(pattern))))


def refusal(recorded: Path) -> str:
    """Return what is said of records after another run that adds to them."""
    done = capture(recorded.parent, "--add", "--", str(recorded.parent / "program"), "1")
    assert done.code == 1
    assert "Traceback" not in done.err
    return done.err


def test_a_missing_file_of_arrays_is_refused(recorded: Path) -> None:
    path = _only(recorded, "*.bin")
    path.unlink()
    said = refusal(recorded)
    assert f"error: '{path}' is no whole record: No such file or directory [AT691]" in said


def test_a_shorter_file_of_arrays_is_refused(recorded: Path) -> None:
    path = _only(recorded, "*.bin")
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:-8])
    said = refusal(recorded)
    assert f"'{path}' is no whole record: it has {size - 8} bytes, and {size} were" in said


@pytest.mark.parametrize("place", [0, -1])
def test_other_bytes_are_refused(recorded: Path, place: int) -> None:
    path = _only(recorded, "*.bin")
    changed = bytearray(path.read_bytes())
    changed[place] ^= 1
    path.write_bytes(changed)
    assert "its bytes are not those that were written [AT691]" in refusal(recorded)


def test_bytes_that_have_changed_places_are_refused(recorded: Path) -> None:
    path = _only(recorded, "*.bin")
    words = np.frombuffer(path.read_bytes(), "<u8").copy()
    assert words[-1] != words[-2]
    words[-2:] = words[-1], words[-2]
    path.write_bytes(words.tobytes())
    assert "its bytes are not those that were written [AT691]" in refusal(recorded)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (" ]}\n", "", "Input data was truncated"),
        ('"capture": 1', '"capture": 7', "Invalid enum value 7 - at `$.capture`"),
        ('"little"', '"big"', "Invalid enum value 'big' - at `$.byte_order`"),
        ('"regions"', '"areas"', "Object missing required field `regions`"),
        ('"<f8"', '"|O"', "`$.regions[0].arrays[0].type`"),
        ('"arrays": [[', '"arrays": [[0, 0, 0], [', "zip()"),
        ('"ended": true', '"ended": 1', "Expected `bool`, got `int` - at `$.ended`"),
    ],
)
def test_an_index_that_is_none_is_refused(recorded: Path, old: str, new: str, said: str) -> None:
    path = _only(recorded, "*.json")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    found = refusal(recorded)
    assert f"error: '{path}' is no whole record: " in found
    assert said in found


def test_an_array_outside_of_its_file_is_refused(recorded: Path) -> None:
    path = _only(recorded, "*.json")
    index = json.loads(path.read_text())
    index["regions"][0]["at"][0]["kept"][0]["arrays"][0][1] = 10**6
    path.write_text(json.dumps(index))
    assert "array 'y' lies outside of it [AT691]" in refusal(recorded)


def test_records_of_another_text_are_refused(recorded: Path) -> None:
    folder = recorded.parent
    try:
        (folder / "ell.c").write_text(ELL.replace("y[i] +=", "y[i] -="))
        said = refusal(recorded)
        assert re.search(r"ell.c:10:5: error: the records in '.*' are of another text", said)
        (folder / "ell.c").write_text(ELL.replace("y[i] +=", "y[i]   +="))
        done, found = record(folder, "2", options=("--add",))
        assert (done.code, found.regions[0].calls) == (0, 6)
    finally:
        (folder / "ell.c").write_text(ELL)


def test_a_program_that_records_nothing_is_refused(folder: Path) -> None:
    done = capture(folder, "--", "true")
    assert done.code == 1
    assert re.search(r"error: '.*/records' has no records of 'ell.c' \[AT692\]", done.err)


def test_a_build_without_a_place_for_the_text_is_wrong_usage(folder: Path) -> None:
    done = capture(folder, "--build", "make")
    assert done.code == 2
    assert "--build has no {file}" in done.err


def test_a_file_of_the_users_is_not_replaced(folder: Path) -> None:
    done = annotune("capture", folder / "ell.c", "-o", folder)
    assert done.code == 1
    assert "[AT603]" in done.err
    assert (folder / "ell.c").read_text() == ELL


# What a region may be made of -------------------------------------------------------------------


def recorded_by(folder: Path, text: str, main: str, flags: str = "", name: str = "f.c") -> Records:
    """Return what a program has recorded whose only other file is `main`."""
    (folder / name).write_text(text)
    (folder / "main.c").write_text(main)
    program = str(folder / "program")
    done = capture(folder, "--build", build(folder, flags), "--", program, name=name)
    assert done.code == 0, done.err
    return read_records(folder / "records", name)


def only_call(found: Records) -> RecordedCall:
    ((call,),) = [at.kept for region in found.regions for at in region.at]
    return call


def test_no_more_is_read_than_the_region_touches(tmp_path: Path) -> None:
    text = """\
void f(int n, double a, const int *mask, const double *x, double *y)
{
    /*@ begin PerfTuning () @*/
    for (int i = 0; i < n; i++)
        if (mask[i] > 0)
            y[i] += a * x[i];
    /*@ end @*/
}
"""
    # x and y lie at the end of their memory: behind element 7 there is nothing.
    main = """\
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
void f(int n, double a, const int *mask, const double *x, double *y);
static double *eight(double first)
{
    long page = sysconf(_SC_PAGESIZE);
    char *memory = mmap(0, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double *found = (double *)(memory + page) - 8;
    if (mprotect(memory + page, page, PROT_NONE)) exit(1);
    for (int i = 0; i < 8; i++) found[i] = first + i;
    return found;
}
int main(void)
{
    int mask[1000] = {0};
    mask[2] = mask[7] = 1;
    f(1000, 0.1, mask, eight(10), eight(20));
    return 0;
}
"""
    call = only_call(recorded_by(tmp_path, text, main))
    assert call.sizes == {"n": 1000}
    assert call.reals == (("a", 0.1),)
    assert {array.name: (array.first, array.count) for array in call.arrays} == {
        "mask": (0, 1000),
        "y": (2, 6),
        "x": (2, 6),
    }
    np.testing.assert_array_equal(values(call)["x"], np.arange(12.0, 18.0))


def test_names_that_c_spells_otherwise_are_recorded(tmp_path: Path) -> None:
    text = """\
#include <complex.h>
#define M 4
struct grid { int nx; double *u; };
static float table[M][8];
void set(int i, float v) { table[1][i] = v; }
double f_(int *n, double complex z, double complex *a, struct grid *g)
{
    int i, j;
    double s = 2.5;
    --a;
    /*@ begin PerfTuning () @*/
    for (i = 1; i <= *n; i++)
        for (j = 0; j < g->nx; j++)
            g->u[i * g->nx + j] += creal(z * a[i]) * table[1][j] * s;
    /*@ end @*/
    return s;
}
"""
    main = """\
#include <complex.h>
struct grid { int nx; double *u; };
void set(int i, float v);
double f_(int *n, double complex z, double complex *a, struct grid *g);
int main(void)
{
    double u[20];
    double complex a[3] = {1 + 2 * I, 3, 4 * I};
    struct grid g = {5, u};
    int n = 3, i;
    for (i = 0; i < 8; i++) set(i, i + 0.5f);
    for (i = 0; i < 20; i++) u[i] = -i;
    return f_(&n, 7 - I, a, &g) != 2.5;
}
"""
    call = only_call(recorded_by(tmp_path, text, main))
    assert sorted(call.sizes.values()) == [3, 5]
    assert dict(call.reals)["s"] == 2.5
    assert [value for name, value in call.reals if name == "z"] == [7.0, -1.0]
    found = {name.removeprefix("g_"): own for name, own in values(call).items()}
    np.testing.assert_array_equal(found["a"], [1 + 2j, 3, 4j])
    np.testing.assert_array_equal(found["table"], np.arange(5, dtype=np.float32) + 0.5)
    np.testing.assert_array_equal(found["u"], -np.arange(5.0, 20.0))


ROWS = """\
void f(int n, int m, double **a)
{
    /*@ begin PerfTuning () @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] *= 2.0;
    /*@ end @*/
}
"""
ROWS_MAIN = """\
#include <sys/mman.h>
void f(int n, int m, double **a);
static double *rows(void)
{
    return mmap(0, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
int main(void)
{
    double block[3][5], *a[3] = {block[0], block[1], block[2]}, *one = rows(), *hole = rows();
    double *two = rows();
    for (int k = 0; k < 15; k++) block[0][k] = k;
    f(3, 5, a);
    a[2] = block[1];
    f(3, 5, a);
    munmap(hole, 1 << 16);
    a[0] = one < two ? one : two;
    a[1] = one < two ? two : one;
    f(2, 4, a);
    return 0;
}
"""


@pytest.mark.parametrize("name", ['a "b" é.c', "50%s [x]*.c", "back\\\\slash'.c"])
def test_a_file_may_have_any_name(tmp_path: Path, name: str) -> None:
    (region,) = recorded_by(tmp_path, ROWS, ROWS_MAIN, name=name).regions
    assert [len(one.kept) for one in region.at if one.sizes["n"] == 3] == [1]


def test_rows_are_recorded_where_they_are_one_array(tmp_path: Path) -> None:
    (region,) = recorded_by(tmp_path, ROWS, ROWS_MAIN).regions
    assert region.calls == 3
    (call,) = [call for one in region.at for call in one.kept]
    (array,) = values(call).values()
    np.testing.assert_array_equal(array, np.arange(15.0))
    # Between two rows far apart there is nothing that could be read.
    far = [one for one in region.at if one.sizes["n"] == 2]
    assert [(one.calls, one.failed, one.kept) for one in far] == [(1, 1, ())]


def test_threads_may_call_a_region_at_the_same_time(tmp_path: Path) -> None:
    text = """\
void f(int n, double *restrict y, const double *restrict x)
{
    /*@ begin PerfTuning () @*/
    for (int i = 0; i < n; i++)
        y[i] += x[i];
    /*@ end @*/
}
"""
    main = """\
#include <pthread.h>
void f(int n, double *restrict y, const double *restrict x);
static void *calls(void *first)
{
    double x[50], y[50];
    for (int r = 0; r < 500; r++) {
        int n = 1 + r % 50;
        for (int i = 0; i < n; i++) x[i] = y[i] = *(int *)first + i;
        f(n, y, x);
    }
    return 0;
}
int main(void)
{
    pthread_t threads[4];
    int first[4] = {0, 1000, 2000, 3000};
    for (int t = 0; t < 4; t++) pthread_create(&threads[t], 0, calls, &first[t]);
    for (int t = 0; t < 4; t++) pthread_join(threads[t], 0);
    return 0;
}
"""
    (region,) = recorded_by(tmp_path, text, main, "-pthread").regions
    assert region.calls == 2000
    assert [one.calls for one in region.at] == [40] * 50
    assert {len(one.kept) for one in region.at} == {3}
    for call in (call for one in region.at for call in one.kept):
        found = values(call)
        np.testing.assert_array_equal(found["x"], found["x"][0] + np.arange(call.sizes["n"]))
        np.testing.assert_array_equal(found["y"], found["x"])


def test_more_sizes_than_are_told_apart_are_counted(tmp_path: Path) -> None:
    text = """\
void f(int n, int e, double *restrict y)
{
    /*@ begin PerfTuning () @*/
    for (int i = 0; i < n; i++)
        y[e + i] *= 2.0;
    /*@ end @*/
}
"""
    main = """\
void f(int n, int e, double *restrict y);
int main(void)
{
    static double y[400];
    for (int r = 0; r < 200; r++) f(1 + r % 100, r, y);
    f(0, 0, y);
    return 0;
}
"""
    (region,) = recorded_by(tmp_path, text, main).regions
    assert (region.calls, len(region.at), region.others) == (201, 64, 73)
    # Where an element stands tells no sizes apart.
    assert {tuple(one.sizes) for one in region.at} == {("n",)}
    assert {one.calls for one in region.at} == {2}
    first = next(call for one in region.at for call in one.kept if call.number == 101)
    assert first.integers == {"n": 1, "e": 100}
    assert (first.arrays[0].first, first.arrays[0].count) == (100, 1)
