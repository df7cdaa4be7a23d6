"""The names that an annotated text uses and does not declare, and C that declares them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from annotune.annotation import expression as ex
from annotune.annotation.assume import is_c_size
from annotune.annotation.c_declarations import TYPE_WORDS, c_tokens
from annotune.annotation.evaluate import evaluate, free_names
from annotune.annotation.expression import Node, parse_expression
from annotune.annotation.loop_text import loop_iterators
from annotune.annotation.spec import Formula, InputVariable, Spec, Value
from annotune.annotation.tokens import ExpressionError, Token
from annotune.diagnostics import AnnotuneError


@dataclass(slots=True)
class Missing:
    """C that declares what is missing: parameters of a function, and statements before it.

    `names` are all names that it declares.
    """

    parameters: list[str] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)


def missing(c_text: str, spec: Spec, declared: Collection[str], *, is_function: bool) -> Missing:
    """Return what `c_text` uses of `spec` and of iterators without declaring it.

    With `is_function` there is a function to make, and what has no value of its own becomes
    its parameter; otherwise the text stands in one, and a parameter cannot be added.
    """
    return _Reader(c_text, spec, set(declared), is_function).read()


class _Reader:
    def __init__(self, c_text: str, spec: Spec, declared: set[str], is_function: bool) -> None:
        self.stream = c_tokens(c_text)
        self.used = dict.fromkeys(_variables(self.stream))
        self.iterators = [name for name in dict.fromkeys(loop_iterators(c_text)) if name]
        self.spec = spec
        self.declared = declared
        self.is_function = is_function
        self.sizes = {param.name: param.values[0] for param in spec.input_params}
        self.found = Missing()

    def read(self) -> Missing:
        variables = [one for one in self.spec.input_vars if self.is_missing(one.name)]
        needed = [name for one in variables for name in _names_of(one)]
        params = [*self.used, *needed]
        for param in self.spec.input_params:
            if param.name in params and param.name not in self.declared:
                self.parameter(param.name, self.sizes[param.name])
        for name in self.open_sizes() if self.is_function else ():
            self.add(self.found.parameters, name, f"int {name}")
        for one in variables:
            self.variable(one)
        for name in self.iterators:
            if self.is_missing(name) and name not in self.found.names:
                self.add(self.found.statements, name, f"int {name};")
        return self.found

    def is_missing(self, name: str) -> bool:
        return name in self.used and name not in self.declared

    def add(self, where: list[str], name: str, text: str) -> None:
        if name not in self.found.names:
            where.append(text)
            self.found.names.add(name)

    def parameter(self, name: str, value: Value) -> None:
        """Declare a problem size: a parameter of the function, or a constant in it."""
        if not isinstance(value, int | float):
            return
        type_ = "double" if isinstance(value, float) else "int"
        if self.is_function:
            self.add(self.found.parameters, name, f"{type_} {name}")
        else:
            self.add(self.found.statements, name, f"const {type_} {name} = {_number(value)};")

    def variable(self, one: InputVariable) -> None:
        extents = "".join(f"[{extent.text}]" for extent in one.extents)
        if not all(is_c_size(extent.text) for extent in one.extents):
            return
        if isinstance(one.initial, tuple):
            # C initialises no array whose extent is a variable.
            known = "".join(f"[{self.value(extent)}]" for extent in one.extents)
            items = ", ".join(item.text for item in one.initial)
            if not all(is_c_number(item.text) for item in one.initial):
                return
            self.add(
                self.found.statements, one.name, f"{one.type} {one.name}{known} = {{{items}}};"
            )
        elif one.initial is not None and not one.extents and is_c_number(one.initial.text):
            text = f"{one.type} {one.name} = {one.initial.text};"
            self.add(self.found.statements, one.name, text)
        elif self.is_function:
            star = "*" if one.is_pointer else ""
            self.add(self.found.parameters, one.name, f"{one.type} {star}{one.name}{extents}")

    def value(self, extent: Formula) -> str:
        """Return an extent's number, or its text where a name in it has no number."""
        try:
            value = evaluate(extent, self.sizes)
        except AnnotuneError:
            return extent.text
        return str(value) if isinstance(value, int) else extent.text

    def open_sizes(self) -> Iterable[str]:
        """Yield the names without any declaration in bounds, extents and subscripts."""
        known = self.declared | self.found.names | set(self.iterators) | TYPE_WORDS
        known |= {one.name for one in self.spec.input_vars}
        for name in self.used:
            if name not in known and _is_size_only(name, self.stream):
                yield name


def _variables(stream: Sequence[Token]) -> Iterable[str]:
    """Yield the names in a text but for those of members."""
    before = ""
    for token in stream:
        if token.kind == "name" and before not in ("->", "."):
            yield token.text
        before = token.text


def _is_size_only(name: str, stream: Sequence[Token]) -> bool:
    """Return whether a name stands in brackets or in a head everywhere, and is no array."""
    depth = 0
    for index, token in enumerate(stream):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(token.text, 0)
        if token.text != name:
            continue
        after = stream[index + 1].text if index + 1 < len(stream) else ""
        if depth == 0 or after in ("[", "(", "=", "+=", "-=", "->", "."):
            return False
    return True


def is_c_number(text: str) -> bool:
    """Return whether `text` is arithmetic of names and numbers, as C writes it too."""
    # As in `is_c_size`: a comment or a newline of the annotation would begin a directive in C.
    if not text.isprintable() or "#" in text:
        return False
    try:
        return _is_number(parse_expression(text))
    except ExpressionError:
        return False


def _is_number(node: Node) -> bool:
    match node:
        case ex.Literal(value):
            return type(value) in (int, float)
        case ex.Name():
            return True
        case ex.Unary("-" | "+", operand):
            return _is_number(operand)
        case ex.Binary("+" | "-" | "*" | "/", left, right):
            return _is_number(left) and _is_number(right)
        case _:
            return False


def _number(value: int | float) -> str:
    return repr(value) if isinstance(value, float) else str(int(value))


def _names_of(one: InputVariable) -> list[str]:
    formulas = [*one.extents]
    if isinstance(one.initial, tuple):
        formulas += one.initial
    elif one.initial is not None:
        formulas.append(one.initial)
    return [name for formula in formulas for name in free_names(formula)]
