"""The nests that laws are tried on have every kind of loop, bound and dependence."""

from __future__ import annotations

import re

from support.nests import analysed, corpus, nests

from annotune.analysis.facts import LoopKind


def test_every_section_of_the_corpus_is_sound_and_drawn_from() -> None:
    sections = {(False, False): "any", (True, False): "perfect", (False, True): "sums"}
    sections[True, True] = "perfect sums"
    assert corpus().keys() == set(sections.values())
    for (perfect, sums), name in sections.items():
        assert nests(perfect=perfect, sums=sums).is_empty is False
        assert len(corpus()[name]) == 12
        for text in corpus()[name]:
            one = analysed(text)
            depths = {len(path) for path in one.paths.values()}
            assert not perfect or len(depths) == 1


def test_nothing_that_laws_are_about_is_missing() -> None:
    texts = [text for section in corpus().values() for text in section]
    found = [analysed(text) for text in texts]
    kinds = {loop.kind for one in found for loop in one.loops}
    assert kinds >= {LoopKind.PARALLEL, LoopKind.REDUCTION, LoopKind.SERIAL}
    assert {one.all_sizes for one in found} == {True, False}
    assert {len(path) for one in found for path in one.paths.values()} == {1, 2, 3}
    for pattern in (r"step 2", r"in [ij]:", r"in -2:", r"M\[", r"\*=", r"-=", r"\bs = ", r"n\*"):
        assert any(re.search(pattern, text) for text in texts), pattern
