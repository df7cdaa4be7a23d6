"""Where the order inside one iteration is lost to compilers that run iterations as lanes.

Told that a loop's iterations are independent (``omp simd``, ``acc loop vector``), gcc takes all
accesses whose distance it cannot compute for independent, also those of one iteration: with
``a[i + 3] = 4; b[i] = a[m - i];`` it may read before it writes (seen with gcc 12, from -O1 on).
What it can compute it keeps.
"""

from __future__ import annotations

from collections.abc import Collection

from annotune.analysis.domains import parsed_map
from annotune.analysis.facts import Analysis, Dependence, DependenceKind
from annotune.ir.expr import Binary, Int
from annotune.ir.fold import fold
from annotune.ir.nest import Loop


def keeps_order(analysis: Analysis, statements: Collection[int], loops: Collection[str]) -> bool:
    """Return whether lanes leave the order of `statements` inside an iteration as it is.

    `loops` are the loop whose iterations are lanes and all loops around it.
    """
    return not any(
        _within_iteration(analysis, dependence, loops)
        for dependence in analysis.dependences
        if dependence.kind is not DependenceKind.ANTI
        and dependence.source != dependence.sink
        and {dependence.source, dependence.sink} <= set(statements)
        and _is_unknown(analysis, dependence)
    )


def around(analysis: Analysis, loop: Loop) -> tuple[str, ...]:
    """Return the names of a scheduled loop and of the original ones around it."""
    name = loop.root
    for path in analysis.paths.values():
        names = [x.var for x in path]
        if name in names:
            return tuple(names[: names.index(name) + 1])
    return (name,)


def _is_unknown(analysis: Analysis, dependence: Dependence) -> bool:
    """Return whether some distance between the two accesses is no number."""
    first, then = (
        [f for f in analysis.accesses[n] if f.access.array == dependence.array]
        for n in (dependence.source, dependence.sink)
    )
    pairs = ((one, two) for one in first if one.is_write for two in then)
    return any(
        not isinstance(fold(Binary("-", i, j)), Int)
        for one, two in pairs
        for i, j in zip(one.indices, two.indices, strict=True)
    )


def _within_iteration(analysis: Analysis, dependence: Dependence, loops: Collection[str]) -> bool:
    """Return whether the dependence holds between two statements of one iteration."""
    names = [[x.var for x in analysis.paths[n]] for n in (dependence.source, dependence.sink)]
    tuples = [
        f"S{number}[{', '.join(f'{letter}{k}' for k in range(len(own)))}]"
        for number, letter, own in zip(
            (dependence.source, dependence.sink), "ij", names, strict=True
        )
    ]
    same = [
        f"i{k} = j{names[1].index(name)}"
        for k, name in enumerate(names[0])
        if name in loops and name in names[1]
    ]
    together = parsed_map(f"{{ {' -> '.join(tuples)} : {' and '.join(same) or '1 = 1'} }}")
    return not dependence.relation.intersect(together).is_empty()
