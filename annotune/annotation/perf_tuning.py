"""The text of ``begin PerfTuning ( … )`` to a Spec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from lark import Token, Tree

from annotune.annotation.evaluate import evaluate_node
from annotune.annotation.expression import parse_expression
from annotune.annotation.grammar import Parsed, parse_tree
from annotune.annotation.messages import (
    DECLARED_TWICE,
    FIRST_DECLARED,
    LIST_WITHOUT_BRACKETS,
    MISPLACED,
    NO_VALUES,
    NOT_YET,
    SEVERAL_VALUES,
    UNKNOWN_ARGUMENT,
    UNKNOWN_DEF,
    UNKNOWN_NAME,
    UNUSED_BLOCK,
    did_you_mean,
)
from annotune.annotation.origin import Origin
from annotune.annotation.spec import Constraint, Formula, Parameter, Spec, Value
from annotune.annotation.substitute import substitute
from annotune.annotation.tokens import ExpressionError
from annotune.diagnostics import AnnotuneError, Diagnostic, Span

# Which statements stand in which block; the names are Orio's.
BLOCKS: Mapping[str, frozenset[str]] = {
    "input_params": frozenset({"let", "param", "constraint"}),
    "performance_params": frozenset({"let", "param", "constraint"}),
    "search": frozenset({"let", "arg"}),
    "build": frozenset({"let", "arg"}),
    "performance_counter": frozenset({"let", "arg"}),
    "input_vars": frozenset({"let", "arg", "decl"}),
    "validation": frozenset({"let", "arg"}),
    "performance_test_code": frozenset({"let", "arg"}),
    "cmdline_params": frozenset({"let", "option"}),
    "power": frozenset({"let", "arg"}),
    "other": frozenset({"let", "arg"}),
}
# Blocks that annotune has no use for, and why.
_UNUSED: Mapping[str, str] = {
    "performance_counter": "annotune times in its own way",
    "input_vars": "the arrays come from the C text",
    "validation": "every variant is checked against the original C",
    "performance_test_code": "annotune writes its own test code",
    "cmdline_params": "no program with options is run",
    "power": "power is not measured",
    "other": "nothing is known of it",
}
_BUILD = "build_command prebuild_command postbuild_command postrun_command batch_command libs"
_SEARCH = "algorithm time_limit total_runs budget seed resume use_z3"
# The search settings of Orio's own algorithms begin with these.
_SEARCH_PREFIXES = ("exhaustive_", "msimplex_", "simplex_", "cudacfg_")
ARGUMENTS: Mapping[str, frozenset[str]] = {
    "search": frozenset(_SEARCH.split()),
    "build": frozenset([*_BUILD.split(), "status_command", "num_procs"]),
}


@dataclass(frozen=True, slots=True)
class PerfTuning:
    """What a PerfTuning text says: its Spec, and the `let` names for the recipe in it."""

    spec: Spec
    lets: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class _Statement:
    """One statement: ``param NAME[] = text`` with the offset of its text."""

    kind: str
    block: str
    name: str
    text: str
    offset: int
    is_list: bool
    span: Span


@dataclass(slots=True)
class _Reader:
    """Gathers what the statements say, and every mistake in them."""

    origin: Origin
    settings: Mapping[str, Value]
    mistakes: list[Diagnostic] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    lets: dict[str, Value] = field(default_factory=dict)
    params: dict[str, tuple[Value, ...]] = field(default_factory=dict)
    arguments: dict[str, dict[str, Value]] = field(
        default_factory=lambda: {"search": {}, "build": {}}
    )

    @property
    def names(self) -> dict[str, Value]:
        """Return every name that has one value so far."""
        single = {name: values[0] for name, values in self.params.items() if len(values) == 1}
        return {**self.lets, **single, **self.settings}

    def evaluate(self, statement: _Statement) -> Value:
        try:
            return evaluate_node(parse_expression(statement.text), self.names)
        except ExpressionError as error:
            start = statement.offset
            name = str(error.values.get("name"))
            if error.template is UNKNOWN_NAME and len(self.params.get(name, ())) > 1:
                error.template = SEVERAL_VALUES
            elif statement.kind == "arg" and error.template is UNKNOWN_NAME:
                error.values["hint"] = f"a string is written '{name}', in quotes"
            raise error.at(lambda a, b: self.origin.span(start + a, start + b)) from error

    def settle(self, statements: list[_Statement]) -> None:
        """Evaluate lets, parameters and arguments, in whatever order their names allow."""
        pending = statements
        while pending:
            waiting: list[_Statement] = []
            errors: list[Diagnostic] = []
            for statement in pending:
                try:
                    self.assign(statement, self.evaluate(statement))
                except AnnotuneError as error:
                    errors.extend(error.diagnostics)
                    waiting.append(statement)
            if len(waiting) == len(pending):
                self.mistakes.extend(errors)
                return
            pending = waiting

    def assign(self, statement: _Statement, value: Value) -> None:
        name = statement.name
        if statement.kind == "let":
            self.lets[name] = value
        elif statement.kind == "arg":
            if statement.block in self.arguments:
                self.arguments[statement.block][name] = value
        elif name in self.settings:
            self.params[name] = (self.settings[name],)
        elif isinstance(value, tuple) and not statement.is_list:
            self.mistakes.append(LIST_WITHOUT_BRACKETS.at(statement.span, name=name))
            self.params[name] = value
        elif value == ():
            self.mistakes.append(NO_VALUES.at(statement.span, name=name))
        else:
            self.params[name] = value if isinstance(value, tuple) else (value,)

    def refuse_twice(self, statements: list[_Statement]) -> None:
        first: dict[tuple[bool, str, str], _Statement] = {}
        for statement in statements:
            # A param may carry a let's name, but not another param's.
            is_let = statement.kind == "let"
            kind = "param" if is_let or statement.kind == "param" else statement.kind
            scope = statement.block if statement.kind == "arg" else kind
            key = (is_let, scope, statement.name)
            earlier = first.setdefault(key, statement)
            if earlier is not statement:
                note = FIRST_DECLARED.at(earlier.span)
                twice = DECLARED_TWICE.at(statement.span, name=statement.name)
                self.mistakes.append(twice.with_note(note))

    def note_unknown(self, statement: _Statement) -> None:
        known = ARGUMENTS.get(statement.block)
        if statement.kind != "arg" or known is None or statement.name in known:
            return
        if statement.block == "search" and statement.name.startswith(_SEARCH_PREFIXES):
            return
        hint = did_you_mean(statement.name, known)
        self.notes.append(
            UNKNOWN_ARGUMENT.at(
                statement.span, name=statement.name, block=statement.block, hint=hint
            )
        )


def read_perf_tuning(
    text: str, origin: Origin, settings: Mapping[str, Value] | None = None
) -> PerfTuning:
    """Return what `text` says, where `settings` (``--set``) win over its parameters.

    Raises:
        AnnotuneError: With every mistake that stands alone, in the order of the text.
    """
    tree = parse_tree(text, "perf_tuning", origin)
    reader = _Reader(origin, settings or {})
    statements = list(_statements(tree, text, reader))
    reader.refuse_twice(statements)
    reader.settle([one for one in statements if one.kind in ("let", "param", "arg")])
    for statement in statements:
        reader.note_unknown(statement)
    constraints = tuple(_constraints(statements, reader))
    if reader.mistakes:
        mistakes = sorted(reader.mistakes, key=lambda mistake: mistake.span)
        raise AnnotuneError.of(*mistakes)
    spec = Spec(
        _parameters(statements, "input_params", reader),
        _parameters(statements, "performance_params", reader),
        constraints,
        reader.arguments["search"],
        reader.arguments["build"],
        span=origin.span(0, len(text)),
        notes=tuple(sorted(reader.notes, key=lambda note: note.span)),
    )
    return PerfTuning(spec, reader.lets)


def _parameters(statements: list[_Statement], block: str, reader: _Reader) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(one.name, reader.params[one.name], one.span)
        for one in statements
        if one.kind == "param" and one.block == block
    )


def _constraints(statements: list[_Statement], reader: _Reader) -> Iterator[Constraint]:
    for one in statements:
        if one.kind != "constraint":
            continue
        span = reader.origin.span(one.offset, one.offset + len(one.text))
        lets = {name: value for name, value in reader.lets.items() if name not in reader.params}
        try:
            yield Constraint(one.name, substitute(Formula(one.text, span), lets), one.span)
        except ExpressionError as error:
            start = one.offset
            mistake = error.at(
                lambda a, b, start=start: reader.origin.span(start + a, start + b)  # type: ignore[misc]  # binds the loop's value
            )
            reader.mistakes.extend(mistake.diagnostics)


def _statements(tree: Parsed, text: str, reader: _Reader) -> Iterator[_Statement]:
    """Yield the statements of all blocks; a block or statement out of place is a mistake."""
    for child in tree.children:
        assert isinstance(child, Tree)
        if child.data == "let":
            yield _statement(child, "", text, reader.origin)
        elif child.data == "other":
            what = " ".join(str(part) for part in child.children if isinstance(part, Token))
            span = reader.origin.span(child.meta.start_pos, child.meta.end_pos)
            reader.mistakes.append(NOT_YET.at(span, what=what))
        else:
            yield from _definition(child, text, reader)


def _definition(tree: Parsed, text: str, reader: _Reader) -> Iterator[_Statement]:
    name = tree.children[0]
    assert isinstance(name, Token)
    block = str(name)
    start = int(name.start_pos or 0)
    span = reader.origin.span(start, start + len(block))
    if block not in BLOCKS:
        hint = did_you_mean(block, BLOCKS)
        reader.mistakes.append(UNKNOWN_DEF.at(span, name=block, hint=hint))
        return
    if block in _UNUSED:
        reader.notes.append(UNUSED_BLOCK.at(span, name=block, why=_UNUSED[block]))
    for child in tree.children[1:]:
        assert isinstance(child, Tree)
        kind = str(child.data)
        if kind not in BLOCKS[block]:
            at = reader.origin.span(child.meta.start_pos, child.meta.start_pos + len(kind))
            allowed = ", ".join(sorted(BLOCKS[block]))
            hint = f"def {block} holds: {allowed}"
            reader.mistakes.append(MISPLACED.at(at, what=kind, name=block, hint=hint))
        elif kind not in ("decl", "option"):
            yield _statement(child, block, text, reader.origin)


def _statement(tree: Parsed, block: str, text: str, origin: Origin) -> _Statement:
    name, *brackets, operand = tree.children
    assert isinstance(name, Token)
    assert isinstance(operand, Tree)
    start, end = operand.meta.start_pos, operand.meta.end_pos
    at = int(name.start_pos or 0)
    span = origin.span(at, at + len(name))
    is_list = any(bracket is not None for bracket in brackets)
    return _Statement(str(tree.data), block, str(name), text[start:end], start, is_list, span)
