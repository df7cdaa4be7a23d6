"""What an annotation says, as values with their places in the text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import TypeAlias

from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.frozen import dataclass

Value: TypeAlias = "int | float | str | bool | tuple[Value, ...]"


@dataclass(frozen=True, slots=True)
class Formula:
    """An expression of the annotation's own language, kept as text until it has values.

    `annotune.annotation.expressions` computes it; nothing else does.
    """

    text: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Item: TypeAlias = "Value | Formula"


@dataclass(frozen=True, slots=True)
class Parameter:
    """``param NAME = value`` or ``param NAME[] = [values]``: one axis of the search.

    `values` has one entry for a plain parameter. A value may be a number or a loop's name.
    """

    name: str
    values: tuple[Value, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Constraint:
    """``constraint name = (formula);``: points where it is false are not in the space."""

    name: str
    formula: Formula
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a command: a number, a string, a list of them, or a parameter's name.

    `value` is a `Value` for literals, and a `Formula` where a parameter stands, such as
    ``UF`` in ``unroll(0, "h7", UF)``. `name` is set for ``block={…}``.
    """

    value: Item | tuple[Item, ...]
    name: str = ""
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def items(self) -> tuple[Item, ...]:
        """Return the items of a list, or what is no list as the only one."""
        return self.value if isinstance(self.value, tuple) else (self.value,)


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a recipe as written: ``permute(0, ("j", "i"))``."""

    name: str
    arguments: tuple[Argument, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """Return what has a value only at a point of the parameters."""
        items = (item for argument in self.arguments for item in argument.items)
        return tuple(item for item in items if isinstance(item, Formula))


@dataclass(frozen=True, slots=True)
class InputVariable:
    """``decl static double A[M][N] = random;``, or a declaration of Orio's ``decl_file``.

    `extents` has one formula per dimension, none for a scalar. `initial` is what the array or
    scalar starts from: a formula, the items of ``{…}``, or None for anything (``random``).
    `is_pointer` tells ``double *A``, an array whose extents the declaration does not say.
    """

    name: str
    type: str
    extents: tuple[Formula, ...] = ()
    initial: Formula | tuple[Formula, ...] | None = None
    is_pointer: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Assumptions:
    """``def assume``: what the user vouches for, where the C text cannot show it.

    `disjoint`: no two arrays overlap. `strides`: sizes that stand in a stride are what their
    names say. `pure`: functions without effects. `extents`: an array's name to the C text of
    its extents, outermost first, from ``extent = ['x[n]']``. `finite`: what maxima and minima are
    made of is never NaN, and the sign of a zero among their results is of no account. `whole`: the
    elements that conditions leave out exist.
    """

    disjoint: bool = False
    strides: bool = False
    pure: tuple[str, ...] = ()
    extents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    finite: bool = False
    whole: bool = False


class WishKind(StrEnum):
    """What a transformation of Orio's Loop module asks of one loop."""

    PARALLEL = "parallel"
    UNROLL = "unroll"
    TILE = "tile"


@dataclass(frozen=True, slots=True)
class LoopWish:
    """One wish of Orio's ``transform …`` for one loop.

    `loop` is its iterator, `index` counts the ``for`` of the region's text from 0; where two
    loops share an iterator only `index` tells them apart. -1 when the text has no such loop.
    PARALLEL is a demand: where the loop carries a dependence, the region is refused. The
    numbers are hints, each a list of the values to try: `factors` to unroll by or to tile
    with, `threads` and `blocks` of the launch that ``CUDA(threadCount=…, blockCount=…)`` asks for.
    """

    kind: WishKind
    loop: str
    index: int
    factors: tuple[int, ...] = ()
    threads: tuple[int, ...] = ()
    blocks: tuple[int, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Spec:
    """One region's annotation.

    `input_params` fixes or proposes sizes; `performance_params` and `constraints` span the
    search; `search` holds ``arg name = value`` of ``def search``; `build` those of
    ``def build`` (flags only, never a shell line: see `annotune.annotation.flags`);
    `commands` is the recipe, perhaps partial or empty; `wishes` are those of Orio's Loop
    module. `input_vars` types what the C text leaves undeclared. `notes` tell what was read
    and is not used, such as ``def power``.

    The first values of `input_params` are the sizes to tune for, and fulfil the constraints
    among them; `annotune.annotation.perf_tuning` lists the others.
    """

    input_params: tuple[Parameter, ...] = ()
    performance_params: tuple[Parameter, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    search: Mapping[str, Value] = field(default_factory=dict)
    build: Mapping[str, Value] = field(default_factory=dict)
    commands: tuple[Command, ...] = ()
    span: Span = NOWHERE
    notes: tuple[Diagnostic, ...] = ()
    wishes: tuple[LoopWish, ...] = ()
    input_vars: tuple[InputVariable, ...] = ()
    assumptions: Assumptions = field(default_factory=Assumptions)
