"""The C types of numbers, and what gcc says of expressions of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from annotune.ir.ctype import TYPES

# C knows each by one name of its own: size_t is an unsigned long there.
OWN = tuple(
    one for name, one in TYPES.items() if name not in ("size_t",) and "_Complex" not in name
)
PROGRAM = """
#include <complex.h>
#include <stdio.h>
#define NAME(x) _Generic((x), {names})
int main(void)
{{
{lines}
    return 0;
}}
"""


def told_by_gcc(lines: list[str], folder: Path) -> list[str]:
    """Return what a program of these lines prints, line by line."""
    names = ", ".join(f'{one}: "{one}"' for one in OWN)
    source = folder / "types.c"
    source.write_text(PROGRAM.format(names=names, lines="\n".join(lines)))
    subprocess.run(["gcc", "-w", str(source), "-o", str(folder / "types"), "-lm"], check=True)
    done = subprocess.run([str(folder / "types")], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()
