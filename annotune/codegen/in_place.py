"""Loops that run in parallel, wherever they stand in a kernel, and the scalars they combine.

The block that replaces a region in the user's own function, alike for OpenACC and OpenMP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext

from annotune.analysis.facts import Analysis
from annotune.codegen.c_expr import in_64_bits
from annotune.codegen.c_stmt import LONG_LINE, Dialect, final_values
from annotune.codegen.guards import (
    Stretch,
    condition_tests,
    conjunct,
    divisor_tests,
    joined,
    overlap_tests,
    reach_tests,
    runs_tests,
    touched_stretch,
)
from annotune.codegen.names import (
    interface,
    narrow_scalars,
    spelled,
    temporaries,
    unmentioned,
)
from annotune.codegen.several_sizes import any_of, size_tests, suffixes, tests_by_size
from annotune.codegen.writer import INDENT, Writer
from annotune.ir.expr import Expr, Var, accesses
from annotune.ir.nest import Assign, Level, Loop, Stmt, walk_stmts
from annotune.ir.region import Array, Scalar
from annotune.schedule.plan import HostLoop, Kernel, Plan, Step, is_kernel
from annotune.space.variants import Variant
from annotune.transforms.tree import Body


def is_placed(stmt: Stmt) -> bool:
    """Return whether `stmt` is a loop that does not run in order."""
    return isinstance(stmt, Loop) and stmt.place is not Level.SERIAL


def holds(stmt: Stmt, levels: frozenset[Level]) -> bool:
    """Return whether a loop of one of `levels` stands in `stmt`, or is it."""
    return any(isinstance(s, Loop) and s.place in levels for s in walk_stmts((stmt,)))


def band_from(loop: Loop, levels: frozenset[Level]) -> tuple[Loop, ...]:
    """Return `loop` and the loops of `levels` perfectly nested in it, outermost first."""
    out = [loop]
    while len(out[-1].body) == 1:
        inner = out[-1].body[0]
        if not isinstance(inner, Loop) or inner.place not in levels:
            break
        out.append(inner)
    return tuple(out)


def outside_placed(body: Body) -> Iterator[Stmt]:
    """Yield the statements of `body` that stand in no placed loop of it."""
    for stmt in body:
        if not isinstance(stmt, Loop):
            yield stmt
        elif not is_placed(stmt):
            yield from outside_placed(stmt.body)


def declared_in(
    analysis: Analysis, body: Body, known: frozenset[str] = frozenset()
) -> tuple[Scalar, ...]:
    """Return the temporaries to declare around `body`: all but those of placed loops in it.

    What the iterations of a placed loop assign is their own, and declared in there. `known`
    are declared around `body` already.
    """
    own = temporaries(analysis, outside_placed(body))
    return tuple(scalar for scalar in own if scalar.name not in known)


def declare_own(
    out: Writer, analysis: Analysis, body: Body, known: frozenset[str] = frozenset()
) -> tuple[Scalar, ...]:
    """Declare the temporaries of `body` that are not `known`, and return them (`declared_in`)."""
    own = declared_in(analysis, body, known)
    for scalar in own:
        out.line(f"{spelled(scalar.type)} {scalar.name};")
    return own


def reduction_clauses(loops: Iterable[Loop]) -> str:
    """Return the clauses for what `loops` combine, alike in OpenACC and OpenMP."""
    names: dict[str, list[str]] = {}
    for loop in loops:
        for combined in loop.combines:
            found = names.setdefault(str(combined.op), [])
            if combined.name not in found:
                found.append(combined.name)
    return "".join(f" reduction({op}:{', '.join(found)})" for op, found in names.items())


def combined_names(loops: Sequence[Loop]) -> tuple[str, ...]:
    """Return the scalars that `loops` combine, in order."""
    return tuple(dict.fromkeys(c.name for loop in loops for c in loop.combines))


_LEVELS: Mapping[Level, str] = {Level.CPU_THREAD: "threads"}

PlanWriter = Callable[[Writer, Analysis, Plan, str], None]
"""Writes all steps of a plan made with an analysis; the text ends the names of its functions."""


def region_block(
    variant: Variant,
    write_plan: PlanWriter,
    around: str = "",
    also: Sequence[Expr] = (),
    first: str = "",
    stretch: Callable[[Analysis, Array], Stretch] = touched_stretch,
    write_nest: Callable[[Writer, Analysis], None] | None = None,
    seen: Callable[[Variant], Sequence[Expr]] = lambda part: (),
) -> str:
    """Return the block for a region: tests, the kernels, the original nest, final values.

    `around` is a directive for all kernels together, `also` what it needs tested, `first` what
    runs before it, `stretch` the memory that is taken for an array's. `write_nest` writes the nest
    as written where the host has not got the arrays. `seen` are tests, of what `first` leaves, for
    the plan of tuned sizes, without which the general one runs. Sizes that no plan is right
    for or that break a condition of its proof, loops that do not run and arrays that overlap go to
    the nest as written.
    """
    analysis, region = variant.analysis, variant.analysis.region
    by_size = tests_by_size(variant, interface(analysis))
    cases = zip(by_size, variant.size_cases, strict=True)
    tuned_sizes = [(*tests, *seen(part)) for tests, part in cases]
    tests = region_tests(variant, also, stretch)
    out = Writer()
    with out.block(""):
        with out.block(condition(tests)) if tests else nullcontext():
            declare(out, [s for p in variant.plans() for s in between_kernels(analysis, p)])
            out.lines(first)
            if around:
                out.directive(around)
            with out.block("") if around else nullcontext():
                if variant.others:
                    _for_each_size(out, variant, tuned_sizes, write_plan)
                else:
                    _versions(out, variant, tuned_sizes[0], write_plan)
        if tests:
            with out.block("else"):
                out.line("/* As written: for loops that do not run, and what the tests exclude. */")
                (write_nest or write_original)(out, analysis)
        wanted = frozenset(s.name for s in region.scalars.values() if s.read_after)
        out.lines(final_values(region, wanted))
        for name in unmentioned(analysis, out.text()):
            out.line(f"(void){name};")
    return out.text()


def region_tests(
    variant: Variant,
    also: Sequence[Expr],
    stretch: Callable[[Analysis, Array], Stretch],
) -> tuple[Expr, ...]:
    """Return what a call must pass for the kernels of a region to be right."""
    analysis, region = variant.analysis, variant.analysis.region
    outer, known = interface(analysis), region.constants
    tests = (
        *(any_of(tests_by_size(variant, outer)) if variant.general is None else ()),
        # A macro may have another value in the compiler's command line than annotune saw.
        *size_tests(outer, known, {}),
        *divisor_tests(analysis, known),
        *runs_tests(analysis, known),
        *reach_tests(analysis, [(plan.steps, plan.constants) for plan in variant.plans()]),
        *condition_tests(analysis, known),
        *also,
        *overlap_tests(analysis, outer, stretch),
    )
    return tuple(in_64_bits(test, narrow_scalars(region)) for test in tests)


def _versions(
    out: Writer, variant: Variant, tuned_sizes: tuple[Expr, ...], write_plan: PlanWriter
) -> None:
    """Write the tuned plan and, where sizes are open, the general one beside it."""
    analysis, general = variant.analysis, variant.general
    if general is None or not tuned_sizes:
        write_plan(out, analysis, variant.tuned, "")
        return
    if general.steps == variant.tuned.steps:
        write_plan(out, analysis, general, "")
        return
    with out.block(condition(tuned_sizes)):
        write_plan(out, analysis, variant.tuned, *suffixes(variant))
    with out.block("else"):
        write_plan(out, analysis, general, "")


def _for_each_size(
    out: Writer, variant: Variant, sizes: Sequence[Sequence[Expr]], write_plan: PlanWriter
) -> None:
    """Write the plans for several sizes, those that come out alike as one."""

    def text(analysis: Analysis, plan: Plan, suffix: str) -> str:
        part = Writer()
        write_plan(part, analysis, plan, suffix)
        return part.text()

    general = variant.general
    rest = "" if general is None else text(variant.analysis, general, "")
    branches: dict[str, list[Sequence[Expr]]] = {}
    for one, tests, suffix in zip(variant.size_cases, sizes, suffixes(variant), strict=True):
        is_general = general is not None and general.steps == one.tuned.steps
        found = rest if is_general else text(one.analysis, one.tuned, suffix)
        branches.setdefault(found, []).append(tests)
    branches.pop(rest, None)
    write_branches(out, branches, rest)


def write_branches(
    out: Writer, branches: Mapping[str, Sequence[Sequence[Expr]]], rest: str
) -> None:
    """Write each text for where one of its sets of tests holds; `rest`, if any, for all others."""
    if not branches:
        out.lines(rest)
        return
    for number, (text, alternatives) in enumerate(branches.items()):
        with out.block(("else " if number else "") + condition(any_of(alternatives))):
            out.lines(text)
    if rest:
        with out.block("else"):
            out.lines(rest)


def write_original(out: Writer, analysis: Analysis) -> None:
    """Write the user's nest as it was, with the scalars that it declares itself."""
    body = analysis.region.as_written.body
    declare(out, lasting(analysis, body))
    write_serial(out, analysis, body, frozenset())


