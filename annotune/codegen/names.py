"""The names and types by which generated functions see a region."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import chain, count
from math import prod

from annotune.analysis.facts import Analysis
from annotune.frontend.read.tokens import WORD
from annotune.frozen import dataclass
from annotune.ir.c_types import PROMOTED
from annotune.ir.expr import Access, Expr, Int, Var, variables
from annotune.ir.fold import fold
from annotune.ir.nest import (
    Assign,
    Loop,
    Stmt,
    expressions,
    walk_stmts,
)
from annotune.ir.region import Array, Region, Scalar
from annotune.schedule.plan import HostLoop, Kernel, Step


@dataclass(frozen=True, slots=True)
class Interface:
    """What a region needs from outside: scalars first, then arrays, in order of first use.

    Iterators, temporaries and locals of the nest are not among them.
    """

    scalars: tuple[Scalar, ...]
    arrays: tuple[Array, ...]
    written: frozenset[str]

    def pointer(self, array: Array) -> str:
        """Return the C type of a flat pointer to the array, const when it is only read."""
        const = "" if array.name in self.written else "const "
        return f"{const}{spelled(array.element)} *"

    def among(self, names: Collection[str], written: frozenset[str]) -> Interface:
        """Return what of it is in `names`, for a text that writes the arrays in `written`."""
        scalars = tuple(s for s in self.scalars if s.name in names)
        return Interface(scalars, tuple(a for a in self.arrays if a.name in names), written)

    def without(self, names: Collection[str]) -> Interface:
        """Return all of it but for some arrays."""
        return replace(self, arrays=tuple(a for a in self.arrays if a.name not in names))

    def parameters(self, qualifier: str = "", but: Collection[str] = ()) -> tuple[str, ...]:
        """Return the C parameters; `qualifier` such as ``restrict`` goes to pointers `but` some."""
        parts = [f"{spelled(s.type)} {s.name}" for s in self.scalars]
        for array in self.arrays:
            alone = f"{qualifier} " if qualifier and array.name not in but else ""
            parts.append(f"{self.pointer(array)}{alone}{array.name}")
        return tuple(parts)

    def types(self) -> str:
        """Return the parameter types without names, for a prototype that no macro can touch."""
        parts = [s.type for s in self.scalars]
        parts += [self.pointer(a).rstrip() for a in self.arrays]
        return ", ".join(parts) or "void"

    def names(self) -> str:
        """Return the arguments that pass everything on under its own name."""
        return ", ".join([s.name for s in self.scalars] + [a.name for a in self.arrays])

    def call_arguments(self) -> str:
        """Return the arguments at the user's place, arrays flattened to pointers."""
        parts = [s.name for s in self.scalars]
        for array in self.arrays:
            flat = array.is_pointer and len(array.extents) == 1
            parts.append(array.name if flat else f"({self.pointer(array).rstrip()}){array.name}")
        return ", ".join(parts)


def interface(analysis: Analysis) -> Interface:
    """Return the interface of a region: every outer name that its text may read or write."""
    region = analysis.region
    inner = {loop.var for loop in region.nest.loops()} | analysis.private
    inner |= {s.name for s in region.scalars.values() if s.is_local}
    needed = used_scalars(region.nest.body)
    for shape in analysis.shapes.values():
        needed |= variables(shape.length) | variables(shape.lowest)
    for array in region.arrays.values():
        for extent in array.extents:
            needed |= variables(extent) if extent is not None else set()
    for condition in analysis.conditions:
        needed |= variables(condition)
    scalars = tuple(
        replace(s, type=c_type(region, s.type))
        for s in region.scalars.values()
        if s.name in needed and s.name not in inner
    )
    written = frozenset(u.array for u in analysis.uses.values() if u.is_written)
    return Interface(scalars, tuple(region.arrays.values()), written)


def c_type(region: Region, type_: str) -> str:
    """Return the type to compute with: long for int where int subscripts could overflow.

    The nest no longer shows a ``(size_t)`` of the text. Rows and columns of ``A[i][j]`` may
    each be an int while the flat ``i*n + j`` is none, which C never computes in int.
    """
    is_widened = type_ in _NARROW and (region.text.is_wide or _may_overflow(region))
    return "long" if is_widened else spelled(type_)


def iterator_c_type(region: Region, type_: str, bounds: Iterable[Expr]) -> str:
    """Return the type of an iterator between bounds.

    An int stays one where they are numbers so small that no product of it with the length of a row
    leaves an int: a GPU takes several instructions for one of a long, and tens for a quotient.
    """
    wide = c_type(region, type_)
    ends = [fold(bound, region.constants) for bound in bounds]
    numbers = [abs(end.value) for end in ends if isinstance(end, Int)]
    if type_ != "int" or region.text.is_wide or len(numbers) < len(ends):
        return wide
    # The strides of a grid go past the end by less than half.
    return type_ if max(numbers) * _longest_stride(region) <= _INT_MAX // 2 else wide


