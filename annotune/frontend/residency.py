"""Blocks of Data: what the host's text must say so that arrays can stay on the device.

Whatever runs in such a block is looked at, in all functions of the file that it calls. A statement
of the host's that may touch an array through a pointer is preceded by a call that has this array
right on the host, if it is one of those on the device. Calls of functions that are defined
elsewhere have all arrays on the host, unless the annotation names them. A pointer that may lie
outside of its array is asked for by those that it was made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain

from pycparser import c_ast

from annotune.annotation.data_block import DataBlock, NamedArray
from annotune.annotation.regions import AnnotationBlock
from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.frontend import messages
from annotune.frontend.memory import HostTouch, Piece, Scope, touched
from annotune.frontend.origins import (
    FunctionPointers,
    Origins,
    PointerPlace,
    PointerVariable,
    Renamer,
    given_name,
    renamed_at,
)
from annotune.frontend.read.filescope import File
from annotune.frontend.read.ladder import Ladder
from annotune.frontend.read.parse import TopLevel, enclosing
from annotune.frontend.read.region_finder import ParsedFunction, RegionPlace, find, function_at
from annotune.frontend.read.syntax import (
    addressed,
    changed_by,
    start_of,
    text_of,
    unlabelled,
    walk_tree,
)
from annotune.frontend.types.symbols import Symbol
from annotune.frozen import dataclass
from annotune.ir.residency import Called, DataCall, DataEdit, DataText, GivenPointer

# What stands before a statement without being C: comments, other directives, and pragmas, also as
# an operator, or behind the name of a macro.
_BEFORE = re.compile(
    r"/\*.*?\*/|//[^\n]*|^[ \t]*(?P<pragma>#[ \t]*pragma\b)|^[ \t]*#(?:\\\n|[^\n])*|(?P<word>\w)",
    re.MULTILINE | re.DOTALL,
)
# Of threads, or of a device. What the name of a macro stands for may be.
_OTHERS = re.compile(r"\b(?:omp|acc)\b")
_LOOPS = (c_ast.For, c_ast.While, c_ast.DoWhile)
_WAY_OUT = "take it into a variable, or into a statement of its own, before"


@dataclass(frozen=True)
class DataFound:
    """What blocks of Data need in a file, and what is wrong with them, or worth a warning."""

    residency: DataText
    problems: tuple[Diagnostic, ...] = ()


def residency(
    ladder: Ladder, blocks: Sequence[DataBlock], regions: Sequence[AnnotationBlock]
) -> DataFound:
    """Return what the text of a file needs for its blocks of Data, but for those refused."""
    if not blocks:
        return DataFound(DataText())
    refusal: AnnotuneError | None = None
    for rung in ladder.rungs():
        try:
            return _File(rung.file, blocks, regions).read()
        except RecursionError:
            refusal = AnnotuneError.of(messages.TOO_DEEP.at(blocks[0].span))
            break
        except AnnotuneError as error:
            refusal = error if refusal is None or not rung.problem else refusal
            if not ladder.may_help(error):
                break
    assert refusal is not None
    said = ladder.explained(refusal).diagnostics
    wrong = [
        one for one in blocks if any(_concerns_block(problem, one, ladder) for problem in said)
    ]
    if not wrong or len(wrong) == len(blocks):
        return DataFound(DataText(), (*said, messages.NOTHING_STAYS.at(blocks[0].span)))
    # What the host does in the others was looked at without these.
    left = [messages.BLOCK_LEFT.at(one.span) for one in wrong]
    others = residency(ladder, [one for one in blocks if one not in wrong], regions)
    return DataFound(others.residency, tuple(dict.fromkeys((*said, *left, *others.problems))))


def _concerns_block(problem: Diagnostic, block: DataBlock, ladder: Ladder) -> bool:
    """Return whether an error is one of a block: of its ends, or of what stands in it."""
    source = ladder.first.file.source
    first, last = (source.span(*place).line for place in (block.opener, block.closer))
    is_own = problem.span.file == block.span.file and first <= problem.span.line <= last
    return is_own and problem.severity == "error"


class _File:
    """A file with its blocks; functions are parsed when they are asked for."""

    def __init__(
        self, file: File, blocks: Sequence[DataBlock], regions: Sequence[AnnotationBlock]
    ) -> None:
        self.file = file
        self.blocks = blocks
        self.regions = regions
        self.parsed: dict[str, ParsedFunction] = {}
        self.kinds: dict[str, str] = {}
        self.found: dict[str, HostTouch | None] = {}
        self.outside = frozenset(c.name for block in blocks for c in block.calls)
        self.pointers: dict[str, FunctionPointers] = {}
        self.words: dict[int, frozenset[str]] = {}
        self.origins = Origins(self.pointers_of, self.functions_with)

    def read(self) -> DataFound:
        """Return what the blocks need.

        Raises:
            AnnotuneError: One of them is refused, with every reason.
        """
        of_function: dict[str, list[DataBlock]] = {}
        whole: dict[str, None] = {}
        present: dict[str, int] = {}
        calls: dict[str, int] = {}
        for block in self.blocks:
            name = self.part_of(block).function
            of_function.setdefault(name, []).append(block)
            if block.present:
                whole[name] = None
                present[name] = self.start_of(name)
            outside = [c.name for c in block.calls if self.own_part(c.name) is None]
            calls |= {other: self.start_of(name) for other in outside if other not in calls}
        hosts: dict[str, _Host] = {}
        # What a block calls is looked at from its beginning, also if it has a block of its own.
        while waiting := [
            name
            for name in {**of_function, **whole}
            if name not in hosts or hosts[name].is_whole != (name in whole)
        ]:
            name = waiting[0]
            host = _Host(self, self.function(name), of_function.get(name, []), name in whole)
            host.look()
            hosts[name] = host
            whole |= dict.fromkeys(host.called)
        problems = [problem for host in hosts.values() for problem in host.problems]
        errors = [p for p in problems if p.severity == "error"]
        if errors:
            raise AnnotuneError.of(*sorted(problems, key=lambda problem: problem.span))
        edits = (edit for host in hosts.values() for edit in host.found)
        ordered = tuple(sorted(edits, key=lambda edit: (edit.start, edit.end)))
        macros = frozenset(self.file.clean.macros)
        kept = tuple(one for host in hosts.values() for one in host.given)
        found = DataText(ordered, present, calls, macros, kept)
        return DataFound(found, tuple(dict.fromkeys(problems)))

    def part_of(self, block: DataBlock) -> TopLevel:
        tokens = self.file.tokens
        for index in (tokens.at(block.opener[1]), tokens.at(block.opener[1]) - 1):
            part = enclosing(self.file.parts, index)
            if part is not None and part.body >= 0:
                opens, closes = tokens.starts[part.body], tokens.ends[part.last]
                if opens < block.opener[0] and block.closer[1] <= closes:
                    return part
        raise AnnotuneError.of(messages.NOT_IN_FUNCTION.at(block.span))

    def start_of(self, name: str) -> int:
        """Return the start of the line on which a function of the file begins."""
        part, tokens = self.own_part(name), self.file.tokens
        assert part is not None
        first = tokens.starts[part.first]
        before = tokens.ends[part.first - 1] if part.first else 0
        line_start = self.file.source.line_start(first)
        return line_start if line_start >= before else first

    def own_part(self, name: str) -> TopLevel | None:
        return next((p for p in self.file.parts if p.body >= 0 and p.function == name), None)

    def function(self, name: str) -> ParsedFunction:
        if name not in self.parsed:
            part = self.own_part(name)
            assert part is not None
            self.parsed[name] = function_at(self.file, part, places=None)
        return self.parsed[name]

    def is_defined(self, name: str) -> bool:
        return self.own_part(name) is not None or self.file.definition(name) is not None

    def kind(self, name: str) -> str:
        """Return what a call of a function may do: ``runs``, ``acts``, ``plain`` or ``unknown``.

        One that runs has regions, one that acts statements that touch arrays: both are looked at
        themselves.
        """
        if name in self.outside and self.own_part(name) is None:
            return "runs"
        if self.own_part(name) is not None:
            return self.own_kind(name)
        found = self.everything(name)
        is_plain = found is not None and not found and not found.sets
        return "plain" if is_plain else "unknown"

    def own_kind(self, name: str) -> str:
        """Return the kind of a function of the file."""
        if name in self.kinds:
            return self.kinds[name]
        # Of one that is called while it is looked at, nothing is known yet.
        self.kinds[name] = "runs"
        part, tokens = self.function(name).part, self.file.tokens
        opens, closes = tokens.starts[part.body], tokens.ends[part.last]
        places = chain((b.start for b in self.regions), (b.opener[0] for b in self.blocks))
        found = self.everything(name)
        assert found is not None
        inner = {self.kind(other) for other in found.calls if other != name}
        acts = found.frees or found.pointers or found.freed or found.unclear or self.sets(name)
        self.kinds[name] = "acts" if acts or inner - {"plain"} else "plain"
        if any(opens < place < closes for place in places) or "runs" in inner:
            self.kinds[name] = "runs"
        return self.kinds[name]

    def sets(self, name: str) -> bool:
        """Return whether a call of a function may change pointers or integers that others see."""
        waiting, seen = [name], {name}
        while waiting:
            found = self.everything(waiting.pop())
            if found is None or found.sets:
                return True
            waiting += found.calls.keys() - seen
            seen |= found.calls.keys()
        return False

    def everything(self, name: str) -> HostTouch | None:
        """Return what all of a function's body touches, None where that is not known."""
        if name not in self.found:
            self.found[name] = None
            elsewhere = None if self.own_part(name) is not None else self.file.definition(name)
            if elsewhere is not None:
                self.found[name] = self.touches(
                    function_at(elsewhere.file, elsewhere.part, places=None)
                )
            elif self.own_part(name) is not None:
                self.found[name] = self.touches(self.function(name))
        return self.found[name]

    def touches(self, function: ParsedFunction) -> HostTouch:
        """Return what a function's body touches but for what its calls do."""
        return touched([function.body], self.scope_of(function))

    def scope_of(self, function: ParsedFunction) -> Scope:
        """Return the names around a function's body."""
        scope = function.scope.copy()
        symbols = {**scope.symbols, **_parameters(function)}
        return Scope(symbols.get, scope.types, self.is_defined, lambda _: False)

    def pointers_of(self, name: str) -> FunctionPointers | None:
        """Return what a function does with pointers, None for one that is not the file's own."""
        if name not in self.pointers:
            part = self.own_part(name)
            if part is None:
                return None
            # Another tree, whose variables get names of their own.
            function = function_at(self.file, part, places=None)
            types = function.scope.types
            Renamer(lambda decl: types.symbol(decl, "local").start).visit(function.body)
            piece = Piece([function.body], self.scope_of(function))
            parameters = [*_parameters(function)]
            self.pointers[name] = FunctionPointers.of(function.body, name, piece, parameters)
        return self.pointers[name]

    def functions_with(self, word: str) -> Iterator[FunctionPointers | None]:
        """Yield the functions in whose text a word stands; None for one that cannot be read."""
        for part in self.file.parts:
            if part.body < 0:
                continue
            if part.first not in self.words:
                self.words[part.first] = self.file.reach(part)
            if not word or word in self.words[part.first]:
                try:
                    yield self.pointers_of(part.function)
                except AnnotuneError:
                    yield None


