"""Which rearranged bodies keep the dependences."""

from __future__ import annotations

import pytest
from support.nest_text import parse_nest

from annotune.analysis.analyse import analyse
from annotune.analysis.schedule import violations
from annotune.ir.nest import Stmt

from .regions import D1_1, D1_1_SIZES, region


def _broken(original: str, rearranged: str | tuple[Stmt, ...]) -> list[str]:
    analysis = analyse(region(original))
    body = parse_nest(rearranged).body if isinstance(rearranged, str) else rearranged
    return sorted({violation.text for violation in violations(analysis, body)})


SHIFT = "for i in 1:n: for j in 0:n-1: a[i*n + j] = a[(i-1)*n + j + 1]"
SHIFTED = "a[i*n + j] = a[(i-1)*n + j + 1]"
SMOOTH = "for t in 0:T: for i in 1:n-1: a[i] = a[i-1] + a[i+1]"
STEP = "for t in 0:T: for i in 0:n: a[(t+1)*n + i] = a[t*n + i]"
PAIR = "for i in 1:n\n  a[i] = b[i]\n  c[i] = a[i-1]\n"
SUMS = "for i in 0:n: for k in 0:n: c[i] += a[i*n + k]"
OWN = "for i in 0:n\n  t = a[i]\n  b[i] = t\n"
DOT = "for i in 0:n\n  s = 0.0\n  for k in 0:n\n    s += a[i*n + k]\n  b[i] = s\n"


LEGAL = {
    "the original": (SHIFT, SHIFT),
    "a parallel loop placed": (SHIFT, f"for i in 1:n: for j in 0:n-1 @thread.x: {SHIFTED}"),
    "a placed loop under a serial one": (
        STEP,
        "for t in 0:T: for i in 0:n @thread.x: a[(t+1)*n + i] = a[t*n + i]",
    ),
    "each worker keeps its own element": (
        STEP,
        "for i in 0:n @thread.x: for t in 0:T: a[(t+1)*n + i] = a[t*n + i]",
    ),
    "a reduction outermost": (SUMS, "for k in 0:n: for i in 0:n: c[i] += a[i*n + k]"),
    "two kernels": (
        PAIR,
        "for i in 1:n @block.x: a[i] = b[i]\nfor i in 1:n @block.x: c[i] = a[i-1]",
    ),
    "a private scalar in each worker": (OWN, "for i in 0:n @block.x\n  t = a[i]\n  b[i] = t\n"),
}


@pytest.mark.parametrize("name", LEGAL)
def test_legal(name: str) -> None:
    assert _broken(*LEGAL[name]) == []


ILLEGAL = {
    "a permutation that reverses": (
        SHIFT,
        f"for j in 0:n-1: for i in 1:n: {SHIFTED}",
        ["a is carried by j (distance 1)"],
    ),
    "a loop that carries, placed": (
        SHIFT,
        f"for i in 1:n @block.x: for j in 0:n-1: {SHIFTED}",
        ["a is carried by i (distance 1)"],
    ),
    "sweeps placed outside of time": (
        "for t in 0:T\n  for i in 1:n-1\n    b[i] = a[i-1] + a[i+1]\n"
        "  for i in 1:n-1\n    a[i] = b[i]\n",
        "for i in 1:n-1 @block.x\n  for t in 0:T\n    b[i] = a[i-1] + a[i+1]\n    a[i] = b[i]\n",
        ["a is carried by i (distance 1)"],
    ),
    "a reduction over workers": (
        SUMS,
        "for i in 0:n @block.x: for k in 0:n @thread.x: c[i] += a[i*n + k]",
        ["c is carried by k (distance 1 and more)"],
    ),
    "a serial loop between workers of one kernel": (
        "for b in 0:n: for t in 1:n: for i in 0:n-1: "
        "a[b*n*n + t*n + i] = a[b*n*n + (t-1)*n + i + 1]",
        "for b in 0:n @block.x: for t in 1:n: for i in 0:n-1 @thread.x: "
        "a[b*n*n + t*n + i] = a[b*n*n + (t-1)*n + i + 1]",
        ["a passes between the workers of i"],
    ),
    "workers that would have to wait": (
        "for b in 0:n\n  for i in 0:n\n    s[b*n + i] = a[i]\n"
        "  for i in 0:n-1\n    c[b*n + i] = s[b*n + i + 1]\n",
        "for b in 0:n @block.x\n  for i in 0:n @thread.x\n    s[b*n + i] = a[i]\n"
        "  for i in 0:n-1 @thread.x\n    c[b*n + i] = s[b*n + i + 1]\n",
        ["s passes between the workers of i"],
    ),
    "statements in the wrong order": (
        PAIR,
        "for i in 1:n\n  S1: c[i] = a[i-1]\nfor i in 1:n\n  S0: a[i] = b[i]\n",
        ["a needs statement 0 before statement 1"],
    ),
    "a private scalar between kernels": (
        OWN,
        "for i in 0:n: t = a[i]\nfor i in 0:n: b[i] = t",
        ["t belongs to one iteration of i, whose statements are taken apart"],
    ),
    "a private sum over workers": (
        DOT,
        "for i in 0:n @block.x\n  s = 0.0\n  for k in 0:n @thread.x\n"
        "    s += a[i*n + k]\n  b[i] = s\n",
        [
            "s is carried by k (distance 1 and more)",
            "s passes between the workers of i",
            "s passes between the workers of k",
        ],
    ),
}


@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal(name: str) -> None:
    original, rearranged, texts = ILLEGAL[name]
    assert _broken(original, rearranged) == texts


def test_lives_of_a_scalar_may_not_interleave() -> None:
    original = (
        "for e in 0:n\n"
        "  for i in 0:n\n    t = a[i]\n    b[i*n + e] = t\n"
        "  for i in 0:n\n    t = a[i]\n    c[i*n + e] = t\n"
    )
    fused = "for e in 0:n: for i in 0:n\n".replace(": for", "\n  for") + "".join(
        f"    {line}\n"
        for line in ("S0: t = a[i]", "S2: t = a[i]", "S1: b[i*n + e] = t", "S3: c[i*n + e] = t")
    )
    assert _broken(original, fused) != []


def test_tiles_of_a_triples_kernel() -> None:
    analysis = analyse(region(D1_1, sizes=D1_1_SIZES))
    placed = D1_1.replace("for h3 in 0:h3u", "for h3 in 0:h3u @thread.x")
    assert violations(analysis, parse_nest(placed).body) == ()
    placed = D1_1.replace("for h7 in 0:h7u", "for h7 in 0:h7u @thread.x")
    assert {v.loop for v in violations(analysis, parse_nest(placed).body)} == {"h7"}


def test_a_body_must_hold_every_statement_once() -> None:
    analysis = analyse(region(PAIR))
    with pytest.raises(ValueError, match="statement 1 is missing"):
        violations(analysis, parse_nest("for i in 1:n: a[i] = b[i]").body)
    with pytest.raises(ValueError, match="needs the loop 'i' once"):
        violations(analysis, parse_nest("for j in 1:n\n  a[j] = b[j]\n  c[j] = a[j-1]\n").body)
