"""Wrong options end with 2 and the reason; a refusal can be had as JSON or as a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.cli import annotune, function, region

from annotune import __version__
from annotune.report.results_json import results_file
from annotune.tuning.results import Results

ANNOTUNE = [sys.executable, "-m", "annotune"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


GOOD = function(region("for (int i = 0; i < n; i++) a[i] = b[i];"))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--nothing"], "No such option"),
        (["--set", "n"], "'n' is not NAME=VALUE"),
        (["--set", "1n=3"], "'1n=3' is not NAME=VALUE"),
        (["--set", "n="], "'n=': expected a value, found the end"),
        (["--set", "n=import('os')"], "unknown function 'import'"),
        (["--target", "cuba"], "'cuba' is none of cuda, openacc, openmp"),
        (["--target", ","], "name at least one of cuda, openacc, openmp"),
        (["--arch", "hopper"], "'hopper' is no architecture such as sm_90"),
        (["--data", "device"], "'device' is none of"),
        (["--strategy", "best"], "'best' is none of"),
        (["-D", "1"], "'1' does not begin with a macro's name"),
    ],
)
def test_wrong_usage(options: list[str], said: str) -> None:
    Path("user.c").write_text(GOOD)
    for command in ("check", "emit"):
        done = annotune(command, "user.c", *options)
        assert (done.code, done.out) == (2, "")
        assert said in done.err


def test_check_alone_takes_several_files() -> None:
    Path("user.c").write_text(GOOD)
    for command in ("emit", "run"):
        done = annotune(command, "user.c", "another.c")
        assert (done.code, done.out) == (2, "")
        assert "unexpected extra argument" in done.err


def test_debug_lets_the_traceback_through() -> None:
    with pytest.raises(AssertionError, match=r"AnnotuneError: cannot read 'none\.c'"):
        annotune("check", "none.c", "--debug")


def test_a_refusal_as_json() -> None:
    done = annotune("emit", "none.c", "--json")
    assert done.code == 1
    (said,) = done.json.pop("diagnostics")
    assert (said["code"], said["severity"], said["file"]) == ("AT601", "error", "none.c")
    assert said["line"] == said["column"] == 1
    assert {k: v for k, v in done.json.items() if k != "diagnostics"} == {
        "schema": 1,
        "files": [],
        "commands": {},
        "regions": [],
    }


def reported(folder: Path) -> list[str]:
    """Return the command that shows the results of a run again, after it has written some."""
    (folder / "results.json").write_text(results_file(Results(__version__, "f.c", "h200", ())))
    return ["report", str(folder)]


@pytest.mark.alike(3)
@pytest.mark.parametrize("arguments", [["check", "user.c"], ["--help"], ["report"]])
def test_an_output_that_is_full_is_said(arguments: list[str], tmp_path: Path) -> None:
    Path("user.c").write_text(GOOD)
    own = reported(tmp_path) if arguments == ["report"] else arguments
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*ANNOTUNE, *own], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "error: No space left on device\n")


@pytest.mark.alike(3)
@pytest.mark.parametrize("arguments", [["check", "user.c"], ["report"]])
@pytest.mark.parametrize("closed", ["<&-", ">&-", ">&- 2>&-"])
def test_a_standard_file_may_be_closed(arguments: list[str], closed: str, tmp_path: Path) -> None:
    Path("user.c").write_text(GOOD)
    own = reported(tmp_path) if arguments == ["report"] else arguments
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh"]
    done = subprocess.run([*shell, *ANNOTUNE, *own], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert bool(done.stdout) == (closed == "<&-")
