"""The last iteration of a nest: a condition for it, and the proof that it is the last."""

from __future__ import annotations

import islpy as isl

from annotune.analysis.conditions import Conditions
from annotune.analysis.domains import NotLinear, is_last
from annotune.analysis.model import Model
from annotune.analysis.statements import Counted, Statement, written_scalars
from annotune.ir.expr import Binary, Call, Expr, Int, Var, conjunction
from annotune.ir.fold import fold
from annotune.ir.nest import Loop

_DIMENSION = isl.dim_type.set


def last_iteration(loops: tuple[Counted, ...]) -> Expr:
    """Return the condition that holds where no iteration of any of `loops` follows."""
    found = conjunction(_is_last(loop.loop) for loop in loops)
    assert found is not None, "only a loop has iterations"
    return found


def _is_last(loop: Loop) -> Expr:
    if loop.step == 1 and not isinstance(loop.upper, Call):
        return Binary("==", Var(loop.var), fold(Binary("-", loop.upper, Int(1))))
    after = fold(Binary("+", Var(loop.var), Int(loop.step)))
    ends = _ends(loop.upper)
    condition: Expr = Binary(">=", after, ends[0])
    for end in ends[1:]:
        condition = Binary("||", condition, Binary(">=", after, end))
    return condition


def _ends(upper: Expr) -> tuple[Expr, ...]:
    if isinstance(upper, Call) and upper.function == "min":
        return tuple(end for part in upper.arguments for end in _ends(part))
    return (upper,)


def is_the_last(condition: Expr, statement: Statement, model: Model, depth: int) -> bool:
    """Return whether `condition` holds in the last iteration of the `depth` outermost loops.

    It must hold there and nowhere else, at all sizes of the model, so far as `statement`
    runs at all.
    """
    loops = frozenset(loop.var for loop in model.region.nest.loops())
    written = written_scalars(model.region)
    reader = Conditions(model.region, statement, model.space, written, loops, True)
    try:
        truth = reader.truth(condition)
    except NotLinear:
        return False
    runs = model.iterations[statement.number]
    if not truth.is_exact:
        return False
    inner = runs.dim(_DIMENSION) - depth
    around = runs.project_out(_DIMENSION, depth, inner)
    chosen = runs.intersect(truth.maybe).project_out(_DIMENSION, depth, inner)
    return is_last(chosen, around)


def runs_at_all(statement: Statement, model: Model) -> bool:
    """Return whether `statement` runs for all sizes at which emitted code takes over."""
    return bool(model.sizes.is_subset(model.surely[statement.number].params()))