def _parameters(function: ParsedFunction) -> dict[str, Symbol]:
    head = function.tree.decl.type
    declared = list(function.tree.param_decls or [])
    if isinstance(head, c_ast.FuncDecl) and head.args is not None:
        declared += head.args.params
    types = function.scope.types
    named = (d for d in declared if isinstance(d, c_ast.Decl) and d.name)
    return {symbol.name: symbol for symbol in (types.symbol(d, "parameter") for d in named)}


@dataclass(frozen=True)
class _Statement:
    """The trees of one statement, or declaration, and its tokens, both inside."""

    nodes: tuple[c_ast.Node, ...]
    first: int
    last: int
    is_item: bool


@dataclass
class _Host:
    """The host's statements of one function: in its blocks of Data, or in all of it."""

    file: _File
    function: ParsedFunction
    blocks: Sequence[DataBlock]
    is_whole: bool
    problems: list[Diagnostic] = field(default_factory=list)
    called: dict[str, None] = field(default_factory=dict)
    found: list[DataEdit] = field(default_factory=list)
    scopes: list[dict[str, Symbol]] = field(default_factory=list)
    given: list[GivenPointer] = field(default_factory=list)

    def look(self) -> None:
        """Find the calls that the function's text needs."""
        self.names = self.function.scope.copy()
        self.kept = frozenset(a.name for b in self.blocks for a in (*b.enter, *b.exit))
        self.may_hold_own = False
        self.start = self.file.start_of(self.function.part.function)
        for block in self.blocks:
            self.found += self.bounds(block)
        self.scopes = [_parameters(self.function)]
        opener = next(self.braces())
        self.items(self.function.body.block_items or [], opener)
        tokens, source = self.function.tokens, self.file.file.source
        place, body = tokens.limits[opener], tokens.roots[opener + 1]
        is_apart = source.line_start(body) >= place
        joint = f"\n{source.indent(body)}" if is_apart else " "
        self.given = [
            GivenPointer(place, self.start, given_name(name), name, joint)
            for name in self.scopes[0]
        ]

    def braces(self) -> Iterator[int]:
        """Yield the token that opens the function's body."""
        tokens, index = self.function.tokens, 0
        while tokens.texts[index] != "{":
            is_open = tokens.texts[index] in ("(", "[")
            index = tokens.match[index] + 1 if is_open else index + 1
        yield index

    # A block's ends ---------------------------------------------------------------------

    def bounds(self, block: DataBlock) -> Iterator[DataEdit]:
        """Yield what replaces an opener and its closer."""
        tokens, file = self.function.tokens, self.file.file
        indent = file.source.indent
        # The scope learns what is declared on the way to the block, whose names C need not use.
        named = [one.name for one in (*block.enter, *block.exit, *block.present)]
        scope = file.scope_of(file.declaration(self.function.part), named)
        fresh = replace(self.function, scope=scope)
        try:
            place = find(fresh, block.opener[1], block.closer[0], block.span)
        except AnnotuneError:
            raise AnnotuneError.of(messages.CUTS_BY_DATA.at(block.span)) from None
        # The calls are further statements beside the one that a branch or a loop has.
        is_alone = tokens.texts[tokens.at(block.opener[1]) - 1] in (")", "else", "do")
        self.problems += _jumps(place.statements, block, self.function)
        symbols = {name: fresh.scope.find(name, place.scopes) for name in named}
        for one in block.present:
            self.refuse(one, symbols[one.name])
        if not block.enter and not block.exit:
            return
        arrays = {one.name: one for one in (*block.enter, *block.exit)}
        # What is said once of its length counts.
        arrays |= {one.name: one for one in (*block.exit, *block.enter) if one.extents}
        begun: list[Called] = [(DataCall.BEGIN, ())]
        for name, one in arrays.items():
            symbol = symbols[name]
            size = self.size_of(one, symbol)
            if size and symbol is not None:
                begun.append((DataCall.ENTER, (name, size)))
                is_given = symbol.storage == "parameter" and name not in self.function.changes
                self.may_hold_own |= symbol.is_pointer and not is_given
        title = f"From here on the device keeps {', '.join(arrays)}."
        bounds = (*block.opener, self.start, indent(block.opener[0]))
        yield DataEdit(*bounds, tuple(begun), title=title, is_alone=is_alone)
        left = (base for one in block.exit for base in self.left_by(one, place))
        ended: list[Called] = [(DataCall.EXIT, (base,)) for base in dict.fromkeys(left)]
        wanted = ", ".join(one.name for one in block.exit)
        title = f"The host has {wanted} again." if wanted else "The device keeps them no longer."
        bounds = (*block.closer, self.start, indent(block.closer[0]))
        yield DataEdit(*bounds, (*ended, (DataCall.END, ())), title=title, is_alone=is_alone)

    def left_by(self, one: NamedArray, place: RegionPlace) -> tuple[str, ...]:
        """Return the pointers into an array that a block names, as they are at its end."""
        inside = (node for statement in place.statements for node in walk_tree(statement))
        changed = (target for node in inside if (target := changed_by(node)) is not None)
        if not any(isinstance(target, c_ast.ID) and target.name == one.name for target in changed):
            return (one.name,)
        found = self.bases_of(one.name, place.scopes)
        if found is None:
            why = "it may point outside of its array at the end of the block"
            self.problems.append(messages.NOT_KEPT.at(one.span, name=one.name, why=why))
        return found or (one.name,)

    def refuse(self, one: NamedArray, symbol: Symbol | None) -> bool:
        """Return whether a name is refused: it is of nothing that can stay on the device."""
        why = ""
        if symbol is None:
            why = "nothing of that name is declared before the block"
        elif not symbol.layers or symbol.layers[0].kind == "()":
            why = "it is no array"
        elif any(layer.kind != "[]" for layer in symbol.layers[1:]):
            why = "it is an array of pointers"
        elif symbol.special:
            why = f"it is {symbol.special}"
        elif symbol.is_register:
            why = "it is a register variable"
        elif symbol.is_pointer and self.points_to_a_variable(one.name):
            why = "it may point to a variable"
        if why:
            self.problems.append(messages.NOT_KEPT.at(one.span, name=one.name, why=why))
        return bool(why)

    def size_of(self, one: NamedArray, symbol: Symbol | None) -> str:
        """Return C for the bytes of an array, nothing after a refusal."""
        if self.refuse(one, symbol) or symbol is None:
            return ""
        if one.extents and len(one.extents) <= len(symbol.layers):
            element = one.name + "[0]" * len(one.extents)
            return " * ".join([f"sizeof {element}", *(f"({text})" for text in one.extents)])
        if not symbol.is_pointer:
            return f"sizeof {one.name}"
        first = symbol.layers[0].dim if symbol.layers[0].kind == "[]" else None
        if isinstance(first, c_ast.Node) and not one.extents and self.is_constant(first):
            return f"sizeof {one.name}[0] * ({text_of(first)})"
        self.problems.append(messages.NO_EXTENT.at(one.span, name=one.name))
        return ""

    def points_to_a_variable(self, name: str) -> bool:
        """Return whether a pointer is set to the address of a number in its function."""
        values: list[c_ast.Node | None] = []
        for node in walk_tree(self.function.body):
            match node:
                case c_ast.Decl() if node.name == name:
                    values.append(node.init)
                case c_ast.Assignment(lvalue=c_ast.ID(name=other)) if other == name:
                    values.append(node.rvalue)
        every = (inner for value in values for inner in walk_tree(value))
        return any(
            isinstance(inner, c_ast.UnaryOp)
            and inner.op == "&"
            and isinstance(inner.expr, c_ast.ID)
            for inner in every
        )

    def is_constant(self, extent: c_ast.Node) -> bool:
        """Return whether an extent means at a block what it did when the function was called."""
        names = {n.name for n in walk_tree(extent) if isinstance(n, c_ast.ID)}
        return not names & self.function.changes.keys()

    # Statements -------------------------------------------------------------------------

    def items(self, items: Sequence[c_ast.Node], opener: int) -> None:
        """Take in the statements of a block whose brace is the token `opener`."""
        self.scopes.append({})
        tokens, plain = self.function.tokens, list(unlabelled(items))
        index, number = tokens.after_labels(opener + 1), 0
        while index < tokens.match[opener] and number < len(plain):
            last = tokens.statement_end(index)
            own = [plain[number]]
            while number + len(own) < len(plain):
                following = plain[number + len(own)]
                if start_of(following) > tokens.roots[last] or not isinstance(
                    following, c_ast.Decl | c_ast.Typedef
                ):
                    break
                own.append(following)
            self.statement(_Statement(tuple(own), index, last, is_item=True))
            for node in own:
                self.declare(node)
            index, number = tokens.after_labels(last + 1), number + len(own)
        self.scopes.pop()

    def declare(self, node: c_ast.Node) -> None:
        if isinstance(node, c_ast.Typedef):
            self.names.types.typedefs[node.name] = node.type
        elif isinstance(node, c_ast.Decl):
            self.names.types.learn(node)
            if node.name:
                self.scopes[-1][node.name] = self.names.types.symbol(node, "local")

    def touched(self, nodes: Sequence[c_ast.Node]) -> HostTouch:
        scopes = [dict(scope) for scope in self.scopes]
        scope = Scope(
            lambda name: self.names.find(name, scopes),
            self.names.types,
            self.file.is_defined,
            self.file.sets,
            None if self.may_hold_own else self.kept,
            addressed(self.function.body),
            lambda name: self.bases_of(name, scopes),
            lambda node: self.file.origins.place_of_stored(node) is PointerPlace.BEFORE,
        )
        return touched(nodes, scope)

    def bases_of(self, name: str, scopes: Sequence[Mapping[str, Symbol]]) -> tuple[str, ...] | None:
        """Return pointers into the arrays into which one that is in scope may lead.

        None where these are not known and it may lie outside.
        """
        origins, function = self.file.origins, self.function.part.function
        known = {_name_apart(n, scopes): n for scope in scopes for n in scope}
        known |= {given_name(parameter): given_name(parameter) for parameter in scopes[0]}
        own = _name_apart(name, scopes)
        place = origins.place_of(PointerVariable(function if own in known else "", own))
        if place is PointerPlace.INSIDE:
            return (name,)
        begins = {_name_apart(kept, scopes) for kept in self.kept}
        found = origins.bases_of(function, own, begins) if own in known else None
        if found is None or not found <= known.keys():
            return None if place is PointerPlace.BEFORE else (name,)
        # What a block names begins an array on the device, whatever it was made of.
        is_near = place is PointerPlace.MOVED or name in self.kept
        return tuple(sorted({known[base] for base in found} | ({name} if is_near else set())))

    def statement(self, one: _Statement) -> None:
        """Take in one statement."""
        tokens = self.function.tokens
        start, end = tokens.roots[one.first], tokens.limits[one.last]
        # One that a region cuts in two is no part of it: the region is refused.
        regions = self.file.regions
        region = next((r for r in regions if r.start <= start and end <= r.end), None)
        marks = chain((r.start for r in regions), (b.opener[0] for b in self.file.blocks))
        has_marks = any(start < mark < end for mark in marks)
        is_shared = self.is_wanted(start) and self.is_shared(one.first)
        if region is None and has_marks and not is_shared:
            self.parts(one)
            return
        found = self.touched(one.nodes)
        kinds = {name: self.file.kind(name) for name in found.calls}
        if self.is_wanted(start):
            self.called |= {
                n: None for n in kinds if kinds[n] in ("runs", "acts") and self.file.own_part(n)
            }
        busy = [name for name, kind in kinds.items() if kind == "runs"]
        unknown = [name for name, kind in kinds.items() if kind == "unknown"]
        if region is None and is_shared and (has_marks or {*kinds.values()} - {"plain"}):
            self.simple(one, found, [], unknown, None, is_shared=True)
            return
        # What a branch needs is copied where it is taken.
        is_split = bool(busy or unknown) or isinstance(one.nodes[0], c_ast.If)
        is_split = is_split or (found.unclear is not None and not self.is_asked_again(one))
        # Nor can one copy before a statement what a jump into it finds.
        is_split = is_split or any(word == "label" for word, _ in self.ways_out(one.nodes))
        if found and is_split and region is None and self.has_parts(one):
            self.parts(one)
        elif self.is_wanted(start):
            self.simple(one, found, busy, unknown, region.start if region else None)

    def is_wanted(self, start: int) -> bool:
        inside = (b.opener[1] <= start < b.closer[0] for b in self.blocks)
        return self.is_whole or any(inside)

    @staticmethod
    def has_parts(one: _Statement) -> bool:
        (node, *_) = one.nodes
        return isinstance(node, (c_ast.Compound, c_ast.If, c_ast.Switch, *_LOOPS))

    def is_asked_again(self, one: _Statement) -> bool:
        """Return whether the head of a loop touches arrays, before which nothing can stand."""
        node = one.nodes[0]
        if not isinstance(node, _LOOPS):
            return False
        again = [node.cond, node.next] if isinstance(node, c_ast.For) else [node.cond]
        found = self.touched([part for part in again if part is not None])
        return bool(found.pointers or found.unclear or found.freed)

    def simple(
        self,
        one: _Statement,
        found: HostTouch,
        busy: Sequence[str],
        unknown: Sequence[str],
        region: int | None,
        is_shared: bool = False,
    ) -> None:
        """Take in a statement before which all arrays can be made right that it touches."""
        tokens = self.function.tokens
        start, end = tokens.roots[one.first], tokens.limits[one.last]
        span = self.file.file.source.span(start, end)
        pointers = {name: w for name, w in found.pointers.items() if name not in found.freed}
        before: list[Called] = [
            (DataCall.ON_HOST, (name, str(int(w)))) for name, w in pointers.items()
        ]
        before += [(DataCall.FORGET, (name,)) for name in found.freed]
        behind: list[Called] = []
        if unknown or found.unclear or is_shared:
            # All arrays come back then.
            before = [] if found.unclear or is_shared else before
            before.append((DataCall.ASIDE, ("1",)))
            behind.append((DataCall.ASIDE, ("0",)))
        why = self.why_not_here(one, found, bool(behind)) if before else ""
        if before and busy:
            why = f"'{busy[0]}' is called in the same statement"
        if not why:
            self.problems += [messages.CALLED_ASIDE.at(span, name=name) for name in unknown]
        if (found.unclear or is_shared) and not why and region is None:
            cause = found.unclear.why if found.unclear else "other threads may run it"
            self.problems.append(messages.ALL_COPIED_HERE.at(span, why=cause))
        if why:
            self.problems.append(messages.UNCLEAR_TOUCH.at(span, why=why, hint=_WAY_OUT))
            return
        if region is None and found.pointers.keys() & self.kept:
            name = next(name for name in found.pointers if name in self.kept)
            self.problems.append(messages.COPIED_HERE.at(span, name=name))
        if before:
            self.found.append(self.edit_around(one, before, behind, region))

    def edit_around(
        self, one: _Statement, before: list[Called], behind: list[Called], region: int | None
    ) -> DataEdit:
        """Return the edit that puts calls around a statement."""
        tokens, source = self.function.tokens, self.file.file.source
        start, end = self.with_pragmas(one.first), tokens.limits[one.last]
        # With the comment that ends a region at its end.
        end = max([end, *(r.end for r in self.file.regions if start < r.start < end <= r.end)])
        indent = source.indent(start)
        return DataEdit(
            *(start, end, self.start, indent, tuple(before), tuple(behind)),
            is_alone=not one.is_item,
            is_inside_line=source.line_start(start) + len(indent) < start,
            region=region,
        )

    def with_pragmas(self, first: int) -> int:
        """Return where a statement begins with the pragmas that are for it."""
        tokens, text = self.function.tokens, self.file.file.source.text
        start = tokens.roots[first]
        before = tokens.limits[first - 1] if first else 0
        for found in _BEFORE.finditer(text, before, start):
            if found.lastgroup:
                return found.start(found.lastgroup)
        return start

    def is_shared(self, first: int) -> bool:
        """Return whether other threads, or the user's own kernels, may run a statement.

        They have no arrays on the device.
        """
        tokens, text = self.function.tokens, self.file.file.source.text
        start = self.with_pragmas(first)
        before = text[start : tokens.roots[first]]
        return bool(before) and (text[start] != "#" or bool(_OTHERS.search(before)))

    def ways_out(self, nodes: Sequence[c_ast.Node]) -> Iterator[tuple[str, c_ast.Node]]:
        """Yield what leads out of statements of this function, or into them."""
        return _ways_out(nodes, self.function.body)

    def why_not_here(self, one: _Statement, found: HostTouch, is_around: bool) -> str:
        """Return why no call can stand before a statement, or around it; nothing where one can."""
        tokens = self.function.tokens
        if found.unclear and found.frees:
            return found.unclear.why
        if is_around and any(self.ways_out(one.nodes)):
            return "it is left, or entered, in its middle, and what is put aside would stay so"
        if one.first and tokens.roots[one.first - 1] == tokens.roots[one.first]:
            return "it begins inside a macro"
        after = one.last + 1
        if after < len(tokens) and tokens.roots[after] == tokens.roots[one.last]:
            return "it ends inside a macro"
        return ""

    def parts(self, one: _Statement) -> None:
        """Take in the parts of a statement that holds others."""
        tokens = self.function.tokens
        node, first = one.nodes[0], one.first
        match node:
            case c_ast.Compound():
                self.items(node.block_items or [], first)
            case c_ast.If():
                self.head(one, [node.cond], is_once=True)
                inner = tokens.match[first + 1] + 1
                last = tokens.statement_end(inner)
                self.body(node.iftrue, inner, last)
                if node.iffalse is not None:
                    self.body(node.iffalse, last + 2, tokens.statement_end(last + 2))
            case c_ast.For():
                self.scopes.append({})
                inits = node.init.decls if isinstance(node.init, c_ast.DeclList) else [node.init]
                self.head(one, [n for n in inits if n is not None], is_once=True)
                for init in inits:
                    self.declare(init) if init is not None else None
                self.head(one, [n for n in (node.cond, node.next) if n is not None])
                inner = tokens.match[first + 1] + 1
                self.body(node.stmt, inner, tokens.statement_end(inner))
                self.scopes.pop()
            case c_ast.While():
                self.head(one, [node.cond])
                inner = tokens.match[first + 1] + 1
                self.body(node.stmt, inner, tokens.statement_end(inner))
            case c_ast.DoWhile():
                self.head(one, [node.cond])
                self.body(node.stmt, first + 1, tokens.statement_end(first + 1))
            case c_ast.Switch():
                self.head(one, [node.cond], is_once=True)
                inner = tokens.match[first + 1] + 1
                self.body(node.stmt, inner, tokens.statement_end(inner))

    def body(self, node: c_ast.Node, first: int, last: int) -> None:
        first = self.function.tokens.after_labels(first)
        for inner in unlabelled([node]):
            self.statement(_Statement((inner,), first, last, is_item=False))

    def head(self, one: _Statement, nodes: list[c_ast.Node], is_once: bool = False) -> None:
        """Take in what a loop or a branch evaluates itself, once before all else or again."""
        tokens = self.function.tokens
        start = tokens.roots[one.first]
        if not nodes or not self.is_wanted(start):
            return
        found = self.touched(nodes)
        kinds = {name: self.file.kind(name) for name in found.calls}
        busy = [name for name, kind in kinds.items() if kind in ("runs", "unknown")]
        touches = bool(found.pointers or found.unclear or found.freed)
        # A function that is looked at itself takes care of what it touches.
        if not touches and "unknown" not in kinds.values():
            return
        if is_once and not busy:
            self.simple(one, found, (), (), None)
            return
        span = self.file.file.source.span(start, tokens.limits[one.last])
        what = f"calls '{busy[0]}'" if busy else "reads it again and again"
        why = f"the head of this statement {what}"
        self.problems.append(messages.UNCLEAR_TOUCH.at(span, why=why, hint=_WAY_OUT))


