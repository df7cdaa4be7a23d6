"""Work grows with the length of a file and no faster: counted in calls, never in seconds."""

from __future__ import annotations

import cProfile
import pstats
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.regions import find_annotations

from annotune.frontend.load import load
from annotune.ir.region import SourceFile

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import parsing  # the generators of the benchmark, which is no package


def read(text: str) -> SourceFile:
    return load("big.c", text, find_annotations(text, "big.c"))


def calls(text: str) -> int:
    """Return how many Python and library functions are called to read a file."""
    profile = cProfile.Profile()
    profile.enable()
    read(text)
    profile.disable()
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


SHORT, LONG = 100, 400


@pytest.mark.parametrize("kind", parsing.KINDS)
def test_work_is_linear(kind: str) -> None:
    make: Callable[[int], str] = parsing.KINDS[kind]
    # What is looked up once, such as the kinds of tokens, counts for neither.
    read(make(SHORT))
    short, long = calls(make(SHORT)), calls(make(LONG))
    assert long <= 1.15 * (LONG / SHORT) * short


@pytest.mark.parametrize("kind", ["one region", "declarations"])
def test_what_a_region_does_not_need_is_not_parsed(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annotune.frontend.read import parse

    given = 0
    original = parse._Lexer.token

    def counted(lexer: parse._Lexer) -> object:
        nonlocal given
        given += 1
        return original(lexer)

    monkeypatch.setattr(parse._Lexer, "token", counted)
    counts = []
    for lines in (100, 2_000):
        given = 0
        assert len(read(parsing.KINDS[kind](lines)).regions) == 1
        counts.append(given)
    assert counts[0] == counts[1]


@pytest.mark.slow
def test_fifty_thousand_lines() -> None:
    text = parsing.one_region(50_000)
    (only,) = read(text).regions
    assert only.function == "row_2500"


LONE = {
    "lone macros": "NAME(x)\n",
    "old style": "int g{k}(n, a) int n; double *a; {{ return n; }}\n",
    "braces": "struct s{k} {{ struct {{ int a; }} b; }};\n",
    "conditionals": "#if 1\n#if 0\n#else\nint v{k};\n#endif\n#endif\n",
    "definitions": "#define N{k} {k}\n#undef N{k}\n",
    "redefinitions": "#undef N\n#define N {k}\n#define M{k} (N + 1)\n",
    "open parentheses": "int f{k}(\n",
    "unmatched": "}} ) ]\n",
    "comments": "/* {k} */ // '\n",
    "strings": 'char *s{k} = "/* \\" */";\n',
    "enumerators": "enum {{ E{k} }};\n",
}


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", LONE)
def test_odd_lines_cost_no_more_than_linear(name: str) -> None:
    line = LONE[name]
    function = parsing.function(0, is_annotated=True)

    def make(lines: int) -> str:
        return function + "".join(line.format(k=k) for k in range(lines))

    read(make(50))
    short, long = calls(make(250)), calls(make(1_000))
    assert long <= 1.2 * 4 * short
