"""The baselines: the user's own text with the directives that one would add without a tool.

Nothing is printed again; directives are spliced in before the user's own `for`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TypeAlias

from annotune.analysis.facts import Analysis, LoopFacts, LoopKind
from annotune.codegen.c_stmt import Dialect, final_values
from annotune.codegen.data_sections import data_clauses
from annotune.codegen.guards import counts_tests, joined, look_text
from annotune.codegen.target import RegionCode
from annotune.codegen.users_file import body_text
from annotune.codegen.writer import INDENT, Writer, words
from annotune.frontend.read.preprocess import blank, without_comments
from annotune.frontend.read.tokens import Replacement, SourceText, Tokens
from annotune.frozen import dataclass
from annotune.ir.expr import Int, Var, accesses, variables
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import Assign, Combine, Local, LocalArray, Loop, walk_stmts
from annotune.ir.region import Region, SourceFile
from annotune.transforms.legality import carried_sums
from annotune.transforms.tree import bound_names

# `collapse` takes in loops until the threads have this many pieces: enough for 64 threads,
# and no division per iteration beyond need.
ENOUGH_PIECES = 256

Directive: TypeAlias = tuple[Loop, str]


def naive_openmp(source: SourceFile, analysis: Analysis) -> RegionCode:
    """Return the region with ``parallel for collapse(k)`` on its outermost parallel loops.

    Loops that accumulate scalars are parallel too, with a ``reduction``.
    """
    directives: list[Directive] = []
    written = _Written.of(source, analysis.region)
    # Each thread sets such integers anew, from the value before the loop on.
    hidden = ", ".join(analysis.region.text.formulas)
    own = f" firstprivate({hidden})" if hidden else ""
    for facts in _outermost(_parallel(analysis, has_last=True)):
        chain = _chain(analysis, written, facts, ENOUGH_PIECES)
        clauses = f"{_clauses(analysis, chain)}{own}"
        directives.append((facts.loop, f"#pragma omp parallel for{clauses}"))
    return RegionCode(_spliced(source, analysis, directives))


def naive_openacc(source: SourceFile, analysis: Analysis) -> Mapping[str, RegionCode]:
    """Return the region once with ``parallel loop`` and once under ``kernels``, by that name.

    Of the latter gcc makes one gang where it finds no loop parallel: what is likely to be the
    faster one comes first.
    """
    return {
        "parallel loop": _parallel_loop(source, analysis),
        "kernels": _kernels(source, analysis),
    }


def _parallel_loop(source: SourceFile, analysis: Analysis) -> RegionCode:
    """Return the region with plain ``parallel loop`` on its nests and ``loop`` inside them.

    Loops that nest perfectly are collapsed: a device has fewer levels than a nest has loops.
    """
    outermost = _outermost(_parallel(analysis))
    whole = len(outermost) == 1 and len(outermost[0].path) == 1 and _is_all(analysis, outermost)
    # What runs on the host between the loops must see the arrays there.
    shared = not whole and _is_all(analysis, outermost)
    data = data_clauses(analysis, is_inside=shared, is_part=not whole, is_tested=False)
    directives: list[Directive] = []
    written = _Written.of(source, analysis.region)
    left = _parallel(analysis)
    while left:
        for facts in _outermost(left):
            head = "loop"
            if facts in outermost:
                head = f"parallel loop {data}"
            chain = _chain(analysis, written, facts)
            tests = counts_tests(chain, analysis.region) if len(chain) > 1 else ()
            test = f"if ({joined(tests)})\n" if tests else ""
            clauses = _clauses(analysis, chain, written.sets(chain[-1]))
            directives.append((facts.loop, f"{test}#pragma acc {head}{clauses}"))
            left = [f for f in left if all(f.loop is not loop for loop in chain)]
    around = f"#pragma acc data {data_clauses(analysis, is_tested=False)}" if shared else ""
    return RegionCode(_spliced(source, analysis, directives, around))


def _is_all(analysis: Analysis, loops: Sequence[LoopFacts]) -> bool:
    """Return whether no statement outside `loops` touches an array."""
    inside = {id(s) for facts in loops for s in walk_stmts(facts.loop.body)}
    return not any(
        accesses(expr)
        for assign in analysis.region.nest.assigns()
        if id(assign) not in inside
        for expr in (assign.target, *assign.sources())
    )


def _kernels(source: SourceFile, analysis: Analysis) -> RegionCode:
    """Return the region under ``kernels``, each parallel loop ``independent``, as in the thesis.

    What becomes of the loops is the compiler's own choice.
    """
    directives: list[Directive] = []
    written = _Written.of(source, analysis.region)
    for facts in _parallel(analysis):
        clauses = _clauses(analysis, [facts.loop], written.sets(facts.loop))
        directives.append((facts.loop, f"#pragma acc loop independent{clauses}"))
    around = f"#pragma acc kernels {data_clauses(analysis, is_tested=False)}"
    return RegionCode(_spliced(source, analysis, directives, around))


def _parallel(analysis: Analysis, has_last: bool = False) -> list[LoopFacts]:
    """Return the loops that may run in parallel as written, or may with a ``reduction``.

    Where a value of the last iteration is read afterwards, the language must be one that
    `has_last`: ``lastprivate`` is OpenMP's alone. A text that counts on from one iteration to
    the next (``jy += incy``), or shares an array that annotune gives to each of them, has none.
    """
    if analysis.region.text.counted:
        return []
    found = [f for f in analysis.loops if _sums(analysis, f) is not None]
    found = [f for f in found if not _shares_array(analysis, f.loop)]
    return [f for f in found if has_last or not _last_values(analysis, f.loop)]


def _shares_array(analysis: Analysis, loop: Loop) -> bool:
    """Return whether each iteration has an array of its own in the nest alone."""
    written = {
        s.name for s in walk_stmts(analysis.region.as_written.body) if isinstance(s, LocalArray)
    }
    own = {s.name for s in walk_stmts((loop,)) if isinstance(s, LocalArray)}
    return not own <= written


def _sums(analysis: Analysis, facts: LoopFacts) -> tuple[Combine, ...] | None:
    """Return the scalars that a loop must combine to be parallel, None where it must not be.

    A clause takes scalars alone; sums in elements of arrays stay in order.
    """
    if facts.kind == LoopKind.PARALLEL:
        return ()
    if facts.kind != LoopKind.REDUCTION:
        return None
    inside = [s.number for s in walk_stmts(facts.loop.body) if isinstance(s, Assign)]
    found = carried_sums(analysis, inside, facts.name)
    scalars = analysis.region.scalars
    return found if found and all(c.name in scalars for c in found) else None


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


@dataclass(frozen=True, slots=True)
class _Written:
    """A region's own text: its tokens without comments, the names that it alone sets.

    The nest has formulas for integers such as f2c's ``i__2 = *n`` between two loops, which then
    nest perfectly in the nest and not in the text.
    """

    tokens: Tokens
    lines: Sequence[int]
    formulas: frozenset[str]

    @classmethod
    def of(cls, source: SourceFile, region: Region) -> _Written:
        """Return the text of `region`, with offsets of the whole file."""
        text = without_comments(SourceText(source.path, source.text))
        place = region.extent
        shown = blank(text[: place.body_start]) + text[place.body_start : place.body_end]
        lines = (0, *(at + 1 for at, c in enumerate(source.text) if c == "\n"))
        return cls(Tokens.of(shown), lines, frozenset(region.text.formulas))

    def nests(self, outer: Loop, inner: Loop) -> bool:
        """Return whether nothing but braces stands between two loops, or after the inner one."""
        first, second = self._index(outer), self._index(inner)
        if first is None or second is None:
            # Loops of one macro's use are made as a whole; what else stands between is not seen.
            places = (outer.span.line, outer.span.column), (inner.span.line, inner.span.column)
            return places[0] == places[1]
        between = range(self.tokens.match[first + 1] + 1, second)
        if any(self.tokens.texts[at] != "{" for at in between):
            return False
        after = self.tokens.statement_end(second) + 1
        return all(self.tokens.match[at] == after + k for k, at in enumerate(reversed(between)))

    def sets(self, loop: Loop) -> tuple[str, ...]:
        """Return the integers that the text of `loop` sets and the nest does not, in order."""
        first = self._index(loop)
        if first is None:
            return ()
        inside = range(first, self.tokens.statement_end(first))
        texts = self.tokens.texts
        names = [texts[at] for at in inside if texts[at] in self.formulas and texts[at + 1] == "="]
        return tuple(dict.fromkeys(names))

    def _index(self, loop: Loop) -> int | None:
        """Return the index of a loop's ``for``."""
        place = self.lines[loop.span.line - 1] + loop.span.column - 1
        index = self.tokens.at(place)
        texts, starts = self.tokens.texts, self.tokens.starts
        is_here = index < len(texts) and starts[index] == place and texts[index] == "for"
        return index if is_here else None


