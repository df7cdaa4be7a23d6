"""Pointers that a region moves, as an array and an integer: ``*p++ = x`` is ``a[p_at++] = x``.

A pointer that all of a region's assignments make of one array, ``p = a + i*n``, ``p++``,
``p += ld``, is that array and a number of elements, which is a ``long`` of the region. C's rules
for pointers (6.5.6) are those of such a number: what is added to a pointer is a number of elements,
and pointers into one array compare, and differ, as their numbers do. No pointer of a program that C
defines leaves its array, so that the ``long`` does not overflow. What moves in the middle of an
expression is moved before or behind its statement: C lets no other part of it read the pointer.

A pointer that is what it was before the region, and then moves, walks from there: ``p_from`` is its
value at the start. One that is read after the region is given back what it has there.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence

from pycparser import c_ast
from pycparser.c_parser import Coord

from annotune.frontend.lower.around import Stability, read_before_set
from annotune.frontend.lower.members import (
    AliasTable,
    ElementMembers,
    PointerText,
    set_pointers,
)
from annotune.frontend.lower.steps import always
from annotune.frontend.read.function_index import index_of
from annotune.frontend.read.syntax import (
    CHANGES,
    STEPS,
    changed_by,
    names_in,
    offset,
    text_of,
    token_place,
    walk_tree,
)
from annotune.frontend.types.kinds import ELEMENTS
from annotune.frontend.types.symbols import Layer, Symbol
from annotune.frozen import dataclass
from annotune.ir.expr import COMPARISONS
from annotune.ir.region import Alias


class _NotFollowed(Exception):
    """A use of pointer `name` that no integer stands for."""

    def __init__(self, name: str) -> None:
        self.name = name


@dataclass(frozen=True, slots=True)
class _Followed:
    """A pointer that moves: `root` is the array, `index` the integer, `start` where it begins.

    `start` is None where the region sets it before it reads it.
    """

    symbol: Symbol
    index: str
    root: c_ast.Node
    start: c_ast.Node | None
    is_live: bool


class MovedPointers:
    """The pointers that a region moves."""

    def __init__(
        self, table: AliasTable, statements: Sequence[c_ast.Node], text: PointerText
    ) -> None:
        self.table = table
        self.text = text
        self.names = table.names
        self.statements = statements
        self.types = table.names.function.scope.types
        self.members = ElementMembers(table)
        self.stability: Stability | None = None

    def replace(self, block: c_ast.Compound) -> c_ast.Compound:
        """Return a block in which integers move, and note what its text needs for it."""
        candidates = {symbol.name: symbol for symbol in self._candidates(block)}
        while candidates:
            try:
                followed = self._followed(block, candidates)
                made = _Rewriting(followed).block(copy.deepcopy(block))
            except _NotFollowed as one:
                del candidates[one.name]
                continue
            return self._with_starts(made, followed)
        return block

    def _candidates(self, block: c_ast.Compound) -> Iterator[Symbol]:
        for symbol in set_pointers(block, self.statements, self.names):
            is_number = symbol.base in ELEMENTS or bool(self.types.name_of(symbol.record))
            if is_number and len(symbol.layers) == 1:
                yield symbol

    def _followed(
        self, block: c_ast.Compound, candidates: Mapping[str, Symbol]
    ) -> dict[str, _Followed]:
        """Return what each pointer walks through.

        Raises:
            _NotFollowed: One walks through several arrays, or through one that changes.
        """
        sources = {name: [*_sources(block, name)] for name in candidates}
        into = {name: [pointed_into(source) for source in sources[name]] for name in candidates}
        found: dict[str, _Followed] = {}
        while len(found) < len(candidates):
            waiting = [name for name in candidates if name not in found]
            left = set(waiting)
            ready = [n for n in waiting if not any(_name(r) in left - {n} for r in into[n])]
            name = (ready or waiting)[0]
            roots = dict(self._roots(name, into, candidates, found, set()))
            found[name] = self._one(candidates[name], into[name], roots)
        return found

    def _one(
        self, symbol: Symbol, into: Sequence[c_ast.Node | None], roots: dict[str, c_ast.Node]
    ) -> _Followed:
        """Return what a pointer walks through that is set `into` arrays, with these `roots`."""
        name, is_own = symbol.name, symbol.storage == "region"
        is_live = not is_own and name in self.names.given.live_after
        after = frozenset({name}) if is_live else frozenset()
        is_early = not is_own and name in read_before_set(self.statements, after)
        others = [root for root in into if _name(root) != name]
        start: c_ast.Node | None = None
        if is_early or not roots:
            before = self._before(symbol) if symbol.record is None else None
            first, start = before or self._own_start(symbol, bool(others))
            roots[text_of(first)] = first
        if len(roots) != 1:
            raise _NotFollowed(name)
        (root,) = roots.values()
        if isinstance(root, c_ast.StructRef) and len(others) > 1:
            # The text would need its plain name at each of these.
            raise _NotFollowed(name)
        return _Followed(symbol, self.table.fresh(f"{name} at"), root, start, is_live)

    def _roots(
        self,
        name: str,
        into: Mapping[str, Sequence[c_ast.Node | None]],
        candidates: Mapping[str, Symbol],
        found: Mapping[str, _Followed],
        seen: set[str],
    ) -> Iterator[tuple[str, c_ast.Node]]:
        """Yield the arrays that the sources of a pointer point into, by their C text."""
        seen.add(name)
        for root in into[name]:
            other = _name(root)
            if other in found:
                yield text_of(found[other].root), found[other].root
            elif other in candidates:
                if other not in seen:
                    yield from self._roots(other, into, candidates, found, seen)
            elif root is None or not self._is_alike(root, candidates[name]):
                raise _NotFollowed(name)
            else:
                yield text_of(root), root

    def _is_alike(self, root: c_ast.Node, pointer: Symbol) -> bool:
        """Return whether a variable or member is a plain sequence of what a pointer points to."""
        symbol = self.members.declared(root)
        if symbol is None or len(symbol.layers) != 1 or symbol.layers[0].kind == "()":
            return False
        return symbol.base == pointer.base and symbol.record is pointer.record

    def _own_start(self, symbol: Symbol, is_set: bool) -> tuple[c_ast.Node, c_ast.Node]:
        """Return where a pointer is before the region, as an array of its own."""
        if is_set or symbol.storage == "region":
            raise _NotFollowed(symbol.name)
        known = self.table.aliases.get(symbol.name)
        name = known.name if known is not None else self.table.fresh(f"{symbol.name} from")
        if known is None:
            restrict = " restrict" if symbol.is_restrict else ""
            declaration = f"{self._type(symbol)} *const{restrict} {name} = {symbol.name};"
            layers = (Layer("*", None, symbol.is_restrict),)
            start = Symbol(
                name,
                layers,
                symbol.base,
                is_known=True,
                storage="parameter",
                start=symbol.start,
                end=symbol.end,
                is_const=symbol.is_const,
                record=symbol.record,
            )
            self.table.declare(Alias(name, symbol.name, declaration), start)
        return c_ast.ID(name, self._first()), c_ast.Constant("long int", "0L")

    def _before(self, symbol: Symbol) -> tuple[c_ast.Node, c_ast.Node] | None:
        """Return the array and the number that one assignment before the region makes of it."""
        body, given = self.names.function.body, self.names.given
        self.stability = self.stability or Stability.of(self.names)
        top = {id(item) for item in body.block_items or []}
        values: list[tuple[c_ast.Node | None, int]] = []
        for node in index_of(body).nodes:
            match node:
                case c_ast.Decl(name=name, init=c_ast.Node() as value) if name == symbol.name:
                    values.append((value if id(node) in top else None, offset(node)))
                case _:
                    target = changed_by(node, CHANGES)
                    if not isinstance(target, c_ast.ID) or target.name != symbol.name:
                        continue
                    is_sure = isinstance(node, c_ast.Assignment) and id(node) in top
                    given_value = node.rvalue if isinstance(node, c_ast.Assignment) else None
                    is_plain = is_sure and getattr(node, "op", "") == "="
                    values.append((given_value if is_plain else None, offset(target)))
        early = [(value, place) for value, place in values if place < given.start]
        if len(early) != 1 or self.stability.loops or symbol.storage != "local":
            return None
        ((source, place),) = early
        if source is None:
            return None
        root = pointed_into(source)
        if not isinstance(root, c_ast.ID) or not self._is_alike(root, symbol):
            return None
        owner = self.names.find(root.name)
        if owner is None or self.names.function.changes.get(root.name, -1) >= place:
            return None
        is_fixed = owner.layers[0].kind == "[]" and owner.storage != "parameter"
        if not self.stability.is_alone(owner) or (owner.storage == "file" and not is_fixed):
            return None
        number = _distance(copy.deepcopy(source), {})
        if not all(self.stability.keeps(part, place) for part in _numbers(source)):
            return None
        return c_ast.ID(root.name, self._first()), number

    def _type(self, symbol: Symbol) -> str:
        plain = self.types.name_of(symbol.record) or symbol.base.replace("complex", "_Complex")
        return f"const {plain}" if symbol.is_const else plain

    def _first(self) -> Coord:
        start, end = token_place(next(n for n in walk_tree(self.statements[0]) if n.coord))
        return Coord("", start, end)

    def _with_starts(
        self, block: c_ast.Compound, followed: Mapping[str, _Followed]
    ) -> c_ast.Compound:
        text = self.text
        first: list[c_ast.Node] = []
        for name, one in followed.items():
            storage = "local" if one.is_live else "region"
            symbol = Symbol(
                one.index,
                (),
                "long",
                is_known=True,
                storage=storage,
                start=one.symbol.start,
                end=one.symbol.end,
            )
            place = self._first()
            self.names.scopes[0][one.index] = symbol
            if one.start is not None:
                index = c_ast.ID(one.index, place)
                first.append(c_ast.Assignment("=", index, one.start, place))
            if one.symbol.storage == "region":
                continue
            text.names.append(name)
            text.is_moved = True
            from_ = copy.deepcopy(one.root)
            value = None if one.start is None else c_ast.BinaryOp("+", from_, one.start)
            text.starts.append((f"{self._type(one.symbol)} *{name}", value))
            if one.is_live:
                root = text_of(one.root)
                text.live.add(one.index)
                text.behind.append((one.index, name, copy.deepcopy(one.root)))
                declaration = f"long {one.index} = 0;"
                behind = f"{name} = {root} + {one.index};"
                alias = Alias(one.index, f"{name} - {root}", declaration, behind)
                self.table.declare(alias, symbol)
        return c_ast.Compound([*first, *(block.block_items or [])], block.coord)


def _sources(block: c_ast.Node, name: str) -> Iterator[c_ast.Node]:
    """Yield the expressions that a pointer is set to, but for its own moves."""
    for node in walk_tree(block):
        match node:
            case c_ast.Decl(name=own, init=c_ast.Node() as value) if own == name:
                yield value
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=own)) if own == name:
                yield node.rvalue


def pointed_into(node: c_ast.Node) -> c_ast.Node | None:
    """Return the array or pointer of ``a``, ``a + i``, ``&a[i]`` or a cast of these, else None."""
    match node:
        case c_ast.ID() | c_ast.StructRef():
            return node
        case c_ast.BinaryOp(op="+" | "-"):
            return pointed_into(node.left)
        case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef() as element):
            return pointed_into(element.name)
    return None


def _numbers(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield what is added to the array that an expression points into."""
    match node:
        case c_ast.BinaryOp():
            yield node.right
            yield from _numbers(node.left)
        case c_ast.UnaryOp(expr=c_ast.ArrayRef() as element):
            yield element.subscript
            yield from _numbers(element.name)


