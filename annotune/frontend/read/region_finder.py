"""The annotated places of a file as the front end sees them, and what may stand in one.

The statements of a function that stand between two offsets, and what is declared there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from annotune.annotation.spec import Spec
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.frontend import messages
from annotune.frontend.messages import CUTS_STATEMENT, NO_NEST, NOT_IN_FUNCTION
from annotune.frontend.read.filescope import File, FileScope
from annotune.frontend.read.parse import NO_NAMES, parse
from annotune.frontend.read.preprocess import Clean, Directive
from annotune.frontend.read.syntax import c_ast, start_of, walk_tree
from annotune.frontend.read.tokens import IDENTIFIER, TOKEN, Tokens
from annotune.frontend.read.toplevel import TopLevel, enclosing
from annotune.frontend.types.symbols import Symbol

_OPENING = ("if", "ifdef", "ifndef")
_MIDDLE = ("elif", "else")


class Block(Protocol):
    """An annotated place of a file: offsets into its text, its annotation, and its span."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def body_start(self) -> int: ...
    @property
    def body_end(self) -> int: ...
    @property
    def spec(self) -> Spec: ...
    @property
    def span(self) -> Span: ...


def part_of(file: File, block: Block) -> TopLevel:
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


def check_directives(file: File, block: Block, part: TopLevel) -> None:
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


def _in_region(file: File, block: Block) -> Iterator[Diagnostic]:
    depth = 0
    found = file.clean.directives_in(block.body_start, block.body_end)
    opened: list[Directive] = []
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


def _refused(file: File, directive: Directive) -> Diagnostic:
    span = file.source.span(directive.start, directive.end)
    return messages.DIRECTIVE_IN_REGION.at(span, directive=directive.word)


def _definition(file: File, block: Block, directive: Directive) -> Iterator[Diagnostic]:
    """Yield why a macro of the region must outlive the region's text."""
    words = file.source.text[directive.start : directive.end].replace("#", " ").split(None, 1)
    name = (TOKEN.match(words[1]) if len(words) > 1 else None) or TOKEN.match("_")
    assert name is not None
    after = file.tokens.texts[file.tokens.at(block.end) :]
    if name[0] in after or any(_mentions(file, other, name[0]) for other in set(after)):
        span = file.source.span(directive.start, directive.end)
        yield messages.DEFINE_IN_REGION.at(span, directive=directive.word, name=name[0])


def _mentions(file: File, macro: str, name: str) -> bool:
    if not IDENTIFIER.match(macro) or macro not in file.clean.macros:
        return False
    bodies = [m.body for _, m in file.clean.macros[macro] if m is not None]
    return any(name in TOKEN.findall(body) for body in bodies)


def macros_defined_in(clean: Clean, blocks: Sequence[Block]) -> frozenset[str]:
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


# Operators that change their operand, or let others change it.
_CHANGING = frozenset({"++", "--", "p++", "p--", "&"})
# What may stand before a statement.
_BEFORE_STATEMENT = frozenset({";", "{", "}", ")", "else", "do", ":"})


@dataclass(frozen=True)
class Function:
    """A parsed function with the names that its file gives it.

    `changes` holds the scalars that it assigns, or passes by address, after their declaration,
    with the last offset where it does. `tokens` are its own, macros expanded.
    """

    part: TopLevel
    tree: Any
    scope: FileScope
    changes: Mapping[str, int]
    tokens: Tokens


@dataclass(frozen=True)
class Place:
    """The statements of a region and the scopes around them, outermost first."""

    statements: Sequence[Any]
    scopes: list[dict[str, Symbol]]


def function_at(file: File, part: TopLevel, erased: frozenset[str] = NO_NAMES) -> Function:
    """Return the function that one part of the file defines, parsed.

    `erased` are macros whose definitions stand in text that will be replaced.
    """
    scope = file.scope_before(part)
    file.parsed_tokens += part.last + 1 - part.first
    types = scope.types.names()
    parsed = parse(file.clean, file.tokens, part, types, erased=erased)
    trees = [n for n in parsed.nodes if isinstance(n, c_ast.FuncDef)]
    if not trees:
        span = file.source.span(file.tokens.starts[part.first], file.tokens.ends[part.first])
        raise AnnotuneError.of(NOT_IN_FUNCTION.at(span))
    return Function(part, trees[0], scope, changes_in(trees[0].body), parsed.tokens)


def changes_in(body: Any) -> dict[str, int]:
    """Return the scalars that a function's body sets or passes by address, with the last place."""
    changes: dict[str, int] = {}
    for node in walk_tree(body):
        target = None
        if isinstance(node, c_ast.Assignment):
            target = node.lvalue
        elif isinstance(node, c_ast.UnaryOp) and node.op in _CHANGING:
            target = node.expr
        if isinstance(target, c_ast.ID):
            changes[target.name] = max(changes.get(target.name, -1), target.coord.line)
    return changes


