"""A proof that a schedule is right, and its checker, which trusts nothing else of annotune.

A certificate is a few isl relations at one set of sizes: for each statement its iterations,
the original order, where and when the kernels run each iteration, and the elements it
touches. `verify` needs these texts and islpy alone, so that the claims of the analysis and
of the transforms are checked again by other means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import islpy as isl


@dataclass(frozen=True, slots=True)
class Touch:
    """One access of a statement: a map from its iterations to elements of an array.

    `element` is isl text such as ``{ S0[i0, i1] -> A[16*i0 + i1] }``. `is_sum` marks the
    target of an accumulation, the additions to which may change their order.
    """

    statement: int
    array: str
    element: str
    is_write: bool
    is_sum: bool = False


@dataclass(frozen=True, slots=True)
class Certificate:
    """The relations to be checked.

    `domains` are the iterations of each statement; `original` maps them to the order of the
    C text; `launch` to the launch that runs them (host loops and kernel), `worker` to
    (block x, y, z, thread x, y, z), `time` to the order inside one thread. `grids` are the
    extents of blocks and threads per statement. `lengths` bound the elements of each array:
    (lowest, one past the highest).
    """

    sizes: Mapping[str, int]
    domains: Mapping[int, str]
    original: Mapping[int, str]
    launch: Mapping[int, str]
    worker: Mapping[int, str]
    time: Mapping[int, str]
    grids: Mapping[int, tuple[int, ...]]
    touches: tuple[Touch, ...]
    lengths: Mapping[str, tuple[int, int]]

    def text(self) -> str:
        """Return the certificate as lines of isl text with their meaning."""
        rows = [f"sizes: {', '.join(f'{k}={v}' for k, v in self.sizes.items()) or 'none'}"]
        for n in self.domains:
            rows += [
                f"S{n} iterations: {self.domains[n]}",
                f"S{n} original order: {self.original[n]}",
                f"S{n} launch: {self.launch[n]}",
                f"S{n} block and thread: {self.worker[n]}",
                f"S{n} order in the thread: {self.time[n]}",
                f"S{n} grid: {' x '.join(map(str, self.grids[n]))}",
            ]
        for touch in self.touches:
            kind = "adds to" if touch.is_sum else "writes" if touch.is_write else "reads"
            rows.append(f"S{touch.statement} {kind} {touch.array}: {touch.element}")
        for array, (low, high) in self.lengths.items():
            rows.append(f"{array} holds elements {low} to {high - 1}")
        return "\n".join(rows) + "\n"


def verify(certificate: Certificate) -> tuple[str, ...]:
    """Return what is wrong with a certificate, in words; nothing when it holds.

    It holds when block, thread and order cover every iteration exactly once within the
    grid, every pair of accesses that conflict keeps its order, and every access stays in
    its array.
    """
    faults = [*_coverage(certificate), *_bounds(certificate), *_order(certificate)]
    return tuple(faults)


def _map(text: str) -> isl.Map:
    return isl.Map(text)


def _coverage(c: Certificate) -> Iterator[str]:
    for n, text in c.domains.items():
        domain = isl.Set(text)
        place = _map(c.launch[n]).flat_range_product(_map(c.worker[n]))
        place = place.flat_range_product(_map(c.time[n])).intersect_domain(domain)
        if not place.domain().is_equal(domain):
            yield f"S{n}: some iterations run nowhere"
        if not place.is_single_valued():
            yield f"S{n}: some iterations run twice"
        if not place.is_injective():
            yield f"S{n}: two iterations have one place and time"
        workers = _map(c.worker[n]).intersect_domain(domain).range()
        box = " and ".join(f"0 <= x{k} < {extent}" for k, extent in enumerate(c.grids[n]))
        names = ", ".join(f"x{k}" for k in range(len(c.grids[n])))
        if not workers.is_subset(isl.Set(f"{{ [{names}] : {box} }}")):
            yield f"S{n}: an iteration lies outside the grid"


def _bounds(c: Certificate) -> Iterator[str]:
    for touch in c.touches:
        if touch.array not in c.lengths:
            continue
        low, high = c.lengths[touch.array]
        touched = _map(touch.element).intersect_domain(isl.Set(c.domains[touch.statement]))
        box = isl.Set(f"{{ {touched.range().get_tuple_name()}[x] : {low} <= x < {high} }}")
        if not touched.range().is_subset(box):
            yield f"S{touch.statement}: an access leaves {touch.array}"


def _order(c: Certificate) -> Iterator[str]:
    for one in c.touches:
        for two in c.touches:
            if one.array != two.array or not (one.is_write or two.is_write):
                continue
            a, b = one.statement, two.statement
            same = _map(one.element).intersect_domain(isl.Set(c.domains[a]))
            conflict = same.apply_range(
                _map(two.element).intersect_domain(isl.Set(c.domains[b])).reverse()
            )
            before = conflict.intersect(_earlier(c.original[a], c.original[b]))
            if before.is_empty():
                continue
            later_launch = _earlier(c.launch[a], c.launch[b])
            same_launch = _equal(c.launch[a], c.launch[b])
            same_thread = same_launch.intersect(_equal(c.worker[a], c.worker[b]))
            if one.is_sum and two.is_sum and a == b:
                # Additions may change places, but not run at the same time.
                kept = _differ(same_launch, a, b).union(same_thread)
            else:
                kept = later_launch.union(same_thread.intersect(_earlier(c.time[a], c.time[b])))
            broken = before.subtract(kept)
            if not broken.is_empty():
                yield (
                    f"S{a} and S{b} conflict on {one.array} and may lose their order: "
                    f"{broken.sample()}"
                )


def _earlier(first: str, second: str) -> isl.Map:
    """Return the pairs of iterations of which the first comes earlier."""
    one, two = _map(first), _map(second)
    width = max(one.dim(isl.dim_type.out), two.dim(isl.dim_type.out))
    one, two = _padded(one, width), _padded(two, width)
    space = one.range().get_space()
    return one.apply_range(isl.Map.lex_lt(space)).apply_range(two.reverse())


def _equal(first: str, second: str) -> isl.Map:
    """Return the pairs of iterations with equal coordinates."""
    one, two = _map(first), _map(second)
    width = max(one.dim(isl.dim_type.out), two.dim(isl.dim_type.out))
    return _padded(one, width).apply_range(_padded(two, width).reverse())


def _differ(equal: isl.Map, a: int, b: int) -> isl.Map:
    return isl.Map.universe(equal.get_space()).subtract(equal)


def _padded(relation: isl.Map, width: int) -> isl.Map:
    """Return `relation` with zeros after its coordinates, up to `width` of them."""
    missing = width - relation.dim(isl.dim_type.out)
    if not missing:
        return relation
    start = relation.dim(isl.dim_type.out)
    relation = relation.add_dims(isl.dim_type.out, missing)
    for k in range(missing):
        relation = relation.fix_val(isl.dim_type.out, start + k, isl.Val(0))
    return relation
