"""Orio's Loop module: transformations to wishes, and the text that a front end gets."""

from __future__ import annotations

import pytest
from support.regions import find_annotations

from annotune.annotation.grammar import Origin
from annotune.annotation.orio.complete import Completed, complete
from annotune.annotation.orio.loop import read_loop_text
from annotune.annotation.regions import AnnotationBlock
from annotune.annotation.spec import WishKind
from annotune.diagnostics import AnnotuneError

BODY = "for (i=0;i<n;i++) for (j=0;j<n;j++) y[i]+=A[i][j]*x[j];"


def region(transformations: str, tuning: str = "", body: str = BODY) -> AnnotationBlock:
    text = (
        f"/*@ begin PerfTuning ({tuning}) @*/ /*@ begin Loop ({transformations}) @*/\n"
        f"{body}\n/*@ end @*/ /*@ end @*/"
    )
    (block,) = find_annotations(text, "f.c")
    return block


def wishes(transformations: str, tuning: str = "") -> list[tuple[str, str, tuple[int, ...]]]:
    spec = region(transformations, tuning).spec
    return [(str(wish.kind), wish.loop, wish.factors) for wish in spec.wishes]


def completed(text: str) -> Completed:
    return complete(text, "my-kernel.c", find_annotations(text, "my-kernel.c"))


@pytest.mark.parametrize(
    ("transformations", "expected"),
    [
        ("transform Unroll(3)", [("unroll", "i", (3,))]),
        ("transform Tile(tsize=2*T, tindex='ii')", [("tile", "i", (4, 8))]),
        (
            "transform RegTile(loops=['i','j'], ufactors=[T,1])",
            [("unroll", "i", (2, 4))],
        ),
        (
            "transform Composite(unrolljam=(['j'],[3]), regtile=(['i'],[2]),"
            " tile=[('i',T,'ii'),(('ii','i'),8,'iii')], openmp=(True,'omp parallel for'))",
            [("tile", "i", (2, 4)), ("unroll", "j", (3,))],
        ),
        (
            "transform CUDA(threadCount=T, unrollInner=5)",
            [("parallel", "i", ()), ("unroll", "j", (5,))],
        ),
        ("transform composite(cuda=(16,True,False,1))", [("parallel", "i", ())]),
        ("transform ScalarReplace(dtype='double')", []),
    ],
)
def test_a_transformation(transformations: str, expected: object) -> None:
    assert wishes(transformations, "def performance_params { param T[] = [2,4]; }") == expected


def test_what_changes_nothing_is_no_axis() -> None:
    tuning = (
        "def build { arg build_command = 'cc @C'; } def performance_params { param U[] = [2,4];"
        " param V[] = [False,True]; param C[] = ['-O2','-O3'];"
        " constraint a = U > 2; constraint b = C != ''; }"
    )
    spec = region("transform Composite(unrolljam=(['i'],[U]), vector=(V,['ivdep']))", tuning).spec
    assert [param.name for param in spec.performance_params] == ["C"]
    assert [constraint.name for constraint in spec.constraints] == ["b"]
    assert [note.message for note in spec.notes if note.code == "AT039"] == [
        "not searched: 'V'; no transformation that changes anything here names them"
    ]


@pytest.mark.parametrize(
    ("transformations", "expected"),
    [
        ("transform Unrol(3)", "1:45: unknown transformation 'Unrol'"),
        ("transform OpenCL()", "1:45: Orio's transformation OpenCL is not supported"),
        ("transform Unroll(ufactor=U)", "1:70: unknown name 'U'"),
        ("transform Unroll(ufactor=0)", "1:70: the factor of 'Unroll' must be a number from 1, "),
        ("transform Unroll(factor=2)", "1:69: 'Unroll' has no argument 'factor'"),
        ("transform CUDA(32)", "1:60: the arguments of 'CUDA' must be named"),
        ("transform Composite(tile=[('i',2)])", "1:70: the tile of 'Composite' must be a list"),
        ("transform RegTile(loops=[i], ufactors=[2])", "1:83: the loops of 'RegTile' must be loo"),
        ("transform RegTile(loops=['i'])", "1:45: the loops of 'RegTile' must be given with"),
        ("transform", "1:54: unexpected 'end'"),
        ("transform Unroll(1/0)", "1:62: division by zero"),
        ("transform Unroll(2 3)", "1:64: expected an operator, a comma or the end, found '3'"),
    ],
)
def test_a_transformation_that_is_none(transformations: str, expected: str) -> None:
    with pytest.raises(AnnotuneError) as refusal:
        region(transformations)
    (diagnostic,) = refusal.value.diagnostics
    span = diagnostic.span
    assert f"{span.line}:{span.column}: {diagnostic.message}".startswith(expected)