def runs_at_all(analysis: Analysis, dialect: Dialect) -> str:
    """Return the test whether a loop of the nest as written runs, empty where it does more."""
    body = analysis.region.as_written.body
    loops = [stmt for stmt in body if isinstance(stmt, Loop)]
    reads = any(accesses(bound) for loop in loops for bound in (loop.lower, loop.upper))
    runs = map(dialect.runs, loops)
    return " || ".join(runs) if len(loops) == len(body) and not reads else ""


def lasting(analysis: Analysis, body: tuple[Stmt, ...]) -> tuple[Scalar, ...]:
    """Return the scalars that `body` assigns and whose values reach other iterations or nests."""
    assigned = dict.fromkeys(
        stmt.target.name
        for stmt in walk_stmts(body)
        if isinstance(stmt, Assign) and isinstance(stmt.target, Var)
    )
    scalars = analysis.region.scalars
    return tuple(scalars[n] for n in assigned if n in scalars and n not in analysis.private)


def between_kernels(analysis: Analysis, plan: Plan) -> tuple[Scalar, ...]:
    """Return the assigned scalars that live longer than one kernel of `plan`.

    They keep their values across iterations and nests (`lasting`), or belong to an iteration
    of a loop that the host runs around several kernels.
    """
    kept = dict.fromkeys(s.name for s in lasting(analysis, analysis.region.nest.body))
    owner = {n: place for place, kernel in enumerate(plan.kernels()) for n in kernel.statements}
    for scalar in temporaries(analysis, analysis.region.nest.body):
        users = analysis.homes.get(scalar.name, {})
        lives = {(home, owner[number]) for number, home in users.items() if number in owner}
        if len(lives) > len({home for home, _ in lives}):
            kept[scalar.name] = None
    return tuple(analysis.region.scalars[name] for name in kept)


