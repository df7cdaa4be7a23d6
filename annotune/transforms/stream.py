"""Mark loads and stores of what a kernel touches once, so that caches need not keep it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from annotune.diagnostics import Diagnostic
from annotune.ir.expr import Access, Expr, Var, accesses, variables
from annotune.ir.nest import (
    NO_STATEMENT,
    Assign,
    Level,
    Local,
    LocalArray,
    Loop,
    Stmt,
    expressions,
    walk_paths,
    walk_stmts,
)
from annotune.transforms.legality import missing
from annotune.transforms.messages import NO_WORD, NOT_STREAMED
from annotune.transforms.pipeline import WORDS
from annotune.transforms.transform import Context, OnStatement
from annotune.transforms.tree import Body, bound_names, mapped, top_of
from annotune.transforms.word import CUDA_GUIDE, Word


@dataclass(frozen=True, slots=True)
class Stream(OnStatement):
    """Let what `statement` accumulates into pass by the caches: it is read and written once.

    ``Stream(0)``: ``c_block[i] = c[i]``, ``for k: c_block[i] += a[k]``, ``c[i] = c_block[i]``
    becomes the same with ``streamed`` behind the first and the last. `Hold` or `Registers` come
    before: an element that the loop reads and writes each time is refused. It changes no value.

    Source:
        CUDA C++ Programming Guide, Store Functions Using Cache Hints (``__ldcs``, ``__stcs``);
        PTX ISA, Cache Operators: "ld.cs, likely to be accessed once".
    """

    is_inner: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "stream",
        "let what the statement accumulates into pass by the caches",
        "stream(0)",
        CUDA_GUIDE,
    )

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the elements are touched more than once, or None when they are not."""
        if absent := missing(body, self.statement, (), self.span):
            return absent
        nest = body[top_of(body, self.statement)]
        array = _output(nest, self.statement)
        if array is None:
            return NOT_STREAMED.at(self.span, statement=self.statement, name="a scalar")
        element = context.analysis.region.arrays[array].element
        if element not in WORDS:
            return NO_WORD.at(self.span, command="stream", array=array, type=element)
        refusal = NOT_STREAMED.at(self.span, statement=self.statement, name=array)
        loads = stores = 0
        for read, written, around in _touched(nest, array):
            if any(_repeats(access, around) for access in (*read, *written)):
                return refusal
            loads += len(read)
            stores += len(written)
        return refusal if loads > 1 or stores > 1 else None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the marks, which `why_not` has accepted."""
        place = top_of(body, self.statement)
        array = _output(body[place], self.statement)
        assert array is not None
        return (*body[:place], *_marked((body[place],), array), *body[place + 1 :])


def _marked(body: Body, array: str) -> Body:
    """Return `body` with what touches the array marked; a declaration that loads is split."""

    def marked(stmt: Stmt) -> Body | None:
        match stmt:
            case Assign() if _of(array, expressions(stmt)):
                return (replace(stmt, streamed=True),)
            case Local(name, kind, value) if value is not None and _of(array, (value,)):
                load = Assign(NO_STATEMENT, Var(name), "=", value, streamed=True)
                return (Local(name, kind), load)
            case _:
                return None

    return mapped(body, marked)


def _of(array: str, parts: Iterable[Expr]) -> list[Access]:
    """Return the elements of the array in some expressions."""
    return [a for part in parts for a in accesses(part) if a.array == array]


def _touched(
    nest: Stmt, array: str, around: tuple[Loop, ...] = ()
) -> Iterator[tuple[list[Access], list[Access], tuple[Loop, ...]]]:
    """Yield what each statement reads and writes of the array, and the loops around it."""
    match nest:
        case Loop():
            for stmt in nest.body:
                yield from _touched(stmt, array, (*around, nest))
        case Assign():
            written = _of(array, (nest.target,))
            read = _of(array, nest.sources())
            yield read + (written if nest.op != "=" else []), written, around
        case Local(value=value) if value is not None:
            yield _of(array, (value,)), [], around
        case _:
            pass


def _output(nest: Stmt, statement: int) -> str | None:
    """Return the array that others see and the statement writes, None where it writes none."""
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
