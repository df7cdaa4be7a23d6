"""`annotune check` of several files, of folders, and of the standard input."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from support.cli import annotune

from annotune.cli import cli

GOOD = """\
void f(int n, double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++)
        a[i] *= 2.0;
    /*@ end @*/
}
"""
WRONG = GOOD.replace("a[i] *= 2.0", "a[g(i)] *= h(a)")
PLAIN = "int plain;\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("src/deep").mkdir(parents=True)
    for name, text in (("src/a.c", GOOD), ("src/deep/b.c", GOOD), ("src/plain.c", PLAIN)):
        Path(name).write_text(text)
    Path("wrong.c").write_text(WRONG)


def regions(out: str) -> list[str]:
    return re.findall(r"^(\S+?):\d+:\d+: f, region 1$", out, re.MULTILINE)


def test_a_folder_has_its_annotated_files() -> None:
    annotune("emit", "src/a.c", "-o", "src/out", "--target", "openmp")
    done = annotune("check", "src")
    assert done.code == 0, done.err
    assert regions(done.out) == ["src/a.c", "src/deep/b.c"]


def test_the_worst_file_decides_and_the_others_are_checked() -> None:
    done = annotune("check", "src/a.c", "wrong.c", "nowhere.c", "src/deep")
    assert done.code == 1
    assert regions(done.out) == [
        "src/a.c",
        *regions(annotune("check", "wrong.c").out),
        "src/deep/b.c",
    ]
    assert "wrong.c:" in done.err
    assert "cannot read 'nowhere.c'" in done.err


def test_one_log_has_all_files() -> None:
    done = annotune("check", "src", "wrong.c", "nowhere.c", "--format", "sarif")
    assert done.code == 1
    (log,) = done.json["runs"]
    assert log["invocations"] == [{"executionSuccessful": False, "exitCode": 1}]
    places = [one["locations"][0]["physicalLocation"] for one in log["results"]]
    assert {one["artifactLocation"]["uri"] for one in places} == {"wrong.c", "nowhere.c"}
    assert annotune("check", "src", "--format", "sarif").json["runs"][0]["results"] == []
    assert annotune("check", "src", "--json").code == 2


def test_the_standard_input_is_a_source() -> None:
    done = CliRunner().invoke(cli, ["check", "-"], input=GOOD)
    assert done.exit_code == 0
    assert regions(done.stdout) == ["<stdin>"]
    done = CliRunner().invoke(cli, ["check", "-"], input=WRONG)
    assert done.exit_code == 1
    assert re.search(r"^<stdin>:5:\d+: error: .*\n    5 \|", done.stderr, re.MULTILINE)


def test_the_hook_is_a_command_with_its_files() -> None:
    root = Path(__file__).parents[1]
    (hook,) = yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text())
    assert hook["entry"].split() == ["annotune", "check"]
    assert [bool(re.search(hook["files"], name)) for name in ("a.c", "a.tensor", "a.cc")] == [
        *(True, True, False)
    ]
