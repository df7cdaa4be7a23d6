"""Which pointers may lie outside of their arrays, and what they were made of.

C wants a pointer to stay in its array or right behind it (C11 6.5.6). f2c moves each before its
first element (``--a``, ``a -= 1 + a_dim1``), and so do Numerical Recipes (``a - 1``). Such a value
does not tell the array: another one may lie there. So a pointer that arithmetic has made is known
by those that it was made of: parameters as they were given, arrays, and variables that keep their
value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import field
from enum import IntEnum
from itertools import takewhile
from typing import Self, TypeAlias

from pycparser import c_ast

from annotune.frontend.memory import Piece
from annotune.frontend.read.syntax import STEPS, changed_by, value_of_tree, walk_tree
from annotune.frozen import dataclass


class PointerPlace(IntEnum):
    """Where a pointer may be: in its array by C's rule, moved by an unknown number, or before it.

    Of one that is moved by an unknown number C's rule is still believed where nothing better is
    known. One that goes back may be before the first element.
    """

    INSIDE = 0
    MOVED = 1
    BEFORE = 2


@dataclass(frozen=True, slots=True)
class PointerVariable:
    """A variable of a function, or of the file where `function` is empty."""

    function: str
    name: str


@dataclass(frozen=True, slots=True)
class PassedPointer:
    """What calls in the file give a function as one of its parameters."""

    function: str
    number: int


@dataclass(frozen=True, slots=True)
class ReturnedPointer:
    """What a function returns."""

    function: str


@dataclass(frozen=True, slots=True)
class StoredPointer:
    """What is stored in members of a name; without one, in elements and behind pointers."""

    member: str


@dataclass(frozen=True, slots=True)
class PointerValue:
    """An expression of a function."""

    function: str
    node: c_ast.Node


PointerSource: TypeAlias = (
    PointerVariable | PassedPointer | ReturnedPointer | StoredPointer | PointerValue
)


@dataclass
class FunctionPointers:
    """What a function does with pointers: its body as one piece, and what it leaves elsewhere.

    `parameters` are in the order of the call. `moves` holds how far variables and members are moved
    where they are, and `stores` what is put into memory, by member. `fixed` are the variables that
    begin with their only value, once in a call.
    """

    name: str
    piece: Piece
    parameters: Sequence[str]
    fixed: frozenset[str]
    moves: dict[PointerVariable | StoredPointer, PointerPlace] = field(default_factory=dict)
    stores: dict[str, list[c_ast.Node]] = field(default_factory=dict)
    calls: dict[str, list[c_ast.FuncCall]] = field(default_factory=dict)
    results: list[c_ast.Node] = field(default_factory=list)

    @classmethod
    def of(cls, body: c_ast.Compound, name: str, piece: Piece, parameters: Sequence[str]) -> Self:
        """Return what a function's body does, in which each variable has a name of its own.

        Its `piece` is all of it.
        """
        top = body.block_items or []
        # A jump may skip what is declared behind it, or go back before what a label stands before.
        straight = takewhile(lambda item: not any(map(_is_jump, walk_tree(item))), top)
        begun = (d for d in straight if isinstance(d, c_ast.Decl) and d.init is not None)
        fixed = frozenset(d.name for d in begun if d.name)
        made = cls(name, piece, tuple(parameters), fixed)
        for node in walk_tree(body):
            made.add(node)
        return made

    def add(self, node: c_ast.Node) -> None:
        """Take in one node of the body."""
        match node:
            case c_ast.FuncCall(name=c_ast.ID(name=name)):
                self.calls.setdefault(name, []).append(node)
            case c_ast.Return(expr=c_ast.Node() as result):
                self.results.append(result)
            case c_ast.InitList():
                # Which member each is for is not asked.
                values = (n.expr if isinstance(n, c_ast.NamedInitializer) else n for n in node)
                self.stores.setdefault("", []).extend(values)
        target = changed_by(node)
        if target is None:
            return
        if isinstance(node, c_ast.Assignment) and node.op == "=":
            if not isinstance(target, c_ast.ID):
                self.stores.setdefault(_member_of(target), []).append(node.rvalue)
            return
        place = _move_of(node)
        moved: PointerVariable | StoredPointer = StoredPointer(_member_of(target))
        if isinstance(target, c_ast.ID):
            moved = PointerVariable(self.name, target.name)
        self.moves[moved] = max(place, self.moves.get(moved, PointerPlace.INSIDE))

    def is_pointer(self, node: c_ast.Node) -> bool:
        """Return whether an expression is an address, or may be one."""
        found = self.piece.typed(node)
        return found is None or bool(found.layers)

    def is_own(self, name: str) -> bool:
        return name in self.piece.own or name in self.parameters


@dataclass
class Origins:
    """Answers for the functions of one file.

    `named` yields those in whose text a name stands, None for one that cannot be read.
    """

    function: Callable[[str], FunctionPointers | None]
    named: Callable[[str], Iterator[FunctionPointers | None]]
    _known: dict[PointerSource, PointerPlace] = field(default_factory=dict)

    # Where a pointer may be -----------------------------------------------------------------

    def place_of(self, source: PointerSource) -> PointerPlace:
        """Return where what a source yields may be, whatever runs in the file."""
        if source not in self._known:
            waiting, seen, worst = [source], {source}, PointerPlace.INSIDE
            while waiting and worst < PointerPlace.BEFORE:
                for part in self._parts_of(waiting.pop()):
                    if isinstance(part, PointerPlace):
                        worst = max(worst, part)
                    elif part not in seen:
                        seen.add(part)
                        waiting.append(part)
            self._known[source] = worst
        return self._known[source]

    def place_of_stored(self, node: c_ast.Node) -> PointerPlace:
        """Return where a pointer may be that is read from memory."""
        return self.place_of(StoredPointer(_member_of(node)))

    def _parts_of(self, source: PointerSource) -> Iterator[PointerSource | PointerPlace]:
        """Yield what a source is made of, and how far it is moved itself."""
        match source:
            case PointerVariable(""):
                yield from self._parts_of_global(source.name)
            case PointerVariable():
                yield from self._parts_of_local(source)
            case PassedPointer(name, number):
                for caller in self.named(name):
                    if caller is None:
                        yield PointerPlace.BEFORE
                        continue
                    for call in caller.calls.get(name, ()):
                        given = call.args.exprs if call.args is not None else []
                        yield from (
                            PointerValue(caller.name, one) for one in given[number : number + 1]
                        )
            case ReturnedPointer(name):
                own = self.function(name)
                yield from (PointerValue(name, node) for node in (own.results if own else ()))
            case StoredPointer(member):
                yield from self._parts_of_stored(member)
            case PointerValue():
                yield from self._parts_of_value(source)

    def _parts_of_local(self, variable: PointerVariable) -> Iterator[PointerSource | PointerPlace]:
        own = self.function(variable.function)
        if own is None:
            yield PointerPlace.BEFORE
            return
        name = variable.name
        yield own.moves.get(variable, PointerPlace.INSIDE)
        yield from (PointerValue(own.name, value) for value in own.piece.set_to.get(name, ()))
        if name in own.parameters:
            yield PassedPointer(own.name, own.parameters.index(name))
        if name in own.piece.addressed:
            yield StoredPointer("")

    def _parts_of_global(self, name: str) -> Iterator[PointerSource | PointerPlace]:
        for function in self.named(name):
            if function is None:
                yield PointerPlace.BEFORE
            elif not function.is_own(name):
                yield function.moves.get(PointerVariable(function.name, name), PointerPlace.INSIDE)
                yield from (
                    PointerValue(function.name, v) for v in function.piece.set_to.get(name, ())
                )
                symbol = function.piece.symbol(name)
                if symbol is not None and symbol.init is not None:
                    yield PointerValue(function.name, symbol.init)

    def _parts_of_stored(self, member: str) -> Iterator[PointerSource | PointerPlace]:
        for function in self.named(member):
            if function is None:
                yield PointerPlace.BEFORE
                continue
            yield function.moves.get(StoredPointer(member), PointerPlace.INSIDE)
            for node in (*function.stores.get(member, ()), *function.stores.get("", ())):
                if function.is_pointer(node):
                    yield PointerValue(function.name, node)

    def _parts_of_value(self, value: PointerValue) -> Iterator[PointerSource | PointerPlace]:
        own = self.function(value.function)
        if own is None:
            yield PointerPlace.BEFORE
            return
        match value.node:
            case c_ast.ID(name=name):
                symbol = own.piece.symbol(name)
                if symbol is not None and symbol.layers:
                    is_array = symbol.layers[0].kind == "[]" and symbol.storage != "parameter"
                    if not is_array:
                        yield PointerVariable(own.name if own.is_own(name) else "", name)
            case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef(name=base, subscript=index)):
                # Whose address is taken is there (C11 6.5.3.2), but for what stands before all.
                number = _constant_of(index)
                if (number is not None and number <= 0) or _is_negated(index):
                    yield _place_after("+", index)
                    yield PointerValue(own.name, base)
            case c_ast.UnaryOp(op="&", expr=c_ast.UnaryOp(op="*", expr=inner)):
                yield PointerValue(own.name, inner)
            case c_ast.StructRef(field=c_ast.ID(name=member)):
                yield StoredPointer(member)
            case c_ast.ArrayRef() | c_ast.UnaryOp(op="*"):
                yield StoredPointer("")
            case c_ast.FuncCall(name=c_ast.ID(name=name)):
                yield ReturnedPointer(name)
            case node:
                yield _distance_of(node, own)
                yield from (PointerValue(own.name, inner) for inner in _addresses_in(node, own))

    # What a pointer was made of -------------------------------------------------------------

    def bases_of(self, function: str, name: str, begins: Set[str]) -> frozenset[str] | None:
        """Return pointers into the arrays into which a variable of a function may lead.

        They have the same values in all of the function; a parameter as it was given is written
        `given_name`. What the variables `begins` point to begins an array of its own, whatever
        they were made of. None where that is not known.
        """
        own = self.function(function)
        if own is None:
            return None
        return self._bases_of_variable(own, name, begins, frozenset())

    def _bases_of_variable(
        self, own: FunctionPointers, name: str, begins: Set[str], seen: frozenset[str]
    ) -> frozenset[str] | None:
        symbol = own.piece.symbol(name)
        if name in seen:
            return frozenset()
        if symbol is None or name in own.piece.addressed:
            return None
        is_parameter = name in own.parameters
        if symbol.layers and symbol.layers[0].kind == "[]" and not is_parameter:
            return frozenset({name})
        values = own.piece.set_to.get(name, [])
        place = self.place_of(PointerVariable(own.name, name))
        moved = own.moves.get(PointerVariable(own.name, name), PointerPlace.INSIDE)
        found: set[str] = set()
        if is_parameter:
            if (
                self.place_of(PassedPointer(own.name, own.parameters.index(name)))
                is PointerPlace.BEFORE
            ):
                return None
            is_kept = not values and moved is PointerPlace.INSIDE
            found.add(name if is_kept else given_name(name))
        elif not own.is_own(name):
            return None
        elif name in own.fixed and len(values) == 1:
            if place is PointerPlace.INSIDE:
                return frozenset({name})
            # Of one piece of memory several arrays may be on the device: the nearer one counts.
            found |= {name} if place is PointerPlace.MOVED else set()
        elif seen and (name in begins or place is PointerPlace.MOVED):
            # It may have another value by now than when another pointer was made of it.
            return None
        for value in values:
            bases = self._bases_of_value(own, value, begins, seen | {name})
            if bases is None:
                return None
            found |= bases
        return frozenset(found)

    def _bases_of_value(
        self, own: FunctionPointers, node: c_ast.Node, begins: Set[str], seen: frozenset[str]
    ) -> frozenset[str] | None:
        match node:
            case c_ast.ID(name=name):
                return self._bases_of_variable(own, name, begins, seen)
            case c_ast.Constant():
                return frozenset()
            case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef(name=inner)):
                return self._bases_of_value(own, inner, begins, seen)
            case c_ast.UnaryOp() if node.op not in STEPS:
                return None
        found: set[str] = set()
        inner_nodes = _addresses_in(node, own)
        for inner in inner_nodes:
            bases = self._bases_of_value(own, inner, begins, seen)
            if bases is None:
                return None
            found |= bases
        return frozenset(found) if inner_nodes else None


def _is_jump(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Label | c_ast.Goto)


def given_name(name: str) -> str:
    """Return the name of a constant that keeps a parameter as it was given."""
    return f"annotune_given_{name}"


def renamed_at(name: str, start: int) -> str:
    """Return the name of the variable of a function whose declaration starts there."""
    return f"{name}@{start}"


class Renamer:
    """Gives each variable that a function's body declares a name of its own, `renamed_at`.

    Those of its parameters and of the file keep theirs. `start_of` says where a declaration starts.
    """

    def __init__(self, start_of: Callable[[c_ast.Decl], int]) -> None:
        self.start_of = start_of
        self.scopes: list[dict[str, str]] = []

    def visit(self, node: c_ast.Node | None) -> None:
        """Rename what a tree declares, and what it uses of that."""
        match node:
            case None | c_ast.FuncDecl() | c_ast.Struct() | c_ast.Union() | c_ast.Enum():
                return
            case c_ast.ID(name=name):
                node.name = next((s[name] for s in reversed(self.scopes) if name in s), name)
            case c_ast.Decl():
                self.visit(node.type)
                if node.name and not isinstance(node.type, c_ast.FuncDecl):
                    self.scopes[-1][node.name] = renamed_at(node.name, self.start_of(node))
                    node.name = self.scopes[-1][node.name]
                self.visit(node.init)
            case c_ast.StructRef():
                self.visit(node.name)
            case c_ast.NamedInitializer():
                self.visit(node.expr)
            case c_ast.Compound() | c_ast.For():
                self.scopes.append({})
                for child in node:
                    self.visit(child)
                self.scopes.pop()
            case _:
                for child in node:
                    self.visit(child)


def _member_of(place: c_ast.Node) -> str:
    return place.field.name if isinstance(place, c_ast.StructRef) else ""


def _addresses_in(node: c_ast.Node, own: FunctionPointers) -> list[c_ast.Node]:
    """Return the addresses one of which an expression's is made of."""
    match node:
        case c_ast.BinaryOp(op="+" | "-"):
            return [inner for inner in (node.left, node.right) if own.is_pointer(inner)][:1]
        case c_ast.Cast():
            return [node.expr]
        case c_ast.TernaryOp():
            return [node.iftrue, node.iffalse]
        case c_ast.ExprList():
            return node.exprs[-1:]
        case c_ast.Assignment():
            return [node.rvalue if node.op == "=" else node.lvalue]
        case c_ast.UnaryOp() if node.op in STEPS:
            return [node.expr]
    return []


