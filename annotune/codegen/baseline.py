"""The baselines: the user's own text with the directives that one would add without a tool.

Nothing is printed again; directives are spliced in before the user's own `for`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TypeAlias

from annotune.analysis.facts import Analysis, LoopFacts, LoopKind
from annotune.codegen.acc_data import data_clauses
from annotune.codegen.c_stmt import final_values
from annotune.codegen.code import RegionCode
from annotune.codegen.guards import counts_tests, joined
from annotune.codegen.names import temporaries
from annotune.codegen.writer import INDENT, Writer
from annotune.frontend.splice import splice
from annotune.ir.expr import Int
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Loop, walk_stmts
from annotune.ir.region import SourceFile
from annotune.transforms.tree import bound_names

# `collapse` takes in loops until the threads have this many pieces: enough for 64 threads,
# and no division per iteration beyond need.
ENOUGH_PIECES = 256

Directive: TypeAlias = tuple[Loop, str]


def naive_openmp(source: SourceFile, analysis: Analysis) -> RegionCode:
    """Return the region with ``parallel for collapse(k)`` on its outermost parallel loops."""
    directives: list[Directive] = []
    for facts in _outermost(_parallel(analysis)):
        chain = _chain(analysis, facts, ENOUGH_PIECES)
        collapse = f" collapse({len(chain)})" if len(chain) > 1 else ""
        private = _private(analysis, chain)
        directives.append((facts.loop, f"#pragma omp parallel for{collapse}{private}"))
    return RegionCode(_spliced(source, analysis, directives))


def naive_openacc(source: SourceFile, analysis: Analysis) -> Mapping[str, RegionCode]:
    """Return the region once under ``kernels`` and once with ``parallel loop``, by that name."""
    return {
        "kernels": _kernels(source, analysis),
        "parallel loop": _parallel_loop(source, analysis),
    }


def _parallel_loop(source: SourceFile, analysis: Analysis) -> RegionCode:
    """Return the region with plain ``parallel loop`` on its nests and ``loop`` inside them.

    Loops that nest perfectly are collapsed: a device has fewer levels than a nest has loops.
    """
    outermost = _outermost(_parallel(analysis))
    data = data_clauses(analysis)
    shared = len(outermost) != 1 or len(outermost[0].path) > 1
    directives: list[Directive] = []
    left = _parallel(analysis)
    while left:
        for facts in _outermost(left):
            head = "loop"
            if facts in outermost:
                head = f"parallel loop {'default(present)' if shared else data}"
            chain = _chain(analysis, facts)
            collapse = f" collapse({len(chain)})" if len(chain) > 1 else ""
            private = _private(analysis, chain)
            tests = counts_tests(chain, analysis.region) if collapse else ()
            test = f"if ({joined(tests)})\n" if tests else ""
            directives.append((facts.loop, f"{test}#pragma acc {head}{collapse}{private}"))
            left = [f for f in left if all(f.loop is not loop for loop in chain)]
    around = f"#pragma acc data {data}" if shared else ""
    return RegionCode(_spliced(source, analysis, directives, around))


def _kernels(source: SourceFile, analysis: Analysis) -> RegionCode:
    """Return the region under ``kernels``, each parallel loop ``independent``, as in the thesis.

    What becomes of the loops is the compiler's own choice.
    """
    directives: list[Directive] = [
        (f.loop, f"#pragma acc loop independent{_private(analysis, [f.loop])}")
        for f in _parallel(analysis)
    ]
    around = f"#pragma acc kernels {data_clauses(analysis)}"
    return RegionCode(_spliced(source, analysis, directives, around))


def _parallel(analysis: Analysis) -> list[LoopFacts]:
    return [f for f in analysis.loops if f.kind == LoopKind.PARALLEL]


def _outermost(among: Sequence[LoopFacts]) -> list[LoopFacts]:
    """Return the loops that stand in no other one of `among`, in text order."""
    inside: set[int] = set()
    out = []
    for facts in among:
        if id(facts.loop) in inside:
            continue
        out.append(facts)
        inside |= {id(s) for s in walk_stmts(facts.loop.body)}
    return out


def _chain(analysis: Analysis, outer: LoopFacts, pieces: int = 0) -> list[Loop]:
    """Return `outer` and the parallel loops perfectly nested in it, until there are `pieces`.

    A nest is taken whole where no number is asked for.
    """
    sizes = analysis.region.sizes
    parallel = {id(f.loop) for f in _parallel(analysis)}
    chain = [outer.loop]
    while not pieces or prod(_count(loop, sizes) for loop in chain) < pieces:
        body = chain[-1].body
        inner = body[0] if len(body) == 1 else None
        if not isinstance(inner, Loop) or id(inner) not in parallel:
            break
        if bound_names(inner) & {loop.var for loop in chain}:
            break
        chain.append(inner)
    return chain


def _count(loop: Loop, sizes: Mapping[str, int]) -> int:
    count = fold(trip_count(loop), sizes)
    return max(1, count.value) if isinstance(count, Int) else 1


def _private(analysis: Analysis, chain: Sequence[Loop]) -> str:
    """Return the clause for what the user declares outside and each iteration writes.

    The iterators of the directive's own loops, the `chain`, are private by themselves.
    """
    own = {loop.var for loop in chain}
    loop = chain[0]
    iterators = [s.var for s in walk_stmts((loop,)) if isinstance(s, Loop)]
    names = [*iterators, *(s.name for s in temporaries(analysis, (loop,)))]
    scalars = analysis.region.scalars
    outside = [n for n in dict.fromkeys(names) if n not in own and not scalars[n].is_local]
    return f" private({', '.join(outside)})" if outside else ""


def _spliced(
    source: SourceFile,
    analysis: Analysis,
    directives: Sequence[Directive],
    around: str = "",
) -> str:
    """Return the user's text with each directive on a line before its loop.

    `around` is a directive for the whole text, which then stands in a block. Iterators that
    are read afterwards are given their final values: private ones have lost them.
    """
    text, grown = _with_directives(source.text, directives)
    extent = analysis.region.extent
    body = text[extent.body_start : extent.body_end + grown].strip("\r\n").rstrip()
    head, tail = Writer(), Writer()
    head.line("{")
    if around:
        head.indent()
        head.directive(around)
        head.line("{")
        tail.line(INDENT + "}")
    wanted = frozenset(s.name for s in analysis.region.scalars.values() if s.read_after)
    tail.lines(indented_block(final_values(analysis.region, wanted)))
    tail.line("}")
    return f"{head.text()}{body}\n{tail.text()}"


def indented_block(text: str) -> str:
    """Return `text` one level deeper."""
    out = Writer(INDENT)
    out.lines(text)
    return out.text()


def _with_directives(text: str, directives: Sequence[Directive]) -> tuple[str, int]:
    """Return `text` with each directive on a line before its loop, and how much it has grown."""
    starts = [0, *(k + 1 for k, c in enumerate(text) if c == "\n")]
    edits = []
    for loop, directive in directives:
        start = starts[loop.span.line - 1]
        place = start + loop.span.column - 1
        assert text.startswith("for", place), loop.span
        before = text[start:place]
        if before.strip():
            edits.append((place, place, f"\n{directive}\n"))
        else:
            edits.append((place, place, f"{directive}\n{before}"))
    new = splice(text, edits)
    return new, len(new) - len(text)
