"""The README's example: what `check` prints of it, what `run` prints, and the pictures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.cli import annotune
from support.figures import masked
from support.little import tune_little

from annotune.report.summary import PEOPLE_SAY
from annotune.report.terminal import SHORT_WIDTH
from annotune.tuning.results import ROW_NAMES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
LINES = 12
# `make readme` makes none that is larger.
MOST_BYTES = 150_000


def block(begin: str) -> str:
    """Return the block of the README that has a line which begins so, from that line on."""
    at = README.index(f"\n{begin}") + 1
    return README[at : README.index("```", at)]


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the README's file in a folder of its own, which is the one of the command."""
    monkeypatch.chdir(tmp_path)
    tune_little(monkeypatch)
    Path("mm.c").write_text(block("void mm("))
    return Path("mm.c")


def test_check_prints_of_the_example_what_the_readme_has(example: Path) -> None:
    done = annotune("check", example)
    assert done.code == 0
    assert done.out.rstrip() == block("mm.c:3:5: mm, region 1").rstrip()


@pytest.mark.parametrize(
    ("begin", "file"), [("/* mm, statement 0", "mm.cu"), ("/* S0 of the region", "mm_acc.c")]
)
def test_emit_writes_of_the_example_what_the_readme_has(
    begin: str, file: str, example: Path
) -> None:
    assert annotune("emit", example, "-o", ".").code == 0
    written = _dense(Path(file).read_text())
    shown = [line.strip() for line in block(begin).splitlines()]
    # Comments of one line say what is left out.
    parts = [line for line in shown if line and not re.fullmatch(r"/\*.*\*/", line)]
    assert [line for line in parts if _dense(line) not in written] == []


def _dense(text: str) -> str:
    """Return a text without white space: long lines may be broken otherwise."""
    return "".join(text.split())


def test_the_run_of_the_readme_has_its_answer_last() -> None:
    _, *lines = block("$ annotune run mm.c").splitlines()
    assert re.fullmatch(
        r"mm, region 1 \(line 3\) at n=480: .* wins with .*, measured on .*", lines[-2]
    )
    assert re.fullmatch(r"tuned OpenMP wins: .* as fast as the original; next: gcc .*", lines[-1])
    assert max(map(len, lines[:-2])) <= SHORT_WIDTH
    assert lines.index("") < LINES
    table = lines[2 : lines.index("")]
    names = [PEOPLE_SAY[name] for name in ROW_NAMES]
    assert [line[: len(name)] for line, name in zip(table, names, strict=True)] == names


def test_run_prints_of_the_example_what_the_readme_has_but_for_the_figures(example: Path) -> None:
    done = annotune("run", example, "--target", "openmp", "--set", "n=48", "--time", "1s")
    assert done.code == 0
    said = done.out.splitlines()
    written = block("$ annotune run mm.c").splitlines()[1:]
    known = {masked(line) for line in written}
    head, *rows = said[: said.index("")]
    assert masked(head) in known
    # A call with its copies is told where there is a GPU's row.
    columns = rows.pop(0).split()
    assert columns == masked(written[1]).replace("a call ", "").split()
    for row in rows:
        if "OpenACC" not in row:
            # On a busy machine there is no speed-up.
            assert masked(re.sub(r" - ", " 1.00x ", row)) in known, row
    files = [line for line in said if line.startswith("annotune-out")]
    assert files
    assert set(files) <= set(written)
    (last,) = (line for line in said if line.startswith("mm, region 1 (line 3) at n=48: "))
    assert last == said[-2]
    # Here is not there: nothing may win, or be told.
    assert "; next: " in said[-1]


def test_every_picture_of_the_documentation_is_there_and_small() -> None:
    shown = []
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        found = re.findall(r"!\[[^\]]+\]\(([^)]+\.png)\)", page.read_text())
        shown += [(page.parent / name).resolve() for name in found]
    assert {path.name for path in shown} == {"page.png", "page-narrow.png"}
    for path in shown:
        assert path.read_bytes()[:4] == b"\x89PNG"
        assert path.stat().st_size <= MOST_BYTES
