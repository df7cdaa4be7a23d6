"""Statements of a nest as C: loops, assignments and locals, on flat or shaped arrays.

A nest has its conditions at the statements. Where it is written in the order of its text, a loop
that a test leaves out as a whole stands under it: the user's ``if`` may have stood around a loop
that does not end where the condition is false, as an unsigned iterator below a negative size.

Bounds that are a least or a greatest value, such as the ends of tiles that may be cut short, are
constants before the loops: C has no `min`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import assert_never

from annotune.codegen.c_expr import c_expr, in_64_bits, of_one_sign, plain_c, unwidened
from annotune.codegen.names import (
    c_type,
    fresh,
    iterator_c_type,
    narrow_scalars,
    numbered,
    spelled,
)
from annotune.codegen.writer import Writer
from annotune.frozen import dataclass
from annotune.ir.c_types import PROMOTED, is_unsigned_type
from annotune.ir.ctype import DOUBLE, FLOAT, INT, LONG, UNSIGNED_INT, CType, named
from annotune.ir.expr import (
    COMPARISONS,
    SUM,
    Access,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Var,
    accesses,
    children,
    conjunction,
    conjuncts,
    names_read,
    place_name,
    rewrite,
    subtracts,
    variables,
    walk,
    without_extrema,
)
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
    is_stored,
    map_assigns,
    walk_stmts,
)
from annotune.ir.plain import Plain, asked_again, chosen_places
from annotune.ir.region import Region, flattened
from annotune.transforms.tree import Body, bound_names, target_name


def without_test(
    loop: Loop, objects: frozenset[str], asked_first: frozenset[Expr]
) -> tuple[Expr | None, Loop]:
    """Return what must hold for any statement of `loop` to run, and the loop without that test.

    The test is made of what stays as it is in the loop and is always there to be read: scalars,
    the first elements of `objects`, and what the user reads in tests that he has `asked_first`.
    There may be none.
    """
    inside = tuple(walk_stmts(loop.body))
    if not all(isinstance(stmt, Assign | Loop | LocalArray) for stmt in inside):
        return None, loop
    assigns = [stmt for stmt in inside if isinstance(stmt, Assign)]
    changed = {loop.var, *(stmt.var for stmt in inside if isinstance(stmt, Loop))}
    changed |= set(map(target_name, assigns))
    tests: list[Expr] = []
    stored: dict[str, list[Expr]] = {}
    for number, assign in enumerate(assigns):
        own = _tests(assign, stored)
        tests = [test for test in (tests if number else own) if test in own]
    kept: list[Expr] = []
    for test in dict.fromkeys(tests):
        is_there = _is_asked(test, kept, asked_first) or not _may_fail_in(test, objects)
        if is_there and not names_read(test) & changed:
            kept.append(test)
    if not kept:
        return None, loop
    return conjunction(kept), replace(loop, body=_without(loop.body, kept))


def _tests(assign: Assign, stored: dict[str, list[Expr]]) -> list[Expr]:
    """Return what must hold for a statement to run, or to store a condition that holds.

    `stored` are those that the conditions stored before it are made of.
    """
    tests = list(conjuncts(assign.guard)) if assign.guard is not None else []
    for test in tuple(tests):
        tests += stored.get(test.name, []) if isinstance(test, Var) else []
    if is_stored(assign):
        tests += conjuncts(assign.value)
        stored[target_name(assign)] = tests
    return tests


def _is_asked(test: Expr, kept: list[Expr], asked_first: frozenset[Expr]) -> bool:
    """Return whether the text asks a test outside all loops, where those `kept` hold.

    What it reads may be there only where those hold that the text asks before it.
    """
    for whole in asked_first:
        parts = list(conjuncts(whole))
        if test in parts and set(parts[: parts.index(test)]) <= set(kept):
            return True
    return False


def _may_fail_in(test: Expr, objects: frozenset[str]) -> bool:
    return any(_may_fail(part, objects) for part in walk(test))


def _may_fail(part: Expr, objects: frozenset[str]) -> bool:
    match part:
        case Access(array, indices):
            return array not in objects or indices != (Int(0),)
        case Binary("/" | "%"):
            return True
        case Call():
            return True
        case _:
            return False


def _without(body: Body, tests: list[Expr]) -> Body:
    def stripped(assign: Assign) -> Assign:
        if assign.guard is None:
            # A condition is stored whatever holds.
            return assign
        left = conjunction(test for test in conjuncts(assign.guard) if test not in tests)
        return replace(assign, guard=left)

    return map_assigns(body, stripped)


@dataclass(frozen=True)
class Dialect:
    """How one target writes C: what an array element is, and what stands for a loop.

    `loop` may write a loop of its own way and returns True then; it writes the loop's body
    through `write_body`. `flat` turns ``A[i][j]`` into ``A[i*n + j]``. `has_extrema` says that
    the language has ``min`` and ``max``, of arguments of one type: loop bounds are such. Local
    arrays start at a multiple of `alignment` bytes, where that is not 0. The line `rolled` stands
    before a loop of which the compiler must not write out iterations. A nest in the order of its
    text has the `objects` of one element that are read as scalars; a loop that a test leaves out
    as a whole stands under it there. What a block has of arrays is in others of the names `shared`.
    """

    region: Region
    flat: bool = True
    has_extrema: bool = False
    loop: Callable[[Writer, Loop], bool] = lambda out, loop: False
    alignment: int = 0
    objects: frozenset[str] | None = None
    rolled: str = ""
    shared: frozenset[str] = frozenset()

    def expr(self, expr: Expr, enclosing: int = 0) -> str:
        """Return an expression as C; `enclosing` as for `c_expr`."""
        types = {scalar.name: scalar.type for scalar in self.region.scalars.values()}
        made = self._flat(expr) if self.flat else self._in_place(expr)
        return plain_c(of_one_sign(made, types), enclosing)

    def write_body(self, out: Writer, body: tuple[Stmt, ...]) -> None:
        """Write statements in order; neighbours that one ``if`` may hold share it."""
        before: Stmt | None = None
        for group in _guarded(body):
            first = group[0]
            if isinstance(first, Loop) and self.stays_rolled(before, first):
                out.line(self.rolled)
            before = group[-1]
            if not isinstance(first, Assign) or first.guard is None:
                self.write(out, first)
                continue
            with out.block(f"if ({self.expr(self._guard(first.guard))})"):
                for stmt in group:
                    assert isinstance(stmt, Assign)
                    self._assign(out, stmt)

    def stays_rolled(self, before: Stmt | None, loop: Loop) -> bool:
        """Return whether `rolled` stands before a loop that the threads do not share."""
        if not self.rolled or loop.place is not Level.SERIAL or loop.unrolled > 1:
            return False
        return _is_rest(before, loop) or self.recurs(loop)

    def recurs(self, loop: Loop) -> bool:
        """Return whether `rolled` stands before a loop because it reads an array that it writes.

        Such iterations wait for each other, and gain least by being written out.
        """
        names = self.shared.union(self.region.arrays)
        return bool(self.rolled) and _reads_beside(loop.body, names)

    def write(self, out: Writer, stmt: Stmt) -> None:
        """Write one statement."""
        match stmt:
            case Assign(guard=None):
                self._assign(out, stmt)
            case Assign():
                self.write_body(out, (stmt,))
            case Local(name, kind, value):
                start = f" = {self.expr(self._narrowed(value))}" if value is not None else ""
                # A part of a merged loop keeps the user's name, and the type of such loops.
                own = self.region.scalars.get(name)
                type_ = spelled(kind) if own is None else c_type(self.region, own.type)
                out.line(f"{type_} {name}{start};")
            case LocalArray(name, kind, extents):
                shape = "".join(f"[{n}]" for n in extents)
                # As gcc, clang and nvc have it in every C; _Alignas is C11's.
                at = f" __attribute__((aligned({self.alignment})))" if self.alignment else ""
                out.line(f"{spelled(kind)} {name}{shape}{at};")
            case Await():
                raise AssertionError("only the threads of a block wait for copies")
            case Fetch(place):
                out.line(FETCHES)
                out.line(f"__builtin_prefetch(&{self.expr(place)}, 0, {SECOND_LEVEL});")
                out.line("#endif")
            case Loop():
                if not self.loop(out, stmt):
                    self._loop(out, stmt)
            case _:
                assert_never(stmt)

    def _loop(self, out: Writer, loop: Loop) -> None:
        """Write a loop, under the test for all its statements."""
        test, loop = self.tested(loop)
        around = nullcontext() if test is None else out.block(f"if ({self.expr(test)})")
        with around, out.block(self.loop_head(loop)):
            self.write_body(out, loop.body)

    def tested(self, loop: Loop) -> tuple[Expr | None, Loop]:
        """Return the test under which a loop stands, and the loop without it (`without_test`).

        A nest as written may read in it what the text has asked outside all loops. Elsewhere it
        is of scalars alone, and no thread waits for others in the loop, nor is a test stored.
        """
        if self.objects is not None:
            return without_test(loop, self.objects, self.region.text.asked_first)
        for stmt in walk_stmts(loop.body):
            is_shared = isinstance(stmt, Loop) and stmt.place not in (Level.SERIAL, Level.SIMD)
            if is_shared or (isinstance(stmt, Assign) and is_stored(stmt)):
                return None, loop
        return without_test(loop, frozenset(), frozenset())

    def _assign(self, out: Writer, stmt: Assign) -> None:
        """Write an assignment; a sum too long for a line has one summand on each."""
        # A copy's test is of our own, in longs as its subscripts are.
        is_copy = stmt.number == NO_STATEMENT and stmt.op == "=" and isinstance(stmt.target, Access)
        value = stmt.value if is_copy else self._narrowed(stmt.value)
        types = {scalar.name: scalar.type for scalar in self.region.scalars.values()}
        target: Expr = stmt.target
        if not is_copy:
            made = Plain(self.region.types).expr(without_extrema(of_one_sign(value, types)))
            target, value = self._named(out, target, made)
        head = f"{self.expr(target)} {stmt.op} "
        text = f"{head}{self.expr(value)};"
        summands = _summands(value)
        if len(text) <= LONG_LINE or len(summands) < 3:
            out.line(text)
            return
        # A summand on the right of its + keeps its parentheses: x + (y - z) rounds otherwise.
        first = self.expr(summands[0][1], SUM)
        rest = [f"{op} {self.expr(s, RIGHT_OF_SUM)}" for op, s in summands[1:]]
        out.line(head + first)
        with out.deeper():
            for line in rest[:-1]:
                out.line(line)
            out.line(f"{rest[-1]};")

    def _named(self, out: Writer, target: Expr, value: Expr) -> tuple[Expr, Expr]:
        """Return target and value, with what is chosen in their subscripts a constant before them.

        It is what a hand would have written ``k`` for, and ``d__1`` for what is asked and chosen:
        short parts stay, and those whose type is not known. A number of C's type is the same in a
        constant, and rounded no other way.
        """
        for array, choice in (*chosen_places(target), *chosen_places(value)):
            name = self._constant(out, choice, f"{array.rstrip('_')}_index", self.wide)
            if name is not None:
                left, right = _replaced(target, choice, name), _replaced(value, choice, name)
                return self._named(out, left, right)
        assert isinstance(target, Access | Var)
        return target, self._asked_once(out, value, place_name(target))

    def _asked_once(self, out: Writer, value: Expr, target: str) -> Expr:
        """Return a value in which what is asked and chosen is a constant before it."""
        for part in asked_again(value):
            word = (
                f"{part.array.rstrip('_')}_value" if isinstance(part, Access) else f"{target}_term"
            )
            name = self._constant(out, part, word, lambda expr: expr)
            if name is not None:
                return self._asked_once(out, _replaced(value, part, name), target)
        return value

    def _constant(
        self, out: Writer, part: Expr, word: str, wide: Callable[[Expr], Expr]
    ) -> Var | None:
        """Write a constant for a long part, and return it; None of others."""
        type_ = Plain(self.region.types).type_of(part)
        if type_ not in (INT, LONG, FLOAT, DOUBLE) or len(self.expr(part)) < LONG_PART:
            return None
        name = numbered(word, self.region.taken | out.declared)
        out.declare(name)
        text = self.expr(wide(self._asked_once(out, part, word)))
        out.line(f"const {c_type(self.region, type_.name)} {name} = {text};")
        return Var(name)

    def loop_head(self, loop: Loop) -> str:
        """Return ``for (…)`` with the iterator declared in it, in the user's type."""
        var = loop.var
        step = f"{var}++" if loop.step == 1 else f"{var} += {loop.step}"
        return (
            f"for ({self.iterator_type(loop)} {var} = {self.bound(loop, loop.lower)}; "
            f"{var} < {self.bound(loop, loop.upper)}; {step})"
        )

    def runs(self, loop: Loop) -> str:
        """Return the test that a loop runs at all, as its head compares."""
        first = self.bound(loop, loop.lower)
        if not isinstance(loop.lower, Int):
            first = f"({self.iterator_type(loop)})({first})"
        return f"{first} < {self.bound(loop, loop.upper)}"

    def bound(self, loop: Loop, bound: Expr, enclosing: int = SUM) -> str:
        """Return a loop's bound; ``min`` is given arguments of one type, as C++ demands.

        C alone would take a negative int for the larger one of it and a ``size_t``.
        """
        kind = self.iterator_type(loop)
        scalars = self.region.scalars
        names = variables(bound)
        own = {name: scalars[name].type for name in names if name in scalars}
        types = {*own.values(), kind}
        # What is more than an int holds may be beside what the loop really ends at, and a
        # number below 0 beside where one with an unsigned iterator starts.
        is_counted = all(map(is_unsigned_type, types)) and not subtracts(bound)
        wide = kind if is_counted or not (kind == "int" or is_unsigned_type(kind)) else "long"

        bound = self.wide(bound)
        plain = types == {"int"} and not _is_wide(bound)
        one_type = bound if plain else _of_one_type(bound, wide, own)
        return c_expr(one_type, enclosing) if self.has_extrema else self.expr(one_type, enclosing)

    def iterator_type(self, loop: Loop) -> str:
        """Return the C type of a loop's iterator, as of the loop of the text that it is made of."""
        scalar = self.region.scalars.get(loop.var) or self.region.scalars.get(loop.root)
        type_ = scalar.type if scalar is not None else "int"
        return iterator_c_type(self.region, type_, (loop.lower, loop.upper))

    def _narrowed(self, value: Expr) -> Expr:
        """Return a value with each integer in the user's type, where one is unsigned.

        Iterators may be ``long`` here for their subscripts, and ``i - j`` below zero is another
        number in ``unsigned``.
        """
        scalars = self.region.scalars
        outside = [s for name in _names_outside(value) if (s := scalars.get(name)) is not None]
        wider = {s.name: s.type for s in outside if c_type(self.region, s.type) != s.type}
        if not any("unsigned" in type_ for type_ in wider.values()):
            return value

        def cast(part: Expr) -> Expr | None:
            match part:
                case Var(name) if name in wider:
                    return Cast(named(wider[name]), part)
                case Access() | Cast(is_bare=True):
                    return part
                case Cast(CType("long"), operand) if all(
                    wider.get(name) in (None, *PROMOTED, "int") for name in variables(operand)
                ):
                    return part
            return None

        return rewrite(value, cast)

    def wide(self, expr: Expr) -> Expr:
        """Return a bound or a test in 64 bits where the user computes such in these.

        Functions of ours have longs; a text in place has the user's own scalars.
        """
        return expr if self.flat else in_64_bits(expr, narrow_scalars(self.region))

    def _guard(self, expr: Expr) -> Expr:
        """Return a guard that compares in 64 bits, where the user computes such.

        An iterator is a long then, and so are our own ends that it is compared with. Others have
        the casts of the text, and C compares an unsigned number with an int in 32 bits.
        """
        narrow = {} if self.flat else narrow_scalars(self.region)
        iterators = {loop.var for loop in self.region.nest.loops()}
        unsigned = {name for name, kind in narrow.items() if kind == "unsigned int"}

        def change(part: Expr) -> Expr | None:
            if not (isinstance(part, Binary) and part.op in COMPARISONS):
                return None
            names = variables(part)
            casts = {one.type for one in walk(part) if isinstance(one, Cast)}
            is_unsigned = bool(names & unsigned) or UNSIGNED_INT in casts
            if any(accesses(part)) or (is_unsigned and not names & iterators):
                return part
            return in_64_bits(part, narrow)

        return rewrite(expr, change) if narrow else expr

    def _in_place(self, expr: Expr) -> Expr:
        """Return an expression with subscripts in 64 bits, and what is a long in the user's text.

        Its other ints are computed as the user's are.
        """
        narrow = narrow_scalars(self.region)
        iterators = {loop.var for loop in self.region.nest.loops()}
        signed = {name for name, kind in narrow.items() if kind == "int"} | iterators

        def change(part: Expr) -> Expr | None:
            match part:
                case Access(indices=indices):
                    inner = (in_64_bits(rewrite(index, change), narrow) for index in indices)
                    return replace(part, indices=tuple(inner))
                case Cast(CType("long"), operand) if variables(operand) <= signed:
                    return replace(part, operand=in_64_bits(operand, narrow))
            return None

        return rewrite(expr, change) if narrow else expr

    def _flat(self, expr: Expr) -> Expr:
        return rewrite(expr, lambda e: flattened(e, self.region.arrays))


