"""``if`` and ``else`` as guards of their statements, or as a choice of values.

There is no branch in a nest: each statement says when it runs. Where both branches set the same
places, each place is set to a choice, so that it is written in every iteration; and
``if (x > m) m = x;`` is a maximum.

The statements of a region turned into a nest, every independent refusal collected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, product

from pycparser import c_ast

from annotune.diagnostics import NOWHERE, AnnotuneError, Diagnostic, Span
from annotune.frontend import messages
from annotune.frontend.lower.expressions import Expressions, condition
from annotune.frontend.lower.integers import (
    ASSIGNMENTS,
    Integers,
    UserAssignment,
    compound,
    converted,
    holds,
    reads,
    with_starts,
)
from annotune.frontend.lower.loops import Header, Split, header, iterator_range, split, times
from annotune.frontend.lower.names import (
    IntegerFormula,
    Names,
    Sets,
    declare,
    fixed_extents,
)
from annotune.frontend.lower.rolling import rolled
from annotune.frontend.read.syntax import assigned_in, token_place, walk_tree
from annotune.frontend.types.kinds import COMPLEX, Typed, common, is_integer, keeps_values, promoted
from annotune.frontend.types.symbols import Symbol
from annotune.frozen import dataclass
from annotune.ir.ctype import named
from annotune.ir.expr import (
    Access,
    Binary,
    Call,
    Cast,
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
from annotune.ir.identity import once_for_each
from annotune.ir.nest import (
    STORED,
    Assign,
    LocalArray,
    Loop,
    Nest,
    Stmt,
    is_stored,
    walk_stmts,
)
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


def _merged(test: Expr, then: Stmt, otherwise: Stmt, kinds: Mapping[int, Kinds]) -> Stmt | None:
    one, other = _plain(then), _plain(otherwise)
    if one is None or other is None or one.target != other.target:
        return None
    a, b = (promoted(kinds[stmt.number].value) for stmt in (one, other))
    kind, base = common(a, b), kinds[one.number].target
    is_exact = a == b or (kind not in COMPLEX and keeps_values(a, kind) and keeps_values(b, kind))
    if is_exact:
        return replace(one, value=Select(test, one.value, other.value))
    if not (is_integer(a) and is_integer(b) and is_integer(promoted(base))):
        return None
    # C converts each to the target's type, while a choice would first convert one to the other's.
    first, second = (Cast(named(base), stmt.value) for stmt in (one, other))
    return replace(one, value=Select(test, first, second))


def _plain(stmt: Stmt) -> Assign | None:
    """Return an assignment that always runs and that the user wrote, None for other statements."""
    if isinstance(stmt, Assign) and stmt.op == "=" and stmt.guard is None:
        return None if is_stored(stmt) else stmt
    return None


def _extremum(test: Expr, then: Stmt, kinds: Mapping[int, Kinds]) -> Stmt | None:
    """Return ``if (x > m) m = x;`` as ``m = x > m ? x : m``, None for anything else."""
    stmt = _plain(then)
    match test:
        case Binary("<" | "<=" | ">" | ">=", left, right) if stmt is not None and left != right:
            if {left, right} == {stmt.value, stmt.target} and kinds[stmt.number].is_kept:
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


@once_for_each(1 << 12)
def _asks_more(condition: Expr) -> bool:
    """Return whether a condition reads memory, calls a function or may trap."""
    calls = any(isinstance(part, Call | Cast) for part in walk(condition))
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


_WORDS: dict[type[c_ast.Node], str] = {
    c_ast.Break: "break",
    c_ast.Continue: "continue",
    c_ast.Return: "return",
    c_ast.Goto: "goto",
    c_ast.While: "while",
    c_ast.DoWhile: "do",
    c_ast.Switch: "switch",
}
_OF_NAMES = frozenset(f"AT{number}" for number in range(120, 130))


def lower(statements: Sequence[c_ast.Node], names: Names) -> tuple[Nest, Names]:
    """Return the nest of a region's statements, and the names with what they use.

    An integer is taken for a formula until a use shows that none gives its value; then the
    region is lowered again with that integer as a variable.

    Raises:
        AnnotuneError: Something in the region is refused; it names every reason found.
    """
    block = c_ast.Compound(list(statements))
    loops = {id(n): s for n in walk_tree(block) if isinstance(n, c_ast.For) and (s := split(n))}
    declared = {s.var for s in loops.values() if isinstance(s.place, c_ast.Decl)}
    with_start = {
        n.name for n in walk_tree(block) if isinstance(n, c_ast.Decl) and n.init and n.name
    }
    sets = Sets(
        frozenset(assigned_in(block)) | with_start,
        frozenset(s.var for s in loops.values()) - declared,
    )
    while True:
        used = names.used.copy()
        own = replace(names, used=used, sets=sets, formulas=dict(names.formulas))
        lowering = _Statements()
        places = {s.var: s.place for s in loops.values()}
        body = lowering.region(statements, places, Expressions(own))
        more = sets.needed - sets.assigned or lowering.idle - sets.assigned
        if sets.asked - sets.continued:
            # What else was found to be needed had no value for these.
            sets = replace(sets, continued=frozenset(sets.asked), needed=set())
        elif more:
            sets = replace(sets, assigned=sets.assigned | more)
        else:
            break
        used.counted.clear()
        used.asked_first.clear()
    if lowering.problems:
        raise AnnotuneError(tuple(lowering.problems))
    exact = {number for number, one in lowering.kinds.items() if one.target == one.value}
    nest = Nest(_numbered(rolled(body, exact, own)))
    targets = (assign.target for assign in nest.assigns())
    set_ = {t.name if isinstance(t, Var) else t.array for t in targets}
    overlaps = Integers(Expressions(own)).may_overlap
    used.asked_first = {
        whole
        for whole in used.asked_first
        if not any(
            read == name or overlaps(read, name) for read in names_read(whole) for name in set_
        )
    }
    return nest, own


def _numbered(body: Sequence[Stmt]) -> tuple[Stmt, ...]:
    numbers = count()

    def renumber(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Loop):
            return replace(stmt, body=tuple(map(renumber, stmt.body)))
        return replace(stmt, number=next(numbers)) if isinstance(stmt, Assign) else stmt

    return tuple(map(renumber, body))


class _Statements:
    """What a pass over a region's statements finds; each is lowered where `here` stands."""

    def __init__(self, conditions: int = 0) -> None:
        self.conditions = conditions
        self.problems: list[Diagnostic] = []
        self.kinds: dict[int, Kinds] = {}
        # Iterators of loops that do nothing, once no integer needs a statement any more.
        self.idle: set[str] = set()

    def region(
        self,
        statements: Sequence[c_ast.Node],
        places: Mapping[str, c_ast.Node],
        here: Expressions,
    ) -> tuple[Stmt, ...]:
        """Return the statements of the region, and those for integers that live on."""
        integers = Integers(here)
        integers.begin()
        body = list(self.block(statements, here))
        left: list[Assign] = []
        try:
            for symbol, value in integers.finish(places):
                span = body[-1].span if body and isinstance(body[-1], Assign | Loop) else None
                place, base = Var(symbol.name), symbol.base
                left.append(self._assign(place, "=", value, base, base, span or NOWHERE, here))
        except AnnotuneError as refusal:
            self._note(refusal.diagnostics)
        return (*body, *left) if self.problems else with_starts(tuple(body), left, here.names)

    def block(self, items: Sequence[c_ast.Node], here: Expressions) -> tuple[Stmt, ...]:
        """Return the statements of a block, in a scope of their own."""
        inner = Expressions(here.names.block())
        return tuple(stmt for item in items for stmt in self.statement(item, inner))

    def statement(self, node: c_ast.Node, here: Expressions) -> list[Stmt]:
        """Return what a statement becomes; a refusal is noted, and the next one tried."""
        try:
            return self._statement(node, here)
        except AnnotuneError as refusal:
            self._note(refusal.diagnostics)
            return []

    def _note(self, problems: Sequence[Diagnostic]) -> None:
        """Keep the problems that are new: what is wrong with a name is said once."""
        for problem in problems:
            known = [p for p in self.problems if p.message == problem.message]
            if not known or (problem.code not in _OF_NAMES and problem not in known):
                self.problems.append(problem)

    def _statement(self, node: c_ast.Node, here: Expressions) -> list[Stmt]:
        match node:
            case c_ast.EmptyStatement() | c_ast.Pragma() | c_ast.Typedef():
                return []
            case c_ast.Compound():
                return list(self.block(node.block_items or [], here))
            case c_ast.For():
                return self._loop(node, here)
            case c_ast.If():
                return self._branch(node, here)
            case c_ast.DeclList() | c_ast.ExprList():
                return [s for part in node for s in self.statement(part, here)]
            case c_ast.Decl():
                return self._declaration(node, here)
            case c_ast.Assignment():
                one = UserAssignment(node, node.lvalue, node.op, node.rvalue)
                return self._assignment(one, here)
            case c_ast.UnaryOp(op="++" | "p++"):
                return self._assignment(UserAssignment(node, node.expr, "+=", None), here)
            case c_ast.UnaryOp(op="--" | "p--"):
                return self._assignment(UserAssignment(node, node.expr, "-=", None), here)
            case c_ast.Label():
                # A label that is left is refused with the jumps to it.
                return self.statement(node.stmt, here)
        if type(node) in _WORDS:
            raise _at_word(node, _WORDS[type(node)], here)
        # A call, a member or a condition used as a statement says itself why it is refused.
        here.value(node)
        raise here.refuse(messages.STATEMENT, node)

    def _branch(self, node: c_ast.If, here: Expressions) -> list[Stmt]:
        names, integers = here.names, Integers(here)
        test = names.resolved(condition(node.cond, True, here))
        other = names.resolved(condition(node.cond, False, here))
        if isinstance(test, Int):
            taken = node.iftrue if test.value else node.iffalse
            return [] if taken is None else list(self.block([taken], here))
        for loop in (split(n) for n in walk_tree(node) if isinstance(n, c_ast.For)):
            symbol = names.find(loop.var) if loop is not None else None
            if symbol is not None and names.may_be_read_after(symbol):
                # What the loop leaves in it depends on the condition.
                names.sets.needed.add(symbol.name)
        yes, no = names.branch(test), names.branch(other)
        then = self.block([node.iftrue], Expressions(yes))
        otherwise: tuple[Stmt, ...] = ()
        if node.iffalse is not None:
            otherwise = self.block([node.iffalse], Expressions(no))
        written = integers.written_in(node)
        chosen = integers.chosen(test, yes.formulas, no.formulas, written)
        names.leaves(integers.surviving(names.formulas, written) | chosen)
        choices = merged(test, then, otherwise, self.kinds) if len(then) == 1 else None
        if choices is not None:
            return choices
        first: list[Stmt] = []
        if changes_test(test, then, otherwise, integers.may_overlap):
            stored, span = self._condition_variable(names), names.place(node.cond)
            first.append(self._assign(stored, "=", test, "int", "int", span, here))
            test, other = stored, Binary("==", stored, Int(0))
        choices = merged(test, then, otherwise, self.kinds)
        if choices is not None:
            return [*first, *choices]
        if not names.iterators:
            found = (conjunction((*names.asked, one)) for one in (test, other))
            names.used.asked_first |= {whole for whole in found if whole is not None}
        return [*first, *guarded(then, test), *guarded(otherwise, other)]

    def _condition_variable(self, names: Names) -> Var:
        self.conditions += 1
        name = f"{STORED}{self.conditions}"
        names.used.scalars[name] = Scalar(name, "int", is_local=True)
        return Var(name)

    def _loop(self, node: c_ast.For, outside: Expressions) -> list[Stmt]:
        here = Expressions(outside.names.block())
        names = here.names
        before: list[Stmt] = []
        try:
            parts = split(node)
            decls = node.init.decls if isinstance(node.init, c_ast.DeclList) else ()
            for decl in decls:
                if isinstance(decl, c_ast.Decl) and (parts is None or decl not in parts.before):
                    declare(decl, names)
            for part in parts.before if parts is not None else ():
                before += self.statement(part, here)
            own = header(node, here)
        except AnnotuneError:
            self._look_inside(node, here)
            raise
        assert parts is not None
        body = declared_once(self._iterations(node, parts, own, here))
        is_read = names.may_be_read_after(own.symbol)
        if not body and is_read and not names.iterators:
            # A formula can give what is left in the iterator.
            self.idle.add(own.symbol.name)
        if not body and not (is_read and names.iterators):
            return before
        # The iterator of a loop may not be the user's, or not of its type.
        scalars = names.used.scalars
        known = scalars.get(own.var) or Scalar(own.var, own.kind, is_local=True)
        scalars[own.var] = known if own.kind == own.symbol.base else replace(known, type=own.kind)
        span = names.function.file.source.span(*token_place(node))
        return [*before, Loop(own.var, own.lower, own.upper, body, own.step, span=span)]

    def _iterations(
        self, node: c_ast.For, parts: Split, own: Header, here: Expressions
    ) -> tuple[Stmt, ...]:
        """Return the body of a loop, and leave the formulas that hold after it."""
        names, integers = here.names, Integers(here)
        block = c_ast.Compound([node.stmt, *parts.after]) if parts.after else node.stmt
        changed = integers.written_in(block) | {own.symbol.name, own.var}
        before = dict(names.formulas)
        kept = integers.surviving(before, changed)
        span = iterator_range(own, names)
        inside = replace(
            names,
            iterators=(*names.iterators, own.symbol.name),
            spans={**names.spans, own.var: span} if span is not None else names.spans,
        )
        steps, ends = self._steps(block, own, inside, kept, changed)
        distance = fold(Binary("-", Var(own.var), own.lower))
        moving = Integers(Expressions(inside))
        moved = {
            name: moving.closed(name, before[name], by, distance, own) for name, by in steps.items()
        }
        moved |= _followed(moving, before, ends, Var(own.var), own)
        body = self.block([block], _entered(own, inside, names.running(kept | moved, own.trips)))
        whole = fold(Binary("*", Int(own.step), times(own.trips, names)))
        after = {
            name: integers.closed(name, before[name], by, whole, own) for name, by in steps.items()
        }
        after |= _followed(integers, before, ends, fold(Binary("+", own.lower, whole)), own)
        names.leaves(kept | after | {own.symbol.name: integers.left(own)})
        return body

    def _steps(
        self,
        block: c_ast.Node,
        own: Header,
        inside: Names,
        kept: Mapping[str, IntegerFormula],
        changed: frozenset[str],
    ) -> tuple[dict[str, Expr], dict[str, Expr]]:
        """Return by how much each iteration of a loop moves integers, and what it leaves in others.

        The body is lowered once for that alone, with a name for what they start from.
        """
        advancing = Integers(Expressions(inside)).advancing(block, inside.formulas)
        following = Integers(Expressions(inside)).following(block, inside.formulas) - advancing
        candidates = advancing | following
        if not candidates:
            return {}, {}
        # What the trial needs, the lowering itself will need again if it is so.
        tried = replace(inside, sets=replace(inside.sets, needed=set()))
        here = _entered(own, tried, kept)
        integers = Integers(here)
        integers.probe(candidates)
        _Statements(self.conditions).block([block], here)
        varying = changed | {f"annotune_{n}" for n in changed}
        return integers.increments(advancing, varying, own), integers.ends(following, own)

    def _look_inside(self, node: c_ast.For, here: Expressions) -> None:
        """Note the statements that no loop may hold, in a loop whose header is refused."""
        for inner in walk_tree(node.stmt):
            if type(inner) in _WORDS:
                self._note(_at_word(inner, _WORDS[type(inner)], here).diagnostics)

    def _declaration(self, decl: c_ast.Decl, here: Expressions) -> list[Stmt]:
        if decl.name is None:
            raise here.refuse(messages.STATEMENT, decl)
        symbol = declare(decl, here.names)
        target = c_ast.ID(decl.name, decl.coord)
        here.names.symbol(target)
        if symbol.is_array:
            return self._array(symbol, decl.init, here)
        if decl.init is None:
            return []
        if isinstance(decl.init, c_ast.InitList):
            raise here.refuse(messages.STATEMENT, decl.init)
        return self._assignment(UserAssignment(target, target, "=", decl.init), here)

    def _array(self, symbol: Symbol, init: c_ast.Node | None, here: Expressions) -> list[Stmt]:
        fixed = fixed_extents(symbol, here.names)
        assert fixed is not None, "`declare` has accepted it"
        array = LocalArray(symbol.name, symbol.base, fixed)
        if init is None:
            return [array]
        try:
            values = list(initial(array.name, array.extents, init))
        except ValueError:
            raise here.refuse(messages.STATEMENT, init) from None
        out: list[Stmt] = [array]
        for element, value in values:
            out += self._assignment(UserAssignment(value, element, "=", value), here)
        return out

    def _assignment(self, one: UserAssignment, here: Expressions) -> list[Stmt]:
        if one.op not in ASSIGNMENTS:
            raise here.refuse(messages.OPERATOR, one.node, op=one.op)
        target = one.target
        # An integer variable's values are followed, however they change.
        is_followed = isinstance(target, c_ast.ID) and here.names.symbol(target).is_integer
        if one.op == "=" and one.value is not None and not is_followed:
            op, value = compound(target, one.value)
            one = replace(one, op=op, value=value)
        chained, first = one.value, list[Stmt]()
        if isinstance(chained, c_ast.Assignment):
            inner = UserAssignment(chained, chained.lvalue, chained.op, chained.rvalue)
            first = self._assignment(inner, here)
            one = replace(one, given=self._result(chained, first, here))
        return first + self._store(one, here)

    def _result(self, chained: c_ast.Assignment, stmts: Sequence[Stmt], here: Expressions) -> Typed:
        """Return the value of an assignment inside another one: what its target holds then."""
        last = stmts[-1] if stmts else None
        if isinstance(last, Assign) and isinstance(last.value, Int | Real) and last.op == "=":
            kinds = self.kinds[last.number]
            if kinds.is_kept:
                return Typed(last.value, kinds.value)
        return here.value(chained.lvalue)

    def _store(self, one: UserAssignment, here: Expressions) -> list[Stmt]:
        """Return the statement that stores a value, none where a formula has it."""
        names, integers, target = here.names, Integers(here), one.target
        place: Access | Var
        match target:
            case c_ast.ID():
                symbol = names.symbol(target)
                if symbol.is_array:
                    raise here.refuse(messages.POINTER_CHANGES, target, name=symbol.name)
                place, base = Var(symbol.name, names.place(target)), symbol.base
                if symbol.is_integer:
                    new = integers.set(symbol, one)
                    if new is None:
                        return []
                    span = names.place(one.node)
                    return [self._assign(place, "=", new.expr, base, new.kind, span, here)]
                names.use(symbol)
            case c_ast.ArrayRef() | c_ast.UnaryOp(op="*"):
                place, base = here.element(target)
            case _:
                here.value(target)
                raise here.refuse(messages.STATEMENT, one.node)
        op, result = converted(one, place, base, here)
        integers.forget({place.array if isinstance(place, Access) else place.name})
        span = names.place(one.node)
        return [self._assign(place, op, result.expr, base, result.kind, span, here)]

    def _assign(
        self,
        place: Access | Var,
        op: str,
        value: Expr,
        target: str,
        kind: str,
        span: Span,
        here: Expressions,
    ) -> Assign:
        """Return the statement that stores a value of type `kind` in a place of type `target`."""
        number = len(self.kinds)
        is_kept = keeps_values(kind, target) or holds(target, value, here.names)
        self.kinds[number] = Kinds(target, kind, is_kept)
        return Assign(number, place, op, value, span=span).rewritten(here.names.value_left)


