"""The run-time tests that iterators stay within their types: tiles and strides go beyond an end.

In ``for (i_t = 0; i_t < n; i_t += 256)`` the last value is up to 255 above `n`, which an int may
not hold where it holds `n` itself; the loop of the text, a step at a time, stops there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from annotune.analysis.facts import Analysis
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.guards import in_long
from annotune.codegen.names import interface
from annotune.frontend.ranges import of_type
from annotune.ir.expr import Binary, Call, Expr, Int, Var, accesses, variables
from annotune.ir.fold import fold
from annotune.ir.nest import Loop
from annotune.schedule.plan import HostLoop, Kernel, Step
from annotune.transforms.tree import Body

# Types of which no memory has an element for each value.
WIDE = frozenset({"long", "unsigned long", "long long", "unsigned long long"})
# The least and the greatest value of an iterator, None where only memory knows.
Range = tuple[Expr | None, Expr | None]
Beyond = Callable[[Loop], int]


def next_step(loop: Loop) -> int:
    """Return how far past its greatest value one worker takes the iterator of a loop.

    What unrolling leaves to a loop is a multiple of its step.
    """
    return loop.step // loop.unrolled


def reach_tests(
    analysis: Analysis,
    plans: Iterable[tuple[Sequence[Step], Mapping[str, int]]],
    beyond: Callable[[Kernel], Beyond] = lambda kernel: next_step,
) -> tuple[Expr, ...]:
    """Return tests that every value that an iterator of `plans` is given fits its type.

    Each plan is its steps and the sizes that are fixed where it runs. `beyond` says for a kernel
    how far past the greatest value of an iterator of it the next one may be.
    """
    finder = _Finder(analysis, beyond)
    most: dict[Expr, int] = {}
    for steps, constants in plans:
        for size, limit in finder.steps(steps, {}):
            known = fold(size, constants)
            if not isinstance(known, Int) or known.value > limit:
                most[size] = min(limit, most.get(size, limit))
    return tuple(finder.test(size, limit) for size, limit in most.items())


@dataclass(frozen=True)
class _Finder:
    analysis: Analysis
    beyond: Callable[[Kernel], Beyond]

    def steps(self, steps: Sequence[Step], around: Mapping[str, Range]) -> Iterator[_Limit]:
        """Yield each expression of sizes that must not exceed a number, with this."""
        for step in steps:
            match step:
                case Kernel(body=body):
                    yield from self._body(self.beyond(step), body, around)
                case HostLoop(loop, inner):
                    yield from self.steps(inner, _inside(loop, around))

    def _body(self, beyond: Beyond, body: Body, around: Mapping[str, Range]) -> Iterator[_Limit]:
        """Yield the limits of the loops in `body`, which stand in iterators `around` them."""
        for loop in body:
            if not isinstance(loop, Loop):
                continue
            inside = _inside(loop, around)
            kind = Dialect(self.analysis.region).iterator_type(loop).replace("const ", "")
            held = of_type(kind)
            if held is not None and kind not in WIDE:
                last = inside[loop.var][1]
                ahead = beyond(loop)
                reached = [] if last is None or ahead <= 1 else [fold(_plus(last, ahead))]
                for bound in (*_chosen(loop.lower), *_chosen(loop.upper)):
                    edge = _edge(bound, around, 1) if variables(bound) & around.keys() else None
                    reached += [] if edge is None else [edge]
                for most in reached:
                    yield from self._limits(most, held[1])
            yield from self._body(beyond, loop.body, inside)

    def _limits(self, most: Expr, limit: int) -> Iterator[_Limit]:
        """Yield `most` without its constant summand, if it can exceed `limit` at all."""
        match fold(most):
            case Binary("+", size, Int(value)):
                limit -= value
            case Binary("-", size, Int(value)):
                limit += value
            case size:
                pass
        scalars = self.analysis.region.scalars
        given = {s.name: of_type(s.type) for s in interface(self.analysis).scalars}
        if accesses(size) or not variables(size) <= given.keys():
            return
        if isinstance(size, Var):
            own = of_type(scalars[size.name].type)
            if own is not None and own[1] <= limit:
                return
        yield size, limit

    def test(self, size: Expr, limit: int) -> Expr:
        """Return the test that an expression is no more than a number, computed in 64 bits."""
        return Binary("<=", size if isinstance(size, Var) else in_long(size), Int(limit))


_Limit = tuple[Expr, int]


def _inside(loop: Loop, around: Mapping[str, Range]) -> dict[str, Range]:
    """Return the ranges of iterators inside `loop`, given those around it."""
    first, end = _edge(loop.lower, around, -1), _edge(loop.upper, around, 1)
    return {**around, loop.var: (first, None if end is None else fold(_plus(end, -1)))}


def _chosen(bound: Expr) -> tuple[Expr, ...]:
    """Return what a bound is chosen from: all of it is computed."""
    if isinstance(bound, Call) and bound.function in ("min", "max"):
        return tuple(part for argument in bound.arguments for part in _chosen(argument))
    return (bound,)


def _plus(expr: Expr, number: int) -> Expr:
    return Binary("+", expr, Int(number))


def _edge(expr: Expr, around: Mapping[str, Range], sign: int) -> Expr | None:
    """Return a greatest value (`sign` 1) or a least one (-1) of an expression of iterators."""
    if not variables(expr) & around.keys():
        return None if accesses(expr) else fold(expr)
    match expr:
        case Var(name):
            return around[name][sign > 0]
        case Binary("+" | "-" as op, left, right):
            one = _edge(left, around, sign)
            two = _edge(right, around, sign if op == "+" else -sign)
            return None if one is None or two is None else fold(Binary(op, one, two))
        case Binary("*", Int(factor), right):
            inner = _edge(right, around, sign if factor > 0 else -sign)
            return None if inner is None else fold(Binary("*", Int(factor), inner))
        case Binary("/", left, Int(divisor)) if divisor > 0:
            inner = _edge(left, around, sign)
            return None if inner is None else fold(Binary("/", inner, Int(divisor)))
        case Call("min" | "max" as function, arguments):
            return _edge_of_choice(function, arguments, around, sign)
        case Call("(int)" | "(long)" | "(long long)", (argument,)):
            return _edge(argument, around, sign)
        case _:
            return None


def _edge_of_choice(
    function: str, arguments: Sequence[Expr], around: Mapping[str, Range], sign: int
) -> Expr | None:
    """Return the edge of a choice: of what no iterator moves, where that will do."""
    is_any = (function == "min") == (sign > 0)
    still = [a for a in arguments if not variables(a) & around.keys() and not accesses(a)]
    edges = [_edge(a, around, sign) for a in (still if is_any and still else arguments)]
    known = [edge for edge in edges if edge is not None]
    if not known or (len(known) < len(edges) and not is_any):
        return None
    return fold(Call(function, tuple(dict.fromkeys(known)))) if len(known) > 1 else known[0]