def _name_apart(name: str, scopes: Sequence[Mapping[str, Symbol]]) -> str:
    """Return the name that `pointers_of` has for the variable that has this one in scopes.

    The outermost are the function's parameters.
    """
    for scope in scopes[:0:-1]:
        if name in scope:
            return renamed_at(name, scope[name].start)
    return name


def _jumps(
    statements: Sequence[c_ast.Node], block: DataBlock, function: ParsedFunction
) -> Iterator[Diagnostic]:
    """Yield what leads out of a block, or into it."""
    # Labels right before the statements are the block's, too, where they stand after its beginning.
    own = {id(statement) for statement in statements}
    labels = (node for node in walk_tree(function.body) if isinstance(node, c_ast.Label))
    inside = (node for node in labels if start_of(node) >= block.opener[1])
    before = [node for node in inside if own & {id(inner) for inner in unlabelled([node])}]
    own -= {id(inner) for inner in unlabelled(before)}
    whole = [*before, *(statement for statement in statements if id(statement) in own)]
    for word, node in _ways_out(whole, function.body):
        at = start_of(node) if node.coord is not None else block.opener[0]
        if at >= block.closer[0]:
            # A ``case`` in the block holds what comes after its end, too.
            continue
        span = function.file.source.span(at, at + len(word))
        yield messages.LEAVES_DATA.at(span, word=word)


