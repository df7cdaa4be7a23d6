"""What the code says and what docs/diagnostics/ explains, side by side."""

from __future__ import annotations

import importlib
import pkgutil
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import annotune
from annotune.diagnostics import Page, Template, pages


@dataclass(frozen=True)
class Said:
    """One template and the name by which the code knows it."""

    name: str
    template: Template


@cache
def templates() -> dict[str, tuple[Said, ...]]:
    """Return every template of the package by its code."""
    found: dict[str, dict[str, Said]] = {}
    for module in pkgutil.walk_packages(annotune.__path__, "annotune."):
        if module.name.endswith("__main__"):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, Template):
                found.setdefault(value.code, {}).setdefault(name, Said(name, value))
    return {code: tuple(said.values()) for code, said in sorted(found.items())}


def differences() -> list[str]:
    """Return what is to be done so that templates and pages agree, one line for each code."""
    codes, written = templates(), {page.code for page in pages()}
    todo = [
        f'write docs/diagnostics/{code}.md: {said[0].name}, "{said[0].template.message}"'
        for code, said in codes.items()
        if code not in written
    ]
    return todo + [
        f"remove docs/diagnostics/{code}.md: no template has this code"
        for code in sorted(written - codes.keys())
    ]


@dataclass(frozen=True)
class Example:
    """A page's example: the files that it writes and the command to run."""

    files: dict[str, str]
    arguments: tuple[str, ...]


# The file that each kind of block becomes.
_FILES = {
    "c": "example.c",
    "fortran": "example.f90",
    "spec": "example.spec",
    "tensor": "example.tensor",
    "yaml": "example.yaml",
    "yml": "workloads.yml",
    "json": "results.json",
    "toml": "annotune.toml",
}
_DEFAULT = "$ annotune check example.c"


def example_of(page: Page) -> Example | None:
    """Return the example of a page, None where the page says that there is none."""
    blocks = dict(_blocks(page.text))
    if not blocks:
        return None
    command = shlex.split(blocks.pop("console", _DEFAULT).removeprefix("$ "))
    assert command[0] == "annotune", page.code
    return Example({_FILES[kind]: text for kind, text in blocks.items()}, tuple(command[1:]))


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    yield from re.findall(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


if __name__ == "__main__":
    print("\n".join(differences()) or "every code has its page")
