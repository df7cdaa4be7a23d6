"""What is known to be there of arrays that conditions leave elements out of."""

from __future__ import annotations

import pytest
from conftest import Golden
from support.nest_text import print_nest
from transforms.products import analysed

from annotune.ir.nest import MemorySpace, Nest
from annotune.transforms.presence import certain_reads, ends_seen
from annotune.transforms.stage import Stage, copied_whole
from annotune.transforms.transform import Context


def test_the_ends_of_an_array_are_looked_for(golden: Golden) -> None:
    one = analysed("if (A[i][l] > 0.0) v[i + j * n] += A[i][l] * q[l + j * k];")
    found = [ends_seen(one, name) for name in ("q", "v")]
    assert all(found)
    texts = [print_nest(Nest(ends.body)) for ends in found if ends is not None]
    golden.check("transforms/ends_seen.nest", "".join(texts))


def test_a_single_element_is_both_ends() -> None:
    one = analysed("if (A[i][l] > 0.0) C[i][j] += v[0] * B[l][j];")
    found = ends_seen(one, "v")
    assert found is not None
    assert found.flags == ("annotune_v_first",)


@pytest.mark.parametrize(
    ("statement", "loops"),
    [
        # The region writes what is asked.
        ("if (v[l] > 0.0) v[l + k] += q[j];", "for (l = 0; l < k; l++) for (j = 0; j < m; j++)"),
        # A triangle: which iteration touches the last element depends on loops.
        (
            "if (w[l] != 0) v[i] += q[j];",
            "for (l = 0; l < k; l++) for (i = 0; i < n; i++) for (j = 0; j <= i; j++)",
        ),
        # Only some are read at all.
        (
            "if (w[l] != 0) v[i] += w[l] > 1 ? q[l] : 0;",
            "for (l = 0; l < k; l++) for (i = 0; i < n; i++)",
        ),
        ("if (w[l] != 0) v[i] += q[2 * l];", "for (l = 1; l < k; l += 2) for (i = 0; i < n; i++)"),
    ],
)
def test_ends_that_nobody_knows(statement: str, loops: str) -> None:
    assert ends_seen(analysed(statement, loops), "q") is None


@pytest.mark.parametrize(
    ("guard", "is_whole", "read"),
    [
        ("A[i][l] > 0.0", False, {"A"}),
        ("A[i][l] > 0.0", True, {"A", "B"}),
        ("A[i][l] > 0.0 && w[j] > 1", False, {"A"}),
        ("A[i][l] > 0.0 && w[j] > 1", True, {"A", "B"}),
        # What ``j < i`` leaves out lies perhaps behind the last element.
        ("j < i && A[i][l] > 0.0", True, set()),
    ],
)
def test_what_is_read_in_any_case(guard: str, is_whole: bool, read: set[str]) -> None:
    (assign,) = analysed(f"if ({guard}) C[i][j] += A[i][l] * B[l][j];").region.nest.assigns()
    found = {a.array for a in certain_reads(assign, is_whole) if hasattr(a, "array")}
    assert found == read


@pytest.mark.parametrize(
    ("array", "space", "is_whole", "code"),
    [
        ("A", MemorySpace.PRIVATE, False, None),
        ("q", MemorySpace.PRIVATE, False, "AT280"),
        ("q", MemorySpace.PRIVATE, True, None),
        ("q", MemorySpace.SHARED, True, None),
        ("q", MemorySpace.SHARED, False, "AT280"),
    ],
)
def test_copies_of_what_a_condition_leaves_out(
    array: str, space: MemorySpace, is_whole: bool, code: str | None
) -> None:
    one = analysed("if (A[i][l] > 0.0) v[i + j * n] += A[i][l] * q[l + j * k];")
    sizes = {"n": 6, "m": 8, "k": 5}
    stage = Stage(0, array, "l", space=space)
    refusal = stage.why_not(one.region.nest.body, Context(one, sizes, is_whole))
    assert (refusal.code if refusal is not None else None) == code
    assert copied_whole(one, (stage,)) == (() if array == "A" else (array,))
