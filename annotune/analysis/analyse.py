"""The analysis of one region: everything that later stages ask, or why it is refused."""

from __future__ import annotations

from collections.abc import Mapping

from annotune.analysis.aliasing import overlap_warnings, overlaps
from annotune.analysis.costs import access_facts, missing_for_work, statement_work, total_work
from annotune.analysis.dependences import all_dependences
from annotune.analysis.domains import Space
from annotune.analysis.facts import Analysis, Work
from annotune.analysis.loops import classify
from annotune.analysis.messages import (
    MISSING_SIZE,
    PRIVATE_READ_AFTER,
    UNBOUNDED,
    WORK_UNKNOWN,
)
from annotune.analysis.model import Model, all_known_sizes, build_model
from annotune.analysis.privatise import Lifetime, lifetime
from annotune.analysis.sections import Bounds, Section, Unbounded, section, shape
from annotune.analysis.statements import Statement, read_statements, written_scalars
from annotune.analysis.text import listed
from annotune.analysis.uses import array_use
from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.ir.expr import Access, variables
from annotune.ir.region import Region

_NO_WORK = Work(0, 0, 0)


def analyse(region: Region) -> Analysis:
    """Return all that is known of `region`.

    Raises:
        AnnotuneError: A subscript or bound is not affine, a size without a value is needed,
            or a private scalar's last value is read after the region.
    """
    statements = read_statements(region)
    proven = overlaps(region, statements, Space(all_known_sizes(region)))
    if proven:
        raise AnnotuneError.of(*proven)
    lifetimes = _lifetimes(region, statements)
    model = build_model(region, statements)
    bounds = Bounds.of(model)
    try:
        sections = _sections(bounds)
    except Unbounded as unbounded:
        model = _model_at_sizes(region, statements, unbounded, bounds)
        bounds = Bounds.of(model)
        try:
            sections = _sections(bounds)
        except Unbounded as still:
            where = still.reference
            raise AnnotuneError.of(UNBOUNDED.at(where.span, array=where.name)) from None
    dependences = all_dependences(model, lifetimes)
    missing = missing_for_work(model)
    work = {s.number: _NO_WORK if missing else statement_work(model, s) for s in statements}
    return Analysis(
        region=region,
        loops=classify(model, dependences, lifetimes),
        paths={s.number: tuple(loop.loop for loop in s.loops) for s in statements},
        domains=model.domains,
        dependences=tuple(carried.dependence for carried in dependences),
        shapes={name: shape(name, found, bounds) for name, found in sections.items()},
        accesses=access_facts(model),
        uses={
            name: array_use(name, found, bounds, dependences) for name, found in sections.items()
        },
        private=frozenset(lifetimes),
        work=work,
        total=_NO_WORK if missing else total_work(model, work),
        all_sizes=model.all_sizes,
        warnings=_warnings(model, missing),
    )


def _lifetimes(region: Region, statements: tuple[Statement, ...]) -> dict[str, Lifetime]:
    found: dict[str, Lifetime] = {}
    refused: list[Diagnostic] = []
    for name in sorted(written_scalars(region)):
        life = lifetime(name, statements)
        if life is None:
            continue
        found[name] = life
        scalar = region.scalars.get(name)
        if scalar is not None and scalar.read_after:
            user = next(s for s in statements if any(r.name == name for r in s.references))
            loop = user.loops[len(life.home(user.position)) - 1].var
            refused.append(PRIVATE_READ_AFTER.at(user.assign.span, name=name, loop=loop))
    if refused:
        raise AnnotuneError.of(*refused)
    return found


def _sections(bounds: Bounds) -> Mapping[str, Section]:
    """Return the section of each array, in the order of the text."""
    return {
        name: section(name, bounds)
        for name, used in bounds.model.references.items()
        if isinstance(used[0].access, Access)
    }


def _model_at_sizes(
    region: Region, statements: tuple[Statement, ...], unbounded: Unbounded, bounds: Bounds
) -> Model:
    """Return the model for the region's sizes, because a section has no bound for all."""
    where = unbounded.reference
    iterators = {loop.var for loop in region.nest.loops()}
    known = all_known_sizes(region)
    names = {v for name in unbounded.poly.names for v in variables(bounds.rounded_expr(name))}
    missing = sorted(names - iterators - set(known))
    if missing:
        quoted = listed([f"'{name}'" for name in missing])
        reason = f"without it nothing bounds the part of '{where.name}' that is touched"
        raise AnnotuneError.of(
            MISSING_SIZE.at(where.span, names=quoted, reason=reason, example=missing[0])
        )
    return build_model(region, statements, at_sizes=(where, unbounded.poly))


def _warnings(model: Model, missing: tuple[str, ...]) -> tuple[Diagnostic, ...]:
    warnings = list(overlap_warnings(model.region, model.statements))
    if model.why_sizes is not None:
        warnings.append(model.why_sizes)
    if missing:
        names = listed([f"'{name}'" for name in missing])
        span = (
            model.statements[0].loops[0].loop.span
            if model.statements[0].loops
            else (model.statements[0].assign.span)
        )
        warnings.append(WORK_UNKNOWN.at(span, names=names, example=missing[0]))
    return tuple(warnings)
