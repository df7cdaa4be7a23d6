"""A run that was searched: many measured trials, failures of every kind, and a model."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace

from sample_run import CPU, GPU, RUN, SD_T_D2

from annotune.measure.trial import Status, Trial
from annotune.tuning.results import RegionResult, Results, Searched

AXES = {
    "S0.block": ("h2,p6", "h1,p5", "none"),
    "S0.thread": ("h3,h1", "p4"),
    "S0.unroll_h7": (1, 2, 4, 8),
    "UF": (1, 2, 4, 8, 16),
    "schedule": ("static", "dynamic"),
}
FAILURES = {
    11: (Status.COMPILE, "S.c:4:12: error: expected ')' before ';' token\n" * 9),
    17: (Status.TIMEOUT, "still running after 60 s"),
    23: (Status.RUNTIME, "killed by SIGSEGV\nat the first call"),
    31: (Status.CORRECTNESS, "triplesx[3][0] is 1.25, expected 1.5"),
    37: (Status.CONSTRAINTS, "divides: 16 % 3 is not 0"),
}


def _searched(target: str, device: str, scale: float, count: int, has_model: bool) -> list[Trial]:
    points = list(itertools.product(*AXES.values()))
    chance = random.Random(f"{target} {count}")
    chance.shuffle(points)
    out: list[Trial] = []
    at = 2.0
    for number, point in enumerate(points[:count]):
        config = dict(zip(AXES, point, strict=True))
        at += 0.3 + chance.random()
        if number in FAILURES:
            status, reason = FAILURES[number]
            out.append(Trial(target, config, status, reason=reason, compile_s=0.4, at_s=at))
            continue
        uf, unroll = int(config["UF"]), int(config["S0.unroll_h7"])
        slow = {"none": 2.5, "h1,p5": 1.4, "h2,p6": 1.0}[str(config["S0.block"])]
        model = scale * slow * (1 + abs(math.log2(uf / 8))) * (1 + 0.1 * math.log2(unroll))
        times = tuple(model * (1 + 0.2 * chance.random()) for _ in range(7))
        middle = sorted(times)[3]
        out.append(
            Trial(
                target,
                config,
                Status.CORRECT,
                middle,
                0.02 * middle,
                device=device,
                verified=True,
                facts={"registers": 40 + unroll} if has_model else {},
                predicted_s=model * 0.8 if has_model else None,
                times_s=times,
                compile_s=0.4,
                run_s=0.2,
                at_s=at,
            )
        )
    return out


LONG = replace(
    SD_T_D2,
    trials=(
        *_searched("openmp", CPU, 0.0115, 80, has_model=False),
        *_searched("cuda", GPU, 9e-5, 60, has_model=True),
        *(t for t in SD_T_D2.trials if t.target == "openacc"),
    ),
    searches=(
        Searched("openmp", "gp", 7, 4536, 80, 75, 3, 2, ("schedule",), 64.2),
        Searched("cuda", "exhaustive", 0, 60, 100, 60, time_s=8.5),
    ),
)


def run_of(region: RegionResult) -> Results:
    """Return the sample run with `region` alone."""
    return replace(RUN, regions=(region,))


SEARCHED = run_of(LONG)
