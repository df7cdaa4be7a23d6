"""Operations in common loops compute the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.laws import tried
from support.tensors import computed, random_arrays, short_program, short_programs

from annotune.tensor.fuse import fusions, inner_lengths
from annotune.tensor.minimise import minimised
from annotune.tensor.program import (
    Added,
    Applied,
    Multiplied,
    Number,
    Reference,
    TensorExpr,
    TensorProgram,
)

LENGTHS = dict.fromkeys("ijklmnp", 8) | {"e": 1000}
OPERATOR = "d:eijk = A:kl*B:jm*C:in*u:elmn"


def test_element_operator_keeps_the_temporaries_of_one_element() -> None:
    found = fusions(minimised(short_program(LENGTHS, OPERATOR)).program)
    # A is applied first, so that k is an index of both temporaries and of d.
    assert [one.around for one in found] == [("e",), ("e", "k")]
    kept = {t.name: inner_lengths(found[0], t) for t in found[0].tensors}
    assert kept["t1"] == kept["t2"] == (False, True, True, True)
    assert kept["u"] == (True,) * 4


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (("R:ij = A:ik*B:kj",), "one operation"),
        (("t:ij = A:ik*B:kj", "R:ij = t:jk*C:ki"), "another iteration's elements are read"),
        (("t:ij = A:ik*B:kj", "R:ik = t:ij*C:jk", "R:ki = C:ik"), "R is set by another one"),
        (("t:ij = A:ik*u:jk", "R:ij = t:ij*C:ij", "u:ij = C:ij"), "u was read by another one"),
        (("t:ei = A:ek*B:ki", "R: = t:ei*C:ei"), "e is summed"),
    ],
)
def test_what_shares_no_loop_is_left(lines: tuple[str, ...], why: str) -> None:
    assert not fusions(_with_internal(short_program(LENGTHS, *lines), "t")), why


def test_temporaries_that_are_not_near_are_left() -> None:
    large = LENGTHS | dict.fromkeys("ijklmn", 32)
    assert not [
        f for f in fusions(minimised(short_program(large, OPERATOR)).program) if len(f.around) < 2
    ]


def _with_internal(program: TensorProgram, *names: str) -> TensorProgram:
    """Return a program in which those of the tensors that some operation sets are its own."""
    own = {*names} & {*program.outputs}
    tensors = (replace(one, is_internal=one.name in own) for one in program.tensors)
    return replace(program, tensors=tuple(tensors))


def _batched(program: TensorProgram, *once: str) -> TensorProgram:
    """Return a program done for two values of an index that all tensors have but some."""
    tensors = tuple(
        one if one.name in once else replace(one, lengths=(2, *one.lengths))
        for one in program.tensors
    )

    def batched(expr: TensorExpr) -> TensorExpr:
        match expr:
            case Reference(tensor, own):
                return expr if tensor in once else replace(expr, indices=("e", *own))
            case Multiplied(factors):
                return replace(expr, factors=tuple(map(batched, factors)))
            case Added(terms):
                return replace(expr, terms=tuple(replace(t, value=batched(t.value)) for t in terms))
            case Applied(_, arguments):
                return replace(expr, arguments=tuple(map(batched, arguments)))
            case Number():
                return expr

    operations = (
        replace(
            one,
            output=replace(one.output, indices=("e", *one.output.indices)),
            terms=tuple(replace(term, value=batched(term.value)) for term in one.terms),
        )
        for one in program.operations
    )
    return replace(program, tensors=tensors, operations=tuple(operations))


@tried(200)
@given(short_programs(), st.integers(0, 2**16))
def test_fused_program_computes_the_same(program: TensorProgram, seed: int) -> None:
    once = () if "A" in program.outputs else ("A",)
    internal = minimised(_batched(program, *once)).program
    if internal.operations[0].assign == "=":
        # Whatever is set as a whole may be internal: what is compared are the others.
        internal = _with_internal(internal, internal.operations[0].output.tensor)
    assume(fusions(internal))
    arrays = random_arrays(internal, seed)
    apart = computed(internal, arrays)
    for found in fusions(internal):
        after = computed(found, arrays)
        for one in internal.tensors:
            if not one.is_internal:
                np.testing.assert_array_equal(after[one.name], apart[one.name])
