"""The annotated places of a file as the front end sees them, and what may stand in one.

The statements of a function that stand between two offsets, and what is declared there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from pycparser import c_ast

from annotune.annotation.regions import AnnotationBlock
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.frontend import messages
from annotune.frontend.messages import CUTS_STATEMENT, NO_NEST, NOT_IN_FUNCTION
from annotune.frontend.read.counted import count_loops
from annotune.frontend.read.filescope import File, FileScope
from annotune.frontend.read.jumps import structure
from annotune.frontend.read.parse import NO_NAMES, TopLevel, enclosing, parse
from annotune.frontend.read.preprocess import Clean, CppDirective
from annotune.frontend.read.syntax import (
    CHANGES,
    changed_by,
    offset,
    start_of,
    unlabelled,
    walk_tree,
)
from annotune.frontend.read.tokens import TOKEN, Tokens
from annotune.frontend.types.symbols import Symbol
from annotune.frozen import dataclass
from annotune.ir.identity import once_for_each

_OPENING = ("if", "ifdef", "ifndef")
_MIDDLE = ("elif", "else")


def part_of(file: File, block: AnnotationBlock) -> TopLevel:
    """Return the function around a block, or raise that there is none."""
    tokens = file.tokens
    if file.clean.is_left_out(block.body_start):
        raise AnnotuneError.of(messages.LEFT_OUT.at(block.span))
    for index in (tokens.at(block.body_start), tokens.at(block.body_start) - 1):
        part = enclosing(file.parts, index)
        if part and part.body >= 0:
            opens, closes = tokens.starts[part.body], tokens.ends[part.last]
            if opens < block.body_start and block.body_end < closes:
                return part
    raise AnnotuneError.of(messages.NOT_IN_FUNCTION.at(block.span))


def check_directives(file: File, block: AnnotationBlock, part: TopLevel) -> None:
    """Raise what the directives in and around a region make impossible."""
    problems = list(_in_region(file, block))
    opens, closes = file.tokens.starts[part.first], file.tokens.ends[part.last]
    for unread in file.clean.unread:
        if opens < unread.start < closes:
            span = file.source.span(unread.start, unread.end)
            problems.append(
                messages.UNREAD_HEADER.at(
                    span, name=unread.name, function=part.function, reason=unread.reason
                )
            )
    if problems:
        raise AnnotuneError(tuple(problems))


def _in_region(file: File, block: AnnotationBlock) -> Iterator[Diagnostic]:
    depth = 0
    found = file.clean.directives_in(block.body_start, block.body_end)
    opened: list[CppDirective] = []
    for directive in found:
        depth += (directive.word in _OPENING) - (directive.word == "endif")
        if directive.word in _OPENING:
            opened.append(directive)
        elif directive.word == "endif" and opened:
            opened.pop()
        elif directive.word in ("define", "undef"):
            yield from _definition(file, block, directive)
        elif directive.word not in _MIDDLE or not opened:
            # Half a conditional cannot be replaced, nor can the text of a header.
            yield _refused(file, directive)
    for directive in opened:
        yield _refused(file, directive)


def _refused(file: File, directive: CppDirective) -> Diagnostic:
    span = file.source.span(directive.start, directive.end)
    return messages.DIRECTIVE_IN_REGION.at(span, directive=directive.word)


def _definition(
    file: File, block: AnnotationBlock, directive: CppDirective
) -> Iterator[Diagnostic]:
    """Yield why a macro of the region must outlive the region's text."""
    words = file.source.text[directive.start : directive.end].replace("#", " ").split(None, 1)
    name = (TOKEN.match(words[1]) if len(words) > 1 else None) or TOKEN.match("_")
    assert name is not None
    after = file.tokens.texts[file.tokens.at(block.end) :]
    histories = (file.clean.macros.get(other, ()) for other in set(after))
    bodies = (macro.names for history in histories for _, macro in history if macro is not None)
    if name[0] in after or any(name[0] in names for names in bodies):
        span = file.source.span(directive.start, directive.end)
        yield messages.DEFINE_IN_REGION.at(span, directive=directive.word, name=name[0])


