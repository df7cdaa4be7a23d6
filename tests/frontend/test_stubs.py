"""The stubs of pycparser's nodes beside the nodes themselves."""

from __future__ import annotations

import ast
from pathlib import Path

from pycparser import c_ast

STUB = Path(__file__).parents[2] / "stubs" / "pycparser" / "c_ast.pyi"


def test_every_node_has_the_fields_of_its_stub_in_their_order() -> None:
    nodes = [n for n in ast.parse(STUB.read_text()).body if isinstance(n, ast.ClassDef)]
    assert len(nodes) > 40
    for node in nodes[1:]:
        lines = [line for line in node.body if isinstance(line, ast.AnnAssign)]
        stubbed = [line.target.id for line in lines if isinstance(line.target, ast.Name)]
        own = getattr(c_ast, node.name).__slots__
        assert list(own[: len(stubbed)]) == stubbed, node.name
