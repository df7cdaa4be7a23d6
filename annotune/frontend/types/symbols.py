"""What a declaration says about a name: its type, its dimensions and its storage.

Members of structs, and the types behind the plain names that stand for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TypeAlias

from pycparser import c_ast

from annotune.frontend.read.syntax import text_of, token_place, walk_tree
from annotune.frozen import dataclass
from annotune.ir.c_types import PROMOTED

INTEGERS = PROMOTED | {
    *("int", "long", "long long"),
    *("unsigned int", "unsigned long", "unsigned long long"),
}
REALS = frozenset(["double", "float"])

# Names that standard headers declare, as on 64-bit Linux.
STANDARD_TYPES: dict[str, str] = {
    "size_t": "unsigned long",
    "ssize_t": "long",
    "ptrdiff_t": "long",
    "intptr_t": "long",
    "uintptr_t": "unsigned long",
    "int8_t": "signed char",
    "uint8_t": "unsigned char",
    "int16_t": "short",
    "uint16_t": "unsigned short",
    "int32_t": "int",
    "uint32_t": "unsigned int",
    "int64_t": "long",
    "uint64_t": "unsigned long",
    "bool": "_Bool",
}
# f2c.h defines integer as int or long int; values of both fit into long.
F2C_TYPES: dict[str, str] = {
    "integer": "long",
    "logical": "long",
    "ftnlen": "long",
    "doublereal": "double",
    "real": "float",
}

# Memory that changes by itself, that each access orders, and that each thread has for itself.
SPECIAL = ("volatile", "_Atomic", "_Thread_local")
_OF_MEMORY = frozenset({"volatile", "_Atomic"})


Record: TypeAlias = c_ast.Struct | c_ast.Union


@dataclass(frozen=True, slots=True)
class Layer:
    """One step from a name to its elements: ``*``, ``[dim]`` or a function.

    The `dim` of a function is the list of its parameters, None where it says nothing.
    """

    kind: str
    dim: c_ast.Node | None = None
    is_restrict: bool = False


@dataclass(frozen=True, slots=True)
class Symbol:
    """A declared variable.

    `layers` lead from the name to the base type, outermost first; a parameter's outermost
    array is one still. `base` is a plain C type, ``struct`` or ``union``, or the name that
    nothing declares, and then `is_known` is False; `record` is the syntax tree of a struct whose
    members are known. `storage` is ``file``, ``static``,
    ``parameter``, ``local`` or ``region``. `special` is the word of C that makes it other than
    plain memory, one of `SPECIAL`, else empty. A `register` variable has no address. Where `base`
    stands for f2c's ``integer`` though no header says how long that is, `guess` is its name. Of one
    that `is_enumeration` a compiler chooses the base.
    """

    name: str
    layers: tuple[Layer, ...]
    base: str
    is_known: bool
    storage: str
    start: int
    end: int
    is_const: bool = False
    special: str = ""
    is_register: bool = False
    init: c_ast.Node | None = None
    value: int | None = None
    record: Record | None = None
    guess: str = ""
    is_enumeration: bool = False

    @property
    def is_array(self) -> bool:
        return bool(self.layers)

    @property
    def is_integer(self) -> bool:
        return not self.layers and self.is_known and self.base in INTEGERS

    @property
    def is_pointer(self) -> bool:
        """Whether C passes a pointer under this name: parameters and pointer variables."""
        return self.is_array and (self.storage == "parameter" or self.layers[0].kind == "*")

    @property
    def is_restrict(self) -> bool:
        """Whether the C text promises that nothing else points there while this is used."""
        return any(layer.is_restrict for layer in self.layers)

    def with_value(self, value: int | None) -> Symbol:
        """Return the constant that a number starts, with that value where its type holds it."""
        if self.special:
            return self
        bits = 8 if "char" in self.base else 16 if "short" in self.base else 32
        bits = 64 if "long" in self.base else 1 if self.base == "_Bool" else bits
        is_unsigned = self.base.startswith("unsigned") or bits == 1
        least, most = (0, 2**bits) if is_unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1))
        is_held = value is not None and least <= value < most
        return replace(self, value=value if is_held else None)


@dataclass(frozen=True)
class Types:
    """The typedefs in force, and the names that are types without being declared.

    `records` are structs and unions with their members, by tag, and `enumerations` the integer
    types of enumerations, by tag or, where one has none, by its first enumerator.
    """

    built_in: Mapping[str, str]
    typedefs: dict[str, c_ast.Node] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    enumerations: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, with_f2c: bool) -> Types:
        """Return the types of a file before its first declaration."""
        return cls(STANDARD_TYPES | F2C_TYPES if with_f2c else STANDARD_TYPES)

    def copy(self) -> Types:
        """Return types to which more can be added without changing these."""
        own = dict(self.typedefs), dict(self.records), dict(self.enumerations)
        return Types(self.built_in, *own)

    def names(self) -> frozenset[str]:
        """Return every name that the parser must take for a type."""
        return frozenset(self.typedefs) | frozenset(self.built_in)

    def symbol(self, decl: c_ast.Decl, storage: str) -> Symbol:
        """Return what a declaration of one variable says."""
        layers: list[Layer] = []
        qualifiers: set[str] = set()
        base, is_known = self._walk(decl.type, layers, qualifiers)
        count = _listed(decl.init, len(layers))
        if count is not None and layers[0] == Layer("[]"):
            layers[0] = Layer("[]", c_ast.Constant("int", str(count), decl.coord))
        words = decl.storage or []
        if storage == "local" and "static" in words:
            storage = "static"
        elif storage == "local" and "extern" in words:
            storage = "file"
        # A pointer's declaration has the place of its `*`.
        named = _named(decl.type)
        start, end = token_place(named if named.coord is not None else decl)
        return Symbol(
            decl.name or "",
            tuple(layers),
            base,
            is_known,
            storage,
            start,
            end,
            "const" in qualifiers,
            next((word for word in SPECIAL if word in qualifiers.union(words)), ""),
            "register" in words,
            decl.init,
            record=self.record_of(decl.type),
            guess=self._guess(named),
            is_enumeration=self.is_enumeration(decl.type),
        )

    def _guess(self, named: c_ast.Node) -> str:
        """Return the name of an integer type of f2c's that nothing has defined; else nothing."""
        match named:
            case c_ast.TypeDecl(type=c_ast.IdentifierType(names=[name])):
                is_own = F2C_TYPES.get(name) in INTEGERS and name not in self.typedefs
                return name if is_own else ""
        return ""

    def learn(self, node: c_ast.Node) -> None:
        """Take in the structs and unions that a declaration defines."""
        for inner in walk_tree(node):
            if isinstance(inner, c_ast.Struct | c_ast.Union) and inner.name and inner.decls:
                self.records[inner.name] = inner

    def name_of(self, record: Record | None) -> str:
        """Return what C calls a struct, empty where it has no name."""
        if record is None:
            return ""
        if record.name:
            return f"{'union' if isinstance(record, c_ast.Union) else 'struct'} {record.name}"
        found = (name for name, node in self.typedefs.items() if self.record_of(node) is record)
        return next(found, "")

    def record_of(self, node: c_ast.Node) -> Record | None:
        """Return the struct at the end of a declarator, with its members, or None."""
        node = self._base_type(node)
        if isinstance(node, c_ast.Struct | c_ast.Union):
            return node if node.decls else self.records.get(node.name or "")
        return None

    def is_enumeration(self, declarator: c_ast.Node) -> bool:
        """Return whether a declarator's type, behind its typedefs, is an enumeration."""
        return isinstance(self._base_type(declarator), c_ast.Enum)

    def _base_type(self, node: c_ast.Node) -> c_ast.Node:
        """Return the type at the end of a declarator, and of the typedefs there."""
        while isinstance(node, c_ast.PtrDecl | c_ast.ArrayDecl | c_ast.TypeDecl):
            node = node.type
        match node:
            case c_ast.IdentifierType(names=[name]) if name in self.typedefs:
                return self._base_type(self.typedefs[name])
        return node

    def scalar(self, typename: c_ast.Typename | c_ast.Decl) -> str | None:
        """Return the plain type that a cast names, None when it is no plain scalar type."""
        layers: list[Layer] = []
        base, is_known = self._walk(typename.type, layers, set())
        return base if is_known and not layers else None

    def base_of(self, declarator: c_ast.Node, layers: list[Layer]) -> tuple[str, bool]:
        """Add the layers of a declarator and return its base type and whether it is known."""
        return self._walk(declarator, layers, set())

    def _walk(
        self, node: c_ast.Node, layers: list[Layer], qualifiers: set[str]
    ) -> tuple[str, bool]:
        """Add the layers of a declarator and return its base type and whether it is known."""
        given = len(layers)
        match node:
            case c_ast.PtrDecl():
                layers.append(Layer("*", None, "restrict" in (node.quals or [])))
                qualifiers.update(_OF_MEMORY.intersection(node.quals or []))
                return self._walk(node.type, layers, qualifiers)
            case c_ast.ArrayDecl():
                layers.append(Layer("[]", node.dim, "restrict" in (node.dim_quals or [])))
                return self._walk(node.type, layers, qualifiers)
            case c_ast.FuncDecl():
                layers.append(Layer("()", node.args))
                return self._walk(node.type, layers, qualifiers)
            case c_ast.TypeDecl():
                # const of the elements; `const vector v` with a pointer typedef
                # makes the pointer constant, not what it points to.
                inner: set[str] = set()
                base = self._base(node.type, layers, inner)
                if not any(layer.kind == "*" for layer in layers[given:]):
                    inner.update(node.quals or [])
                qualifiers.update(inner, _OF_MEMORY.intersection(node.quals or []))
                return base
        return self._base(node, layers, qualifiers)

    def _base(
        self, node: c_ast.Node, layers: list[Layer], qualifiers: set[str]
    ) -> tuple[str, bool]:
        match node:
            case c_ast.Struct():
                return "struct", True
            case c_ast.Union():
                return "union", True
            case c_ast.Enum():
                known = self.enumerations.get(enumeration_key(node))
                return known or enumeration_key(node), known is not None
            case c_ast.IdentifierType(names=[name]) if name in self.typedefs:
                return self._walk(self.typedefs[name], layers, qualifiers)
            case c_ast.IdentifierType(names=[name]) if name in self.built_in:
                return self.built_in[name], True
            case c_ast.IdentifierType():
                names: Sequence[str] = node.names
                plain = plain_type(names)
                # f2c's own names mean what they mean even where f2c.h was not read.
                plain = plain or (F2C_TYPES.get(names[0], "") if len(names) == 1 else "")
                return (plain, True) if plain else (" ".join(names), False)
        return type(node).__name__, False