def _is_wide(expr: Expr) -> bool:
    """Return whether an extremum chooses among other numbers than ints, though all names are."""
    parts = tuple(walk(expr))
    if not any(isinstance(e, Call) and e.function in ("min", "max") for e in parts):
        return False
    return any(
        abs(e.value) >= 2**31 if isinstance(e, Int) else isinstance(e, Cast) and e.type == LONG
        for e in parts
    )


def _names_outside(expr: Expr) -> frozenset[str]:
    """Return the scalars that an expression reads outside subscripts."""
    return variables(rewrite(expr, lambda e: Int(0) if isinstance(e, Access) else None))


def _guarded(body: tuple[Stmt, ...]) -> list[list[Stmt]]:
    """Return `body` cut into single statements and runs of assignments under one guard.

    A statement that changes what the guard reads ends its run: the next one asks anew.
    """
    groups: list[list[Stmt]] = []
    for stmt in body:
        last = groups[-1][-1] if groups else None
        if (
            isinstance(stmt, Assign)
            and isinstance(last, Assign)
            and stmt.guard is not None
            and stmt.guard == last.guard
            and not _changes(last, stmt.guard)
        ):
            groups[-1].append(stmt)
        else:
            groups.append([stmt])
    return groups


def _is_rest(before: Stmt | None, loop: Loop) -> bool:
    """Return whether a loop runs the iterations that the unrolled one before it has left."""
    if not isinstance(before, Loop):
        return False
    return before.var == loop.var and before.upper == loop.lower and before.unrolled > 1


