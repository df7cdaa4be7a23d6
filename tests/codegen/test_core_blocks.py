"""Register blocks as a compiler likes them: counted from zero, copies read by pointer."""

from __future__ import annotations

import platform
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from codegen.emitted import analysed, here, variants
from conftest import Golden
from support.nest_text import print_nest
from transforms.interpreter import run
from transforms.products import MATMUL
from transforms.test_stage import done, panels, rows_of_tiles

from annotune.codegen.core_text import for_registers
from annotune.codegen.openmp import OpenMpTarget
from annotune.ir.nest import Loop, Nest
from annotune.transforms.registers import Hold
from annotune.transforms.stage import Stage
from annotune.transforms.tile_ends import Pad
from annotune.transforms.tree import Body, path, replace_loop

SIZES = {"n": 6, "m": 10, "k": 5}
TARGET = OpenMpTarget()


def tile_loop(body: Body) -> Loop:
    """Return the innermost loop over tiles, which holds the block."""
    return next(loop for loop in path(body, 0) if loop.var == "j_t")


def product(*steps: Stage | Hold | Pad) -> Body:
    """Return a product in whole tiles with the tiles' own loops made for a compiler."""
    body = done(steps, rows_of_tiles(4, 4, SIZES), SIZES)
    loop = tile_loop(body)
    return replace_loop(body, loop, (replace(loop, body=for_registers(loop.body, ())),))


def test_tiles_are_counted_from_zero_and_copies_have_pointers(golden: Golden) -> None:
    body = (tile_loop(product(*panels(4, SIZES))),)
    golden.check("codegen/core_blocks.nest", print_nest(Nest(body)))


def test_counting_from_zero_computes_the_same() -> None:
    hold, pad = Hold(0, "l"), Pad(0, ("i", "j"))
    assert run(product(hold, pad), SIZES) == run(MATMUL.region.nest.body, SIZES)


def test_a_body_without_local_arrays_stays_as_it_is() -> None:
    body = rows_of_tiles(4, 4, SIZES)
    assert for_registers(body, ()) is body


def test_names_that_are_taken_are_left_alone() -> None:
    body = done(panels(4, SIZES), rows_of_tiles(4, 4, SIZES), SIZES)
    text = print_nest(Nest(for_registers(tile_loop(body).body, ("A_in", "j_r"))))
    assert "restrict A_in2 = A_tile" in text
    assert "for j_r2 in 0:4" in text


needs_gcc = pytest.mark.skipif(
    here().c is None or "gcc" not in here().c.version.lower() or platform.machine() != "x86_64",
    reason="no gcc for x86-64",
)


@needs_gcc
def test_the_accumulators_of_a_contraction_leave_memory(tmp_path: Path) -> None:
    variant = variants(TARGET, analysed("nwchem/sd_t_d1.c"), 1)[0]
    # Seen from outside, what nothing calls here is compiled as well.
    text = TARGET.region(variant, False).helper.replace("static void", "void")
    (tmp_path / "f.c").write_text(text)
    compiler = here().c
    assert compiler is not None
    # A CPU for which gcc by itself keeps to registers of 256 bits.
    flags = ("-O3", "-march=icelake-server", "-fopenmp", "-S")
    subprocess.run([*compiler.command, *flags, "f.c", "-o", "f.s"], cwd=tmp_path, check=True)
    steps = re.findall(r"vfn?madd.*", (tmp_path / "f.s").read_text())
    assert sum("zmm" in step for step in steps) >= 16
    assert not any("sp)" in step for step in steps)