def enumeration_key(node: c_ast.Enum) -> str:
    """Return what `Types` calls an enumeration."""
    if node.name or node.values is None:
        return f"enum {node.name}"
    return next(one.name for one in node.values if isinstance(one, c_ast.Enumerator))


def type_of_enumeration(values: Sequence[int | None]) -> str | None:
    """Return the integer type of an enumeration, as gcc and clang choose it; None if unknown.

    C leaves the choice open (C11 6.7.2.2); whoever relies on it has a compiler test it.
    """
    known = [value for value in values if value is not None]
    if len(known) < len(values) or not known:
        return None
    sign, bits = ("", 31) if min(known) < 0 else ("unsigned ", 32)
    is_wide = max(known) >= 2**bits or min(known) < -(2**bits)
    return f"{sign}{'long' if is_wide else 'int'}"


def _listed(init: c_ast.Node | None, dimensions: int) -> int | None:
    """Return how many elements a list gives an array without a length (C11 6.7.9), if it is plain.

    An array of rows has a list for each row.
    """
    if not isinstance(init, c_ast.InitList) or not dimensions or not init.exprs:
        return None
    rows = [isinstance(one, c_ast.InitList) for one in init.exprs]
    is_plain = all(rows) if dimensions > 1 else not any(rows)
    named = any(isinstance(one, c_ast.NamedInitializer) for one in init.exprs)
    return len(init.exprs) if is_plain and not named else None


