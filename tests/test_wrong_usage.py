"""Wrong options end with 2 and the reason; a refusal can be had as JSON or as a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.cli import annotune, function, region


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
        (["another.c"], "unexpected extra argument"),
    ],
)
def test_wrong_usage(options: list[str], said: str) -> None:
    Path("user.c").write_text(GOOD)
    for command in ("check", "emit"):
        done = annotune(command, "user.c", *options)
        assert (done.code, done.out) == (2, "")
        assert said in done.err


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


@pytest.mark.parametrize("arguments", [["check", "user.c"], ["--help"]])
def test_an_output_that_is_full_is_said(arguments: list[str]) -> None:
    Path("user.c").write_text(GOOD)
    command = [sys.executable, "-m", "annotune", *arguments]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "error: No space left on device\n")
