"""Which arrays a piece of the host's text may touch, and what it calls.

Nothing is known of where pointers lead. What is asked is through which pointers, of those that
there are before the piece, its accesses go: no pointer leads out of the array that it points into
(C11 6.5.6), so that it is enough to ask at run time for the array of each. Of one that may lie
outside of its array, as f2c moves them, those are taken that it was made of (`origins`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import NamedTuple

from pycparser import c_ast

from annotune.frontend.read.syntax import HOLDERS, STEPS, changed_by, names_in, text_of, walk_tree
from annotune.frontend.types.symbols import REALS, Layer, Record, Symbol, Types, field_of
from annotune.frozen import dataclass
from annotune.ir.functions import FUNCTIONS

_POINTER = Layer("*")
# What returns memory that nothing else has.
_FRESH = frozenset({"malloc", "calloc", "aligned_alloc", "alloca", "fopen", "getenv"})
# What gives memory back.
FREEING = frozenset({"free", "realloc"})
# Of ISO C and POSIX: what touches no memory but through its arguments.
_READING = frozenset(
    (
        *("printf", "fprintf", "puts", "fputs", "putchar", "fputc", "putc", "fwrite", "perror"),
        *("strlen", "strcmp", "strncmp", "memcmp", "strchr", "strstr", "atoi", "atof", "atol"),
        *("fflush", "fclose", "feof", "ferror", "rewind", "fseek", "ftell", "abort"),
        *("rand", "srand", "clock", "omp_get_wtime", "omp_get_thread_num", "omp_get_num_threads"),
        *("omp_get_max_threads", "difftime", "isnan", "isinf", "isfinite", "toupper", "tolower"),
        *("drand48", "srand48", "usleep", "sleep"),
    )
)
_WRITING = frozenset(
    (
        *("memcpy", "memmove", "memset", "strcpy", "strncpy", "strcat", "sprintf", "snprintf"),
        *("fread", "fgets", "scanf", "fscanf", "sscanf", "strtod", "strtol", "frexp", "modf"),
        *("time", "clock_gettime", "gettimeofday", "getrusage", "rand_r"),
    )
)
_KNOWN = frozenset((*_FRESH, *_READING, *_WRITING, *FUNCTIONS))


class UnclearError(Exception):
    """An access that goes through a pointer which there is not before the piece."""

    def __init__(self, node: c_ast.Node, why: str) -> None:
        super().__init__(why)
        self.node = node
        self.why = why


@dataclass
class HostTouch:
    """What a piece touches: pointers as C, with whether memory is written through them.

    `calls` are functions that may touch more, with the place; `freed` what is given back. Where
    something is `unclear`, not all pointers are there, and memory may be given back if it `frees`.
    It `sets` what may lead others elsewhere: pointers and integers that they see.
    """

    pointers: dict[str, bool] = field(default_factory=dict)
    calls: dict[str, c_ast.Node] = field(default_factory=dict)
    freed: dict[str, None] = field(default_factory=dict)
    frees: bool = False
    unclear: UnclearError | None = None
    sets: bool = False

    def __bool__(self) -> bool:
        return bool(self.pointers or self.calls or self.freed or self.unclear)


@dataclass(frozen=True)
class Scope:
    """The names of a piece: `find` has those before it, `types` what they are made of.

    Of its function's own arrays only those that are `kept`, None for all, can be on the device.
    Functions that are `defined` here are none of a library's, and a call of one that `sets` may
    change pointers and integers that others see. The function takes the address of the `addressed`.
    `bases` are pointers into the arrays into which a pointer may lead, None where they are not
    known, and one that is read from memory may lie outside of its array if it `strays`.
    """

    find: Callable[[str], Symbol | None]
    types: Types
    defined: Callable[[str], bool]
    sets: Callable[[str], bool]
    kept: frozenset[str] | None = frozenset()
    addressed: frozenset[str] = frozenset()
    bases: Callable[[str], Sequence[str] | None] = lambda name: (name,)
    strays: Callable[[c_ast.Node], bool] = lambda node: False


def touched(nodes: Sequence[c_ast.Node], scope: Scope) -> HostTouch:
    """Return what statements, or an expression, touch."""
    piece = Piece(nodes, scope)
    try:
        for node in nodes:
            piece.visit(node)
    except UnclearError as unclear:
        piece.found.unclear = unclear
        piece.add_calls(nodes)
    return piece.found


class Reached(NamedTuple):
    """What leads from an expression to its elements, and what these are."""

    layers: tuple[Layer, ...] = ()
    record: Record | None = None
    base: str = ""

    @property
    def leads(self) -> bool:
        """Whether other accesses may depend on the value: all but floating numbers."""
        return bool(self.layers) or self.base not in REALS

    @property
    def is_pointer(self) -> bool:
        """Whether it is a pointer, or has some."""
        return bool(self.layers) or self.record is not None


class Piece:
    """Statements that are looked at as a whole."""

    def __init__(self, nodes: Sequence[c_ast.Node], scope: Scope) -> None:
        self.scope = scope
        self.found = HostTouch()
        self.own: dict[str, Symbol] = {}
        self.set_to: dict[str, list[c_ast.Node]] = {}
        self.changed: set[str] = set()
        every = [node for top in nodes for node in walk_tree(top)]
        for node in every:
            if isinstance(node, c_ast.Decl) and node.name:
                self.own[node.name] = scope.types.symbol(node, "local")
                self._set(node.name, node.init)
            target = changed_by(node)
            if isinstance(target, c_ast.ID):
                self.changed.add(target.name)
                if isinstance(node, c_ast.Assignment) and node.op == "=":
                    self._set(target.name, node.rvalue)
        self.addressed = {
            node.expr.name
            for node in every
            if isinstance(node, c_ast.UnaryOp)
            and node.op == "&"
            and isinstance(node.expr, c_ast.ID)
        }
        # Whether what is evaluated now is evaluated whenever the piece is, and once.
        self.is_certain = not any(isinstance(node, HOLDERS) for node in every)
        stored = [typed for node in every for typed in self._stored(node)]
        self.stores_pointers = any(typed is None or typed.is_pointer for typed in stored)
        self.stores_numbers = any(typed is not None and typed.leads for typed in stored)
        names = (name for name, _ in _calls_in(nodes) if self._is_elsewhere(name))
        self.calls_setters = any(scope.sets(name) for name in names)
        self.found.sets = self.stores_pointers or self.stores_numbers or self.calls_setters

    def _set(self, name: str, value: c_ast.Node | None) -> None:
        if value is not None:
            self.set_to.setdefault(name, []).append(value)

    def _stored(self, node: c_ast.Node) -> Iterator[Reached | None]:
        """Yield what a node changes of memory that others see; None where that is not known."""
        target = changed_by(node)
        if isinstance(target, c_ast.ID):
            symbol = self.symbol(target.name)
            if symbol is None or symbol.storage in ("file", "static"):
                yield self.typed(target)
        elif target is not None:
            yield self.typed(target)
        elif isinstance(node, c_ast.FuncCall) and getattr(node.name, "name", "") in _WRITING:
            for argument in node.args.exprs if node.args is not None else ():
                found = self.typed(_without_casts(argument))
                if found is None or found.layers:
                    yield found and found._replace(layers=found.layers[1:])

    # Types ------------------------------------------------------------------------------

    def symbol(self, name: str) -> Symbol | None:
        return self.own.get(name) or self.scope.find(name)

    def typed(self, node: c_ast.Node) -> Reached | None:
        """Return what leads from an expression to its elements, None where that is not known."""
        match node:
            case c_ast.ID():
                symbol = self.symbol(node.name)
                return _typed_as(symbol) if symbol is not None else Reached()
            case c_ast.Constant():
                return Reached((_POINTER,) if node.type == "string" else (), None, "char")
            case c_ast.ArrayRef():
                return self._less(node.name)
            case c_ast.UnaryOp(op="*"):
                return self._less(node.expr)
            case c_ast.UnaryOp(op="&"):
                inner = self.typed(node.expr)
                return inner and inner._replace(layers=(_POINTER, *inner.layers))
            case c_ast.UnaryOp():
                return self.typed(node.expr) if node.op in STEPS else Reached()
            case c_ast.BinaryOp():
                return self._sum(node)
            case c_ast.Assignment():
                return self.typed(node.lvalue)
            case c_ast.TernaryOp():
                return self.typed(node.iftrue)
            case c_ast.Cast():
                return self._declared(node.to_type)
            case c_ast.StructRef():
                return self._member(node)
            case c_ast.FuncCall():
                return self._result(node)
        return Reached()

    def _less(self, node: c_ast.Node) -> Reached | None:
        outer = self.typed(node)
        return outer._replace(layers=outer.layers[1:]) if outer and outer.layers else None

    def _sum(self, node: c_ast.BinaryOp) -> Reached | None:
        if node.op not in ("+", "-"):
            return Reached()
        left, right = self.typed(node.left), self.typed(node.right)
        if left is None or right is None:
            return None
        if left.layers and right.layers:
            return Reached()
        return left if left.layers else right

    def _declared(self, node: c_ast.Typename | c_ast.Decl) -> Reached:
        decl = c_ast.Decl("", [], [], [], [], node.type, None, None, node.coord)
        return _typed_as(self.scope.types.symbol(decl, "local"))

    def _member(self, node: c_ast.StructRef) -> Reached | None:
        outer = self.typed(node.name)
        member = field_of(outer.record, node.field.name) if outer and outer.record else None
        return None if member is None else self._declared(member)

    def _result(self, call: c_ast.FuncCall) -> Reached | None:
        name = call.name.name if isinstance(call.name, c_ast.ID) else ""
        symbol = self.symbol(name)
        if symbol is not None and symbol.layers and symbol.layers[0].kind == "()":
            return _typed_as(symbol)._replace(layers=symbol.layers[1:])
        if name in _FRESH or name in FREEING:
            return Reached((_POINTER,))
        return Reached() if name in FUNCTIONS or name in _READING | _WRITING else None

    # Accesses ---------------------------------------------------------------------------

    def visit(self, node: c_ast.Node | None, is_written: bool = False) -> None:
        """Take in what the evaluation of a tree touches; `is_written` where it is a target."""
        match node:
            case None | c_ast.Constant() | c_ast.Typename():
                return
            case c_ast.ID():
                self._whole(node)
            case c_ast.Assignment():
                self.visit(node.lvalue, is_written=True)
                self.visit(node.rvalue)
            case c_ast.UnaryOp(op="sizeof"):
                return
            case c_ast.UnaryOp(op="&"):
                self._inside(node.expr)
            case c_ast.UnaryOp() if node.op in STEPS:
                self.visit(node.expr, is_written=True)
            case c_ast.UnaryOp(op="*") | c_ast.ArrayRef() | c_ast.StructRef():
                # What leads there has to be right before it is followed.
                self._inside(node)
                self._whole(node)
                self._touch(node, is_written)
            case c_ast.FuncCall():
                self._call(node)
            case c_ast.BinaryOp(op="&&" | "||"):
                self.visit(node.left)
                self._perhaps(node.right)
            case c_ast.TernaryOp():
                self.visit(node.cond)
                self._perhaps(node.iftrue, node.iffalse)
            case c_ast.Decl():
                self.visit(node.init)
                for layer in walk_tree(node.type):
                    if isinstance(layer, c_ast.ArrayDecl):
                        self.visit(layer.dim)
            case _:
                for child in node:
                    self.visit(child)

    def _perhaps(self, *nodes: c_ast.Node) -> None:
        """Take in what is evaluated on a condition."""
        before, self.is_certain = self.is_certain, False
        for node in nodes:
            self.visit(node)
        self.is_certain = before

    def _inside(self, place: c_ast.Node) -> None:
        """Take in what the address of a place is made of."""
        match place:
            case c_ast.ID():
                return
            case c_ast.ArrayRef():
                self._part(place.name)
                self.visit(place.subscript)
            case c_ast.UnaryOp(op="*"):
                self._part(place.expr)
            case c_ast.StructRef():
                self._part(place.name)
            case _:
                self.visit(place)

    def _part(self, node: c_ast.Node) -> None:
        """Take in a pointer, or an array inside the same one, whose address alone counts."""
        found = self.typed(node)
        is_place = isinstance(node, c_ast.ArrayRef | c_ast.UnaryOp | c_ast.StructRef)
        is_inside = found is not None and (not found.layers or found.layers[0].kind == "[]")
        if is_place and is_inside:
            self._inside(node)
        elif not isinstance(node, c_ast.ID):
            self.visit(node)

    def _whole(self, node: c_ast.Node) -> None:
        """Take in the value of a struct: arrays in it may be on the device."""
        found = self.typed(node)
        if found is None or found.layers or not self._has_arrays(found.record):
            return
        if not isinstance(node, c_ast.ID) or self._may_be_kept(node.name):
            raise UnclearError(node, f"'{text_of(node)}' has arrays in it")

    def _has_arrays(self, record: Record | None) -> bool:
        """Return whether a struct has an array of numbers in it."""
        inside = (record.decls or []) if record is not None else []
        members = [self._declared(one) for one in inside if isinstance(one, c_ast.Decl)]
        return any(
            all(layer.kind == "[]" for layer in member.layers)
            and (bool(member.layers) or self._has_arrays(member.record))
            for member in members
        )

    def _touch(self, place: c_ast.Node, is_written: bool) -> None:
        for pointer in self._of_place(place):
            self.found.pointers[pointer] = self.found.pointers.get(pointer, False) or is_written

    def add_calls(self, nodes: Sequence[c_ast.Node]) -> None:
        """Take in all calls, and those that give back memory that is not known."""
        for name, node in _calls_in(nodes):
            if self._is_elsewhere(name):
                self.found.calls.setdefault(name, node)
            self.found.frees = self.found.frees or name in FREEING

    def _is_elsewhere(self, name: str) -> bool:
        is_known = name in _KNOWN or name in FREEING or name.startswith("__builtin_")
        return self.scope.defined(name) or not is_known

    def _call(self, call: c_ast.FuncCall) -> None:
        arguments = list(call.args.exprs) if call.args is not None else []
        for argument in arguments:
            self.visit(argument)
        name = call.name.name if isinstance(call.name, c_ast.ID) else text_of(call.name)
        if name in FREEING:
            for pointer in self._of_pointer(arguments[0]) if arguments else ():
                self.found.freed[pointer] = None
        elif self._is_elsewhere(name):
            self.found.calls.setdefault(name, call)
        elif name not in _FRESH:
            for number, argument in enumerate(arguments):
                found = self.typed(argument)
                if found is None:
                    raise UnclearError(argument, f"the type of '{text_of(argument)}' is not known")
                if found.layers:
                    to = self.typed(_without_casts(argument))
                    if to and len(to.layers) == 1 and self._has_arrays(to.record):
                        raise UnclearError(argument, f"'{text_of(argument)}' has arrays in it")
                    written = name in _WRITING and (
                        number == 0 or not name.startswith(("mem", "str"))
                    )
                    for pointer in self._of_pointer(argument):
                        before = self.found.pointers.get(pointer, False)
                        self.found.pointers[pointer] = before or written

    # Pointers ---------------------------------------------------------------------------

    def _of_place(self, place: c_ast.Node) -> Iterator[str]:
        """Yield through which pointers a place is reached."""
        match place:
            case c_ast.ArrayRef():
                yield from self._of_pointer(place.name)
            case c_ast.UnaryOp(op="*"):
                yield from self._of_pointer(place.expr)
            case c_ast.StructRef(type="->"):
                yield from self._of_pointer(place.name)
            case c_ast.StructRef():
                yield from self._of_place(place.name)
            case c_ast.ID():
                yield from self._of_object(place.name)
            case c_ast.Cast() | c_ast.CompoundLiteral():
                return
            case _:
                raise UnclearError(place, f"where '{text_of(place)}' lies is not known")

    def _of_object(self, name: str) -> Iterator[str]:
        """Yield an array that is a variable itself where it may be on the device."""
        symbol = self.scope.find(name)
        if symbol is not None and symbol.layers and self._may_be_kept(name):
            yield name

    def _may_be_kept(self, name: str) -> bool:
        """Return whether the memory of a variable may be on the device."""
        symbol, kept = self.scope.find(name), self.scope.kept
        if name in self.own or symbol is None:
            return False
        return symbol.storage in ("file", "static") or kept is None or name in kept

    def _of_pointer(self, node: c_ast.Node, seen: frozenset[str] = frozenset()) -> Iterator[str]:
        """Yield from which pointers before the piece the value of one in it comes."""
        match node:
            case c_ast.ID():
                yield from self._of_variable(node, seen)
            case c_ast.ArrayRef() | c_ast.StructRef() | c_ast.UnaryOp(op="*"):
                yield from self._of_element(node)
            case c_ast.BinaryOp(op="+" | "-"):
                left = self.typed(node.left)
                yield from self._of_pointer(node.left if left and left[0] else node.right, seen)
            case c_ast.Cast():
                yield from self._of_pointer(node.expr, seen)
            case c_ast.TernaryOp():
                before, self.is_certain = self.is_certain, False
                yield from self._of_pointer(node.iftrue, seen)
                yield from self._of_pointer(node.iffalse, seen)
                self.is_certain = before
            case c_ast.Assignment():
                yield from self._of_pointer(node.rvalue if node.op == "=" else node.lvalue, seen)
            case c_ast.UnaryOp(op="&"):
                yield from self._of_place(node.expr)
            case c_ast.UnaryOp() if node.op in STEPS:
                yield from self._of_pointer(node.expr, seen)
            case c_ast.Constant():
                return
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if name in _FRESH:
                return
            case c_ast.FuncCall(name=c_ast.ID(name="realloc")) if node.args is not None:
                yield from self._of_pointer(node.args.exprs[0], seen)
            case _:
                raise UnclearError(node, f"where '{text_of(node)}' points is not known")

    def _of_variable(self, node: c_ast.ID, seen: frozenset[str]) -> Iterator[str]:
        name = node.name
        symbol = self.symbol(name)
        if name in seen:
            return
        if symbol is None:
            raise UnclearError(node, f"'{name}' is not declared in what was read")
        if not symbol.layers:
            raise UnclearError(node, f"'{name}' is no pointer")
        if name in self.own and self.scope.find(name) is not None:
            raise UnclearError(node, f"'{name}' is declared twice")
        if symbol.layers and symbol.layers[0].kind == "[]" and symbol.storage != "parameter":
            yield from self._of_object(name)
            return
        is_shared = symbol.storage in ("file", "static") or name in self.scope.addressed
        if is_shared and (self.stores_pointers or self.calls_setters):
            raise UnclearError(node, f"'{name}' may change in between")
        if name in self.addressed:
            raise UnclearError(node, f"'{name}' is set through its address")
        if name not in self.own:
            bases = self.scope.bases(name)
            if bases is None:
                raise UnclearError(node, f"'{name}' may point outside of its array")
            yield from bases
        for value in self.set_to.get(name, ()):
            yield from self._of_pointer(value, seen | {name})

    def _of_element(self, node: c_ast.Node) -> Iterator[str]:
        """Yield an array in another one, or a pointer that is read from memory."""
        found = self.typed(node)
        if found is None:
            raise UnclearError(node, f"the type of '{text_of(node)}' is not known")
        if _is_array(found) and not isinstance(node, c_ast.StructRef):
            yield from self._of_place(node)
            return
        # An array in a struct may be on the device without the rest of it.
        base = self._outermost(node)
        if _is_array(found) and isinstance(base, c_ast.ID) and not self._may_be_kept(base.name):
            return
        used = set(names_in(node))
        is_plain = not any(
            changed_by(inner) is not None or isinstance(inner, c_ast.FuncCall)
            for inner in walk_tree(node)
        )
        if not is_plain or used & (self.changed | self.addressed | self.own.keys()):
            raise UnclearError(node, f"'{text_of(node)}' is another pointer each time")
        if not self.is_certain and any(map(_dereferences, walk_tree(node))):
            raise UnclearError(node, f"'{text_of(node)}' may not be there to be read")
        is_set = self.stores_numbers and any(map(self._is_number_in_memory, walk_tree(node)))
        if self.stores_pointers or self.calls_setters or is_set:
            raise UnclearError(node, f"'{text_of(node)}' may change in between")
        if self.scope.strays(node):
            raise UnclearError(node, f"'{text_of(node)}' may point outside of its array")
        yield text_of(node)

    def _outermost(self, node: c_ast.Node) -> c_ast.Node | None:
        """Return the variable that a place is a part of, or what it is reached through."""
        while isinstance(node, c_ast.StructRef | c_ast.ArrayRef):
            outer = self.typed(node.name)
            is_part = outer is not None and (not outer.layers or _is_array(outer))
            if not is_part or (isinstance(node, c_ast.StructRef) and node.type == "->"):
                return None
            node = node.name
        symbol = self.symbol(node.name) if isinstance(node, c_ast.ID) else None
        return None if symbol is not None and symbol.is_pointer else node

    def _is_number_in_memory(self, node: c_ast.Node) -> bool:
        found = self.typed(node)
        if found is None or found.layers or found.record is not None:
            return False
        symbol = self.symbol(node.name) if isinstance(node, c_ast.ID) else None
        is_shared = symbol is not None and symbol.storage in ("file", "static")
        return is_shared or _dereferences(node) or isinstance(node, c_ast.StructRef)


def _typed_as(symbol: Symbol) -> Reached:
    return Reached(symbol.layers, symbol.record, symbol.base)


def _is_array(found: Reached) -> bool:
    return bool(found.layers) and found.layers[0].kind == "[]"


def _without_casts(node: c_ast.Node) -> c_ast.Node:
    while isinstance(node, c_ast.Cast):
        node = node.expr
    return node


def _dereferences(node: c_ast.Node) -> bool:
    is_member = isinstance(node, c_ast.StructRef) and node.type == "->"
    return is_member or isinstance(node, c_ast.ArrayRef) or getattr(node, "op", "") == "*"


def _calls_in(nodes: Sequence[c_ast.Node]) -> Iterator[tuple[str, c_ast.FuncCall]]:
    """Yield what is called, with the call."""
    for node in (inner for top in nodes for inner in walk_tree(top)):
        if isinstance(node, c_ast.FuncCall):
            yield node.name.name if isinstance(node.name, c_ast.ID) else text_of(node.name), node