def macros_defined_in(clean: Clean, blocks: Sequence[AnnotationBlock]) -> frozenset[str]:
    """Return the macros that are defined inside the blocks; `blocks` are in text order."""
    starts = [block.start for block in blocks]

    def is_inside(offset: int) -> bool:
        at = bisect_right(starts, offset) - 1
        return at >= 0 and offset < blocks[at].end

    return frozenset(
        name
        for name, history in clean.macros.items()
        if any(macro is not None and is_inside(offset) for offset, macro in history)
    )


# What may stand before a statement.
_BEFORE_STATEMENT = frozenset({";", "{", "}", ")", "else", "do", ":"})


@dataclass(frozen=True)
class ParsedFunction:
    """A parsed function with the names that its file gives it.

    `changes` holds the scalars that it assigns, or passes by address, after their declaration,
    with the last offset where it does. `tokens` are its own, macros expanded.
    """

    file: File
    part: TopLevel
    tree: c_ast.FuncDef
    scope: FileScope
    changes: Mapping[str, int]
    tokens: Tokens

    @property
    def body(self) -> c_ast.Compound:
        return self.tree.body


@dataclass(frozen=True)
class RegionPlace:
    """The statements of a region and the scopes around them, outermost first."""

    statements: Sequence[c_ast.Node]
    scopes: list[dict[str, Symbol]]


def function_at(
    file: File,
    part: TopLevel,
    erased: frozenset[str] = NO_NAMES,
    places: Collection[int] | None = (),
) -> ParsedFunction:
    """Return the function that one part of the file defines, parsed.

    `erased` are macros whose definitions stand in text that will be replaced, `places` where such
    text starts: loops that hold none of it have branches in the place of jumps, and ``while`` loops
    that count are ``for`` loops. With None all stay.
    """
    scope = file.scope_of(file.declaration(part))
    parsed = parse(file.clean, file.tokens, part, scope.types.names(), erased=erased)
    trees = [n for n in parsed.nodes if isinstance(n, c_ast.FuncDef)]
    if not trees:
        span = file.source.span(file.tokens.starts[part.first], file.tokens.ends[part.first])
        raise AnnotuneError.of(NOT_IN_FUNCTION.at(span))
    if places is not None:
        structure(trees[0].body, places)
        count_loops(trees[0].body, places)
    return ParsedFunction(file, part, trees[0], scope, changes_in(trees[0].body), parsed.tokens)


def changes_in(body: c_ast.Compound) -> dict[str, int]:
    """Return the scalars that a body assigns, or passes by address, with the last such place."""
    changes: dict[str, int] = {}
    for node in walk_tree(body):
        target = changed_by(node, CHANGES)
        if isinstance(target, c_ast.ID):
            changes[target.name] = max(changes.get(target.name, -1), offset(target))
    return changes


def find(function: ParsedFunction, start: int, end: int, span: Span) -> RegionPlace:
    """Return the statements between `start` and `end`, which must be whole and of one block.

    The function's scope learns what its blocks declare on the way.
    """
    tokens = function.tokens
    first, after = tokens.at(start), tokens.at(end)
    if first >= after:
        raise AnnotuneError.of(NO_NEST.at(span))
    if tokens.texts[first - 1] not in _BEFORE_STATEMENT:
        raise _cut(function, first)
    for index in range(first, after):
        if tokens.match[index] >= 0 and not first <= tokens.match[index] < after:
            raise _cut(function, index)
    finder = _RegionFinder(function, start, end)
    finder.descend(function.body.block_items or [])
    if not finder.found or not _starts_inside(tokens, finder.found[0], first):
        raise _cut(function, first)
    index = first
    while index < after:
        last = tokens.statement_end(index)
        if last >= after:
            raise _cut(function, index)
        index = last + 1
    return RegionPlace(finder.found, finder.scopes)


