"""Between which numbers the indices lie that a nest reads from memory.

``l = ipvt[k]; b[l] = …``: which element is written, memory alone decides. It lies between the least
and the greatest number that the nest reads of `ipvt`, which the host finds before the nest: two
sizes like all others, `ipvt_low` and `ipvt_high`. So ``a[ipvt[k] + j * lda]`` is in column j where
``ipvt_high <= lda``, which emitted code tests, as it does other conditions on sizes.

Why it is exact. The nest writes nothing of the index array (that the arrays do not overlap is
tested where C does not say it), so that what the host reads is what the nest reads. The host runs
the loops around each of these reads, as far as they decide which element that is, or whether one
is read at all, and it reads no element that the nest does not: a read behind a condition counts
where the same one stands without it. Nothing else is taken for granted: of other indices, and of
more than one array in a subscript, any element may be meant.

An integer that only carries such an index is put where it is read, as other temporaries are, so
that each iteration of a loop inside knows it by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from annotune.analysis.model import stated_length
from annotune.analysis.normal_form.forwarding import with_indices_forwarded
from annotune.analysis.statements import (
    Counted,
    DataReference,
    NestStatement,
    local_arrays,
    loops_of,
    read_statements,
)
from annotune.diagnostics import AnnotuneError
from annotune.ir.c_types import is_integer_type
from annotune.ir.constants import value_at
from annotune.ir.ctype import LONG
from annotune.ir.expr import (
    PRECEDENCE,
    Access,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Negate,
    Var,
    accesses,
    extremum_operands,
    print_expr,
    substitute,
    variables,
    walk,
    without_extrema,
)
from annotune.ir.fold import fold
from annotune.ir.region import Alias, Region, Scalar, fresh_name

# Stands beside a comparison.
_OPERAND = PRECEDENCE["<"] + 1
# Types whose numbers a long holds.
_HELD = frozenset({"char", "signed char", "short", "int", "long", "long long", "integer"})


def with_index_ranges(region: Region) -> Region:
    """Return `region` with sizes for the ranges of the indices that it reads, where that helps.

    That is where it writes through them, or reads an array whose length is not known.
    """
    forwarded = with_indices_forwarded(region)
    try:
        before, after = read_statements(region), read_statements(forwarded)
    except AnnotuneError:
        return region  # what is wrong with it, the analysis says
    wanted = dict.fromkeys(name for one in after for name in _wanted(forwarded, one))
    if not wanted:
        return region
    for array in wanted:
        reads = _reads(array, before)
        if reads is not None:
            forwarded = _with_range(forwarded, array, reads, after)
    return forwarded


def _wanted(region: Region, statement: NestStatement) -> Iterator[str]:
    """Yield the arrays that decide what a statement writes, or which part of an array it reads."""
    arrays = {**region.arrays, **local_arrays(region).arrays}
    for reference in statement.references:
        if not reference.unknown or not isinstance(reference.access, Access):
            continue
        dimensions = len(reference.subscripts)
        if reference.is_write or stated_length(region, arrays, reference.name, dimensions) is None:
            for index in reference.access.indices:
                yield from (one.array for one in accesses(index) if _is_kept(region, one.array))


def _is_kept(region: Region, name: str) -> bool:
    """Return whether an array of the region holds integers, and the region leaves them."""
    array = region.arrays.get(name)
    written = {a.target.array for a in region.nest.assigns() if isinstance(a.target, Access)}
    return array is not None and array.element in _HELD and name not in written


def _reads(
    array: str, statements: Iterable[NestStatement]
) -> tuple[tuple[Access, tuple[Counted, ...]], ...] | None:
    """Return the reads of an array that surely happen, with their loops; None if others do.

    None, too, where plain arithmetic on integers does not say which elements they are.
    """
    found: dict[tuple[Access, tuple[Counted, ...]], None] = {}
    doubtful: list[tuple[Access, tuple[Counted, ...]]] = []
    for statement in statements:
        for reference in (r for r in statement.references if r.name == array):
            if not isinstance(reference.access, Access) or not _is_plain(reference, statement):
                return None
            read = reference.access, statement.loops
            if reference.conditions:
                doubtful.append(read)
            else:
                found[read] = None
    for access, loops in doubtful:
        around = [own for same, own in found if same == access]
        if not any(loops[: len(own)] == own for own in around):
            return None
    return tuple(found)


def _is_plain(reference: DataReference, statement: NestStatement) -> bool:
    assert isinstance(reference.access, Access)
    bounds = [bound for own in statement.loops for bound in (own.loop.lower, own.loop.upper)]
    exprs = (*reference.access.indices, *bounds)
    return not reference.unknown and all(map(_is_arithmetic, exprs))


def _is_arithmetic(expr: Expr) -> bool:
    for part in walk(expr):
        match part:
            case Int() | Var() | Negate() | Binary("+" | "-" | "*", _, _):
                pass
            case Binary("/", _, Int(divisor)) if divisor > 0:
                pass
            case Call("min" | "max", _):
                pass
            case _:
                return False
    return True


def _with_range(
    region: Region,
    array: str,
    reads: tuple[tuple[Access, tuple[Counted, ...]], ...],
    statements: tuple[NestStatement, ...],
) -> Region:
    """Return `region` with the two sizes of an index array, and C that finds them."""
    names = {n for access, loops in reads for n in _names(access, loops)}
    scalars = [region.scalars[name] for name in names if name in region.scalars]
    if any(not is_integer_type(s.type) or "unsigned" in s.type for s in scalars):
        return region
    low, high, most = (fresh_name(f"{array}_{word}", region) for word in ("low", "high", "most"))
    lines = [
        f"/* The least and the greatest index that the nest reads of {array}. */",
        f"long {low} = __LONG_MAX__, {most} = -__LONG_MAX__;",
    ]
    for access, loops in reads:
        lines += _scan(access, loops, low, most)
    lines.append(f"if ({low} > {most}) {low} = {most} = 0;")
    upper = f"const long {high} = {most} < {low} ? {low} : {most};"
    aliases = (Alias(low, low, "\n".join(lines)), Alias(high, high, upper))
    found = {**region.scalars, low: Scalar(low, "long"), high: Scalar(high, "long")}

    def known(sizes: Mapping[str, int]) -> dict[str, int]:
        first, last = _guess(statements, {**sizes, **region.constants})
        return {low: first, high: last, **sizes}

    return replace(
        region,
        scalars=found,
        sizes=known(region.sizes),
        other_sizes=tuple(known(sizes) for sizes in region.other_sizes),
        text=replace(region.text, aliases=(*region.text.aliases, *aliases)),
        index_ranges={**region.index_ranges, array: (low, high)},
    )


def _names(access: Access, loops: tuple[Counted, ...]) -> frozenset[str]:
    found = variables(access)
    for loop in loops:
        found |= variables(loop.loop.lower) | variables(loop.loop.upper)
    return found


def _guess(statements: tuple[NestStatement, ...], sizes: Mapping[str, int]) -> tuple[int, int]:
    """Return between which numbers the loops run, as an index will: no proof rests on it."""
    loops = [loop.loop for loop in loops_of(statements)]
    ends = [value_at(part, sizes) for x in loops for part in extremum_operands(x.upper, "min")]
    starts = [value_at(part, sizes) for x in loops for part in extremum_operands(x.lower, "max")]
    low = min((start for start in starts if start is not None), default=0)
    return low, max((end - 1 for end in ends if end is not None), default=low)


def _scan(access: Access, loops: tuple[Counted, ...], low: str, most: str) -> Iterator[str]:
    """Yield C that moves both ends to what a read finds.

    A loop that does not move the read, nor a bound, runs or not: that is asked once, inside.
    """
    moving = variables(access)
    for loop in loops:
        moving |= variables(loop.loop.lower) | variables(loop.loop.upper)
    iterators = {loop.var for loop in loops}
    longs = {n: Cast(LONG, Var(n), is_bare=True) for n in _names(access, loops) - iterators}

    def text(expr: Expr) -> str:
        return print_expr(without_extrema(fold(substitute(expr, longs))), _OPERAND)

    margin = ""
    for own in sorted(loops, key=lambda one: one.var not in moving):
        var, first, end = own.var, text(own.loop.lower), text(own.loop.upper)
        if var in moving:
            step = "++" if own.loop.step == 1 else f" += {own.loop.step}"
            yield f"{margin}for (long {var} = {first}; {var} < {end}; {var}{step}) {{"
        else:
            yield f"{margin}if ({first} < {end}) {{"
        margin += "    "
    element = text(access)
    yield f"{margin}if ({element} < {low}) {low} = {element};"
    yield f"{margin}if ({element} > {most}) {most} = {element};"
    while margin:
        margin = margin[4:]
        yield f"{margin}}}"
