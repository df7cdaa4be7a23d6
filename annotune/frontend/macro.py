"""A macro as ``#define`` gives it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from annotune.frontend.constant import integer
from annotune.frontend.tokens import TOKEN

_DEFINE = re.compile(r"\s*(?P<name>[A-Za-z_$]\w*)(?P<parameters>\([^)]*\))?(?P<body>.*)", re.DOTALL)

_SIGNS = ("-", "+", "~", "!")


@dataclass(frozen=True, slots=True)
class Macro:
    """A ``#define``: its body, and its value when the body is an integer constant.

    `parameters` is None for a macro that takes no arguments. The last parameter of a variadic
    macro takes all the arguments that are left. A stale macro's value has to be found again,
    since a macro in its body means something else by now.
    """

    name: str
    body: str
    parameters: tuple[str, ...] | None = None
    is_variadic: bool = False
    value: int | None = None
    is_stale: bool = False

    @property
    def is_function(self) -> bool:
        return self.parameters is not None

    @property
    def use(self) -> str:
        """Return the macro with its parameters, as ``#define`` has it."""
        if self.parameters is None:
            return self.name
        *fixed, last = self.parameters or ("",)
        rest = "..." if last == "__VA_ARGS__" else f"{last}..."
        return f"{self.name}({', '.join([*fixed, rest if self.is_variadic else last])})"


def is_one_operand(body: str) -> bool:
    """Return whether a macro's body means the same in any expression as its value of type int.

    ``1 + 2`` without parentheses falls apart in ``2 * N``; ``10u`` and ``10L`` make the
    expression around them unsigned or long.
    """
    words = [text for text, _ in body_words(body)]
    if any(_is_no_int(word) for word in words):
        return False
    while words and words[0] in _SIGNS:
        words = words[1:]
    if len(words) <= 1:
        return True
    depth = 0
    for place, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if depth == 0:
            return place == len(words) - 1
    return False


def _is_no_int(word: str) -> bool:
    if not word[:1].isdigit():
        return False
    is_decimal = word[0] != "0" or len(word) == 1
    value = integer(word)
    return word[-1] in "uUlL" or (not is_decimal and value is not None and value >= 2**31)


def read_define(text: str) -> Macro | None:
    """Return what stands after ``#define``, None when it is none."""
    found = _DEFINE.match(text)
    if found is None:
        return None
    name, body = found["name"], found["body"].strip()
    if found["parameters"] is None:
        return Macro(name, body)
    parameters = [p.strip() for p in found["parameters"][1:-1].split(",")]
    if parameters == [""]:
        return Macro(name, body, ())
    last = parameters[-1]
    if not last.endswith("..."):
        return Macro(name, body, tuple(parameters))
    # GNU C gives the rest a name of its own: `args...`.
    parameters[-1] = last.removesuffix("...").strip() or "__VA_ARGS__"
    return Macro(name, body, tuple(parameters), is_variadic=True)


@lru_cache(maxsize=4096)
def body_words(body: str) -> tuple[tuple[str, bool], ...]:
    """Return the tokens of a macro's body, each with whether white space stands before it."""
    words, last = [], -1
    for found in TOKEN.finditer(body):
        words.append((found[0], found.start() > last >= 0))
        last = found.end()
    return tuple(words)