def _starts_inside(tokens: Tokens, statement: c_ast.Node, first: int) -> bool:
    """Return whether a statement is the one at token `first`.

    pycparser gives no place to `const` or to the `*` of ``*p = 0``, so it may seem to start later.
    """
    last = tokens.statement_end(first)
    return tokens.roots[first] <= start_of(statement) <= tokens.limits[last]


def _cut(function: ParsedFunction, index: int) -> AnnotuneError:
    tokens = function.tokens
    index = min(index, len(tokens) - 1)
    span = function.file.source.span(tokens.starts[index], tokens.ends[index])
    return AnnotuneError.of(CUTS_STATEMENT.at(span))


class _RegionFinder:
    """The way from a function's body down to the region's block, with what it declares."""

    def __init__(self, function: ParsedFunction, start: int, end: int) -> None:
        self.function = function
        self.start = start
        self.end = end
        self.scopes: list[dict[str, Symbol]] = [self._parameters()]
        self.found: list[c_ast.Node] = []

    def descend(self, items: Sequence[c_ast.Node]) -> None:
        """Look for the region among the statements of one block."""
        scope: dict[str, Symbol] = {}
        self.scopes.append(scope)
        holder = None
        for item in unlabelled(items, lambda label: start_of(label) >= self.start):
            at = _outer_start(item)
            if self.start <= at < self.end:
                self.found.append(item)
            elif at < self.start:
                holder = item
                self._declare(item, scope)
        if not self.found and holder is not None:
            self._into(holder)

    def _into(self, node: c_ast.Node) -> None:
        """Look into the statement that began before the region."""
        inner: list[c_ast.Node | None] = []
        match node:
            case c_ast.Compound():
                self.descend(node.block_items or [])
            case c_ast.For() | c_ast.While() | c_ast.DoWhile() | c_ast.Switch():
                inner = [node.stmt]
            case c_ast.If():
                inner = [node.iftrue, node.iffalse]
        if isinstance(node, c_ast.For) and isinstance(node.init, c_ast.DeclList):
            scope: dict[str, Symbol] = {}
            for decl in node.init.decls:
                self._declare(decl, scope)
            self.scopes.append(scope)
        begun = [n for n in inner if n is not None and _outer_start(n) < self.end]
        if begun:
            last = begun[-1]
            if isinstance(last, c_ast.Compound) and _outer_start(last) < self.start:
                self.descend(last.block_items or [])
            else:
                self.descend([last])

    def _parameters(self) -> dict[str, Symbol]:
        head = self.function.tree.decl.type
        declared = list(self.function.tree.param_decls or [])
        if isinstance(head, c_ast.FuncDecl) and head.args is not None:
            declared += head.args.params
        types = self.function.scope.types
        named = (d for d in declared if isinstance(d, c_ast.Decl) and d.name)
        return {symbol.name: symbol for symbol in (types.symbol(d, "parameter") for d in named)}

    def _declare(self, item: c_ast.Node, scope: dict[str, Symbol]) -> None:
        function, types = self.function, self.function.scope.types
        if isinstance(item, c_ast.Typedef):
            types.typedefs[item.name] = item.type
        if not isinstance(item, c_ast.Decl):
            return
        function.file.enumerate_in(item.type, function.scope)
        types.learn(item)
        if not item.name:
            return
        symbol = types.symbol(item, "local")
        if symbol.is_integer and item.init is not None and item.name not in function.changes:
            known = partial(function.scope.constant, scopes=self.scopes)
            symbol = symbol.with_value(function.file.value(item.init, known))
        scope[item.name] = symbol


@once_for_each(1 << 16)
def _outer_start(node: c_ast.Node) -> int:
    """Return where a statement starts, its opening brace included."""
    return offset(node) if isinstance(node, c_ast.Compound) else start_of(node)
