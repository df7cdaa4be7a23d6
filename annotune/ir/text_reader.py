"""The reader of the text form of loop nests; `annotune.ir.text` describes the form."""

from __future__ import annotations

import re

from annotune.ir.expr import Access, Binary, Call, Expr, Int, Negate, Real, Select, Var
from annotune.ir.nest import (
    NO_STATEMENT,
    Assign,
    Await,
    Combine,
    Fetch,
    Level,
    Local,
    LocalArray,
    Loop,
    MemorySpace,
    Operator,
    Part,
    Stmt,
)

_TOKEN = re.compile(
    r"\s*(?:"
    r"(?P<real>(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?[fF]?)"
    r"|(?P<int>\d+)"
    r"|(?P<level>@[a-z_.]+)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<op>[-+*/]=|[<>=!]=|&&|\|\||[-+*/%=()\[\]:,<>?])"
    r")"
)
_LOOP_WORDS = frozenset(
    {"step", "tile_of", "deal_of", "unrolled", "combines", "merges", "peeled", "if", "streamed"}
)
# The binary operators of each level, loosest first.
_LEVELS = (
    frozenset({"||"}),
    frozenset({"&&"}),
    frozenset({"==", "!="}),
    frozenset({"<", "<=", ">", ">="}),
    frozenset({"+", "-"}),
    frozenset({"*", "/", "%"}),
)
_ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/="})


def read_nest(text: str) -> tuple[Stmt, ...]:
    """Return the statements that `text` describes; ValueError when it describes none."""
    lines = [
        (number, len(line) - len(line.lstrip()), line.strip())
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip()
    ]
    reader = _Lines(lines)
    indent = lines[0][1] if lines else 0
    body = reader.block(indent)
    if reader.at < len(lines):
        raise ValueError(f"line {lines[reader.at][0]}: indented less than the first line")
    return body


class _Lines:
    """The lines still to be read, and the number of the next statement without a label."""

    def __init__(self, lines: list[tuple[int, int, str]]) -> None:
        self.lines = lines
        self.at = 0
        self.next_number = 0

    def block(self, indent: int) -> tuple[Stmt, ...]:
        """Return the statements of the lines indented by `indent` and their bodies."""
        body = []
        while self.at < len(self.lines) and self.lines[self.at][1] >= indent:
            number, own_indent, text = self.lines[self.at]
            if own_indent > indent:
                raise ValueError(f"line {number}: unexpected indentation")
            self.at += 1
            body.append(self.statement(_Tokens(number, text), indent))
        return tuple(body)

    def statement(self, tokens: _Tokens, indent: int) -> Stmt:
        if tokens.take("for"):
            return self.loop(tokens, indent)
        if tokens.take("local"):
            return tokens.local()
        for space in (MemorySpace.SHARED, MemorySpace.DEALT):
            if tokens.take(space):
                return tokens.local(space)
        if tokens.take("await"):
            newest = tokens.integer()
            tokens.end()
            return Await(newest)
        if tokens.take("fetch"):
            place = tokens.primary()
            if not isinstance(place, Access):
                raise tokens.error("an array element")
            tokens.end()
            return Fetch(place)
        copy = re.match(r"\s*copy\s*:", tokens.text)
        if copy:
            tokens.at = copy.end()
            return tokens.assign(NO_STATEMENT)
        label = re.match(r"\s*S(\d+)\s*:", tokens.text)
        if label:
            tokens.at = label.end()
            self.next_number = int(label[1])
        assign = tokens.assign(self.next_number)
        self.next_number += 1
        return assign

    def loop(self, tokens: _Tokens, indent: int) -> Loop:
        var = tokens.name()
        tokens.expect("in")
        lower = tokens.binary(0)
        tokens.expect(":")
        upper = tokens.binary(0)
        numbers = {"step": 1, "unrolled": 1}
        place = Level.SERIAL
        names = {"tile_of": "", "deal_of": ""}
        combines: list[Combine] = []
        merges: list[Part] = []
        peeled: list[Expr] = []
        while word := tokens.peek():
            if word.startswith("@"):
                tokens.next()
                place = Level(word[1:])
            elif word in names:
                tokens.next()
                names[word] = tokens.name()
            elif word == "merges":
                tokens.next()
                merges.append(tokens.part())
            elif word == "peeled":
                tokens.next()
                peeled.append(tokens.binary(0))
            elif word == "combines":
                tokens.next()
                combines.append(Combine(Operator(tokens.next()), tokens.name()))
            elif word in numbers:
                tokens.next()
                numbers[word] = tokens.integer()
            else:
                break
        body: tuple[Stmt, ...]
        if tokens.take(":") and tokens.peek():
            body = (self.statement(tokens, indent),)
        else:
            tokens.end()
            deeper = self.at < len(self.lines) and self.lines[self.at][1] > indent
            body = self.block(self.lines[self.at][1]) if deeper else ()
        return Loop(
            var,
            lower,
            upper,
            body,
            numbers["step"],
            place,
            names["tile_of"],
            numbers["unrolled"],
            combines=tuple(combines),
            merges=tuple(merges),
            deal_of=names["deal_of"],
            peeled=tuple(peeled),
        )


