"""One compilation: sources and a way to compile them, to a file or the compiler's words."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from annotune.measure.command import Finished, run_command
from annotune.measure.flags import KINDS, RUNTIME_FLAGS, RUNTIME_FOLDER, Kind
from annotune.measure.harness import ENTRY
from annotune.measure.ptxas import KernelFacts, ignored_dimensions, parse_ptxas
from annotune.measure.toolchain import Compiler, Toolchains

COMPILE_LIMIT_S = 60.0
"""How long one compiler call may run: ptxas has been seen to take 2 s on one kernel."""

WORDS_LIMIT = 4000
"""How many characters of a compiler's output a failed trial keeps."""

_RESULT = "result.json"
_SUFFIXES = {"c": ".c", "c++": ".cpp", "cuda": ".cu"}


@dataclass(frozen=True, slots=True)
class Source:
    """One text to compile and its language: ``c``, ``c++`` or ``cuda``."""

    text: str
    language: str = "c"


@dataclass(frozen=True, slots=True)
class CompileJob:
    """Sources, a kind out of `KINDS`, and what a user or a variant adds.

    `flags` are the user's for C, each one word; ``-I`` and ``-D`` go to every language.
    `optimisation` replaces the kind's ``-O`` where the kind allows it, and may hold other flags
    for C. `arch` and the flags `nvcc` are for that compiler.
    """

    sources: tuple[Source, ...]
    kind: str
    flags: tuple[str, ...] = ()
    optimisation: tuple[str, ...] = ()
    arch: str = "sm_90"
    limit_s: float = COMPILE_LIMIT_S
    nvcc: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"compile kind '{self.kind}' is none of {', '.join(KINDS)}")


@dataclass(frozen=True, slots=True)
class CompileResult:
    """What came of a job: the file at `path` when `ok`, and the compiler's words.

    `invalid` holds the compiler's words when it compiled something else than was asked for,
    such as another vector_length. `digest` is the hash of the texts and commands: equal
    digests are the same program. `entry` is the function of the library to call, and `reused`
    says that nothing was compiled for this answer.
    """

    ok: bool
    path: Path
    output: str
    digest: str
    timed_out: bool = False
    invalid: str = ""
    kernels: tuple[KernelFacts, ...] = ()
    time_s: float = 0.0
    reused: bool = False
    entry: str = ENTRY


def digest_of(job: CompileJob, tools: Toolchains) -> str:
    """Return the hash that stands for what `job` makes: its texts and its command lines."""
    kind = KINDS[job.kind]
    commands = []
    for source in job.sources:
        compiler = tools.role(kind.compilers[source.language])
        version = (compiler.command, compiler.version) if compiler else ((), "")
        commands.append((version, _flags(job, kind, tools, source.language)))
    parts = [(s.language, s.text.encode("utf-8", "surrogateescape").hex()) for s in job.sources]
    runtime = [(RUNTIME_FOLDER / name).stat().st_mtime_ns for name in kind.runtime]
    return hashlib.sha256(json.dumps([parts, commands, runtime]).encode()).hexdigest()


def compile_job(
    job: CompileJob, tools: Toolchains, folder: Path, niceness: int = 0
) -> CompileResult:
    """Return what compiling `job` gives, under ``folder/<digest>``.

    A compiler that is missing, refuses, crashes or hangs gives a result that is not `ok`.
    A good answer that already lies in `folder` is read again and nothing is compiled; a
    failure is not kept, for the next run may have a mended compiler or more time.
    """
    digest = digest_of(job, tools)
    known = recall(digest, folder)
    if known:
        return known
    name = f"out{KINDS[job.kind].suffix}"
    with _aside(folder, digest) as scratch:
        result = _compile(job, tools, scratch / name, digest, niceness)
        if result.ok:
            _write(scratch, name, result)
        return replace(result, path=folder / digest[:24] / name)


def keep(results: Sequence[CompileResult], folder: Path) -> None:
    """Have `compile_job` find in `folder` what came of other jobs, whose libraries lie there."""
    for result in results:
        with _aside(folder, result.digest) as scratch:
            _write(scratch, os.path.relpath(result.path, folder / result.digest[:24]), result)


@contextlib.contextmanager
def _aside(folder: Path, digest: str) -> Iterator[Path]:
    """Lend a folder that takes its place for `digest` at the end if it holds a whole answer.

    Aside and then renamed, so that another thread sees a whole answer or none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="compiling-", dir=folder))
    try:
        yield scratch
        if (scratch / _RESULT).exists():
            with contextlib.suppress(OSError):  # the same answer is there already
                scratch.rename(folder / digest[:24])
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _write(place: Path, library: str, result: CompileResult) -> None:
    """Write what `recall` reads; `library` is the way to the file from the answer's folder."""
    words = {"library": library, "output": result.output, "time_s": result.time_s}
    (place / _RESULT).write_text(json.dumps({**words, "entry": result.entry}))


def recall(digest: str, folder: Path) -> CompileResult | None:
    """Return the good result that an earlier call left for `digest`, if it is whole."""
    place = folder / digest[:24]
    try:
        words = json.loads((place / _RESULT).read_text())
        path = Path(os.path.normpath(place / words["library"]))
        result = CompileResult(
            True, path, words["output"], digest, time_s=words["time_s"], entry=words["entry"]
        )
    except (OSError, ValueError, KeyError):
        return None
    return replace(_with_facts(result), reused=True) if path.exists() else None


def _with_facts(result: CompileResult) -> CompileResult:
    """Return `result` with what its output says about kernels and about other dimensions."""
    return replace(
        result,
        invalid=ignored_dimensions(result.output),
        kernels=parse_ptxas(result.output),
    )


