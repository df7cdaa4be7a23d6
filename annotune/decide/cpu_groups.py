"""Which statements of a region one thread runs together: as in the text, or taken apart."""

from __future__ import annotations

from math import prod

from annotune.analysis.facts import Analysis
from annotune.decide.units import Unit, atomic_groups, units
from annotune.transforms.tree import numbers

Groups = tuple[tuple[int, ...], ...]


def cpu_groups(analysis: Analysis) -> Groups:
    """Return the statements of each nest to make: those of the text, or fewer in each.

    What one thread touches stays in its cache, so the text's nests stay whole. One is taken
    apart where its own outer loop is serial and the parts' are not: threads that start once
    per iteration cost more than a second pass over the data.
    """
    # A loop without a statement, which only its variable's last value keeps, is in no group.
    nests = [tuple(sorted(numbers(stmt))) for stmt in analysis.region.nest.body]
    text = tuple(group for group in nests if group)
    if all(len(group) == 1 for group in text):
        return text
    starts = _starts(analysis, text)
    if all(starts[group] <= 1 for group in text):
        return text
    finest = atomic_groups(analysis)
    out: list[tuple[int, ...]] = []
    for group in text:
        parts = tuple(part for part in finest if set(part) <= set(group))
        if sorted(n for part in parts for n in part) != list(group):
            out.append(group)
            continue
        rest = tuple(n for n in finest if n not in parts)
        joined = _joined(analysis, parts, rest)
        apart = _starts(analysis, tuple(sorted((*joined, *rest))))
        out += joined if sum(apart[part] for part in joined) < starts[group] else (group,)
    return tuple(out)


def _joined(analysis: Analysis, parts: Groups, rest: Groups) -> Groups:
    """Return `parts` with neighbours joined where threads then start less often.

    `rest` are the groups of the region's other statements.
    """
    out = [parts[0]]
    for part in parts[1:]:
        both = (*out[-1], *part)
        apart = _starts(analysis, tuple(sorted((*out, part, *_after(part, parts), *rest))))
        if sorted(both) == list(both) and both[-1] - both[0] == len(both) - 1:
            whole = (*out[:-1], both, *_after(part, parts), *rest)
            together = _starts(analysis, tuple(sorted(whole)))
            if together[both] < apart[out[-1]] + apart[part]:
                out[-1] = both
                continue
        out.append(part)
    return tuple(out)


def _after(part: tuple[int, ...], parts: Groups) -> Groups:
    return parts[parts.index(part) + 1 :]


def _starts(analysis: Analysis, groups: Groups) -> dict[tuple[int, ...], int]:
    """Return for each group how often threads start, with one thread for all that is serial.

    A nest on one thread counts as every one of its iterations.
    """
    found = dict.fromkeys(groups, 0)
    for unit in units(analysis, groups, keeps_privates=True):
        group = next(g for g in groups if unit.leader in g)
        found[group] += _of_unit(unit)
    return found


def _of_unit(unit: Unit) -> int:
    around = unit.loops_around(unit.leader)
    if unit.parallel or unit.sums:
        inside = {loop.var for loop in unit.band} - set(unit.host)
        first = next(k for k, name in enumerate(around) if name in inside)
        around = around[:first]
    return prod(max(1, unit.trips[name] or 1) for name in around)
