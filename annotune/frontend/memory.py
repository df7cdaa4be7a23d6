"""Which arrays a piece of the host's text may touch, and what it calls.

Nothing is known of where pointers lead. What is asked is through which pointers, of those that
there are before the piece, its accesses go: no pointer leads out of the array that it points into
(C11 6.5.6), so that it is enough to ask at run time for the array of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pycparser import c_ast

from annotune.frontend.read.syntax import HOLDERS, STEPS, changed_by, names_in, text_of, walk_tree
from annotune.frontend.types.symbols import Layer, Record, Symbol, Types, field_of
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
    """

    pointers: dict[str, bool] = field(default_factory=dict)
    calls: dict[str, c_ast.Node] = field(default_factory=dict)
    freed: dict[str, None] = field(default_factory=dict)
    frees: bool = False
    unclear: UnclearError | None = None

    def __bool__(self) -> bool:
        return bool(self.pointers or self.calls or self.freed or self.unclear)


@dataclass(frozen=True)
class Scope:
    """The names of a piece: `find` has those before it, `types` what they are made of.

    Of its function's own arrays only those that are `kept`, None for all, can be on the device.
    Functions that are `defined` here are none of a library's. The function takes the address of the
    `addressed`.
    """

    find: Callable[[str], Symbol | None]
    types: Types
    defined: Callable[[str], bool]
    kept: frozenset[str] | None = frozenset()
    addressed: frozenset[str] = frozenset()


def touched(nodes: Sequence[c_ast.Node], scope: Scope) -> HostTouch:
    """Return what statements, or an expression, touch."""
    piece = _Piece(nodes, scope)
    try:
        for node in nodes:
            piece.visit(node)
    except UnclearError as unclear:
        piece.found.unclear = unclear
        piece.add_calls(nodes)
    return piece.found


