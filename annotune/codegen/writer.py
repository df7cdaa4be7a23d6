"""A text under construction: lines, blocks and their indentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

INDENT = "    "


class Writer:
    """Collects lines of C. Blocks indent and close themselves."""

    def __init__(self, margin: str = "") -> None:
        self._lines: list[str] = []
        self._margin = margin
        self._declared: list[set[str]] = [set()]

    @property
    def declared(self) -> frozenset[str]:
        """Return the names noted as declared in the innermost open block."""
        return frozenset(self._declared[-1])

    def declare(self, name: str) -> None:
        """Note that the innermost open block declares `name`, which it may do once."""
        self._declared[-1].add(name)

    def line(self, text: str = "") -> None:
        """Add one line at the current depth; an empty one stays empty."""
        self._lines.append(self._margin + text if text else "")

    def lines(self, text: str) -> None:
        """Add every line of `text` at the current depth."""
        for part in text.splitlines():
            self.line(part)

    def directive(self, text: str) -> None:
        """Add a preprocessor line; long clause lists continue over backslashes."""
        words = text.split(" ")
        current = words[0]
        rows: list[str] = []
        for word in words[1:]:
            if len(self._margin) + len(current) + len(word) > _WIDTH and _closed(current):
                rows.append(current + " \\")
                current = INDENT + word
            else:
                current += " " + word
        for row in (*rows, current):
            self.line(row)

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Iterator[None]:
        """Write ``head {``, what the body of the `with` writes one level deeper, and `tail`."""
        *above, last = head.split("\n")
        for row in above:
            self.line(row)
        self.line(last + " {" if last else "{")
        self._declared.append(set())
        with self.deeper():
            yield
        self._declared.pop()
        self.line(tail)

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Indent what the body of the `with` writes by one level."""
        kept = self._margin
        self._margin += INDENT
        yield
        self._margin = kept

    @contextmanager
    def under(self, heads: Iterable[str]) -> Iterator[None]:
        """Write the heads of loops without braces, each one level deeper than the one around it."""
        kept = self._margin
        for head in heads:
            self.line(head)
            self._margin += INDENT
        yield
        self._margin = kept

    def text(self) -> str:
        """Return everything written, each line ended by a newline."""
        return "".join(line + "\n" for line in self._lines)


_WIDTH = 92


def _closed(text: str) -> bool:
    """Return whether every parenthesis of `text` is closed, so that a line may end here."""
    return text.count("(") == text.count(")")


def words(text: str) -> frozenset[str]:
    """Return the identifiers that stand in a C text."""
    return frozenset(re.findall(r"[A-Za-z_]\w*", text))


def wrapped(head: str, parameters: Sequence[str]) -> str:
    """Return ``head(parameters)``, over several lines where one would be too long."""
    line = f"{head}({', '.join(parameters) or 'void'})"
    if len(line) <= 100:
        return line
    rows: list[str] = []
    row = ""
    for parameter in parameters:
        if row and len(row) + len(parameter) > 84:
            rows.append(row)
            row = ""
        row = f"{row}, {parameter}" if row else parameter
    rows.append(row)
    joint = ",\n" + INDENT * 2
    return f"{head}(\n{INDENT * 2}{joint.join(rows)})"
