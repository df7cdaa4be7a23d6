"""The checker of certificates: right ones hold, and every kind of wrong one is rejected."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from annotune.certify.certificate import Certificate, Placement, Touch, verify

# for i < 4: for k < 8: y[i] += A[8*i + k], i on thread x and k in the thread.
SUM = Certificate(
    sizes={"n": 4},
    placed={
        0: Placement(
            domain="{ S0[i0, i1] : 0 <= i0 < 4 and 0 <= i1 < 8 }",
            original="{ S0[i0, i1] -> [0, i0, 0, i1, 0] }",
            launch="{ S0[i0, i1] -> [0] }",
            worker="{ S0[i0, i1] -> [0, 0, 0, i0, 0, 0] }",
            time="{ S0[i0, i1] -> [0, i1, 0] }",
            grid=(1, 1, 1, 4, 1, 1),
        )
    },
    touches=(
        Touch(0, "y", "{ S0[i0, i1] -> A[i0] }", is_write=True, operator="+"),
        Touch(0, "y", "{ S0[i0, i1] -> A[i0] }", is_write=False, operator="+"),
        Touch(0, "A", "{ S0[i0, i1] -> A[8*i0 + i1] }", is_write=False),
    ),
    lengths={"y": (0, 4), "A": (0, 32)},
)
# for i < 4: for k < 8: a[i + 1][k] = a[i][k + 1]: distance (1, -1).
SKEWED = replace(
    SUM,
    placed={
        0: replace(
            SUM.placed[0],
            worker="{ S0[i0, i1] -> [0, 0, 0, 0, 0, 0] }",
            time="{ S0[i0, i1] -> [0, i0, 0, i1, 0] }",
            grid=(1, 1, 1, 1, 1, 1),
        )
    },
    touches=(
        Touch(0, "a", "{ S0[i0, i1] -> A[16*i0 + 16 + i1] }", is_write=True),
        Touch(0, "a", "{ S0[i0, i1] -> A[16*i0 + i1 + 1] }", is_write=False),
    ),
    lengths={"a": (0, 80)},
)
# for i < 4: s[i] = 0; for k < 8: s[i] += A[8*i + k]; b[i] = s[i]; i on block x, k shared by the
# threads of the block, which combine what they have.
TEAM = Certificate(
    sizes={},
    placed={
        0: Placement(
            domain="{ S0[i0] : 0 <= i0 < 4 }",
            original="{ S0[i0] -> [0, i0, 0] }",
            launch="{ S0[i0] -> [0] }",
            worker="{ S0[i0] -> [i0, 0, 0, 0, 0, 0] }",
            time="{ S0[i0] -> [0] }",
            grid=(4, 1, 1, 8, 1, 1),
            phase="{ S0[i0] -> [0] }",
        ),
        1: Placement(
            domain="{ S1[i0, i1] : 0 <= i0 < 4 and 0 <= i1 < 8 }",
            original="{ S1[i0, i1] -> [0, i0, 1, i1, 0] }",
            launch="{ S1[i0, i1] -> [0] }",
            worker="{ S1[i0, i1] -> [i0, 0, 0, i1, 0, 0] }",
            time="{ S1[i0, i1] -> [1, 0, 0] }",
            grid=(4, 1, 1, 8, 1, 1),
            phase="{ S1[i0, i1] -> [1] }",
            is_joined=True,
        ),
        2: Placement(
            domain="{ S2[i0] : 0 <= i0 < 4 }",
            original="{ S2[i0] -> [0, i0, 2] }",
            launch="{ S2[i0] -> [0] }",
            worker="{ S2[i0] -> [i0, 0, 0, 0, 0, 0] }",
            time="{ S2[i0] -> [2] }",
            grid=(4, 1, 1, 8, 1, 1),
            phase="{ S2[i0] -> [2] }",
        ),
    },
    touches=(
        Touch(0, "s", "{ S0[i0] -> A[i0] }", is_write=True),
        Touch(1, "s", "{ S1[i0, i1] -> A[i0] }", is_write=False, operator="+", combined=(3,)),
        Touch(1, "s", "{ S1[i0, i1] -> A[i0] }", is_write=True, operator="+", combined=(3,)),
        Touch(2, "s", "{ S2[i0] -> A[i0] }", is_write=False),
    ),
    lengths={"s": (0, 4)},
)


# Two statements of one loop, whose threads have one partial result.
TWO_SUMS = Certificate(
    sizes={},
    placed={
        n: Placement(
            domain=f"{{ S{n}[i0] : 0 <= i0 < 8 }}",
            original=f"{{ S{n}[i0] -> [0, i0, {n}] }}",
            launch=f"{{ S{n}[i0] -> [0] }}",
            worker=f"{{ S{n}[i0] -> [0, 0, 0, i0, 0, 0] }}",
            time=f"{{ S{n}[i0] -> [{n}] }}",
            grid=(1, 1, 1, 8, 1, 1),
        )
        for n in (0, 1)
    },
    touches=tuple(
        Touch(n, "s", f"{{ S{n}[i0] -> A[] }}", is_write, "+", (3,), may_swap=True)
        for n in (0, 1)
        for is_write in (False, True)
    ),
    lengths={},
)


def moved(certificate: Certificate, number: int, **changes: Any) -> dict[str, Any]:
    """Return what another place for one statement changes of a certificate."""
    placed = certificate.placed
    return {"placed": {**placed, number: replace(placed[number], **changes)}}


def second(**changes: Any) -> dict[str, Any]:
    """Return what another second statement of the two sums changes of their certificate."""
    first, *others = TWO_SUMS.touches[:2], *TWO_SUMS.touches[2:]
    return {"touches": (*first, *(replace(touch, **changes) for touch in others))}


WRONG: dict[str, tuple[Certificate, dict[str, Any], str]] = {
    "two operators into one place": (
        TWO_SUMS,
        second(operator="*"),
        "S0 and S1 conflict on s and may lose their order",
    ),
    "a partial result of one statement alone": (
        TWO_SUMS,
        second(combined=()),
        "S0 and S1 conflict on s and may lose their order",
    ),
    "swapped order": (
        SKEWED,
        moved(SKEWED, 0, time="{ S0[i0, i1] -> [0, i1, 0, i0, 0] }"),
        "S0 and S0 conflict on a and may lose their order",
    ),
    "a summation index on threads": (
        SUM,
        moved(
            SUM,
            0,
            worker="{ S0[i0, i1] -> [0, 0, 0, i1, 0, 0] }",
            time="{ S0[i0, i1] -> [0, i0, 0] }",
            grid=(1, 1, 1, 8, 1, 1),
        ),
        "S0 and S0 conflict on y and may lose their order",
    ),
    "a summation index on blocks": (
        SUM,
        moved(
            SUM,
            0,
            worker="{ S0[i0, i1] -> [i1, 0, 0, i0, 0, 0] }",
            time="{ S0[i0, i1] -> [0] }",
            grid=(8, 1, 1, 4, 1, 1),
        ),
        "S0 and S0 conflict on y and may lose their order",
    ),
    "missing iterations": (
        SUM,
        moved(SUM, 0, worker="{ S0[i0, i1] -> [0, 0, 0, i0, 0, 0] : i0 < 3 }"),
        "S0: some iterations run nowhere",
    ),
    "iterations run twice": (
        SUM,
        moved(
            SUM,
            0,
            worker="{ S0[i0, i1] -> [x, 0, 0, i0, 0, 0] : 0 <= x < 1 or (x = 1 and i0 = 3) }",
        ),
        "S0: some iterations run twice",
    ),
    "two at once": (
        SUM,
        moved(SUM, 0, time="{ S0[i0, i1] -> [0, floor(i1/2), 0] }"),
        "S0: two iterations have one place and time",
    ),
    "a grid too small": (
        SUM,
        moved(SUM, 0, grid=(1, 1, 1, 3, 1, 1)),
        "S0: an iteration lies outside the grid",
    ),
    "out of bounds": (SUM, {"lengths": {"y": (0, 4), "A": (0, 31)}}, "S0: an access leaves A"),
    "threads that do not meet": (
        TEAM,
        moved(TEAM, 1, is_joined=False),
        "S0 and S1 conflict on s and may lose their order",
    ),
    "threads that meet too late": (
        TEAM,
        moved(TEAM, 1, phase="{ S1[i0, i1] -> [2] }"),
        "S1 and S2 conflict on s and may lose their order",
    ),
    "partial results that nobody combines": (
        TEAM,
        {"touches": tuple(replace(touch, combined=()) for touch in TEAM.touches)},
        "S1 and S1 conflict on s and may lose their order",
    ),
    "partial results of blocks that are not combined": (
        TEAM,
        moved(TEAM, 1, worker="{ S1[i0, i1] -> [i1, 0, 0, i0, 0, 0] }", grid=(8, 1, 1, 4, 1, 1)),
        "S1 and S1 conflict on s and may lose their order",
    ),
    "before the start": (
        SUM,
        {"touches": (Touch(0, "A", "{ S0[i0, i1] -> A[i1 - 1] }", is_write=False),)},
        "S0: an access leaves A",
    ),
    "a size that a statement writes": (
        SUM,
        {"sizes": {"n": 4, "y": 1}},
        "S0 writes y, which is taken for 1 throughout",
    ),
}


def test_right_certificates_hold() -> None:
    assert verify(SUM) == verify(SKEWED) == verify(TEAM) == verify(TWO_SUMS) == ()


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_certificate_is_rejected(name: str) -> None:
    right, changes, fault = WRONG[name]
    faults = verify(replace(right, **changes))
    assert any(one.startswith(fault) for one in faults), faults
