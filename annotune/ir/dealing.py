"""What a loop over workers and the loop that it deals out say about each other."""

from __future__ import annotations

from dataclasses import dataclass

from annotune.ir.expr import Binary, Expr, Int, substitute
from annotune.ir.fold import fold
from annotune.ir.nest import Loop


@dataclass(frozen=True, slots=True)
class Dealing:
    """``for w in 0:workers: for i in first + stride*w:… step stride*workers``."""

    first: Expr
    stride: int
    workers: int


def dealing(worker: Loop, dealt: Loop) -> Dealing:
    """Return how the iterations of `dealt` go to those of `worker`, which starts from 0.

    Raises:
        ValueError: The loops do not have this form.
    """
    first, second = (fold(substitute(dealt.lower, {worker.var: Int(k)})) for k in (0, 1))
    stride = fold(Binary("-", second, first))
    if (
        not isinstance(stride, Int)
        or stride.value < 1
        or dealt.step % stride.value
        or (worker.lower, worker.step) != (Int(0), 1)
    ):
        raise ValueError(f"'{worker.var}' does not deal out the iterations of '{dealt.var}'")
    return Dealing(first, stride.value, dealt.step // stride.value)
