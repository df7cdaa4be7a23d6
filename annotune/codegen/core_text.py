"""What compilers need to see before they keep a block of a local array in registers.

Both are about gcc: the accumulators leave memory only where each is at a constant place in its
array once the loops are unrolled, and where no other access may touch it.

What one CPU core does of a kernel, as a C function on flat pointers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

from annotune.analysis.facts import Analysis
from annotune.codegen.c_stmt import Dialect, cut_loops, full_blocks, write_ends
from annotune.codegen.guards import joined
from annotune.codegen.in_place import declare_own, is_placed, reduction_clauses
from annotune.codegen.names import Interface, written_arrays
from annotune.codegen.writer import INDENT, Writer, words, wrapped
from annotune.frozen import dataclass
from annotune.ir.expr import Access, Binary, Expr, Int, Var, substitute, variables
from annotune.ir.fold import fold
from annotune.ir.nest import (
    NO_STATEMENT,
    Assign,
    Await,
    Fetch,
    Level,
    Local,
    LocalArray,
    Loop,
    Stmt,
    map_assigns,
    walk_stmts,
)
from annotune.ir.region import Scalar
from annotune.transforms.tree import Body, fresh_name, only_fetches, target_name


def for_registers(body: Body, taken: Iterable[str]) -> Body:
    """Return a body that declares local arrays as compilers make the most of it.

    New names are none of those in `taken`.
    """
    if not any(isinstance(stmt, LocalArray) for stmt in body):
        return body
    names = frozenset(taken)
    return _read_by_pointer(_counted_from_zero(body, frozenset(), names), names)


def _counted_from_zero(body: Body, inside: frozenset[str], taken: frozenset[str]) -> Body:
    """Return `body`, in the loops `inside` of it, with full tiles counted from zero.

    Unrolled, ``i - i_t`` in the first iteration is no constant before the compiler has
    simplified it, which it does too late.
    """
    out: list[Stmt] = []
    for stmt in body:
        if not isinstance(stmt, Loop):
            out.append(stmt)
            continue
        loop = replace(stmt, body=_counted_from_zero(stmt.body, inside | {stmt.var}, taken))
        length = fold(Binary("-", loop.upper, loop.lower))
        is_tile = isinstance(loop.lower, Var) and isinstance(length, Int) and loop.step == 1
        out.append(_moved(loop, length, taken) if is_tile and not _sets(inside, loop) else loop)
    return tuple(out)


def _sets(inside: frozenset[str], loop: Loop) -> bool:
    return bool(variables(loop.lower) & inside)


def _moved(loop: Loop, length: Expr, taken: frozenset[str]) -> Loop:
    """Return a loop over a tile counted from the start of the tile."""
    own = fresh_name(f"{loop.var}_r", (loop,), taken)
    place: dict[str, Expr] = {loop.var: Binary("+", loop.lower, Var(own))}

    def moved(stmt: Stmt) -> Stmt:
        match stmt:
            case Assign() | Fetch():
                return _at(stmt, place)
            case Loop():
                lower = fold(substitute(stmt.lower, place))
                upper = fold(substitute(stmt.upper, place))
                tests = tuple(fold(substitute(test, place)) for test in stmt.peeled)
                inner = tuple(map(moved, stmt.body))
                return replace(stmt, lower=lower, upper=upper, body=inner, peeled=tests)
            case Local(name, type_, value):
                return Local(name, type_, None if value is None else substitute(value, place))
            case LocalArray() | Await():
                return stmt

    # The iterator has the type of the one that it stands for, as a loop over tiles does.
    body = tuple(map(moved, loop.body))
    return replace(loop, var=own, lower=Int(0), upper=length, body=body, tile_of=loop.var)


def _at(stmt: Assign | Fetch, place: dict[str, Expr]) -> Assign | Fetch:
    """Return a statement with iterators replaced, its subscripts simplified."""

    def change(expr: Expr) -> Expr | None:
        if isinstance(expr, Access) and variables(expr) & place.keys():
            indices = (fold(substitute(index, place)) for index in expr.indices)
            return Access(expr.array, tuple(indices), expr.span)
        return place.get(expr.name) if isinstance(expr, Var) else None

    return stmt.rewritten(change)


def _read_by_pointer(body: Body, taken: frozenset[str]) -> Body:
    """Return `body` with each copy of an input read through a pointer of its own.

    A vectorised load from a local array is one from somewhere to gcc, perhaps from the block;
    one through a `restrict` pointer is not.
    """
    for declared in [stmt for stmt in body if isinstance(stmt, LocalArray)]:
        places = [k for k, stmt in enumerate(body) if _writers(stmt, declared.name)]
        writers = {number for k in places for number in _writers(body[k], declared.name)}
        if writers != {NO_STATEMENT} or len(declared.extents) != 1:
            continue
        name = fresh_name(f"{declared.name.removesuffix('_tile')}_in", body, taken)
        pointer = Local(name, f"const {declared.type} *restrict", Var(declared.name))
        filled = places[-1] + 1
        rest = map_assigns(body[filled:], partial(_renamed, old=declared.name, new=name))
        body = (*body[:filled], pointer, *rest)
    return body


def _renamed(assign: Assign, old: str, new: str) -> Assign:
    """Return a statement with the array `old` under the name `new`."""

    def change(expr: Expr) -> Expr | None:
        if isinstance(expr, Access) and expr.array == old:
            return Access(new, expr.indices, expr.span)
        return None

    return assign.rewritten(change)


def _writers(stmt: Stmt, array: str) -> set[int]:
    """Return the numbers of the assignments in a statement that write an array."""
    assigns = (s for s in walk_stmts((stmt,)) if isinstance(s, Assign))
    return {s.number for s in assigns if target_name(s) == array}


# The longest vector of a CPU, AVX-512's, and a line of its caches: a load that crosses two
# lines costs two.
VECTOR_BYTES = 64
# A block is as many accumulators as the long registers hold, which gcc leaves unused on the CPUs
# that slowed down with them.
_WIDE = """\
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && !defined(__NVCOMPILER)
__attribute__((target("prefer-vector-width=512")))
#endif
"""


@dataclass(frozen=True, slots=True)
class CoreText:
    """A function's definition and what is passed to it."""

    name: str
    definition: str
    passed: Interface


