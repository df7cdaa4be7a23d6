"""An emitted text stops the compiler for which an ``#if`` of the region means another text."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.regions import text_regions

from annotune.codegen.target import DEFAULT_TARGETS, load_target
from annotune.frontend.read.preprocess import HeaderSearch
from annotune.pipeline import Settings, emit

HEAD = """\
#define SETTLED 3
#define TWICE(x) (2*(x))
#ifndef SIZE
#define SIZE 8
#endif
"""
FUNCTION = """\
void f(int n, double *restrict a, const double *restrict b)
{{
    /*@ begin PerfTuning ( def input_params {{ param n = 1000; }} ) @*/
    for (int i = 0; i < n; i++) {{
        a[i] = b[i];
{}
    }}
    /*@ end @*/
}}
"""
# The directives in the region, and the conditions that must hold again.
CONDITIONS = {
    "#ifdef BIG\na[i] += 1;\n#endif": ["defined BIG is false"],
    "#ifndef BIG\na[i] += 1;\n#else\na[i] += 2;\n#endif": ["!defined BIG is true"],
    "#if LEVEL > 2\na[i] += 1;\n#elif LEVEL > 1 && \\\n  SIZE /* bytes */ > 4\na[i] += 2;\n"
    "#elif LEVEL\na[i] += 3;\n#endif": [
        "LEVEL > 2 is false",
        "LEVEL > 1 && SIZE > 4 is true",
    ],
    "#if defined(BIG) || SETTLED > 2\na[i] += 1;\n#endif": ["defined(BIG) || SETTLED > 2 is true"],
    "#ifdef LEVEL\n#ifdef BIG\na[i] += 1;\n#endif\na[i] += 2;\n#endif": [
        "defined LEVEL is true",
        "defined BIG is false",
    ],
    # Nobody asks again what the file itself decides.
    "#if SETTLED > 2\na[i] += 1;\n#endif": [],
    "#if TWICE(SETTLED) == 6 && defined TWICE\na[i] += 1;\n#endif": [],
    "#if 0\na[i] += 1;\n#endif": [],
    # What is not read asks for nothing.
    "#if 0\n#ifdef BIG\na[i] += 1;\n#endif\n#endif": [],
    # A pragma is no text, and a target has its own language.
    "#ifdef BIG\n#pragma GCC ivdep\n#endif": [],
    "#ifndef _OPENMP\na[i] += 1;\n#endif": [],
    "#if defined(_OPENACC) || LEVEL > 1\na[i] += 1;\n#endif": ["0 || LEVEL > 1 is true"],
    # What the region defines is gone with it.
    "#define OWN (LEVEL + 1)\n#if OWN > 2 && defined OWN\na[i] += 1;\n#endif": [
        "( LEVEL + 1 ) > 2 && 1 is true"
    ],
    "#define OWN 4\n#if OWN > 2\na[i] += 1;\n#endif": [],
}


@pytest.mark.parametrize("directives", CONDITIONS)
def test_what_must_hold_again(directives: str) -> None:
    (region,) = text_regions(HEAD + FUNCTION.format(directives), defines={"LEVEL": "2"})
    found = [f"{c.text} is {'true' if c.holds else 'false'}" for c in region.text.conditions]
    assert found == CONDITIONS[directives]


@pytest.mark.parametrize("target", DEFAULT_TARGETS)
def test_another_value_stops_the_compiler(target: str, tmp_path: Path) -> None:
    directives = "#if LEVEL > 2\na[i] += 1;\n#endif\n#if MODE == '\"'\na[i] += 2;\n#endif"
    source = tmp_path / "s.c"
    source.write_text(HEAD + FUNCTION.format(directives))
    settings = Settings(source, (target,), search=HeaderSearch(defines={"LEVEL": "3"}))
    files = emit(settings, [load_target(target)]).files
    (name,) = (name for name in files if name.endswith(".c"))
    made = tmp_path / f"s{name}"
    made.write_text(files[name])

    def compiled(*flags: str) -> str:
        command = ["gcc", "-Wall", "-Werror", "-Wno-unknown-pragmas", "-fsyntax-only", *flags]
        done = subprocess.run([*command, made], capture_output=True, text=True)
        assert (done.returncode == 0) is (not done.stderr), done.stderr
        return done.stderr

    assert compiled("-DLEVEL=3") == compiled("-DLEVEL=4", "-DOTHER") == ""
    assert "annotune read this region where LEVEL > 2 is true" in compiled("-DLEVEL=2")
    assert "LEVEL > 2 is true" in compiled()
    assert "MODE == ``` is false" in compiled("-DLEVEL=3", "-DMODE=34")
