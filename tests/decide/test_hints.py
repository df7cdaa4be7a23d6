"""Hints of Orio's transformations: followed where legal, told of where not, axes of the space."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from codegen.emitted import here, source_of
from decide.recipes import Decided, decided, decided_text
from support.regions import text_regions

from annotune import pipeline
from annotune.annotation.devices import load_device
from annotune.codegen.target import load_target
from annotune.diagnostics import Diagnostic
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.pipeline import Settings
from annotune.space.decision import Point
from annotune.strategies.core_blocks import RegisterBlock, first_block
from annotune.strategies.hints import HINTS
from annotune.strategies.openmp import cpu_units

HEAD = "double *restrict c, const double *restrict a, const double *restrict b"
PRODUCT = """\
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    for (int k = 0; k < n; k++)
      c[i*n+j] += a[i*n+k]*b[k*n+j];
"""
COLUMN = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[i] += a[j*n+i];\n"
SUM = "for (int i = 0; i < n; i++) c[0] += a[i];\n"
PLAIN = "for (int i = 0; i < n; i++) c[i] = a[i];\n"


def text(transformation: str, nest: str, n: int, params: str = "") -> str:
    """Return a C text whose region has one transformation of Orio's before its nest."""
    return (
        f"void f(int n, {HEAD})\n{{\n/*@ begin PerfTuning (def input_params {{ param n = {n}; }}\n"
        f" def performance_params {{ {params} }}) @*/ /*@ begin Loop (\n"
        f"transform {transformation}) @*/\n{nest}/*@ end @*/ /*@ end @*/\n}}\n"
    )


def first(transformation: str, nest: str, n: int, params: str = "") -> Decided:
    """Return what is decided at the first point of the space."""
    found = decided_text(text(transformation, nest, n, params))
    return found.at(found.space.first)


def notes(folder: Path, transformation: str, nest: str, n: int) -> list[str]:
    source = folder / "f.c"
    source.write_text(text(transformation, nest, n, "param U[] = [3,4,5,6,7,8];"))
    found = pipeline.check(Settings(source)).diagnostics
    return [one.message for one in _hints(found)]


def _hints(found: tuple[Diagnostic, ...]) -> Iterator[Diagnostic]:
    for one in found:
        if one.code == "AT308":
            assert (one.severity, one.span.line) == ("note", 5)
            yield one


def is_hinted(point: Point) -> bool:
    return any(one.origin == HINTS for one in point.picked.values())


def test_unroll_factors_replace_the_divisors() -> None:
    found = first("CUDA(unrollInner=U)", COLUMN, 4096, "param U[] = [1,2,3,4,32];")
    (choice,) = found.decision.choices
    assert choice.unroll == ((0, "j", 4),)
    (axis,) = [x for _, (unit,) in found.space.branches for x in unit.axes if "unroll" in x.name]
    # The first choice is the last; a body longer than 16 is tried after all others.
    assert axis.values == (32, 2, 4)


def test_threads_and_blocks_shape_the_launch() -> None:
    found = first(
        "CUDA(threadCount=T, blockCount=B)", COLUMN, 4096, "param T[]=[64,512];param B[]=[7,14];"
    )
    (choice,) = found.decision.choices
    assert (choice.tiles, choice.blocks, choice.threads) == ((("i", 64),), ("i_t",), ("i",))
    assert choice.max_blocks == 14
    ((_, (unit,)),) = found.space.branches
    values = {axis.name: axis.values for axis in unit.axes}
    assert values["S0.threads"] == (64, 512)
    assert values["S0.max_blocks"] == (14, 7)
    (kernel,) = found.plan().kernels()
    assert kernel.max_blocks == 14


def test_a_block_of_threads_counts_every_axis() -> None:
    (choice,) = first("CUDA(threadCount=128)", PRODUCT, 256).decision.choices
    assert choice.tiles == (("j", 16), ("i", 8))


def test_a_tile_is_that_of_its_threads_loop() -> None:
    (choice,) = first("Composite(tile=[('i',16,'ii'),('k',8,'kk')])", PRODUCT, 256).decision.choices
    assert choice.tiles == (("j", 32), ("i", 16))


def test_a_tile_of_one_is_the_rules_own() -> None:
    found = first("Tile(tsize=T, tindex='ii')", COLUMN, 4096, "param T[] = [1,64];")
    tried = {found.at(p).decision.choices[0].tiles for p in found.space.points() if is_hinted(p)}
    assert (first("Tile(64)", COLUMN, 4096).decision.choices[0].tiles) == (("i", 64),)
    assert tried == {(("i", 64),)}
    own = {found.at(p).decision.choices[0].tiles for p in found.space.points() if not is_hinted(p)}
    assert (("i", 256),) in own


