"""A macro as ``#define`` gives it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from annotune.frontend.tokens import TOKEN

_DEFINE = re.compile(r"\s*(?P<name>[A-Za-z_$]\w*)(?P<parameters>\([^)]*\))?(?P<body>.*)", re.DOTALL)


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
