"""A region brought into the form that is analysed, before anything is asked of it."""

from __future__ import annotations

from annotune.analysis.normal_form.forwarding import with_temporaries_forwarded
from annotune.analysis.normal_form.own_type import with_own_types
from annotune.analysis.normal_form.private_copies import (
    with_last_values,
    with_lives_apart,
    with_private_arrays,
)
from annotune.analysis.normal_form.reordering import with_loops_reordered
from annotune.ir.region import Region


def normalised(region: Region) -> Region:
    """Return `region` in the form that is analysed, with the same results but for sums' order.

    Where it is proven, nothing but loops is left between loops, sums have loops of their own, and
    iterations have of their own what each needs for itself alone.
    """
    region = with_temporaries_forwarded(with_lives_apart(with_own_types(region)))
    region = with_loops_reordered(region)
    return with_private_arrays(with_last_values(region))