def _distance_of(node: c_ast.Node, own: FunctionPointers) -> PointerPlace:
    """Return how far the address of an expression is from the one that it is made of."""
    match node:
        case c_ast.BinaryOp(op="+" | "-") if own.is_pointer(node):
            return _place_after(node.op, node.right if own.is_pointer(node.left) else node.left)
    return _move_of(node)


def _move_of(node: c_ast.Node) -> PointerPlace:
    """Return how far a node moves what it changes."""
    match node:
        case c_ast.Assignment(op="+=" | "-="):
            return _place_after(node.op[0], node.rvalue)
        case c_ast.UnaryOp(op="--" | "p--"):
            return PointerPlace.BEFORE
    return PointerPlace.INSIDE


def _place_after(op: str, amount: c_ast.Node) -> PointerPlace:
    """Return where a pointer may be that moves from its array by a number of elements."""
    number = _constant_of(amount)
    if number == 0:
        return PointerPlace.INSIDE
    is_back = op == "-" if number is None else (number < 0) == (op == "+")
    return PointerPlace.BEFORE if is_back or _is_negated(amount) else PointerPlace.MOVED


def _is_negated(amount: c_ast.Node) -> bool:
    """Return whether an amount without a known value has a sign before it."""
    is_open = _constant_of(amount) is None
    return is_open and isinstance(amount, c_ast.UnaryOp) and amount.op == "-"


def _constant_of(node: c_ast.Node) -> int | None:
    return value_of_tree(node, lambda name: None)
