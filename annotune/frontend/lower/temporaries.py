"""Values that a statement sets aside for itself, put where they are read.

``z = (d__1 = x[i] - y[i], abs(d__1))`` becomes ``z = abs(x[i] - y[i])``, and
``d__2 = x[i], d__3 = y[i]; z = max(d__2, d__3)`` becomes ``z = max(x[i], y[i])``: what f2c writes
for `ABS`, `MAX`, and arguments that have no address. So does C's own
``double *r = A[i]; r[j] = 0;``, which is ``A[i][j] = 0``.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from pycparser import c_ast

from annotune.frontend.lower.around import Stability
from annotune.frontend.lower.expressions import Expressions
from annotune.frontend.lower.integers import Integers
from annotune.frontend.lower.members import PointerText, set_pointers
from annotune.frontend.lower.names import Names
from annotune.frontend.read.syntax import (
    assigned_in,
    base_of,
    changed_by,
    names_in,
    text_of,
    walk_tree,
)
from annotune.frontend.types.symbols import INTEGERS, REALS, Symbol
from annotune.ir.c_types import StoredName, may_share

# f2c's temporaries for reals; those for integers are formulas, and those it shares with C's
# programmers are known by where they are assigned.
_OF_F2C = re.compile(r"[dr]__\d+")
# A longer expression is a variable of the nest.
_LONGEST = 400
_AUTOMATIC = frozenset({"local", "parameter"})
_JUMPS = (c_ast.Break, c_ast.Continue, c_ast.Goto)


def forwarded(statements: Sequence[c_ast.Node], names: Names) -> Sequence[c_ast.Node]:
    """Return `statements` with the value of each temporary in the place of every read of it.

    A temporary is an automatic variable without a second name, which nothing reads after the
    region, and which is f2c's or assigned inside an expression. Its value may stand for it where,
    on every way to the read, the last assignment is the same one, and nothing changes in between
    what the value is made of: then C computes the same (C11 5.1.2.3), converted to the variable's
    type. Operands of one operator are read in the order of the text; where another order gave
    another value, C gives none (6.5). A temporary of which one read is no such one stays a
    variable. The given trees stay as they are.
    """
    made, _ = _settled(_Forwarding, _candidates(statements, names), statements, names)
    return made


def with_rows(
    statements: Sequence[c_ast.Node], names: Names
) -> tuple[Sequence[c_ast.Node], PointerText]:
    """Return `statements` with ``A[i][j]`` for ``r[j]`` after ``double *r = A[i];``.

    A row is what a pointer is set to that is no number of elements from a plain array: a part of an
    array of rows, a member of a struct in an array, one of several pointers. Arrays do not move, so
    its address follows from the integers and pointers that the expression reads. It stands for the
    pointer where on every way to the read the last assignment is the same one, and nothing in
    between changes what it reads (C11 6.5.6, 6.5.16). What it reads of pointers in memory must stay
    throughout the region, which is asked of all that a region's expressions read. A pointer that
    moves, or of which one read is no such one, stays one. The region's text still sets all of them.
    """
    block = c_ast.Compound(list(statements))
    pointers = [
        symbol
        for symbol in set_pointers(block, statements, names)
        if symbol.name not in names.given.live_after or symbol.storage == "region"
    ]
    if not pointers:
        return statements, PointerText()
    made, found = _settled(_RowForwarding, pointers, statements, names)
    outer = [name for name, symbol in found.items() if symbol.storage != "region"]
    types = {n.name: n.type for n in walk_tree(names.function.tree) if isinstance(n, c_ast.Decl)}
    texts = [text_of(c_ast.Decl(n, [], [], [], [], types[n], None, None)) for n in outer]
    # A row stands where the pointer is set: no text around its use is that of an expression.
    return made, PointerText(outer, [(text, None) for text in texts], is_moved=bool(found))


def _settled(
    kind: type[_Forwarding],
    candidates: Iterable[Symbol],
    statements: Sequence[c_ast.Node],
    names: Names,
) -> tuple[Sequence[c_ast.Node], dict[str, Symbol]]:
    """Return `statements` with values in the place of those variables that have one at each read.

    These variables are returned, too.
    """
    left = {symbol.name: symbol for symbol in candidates}
    while left:
        pass_ = kind(left, names)
        made = [part for statement in statements for part in pass_.statement(statement)]
        if not pass_.failed:
            return made, left
        left = {n: s for n, s in left.items() if n not in pass_.failed}
    return statements, left


def _candidates(statements: Sequence[c_ast.Node], names: Names) -> Iterator[Symbol]:
    block = c_ast.Compound(list(statements))
    declared = {n.name for n in walk_tree(block) if isinstance(n, c_ast.Decl)}
    nested = set(_assigned_in_expressions(block))
    asked = [n for n in assigned_in(block) if n in nested or _OF_F2C.fullmatch(n)]
    if not asked:
        return
    stability = Stability.of(names)
    for name in asked:
        symbol = names.find(name)
        if symbol is None or symbol.is_array or symbol.special or name in declared:
            continue
        is_number = symbol.base in REALS or (symbol.base in INTEGERS and name in nested)
        is_own = symbol.storage in _AUTOMATIC and stability.is_alone(symbol)
        is_dead = not names.may_be_read_after(symbol)
        if is_number and is_own and is_dead and not stability.is_in_memory(symbol):
            yield symbol


def _assigned_in_expressions(node: c_ast.Node, is_inside: bool = False) -> Iterator[str]:
    """Yield the variables that are assigned where a value is asked for, but for ``a = b = c``."""
    match node:
        case c_ast.Assignment(lvalue=c_ast.ID(name=name)) if is_inside:
            yield name
        case c_ast.Assignment(rvalue=c_ast.Assignment()):
            yield from _assigned_in_expressions(node.lvalue, True)
            yield from _assigned_in_expressions(node.rvalue)
            return
    for part, is_value in _parts(node):
        yield from _assigned_in_expressions(part, is_inside or is_value)


def _parts(node: c_ast.Node) -> Iterator[tuple[c_ast.Node, bool]]:
    """Yield the children of a node, and whether each is an expression whose value is used."""
    match node:
        case c_ast.For():
            for part in (node.init, node.next, node.stmt):
                if part is not None:
                    yield part, False
            if node.cond is not None:
                yield node.cond, True
        case c_ast.If():
            yield node.cond, True
            for part in (node.iftrue, node.iffalse):
                if part is not None:
                    yield part, False
        case c_ast.Compound() | c_ast.ExprList() | c_ast.DeclList() | c_ast.Label():
            yield from ((part, False) for part in node)
        case _:
            yield from ((part, True) for part in node)


class _Forwarding:
    """One pass over a region; `values` holds what each temporary is at the place reached.

    `failed` are the temporaries that have a read without one value.
    """

    def __init__(self, candidates: dict[str, Symbol], names: Names) -> None:
        self.candidates = candidates
        self.integers = Integers(Expressions(names))
        self.names = names
        self.values: dict[str, c_ast.Node] = {}
        self.failed: set[str] = set()

    def statement(self, node: c_ast.Node) -> list[c_ast.Node]:
        """Return what is left of a statement."""
        match node:
            case c_ast.Compound():
                items = [part for item in node.block_items or [] for part in self.statement(item)]
                self._hides(node.block_items or [])
                return [c_ast.Compound(items, node.coord)]
            case c_ast.ExprList() | c_ast.DeclList():
                return [part for item in node for part in self.statement(item)]
            case c_ast.If():
                return [self._branch(node)]
            case c_ast.For():
                return [self._loop(node)]
            case c_ast.Label():
                # A jump comes with other values.
                self.values.clear()
                inner = self.statement(node.stmt) or [c_ast.EmptyStatement(node.coord)]
                return [c_ast.Label(node.name, _one(inner), node.coord)]
            case c_ast.Assignment(lvalue=c_ast.ID(name=name)) if name in self.candidates:
                self.value(node)
                return []
            case c_ast.Decl():
                return self._declared(node)
            case c_ast.While() | c_ast.DoWhile() | c_ast.Switch():
                # Refused as a whole.
                self.failed.update(self.candidates.keys() & set(names_in(node)))
                return [node]
            case c_ast.EmptyStatement() | c_ast.Pragma() | c_ast.Typedef():
                return [node]
        return [node] if isinstance(node, _JUMPS) else [self.value(node)]

    def _declared(self, node: c_ast.Decl) -> list[c_ast.Node]:
        made = self.value(node)
        self._hides([node])
        return [made]

    def _hides(self, declared: Iterable[c_ast.Node]) -> None:
        """Forget the values that are made of what a block declares, as it begins or ends."""
        hidden = {node.name for node in declared if isinstance(node, c_ast.Decl)}
        for name in [n for n, v in self.values.items() if not hidden.isdisjoint(names_in(v))]:
            del self.values[name]

    def _branch(self, node: c_ast.If) -> c_ast.Node:
        cond, before = self.value(node.cond), dict(self.values)
        iftrue = _one(self.statement(node.iftrue))
        after, self.values = self.values, before
        iffalse = None if node.iffalse is None else _one(self.statement(node.iffalse))
        self._join(after)
        return c_ast.If(cond, iftrue, iffalse, node.coord)

    def _join(self, other: dict[str, c_ast.Node]) -> None:
        """Keep the values that are the same on another way to this place."""
        self.values = {n: v for n, v in self.values.items() if other.get(n) is v}

    def _loop(self, node: c_ast.For) -> c_ast.Node:
        """Return a loop, in which and after which what its iterations change is unknown."""
        for part in (node.init, node.next):
            self.failed.update(self.candidates.keys() & set(assigned_in(part)) if part else ())
        init = None if node.init is None else self._header(node.init)
        self._hides(node.init if isinstance(node.init, c_ast.DeclList) else ())
        for inner in walk_tree(c_ast.ExprList([n for n in node if n is not node.init])):
            target = changed_by(inner)
            if target is not None:
                self._changes(target)
        at_top = dict(self.values)
        cond = None if node.cond is None else self.value(node.cond)
        body = _one(self.statement(node.stmt))
        self.values = dict(at_top)
        last = None if node.next is None else self._header(node.next)
        self.values = at_top
        self._hides(node.init if isinstance(node.init, c_ast.DeclList) else ())
        return c_ast.For(init, cond, last, body, node.coord)

    def _header(self, node: c_ast.Node) -> c_ast.Node:
        """Return what starts or advances a loop: several expressions stay such."""
        return self._rebuilt(node) if isinstance(node, c_ast.ExprList) else self.value(node)

    def value(self, node: c_ast.Node) -> c_ast.Node:
        """Return an expression with what its temporaries stand for, and take in its effects."""
        match node:
            case c_ast.ID(name=name) if name in self.candidates:
                if name not in self.values:
                    self.failed.add(name)
                return self.values.get(name, node)
            case c_ast.ExprList():
                *others, last = [self.value(part) for part in node]
                left = [part for part in others if _has_effects(part)]
                return c_ast.ExprList([*left, last], node.coord) if left else last
            case c_ast.Assignment(op=op, lvalue=c_ast.ID(name=name)) if name in self.candidates:
                return self._set(node, name, op)
            case c_ast.Assignment():
                made = self._rebuilt(node)
                self._changes(node.lvalue)
                return made
            case c_ast.UnaryOp(op="sizeof") | c_ast.Typename() | c_ast.Constant():
                return node
            case c_ast.UnaryOp(expr=c_ast.ID(name=name)) if name in self.candidates:
                return self._unary(node, name)
            case c_ast.UnaryOp() if changed_by(node) is not None:
                made = self._rebuilt(node)
                self._changes(node.expr)
                return made
            case c_ast.TernaryOp():
                return self._chosen(node)
            case c_ast.BinaryOp(op="&&" | "||"):
                return self._connected(node)
            case c_ast.FuncCall(args=c_ast.ExprList() as args):
                given = c_ast.ExprList([self.value(part) for part in args], args.coord)
                return c_ast.FuncCall(node.name, given, node.coord)
            case c_ast.StructRef():
                return c_ast.StructRef(self.value(node.name), node.type, node.field, node.coord)
        return self._rebuilt(node)

    def _unary(self, node: c_ast.UnaryOp, name: str) -> c_ast.Node:
        if node.op == "&" or changed_by(node) is not None:
            self.failed.add(name)
            return node
        return c_ast.UnaryOp(node.op, self.value(node.expr), node.coord)

    def _set(self, node: c_ast.Assignment, name: str, op: str) -> c_ast.Node:
        """Take in the new value of a temporary, and return it."""
        value = self.value(node.rvalue)
        if op != "=":
            value = c_ast.BinaryOp(op[:-1], self.value(node.lvalue), value, node.coord)
        if _has_effects(value) or sum(1 for _ in walk_tree(value)) > _LONGEST:
            self.failed.add(name)
        self._changes(node.lvalue)
        symbol = self.candidates[name]
        self.values[name] = value if self._is_of(symbol.base, value) else _cast(symbol.base, value)
        return self.values[name]

    def _is_of(self, base: str, value: c_ast.Node) -> bool:
        """Return whether an element or a variable, or a cast, is of type `base`."""
        match value:
            case c_ast.Cast():
                return self.names.function.scope.types.scalar(value.to_type) == base
            case c_ast.ID(name=name) | c_ast.ArrayRef(name=c_ast.ID(name=name)):
                symbol = self.names.find(name)
                return symbol is not None and symbol.base == base
        return False

    def _chosen(self, node: c_ast.TernaryOp) -> c_ast.Node:
        cond = self.value(node.cond)
        before = dict(self.values)
        iftrue = self.value(node.iftrue)
        after, self.values = self.values, before
        iffalse = self.value(node.iffalse)
        self._join(after)
        return c_ast.TernaryOp(cond, iftrue, iffalse, node.coord)

    def _connected(self, node: c_ast.BinaryOp) -> c_ast.Node:
        """Return ``a && b`` or ``a || b``, of which b may not be computed."""
        left = self.value(node.left)
        before = dict(self.values)
        right = self.value(node.right)
        self._join(before)
        return c_ast.BinaryOp(node.op, left, right, node.coord)

    def _changes(self, target: c_ast.Node) -> None:
        """Forget the values that are made of what is changed."""
        base = base_of(target)
        changed = base.name if isinstance(base, c_ast.ID) else None
        is_stored = base is not target
        for name in [n for n, v in self.values.items() if self._is_touched(v, changed, is_stored)]:
            del self.values[name]
        if not is_stored:
            self.values.pop(changed or "", None)

    def _is_touched(self, value: c_ast.Node, changed: str | None, is_stored: bool) -> bool:
        read = set(names_in(value))
        if changed is None:
            # A member: through whatever pointer.
            return any(not isinstance(n, c_ast.Constant | c_ast.Cast) for n in walk_tree(value))
        overlaps = self.integers.may_overlap
        return changed in read or (is_stored and any(overlaps(name, changed) for name in read))

    def _rebuilt(self, node: c_ast.Node) -> c_ast.Node:
        """Return a node with what `value` makes of its children, in the order of the text."""
        made = copy.copy(node)
        for label, child in node.children():
            name, bracket, index = label.partition("[")
            new = self.value(child)
            if not bracket:
                setattr(made, name, new)
                continue
            if getattr(made, name) is getattr(node, name):
                setattr(made, name, list(getattr(node, name)))
            getattr(made, name)[int(index.rstrip("]"))] = new
        return made


class _RowForwarding(_Forwarding):
    """One pass over a region that puts rows in the place of pointers."""

    def __init__(self, candidates: dict[str, Symbol], names: Names) -> None:
        super().__init__(candidates, names)
        self.stability = Stability.of(names)

    def _declared(self, node: c_ast.Decl) -> list[c_ast.Node]:
        if node.name not in self.candidates:
            return super()._declared(node)
        self.values.pop(node.name, None)
        if node.init is not None:
            self._set(c_ast.Assignment("=", c_ast.ID(node.name), node.init), node.name, "=")
        return []

    def _header(self, node: c_ast.Node) -> c_ast.Node:
        # A pointer that a loop steps.
        declared = {n.name for n in walk_tree(node) if isinstance(n, c_ast.Decl)}
        self.failed.update(self.candidates.keys() & declared)
        return super()._header(node)

    def value(self, node: c_ast.Node) -> c_ast.Node:
        """Return an expression with rows in it."""
        match node:
            case c_ast.ID(name=name) if name in self.values and name in self.candidates:
                return copy.deepcopy(self.values[name])
            case c_ast.UnaryOp(op="sizeof"):
                self.failed.update(self.candidates.keys() & set(names_in(node)))
        return super().value(node)

    def _set(self, node: c_ast.Assignment, name: str, op: str) -> c_ast.Node:
        value = _plain_row(self.value(node.rvalue))
        self._changes(node.lvalue)
        is_row = value is not None and op == "=" and not _has_effects(value)
        if value is None or not is_row or not self._is_row(self.candidates[name], value):
            self.failed.add(name)
            return node
        self.values[name] = value
        return value

    def _is_row(self, pointer: Symbol, value: c_ast.Node) -> bool:
        """Return whether an expression is a row of what a pointer points to."""
        place = value
        while isinstance(place, c_ast.BinaryOp):
            place = place.left
        symbol = self.names.declared(place)
        if symbol is None or not symbol.layers or symbol.layers[0].kind == "()":
            return False
        if len(symbol.layers) == 1 and not any(True for _ in _numbers_of(place)):
            return False
        dims = [[text_of(x.dim) for x in s.layers[1:] if x.dim] for s in (symbol, pointer)]
        is_alike = symbol.base == pointer.base and symbol.record is pointer.record
        return is_alike and dims[0] == dims[1] and len(symbol.layers) == len(pointer.layers)

    def _is_touched(self, value: c_ast.Node, changed: str | None, is_stored: bool) -> bool:
        if not is_stored and changed is not None:
            return changed in names_in(value)
        for part in walk_tree(c_ast.ExprList([*_numbers_of(value)])):
            match part:
                case c_ast.StructRef() | c_ast.UnaryOp(op="*"):
                    return True
                case c_ast.ArrayRef(name=c_ast.ID(name=name)):
                    if self._may_be_stored(name, changed):
                        return True
                case c_ast.ID(name=name):
                    symbol = self.names.find(name)
                    if symbol is not None and self.stability.is_in_memory(symbol):
                        return True
        return False

    def _may_be_stored(self, name: str, changed: str | None) -> bool:
        """Return whether a store through `changed`, which any pointer may be, may be to `name`."""
        pair = [
            self.candidates.get(one or "", self.names.find(one or "")) for one in (name, changed)
        ]
        stored = [StoredName(one.base, is_pointer=True) for one in pair if one is not None]
        return name == changed or len(stored) < 2 or may_share(*stored)


def _plain_row(node: c_ast.Node) -> c_ast.Node | None:
    """Return a row, or a sum of one and numbers, None for what is no such expression."""
    match node:
        case c_ast.ID() | c_ast.StructRef() | c_ast.ArrayRef():
            return node
        case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef() as element):
            number = element.subscript
            is_first = isinstance(number, c_ast.Constant) and number.value == "0"
            inner = _plain_row(element.name)
            if inner is None or is_first:
                return inner
            return c_ast.BinaryOp("+", inner, number, node.coord)
        case c_ast.BinaryOp(op="+" | "-"):
            inner = _plain_row(node.left)
            return None if inner is None else c_ast.BinaryOp(node.op, inner, node.right, node.coord)
    return None


def _numbers_of(row: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield what a row's address is made of beside an array."""
    match row:
        case c_ast.BinaryOp():
            yield row.right
            yield from _numbers_of(row.left)
        case c_ast.ArrayRef():
            yield row.subscript
            yield from _numbers_of(row.name)
        case c_ast.StructRef(name=inner) | c_ast.UnaryOp(op="*", expr=inner):
            yield from _numbers_of(inner)
        case c_ast.ID():
            pass
        case _:
            yield row


def _has_effects(node: c_ast.Node) -> bool:
    """Return whether an expression changes anything; calls that may are refused elsewhere."""
    return any(changed_by(inner) is not None for inner in walk_tree(node))


def _one(statements: Collection[c_ast.Node]) -> c_ast.Node:
    """Return statements as one."""
    return next(iter(statements)) if len(statements) == 1 else c_ast.Compound([*statements])


def _cast(base: str, value: c_ast.Node) -> c_ast.Node:
    type_ = c_ast.TypeDecl(None, [], [], c_ast.IdentifierType(base.split()))
    return c_ast.Cast(c_ast.Typename(None, [], [], type_), value)