def _named(node: c_ast.Node) -> c_ast.Node:
    """Return the innermost part of a declarator, which has the name."""
    while isinstance(node, c_ast.PtrDecl | c_ast.ArrayDecl | c_ast.FuncDecl):
        node = node.type
    return node


def plain_type(words: Sequence[str]) -> str:
    """Return the usual spelling of a basic type, empty when the words are none."""
    left = [w for w in words if w not in ("signed", "int")]
    is_unsigned = "unsigned" in left
    left = [w for w in left if w != "unsigned"]
    if not set(left) <= {"long", "short", "char", "double", "float", "void", "_Bool", "_Complex"}:
        return ""
    if left == ["char"]:
        return "unsigned char" if is_unsigned else "signed char" if "signed" in words else "char"
    if "_Complex" in left:
        part = " ".join(word for word in left if word != "_Complex") or "double"
        return f"{part} complex"
    size = " ".join(sorted(left, reverse=True))
    if left and left[-1] == "double":
        size = " ".join(left)
    if is_unsigned:
        return f"unsigned {size or 'int'}"
    return size or "int"


@dataclass(frozen=True, slots=True)
class Meaning:
    """The type behind an alias: `base` as annotune calls it, `spelled` as the user does."""

    layers: tuple[Layer, ...]
    base: str
    spelled: str
    is_const: bool = False

    def declared(self, name: str) -> str:
        """Return the declaration of `name` up to its value."""
        const = "const " if self.is_const else ""
        if not self.layers:
            return f"const {self.spelled} {name}"
        inner = "".join(f"[{text_of(layer.dim)}]" for layer in self.layers[1:] if layer.dim)
        restrict = " restrict" if self.layers[0].is_restrict else ""
        pointer = f"*const{restrict} {name}"
        return f"{const}{self.spelled} " + (f"({pointer}){inner}" if inner else pointer)


def field_of(record: Record, name: str) -> c_ast.Decl | None:
    """Return the declaration of a member, also one of an unnamed struct inside, or None."""
    for decl in record.decls or []:
        if not isinstance(decl, c_ast.Decl):
            continue
        if decl.name == name:
            return decl
        if decl.name is None and isinstance(decl.type, Record):
            found = field_of(decl.type, name)
            if found is not None:
                return found
    return None


def words_of_type(declarator: c_ast.Node) -> set[str]:
    """Return the types, and the tags of structs and enumerations, that a declarator names."""
    found: set[str] = set()
    for node in walk_tree(declarator):
        if isinstance(node, c_ast.IdentifierType):
            found.update(node.names)
        elif isinstance(node, c_ast.Enum | Record) and node.name:
            found.add(node.name)
    return found


def type_words(decl: c_ast.Decl) -> str:
    """Return the words of a declaration's type, as the user wrote them."""
    match _named(decl.type):
        case c_ast.TypeDecl(type=c_ast.IdentifierType(names=names)):
            return " ".join(names)
        case c_ast.TypeDecl(type=c_ast.Enum(name=str() as tag)):
            return f"enum {tag}"
    return "int"
