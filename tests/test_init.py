"""`annotune init`: the nests of a file that nobody has annotated, and annotations around them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from conftest import EXAMPLES
from support.cli import annotune

from annotune import files
from annotune.frontend.loop_places import loop_places
from annotune.frontend.read.ladder import ladder_of
from annotune.frontend.read.preprocess import HeaderSearch
from annotune.init.command import InitWish, init
from annotune.pipeline import Settings

PAGE = (Path(__file__).parents[1] / "docs/init.md").read_text()
HEAT = """\
#include <stdio.h>
#define N 64
#define AT(i, j) ((i) * N + (j))
#define EACH(i) for (int i = 1; i < N - 1; i++)

static void step(double *restrict out, const double *restrict in)
{
\tEACH(i)
\t\tfor (int j = 1; j < N - 1; j++)   // neighbours
\t\t\tout[AT(i, j)] = 0.25 * (in[AT(i - 1, j)] + in[AT(i + 1, j)]); /* of
\tthe column */
}

double norm(int n, double *a) { double s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }

void show(int n, int rows, double *restrict a, const double *restrict b)
{
    for (int r = 0; r < rows; r++) {
        printf("%d\\n", r);
        for (int i = 0; i < n; i++)
            a[i] += b[i];
    }
}"""

LARGE = (
    *("gemm/gemm.c", "nekbone/local_grad3.c", "nekbone/ax_f2c.c", "nekbone/gradient.c"),
    *("fem/kernels.c", "treduda/tensors.c", "nwchem/sd_t_d1.c"),
)

# All that `init` puts into a text: lines of their own, or what stands within a line.
_OPENER = re.compile(r"(?m)^[ \t]*/\*@ begin[^@]*@\*/\r?\n|/\*@ begin[^@]*@\*/ ", re.DOTALL)
_CLOSER = re.compile(r"(?m)^[ \t]*/\*@ end @\*/\r?\n| /\*@ end @\*/")


def without_annotations(text: str) -> str:
    return _CLOSER.sub("", _OPENER.sub("", text))


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def regions(*arguments: str | Path) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the functions that `check` finds regions in, and the loops of these."""
    done = annotune("check", *arguments, "--json")
    assert done.code == 0, done.err
    return [
        (one["function"], [(loop["name"], loop["kind"]) for loop in one["loops"]])
        for one in done.json["regions"]
    ]


@pytest.mark.alike(4)
@pytest.mark.parametrize(
    "name",
    [
        *("gemm/sgemm.c", "nekbone/cg.c", "thesis/fig3_9a.c", "stencil/poisson.c"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE),
    ],
)
def test_finds_the_regions_that_people_annotated(name: str) -> None:
    text = read(EXAMPLES / name)
    bare = Path("bare.c")
    bare.write_text(re.sub(r"(?ms)^[ \t]*/\*@.*?@\*/[ \t]*\n", "", text))
    assert "@*/" not in read(bare)
    done = annotune("init", bare, "--yes")
    assert done.code == 0, done.err
    assert regions(bare) == regions(EXAMPLES / name)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_changes_nothing_else_of_the_file(newline: str) -> None:
    source = Path("heat.c")
    before = HEAT.replace("\n", newline).encode() + b" /* \xff */"
    source.write_bytes(before)
    source.chmod(0o640)
    done = annotune("init", source, "--yes", "--size", "n=1000")
    assert done.code == 0, done.err
    assert "next: annotune run heat.c" in done.out
    after = read(source)
    assert without_annotations(after).encode("utf-8", "surrogateescape") == before
    assert after.count("begin PerfTuning") == 3
    assert newline == "\n" or "\n" not in after.replace("\r\n", "")
    assert source.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in Path().iterdir()] == ["heat.c"]
    assert [function for function, _ in regions(source)] == ["step", "norm", "show"]
    assert "\t/*@ begin PerfTuning () @*/" in after
    assert "{ param n = 1000; }" in after
    assert "assumed" not in after