def find(file: File, function: Function, start: int, end: int, span: Span) -> Place:
    """Return the statements between `start` and `end`, which must be whole and of one block."""
    tokens = function.tokens
    first, after = tokens.at(start), tokens.at(end)
    if first >= after:
        raise AnnotuneError.of(NO_NEST.at(span))
    if tokens.texts[first - 1] not in _BEFORE_STATEMENT:
        raise AnnotuneError.of(_cut(file, tokens, first))
    for index in range(first, after):
        if tokens.match[index] >= 0 and not first <= tokens.match[index] < after:
            raise AnnotuneError.of(_cut(file, tokens, index))
    finder = _Finder(file, function, start, end)
    finder.descend(function.tree.body.block_items or [])
    if not finder.found:
        raise AnnotuneError.of(_cut(file, tokens, first))
    if not _starts_inside(tokens, finder.found[0], first):
        raise AnnotuneError.of(_cut(file, tokens, first))
    index = first
    while index < after:
        last = tokens.statement_end(index)
        if last >= after:
            raise AnnotuneError.of(_cut(file, tokens, index))
        index = last + 1
    return Place(finder.found, finder.scopes)


def _starts_inside(tokens: Tokens, statement: Any, first: int) -> bool:
    """Return whether a statement is the one at token `first`.

    pycparser gives no place to `const` or to the `*` of ``*p = 0``, so it may seem to start later.
    """
    last = tokens.statement_end(first)
    return tokens.roots[first] <= start_of(statement) <= tokens.limits[last]


def _cut(file: File, tokens: Tokens, index: int) -> Any:
    index = min(index, len(tokens) - 1)
    span = file.source.span(tokens.starts[index], tokens.ends[index])
    return CUTS_STATEMENT.at(span)


class _Finder:
    """The way from a function's body down to the region's block, with what it declares."""

    def __init__(self, file: File, function: Function, start: int, end: int) -> None:
        self.file = file
        self.function = function
        self.start = start
        self.end = end
        self.scopes: list[dict[str, Symbol]] = [self._parameters()]
        self.found: Sequence[Any] = ()

    def descend(self, items: Sequence[Any]) -> None:
        """Look for the region among the statements of one block."""
        scope: dict[str, Symbol] = {}
        self.scopes.append(scope)
        holder = None
        for item in items:
            at = _outer_start(item, self.file)
            if self.start <= at < self.end:
                self.found = [*self.found, item]
            elif at < self.start:
                holder = item
                self._declare(item, scope)
        if not self.found and holder is not None:
            self._into(holder)

    def _into(self, node: Any) -> None:
        """Look into the statement that began before the region."""
        if isinstance(node, c_ast.Compound):
            self.descend(node.block_items or [])
            return
        if isinstance(node, c_ast.For) and isinstance(node.init, c_ast.DeclList):
            scope: dict[str, Symbol] = {}
            for decl in node.init.decls:
                self._declare(decl, scope)
            self.scopes.append(scope)
        if isinstance(node, c_ast.Case | c_ast.Default):
            self.descend(node.stmts or [])
            return
        bodies = [getattr(node, field, None) for field in ("stmt", "iftrue", "iffalse")]
        inner = [b for b in bodies if b is not None and _outer_start(b, self.file) < self.end]
        if inner:
            last = inner[-1]
            if isinstance(last, c_ast.Compound) and _outer_start(last, self.file) < self.start:
                self.descend(last.block_items or [])
            else:
                self.descend([last])

    def _parameters(self) -> dict[str, Symbol]:
        scope: dict[str, Symbol] = {}
        arguments = self.function.tree.decl.type.args
        declared = list(self.function.tree.param_decls or [])
        if arguments is not None:
            declared += [p for p in arguments.params if isinstance(p, c_ast.Decl)]
        for decl in declared:
            if decl.name:
                scope[decl.name] = self.function.scope.types.symbol(decl, "parameter")
        return scope

    def _declare(self, item: Any, scope: dict[str, Symbol]) -> None:
        if isinstance(item, c_ast.Typedef):
            self.function.scope.types.typedefs[item.name] = item.type
        if isinstance(item, c_ast.Decl):
            self.file.enumerate_in(item.type, self.function.scope)
            self.function.scope.types.learn(item)
        if not isinstance(item, c_ast.Decl) or not item.name:
            return
        symbol = self.function.scope.types.symbol(item, "local")
        if symbol.is_integer and item.init is not None and item.name not in self.function.changes:
            symbol = symbol.with_value(self._value(item.init))
        scope[item.name] = symbol

    def _value(self, node: Any) -> int | None:
        known = dict(self.function.scope.enumerators)
        for scope in [self.function.scope.symbols, *self.scopes]:
            for name, symbol in scope.items():
                known.pop(name, None)
                if symbol.value is not None:
                    known[name] = symbol.value
        return self.file.value(node, known)


def _outer_start(node: Any, file: File) -> int:
    """Return where a statement starts, its opening brace included."""
    if isinstance(node, c_ast.Compound):
        return int(node.coord.line)
    return start_of(node)
