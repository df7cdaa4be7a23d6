"""The text of one variant, and the compilation that makes a library of it.

For a check the text may have marks, which tell which of its branches were run; limits near 2^15
in place of 2^31; or be made to take its way out.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from annotune.analysis.facts import Analysis
from annotune.codegen.target import RegionCode
from annotune.measure.child import BODY, DEVICE, HELPER, ROOM
from annotune.measure.compile import (
    COMPILE_LIMIT_S,
    KINDS,
    RUNTIME_FOLDER,
    CompileJob,
    Source,
    digest_of,
)
from annotune.measure.cuda_text import translate, with_small_grids
from annotune.measure.gpu import timed_device_text
from annotune.measure.harness import quoted, variant_source
from annotune.measure.oracle import Oracle
from annotune.measure.sizes import fulfilling, is_possible, open_sizes

_TOLD = 5
_TOKEN = re.compile(
    r"""
    //(?:\\\n|[^\n])* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
  | ^[ \t]*\#(?:\\\n|[^\n])*
  | (?P<token> [A-Za-z_]\w* | [^\s\w] )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A block that has a mark: the line of its brace, from 1, and that line's text."""

    line: int
    text: str


def blocks(text: str) -> tuple[Block, ...]:
    """Return the blocks of a text in their order."""
    lines = text.split("\n")
    numbers = [text.count("\n", 0, place) for place in _places(text)]
    return tuple(Block(n + 1, lines[n].strip()) for n in numbers)


def marked(text: str, marks: str) -> str:
    """Return `text` with marks in the array `marks`, every line at its number."""
    pieces, done = [], 0
    for number, place in enumerate(_places(text)):
        pieces += [text[done:place], f" {marks}[{number}] = 1;"]
        done = place
    return "".join([*pieces, text[done:]])


def declared(marks: str) -> str:
    """Return a line of C and C++ that defines an array of marks."""
    return f'__attribute__((visibility("default"))) unsigned char {marks}[{ROOM}];\n'


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
    found = [match for match in _TOKEN.finditer(text) if match["token"]]
    words = [match["token"] for match in found]
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
                places.append(found[number].end())
    return places[:ROOM]


NEAR_LIMITS_ITERATIONS = 3_000_000
"""How many assignments a run near a limit may make."""

# How far a limit lies below the end of a type at the most: beyond it is no limit of a step. That
# of a whole grid is some multiple of 2^26 elements.
_NEAR = 1 << 14
_GRID = 1 << 16
_ENDS = {1 << 31: 1 << 15, 1 << 32: 1 << 16}
_LIMIT = re.compile(r"\b(\w+) <= (\d{10})\b")
_EXTENT = re.compile(r"(\bannotune_extent\([^;\n]*?, )(\d+)\)")
_STEPS = re.compile(r"\bfor \((?:(unsigned)(?: int)?|int) (?=(\w+) = [^;]*;[^;]*; \2 \+= )")


def with_near_limits(text: str) -> str:
    """Return `text` with each limit near the end of a type, and counters in steps, 16 bits less."""
    text = _LIMIT.sub(lambda found: f"{found[1]} <= {_nearer(int(found[2]))}", text)
    text = _EXTENT.sub(lambda found: f"{found[1]}{_fewer(int(found[2]))})", text)
    return _STEPS.sub(lambda found: f"for ({found[1] or ''} short ".replace("( ", "("), text)


def near_limits(texts: Iterable[str], analysis: Analysis) -> tuple[Mapping[str, int], ...]:
    """Return sizes of which one is at a limit of `texts` `with_near_limits`, or one more."""
    names = open_sizes(analysis.region)
    found = []
    for name, limit in dict.fromkeys(_limits(texts)):
        for size in (limit, limit + 1) if name in names else ():
            sizes = fulfilling(analysis, {**dict.fromkeys(names, 1), name: size})
            if is_possible(analysis, sizes, NEAR_LIMITS_ITERATIONS):
                found.append(sizes)
    return tuple(found)


def _limits(texts: Iterable[str]) -> Iterator[tuple[str, int]]:
    for text in texts:
        for name, digits in _LIMIT.findall(text):
            if _nearer(int(digits)) != int(digits):
                yield name, _nearer(int(digits))


def _nearer(limit: int) -> int:
    """Return a limit as far from the end of 16 bits as from that of 32; another as it is."""
    for end, near in _ENDS.items():
        if 0 < end - limit < _NEAR:
            return near - (end - limit)
        if 0 < end - limit < end // 2 and (end - limit) % _GRID == 0:
            return near - (end - limit) // _GRID
    return limit


def _fewer(blocks: int) -> int:
    """Return a limit of blocks for shorter counters; a device's own as it is."""
    return blocks // _GRID if blocks % _GRID == 0 else blocks


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