def test_lists_each_nest_with_its_share_and_its_reason() -> None:
    Path("heat.c").write_text(HEAT)
    done = annotune("init", "heat.c")
    assert done.code == 0
    assert all(len(line) <= 100 for line in done.err.splitlines())
    said = done.err
    assert re.search(r"%\)  step, line 8, depth 2: i, j parallel\n", said)
    assert re.search(r"%\)  norm, line 14, depth 1: i reduction\n +at n = \d+ \(assumed\)", said)
    assert re.search(r"\n +show, line 18, depth 2: left: 'printf'", said)
    assert re.search(r"%\)  show, line 20, depth 1: i parallel\n", said)
    shares = [float(share) for share in re.findall(r"\(~([\d.e-]+)%\)  \w+, line", said)]
    assert len(shares) == 3
    assert 99 <= sum(shares) <= 101


def test_shows_the_difference_and_writes_nothing_where_nobody_can_agree() -> None:
    source = Path("heat.c")
    source.write_text(HEAT)
    done = annotune("init", source)
    assert (done.code, read(source)) == (0, HEAT)
    assert done.out == annotune("init", source, "--dry-run").out
    assert "\\ No newline at end of file" in done.out
    patched = subprocess.run(["patch", "-p0"], input=done.out, text=True, capture_output=True)
    if patched.returncode == 0:
        shown = read(source)
        source.write_text(HEAT)
        annotune("init", source, "--yes")
        assert read(source) == shown


def test_tells_other_programs_of_each_nest() -> None:
    Path("heat.c").write_text(HEAT)
    done = annotune("init", "heat.c", "--json", "--size", "n=512")
    assert (done.code, done.err) == (0, "")
    found = done.json
    shown = [(one["function"], one["lines"], one["state"]) for one in found["nests"]]
    assert shown == [
        *(("step", [8], "accepted"), ("norm", [14], "accepted")),
        *(("show", [18], "left"), ("show", [20], "accepted")),
    ]
    assert [[loop["line"] for loop in one["loops"]] for one in found["nests"]] == [
        *([8, 9], [14], [], [20]),
    ]
    assert found["nests"][1]["sizes"] == [{"name": "n", "value": 512, "is_assumed": False}]
    assert found["nests"][2]["reason"]["code"] == "AT130"
    assert sum(one["share"] or 0 for one in found["nests"]) == pytest.approx(1)
    assert (found["written"], found["next"]) == (None, [])
    assert found["difference"] == annotune("init", "heat.c", "--size", "n=512").out
    assert Path("heat.c").read_text() == HEAT
    told = set(re.findall(r"^\| `(\w+)` \|", PAGE.split("## --json")[1], re.MULTILINE))
    assert told == {*found, *found["nests"][0]}


def test_tells_other_programs_what_it_has_written_and_why_it_is_refused() -> None:
    Path("heat.c").write_text(HEAT)
    found = annotune("init", "heat.c", "--json", "--yes").json
    assert (found["written"], found["difference"]) == ("heat.c", "")
    assert found["next"] == ["annotune", "run", "heat.c"]
    refused = annotune("init", "nowhere.c", "--json")
    assert refused.code == 1
    assert [one["code"] for one in refused.json["diagnostics"]] == ["AT601"]


def test_asks_for_each_nest_its_sizes_and_what_nobody_can_know() -> None:
    source = Path("two.c")
    source.write_text(
        "void one(int n, double *a, double *b)\n{\n"
        "    for (int i = 0; i < n; i++)\n        a[i] = b[i];\n}\n"
        "void two(int n, int m, double *restrict a)\n{\n"
        "    for (int i = 0; i < n * m; i++)\n        a[i] *= 2;\n}\n"
    )

    @click.command()
    def asked() -> None:
        init(Settings(source), InitWish({}, is_asking=True), os.environ)

    done = CliRunner().invoke(asked, input="y\n500\ny\nn\n")
    assert done.exit_code == 0, done.output
    assert "'a' and 'b' are assumed not to overlap" in done.output
    after = read(source)
    assert "{ param n = 500; }" in after
    assert "def assume { arg disjoint = True; }" in after
    assert after.count("begin PerfTuning") == 1
    assert [function for function, _ in regions(source)] == ["one"]
    assert "AT220" not in annotune("check", source).err


