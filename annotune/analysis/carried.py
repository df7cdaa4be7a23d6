"""Private scalars whose last value is wanted: a copy per iteration, and one write of the last.

A scalar that the region writes and that is private to no loop stays as it is: targets keep it
in memory (`annotune.codegen.in_place.lasting`, `annotune.codegen.cuda_view`). A scalar that is
private to a loop and read after the region is rewritten: the private copy gets a new name, and a
statement guarded by "this is the last iteration" writes the user's variable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from annotune.analysis.build_model import build_model
from annotune.analysis.last import is_the_last, last_iteration, runs_at_all
from annotune.analysis.model import Model
from annotune.analysis.privatise import Lifetime, lifetime
from annotune.analysis.statements import Statement, read_statements, written_scalars
from annotune.annotation.commands import before_targets
from annotune.diagnostics import AnnotuneError
from annotune.ir.expr import Expr, Var
from annotune.ir.nest import Assign, Local, LocalArray, Loop, Nest, Stmt, walk_stmts
from annotune.ir.region import Region, Scalar


def with_last_values(region: Region) -> Region:
    """Return `region` with the last values of private scalars written where they are wanted.

    ``for i: t = a[i]; b[i] = t`` with a later read of ``t`` becomes ``for i: t_own = a[i];
    b[i] = t_own; t = t_own if i == n - 1``. A scalar whose last iteration is not known stays
    as it is, for the analysis to refuse.
    """
    wanted = [
        name
        for name in sorted(written_scalars(region))
        if name in region.scalars and region.scalars[name].read_after
    ]
    if not wanted:
        return region
    try:
        statements = read_statements(region)
        lives = [life for name in wanted if (life := lifetime(name, statements)) is not None]
        model = build_model(region, statements) if lives else None
    except AnnotuneError:
        return region  # what is wrong with it, the analysis says
    for life in lives:
        assert model is not None
        last = _last(life, model)
        if last is not None:
            region = in_text_order(_rewritten(region, life, last)) or region
    return region


def in_text_order(region: Region) -> Region | None:
    """Return `region` with its statements numbered in the order of the text.

    None when a number would change that the user's recipe may name.
    """
    numbers = [assign.number for assign in region.nest.assigns()]
    if numbers == sorted(numbers):
        return region
    if before_targets(region.spec.commands):
        return None
    place = {number: index for index, number in enumerate(numbers)}

    def renumbered(assign: Assign) -> Assign:
        return replace(assign, number=place[assign.number])

    return replace(region, nest=Nest(map_assigns(region.nest.body, renumbered)))


@dataclass(frozen=True, slots=True)
class Last:
    """Where the last value of a private variable stands: in a loop, where a condition holds."""

    home: tuple[int, ...]
    condition: Expr


def _last(life: Lifetime, model: Model) -> Last | None:
    """Return where the last value of a scalar is to be written, None when it is not known."""
    home = max(life.homes)
    in_home = [s for s in model.statements if s.position[: len(home)] == home]
    sure = [s for s in in_home if _always_writes(s, life.name, home)]
    if not sure:
        return None
    loops = sure[0].loops[: len(home)]
    condition = last_iteration(loops)
    if not is_the_last(condition, sure[0], model, len(home)):
        return None
    # Another loop's value would be the last one where this loop does not run.
    if len(life.homes) > 1 and not runs_at_all(sure[0], model):
        return None
    return Last(home, condition)


def _always_writes(statement: Statement, name: str, home: tuple[int, ...]) -> bool:
    """Return whether each iteration of the loop at `home` writes `name` by `statement`."""
    assign = statement.assign
    is_direct = statement.position[:-1] == home
    return is_direct and assign.guard is None and assign.target == Var(name)


def fresh_name(base: str, region: Region) -> str:
    """Return a name that starts with `base` and that nothing in the region has."""
    taken = {*region.taken, *(alias.name for alias in region.aliases)}
    taken |= {stmt.name for stmt in _declarations(region)}
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base}{count}"
    return name


def _declarations(region: Region) -> list[Local | LocalArray]:
    return [s for s in walk_stmts(region.nest.body) if isinstance(s, Local | LocalArray)]


def next_number(region: Region) -> int:
    """Return the number of a statement that is added: those of the user's text stay."""
    return 1 + max(assign.number for assign in region.nest.assigns())


def _rewritten(region: Region, life: Lifetime, last: Last) -> Region:
    scalar = region.scalars[life.name]
    own = fresh_name(f"{life.name}_own", region)

    def renamed(expr: Expr) -> Expr | None:
        return Var(own, expr.span) if isinstance(expr, Var) and expr.name == life.name else None

    span = next(a.span for a in region.nest.assigns() if a.target == Var(life.name))
    write = Assign(
        next_number(region), Var(life.name), "=", Var(own), span=span, guard=last.condition
    )
    body = map_assigns(region.nest.body, lambda assign: assign.rewritten(renamed))
    body = appended(body, last.home, (write,))
    scalars = {**region.scalars, own: Scalar(own, scalar.type, is_local=True, span=scalar.span)}
    return replace(region, nest=Nest(body), scalars=scalars, original=region.as_written)


def map_assigns(body: tuple[Stmt, ...], change: Callable[[Assign], Assign]) -> tuple[Stmt, ...]:
    """Return `body` with each assignment changed."""
    found: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Loop):
            stmt = replace(stmt, body=map_assigns(stmt.body, change))
        elif isinstance(stmt, Assign):
            stmt = change(stmt)
        found.append(stmt)
    return tuple(found)


def appended(
    body: tuple[Stmt, ...],
    home: tuple[int, ...],
    after: tuple[Stmt, ...],
    before: tuple[Stmt, ...] = (),
) -> tuple[Stmt, ...]:
    """Return `body` with statements added at the ends of the loop at `home`."""
    if not home:
        return (*before, *body, *after)
    place, *inner = home
    loop = body[place]
    assert isinstance(loop, Loop), "a home is a loop"
    changed = replace(loop, body=appended(loop.body, tuple(inner), after, before))
    return (*body[:place], changed, *body[place + 1 :])
