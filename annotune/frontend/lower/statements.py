"""``if`` and ``else`` as guards of their statements, or as a choice of values.

There is no branch in a nest: each statement says when it runs. Where both branches set the same
places, each place is set to a choice, so that it is written in every iteration; and
``if (x > m) m = x;`` is a maximum.

The statements of a region turned into a nest, every independent refusal collected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotune.diagnostics import AnnotuneError, Diagnostic, Template
from annotune.frontend import messages
from annotune.frontend.lower.expressions import Expressions, condition
from annotune.frontend.lower.integers import (
    ASSIGNMENTS,
    Integers,
    compound,
    converted,
    holds,
    reads,
)
from annotune.frontend.lower.loops import Header, Split, header, iterator_range, split, times
from annotune.frontend.lower.names import (
    Formula,
    Names,
    declare,
    declared_once,
    initial,
    local_array,
)
from annotune.frontend.read.syntax import assigned_in, c_ast, walk_tree
from annotune.frontend.types.kinds import COMPLEX, Typed, common, is_integer, keeps_values, promoted
from annotune.frontend.types.symbols import Symbol
from annotune.ir.expr import (
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Real,
    Select,
    Var,
    accesses,
    conjunction,
    conjuncts,
    names_read,
    walk,
)
from annotune.ir.fold import fold
from annotune.ir.nest import STORED, Assign, Loop, Nest, Stmt, is_stored, walk_stmts
from annotune.ir.region import Scalar


@dataclass(frozen=True, slots=True)
class Kinds:
    """The C types of an assignment's target and of its value, and whether all of it is kept."""

    target: str
    value: str
    is_kept: bool


def changes_test(
    test: Expr,
    then: Sequence[Stmt],
    otherwise: Sequence[Stmt],
    may_overlap: Callable[[str, str], bool],
) -> bool:
    """Return whether a statement changes what the condition of a later one reads.

    The last statement may: its own condition is computed before it.
    """
    body = [*then, *otherwise]
    last = body[-1:] if body and isinstance(body[-1], Assign) else []
    earlier = body[: len(body) - len(last)]
    targets = {_name(s) for s in walk_stmts(tuple(earlier)) if isinstance(s, Assign)}
    if not targets.isdisjoint(reads(test)):
        return True
    return any(may_overlap(a.array, target) for a in accesses(test) for target in targets)


def _name(stmt: Assign) -> str:
    target = stmt.target
    return target.array if isinstance(target, Access) else target.name


def merged(
    test: Expr, then: Sequence[Stmt], otherwise: Sequence[Stmt], kinds: Mapping[int, Kinds]
) -> list[Stmt] | None:
    """Return both branches as one sequence of choices, None where they are not alike."""
    if not otherwise and len(then) == 1:
        extremum = _extremum(test, then[0], kinds)
        return None if extremum is None else [extremum]
    if not then or len(then) != len(otherwise):
        return None
    pairs = [_merged(test, a, b, kinds) for a, b in zip(then, otherwise, strict=True)]
    return [pair for pair in pairs if pair is not None] if None not in pairs else None


def _merged(test: Expr, one: Stmt, other: Stmt, kinds: Mapping[int, Kinds]) -> Stmt | None:
    if not (_is_plain(one) and _is_plain(other)):
        return None
    assert isinstance(one, Assign)
    assert isinstance(other, Assign)
    if one.target != other.target:
        return None
    a, b = (promoted(kinds[stmt.number].value) for stmt in (one, other))
    kind, base = common(a, b), kinds[one.number].target
    is_exact = a == b or (kind not in COMPLEX and keeps_values(a, kind) and keeps_values(b, kind))
    if is_exact:
        return replace(one, value=Select(test, one.value, other.value))
    if not (is_integer(a) and is_integer(b) and is_integer(promoted(base))):
        return None
    # C converts each to the target's type, while a choice would first convert one to the other's.
    first, second = (Call(f"({base})", (stmt.value,)) for stmt in (one, other))
    return replace(one, value=Select(test, first, second))