TABLE = """\
void look(int n, int columns, double *restrict y, const double *x, const double *t)
{
    for (int i = 0; i < n; i++)
        y[i] = x[(int)t[i]];
}
"""


def test_asks_how_long_an_array_is_that_is_read_where_another_says() -> None:
    source = Path("look.c")
    source.write_text(TABLE)
    done = annotune("init", source, "--yes")
    assert (done.code, read(source)) == (1, TABLE)
    assert "[AT214]" in done.out

    @click.command()
    def asked() -> None:
        init(Settings(source), InitWish({"n": 100}, is_asking=True), os.environ)

    done_asking = CliRunner().invoke(asked, input="columns\ny\n50\n")
    assert done_asking.exit_code == 0, done_asking.output
    assert "how many elements has 'x'" in done_asking.output
    by_answers = read(source)
    assert 'def assume { arg extent = ["x[columns]"]; }' in by_answers
    assert regions(source)[0][0] == "look"

    source.write_text(TABLE)
    sizes = ("--size", "n=100,columns=50")
    assert annotune("init", source, "--yes", *sizes, "--extent", "x[columns]").code == 0
    assert read(source) == by_answers
    source.write_text(TABLE)
    assert CliRunner().invoke(asked, input="\n").exit_code == 0
    assert read(source) == TABLE
    assert "--extent: error" in annotune("init", source, "--extent", "x").err


def test_marks_what_nobody_said_as_an_assumption() -> None:
    Path("a.c").write_text(
        "void f(int n, int m, double *restrict a)\n{\n"
        "    for (int i = 0; i < n; i++)\n        for (int j = 0; j < m; j++)\n"
        "            a[i * m + j] = 0;\n}\n"
    )
    assert annotune("init", "a.c", "--yes", "--size", "m=10").code == 0
    after = read(Path("a.c"))
    assert re.search(r"param n = \d+;  # assumed by annotune init", after)
    assert re.search(r"param m = 10;\n", after)


def test_leaves_what_is_annotated_already() -> None:
    source = Path("gemm.c")
    source.write_text(read(EXAMPLES / "gemm" / "gemm.c"))
    before = read(source)
    done = annotune("init", source, "--yes")
    assert (done.code, read(source)) == (0, before)
    assert "gemm, line 11, depth 3: annotated already" in done.out
    assert "estimated" not in done.out


def test_takes_in_the_directive_of_a_loop_and_leaves_those_of_other_threads() -> None:
    source = Path("omp.c")
    source.write_text(
        "void f(int n, double *restrict a)\n{\n"
        "    #pragma omp parallel for\n    #pragma GCC ivdep\n"
        "    for (int i = 0; i < n; i++)\n        a[i] = 0;\n"
        "    #pragma omp parallel\n    {\n        #pragma omp for\n"
        "        for (int i = 0; i < n; i++)\n            a[i] += 1;\n    }\n"
        "    #pragma omp barrier\n    for (int i = 0; i < n; i++)\n        a[i] *= 2;\n}\n"
    )
    done = annotune("init", source, "--yes")
    assert done.code == 0
    assert "inside '#pragma omp parallel'" in done.out
    after = read(source)
    assert ") @*/\n    #pragma omp parallel for\n    #pragma GCC ivdep\n" in after
    assert "    #pragma omp barrier\n    /*@ begin PerfTuning (" in after
    assert after.count("begin PerfTuning") == 2


def test_takes_the_nests_inside_one_that_is_refused() -> None:
    Path("heat.c").write_text(HEAT)
    assert annotune("init", "heat.c", "--yes", "--function", "show").code == 0
    after = read(Path("heat.c"))
    assert after.count("begin PerfTuning") == 1
    assert re.search(r"\) @\*/\n        for \(int i = 0; i < n; i\+\+\)\n", after)


