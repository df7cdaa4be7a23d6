"""What a generated file says of its origin: what it is tuned for, how, and by which figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from annotune import __version__
from annotune.codegen.several_sizes import served
from annotune.codegen.target import Provenance, Variant
from annotune.settings import Settings

if TYPE_CHECKING:
    from annotune.tune.region_run import Tuned
    from annotune.tune.results import RegionResult


def run_provenance(settings: Settings, tuned: Sequence[Tuned], target: str) -> Provenance:
    """Return what the files of a target say of the run that chose them."""
    rows: list[str] = []
    for one in tuned:
        variant = one.variants.get(target)
        served = [dict(v.analysis.region.sizes) for v in variant.by_size] if variant else []
        for result in one.result.at_each_size:
            if dict(result.sizes) in served or not one.result.by_size:
                rows += _result_rows(result, target)
        rows += _others_rows(variant) if variant is not None else []
    return Provenance(__version__, settings.source.name, tuple(rows))


def _result_rows(result: RegionResult, target: str) -> Iterator[str]:
    """Yield what a run found for one target at one problem size."""
    yield _tuned_for(result.function, result.index, result.sizes)
    for row in result.rows:
        if row.name != target or row.time_s is None:
            continue
        yield from _settings_rows(row.config)
        said = "measured on" if row.status == "measured" else "predicted for"
        yield f"  {row.time_s * 1e6:.4g} us {said} {row.device}"


def provenance(settings: Settings, variants: Sequence[Variant]) -> Provenance:
    """Return what the files of a target say of their origin, one variant per region."""
    rows: list[str] = []
    for variant in variants:
        for one in variant.by_size:
            region = one.analysis.region
            rows.append(_tuned_for(region.function, region.index, region.sizes))
            rows += _settings_rows(one.config)
            if one.predicted_s is not None:
                time_us = one.predicted_s * 1e6
                rows.append(f"  {time_us:.4g} us predicted for {settings.device}; not measured")
        rows += _others_rows(variant)
    rows.append("The decision algorithm's first choice.")
    return Provenance(__version__, settings.source.name, tuple(rows))


def _others_rows(variant: Variant) -> list[str]:
    """Return what runs at other sizes than several tuned ones: some of them alike, or none."""
    if not variant.others:
        return []
    region = variant.analysis.region
    place = f"{region.function}, region {region.index}"
    wider = variant.told_apart[len(variant.by_size) :]
    rows = [f"{place}: the same for {served(one.analysis, one.tuned)}" for one in wider]
    runs = "the nest as written" if variant.general is None else "the first one's general kernels"
    return [*rows, f"{place}: for all other sizes {runs}"]


def _tuned_for(function: str, index: int, sizes: Mapping[str, int]) -> str:
    listed = ", ".join(f"{k}={v}" for k, v in sizes.items())
    return f"{function}, region {index}: tuned for {listed or 'any size'}"


def _settings_rows(config: Mapping[str, str | int | float]) -> list[str]:
    """Return a variant's configuration, one kernel's part to a line."""
    kernels: dict[str, list[str]] = {}
    for name, value in config.items():
        kernel, dot, axis = str(name).partition(".")
        kernels.setdefault(kernel if dot else "", []).append(f"{axis or kernel} {value}")
    return [f"  {name + ': ' if name else ''}{'; '.join(parts)}" for name, parts in kernels.items()]
