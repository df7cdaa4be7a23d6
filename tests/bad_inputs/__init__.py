"""Two hundred things a user may do wrong, by theme; ``tests/test_bad_input.py`` runs them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from bad_inputs.case import Bad

THEMES = (
    "annotations",
    "values",
    "recipes",
    "legality",
    "sources",
    "loops",
    "names",
    "sidecars",
    "usage",
    "paths",
)


def table() -> Mapping[str, Bad]:
    """Return every case, named ``theme: case``."""
    found: dict[str, Bad] = {}
    for theme in THEMES:
        for name, bad in import_module(f"bad_inputs.{theme}").BAD.items():
            found[f"{theme}: {name}"] = bad
    return found