def _reads_beside(body: tuple[Stmt, ...], arrays: Collection[str]) -> bool:
    """Return whether a body without loops reads elements of `arrays` beside those it writes."""
    if any(isinstance(stmt, Loop) for stmt in body):
        return False
    assigns = [stmt for stmt in body if isinstance(stmt, Assign)]
    written = {s.target for s in assigns if isinstance(s.target, Access)}
    names = {target.array for target in written}.intersection(arrays)
    read = (a for s in assigns for source in s.sources() for a in accesses(source))
    return any(access.array in names and access not in written for access in read)


def _changes(assign: Assign, guard: Expr) -> bool:
    target = assign.target
    if isinstance(target, Var):
        return target.name in variables(guard)
    return any(access.array == target.array for access in accesses(guard))


# C makes ints of the other types without a sign.
_COMPARED_UNSIGNED = frozenset({"unsigned int", "unsigned long", "unsigned long long"})


def _of_one_type(bound: Expr, kind: str, types: Mapping[str, str]) -> Expr:
    """Return a bound whose ``min`` and ``max`` have arguments of type `kind`.

    In what a cast makes unsigned, numbers without a sign alone are compared as such.
    """

    def cast(part: Expr) -> Expr | None:
        match part:
            case Call("min" | "max" as function, arguments):
                inner = (rewrite(argument, cast) for argument in arguments)
                return Call(function, tuple(Cast(named(kind), a) for a in inner))
            case Cast(type_, operand) if type_.is_unsigned:
                kinds = [types[name] for name in unwidened(operand) if name in types]
                of_parts = type_.name if _COMPARED_UNSIGNED.issuperset(kinds) else "long"
                return Cast(type_, _of_one_type(operand, of_parts, types))
        return None

    return rewrite(bound, cast)


