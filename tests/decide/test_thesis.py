"""What the decision algorithm writes for the thesis's own examples, word for word."""

from __future__ import annotations

import pytest
from recipes import Decided, decided, decided_example, decided_text
from support.regions import EXAMPLES, regions_of

from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.schedule.plan import Plan


def test_figure_3_9a_is_what_the_algorithm_writes() -> None:
    one = decided_example("nwchem/sd_t_d1.c", "sd_t_d1_1")
    assert one.recipe() == (
        "UF0[] = [1,2,4,8,16];\n"
        'permute(0, ("p5","p4","p6","h1","h2","h3","h7"))\n'
        'cuda(0, block={"h2","p6"}, thread={"h3","h1"})\n'
        'registers(0, "h7")\n'
        'unroll(0, "h7", UF0)\n'
    )


def test_the_gradient_of_nekbone() -> None:
    one = decided_example("nekbone/local_grad3.c")
    assert one.recipe() == (
        "UF0[] = [1,2,5,10];\n"
        "UF2[] = [1,2,5,10];\n"
        'cuda(0, block={"e","i"}, thread={"k","j"})\n'
        'cuda(2, block={"e","j"}, thread={"k","i"})\n'
        'registers(0, "m")\n'
        'registers(1, "m")\n'
        'registers(2, "m")\n'
        "fuse(0,1)\n"
        'unroll(0, "m", UF0)\n'
        'unroll(2, "m", UF2)\n'
    )
    kernels = [kernel.statements for kernel in one.plan().kernels()]
    assert kernels == [(0, 1), (2,)]


def test_matrix_multiplication_is_tiled() -> None:
    one = decided_example("gemm/gemm.c")
    assert one.recipe() == (
        "UF1[] = [1,2,4,8,16];\n"
        'tile(0, "j", 32)\n'
        'tile(0, "i", 8)\n'
        'cuda(0, block={"j_t","i_t"}, thread={"j","i"})\n'
        'unroll(1, "l", UF1)\n'
    )


@pytest.mark.parametrize(("name", "uf"), [("fig3_9a", 16), ("fig3_9b", 10)])
def test_the_recipes_of_the_thesis_are_the_algorithms_plans(name: str, uf: int) -> None:
    path = EXAMPLES / "thesis" / f"{name}.c"
    (theirs,) = regions_of(path)
    written = decided(theirs, **{p.name: uf for p in theirs.spec.performance_params})
    start = path.read_text().index("/*@ begin CHiLL")
    end = path.read_text().index("@*/", start) + 3
    ours = path.read_text()[:start] + path.read_text()[end:].replace("/*@ end @*/", "", 1)
    algorithm = decided_text(ours)
    assert algorithm.factors()[0][-1] == uf
    # Fig. 3.9b maps Ut as its Fig. 2.1 writes it, with i and j exchanged on the right-hand side.
    count = 1 if name == "fig3_9b" else None
    assert written.plan().steps[:count] == algorithm.plan().steps[:count]


def refusal(one: Decided) -> Diagnostic:
    made = one.maybe_plan()
    assert not isinstance(made, Plan)
    return made


def test_figure_4_7_is_refused_at_its_command() -> None:
    path = EXAMPLES / "thesis" / "fig4_7.c"
    (region,) = regions_of(path)
    why = refusal(decided(region))
    line = path.read_text().split("\n")[why.span.line - 1]
    assert line.strip() == 'cuda(0,block={"e","j"},thread={"k","i"})'
    assert why.code == "AT258"
    assert why.message == (
        "cuda: loop 'k' cannot run in parallel: ur is carried by k (distance 1 and more)"
    )
    assert why.help == "loops that may be mapped here: e, j, i"
    (note,) = why.notes
    assert note.message == "the dependence: ur is carried by k (distance 1 and more)"
    target = path.read_text().split("\n")[note.span.line - 1].strip()
    assert target == "ur[e*lx*ly*lz + j*lz + i] +="


def test_figure_4_7_without_its_recipe_is_planned() -> None:
    text = (EXAMPLES / "thesis" / "fig4_7.c").read_text()
    start = text.index("/*@ begin CHILL")
    end = text.index("@*/", start) + 3
    text = text[:start] + text[end:].replace("/*@ end @*/", "", 1)
    assert len(list(decided_text(text).plan().kernels())) >= 2


def test_the_algorithms_reasons_are_kept() -> None:
    one = decided_example("nwchem/sd_t_d1.c", "sd_t_d1_1")
    (choice,) = one.decision.choices
    assert [str(reason) for reason in choice.reasons] == [
        "thread.x: h3 (innermost parallel loop contiguous in v2)",
        "blocks: h2, p6 (other loops of v2, inner to outer)",
        "thread.y: h1 (innermost loop of the other input)",
        "serial: p5, p4 (parallel, but every axis has its loop)",
        "order: p5, p4, p6, h1, h2, h3, h7 (largest input stride outermost)",
        "registers: S0 over h7 (the target stays in place)",
    ]


def test_a_mistake_in_a_recipe_names_every_wrong_command() -> None:
    text = (EXAMPLES / "thesis" / "fig3_9a.c").read_text()
    wrong = text.replace('thread={"h3", "h1"}', 'thread={"h3", "x"}').replace('"h7", UF0', '"y", 2')
    with pytest.raises(AnnotuneError) as error:
        decided_text(wrong)
    assert [d.message for d in error.value.diagnostics] == [
        "statement 0 has no loop 'x'",
        "statement 0 has no loop 'y'",
    ]
