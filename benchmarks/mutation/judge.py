"""What becomes of a mutant: it does not compile, is the same program, is turned down, or passes."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from annotune.measure.check import BRANCHES, Checker
from annotune.measure.compile import CompileResult
from annotune.measure.plan import CheckLimits, CheckPlan, proofs
from annotune.measure.program import Program, compile_job_of
from annotune.measure.sizes import awkward_sizes, tuned_sizes
from mutation.operators import KINDS
from mutation.subjects import Mutant, Subject
from mutation.tokens import closing, tokens

# A mistake may make a loop endless; the texts take milliseconds, or a second under a detector.
RUN_LIMIT_S = 10.0
THREADS = 2


class Fate(StrEnum):
    """How a mutant ends. `TURNED_DOWN` is what the check is there for, `PASSED` what it missed.

    Of `NOT_RUN` the check itself tells: it stands among the facts of what wins.
    """

    NOT_COMPILED = "does not compile"
    EQUAL = "the same machine code"
    NOT_RUN = "in a branch that the check says it has not run"
    TURNED_DOWN = "turned down"
    PASSED = "passed"


@dataclass(frozen=True)
class Judged:
    """A mutant, its fate, and the words with which it was turned down."""

    mutant: Mutant
    fate: Fate
    words: str = ""


@dataclass
class Judge:
    """Judges the mutants of one subject by the check of a run, which remembers its references."""

    subject: Subject
    checker: Checker = field(init=False)

    def __post_init__(self) -> None:
        self.checker = Checker(self.subject.oracle)
        kind = self.subject.variant.kind
        # A compiler for the host leaves out what of OpenACC is for devices alone.
        kinds = (kind, "openacc-ordered") if kind == "openacc" else (kind,)
        self._originals = {kind: self._library(self.subject.variant, kind) for kind in kinds}

    def plans(self) -> Iterator[CheckPlan]:
        """Yield how a run checks a text: as each of its trials, and as the one that wins."""
        analysis = self.subject.analysis
        awkward = awkward_sizes(analysis)
        tried = CheckPlan(
            (*awkward, tuned_sizes(analysis.region)),
            threads=THREADS,
            limits=CheckLimits(RUN_LIMIT_S),
            resident=self.subject.is_resident,
        )
        yield tried
        yield from proofs(self.subject.variant, analysis, tried, awkward)

    def turned_down(self) -> str:
        """Return in words what the check finds in the text without a mistake; nothing is right."""
        return self._words(self.subject.variant)

    def judged(self, mutant: Mutant) -> Judged:
        """Return a mutant's fate."""
        variant = mutant.variant()
        built = self._library(variant, variant.kind)
        if not built.ok:
            return Judged(mutant, Fate.NOT_COMPILED, built.output)
        if all(self._is_equal(variant, kind) for kind in self._originals):
            return Judged(mutant, Fate.EQUAL)
        words = self._words(variant)
        if words:
            return Judged(mutant, Fate.TURNED_DOWN, words)
        return Judged(mutant, Fate.NOT_RUN if self._is_not_run(mutant) else Fate.PASSED)

    def _is_not_run(self, mutant: Mutant) -> bool:
        """Return whether a mutant lies in a loop or block that the original's check has not run."""
        for part, line in self._not_run:
            if part != mutant.part:
                continue
            start = nth_line(mutant.text, line)
            found = tokens(mutant.text)
            brace = next(n for n, t in enumerate(found) if t.start >= start and t.text == "{")
            is_inside = start <= mutant.edit.start < found[closing(found, brace)].end
            if is_inside:
                return True
        return False

    @cached_property
    def _not_run(self) -> list[tuple[str, int]]:
        *_, last = self.plans()
        facts = self.checker.check(self.subject.variant, last).facts
        found = re.findall(r"(helper|body|device) line (\d+),", str(facts.get(BRANCHES, "")))
        return [(part, int(line)) for part, line in found]

    def _words(self, variant: Program) -> str:
        for plan in self.plans():
            trial = self.checker.check(variant, plan)
            if trial.is_wrong:
                return f"{trial.status}: {trial.reason}"
        return ""

    def _is_equal(self, variant: Program, kind: str) -> bool:
        """Return whether a mutant is the same machine code as the text without a mistake."""
        one, other = self._library(variant, kind), self._originals[kind]
        return one.ok and other.ok and one.path.read_bytes() == other.path.read_bytes()

    def _library(self, variant: Program, kind: str) -> CompileResult:
        oracle = self.subject.oracle
        job = compile_job_of(variant, kind, oracle)
        return oracle.compile(job)


def nth_line(text: str, line: int) -> int:
    """Return where a line of `text` begins, counted from 1."""
    return sum(map(len, text.splitlines(keepends=True)[: line - 1]))


def chosen(
    mutants: Mapping[str, Sequence[Mutant]], per_kind: int, seed: int
) -> Iterator[tuple[str, Mutant]]:
    """Yield so many mutants of each kind of each subject, with the subject's name, by `seed`."""
    for name, found in mutants.items():
        for kind in KINDS:
            own = [one for one in found if one.edit.kind == kind]
            # By name, so that a subject's mutants do not depend on which others there are.
            draw = random.Random(f"{seed} {name} {kind}")
            for one in draw.sample(own, min(per_kind, len(own))):
                yield name, one


def unsound(judges: Mapping[str, Judge], jobs: int) -> list[str]:
    """Return the subjects whose text is turned down without a mistake, with the words."""
    with ThreadPoolExecutor(jobs) as pool:
        words = pool.map(Judge.turned_down, judges.values())
    return [f"{name}: {found}" for name, found in zip(judges, words, strict=True) if found]


def judged_all(
    judges: Mapping[str, Judge], mutants: Sequence[tuple[str, Mutant]], jobs: int
) -> Iterator[Judged]:
    """Yield the fates of mutants in their order, `jobs` at a time."""
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(lambda one: judges[one[0]].judged(one[1]), mutants)
