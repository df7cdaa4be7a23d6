"""What is asked again and again is worked out once, and of no more than it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.regions import nest_analysis

from annotune.analysis.facts import AccessFacts, Analysis, Violation
from annotune.analysis.schedule import broken
from annotune.ir.nest import Level
from annotune.pipeline import Settings, check
from annotune.transforms import spread
from annotune.transforms.map import Map
from annotune.transforms.permute import Permute
from annotune.transforms.transform import Context, asked_once
from annotune.transforms.tree import Body

PROJECT = Path(__file__).parent.parent.parent


def test_an_answer_is_kept_with_what_it_is_about() -> None:
    asked: list[str] = []

    @asked_once
    def about(context: Context, name: str) -> str:
        asked.append(name)
        return name * 2

    one = nest_analysis("for i in 0:n: a[i] = 1")
    first, second = Context(one), Context(one)
    assert [about(first, "x"), about(first, "x"), about(first, "y")] == ["xx", "xx", "yy"]
    assert asked == ["x", "y"]
    about(second, "x")
    assert asked == ["x", "y", "x"]
    assert first == second


def test_what_a_block_reads_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[object] = Counter()
    contexts: list[Context] = []
    worked_out = spread._part_of

    def counted(
        context: Context, facts: Sequence[AccessFacts], blocks: tuple[str, ...]
    ) -> spread.BlockPart | None:
        # Kept, so that no other one gets its place.
        contexts.append(context)
        asked[id(context), tuple(map(id, facts)), blocks] += 1
        return worked_out(context, facts, blocks)

    monkeypatch.setattr(spread, "_part_of", counted)
    check(Settings(PROJECT / "c_examples/nekbone/local_grad3.c"))
    assert len(asked) > 6
    # Of what is written two questions are asked: what is read of it, and what can be kept.
    assert max(asked.values()) <= 2


def test_a_step_is_asked_of_its_own_nest(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f"for i in 0:n\n  for j in 0:n\n    a{k}[n*i + j] = 1\n" for k in range(3))
    one = nest_analysis(text)
    seen: list[int] = []

    def counted(analysis: Analysis, body: Body, *given: Any, **named: Any) -> Iterator[Violation]:
        seen.append(len(body))
        return broken(analysis, body, *given, **named)

    monkeypatch.setattr("annotune.transforms.legality.broken", counted)
    body, context = one.region.nest.body, Context(one)
    assert Map(1, (("i", Level.BLOCK_X),)).why_not(body, context) is None
    assert Permute(2, ("j", "i")).why_not(body, context) is None
    assert seen == [1, 1]
