"""Keep an array element in a register while a loop accumulates into it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.ir.expr import Var
from annotune.ir.nest import (
    Assign,
    Level,
    Local,
    Loop,
    walk_stmts,
)
from annotune.transforms.copies import copy_refusal, names_in
from annotune.transforms.legality import missing
from annotune.transforms.messages import NOT_INVARIANT
from annotune.transforms.transform import Context, OnStatement
from annotune.transforms.tree import (
    Body,
    exchanged,
    find_assign,
    fresh_name,
    named_loop,
    path,
    replace_loop,
)
from annotune.transforms.word import THESIS, Word, takes


@dataclass(frozen=True, slots=True)
class Registers(OnStatement):
    """Load the target of `statement` before `loop`, work on a scalar, store it after.

    ``Registers(0, "k")``: ``for k: c[i] += a[k]`` becomes ``double c_acc = c[i];``
    ``for k: c_acc += a[k]`` ``c[i] = c_acc``. A target that is a scalar already stays.
    """

    is_inner: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "registers",
        "keep values that are reused across the loop in registers",
        'registers(0, "h7")',
        THESIS,
    )
    loop: str = takes(Kind.LOOP)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the copy would be wrong, or None when it is right."""
        if absent := missing(body, self.statement, (self.loop,), self.span):
            return absent
        target = find_assign(body, self.statement).target
        if isinstance(target, Var):
            return None
        loop = named_loop(body, self.statement, self.loop)
        varying = {x.var for x in walk_stmts((loop,)) if isinstance(x, Loop)}
        moving = names_in(target) & varying
        if loop.place == Level.SERIAL and moving:
            fixed = [x.var for x in path(body, self.statement) if x.place == Level.SERIAL]
            return NOT_INVARIANT.at(
                self.span,
                statement=self.statement,
                loop=min(moving),
                loops=", ".join(x for x in fixed if x not in names_in(target)) or "none",
            )
        return copy_refusal("registers", body, self.statement, loop, self.span)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the element in a scalar, which `why_not` has accepted."""
        assign = find_assign(body, self.statement)
        target = assign.target
        if isinstance(target, Var):
            return body
        loop = named_loop(body, self.statement, self.loop)
        name = fresh_name(f"{target.array}_acc", body, context.names)
        held = Var(name)
        inside = replace(loop, body=exchanged(loop.body, {target: held}))
        store = Assign(assign.number, target, "=", held, assign.span)
        return replace_loop(
            body, loop, (Local(name, context.types[target.array], target), inside, store)
        )
