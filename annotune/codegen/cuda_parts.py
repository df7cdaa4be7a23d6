"""What one call copies of each array: how the host's text names it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from annotune.analysis.facts import Analysis
from annotune.codegen.c_expr import plain_c
from annotune.codegen.guards import in_long, signed
from annotune.codegen.writer import Writer
from annotune.ir.expr import Int
from annotune.ir.fold import fold
from annotune.ir.region import Array


@dataclass(frozen=True, slots=True)
class Copied:
    """What a call copies of an array: its first element, where that lies in a copy, the bytes.

    `condition` is C that says whether there is anything, empty where there always is.
    """

    first: str
    shift: str
    bytes: str
    condition: str = ""

    def at(self, pointer: str) -> str:
        """Return where the first element lies in a copy of the array's section."""
        return f"{pointer}{self.shift}"


def copied(analysis: Analysis, array: Array) -> Copied:
    """Return how the copies of an array name what the call touches of it."""
    shape, name = analysis.shapes[array.name], array.name
    if shape.touched is None:
        return Copied(first_element(analysis, array), "", f"{name}_bytes")
    lowest = fold(shape.lowest)
    shift = "" if lowest == Int(0) else f" - ({plain_c(in_long(lowest))})"
    return Copied(
        f"{name} + {name}_first",
        f" + ({name}_first{shift})" if shift else f" + {name}_first",
        f"sizeof({array.element}) * {name}_touched",
        f"{name}_touched > 0" if shape.touched.may_be_none else "",
    )


def first_element(analysis: Analysis, array: Array) -> str:
    """Return the pointer to the first element of the section of an array."""
    lowest = signed(fold(analysis.shapes[array.name].lowest), analysis.region)
    return array.name if lowest == Int(0) else f"{array.name} + ({plain_c(lowest)})"


def write_touched(out: Writer, analysis: Analysis, arrays: Sequence[Array]) -> None:
    """Write what the call touches of each array, where that may be less than its section."""
    for array in arrays:
        touched = analysis.shapes[array.name].touched
        if touched is not None:
            out.line(f"/* Of {array.name} the call touches less than it has: */")
            for name, value in (("first", touched.first), ("touched", touched.count)):
                counted = plain_c(fold(in_long(value)))
                out.line(f"const long long {array.name}_{name} = {counted};")


@contextmanager
def written_where(out: Writer, condition: str) -> Iterator[None]:
    """Write one line, under a condition where there is one."""
    if condition:
        out.line(f"if ({condition})")
    with out.deeper() if condition else nullcontext():
        yield
