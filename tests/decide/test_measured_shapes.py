"""First choices of other shapes than single contractions, beside what they take on an H200.

Measured on 2026-11-27 (action_3d the day before), kernels alone, microseconds (docs/hardware.md).
"""

from __future__ import annotations

import math

import pytest
from decide.recipes import decided, example

from annotune.analysis.normal_form.normalised import normalised
from annotune.annotation.devices import load_device
from annotune.model.predict import predict
from annotune.strategies.registry import AUTO

MEASURED = (
    ("nekbone/ax.c", "ax", {"n": 8, "elements": 20000}, 174.0),
    ("nekbone/ax.c", "ax", {"n": 10, "elements": 20000}, 401.0),
    ("nekbone/ax.c", "ax", {"n": 12, "elements": 20000}, 751.0),
    ("fem/interpolation.c", "interpolate", {"elements": 20000, "d": 8, "q": 8}, 56.9),
    ("fem/mass_action.c", "action_3d", {"elements": 10000, "d": 8, "q": 9}, 102.0),
    ("gemm/batched.c", "batched_gemm", {"batch": 100000, "n": 8}, 49.8),
    ("gemm/batched.c", "batched_gemm", {"batch": 100000, "n": 16}, 187.0),
    ("gemm/batched.c", "batched_gemm", {"batch": 100000, "n": 32}, 734.0),
)


@pytest.mark.alike(len(MEASURED))
@pytest.mark.parametrize(("file", "function", "sizes", "measured_us"), MEASURED)
def test_the_model_is_near_what_was_measured(
    file: str, function: str, sizes: dict[str, int], measured_us: float
) -> None:
    one = decided(normalised(example(file, function, sizes)), AUTO)
    device = load_device("h200")
    units = one.base.nests("footprint", one.decision.asked)
    pairs = zip(units, one.decision.choices, strict=True)
    predicted_us = sum(predict(unit, choice, device).time_s for unit, choice in pairs) * 1e6
    assert abs(math.log(predicted_us / measured_us)) < math.log(1.3)
