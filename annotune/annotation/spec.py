"""What an annotation says, as values with their places in the text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from annotune.diagnostics import NOWHERE, Diagnostic, Span

Value: TypeAlias = "int | float | str | bool | tuple[Value, ...]"


@dataclass(frozen=True, slots=True)
class Formula:
    """An expression of the annotation's own language, kept as text until it has values.

    `annotune.annotation.evaluate` computes it; nothing else does.
    """

    text: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


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

    value: Value | Formula | tuple[Value | Formula, ...]
    name: str = ""
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a recipe as written: ``permute(0, ("j", "i"))``."""

    name: str
    arguments: tuple[Argument, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Spec:
    """One region's annotation.

    `input_params` fixes or proposes sizes; `performance_params` and `constraints` span the
    search; `search` holds ``arg name = value`` of ``def search``; `build` those of
    ``def build`` (flags only, never a shell line); `commands` is the recipe, perhaps partial
    or empty. `notes` tell what was read and is not used, such as ``def input_vars``.
    """

    input_params: tuple[Parameter, ...] = ()
    performance_params: tuple[Parameter, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    search: Mapping[str, Value] = field(default_factory=dict)
    build: Mapping[str, Value] = field(default_factory=dict)
    commands: tuple[Command, ...] = ()
    span: Span = NOWHERE
    notes: tuple[Diagnostic, ...] = ()