def test_makes_one_region_of_neighbours_that_share_arrays() -> None:
    loops = (
        "    for (int i = 0; i < n; i++)\n        y[i] = 0;\n    s = 2 * n;\n"
        "    for (int i = 0; i < n; i++)\n        y[i] += x[i];\n"
        "    for (int i = 0; i < n; i++)\n        z[i] = 1;\n"
    )
    Path("a.c").write_text(
        "int f(int n, double *restrict x, double *restrict y, double *restrict z)\n"
        f"{{\n    int s;\n{loops}    return s;\n}}\n"
    )
    assert annotune("init", "a.c", "--yes").code == 0
    assert [len(found) for _, found in regions("a.c")] == [2, 1]
    assert re.search(r"y\[i\] \+= x\[i\];\n    /\*@ end @\*/\n", read(Path("a.c")))


def test_says_it_in_a_sidecar_of_a_source_that_stays() -> None:
    source = Path("heat.c")
    source.write_text(HEAT)
    done = annotune("init", source, "--yes", "--sidecar", "--size", "n=100")
    assert (done.code, read(source)) == (0, HEAT)
    assert "next: annotune run heat.c" in done.out
    assert [function for function, _ in regions(source)] == ["step", "norm", "show"]
    assert "annotated already" in annotune("init", source, "--yes").out
    Path("annotations/heat.yaml").rename("annotations/other.yaml")
    again = annotune("init", source, "--yes", "--sidecar", "-o", "annotations/other.yaml")
    assert again.code == 1
    assert "[AT663]" in again.err


def test_writes_elsewhere_but_over_nothing() -> None:
    source = Path("heat.c")
    source.write_text(HEAT)
    done = annotune("init", source, "--yes", "-o", "made/heat.c", "-D", "A=1")
    assert done.code == 0
    # The headers beside the source are no longer beside what is made of it.
    assert "next: annotune run made/heat.c -I. -DA=1\n" in done.out
    assert read(source) == HEAT
    made = read(Path("made/heat.c"))
    again = annotune("init", source, "--yes", "-o", "made/heat.c")
    assert (again.code, read(Path("made/heat.c"))) == (1, made)
    assert "[AT663]" in again.err


def test_writes_through_a_link_and_not_over_what_changed_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source, link = Path("heat.c"), Path("link.c")
    source.write_text(HEAT)
    link.symlink_to(source)
    assert annotune("init", link, "--yes").code == 0
    assert link.is_symlink()
    assert "begin PerfTuning" in read(source)
    source.write_text(HEAT)

    whole = files.read_source

    def saved(path: Path) -> str:
        text = whole(path)
        source.write_text("int x;\n")
        return text

    # Somebody saves another text just after this one has been read.
    monkeypatch.setattr("annotune.pipeline.read_source", saved)
    done = annotune("init", source, "--yes")
    assert (done.code, read(source)) == (1, "int x;\n")
    assert "[AT662]" in done.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_loses_nothing_where_the_folder_cannot_be_written() -> None:
    folder = Path("kept")
    folder.mkdir()
    (folder / "heat.c").write_text(HEAT)
    folder.chmod(0o500)
    done = annotune("init", folder / "heat.c", "--yes")
    folder.chmod(0o700)
    assert (done.code, read(folder / "heat.c")) == (1, HEAT)
    assert "[AT602]" in done.err


def test_a_loop_place_counts_as_a_sidecar_does() -> None:
    places = loop_places(ladder_of("heat.c", HEAT, HeaderSearch()).first.file)
    assert [(one.function, one.iterator, one.depth) for one in places] == [
        ("step", "i", 2),
        ("norm", "i", 1),
        ("show", "r", 2),
    ]
    assert HEAT[places[0].start : places[0].end].startswith("EACH(i)")
    assert places[2].inner[0].occurrence == 1


