"""The C texts that call an original and its variants, and the compilations that make libraries.

For a check the text may have marks, which tell which of its branches were run; limits near 2^15
in place of 2^31; or be made to take its way out.

Several variants of one region may share a compilation before they are checked, each with an entry
of its own: the user's file, its headers, the start of the compiler and the link are then paid once.
What the compiler makes of a variant must be what it makes of it alone, or times would depend on the
company: `alone_flags`, and a test that compares the machine code, see to that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from math import ceil
from pathlib import Path

from annotune.analysis.facts import Analysis
from annotune.codegen.c_expr import c_expr
from annotune.codegen.names import spelled
from annotune.codegen.renaming import copies_text
from annotune.codegen.target import RegionCode
from annotune.codegen.users_file import body_text
from annotune.frontend.read.tokens import splice
from annotune.frozen import dataclass
from annotune.ir.c_types import may_share
from annotune.ir.region import Array, Region, Scalar, SourceFile
from annotune.measure.child import BODY, DEVICE, HELPER, ROOM
from annotune.measure.compile import (
    COMPILE_LIMIT_S,
    CUDA_CALLS,
    DEVICE_LANGUAGES,
    KINDS,
    OFFLOADING,
    RUNTIME_FOLDER,
    CompileJob,
    CompileResult,
    TranslationUnit,
    compile_job,
    digest_of,
    keep,
    recall,
)
from annotune.measure.cuda_text import counted_device_text, timed_device_text, translate
from annotune.measure.directives import (
    as_openmp_with_memory,
    c_tokens,
    quoted,
    sanitized,
    with_memory,
)
from annotune.measure.toolchain import Toolchains
from annotune.measure.values import ENTRY, EntryArguments, plain_type, signature

REGION = "annotune_region"
"""The function that holds the region's text in every library."""

EXPORTED = '__attribute__((visibility("default"), externally_visible))'
"""What stands before whatever is looked for in a library by its name."""

_CALLED = "__attribute__((externally_visible))"
_FUNCTION = re.compile(r"^void (?=\w+\()", re.MULTILINE)

REACHED_ALONE = "-fwhole-program"
"""Has gcc compile nothing that no exported function reaches, such as a file's other kernels."""

_GCC = re.compile(r"(\S*gcc\S*|cc) \(")


def oracle_source(source: SourceFile, region: Region) -> str:
    """Return C in which `ENTRY` runs the user's own text between the annotations."""
    extent = region.extent
    line = source.text.count("\n", 0, extent.body_start) + 1
    # The exact characters, from the start of their line, so that columns are the user's.
    start = source.text.rfind("\n", 0, extent.body_start) + 1
    lead = re.sub(r"[^\t]", " ", source.text[start : extent.body_start])
    text = body_text(source.text, region)
    return nest_source(source, region, f"#line {line} {quoted(source.path)}\n{lead}{text}\n")


def variant_source(source: SourceFile, region: Region, code: RegionCode) -> str:
    """Return C in which `ENTRY` runs `code.body`, with `code.helper` before it."""
    return file_head(source, region) + variant_part(region, code)


def variant_part(region: Region, code: RegionCode) -> str:
    """Return what stands below the user's file in `variant_source`.

    What the device's text calls there must stay although nothing else in this file does.
    """
    if code.device:
        code = replace(code, helper=_FUNCTION.sub(rf"{_CALLED} \g<0>", code.helper))
    helper = f'#line 1 "{region.entry}_helper.c"\n{code.helper}\n' if code.helper else ""
    return _macros(region) + helper + _wrapper(region, f'#line 1 "{region.entry}.c"\n{code.body}\n')


def file_head(source: SourceFile, region: Region) -> str:
    """Return the user's file as every text of this module begins with it.

    Below it is what the region's own text calls in the place of a library's functions.
    """
    names = {f.name: f.name for f in region.functions if f.is_library}
    return f"#line 1 {quoted(source.path)}\n{source.text}\n{copies_text(region, names, 'static')}"


