"""How many kernels the model is asked of when points are ranked."""

from __future__ import annotations

import pytest
from decide.recipes import decided_example

from annotune.annotation.devices import load_device
from annotune.space import space as spaces
from annotune.space.space import region_space
from annotune.strategies.registry import AUTO

SIZES = {"h3u": 16, "h2u": 16, "h1u": 16, "p6u": 16, "p5u": 16, "p4u": 16, "h7u": 16}


@pytest.mark.slow
def test_of_a_region_with_many_nests_each_gets_its_share_of_predictions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []
    predict = spaces.predict

    def counted(*words: object) -> object:
        asked.append(words[1])
        return predict(*words)  # type: ignore[arg-type]

    base = decided_example("nwchem/sd_t_d1.c", "sd_t_d1_1", AUTO, sizes=SIZES).base
    space, device = region_space(base), load_device("h200")
    monkeypatch.setattr(spaces, "predict", counted)
    every = space.ranked(device, 40)
    whole = len(asked)
    asked.clear()
    monkeypatch.setattr(spaces, "MOST_PREDICTED", 200)
    some = space.ranked(device, 40)
    assert whole > 1000
    assert 150 <= len(asked) <= 200
    # The rules' own points are all among them.
    assert some[0] == every[0]
    assert len({*map(str, some)} & {*map(str, every)}) >= 20
