"""Arrays that nothing but a region uses: its function allocates them, frees them, and reads none.

The proof is of the text: a pointer that is declared with what ``malloc`` returns, and otherwise
named in the region's subscripts, tests against a null pointer and calls of ``free`` alone, never
reaches anybody else. It counts every place in the user's text, so that what ``#if`` leaves out, and
what a macro is made of, is among these.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

from pycparser import c_ast

from annotune.frontend.read.filescope import File
from annotune.frontend.read.preprocess import is_standard, without_comments
from annotune.frontend.read.region_finder import ParsedFunction
from annotune.frontend.read.syntax import addressed, offset, walk_tree

ALLOCATING = frozenset({"malloc", "calloc", "aligned_alloc"})
FREE, NULL = "free", "NULL"
_TESTS, _BOTH = ("==", "!="), ("&&", "||")
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b", re.MULTILINE)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define\b(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)


def scratch_arrays(function: ParsedFunction, place: Collection[c_ast.Node]) -> frozenset[str]:
    """Return the pointers of a function that only the statements `place` of a region use."""
    file, body = function.file, function.body
    if not _has_usual_allocation(file):
        return frozenset()
    decls = [node for node in walk_tree(function.tree) if isinstance(node, c_ast.Decl)]
    declared = Counter(decl.name for decl in decls)
    taken = addressed(body)
    return frozenset(
        decl.name
        for decl in decls
        if decl.name
        and declared[decl.name] == 1
        and decl.name not in taken
        and "static" not in (decl.storage or [])
        and _is_allocated(decl)
        and _is_alone(function, decl, decl.name, place)
    )


def _has_usual_allocation(file: File) -> bool:
    """Return whether ``malloc`` and ``free`` are C's own, and all macros are known."""
    own = {part.function for part in file.parts} | {*file.clean.macros}
    is_read = all(is_standard(header.name) for header in file.clean.unread)
    return is_read and not own & (ALLOCATING | {FREE})


def _is_allocated(decl: c_ast.Decl) -> bool:
    """Return whether a declaration is of a pointer to numbers, or rows of some, newly allocated."""
    *pointers, element = _layers(decl)
    value = _without_casts(decl.init)
    return (
        isinstance(element, c_ast.TypeDecl)
        and len(pointers) > 0
        and isinstance(pointers[0], c_ast.PtrDecl)
        and all(isinstance(layer, c_ast.ArrayDecl) for layer in pointers[1:])
        and isinstance(value, c_ast.FuncCall)
        and isinstance(value.name, c_ast.ID)
        and value.name.name in ALLOCATING
    )


def _layers(decl: c_ast.Decl) -> list[c_ast.Node]:
    """Return what a declared name is, from the outside to what an element is."""
    layers = [decl.type]
    while isinstance(layers[-1], c_ast.PtrDecl | c_ast.ArrayDecl):
        layers.append(layers[-1].type)
    return layers


def _without_casts(node: c_ast.Node | None) -> c_ast.Node | None:
    while isinstance(node, c_ast.Cast):
        node = node.expr
    return node


def _is_alone(
    function: ParsedFunction, decl: c_ast.Decl, name: str, place: Collection[c_ast.Node]
) -> bool:
    """Return whether every place of the text that has a pointer's name is one that may have it."""
    file = function.file
    word = re.compile(rf"\b{re.escape(name)}\b")
    text = without_comments(file.source)
    tokens, part = file.tokens, function.part
    start, end = tokens.starts[part.first], tokens.ends[part.last]
    if _INCLUDE.search(text, start, end):
        return False
    macros = (macro for history in file.clean.macros.values() for _, macro in history)
    bodies = [macro.body for macro in macros if macro is not None]
    # A name may also be pasted together.
    bodies += (found.group() for found in _DEFINE.finditer(text))
    if any("##" in body or word.search(body) for body in bodies):
        return False
    *pointers, element = _layers(decl)
    allowed = _Allowed(name, len(pointers))
    for node in place:
        allowed.in_region(node)
    if not allowed.places:
        return False
    allowed.around(function.body, place)
    # The declaration's own, and what is in its initialiser.
    found = sorted(one.start() for one in word.finditer(text, start, end))
    others = [at for at in found if at not in allowed.places]
    named = {offset(n) for n in walk_tree(function.body) if _is_named(n, name)}
    return allowed.is_freed and others == [offset(element)] and named <= allowed.places


def _is_named(node: c_ast.Node, name: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == name


class _Allowed:
    """The places at which a function may name a pointer, as they are found."""

    def __init__(self, name: str, dimensions: int) -> None:
        self._name, self._dimensions = name, dimensions
        self.places: set[int] = set()
        self.is_freed = False

    def in_region(self, node: c_ast.Node) -> None:
        """Take the elements that a statement names, but for those whose address it takes."""
        nodes = [*walk_tree(node)]
        refused = {id(n.expr) for n in nodes if isinstance(n, c_ast.UnaryOp) and n.op == "&"}
        for inner in (n for n in nodes if id(n) not in refused):
            base, count = inner, 0
            while isinstance(base, c_ast.ArrayRef):
                base, count = base.name, count + 1
            if count == self._dimensions:
                self._take(base)

    def around(self, node: c_ast.Node, region: Collection[c_ast.Node]) -> None:
        """Take what a function does with the pointer itself around the region."""
        waiting: list[c_ast.Node] = [node]
        while waiting:
            inner = waiting.pop()
            if any(inner is one for one in region):
                continue
            self._tested(inner)
            self._released(inner)
            # Of its operand nothing is read.
            if isinstance(inner, c_ast.UnaryOp) and inner.op == "sizeof":
                for one in walk_tree(inner.expr):
                    self._take(one)
                continue
            waiting += [*inner]

    def _tested(self, node: c_ast.Node) -> None:
        match node:
            case c_ast.BinaryOp(op=op, left=left, right=right) if op in _TESTS:
                for one, other in ((left, right), (right, left)):
                    if _is_null(other):
                        self._take(one)
            case c_ast.BinaryOp(op=op, left=left, right=right) if op in _BOTH:
                self._take(left)
                self._take(right)
            case c_ast.UnaryOp(op="!", expr=tested) | c_ast.If(cond=tested):
                self._take(tested)

    def _released(self, node: c_ast.Node) -> None:
        match node:
            case c_ast.FuncCall(name=c_ast.ID(name="free"), args=c_ast.ExprList(exprs=[given])):
                self.is_freed |= self._take(_without_casts(given))

    def _take(self, node: c_ast.Node | None) -> bool:
        if node is None or not _is_named(node, self._name):
            return False
        self.places.add(offset(node))
        return True


def _is_null(node: c_ast.Node) -> bool:
    plain = _without_casts(node)
    if isinstance(plain, c_ast.Constant):
        return plain.value == "0"
    return isinstance(plain, c_ast.ID) and plain.name == NULL