def assumed(*arguments: str) -> dict[str, int]:
    """Return the sizes that `init` takes for a.c where nobody gives any."""
    done = annotune("init", "a.c", *arguments)
    assert done.code == 0, done.err
    return {name: int(value) for name, value in re.findall(r"(\w+) = (\d+) \(assumed\)", done.err)}


def test_assumes_sizes_at_which_the_nest_stays_in_its_arrays() -> None:
    Path("a.c").write_text(
        "#define ROWS 300\nstatic double a[ROWS][500];\nvoid f(int steps, int n, int m)\n{\n"
        "    for (int t = 0; t < steps; t++)\n        for (int i = 1; i < n - 1; i++)\n"
        "            for (int j = 0; j < m; j++)\n                a[i + 1][j] = a[i - 1][j];\n}\n"
    )
    found = assumed()
    assert (found["n"], found["m"]) == (300, 500)
    assert found["steps"] >= 16


def test_assumes_steps_of_one_and_rows_as_long_as_their_loops() -> None:
    Path("a.c").write_text(
        "void f(int n, int incx, double *restrict x)\n{\n"
        "    for (int i = 0; i < n; i++)\n        x[i * incx] = 0;\n}\n"
        "void g(int n, int ld, double *restrict y, const double *restrict z)\n{\n"
        "    for (int i = 0; i < n; i++)\n        for (int j = 0; j < n; j++)\n"
        "            y[i * ld + j] = z[j];\n}\n"
        "void h(int lo, int n, double *restrict x)\n{\n"
        "    for (int i = lo; i < n; i++)\n        x[i] = 0;\n}\n"
    )
    assert assumed("--function", "f") == {"n": 1 << 20, "incx": 1}
    found = assumed("--function", "g")
    assert found["ld"] >= found["n"] >= 256
    assert assumed("--function", "h") == {"lo": 1, "n": 1 << 20}


def test_finds_sizes_at_which_loops_between_two_sizes_run() -> None:
    Path("a.c").write_text(
        "void f(int n, int m, double *restrict x)\n{\n"
        "    for (int i = 0; i < n - m; i++)\n        x[i] = 0;\n}\n"
    )
    assert sorted(assumed().values()) == [1, 1 << 20]


def test_assumes_sizes_by_how_often_loops_run() -> None:
    Path("a.c").write_text(
        "void f(int n, double *restrict x)\n{\n"
        "    for (int i = 0; i < n * n * n; i++)\n        x[i] = 0;\n}\n"
        "void g(int first, int last, double *restrict x)\n{\n"
        "    for (int i = 1; i <= last - first + 1; i++)\n        x[i] = 0;\n}\n"
    )
    assert assumed("--function", "f") == {"n": 256}
    assert assumed("--function", "g") == {"first": 1, "last": 1 << 20}


def test_takes_functions_that_macros_name_and_sizes_that_headers_declare() -> None:
    Path("a.h").write_text("extern int m;\n#define NAMED(name) made_##name\n")
    source = Path("a.c")
    source.write_text(
        '#include "a.h"\nvoid NAMED(f)(int n, double *restrict x)\n{\n'
        "    for (int i = 0; i < n; i++)\n        x[i] = 0;\n"
        "    if (n)\n        for (int i = 0; i < m; i++)\n            x[i] += 1;\n}\n"
    )
    done = annotune("init", source, "--yes", "--size", "n=8,m=9")
    assert done.code == 0, done.err
    assert "[AT665]" not in done.err
    assert [function for function, _ in regions(source)] == ["made_f", "made_f"]
    emitted = annotune("emit", source, "--target", "openmp", "-o", "out")
    assert emitted.code == 0, emitted.err
    assert "const int" not in read(Path("out/a_omp.c"))


