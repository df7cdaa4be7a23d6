"""What is mutated: twelve programs, each in four forms, with the sizes at which a run checks it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis
from annotune.annotation.devices import load_device
from annotune.annotation.regions import scan_annotations
from annotune.codegen.target import Target, load_target
from annotune.diagnostics import AnnotuneError
from annotune.frontend.load import load
from annotune.measure.oracle import Oracle
from annotune.measure.program import Program
from annotune.measure.sizes import border_sizes
from annotune.measure.toolchain import Toolchains
from annotune.space.decision import Base
from annotune.space.space import region_space
from annotune.space.variants import Variant as Choice
from annotune.strategies.registry import AUTO
from annotune.tuning.bench import program_of
from mutation.operators import Edit, edits

PROGRAMS = Path(__file__).parent / "programs"
# Which strategy shapes the second CUDA text of a program, where not the one named last.
STRATEGIES = {"stencil": "stencil", "dot": "reduction", "rowmax": "reduction"}
OTHER_STRATEGY = "two-level"
# Of so many points of that strategy the one with the most barriers is taken.
POINTS = 24
TARGETS = ("cuda", "cuda resident", "openacc", "openmp")
_BUILT_AS = {"openacc": "openacc", "openmp": "openmp"}


@dataclass(frozen=True)
class Subject:
    """One text of one program, as `annotune run` would have it win."""

    program: str
    target: str
    variant: Program
    analysis: Analysis
    oracle: Oracle
    is_resident: bool = False


@dataclass(frozen=True)
class Mutant:
    """A text with one mistake in it; `part` is which of its texts has it."""

    subject: Subject
    part: str
    edit: Edit

    @property
    def name(self) -> str:
        return f"{self.subject.program} {self.subject.target} {self.part} {self.edit.what}"

    @property
    def text(self) -> str:
        """Return the text that the mistake is in, without it."""
        code = self.subject.variant.code
        return {"device": self.subject.variant.device, "helper": code.helper}.get(
            self.part, code.body
        )

    def variant(self) -> Program:
        """Return the variant with the mistake in it."""
        one, code = self.subject.variant, self.subject.variant.code
        match self.part:
            case "device":
                return replace(one, device=self.edit.applied(one.device))
            case "helper":
                return replace(one, code=replace(code, helper=self.edit.applied(code.helper)))
            case _:
                return replace(one, code=replace(code, body=self.edit.applied(code.body)))


def programs() -> tuple[str, ...]:
    """Return the names of the programs."""
    return tuple(sorted(path.stem for path in PROGRAMS.glob("*.c")))


def subjects(program: str, tools: Toolchains, folder: Path) -> Iterator[Subject]:
    """Yield the texts of a program in every target, all with one oracle."""
    path = PROGRAMS / f"{program}.c"
    text = path.read_text()
    source = load(path.name, text, scan_annotations(text, path.name).blocks, {}, {})
    analysis = analyse(source.regions[0])
    oracle = Oracle(source, analysis, tools, folder / program)
    for target in TARGETS:
        yield _subject(program, target, analysis, oracle)


def _subject(program: str, name: str, analysis: Analysis, oracle: Oracle) -> Subject:
    target = load_target(name.partition(" ")[0])
    kind = _BUILT_AS.get(name, "cuda-cpu")
    if name != "cuda resident":
        base = Base.of(analysis, AUTO)
        first = next(
            iter(target.points(base, region_space(base), load_device("h200")).listing(1).variants())
        )
        code = target.region(first, False)
        return Subject(program, name, program_of(target, kind, first, code), analysis, oracle)
    variant, is_resident = _other_choice(target, analysis, STRATEGIES.get(program, OTHER_STRATEGY))
    code = target.region(variant, is_resident)
    built = program_of(target, kind, variant, code)
    return Subject(program, name, built, analysis, oracle, is_resident)


def _other_choice(target: Target, analysis: Analysis, strategy: str) -> tuple[Choice, bool]:
    """Return the point of a strategy with the most barriers, and whether its data may be resident.

    What a region computes into a scalar comes back to the host, which resident data does not.
    """
    base = Base.of(analysis, strategy)
    found = list(
        target.points(base, region_space(base), load_device("h200")).listing(POINTS).variants()
    )
    is_resident = True
    try:
        target.region(found[0], True)
    except AnnotuneError:
        is_resident = False

    def barriers(one: Choice) -> int:
        text = target.region(one, is_resident).device
        return text.count("__syncthreads") + text.count("__pipeline")

    return max(found[1:] or found, key=barriers), is_resident


def mutants_of(subject: Subject) -> list[Mutant]:
    """Return every mistake in a subject's texts."""
    code = subject.variant.code
    texts = {"device": subject.variant.device, "helper": code.helper, "body": code.body}
    if texts["device"]:
        # The body does no more than call what is below it.
        texts = {"device": texts["device"]}
    sizes = [n for one in border_sizes(subject.analysis) for n in one.values()]
    has_long_sizes = max(sizes, default=0) >= 1 << 15
    return [
        Mutant(subject, part, edit)
        for part, text in texts.items()
        for edit in edits(text, has_long_sizes, code.helper if part == "body" else "")
    ]
