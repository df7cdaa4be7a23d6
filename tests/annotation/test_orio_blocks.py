"""``assume``, ``decl``, sizes, flags and the files that annotations name."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotune.annotation.flags import Flags, flags_at, flags_of
from annotune.annotation.grammar import Origin
from annotune.annotation.perf_tuning import problem_sizes, read_perf_tuning
from annotune.annotation.spec import Assumptions, Spec
from annotune.diagnostics import AnnotuneError


def parse(text: str, file: str = "f.c") -> Spec:
    return read_perf_tuning(text, Origin.at(file, text)).spec


def refusals(text: str, file: str = "f.c") -> list[str]:
    with pytest.raises(AnnotuneError) as refusal:
        parse(text, file)
    return [f"{d.span.line}:{d.span.column}: {d.message}" for d in refusal.value.diagnostics]


def test_what_the_user_vouches_for() -> None:
    spec = parse(
        "def assume { arg disjoint = True; arg pure = ['f', 'g']; arg strides = True;"
        " arg extent = ['x[n]', 'a[2*m+1][n / 2]']; }"
    )
    assert spec.assumptions == Assumptions(
        True, True, ("f", "g"), {"x": ("n",), "a": ("2*m+1", "n / 2")}
    )
    assert parse("").assumptions == Assumptions()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("arg disjoint = 1;", "1:18: 'disjoint' of 'def assume' must be True or False"),
        ("arg pure = ['f;'];", "1:18: 'pure' of 'def assume' must be a list of functions' names"),
        ("arg pure = [1];", "1:18: 'pure' of 'def assume' must be a list of strings"),
        (
            "arg extent = ['x[system(\"true\")]'];",
            "1:18: 'extent' of 'def assume' must be a list of arrays with their extents",
        ),
        (
            "arg extent = ['x'];",
            "1:18: 'extent' of 'def assume' must be a list of arrays with their extents",
        ),
        ("arg disjont = True;", "1:18: there is no assumption 'disjont'"),
    ],
)
def test_an_assumption_that_is_none(text: str, expected: str) -> None:
    assert refusals(f"def assume {{ {text} }}") == [expected]


def test_declarations() -> None:
    spec = parse(
        "let T = 3; def input_params { param M = 4; } def input_vars {"
        " decl double static A[M][2*T] = random; decl unsigned long n = M;"
        " decl dynamic float complex z[T] = 0; decl static int o[T] = {-M*1,(0),M}; }"
    )
    found = [(v.name, v.type, [e.text for e in v.extents], v.initial) for v in spec.input_vars]
    assert [(name, type_, extents) for name, type_, extents, _ in found] == [
        ("A", "double", ["M", "2*3"]),
        ("n", "unsigned long", []),
        ("z", "float complex", ["3"]),
        ("o", "int", ["3"]),
    ]
    initials = [initial for *_, initial in found]
    assert initials[0] is None
    assert [i if i is None else getattr(i, "text", None) for i in initials[1:3]] == ["M", "0"]
    assert isinstance(initials[3], tuple)
    assert [item.text for item in initials[3]] == ["-M*1", "(0)", "M"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("decl static;", "no name"),
        ("decl x[3] = 0;", "no type"),
        ("decl double for = 0;", "no name"),
        ("decl widget x;", "an unknown type 'widget'"),
        ("decl double x[] = 0;", "an empty value"),
        ("decl double x * 2;", "'*' in an unexpected place"),
        ("decl double x[3] = ;", "an empty value"),
    ],
)
def test_a_declaration_that_is_none(text: str, what: str) -> None:
    assert refusals(f"def input_vars {{ {text} }}") == [f"1:18: this declaration has {what}"]


def test_sizes_fulfil_the_constraints_among_them() -> None:
    spec = parse(
        "def input_params { param M[] = [4,8]; param N[] = [8,4]; constraint c = (M == N); }"
        "def performance_params { param U[] = [1,2]; constraint d = M % U == 0; }"
    )
    assert problem_sizes(spec, 5) == ({"M": 4, "N": 4}, {"M": 8, "N": 8})
    assert [p.values for p in spec.input_params] == [(4, 8), (4, 8)]
    assert refusals("def input_params { param M[] = [4,8]; constraint c = M > 9; }") == [
        "1:50: no combination of the problem sizes fulfils constraint 'c'"
    ]


def test_only_known_flags_reach_a_compiler() -> None:
    line = "icc -O3 -march=native -DN=4 -use_fast_math -fplugin=x.so -o out -Wl,-x @FILE -B."
    assert flags_of(line) == Flags(
        ("-O3", "-march=native", "-DN=4"),
        ("-use_fast_math",),
        ("-fplugin=x.so", "out", "-Wl,-x", "@FILE", "-B."),
    )
    pair = ("-Xptxas", "-dlcm=ca")
    assert flags_of("nvcc -Xptxas -dlcm=ca -O2") == Flags(("-O2",), pair)
    # Half of it would take the next flag along.
    assert flags_of("nvcc -Xptxas -v -dlcm=cg") == Flags((), (), ("-Xptxas", "-v", "-dlcm=cg"))
    assert flags_of("cc 'open") == Flags(refused=("cc 'open",))
    spec = parse(
        "def build { arg build_command = 'cc @CFLAGS $(id)'; }"
        "def performance_params { param CFLAGS[] = ['-O1', '-O2 -fplugin=y']; }"
    )
    assert flags_at(spec, {"CFLAGS": "-O1"}).host == ("-O1",)
    assert [note.message for note in spec.notes] == [
        "the flag '$(id)' is not passed to a compiler",
        "the flag '-fplugin=y' is not passed to a compiler",
    ]


def test_files_of_declarations(tmp_path: Path) -> None:
    (tmp_path / "decl.h").write_text(
        "#ifdef DYNAMIC\ndouble *a; int n;\n#else\ndouble a[N][2*N]; long m = 3;\n#endif\n"
        "static struct s { int k; } t; double b[sizeof(int)];\n"
    )
    (tmp_path / "init.c").write_text("int n;\nvoid init(void) { int i; n = N; a[0] = 1; }\n")
    text = (
        "def input_params { param N = 4; } def build { arg build_command = 'cc FLAG'; }"
        "def input_vars { arg decl_file = 'decl.h'; arg init_file = 'init.c'; }"
    )
    file = str(tmp_path / "f.c")
    static = parse(text, file).input_vars
    assert [(v.name, [e.text for e in v.extents]) for v in static] == [
        ("a", ["N", "2*N"]),
        ("m", []),
        ("n", []),
    ]
    dynamic = parse(text.replace("FLAG", "-DDYNAMIC"), file).input_vars
    assert [(v.name, v.is_pointer) for v in dynamic] == [("a", True), ("n", False)]
    assert [getattr(v.initial, "text", None) for v in static] == [None, "3", "N"]


@pytest.mark.parametrize("path", ["/etc/passwd", "../x.h", "a\\\\b.h", ""])
def test_a_path_that_leaves_the_folder(path: str) -> None:
    text = f"def input_vars {{ arg decl_file = '{path}'; }}"
    (refusal,) = refusals(text)
    assert "is not a file beside the C file" in refusal


def test_a_missing_file(tmp_path: Path) -> None:
    file = str(tmp_path / "f.c")
    (refusal,) = refusals("def input_vars { arg decl_file = 'd.h'; }", file)
    assert refusal.startswith("1:22: 'decl_file' names a file that cannot be read")
    spec = parse("def validation { arg validation_file = 'v.c'; }", file)
    assert [(note.code, note.severity) for note in spec.notes] == [
        ("AT030", "note"),
        ("AT036", "warning"),
    ]


def test_specifications(tmp_path: Path) -> None:
    file = str(tmp_path / "f.c")
    (tmp_path / "two.spec").write_text(
        "let K = 2; spec one { def input_params { param n = K; } } spec other { }"
    )
    (tmp_path / "broken.spec").write_text("spec {")
    assert parse("import spec one;", file).input_params[0].values == (2,)
    (refusal,) = refusals("import spec three;", file)
    assert refusal.startswith("1:13: cannot read ")
    (tmp_path / "three.spec").write_text("spec thre { }")
    (refusal,) = refusals("import spec three;", file)
    assert refusal == f"1:13: there is no 'spec three' in {tmp_path}/three.spec"
    (tmp_path / "bad.spec").write_text("spec bad {\n def input_params { param n = 1/0; } }")
    with pytest.raises(AnnotuneError) as wrong:
        parse("import spec bad;", file)
    (diagnostic,) = wrong.value.diagnostics
    assert str(diagnostic.span) == f"{tmp_path}/bad.spec:2:31"