def _longest_stride(region: Region) -> int:
    """Return a bound of the numbers by which iterators stand multiplied in a subscript, summed.

    Lengths that arrive at run time are no part of it: these are as wide as iterators.
    """
    longest = 1
    for array in region.arrays.values():
        rows = (fold(n, region.constants) for n in array.extents[1:] if n is not None)
        elements = prod(n.value for n in rows if isinstance(n, Int))
        longest = max(longest, elements * len(array.extents))
    return longest


def narrow_scalars(region: Region) -> dict[str, str]:
    """Return the user's scalars of 32 bits and less, with the type in which C computes with them.

    Where the user computes in 64 bits, what a text in place makes of them must be so too; empty
    where he does not.
    """
    if not region.text.is_wide:
        return {}
    iterators = {loop.var for loop in region.nest.loops()}
    return {
        scalar.name: scalar.type if scalar.type == "unsigned int" else "int"
        for scalar in region.scalars.values()
        if scalar.type in (*PROMOTED, "int", "unsigned int") and scalar.name not in iterators
    }


def _may_overflow(region: Region) -> bool:
    """Return whether a flat subscript of a shaped array may exceed an int.

    So it may where rows have a length or are of a number that arrives at run time, or the array is
    that large.
    """
    for array in region.arrays.values():
        elements = 1
        for extent in array.extents[1:]:
            length = fold(extent, region.constants) if extent is not None else None
            if not isinstance(length, Int):
                return True
            elements *= length.value
        first = array.extents[0] if array.extents else None
        rows = fold(first, region.constants) if first is not None else None
        is_small = isinstance(rows, Int) and elements * rows.value <= _INT_MAX
        if elements > 1 and not is_small:
            return True
    return False


def spelled(type_: str) -> str:
    """Return a C type as it may be written without ``complex.h``."""
    return re.sub(r"\bcomplex\b", "_Complex", type_)


_INT_MAX = 2**31 - 1
_NARROW = PROMOTED | {"int", "unsigned int", "unsigned", "signed int"}


def used_scalars(body: Iterable[Stmt]) -> set[str]:
    """Return the names of the scalars that statements read or write, iterators included."""
    stmts = list(walk_stmts(tuple(body)))
    iterators = {stmt.var for stmt in stmts if isinstance(stmt, Loop)}
    return iterators.union(*(variables(expr) for stmt in stmts for expr in expressions(stmt)))


def written_arrays(body: Iterable[Stmt]) -> frozenset[str]:
    """Return the arrays of which statements write elements."""
    assigns = (stmt for stmt in walk_stmts(tuple(body)) if isinstance(stmt, Assign))
    return frozenset(s.target.array for s in assigns if isinstance(s.target, Access))


def temporaries(analysis: Analysis, body: Iterable[Stmt]) -> tuple[Scalar, ...]:
    """Return the private scalars that `body` assigns, to be declared where it runs."""
    assigned = {
        stmt.target.name
        for stmt in walk_stmts(tuple(body))
        if isinstance(stmt, Assign) and isinstance(stmt.target, Var)
    }
    scalars = analysis.region.scalars.values()
    return tuple(s for s in scalars if s.name in assigned and s.name in analysis.private)


def unmentioned(analysis: Analysis, text: str) -> list[str]:
    """Return iterators and temporaries of the user that the new `text` does not use.

    Mentioning them keeps compilers from calling the user's declarations unused.
    """
    region = analysis.region
    own = {loop.var for loop in region.nest.loops()} | analysis.private
    found = [
        s.name
        for s in region.scalars.values()
        if s.name in own and not s.is_local and not s.is_macro and not s.read_after
    ]
    used = set(WORD.findall("\n".join([text, *(a.declaration for a in region.text.aliases)])))
    return found + [n for n in region.text.unread if n not in used and n not in found]


def fresh(wanted: str, taken: Iterable[str]) -> str:
    """Return `wanted`, longer where it is among `taken`."""
    known = frozenset(taken)
    while wanted in known:
        wanted += "_"
    return wanted


def numbered(wanted: str, taken: Iterable[str]) -> str:
    """Return `wanted`, with a number where it is among `taken`."""
    known = frozenset(taken)
    names = (f"{wanted}{number}" for number in count(2))
    return next(name for name in chain((wanted,), names) if name not in known)


def with_hosts(
    steps: Iterable[Step], region: Region, around: tuple[Scalar, ...] = ()
) -> Iterator[tuple[Kernel, tuple[Scalar, ...]]]:
    """Yield every kernel with the iterators of the host's loops around it."""
    for step in steps:
        match step:
            case Kernel():
                yield step, around
            case HostLoop(loop, inner):
                yield from with_hosts(inner, region, (*around, region.scalars[loop.var]))