# What has the built-in function; nvc says that it is GNU C, and is left alone.
FETCHES = "#if defined(__GNUC__) && !defined(__NVCOMPILER)"
# gcc's degree of locality of a line that goes to the second-level cache, not to the first.
SECOND_LEVEL = 2
# What a choice computes twice has a name from so many characters on.
LONG_PART = 14
# Sums that unrolling makes are broken into lines beyond this many characters.
LONG_LINE = 100
# The precedence that `c_expr` takes for the right operand of a sum.
RIGHT_OF_SUM = SUM + 1


def _replaced(expr: Expr, part: Expr, by: Expr) -> Expr:
    return rewrite(expr, {part: by}.get)


def _summands(expr: Expr) -> list[tuple[str, Expr]]:
    """Return the operands of a sum with their signs, left to right, as C evaluates them."""
    if isinstance(expr, Binary) and expr.op in ("+", "-"):
        return [*_summands(expr.left), (expr.op, expr.right)]
    return [("+", expr)]


def final_values(region: Region, wanted: frozenset[str]) -> str:
    """Return C that gives the iterators in `wanted` the values the original loops leave.

    A loop that runs leaves its iterator at the first value that fails its test; inner loops
    count in the last iteration of the outer one. Where an outer iterator decides whether an
    inner loop runs, that iteration may have been an earlier one, so the outer loop is run.
    """
    out = Writer()
    _finals(out, region.nest.body, wanted, Dialect(region, flat=False))
    return out.text()


