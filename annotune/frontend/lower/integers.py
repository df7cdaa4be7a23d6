"""What C does by itself as it stores a value: conversions, and operators that a nest lacks.

Integers that a region sets: formulas of iterators and sizes as long as they are such.

``k = i * n; a[k + j] = …`` lowers to ``a[i * n + j]``, and no statement is left of the first.
An integer that no formula gives, one set under an ``if`` or counted up where a condition holds,
stays a variable that the nest assigns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from pycparser import c_ast

from annotune.frontend import messages
from annotune.frontend.lower.expressions import ROUNDING, Expressions
from annotune.frontend.lower.loops import Header
from annotune.frontend.lower.members import AliasTable
from annotune.frontend.lower.names import IntegerFormula, Names
from annotune.frontend.lower.unsigned import UNSIGNED, may_go_round, signed
from annotune.frontend.read.syntax import (
    STEPS,
    changed_by,
    names_in,
    offset,
    text_of,
    walk_tree,
)
from annotune.frontend.types.kinds import (
    COMPLEX,
    Typed,
    cast,
    common,
    goes_round,
    is_integer,
    is_unsigned,
    keeps_values,
    of_type,
    promoted,
    unwrapped,
    width,
    without_casts,
    without_type,
)
from annotune.frontend.types.symbols import Symbol
from annotune.frozen import dataclass
from annotune.ir.c_types import PROMOTED, may_share
from annotune.ir.ctype import named
from annotune.ir.expr import (
    Access,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Negate,
    Select,
    Var,
    accesses,
    substitute,
    subtracts,
)
from annotune.ir.expr import variables as scalars_in
from annotune.ir.expr import walk as walk_expr
from annotune.ir.fold import fold
from annotune.ir.nest import Assign, Stmt, expressions, rewritten, walk_stmts
from annotune.ir.poly import ZERO, Poly, from_expr, integer
from annotune.ir.region import Alias
from annotune.ir.typing import has_narrowing_cast, in_long

# What a statement of a nest may do; other assignments are written out.
_OWN = frozenset({"=", "+=", "-=", "*=", "/="})
ASSIGNMENTS = _OWN | {"%=", "<<=", ">>=", "&=", "|=", "^="}
# Operators that a store shares with a value; of the first two either operand may stand first.
_COMMUTE = frozenset({"+", "*"})
_COMPOUND = _COMMUTE | {"-", "/"}


def compound(target: c_ast.Node, value: c_ast.Node) -> tuple[str, c_ast.Node]:
    """Return ``+=`` and e for a store of ``x + e`` or ``e + x`` in x, else ``=`` and the value.

    C11 6.5.16.2 makes ``x += e`` the same as ``x = x + (e)``, conversions included, but for how
    often x is evaluated; what the front end takes has no side effects. A sum or a product is that
    of its operands in either order, rounded once. ``x - a + b`` is no such value: it takes a off
    first.
    """
    if isinstance(value, c_ast.BinaryOp) and value.op in _COMPOUND:
        if _alike(value.left, target):
            return f"{value.op}=", value.right
        if value.op in _COMMUTE and _alike(value.right, target):
            return f"{value.op}=", value.left
    return "=", value


def _alike(one: c_ast.Node, other: c_ast.Node) -> bool:
    """Return whether two syntax trees are the same but for where they stand."""
    return type(one) is type(other) and text_of(one) == text_of(other)


@dataclass(frozen=True, slots=True)
class UserAssignment:
    """``target op value``, which stands at `node`; without a value it adds or subtracts 1.

    `given` stands for the value where that is known already.
    """

    node: c_ast.Node
    target: c_ast.Node
    op: str
    value: c_ast.Node | None
    given: Typed | None = None

    def operand(self, at: Expressions) -> Typed:
        """Return the value that stands right of the operator."""
        if self.given is not None:
            return self.given
        return Typed(Int(1), "int") if self.value is None else at.value(self.value)

    def result(self, at: Expressions) -> Typed:
        """Return the new value of the target, as C computes it or, in a subscript, as numbers."""
        if self.op == "=":
            return self.operand(at)
        op = self.op[:-1]
        if op in ROUNDING:
            old = at.exact_value(self.target)
            return at.computed(op, old, at.exact(self.operand), self.target)
        return at.computed(op, at.value(self.target), self.operand(at), self.target)


def holds(base: str, expr: Expr, names: Names) -> bool:
    """Return whether type `base` holds all that an integer expression, or its choices, may be."""
    sides = (expr.if_true, expr.if_false) if isinstance(expr, Select) else (expr,)
    held = of_type(base)
    spans = [names.range_of(side) for side in sides]
    return held is not None and all(s and held[0] <= s[0] <= s[1] <= held[1] for s in spans)


def stored_value(value: Typed, place: Access | Var, base: str, names: Names) -> Typed:
    """Return what a store of `value` at a `place` of type `base` leaves, as far as it shows.

    C converts one integer to another by itself, and a sum cut to fewer bits at each step is that
    of its terms cut at the end. Not so a minimum or maximum, which such a step may make smaller,
    and not what becomes of a sum in a _Bool: a cast keeps later stages from taking them for one.
    """
    if base == "_Bool" or not is_integer(value.kind):
        return Typed(cast(value, base), promoted(base))
    expr = unwrapped(value, place, base)
    is_choice = isinstance(expr, Select) and place in (expr.if_true, expr.if_false)
    if is_choice and value.kind != base and not holds(base, expr, names):
        return Typed(Cast(named(base), expr), promoted(base))
    return Typed(expr, value.kind)


def _divides_unsigned(op: str, base: str, value: Typed) -> bool:
    """Return whether C makes an unsigned number of an integer before it divides it."""
    own = promoted(base)
    if op != "/=" or not (is_integer(own) and is_integer(value.kind)):
        return False
    return is_unsigned(common(own, value.kind)) and common(own, value.kind) != own


def converted(
    one: UserAssignment, place: Access | Var, base: str, expressions: Expressions
) -> tuple[str, Typed]:
    """Return the operator and the value to store in an element or variable of type `base`.

    A cast says where a real is stored as an integer: a sum that is cut to an integer after each
    step is no sum of its terms.
    """
    op, value = one.op, one.operand(expressions)
    is_whole = is_integer(promoted(base))
    loses_part = (value.kind in COMPLEX and base not in COMPLEX) or (
        is_whole and not is_integer(value.kind)
    )
    if op == "=" and is_whole and is_integer(value.kind):
        return op, stored_value(without_type(value), place, base, expressions.names)
    if op == "=":
        value = without_type(value)
    if base == "_Bool" and op != "=":
        # No sum, nor a product: what is not 0 is 1 after each step.
        new = expressions.computed(op[:-1], Typed(place, "int"), value, one.node)
        return "=", Typed(cast(new, base), "int")
    if op in _OWN and not (op != "=" and (loses_part or _divides_unsigned(op, base, value))):
        return op, Typed(cast(value, base), base) if loses_part else value
    if op not in _OWN and not (is_whole and is_integer(value.kind)):
        raise expressions.refuse(messages.OPERATOR, one.node, op=op)
    old = Typed(place, promoted(base))
    new = expressions.computed(op[:-1], old, value, one.node)
    return "=", Typed(cast(new, base), base) if loses_part else new


# A longer formula is computed once, in a variable.
_LONGEST_FORMULA = 60
# Ends the name that stands for an integer's value at the start of an iteration; none of C's does.
_PROBE = "@"


def reads(expr: Expr) -> frozenset[str]:
    """Return the scalars and arrays whose values an expression reads."""
    return scalars_in(expr) | {access.array for access in accesses(expr)}


class Integers:
    """What the integers of a region are, statement after statement."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.names = expressions.names

    def written_in(self, node: c_ast.Node) -> frozenset[str]:
        """Return the scalars, arrays and declared variables that a statement may write."""
        found: set[str] = set()
        for inner in walk_tree(node):
            target = changed_by(inner)
            if target is not None:
                found |= self._bases(target)
            elif isinstance(inner, c_ast.Decl) and inner.name:
                found.add(inner.name)
        return frozenset(found)

    def _bases(self, place: c_ast.Node) -> set[str]:
        """Return the names that an lvalue may write through: its subscripts are only read."""
        match place:
            case c_ast.ArrayRef():
                return self._bases(place.name)
            case c_ast.UnaryOp(op="*"):
                return self._bases(place.expr)
            case c_ast.BinaryOp(op="+" | "-"):
                sides = (place.left, place.right)
                pointers = tuple(filter(self.expressions.is_pointer, sides))
                return {name for side in pointers or sides for name in self._bases(side)}
        return set(names_in(place))

    def begin(self) -> None:
        """Give each integer that the region sets the value that it has before the region."""
        names = self.names
        own = names.sets.written - names.sets.loop_names - names.sets.assigned
        for name in sorted(own | names.sets.continued):
            symbol = names.find(name)
            is_narrow = symbol is not None and symbol.base in PROMOTED
            if symbol is not None and symbol.is_integer and (name not in own or not is_narrow):
                names.formulas[name] = IntegerFormula(Var(name), Var(name))

    def set(self, symbol: Symbol, one: UserAssignment) -> Typed | None:
        """Take in an assignment; return the new value where a statement must store it."""
        names, name = self.names, symbol.name
        if name in names.iterators:
            raise self.expressions.refuse(messages.ITERATOR_CHANGES, one.target, var=name)
        if name in names.sets.loop_names and names.may_be_read_after(symbol):
            # Its value after the region is no longer what a loop leaves.
            names.sets.needed.add(name)
        new = one.result(self.expressions)
        stored: Typed | None = None
        if name in names.sets.assigned - names.sets.loop_names:
            names.use(symbol)
            stored = stored_value(new, Var(name), symbol.base, names)
        formula = None
        if is_integer(new.kind) and symbol.base not in PROMOTED:
            index = one.result(self.expressions.index())
            formula = self._formula(symbol, self.expressions.number(index, symbol.base), new)
        if stored is not None:
            self.forget({name})
        names.formulas.pop(name, None)
        if formula is not None and not (stored is not None and name in self._reads(formula.index)):
            names.formulas[name] = formula
        elif stored is None:
            names.sets.needed.add(name)
        return stored

    def _formula(self, symbol: Symbol, index: Expr, new: Typed) -> IntegerFormula | None:
        whole = self.names.resolved(index)
        if not (_is_formula(whole) and _is_formula(self.names.resolved(new.expr))):
            return None
        if goes_round(whole) and (
            is_unsigned(symbol.base) or has_narrowing_cast(self.names.resolved(new.expr))
        ):
            return None
        if new.kind == symbol.base and (new.kind != "int" or self.names.may_be_int(new.expr)):
            return IntegerFormula(index, new.expr)
        # What is made of it is computed in its own type, which may hold more.
        kept = keeps_values(new.kind, symbol.base) or self._holds(symbol.base, new.expr)
        value = Cast(named(symbol.base), new.expr)
        return IntegerFormula(index, value, new.expr if kept else None)

    def _holds(self, base: str, value: Expr) -> bool:
        """Return whether type `base` holds all that an expression of ints may be."""
        if not self.names.may_be_int(value):
            # The emitted C would go on to compute in another type.
            return False
        return holds(base, value, self.names)

    def forget(self, changed: Collection[str]) -> None:
        """Drop the formulas that read what a statement has changed."""
        formulas = self.names.formulas
        for name in [n for n, formula in formulas.items() if self._is_touched(formula, changed)]:
            del formulas[name]

    def _is_touched(self, formula: IntegerFormula, changed: Collection[str]) -> bool:
        read = self._reads(formula.index) | self._reads(formula.value)
        if not read.isdisjoint(changed):
            return True
        arrays = [a.array for e in (formula.index, formula.value) for a in accesses(e)]
        return any(self.may_overlap(a, b) for a in arrays for b in changed)

    def _reads(self, expr: Expr) -> frozenset[str]:
        """Return what a part of a formula reads, also in what loops leave."""
        return reads(self.names.resolved(expr))

    def may_overlap(self, one: str, other: str) -> bool:
        """Return whether two names of arrays may share memory.

        The nest also runs where a test at run time finds that arrays overlap.
        """
        symbols = [self.names.find(name) for name in (one, other)]
        pair = [s for s in symbols if s is not None and s.is_array]
        if len(pair) < 2 or one == other:
            return len(pair) == 2
        return not self.names.given.are_disjoint and may_share(*map(self.names.place_of, pair))

    def stored(self, changed: Collection[str]) -> frozenset[str]:
        """Return those of the changed names that the nest itself writes.

        An integer that is a formula leaves no statement, so its name keeps standing for the
        value before the region; and so does an iterator's where the nest has one of its own.
        """
        names = self.names
        kept = names.sets.assigned - names.sets.loop_names
        free = {n for n in changed if n in names.sets.written and n not in kept}
        symbols = {name: names.find(name) for name in free}
        return frozenset(changed) - {n for n, s in symbols.items() if s is None or s.is_integer}

    def surviving(
        self, before: Mapping[str, IntegerFormula], changed: frozenset[str]
    ) -> dict[str, IntegerFormula]:
        """Return the formulas that hold after statements that change `changed` may have run."""
        stored = self.stored(changed)
        # Where a statement changes an iterator of a loop around, it is refused.
        set_anew = changed - set(self.names.iterators)
        return {
            name: formula
            for name, formula in before.items()
            if name not in set_anew and not self._is_touched(formula, stored)
        }

    def chosen(
        self,
        test: Expr,
        then: Mapping[str, IntegerFormula],
        otherwise: Mapping[str, IntegerFormula],
        changed: frozenset[str],
    ) -> dict[str, IntegerFormula]:
        """Return the integers that a branch leaves, of those that it may have `changed`.

        ``ix = 1; if (incx < 0) ix = (1 - n) * incx + 1;`` leaves a choice that is the same for the
        whole region: C's own, since neither what the test asks nor what is chosen ever changes.
        ``m = k; if (j <= k) m = j - 1;`` leaves ``min(j - 1, k)`` in iterations of loops around.
        """
        names = self.names
        free = (changed & names.sets.written) - names.sets.assigned - names.sets.loop_names
        found: dict[str, IntegerFormula] = {}
        for name in sorted(free & then.keys() & otherwise.keys() - set(names.iterators)):
            one, other = then[name], otherwise[name]
            parts = (test, one.index, one.value, other.index, other.value)
            if all(map(self._is_fixed, map(names.resolved, parts))):
                found[name] = IntegerFormula(
                    fold(Select(test, one.index, other.index)),
                    fold(Select(test, one.value, other.value)),
                    fold(Select(test, one.number or one.value, other.number or other.value)),
                )
                continue
            extremum = self._extremum(test, one, other)
            if extremum is not None:
                found[name] = IntegerFormula(extremum, extremum)
        return found

    def _extremum(self, test: Expr, one: IntegerFormula, other: IntegerFormula) -> Expr | None:
        """Return the least or the greatest of two numbers, where a test chooses just that.

        With the test as ``t >= 0``, `one` less `other` is ``-t`` or ``-t - 1`` for the least: it is
        below 0, or 0, where the test holds and not below where it does not.
        """
        parts = (test, one.index, one.value, other.index, other.value)
        if not all(map(self._is_counted, map(self.names.resolved, parts))):
            return None
        if one.value != one.index or other.value != other.index:
            return None
        room, first, second = _room(test), from_expr(one.index), from_expr(other.index)
        if room is None or first is None or second is None:
            return None
        more = first - second
        for function, sign in (("min", -1), ("max", 1)):
            rest = more - integer(sign) * room
            if rest.constant in (0, sign):
                return Call(function, (one.index, other.index))
        return None

    def _is_counted(self, expr: Expr) -> bool:
        """Return whether loops around and what never changes alone make a number with a sign."""
        names = self.names
        read = scalars_in(expr)
        symbols = [names.find(name) for name in read - names.spans.keys()]
        moving = (names.sets.assigned | names.sets.loop_names) - {*names.iterators, *names.spans}
        return (
            not accesses(expr)
            and read.isdisjoint(moving)
            and all(s is not None and s.is_integer and not is_unsigned(s.base) for s in symbols)
            and all(not is_unsigned(self._base(name)) for name in read)
        )

    def _base(self, name: str) -> str:
        symbol = self.names.find(name)
        return "int" if symbol is None else symbol.base

    def _is_fixed(self, expr: Expr) -> bool:
        """Return whether an integer expression has one value for the whole region."""
        names = self.names
        read = scalars_in(expr)
        symbols = [names.find(name) for name in read]
        return (
            _is_formula(expr)
            and not accesses(expr)
            and read.isdisjoint(names.sets.assigned | names.sets.loop_names)
            and all(symbol is not None and symbol.is_integer for symbol in symbols)
        )

    def advancing(self, body: c_ast.Node, before: Mapping[str, IntegerFormula]) -> frozenset[str]:
        """Return the integers that a loop's body only adds to, and whose start is known."""
        names = self.names
        stored = self.stored(self.written_in(body))
        targets: dict[str, bool] = {}
        for name, only_adds in _settings(body):
            targets[name] = targets.get(name, True) and only_adds
        return frozenset(
            name
            for name, only_adds in targets.items()
            if only_adds
            and name in before
            and name not in names.sets.loop_names
            and name not in names.sets.assigned
            and not self._is_touched(before[name], stored)
        )

    def following(self, body: c_ast.Node, before: Mapping[str, IntegerFormula]) -> frozenset[str]:
        """Return the integers that a loop's body reads before it sets them, once, to something."""
        names = self.names
        reads: dict[str, int] = {}
        sets: dict[str, list[int]] = {}
        stored = {id(n.lvalue) for n in walk_tree(body) if isinstance(n, c_ast.Assignment)}
        for node in walk_tree(body):
            target = changed_by(node)
            if isinstance(target, c_ast.ID):
                sets.setdefault(target.name, []).append(offset(target))
            if isinstance(node, c_ast.ID) and id(node) not in stored:
                reads[node.name] = min(reads.get(node.name, offset(node)), offset(node))
        return frozenset(
            name
            for name, places in sets.items()
            if len(places) == 1
            and reads.get(name, places[0]) < places[0]
            and name in before
            and name not in names.sets.loop_names | names.sets.assigned
        )

    def ends(self, candidates: Collection[str], header: Header) -> dict[str, Expr]:
        """Return what an iteration, just probed, leaves in candidates: a multiple of its iterator.

        The next iteration starts with that.
        """
        found: dict[str, Expr] = {}
        for name in candidates:
            formula = self.names.formulas.get(name)
            if formula is None or formula.value != formula.index:
                continue
            poly = from_expr(formula.index)
            split = None if poly is None else poly.linear_in((header.var,))
            factor = None if split is None else split[0].get(header.var, ZERO).constant
            if factor and self._is_counted(self.names.resolved(formula.index)):
                found[name] = formula.index
        return found

    def followed(
        self, start: IntegerFormula, end: Expr, at: Expr, header: Header
    ) -> IntegerFormula | None:
        """Return what an integer has that each iteration leaves as `end`, before iteration `at`.

        ``k = 1; for (i = 1; i <= n; i++) { …; k = i; }`` has ``max(1, i - 1)``: in the first
        iteration its start, later what the one before has left. That is the greater of the two
        where it grows, and the start lies between what iterations would leave before the first and
        in it; None where that is not proven.
        """
        first, last = (
            from_expr(substitute(end, {header.var: place}))
            for place in (Binary("-", header.lower, Int(header.step)), header.lower)
        )
        own = from_expr(start.index)
        if first is None or last is None or own is None or start.value != start.index:
            return None
        below, above = (own - first).constant, (last - own).constant
        if below is None or above is None or below * above < 0 or below + above == 0:
            return None
        left = fold(substitute(end, {header.var: Binary("-", at, Int(header.step))}))
        value = Call("max" if below + above > 0 else "min", (start.index, left))
        return IntegerFormula(value, value)

    def probe(self, candidates: Collection[str]) -> None:
        """Let names stand for the values of `candidates` at the start of an iteration."""
        for name in candidates:
            marker = Var(name + _PROBE)
            self.names.formulas[name] = IntegerFormula(marker, marker)

    def increments(
        self, candidates: Collection[str], varying: Collection[str], header: Header
    ) -> dict[str, Expr]:
        """Return by how much an iteration, just probed, moves each candidate.

        By the same always, or by a multiple of the loop's own iterator and something that stays.
        `varying` are the names whose values differ from one iteration to the next.
        """
        found: dict[str, Expr] = {}
        for name in candidates:
            formula = self.names.formulas.get(name)
            if formula is None:
                continue
            by = fold(Binary("-", formula.index, Var(name + _PROBE)))
            read = self._reads(by)
            if header.var in read:
                formula = formula.substituted(self._growing(by, header))
                by = fold(Binary("-", formula.index, Var(name + _PROBE)))
                read = self._reads(by) - {header.var}
            is_fixed = read.isdisjoint(varying) and not any(n.endswith(_PROBE) for n in read)
            symbol = self.names.find(name)
            if symbol is None or not self._is_step(by, formula, symbol):
                continue
            if header.var in self._reads(by) and not self._is_growing(by, header, symbol):
                continue
            if is_fixed and not accesses(by):
                found[name] = by
        self.names.used.counted |= found.keys()
        return found

    def _growing(self, by: Expr, header: Header) -> dict[str, Expr]:
        """Return how often loops run that are inside of another, by the names for that in `by`.

        ``for (j = 1; j <= n; j++) for (i = j; i <= n; i++) k++;`` adds ``n - j + 1``, not a maximum
        of that and 0: the last iteration, where it is least, adds 1.
        """
        values: dict[str, Expr] = {}
        for name, left in self.names.used.left.items():
            least = from_expr(self.names.resolved(left.ran))
            if Var(name) not in walk_expr(by) or least is None or left.value == left.ran:
                continue
            factor = (least.linear_in((header.var,)) or ({},))[0].get(header.var, ZERO).constant
            at = Binary("-", header.upper, Int(1)) if (factor or 0) < 0 else header.lower
            value = from_expr(self.names.resolved(at))
            if factor is None or value is None or left.value != Call("max", (Int(0), left.ran)):
                continue
            found = least.substitute({header.var: value}).constant
            if found is not None and found >= 0:
                values[name] = left.ran
        return values

    def _is_growing(self, by: Expr, header: Header, symbol: Symbol) -> bool:
        """Return whether what a loop's iterations add is linear in its own iterator, in steps of 1.

        All must be integers with a sign, whose sums C computes without going round.
        """
        whole = self.names.resolved(by)
        poly = from_expr(whole)
        split = None if poly is None else poly.linear_in((header.var,))
        scalars = [self.names.find(name) for name in scalars_in(whole) - {header.var}]
        kinds = [symbol.base, header.kind, *(s.base for s in scalars if s is not None)]
        return (
            header.step == 1
            and split is not None
            and split[0][header.var].constant is not None
            and symbol.base not in PROMOTED
            and not any(map(is_unsigned, kinds))
        )

    def _is_step(self, by: Expr, formula: IntegerFormula, symbol: Symbol) -> bool:
        """Return whether an iteration that leaves `formula` moves an integer by `by` also in C."""
        base = symbol.base
        if is_unsigned(base) and goes_round(Binary("*", self.names.resolved(by), Int(1))):
            return False
        if width(base) == 64 and any(map(self._is_narrow, scalars_in(by))) and subtracts(by):
            # C computes with it in 32 bits, where a number below 0 goes round.
            return False
        if base == "unsigned int":
            # Numbers and values agree up to 2^32, and a cast makes the one the other.
            return True
        value = Binary("-", without_casts(formula.value, base), Var(symbol.name + _PROBE))
        return fold(self._in_longs(value)) == fold(self._in_longs(by))

    def _is_narrow(self, name: str) -> bool:
        symbol = self.names.find(name)
        return symbol is not None and symbol.base == "unsigned int"

    def closed(
        self, name: str, start: IntegerFormula, by: Expr, times: Expr, header: Header
    ) -> IntegerFormula:
        """Return an integer that starts at `start`, once a loop's iterator has moved by `times`."""
        names, plain = self.names, _product(times, by, header)
        index = _advanced(start.index, plain)
        symbol = names.find(name)
        assert symbol is not None
        base, (by, times) = symbol.base, map(self._in_longs, (by, times))
        parts = map(names.resolved, (plain, index))
        if base != UNSIGNED and any(may_go_round(part, names) for part in parts):
            index = _advanced(self._in_longs(start.index), _product(times, by, header))
        value = start.value if width(base) == 64 else without_casts(start.value, base)
        match value:
            case Cast(type_, inner) if type_.name == base and is_unsigned(base):
                # The sum is cast as a whole; what outer loops have moved keeps its width.
                value = inner
        # An iterator of another type computes in that one, where -1 may be a great number.
        product = _product(times, by, header)
        if width(base) == 64 and header.var not in scalars_in(by):
            # In C every step is made in the wide type, and its ints may have been cast to it.
            far = by if isinstance(by, Var | Int) else signed(by, self.names, is_far=True)
            product = Binary("*", _rounds(Cast(named(base), times), header), far)
        return IntegerFormula(index, self._of_type(base, _advanced(value, product)))

    def left(self, header: Header) -> IntegerFormula:
        """Return a loop's iterator, of its own type, once the loop is done."""
        return self._iterator(header, header.final)

    def inside(self, header: Header) -> IntegerFormula:
        """Return the user's iterator, of its own type, in an iteration."""
        return self._iterator(header, header.value)

    def _iterator(self, header: Header, number: Expr) -> IntegerFormula:
        base = header.symbol.base
        is_far = self.names.used.is_wide and width(base) == 64
        value = self._of_type(base, self._in_longs(number, is_far))
        return IntegerFormula(number, value, None if value == number else number)

    def _in_longs(self, number: Expr, is_far: bool = False) -> Expr:
        """Return a number that no unsigned part of it makes go round below 0.

        One that `is_far` may be more than an int holds.
        """
        whole = self.names.resolved(number)
        longs = signed(whole, self.names, is_far)
        return fold(number if longs == whole else longs)

    def _of_type(self, base: str, number: Expr) -> Expr:
        is_leaf = isinstance(number, Var | Access | Int)
        # The emitted code may compute in a wider type, which does not go round.
        is_size = self.names.is_sized(number) and self.names.is_nonnegative(number)
        keeps = is_leaf or not is_unsigned(base) or is_size
        is_kept = keeps and self.names.type_of(number) == named(base)
        return number if is_kept else Cast(named(base), number)

    def finish(self, places: Mapping[str, c_ast.Node]) -> Iterator[tuple[Symbol, Expr]]:
        """Yield the integers that may be read after the region, with their values there."""
        names = self.names
        final = [
            symbol
            for name in sorted(names.sets.written | (names.sets.assigned & names.sets.loop_names))
            if (symbol := names.find(name)) is not None
            and symbol.is_integer
            and names.may_be_read_after(symbol)
            and (name in names.sets.assigned) == (name in names.sets.loop_names)
        ]
        for symbol in final:
            formula = names.formulas.get(symbol.name)
            if formula is not None and formula.value == Var(symbol.name):
                continue
            if formula is not None:
                names.use(symbol)
                yield symbol, formula.value
            elif symbol.name in names.sets.loop_names:
                place = places[symbol.name]
                raise self.expressions.refuse(messages.INTEGER_NEEDED, place, name=symbol.name)
            else:
                names.sets.needed.add(symbol.name)


