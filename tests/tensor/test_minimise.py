"""Tensor programs with fewer operations compute the same."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.laws import tried
from support.tensors import computed, random_arrays, short_program, short_programs, short_text

from annotune.tensor.minimise import Minimised, flop, minimised
from annotune.tensor.program import ElementType, TensorProgram

EIGHT = dict.fromkeys("eijklmnp", 8)


def test_element_operator_becomes_three_contractions() -> None:
    """Eq. 1.3 of the thesis, O(n^6), as Eqs 1.4 to 1.6, O(n^4), counted by hand."""
    found = minimised(short_program(EIGHT, "d:ijk += A:kl*B:jm*C:in*u:lmn"))
    # Three multiplications and an addition for each i, j, k, l, m, n: 4 * 8^6.
    assert found.flop_before == 1_048_576
    # A multiplication and an addition for each of four indices, three times: 3 * 2 * 8^4.
    assert found.flop_after == 24_576
    assert short_text(found.program) == (
        "t1:kmn = A:kl*u:lmn",
        "t2:kjn = B:jm*t1:kmn",
        "d:ijk += C:in*t2:kjn",
    )
    # d and u of 8^3, three operators of 8^2, in doubles; then two more of 8^3.
    assert found.bytes_before == 8 * (2 * 512 + 3 * 64)
    assert found.bytes_after == 8 * (4 * 512 + 3 * 64)
    assert [(one.name, one.lengths) for one in found.temporaries] == [
        ("t1", (8, 8, 8)),
        ("t2", (8, 8, 8)),
    ]


def test_value_of_two_summands_is_computed_once() -> None:
    """The curvature tensor: one of its products is the other with j and l exchanged."""
    line = "C:ijkl = A:ijkl - A:ilkj + B:mjk*B:iml - B:mlk*B:imj"
    found = minimised(short_program(EIGHT, line))
    assert short_text(found.program) == (
        "t1:iljk = B:mjk*B:iml",
        "C:ijkl = A:ijkl - A:ilkj + t1:iljk - t1:ijlk",
    )
    # By hand: 2 * 8^5 for each product, 8^4 for each sign between three parts, both products
    # being one sum; then one product, and three signs.
    assert found.flop_before == 2 * 8**4 + 4 * 8**5
    assert found.flop_after == 2 * 8**5 + 3 * 8**4


def test_value_of_two_operations_is_computed_once() -> None:
    lines = ("R:ij = A:ik*B:kl*C:lj", "S:ij = B:ik*C:kj*D:j")
    assert short_text(minimised(short_program(EIGHT, *lines)).program) == (
        "t1:kj = B:kl*C:lj",
        "R:ij = A:ik*t1:kj",
        "S:ij = t1:ij*D:j",
    )


def test_value_of_a_tensor_that_changes_is_computed_again() -> None:
    lines = ("R:ij = B:ik*C:kj*2", "B:ij = C:ij", "S:ij = B:ik*C:kj*D:j")
    found = short_text(minimised(short_program(EIGHT, *lines)).program)
    assert found == (
        "R:ij = B:ik*C:kj*2",
        "B:ij = C:ij",
        "t1:ij = B:ik*C:kj",
        "S:ij = D:j*t1:ij",
    )


def test_what_does_not_change_along_a_loop_is_computed_before_it() -> None:
    found = minimised(short_program(EIGHT, "R:ij = exp(A:ik)*(B:kj+C:kj)"))
    assert short_text(found.program) == (
        "t1:ik = exp(A:ik)",
        "t2:kj = (B:kj+C:kj)",
        "R:ij = t1:ik*t2:kj",
    )


@pytest.mark.parametrize(
    "line",
    [
        "R:ij = A:ik*B:kj",
        # Nothing is added up: there is nothing to save.
        "R:i = A:i*B:i*C:i",
        # Sums over one index each, of a product that is no product of sums.
        "R:i = (A:ik+B:i)",
    ],
)
def test_what_cannot_be_better_stays(line: str) -> None:
    program = short_program(EIGHT, line)
    assert minimised(program).program == program


def test_a_temporary_is_worth_its_way_to_memory() -> None:
    """With two along each index it would save 160 operations, and take 16 numbers to memory."""
    lengths = dict.fromkeys("ijk", 2)
    program = short_program(lengths, "R:i = A:i*B:i", "S:i = A:i*B:i*C:i")
    assert minimised(program).program == program


def test_temporary_is_as_exact_as_the_product() -> None:
    floats = dict.fromkeys("ABCu", ElementType.FLOAT)
    line = "d:ij = A:ik*B:kl*C:lj"
    into_double = minimised(short_program(EIGHT, line, elements=floats))
    assert into_double.temporaries[0].element is ElementType.DOUBLE
    into_float = minimised(short_program(EIGHT, line, elements=floats | {"d": ElementType.FLOAT}))
    assert into_float.temporaries[0].element is ElementType.FLOAT
    mixed = minimised(short_program(EIGHT, line, elements={"A": ElementType.COMPLEX}))
    assert mixed.temporaries[0].element is ElementType.COMPLEX


def test_other_orders_of_the_element_operator() -> None:
    """The three operators may come in any order: the thesis applies C first, then B, then A."""
    program = short_program(EIGHT, "d:ijk = A:kl*B:jm*C:in*u:lmn")
    texts = [short_text(minimised(program, order).program) for order in range(7)]
    assert len({*texts}) == 6
    assert texts[6] == texts[5]
    assert ("t1:lmi = C:in*u:lmn", "t2:lji = B:jm*t1:lmi", "d:ijk = A:kl*t2:lji") in texts


def test_products_may_have_temporaries_of_their_own() -> None:
    lines = ("R:ij = A:ik*B:kj", "S:ij = A:ik*B:kj*D:ij")
    program = short_program(EIGHT, *lines)
    assert short_text(minimised(program).program)[0] == "t1:ij = A:ik*B:kj"
    assert short_text(minimised(program, is_shared=False).program)[0] == lines[0]


@tried(400)
@given(short_programs(), st.integers(0, 2**16), st.sampled_from((0, 0, 0, 1, 3)), st.booleans())
def test_minimised_program_does_the_same_with_less(
    program: TensorProgram, seed: int, order: int, is_shared: bool
) -> None:
    found = minimised(program, order, is_shared)
    given_arrays = random_arrays(program, seed)
    after = computed(found.program, given_arrays)
    for name, array in computed(program, given_arrays).items():
        np.testing.assert_array_equal(after[name], array)
    assert found.flop_before == flop(program)
    assert found.flop_after == flop(found.program) <= found.flop_before
    assert (found.flop_after == found.flop_before) == (found.program == program)
    _check_temporaries(program, found)


def _check_temporaries(program: TensorProgram, found: Minimised) -> None:
    """Hold that each temporary is set once, as a whole, read after that, and known to no caller."""
    own = {one.name for one in found.temporaries}
    assert own.isdisjoint(one.name for one in program.tensors)
    is_set: set[str] = set()
    is_read: set[str] = set()
    for one in found.program.operations:
        read = {reference.tensor for reference in one.reads()} & own
        assert read <= is_set
        is_read |= read
        if one.output.tensor in own:
            assert one.assign == "="
            assert one.output.tensor not in is_set
            is_set.add(one.output.tensor)
    assert is_set == is_read == own
    assert found.bytes_after - found.bytes_before == sum(8 * _elements(found, n) for n in own)


def _elements(found: Minimised, name: str) -> int:
    return prod(found.program.value(n) or 0 for n in found.program.tensor(name).lengths)
