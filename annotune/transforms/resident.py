"""Ask for so few registers that several blocks fit on a multiprocessor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.transforms.legality import missing
from annotune.transforms.transform import Context, OnStatement
from annotune.transforms.tree import Body
from annotune.transforms.word import CUDA_GUIDE, Word, takes


@dataclass(frozen=True, slots=True)
class Resident(OnStatement):
    """Let so many `blocks` of the kernel of `statement` fit on a multiprocessor.

    ``Resident(0, 3)`` changes nothing of the nest: the compiler is told with the kernel.

    Source: CUDA C++ Programming Guide, Launch Bounds.
    """

    is_inner: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "resident",
        "let a thread have so few registers that this many blocks fit on a multiprocessor",
        "resident(0, 3)",
        CUDA_GUIDE,
    )
    blocks: int = takes(Kind.COUNT)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the refusal of a statement that is not there, or None."""
        return missing(body, self.statement, (), self.span)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` as it is."""
        return body