class _Tokens:
    """One line, read from the left."""

    def __init__(self, number: int, text: str) -> None:
        self.number = number
        self.text = text
        self.at = 0

    def error(self, expected: str) -> ValueError:
        return ValueError(f"line {self.number}: expected {expected} at '{self.text[self.at :]}'")

    def match(self) -> re.Match[str] | None:
        return _TOKEN.match(self.text, self.at)

    def peek(self) -> str:
        found = self.match()
        return found[0].strip() if found else ""

    def next(self) -> str:
        found = self.match()
        if not found:
            raise self.error("more")
        self.at = found.end()
        return found[0].strip()

    def take(self, word: str) -> bool:
        found = self.peek() == word
        if found:
            self.next()
        return found

    def expect(self, word: str) -> None:
        if not self.take(word):
            raise self.error(f"'{word}'")

    def end(self) -> None:
        if self.text[self.at :].strip():
            raise self.error("the end of the line")

    def name(self) -> str:
        found = self.match()
        if not found or not found["name"]:
            raise self.error("a name")
        return self.next()

    def integer(self) -> int:
        found = self.match()
        if not found or not found["int"]:
            raise self.error("an integer")
        return int(self.next())

    def part(self) -> Part:
        var = self.name()
        self.expect("from")
        sign = -1 if self.take("-") else 1
        lower = sign * self.integer()
        self.expect("by")
        return Part(var, lower, self.integer())

    def assign(self, number: int) -> Assign:
        target = self.primary()
        if not isinstance(target, Access | Var):
            raise self.error("an array element or a scalar to the left")
        op = self.next()
        if op not in _ASSIGNMENTS:
            raise self.error("an assignment")
        value = self.expression()
        guard = self.expression() if self.take("if") else None
        streamed = self.take("streamed")
        self.end()
        return Assign(number, target, op, value, guard=guard, streamed=streamed)

    def local(self, space: MemorySpace = MemorySpace.PRIVATE) -> Local | LocalArray:
        words = []
        while self.peek() and self.peek() not in ("=", "["):
            words.append(self.name())
        if len(words) < 2:
            raise self.error("a type and a name")
        if self.peek() == "[":
            extents = self.extents()
            scalar = self.name() if self.take("for") else ""
            self.end()
            return LocalArray(words[-1], " ".join(words[:-1]), extents, space, scalar)
        value = self.expression() if self.take("=") else None
        self.end()
        return Local(words[-1], " ".join(words[:-1]), value)

    def extents(self) -> tuple[int, ...]:
        out = []
        while self.take("["):
            out.append(self.integer())
            self.expect("]")
        return tuple(out)

    def expression(self) -> Expr:
        condition = self.binary(0)
        if not self.take("?"):
            return condition
        if_true = self.expression()
        self.expect(":")
        return Select(condition, if_true, self.expression())

    def binary(self, level: int) -> Expr:
        if level == len(_LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while (op := self.peek()) in _LEVELS[level]:
            self.next()
            left = Binary(op, left, self.binary(level + 1))
        return left

    def unary(self) -> Expr:
        if not self.take("-"):
            return self.primary()
        operand = self.unary()
        # A negative constant is one Int, as in the front end.
        if isinstance(operand, Int) and operand.value > 0:
            return Int(-operand.value)
        return Negate(operand)

    def primary(self) -> Expr:
        found = self.match()
        if found is None or found["level"]:
            raise self.error("an expression")
        if found["int"]:
            return Int(int(self.next()))
        if found["real"]:
            return Real(self.next())
        if found["name"] and self.peek() not in _LOOP_WORDS:
            return self.named(self.next())
        self.expect("(")
        inner = self.expression()
        self.expect(")")
        return inner

    def named(self, name: str) -> Expr:
        if self.take("("):
            arguments = [self.expression()]
            while self.take(","):
                arguments.append(self.expression())
            self.expect(")")
            return Call(name, tuple(arguments))
        indices = []
        while self.take("["):
            indices.append(self.expression())
            self.expect("]")
        return Access(name, tuple(indices)) if indices else Var(name)