def test_a_recipe_goes_before_a_hint() -> None:
    (hinted,) = text_regions(text("CUDA(threadCount=32, blockCount=2)", COLUMN, 64))
    opened = '/*@ begin CHiLL (\ncuda(0, thread={"i"}))'
    whole = text("CUDA()", COLUMN, 64).replace("/*@ begin Loop (\ntransform CUDA())", opened)
    (asked,) = text_regions(whole)
    both = replace(hinted, spec=replace(hinted.spec, commands=asked.spec.commands))
    assert both.spec.commands
    (choice,) = decided(both).decision.choices
    assert (choice.tiles, choice.threads, choice.max_blocks) == ((), ("i",), 0)


def test_rows_of_a_core_s_block() -> None:
    for factors, rows in (("[4,2]", 4), ("[12,2]", 2), ("[3]", 3)):
        params = f"param U[] = {factors};"
        found = first("Composite(unrolljam=(['i'],[U]))", PRODUCT, 256, params)
        (unit,) = cpu_units(found.analysis)
        assert first_block(unit, 0) == RegisterBlock("j", 16, "i", rows)


@pytest.mark.parametrize(
    ("transformation", "nest", "n", "expected"),
    [
        (
            "CUDA(threadCount=2048)",
            COLUMN,
            4096,
            "not followed: threads per block: 2048; a block has 1024 threads at most",
        ),
        (
            "CUDA(threadCount=96)",
            PLAIN,
            64,
            "not followed: threads per block: 96; 'i' runs 64 times only",
        ),
        (
            "CUDA(threadCount=100)",
            PRODUCT,
            256,
            "not followed: threads per block: 100; 'i' takes 8 threads as well",
        ),
        (
            "CUDA(threadCount=512)",
            SUM,
            9000,
            "not followed: threads per block: 512; a block has 256 threads at most",
        ),
        (
            "CUDA(blockCount=4)",
            PLAIN,
            64,
            "not followed: at most so many blocks: 4; the kernel has one block",
        ),
        (
            "Unroll(4)",
            PLAIN,
            64,
            "not followed: unrolling 'i' by 4; its iterations run in parallel",
        ),
        (
            "CUDA(unrollInner=U)",
            COLUMN,
            64,
            "not followed: unrolling 'j' by 3, 5 to 7; its 64 iterations are no multiple",
        ),
        (
            "CUDA(unrollInner=5)",
            COLUMN,
            64,
            "not followed: unrolling 'j' by 5; its 64 iterations are no multiple",
        ),
        (
            "Composite(tile=[('k',8,'kk')])",
            PRODUCT,
            64,
            "not followed: tiles of 'k' of 8; 'k' does not run on threads",
        ),
    ],
)
def test_what_is_not_followed(
    tmp_path: Path, transformation: str, nest: str, n: int, expected: str
) -> None:
    assert notes(tmp_path, transformation, nest, n) == [expected]


@pytest.mark.parametrize(
    ("transformation", "nest"),
    [
        ("CUDA(threadCount=64, blockCount=7, unrollInner=8)", COLUMN),
        ("Composite(tile=[('j',16,'jj')], unrolljam=(['i','k'],[4,8]))", PRODUCT),
    ],
)
def test_what_is_followed_is_not_spoken_of(tmp_path: Path, transformation: str, nest: str) -> None:
    assert notes(tmp_path, transformation, nest, 4096 if nest == COLUMN else 256) == []


@pytest.mark.alike(14)
@pytest.mark.parametrize("target", ["cuda", "openacc"])
@pytest.mark.parametrize(
    ("transformation", "nest", "n"),
    [
        ("CUDA(threadCount=32, blockCount=2, unrollInner=3)", COLUMN, 201),
        ("CUDA(threadCount=64, blockCount=3)", PRODUCT, 40),
        ("CUDA(threadCount=64, blockCount=3)", SUM, 9000),
        ("CUDA(threadCount=32, blockCount=4)", SUM, 500),
        ("Composite(tile=[('i',4,'ii')], unrolljam=(['i'],[3]))", PRODUCT, 37),
    ],
)
def test_a_hinted_launch_is_right_at_every_size(
    tmp_path: Path, target: str, transformation: str, nest: str, n: int
) -> None:
    found = first(transformation, nest, n)
    maker = load_target(target)
    base = found.base
    variant = maker.points(base, found.space, load_device("h200")).listing(1).variant(0)
    code = maker.region(variant, resident=False)
    oracle = Oracle(source_of(text(transformation, nest, n)), found.analysis, here(), tmp_path)
    device = maker.device_file(code) if code.device else ""
    program = Program(target, "cuda-cpu" if device else "openacc", code, device)
    sizes = ({"n": n}, {"n": 1}, {"n": 7}, {"n": 67}, {"n": 130})
    trial = Checker(oracle).check(program, CheckPlan(sizes, races=bool(device)))
    assert (trial.status, trial.reason) == ("correct", "")
