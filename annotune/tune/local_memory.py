"""What a variant means to keep in registers and its compiled kernels have in memory."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from annotune.codegen.target import Variant
from annotune.ir.c_types import element_bytes
from annotune.ir.nest import LocalArray, MemorySpace, walk_stmts
from annotune.measure.trial import Trial
from annotune.schedule.plan import Kernel
from annotune.transforms.tree import Body
from annotune.tune.forecasting import compiled_kernels


def not_in_registers(variant: Variant, trial: Trial) -> str:
    """Return in words what of a variant's registers is in local memory, nothing where all are.

    Local memory is device memory: no prediction speaks for a kernel that works on it.
    """
    spills = trial.facts.get("spill_bytes", 0)
    if spills:
        return f"spills {spills} bytes of registers"
    return next(_frames(variant, trial), "")


def _frames(variant: Variant, trial: Trial) -> Iterator[str]:
    """Yield the stack frames that are as large as a block which should be in registers.

    What the user's own arrays take is theirs. So is a smaller frame: that of ``sin``, say.
    """
    region = variant.analysis.region
    named = {array.name for array in _private(region.nest.body)}
    for kernel, facts in compiled_kernels(variant, trial.kernels):
        own, held = _sorted_out(kernel, named)
        least = min(map(_bytes, held), default=0)
        if held and facts.stack_bytes >= least + sum(map(_bytes, own)):
            names = " or ".join(array.name for array in held)
            yield f"has a stack frame of {facts.stack_bytes} bytes, {names} being in local memory"


def _sorted_out(kernel: Kernel, named: set[str]) -> tuple[list[LocalArray], list[LocalArray]]:
    """Return the private arrays of a kernel: those `named` by the user, and the schedule's."""
    arrays = list(_private(kernel.body))
    own = [array for array in arrays if array.name in named]
    return own, [array for array in arrays if array.name not in named]


def _private(body: Body) -> Iterator[LocalArray]:
    for stmt in walk_stmts(body):
        if isinstance(stmt, LocalArray) and stmt.space is MemorySpace.PRIVATE:
            yield stmt


def _bytes(array: LocalArray) -> int:
    return prod(array.extents) * element_bytes(array.type)
