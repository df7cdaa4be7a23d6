"""The text form of loop nests, for golden files and for tests: printed and read.

Expressions are C. A loop is one line, its body is indented by two spaces::

    for e in 0:nelt @block.x peeled nelt - e >= 4
      for m in 0:lx step 2 unrolled 2 combines + t
        S0: Ur[e*lx + k] += D[m] * U[e][k]
      local double t = U[e][0]
      local double rows[4][16]
      local double sums[4] for sum
      shared double tile[256]
      await 1
      for ij in 0:6*n merges i from 0 by 6 merges j from 1 by 1
        S2: u[ij] = 0.0
      S1: t = 0.0 if e > 0 && U[e][0] < t streamed

``for i in 1:n: for j in 0:n: a[i][j] = 0.0`` is short for a body of one statement.
Statements without a label are numbered in text order; ``copy:`` marks one that is none of the
region's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import assert_never

from annotune.ir.expr import (
    SELECT,
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Negate,
    Real,
    Select,
    Var,
    print_expr,
)
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
    MergedLoop,
    Nest,
    Operator,
    Stmt,
)


def print_nest(nest: Nest) -> str:
    """Return the text form of `nest`, one line per loop or statement."""
    return "".join(f"{line}\n" for line in _body(nest.body, 0))


def _body(body: tuple[Stmt, ...], depth: int) -> Iterator[str]:
    indent = "  " * depth
    for stmt in body:
        match stmt:
            case Loop():
                yield indent + _header(stmt)
                yield from _body(stmt.body, depth + 1)
            case Assign(number, target, op, value, guard=guard):
                condition = "" if guard is None else f" if {print_expr(guard)}"
                label = "copy" if number == NO_STATEMENT else f"S{number}"
                word = " streamed" if stmt.streamed else ""
                text = f"{print_expr(target)} {op} {print_expr(value)}{condition}{word}"
                yield f"{indent}{label}: {text}"
            case Local(name, type_, None):
                yield f"{indent}local {type_} {name}"
            case Local(name, type_, value) if value is not None:
                yield f"{indent}local {type_} {name} = {print_expr(value)}"
            case LocalArray(name, type_, extents, space, scalar):
                word = "local" if space is MemorySpace.PRIVATE else space
                shape = "".join(f"[{n}]" for n in extents)
                yield f"{indent}{word} {type_} {name}{shape}" + (f" for {scalar}" if scalar else "")
            case Local():
                raise AssertionError(stmt)
            case Await(newest):
                yield f"{indent}await {newest}"
            case Fetch(place):
                yield f"{indent}fetch {print_expr(place)}"
            case _:
                assert_never(stmt)


def _header(loop: Loop) -> str:
    lower, upper = (print_expr(bound, SELECT + 1) for bound in (loop.lower, loop.upper))
    text = f"for {loop.var} in {lower}:{upper}"
    if loop.step != 1:
        text += f" step {loop.step}"
    if loop.place is not Level.SERIAL:
        text += f" @{loop.place}"
    if loop.tile_of:
        text += f" tile_of {loop.tile_of}"
    if loop.deal_of:
        text += f" deal_of {loop.deal_of}"
    if loop.unrolled != 1:
        text += f" unrolled {loop.unrolled}"
    for combined in loop.combines:
        text += f" combines {combined.op} {combined.name}"
    for part in loop.merges:
        text += f" merges {part.var} from {part.lower} by {part.stride}"
    for test in loop.peeled:
        text += f" peeled {print_expr(test, SELECT + 1)}"
    return text + (f" by_warps {loop.by_warps}" if loop.by_warps else "")


_TOKEN = re.compile(
    r"\s*(?:"
    r"(?P<real>(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?[fF]?)"
    r"|(?P<int>\d+)"
    r"|(?P<level>@[a-z_.]+)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<op>[-+*/&|^]=|[<>=!]=|&&|\|\||[-+*/%=()\[\]:,<>?&|^])"
    r")"
)
_LOOP_WORDS = frozenset(
    {
        "step",
        "tile_of",
        "deal_of",
        "unrolled",
        "combines",
        "merges",
        "peeled",
        "by_warps",
        "if",
        "streamed",
    }
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


def parse_nest(text: str) -> Nest:
    """Return the nest whose text form is `text`.

    Raises:
        ValueError: The text is not the form of a nest; the message names the line.
    """
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
    return Nest(body)


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
        numbers = {"step": 1, "unrolled": 1, "by_warps": 0}
        place = Level.SERIAL
        names = {"tile_of": "", "deal_of": ""}
        combines: list[Combine] = []
        merges: list[MergedLoop] = []
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
            by_warps=numbers["by_warps"],
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

    def part(self) -> MergedLoop:
        var = self.name()
        self.expect("from")
        sign = -1 if self.take("-") else 1
        lower = sign * self.integer()
        self.expect("by")
        return MergedLoop(var, lower, self.integer())

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
