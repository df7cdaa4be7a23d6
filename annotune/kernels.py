"""What was tuned or emitted becomes functions that Python calls: their texts, and their builds."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from annotune.annotation.flags import Flags, flags_of
from annotune.codegen.target import Target, load_target, target_names
from annotune.compiled import CallMemory, CompiledFunction, Library, built, not_built
from annotune.diagnostics import NOWHERE, AnnotuneError, Template
from annotune.frontend.prototype import prototype
from annotune.frontend.read.preprocess import HeaderSearch
from annotune.frozen import dataclass
from annotune.measure.compile import CompileJob, TranslationUnit
from annotune.measure.cuda_text import UnsupportedCuda, translate
from annotune.measure.machine import NoGpu, find_gpu
from annotune.measure.toolchain import Toolchains, find_toolchains
from annotune.report.findings import Emission
from annotune.tuning.results import Results

NO_TEXT = Template(
    "AT682",
    "there is no file of '{source}' for {target}: {reason}",
    "annotune.compile takes what annotune.emit gives, too: the first choice of the rules",
)
NO_GPU = Template(
    "AT683",
    "'{name}' is for arrays on a GPU, and there is none: {reason}",
    "emit it without data='resident': it takes arrays of the host, and runs here too",
)


@dataclass(frozen=True)
class _Text:
    """A target's files by their endings, and the words of the command that compiles them.

    The command is run in the folder `place`. It may come from anybody's results: its compiler is
    not asked, and its flags are those that an annotation could give.
    """

    source: str
    target: Target
    files: Mapping[str, str]
    words: Sequence[str]
    place: Path
    resident: bool = False

    @property
    def c(self) -> str:
        """Return the user's file."""
        return next(text for end, text in self.files.items() if end.endswith(".c"))

    def told(self) -> Iterator[str]:
        """Yield what the compilers are told of the user's file, with absolute folders."""
        words = iter(self.words)
        for word in words:
            if word == "-iquote":
                yield f"{word}{self.place / next(words)}"
            elif word.startswith("-I"):
                yield f"-I{self.place / word[2:]}"
            elif word.startswith("-D"):
                yield word

    def flags(self) -> Flags:
        """Return the flags that the text was measured with."""
        found = flags_of(shlex.join(self.words))
        return replace(found, host=tuple(f for f in found.host if not f.startswith("-D")))

    def search(self, tools: Toolchains) -> HeaderSearch:
        """Return where its headers are, those of the user's own folder too."""
        told = tuple(self.told())
        include = (word[7:] if word.startswith("-iquote") else word[2:] for word in told)
        folders = tuple(f for f, word in zip(include, told, strict=True) if word[:2] != "-D")
        pairs = (word[2:].partition("=") for word in told if word.startswith("-D"))
        defines = {name: value if equals else "1" for name, equals, value in pairs}
        return HeaderSearch(folders, defines, tools.c.command if tools.c is not None else ())


def compiled(
    made: Results | Emission, target: str, region: int | str | None, environ: Mapping[str, str]
) -> CompiledFunction:
    """Return a function of a target's file, built with the compilers of `environ`.

    Raises:
        AnnotuneError: There is no such file, or it cannot be built or called here.
        ValueError: There is no such target or region.
    """
    if target not in target_names():
        raise ValueError(f"there is no target '{target}'; there are {', '.join(target_names())}")
    name = _function(made, region)
    text = _of_results(made, target) if isinstance(made, Results) else _of_emission(made, target)
    tools = find_toolchains(environ)
    path = str(text.place / Path(text.source).name)
    library = Library(
        prototype(path, text.c, name, text.search(tools)), target, "on this processor"
    )
    if not text.target.is_for_cpu and target == "cuda":
        return _cuda(library, text, tools)
    kind = target if text.target.is_for_cpu else f"{target}-marked"
    unit = TranslationUnit(text.c + library.bridge())
    job = CompileJob((unit,), kind, tuple(text.told()), text.flags().host)
    return built(library, job, tools)