def _followed(
    integers: Integers,
    before: Mapping[str, IntegerFormula],
    ends: Mapping[str, Expr],
    at: Expr,
    own: Header,
) -> dict[str, IntegerFormula]:
    """Return the integers that iterations leave in `ends`, as they are before iteration `at`."""
    found = {name: integers.followed(before[name], end, at, own) for name, end in ends.items()}
    return {name: formula for name, formula in found.items() if formula is not None}


def _at_word(node: c_ast.Node, word: str, here: Expressions) -> AnnotuneError:
    span = here.names.function.file.source.span(*token_place(node))
    template = messages.UNCOUNTED if word in ("while", "do") else messages.CONTROL_FLOW
    return AnnotuneError.of(template.at(span, word=word))


def _entered(own: Header, inside: Names, formulas: Mapping[str, IntegerFormula]) -> Expressions:
    """Return the place at the start of a loop's iteration, where `formulas` hold."""
    here = Expressions(replace(inside, formulas=dict(formulas)))
    if own.value != Var(own.symbol.name):
        here.names.formulas[own.symbol.name] = Integers(here).inside(own)
    return here


def declared_once(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Return a loop's body with one declaration of each array that several of its blocks have.

    A nest has no blocks of its own. The arrays of one name are alike, and start without values.
    """
    seen: set[str] = set()
    kept: list[Stmt] = []
    for stmt in body:
        if not isinstance(stmt, LocalArray) or stmt.name not in seen:
            kept.append(stmt)
        if isinstance(stmt, LocalArray):
            seen.add(stmt.name)
    return tuple(kept)


def initial(
    name: str, shape: tuple[int, ...], init: c_ast.Node
) -> Iterator[tuple[c_ast.Node, c_ast.Node]]:
    """Yield each element of an array with the expression that ``{…}`` starts it with.

    What the braces leave out starts at 0 (C11 6.7.9).

    Raises:
        ValueError: The braces name elements, hold too many, or nest otherwise than the array.
    """
    for places in product(*map(range, shape)):
        element: c_ast.Node = c_ast.ID(name, init.coord)
        for place in places:
            element = c_ast.ArrayRef(element, c_ast.Constant("int", str(place)), init.coord)
        yield element, _start_of(init, shape, places)


def _start_of(init: c_ast.Node, shape: tuple[int, ...], places: tuple[int, ...]) -> c_ast.Node:
    for length, place in zip(shape, places, strict=True):
        if not isinstance(init, c_ast.InitList) or len(init.exprs) > length:
            raise ValueError
        if any(isinstance(e, c_ast.NamedInitializer) for e in init.exprs):
            raise ValueError
        if place >= len(init.exprs):
            return c_ast.Constant("int", "0", init.coord)
        init = init.exprs[place]
    if isinstance(init, c_ast.InitList):
        raise ValueError
    return init