def nest_source(source: SourceFile, region: Region, body: str) -> str:
    """Return C in which `ENTRY` runs `body`, a text of our own in the user's names."""
    return file_head(source, region) + _macros(region) + _wrapper(region, body)


def _macros(region: Region) -> str:
    """Return directives after which macros are at the file's end what they are at the region."""
    lines = (line for one in region.around.later for line in one.directives())
    return "".join(f"{line}\n" for line in lines)


def _wrapper(region: Region, body: str) -> str:
    """Return the two functions at the end: one in the user's types, one that unpacks.

    The inner function's parameters shadow file-scope objects of the same names, so that the
    region works on the caller's arrays and never on the file's own.
    """
    names = signature(region)
    scalars = [region.scalars[n] for n in (*names.integers, *names.reals, *names.complexes)]
    # Sizes first: the types of the arrays after them are made of these parameters.
    parameters = [f"{_plain_type(s)} {s.name}" for s in scalars]
    parameters += [array_parameter(array, is_alone) for array, is_alone in _alone(region, names)]
    parameters += ["long long *annotune_integers", "double *annotune_reals"]
    back, values = [], []
    for vector, group in (("annotune_integers", names.integers), ("annotune_reals", names.reals)):
        for number, name in enumerate(group):
            values.append(f"({_plain_type(region.scalars[name])}){vector}[{number}]")
            if name in names.written:
                back.append(f"  {vector}[{number}] = {name};\n")
    for number, name in enumerate(names.complexes):
        # GNU C's own operators: the user's file need not include complex.h.
        first = len(names.reals) + 2 * number
        real, imaginary = (f"annotune_reals[{first + part}]" for part in (0, 1))
        values.append(f"__builtin_complex({real}, {imaginary})")
        if name in names.written:
            back.append(f"  {real} = __real__ {name};\n  {imaginary} = __imag__ {name};\n")
    values += [f"annotune_arrays[{number}]" for number in range(len(names.arrays))]
    values += ["annotune_integers", "annotune_reals"]
    comma = ",\n    "
    # The user's own text sets these; the nest knows them as formulas.
    unseen = "".join(f"  {line}\n" for line in region.text.declarations)
    return (
        '#line 1 "annotune_call.c"\n'
        f"__attribute__((noinline)) static void {REGION}(\n    {comma.join(parameters)})\n"
        f"{{\n{unseen}{body}"
        f'#line 2 "annotune_call.c"\n{"".join(back)}'
        "  (void)annotune_integers;\n  (void)annotune_reals;\n}\n\n"
        f"{EXPORTED}\n"
        f"void {ENTRY}(\n"
        "    void **annotune_arrays, long long *annotune_integers, double *annotune_reals)\n"
        f"{{\n  {REGION}(\n    {comma.join(values)});\n  (void)annotune_arrays;\n}}\n"
    )


def _plain_type(scalar: Scalar) -> str:
    """Return a scalar's type without qualifiers: the parameter is a variable of our own."""
    return spelled(plain_type(scalar.type)) or "int"


def _alone(region: Region, names: EntryArguments) -> Iterator[tuple[Array, bool]]:
    """Yield each array, and whether the user's C says that no other one shares its memory.

    Compilers make much of it: without ``restrict`` an original is slower than in its own file.
    """
    arrays = [region.arrays[name] for name in names.arrays]
    for array in arrays:
        yield array, not any(may_share(array, other) for other in arrays if other is not array)


def array_parameter(array: Array, is_alone: bool = False) -> str:
    """Return the declaration that passes `array` under its own name."""
    if array.parameter and not is_alone:
        return array.parameter
    const = "const " if array.is_const and is_alone else ""
    # As gcc, clang and nvc spell it for every -std.
    alone = "__restrict " if is_alone else ""
    element, name = f"{const}{spelled(array.element)}", f"*{alone}{array.name}"
    if len(array.extents) == 1 or None in array.extents[1:]:
        return f"{element} {name}"
    inner = "".join(f"[{c_expr(e)}]" for e in array.extents[1:] if e is not None)
    return f"{element} ({name}){inner}"


