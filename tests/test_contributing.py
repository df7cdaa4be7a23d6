"""What a contributor and a user with a fault are told: commands that are there, and the version."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from annotune import __version__
from annotune.cli import cli

ROOT = Path(__file__).resolve().parents[1]
TEMPLATES = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))


def test_the_templates_are_of_the_three_faults() -> None:
    assert [path.stem for path in TEMPLATES] == ["refused-loop", "slow-kernel", "wrong-result"]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_asks_for_what_is_needed(path: Path) -> None:
    form = yaml.safe_load(path.read_text())
    assert form.keys() == {"name", "description", "labels", "body"}
    fields = {field["id"]: field for field in form["body"]}
    assert len(fields) == len(form["body"])
    assert {"file", "command", "check", "machine"} < fields.keys()
    assert "`annotune check --json " in fields["check"]["attributes"]["description"]
    assert "`annotune --version`" in fields["machine"]["attributes"]["description"]
    assert "`annotune doctor`" in fields["machine"]["attributes"]["description"]
    assert all(field["validations"]["required"] for field in form["body"])


def test_the_commands_that_are_named_are_there() -> None:
    pages = (*TEMPLATES, ROOT / "CONTRIBUTING.md", ROOT / "docs/completion.md")
    text = "".join(path.read_text() for path in pages)
    commands = re.findall(r"(?:`|placeholder: )annotune ([a-z][\w-]*)((?: --[\w-]+)*)", text)
    assert len(commands) > 8
    for command, options in commands:
        known = {name for one in cli.commands[command].params for name in one.opts}
        assert set(options.split()) <= known, command


def test_the_targets_of_make_that_are_named_are_there() -> None:
    named = set(re.findall(r"^make ([\w-]+)", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE))
    assert named == {"demo", "test", "check", "docs"}
    for name in named:
        subprocess.run(["make", "--dry-run", name], cwd=ROOT, check=True, capture_output=True)


def test_a_citation_has_the_version_and_its_day() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == __version__
    dated = dict(
        re.findall(
            r"^## (\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)$",
            (ROOT / "CHANGELOG.md").read_text(),
            re.MULTILINE,
        )
    )
    assert str(cited["date-released"]) == dated[__version__]
    assert all(
        re.match(r"Next$|\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)$", heading)
        for heading in re.findall(r"^## (.*)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    )
