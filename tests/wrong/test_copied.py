"""What is copied to and from a device: no byte beyond what the original touches at that call."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.borders import border_faults
from support.executed import SHARED, run

from wrong.called import Array, Call

SUM = "double f(long n, const double *x, double *y)\n{{ double s = 0; {} return s; }}\n"
ADDED = "for (long i = 2; i < n; i++) s += x[3 * i];"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (ADDED, ""),
        ("if (n > 2) s += 0 * *(volatile const double *)(x + 3 * n - 2);" + ADDED, "end: SIGSEGV"),
        ("if (n > 2) s += 0 * *(volatile const double *)(x + 5);" + ADDED, "start: SIGSEGV"),
        ("s += 0 * *(volatile const double *)x;" + ADDED, "null: SIGSEGV"),
        (ADDED + "s += n == 3;", "another value"),
        ("y[n] = 0;" + ADDED, "start: SIGSEGV"),
    ],
)
def test_a_byte_beyond_what_the_original_touches_is_found(
    text: str, fault: str, tmp_path: Path
) -> None:
    libraries = {}
    for name, body in (("original", ADDED), ("made", text)):
        source = tmp_path / f"{name}.c"
        source.write_text(SUM.format(body))
        libraries[name] = tmp_path / f"{name}.so"
        run("gcc", "-O1", *SHARED, "-shared", source, "-o", libraries[name])
    calls = [Call("f", n, Array("f8", 99), Array("f8", 9), returns="f8") for n in (0, 3, 5)]
    found = [one for faults in border_faults(libraries, *calls) for one in faults]
    assert any(fault in one for one in found) if fault else not found, found
