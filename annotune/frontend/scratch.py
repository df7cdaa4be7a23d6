"""Arrays that nothing but a region uses: its function has them for the region, and reads none.

The proof is of the text. An array that the function declares for itself, and a pointer that it
declares with what ``malloc`` returns, never reaches anybody else where its name stands in the
region's subscripts and below ``sizeof`` alone, that of a pointer also in tests against a null
pointer and calls of ``free``. It counts every place in the user's text, so that what ``#if`` leaves
out, and what a macro is made of, is among these. A region that may run again on what it has left
reads that itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from pycparser import c_ast

from annotune.frontend.read.filescope import File
from annotune.frontend.read.function_index import MOST_FUNCTIONS, index_of
from annotune.frontend.read.preprocess import is_standard, without_comments
from annotune.frontend.read.region_finder import ParsedFunction
from annotune.frontend.read.syntax import offset, walk_tree
from annotune.frontend.types.symbols import Symbol
from annotune.ir.identity import once_for_each

ALLOCATING = frozenset({"malloc", "calloc", "aligned_alloc"})
FREE, NULL = "free", "NULL"
_TESTS, _BOTH = ("==", "!="), ("&&", "||")
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b", re.MULTILINE)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define\b(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
_REPEATING = re.compile(r"\b(?:for|while|goto)\b")
_AUTOMATIC = frozenset({"auto", "register"})


def scratch_arrays(
    function: ParsedFunction, place: Collection[c_ast.Node], arrays: Collection[Symbol]
) -> frozenset[str]:
    """Return those of `arrays` that only the statements `place` of a region use, once in a life."""
    file, body = function.file, function.body
    if not all(is_standard(header.name) for header in file.clean.unread):
        return frozenset()  # not all macros are known
    declared = _declared_names(function.tree)
    decls = _declarations(body)
    taken = index_of(body).addressed
    found = set()
    for array in arrays:
        decl = decls.get(array.start)
        if decl is None or decl.name != array.name or declared[array.name] > 1:
            continue
        if array.name in taken or array.special or array.storage != "local":
            continue
        if not set(decl.storage or ()) <= _AUTOMATIC or len(_layers(decl)) != 1 + len(array.layers):
            continue
        is_allocated = _is_allocated(decl) and _has_usual_allocation(file)
        if not is_allocated and not _is_automatic(decl):
            continue
        is_alone = _is_alone(function, decl, array.name, place, is_allocated)
        if is_alone and not _may_run_again(function, decl, place):
            found.add(array.name)
    return frozenset(found)


@once_for_each(MOST_FUNCTIONS)
def _declared_names(tree: c_ast.Node) -> Mapping[str | None, int]:
    """Return how many times a function declares each name, parameters and members too."""
    return Counter(node.name for node in walk_tree(tree) if isinstance(node, c_ast.Decl))


@once_for_each(MOST_FUNCTIONS)
def _declarations(body: c_ast.Node) -> Mapping[int, c_ast.Decl]:
    """Return what the blocks of a function declare, but no members and no parameters.

    They are by the places of their elements' types.
    """
    return {offset(_layers(decl)[-1]): decl for decl in _declared_in_blocks(body)}


def _declared_in_blocks(body: c_ast.Node) -> Iterator[c_ast.Decl]:
    for node in index_of(body).nodes:
        items: list[c_ast.Node] | None = None
        match node:
            case c_ast.Compound():
                items = node.block_items
            case c_ast.Case() | c_ast.Default():
                items = node.stmts
        for item in items or []:
            # That of a struct alone has no name.
            if isinstance(item, c_ast.Decl) and item.name:
                yield item


def _has_usual_allocation(file: File) -> bool:
    """Return whether ``malloc`` and ``free`` are C's own."""
    own = {part.function for part in file.parts} | {*file.clean.macros}
    return not own & (ALLOCATING | {FREE})


def _is_automatic(decl: c_ast.Decl) -> bool:
    """Return whether a declaration is of an array of numbers."""
    *arrays, element = _layers(decl)
    return (
        isinstance(element, c_ast.TypeDecl)
        and isinstance(element.type, c_ast.IdentifierType)
        and len(arrays) > 0
        and all(isinstance(layer, c_ast.ArrayDecl) for layer in arrays)
    )


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


def _may_run_again(
    function: ParsedFunction, decl: c_ast.Decl, place: Collection[c_ast.Node]
) -> bool:
    """Return whether a region may run twice on one array: in a loop, or by a jump backwards.

    What ``#if`` leaves out may hold either, too.
    """
    first = next(iter(place))
    before: set[str] = set()
    is_behind = False
    for node in walk_tree(function.body):
        is_behind |= node is first
        if isinstance(node, c_ast.Label) and not is_behind:
            before.add(node.name)
        elif isinstance(node, c_ast.Goto) and is_behind and node.name in before:
            return True
        elif isinstance(node, _LOOPS) and not is_behind:
            inside = {id(inner) for inner in walk_tree(node)}
            if id(first) in inside and id(decl) not in inside:
                return True
    assert is_behind, "the region is one of the function's"
    text, file = without_comments(function.file.source), function.file
    start, end = file.tokens.starts[function.part.first], file.tokens.ends[function.part.last]
    words = _REPEATING.finditer(text, start, end)
    return any(file.clean.is_left_out(word.start()) for word in words)


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
    function: ParsedFunction,
    decl: c_ast.Decl,
    name: str,
    place: Collection[c_ast.Node],
    is_allocated: bool,
) -> bool:
    """Return whether every place of the text that has an array's name is one that may have it.

    One that `is_allocated` is tested and freed.
    """
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
    *dimensions, element = _layers(decl)
    allowed = _Allowed(name, len(dimensions))
    for node in place:
        allowed.in_region(node)
    if not allowed.places:
        return False
    allowed.around(function.body, place, is_allocated)
    # The declaration's own, and what is in its initialiser.
    found = sorted(one.start() for one in word.finditer(text, start, end))
    others = [at for at in found if at not in allowed.places]
    named = {offset(n) for n in walk_tree(function.body) if _is_named(n, name)}
    is_over = allowed.is_freed or not is_allocated
    return is_over and others == [offset(element)] and named <= allowed.places


def _is_named(node: c_ast.Node, name: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == name


class _Allowed:
    """The places at which a function may name an array, as they are found."""

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

    def around(self, node: c_ast.Node, region: Collection[c_ast.Node], is_allocated: bool) -> None:
        """Take what a function does with the array around the region, with an own pointer too."""
        waiting: list[c_ast.Node] = [node]
        while waiting:
            inner = waiting.pop()
            if any(inner is one for one in region):
                continue
            if is_allocated:
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
