"""A package of others adds a transform, a strategy, a target, a search and a module."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = """\
void f(int m, int n, double c[m][n], const double a[m][n])
{
    /*@ begin PerfTuning ( def input_params { param m = 40; param n = 50; } ) @*/
    /*@ begin CHiLL (
RECIPE
    ) @*/
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            c[i][j] = 2.0 * a[i][j];
    /*@ end @*/
    /*@ end @*/
}
"""
WHOLE = 'target("openmp")\ninterchange(0, "i", "j")\nthreads(0, core={"j"})'


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sample package and its entry points."""
    folder = tmp_path_factory.mktemp("site")
    sample = tmp_path_factory.mktemp("sample")
    subprocess.run(["cp", "-r", f"{ROOT / 'docs/plugins/sample'}/.", sample], check=True)
    setup = "import setuptools; setuptools.setup()"
    built = ("build_py", "--build-lib", str(folder), "egg_info", "--egg-base", str(folder))
    command = [sys.executable, "-c", setup, "--quiet", *built]
    subprocess.run(command, cwd=sample, check=True, capture_output=True)
    return folder


def annotune(installed: Path, *words: str, code: int = 0) -> str:
    python_path = os.pathsep.join([str(installed), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-m", "annotune", *words],
        env={**os.environ, "PYTHONPATH": python_path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout or done.stderr


def test_a_strategy_is_known_by_its_name(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(TEXT.replace("RECIPE", ""))
    found = annotune(installed, "check", "--strategy", "rows", str(tmp_path / "f.c"))
    assert "strategy: rows (a block for each i)" in found
    assert 'cuda(0, block={"i"}, thread={"j"})' in found


def test_a_transform_is_a_command_and_reaches_the_text(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(TEXT.replace("RECIPE", WHOLE))
    words = ("--target", "openmp", "-o", str(tmp_path / "out"), str(tmp_path / "f.c"))
    annotune(installed, "emit", *words)
    text = (tmp_path / "out" / "f_omp.c").read_text()
    parallel = text.index("#pragma omp parallel for")
    (first,) = re.findall(r"^ *for \(\w+ (\w+) = ", text[parallel:], re.MULTILINE)[:1]
    assert first == "j"
    (tmp_path / "g.c").write_text(TEXT.replace("RECIPE", 'interchange(0, "i", "j")'))
    assert 'interchange(0, "i", "j")' in annotune(installed, "check", str(tmp_path / "g.c"))


def test_a_target_is_written(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(TEXT.replace("RECIPE", ""))
    out, source = str(tmp_path / "out"), str(tmp_path / "f.c")
    annotune(installed, "emit", "--target", "plain", "-o", out, source)
    text = (tmp_path / "out" / "f_plain.c").read_text()
    assert "c[i][j] = 2.0 * a[i][j];" in text
    assert "#pragma" not in text
    (tmp_path / "g.c").write_text(TEXT.replace("RECIPE", WHOLE.replace("openmp", "plain")))
    words = ("--target", "plain", "-o", out, str(tmp_path / "g.c"))
    annotune(installed, "emit", *words)
    text = (tmp_path / "out" / "g_plain.c").read_text()
    loops = re.findall(r"^ *for \(\w+ (\w+) = ", text, re.MULTILINE)
    assert loops[:2] == ["j", "i"]


@pytest.mark.slow
def test_a_target_is_checked_and_measured(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(TEXT.replace("RECIPE", ""))
    out, source = str(tmp_path / "out"), str(tmp_path / "f.c")
    # A run may keep the nest as it is: nothing makes this one faster.
    annotune(installed, "run", "--target", "plain", "--budget", "1", "-o", out, source)
    found = json.loads(annotune(installed, "report", out, "--json"))
    (row,) = (row for row in found["regions"][0]["rows"] if row["name"] == "plain")
    assert (row["status"], row["verified"]) == ("measured", True)


@pytest.mark.alike(2)
@pytest.mark.parametrize("is_alone", [False, True])
def test_a_module_s_text_reaches_the_emitted_code(
    installed: Path, tmp_path: Path, is_alone: bool
) -> None:
    text = TEXT.replace("begin CHiLL", "begin swap").replace("RECIPE", "i, j")
    if is_alone:
        text = re.sub(r"    /\*@ begin PerfTuning.*\n", "", text).replace("/*@ end @*/", "", 1)
    (tmp_path / "f.c").write_text(text)
    sizes = ("--set", "m=40", "--set", "n=50")
    words = ("--target", "openmp", *sizes, "-o", str(tmp_path / "out"), str(tmp_path / "f.c"))
    annotune(installed, "emit", *words)
    parallel = (tmp_path / "out" / "f_omp.c").read_text().partition("#pragma omp parallel for")[2]
    (first,) = re.findall(r"^ *for \(\w+ (\w+) = ", parallel, re.MULTILINE)[:1]
    assert first == "j"


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("name", "inside", "words"),
    [
        ("Swap", "i", "the module Swap does not take this text: it names two loops, such as"),
        ("Swap", "i, k", "k"),
        ("Swop", "i, j", "did you mean 'Swap'?"),
    ],
)
def test_what_a_module_refuses_is_told_at_the_annotation(
    installed: Path, tmp_path: Path, name: str, inside: str, words: str
) -> None:
    text = TEXT.replace("begin CHiLL", f"begin {name}").replace("RECIPE", inside)
    (tmp_path / "f.c").write_text(text)
    said = annotune(installed, "emit", "--target", "openmp", str(tmp_path / "f.c"), code=1)
    assert "f.c:4:5: error:" in said
    assert words in said


def test_a_search_is_known_by_its_name(installed: Path) -> None:
    code = (
        "from annotune.tuning.search.names import make_search, search_name\n"
        "from annotune.tuning.search.points import Points\n"
        "points = Points(({'a': 1}, {'a': 2}, {'a': 3}))\n"
        "search = make_search(search_name('Backwards'), points, 3)\n"
        "print(search.ask(2), search.ask(2), search.ask(2))\n"
    )
    python_path = os.pathsep.join([str(installed), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": python_path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "(2, 1) (0,) ()\n"
