"""Two C programs beside the original: the magnitudes of its results, and their roundings.

Both are the region's own nest with every assignment of a real reinterpreted. Run on the
region's inputs they leave, in the place of every result,

* the *magnitude* M: the result with each term and factor taken by absolute value and each
  minus made a plus, an upper bound on the sum of |terms| for every order of summation;
* the *count* n: how many roundings the longest chain behind the result can hold, in any
  order of summation.

Conditions of inputs and integers decide as they do in the original. One that reads what has
been computed says nothing here: its statement may or may not run, and leaves the larger of
what was there and what it would write.

`annotune.measure.tolerance` makes a bound of the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from annotune.codegen.c_expr import plain_c
from annotune.codegen.names import spelled
from annotune.ir.expr import Binary, Call, Expr, Int
from annotune.ir.nest import Assign, Await, Fetch, Local, LocalArray, Loop, Stmt, walk_stmts
from annotune.ir.region import Region
from annotune.ir.text import SUM
from annotune.measure.shadow_expr import MAX, Values, folded, name_of, plus


@dataclass(frozen=True, slots=True)
class Shadow:
    """The bodies of the two programs, as C in the region's names.

    `is_linear` says that M and n bound the error by themselves. It is False where the region
    divides by what it has computed, or calls a function that can magnify an error.
    """

    magnitude: str
    count: str
    is_linear: bool


def shadow_of(region: Region) -> Shadow:
    """Return the two programs of `region`."""
    writer = _Writer(region)
    magnitude, count = (
        "".join(
            f"{line}\n"
            for line in [*writer.declarations(), *writer.lines(region.nest.body, counting, "  ")]
        )
        for counting in (False, True)
    )
    return Shadow(magnitude, count, writer.values.is_linear)


class _Writer:
    """Rewrites and prints the statements of one region."""

    def __init__(self, region: Region) -> None:
        self.values = Values(region)
        self._scalars = region.scalars
        stmts = tuple(walk_stmts(region.nest.body))
        declared = {s.name for s in stmts if isinstance(s, Local)}
        declared |= {s.var for s in stmts if isinstance(s, Loop)}
        self._undeclared = [
            s for s in region.scalars.values() if s.is_local and s.name not in declared
        ]

    def declarations(self) -> Iterator[str]:
        """Yield those of the user's locals that the nest itself does not declare.

        One declaration around the whole nest serves: both programs run in sequence.
        """
        for scalar in self._undeclared:
            yield f"  {_plain(scalar.type)} {scalar.name} = 0;"

    def lines(self, body: tuple[Stmt, ...], counting: bool, indent: str) -> Iterator[str]:
        for stmt in body:
            match stmt:
                case Loop(var, lower, upper, inner, step):
                    declared = self._scalars.get(var)
                    # A variable declared outside is a parameter of the wrapper already.
                    own = "int " if declared is None else ""
                    if declared is not None and declared.is_local:
                        own = f"{_plain(declared.type)} "
                    yield (
                        f"{indent}for ({own}{var} = {plain_c(lower)}; "
                        f"{var} < {plain_c(upper, SUM)}; {var} += {step}) {{"
                    )
                    yield from self.lines(inner, counting, indent + "  ")
                    yield f"{indent}}}"
                case Local(name, type_, None):
                    yield f"{indent}{_plain(type_)} {name};"
                case Local(name, type_, value) if value is not None:
                    new = value if name in self.values.integers else self._value(value, counting)
                    yield f"{indent}{_plain(type_)} {name} = {plain_c(new)};"
                case LocalArray(name, type_, extents):
                    brackets = "".join(f"[{extent}]" for extent in extents)
                    yield f"{indent}{_plain(type_)} {name}{brackets} = {{0}};"
                case Assign():
                    yield f"{indent}{self._assign(stmt, counting)};"
                case Local() | Await() | Fetch():
                    raise AssertionError(stmt)
                case _:
                    assert_never(stmt)

    def _assign(self, assign: Assign, counting: bool) -> str:
        """Return one statement, under its condition where that is known here."""
        target = plain_c(assign.target)
        is_sure = assign.guard is None or self.values.is_certain(assign.guard)
        test = f"if ({plain_c(assign.guard)}) " if assign.guard is not None and is_sure else ""
        if name_of(assign.target) in self.values.integers:
            return f"{test}{target} {assign.op} {plain_c(assign.value)}"
        new = self._new(assign, counting)
        if not is_sure:
            old = assign.target if counting else self.values.absolute(assign.target)
            new = folded(MAX, [old, new])
        return f"{test}{target} = {plain_c(new)}"

    def _new(self, assign: Assign, counting: bool) -> Expr:
        """Return what an assignment that runs leaves in its target."""
        op, value = _accumulation(assign)
        if op == "=":
            return self._value(value, counting)
        if counting:
            return self._counted(assign.target, op, value)
        old = self.values.absolute(assign.target)
        if op == "/=":
            return Binary("/", old, self.values.divisor(value))
        return Binary("*" if op == "*=" else "+", old, self.values.magnitude(value))

    def _counted(self, target: Expr, op: str, value: Expr) -> Expr:
        """Return the count of an accumulation, right for every order of its terms."""
        terms = self.values.count(value)
        if op in ("+=", "-=") and isinstance(terms, Int):
            # Terms of equal count c: the chain is c and one addition per term.
            return Binary("+", Call(MAX, (target, terms)), Int(1))
        # Terms of different counts: the one with most may be the first to be summed.
        own = self.values.own_roundings(op[0], target)
        return Binary("+", plus(target, terms), Int(own))

    def _value(self, value: Expr, counting: bool) -> Expr:
        return self.values.count(value) if counting else self.values.magnitude(value)


def _plain(type_: str) -> str:
    return spelled(type_.replace("const", "").strip())


def _accumulation(assign: Assign) -> tuple[str, Expr]:
    """Return the operator and value, with ``t = t + e`` seen as ``t += e``."""
    match assign.value:
        case Binary("+" | "-" as op, left, right) if assign.op == "=" and left == assign.target:
            return f"{op}=", right
        case Binary("+", left, right) if assign.op == "=" and right == assign.target:
            return "+=", left
        case _:
            return assign.op, assign.value