def _finals(out: Writer, body: tuple[Stmt, ...], wanted: frozenset[str], dialect: Dialect) -> None:
    for stmt in body:
        if not isinstance(stmt, Loop) or not (_iterators(stmt) & wanted):
            continue
        if dialect.region.scalars[stmt.var].is_local:
            # Declared by the loop itself: its name must not reach beyond this block.
            with out.block(""):
                out.line(f"{dialect.iterator_type(stmt)} {stmt.var};")
                _final(out, stmt, wanted, dialect)
        else:
            _final(out, stmt, wanted, dialect)


def _final(out: Writer, loop: Loop, wanted: frozenset[str], dialect: Dialect) -> None:
    """Write the values that one loop and those inside it leave."""
    var, kind = loop.var, dialect.region.scalars[loop.var].type
    # The user's iterator may be narrower than the one that the bound was compared with.
    is_widened = is_unsigned_type(kind) and dialect.iterator_type(loop) == "long"
    test = f"{'(long)' if is_widened else ''}{var} < {dialect.bound(loop, loop.upper)}"
    if _sets_bounds(loop, wanted):
        step = f"{var}++" if loop.step == 1 else f"{var} += {loop.step}"
        with out.block(f"for ({var} = {dialect.bound(loop, loop.lower, 0)}; {test}; {step})"):
            _finals(out, loop.body, wanted, dialect)
        return
    out.line(f"{var} = {dialect.bound(loop, loop.lower, 0)};")
    with out.block(f"if ({test})"):
        out.line(f"{var} = {dialect.bound(loop, _last_value(loop), 0)};")
        _finals(out, loop.body, wanted, dialect)
        out.line(f"{var} += {loop.step};")