def _settings(body: c_ast.Node) -> Iterator[tuple[str, bool]]:
    """Yield each scalar that a statement sets, and whether it only adds to it there."""
    for node in walk_tree(body):
        match node:
            case c_ast.UnaryOp(expr=c_ast.ID(name=name)) if node.op in STEPS:
                yield name, True
            case c_ast.Assignment(lvalue=c_ast.ID(name=name), op=op, rvalue=value):
                yield name, op in ("+=", "-=") or (op == "=" and name in _summands(value))
            case c_ast.Decl(name=str() as name) if name:
                yield name, False


def _room(test: Expr) -> Poly | None:
    """Return a polynomial that is not negative just where a comparison of integers holds."""
    match test:
        case Binary("==", Binary() as inner, Int(0)):
            room = _room(inner)
            return None if room is None else -room - integer(1)
        case Binary("<" | "<=" as op, left, right) | Binary(">" | ">=" as op, right, left):
            less, more = from_expr(left), from_expr(right)
            if less is None or more is None:
                return None
            return more - less - integer(int(op in ("<", ">")))
    return None


def _summands(value: c_ast.Node) -> Iterator[str]:
    """Yield the variables to which a sum of two or more adds the rest."""
    if isinstance(value, c_ast.BinaryOp) and value.op in ("+", "-"):
        for side in (value.left, value.right):
            if isinstance(side, c_ast.ID):
                yield side.name
            yield from _summands(side)


