"""From which sizes on a call with its copies takes less time than the original.

The kernels and the original are taken to grow with the instances of the statements, and the copies
with their bytes, all sizes that C leaves open in the same proportion. So this is an estimate, also
where the times are measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from annotune.analysis.facts import Analysis
from annotune.annotation.devices import Device
from annotune.frozen import dataclass
from annotune.ir.constants import value_at
from annotune.ir.expr import variables
from annotune.ir.nest import Loop
from annotune.model.bounds import copies

STEPS = 16
"""So many sizes are looked at until they are twice as large."""

GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class CallSeconds:
    """What a call takes at the sizes of the region: kernels and copies, and the original."""

    kernels_s: float
    copies_s: float
    original_s: float

    @property
    def pays(self) -> bool:
        """Return whether a call with its copies is faster than the original."""
        return self.kernels_s + self.copies_s < self.original_s


def break_even(analysis: Analysis, times: CallSeconds, device: Device) -> dict[str, int] | None:
    """Return the least sizes at which a call pays, none where no call does that the device holds.

    None where C leaves no size open, and where work or copies are not known.
    """
    known = analysis.region.sizes
    here, moved = _work(analysis, known), copies(analysis)
    if not here or isinstance(moved, str) or not moved.total:
        return None
    for sizes in _larger(analysis, known):
        work, other = _work(analysis, {**known, **sizes}), copies(analysis, {**known, **sizes})
        if work is None or isinstance(other, str):
            return None
        if other.total > device.memory_gib * GIB:
            return {}
        grown, copied = work / here, other.total / moved.total
        if (times.original_s - times.kernels_s) * grown > times.copies_s * copied:
            return sizes
    return None


def _larger(analysis: Analysis, known: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Yield sizes that grow together, from those of the region on; none where C fixes them all."""
    scalars = analysis.region.scalars
    used = {n for s in analysis.paths for n in _names(analysis, s)}
    names = [n for n in known if n in scalars and scalars[n].value is None and n in used]
    step = 0
    while names:
        yield {name: round(known[name] * 2 ** (step / STEPS)) for name in names}
        step += 1


def _names(analysis: Analysis, statement: int) -> set[str]:
    """Return the names in the bounds of a statement's loops."""
    loops = analysis.paths[statement]
    return {name for loop in loops for name in (*variables(loop.lower), *variables(loop.upper))}


def _work(analysis: Analysis, sizes: Mapping[str, int]) -> float | None:
    """Return the operations at some sizes, or the instances where there are no operations."""
    flop = instances = 0.0
    for statement, loops in analysis.paths.items():
        count, own = _instances(loops, sizes), _instances(loops, analysis.region.sizes)
        if count is None or own is None:
            return None
        instances += count
        work = analysis.work.get(statement)
        flop += work.flop * count / own if work is not None and own else 0.0
    return flop or instances


def _instances(loops: tuple[Loop, ...], sizes: Mapping[str, int]) -> int | None:
    """Return how often loops run what is in them: at the middle of an outer one's range."""
    values, count = dict(sizes), 1
    for loop in loops:
        first, last = value_at(loop.lower, values), value_at(loop.upper, values)
        if first is None or last is None:
            return None
        count *= max(0, -((first - last) // loop.step))
        values[loop.var] = (first + last) // 2
    return count