def _iterators(loop: Loop) -> set[str]:
    inner = (_iterators(s) for s in loop.body if isinstance(s, Loop))
    return {loop.var}.union(*inner)


def _sets_bounds(loop: Loop, wanted: frozenset[str]) -> bool:
    """Return whether the iterator decides if a loop inside runs that leaves a wanted value."""
    return any(
        isinstance(s, Loop) and loop.var in bound_names(s) and _inner_iterators(s) & wanted
        for s in walk_stmts(loop.body)
    )


def _inner_iterators(loop: Loop) -> set[str]:
    return _iterators(loop) - {loop.var}


def _last_value(loop: Loop) -> Expr:
    """Return the iterator's value in the last iteration of a loop that runs."""
    before = Binary("-", Binary("-", loop.upper, Int(1)), loop.lower)
    if loop.step == 1:
        return fold(Binary("-", loop.upper, Int(1)))
    steps = Binary("/", fold(before), Int(loop.step))
    return fold(Binary("+", loop.lower, Binary("*", steps, Int(loop.step))))


@dataclass(frozen=True, slots=True)
class Cut:
    """A loop with a bound that is a least or greatest value, such as a loop over one tile.

    A tile ends at the `least` of its own end, `full`, and the end of the whole loop, `end`.
    """

    loop: Loop
    least: Call

    @property
    def is_tile(self) -> bool:
        """Return whether the bound is the lesser of two ends, of which the first is usual."""
        return self.least.function == "min" and len(self.least.arguments) == 2

    @property
    def full(self) -> Expr:
        return self.least.arguments[0]

    @property
    def end(self) -> Expr:
        return self.least.arguments[1]