def _chain(analysis: Analysis, written: _Written, outer: LoopFacts, pieces: int = 0) -> list[Loop]:
    """Return `outer` and the parallel loops perfectly nested in it, until there are `pieces`.

    A nest is taken whole where no number is asked for.
    """
    sizes = analysis.region.sizes
    among = _parallel(analysis, has_last=True)
    found = {id(f.loop): _sums(analysis, f) for f in among}
    chain = [outer.loop]
    while not pieces or prod(_count(loop, sizes) for loop in chain) < pieces:
        body = chain[-1].body
        inner = body[0] if len(body) == 1 else None
        if not isinstance(inner, Loop) or id(inner) not in found:
            break
        # One clause for all of them: they must combine the same.
        if found[id(inner)] != found[id(chain[0])]:
            break
        if bound_names(inner) & {loop.var for loop in chain}:
            break
        if not written.nests(chain[-1], inner):
            break
        chain.append(inner)
    return chain


def _count(loop: Loop, sizes: Mapping[str, int]) -> int:
    count = fold(trip_count(loop), sizes)
    return max(1, count.value) if isinstance(count, Int) else 1


def _clauses(analysis: Analysis, chain: Sequence[Loop], own: Sequence[str] = ()) -> str:
    """Return the clauses of a directive for the loops of `chain`, which nest perfectly.

    `own` are further names that each iteration sets.
    """
    collapse = f" collapse({len(chain)})" if len(chain) > 1 else ""
    facts = next(f for f in analysis.loops if f.loop is chain[0])
    sums = _sums(analysis, facts) or ()
    reduction = "".join(f" reduction({c.op}:{c.name})" for c in sums)
    return f"{collapse}{_private(analysis, chain, own)}{reduction}"


