"""The page on a call's arrays calls what is emitted for resident data as it is declared there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from support.cli import annotune

PAGE = Path(__file__).parent.parent / "docs" / "data.md"
SCALE = """\
void scale(int n, const double *restrict b, double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 4096; } ) @*/
    for (int i = 0; i < n; i++)
        a[i] = 2 * b[i];
    /*@ end @*/
}
"""
MAIN = """
#include <stdio.h>
int main(void)
{
    double b[1000], a[1000];
    for (int i = 0; i < 1000; i++)
        b[i] = i;
    twice(1000, b, a);
    printf("%g", b[999]);
}
"""


def test_the_example_of_openacc_runs_with_what_is_emitted(tmp_path: Path) -> None:
    _, example = re.findall(
        r"```c\n(.*?)```", PAGE.read_text().split("## How the copies go")[0], re.S
    )
    (tmp_path / "scale.c").write_text(SCALE)
    (tmp_path / "main.c").write_text(example + MAIN)
    made = annotune(
        "emit", tmp_path / "scale.c", "--data", "resident", "--target", "openacc", "-o", tmp_path
    )
    assert made.code == 0, made.err
    files = [str(tmp_path / name) for name in ("main.c", "scale_acc.c")]
    program = tmp_path / "program"
    command = ["gcc", "-O2", "-fopenacc", "-foffload=disable", *files, "-o", str(program), "-lm"]
    subprocess.run(command, check=True, capture_output=True)
    done = subprocess.run([program], check=True, capture_output=True, text=True)
    assert done.stdout == "3996"