def test_transformations_inside_loops_are_blanked() -> None:
    text = "for (i=0;;)\n  transform UnrollJam(ufactor='(')\n  for (j=0;;) x = ')'; /* transform */"
    found = read_loop_text(text, Origin.at("f.c", text))
    assert [(one.name, one.for_index) for one in found.transformations] == [("UnrollJam", 1)]
    assert found.c_text == text.replace("transform UnrollJam(ufactor='(')", " " * 32)


def test_the_text_in_an_annotation_comes_out_of_its_comment() -> None:
    text = f"void f(int n) {{\n/*@ begin Loop (transform Unroll(2)\n{BODY}\n) @*/\n/*@ end @*/ }}"
    made = completed(text)
    (block,) = made.blocks
    assert made.text[block.body_start : block.body_end].strip() == BODY
    assert made.text.count("\n") == text.count("\n")
    # The iterators are declared before the region, which the generated code replaces, and for it.
    assert made.text[: block.start].endswith("{ int i; int j; ")
    assert made.text[block.end :] == " } }"


def test_a_difference_is_shown_at_both_places() -> None:
    same = region(f"transform Unroll(2) {BODY}", body=f"  {BODY} // alike").spec
    assert same.notes == ()
    other = region(f"transform Unroll(2) {BODY}", body=BODY.replace("+=", "-=")).spec
    (warning,) = [note for note in other.notes if note.code == "AT077"]
    assert (warning.span.line, warning.span.column) == (2, 41)
    assert warning.notes[0].span.line == 1


def test_a_comment_in_the_annotation_is_no_loop() -> None:
    assert region("transform Unroll(2) // by two\n").spec.notes == ()


def test_no_text_changes_without_need() -> None:
    text = (
        "void f(int n, double *a) {\n/*@ begin PerfTuning ( def input_params { param n = 4;"
        " param unused = 3; } ) @*/\n  int n2 = n;\n  for (int i = 0; i < n2; i++) a[i] = 0;\n"
        "/*@ end @*/\n}\n"
    )
    made = completed(text)
    assert made.text == text
    assert made.blocks[0].start == find_annotations(text, "f.c")[0].start


def test_two_regions_share_what_is_put_in_their_frame() -> None:
    one = "/*@ begin Loop (for (i=0; i<m; i++) a[i] = 0;) @*/ /*@ end @*/"
    text = (
        "/*@ begin PerfTuning (def input_params {param m = 4;}\n"
        " def input_vars {decl double a[m];}) @*/\n"
        f"{one}\n{one}\n/*@ end @*/\n"
    )
    made = completed(text)
    assert made.text.startswith("void my_kernel(int m, double a[m]) { int i; \n\n")
    assert made.text.count("void") == 1
    assert [made.text[b.body_start : b.body_end].count("for") for b in made.blocks] == [1, 1]


def test_functions_of_one_file_get_names_of_their_own() -> None:
    one = "int i;\n/*@ begin Loop (for (i=0; i<m; i++) x[i] = 0;) @*/ /*@ end @*/\n"
    made = completed("int my_kernel;\n\n" + one + "\n" + one)
    assert "void my_kernel_(int m) {" in made.text
    assert "void my_kernel_2(int m) {" in made.text


def test_wishes_count_the_loops_of_the_text_that_runs() -> None:
    spec = region(
        "transform CUDA(threadCount=8) for (i=0;;);", body="for (k=0;;) for (i=0;;);"
    ).spec
    (wish,) = spec.wishes
    assert (wish.kind, wish.loop, wish.index) == (WishKind.PARALLEL, "k", 0)
    assert wish.threads == (8,)


def test_declared_extents_of_pointers_are_known() -> None:
    text = (
        "void f(double *x, double *y, int m, int k) {\n/*@ begin PerfTuning ("
        "def input_params {param N[] = [4,8]; param k = 3;} def input_vars {decl double x[N*m];"
        " decl double y[k]; decl double z[N];}) @*/\n  int n = N;\n"
        "/*@ begin Loop (for (i=0; i<m; i++) x[i] = y[i];) @*/ /*@ end @*/\n/*@ end @*/ }"
    )
    (block,) = completed(text).blocks
    # k is a parameter of the function that only the extent uses; z stands nowhere.
    assert block.spec.assumptions.extents == {"x": ("4*m",), "y": ("k",)}
