"""Options of a project in annotune.toml, or in [tool.annotune] of pyproject.toml."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.cli import Outcome, annotune
from support.little import tune_little

from annotune.api import Options, TuneOptions
from annotune.config_file import SETTINGS

SOURCE = """\
#include "scale.h"
void f(int n, double *restrict a)
{
    /*@ begin PerfTuning () @*/
    for (int i = 0; i < n; i++)
        a[i] *= SCALE * EXTRA;
    /*@ end @*/
}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a source two folders below the current one."""
    monkeypatch.chdir(tmp_path)
    tune_little(monkeypatch)
    Path("src/deep").mkdir(parents=True)
    Path("src/headers").mkdir()
    Path("src/headers/scale.h").write_text("#define SCALE 2.0\n")
    Path("src/deep/f.c").write_text(SOURCE)


def emitted(*options: str) -> Outcome:
    return annotune("emit", "src/deep/f.c", "-o", "out", *options)


SETTING = """\
target = "openmp"
include = ["headers"]
set = { n = 640 }
[define]
EXTRA = 1.5
"""


def test_the_nearest_file_has_what_the_command_line_leaves_out() -> None:
    Path("src/annotune.toml").write_text(SETTING)
    # Farther from the source, and not read.
    Path("annotune.toml").write_text("nonsense")
    done = emitted("--json")
    assert done.code == 0, done.err
    assert done.json["files"] == ["out/f_omp.c"]
    assert done.json["regions"][0]["by_size"][0]["sizes"] == {"n": 640}
    text = Path("out/f_omp.c").read_text()
    assert "2.0 * 1.5" in text
    assert "-I../src/headers" in text


def test_compilers_get_the_flags_of_the_project() -> None:
    flags = 'target = ["cuda", "openmp"]\nparam = { flags = ["-O2"] }\n'
    Path("src/annotune.toml").write_text(flags + SETTING.removeprefix('target = "openmp"\n'))
    assert emitted().code == 0
    assert " -O2 " in Path("out/f_omp.c").read_text()


def test_the_command_line_wins() -> None:
    Path("src/annotune.toml").write_text(SETTING)
    done = emitted("--json", "--target", "openacc", "--set", "n=320")
    assert done.code == 0, done.err
    assert done.json["files"] == ["out/f_acc.c"]
    assert done.json["regions"][0]["by_size"][0]["sizes"] == {"n": 320}


def test_pyproject_has_a_table_for_it() -> None:
    Path("src/pyproject.toml").write_text("[project]\nname = 'target'\n")
    settings = SETTING.replace("[define]", "[tool.annotune.define]")
    head = "[project]\ntarget = 1\n[tool.annotune]\n"
    Path("pyproject.toml").write_text(head + settings.replace("headers", "src/headers"))
    assert emitted("--json").json["files"] == ["out/f_omp.c"]
    Path("pyproject.toml").write_text(f"{head}target = 'opnmp'\n")
    done = emitted()
    assert done.code == 1
    assert "pyproject.toml:4:1: error: the setting 'target' is refused:" in done.err
    assert "'opnmp' is none of" in done.err
    # Of two in one folder that for annotune alone counts.
    Path("annotune.toml").write_text(SETTING.replace("headers", "src/headers"))
    assert emitted().code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("targt = 'openmp'", r"annotune.toml:1:1: error: there is no setting 'targt' \[AT677\]"),
        ("targt = 'openmp'", "help: did you mean 'target'"),
        ("\ntime = 'soon'", r"annotune.toml:2:1: error: the setting 'time' is refused: .*\[AT678"),
        ("time = 2020-01-01", r"the setting 'time' is refused"),
        ("workers = 'parsl:x.py'", "there is no setting 'workers'"),
        ("target = ", r"annotune.toml:1:\d+: error: this is no TOML: .* \[AT679\]"),
        ("set = 3", r"annotune.toml:1:1: error: the setting 'set' is refused"),
    ],
)
def test_what_is_wrong_is_told_at_its_line(text: str, said: str) -> None:
    Path("src/annotune.toml").write_text(f"{text}\n")
    done = annotune("run", "src/deep/f.c")
    assert done.code == 1
    assert re.search(said, done.err), done.err


def test_a_run_says_where_its_options_come_from() -> None:
    Path("src/annotune.toml").write_text(f"time = 60\n{SETTING}")
    how = ("-v", "-q", "--budget", "1", "--time", "600s", "--target", "openacc")
    done = annotune("run", "src/deep/f.c", "-o", "out", *how)
    assert done.code == 0, done.err
    assert done.err.splitlines()[:3] == [
        "src/annotune.toml:1: --time=60; the command line says otherwise",
        "src/annotune.toml:2: --target=openmp; the command line says otherwise",
        f"src/annotune.toml:3: -I{Path('src/headers').absolute()}",
    ]
    assert "src/annotune.toml:6: -DEXTRA=1.5" not in done.out


def test_settings_have_the_names_of_options() -> None:
    own = {*Options.__annotations__, *TuneOptions.__annotations__}
    assert own - {*SETTINGS} == {"workers"}
