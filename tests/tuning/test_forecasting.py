"""What ptxas says of a variant's kernels reaches the model, and the model the results."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from decide.recipes import Decided, decided_example

from annotune.annotation.devices import load_device
from annotune.codegen.target import load_target
from annotune.measure.trial import KernelFacts, Status, Trial
from annotune.model.traffic import Compiled
from annotune.space.variants import Variant
from annotune.strategies.registry import AUTO
from annotune.tuning.region_run import target_models
from annotune.tuning.tuner import TargetResult, forecast_of, predicted_trial

H200 = load_device("h200")
TRIAL = Trial("cuda", {}, Status.CORRECT)
# As nvcc names the kernel for the tuned sizes, and the one for all others.
TUNED = "_Z20sd_t_d1_1_1_s0_tunedPdPKdS1_"
GENERAL = "_Z14sd_t_d1_1_1_s0PdPKdS1_iiiiiii"


@cache
def triples() -> Decided:
    names = ("h3u", "h2u", "h1u", "p6u", "p5u", "p4u", "h7u")
    return decided_example("nwchem/sd_t_d1.c", "sd_t_d1_1", AUTO, sizes=dict.fromkeys(names, 24))


@pytest.fixture(params=["cuda", "openacc"])
def variant(request: pytest.FixtureRequest) -> Variant:
    one = triples()
    return load_target(request.param).points(one.base, one.space, H200).listing(1).variant(0)


@pytest.mark.alike(2)
def test_registers_of_the_tuned_kernel_reach_the_model(variant: Variant) -> None:
    assert variant.model is not None
    facts = (KernelFacts(GENERAL, "sm_90", 255, 900, 800, 800), KernelFacts(TUNED, "sm_90", 120))
    assert [one.plain_name for one in facts] == ["sd_t_d1_1_1_s0", "sd_t_d1_1_1_s0_tuned"]
    found = forecast_of(variant, facts)
    assert found == variant.model.forecast({0: Compiled(120)})
    assert found is not None
    assert [kernel.prediction.is_compiled for kernel in found.kernels] == [True]
    assert [kernel.prediction.registers for kernel in found.kernels] == [120]
    trial = predicted_trial(variant, replace(TRIAL, kernels=facts))
    assert trial.predicted_s == found.kernels_s


def test_without_a_compiler_the_estimate_stays(variant: Variant) -> None:
    assert predicted_trial(variant, TRIAL).predicted_s == variant.predicted_s
    assert variant.predicted_s is not None


def test_a_target_without_a_model_has_no_prediction() -> None:
    one = triples()
    variant = load_target("openmp").points(one.base, one.space, H200).listing(1).variant(0)
    assert forecast_of(variant, ()) is None
    assert predicted_trial(variant, TRIAL).predicted_s is None


def test_the_results_have_a_model_for_each_forecast(variant: Variant) -> None:
    found = forecast_of(variant, ())
    assert found is not None
    outcomes = {"openmp": TargetResult(), "cuda": TargetResult(forecast=found)}
    times = (1.0, 2.0, 3.0, 4.0)
    trials = [replace(TRIAL, time_s=t, predicted_s=2 * t) for t in times]
    (model,) = target_models(outcomes, trials)
    assert (model.target, model.device) == ("cuda", "NVIDIA H200")
    assert model.predicted_s == pytest.approx(found.kernels_s)
    assert model.copies_s == found.copies_s
    (kernel,) = model.kernels
    assert (kernel.statements, kernel.is_compiled, kernel.magma_s) == ((0,), False, None)
    assert "one matrix product" in kernel.why_no_magma
    assert model.pairs == 4
    assert model.correlation == pytest.approx(1)
    assert model.error == pytest.approx(2)