# The directives that end where they stand: after them the next part reads as if it were alone.
_HARMLESS = (
    r"(?:if|ifdef|ifndef|elif|else|endif|line|error)\b"
    r"|pragma[ \t]+(?:omp|acc|GCC[ \t]+(?:unroll|ivdep))\b"
)
_DIRECTIVE = re.compile(rf"^[ \t]*(?:#|%:)[ \t]*+(?!{_HARMLESS})", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_]\w*")
# Words of the language and of gcc: _Alignas, __attribute__.
_RESERVED = re.compile(r"_[A-Z_]")


def joint_source(source: SourceFile, region: Region, codes: Sequence[RegionCode]) -> str:
    """Return C with the user's file once, and below it an entry for each of `codes`.

    Each part is, character by character, what stands below the file when it is compiled alone;
    macros give its functions names of their own.

    Raises:
        ValueError: One of the texts has a directive, such as a macro, that would reach the next.
    """
    user = set(_NAME.findall(source.text))
    parts = [file_head(source, region)]
    for number, code in enumerate(codes):
        if _DIRECTIVE.search(f"{code.helper}\n{code.body}"):
            raise ValueError("the text of a variant has a directive that lasts")
        # What the user's file has a name for is not the variant's to rename.
        names = [ENTRY, REGION, *sorted(file_scope_names(code.helper) - user)]
        parts += [f"#define {name} {numbered(name, number)}\n" for name in names]
        parts.append(variant_part(region, code))
        parts += [f"#undef {name}\n" for name in names]
    return "".join(parts)


def numbered(name: str, number: int) -> str:
    """Return what `joint_source` calls a name of file scope in its part `number`."""
    return f"{name}_{number}"


def file_scope_names(text: str) -> set[str]:
    """Return the functions, variables and types that C definitions in `text` name.

    What is overlooked here collides and fails to compile, so that each is compiled alone; what
    would be merged without a word, variables without a value, is among the names.
    """
    found: set[str] = set()
    depth = 0
    before = last = ""
    for token in (one.text for one in c_tokens(text)):
        if not depth and _NAME.fullmatch(last):
            is_tag = token == "{" and before in ("struct", "union", "enum")
            is_own = token in "([=;," and not _RESERVED.match(last) and before not in ("", ";", "}")
            if is_tag or is_own:
                found.add(last)
        depth += (token in "({[") - (token in ")}]")
        before, last = last, token
    return found


_TOLD = 5


@dataclass(frozen=True, slots=True)
class MarkedBlock:
    """A block that has a mark: the line of its brace, from 1, and that line's text."""

    line: int
    text: str


def blocks(text: str) -> tuple[MarkedBlock, ...]:
    """Return the blocks of a text in their order."""
    lines = text.split("\n")
    numbers = [text.count("\n", 0, place) for place in _places(text)]
    return tuple(MarkedBlock(n + 1, lines[n].strip()) for n in numbers)


def marked(text: str, marks: str) -> str:
    """Return `text` with marks in the array `marks`, every line at its number."""
    marks_at = enumerate(_places(text))
    return splice(text, [(place, place, f" {marks}[{number}] = 1;") for number, place in marks_at])


def declared(marks: str) -> str:
    """Return C and C++ that defines an array of marks, which routines of OpenACC may set, too."""
    array = f"{EXPORTED} unsigned char {marks}[{ROOM}];"
    return f"{array}\n#pragma acc declare create({marks})\n"


def told(texts: Mapping[str, str], reached: Mapping[str, set[int]]) -> str:
    """Return in words which blocks of `texts`, each by its array of marks, have no mark."""
    count = sum(len(_places(text)) for text in texts.values())
    missed = list(_missed(texts, reached))
    if not missed:
        return f"all {count} reached"
    more = f"; {len(missed) - _TOLD} more" if len(missed) > _TOLD else ""
    return f"{len(missed)} of {count} not reached: {'; '.join(missed[:_TOLD])}{more}"


