"""`annotune emit --from`: what a run handed out comes back of its results, to the byte."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.cli import Outcome, annotune
from support.little import tune_little

from annotune import AnnotuneError, __version__, emit

# Two problem sizes, a region that has no parallel loop, a macro of the command
# line, a header of a folder, and a size that only --set gives.
SOURCE = """\
#include "weights.h"

void mm(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    /*@ begin PerfTuning ( def input_params { param n[] = [16, 24]; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i*n + j] += WEIGHT * a[i*n + k] * b[k*n + j];
    /*@ end @*/
}

void axpy(int m, double *restrict y, const double *restrict x)
{
    /*@ begin PerfTuning () @*/
    for (int i = 0; i < m; i++)
        y[i] += SCALE * x[i];
    /*@ end @*/
}

void chain(int m, double *restrict y)
{
    /*@ begin PerfTuning () @*/
    for (int i = 1; i < m; i++)
        y[i] = y[i - 1] + y[i];
    /*@ end @*/
}
"""
TUNING = ("-q", "--time", "600s", "--budget", "1", "--target", "openmp,openacc")


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a source and, in ``out``, what a run made of it."""
    folder = tmp_path_factory.mktemp("ran")
    (folder / "headers").mkdir()
    (folder / "headers" / "weights.h").write_text("#define WEIGHT 1.5\n")
    (folder / "two.c").write_text(SOURCE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        tune_little(patch)
        read = ("-I", "headers", "-D", "SCALE=2.5", "--set", "m=3000")
        done = annotune("run", "two.c", "-o", "out", *read, *TUNING)
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def here(ran: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of that folder elsewhere, which is the current one."""
    folder = tmp_path / "moved"
    shutil.copytree(ran, folder)
    monkeypatch.chdir(folder)
    return folder


def rebuilt(*options: str) -> Outcome:
    return annotune("emit", "two.c", "--from", "out/results.json", "-o", "again", *options)


def changed(edit: Callable[[Any], object]) -> None:
    """Change the results of the current folder."""
    path = Path("out/results.json")
    found = json.loads(path.read_text())
    edit(found)
    path.write_text(json.dumps(found))


def codes(done: Outcome) -> list[str]:
    return re.findall(r"error: .*\[(AT\d+)\]", done.err)


def same(names: set[str]) -> bool:
    return all(Path("again", name).read_bytes() == Path("out", name).read_bytes() for name in names)


@pytest.mark.usefixtures("here")
def test_the_files_of_a_run_come_back_to_the_byte() -> None:
    done = rebuilt()
    assert done.code == 0, done.err
    files = {path.name for path in Path("out").glob("two*")}
    assert {path.name for path in Path("again").iterdir()} == files
    assert "two_acc.c" in files
    assert same(files)
    # One that no target could tune stays as it is, which the text says.
    assert "AT623" in done.err


@pytest.mark.usefixtures("here")
def test_a_folder_and_single_targets_will_do_and_json_tells_of_them() -> None:
    done = annotune("emit", "two.c", "--from", "out", "-o", "again", "--target=openacc", "--json")
    assert done.code == 0, done.err
    assert done.json["files"] == ["again/two_acc.c"]
    assert same({"two_acc.c"})
    recipes = [region["recipes"] for region in done.json["regions"]]
    results = json.loads(Path("out/results.json").read_text())
    assert recipes == [
        {name: text for name, text in one["recipes"].items() if name == "openacc"}
        for one in results["regions"]
    ]


@pytest.mark.usefixtures("here")
def test_the_command_that_is_told_has_the_flags_of_the_measurement() -> None:
    flags = "-O2 -funroll-loops"

    def measured(found: Any) -> None:
        for region in found["regions"]:
            for row in (row for one in (region, *region["by_size"]) for row in one["rows"]):
                row["config"].update({"flags": flags} if row["name"] == "openacc" else {})

    changed(measured)
    done = rebuilt("--target", "openacc")
    assert done.code == 0, done.err
    assert f"gcc {flags} -fopenacc" in done.err


def test_what_is_written_elsewhere_in_the_file_is_kept(here: Path) -> None:
    source = here / "two.c"
    more = "\n/* Mine. */\nint later(void) { return 3; }\n"
    # Neither comments nor white space are a part of the code.
    source.write_text(SOURCE.replace("for (int j", "for (int  j /* columns */", 1) + more)
    done = rebuilt()
    assert done.code == 0, done.err
    before, after = (Path(name, "two_acc.c").read_text() for name in ("out", "again"))
    assert after == before + more


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("two.c", "* b[k*n + j]", "- b[k*n + j]"),
        ("two.c", "double *restrict c", "double *c"),
        ("two.c", "param n[] = [16, 24]", "param n[] = [16, 25]"),
        ("two.c", "PerfTuning ( def", "PerfTuning ( def assume { arg disjoint = True; } def"),
        ("headers/weights.h", "1.5", "1.25"),
    ],
)
def test_a_region_that_has_changed_is_refused(here: Path, file: str, old: str, new: str) -> None:
    path = here / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    done = rebuilt()
    assert done.code == 1
    assert codes(done) == ["AT672"]
    assert "two.c:5:5: error: mm, region 1, is not what these results are of" in done.err
    assert "annotune run two.c" in done.err
    assert not Path("again").exists()


@pytest.mark.usefixtures("here")
def test_other_options_make_another_region() -> None:
    done = rebuilt("--set", "m=100", "-D", "SCALE=2.5")
    assert codes(done) == ["AT672"]
    assert "they are for m=3000, and here is m=100" in done.err
    assert codes(rebuilt("-D", "SCALE=3")) == ["AT672"]


def test_regions_that_come_and_go_are_told(here: Path) -> None:
    source = here / "two.c"
    mm, axpy, chain = re.split(r"^(?=void (?:axpy|chain))", SOURCE, flags=re.MULTILINE)
    source.write_text(mm + axpy.replace("axpy", "another") + chain)
    done = rebuilt()
    assert sorted(codes(done)) == ["AT673", "AT674"]
    assert "nothing of another, region 1" in done.err
    assert "axpy, region 1" in done.err
    source.write_text(SOURCE.replace("y[i] += SCALE * x[i]", "y[x[i]] += SCALE"))
    done = rebuilt()
    assert codes(done) == ["AT674"]
    assert "warning: this region stays as it is written in every file" in done.err


@pytest.mark.usefixtures("here")
def test_results_of_other_versions_sources_and_times_are_refused() -> None:
    changed(lambda found: found.update(annotune="0.0.1"))
    done = rebuilt()
    assert codes(done) == ["AT676"]
    assert f"of annotune 0.0.1; this is annotune {__version__}" in done.err
    assert "\n    1 | {" not in done.err  # no line of them is wrong
    changed(lambda found: found.update(annotune=__version__, source="three.c"))
    assert codes(rebuilt()) == ["AT671"]

    def before(found: Any) -> None:
        found["source"] = "two.c"
        for region in found["regions"]:
            del region["digest"], region["recipes"]
        del found["reading"]

    changed(before)
    done = rebuilt("-I", "headers", "-D", "SCALE=2.5", "--set", "m=3000")
    assert set(codes(done)) == {"AT672"}
    assert "they do not say what it was" in done.err


@pytest.mark.usefixtures("here")
def test_a_target_without_a_text_is_told_with_the_reason() -> None:
    done = rebuilt("--target", "cuda")
    assert codes(done) == ["AT675"]
    assert "not among the targets asked for" in done.err
    assert "openacc" in done.err.partition("help: ")[2]
    changed(lambda found: [region.update(recipes={}) for region in found["regions"]])
    assert codes(rebuilt()) == ["AT675"]


@pytest.mark.usefixtures("here")
def test_a_recipe_that_was_changed_is_refused_at_the_results() -> None:
    changed(
        lambda found: found["regions"][0]["recipes"].update(openacc='target("openacc")\nfoo(1)\n')
    )
    done = rebuilt()
    assert done.code == 1
    assert "out/results.json:1:1: error:" in done.err
    changed(lambda found: found["regions"][0]["recipes"].update(openacc="\n"))
    assert codes(rebuilt()) == ["AT672"]


@pytest.mark.usefixtures("here")
def test_resident_data_has_the_winners_too() -> None:
    done = rebuilt("--data", "resident", "--target", "openacc")
    assert done.code == 0, done.err
    assert "copyin" in Path("out/two_acc.c").read_text()
    assert "copyin" not in Path("again/two_acc.c").read_text()


@pytest.mark.usefixtures("here")
def test_programs_in_python_have_them_too() -> None:
    made = emit("two.c", results="out", target="openacc", output="again")
    assert made.files == {"_acc.c": Path("out/two_acc.c").read_text()}
    assert same({"two_acc.c"})
    Path("two.c").write_text(SOURCE.replace("WEIGHT *", "WEIGHT -"))
    with pytest.raises(AnnotuneError, match="AT672"):
        emit("two.c", results="out/results.json")
