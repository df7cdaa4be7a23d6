"""A tensor file's text to the program that it says, or all that is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lark import Token

from annotune.annotation.grammar import Parsed
from annotune.annotation.messages import did_you_mean
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.tensor.declared import Declarations, declare_size, declare_tensor
from annotune.tensor.expressions import operation_of
from annotune.tensor.messages import SECTION_MISSING, UNKNOWN_OPTION, UNKNOWN_VALUE, said_twice
from annotune.tensor.parse import TensorText, tensor_tree, token_of, trees_of
from annotune.tensor.program import Addressing, ElementType, Memory, Pattern, TensorProgram
from annotune.tensor.rules import refuse_mistakes
from annotune.tensor.shapes import with_sizes_of_indices

_VALUES: dict[str, dict[str, Any]] = {
    "access": {one.value: one for one in Addressing} | {"linearized": Addressing.LINEARIZE},
    "memory": {one.value: one for one in Memory},
    "pattern": {one.value: one for one in Pattern},
    "type": {"float": ElementType.FLOAT, "double": ElementType.DOUBLE}
    | {"complex": ElementType.COMPLEX},
}
_DEFAULTS: dict[str, Any] = {
    "access": Addressing.LINEARIZE,
    "memory": Memory.ROW,
    "pattern": Pattern.CONTIGUOUS,
    "type": ElementType.DOUBLE,
}
_USAGE = {
    "variables": "`variables:` and each tensor, such as `A: (m, n)`",
    "operations": "`operations:` and what is computed, such as `C:(i, j) += A:(i, k) * B:(k, j)`",
}


def read_program(file: str, text: str) -> TensorProgram:
    """Return the program that a tensor file says; `file` is its name in messages.

    Raises:
        AnnotuneError: With all that is wrong with the text.
    """
    source = TensorText(file, text)
    tree = tensor_tree(source)
    name = token_of(tree)
    mistakes: list[Diagnostic] = []
    options = _options(source, trees_of(tree, "option"), mistakes)
    known = Declarations(source, options["memory"], options["type"], mistakes)
    known.take(name, "the function")
    for section in trees_of(tree, "define", "sizes"):
        for size in trees_of(section):
            declare_size(size, section.data == "sizes", known)
    for declaration in _entries(source, tree, "variables", mistakes):
        declare_tensor(declaration, known)
    made = [operation_of(one, known) for one in _entries(source, tree, "operations", mistakes)]
    if mistakes:
        raise AnnotuneError(tuple(sorted(mistakes, key=lambda one: one.span)))
    program = TensorProgram(
        str(name),
        tuple(known.sizes.values()),
        tuple(known.tensors.values()),
        tuple(one for one in made if one is not None),
        options["access"],
        options["pattern"],
        span=source.span(name),
    )
    program = with_sizes_of_indices(program)
    refuse_mistakes(program)
    return program


def _options(
    source: TensorText, trees: Sequence[Parsed], mistakes: list[Diagnostic]
) -> dict[str, Any]:
    """Return what the options before the sections say, each by its name."""
    found: dict[str, Any] = {}
    first: dict[str, Span] = {}
    for tree in trees:
        name, value = tree.scan_values(lambda part: isinstance(part, Token))
        known = _VALUES.get(str(name))
        if known is None:
            hint = did_you_mean(str(name), _VALUES)
            mistakes.append(UNKNOWN_OPTION.at(source.span(name), name=name, hint=hint))
        elif name in found:
            mistakes.append(said_twice(f"'{name}'", source.span(name), first[name]))
        elif value not in known:
            hint = did_you_mean(str(value), known)
            mistakes.append(UNKNOWN_VALUE.at(source.span(value), name=name, value=value, hint=hint))
        else:
            found[str(name)], first[str(name)] = known[str(value)], source.span(name)
    return {**_DEFAULTS, **found}


def _entries(
    source: TensorText, tree: Parsed, name: str, mistakes: list[Diagnostic]
) -> Iterator[Parsed]:
    """Yield what stands in the sections of one name, and say where there is nothing."""
    found = [one for section in trees_of(tree, name) for one in trees_of(section)]
    if not found:
        where = source.span(token_of(next(iter(trees_of(tree, name)), tree)))
        mistakes.append(SECTION_MISSING.at(where, name=name, usage=_USAGE[name]))
    yield from found
