"""Members of structs, and the types behind the plain names that stand for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from annotune.frontend.symbols import Layer
from annotune.frontend.syntax import c_ast, c_generator


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


def field_of(record: Any, name: str) -> Any:
    """Return the declaration of a member, also one of an unnamed struct inside, or None."""
    for decl in record.decls or []:
        if getattr(decl, "name", None) == name:
            return decl
        if getattr(decl, "name", "") is None and isinstance(decl.type, c_ast.Struct | c_ast.Union):
            found = field_of(decl.type, name)
            if found is not None:
                return found
    return None


def type_words(decl: Any) -> str:
    """Return the words of a declaration's type, as the user wrote them."""
    node = decl.type
    while not isinstance(node, c_ast.TypeDecl):
        node = node.type
    return " ".join(node.type.names) if isinstance(node.type, c_ast.IdentifierType) else "int"


def text_of(node: Any) -> str:
    """Return a syntax tree as C."""
    return str(c_generator.CGenerator().visit(node))