class _Piece:
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
        targets = (changed_by(node) for node in every)
        self.stores_pointers = any(self._is_pointer_in_memory(target) for target in targets)

    def _set(self, name: str, value: c_ast.Node | None) -> None:
        if value is not None:
            self.set_to.setdefault(name, []).append(value)

    def _is_pointer_in_memory(self, target: c_ast.Node | None) -> bool:
        if target is None or isinstance(target, c_ast.ID):
            return False
        found = self.typed(target)
        return found is None or bool(found[0])

    # Types ------------------------------------------------------------------------------

    def symbol(self, name: str) -> Symbol | None:
        return self.own.get(name) or self.scope.find(name)

    def typed(self, node: c_ast.Node) -> tuple[tuple[Layer, ...], Record | None] | None:
        """Return what leads from an expression to its elements, None where that is not known."""
        match node:
            case c_ast.ID():
                symbol = self.symbol(node.name)
                return (symbol.layers, symbol.record) if symbol is not None else ((), None)
            case c_ast.Constant():
                return ((_POINTER,) if node.type == "string" else (), None)
            case c_ast.ArrayRef():
                return self._less(node.name)
            case c_ast.UnaryOp(op="*"):
                return self._less(node.expr)
            case c_ast.UnaryOp(op="&"):
                inner = self.typed(node.expr)
                return None if inner is None else ((_POINTER, *inner[0]), inner[1])
            case c_ast.UnaryOp():
                return self.typed(node.expr) if node.op in STEPS else ((), None)
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
        return ((), None)

    def _less(self, node: c_ast.Node) -> tuple[tuple[Layer, ...], Record | None] | None:
        outer = self.typed(node)
        return None if outer is None or not outer[0] else (outer[0][1:], outer[1])

    def _sum(self, node: c_ast.BinaryOp) -> tuple[tuple[Layer, ...], Record | None] | None:
        if node.op not in ("+", "-"):
            return (), None
        left, right = self.typed(node.left), self.typed(node.right)
        if left is None or right is None:
            return None
        if left[0] and right[0]:
            return (), None
        return left if left[0] else right

    def _declared(
        self, node: c_ast.Typename | c_ast.Decl
    ) -> tuple[tuple[Layer, ...], Record | None]:
        decl = c_ast.Decl("", [], [], [], [], node.type, None, None, node.coord)
        symbol = self.scope.types.symbol(decl, "local")
        return symbol.layers, symbol.record

    def _member(self, node: c_ast.StructRef) -> tuple[tuple[Layer, ...], Record | None] | None:
        outer = self.typed(node.name)
        member = field_of(outer[1], node.field.name) if outer and outer[1] else None
        return None if member is None else self._declared(member)

    def _result(self, call: c_ast.FuncCall) -> tuple[tuple[Layer, ...], Record | None] | None:
        name = call.name.name if isinstance(call.name, c_ast.ID) else ""
        symbol = self.symbol(name)
        if symbol is not None and symbol.layers and symbol.layers[0].kind == "()":
            return symbol.layers[1:], symbol.record
        if name in _FRESH or name in FREEING:
            return (_POINTER,), None
        return ((), None) if name in FUNCTIONS or name in _READING | _WRITING else None

    # Accesses ---------------------------------------------------------------------------

    def visit(self, node: c_ast.Node | None, is_written: bool = False) -> None:
        """Take in what the evaluation of a tree touches; `is_written` where it is a target."""
        match node:
            case None | c_ast.ID() | c_ast.Constant() | c_ast.Typename():
                return
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
                self._touch(node, is_written)
                self._inside(node)
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
        is_array = found is not None and bool(found[0]) and found[0][0].kind == "[]"
        is_struct = found is not None and not found[0] and isinstance(node, c_ast.StructRef)
        if (is_place and is_array) or is_struct:
            self._inside(node)
        else:
            self.visit(node)

    def _touch(self, place: c_ast.Node, is_written: bool) -> None:
        for pointer in self._of_place(place):
            self.found.pointers[pointer] = self.found.pointers.get(pointer, False) or is_written

    def add_calls(self, nodes: Sequence[c_ast.Node]) -> None:
        """Take in all calls, and those that give back memory that is not known."""
        for node in (inner for top in nodes for inner in walk_tree(top)):
            if isinstance(node, c_ast.FuncCall):
                name = node.name.name if isinstance(node.name, c_ast.ID) else text_of(node.name)
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
                layers = self.typed(argument)
                if layers is None:
                    raise UnclearError(argument, f"the type of '{text_of(argument)}' is not known")
                if layers[0]:
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
        """Yield an array, or a struct, that is a variable itself where it may be on the device."""
        symbol = self.scope.find(name)
        if name in self.own or symbol is None or not symbol.layers:
            return
        kept = self.scope.kept
        if symbol.storage in ("file", "static") or kept is None or name in kept:
            yield name

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
        if name in self.addressed or (is_shared and self.stores_pointers):
            raise UnclearError(node, f"'{name}' is set through its address")
        if name not in self.own:
            yield name
        for value in self.set_to.get(name, ()):
            yield from self._of_pointer(value, seen | {name})

    def _of_element(self, node: c_ast.Node) -> Iterator[str]:
        """Yield an array in another one, or a pointer that is read from memory."""
        found = self.typed(node)
        if found is None:
            raise UnclearError(node, f"the type of '{text_of(node)}' is not known")
        if found[0] and found[0][0].kind == "[]":
            yield from self._of_place(node)
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
        if self.stores_pointers:
            raise UnclearError(node, f"'{text_of(node)}' may change in between")
        yield text_of(node)


def _dereferences(node: c_ast.Node) -> bool:
    is_member = isinstance(node, c_ast.StructRef) and node.type == "->"
    return is_member or isinstance(node, c_ast.ArrayRef) or getattr(node, "op", "") == "*"


def called_in(nodes: Sequence[c_ast.Node]) -> Mapping[str, c_ast.FuncCall]:
    """Return the functions that are called by name, with the first call of each."""
    found: dict[str, c_ast.FuncCall] = {}
    for top in nodes:
        for node in walk_tree(top):
            if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID):
                found.setdefault(node.name.name, node)
    return found
