"""Small nests, and the law that every transform must keep.

The laws of all transforms are tried on the same nests: those of ``nest_corpus.txt``, each analysed
once in a process, or random ones in `make test-all`.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache, lru_cache
from pathlib import Path

from hypothesis import assume, settings
from hypothesis import strategies as st

from annotune.analysis.facts import Analysis
from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.ir.expr import Int, Var
from annotune.ir.nest import Assign, walk_stmts
from annotune.schedule.apply import reductions
from annotune.transforms.transform import Context, Transform
from annotune.transforms.tree import Body, band_with, path

from .interpreter import assert_same
from .laws import IS_THOROUGH
from .nest_text import parse_nest
from .regions import nest_analysis, text_of
from .sizes import fulfils

SIZES = {"n": 4, "m": 3}
OTHERS = ({"n": 5, "m": 2}, {"n": 1, "m": 1}, {"n": 2, "m": 7})
EXTENTS = {"M": (Int(9), Var("n"))}
LAW = settings(max_examples=40 if IS_THOROUGH else 8, derandomize=True)
_CORPUS = Path(__file__).with_name("nest_corpus.txt")


def nests(perfect: bool = False, sums: bool = False) -> st.SearchStrategy[str]:
    """Return what draws the text form of a nest.

    `perfect` puts all statements into the innermost loop; `sums` prefers accumulations.
    """
    if IS_THOROUGH:
        return random_nests(perfect, sums)
    words = [word for word, wanted in (("perfect", perfect), ("sums", sums)) if wanted]
    return st.sampled_from(corpus()[" ".join(words) or "any"])


@cache
def corpus() -> dict[str, list[str]]:
    """Return the nests of each section of ``nest_corpus.txt``."""
    _, *sections = _CORPUS.read_text().split("\n[")
    named = (section.split("]\n", 1) for section in sections)
    return {name: [f"{nest}\n" for nest in text.strip().split("\n\n")] for name, text in named}


@st.composite
def random_nests(draw: st.DrawFn, perfect: bool = False, sums: bool = False) -> str:
    """Draw a nest of two or three loops, with one to three statements."""
    depth = draw(st.integers(2, 3))
    lines: list[str] = []
    names: list[str] = []
    for level in range(depth):
        name = "ijk"[level]
        lower = draw(st.sampled_from(["0", "0", "0", "1", "-2"]))
        upper = draw(st.sampled_from([f"n + {lower}", "n + 1", "m + 1", "4"]))
        if level and draw(st.integers(0, 5)) == 0:
            lower, upper = names[-1], f"n + {names[-1]}"
        elif level and draw(st.integers(0, 7)) == 0:
            lower, upper = f"{names[-1]} + 1", "n + 1"
        step = draw(st.sampled_from(["", "", "", " step 2"]))
        lines.append("  " * level + f"for {name} in {lower}:{upper}{step}")
        names.append(name)
        if not perfect and level + 1 < depth and draw(st.integers(0, 2)) == 0:
            lines.append("  " * (level + 1) + draw(_statement(tuple(names), sums)))
    for _ in range(draw(st.integers(1, 2))):
        lines.append("  " * depth + draw(_statement(tuple(names), sums)))
    if not perfect and draw(st.booleans()):
        lines.append("  " + draw(_statement(("i",), sums)))
    return "\n".join(lines) + "\n"


@st.composite
def _element(draw: st.DrawFn, names: tuple[str, ...]) -> str:
    kind = draw(st.sampled_from("aabcM"))
    if kind == "M":
        rows = [draw(st.sampled_from(names)) + draw(st.sampled_from(["", "+1"])) for _ in "rc"]
        return f"M[{rows[0]} + 2][{rows[1]} + 2]"
    terms = []
    for name in names:
        factor = draw(st.sampled_from(["0", "1", "1", "2", "-1", "n"]))
        if factor != "0":
            terms.append(name if factor == "1" else f"{factor}*{name}")
    terms.append(str(draw(st.integers(-1, 2)) + 9))
    return f"{kind}[{' + '.join(terms)}]"


@st.composite
def _statement(draw: st.DrawFn, names: tuple[str, ...], sums: bool) -> str:
    if draw(st.integers(0, 5)) == 0:
        return draw(st.sampled_from([f"s = {draw(_element(names))}", "s += 1.0", "s = 2.0"]))
    used = names[:-1] if sums and len(names) > 1 else names
    target = draw(_element(used))
    left = draw(_element(names))
    right = draw(st.one_of(_element(names), st.just("3.0"), st.just("s")))
    ops = ["+=", "-="] if sums else ["=", "=", "+=", "-=", "*="]
    return f"{target} {draw(st.sampled_from(ops))} {left} + 2.0*{right}"


@lru_cache(64)
def analysed(text: str) -> Analysis:
    """Return the analysis of a nest; those that annotune refuses do not count."""
    try:
        return nest_analysis(text, SIZES, EXTENTS)
    except AnnotuneError:
        assume(False)
        raise


def assume_one_band(text: str, loops: Collection[str]) -> None:
    """Count only nests with `loops` in one band around the last statement; analysing takes long."""
    body = parse_nest(text).body
    last = max(stmt.number for stmt in walk_stmts(body) if isinstance(stmt, Assign))
    assume(band_with(body, last, loops) is not None)


def assume_around(text: str, statement: int, *loops: str) -> None:
    """Count only nests with a statement of this number that `loops` are around."""
    body = parse_nest(text).body
    assume(statement in {s.number for s in walk_stmts(body) if isinstance(s, Assign)})
    assume({loop.var for loop in path(body, statement)} >= {*loops})


def known(one: Analysis | Context) -> Context:
    """Return what transforms know of a region, no size where a bare analysis is given."""
    return one if isinstance(one, Context) else Context(one)


def accepted(transform: Transform, body: Body, one: Analysis | Context) -> Body:
    """Return what a transform makes of `body`; refusals do not count."""
    assume(transform.why_not(body, known(one)) is None)
    return transform.apply(body, known(one))


def combined(body: Body, one: Analysis) -> Body:
    """Return a nest with partial results for the reductions of its placed loops."""
    for step in reductions(body, tuple(one.paths)):
        body = accepted(step, body, one)
    return body


def assert_law(body: Body, analysis: Analysis) -> None:
    """Assert that `body` computes what the region does, at every size it is proven for."""
    others = OTHERS if analysis.all_sizes else ()
    for sizes in (SIZES, *others):
        if all(_runs(analysis, sizes)) and fulfils(analysis, sizes):
            assert_same(
                body, analysis.region, sizes, analysis.private, lambda: "\n" + text_of(body)
            )


def _runs(analysis: Analysis, sizes: dict[str, int]) -> list[bool]:
    """Return for each loop whose bounds are sizes whether it runs, as the entry tests it."""
    from annotune.ir.fold import fold

    out = []
    for loop in analysis.region.nest.loops():
        lower, upper = fold(loop.lower, sizes), fold(loop.upper, sizes)
        if isinstance(lower, Int) and isinstance(upper, Int):
            out.append(lower.value < upper.value)
    return out


def refused(transform: Transform, body: Body, one: Analysis | Context) -> Diagnostic:
    """Return why a transform is refused, which it must be."""
    refusal = transform.why_not(body, known(one))
    assert refusal is not None
    return refusal
