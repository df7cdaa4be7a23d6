"""Regions for tests, from the text form of a nest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from support.nest_text import parse_nest

from annotune.annotation.spec import Assumptions, Spec
from annotune.ir.expr import Access, Expr, Int, Var, variables, walk
from annotune.ir.nest import LocalArray, Nest, walk_stmts
from annotune.ir.region import Array, Extent, Region, Scalar

D1_1 = (
    "for p4 in 0:p4u: for p5 in 0:p5u: for p6 in 0:p6u: for h1 in 0:h1u: for h2 in 0:h2u: "
    "for h3 in 0:h3u: for h7 in 0:h7u: "
    "t3[h3+h3u*(h2+h2u*(h1+h1u*(p6+p6u*(p5+p5u*p4))))] -= "
    "t2[h7+h7u*(p4+p4u*(p5+p5u*h1))] * v2[h3+h3u*(h2+h2u*(p6+p6u*h7))]"
)
D1_1_SIZES = dict.fromkeys(("p4u", "p5u", "p6u", "h1u", "h2u", "h3u", "h7u"), 16)

GRAD3 = """\
for e in 0:nelt
  for i in 0:lx
    for j in 0:ly
      for k in 0:lz
        for m in 0:lx
          Ur[e*lx*ly*lz + i*ly*lz + j*lz + k] += D[m*ly + k] * U[e*lx*ly*lz + i*ly*lz + j*lz + m]
  for i in 0:lx
    for j in 0:ly
      for k in 0:lz
        for m in 0:ly
          Us[e*lx*ly*lz + i*ly*lz + j*lz + k] += U[e*lx*ly*lz + i*ly*lz + m*lz + k] * Dt[j*ly + m]
  for i in 0:lx
    for j in 0:ly
      for k in 0:lz
        for m in 0:lx
          Ut[e*lx*ly*lz + i*ly*lz + j*lz + k] += U[e*lx*ly*lz + m*ly*lz + j*lz + k] * Dt[i*ly + m]
"""
GRAD3_SIZES = {"lx": 10, "ly": 10, "lz": 10, "nelt": 1000}


def region(
    text: str,
    *,
    sizes: Mapping[str, int] | None = None,
    fixed: Mapping[str, int] | None = None,
    extents: Mapping[str, Sequence[Expr | int | str | None]] | None = None,
    restrict: bool = True,
    pointers: bool = True,
    read_after: Sequence[str] = (),
    types: Mapping[str, str] | None = None,
    assumed: Mapping[str, tuple[str, ...]] | None = None,
) -> Region:
    """Return a region around the nest `text`.

    Scalars that are assigned are doubles and others ints, unless `types` says otherwise;
    `assumed` are the extents that the annotation states.
    """
    nest = parse_nest(text)
    arrays: dict[str, Array] = {}
    local = {s.name for s in walk_stmts(nest.body) if isinstance(s, LocalArray)}
    names: dict[str, None] = {}
    for expr in _expressions(nest):
        names.update(dict.fromkeys(sorted(variables(expr))))
        for part in walk(expr):
            if isinstance(part, Access) and part.array not in {*arrays, *local}:
                given = (extents or {}).get(part.array, (None,) * len(part.indices))
                element = (types or {}).get(part.array, "double")
                arrays[part.array] = Array(
                    part.array, element, tuple(map(_extent, given)), pointers, restrict
                )
                for extent in arrays[part.array].extents:
                    names.update(dict.fromkeys(sorted(variables(extent or Int(0)))))
    written = {a.target.name for a in nest.assigns() if isinstance(a.target, Var)}
    values = dict(fixed or {})
    scalars = {
        name: Scalar(
            name,
            (types or {}).get(name, "double" if name in written else "int"),
            values.get(name),
            read_after=name in read_after,
        )
        for name in {**names, **dict.fromkeys(values)}
    }
    spec = Spec(assumptions=Assumptions(extents=assumed or {}))
    whole = Extent(0, 0, 0, 0, 0)
    return Region("f", 1, nest, arrays, scalars, {**(sizes or {}), **values}, spec, whole)


def _extent(value: Expr | int | str | None) -> Expr | None:
    if isinstance(value, int):
        return Int(value)
    return Var(value) if isinstance(value, str) else value


def _expressions(nest: Nest) -> list[Expr]:
    found: list[Expr] = [bound for loop in nest.loops() for bound in (loop.lower, loop.upper)]
    for assign in nest.assigns():
        found += [assign.target, *assign.sources()]
    return found
