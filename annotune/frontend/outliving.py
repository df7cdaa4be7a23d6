"""Declarations of a region that stand in front of it: those that outlive it, arrays and statics.

C keeps what a region declares to the end of the block around the region.

``double t = 0; for (…) t += a[i];`` stands in a region, and ``return t;`` after it. The region is
replaced, but `t` is still needed. So the declaration is moved in front of the region, in the text,
before anything else reads it; `t` is then a variable like any other that lives on.

An array that a region declares around its loops is one of all their iterations, and a static
variable one of all calls: they are memory around the nest, whether they are used after it or not.

A region that begins with such declarations begins after them. One that stands between statements
of the region moves with its value where that value is the same in front. Otherwise it moves
without a value, and an assignment stays in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pycparser import c_ast

from annotune.annotation.data_block import DataBlock
from annotune.annotation.orio.complete import Completed, Edit, with_edits
from annotune.annotation.regions import AnnotationBlock
from annotune.diagnostics import AnnotuneError, internal_errors_at
from annotune.frontend import messages
from annotune.frontend.read.filescope import File
from annotune.frontend.read.ladder import Ladder, Rung
from annotune.frontend.read.parse import NO_NAMES, may_declare
from annotune.frontend.read.region_finder import (
    ParsedFunction,
    RegionPlace,
    find,
    function_at,
    part_of,
)
from annotune.frontend.read.syntax import CHANGES, addressed, changed_by, walk_tree
from annotune.frozen import dataclass

_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True)
class DeclaredAhead:
    """A text in which no region declares what is used after it.

    `refused` has the reasons of those regions for which that cannot be done, by their numbers.
    """

    made: Completed
    refused: Mapping[int, AnnotuneError]


def with_declarations_ahead(
    ladder: Ladder, text: str, blocks: Sequence[AnnotationBlock], kept: Sequence[DataBlock]
) -> DeclaredAhead:
    """Return `text` with the declarations that outlive the `blocks` in front of them."""
    edits: list[Edit] = []
    refused: dict[int, AnnotuneError] = {}
    moved = list(blocks)
    for number, block in enumerate(blocks):
        try:
            with internal_errors_at(block.span):
                region = _declaring_region(ladder, block)
                if region is not None:
                    moved[number], own = region.with_declarations_ahead()
                    edits += own
        except AnnotuneError as refusal:
            refused[number] = refusal
    if not edits:
        return DeclaredAhead(Completed(text, tuple(blocks), tuple(kept)), refused)
    return DeclaredAhead(with_edits(text, moved, edits, kept), refused)


def _declaring_region(ladder: Ladder, block: AnnotationBlock) -> _DeclaringRegion | None:
    """Return a region with declarations; None for others, and for what cannot be read at all.

    Why it cannot is reported when the region itself is read.
    """
    for rung in ladder.rungs():
        if not _may_declare(rung.file, block):
            return None
        try:
            function = _function_around(rung, block)
            place = find(function, block.body_start, block.body_end, block.span)
        except RecursionError:
            return None
        except AnnotuneError as error:
            if not ladder.may_help(error):
                return None
            continue
        return _DeclaringRegion(function, block, place, _items(function, block, place))
    return None


def _function_around(rung: Rung, block: AnnotationBlock) -> ParsedFunction:
    """Return the function around a block, parsed once for all its blocks."""
    part = part_of(rung.file, block)
    key = part.first, NO_NAMES, None
    if key not in rung.functions:
        rung.functions[key] = function_at(rung.file, part, places=None)
    function = rung.functions[key]
    return replace(function, scope=function.scope.copy())


def _may_declare(file: File, block: AnnotationBlock) -> bool:
    """Return whether a statement of a region may be a declaration, or a macro that makes one."""
    tokens = file.tokens
    index, after = tokens.at(block.body_start), tokens.at(block.body_end)
    while index < after:
        if may_declare(tokens, index) or tokens.texts[index] in file.clean.macros:
            return True
        index = tokens.statement_end(index) + 1
    return False


@dataclass(frozen=True)
class _RegionStatement:
    """A statement of a region, or all that one declaration declares; its first and last token."""

    nodes: tuple[c_ast.Node, ...]
    first: int
    last: int

    @property
    def is_declaration(self) -> bool:
        return isinstance(self.nodes[0], c_ast.Decl | c_ast.Typedef)

    @property
    def is_constant(self) -> bool:
        """Whether the place where it stands does not matter to the value that it gives."""
        own = {word for node in self.nodes for word in getattr(node, "storage", None) or ()}
        return not own.isdisjoint({"static", "extern", "typedef"})

    @property
    def decls(self) -> tuple[c_ast.Decl, ...]:
        return tuple(node for node in self.nodes if isinstance(node, c_ast.Decl))

    @property
    def is_memory(self) -> bool:
        """Whether it declares an array, or a static or extern variable."""
        storage = {word for decl in self.decls for word in decl.storage or ()}
        has_arrays = any(isinstance(decl.type, c_ast.ArrayDecl) for decl in self.decls)
        return has_arrays or not storage.isdisjoint({"static", "extern"})

    def introduced(self) -> frozenset[str]:
        """Return the names that a declaration gives to the block that it stands in."""
        found: set[str] = set()
        for node in self.nodes if self.is_declaration else ():
            if isinstance(node, c_ast.Decl | c_ast.Typedef) and node.name:
                found.add(node.name)
            for inner in walk_tree(node):
                if isinstance(inner, c_ast.Struct | c_ast.Union) and inner.decls and inner.name:
                    found.add(f"struct {inner.name}")
                if isinstance(inner, c_ast.Enum) and inner.values is not None:
                    found |= {
                        o.name for o in inner.values.enumerators if isinstance(o, c_ast.Enumerator)
                    }
                    found |= {f"struct {inner.name}"} if inner.name else set()
        return frozenset(found)

    def words(self) -> frozenset[str]:
        return frozenset(word for node in self.nodes for word in _words(node))


def _items(
    function: ParsedFunction, block: AnnotationBlock, place: RegionPlace
) -> tuple[_RegionStatement, ...]:
    """Return the statements of a region, what one declaration declares together."""
    tokens = function.tokens
    index, after = tokens.at(block.body_start), tokens.at(block.body_end)
    waiting = list(place.statements)
    found: list[_RegionStatement] = []
    while index < after and waiting:
        last = tokens.statement_end(index)
        own = [waiting.pop(0)]
        while waiting and _place_of(waiting[0]) < tokens.limits[last]:
            own.append(waiting.pop(0))
        found.append(_RegionStatement(tuple(own), index, last))
        index = last + 1
    return tuple(found)


def _place_of(node: c_ast.Node) -> int:
    return min((one.coord.line for one in walk_tree(node) if one.coord is not None), default=0)


def _words(node: c_ast.Node) -> Iterator[str]:
    """Yield the names, of types too, that a tree uses; those of structs with ``struct`` before it.

    A name that a block of the tree declares is another one in that block.
    """
    waiting = [(node, _NOTHING)]
    while waiting:
        one, hidden = waiting.pop()
        found: Sequence[str] = ()
        match one:
            case c_ast.ID(name=name):
                found = (name,)
            case c_ast.IdentifierType(names=names):
                found = names
            case c_ast.Struct(name=str() as tag) | c_ast.Union(name=str() as tag):
                found = (f"struct {tag}",)
            case c_ast.Enum(name=str() as tag):
                found = (f"struct {tag}",)
        yield from (word for word in found if word not in hidden)
        if isinstance(one, c_ast.StructRef):
            waiting.append((one.name, hidden))
            continue
        if isinstance(one, c_ast.For) and isinstance(one.init, c_ast.DeclList):
            decls = (decl for decl in one.init.decls if isinstance(decl, c_ast.Decl))
            hidden |= {decl.name for decl in decls if decl.name}
        is_block = isinstance(one, c_ast.Compound)
        for child in one:
            if is_block and isinstance(child, c_ast.Decl) and child.name:
                hidden |= {child.name}
            waiting.append((child, hidden))


@dataclass(frozen=True)
class _DeclaringRegion:
    """A region that may declare something, its function's macros expanded."""

    function: ParsedFunction
    block: AnnotationBlock
    place: RegionPlace
    items: tuple[_RegionStatement, ...]

    def with_declarations_ahead(self) -> tuple[AnnotationBlock, list[Edit]]:
        """Return the region without the declarations that stand in front, and the edits for that.

        Raises:
            AnnotuneError: One of them cannot stand in front.
        """
        after = frozenset(self._words_after())
        outliving = [
            n for n, item in enumerate(self.items) if item.is_memory or item.introduced() & after
        ]
        others = (n for n, item in enumerate(self.items) if not item.is_declaration)
        leading = next(others, len(self.items))
        first = max((n + 1 for n in outliving if n < leading), default=0)
        block, edits = self._after_leading(first)
        moved: dict[int, frozenset[str]] = {}
        for number in outliving:
            if number >= first:
                self._move(number, first, moved)
        ahead: list[str] = []
        for number in sorted(moved):
            text, own = self._texts(self.items[number], moved[number])
            ahead.append(text)
            edits += own
        if ahead:
            edits.append((block.start, block.start, "".join(f"{text} " for text in ahead)))
        return block, edits

    def _words_after(self) -> Iterator[str]:
        """Yield the names that the rest of the block around the region uses."""
        waiting = [*(self._block_around().block_items or [])]
        while waiting:
            item = waiting.pop()
            if isinstance(item, c_ast.Case | c_ast.Default):
                waiting += item.stmts or []
            elif isinstance(item, c_ast.Label):
                waiting.append(item.stmt)
            elif _place_of(item) >= self.block.body_end:
                yield from _words(item)

    def _block_around(self) -> c_ast.Compound:
        own, body = self.place.statements[0], self.function.body
        waiting: list[tuple[c_ast.Node, c_ast.Compound]] = [(body, body)]
        while waiting:
            node, around = waiting.pop()
            if node is own:
                return around
            around = node if isinstance(node, c_ast.Compound) else around
            waiting += [(child, around) for child in node]
        return body

    def _after_leading(self, count: int) -> tuple[AnnotationBlock, list[Edit]]:
        """Return the region as it begins after so many statements, without its annotation."""
        block, text = self.block, self.function.file.source.text
        if not count:
            return block, []
        start = self.function.tokens.limits[self.items[count - 1].last]
        while start < block.body_end and text[start].isspace():
            start += 1
        line = text.rfind("\n", 0, block.start) + 1
        opener = line if not text[line : block.start].strip() else block.start
        rest = text[block.body_start : (text + "\n").index("\n", block.body_start)]
        blank = re.sub(r"[^\r\n]", "", text[opener : block.body_start])
        if rest.strip():
            # Columns stay as they are.
            last = max(text.rfind("\n", 0, block.body_start) + 1, opener)
            blank += re.sub(r"[^\t]", " ", text[last : block.body_start])
        found = replace(block, start=start, body_start=start)
        return found, [(opener, block.body_start, blank)] if opener < block.body_start else []

    # Declarations between statements ------------------------------------------------------

    def _move(self, number: int, first: int, moved: dict[int, frozenset[str]]) -> None:
        """Note in `moved` that a declaration moves, with the names whose values do not.

        The statements from `first` on stay in the region. What a declaration needs moves, too.

        Raises:
            AnnotuneError: It cannot move.
        """
        item = self.items[number]
        used = {word for one in self.items[first:number] for word in one.words()}
        for clash in sorted(item.introduced() & used):
            raise self._refused(item, clash, "the region means another one by that name before it")
        if self.function.file.clean.directives_in(*self._extent(item)):
            raise self._refused(item, "", "a directive stands in it")
        late: set[str] = set()
        for node in item.nodes:
            name = getattr(node, "name", None) or ""
            own = frozenset(late)
            if not self._is_same_ahead(getattr(node, "type", node), first, number, moved, own):
                raise self._refused(item, name, "its type depends on what the region computes")
            value = node.init if isinstance(node, c_ast.Decl) and not item.is_constant else None
            if value is None or self._is_same_ahead(value, first, number, moved, own):
                continue
            if why := self._why_not_apart(item, node):
                raise self._refused(item, name, why)
            late.add(name)
        moved[number] = frozenset(late)

    def _is_same_ahead(
        self,
        part: c_ast.Node,
        first: int,
        number: int,
        moved: dict[int, frozenset[str]],
        late: frozenset[str],
    ) -> bool:
        """Return whether a type or a value is the same before the statements from `first` on.

        The `late` names of its own declaration have no value there.
        """
        earlier = self.items[first:number]
        nodes = (node for item in earlier for whole in item.nodes for node in walk_tree(whole))
        targets = (changed_by(node, CHANGES) for node in nodes)
        changed = {target.name for target in targets if isinstance(target, c_ast.ID)}
        for word in _words(part):
            owners = (k for k, one in enumerate(earlier, first) if word in one.introduced())
            owner = next(owners, -1)
            if owner >= 0 and owner not in moved:
                try:
                    self._move(owner, first, moved)
                except AnnotuneError:
                    return False
            if word in changed | late or (owner >= 0 and word in moved[owner]):
                return False
        return all(map(self._reads_no_memory, walk_tree(part)))

    def _reads_no_memory(self, node: c_ast.Node) -> bool:
        """Return whether a part of an expression is a number that no statement changes unnamed."""
        match node:
            case c_ast.FuncCall() | c_ast.ArrayRef() | c_ast.StructRef() | c_ast.Assignment():
                return False
            case c_ast.UnaryOp(op=op):
                return op not in CHANGES | {"*"}
            case c_ast.ID(name=name):
                symbol = self.function.scope.find(name, self.place.scopes)
                if symbol is None or symbol.is_const or symbol.is_array:
                    return True
                is_shared = symbol.storage in ("file", "static")
                return not is_shared and name not in addressed(self.function.body)
        return True

    def _why_not_apart(self, item: _RegionStatement, node: c_ast.Node) -> str:
        """Return why no assignment can give a variable its value; nothing where one can."""
        kind = node.type if isinstance(node, c_ast.Decl) else node
        if not isinstance(kind, c_ast.TypeDecl | c_ast.PtrDecl) or (
            isinstance(node, c_ast.Decl) and isinstance(node.init, c_ast.InitList)
        ):
            return "the region computes its values before it"
        if isinstance(kind, c_ast.PtrDecl) and "const" in (kind.quals or []):
            return "it is a constant pointer"
        is_plain = all(isinstance(decl.type, c_ast.TypeDecl) for decl in item.decls)
        if self._is_constant(item) and not is_plain:
            return "it is one of constants and pointers or arrays"
        tokens, text = self.function.tokens, self.function.file.source.text
        marks = [i for i in range(item.first, item.last + 1) if tokens.texts[i] in ("=", ",", ";")]
        plain = (tokens.texts[i] == text[tokens.roots[i] : tokens.limits[i]] for i in marks)
        return "" if all(plain) else "a macro makes it"

    def _is_constant(self, item: _RegionStatement) -> bool:
        """Return whether a declaration is one of numbers that nothing may assign."""
        numbers = (decl for decl in item.decls if isinstance(decl.type, c_ast.TypeDecl))
        return any("const" in (decl.quals or []) for decl in numbers)

    def _texts(self, item: _RegionStatement, late: frozenset[str]) -> tuple[str, list[Edit]]:
        """Return what stands in front of the region, and what becomes of the declaration."""
        tokens, text = self.function.tokens, self.function.file.clean.text
        start, end = self._extent(item)
        left = list(re.sub(r"[^\r\n]", " ", text[start:end]))
        if not late:
            return " ".join(text[start:end].split()), [(start, end, "".join(left))]
        ahead: list[str] = []
        at = item.first
        for after in self._ends(item):
            equals = next((i for i in self._outside(at, after) if tokens.texts[i] == "="), after)
            if equals == after or tokens.texts[equals - 1] not in late:
                equals = after
            else:
                kept = slice(tokens.roots[equals - 1] - start, tokens.limits[after - 1] - start)
                left[kept] = text[start:end][kept]
                left[tokens.roots[after] - start] = ";"
            ahead.append(text[tokens.roots[at] : tokens.limits[equals - 1]])
            at = after + 1
        declared = " ".join(f"{', '.join(ahead)};".split())
        if self._is_constant(item):
            declared = re.sub(r"\bconst ", "", declared)
        return declared, [(start, end, "".join(left))]

    def _ends(self, item: _RegionStatement) -> Iterator[int]:
        """Yield the tokens that end the declarators of a declaration."""
        for index in self._outside(item.first, item.last):
            if self.function.tokens.texts[index] == ",":
                yield index
        yield item.last

    def _outside(self, index: int, after: int) -> Iterator[int]:
        """Yield the tokens before `after` that stand in no brackets."""
        tokens = self.function.tokens
        while index < after:
            yield index
            index = max(index, tokens.match[index]) + 1

    def _extent(self, item: _RegionStatement) -> tuple[int, int]:
        tokens = self.function.tokens
        return tokens.roots[item.first], tokens.limits[item.last]

    def _refused(self, item: _RegionStatement, name: str, why: str) -> AnnotuneError:
        source = self.function.file.source
        name = name or next((d.name for d in item.decls if d.name), "this type")
        span = source.span(*self._extent(item))
        return AnnotuneError.of(messages.DECLARED_TOO_LATE.at(span, name=name, why=why))
