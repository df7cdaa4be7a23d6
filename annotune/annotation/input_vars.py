"""``decl static double A[M][N] = random;`` to variables, for C text that declares none."""

from __future__ import annotations

from annotune.annotation.expression import parse_expression
from annotune.annotation.messages import BAD_DECLARATION
from annotune.annotation.spec import Formula, InputVariable
from annotune.annotation.statements import Statement
from annotune.annotation.tokens import ExpressionError, Token, tokens
from annotune.diagnostics import AnnotuneError

# Words about where Orio's driver puts a variable; annotune decides that itself.
_STORAGE = frozenset({"static", "dynamic", "register", "const", "managed", "in", "out", "inout"})
# The types that an annotation may name, in C's words without regard to their order.
_TYPE_WORDS = frozenset(
    [
        *("char", "short", "int", "long", "signed", "unsigned", "size_t"),
        *("float", "double", "complex", "_Complex"),
    ]
)
# What C would not take as a variable's name; the types are among `_TYPE_WORDS`.
_C_WORDS = frozenset(
    [
        *("auto", "break", "case", "const", "continue", "default", "do", "else", "enum"),
        *("extern", "for", "goto", "if", "inline", "register", "restrict", "return", "sizeof"),
        *("static", "struct", "switch", "typedef", "union", "void", "volatile", "while"),
    ]
)
_RANDOM = "random"


def input_variable(statement: Statement) -> InputVariable:
    """Return the variable of a ``decl`` statement.

    Raises:
        AnnotuneError: It has no type or no name, or its extents or its value are unsound.
    """
    try:
        return _Reader(statement, [t for t in tokens(statement.text) if t.kind != "end"]).read()
    except ExpressionError as error:
        raise error.at(statement.at) from None


class _Reader:
    """Takes the tokens of one declaration from the left."""

    def __init__(self, statement: Statement, stream: list[Token]) -> None:
        self.statement = statement
        self.stream = stream
        self.index = 0

    def read(self) -> InputVariable:
        words: list[Token] = []
        while self.index < len(self.stream) and self.stream[self.index].kind == "name":
            words.append(self.stream[self.index])
            self.index += 1
        words = [word for word in words if word.text not in _STORAGE]
        name = self.name(words)
        type_ = self.type(words[:-1])
        extents = tuple(self.extents())
        initial: Formula | tuple[Formula, ...] | None = None
        if self.is_next("="):
            self.index += 1
            initial = self.initial()
        if self.index < len(self.stream):
            raise self.wrong(f"{self.stream[self.index].shown} in an unexpected place")
        return InputVariable(name, type_, extents, initial, span=self.statement.span)

    def is_next(self, text: str) -> bool:
        return self.index < len(self.stream) and self.stream[self.index].text == text

    def wrong(self, what: str) -> AnnotuneError:
        hint = "write it like `decl static double A[M][N] = random;`"
        return AnnotuneError.of(BAD_DECLARATION.at(self.statement.span, what=what, hint=hint))

    def name(self, words: list[Token]) -> str:
        if not words or words[-1].text in _TYPE_WORDS | _C_WORDS:
            raise self.wrong("no name")
        return words[-1].text

    def type(self, words: list[Token]) -> str:
        """Return the type as C spells it, in the order written."""
        if not words:
            raise self.wrong("no type")
        for word in words:
            if word.text not in _TYPE_WORDS:
                raise self.wrong(f"an unknown type '{word.text}'")
        return " ".join(word.text for word in words)

    def extents(self) -> list[Formula]:
        found: list[Formula] = []
        while self.is_next("["):
            found.append(self.formula(self.index + 1, self.closing("]")))
            self.index += 1
        return found

    def closing(self, bracket: str) -> int:
        """Move to the bracket that closes the one here, and return its index."""
        depth = 0
        for index in range(self.index, len(self.stream)):
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(
                self.stream[index].text, 0
            )
            if depth == 0:
                self.index = index
                return index
        raise self.wrong(f"a missing '{bracket}'")

    def initial(self) -> Formula | tuple[Formula, ...] | None:
        last = len(self.stream)
        if self.is_next("{"):
            first = self.index + 1
            return tuple(self.items(first, self.closing("}")))
        first, self.index = self.index, last
        is_random = [token.text for token in self.stream[first:]] == [_RANDOM]
        return None if is_random else self.formula(first, last)

    def items(self, first: int, last: int) -> list[Formula]:
        found: list[Formula] = []
        start, depth = first, 0
        for index in range(first, last):
            text = self.stream[index].text
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text, 0)
            if text == "," and depth == 0:
                found.append(self.formula(start, index))
                start = index + 1
        if start < last:
            found.append(self.formula(start, last))
        self.index = last + 1
        return found

    def formula(self, first: int, last: int) -> Formula:
        """Return tokens `first` to `last` as a formula; raises when they are none."""
        if first >= last:
            raise self.wrong("an empty value")
        start, end = self.stream[first].start, self.stream[last - 1].end
        text = self.statement.text[start:end]
        try:
            parse_expression(text)
        except ExpressionError as error:
            raise error.at(lambda a, b: self.statement.at(start + a, start + b)) from None
        return Formula(text, self.statement.at(start, end))
