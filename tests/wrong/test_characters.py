"""Character constants: `int` in C (C11 6.4.4.4), wherever a number may stand in a region."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from annotune.frontend.read.tokens import character
from wrong.called import Array, Call, Program

TEXT = """\
#define SEPARATOR ';'
enum { TAB = '\\t', SLASH = '\\\\' };
static int is_digit(char c) { return c >= '0' && c <= '9'; }
int split(int n, const char *text, char *restrict low, int *restrict value)
{
    int fields = 'b' - 'a';
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++) {
        char c = text[i];
        if (c == SEPARATOR || c == '\\'') fields++;
        low[i] = c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c == TAB ? '"' : c == '\\x5c' ? '\\0' : c;
        value[i] = c >= '0' && c <= '9' ? c - '0' : c == SLASH ? -'\\r' : 'l' * 2 + '\\101';
    }
    /*@ end @*/
    return fields;
}
void called(int n, const char *text, int *restrict value)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; }
        def assume { arg pure = ['is_digit']; } ) @*/
    for (int i = 0; i < n; i++)
        value[i] += is_digit(text[i]) ? text[i] - '0' : 'u';
    /*@ end @*/
}
void rows(int n, double a[]['\\n'])
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = '\\0'; j < '\\n'; j++)
            a[i][j] = a[i][j] / '2' + 'L' / 7;
    /*@ end @*/
}
void chosen(int n, unsigned char *text, long *restrict value)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++)
        if (text[i] & 'A' ^ ' ')
            value[i] = value[i] * '~' - (text[i] << 'f' - 'a');
    /*@ end @*/
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("characters")
    (folder / "made").mkdir()
    (folder / "characters.c").write_text(TEXT)
    return Program(folder / "made", folder / "characters.c", ("cuda", "openacc", "openmp"))


def test_characters_are_numbers(program: Program) -> None:
    text = Array("i1", 64, tuple(b"aZ;'\\\t09\"~ M5z"))
    low, value, x = Array("i1", 64), Array("i4", 64), Array("f8", 64)
    program.check(
        Call("split", 61, text, low, value, returns="i4"),
        Call("called", 61, text, value),
        Call("rows", 6, x),
        Call("chosen", 40, Array("u1", 64, (0, 64, 97, 200, 33)), Array("i8", 64)),
    )


def test_a_character_has_the_value_that_the_compiler_gives_it(tmp_path: Path) -> None:
    escapes = [f"'\\{one}'" for one in "'\"?\\abfnrtv"]
    plain = [f"'{chr(code)}'" for code in range(32, 127) if chr(code) not in "'\\"]
    numbers = ["'\\0'", "'\\7'", "'\\012'", "'\\177'", "'\\x0'", "'\\x41'", "'\\x7F'", "'\\x00041'"]
    every = [*escapes, *plain, *numbers]
    lines = "".join(f'printf("%d\\n", {one});' for one in every)
    source = tmp_path / "values.c"
    source.write_text(f"#include <stdio.h>\nint main(void) {{ {lines} }}\n")
    subprocess.run(["gcc", "-w", source, "-o", tmp_path / "values"], check=True)
    done = subprocess.run([tmp_path / "values"], capture_output=True, text=True, check=True)
    assert [*map(character, every)] == [*map(int, done.stdout.split())]


@pytest.mark.parametrize(
    "text", ["''", "'ab'", "'\\xff'", "'\\200'", "'é'", "L'a'", "'\\q'", "'\n'", "'a", "a'"]
)
def test_what_only_the_compiler_knows_has_none(text: str) -> None:
    assert character(text) is None