def _private(analysis: Analysis, chain: Sequence[Loop], more: Sequence[str]) -> str:
    """Return the clauses for what the user declares outside and each iteration writes.

    The iterators of the directive's own loops, the `chain`, are private by themselves. A
    scalar that the loops combine has a clause of its own, and none of these.
    """
    own = {loop.var for loop in chain}
    own |= {c.name for f in analysis.loops if f.loop is chain[0] for c in _sums(analysis, f) or ()}
    last = _last_values(analysis, chain[0])
    iterators = [s.var for s in walk_stmts((chain[0],)) if isinstance(s, Loop)]
    scalars = analysis.region.scalars
    names = dict.fromkeys((*iterators, *_assigned(chain[0])))
    outside = [n for n in names if n not in own and n not in last and not scalars[n].is_local]
    outside += more
    clauses = f" private({', '.join(outside)})" if outside else ""
    return f"{clauses} lastprivate({', '.join(last)})" if last else clauses


def _assigned(loop: Loop) -> tuple[str, ...]:
    """Return the scalars that a loop assigns, in text order."""
    targets = (s.target for s in walk_stmts((loop,)) if isinstance(s, Assign))
    return tuple(dict.fromkeys(t.name for t in targets if isinstance(t, Var)))


def _last_values(analysis: Analysis, loop: Loop) -> tuple[str, ...]:
    """Return the scalars whose values from the last iteration of `loop` are read afterwards."""
    facts = next(f for f in analysis.loops if f.loop is loop)
    sums = {c.name for c in _sums(analysis, facts) or ()}
    scalars = analysis.region.scalars
    return tuple(n for n in _assigned(loop) if scalars[n].read_after and n not in sums)


