"""Whatever the file holds, the front end answers with regions or with diagnostics."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from source_text import CLOSE, OPEN, load_text
from support.laws import tried

from annotune.diagnostics import AnnotuneError

PIECES = st.sampled_from(
    [
        *("#define M(x, ...) x ## __VA_ARGS__\n", "#define N 4\n", "#define W N*\n", "#undef N\n"),
        *("#define F(x) #x F\n", "#define M\n", "#if N > M(1)\n", "#elif defined(\n", "#else\n"),
        *("#endif\n", '#include "t.c"\n', "#include <a\n", "#include N\n", "#if\n", "#define\n"),
        *("M(", "M(1, 2)", "F(N", "N", "W", "##", "#", "\\\n", "\\", '"', "'", "/*", "*/", "//"),
        *("{", "}", "(", ")", "[", "]", ";", ",", "=", "*", "&", "? :", "...", "@", "$", "\t"),
        *("int ", "double *", "typedef ", "struct s ", "enum { E = N } ", "T ", "extern ", '"C"'),
        *("void f(int n, double *a) {", "for (int i = 0; i < n; i++) ", "a[i] = 1;", "(T *) a"),
        *("asm(", "__attribute__((", "_Pragma(", "f(a) double *a;", "complex ", "register "),
        *(f"{OPEN}\n", f"{CLOSE}\n", "x", "1.0e+10", "0x", "1e", "é", "\r\n", "\f", "\udc80"),
    ]
)


@settings(tried(400), suppress_health_check=list(HealthCheck))
@given(st.lists(PIECES, max_size=40).map("".join))
def test_never_a_traceback(text: str) -> None:
    with suppress(AnnotuneError):
        load_text(text)


@settings(tried(400), suppress_health_check=list(HealthCheck))
@given(st.lists(PIECES, max_size=12).map("".join), st.lists(PIECES, max_size=12).map("".join))
def test_never_a_traceback_around_a_region(before: str, inside: str) -> None:
    body = f"{OPEN}\nfor (int i = 0; i < n; i++) {{ a[i] = 1; {inside} }}\n{CLOSE}\n"
    with suppress(AnnotuneError):
        load_text(f"{before}\nvoid f(int n, double *a) {{\n{body}}}\n")