def _distance(node: c_ast.Node, followed: Mapping[str, _Followed]) -> c_ast.Node:
    """Return how many elements a pointer is behind the start of its array, as a ``long``."""
    match node:
        case c_ast.ID(name=name) if name in followed:
            return c_ast.ID(followed[name].index, node.coord)
        case c_ast.BinaryOp():
            inner = _distance(node.left, followed)
            return _sum(node.op, inner, node.right, node.coord)
        case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef() as element):
            inner = _distance(element.name, followed)
            return _sum("+", inner, element.subscript, node.coord)
    return c_ast.Constant("long int", "0L", node.coord)


def _sum(op: str, left: c_ast.Node, right: c_ast.Node, place: Coord | None) -> c_ast.Node:
    """Return ``left op right``, of which the left one is a ``long``."""
    if op == "+" and isinstance(left, c_ast.Constant):
        long = c_ast.TypeDecl(None, [], [], c_ast.IdentifierType(["long"]))
        return c_ast.Cast(c_ast.Typename(None, [], [], long), right, place)
    return c_ast.BinaryOp(op, left, right, place)


class _Rewriting:
    """The statements of a region with integers in the place of pointers."""

    def __init__(self, followed: Mapping[str, _Followed]) -> None:
        self.followed = followed

    def block(self, node: c_ast.Compound) -> c_ast.Compound:
        """Return a block in which integers move."""
        items = [part for item in node.block_items or [] for part in self.statement(item)]
        return c_ast.Compound(items, node.coord)

    def statement(self, node: c_ast.Node) -> list[c_ast.Node]:
        """Return what becomes of a statement."""
        match node:
            case c_ast.Compound():
                return [self.block(node)]
            case c_ast.ExprList() | c_ast.DeclList():
                return [part for item in node for part in self.statement(item)]
            case c_ast.For():
                return [self._loop(node)]
            case c_ast.If():
                first, cond, behind = self._moving(node.cond, is_kept=True)
                then = _one(self.statement(node.iftrue))
                other = None if node.iffalse is None else _one(self.statement(node.iffalse))
                return [*first, *behind, c_ast.If(cond, then, other, node.coord)]
            case c_ast.Label():
                inner = self.statement(node.stmt)
                return [c_ast.Label(node.name, _one(inner[:1]), node.coord), *inner[1:]]
            case c_ast.Decl(name=str() as name) if name in self.followed:
                if node.init is None:
                    return []
                return self._set(c_ast.Assignment("=", c_ast.ID(name, node.coord), node.init))
            case c_ast.Assignment(lvalue=c_ast.ID(name=name)) if name in self.followed:
                return self._set(node)
            case c_ast.UnaryOp(expr=c_ast.ID(name=name)) if name in self.followed and (
                node.op in STEPS
            ):
                return [c_ast.UnaryOp(node.op, self._index(name, node.expr), node.coord)]
            case c_ast.Assignment() | c_ast.UnaryOp() | c_ast.Decl():
                first, changed, behind = self._moving(node, is_kept=False)
                return [*first, changed, *behind]
        return [self._value(node)]

    def _index(self, name: str, place: c_ast.Node) -> c_ast.ID:
        return c_ast.ID(self.followed[name].index, place.coord)

    def _set(self, node: c_ast.Assignment) -> list[c_ast.Node]:
        target = node.lvalue
        assert isinstance(target, c_ast.ID)
        if node.op not in ("=", "+=", "-="):
            raise _NotFollowed(target.name)
        value = self._number(node.rvalue) if node.op == "=" else self._value(node.rvalue)
        return [c_ast.Assignment(node.op, self._index(target.name, target), value, node.coord)]

    def _number(self, node: c_ast.Node) -> c_ast.Node:
        """Return a pointer's value as a number, whose parts may read other pointers."""
        return self._value(_distance(node, self.followed))

    def _loop(self, node: c_ast.For) -> c_ast.Node:
        parts: list[c_ast.Node | None] = []
        for part in (node.init, node.next):
            made = self.statement(part) if part is not None else []
            several = c_ast.ExprList(made, part.coord if part is not None else None)
            parts.append(made[0] if len(made) == 1 else several if made else None)
        if isinstance(node.init, c_ast.DeclList) and not any(
            isinstance(decl, c_ast.Decl) and decl.name in self.followed for decl in node.init.decls
        ):
            parts[0] = node.init
        cond = None if node.cond is None else self._value(node.cond)
        body = _one(self.statement(node.stmt))
        return c_ast.For(parts[0], cond, parts[1], body, node.coord)

    def _moving(
        self, node: c_ast.Node, is_kept: bool
    ) -> tuple[list[c_ast.Node], c_ast.Node, list[c_ast.Node]]:
        """Return what moves before a statement, the statement, and what moves behind it.

        Where the statement `is_kept` for last, all moves stand before it.
        """
        first: list[c_ast.Node] = []
        behind: list[c_ast.Node] = []
        mentioned = [*names_in(node)]
        for step in [n for n in always(node) if self._is_step(n)]:
            assert isinstance(step, c_ast.UnaryOp)
            assert isinstance(step.expr, c_ast.ID)
            name = step.expr.name
            if mentioned.count(name) > 1:
                raise _NotFollowed(name)
            by = "+=" if "+" in step.op else "-="
            one = c_ast.Constant("int", "1", step.coord)
            move = c_ast.Assignment(by, self._index(name, step.expr), one, step.coord)
            is_first = is_kept or not step.op.startswith("p")
            (first if is_first else behind).append(move)
            if is_kept and step.op.startswith("p"):
                back = c_ast.BinaryOp("-" if by == "+=" else "+", step.expr, one, step.coord)
                step.op, step.expr = "+", back
            else:
                step.op = "+"
        return first, self._value(node), behind

    def _is_step(self, node: c_ast.Node) -> bool:
        target = node.expr if isinstance(node, c_ast.UnaryOp) and node.op in STEPS else None
        return isinstance(target, c_ast.ID) and target.name in self.followed

    def _value(self, node: c_ast.Node) -> c_ast.Node:
        """Return an expression in which arrays and integers stand for pointers."""
        match node:
            case c_ast.ID(name=name) if name in self.followed:
                root = copy.deepcopy(self.followed[name].root)
                return c_ast.BinaryOp("+", root, self._index(name, node), node.coord)
            case c_ast.UnaryOp(op="+", expr=inner) if _named(inner) & self.followed.keys():
                return self._value(inner)
            case c_ast.UnaryOp() if self._is_step(node):
                raise _NotFollowed(next(iter(_named(node.expr))))
            case c_ast.Assignment(lvalue=c_ast.ID(name=name)) if name in self.followed:
                raise _NotFollowed(name)
            case c_ast.BinaryOp(op=op) if op in COMPARISONS or op == "-":
                sides = [pointed_into(side) for side in (node.left, node.right)]
                if self._are_of_one(sides):
                    left, right = self._number(node.left), self._number(node.right)
                    return c_ast.BinaryOp(op, left, right, node.coord)
        if isinstance(node, c_ast.StructRef):
            node.name = self._value(node.name)
            return node
        for label, child in node.children():
            made = self._value(child)
            name, bracket, index = label.partition("[")
            if bracket:
                getattr(node, name)[int(index.rstrip("]"))] = made
            else:
                setattr(node, name, made)
        return node

    def _are_of_one(self, sides: Sequence[c_ast.Node | None]) -> bool:
        """Return whether two pointers, one of them followed, point into one array."""
        texts = []
        for side in sides:
            if side is None:
                return False
            name = side.name if isinstance(side, c_ast.ID) else ""
            texts.append(text_of(self.followed[name].root if name in self.followed else side))
        named = {side.name for side in sides if isinstance(side, c_ast.ID)}
        return texts[0] == texts[1] and not named.isdisjoint(self.followed)


def _name(node: c_ast.Node | None) -> str:
    return node.name if isinstance(node, c_ast.ID) else ""


def _named(node: c_ast.Node) -> set[str]:
    return set(names_in(node))


def _one(statements: Sequence[c_ast.Node]) -> c_ast.Node:
    if len(statements) == 1:
        return statements[0]
    return c_ast.Compound([*statements])