def _ways_out(
    statements: Sequence[c_ast.Node], body: c_ast.Compound
) -> Iterator[tuple[str, c_ast.Node]]:
    """Yield what leads out of statements of a function, or into them: its word, and where it is."""
    every = [node for statement in statements for node in walk_tree(statement)]
    inside = {node.name for node in every if isinstance(node, c_ast.Label)}
    jumps = {id(node) for node in every if isinstance(node, c_ast.Goto)}
    everywhere = walk_tree(body) if inside else ()
    others = (n for n in everywhere if isinstance(n, c_ast.Goto) and id(n) not in jumps)
    entered = inside & {node.name for node in others}
    waiting = [(node, False, False) for node in statements]
    while waiting:
        node, in_loop, in_switch = waiting.pop()
        match node:
            case c_ast.Return():
                yield "return", node
            case c_ast.Goto(name=name) if name not in inside:
                yield "goto", node
            case c_ast.Label(name=name) if name in entered:
                yield "label", node
            case c_ast.Break() if not (in_loop or in_switch):
                yield "break", node
            case c_ast.Continue() if not in_loop:
                yield "continue", node
            case c_ast.Case() | c_ast.Default() if not in_switch:
                yield "case" if isinstance(node, c_ast.Case) else "default", node
        loop = in_loop or isinstance(node, _LOOPS)
        switch = in_switch or isinstance(node, c_ast.Switch)
        waiting += [(child, loop, switch) for child in node]
