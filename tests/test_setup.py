"""What is set up: bounds of every version, a lock that keeps them, and a demo without the rest."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

PROJECT = Path(__file__).parent.parent
TEXT = tomllib.loads((PROJECT / "pyproject.toml").read_text())
EXTRAS = TEXT["project"]["optional-dependencies"]
CORE = TEXT["project"]["dependencies"]
LOCK = dict(
    line.split("==") for line in (PROJECT / ".ci/requirements.lock").read_text().lower().split()
)


@pytest.mark.parametrize("text", [*CORE, *(one for extra in EXTRAS.values() for one in extra)])
def test_a_version_has_two_bounds(text: str) -> None:
    assert sorted(one.operator for one in Requirement(text).specifier) == ["<", ">="]


@pytest.mark.parametrize(
    "text", [*CORE, *(one for name in ("nvcc", "dev", "docs", "search") for one in EXTRAS[name])]
)
def test_the_lock_has_a_version_within_the_bounds(text: str) -> None:
    wanted = Requirement(text)
    if wanted.name == "setuptools":
        pytest.skip("what an environment is born with, the lock leaves")
    assert wanted.specifier.contains(LOCK[wanted.name.lower()])


def test_libraries_of_searches_and_views_are_extras() -> None:
    core = {Requirement(text).name for text in CORE}
    extra = {Requirement(text).name for name in ("search", "notebook") for text in EXTRAS[name]}
    assert extra == {"scikit-learn", "scipy", "optuna", "cmaes", "pandas", "xarray"}
    assert not core & extra


def test_a_wheel_has_every_file_of_the_package() -> None:
    setuptools = TEXT["tool"]["setuptools"]
    held: set[Path] = set()
    for package in setuptools["packages"]:
        folder = PROJECT / setuptools["package-dir"].get(package, package.replace(".", "/"))
        for pattern in ("*.py", *setuptools["package-data"].get(package, ())):
            held |= set(folder.glob(pattern))
    files = {path for path in (PROJECT / "annotune").rglob("*") if path.is_file()}
    assert {path for path in files - held if "__pycache__" not in path.parts} == set()


def made(*words: str) -> str:
    """Return the commands of a target in an environment that is not there yet."""
    command = ["make", "--dry-run", *words]
    return subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True).stdout


def test_the_demo_installs_what_tunes_and_says_so(tmp_path: Path) -> None:
    text = made("demo", f"VENV={tmp_path / 'fresh'}", "LOCK=")
    assert "--editable '.[nvcc]'" in text
    assert "--quiet" not in text
    assert "dev" not in text.replace("/dev/", "")


def test_a_lock_that_cannot_be_met_is_left(tmp_path: Path) -> None:
    """The second attempt, by a pip that takes no constraint, makes the environment ready."""
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin/python"
    python.write_text('#!/bin/sh\necho "$@"\ncase "$*" in *--constraint*) exit 1;; esac\n')
    python.chmod(0o755)
    lock = tmp_path / "lock"
    lock.touch()
    command = ["make", str(tmp_path / ".ready"), f"VENV={tmp_path}", f"LOCK={lock}"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
    assert f"--constraint {lock}" in done.stdout
    assert f"Not to be had as in {lock}" in done.stdout
    assert (tmp_path / ".ready").exists()
    refused = tmp_path / "refused"
    (refused / "bin").mkdir(parents=True)
    (refused / "bin/python").symlink_to("/bin/false")
    command = ["make", str(refused / ".ready"), f"VENV={refused}", "LOCK="]
    assert subprocess.run(command, cwd=PROJECT, capture_output=True).returncode
    assert not (refused / ".ready").exists()
