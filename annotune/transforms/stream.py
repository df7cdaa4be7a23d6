"""Mark loads and stores of what a kernel touches once, so that caches need not keep it."""

from __future__ import annotations

from dataclasses import dataclass, field

from annotune.analysis.facts import Analysis
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.ir.expr import Access, accesses, variables
from annotune.ir.nest import Assign, Level, LocalArray, Loop, walk_paths, walk_stmts
from annotune.transforms.legality import missing
from annotune.transforms.messages import NOT_STREAMED
from annotune.transforms.tree import Body, bound_names, map_assigns, top_of


@dataclass(frozen=True, slots=True)
class Stream:
    """Let what `statement` accumulates into pass by the caches: it is read and written once.

    ``Stream(0)``: ``c_block[i] = c[i]``, ``for k: c_block[i] += a[k]``, ``c[i] = c_block[i]``
    becomes the same with ``streamed`` behind the first and the last. `Hold` or `Registers` come
    before: an element that the loop reads and writes each time is refused. It changes no value.

    Source:
        CUDA C++ Programming Guide, Store Functions Using Cache Hints (``__ldcs``, ``__stcs``);
        PTX ISA, Cache Operators: "ld.cs, likely to be accessed once".
    """

    statement: int
    span: Span = field(default=NOWHERE, compare=False)

    def why_not(self, body: Body, analysis: Analysis) -> Diagnostic | None:
        """Return the reason the elements are touched more than once, or None when they are not."""
        absent = missing(body, self.statement, (), self.span)
        if absent is not None:
            return absent
        nest = body[top_of(body, self.statement)]
        array = _output(nest, self.statement)
        if array is None:
            return NOT_STREAMED.at(self.span, statement=self.statement, name="a scalar")
        refusal = NOT_STREAMED.at(self.span, statement=self.statement, name=array)
        loads = stores = 0
        for assign, around in walk_paths((nest,)):
            read = [a for source in assign.sources() for a in accesses(source)]
            loads += sum(a.array == array for a in read)
            is_store = isinstance(assign.target, Access) and assign.target.array == array
            stores += is_store
            if is_store and assign.op != "=":
                loads += 1
            touched = [a for a in (*read, assign.target) if isinstance(a, Access)]
            if any(a.array == array and _repeats(a, around) for a in touched):
                return refusal
        return refusal if loads > 1 or stores > 1 else None

    def apply(self, body: Body) -> Body:
        """Return `body` with the marks, which `why_not` has accepted."""
        place = top_of(body, self.statement)
        array = _output(body[place], self.statement)

        def mark(assign: Assign) -> Assign:
            found = [a for source in assign.sources() for a in accesses(source)]
            if isinstance(assign.target, Access):
                found.append(assign.target)
            if all(a.array != array for a in found):
                return assign
            return Assign(
                assign.number,
                assign.target,
                assign.op,
                assign.value,
                assign.span,
                assign.guard,
                streamed=True,
            )

        return (*body[:place], *map_assigns((body[place],), mark), *body[place + 1 :])


def _output(nest: object, statement: int) -> str | None:
    """Return the array that others see and the statement writes, None where it writes none."""
    assert isinstance(nest, Loop)
    local = {s.name for s in walk_stmts((nest,)) if isinstance(s, LocalArray)}
    for assign, _ in walk_paths((nest,)):
        target = assign.target
        if assign.number == statement and isinstance(target, Access) and target.array not in local:
            return target.array
    return None


def _repeats(access: Access, around: tuple[Loop, ...]) -> bool:
    """Return whether a serial loop goes around an element that it does not pick."""
    used = frozenset[str]().union(*map(variables, access.indices))
    for loop in reversed(around):
        used |= bound_names(loop) if loop.var in used else frozenset()
    return any(x.place is Level.SERIAL and x.var not in used for x in around)