def _cuda(library: Library, text: _Text, tools: Toolchains) -> CompiledFunction:
    """Return a function whose kernels run on a GPU, or are played by this processor."""
    device = text.files[".cu"]
    flags = text.flags()
    optimisation = tuple(flag for flag in flags.host if flag.startswith("-O"))
    gpu = find_gpu()
    why = gpu.reason if isinstance(gpu, NoGpu) else tools.problems.get("nvcc", "")
    told = tuple(text.told())
    if why and text.resident:
        raise AnnotuneError.of(NO_GPU.at(NOWHERE, name=library.function.name, reason=why))
    if why:
        library = replace(library, where=f"played by this processor, without a GPU: {why}")
        try:
            kernels = TranslationUnit(translate(device), "c++")
        except UnsupportedCuda as error:
            raise not_built(library, str(error)) from None
        unit = TranslationUnit(text.c + library.bridge())
        return built(library, CompileJob((unit, kernels), "cuda-cpu", told, optimisation), tools)
    assert not isinstance(gpu, NoGpu)
    memory = CallMemory.DEVICE if text.resident else CallMemory.EITHER
    library = replace(library, where=f"on {gpu.name}", memory=memory)
    arch = next((w[6:] for w in text.words if w.startswith("-arch=")), gpu.arch)
    units = (TranslationUnit(text.c + library.bridge()), TranslationUnit(device, "cuda"))
    job = CompileJob(units, "cuda-gpu", told, optimisation, arch, nvcc=flags.nvcc)
    return built(library, job, tools)


def _function(made: Results | Emission, region: int | str | None) -> str:
    """Return the name of the function in question."""
    if isinstance(made, Results):
        names = [one.function for one in made.regions]
    else:
        names = [one.region.function for one in made.reports]
    known = list(dict.fromkeys(names))
    if isinstance(region, int) and 0 <= region < len(names):
        return names[region]
    if region in known:
        return str(region)
    if region is None and len(known) == 1:
        return known[0]
    listed = ", ".join(map(repr, known))
    if region is None:
        raise ValueError(f"the regions are in several functions: region= names one of {listed}")
    raise ValueError(f"there is no region {region!r}; there are {len(names)}, in {listed}")


def _of_results(results: Results, name: str) -> _Text:
    target = load_target(name)
    stem = Path(results.source).stem
    files = {
        end: results.texts[stem + end] for end in target.endings if stem + end in results.texts
    }
    commands = results.commands.get(name, ())
    if len(files) < len(target.endings) or not commands:
        rows = (row for region in results.regions for row in region.rows if row.name == name)
        reason = next((row.reason for row in rows if row.reason), "it was not asked for")
        problem = NO_TEXT.at(NOWHERE, source=results.source, target=name, reason=reason)
        raise AnnotuneError.of(problem)
    place = Path(results.folder).absolute()
    words = shlex.split(commands[_way(target, len(commands))])
    return _Text(results.source, target, files, words, place)


def _of_emission(made: Emission, name: str) -> _Text:
    target = load_target(name)
    files = {end: made.files[end] for end in target.endings if end in made.files}
    if len(files) < len(target.endings):
        reasons = [d.message for d in made.diagnostics if name in d.message]
        reason = reasons[0] if reasons else "it was not asked for"
        problem = NO_TEXT.at(NOWHERE, source=made.source.path, target=name, reason=reason)
        raise AnnotuneError.of(problem)
    command = made.builds[name][_way(target, len(made.builds[name]))]
    words = command.from_here or command.start
    return _Text(made.source.path, target, files, words, Path.cwd(), made.resident)


def _way(target: Target, count: int) -> int:
    """Return which of so many commands is that of the compiler that is used here."""
    # Of what was measured there are those of the C compiler alone.
    roles = [way.role for way in target.ways]
    return roles.index("c") if count == len(roles) and "c" in roles else 0
