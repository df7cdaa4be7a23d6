"""Random regions of C: nested loops and branches over arrays, reals and integers."""

from __future__ import annotations

import random

_ARRAYS = ("a", "b", "c", "f", "q")
_READ_ONLY = ("p",)
_COUNTERS = ("k", "off")


class Writer:
    """Writes one region; `seed` fixes it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.iterators: list[str] = []
        self.statements = 0
        self.names = 0

    def fresh(self) -> str:
        """Return a name of its own, so that no name means two things."""
        self.names += 1
        return f"w{self.names}"

    def region(self) -> str:
        lines = [f"{name} = {self.random.randint(0, 3)};" for name in _COUNTERS]
        lines += [self.statement(0) for _ in range(self.random.randint(0, 2))]
        lines += [self.loop(0) for _ in range(self.random.randint(1, 2))]
        return "\n".join(lines)

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def statement(self, depth: int) -> str:
        self.statements += 1
        kind = self.random.randint(0, 11)
        if kind <= 1 and depth < 4 and len(self.iterators) < 3 and self.statements < 25:
            return self.loop(depth)
        if kind <= 4 and depth < 4 and self.statements < 25:
            return self.branch(depth)
        if kind == 5:
            return f"{self.pick(*_COUNTERS)} {self.pick('=', '+=', '-=')} {self.integer(1)};"
        if kind == 6:
            return f"{self.pick(*_COUNTERS)}{self.pick('++', '--')};"
        if kind == 7:
            return f"{self.pick('s', 't')} {self.pick('=', '+=', '*=')} {self.real(1)};"
        if kind == 8:
            m, x = self.pick("s", "t", self.element()), self.element()
            left, right = self.random.sample((m, x), 2)
            return f"if ({left} {self.pick('<', '>', '<=', '>=')} {right}) {m} = {x};"
        if kind == 9:
            first, second = self.element(), self.element()
            return f"{first} = {second} = {self.real(1)};"
        target = self.element()
        return f"{target} {self.pick('=', '=', '+=', '-=')} {self.real(2)};"

    def block(self, depth: int) -> str:
        count = self.random.randint(1, 3)
        inner = "\n".join(self.statement(depth + 1) for _ in range(count))
        declared = ""
        if self.random.random() < 0.2:
            name = self.fresh()
            declared = f"double {name} = {self.real(1)};\n"
            inner += f"\n{self.element()} = {name} * 0.5;"
        return f"{{\n{declared}{inner}\n}}"

    def branch(self, depth: int) -> str:
        text = f"if ({self.condition(2)}) {self.block(depth)}"
        roll = self.random.random()
        if roll < 0.3:
            return f"{text} else {self.block(depth)}"
        if roll < 0.5:
            return f"{text} else {self.branch(depth + 1)}" if depth < 4 else text
        return text

    def loop(self, depth: int) -> str:
        free = [name for name in ("i", "j", "h") if name not in self.iterators]
        var = self.random.choice(free)
        bound = self.pick("n", "m", "3", "n - 1", "(n < m ? n : m)", "m >> 1", *self.iterators)
        start = self.pick("0", "0", "1", *self.iterators)
        head = self.pick(
            f"{var} = {start}; {var} < {bound}; {var}++",
            f"{var} = {start}; {var} <= {bound}; {var} += 2",
            f"{var} = {bound}; {var} > {start}; {var}--",
            f"{var} = {bound}; {var} >= {start}; {var} -= 2",
            f"{var} = {start}; {var} < {bound} && {var} < 4; {var}++",
            f"int NEW = 0, NEW_ = 0; NEW < {bound}; NEW++, NEW_ += 2",
        )
        if head.startswith("int "):
            var = self.fresh()
            head = head.replace("NEW", var)
        self.iterators.append(var)
        inner = self.block(depth)
        self.iterators.pop()
        return f"for ({head}) {inner}"

    def integer(self, depth: int) -> str:
        leaves = [*self.iterators, *_COUNTERS, "n", "m", "1", "2", "3"]
        if depth <= 0 or self.random.random() < 0.5:
            return self.random.choice(leaves)
        roll = self.random.random()
        if roll < 0.15:
            return f"p[{self.integer(0)}]"
        if roll < 0.25:
            return f"({self.condition(1)} ? {self.integer(0)} : {self.integer(0)})"
        if roll < 0.35:
            return f"({self.integer(0)}) {self.pick('/', '%')} 3"
        return f"({self.integer(depth - 1)} {self.pick('+', '-')} {self.integer(0)})"

    def element(self) -> str:
        return f"{self.random.choice(_ARRAYS)}[({self.integer(1)}) % 64]"

    def real(self, depth: int) -> str:
        leaves = ["s", "t", "x", "y", "0.5", self.element(), self.element()]
        if depth <= 0 or self.random.random() < 0.3:
            return self.random.choice(leaves)
        roll = self.random.random()
        if roll < 0.1:
            return f"({self.condition(1)} ? {self.real(depth - 1)} : {self.real(0)})"
        if roll < 0.2:
            return f"{self.pick('fabs', 'sqrt', 'floor', 'abs')}({self.real(0)})"
        if roll < 0.3:
            return f"({self.pick('int', 'float', 'long')}) ({self.element()} * 0.25)"
        if roll < 0.4:
            return f"({self.integer(1)})"
        return f"({self.real(depth - 1)} {self.pick('+', '-', '*')} {self.real(0)})"

    def condition(self, depth: int) -> str:
        roll = self.random.random()
        if depth > 0 and roll < 0.2:
            return f"{self.condition(depth - 1)} {self.pick('&&', '||')} {self.condition(0)}"
        if depth > 0 and roll < 0.3:
            return f"!({self.condition(depth - 1)})"
        op = self.pick("<", "<=", ">", ">=", "==", "!=")
        if roll < 0.6:
            return f"{self.integer(1)} {op} {self.integer(0)}"
        if roll < 0.7:
            return f"{self.integer(1)}"
        return f"{self.real(1)} {op} {self.real(0)}"
