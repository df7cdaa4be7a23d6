"""What ``benchmarks/cpu.py --check`` promises, with figures that keep it and figures that miss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cpu
import pytest
from cpu_promises import Verdict, held
from cpu_rows import NAIVE, NO_TORCH, O2, O3, TORCH, TUNED, Row, read_rows, write_rows

from annotune.measure.machine import Cpu


def row(name: str, group: str, tuned: float, stream: float = 100) -> Row:
    """Return a row in which naive OpenMP has 10 GFLOP/s, and what was written 15."""
    gflops = {TUNED: tuned, NAIVE: 10.0, O3: 15.0, O2: 5.0}
    return Row(name, group, gflops, {TORCH: NO_TORCH}, stream, 400)


TRIPLES = tuple(row(f"d{k}_{n}", "d1, d2", 80) for k in (1, 2) for n in range(1, 10))
SINGLES = tuple(row(f"s1_{n}", "s1", 90) for n in range(1, 10))
GRADIENTS = tuple(row(f"local_grad3 lx={n}", f"local_grad3 lx={n}", 23) for n in (8, 10, 12))
EVERY = (*TRIPLES, *SINGLES, row("gemm", "gemm", 30), *GRADIENTS)


def with_figure(rows: tuple[Row, ...], name: str, **gflops: float | None) -> tuple[Row, ...]:
    """Return the rows with figures of one of them replaced, or taken away where None."""
    names = {"tuned": TUNED, "torch": TORCH, "naive": NAIVE, "written": O3}

    def changed(one: Row) -> Row:
        new = {**one.gflops, **{names[key]: value for key, value in gflops.items()}}
        return replace(one, gflops={key: value for key, value in new.items() if value})

    return tuple(changed(one) if one.name == name else one for one in rows)


def test_figures_that_keep_every_promise() -> None:
    verdicts = [one.verdict for one in held(EVERY)]
    # torch is not installed, and d1_1 stands beside three marks.
    assert verdicts == [Verdict.KEPT] * 6 + [Verdict.LEFT_OUT] + [Verdict.SHOWN] * 3
    text = "\n".join(map(str, held(EVERY)))
    assert "kept: d1 and d2 are 7 times as fast as naive OpenMP: 8.00 times, geometric" in text
    assert "kept: d1 and d2 are 4 times as fast as the best as written: 5.33 times" in text
    assert "kept: each s1 reaches 90% of the stream: at the least 90%, s1_1" in text
    # Stream allows 100 here, so the hand-written block's share of it is 71.
    assert "beside the hand-written block: 80.0 of 71.1 GFLOP/s, 112%" in text
    assert "beside the mark: 80.0 of 84.5 GFLOP/s, 95%" in text
    assert "beside its bound: 80.0 of 100.0 GFLOP/s, 80%" in text


def slower(rows: tuple[Row, ...], by: float) -> tuple[Row, ...]:
    return tuple(replace(r, gflops={**r.gflops, TUNED: r.gflops[TUNED] / by}) for r in rows)


@pytest.mark.parametrize(
    ("rows", "missed"),
    [
        (
            (*slower(TRIPLES, 1.2), *EVERY[18:]),
            ["d1 and d2 are 7 times as fast as naive OpenMP: 6.67 times, geometric mean of 18"],
        ),
        (
            (*slower(TRIPLES, 1.4), *EVERY[18:]),
            [
                "d1 and d2 are 7 times as fast as naive OpenMP: 5.71 times, geometric mean of 18",
                "d1 and d2 are 4 times as fast as the best as written: 3.81 times, "
                "geometric mean of 18",
            ],
        ),
        (
            with_figure(EVERY, "d2_3", naive=None),
            ["d1 and d2 are 7 times as fast as naive OpenMP: 1 of them have no figure"],
        ),
        (
            with_figure(EVERY, "s1_4", tuned=89),
            ["each s1 reaches 90% of the stream: at the least 89%, s1_4"],
        ),
        (
            with_figure(EVERY, "local_grad3 lx=10", written=16),
            [
                "local_grad3 is 1.5 times as fast as the best as written, local_grad3 lx=10: "
                "1.44 times"
            ],
        ),
        (
            with_figure(EVERY, "local_grad3 lx=8", tuned=None),
            [
                "local_grad3 is 1.5 times as fast as the best as written, local_grad3 lx=8: "
                "no figure"
            ],
        ),
        (
            with_figure(with_figure(EVERY, "gemm", torch=31), "d1_2", torch=40),
            ["all are ahead of torch.einsum: behind: gemm"],
        ),
    ],
)
def test_figures_that_miss_a_promise(rows: tuple[Row, ...], missed: list[str]) -> None:
    assert [f"{one.promise}: {one.found}" for one in held(rows) if one.is_missed] == missed


def test_a_promise_without_all_its_rows_is_left_out() -> None:
    found = held(TRIPLES[:9])
    assert not any(one.is_missed for one in found)
    assert str(found[0]).startswith("left out: d1 and d2 are 7 times as fast as naive OpenMP: 9 of")
    assert {one.verdict for one in held(())} == {Verdict.LEFT_OUT}


@pytest.mark.parametrize(("change", "code"), [(lambda rows: rows, 0), (lambda r: slower(r, 2), 1)])
def test_saved_figures_are_checked_together(
    change: Callable[[tuple[Row, ...]], tuple[Row, ...]],
    code: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = [tmp_path / "one.json", tmp_path / "two.json"]
    for path, rows in zip(paths, (TRIPLES, EVERY[18:]), strict=True):
        write_rows(path, Cpu("a processor", 2), change(rows))
        assert read_rows(path) == change(rows)
    assert cpu.main(["--check", "--saved", *map(str, paths)]) == code
    printed = capsys.readouterr().out
    assert printed.count("missed: ") == (6 if code else 0)
    assert cpu.main(["--saved", str(paths[0])]) == 0
    assert "kept" not in capsys.readouterr().out