def _is_plain(stmt: Stmt) -> bool:
    return (
        isinstance(stmt, Assign) and stmt.op == "=" and stmt.guard is None and (not is_stored(stmt))
    )


def _extremum(test: Expr, stmt: Stmt, kinds: Mapping[int, Kinds]) -> Stmt | None:
    """Return ``if (x > m) m = x;`` as ``m = x > m ? x : m``, None for anything else."""
    if not _is_plain(stmt):
        return None
    assert isinstance(stmt, Assign)
    kind = kinds[stmt.number]
    match test:
        case Binary("<" | "<=" | ">" | ">=", left, right):
            sides = {left, right} == {stmt.value, stmt.target} and left != right
            if sides and kind.is_kept:
                return replace(stmt, value=Select(test, stmt.value, stmt.target))
    return None


def guarded(body: Sequence[Stmt], test: Expr, stored: frozenset[str] = frozenset()) -> list[Stmt]:
    """Return statements that run only where `test` holds.

    A condition of ours is stored always, so that each iteration writes it before it reads it;
    it then holds only where `test` does. `stored` are such conditions.
    """
    stored |= {_name(s) for s in body if isinstance(s, Assign) and is_stored(s)}
    found: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Loop):
            upper = stmt.upper
            if any(_may_fail(bound) for bound in (stmt.lower, stmt.upper)):
                # n / m is not to be computed where the user asked for m first.
                upper = Select(test, stmt.upper, stmt.lower)
            found.append(replace(stmt, upper=upper, body=tuple(guarded(stmt.body, test, stored))))
        elif isinstance(stmt, Assign) and is_stored(stmt):
            found.append(replace(stmt, value=Binary("&&", test, stmt.value)))
        elif isinstance(stmt, Assign) and not _implies(stmt.guard, stored):
            found.append(replace(stmt, guard=_guard(test, stmt.guard)))
        else:
            found.append(stmt)
    return found


def _guard(outer: Expr, inner: Expr | None) -> Expr | None:
    """Return that both conditions hold, asking memory last.

    An element is read for iterations at which the statement may run, and for no others.
    """
    both = conjunction((outer, inner))
    assert both is not None
    parts = list(conjuncts(both))
    ordered = sorted(parts, key=_asks_more)
    return both if ordered == parts else conjunction(ordered)


def _asks_more(condition: Expr) -> bool:
    """Return whether a condition reads memory, calls a function or may trap."""
    calls = any(isinstance(part, Call) for part in walk(condition))
    return calls or bool(accesses(condition)) or _may_fail(condition)


def _implies(guard: Expr | None, stored: frozenset[str]) -> bool:
    """Return whether a guard holds only where one of the stored conditions does."""
    match guard:
        case Var(name):
            return name in stored
        case Binary("&&", left, right):
            return _implies(left, stored) or _implies(right, stored)
    return False


def _may_fail(bound: Expr) -> bool:
    """Return whether computing a bound may trap: a division by what may be 0."""
    return any(
        isinstance(part, Binary) and part.op in ("/", "%") and not isinstance(part.right, Int)
        for part in walk(bound)
    )


_WORDS: dict[type[Any], str] = {
    c_ast.Break: "break",
    c_ast.Continue: "continue",
    c_ast.Return: "return",
    c_ast.Goto: "goto",
    c_ast.While: "while",
    c_ast.DoWhile: "do",
    c_ast.Switch: "switch",
}
_OF_NAMES = frozenset(f"AT{number}" for number in range(120, 130))