def _missed(texts: Mapping[str, str], reached: Mapping[str, set[int]]) -> Iterator[str]:
    for marks, text in texts.items():
        part = marks.rpartition("_")[2]
        for number, block in enumerate(blocks(text)):
            if number not in reached.get(marks, ()):
                yield f"{part} line {block.line}, {block.text}"


def _places(text: str) -> list[int]:
    """Return where marks stand: behind the braces that open a block of statements.

    Not in a loop whose body is another loop, which a directive may collapse with it.
    """
    found = c_tokens(text)
    words = [token.text for token in found]
    opened: list[int] = []
    header = ""
    places = []
    for number, word in enumerate(words[:-1]):
        if word == "(":
            opened.append(number)
        elif word == ")" and opened:
            start = opened.pop()
            header = words[start - 1] if start else ""
        elif word == "{" and number and words[number - 1] in (")", "else"):
            is_loop = words[number - 1] == ")" and header == "for"
            if not (is_loop and words[number + 1] == "for"):
                places.append(found[number].end)
    return places[:ROOM]


# How far a limit lies below the end of a type at the most: beyond it is no limit of a step. That
# of a device's largest grid is a multiple of 2^16 blocks; a smaller one of fixed blocks, by whose
# threads a sum is shared, does not get shorter with its counters, so that its limit stays.
_NEAR = 1 << 14
_GRID = 1 << 16
_LEAST_OF_GRID = _GRID * 32
_ENDS = {1 << 31: 1 << 15, 1 << 32: 1 << 16}
_LIMIT = re.compile(r"\b(\w+) <= (\d{10})\b")
_EXTENT = re.compile(r"(\bannotune_extent\([^;\n]*?, )(\d+)\)")
SMALL_GRID = 2
_STEPS = re.compile(r"\bfor \((?:(unsigned)(?: int)?|int) (?=(\w+) = [^;]*;[^;]*; \2 \+= )")


def with_near_limits(text: str) -> str:
    """Return `text` with each limit near the end of a type, and counters in steps, 16 bits less."""
    text = _LIMIT.sub(lambda found: f"{found[1]} <= {_nearer(int(found[2]))}", text)
    text = _EXTENT.sub(lambda found: f"{found[1]}{_fewer(int(found[2]))})", text)
    return _STEPS.sub(lambda found: f"for ({found[1] or ''} short ".replace("( ", "("), text)


def with_small_grids(cuda_text: str) -> str:
    """Return `cuda_text` with grids of a few blocks where their sizes are set at run time.

    A kernel strides over what its grid leaves, which else only sizes beyond a device's limits show.
    """
    return _EXTENT.sub(lambda found: f"{found[1]}{min(int(found[2]), SMALL_GRID)})", cuda_text)


