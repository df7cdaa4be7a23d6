"""The record of what annotune writes: the same for the same text, and told apart from another."""

from __future__ import annotations

from pathlib import Path

import emitted_text

SOURCE = """\
void scaled(int n, double *restrict y, const double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++)
        y[i] = FACTOR * x[i];
    /*@ end @*/
}
"""


def recorded(folder: Path, factor: str, points: int = 1) -> dict[str, emitted_text.Hashes]:
    (folder / "scaled.c").write_text(SOURCE.replace("FACTOR", factor))
    paths = emitted_text.corpus([folder])
    return dict(emitted_text.recorded(emitted_text.Job(p, points, None))[:2] for p in paths)


def test_a_record_is_the_same_for_the_same_text_alone(tmp_path: Path) -> None:
    before = recorded(tmp_path, "2")
    (name,) = before
    assert {".cu", "_acc.c", "_omp.c", "check", "certificates"} <= before[name].keys()
    assert not list(emitted_text.differences(before, recorded(tmp_path, "2", points=0)))
    told = list(emitted_text.differences(before, recorded(tmp_path, "3", points=0)))
    assert f"{name}: .cu" in told
    assert f"{name}: certificates" not in told