def _is_formula(expr: Expr) -> bool:
    """Return whether an integer expression is made of numbers, scalars, elements and choices."""
    parts = list(walk_expr(expr))
    return len(parts) <= _LONGEST_FORMULA and all(map(_is_plain, parts))


def _is_plain(part: Expr) -> bool:
    match part:
        case Int() | Var() | Access() | Negate() | Select() | Binary():
            return True
        case Call(function, _):
            return function in ("min", "max")
        case Cast(type_, _):
            return is_integer(type_.name)
    return False


def _advanced(start: Expr, by: Expr) -> Expr:
    return fold(Binary("+", start, by))


def _rounds(times: Expr, header: Header) -> Expr:
    return times if header.step == 1 else Binary("/", times, Int(header.step))


def _product(times: Expr, by: Expr, header: Header) -> Binary:
    """Return `by` for each iteration while a loop's iterator moves by `times`.

    The sum of ``a * i + b`` from i = first on is ``m * (a * (m - 1 + 2 * first) + 2 * b) / 2``
    after m iterations, a whole number; twice it may be more than an int holds.
    """
    if header.var in scalars_in(by):
        once, twice = (fold(substitute(by, {header.var: Int(v)})) for v in (0, 1))
        factor = fold(Binary("-", twice, once))
        count = Binary("-", Binary("+", times, Binary("*", Int(2), header.lower)), Int(1))
        whole = Binary("+", Binary("*", factor, count), Binary("*", Int(2), once))
        return Binary("/", Binary("*", in_long(times), in_long(fold(whole))), Int(2))
    if isinstance(by, Int) and by.value % header.step == 0:
        return Binary("*", Int(by.value // header.step), times)
    return Binary("*", _rounds(times, header), by)


def with_starts(body: tuple[Stmt, ...], left: Sequence[Assign], names: Names) -> tuple[Stmt, ...]:
    """Return a nest with the statements that leave the last values of integers behind it.

    What such an integer has before the nest, where the nest uses that, gets a name of its own:
    ``const int ix_ = ix;``. So it is a size like any other, though ``ix`` changes in the end.
    """
    read = {n for s in walk_stmts(body) for e in expressions(s) for n in scalars_in(e)}
    # One may be left what is made of another, which is set before it.
    read |= {n for s in left for n in scalars_in(s.value) if s.target != Var(n)}
    moved = [s.target.name for s in left if isinstance(s.target, Var) and s.target.name in read]
    table = AliasTable.of(names)
    starts: dict[str, Expr] = {}
    for name in moved:
        symbol = names.find(name)
        assert symbol is not None, "it is set"
        own = table.fresh(name)
        start = replace(symbol, name=own, storage="parameter", init=None)
        table.declare(Alias(own, name, f"const {symbol.base} {own} = {name};"), start)
        names.use(start)
        starts[name] = Var(own)
    names.used.starts = list(table.aliases.values())
    names.used.asked_first = {substitute(one, starts) for one in names.used.asked_first}
    finals = tuple(replace(s, value=substitute(s.value, starts)) for s in left)
    return (*rewritten(body, lambda e: starts.get(e.name) if isinstance(e, Var) else None), *finals)