def nearer_limits(texts: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield each limit of `texts` that `with_near_limits` changes: a name, and what it becomes."""
    for text in texts:
        for name, digits in _LIMIT.findall(text):
            if _nearer(int(digits)) != int(digits):
                yield name, _nearer(int(digits))


def _nearer(limit: int) -> int:
    """Return a limit as far from the end of 16 bits as from that of 32; another as it is."""
    for end, near in _ENDS.items():
        if 0 < end - limit < _NEAR:
            return near - (end - limit)
        if _LEAST_OF_GRID <= end - limit < end // 2 and (end - limit) % _GRID == 0:
            return near - (end - limit) // _GRID
    return limit


def _fewer(blocks: int) -> int:
    """Return a limit of blocks for shorter counters; a device's own as it is."""
    return blocks // _GRID if blocks % _GRID == 0 else blocks


# The test for the kernels, which `annotune.codegen.in_place` writes first of all.
_TEST = re.compile(r"\A\{\n    if \((?=.*^    else \{\n        /\* As written: )", re.DOTALL | re.M)


def has_way_out(program: Program) -> bool:
    """Return whether a variant's text has the nest as written beside its kernels."""
    return _TEST.search(program.code.body) is not None


def taking_way_out(program: Program) -> Program:
    """Return `program` with a text that takes its way out, every line and block at its place."""
    # What follows belongs to the choice whatever binds it: no bracket has to be closed.
    body = _TEST.sub(lambda found: f"{found[0]}1 ? 0 : ", program.code.body)
    return replace(program, code=replace(program.code, body=body))


class TextForm(StrEnum):
    """How a text is changed for a check, which ends the names of the kinds that compile it so.

    `MARKED` texts tell which of their branches were run; in those `NEAR_LIMITS` sizes reach limits
    near 2^31, which lie near 2^15; those with `SMALL_GRIDS` launch a few blocks where fewer do.
    """

    AS_IS = ""
    MARKED = "-marked"
    NEAR_LIMITS = "-near-limits"
    SMALL_GRIDS = "-small"


# What the C of a kind for devices must become before the compiler takes it.
_REWRITES: Mapping[str, Callable[[str], str]] = {
    f"{language}{ending}": rewrite
    for language in DEVICE_LANGUAGES
    for ending, rewrite in (
        ("", with_memory),
        ("-asan", sanitized),
        ("-race", as_openmp_with_memory),
        ("-ordered", as_openmp_with_memory),
    )
}


@dataclass(frozen=True, slots=True)
class Program:
    """One variant of a region: its text, and how it is compiled.

    `kind` is out of `annotune.measure.compile.KINDS`: ``openmp``, ``openacc``,
    ``openmp_target``, ``cuda-cpu``, ``c``, or ``cuda-gpu`` and ``openacc-gpu``, which need a GPU.
    `device` is the whole of ``S.cu`` for a CUDA variant, empty for the others; where it is empty
    and `code.device` is not, `code.device` stands for it. `optimisation` replaces
    ``-O2`` in a tuned CPU variant, and adds flags; `nvcc` are flags for that
    compiler alone. `config` is what the trial reports. One `for_tuned_alone` launches kernels at
    the tuned sizes only, and one that `may_launch_none` leaves as much to the host as that takes.
    """

    target: str
    kind: str
    code: RegionCode
    device: str = ""
    optimisation: tuple[str, ...] = ()
    nvcc: tuple[str, ...] = ()
    config: Mapping[str, str | int | float] = field(default_factory=dict)
    for_tuned_alone: bool = False
    may_launch_none: bool = False

    @property
    def device_text(self) -> str:
        return self.device or self.code.device


class Original:
    """One region as it is written, and the compilers, the flags and the folder for its texts."""

    def __init__(
        self,
        source: SourceFile,
        analysis: Analysis,
        tools: Toolchains,
        folder: Path,
        flags: tuple[str, ...] = (),
    ) -> None:
        self.source = source
        self.analysis = analysis
        self.region = analysis.region
        self.tools = tools
        self.folder = folder
        # A header beside the user's file is found from the scratch folder as well.
        beside = f"-iquote{Path(source.path).resolve().parent}"
        # Workers are given them all, and must look for what is compiled by the same ones.
        self.flags = flags if beside in flags else (*flags, beside)

    @property
    def compiled(self) -> Path:
        """Return the folder of the compiled texts."""
        return self.folder / "compiled"

    def flags_of(self, kind: str) -> tuple[str, ...]:
        """Return what the C compiler is told of the user's file when it compiles as `kind`.

        Functions that the region calls are compiled as in the user's own program: gcc would take
        them and what they read for this file's alone. So it would what OpenACC has on a GPU.
        """
        compiler, way = self.tools.c, KINDS[kind]
        is_gcc = compiler is not None and _GCC.match(compiler.version) is not None
        is_alone = is_gcc and way.compilers.get("c") == "c" and kind not in OFFLOADING
        if not is_alone or self.region.functions:
            return self.flags
        return (*self.flags, REACHED_ALONE)

    def compile(self, job: CompileJob, niceness: int = 0) -> CompileResult:
        """Return what compiling `job` gives, once for all who ask."""
        return compile_job(job, self.tools, self.compiled, niceness)


def compile_job_of(
    program: Program,
    kind: str,
    original: Original,
    limit_s: float = COMPILE_LIMIT_S,
    arch: str = "",
) -> CompileJob:
    """Return the compilation of `program` as `kind`; ValueError when the text cannot be."""
    before = declared(HELPER) + declared(BODY) if kind.endswith(TextForm.MARKED) else ""
    code = code_of(program, kind)
    sources = [TranslationUnit(before + variant_source(original.source, original.region, code))]
    sources += [TranslationUnit((RUNTIME_FOLDER / name).read_text()) for name in KINDS[kind].beside]
    if program.device_text:
        sources.append(_device_source(program.device_text, kind, original))
    return CompileJob(
        tuple(sources),
        kind,
        original.flags_of(kind),
        optimisation=program.optimisation,
        nvcc=program.nvcc,
        arch=arch or "sm_90",
        limit_s=limit_s,
    )


def code_of(program: Program, kind: str) -> RegionCode:
    """Return the C of `program` as the compilers of `kind` take it; ValueError when they cannot."""
    code = program.code
    if kind.endswith(TextForm.MARKED):
        helper, body = marked(code.helper, HELPER), marked(code.body, BODY)
        return replace(code, helper=helper, body=body)
    if kind.endswith(TextForm.NEAR_LIMITS):
        helper, body = with_near_limits(code.helper), with_near_limits(code.body)
        return replace(code, helper=helper, body=body)
    if kind not in _REWRITES:
        return code
    rewrite = _REWRITES[kind]
    return replace(code, body=rewrite(code.body), helper=rewrite(code.helper))


def cubin_job(program: Program, arch: str, limit_s: float) -> CompileJob:
    """Return the compilation of a variant's kernels for a GPU, which tells of each."""
    sources = (TranslationUnit(program.device_text, "cuda"),)
    return CompileJob(sources, "cuda-cubin", arch=arch, limit_s=limit_s, nvcc=program.nvcc)


def _device_source(text: str, kind: str, original: Original) -> TranslationUnit:
    """Return ``S.cu`` for a real GPU, or as the C++ that plays it on this CPU."""
    if "nvcc" in KINDS[kind].compilers.values():
        text = counted_device_text(text) if kind == CUDA_CALLS else timed_device_text(text)
        return TranslationUnit(text, "cuda")
    if kind.endswith(TextForm.SMALL_GRIDS):
        text = with_small_grids(text)
    if kind.endswith(TextForm.NEAR_LIMITS):
        text = with_near_limits(text)
    before = ""
    if kind.endswith(TextForm.MARKED):
        before = f'extern "C" {{\n{declared(DEVICE)}}}\n'
        text = marked(text, DEVICE)
    name = f"#line 1 {quoted(Path(original.source.path).stem + '.cu')}\n"
    return TranslationUnit(before + name + translate(text), "c++")


def texts_of(program: Program) -> Mapping[str, str]:
    """Return the texts of a variant by the arrays of marks that they may get."""
    if program.device_text:
        # What is beside it only calls it.
        return {DEVICE: program.device_text}
    return {HELPER: program.code.helper, BODY: program.code.body}


def digest_of_variant(program: Program, original: Original) -> str:
    """Return the hash of the program that `program` is: equal hashes need one measurement."""
    try:
        return digest_of(compile_job_of(program, program.kind, original), original.tools)
    except ValueError:
        return ""


# gcc's limits on a whole unit, gcc 12's own: how many instructions make it a large one, whose
# inlining and cloning may add no more than a share of it.
_LARGE_UNITS = {"large-unit-insns": 8_000, "ipa-cp-large-unit-insns": 16_000}


def alone_flags(count: int) -> tuple[str, ...]:
    """Return the flags by which gcc makes of each of `count` parts what it makes of one alone.

    Equal functions of two variants must stay two, and the growth that inlining and cloning may
    cause is limited for a unit as a whole, which here is `count` times as large.
    """
    limits = (f"--param={name}={count * limit}" for name, limit in _LARGE_UNITS.items())
    return ("-fno-ipa-icf", *limits)


def may_join(kind: str, region: Region, version: str) -> bool:
    """Return whether variants of `region` may share a compilation as `kind`.

    Only C that gcc alone makes a library of; and no function of the user's that the region
    calls: several callers instead of one change what the compiler inlines.
    """
    way = KINDS[kind]
    is_plain = set(way.compilers) == {"c"} and way.native and not way.fixed_optimisation
    return is_plain and not region.functions and "clang" not in version


TOGETHER = 32
"""So many variants share a compilation at most: gcc takes half a second for short ones."""

AHEAD_LIMIT_S = 10.0
"""What compiles for longer is left to its check, so that one hang does not hold up the others."""

NICENESS = 19
"""Compilers make way for what is being timed meanwhile."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A variant whose library is not there yet, and the job that makes it."""

    program: Program
    job: CompileJob
    digest: str


def compile_ahead(
    programs: Sequence[Program],
    original: Original,
    limit_s: float,
    arch: str = "",
    niceness: int = NICENESS,
) -> None:
    """Put what a check of these variants will look for into the original's folder.

    Variants of the same flags share a compilation. One that fails is repeated by halves, so
    that none suffers from its company; what does not compile alone is left to the check, which
    says why.
    """
    groups: dict[tuple[object, ...], list[_Wanted]] = {}
    for one in _wanted(programs, original, limit_s, arch):
        job = one.job
        is_joint = original.tools.c is not None and may_join(
            job.kind, original.region, original.tools.c.version
        )
        key = (job.kind, job.optimisation) if is_joint else (one.digest,)
        groups.setdefault(key, []).append(one)
    for group in groups.values():
        size = ceil(len(group) / ceil(len(group) / TOGETHER))
        for first in range(0, len(group), size):
            _compile(group[first : first + size], original, niceness)


def _wanted(
    programs: Sequence[Program], original: Original, limit_s: float, arch: str
) -> Iterator[_Wanted]:
    """Yield each program once that has no library yet, and that nvcc has told nothing of."""
    seen: set[str] = set()
    limit_s = min(limit_s, AHEAD_LIMIT_S)
    for program in programs:
        try:
            jobs = [compile_job_of(program, program.kind, original, limit_s, arch)]
        except ValueError:  # the text holds what cannot be compiled as this kind
            continue
        if arch and program.device_text:
            jobs.append(cubin_job(program, arch, limit_s))
        for job in jobs:
            digest = digest_of(job, original.tools)
            if digest not in seen and recall(digest, original.compiled) is None:
                seen.add(digest)
                yield _Wanted(program, job, digest)


def _compile(group: Sequence[_Wanted], original: Original, niceness: int) -> None:
    """Compile a group at once, or by halves where that fails."""
    if len(group) == 1:
        original.compile(group[0].job, niceness)
        return
    try:
        codes = [code_of(one.program, one.job.kind) for one in group]
        text = joint_source(original.source, original.region, codes)
    except ValueError:
        text = ""
    if text:
        job = replace(
            group[0].job,
            sources=(TranslationUnit(text),),
            flags=(*group[0].job.flags, *alone_flags(len(group))),
        )
        made = original.compile(job, niceness)
        # Of words that make a variant invalid a joint text does not tell whose they are.
        if made.ok and not made.invalid and _has_all(made, len(group)):
            share_s = made.time_s / len(group)
            parts = [
                replace(made, digest=one.digest, entry=numbered(ENTRY, n), time_s=share_s)
                for n, one in enumerate(group)
            ]
            keep(parts, original.compiled)
            return
    middle = len(group) // 2
    _compile(group[:middle], original, niceness)
    _compile(group[middle:], original, niceness)


def _has_all(made: CompileResult, count: int) -> bool:
    """Return whether a library has so many entries: no part swallowed the beginning of the next."""
    symbols = made.path.read_bytes()
    return all(f"{numbered(ENTRY, n)}\0".encode() in symbols for n in range(count))