def lower(statements: Sequence[Any], names: Names) -> Nest:
    """Return the nest of a region's statements; `names` learns what they use.

    An integer is taken for a formula until a use shows that none gives its value; then the
    region is lowered again with that integer as a variable.

    Raises:
        AnnotuneError: Something in the region is refused; it names every reason found.
    """
    block = c_ast.Compound(list(statements))
    loops = {id(n): s for n in walk_tree(block) if isinstance(n, c_ast.For) and (s := split(n))}
    declared = {s.var for s in loops.values() if isinstance(s.place, c_ast.Decl)}
    names.loop_names = frozenset(s.var for s in loops.values()) - declared
    with_start = {
        n.name for n in walk_tree(block) if isinstance(n, c_ast.Decl) and n.init and n.name
    }
    names.written = frozenset(assigned_in(block)) | with_start
    names.region_depth = len(names.scopes)
    learned = dict(names.formulas)
    found = (dict(names.arrays), dict(names.scalars), dict(names.meanings), names.is_wide)
    jumped_to = frozenset(n.name for n in walk_tree(block) if isinstance(n, c_ast.Goto))
    while True:
        lowering = _Statements(names, jumped_to)
        body = lowering.region(statements, {s.var: s.place for s in loops.values()})
        more = names.needed - names.assigned or lowering.idle - names.assigned
        if not more:
            break
        names.assigned |= more
        names.arrays, names.scalars = dict(found[0]), dict(found[1])
        names.meanings = dict(found[2])
        names.is_wide = found[3]
        names.functions.clear()
        names.counted.clear()
        names.asked_first.clear()
        names.formulas = dict(learned)
    if lowering.problems:
        raise AnnotuneError(tuple(lowering.problems))
    nest = Nest(_numbered(body))
    targets = (assign.target for assign in nest.assigns())
    set_ = {t.name if isinstance(t, Var) else t.array for t in targets}
    overlaps = lowering.integers.may_overlap
    names.asked_first = {
        whole
        for whole in names.asked_first
        if not any(
            read == name or overlaps(read, name) for read in names_read(whole) for name in set_
        )
    }
    return nest


def _numbered(body: Sequence[Stmt], first: int = 0) -> tuple[Stmt, ...]:
    """Return statements with the assignments numbered in text order."""
    numbers = iter(range(first, first + 10**9))

    def renumber(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Loop):
            return replace(stmt, body=tuple(map(renumber, stmt.body)))
        return replace(stmt, number=next(numbers)) if isinstance(stmt, Assign) else stmt

    return tuple(map(renumber, body))


