"""How a kernel's data are moved: what is proven, what is refused, and that it is right."""

from __future__ import annotations

import os
import re
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from codegen.test_cuda_files import compiled, nvcc
from conftest import Golden
from decide.recipes import Decided, decided_example, decided_text
from decide.test_two_level import SMALL, contraction
from support.executed import Call, Part, emitted, executable
from support.laws import IS_THOROUGH

from annotune.codegen.cuda.copies import dynamic_bytes
from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.ir.nest import MemorySpace
from annotune.measure.toolchain import find_toolchains
from annotune.runtime.texts import RUNTIME_TEXTS
from annotune.schedule.apply import build
from annotune.schedule.candidate import Candidate, Moves, pipeline_of
from annotune.schedule.plan import Plan
from annotune.strategies import movements
from annotune.strategies.copy_layout import warp_passes
from annotune.strategies.movements import moved, moves, shared_bytes, variants, widths
from annotune.strategies.registry import AUTO, made
from annotune.transforms.legality import SHARED_BYTES
from annotune.transforms.stage import Stage

QUICK = {("sd_t_d1_1", 28), ("sd_t_d2_1", 16), ("sd_t_d2_1", 28)}
CASES = [
    pytest.param(k, function, n, marks=() if (function, n) in QUICK else pytest.mark.slow)
    for k in (1, 2)
    for function in (f"sd_t_d{k}_{number}" for number in (1, 4, 7))
    for n in (16, 24, 28)
]
WAYS = {
    "ring": "pipeline(0, 2)",
    "ring of three": "pipeline(0, 3)",
    "registers": 'pipeline(0, 2, "registers")',
    "vectors": "vectors(0, copied=2)",
    "read": "vectors(0, read=2)",
    "ring of vectors": "pipeline(0, 2)\nvectors(0, copied=2)",
    "all": 'pipeline(0, 2, "registers")\nvectors(0, copied=2)\nstream(0)\nresident(0, 2)',
}


def triples(k: int, function: str, n: int) -> Decided:
    names = ("h3u", "h2u", "h1u", "p6u", "p5u", "p4u", "h7u" if k == 1 else "p7u")
    return decided_example(f"nwchem/sd_t_d{k}.c", function, AUTO, sizes=dict.fromkeys(names, n))


def first_of(one: Decided) -> Candidate:
    return one.decision.choices[0]


def test_the_first_choice_copies_past_the_registers_and_by_two_where_that_is_proven() -> None:
    assert first_of(triples(1, "sd_t_d1_1", 24)).moves == moves(0, 1, copied=2)
    # Rows of 15 begin at an odd element every second time.
    odd = first_of(triples(1, "sd_t_d1_1", 15))
    assert odd.moves == moves(0, 1)
    assert all(copy.width == 1 for copy in odd.of(Stage))
    # A sum of 48 is staged in parts, of which the next one begins before the present one is used.
    assert first_of(triples(1, "sd_t_d1_1", 48)).moves == moves(0, 2, copied=2)
    direct = decided_text(contraction("", n=3), AUTO)
    assert first_of(direct).moves == ()


def stages_of(known: Moves) -> int:
    ring = pipeline_of(known)
    return 0 if ring is None else ring.stages


def test_the_other_ways_are_points_of_the_space() -> None:
    one = triples(1, "sd_t_d1_1", 24)
    (unit,) = one.base.apart
    base = next(c for c in made(unit).first if c.moves == ())
    found = [c.moves for c in variants(unit, base)]
    # A sum that is staged whole has nothing left to copy ahead.
    assert {stages_of(m) for m in found} == {0, 1}
    assert moves(0, 1, copied=2, streamed=True) in found
    (long,) = triples(1, "sd_t_d1_1", 48).base.apart
    parts = next(c for c in made(long).first if c.moves == ())
    found = [c.moves for c in variants(long, parts)]
    assert {stages_of(m) for m in found} == {0, 1, 2, 3}
    assert moves(0, 2, MemorySpace.DEALT) in found
    assert all(shared_bytes(unit, c) <= SHARED_BYTES for c in made(unit).first)