MARKED = "-marked"
"""Ends the kinds whose texts tell which of their branches were run."""

NEAR_LIMITS = "-near-limits"
"""Ends the kinds whose texts have limits that sizes reach."""

# What a kind's C must become before the compiler takes it; imported when used.
_REWRITES: Mapping[str, str] = {
    "openacc": "annotune.measure.acc_memory:with_memory",
    "openacc-asan": "annotune.measure.acc_memory:sanitized",
    "openacc-race": "annotune.measure.acc_memory:as_openmp_with_memory",
    "openacc-ordered": "annotune.measure.acc_memory:as_openmp_with_memory",
}


@dataclass(frozen=True, slots=True)
class Variant:
    """One variant of a region: its text, and how it is compiled.

    `kind` is out of `annotune.measure.compile.KINDS`: ``openmp``, ``openacc``, ``cuda-cpu``,
    ``c``, or ``cuda-gpu`` and ``openacc-gpu``, which need a GPU. `device` is the whole of ``S.cu``
    for a CUDA variant, empty for the others; where it is empty and `code.device` is not,
    `code.device` stands for it. `optimisation` replaces
    ``-O2`` in a tuned CPU variant, and adds flags; `nvcc` are flags for that
    compiler alone. `config` is what the trial reports.
    """

    target: str
    kind: str
    code: RegionCode
    device: str = ""
    optimisation: tuple[str, ...] = ()
    nvcc: tuple[str, ...] = ()
    config: Mapping[str, str | int | float] = field(default_factory=dict)

    @property
    def device_text(self) -> str:
        return self.device or self.code.device


def compile_job_of(
    variant: Variant,
    kind: str,
    oracle: Oracle,
    limit_s: float = COMPILE_LIMIT_S,
    arch: str = "",
) -> CompileJob:
    """Return the compilation of `variant` as `kind`; ValueError when the text cannot be."""
    before = declared(HELPER) + declared(BODY) if kind.endswith(MARKED) else ""
    code = code_of(variant, kind)
    sources = [Source(before + variant_source(oracle.source, oracle.region, code))]
    sources += [Source((RUNTIME_FOLDER / name).read_text()) for name in KINDS[kind].beside]
    if variant.device_text:
        sources.append(_device_source(variant.device_text, kind, oracle))
    return CompileJob(
        tuple(sources),
        kind,
        oracle.flags,
        optimisation=variant.optimisation,
        nvcc=variant.nvcc,
        arch=arch or "sm_90",
        limit_s=limit_s,
    )


def code_of(variant: Variant, kind: str) -> RegionCode:
    """Return the C of `variant` as the compilers of `kind` take it; ValueError when they cannot."""
    code = variant.code
    if kind.endswith(MARKED):
        helper, body = marked(code.helper, HELPER), marked(code.body, BODY)
        return replace(code, helper=helper, body=body)
    if kind.endswith(NEAR_LIMITS):
        helper, body = with_near_limits(code.helper), with_near_limits(code.body)
        return replace(code, helper=helper, body=body)
    if kind not in _REWRITES:
        return code
    rewrite = _function(_REWRITES[kind])
    return replace(code, body=rewrite(code.body), helper=rewrite(code.helper))


def _device_source(text: str, kind: str, oracle: Oracle) -> Source:
    """Return ``S.cu`` for a real GPU, or as the C++ that plays it on this CPU."""
    if "nvcc" in KINDS[kind].compilers.values():
        return Source(timed_device_text(text), "cuda")
    if kind.endswith("-small"):
        text = with_small_grids(text)
    if kind.endswith(NEAR_LIMITS):
        text = with_near_limits(text)
    before = ""
    if kind.endswith(MARKED):
        before = f'extern "C" {{\n{declared(DEVICE)}}}\n'
        text = marked(text, DEVICE)
    name = f"#line 1 {quoted(Path(oracle.source.path).stem + '.cu')}\n"
    return Source(before + name + translate(text), "c++")


def _function(name: str) -> Callable[[str], str]:
    module, _, attribute = name.partition(":")
    function: Callable[[str], str] = getattr(importlib.import_module(module), attribute)
    return function


def texts_of(variant: Variant) -> Mapping[str, str]:
    """Return the texts of a variant by the arrays of marks that they may get."""
    if variant.device_text:
        # What is beside it only calls it.
        return {DEVICE: variant.device_text}
    return {HELPER: variant.code.helper, BODY: variant.code.body}


def digest_of_variant(variant: Variant, oracle: Oracle) -> str:
    """Return the hash of the program that `variant` is: equal hashes need one measurement."""
    try:
        return digest_of(compile_job_of(variant, variant.kind, oracle), oracle.tools)
    except ValueError:
        return ""