def _final_statements(analysis: Analysis) -> str:
    """Return the iterators' final values again, which a directive has taken from the text's.

    A loop that counts down is another one in the nest, with a statement after it.
    """
    assigns = analysis.region.nest.assigns()
    written = {a.target.name for a in assigns if isinstance(a.target, Var)}
    written |= {loop.var for loop in analysis.region.nest.loops()}
    out = Writer()
    for stmt in analysis.region.nest.body:
        if not isinstance(stmt, Assign) or not isinstance(stmt.target, Var):
            continue
        scalar = analysis.region.scalars.get(stmt.target.name)
        if scalar is None or not scalar.read_after or stmt.op != "=" or stmt.guard is not None:
            continue
        if not accesses(stmt.value) and not variables(stmt.value) & written:
            Dialect(analysis.region, flat=False).write(out, stmt)
    return out.text()


def _spliced(
    source: SourceFile,
    analysis: Analysis,
    directives: Sequence[Directive],
    around: str = "",
) -> str:
    """Return the user's text with each directive on a line before its loop.

    `around` is a directive for the whole text, which then stands in a block. Iterators that
    are read afterwards are given their final values: private ones have lost them.

    Raises:
        AnnotuneError: What is to be copied is not known before the region has run.
    """
    # A loop whose pointers change places is in the nest once for each kind of iteration.
    first = {directive[0].span: directive for directive in reversed(directives)}
    edits = _edits(source.text, [one for one in directives if first[one[0].span] is one])
    body = body_text(source.text, analysis.region, edits).strip("\r\n").rstrip()
    head, tail = Writer(), Writer()
    head.line("{")
    made = {stmt.name for stmt in analysis.inspector if isinstance(stmt, Local)}
    if made & words(" ".join((around, *(directive for _, directive in directives)))):
        # What the sections name is looked for first.
        head.lines(indented_block(look_text(analysis, Dialect(analysis.region, flat=False))))
    if around:
        with head.deeper():
            head.directive(around)
            head.line("{")
        tail.line(INDENT + "}")
    wanted = frozenset(s.name for s in analysis.region.scalars.values() if s.read_after)
    tail.lines(indented_block(final_values(analysis.region, wanted)))
    tail.lines(indented_block(_final_statements(analysis)))
    tail.line("}")
    return f"{head.text()}{body}\n{tail.text()}"


def indented_block(text: str) -> str:
    """Return `text` one level deeper."""
    out = Writer(INDENT)
    out.lines(text)
    return out.text()


def _edits(text: str, directives: Sequence[Directive]) -> list[Replacement]:
    """Return the edits that put each directive on a line before its loop."""
    starts = [0, *(k + 1 for k, c in enumerate(text) if c == "\n")]
    edits: list[Replacement] = []
    for loop, directive in directives:
        start = starts[loop.span.line - 1]
        place = start + loop.span.column - 1
        if not text.startswith("for", place):
            # Made by a macro, into which no directive can be put.
            continue
        before = text[start:place]
        if before.strip():
            edits.append((place, place, f"\n{directive}\n"))
        else:
            edits.append((place, place, f"{directive}\n{before}"))
    return edits
