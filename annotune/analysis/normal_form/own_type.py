"""Accumulations that C computes in a wider type, computed in the type of what accumulates.

f2c's ``s = dmax(s, x)`` is ``s = (double)(s >= x ? s : x)`` for a float s. It becomes
``s = s >= x ? s : x``, which is a reduction. So does ``if ((double)x > s) s = x``.

Why it is exact. A conversion to a type that holds every value of the old one, and back, gives the
value itself, whether it is -0.0, infinite or NaN (C11 6.3.1.3 to 6.3.1.5). Such a conversion keeps
all comparisons, the absolute value and the greater and smaller of two, so that these may as well be
computed before it. A sum is computed in the type that C gives it: only the conversion of the
accumulator itself, which its operator makes in any case, is left out.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import replace

from annotune.frontend.types.kinds import Typed, cast
from annotune.ir.ctype import (
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    CType,
    common,
    keeps_values,
)
from annotune.ir.expr import (
    COMPARISONS,
    CONNECTIVES,
    Access,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Negate,
    Real,
    Select,
    Var,
    conjunction,
    conjuncts,
    place_name,
    print_expr,
    walk,
)
from annotune.ir.nest import Assign, Loop, Nest, Stmt, is_stored
from annotune.ir.region import Normalised, Region, types_of
from annotune.ir.typing import Scope, ctype, scope_of

_IN_FLOAT: Mapping[str, str] = {"fabs": "fabsf", "fmax": "fmaxf", "fmin": "fminf"}
_REALS = (FLOAT, DOUBLE)
_ORDERED = frozenset({"<", "<=", ">", ">="})
# Every integer up to here is a float (IEEE 754, 24 bits).
_LARGEST_WHOLE = 2**24


def with_own_types(region: Region) -> Region:
    """Return `region` with its accumulations computed in the type of what accumulates."""
    types, steps = types_of(region), list[Normalised]()

    def changed(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Loop):
            return replace(stmt, body=tuple(map(changed, stmt.body)))
        if not isinstance(stmt, Assign):
            return stmt
        own = in_own_type(stmt, types)
        if own != stmt:
            name = print_expr(stmt.target)
            proof = f"{name} accumulates in its own type, {types[place_name(stmt.target)]}, "
            steps.append(Normalised(f"{proof}to which C's result is converted", stmt.span))
        return own

    nest = Nest(tuple(map(changed, region.nest.body)))
    if not steps:
        return region
    return replace(region, nest=nest, original=region.as_written, steps=(*region.steps, *steps))


def in_own_type(assign: Assign, types: Mapping[str, str]) -> Assign:
    """Return an accumulation computed in the type of its target, any other statement as it is."""
    scope = scope_of(types)
    base = scope(place_name(assign.target))
    if assign.op != "=" or is_stored(assign) or base not in (*_REALS, INT, LONG):
        return assign
    chosen = _chosen_by_guard(assign, base, scope)
    if chosen is not None:
        return chosen
    if assign.target not in set(walk(assign.value)):
        return assign
    # What is stored is converted in any case.
    value = _without_cast(assign.value, base)
    own = narrowed(value, base, scope)
    if own is not None:
        return replace(assign, value=own)
    is_known = ctype(value, scope) is not None
    return (
        replace(assign, value=_compute_in_type(value, assign.target, scope)) if is_known else assign
    )


def _chosen_by_guard(assign: Assign, base: CType, scope: Scope) -> Assign | None:
    """Return ``if (x > m) m = x`` as ``m = x > m ? x : m``, None for anything else."""
    value = narrowed(assign.value, base, scope)
    parts = list(conjuncts(assign.guard)) if assign.guard is not None else []
    for place, part in enumerate(parts):
        test = _compare_in_type(part, base, scope)
        others = conjunction(parts[:place] + parts[place + 1 :])
        if not isinstance(test, Binary) or test.op not in _ORDERED or value is None:
            continue
        if {test.left, test.right} != {value, assign.target} or value == assign.target:
            continue
        if others is None or assign.target not in set(walk(others)):
            choice = Select(test, value, assign.target)
            return replace(assign, value=choice, guard=others)
    return None


def _without_cast(value: Expr, base: CType) -> Expr:
    match value:
        case Cast(type_, operand) if type_ == base:
            return operand
    return value


def _compute_in_type(value: Expr, target: Access | Var, scope: Scope) -> Expr:
    """Return a sum or product in which the operator alone converts the target to its type."""
    kind = ctype(value, scope)
    match value:
        case Binary("+" | "-" | "*" | "/" as op, left, right) if kind in _REALS:
            sides: list[Expr] = []
            for side in (left, right):
                own = ctype(side, scope)
                if _is_widened_target(side, target, scope):
                    sides.append(target)
                elif target in set(walk(side)):
                    sides.append(_compute_in_type(side, target, scope))
                else:
                    sides.append(side if own is None else cast(Typed(side, own.name), kind.name))
            made = Binary(op, *sides)
            return made if ctype(made, scope) == kind else value
    return value


def _is_widened_target(expr: Expr, target: Access | Var, scope: Scope) -> bool:
    """Return whether an expression is the value of a place, as it is or in a wider type."""
    base = scope(place_name(target))
    return expr == target or (base is not None and narrowed(expr, base, scope) == target)


def narrowed(expr: Expr, kind: CType, scope: Scope) -> Expr | None:
    """Return an expression of type `kind` that always has the value of `expr`, None if unknown.

    What a narrower type computes stays in that: its conversion to `kind` is exact.
    """
    own = ctype(expr, scope)
    if own is None:
        return None
    match expr:
        case Real(text):
            return expr if own == kind else _as_float(text) if kind == FLOAT else None
        case Int(value) if kind in _REALS:
            return Real(f"{value}.0{'f' * (kind == FLOAT)}") if _is_whole(value) else None
        case Cast(type_, operand) if type_ == own:
            inner = ctype(operand, scope)
            # What an unsigned type computes is modular by a cast to that type.
            is_modular = inner == own and type_.is_unsigned
            if inner is not None and keeps_values(inner, own) and not is_modular:
                return narrowed(operand, kind, scope)
        case Call(function, arguments) if function in _IN_FLOAT and kind == FLOAT:
            parts = [narrowed(argument, kind, scope) for argument in arguments]
            known = tuple(part for part in parts if part is not None)
            return Call(_IN_FLOAT[function], known) if len(known) == len(parts) else None
        case Negate(operand) if kind in _REALS and own != kind:
            inner_value = narrowed(operand, kind, scope)
            is_real = inner_value is not None and ctype(inner_value, scope) == kind
            return Negate(inner_value) if is_real and inner_value is not None else None
        case Select(condition, if_true, if_false):
            one, other = narrowed(if_true, kind, scope), narrowed(if_false, kind, scope)
            if one is None or other is None:
                return None
            return Select(_compare_in_type(condition, kind, scope), one, other)
    return expr if keeps_values(own, kind) else None


def _compare_in_type(condition: Expr, kind: CType, scope: Scope) -> Expr:
    """Return a condition in which what C compares in type `kind`, or in a wider one, has `kind`.

    What it compares in another type, such as integers beside a real accumulator, stays in that.
    """
    match condition:
        case Binary(op, left, right) if op in CONNECTIVES:
            return Binary(
                op, _compare_in_type(left, kind, scope), _compare_in_type(right, kind, scope)
            )
        case Binary(op, left, right) if op in COMPARISONS:
            sides = left, right
            own = [ctype(side, scope) for side in sides]
            found = [narrowed(side, kind, scope) for side in sides]
            held = None if own[0] is None or own[1] is None else common(own[0], own[1])
            if held is not None and not keeps_values(kind, held):
                return condition
            is_wider = held is not None and held != kind
            one, other = (
                new if new is not None and (is_wider or isinstance(side, Call | Cast)) else side
                for side, new in zip(sides, found, strict=True)
            )
            if not is_wider or None not in found:
                return Binary(op, one, other)
    return condition


def _is_whole(value: int) -> bool:
    return abs(value) <= _LARGEST_WHOLE


def _as_float(text: str) -> Real | None:
    """Return a constant of type double as one of type float, None where that is another number."""
    value = float(text)
    is_there = abs(value) < 3e38 and struct.unpack("f", struct.pack("f", value))[0] == value
    return Real(f"{text}f") if is_there else None
