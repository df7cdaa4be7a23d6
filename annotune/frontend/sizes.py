"""The values that a region's integers have at the sizes it is tuned for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from annotune.annotation.spec import Value
from annotune.frontend.aliases import key
from annotune.frontend.constant import integer
from annotune.frontend.extent import start_of, walk
from annotune.frontend.names import Names
from annotune.frontend.syntax import c_ast
from annotune.ir.fold import divide, remainder
from annotune.ir.region import Alias

# How many sizes may be made of one another: f2c's are one or two steps from an argument.
_LONGEST_CHAIN = 8


def tuned_sizes(
    names: Names,
    aliases: Sequence[Alias],
    changing: Collection[str],
    given: Mapping[str, Value],
    overrides: Mapping[str, int],
    body: Any,
    region_start: int,
) -> dict[str, int]:
    """Return the sizes that C fixes, over them those of the annotation, then `overrides`.

    What the nest itself changes, `changing`, is no size, whatever its value before is.
    A value for ``n`` is also that of ``*n``, and one for ``nx`` that of ``grid->nx``. An
    integer that the function computes from sizes before the region, such as f2c's
    ``a_dim1 = *lda;``, has the value that those give; emitted code tests it as it tests all.
    """
    sizes = {s.name: s.value for s in names.scalars.values() if s.value is not None}
    chosen: dict[str, int] = {}
    for name, one in given.items():
        value = _whole(one)
        if value is not None and name not in changing:
            chosen[name] = value
    chosen |= {k: v for k, v in overrides.items() if k not in changing}
    known = sizes | chosen
    # A pointer's name stands for what it points to; an array's is no size.
    by_key = {key(alias): alias.name for alias in aliases}
    spelled = {alias.name: alias.spelling for alias in aliases}
    sizes |= {k: v for k, v in chosen.items() if k not in names.arrays and k not in by_key}
    sizes |= {by_key[k]: v for k, v in chosen.items() if k in by_key and by_key[k] not in chosen}
    sources = _sources(body, region_start)
    for name, scalar in names.scalars.items():
        if name not in sizes and name not in changing and scalar.type not in ("double", "float"):
            value = _value_of(spelled.get(name, name), sources, known, _LONGEST_CHAIN)
            symbol = names.find(name)
            if symbol is not None:
                # An unsigned -1 is another number.
                value = symbol.with_value(value).value
            if value is not None:
                sizes[name] = value
    return sizes


def _whole(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _sources(body: Any, region_start: int) -> dict[str, Any]:
    """Return the last expression to which each variable is set before the region."""
    found: dict[str, Any] = {}
    for node in walk(body):
        if isinstance(node, c_ast.Decl) and node.init is not None and node.name:
            place, name, value = node.coord.line, node.name, node.init
            if isinstance(value, c_ast.InitList):
                elements = enumerate(value.exprs)
                found |= {f"{name}[{k}]": e for k, e in elements if place < region_start}
        elif isinstance(node, c_ast.Assignment) and (name := _place_name(node.lvalue)):
            value = node.rvalue if node.op == "=" else None
            place = start_of(node.lvalue)
        elif (
            isinstance(node, c_ast.UnaryOp)
            and node.op in ("++", "--", "p++", "p--", "&")
            and isinstance(node.expr, c_ast.ID)
        ):
            place, name, value = node.expr.coord.line, node.expr.name, None
        else:
            continue
        if place < region_start:
            found[name] = value
    return found


def _place_name(node: Any) -> str:
    """Return ``n`` or ``offsets[4]`` for a variable or an element with a constant subscript."""
    if isinstance(node, c_ast.ID):
        return str(node.name)
    is_element = isinstance(node, c_ast.ArrayRef) and isinstance(node.name, c_ast.ID)
    if is_element and isinstance(node.subscript, c_ast.Constant):
        return f"{node.name.name}[{node.subscript.value}]"
    return ""


def _value_of(
    name: str, sources: Mapping[str, Any], known: Mapping[str, int], steps: int
) -> int | None:
    source = sources.get(name)
    return _value(source, sources, known, steps) if source is not None and steps else None


def _value(
    node: Any, sources: Mapping[str, Any], known: Mapping[str, int], steps: int
) -> int | None:
    """Return the value of an integer expression of sizes, None when it is none."""
    match node:
        case c_ast.Constant():
            return integer(node.value)
        case c_ast.ID():
            if node.name in known:
                return known[node.name]
            return _value_of(node.name, sources, known, steps - 1)
        case c_ast.UnaryOp(op="*", expr=c_ast.ID(name=name)):
            return known.get(name)
        case c_ast.ArrayRef():
            return _value_of(_place_name(node), sources, known, steps - 1)
        case c_ast.StructRef():
            return known.get(node.field.name)
        case c_ast.UnaryOp(op="-"):
            operand = _value(node.expr, sources, known, steps)
            return None if operand is None else -operand
        case c_ast.Cast():
            return _value(node.expr, sources, known, steps)
        case c_ast.BinaryOp():
            left = _value(node.left, sources, known, steps)
            right = _value(node.right, sources, known, steps)
            return None if left is None or right is None else _computed(node.op, left, right)
    return None


def _computed(op: str, left: int, right: int) -> int | None:
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" | "%" if right != 0:
            return divide(left, right) if op == "/" else remainder(left, right)
    return None
