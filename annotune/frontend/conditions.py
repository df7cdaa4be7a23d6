"""The conditions of ``#if``: their macros expanded, their value, and the names nobody defines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from annotune.diagnostics import AnnotuneError
from annotune.frontend.constant import evaluate
from annotune.frontend.expand import Expander
from annotune.frontend.macro import Macro
from annotune.frontend.source import Source
from annotune.frontend.tokens import IDENTIFIER, Tokens

DEFINED = re.compile(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))")
_NAME = re.compile(r"[A-Za-z_$]\w*")
# The headers of ISO C, POSIX and the compilers' own libraries, by their names.
_STANDARD = frozenset(
    {
        *("assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits"),
        *("locale", "math", "setjmp", "signal", "stdalign", "stdarg", "stdatomic", "stdbool"),
        *("stddef", "stdint", "stdio", "stdlib", "stdnoreturn", "string", "strings", "tgmath"),
        *("threads", "time", "uchar", "wchar", "wctype", "unistd", "sys/time", "sys/types"),
        *("sys/resource", "sys/stat", "sched", "pthread", "malloc", "memory", "omp", "openacc"),
    }
)
# What those headers define as macros that a program may ask for.
_STANDARD_MACRO = re.compile(
    r"_\w*|M_\w+|\w+_(?:MAX|MIN|DIG|EPSILON|BIT|EXP|WIDTH)|(?:FP|EXIT|CLOCK|SEEK|FLT|DBL)_\w+"
    r"|NULL|EOF|BUFSIZ|INFINITY|NAN|HUGE\w*|CHAR_BIT|MAXFLOAT|CLOCKS_PER_SEC|BIG_ENDIAN"
    r"|I|complex|bool|true|false|assert|stdin|stdout|stderr|offsetof|and|or|not|xor|linux|unix"
)


def is_standard(header: str) -> bool:
    """Return whether a header is one of ISO C's or of the compiler's own."""
    return header.removesuffix(".h") in _STANDARD


def may_define(header: str, name: str) -> bool:
    """Return whether a header that was not read may define the macro `name`."""
    return not is_standard(header) or bool(_STANDARD_MACRO.fullmatch(name))


def as_expression(word: str, rest: str) -> str:
    """Return what ``#if`` would ask in the place of ``#ifdef`` and ``#ifndef``, on one line."""
    text = " ".join(re.sub(r"\\[ ]?\n", " ", rest).split())
    found = _NAME.match(text)
    if word not in ("ifdef", "ifndef"):
        return text
    return f"{'!' if word == 'ifndef' else ''}defined {found[0] if found else '_'}"


@dataclass(frozen=True, slots=True)
class Decision:
    """The value of a condition, None when it is no integer expression.

    `undefined` are the names that it asks for and nothing defines.
    """

    value: int | None
    undefined: frozenset[str]


class Conditions:
    """Decides conditions where `current` gives the macros in force, `known` their values."""

    def __init__(
        self,
        source: Source,
        current: Callable[[str], Macro | None],
        known: Callable[[str], int | None],
    ) -> None:
        self.source = source
        self.current = current
        self.known = known

    def decide(self, word: str, rest: str) -> Decision:
        """Return the value of ``#if rest``, ``#ifdef rest`` or ``#ifndef rest``."""
        undefined: set[str] = set()

        def is_defined(name: str) -> bool:
            if self.current(name) is None:
                undefined.add(name)
                return False
            return True

        def value_of(name: str) -> int:
            if self.current(name) is None:
                undefined.add(name)
            return self.known(name) or 0

        if word in ("ifdef", "ifndef"):
            found = _NAME.match(rest.strip())
            holds = is_defined(found[0]) if found else False
            return Decision(int(holds == (word == "ifdef")), frozenset(undefined))
        text = re.sub(r"\\[ ]?\n", " ", rest)
        text = DEFINED.sub(lambda d: str(int(is_defined(d[1] or d[2]))), text)
        try:
            value = evaluate(self.expanded(text), value_of)
        except AnnotuneError:
            value = None
        return Decision(value, frozenset(undefined))

    def expanded(self, text: str) -> str:
        """Return `text` with its macros expanded, but for those that are integers."""
        if all(not self._expands(name) for name in _NAME.findall(text)):
            return text
        tokens = Tokens.of(text)
        expander = Expander(self.source, lambda name, _: self._expands(name))
        return " ".join(expander.expand(tokens, 0, len(tokens) - 1).texts)

    def _expands(self, name: str) -> Macro | None:
        macro = self.current(name) if IDENTIFIER.match(name) else None
        return macro if macro is not None and self.known(name) is None else None