def assigns(body: tuple[Stmt, ...]) -> frozenset[str]:
    """Return the scalars that statements of `body` assign."""
    found = (s.target for s in walk_stmts(body) if isinstance(s, Assign))
    return frozenset(target.name for target in found if isinstance(target, Var))


def write_serial(
    out: Writer,
    analysis: Analysis,
    body: tuple[Stmt, ...],
    objects: frozenset[str] | None = None,
) -> None:
    """Write statements in place, with the temporaries that the user declares inside."""
    for scalar in temporaries(analysis, body):
        if scalar.is_local:
            out.line(f"{spelled(scalar.type)} {scalar.name};")
    Dialect(analysis.region, flat=False, objects=objects).write_body(out, body)


def declare(out: Writer, scalars: Iterable[Scalar]) -> None:
    """Declare what the region's text declares for more than one iteration or nest."""
    for scalar in dict.fromkeys(scalars):
        if scalar.is_local:
            out.line(f"{spelled(scalar.type)} {scalar.name};")


def write_steps(
    out: Writer,
    dialect: Dialect,
    steps: Sequence[Step],
    write_kernel: Callable[[Writer, Kernel], None],
) -> None:
    """Write kernels in order, with the host's serial loops around theirs."""
    for step in steps:
        match step:
            case Kernel():
                write_kernel(out, step)
            case HostLoop(loop, inner):
                with out.block(dialect.loop_head(loop)):
                    write_steps(out, dialect, inner, write_kernel)


def legend(analysis: Analysis, kernel: Kernel, names: Mapping[Level, str] = _LEVELS) -> str:
    """Return where a kernel comes from, and what loops are mapped to by a language's names."""
    numbers = ", ".join(f"S{n}" for n in kernel.statements)
    levels: dict[str, list[str]] = {}
    for loop in _placed(kernel):
        levels.setdefault(names.get(loop.place, loop.place), []).append(loop.var)
    axes = "; ".join(f"{', '.join(names)} -> {word}" for word, names in levels.items())
    line = analysis.region.span.line
    return f"{numbers} of the region at line {line}: {axes or 'serial'}"


def _placed(kernel: Kernel) -> list[Loop]:
    """Return the loops of a kernel that run in parallel, wherever they stand in it."""
    return [loop for loop in kernel.placed() if is_kernel(loop)]


def condition(tests: Sequence[Expr]) -> str:
    """Return ``if (…)``, over several lines where one would be too long."""
    line = f"if ({joined(tests)})"
    if len(line) <= LONG_LINE - 2 * len(INDENT):
        return line
    rows: list[str] = []
    for test in map(conjunct, tests):
        if rows and len(rows[-1]) + len(test) < LONG_LINE - 4 * len(INDENT):
            rows[-1] += f" && {test}"
        else:
            rows.append(test)
    joint = f"\n{INDENT}&& "
    return f"if ({joint.join(rows)})"