def _flags(job: CompileJob, kind: Kind, tools: Toolchains, language: str) -> list[str]:
    """Return the flags for one source's language, the job's own last so that they win."""
    flags = list(kind.flags[language])
    if job.optimisation and not kind.fixed_optimisation and language != "cuda":
        flags = [flag for flag in flags if not flag.startswith("-O")] + list(job.optimisation)
    if language == "cuda":
        flags += [*job.nvcc, f"-arch={job.arch}"]
    elif kind.native and not any(flag.startswith("-march=") for flag in flags):
        flags += tools.native
    # The user's flags are for C: a -std=c99 means nothing to the others.
    return [*flags, *(f for f in job.flags if language == "c" or f[:2] in ("-D", "-I"))]


def _compile(
    job: CompileJob, tools: Toolchains, path: Path, digest: str, niceness: int
) -> CompileResult:
    """Return what the commands for `job` give; their working folder is that of `path`."""
    kind = KINDS[job.kind]
    output, time_s = "", 0.0

    def failed(finished: Finished) -> CompileResult:
        words = f"{shlex.join(finished.command[:1])}: {finished.ending()}\n{output}"
        return CompileResult(
            False, path, words[:WORDS_LIMIT].strip(), digest, finished.timed_out, time_s=time_s
        )

    roles = [kind.compilers[s.language] for s in job.sources]
    roles += [_runtime_role(name) for name in kind.runtime]
    for role in dict.fromkeys(roles):
        if tools.role(role) is None:
            words = f"no compiler for {role}: {tools.problems.get(role, 'none was found')}"
            return CompileResult(False, path, words, digest)
    runtime: list[Path] = []
    for name in kind.runtime:
        finished, made = _runtime_object(name, tools, job.limit_s, path.parent)
        time_s += finished.time_s if finished else 0.0
        if finished and not finished.ok:
            output += finished.output
            return failed(finished)
        runtime.append(made)
    for step in _steps(job, kind, tools, path, runtime):
        finished = run_command(step, job.limit_s, path.parent, niceness=niceness)
        output += finished.output
        time_s += finished.time_s
        if not finished.ok:
            return failed(finished)
    if not path.exists():
        output += f"the compiler ended well and wrote no {path.name}"
        return CompileResult(False, path, output[-WORDS_LIMIT:], digest, time_s=time_s)
    return _with_facts(CompileResult(True, path, output, digest, time_s=time_s))


def _runtime_role(name: str) -> str:
    return "c" if name.endswith(".c") else "cxx"


def _runtime_object(
    name: str, tools: Toolchains, limit_s: float, scratch: Path
) -> tuple[Finished | None, Path]:
    """Return the object file of a source of `RUNTIME_FOLDER`, and how its compiler ended.

    It is made in `scratch`, and lies beside that folder afterwards for all other compilations;
    of one that is there already no compiler has been asked.
    """
    role = _runtime_role(name)
    compiler = tools.role(role)
    assert compiler is not None, role
    command = [*compiler.command, *compiler.flags, *RUNTIME_FLAGS[role]]
    changed_ns = max(file.stat().st_mtime_ns for file in RUNTIME_FOLDER.iterdir())
    key = json.dumps([name, compiler.version, command, changed_ns])
    place = scratch.parent / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.o"
    if place.exists():
        return None, place
    made = scratch / f"{name}.o"
    words = [*command, "-c", str(RUNTIME_FOLDER / name), "-o", str(made)]
    finished = run_command(words, limit_s, scratch)
    if finished.ok:
        made.replace(place)
    return finished, place


def _steps(
    job: CompileJob, kind: Kind, tools: Toolchains, path: Path, runtime: Sequence[Path]
) -> list[list[str]]:
    """Return the command lines in order: one for a single source, else objects and a link.

    `runtime` are the objects that are linked in.
    """
    texts = [
        (path.parent / f"source{n}{_SUFFIXES[s.language]}", s) for n, s in enumerate(job.sources)
    ]
    for file, source in texts:
        # The user's bytes, whatever their encoding, and their line ends as they are.
        file.write_bytes(source.text.encode("utf-8", "surrogateescape"))
    inputs = [
        ([*_start(tools, kind, s.language), *_flags(job, kind, tools, s.language)], file)
        for file, s in texts
    ]
    if kind.needs_asan:
        # A report then names the file of a #line by itself, without this scratch folder.
        inputs = [([*start, f"-ffile-prefix-map={path.parent}=."], file) for start, file in inputs]
    linked = [str(file) for file in runtime]
    has_cxx = any(_runtime_role(name) == "cxx" for name in kind.runtime)
    if len(inputs) == 1 and not has_cxx:
        start, file = inputs[0]
        return [[*start, str(file), *linked, "-o", str(path), *kind.link]]
    objects = [str(path.parent / f"part{number}.o") for number in range(len(inputs))]
    steps = [
        [*start, "-c", str(file), "-o", name]
        for (start, file), name in zip(inputs, objects, strict=True)
    ]
    has_cxx = has_cxx or any(s.language == "c++" for s in job.sources)
    linker = _start(tools, kind, "c++" if has_cxx else "c")
    cudart = tools.link_cudart if kind.links_cudart else ()
    return [*steps, [*linker, *objects, *linked, "-o", str(path), *kind.link, *cudart]]


def _start(tools: Toolchains, kind: Kind, language: str) -> tuple[str, ...]:
    """Return the words that start the compiler of `language`, which the caller knows is here."""
    compiler: Compiler | None = tools.role(kind.compilers[language])
    assert compiler is not None, language
    return (*compiler.command, *compiler.flags)