def test_counts_the_loops_around_a_nest() -> None:
    Path("a.c").write_text(
        "#include <stdio.h>\n#define STEPS 50\nvoid f(int n, int more, double *restrict x)\n{\n"
        "    for (int i = 0; i < n; i++)\n        x[i] = i;\n"
        '    for (int t = 0; t < 2 * STEPS; ++t) {\n        printf("%d", t);\n'
        "        for (int i = 0; i < n; i++)\n            x[i] = x[i];\n    }\n"
        '    for (int t = 0; t < more; t++) {\n        printf("%d", t);\n'
        "        for (int i = 0; i < n; i++)\n            x[i] = x[i];\n    }\n}\n"
    )
    said = annotune("init", "a.c").err
    assert re.search(r"counted once in the loop of line 12, whose length is not known", said)
    shares = {line: float(n) for n, line in re.findall(r"\(~([\d.]+)%\)  f, line (\d+)", said)}
    assert shares["9"] > 98
    assert shares["14"] < 2
    said = annotune("init", "a.c", "--size", "more=100").err
    assert "counted once" not in said
    assert "[AT665]" not in said
    shares = {line: float(n) for n, line in re.findall(r"\(~([\d.]+)%\)  f, line (\d+)", said)}
    assert shares["9"] == shares["14"]


PROGRAM = """\
static double a[1000000];
static void hot(void)
{
    for (int i = 0; i < 1000000; i++)
        a[i] = a[i] / 3 + 1;
}
static void cold(void)
{
    for (int i = 0; i < 1000000; i++)
        a[i] = i;
}
int main(void)
{
    volatile int times = 150;
    cold();
    while (times--)
        hot();
    return a[7] > 1e9;
}
"""


def profiled(*flags: str) -> tuple[str, str]:
    """Return what `init` says of a program that is compiled with some flags, and sampled."""
    Path("hot.c").write_text(PROGRAM)
    command = ["gcc", "-O1", "-fno-inline", *flags, "hot.c", "-o", "hot"]
    subprocess.run(command, check=True)
    done = annotune("init", "hot.c", "--profile", "./hot")
    assert done.code == 0, done.err
    listed, _, said = done.err.partition("one call of each function")
    if "[AT670]" in said and flags != ("-s",):
        pytest.skip(f"no profiler works here: {said}")
    return listed, said


def shares(listed: str) -> dict[str, float]:
    found = re.findall(r"(?m)^ *(?:<= )?([\d.]+)% .*?\)  (\w+), line", listed)
    return {name: float(share) for share, name in found}


@pytest.mark.alike(2)
@pytest.mark.skipif(shutil.which("perf") is None, reason="it takes perf")
@pytest.mark.parametrize("flags", [("-g",), ()])
def test_weighs_nests_by_the_samples_of_perf(flags: tuple[str, ...]) -> None:
    listed, _ = profiled(*flags)
    assert "measured by perf" in listed
    found = shares(listed)
    assert found["hot"] > 50
    assert found.get("cold", 0) < found["hot"] / 2
    assert ("<= " in listed) == (flags == ())


@pytest.mark.skipif(shutil.which("gprof") is None, reason="it takes gprof")
def test_weighs_functions_by_gprof_where_there_is_no_perf(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("bin").mkdir()
    for name in ("gcc", "gprof"):
        Path("bin", name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", f"{Path('bin').absolute()}")
    listed, _ = profiled("-pg", "-B/usr/bin")
    assert "measured by gprof" in listed
    assert shares(listed)["hot"] > 50


def test_says_so_where_nothing_samples_and_estimates_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("hot.c").write_text(PROGRAM)
    Path("run.sh").write_text("#!/bin/sh\n")
    Path("run.sh").chmod(0o755)
    monkeypatch.setenv("PATH", "/nowhere")
    done = annotune("init", "hot.c", "--profile", "./run.sh")
    assert done.code == 0
    assert "neither perf nor gprof is on PATH; shares are estimated alone [AT670]" in done.err
    assert re.search(r"\(~50%\)  hot|\(~\d+%\)  hot", done.err)
    assert "there is no program './gone'" in annotune("init", "hot.c", "--profile", "./gone").err
    assert annotune("init", "hot.c", "--profile", "").code == 2
