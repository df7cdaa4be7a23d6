"""The statements of a region turned into a nest, every independent refusal collected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotune.diagnostics import AnnotuneError, Diagnostic, Template
from annotune.frontend import messages
from annotune.frontend.expressions import Expressions
from annotune.frontend.extent import assigned_in, walk
from annotune.frontend.loops import header, iterator_of
from annotune.frontend.names import Names
from annotune.frontend.symbols import NARROW, Symbol
from annotune.frontend.syntax import c_ast
from annotune.ir.expr import Access, Binary, Expr, Int, Var
from annotune.ir.nest import Assign, Loop, Nest, Stmt

_WORDS: dict[type[Any], str] = {
    c_ast.Break: "break",
    c_ast.Continue: "continue",
    c_ast.Return: "return",
    c_ast.Goto: "goto",
    c_ast.While: "while",
    c_ast.DoWhile: "do",
    c_ast.Switch: "switch",
}
_OF_NAMES = frozenset(f"AT{number}" for number in range(120, 130))
_OPERATORS = frozenset({"=", "+=", "-=", "*=", "/="})


def lower(statements: Sequence[Any], names: Names) -> Nest:
    """Return the nest of a region's statements; `names` learns what they use.

    Raises:
        AnnotuneError: Something in the region is refused; it names every reason found.
    """
    block = c_ast.Compound(list(statements))
    loops = [found for n in walk(block) if isinstance(n, c_ast.For) and (found := iterator_of(n))]
    declared = {var for var, _, place in loops if isinstance(place, c_ast.Decl)}
    names.loop_names = frozenset(var for var, _, _ in loops) - declared
    names.written = frozenset(assigned_in(block))
    names.region_depth = len(names.scopes)
    lowering = _Statements(names)
    lowering.jumped_to = frozenset(n.name for n in walk(block) if isinstance(n, c_ast.Goto))
    body = lowering.block(statements)
    if lowering.problems:
        raise AnnotuneError(tuple(lowering.problems))
    return Nest(body)


class _Statements:
    def __init__(self, names: Names) -> None:
        self.names = names
        self.expressions = Expressions(names)
        self.problems: list[Diagnostic] = []
        self.next_number = 0
        # A label is refused with the jumps to it.
        self.jumped_to: frozenset[str] = frozenset()

    def block(self, items: Sequence[Any]) -> tuple[Stmt, ...]:
        """Return the statements of a block, in a scope of their own."""
        self.names.scopes.append({})
        body: list[Stmt] = []
        for item in items:
            body += self.statement(item)
        self.names.scopes.pop()
        return tuple(body)

    def statement(self, node: Any) -> list[Stmt]:
        """Return what a statement becomes; a refusal is noted, and the next one tried."""
        try:
            return self._statement(node)
        except AnnotuneError as refusal:
            self._note(refusal.diagnostics)
            return []

    def _note(self, problems: Sequence[Diagnostic]) -> None:
        """Keep the problems that are new: what is wrong with a name is said once."""
        for problem in problems:
            known = [p for p in self.problems if p.message == problem.message]
            if not known or (problem.code not in _OF_NAMES and problem not in known):
                self.problems.append(problem)

    def _statement(self, node: Any) -> list[Stmt]:
        match node:
            case c_ast.EmptyStatement() | c_ast.Pragma() | c_ast.Typedef():
                return []
            case c_ast.Compound():
                return list(self.block(node.block_items or []))
            case c_ast.For():
                return self._loop(node)
            case c_ast.DeclList():
                return [s for decl in node.decls for s in self.statement(decl)]
            case c_ast.Decl():
                return self._declaration(node)
            case c_ast.ExprList():
                return [s for expression in node.exprs for s in self.statement(expression)]
            case c_ast.Assignment():
                return self._assignment(node, node.lvalue, node.op, node.rvalue)
            case c_ast.UnaryOp(op="++" | "p++"):
                return self._assignment(node, node.expr, "+=", None)
            case c_ast.UnaryOp(op="--" | "p--"):
                return self._assignment(node, node.expr, "-=", None)
            case c_ast.If():
                raise self._at_word(messages.GUARD, node, "if")
            case c_ast.Label() if node.name in self.jumped_to:
                return self.statement(node.stmt)
            case c_ast.Label():
                raise self._at_word(messages.CONTROL_FLOW, node, node.name)
        if type(node) in _WORDS:
            raise self._at_word(messages.CONTROL_FLOW, node, _WORDS[type(node)])
        # A call, a member or a condition used as a statement says itself why it is refused.
        self.expressions.value(node)
        raise self.expressions.refuse(messages.STATEMENT, node)

    def _at_word(self, template: Template, node: Any, word: str) -> AnnotuneError:
        span = self.names.file.source.span(node.coord.line, node.coord.column)
        return AnnotuneError.of(template.at(span, word=word))

    def _loop(self, node: Any) -> list[Stmt]:
        names = self.names
        names.scopes.append({})
        try:
            if isinstance(node.init, c_ast.DeclList):
                for decl in node.init.decls:
                    self._declare(decl)
            own = header(node, self.expressions)
        except AnnotuneError:
            names.scopes.pop()
            self._look_inside(node)
            raise
        changed = set(self.expressions.assigned(node.stmt)) | {own.symbol.name}
        # What the body sets differs from one iteration to the next, and after the loop.
        for name in changed:
            names.formulas.pop(name, None)
        names.iterators.append(own.symbol.name)
        body = self.block([node.stmt])
        names.iterators.pop()
        for name in changed:
            names.formulas.pop(name, None)
        names.scopes.pop()
        span = names.file.source.span(node.coord.line, node.coord.column)
        return [Loop(own.symbol.name, own.lower, own.upper, body, own.step, span=span)]

    def _look_inside(self, node: Any) -> None:
        """Note the statements that no loop may hold, in a loop whose header is refused."""
        for inner in walk(node.stmt):
            if type(inner) in _WORDS:
                problem = self._at_word(messages.CONTROL_FLOW, inner, _WORDS[type(inner)])
                self._note(problem.diagnostics)

    def _declare(self, decl: Any) -> Symbol:
        """Take in a declaration of the region and return what it declares."""
        names = self.names
        symbol = names.file_scope.types.symbol(decl, "region")
        span = names.file.source.span(symbol.start, symbol.end)
        if "extern" in (decl.storage or []) or "static" in (decl.storage or []):
            raise AnnotuneError.of(
                messages.SCALAR_TYPE.at(span, name=decl.name, type=decl.storage[0])
            )
        if symbol.is_array:
            raise AnnotuneError.of(messages.LOCAL_ARRAY.at(span, name=decl.name))
        names.declare(symbol, span)
        return symbol

    def _declaration(self, decl: Any) -> list[Stmt]:
        if decl.name is None:
            raise self.expressions.refuse(messages.STATEMENT, decl)
        symbol = self._declare(decl)
        target = c_ast.ID(decl.name, decl.coord)
        self.names.symbol(target)
        if decl.init is None:
            return []
        if isinstance(decl.init, c_ast.InitList):
            raise self.expressions.refuse(messages.STATEMENT, decl.init)
        if symbol.is_integer:
            self._set_integer(symbol, target, "=", decl.init)
            return []
        return self._assignment(target, target, "=", decl.init)

    def _assignment(self, node: Any, target: Any, op: str, value: Any) -> list[Stmt]:
        """Return the statement for ``target op value``; no value stands for 1."""
        if op not in _OPERATORS:
            raise self.expressions.refuse(messages.OPERATOR, node, op=op)
        if isinstance(target, c_ast.ID):
            symbol = self.names.symbol(target)
            name = symbol.name
            if symbol.is_array:
                raise self.expressions.refuse(messages.POINTER_CHANGES, target, name=name)
            if symbol.is_integer:
                self._set_integer(symbol, target, op, value)
                return []
            self.names.use(symbol)
            place: Access | Var = Var(name, self.names.place(target))
        elif isinstance(target, c_ast.ArrayRef) or (
            isinstance(target, c_ast.UnaryOp) and target.op == "*"
        ):
            place, _ = self.expressions.element(target)
        else:
            self.expressions.value(target)
            raise self.expressions.refuse(messages.STATEMENT, node)
        computed: Expr = Int(1) if value is None else self.expressions.value(value).expr
        number = self.next_number
        self.next_number += 1
        return [Assign(number, place, op, computed, self.names.place(node))]

    def _set_integer(self, symbol: Symbol, target: Any, op: str, value: Any) -> None:
        """Remember the formula of an integer; uses that follow take the formula."""
        names, name = self.names, symbol.name
        if name in names.iterators:
            raise self.expressions.refuse(messages.ITERATOR_CHANGES, target, var=name)
        if symbol.base in NARROW:
            raise self.expressions.refuse(messages.SCALAR_TYPE, target, name=name, type=symbol.base)
        if names.may_be_read_after(symbol):
            raise self.expressions.refuse(messages.INTEGER_NEEDED, target, name=name)
        computed: Expr = Int(1) if value is None else self.expressions.integer(value)
        if op != "=":
            computed = Binary(op[0], names.read(target).expr, computed)
        names.formulas[name] = computed
