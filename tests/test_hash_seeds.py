"""What is reported and written does not depend on the order of a set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import EXAMPLES
from wrong.called import PROGRAMS
from wrong.test_packed import LOOPS
from wrong.test_packed import text as packed

# A place of each is that of a message, or a part of a proof.
TEXTS = {
    "quotients": """
void f(int n, int m, int k, double *restrict a, const double *restrict x, double *restrict b)
{
  /*@ begin PerfTuning ( def input_params { param n = 9; param m = 7; param k = 3; } ) @*/
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[(i - 2) / 2 * m + j] = x[(j - k) / 3] + b[(i - j) / 5] + x[(j - m) / 2 + (i - k) / 4];
  /*@ end @*/
}
""",
    "packed": packed({name: LOOPS[name] for name in list(LOOPS)[::3]}),
}
FILES = {
    "swapped pointers": PROGRAMS / "swapped_pointers.c",
    "bounds of types": PROGRAMS / "bounds_of_types.c",
    "members": PROGRAMS / "member_sizes.c",
    "macros": PROGRAMS / "macro_texts.c",
    "elements": EXAMPLES / "nekbone" / "ax.c",
    "gradient": EXAMPLES / "nekbone" / "gradient.c",
}


def outputs(source: Path, folder: Path, seed: str) -> dict[str, str]:
    """Return what `check` and `emit` print of a file, and the files that these write."""
    folder.mkdir()
    env = {**os.environ, "PYTHONHASHSEED": seed}
    found = {}
    for words in (("check", "--certificate"), ("emit", "--output", str(folder / "made"))):
        command = (sys.executable, "-m", "annotune", *words, str(source))
        run = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
        found[words[0]] = run.stdout + run.stderr
    if (folder / "made").exists():
        found |= {path.name: path.read_text() for path in (folder / "made").iterdir()}
    return {name: text.replace(str(folder), "") for name, text in found.items()}


def check_seeds(source: Path, folder: Path) -> None:
    first, *others = (outputs(source, folder / seed, seed) for seed in ("1", "2"))
    for other in others:
        assert other == first


@pytest.mark.alike(2)
@pytest.mark.parametrize("name", TEXTS)
def test_texts_have_the_same_outputs_with_every_seed(name: str, tmp_path: Path) -> None:
    source = tmp_path / "f.c"
    source.write_text(TEXTS[name])
    check_seeds(source, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_files_have_the_same_outputs_with_every_seed(name: str, tmp_path: Path) -> None:
    check_seeds(FILES[name], tmp_path)
