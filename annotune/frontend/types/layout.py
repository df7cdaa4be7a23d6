"""Where the members of a struct stand in it, in bytes, as on 64-bit Linux.

A struct that a compiler lays out otherwise, by ``packed`` or ``aligned``, has another size, or its
members other offsets: whoever relies on what is said here has a compiler test it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pycparser import c_ast

from annotune.frontend.types.kinds import ELEMENTS
from annotune.frontend.types.symbols import Layer, Record, Types, type_words
from annotune.frozen import dataclass
from annotune.ir.c_types import WORD, element_bytes

# What f2c.h makes of them is an int or a long.
_OF_UNSURE_SIZE = frozenset({"integer", "logical", "ftnlen"})


@dataclass(frozen=True, slots=True)
class Room:
    """The bytes of a type, and what its address is a multiple of."""

    bytes: int
    alignment: int


@dataclass(frozen=True)
class Layouts:
    """The layouts of structs; `value_of` gives the value of a constant expression."""

    types: Types
    value_of: Callable[[c_ast.Node], int | None]

    def room(self, layers: tuple[Layer, ...], base: str, record: Record | None) -> Room | None:
        """Return the room that what a declaration names takes, None where it is not known."""
        if layers and layers[0].kind == "*":
            return Room(WORD, WORD)
        if layers:
            inner = self.room(layers[1:], base, record)
            count = self.value_of(layers[0].dim) if layers[0].dim is not None else None
            if inner is None or count is None or count < 1 or layers[0].kind != "[]":
                return None
            return Room(count * inner.bytes, inner.alignment)
        if record is not None:
            return self._record(record)
        if base not in ELEMENTS:
            return None
        own = element_bytes(base)
        return Room(own, own // 2 if "complex" in base else own)

    def room_of(self, name: c_ast.Typename) -> Room | None:
        """Return the room that a type takes, None where it is not known."""
        symbol = self.types.symbol(
            c_ast.Decl("", [], [], [], [], name.type, None, None, name.coord), "file"
        )
        return self.room(symbol.layers, symbol.base, symbol.record)

    def offset(self, record: Record, name: str) -> int | None:
        """Return the offset of a member, also of one of an unnamed struct inside; else None."""
        for decl, start in self._members(record):
            if decl is None or start is None:
                return None
            if decl.name == name:
                return start
            if decl.name is None and isinstance(decl.type, Record):
                inner = self.offset(decl.type, name)
                if inner is not None:
                    return start + inner
        return None

    def _record(self, record: Record) -> Room | None:
        end, alignment = 0, 1
        for decl, start in self._members(record):
            own = self._declared(decl) if decl is not None else None
            if own is None or start is None:
                return None
            end, alignment = max(end, start + own.bytes), max(alignment, own.alignment)
        return Room(-(-end // alignment) * alignment, alignment) if end else None

    def _members(self, record: Record) -> Iterator[tuple[c_ast.Decl | None, int | None]]:
        """Yield the members with their offsets; both are None from an unknown one on."""
        end = 0
        for decl in record.decls or []:
            own = self._declared(decl) if isinstance(decl, c_ast.Decl) else None
            if own is None or not isinstance(decl, c_ast.Decl):
                yield None, None
                return
            start = -(-end // own.alignment) * own.alignment
            if isinstance(record, c_ast.Union):
                start = 0
            end = start + own.bytes
            yield decl, start

    def _declared(self, decl: c_ast.Decl) -> Room | None:
        if decl.bitsize is not None:
            return None
        if decl.name is None:
            return self._record(decl.type) if isinstance(decl.type, Record) else None
        words = type_words(decl)
        if decl.align or (words in _OF_UNSURE_SIZE and words not in self.types.typedefs):
            return None
        symbol = self.types.symbol(decl, "file")
        return self.room(symbol.layers, symbol.base, symbol.record)
