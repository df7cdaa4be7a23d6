"""Whole tiles apart in the emitted kernels: right at every extent, proven, and without spills."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from codegen.test_cuda_files import compiled
from conftest import Golden
from decide.recipes import decided_example, decided_text
from decide.test_two_level import SMALL, contraction
from support.executed import Call, Executable, Part, emitted, executable
from support.laws import sanitizes
from support.regions import EXAMPLES, find_annotations

from annotune.certify import versions as certify_versions
from annotune.certify.certificate import verify
from annotune.certify.kernels import certify
from annotune.codegen.cuda.target import CudaTarget
from annotune.diagnostics import AnnotuneError
from annotune.frontend.load import load
from annotune.ir.nest import Assign, map_assigns
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.toolchain import find_toolchains
from annotune.measure.trial import Status
from annotune.space.variants import planned
from annotune.strategies.movements import with_peeled
from annotune.strategies.registry import AUTO, made
from annotune.transforms.tile_ends import Peel, whole_tiles
from annotune.transforms.tree import Body

SIZE = 13


def function(name: str, statement: str, recipe: str, kind: str = "int") -> str:
    """Return a function of two extents over a matrix a and what is read around it in b."""
    return (
        f"void {name}({kind} n, {kind} m, double *restrict a, const double *restrict b)\n{{\n"
        f"/*@ begin PerfTuning ( def input_params {{ param n = {SIZE}; param m = {SIZE}; }} ) @*/\n"
        f"/*@ begin CHiLL (\n{recipe}) @*/\n{statement}\n/*@ end @*/\n/*@ end @*/\n}}\n"
    )


LOOPS = "for ({kind} i = 1; i < n - 1; i++) for ({kind} j = 1; j < m - 1; j++)"
CROSS = "a[i*m+j] = b[i*m+j] + b[(i-1)*m+j] + b[(i+1)*m+j] + b[i*m+j-1] + b[i*m+j+1];"
SUM = "for (int k = 0; k < m; k++) a[i*m+j] += b[i*m+k] * b[j*m+k];"
TILES = 'tile(0, "i", 4)\ntile(0, "j", 8)\n'
ON_BLOCKS = TILES + 'cuda(0, block={"j_t","i_t"}, thread={"j","i"})\n'
PEEL = 'peel(0, ("i","j"))\n'
HELD = (
    'permute(0, ("j","k","i"))\ntile(0, "i", 6)\ntile(0, "j", 4)\n'
    'cuda(0, block={"i_t","j_t"}, thread={"j"})\nhold(0, "k")\npad(0, ("i"))\n'
)
# Recipes by name: the nest, and what is asked of it.
WAYS = {
    "strided": (CROSS, ON_BLOCKS + PEEL),
    "padded": (CROSS, ON_BLOCKS + 'pad(0, ("i","j"))\n' + PEEL),
    "staged": (CROSS, ON_BLOCKS + 'stage(0, "b")\n' + PEEL),
    "serial": (CROSS, TILES + 'cuda(0, block={"j_t"}, thread={"j"})\n' + PEEL),
    "rows": (CROSS, TILES + 'cuda(0, block={"i_t"}, thread={"i"})\n' + PEEL),
    "guarded": (f"if (b[i*m+j] > 0.0 && i + j < n) {CROSS}", ON_BLOCKS + PEEL),
    "held": (SUM, HELD + PEEL),
    "held rows": (SUM, HELD + 'peel(0, ("i"))\n'),
    "sum in parts": (
        "for (int k = 0; k < m; k++) a[i*m+j] += b[i*m+k];",
        'tile(0, "i", 4)\ntile(0, "j", 8)\ntile(0, "k", 5)\n'
        'cuda(0, block={"j_t","i_t"}, thread={"j","i"})\nregisters(0, "k_t")\n'
        'stage(0, "b", "k")\nunroll(0, "k", 1)\npeel(0, ("i","j","k"))\n',
    ),
}
FEW = ("staged", "held", "guarded")


def one_way(way: str, name: str, kind: str = "int") -> str:
    statement, recipe = WAYS[way]
    return function(name, f"{LOOPS.format(kind=kind)}\n{statement}", recipe, kind)


def checked(program: Executable, name: str, sizes: list[tuple[int, int]]) -> None:
    calls = [Call(name, (n, m, Part(0), Part(1)), (n * m + 1, 20 * 20)) for n, m in sizes]
    program.check(*calls)


# One, smaller than a tile, whole tiles alone, whole ones and others, along either loop.
EXTENTS = [(1, 1), (2, 3), (3, 2), (3, 10), (6, 10), (6, 3), (10, 18), (11, 19), (SIZE, SIZE)]


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    "way", [w if w in FEW else pytest.param(w, marks=pytest.mark.slow) for w in WAYS]
)
def test_both_versions_compute_the_same_at_every_extent(way: str, tmp_path: Path) -> None:
    program = executable(tmp_path, one_way(way, "f"))
    assert "else {" in program.cuda
    checked(program, "f", EXTENTS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["long", "unsigned", "unsigned long"])
def test_other_types_of_extents_are_right(kind: str, tmp_path: Path) -> None:
    loops = f"for ({kind} i = 0; i < n; i++) for ({kind} j = 0; j < m; j++)"
    statement = f"{loops}\na[i*m+j] = b[i*m+j] + 1.0;"
    text = function("f", statement, ON_BLOCKS + 'stage(0, "b")\n' + PEEL, kind)
    program = executable(tmp_path, text)
    assert "else {" in program.cuda
    checked(program, "f", [*EXTENTS, (0, 0)])


@pytest.mark.parametrize("way", FEW)
def test_the_two_versions(way: str, tmp_path: Path, golden: Golden) -> None:
    text = emitted(tmp_path, one_way(way, "f")).files[".cu"]
    kernel = text[text.index("/* f, statement 0") : text.index("/* The nest as written")]
    golden.check(f"codegen/peel_{way}.cu", kernel)


def test_barriers_stay_where_all_threads_come(tmp_path: Path) -> None:
    recipe = 'tile(0, "i", 4)\ntile(0, "j", 8)\ncuda(0, block={"j_t"}, thread={"j","i_t"})\n'
    text = function("f", f"{LOOPS.format(kind='int')}\n{CROSS}", recipe + 'peel(0, ("i"))\n')
    assert "if (" in emitted(tmp_path, text).files[".cu"]
    text = function(
        "f", f"{LOOPS.format(kind='int')}\n{CROSS}", recipe + 'stage(0, "b", "i")\npeel(0, ("i"))\n'
    )
    with pytest.raises(AnnotuneError) as refused:
        emitted(tmp_path, text)
    assert {d.code for d in refused.value.diagnostics} <= {"AT241", "AT282", "AT283"}


# The proof -------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_the_certificate_speaks_of_both_versions(way: str) -> None:
    one = decided_text(one_way(way, "f"))
    certificate = certify(one.analysis, one.plan())
    assert verify(certificate) == ()
    assert certificate.versions
    assert "in whole tiles" in certificate.text()


def _without_guards(body: Body) -> Body:
    def bare(assign: Assign) -> Assign:
        return replace(assign, guard=None)

    return map_assigns(body, bare)


def test_a_condition_that_is_left_out_wrongly_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    one = decided_text(one_way("guarded", "f"))
    plan = one.plan()

    def careless(body: Body, known: object) -> Body:
        return _without_guards(whole_tiles(body, known))  # type: ignore[arg-type]  # as given

    monkeypatch.setattr(certify_versions, "whole_tiles", careless)
    faults = verify(certify(one.analysis, plan))
    assert any("i + j < n" in fault for fault in faults)
    assert any("b[i * m + j] > 0.0" in fault for fault in faults)


def test_a_test_that_is_too_weak_is_found() -> None:
    one = decided_text(one_way("padded", "f"))
    certificate = certify(one.analysis, one.plan())
    versions = tuple(
        replace(v, differs=re.sub(r"l0 \+ \(8\)\) <=", "l0 + (1)) <=", v.differs))
        for v in certificate.versions
    )
    assert versions != certificate.versions
    faults = verify(replace(certificate, versions=versions))
    assert faults
    assert all("whole tiles" in fault for fault in faults)


# The strategies' points ------------------------------------------------------------------------

NAMES = ("h3u", "h2u", "h1u", "p6u", "p5u", "p4u", "h7u")


def test_a_contraction_has_one_more_point_where_its_tiles_are_cut() -> None:
    for n, count in ((16, 0), (20, 1)):
        one = decided_example("nwchem/sd_t_d1.c", "sd_t_d1_1", AUTO, sizes=dict.fromkeys(NAMES, n))
        assert not any(c.of(Peel) for c in one.decision.choices)
        found = [p for p in one.space.points() if any(c.of(Peel) for c in p.picked.values())]
        assert len(found) >= count
        assert bool(found) is bool(count)


STENCIL = (
    "void f(int n, double a[restrict n][n], const double b[restrict n][n])\n{\n"
    "/*@ begin PerfTuning ( def input_params { param n = 100; } ) @*/\n"
    "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)\n"
    "a[i][j] = b[i][j] + b[i-1][j] + b[i+1][j] + b[i][j-1] + b[i][j+1];\n/*@ end @*/\n}\n"
)


def test_a_stencil_has_one_more_point_too_and_it_is_never_the_first() -> None:
    one = decided_text(STENCIL, "stencil")
    unit = one.base.nests("footprint", one.decision.asked)[0]
    found = made(unit, "stencil")
    peeled = [c for c in (*found.first, *found.after_direct) if c.of(Peel)]
    assert len(peeled) == 1
    assert peeled[0] in found.after_direct
    assert peeled[0] == with_peeled(unit, found.first[0])


@pytest.mark.slow
@pytest.mark.parametrize("extents", [(13, 13, 2, 2, 13, 13, 5), (5, 7, 2, 2, 17, 11, 6)])
def test_the_point_of_a_contraction_is_clean(extents: tuple[int, ...], tmp_path: Path) -> None:
    sizes = dict(zip(NAMES, extents, strict=True))
    one = decided_example("nwchem/sd_t_d1.c", "sd_t_d1_1", AUTO, sizes=sizes)
    (unit,) = one.base.nests("footprint", one.decision.asked)
    peeled = with_peeled(unit, one.decision.choices[0])
    assert peeled is not None
    variant = planned(one.analysis, (peeled,), one.base.groups)
    code = CudaTarget().region(variant, resident=False)
    assert "else {" in code.device
    program = Program("cuda", "cuda-cpu", code, CudaTarget().device_file(code))
    text = (EXAMPLES / "nwchem/sd_t_d1.c").read_text()
    source = load("sd_t_d1.c", text, find_annotations(text, "sd_t_d1.c"), sizes)
    oracle = Oracle(source, one.analysis, find_toolchains(os.environ), tmp_path)
    others = dict(zip(NAMES, (3, 4, 2, 5, 6, 17, 3), strict=True))
    plan = CheckPlan((sizes, others), sanitize=sanitizes("cuda"), races=True)
    trial = Checker(oracle).check(program, plan)
    assert (trial.status, trial.verified) == (Status.CORRECT, True), trial.reason


def test_sums_that_threads_share_have_no_such_point() -> None:
    text = (
        "void f(int n, double *restrict s, const double *restrict b)\n{\n"
        "/*@ begin PerfTuning ( def input_params { param n = 100000; } ) @*/\n"
        "for (int i = 0; i < n; i++) s[0] += b[i];\n/*@ end @*/\n}\n"
    )
    one = decided_text(text)
    (unit,) = one.base.nests("footprint", one.decision.asked)
    assert one.decision.choices[0].tiles
    assert with_peeled(unit, one.decision.choices[0]) is None


def test_a_recipe_asks_for_the_tile_of_a_contraction_with_whole_tiles_apart(
    tmp_path: Path,
) -> None:
    tile = f"{SMALL} register_x=3, register_y=2, step=2)\n"
    peel = 'peel(0, ("h3","p5","h2","p4"))\n'
    one = decided_text(contraction(tile + peel, n=5), AUTO)
    assert 'peel(0, ("h3","p5","h2","p4"))' in one.recipe()
    assert verify(certify(one.analysis, one.plan())) == ()
    with pytest.raises(AnnotuneError):
        decided_text(contraction(tile + 'pad(0, ("h3"))\n', n=5), AUTO)
    program = executable(tmp_path, contraction(tile + peel, n=5), strategy=AUTO)
    assert "else {" in program.cuda
    calls = [
        Call("f", (n, Part(0), Part(1), Part(2), 1.5), (n**6, n**4, n**4)) for n in (1, 3, 4, 5)
    ]
    program.check(*calls, launches=True)


MOVED = {
    "ahead": "pipeline(0, 2)\n",
    "through registers": 'pipeline(0, 2, "registers")\n',
    "past the registers": "pipeline(0, 1)\n",
    "streamed": "stream(0)\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("way", MOVED)
def test_copies_that_run_ahead_keep_the_conditions_of_later_tiles(way: str, tmp_path: Path) -> None:
    tile = f"{SMALL} register_x=3, register_y=2, step=2)\n{MOVED[way]}"
    peel = 'peel(0, ("h3","p5","h2","p4","h7"))\n'
    text = contraction(tile + peel, n=5)
    one = decided_text(text, AUTO)
    assert verify(certify(one.analysis, one.plan())) == ()
    program = executable(tmp_path, text, strategy=AUTO)
    assert "else {" in program.cuda
    calls = [
        Call("f", (n, Part(0), Part(1), Part(2), 1.5), (n**6, n**4, n**4)) for n in range(1, 6)
    ]
    program.check(*calls, launches=True)


@pytest.mark.slow
def test_a_peeled_kernel_does_not_spill(tmp_path: Path) -> None:
    tile = (
        'contract(0, thread={"h3","p5"}, register={"h2","p4"}, sum="h7", thread_x=16, thread_y=8,'
        " register_x=8, register_y=8, step=10)\npipeline(0, 1)\n"
    )
    peel = 'peel(0, ("h3","p5","h2","p4"))\n'
    text = emitted(tmp_path, contraction(tile + peel, n=20), strategy=AUTO).files[".cu"]
    said = compiled(tmp_path, text)
    assert re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", said)
    assert set(re.findall(r"(\d+) bytes spill (?:stores|loads)", said)) == {"0"}