def cut_loops(body: Body) -> tuple[Cut, ...]:
    """Return the loops in `body` whose bounds are such values and are chosen outside it."""
    return _cuts(body, frozenset())


def write_ends(out: Writer, dialect: Dialect, body: Body, cuts: Sequence[Cut]) -> Body:
    """Write each such bound as a constant, and return `body` with these as bounds.

    Nests that follow each other in one block may have bounds of the same name.
    """
    ends: dict[Expr, Expr] = {}
    for cut in cuts:
        if cut.least in ends:
            continue
        kind = dialect.iterator_type(cut.loop).replace("const ", "")
        word = "end" if cut.least in walk(cut.loop.upper) else "begin"
        own = fresh(f"{cut.loop.var}_{word}", dialect.region.taken | out.declared)
        out.declare(own)
        out.line(f"const {kind} {own} = {dialect.expr(dialect.wide(cut.least))};")
        ends[cut.least] = Var(own)
    return with_bounds(body, ends)


def full_blocks(body: Body) -> tuple[tuple[Expr, ...], Body]:
    """Return tests that the tiles of a block of registers are full, and `body` where they are.

    There are none where `body` declares no such block, or no tile in it may be cut.
    """
    if not any(isinstance(stmt, LocalArray) for stmt in body):
        return (), body
    tiles = [cut for cut in cut_loops(body) if cut.is_tile]
    tests = dict.fromkeys(Binary("<=", cut.full, cut.end) for cut in tiles)
    full: dict[Expr, Expr] = {cut.least: cut.full for cut in tiles}
    return tuple(tests), with_bounds(body, full)


def with_bounds(body: Body, values: Mapping[Expr, Expr]) -> Body:
    """Return `body` with the ends of tiles in loop bounds replaced by `values`."""
    if not values:
        return body

    def change(bound: Expr) -> Expr:
        new = rewrite(bound, values.get)
        return bound if new == bound else fold(new)

    out: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Loop):
            inner = with_bounds(stmt.body, values)
            lower, upper = change(stmt.lower), change(stmt.upper)
            out.append(replace(stmt, lower=lower, upper=upper, body=inner))
        else:
            out.append(stmt)
    return tuple(out)


def _cuts(body: Body, inside: frozenset[str]) -> tuple[Cut, ...]:
    """Return the cuts in `body`, which stands in the loops `inside`."""
    out: list[Cut] = []
    for stmt in body:
        if not isinstance(stmt, Loop):
            continue
        for bound in (stmt.lower, stmt.upper):
            out += [Cut(stmt, least) for least in _choices(bound, inside)]
        out += _cuts(stmt.body, inside | {stmt.var})
    return tuple(dict.fromkeys(out))


def _choices(bound: Expr, inside: frozenset[str]) -> Iterator[Call]:
    """Yield the least and greatest values in `bound` that no loop `inside` changes."""
    is_choice = isinstance(bound, Call) and bound.function in ("min", "max")
    if is_choice and not variables(bound) & inside:
        assert isinstance(bound, Call)
        yield bound
        return
    for part in children(bound):
        yield from _choices(part, inside)
