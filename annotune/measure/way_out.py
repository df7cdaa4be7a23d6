"""A text of OpenMP or OpenACC made to take its way out: the nest as written, beside the kernels.

It is right at every size, and a call takes it where loops do not run, so that their insides are not
run either. Made to take it everywhere, a text shows what is wrong in them.
"""

from __future__ import annotations

import re
from dataclasses import replace

from annotune.measure.variant import Variant

# The test for the kernels, which `annotune.codegen.in_place` writes first of all.
_TEST = re.compile(r"\A\{\n    if \((?=.*^    else \{\n        /\* As written: )", re.DOTALL | re.M)


def has_way_out(variant: Variant) -> bool:
    """Return whether a variant's text has the nest as written beside its kernels."""
    return _TEST.search(variant.code.body) is not None


def taking_way_out(variant: Variant) -> Variant:
    """Return `variant` with a text that takes its way out, every line and block at its place."""
    # What follows belongs to the choice whatever binds it: no bracket has to be closed.
    body = _TEST.sub(lambda found: f"{found[0]}1 ? 0 : ", variant.code.body)
    return replace(variant, code=replace(variant.code, body=body))
