"""Headers: the user's own are read, the system's only when a name needs them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from source_text import CLOSE, OPEN
from support.nest_text import print_nest
from support.regions import find_annotations

from annotune.diagnostics import AnnotuneError, Severity
from annotune.frontend.load import Loaded, load_sound
from annotune.frontend.read import ladder
from annotune.frontend.read.ladder import HeadersRead, by_compiler, by_pcpp
from annotune.frontend.read.preprocess import HeaderSearch, preprocess
from annotune.frontend.read.tokens import SourceText

GCC = shutil.which("gcc") or ""
NEEDS_GCC = pytest.mark.skipif(not GCC, reason="no gcc")
NEEDS_SYSTEM = pytest.mark.skipif(not os.path.exists("/usr/include/limits.h"), reason="no headers")


def function(body: str, head: str = "") -> str:
    return f"{head}void f(int n, double *a)\n{{\n{OPEN}\n{body}\n{CLOSE}\n}}\n"


def read(text: str, folder: Path, *include: str, compiler: tuple[str, ...] = ()) -> Loaded:
    path = str(folder / "t.c")
    search = HeaderSearch(tuple(str(folder / name) for name in include), {}, compiler)
    return load_sound(path, text, find_annotations(text, path), search=search)


def test_reads_macros_types_and_arrays(tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc/types.h").write_text("#pragma once\ntypedef double real_t;\n")
    (tmp_path / "inc/grid.h").write_text(
        '#ifndef GRID\n#define GRID\n#include "types.h"\nenum { NX = 3, NY };\n'
        "#define AT(i, j) ((i)*NX + (j))\nextern real_t field[NY][NX];\n"
        "static inline int square(int x) { return x * x; }\n#endif\n"
    )
    text = function(
        "for (int i = 0; i < NY; i++) for (int j = 0; j < NX; j++) a[AT(i, j)] = field[i][j];",
        '#include <stdio.h>\n#include "grid.h"\n#include "types.h"\n#include "grid.h"\n',
    )
    loaded = read(text, tmp_path, "inc")
    assert loaded.problems == ()
    (only,) = loaded.source.regions
    assert print_nest(only.nest) == (
        "for i in 0:NY\n  for j in 0:NX\n    S0: a[i * NX + j] = field[i][j]\n"
    )
    assert only.sizes == {"NY": 4, "NX": 3}
    assert only.arrays["field"].element == "double"
    # What a header declares stands at its #include.
    assert only.arrays["field"].span.line == 2


def test_a_header_included_in_a_function_is_read_there(tmp_path: Path) -> None:
    (tmp_path / "weights.inc").write_text("1.0, 2.0,\n")
    (tmp_path / "use.inc").write_text("a[0] = s;\n")
    text = function(
        "for (int i = 0; i < n; i++) { s = w[0]; a[i] = s; }",
        'static double w[] = {\n#include "weights.inc"\n};\n',
    )
    text = text.replace("{\n/*@", "{\ndouble s;\n/*@").replace(
        f"{CLOSE}\n", f'{CLOSE}\n#include "use.inc"\n'
    )
    loaded = read(text, tmp_path)
    assert loaded.problems == ()
    assert loaded.source.regions[0].scalars["s"].read_after


def test_a_missing_header_in_a_function_is_refused(tmp_path: Path) -> None:
    text = function("for (int i = 0; i < n; i++) a[i] = 0;").replace(
        f"{CLOSE}\n", f'{CLOSE}\n#include "gone.inc"\n'
    )
    (problem,) = read(text, tmp_path).problems
    assert problem.code == "AT115"
    assert problem.span.line == 6
    assert "'gone.inc' is included inside function 'f'" in problem.message


def test_headers_that_include_themselves_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without this bound 2**100 headers are read, whatever it is.
    monkeypatch.setattr("annotune.frontend.read.preprocess._MAXIMUM_HEADERS", 300)
    (tmp_path / "a.h").write_text('#include "a.h"\n#include "a.h"\nextern double w[4];\n')
    text = function("for (int i = 0; i < 4; i++) a[i] = w[i];", '#include "a.h"\n')
    assert read(text, tmp_path).source.regions[0].arrays["w"].element == "double"


def test_a_broken_header_hides_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text("double @ w[4];\nextern double v[4];\n")
    (tmp_path / "b.h").write_text("/* never closed\n")
    text = function("for (int i = 0; i < 4; i++) a[i] = v[i];", '#include "a.h"\n#include "b.h"\n')
    assert read(text, tmp_path).problems == ()


def test_no_header_is_asked_for_without_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(source: SourceText, search: HeaderSearch) -> HeadersRead:
        raise AssertionError("a system header was read")

    monkeypatch.setattr(ladder, "by_pcpp", asked)
    monkeypatch.setattr(ladder, "by_compiler", asked)
    text = function(
        "for (int i = 0; i < N; i++) a[i] = M_PI * INT_MAX;",
        "#include <stdio.h>\n#include <math.h>\n#include <limits.h>\n"
        "#ifndef N\n#define N 10\n#endif\n#ifndef M_PI\n#define M_PI 3\n#endif\n",
    )
    loaded = read(text, tmp_path)
    assert loaded.problems == ()
    nest = print_nest(loaded.source.regions[0].nest)
    assert nest == "for i in 0:N\n  S0: a[i] = 3.14159265358979323846 * INT_MAX\n"


@NEEDS_SYSTEM
@pytest.mark.parametrize("compiler", [(), pytest.param((GCC,), marks=NEEDS_GCC)])
def test_reads_a_system_header_for_an_unknown_name(
    tmp_path: Path, compiler: tuple[str, ...]
) -> None:
    head = "#include <sys/param.h>\n#include <stdint.h>\n"
    text = function("for (uint_fast8_t i = 0; i < MAXSYMLINKS; i++) a[i] = 0;", head)
    text = text.replace("uint_fast8_t", "int")
    loaded = read(text, tmp_path, compiler=compiler)
    assert loaded.problems == ()
    assert loaded.source.regions[0].sizes["MAXSYMLINKS"] > 0


def test_says_which_header_is_missing_and_what_was_tried(tmp_path: Path) -> None:
    head = "#include <math.h>\n#include <no/such.h>\n"
    text = function("for (int i = 0; i < n; i++) a[i] = WEIGHT;", head)
    (problem,) = read(text, tmp_path).problems
    assert problem.code == "AT120"
    (note,) = [n for n in problem.notes if "such.h" in n.message]
    assert note.span.line == 2
    assert "not beside the file nor in a folder of -I" in note.message
    assert "no C compiler is named" in note.message


def test_says_that_a_compiler_does_not_start(tmp_path: Path) -> None:
    text = function("for (int i = 0; i < n; i++) a[i] = WEIGHT;", "#include <no/such.h>\n")
    (problem,) = read(text, tmp_path, compiler=("no-such-compiler-here",)).problems
    assert "no-such-compiler-here -E" in problem.notes[0].message


def test_a_decision_without_its_header_is_warned_about(tmp_path: Path) -> None:
    head = '#include "config.h"\n#ifdef USE_TWO\n#define W 2.0\n#else\n#define W 1.0\n#endif\n'
    text = function("for (int i = 0; i < n; i++) a[i] = W;", head)
    loaded = read(text, tmp_path)
    (warning,) = loaded.problems
    assert (warning.code, warning.severity) == ("AT119", Severity.WARNING)
    assert "'USE_TWO'" in warning.message
    assert len(loaded.source.regions) == 1
    (tmp_path / "config.h").write_text("#define USE_TWO\n")
    loaded = read(text, tmp_path)
    assert loaded.problems == ()
    assert print_nest(loaded.source.regions[0].nest) == "for i in 0:n\n  S0: a[i] = 2.0\n"


@NEEDS_SYSTEM
def test_pcpp_reads_what_gcc_reads(tmp_path: Path) -> None:
    text = "#define _GNU_SOURCE\n#include <math.h>\nint x;\n#include <limits.h>\n"
    source = SourceText(str(tmp_path / "t.c"), text)
    readings = [by_pcpp(source, HeaderSearch())]
    if GCC:
        readings.append(by_compiler(source, HeaderSearch(compiler=(GCC,))))
        assert preprocess(source, HeaderSearch(), readings[1].given).unread == ()
    for reading in readings:
        assert set(reading.given) == {2, 4}
        clean = preprocess(source, HeaderSearch(), reading.given)
        assert clean.macro("M_PI", len(text)) is not None
        # What the header declares stands where its directive starts, and has its macros.
        assert clean.macro("M_PI", text.index("#include")) is not None
        assert clean.macro("M_PI", text.index("#include") - 1) is None
        assert clean.macro("INT_MAX", len(text)) is not None


@NEEDS_GCC
def test_a_slow_or_failing_compiler_is_a_failed_rung(tmp_path: Path) -> None:
    source = SourceText(str(tmp_path / "t.c"), "#include <math.h>\n")
    reading = by_compiler(source, HeaderSearch(compiler=(GCC, "--no-such-option")))
    assert not reading.given
    assert "no-such-option" in reading.problem


def test_a_header_never_raises(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_bytes(b"\0\xff\n")
    text = function("for (int i = 0; i < n; i++) a[i] = 0;", '#include "a.h"\n#include "."\n')
    try:
        read(text, tmp_path)
    except AnnotuneError as error:
        raise AssertionError(error) from error