class _Statements:
    def __init__(self, names: Names, jumped_to: frozenset[str]) -> None:
        self.names = names
        self.expressions = Expressions(names)
        self.integers = Integers(self.expressions)
        self.problems: list[Diagnostic] = []
        self.next_number = 0
        self.kinds: dict[int, Kinds] = {}
        self.conditions = 0
        # The tests around a place, outermost first.
        self.asked: list[Expr] = []
        # Iterators of loops that do nothing, once no integer needs a statement any more.
        self.idle: set[str] = set()
        # A label is refused with the jumps to it.
        self.jumped_to = jumped_to

    def region(self, statements: Sequence[Any], places: dict[str, Any]) -> tuple[Stmt, ...]:
        """Return the statements of the region, and those for integers that live on."""
        self.integers.begin()
        body = list(self.block(statements))
        try:
            for symbol, value in self.integers.finish(places):
                span = body[-1].span if body and isinstance(body[-1], Assign | Loop) else None
                stmt = self._assign(Var(symbol.name), "=", value, symbol.base, symbol.base)
                body.append(stmt if span is None else replace(stmt, span=span))
        except AnnotuneError as refusal:
            self._note(refusal.diagnostics)
        return tuple(body)

    def block(self, items: Sequence[Any]) -> tuple[Stmt, ...]:
        """Return the statements of a block, in a scope of their own."""
        self.names.scopes.append({})
        body: list[Stmt] = []
        for item in items:
            body += self.statement(item)
        self.names.scopes.pop()
        return tuple(body)

    def statement(self, node: Any) -> list[Stmt]:
        """Return what a statement becomes; a refusal is noted, and the next one tried."""
        try:
            return self._statement(node)
        except AnnotuneError as refusal:
            self._note(refusal.diagnostics)
            return []

    def _note(self, problems: Sequence[Diagnostic]) -> None:
        """Keep the problems that are new: what is wrong with a name is said once."""
        for problem in problems:
            known = [p for p in self.problems if p.message == problem.message]
            if not known or (problem.code not in _OF_NAMES and problem not in known):
                self.problems.append(problem)

    def _statement(self, node: Any) -> list[Stmt]:
        match node:
            case c_ast.EmptyStatement() | c_ast.Pragma() | c_ast.Typedef():
                return []
            case c_ast.Compound():
                return list(self.block(node.block_items or []))
            case c_ast.For():
                return self._loop(node)
            case c_ast.If():
                return self._branch(node)
            case c_ast.DeclList():
                return [s for decl in node.decls for s in self.statement(decl)]
            case c_ast.Decl():
                return self._declaration(node)
            case c_ast.ExprList():
                return [s for expression in node.exprs for s in self.statement(expression)]
            case c_ast.Assignment():
                return self._assignment(node, node.lvalue, node.op, node.rvalue)
            case c_ast.UnaryOp(op="++" | "p++"):
                return self._assignment(node, node.expr, "+=", None)
            case c_ast.UnaryOp(op="--" | "p--"):
                return self._assignment(node, node.expr, "-=", None)
            case c_ast.Label() if node.name in self.jumped_to:
                return self.statement(node.stmt)
            case c_ast.Label():
                raise self._at_word(messages.CONTROL_FLOW, node, node.name)
        if type(node) in _WORDS:
            raise self._at_word(messages.CONTROL_FLOW, node, _WORDS[type(node)])
        # A call, a member or a condition used as a statement says itself why it is refused.
        self.expressions.value(node)
        raise self.expressions.refuse(messages.STATEMENT, node)

    def _at_word(self, template: Template, node: Any, word: str) -> AnnotuneError:
        span = self.names.file.source.span(node.coord.line, node.coord.column)
        return AnnotuneError.of(template.at(span, word=word))

    def _branch(self, node: Any) -> list[Stmt]:
        names = self.names
        test = names.resolved(condition(node.cond, True, self.expressions))
        other = names.resolved(condition(node.cond, False, self.expressions))
        if isinstance(test, Int):
            taken = node.iftrue if test.value else node.iffalse
            return [] if taken is None else list(self.block([taken]))
        for loop in (split(n) for n in walk_tree(node) if isinstance(n, c_ast.For)):
            symbol = names.find(loop.var) if loop is not None else None
            if symbol is not None and names.may_be_read_after(symbol):
                # What the loop leaves in it depends on the condition.
                names.needed.add(symbol.name)
        before = dict(names.formulas)
        then = self._under(test, node.iftrue)
        names.formulas = dict(before)
        otherwise = self._under(other, node.iffalse) if node.iffalse is not None else ()
        names.formulas = self.integers.surviving(before, self.integers.written_in(node))
        choices = merged(test, then, otherwise, self.kinds) if len(then) == 1 else None
        if choices is not None:
            return choices
        first: list[Stmt] = []
        if changes_test(test, then, otherwise, self.integers.may_overlap):
            stored = self._condition_variable()
            stmt = self._assign(stored, "=", test, "int", "int")
            first.append(replace(stmt, span=names.place(node.cond)))
            test, other = stored, Binary("==", stored, Int(0))
        choices = merged(test, then, otherwise, self.kinds)
        if choices is not None:
            return [*first, *choices]
        if not names.iterators:
            found = (conjunction((*self.asked, one)) for one in (test, other))
            names.asked_first |= {whole for whole in found if whole is not None}
        return [*first, *guarded(then, test), *guarded(otherwise, other)]

    def _under(self, test: Expr, node: Any) -> tuple[Stmt, ...]:
        """Return the statements of a branch that is taken where `test` holds."""
        self.asked.append(test)
        body = self.block([node])
        self.asked.pop()
        return body

    def _condition_variable(self) -> Var:
        """Return a new variable for a condition that its own branch changes."""
        self.conditions += 1
        name = f"{STORED}{self.conditions}"
        self.names.scalars[name] = Scalar(name, "int", is_local=True)
        return Var(name)

    def _loop(self, node: Any) -> list[Stmt]:
        names = self.names
        names.scopes.append({})
        before: list[Stmt] = []
        try:
            parts = split(node)
            decls = node.init.decls if isinstance(node.init, c_ast.DeclList) else ()
            for decl in decls:
                if parts is None or decl not in parts.before:
                    declare(decl, self.names)
            for part in parts.before if parts is not None else ():
                before += self.statement(part)
            own = header(node, self.expressions)
        except AnnotuneError:
            names.scopes.pop()
            self._look_inside(node)
            raise
        assert parts is not None
        body = declared_once(self._iterations(node, parts, own))
        names.scopes.pop()
        is_read = names.may_be_read_after(own.symbol)
        if not body and is_read and not names.iterators:
            # A formula can give what is left in the iterator.
            self.idle.add(own.symbol.name)
        if not body and not (is_read and names.iterators):
            return before
        self._own_iterator(own)
        span = names.file.source.span(node.coord.line, node.coord.column)
        return [*before, Loop(own.var, own.lower, own.upper, body, own.step, span=span)]

    def _own_iterator(self, own: Header) -> None:
        """Declare the iterator of a loop where it is not the user's, or not of its type."""
        scalars = self.names.scalars
        known = scalars.get(own.var) or Scalar(own.var, own.kind, is_local=True)
        scalars[own.var] = known if own.kind == own.symbol.base else replace(known, type=own.kind)

    def _iterations(self, node: Any, parts: Split, own: Header) -> tuple[Stmt, ...]:
        """Return the body of a loop, and leave the formulas that hold after it."""
        names, integers = self.names, self.integers
        block = c_ast.Compound([node.stmt, *parts.after]) if parts.after else node.stmt
        changed = integers.written_in(block) | {own.symbol.name, own.var}
        before = dict(names.formulas)
        kept = integers.surviving(before, changed)
        names.iterators.append(own.symbol.name)
        span = iterator_range(own, self.expressions)
        if span is not None:
            self.expressions.spans[own.var] = span
        steps = self._steps(block, own, before, kept, changed)
        distance = fold(Binary("-", Var(own.var), own.lower))
        inside = {
            name: integers.closed(name, before[name], by, distance, own)
            for name, by in steps.items()
        }
        self._enter(own, names.running(kept | inside, own.trips))
        body = self.block([block])
        names.iterators.pop()
        self.expressions.spans.pop(own.var, None)
        whole = fold(Binary("*", Int(own.step), times(own.trips, names)))
        names.formulas = kept | {
            name: integers.closed(name, before[name], by, whole, own) for name, by in steps.items()
        }
        names.formulas[own.symbol.name] = integers.left(own)
        return body

    def _enter(self, own: Header, formulas: dict[str, Formula]) -> None:
        names = self.names
        names.formulas = dict(formulas)
        if own.value != Var(own.symbol.name):
            names.formulas[own.symbol.name] = self.integers.inside(own)

    def _steps(
        self,
        block: Any,
        own: Header,
        before: dict[str, Formula],
        kept: dict[str, Formula],
        changed: frozenset[str],
    ) -> dict[str, Expr]:
        """Return the integers that every iteration of a loop moves by the same amount.

        The body is lowered once for that alone, with a name for what they start from.
        """
        candidates = self.integers.advancing(block, before)
        if not candidates:
            return {}
        names = self.names
        saved = (list(self.problems), self.next_number, self.conditions, set(names.needed))
        self._enter(own, kept)
        self.integers.probe(candidates)
        self.block([block])
        varying = changed | {f"annotune_{name}" for name in changed}
        steps = self.integers.increments(candidates, varying)
        self.problems, self.next_number, self.conditions, names.needed = saved
        return steps

    def _look_inside(self, node: Any) -> None:
        """Note the statements that no loop may hold, in a loop whose header is refused."""
        for inner in walk_tree(node.stmt):
            if type(inner) in _WORDS:
                problem = self._at_word(messages.CONTROL_FLOW, inner, _WORDS[type(inner)])
                self._note(problem.diagnostics)

    def _declaration(self, decl: Any) -> list[Stmt]:
        if decl.name is None:
            raise self.expressions.refuse(messages.STATEMENT, decl)
        symbol = declare(decl, self.names)
        target = c_ast.ID(decl.name, decl.coord)
        self.names.symbol(target)
        if symbol.is_array:
            return self._array(symbol, decl.init)
        if decl.init is None:
            return []
        if isinstance(decl.init, c_ast.InitList):
            raise self.expressions.refuse(messages.STATEMENT, decl.init)
        return self._assignment(target, target, "=", decl.init)

    def _array(self, symbol: Symbol, init: Any) -> list[Stmt]:
        array = local_array(symbol, self.names)
        out: list[Stmt] = [array]
        try:
            values = [] if init is None else list(initial(array.name, array.extents, init))
        except ValueError:
            raise self.expressions.refuse(messages.STATEMENT, init) from None
        for element, value in values:
            out += self._assignment(value, element, "=", value)
        return out

    def _assignment(self, node: Any, target: Any, op: str, value: Any) -> list[Stmt]:
        """Return the statements for ``target op value``; no value stands for 1."""
        if op not in ASSIGNMENTS:
            raise self.expressions.refuse(messages.OPERATOR, node, op=op)
        # An integer variable's values are followed, however they change.
        is_followed = isinstance(target, c_ast.ID) and self.names.symbol(target).is_integer
        if op == "=" and not is_followed:
            op, value = compound(target, value)
        if isinstance(value, c_ast.Assignment):
            first = self._assignment(value, value.lvalue, value.op, value.rvalue)
            return first + self._store(node, target, op, value, self._result(value, first))
        return self._store(node, target, op, value, None)

    def _result(self, chained: Any, stmts: Sequence[Stmt]) -> Typed:
        """Return the value of an assignment inside another one: what its target holds then."""
        last = stmts[-1] if stmts else None
        if isinstance(last, Assign) and isinstance(last.value, Int | Real) and last.op == "=":
            kinds = self.kinds[last.number]
            if kinds.is_kept:
                return Typed(last.value, kinds.value)
        return self.expressions.value(chained.lvalue)

    def _store(
        self, node: Any, target: Any, op: str, value: Any, given: Typed | None
    ) -> list[Stmt]:
        """Return the statement that stores a value, which is `given` or that of the tree."""
        if isinstance(target, c_ast.ID):
            symbol = self.names.symbol(target)
            if symbol.is_array:
                raise self.expressions.refuse(messages.POINTER_CHANGES, target, name=symbol.name)
            place: Access | Var = Var(symbol.name, self.names.place(target))
            if symbol.is_integer:
                stored = self.integers.set(symbol, target, op, value, given)
                if stored is None:
                    return []
                stmt = self._assign(place, "=", stored.expr, symbol.base, stored.kind)
                return [replace(stmt, span=self.names.place(node))]
            self.names.use(symbol)
            base = symbol.base
        elif isinstance(target, c_ast.ArrayRef) or (
            isinstance(target, c_ast.UnaryOp) and target.op == "*"
        ):
            place, base = self.expressions.element(target)
        else:
            self.expressions.value(target)
            raise self.expressions.refuse(messages.STATEMENT, node)
        computed = given or (
            Typed(Int(1), "int") if value is None else self.expressions.value(value)
        )
        op, result = converted(node, place, base, op, computed, self.expressions)
        self.integers.forget({place.array if isinstance(place, Access) else place.name})
        stmt = self._assign(place, op, result.expr, base, result.kind)
        return [replace(stmt, span=self.names.place(node))]

    def _assign(self, place: Access | Var, op: str, value: Expr, target: str, kind: str) -> Assign:
        number = self.next_number
        self.next_number += 1
        is_kept = keeps_values(kind, target) or holds(target, value, self.expressions)
        self.kinds[number] = Kinds(target, kind, is_kept)
        return Assign(number, place, op, value).rewritten(self.names.value_left)
