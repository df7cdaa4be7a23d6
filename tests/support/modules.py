"""The product's modules as syntax trees, each parsed once for all lints."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "annotune"
MODULES = tuple(sorted(PACKAGE.rglob("*.py")))


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(path.read_text())


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return every node of a module, as `ast.walk` yields them."""
    return tuple(ast.walk(parsed(path)))
