"""Loops that pick registers, counted from 0: their counters are the subscripts.

Registers have no addresses. An array stays in them only where each of its subscripts is a number
once the loops around it are written out. In ``for (i = i_t + i_w; …; i += 8)`` the subscript
``(i - i_t - i_w) / 8`` is one for a compiler that finds that the start cancels and the division is
exact; nvcc does not find it for two such loops in each other, and puts the array into local
memory. So the loop counts, and its iterator is computed from the counter where it is needed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from annotune.codegen.names import used_scalars
from annotune.ir.expr import Access, Binary, Expr, Int, Var, rewrite, substitute, variables
from annotune.ir.fold import exact_quotient, fold
from annotune.ir.nest import LocalArray, Loop, MemorySpace, map_assigns, walk_paths
from annotune.transforms.registers import fresh_name
from annotune.transforms.tiles import cut_ends, full_end
from annotune.transforms.tree import Body

COUNTER_SUFFIX = "_r"
# Elements of an array of which the compiler is asked to make registers. A thread has 255 of 32 bits
# (CUDA C++ Programming Guide, Technical Specifications); what exceeds them a little spills in part
# where it would be in local memory as a whole, and much more only takes time to compile.
MOST_ELEMENTS = 1024


@dataclass(frozen=True, slots=True)
class RegisterLoop:
    """A loop as ``for (counter = 0; counter < rounds; counter++)`` around `body`.

    The iterator `var` is `value` in each round. Where it is not below all of `ends`, the loop is
    over; it has none of them where each round runs. Subscripts in `body` of arrays that a schedule
    made have the counter in them; other uses of `var` stand as they were.
    """

    var: str
    counter: str
    rounds: int
    value: Expr
    ends: tuple[Expr, ...]
    body: Body

    @property
    def needs_iterator(self) -> bool:
        """Return whether something but those subscripts uses the iterator."""
        return self.counter != self.var and self.var in used_scalars(self.body)


@dataclass(frozen=True, slots=True)
class RegisterLoops:
    """Finds the loops that pick elements of the arrays `registers`.

    `made` are all local arrays of a schedule, in shared memory too, `constants` the sizes that the
    text fixes, and `taken` the names that a counter must not have.
    """

    registers: Collection[str]
    made: Collection[str]
    constants: Mapping[str, int]
    taken: frozenset[str]

    def counted(self, loop: Loop) -> RegisterLoop | None:
        """Return a loop as one that counts, None where it picks no register.

        So it is too where no number bounds its rounds, for then it cannot be written out.
        """
        ends = (full_end(loop), *cut_ends(loop))
        lengths = [fold(Binary("-", end, loop.lower), self.constants) for end in ends]
        known = [length.value for length in lengths if isinstance(length, Int)]
        if not known or min(known) < 1 or not self._picks(loop):
            return None
        rounds = -(-min(known) // loop.step)
        open_ends = tuple(
            end for end, length in zip(ends, lengths, strict=True) if not isinstance(length, Int)
        )
        if loop.lower == Int(0) and loop.step == 1:
            return RegisterLoop(loop.var, loop.var, rounds, Var(loop.var), open_ends, loop.body)
        counter = fresh_name(loop.var + COUNTER_SUFFIX, (loop,), self.taken)
        ahead = Binary("*", Int(loop.step), Var(counter))
        value = fold(Binary("+", loop.lower, ahead))

        def change(expr: Expr) -> Expr | None:
            if not isinstance(expr, Access) or expr.array not in self.made:
                return None
            places = (substitute(rewrite(i, change), {loop.var: value}) for i in expr.indices)
            return Access(expr.array, tuple(map(_simple, places)), expr.span)

        body = map_assigns(loop.body, lambda stmt: stmt.rewritten(change))
        return RegisterLoop(loop.var, counter, rounds, value, open_ends, body)

    def _picks(self, loop: Loop) -> bool:
        """Return whether the subscript of a register changes with the iterations of a loop.

        In ``for i_t: for i in i_t:i_t + 4: r[i - i_t]`` it does not with those of `i_t`.
        """
        return any(
            loop.var in variables(_within(index, inner))
            for assign, inner in walk_paths(loop.body)
            for place in (assign.target, *assign.reads())
            if isinstance(place, Access) and place.array in self.registers
            for index in place.indices
        )


NO_REGISTERS = RegisterLoops((), (), {}, frozenset())


def may_be_registers(array: LocalArray) -> bool:
    """Return whether a local array is one thread's and so small that registers may hold it."""
    return array.space is MemorySpace.PRIVATE and prod(array.extents) <= MOST_ELEMENTS


def _within(index: Expr, loops: Sequence[Loop]) -> Expr:
    """Return an index with the iterators of `loops`, outermost first, counted from their starts."""
    for loop in reversed(loops):
        ahead = Binary("*", Int(loop.step), Var(f"{loop.var} ahead"))
        index = substitute(index, {loop.var: Binary("+", loop.lower, ahead)})
    return _simple(index)


def _simple(index: Expr) -> Expr:
    """Return an index without the divisions that leave nothing: ``8*i / 8`` is ``i``."""

    def divided(expr: Expr) -> Expr | None:
        match expr:
            case Binary("/", dividend, Int(divisor)):
                return exact_quotient(_simple(dividend), divisor)
            case _:
                return None

    return fold(rewrite(index, divided))