def core_text(
    analysis: Analysis,
    outer: Interface,
    body: Body,
    name: str,
    constants: Mapping[str, int],
    around: tuple[Scalar, ...],
    comment: str,
) -> CoreText:
    """Return the work inside shared loops, `body`, with `constants` fixed in it.

    `around` are the iterators of the loops around the call, and scalars that are computed
    there. Macros are at hand at file scope and are no parameters.
    """
    inner = Writer(INDENT)
    BodyWriter(analysis).write(inner, body, frozenset(s.name for s in around))
    used = words(inner.text())
    named: dict[str, Scalar] = {}
    for scalar in (*around, *outer.scalars):
        if scalar.name in used and not scalar.is_macro:
            named.setdefault(scalar.name, scalar)
    whole = replace(outer, scalars=tuple(named.values()))
    passed = whole.among(used - constants.keys(), outer.written)
    parameters = replace(passed, written=written_arrays(body)).parameters("restrict")
    out = Writer()
    out.lines(f"/* {comment} */")
    if any(isinstance(stmt, LocalArray) for stmt in walk_stmts(body)):
        out.lines(_WIDE)
    out.lines(wrapped(f"static void {name}", parameters))
    out.line("{")
    with out.deeper():
        for scalar in whole.scalars:
            if scalar.name in constants:
                kind = scalar.type.replace("const ", "")
                out.line(f"const {kind} {scalar.name} = {constants[scalar.name]};")
    return CoreText(name, out.text() + inner.text() + "}\n", passed)


class BodyWriter:
    """Writes what one core does: lanes marked, and a tile that may be cut short in two versions.

    `flat` is for functions, whose arrays are flat.
    """

    def __init__(self, analysis: Analysis, flat: bool = True) -> None:
        self.analysis = analysis
        self.dialect = Dialect(analysis.region, flat=flat, loop=self._loop, alignment=VECTOR_BYTES)

    def write(self, out: Writer, body: Body, known: frozenset[str] = frozenset()) -> None:
        """Write statements with their temporaries before them, less those that are `known`."""
        declare_own(out, self.analysis, body, known)
        self._statements(out, body)

    def _loop(self, out: Writer, loop: Loop) -> bool:
        test, loop = self.dialect.tested(loop)
        with nullcontext() if test is None else out.block(f"if ({self.dialect.expr(test)})"):
            if loop.place is Level.SIMD:
                out.directive(f"#pragma omp simd{reduction_clauses((loop,))}")
            with out.block(self.dialect.loop_head(loop)):
                if is_placed(loop):
                    self.write(out, loop.body)
                else:
                    self._statements(out, loop.body)
        return True

    def _statements(self, out: Writer, body: Body) -> None:
        """Write a body; a register block of full tiles apart from one that is cut short.

        The number of accumulators must be a constant for the compiler to keep them in
        registers.
        """
        cuts = cut_loops(body)
        if not any(isinstance(s, LocalArray) for s in body):
            # What is cut further inside may belong to a register block there.
            cuts = tuple(cut for cut in cuts if any(cut.loop is stmt for stmt in body))
            self.dialect.write_body(out, write_ends(out, self.dialect, body, cuts))
            return
        lengths = {cut.least for cut in cuts if cut.is_tile and not only_fetches(cut.loop)}
        tiles = tuple(cut for cut in cuts if cut.least in lengths)
        body = write_ends(out, self.dialect, body, [cut for cut in cuts if cut not in tiles])
        if not tiles:
            self._block(out, body)
            return
        tests, whole = full_blocks(body)
        with out.block(f"if ({joined(map(self.dialect.wide, tests))})"):
            self._block(out, whole)
        with out.block("else"):
            self._block(out, write_ends(out, self.dialect, body, tiles))

    def _block(self, out: Writer, body: Body) -> None:
        """Write a body with local arrays, whose ends are known by now."""
        self.dialect.write_body(out, for_registers(body, self.dialect.region.taken))
