"""Keep an array element in a register while a loop accumulates into it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from annotune.analysis.facts import Analysis
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.ir.expr import Access, Expr, Int, Var, accesses, variables
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Assign, Local, LocalArray, Loop, Stmt, walk_stmts
from annotune.transforms.legality import missing
from annotune.transforms.messages import MAY_NOT_RUN, NOT_INVARIANT, OTHER_ACCESS, PLACED
from annotune.transforms.tree import (
    Body,
    bound_names,
    find_assign,
    map_assigns,
    path,
    rebuilt,
    replace_loop,
)


@dataclass(frozen=True, slots=True)
class Registers:
    """Load the target of `statement` before `loop`, work on a scalar, store it after.

    ``Registers(0, "k")``: ``for k: c[i] += a[k]`` becomes ``double c_acc = c[i];``
    ``for k: c_acc += a[k]`` ``c[i] = c_acc``. A target that is a scalar already stays.
    `taken` are names that the copy must not have, beside those in the body.
    """

    statement: int
    loop: str
    element: str = "double"
    span: Span = field(default=NOWHERE, compare=False)
    taken: frozenset[str] = frozenset()

    def why_not(self, body: Body, analysis: Analysis) -> Diagnostic | None:
        """Return the reason the copy would be wrong, or None when it is right."""
        absent = missing(body, self.statement, (self.loop,), self.span)
        if absent is not None:
            return absent
        target = find_assign(body, self.statement).target
        if isinstance(target, Var):
            return None
        loops = path(body, self.statement)
        loop = self._loop(body)
        if loop.place != "serial":
            serial = [x.var for x in loops if x.place == "serial"]
            return PLACED.at(
                self.span,
                command="registers",
                loop=self.loop,
                place=loop.place,
                loops=", ".join(serial) or "none",
            )
        varying = {x.var for x in walk_stmts((loop,)) if isinstance(x, Loop)}
        used = frozenset[str]().union(*(variables(i) for i in target.indices))
        if used & varying:
            fixed = [x.var for x in loops if x.var not in used and x.place == "serial"]
            return NOT_INVARIANT.at(
                self.span,
                statement=self.statement,
                loop=min(used & varying),
                loops=", ".join(fixed) or "none",
            )
        names = [x.var for x in loops]
        idle = may_not_run(loops, names.index(self.loop))
        if idle is not None:
            # The copy would touch an element that the loop never does, perhaps none at all.
            return MAY_NOT_RUN.at(
                self.span,
                array=target.array,
                loop=idle.var,
                outer=min(bound_names(idle) & set(names)),
            )
        for other in array_accesses(loop):
            # Only the very same element, written the same way, is known to be the copy.
            if other.array == target.array and other != target:
                return OTHER_ACCESS.at(
                    other.span if self.span is NOWHERE else self.span,
                    array=target.array,
                    other=shown(other),
                    loop=self.loop,
                )
        return None

    def apply(self, body: Body) -> Body:
        """Return `body` with the element in a scalar, which `why_not` has accepted."""
        assign = find_assign(body, self.statement)
        target = assign.target
        if isinstance(target, Var):
            return body
        loop = self._loop(body)
        name = fresh_name(f"{target.array}_acc", body, self.taken)
        held = Var(name)

        def swap(expr: Expr) -> Expr | None:
            return held if expr == target else None

        def use_copy(stmt: Assign) -> Assign:
            return stmt.rewritten(swap)

        inside = rebuilt(loop, body=map_assigns(loop.body, use_copy))
        store = Assign(assign.number, target, "=", held, assign.span)
        return replace_loop(body, loop, (Local(name, self.element, target), inside, store))

    def _loop(self, body: Body) -> Loop:
        return next(x for x in path(body, self.statement) if x.var == self.loop)


def array_accesses(loop: Loop) -> list[Access]:
    """Return every array element that the assignments in `loop` read or write."""
    out: list[Access] = []
    for stmt in walk_stmts((loop,)):
        if isinstance(stmt, Assign):
            out += [r for r in stmt.reads() if isinstance(r, Access)]
            if isinstance(stmt.target, Access):
                out.append(stmt.target)
                out += [a for index in stmt.target.indices for a in accesses(index)]
    return out


def may_not_run(loops: tuple[Loop, ...], depth: int) -> Loop | None:
    """Return the first of `loops` from `depth` on that an outer one may leave without iterations.

    A bound that uses sizes alone is tested before the kernel runs, and a tile is never empty.
    """
    iterators = {loop.var for loop in loops}
    for loop in loops[depth:]:
        setters = bound_names(loop) & iterators
        setters -= {x.var for x in loops if x.tile_of == loop.var}
        count = fold(trip_count(loop))
        if setters and not (isinstance(count, Int) and count.value > 0):
            return loop
    return None


def fresh_name(wanted: str, body: Body, others: Iterable[str] = ()) -> str:
    """Return `wanted`, numbered when `body` or `others` already have that name."""
    taken: set[str] = set(others)
    for stmt in walk_stmts(body):
        taken |= _names(stmt)
    name, count = wanted, 1
    while name in taken:
        count += 1
        name = f"{wanted}{count}"
    return name


def _names(stmt: Stmt) -> set[str]:
    match stmt:
        case Local(name, _, _) | LocalArray(name, _, _):
            return {name}
        case Loop(var=var, lower=lower, upper=upper):
            return {var} | variables(lower) | variables(upper)
        case Assign(target=target):
            names = set(variables(target))
            for source in stmt.sources():
                names |= variables(source) | {a.array for a in accesses(source)}
            return names | ({target.name} if isinstance(target, Var) else {target.array})


def shown(access: Access) -> str:
    return access.array + "[…]" * len(access.indices)
