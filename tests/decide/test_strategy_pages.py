"""docs/strategies/: each example is emitted, and its core is what the page shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from pathlib import Path

import pytest
from support.executed import Call, Executable, Part

from annotune.codegen.target import load_target
from annotune.pipeline import Settings, emit
from annotune.strategies.registry import STRATEGIES

FOLDER = Path(__file__).parents[2] / "docs" / "strategies"
PRIMITIVES = (
    *("tile", "permute", "map", "registers", "hold", "stage", "overlay", "relay"),
    *("pad", "peel", "mma", "unroll", "fuse"),
    *("distribute", "reduce", "team", "share", "spread", "batch", "bring"),
    "vectorize",
)
SUFFIX = {"cuda": ".cu", "openmp": "_omp.c"}


def examples(page: Path) -> Iterator[tuple[str, str, str]]:
    """Yield C text, target and the core of what is emitted, for the examples of a page."""
    text = ""
    for kind, block in re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(), re.DOTALL | re.M):
        if kind == "c":
            text = block
        elif kind in SUFFIX:
            yield text, kind, block


EXAMPLES = [
    pytest.param(*example, id=f"{page.stem}-{number}")
    for page in sorted(FOLDER.glob("*.md"))
    for number, example in enumerate(examples(page))
]


@pytest.mark.alike(3)
@pytest.mark.parametrize(("text", "target", "core"), EXAMPLES)
def test_the_core_is_in_the_emitted_text(text: str, target: str, core: str, tmp_path: Path) -> None:
    source = tmp_path / "example.c"
    source.write_text(text)
    files = emit(Settings(source, (target,)), [load_target(target)]).files
    # One part for each kernel.
    for part in core.split("\n\n"):
        assert _dense(part) in _dense(files[SUFFIX[target]]), files[SUFFIX[target]]


def _dense(text: str) -> str:
    """Return a text without white space: it may be indented and broken otherwise."""
    return "".join(text.split())


def test_every_primitive_and_every_strategy_has_its_page() -> None:
    sections = re.findall(r"^## (\w+)$", (FOLDER / "primitives.md").read_text(), re.M)
    assert set(PRIMITIVES) <= set(sections)
    pages = {page.stem for page in FOLDER.glob("*.md")}
    assert {"direct", *STRATEGIES} <= pages


@pytest.mark.slow
@pytest.mark.parametrize(("text", "target", "core"), EXAMPLES)
def test_the_examples_are_right(text: str, target: str, core: str, tmp_path: Path) -> None:
    if target != "cuda":
        pytest.skip("tests/codegen runs OpenMP")
    source = tmp_path / "user.c"
    source.write_text(text)
    made = emit(Settings(source, (target,)), [load_target(target)])
    program = Executable(tmp_path, text, made.files)
    parameters = re.split(r",\s+", text[text.index("(") + 1 : text.index(")")])
    arrays = [p for p in parameters if "double" in p]
    sizes = (OPEN_SIZE,) if len(arrays) < len(parameters) else ()
    pointers = tuple(map(Part, range(len(arrays))))
    program.check(Call("f", (*sizes, *pointers), tuple(map(_elements, arrays))))


# A size that is no multiple of any tile.
OPEN_SIZE = 37


def _elements(parameter: str) -> int:
    """Return how many elements an array such as ``double C[restrict n][64]`` has."""
    extents = re.findall(r"\[(?:restrict )?(\w+)\]", parameter)
    return prod(int(extent) if extent.isdigit() else OPEN_SIZE for extent in extents)
