"""Copies of the user's functions, for devices that cannot call what is compiled for the host.

A copy has a name of its own: the user's stays as it is, and keeps its name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from annotune.analysis.facts import Analysis
from annotune.codegen.names import spelled, wrapped
from annotune.codegen.target import Variant
from annotune.codegen.writer import Writer
from annotune.ir.expr import Call, Expr, rewrite
from annotune.ir.functions import own_name
from annotune.ir.nest import Assign, Await, Fetch, Local, LocalArray, Loop, Nest, Stmt
from annotune.ir.region import Region, UserFunction
from annotune.schedule.plan import HostLoop, Kernel, Plan, Step
from annotune.transforms.tree import Body, rebuilt


def copied(region: Region) -> tuple[UserFunction, ...]:
    """Return the functions of a region of which there can be a copy, what is called first."""
    return tuple(function for function in region.functions if not function.reason)


def definition(
    function: UserFunction, names: Mapping[str, str], qualifiers: str, table: str = ""
) -> str:
    """Return the text of a copy under its name in `names`, those of its callees too.

    `qualifiers` stand before its type, `table` before arrays of constants.
    """
    out = Writer()
    head = f"{qualifiers} {spelled(function.result)} {names[function.name]}"
    with out.block(wrapped(head, function.parameters) + "\n"):
        for constant in function.constants:
            is_array = "[" in constant.partition("=")[0]
            out.line(f"{table}{constant}" if is_array else constant)
        for line in function.body:
            out.line(_renamed(line, function, names))
    return out.text()


def _renamed(line: str, function: UserFunction, names: Mapping[str, str]) -> str:
    """Return a line with the calls of its callees: no other name stands before a ``(``."""
    for name in function.needs:
        line = re.sub(rf"\b{name}(?=\()", names[name], line)
    return line


def calling_copies(variant: Variant, names: Mapping[str, str]) -> Variant:
    """Return a variant whose nest, as written too, and whose plans call the copies in `names`."""
    if not names:
        return variant
    view = _Calls({own_name(name): copy for name, copy in names.items()})

    def analysis(one: Analysis) -> Analysis:
        region = one.region
        nest, original = Nest(view.body(region.nest.body)), region.original
        if original is not None:
            original = Nest(view.body(original.body))
        region = replace(region, nest=nest, original=original)
        return replace(one, region=region, inspector=view.body(one.inspector))

    return variant.rewritten(analysis, view.plan)


class _Calls:
    """Statements that call other functions than they did."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def plan(self, plan: Plan) -> Plan:
        return replace(plan, steps=tuple(map(self._step, plan.steps)))

    def _step(self, step: Step) -> Step:
        match step:
            case Kernel():
                return replace(step, body=self.body(step.body))
            case HostLoop(loop, inner):
                (changed,) = self.body((loop,))
                assert isinstance(changed, Loop)
                return HostLoop(changed, tuple(map(self._step, inner)))

    def body(self, body: Body) -> Body:
        return tuple(map(self._stmt, body))

    def _stmt(self, stmt: Stmt) -> Stmt:
        match stmt:
            case Assign() | Fetch():
                return stmt.rewritten(self._change)
            case Local(name, kind, value):
                return stmt if value is None else Local(name, kind, rewrite(value, self._change))
            case LocalArray() | Await():
                return stmt
            case Loop():
                # Bounds are sums of sizes, without calls of the user's.
                return rebuilt(stmt, body=self.body(stmt.body))

    def _change(self, part: Expr) -> Expr | None:
        if isinstance(part, Call) and part.function in self.names:
            arguments = tuple(rewrite(argument, self._change) for argument in part.arguments)
            return Call(self.names[part.function], arguments)
        return None
