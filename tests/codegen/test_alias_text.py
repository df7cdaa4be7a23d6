"""Values that the user's C spells otherwise: plain names in emitted text and in the oracle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from codegen.emitted import checked, here, source_of, variants, warnings
from codegen.test_c_targets_edge import FLAGS

from annotune.analysis.analyse import analyse
from annotune.codegen.baseline import naive_openacc, naive_openmp
from annotune.codegen.target import Provenance, RegionCode, load_target
from annotune.codegen.users_file import assembled, body_text, declared
from annotune.ir.region import Alias, Region, RegionText, SourceFile, Spelling
from annotune.measure.trial import Status

USER = """\
struct grid {{ int nx; double *q; }};
void scale({parameters})
{{
    int i;
    /*@ begin PerfTuning ( def input_params {{ param {size} = 24; }} ) @*/
    for (i = 0; i < {n}; i++)
        {q}[i] = 2.0 * {q}[i] + x[i];
    /*@ end @*/
}}
"""
ALIASES = (
    Alias("nx_", "grid->nx", "const int nx_ = grid->nx;"),
    Alias("grid_q", "grid->q", "double *const grid_q = grid->q;"),
)


def aliased() -> SourceFile:
    """Return the user's file with the region that a front end makes of it, by hand.

    The region comes from the same text in plain names, in which each place is as long.
    """
    plain = USER.format(
        parameters="int nx_, double *restrict grid_q, const double *restrict x",
        n="nx_     ",
        q="grid_q ",
        size="nx_",
    )
    user = USER.format(
        parameters="struct grid *grid, const double *restrict x        ",
        n="grid->nx",
        q="grid->q",
        size="nx_",
    )
    spellings = []
    for alias in ALIASES:
        at = user.index("for (i")
        while (at := user.find(alias.spelling, at)) >= 0:
            spellings.append(Spelling(at, at + len(alias.spelling), alias.name))
            at += 1
    (region,) = source_of(plain).regions
    shift = user.index("/*@") - plain.index("/*@")
    place = region.extent
    extent = replace(
        place,
        **{
            name: getattr(place, name) + shift
            for name in ("start", "end", "body_start", "body_end")
        },
    )
    made = replace(
        region,
        extent=extent,
        text=RegionText(ALIASES, tuple(sorted(spellings, key=lambda s: s.start))),
    )
    return SourceFile("user.c", user, (made,))


def codes_of(source: SourceFile, name: str) -> Mapping[str, RegionCode]:
    analysis = analyse(source.regions[0])
    target = load_target(name)
    naive = {"naive": naive_openmp(source, analysis)}
    found = {"tuned": target.region(variants(target, analysis, 1)[0], False)}
    return found | (naive if name == "openmp" else naive_openacc(source, analysis))


def test_the_users_text_in_plain_names() -> None:
    source = aliased()
    text = body_text(source.text, source.regions[0])
    assert "for (i = 0; i < nx_; i++)" in text
    assert "grid_q[i] = 2.0 * grid_q[i] + x[i];" in text
    assert "grid->" not in text


def test_only_names_in_use_are_declared() -> None:
    region: Region = aliased().regions[0]
    text = declared("{\n    grid_q[0] = 1.0;\n}\n", region)
    assert (
        text
        == "{\n    double *const grid_q = grid->q;\n    {\n        grid_q[0] = 1.0;\n    }\n}\n"
    )
    assert declared("{\n}\n", region) == "{\n}\n"


@pytest.mark.alike(2)
@pytest.mark.skipif(here().c is None, reason="no C compiler")
@pytest.mark.parametrize("name", ["openmp", "openacc"])
def test_every_text_equals_the_original(name: str, tmp_path: Path) -> None:
    source = aliased()
    analysis = analyse(source.regions[0])
    codes = codes_of(source, name)
    trials = checked(source, analysis, name, codes, ({"nx_": 24}, {"nx_": 5}), tmp_path)
    assert {n: t.reason for n, t in trials.items() if t.status is not Status.CORRECT} == {}
    for code in codes.values():
        text = assembled(source, [code], Provenance("0", "user.c"))
        assert "const int nx_ = grid->nx;" in text
        assert warnings(text, FLAGS[name], tmp_path) == ""
