"""The two texts of an annotation to values: PerfTuning to a Spec, CHiLL to commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from lark import Token, Tree

from annotune.annotation import expression as ex
from annotune.annotation.commands import check_command
from annotune.annotation.evaluate import evaluate_node, names_in, substitute
from annotune.annotation.expression import Node, parse_expression, placed
from annotune.annotation.grammar import Origin, Parsed, parse_tree
from annotune.annotation.messages import (
    NO_VALUES,
    declared_twice,
    gathered,
)
from annotune.annotation.spec import Argument, Command, Formula, Item, Parameter, Value
from annotune.diagnostics import AnnotuneError, Diagnostic, Span

_NO_NAMES: Mapping[str, Value] = {}


@dataclass(frozen=True, slots=True)
class Recipe:
    """The commands of a recipe, and the parameters that it lists: ``UF0[] = [1,2,4];``."""

    commands: tuple[Command, ...] = ()
    performance_params: tuple[Parameter, ...] = ()


def parse_recipe(text: str, origin: Origin, names: Mapping[str, Value] = _NO_NAMES) -> Recipe:
    """Return the recipe in ``begin CHiLL ( … )``; `names` (``let``) are put in.

    Raises:
        AnnotuneError: With every mistake that stands alone, in the order of the text.
    """
    reader = _Reader(text, origin, names, [])
    commands: list[Command] = []
    params: dict[str, Parameter] = {}
    for child in parse_tree(text, "recipe", origin).children:
        assert isinstance(child, Tree)
        if child.data == "command":
            commands.extend(reader.command(child))
            continue
        for param in reader.listed(child):
            first = params.setdefault(param.name, param)
            if first is not param:
                reader.mistakes.append(declared_twice(param.name, param.span, first.span))
    if reader.mistakes:
        raise AnnotuneError.of(*sorted(reader.mistakes, key=lambda mistake: mistake.span))
    return Recipe(tuple(commands), tuple(params.values()))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns the tree of a recipe's text into values, and gathers the mistakes."""

    text: str
    origin: Origin
    names: Mapping[str, Value]
    mistakes: list[Diagnostic]

    def command(self, tree: Parsed) -> Iterator[Command]:
        """Yield the command, when its expressions are sound."""
        name = tree.children[0]
        assert isinstance(name, Token)
        with gathered(self.mistakes):
            trees = [child for child in tree.children[1:] if isinstance(child, Tree)]
            arguments = tuple(map(self.argument, trees))
            span = self.origin.span(tree.meta.start_pos, tree.meta.end_pos)
            command, mistakes = check_command(Command(str(name), arguments, span))
            self.mistakes.extend(mistakes)
            yield command

    def argument(self, tree: Parsed) -> Argument:
        name, operand = tree.children
        assert isinstance(operand, Tree)
        start, end = operand.meta.start_pos, operand.meta.end_pos
        span_of = self.span_from(start)
        with placed(span_of):
            node = parse_expression(self.text[start:end])
            value = self.value(node, self.text[start:end], span_of)
        span = self.origin.span(tree.meta.start_pos, tree.meta.end_pos)
        return Argument(value, "" if name is None else str(name), span)

    def span_from(self, start: int) -> Callable[[int, int], Span]:
        return lambda a, b: self.origin.span(start + a, start + b)

    def value(
        self, node: Node, text: str, span_of: Callable[[int, int], Span]
    ) -> Item | tuple[Item, ...]:
        """Return a literal as its value, a list item by item, and the rest as a Formula."""
        if isinstance(node, ex.Sequence):
            return tuple(self.item(item, text, span_of) for item in node.items)
        return self.item(node, text, span_of)

    def item(self, node: Node, text: str, span_of: Callable[[int, int], Span]) -> Item:
        names = {name.name for name in names_in(node)}
        is_literal = isinstance(node, ex.Literal | ex.Sequence) or _is_negative(node)
        if names <= self.names.keys() and (names or is_literal):
            return evaluate_node(node, self.names)
        span = span_of(node.start, node.end)
        return substitute(Formula(text[node.start : node.end], span), self.names)

    def listed(self, tree: Parsed) -> Iterator[Parameter]:
        """Yield the parameter of ``UF0[] = [1,2,4];``, when its expression is sound."""
        name, operand = tree.children
        assert isinstance(name, Token)
        assert isinstance(operand, Tree)
        start, end = operand.meta.start_pos, operand.meta.end_pos
        at = int(name.start_pos or 0)
        span = self.origin.span(at, at + len(name))
        with gathered(self.mistakes), placed(self.span_from(start)):
            value = evaluate_node(parse_expression(self.text[start:end]), self.names)
            values = value if isinstance(value, tuple) else (value,)
            if not values:
                raise AnnotuneError.of(NO_VALUES.at(span, name=str(name)))
            yield Parameter(str(name), values, span)


def _is_negative(node: Node) -> bool:
    return isinstance(node, ex.Unary) and isinstance(node.operand, ex.Literal)
