"""Einsum strings, and how the command line takes them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.cli import annotune

from annotune.tensor.read import read_program
from annotune.tensor.text import operation_text
from annotune.tensor.translate import einsum_of


@pytest.mark.parametrize(
    ("string", "operation"),
    [
        ("eimk,jm->eijk", "R:(e, i, j, k) = A:(e, i, m, k) * B:(j, m)"),
        ("ij,jk", "R:(i, k) = A:(i, j) * B:(j, k)"),
        ("ba", "R:(a, b) = A:(b, a)"),
        ("ii->i", "R:(i) = A:(i, i)"),
        (" i j , ->  j i", "R:(j, i) = A:(i, j) * B"),
        ("AB,BR->AR", "R_2:(A, R) = A_2:(A, B) * B_2:(B, R)"),
        ("ij,ij->", "R = A:(i, j) * B:(i, j)"),
    ],
)
def test_what_a_string_says(string: str, operation: str) -> None:
    program = einsum_of(string, {}, "double", "einsum")
    assert operation_text(program.operations[0]) == operation
    assert program.tensors[0].name == program.operations[0].output.tensor


def test_sizes_that_are_not_given_are_parameters() -> None:
    program = einsum_of("ij,jk->ik", {"i": 4, "k": 5}, "float", "f")
    assert [(one.name, one.value, one.is_parameter) for one in program.sizes] == [
        ("n_i", 4, False),
        ("n_j", None, True),
        ("n_k", 5, False),
    ]


@pytest.mark.parametrize(
    ("string", "options", "code", "column", "message"),
    [
        ("", (), "AT726", 1, "no index"),
        ("->", (), "AT726", 1, "no index"),
        ("i...->i", (), "AT726", 2, "'...'"),
        ("ij;jk->ik", (), "AT726", 3, "';'"),
        ("ij->i,j", (), "AT726", 6, "',' in the output"),
        ("ij->i->j", (), "AT726", 6, "'-'"),
        ("i\u00e9->i", (), "AT726", 2, "'\u00e9'"),
        ("i\0->i", (), "AT726", 2, "'\\x00'"),
        ("," * 60 + "i", (), "AT726", 1, "operands"),
        ("ij->ii", (), "AT717", 6, "'i' stands twice"),
        ("ij->ik", (), "AT716", 6, "'k' stands on the left"),
        ("iI->i", (), "AT708", 2, "'I'"),
        ("ij->i", ("--sizes", "i=0"), "AT711", 1, "is 0, expected 1"),
        ("ij->i", ("--sizes", "i=4,k=4"), "AT710", 1, "'k'"),
        ("ij->i", ("--name", "a b"), "AT708", 1, "'a b'"),
        ("ij->i", ("--name", "main"), "AT708", 1, "'main'"),
    ],
)
def test_what_is_no_string(
    string: str, options: tuple[str, ...], code: str, column: int, message: str
) -> None:
    done = annotune("tensor", "--einsum", string, *options)
    place = options[0] if options else "--einsum"
    assert (done.code, done.out) == (1, "")
    head = re.match(rf"{place}: error: (.*) \[{code}\]$", done.err, re.M)
    assert head is not None, done.err
    assert message in head[1]
    if not options and string.isprintable() and string:
        assert done.err.split("\n")[1:3] == [
            f"    1 | {string}",
            f"      | {' ' * (column - 1)}^" + "^^" * (message == "'...'"),
        ]


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("a.tensor", "--einsum", "i"),
        ("a.tensor", "--sizes", "i=4"),
        ("a.tensor", "--type", "float"),
        ("--einsum", "i", "--sizes", "i"),
        ("--einsum", "i", "--sizes", "i=4,i=5"),
        ("--einsum", "i", "--sizes", "i=4.5"),
        ("--einsum", "i", "--type", "int"),
        ("--einsum", "i", "-o", "i.h"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    done = annotune("tensor", *arguments)
    assert (done.code, done.out) == (2, "")


def test_a_string_becomes_a_file_and_that_the_same_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    string = ("--einsum", "ik,kl,lj->ij", "--sizes", "i=4,k=5,l=6,j=7")
    assert annotune("tensor", *string, "-o", "e.tensor").out == "e.tensor\n"
    program = read_program("e.tensor", Path("e.tensor").read_text())
    assert [one.name for one in program.tensors if one.is_internal] == ["t1"]
    assert annotune("tensor", "e.tensor", "-o", "e.c").out == "e.c\ne.h\n"
    as_written = annotune("tensor", *string, "--no-factor", "--json").json
    assert as_written["flop_before"] == as_written["flop_after"] == 3 * 4 * 5 * 6 * 7
    assert as_written["temporaries"] == []


def test_a_refusal_is_json_where_that_is_asked_for() -> None:
    done = annotune("tensor", "--einsum", "ij->k", "--json")
    assert done.code == 1
    assert [one["code"] for one in json.loads(done.out)["diagnostics"]] == ["AT716"]