@pytest.mark.parametrize("n", [15, 24, 48])
def test_choices_are_counted_without_being_made(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    (unit,) = triples(1, "sd_t_d1_1", n).base.apart
    several = made(unit)
    asked: list[Moves] = []
    with_steps = movements._with_steps

    def counted(choice: Candidate, wanted: Moves, *given: Any) -> Candidate:
        asked.append(wanted)
        return with_steps(choice, wanted, *given)

    monkeypatch.setattr(movements, "_with_steps", counted)
    count = len(several)
    # Those that move their data as a leading one does may be that one, and are looked at.
    assert len(asked) < count / 4
    assert count == len(several.first) + len(several.after_direct)
    assert len(asked) > count / 2


@pytest.mark.alike(3)
@pytest.mark.parametrize(("k", "function", "n"), CASES)
def test_wide_copies_are_read_without_conflicts_and_every_plan_is_legal(
    k: int, function: str, n: int
) -> None:
    one = triples(k, function, n)
    (unit,) = one.base.apart
    base = first_of(one)
    found = []
    for movement in (moves(0, copied=2), moves(0, read=2), moves(0, 2, copied=2)):
        choice = moved(unit, base, movement)
        assert isinstance(choice, Candidate)
        for copy in choice.of(Stage):
            # A warp of rows of 24 lanes has parts of two rows: half of a read is made twice.
            most = 1 if choice.contract is None or choice.contract.thread_x[1] % 16 == 0 else 1.5
            assert passes(choice, copy, widths(movement)[1]) <= most
            found.append(copy.width)
        plan = build(one.analysis, (choice,), one.decision.groups, one.region.sizes)
        assert isinstance(plan, Plan), plan
    # One input at least has a direction in which neighbours are neighbours in its copy.
    assert 2 in found


def passes(choice: Candidate, copy: Stage, read: int) -> float:
    """Return how often a warp's read must pass for each of its parts, while multiplying."""
    tile = choice.contract
    assert tile is not None
    strides = dict(copy.layout)
    lanes = product(range(tile.thread_y[1]), range(tile.thread_x[1]))
    places = [
        strides.get(tile.thread_x[0], 0) * x + strides.get(tile.thread_y[0], 0) * y
        for y, x in lanes
    ][:32]
    found = warp_passes([8 * place for place in places], 8 * read)
    return found.transactions / found.ideal


def test_a_recipe_asks_for_a_movement_and_is_written_again() -> None:
    for way in [*WAYS.values()][:: 1 if IS_THOROUGH else 2]:
        one = decided_text(contraction(way, n=8), AUTO)
        assert first_of(one).moves != ()
        pasted = decided_text(contraction(one.recipe(), n=8), AUTO)
        assert pasted.plan().steps == one.plan().steps
        assert pasted.recipe() == one.recipe()


REFUSED = {
    "pipeline(0, 5)": "AT289",
    'pipeline(0, 3, "registers")': "AT310",
    'pipeline(0, 2, "texture")': "AT065",
    "pipeline(0, 0)": "AT065",
    "resident(0, 33)": "AT310",
    "resident(0, 0)": "AT065",
}


@pytest.mark.parametrize("recipe", REFUSED)
def test_what_cannot_be_is_refused_at_the_command(recipe: str) -> None:
    try:
        found = decided_text(contraction(recipe, n=8), AUTO).maybe_plan()
    except AnnotuneError as refused:
        found = refused.diagnostics[0]
    assert isinstance(found, Diagnostic)
    assert (found.code, found.span.line) == (REFUSED[recipe], 6)


def test_no_more_blocks_are_resident_than_a_multiprocessor_holds() -> None:
    assert decided_text(contraction("resident(0, 16)", n=16), AUTO).recipe()
    with pytest.raises(AnnotuneError) as refused:
        decided_text(contraction("resident(0, 17)", n=16), AUTO)
    words = "17 blocks of 128 threads, of which a multiprocessor holds 16"
    assert words in str(refused.value)


def test_without_copies_there_is_nothing_to_pipeline() -> None:
    statement = "T[p4][p5][p6][h1][h2][h3] += t[h1][p5][p4][h7] + v[h7][p6][h2][h3];"
    for recipe in ("pipeline(0, 2)", "vectors(0, copied=2)"):
        with pytest.raises(AnnotuneError) as refused:
            decided_text(contraction(recipe, statement), AUTO)
        assert "nothing is copied into shared memory" in str(refused.value)


def test_neighbours_that_are_not_aligned_are_copied_one_by_one() -> None:
    choice = first_of(decided_text(contraction("vectors(0, copied=2)", n=15), AUTO))
    assert widths(choice.moves)[0] == 2
    assert all(copy.width == 1 for copy in choice.of(Stage))


def test_pointers_of_the_users_are_asked_whether_vectors_may_start_there(tmp_path: Path) -> None:
    text = contraction("vectors(0, copied=2)", n=16)
    given = emitted(tmp_path, text, strategy=AUTO, resident=True).files[".cu"]
    assert "(size_t)(t) % 16 == 0" in given
    assert "*(const double2 *)&" in given
    own = emitted(tmp_path, text, strategy=AUTO).files[".cu"]
    assert "(size_t)(t) % 16 == 0" not in own


@pytest.mark.parametrize("way", ["ring of vectors", "read", "all"])
def test_the_generated_core(way: str, tmp_path: Path, golden: Golden) -> None:
    tile = f"{SMALL} register_x=2, register_y=2, step=2)\n{WAYS[way]}"
    text = emitted(tmp_path, contraction(tile, n=6), strategy=AUTO).files[".cu"]
    kernel = text[text.index("/* f, statement 0") : text.index("/* The nest as written")]
    tuned = kernel[: kernel.index("/* f, statement 0", 10)]
    golden.check(f"codegen/movement_{way.replace(' ', '_')}.cu", tuned)


def test_more_shared_memory_than_a_block_has_is_asked_for(tmp_path: Path) -> None:
    large = SMALL.replace("thread_x=4", "thread_x=16").replace("thread_y=2", "thread_y=8")
    recipe = f"{large} register_x=8, register_y=8, step=16)\npipeline(0, 3)\n"
    (kernel,) = decided_text(contraction(recipe, n=3), AUTO).plan().kernels()
    asked = dynamic_bytes(kernel.body)
    assert asked > 48 * 1024
    program = executable(tmp_path, contraction(recipe, n=3), strategy=AUTO)
    assert f"cudaFuncAttributeMaxDynamicSharedMemorySize, {asked});" in program.cuda
    assert f"<<<blocks, threads, {asked}>>>" in program.cuda
    program.check(Call("f", (3, Part(0), Part(1), Part(2), 1.5), (730, 81, 81)), launches=True)
    failing = [
        Call("f", (3, Part(0), Part(1), Part(2), 1.5), (730, 81, 81), fail_at=n)
        for n in range(1, 9)
    ]
    program.check(*failing)


def functions(ways: dict[str, str]) -> str:
    """Return one file with the contraction once for each recipe, as ``f0``, ``f1``, …"""
    text = ""
    for number, (name, recipe) in enumerate(ways.items()):
        text += contraction(recipe, n=int(name.split()[-1])).replace("void f(", f"void f{number}(")
    return text


TILE = f"{SMALL} register_x=2, register_y=2, step=2)\n"


def check_all(folder: Path, ways: dict[str, str]) -> None:
    """Assert that each recipe gives the right values at its size, at one, and at others."""
    program = executable(folder, functions(ways), strategy=AUTO)
    calls = [
        Call(f"f{k}", (n, Part(0), Part(1), Part(2), 1.5), (n**6, n**4, n**4))
        for k, name in enumerate(ways)
        for n in sorted({int(name.split()[-1]), 1, 3})
    ]
    program.check(*calls, launches=True)


def test_movements_are_right_at_every_size(tmp_path: Path) -> None:
    sizes = {"ring of three": 5, "ring of vectors": 6, "all": 6}
    check_all(tmp_path, {f"{name} {n}": TILE + WAYS[name] for name, n in sizes.items()})


@pytest.mark.slow
def test_every_movement_is_right_at_every_size(tmp_path: Path) -> None:
    check_all(tmp_path, {f"{name} {n}": TILE + way for name, way in WAYS.items() for n in (5, 6)})


# What the machine is asked to do for each movement, in PTX. The first choice copies asynchronously.
INSTRUCTIONS = {
    "": (r"cp\.async\.c[ag]\.shared\.global", r"cp\.async\.wait_group 0"),
    "pipeline(0, 2)": (r"cp\.async\.ca\.shared\.global", r"cp\.async\.wait_group 0"),
    "pipeline(0, 2)\nvectors(0, copied=2)": (r"cp\.async\.cg\.shared\.global",),
    'pipeline(0, 2, "registers")': (r"ld\.global\.nc\.[bf]64",),
    "vectors(0, copied=2)": (r"ld\.global\.nc\.v[24]\.[ub]", r"st\.shared\.v[24]\.[ub]"),
    "stream(0)": (r"ld\.global\.cs\.[bf]64", r"st\.global\.cs\.[bf]64"),
    "resident(0, 3)": (r"\.minnctapersm 3",),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", INSTRUCTIONS)
def test_nvcc_makes_the_instructions_without_spilling(way: str, tmp_path: Path) -> None:
    compiler = nvcc()
    includes = Path(compiler).resolve().parent.parent / "include"
    flags = os.environ.get("NVCC_PREPEND_FLAGS", "")
    if "pipeline(0, 2)" in way and not (flags or list(includes.glob("**/nv/target"))):
        pytest.skip("<cuda_pipeline.h> needs nv/target (pip install nvidia-cuda-cccl)")
    text = emitted(tmp_path, contraction(way, n=16), strategy=AUTO).files[".cu"]
    assert " 0 bytes spill stores" in (said := compiled(tmp_path, text)), said
    assert all(spilled == "0" for spilled in re.findall(r"(\d+) bytes spill stores", said))
    command = [compiler, "-arch=sm_90", "-ptx", tmp_path / "device.cu", "-o", tmp_path / "d.ptx"]
    subprocess.run(command, check=True, timeout=120)
    made = (tmp_path / "d.ptx").read_text()
    assert [word for word in INSTRUCTIONS[way] if not re.search(word, made)] == []


@pytest.mark.slow
def test_ptxas_reads_neighbours_at_once(tmp_path: Path) -> None:
    nvdisasm = find_toolchains(os.environ).nvdisasm
    if not nvdisasm:
        pytest.skip("nvdisasm is not installed")
    text = emitted(tmp_path, contraction("vectors(0, read=2)", n=16), strategy=AUTO).files[".cu"]
    (tmp_path / "device.cu").write_text(text)
    command = [nvcc(), "-arch=sm_90", "-cubin", f"-I{RUNTIME_TEXTS}", tmp_path / "device.cu"]
    command += ["-o", tmp_path / "d.cubin"]
    subprocess.run(command, check=True, timeout=120)
    shown = subprocess.run([nvdisasm, tmp_path / "d.cubin"], capture_output=True, text=True)
    tuned = next(part for part in shown.stdout.split(".section\t.text.") if "_tuned" in part[:80])
    assert tuned.count("LDS.128") == 8
    assert "LDS.64" not in tuned
