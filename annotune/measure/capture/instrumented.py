"""A user's file whose regions record their calls: the text that `annotune capture` builds.

The user's own text stays as it is, between what counts a call and keeps its arguments, and what
ends its time. The recorder, ``runtime/capture.c``, stands before the file's first line.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from annotune import __version__
from annotune.analysis.facts import Analysis
from annotune.codegen.c_expr import in_64_bits, plain_c
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.guards import (
    condition_tests,
    divisor_tests,
    joined,
    look_text,
    runs_tests,
)
from annotune.codegen.names import interface, narrow_scalars
from annotune.codegen.several_sizes import size_tests
from annotune.codegen.users_file import wanted_aliases
from annotune.codegen.writer import Writer, words
from annotune.diagnostics import AnnotuneError
from annotune.frontend.read.tokens import Replacement, splice
from annotune.frozen import dataclass
from annotune.ir.expr import Expr, accesses, variables
from annotune.ir.nest import Loop, expressions, walk_stmts
from annotune.ir.poly import from_expr
from annotune.ir.region import Array, Region, SourceFile
from annotune.ir.typing import in_long
from annotune.measure.compile import RUNTIME_FOLDER
from annotune.measure.directives import quoted
from annotune.measure.values import element_of, family_of, signature

FORMAT = 1
"""The version of the format in ``docs/capture.md``."""

DEFAULT_MAX_BYTES = 256 << 20
DEFAULT_CALLS = 3


@dataclass(frozen=True, slots=True)
class Recording:
    """Where a program leaves its records, and how much of them.

    `max_bytes` bounds the arrays of all its processes together; `calls` are kept by each of them
    at each of the sizes that it meets.
    """

    folder: Path
    max_bytes: int = DEFAULT_MAX_BYTES
    calls: int = DEFAULT_CALLS


@dataclass(frozen=True, slots=True)
class Recorded:
    """A region as it is recorded: the names in the order of the records.

    `sizes` are the integers by which calls are told apart, `integers` these and all others that
    have a value before the region, `reals` likewise, two for a complex number. `arrays` are kept;
    `why_not` says why others are not. Where `analysis` is None nothing is known of what a call
    touches. `look` is C that finds it, where memory decides that.
    """

    region: Region
    analysis: Analysis | None
    sizes: tuple[str, ...]
    integers: tuple[str, ...]
    reals: tuple[str, ...]
    arrays: tuple[Array, ...] = ()
    why_not: str = ""
    look: str = ""

    @classmethod
    def of(cls, region: Region, analysis: Analysis | None, why_not: str = "") -> Recorded:
        """Return how a region is recorded of which `analysis` is known."""
        own = region if analysis is None else analysis.region
        names, sizes = signature(own), size_names(own)
        unset = own.nest.iterators() | own.as_written.iterators()
        unset |= frozenset() if analysis is None else analysis.private
        integers = [name for name in names.integers if name not in unset]
        first = tuple(name for name in integers if name in sizes)
        others = tuple(name for name in integers if name not in sizes)
        reals = tuple(name for name in names.slots() if name not in unset)
        found = cls(region, analysis, first, (*first, *others), reals, why_not=why_not)
        if analysis is None:
            return found
        arrays = tuple(array for array in own.arrays.values() if _is_kept(analysis, array))
        try:
            look = look_text(analysis, Dialect(own, flat=False))
        except AnnotuneError as refusal:
            arrays = tuple(array for array in arrays if analysis.is_there(array.name))
            return replace(found, arrays=arrays, why_not=refusal.diagnostics[0].message)
        return replace(found, arrays=arrays, look=look)

    def head(self, text: str) -> Mapping[str, object]:
        """Return what the index says of the region, whatever the calls; `text` is its file's."""
        return {
            "function": self.region.function,
            "index": self.region.index,
            "line": self.region.span.line,
            "digest": digest_of_region(self.region, text),
            "sizes": list(self.sizes),
            "integers": list(self.integers),
            "reals": list(self.reals),
            "arrays": [
                {"name": a.name, "type": element_of(a.element).dtype.str} for a in self.arrays
            ],
        }


def _is_kept(analysis: Analysis, array: Array) -> bool:
    """Return whether a call reads an array before it has written all of it."""
    use = analysis.uses[array.name]
    is_input = use.is_read and not use.overwritten
    return is_input and family_of(array.element) is not None


def size_names(region: Region) -> frozenset[str]:
    """Return the integers by which calls are told apart: what bounds loops and lengths of rows.

    An offset, such as the number of an element, tells none apart, nor does the range of indices.
    """
    found: set[str] = set()
    iterators = region.nest.iterators()
    for stmt in walk_stmts(region.nest.body):
        if isinstance(stmt, Loop):
            found |= variables(stmt.lower) | variables(stmt.upper)
        for access in (a for expr in expressions(stmt) for a in accesses(expr)):
            for index in access.indices:
                found |= _factors(index, iterators)
    extents = (e for array in region.arrays.values() for e in array.extents if e is not None)
    found |= {name for extent in extents for name in variables(extent)}
    fixed = region.constants.keys() | iterators | region.nest.written_scalars()
    return frozenset(found & region.scalars.keys()) - region.index_ends - fixed


def _factors(index: Expr, iterators: frozenset[str]) -> frozenset[str]:
    """Return the names by which iterators are multiplied in a subscript."""
    poly = from_expr(index)
    split = poly.linear_in(iterators) if poly is not None else None
    if split is None:
        return variables(index)
    return frozenset(name for factor in split[0].values() for name in factor.names)


def digest_of_region(region: Region, text: str) -> str:
    """Return the hash of what a region computes, so far as its text and its types say.

    `text` is that of its file. White space does not count, nor what stands around the region.
    """
    place = region.extent
    body = " ".join(text[place.body_start : place.body_end].split())
    types = sorted((array.name, array.element) for array in region.arrays.values())
    said = [body, sorted(region.constants.items()), types]
    return hashlib.sha256(json.dumps(said).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def instrumented_text(
    source: SourceFile, regions: Sequence[Recorded], how: Recording, name: str
) -> str:
    """Return the text of `source` with its `regions` recorded.

    `name` is that of the file. Lines keep their numbers, as compilers and debuggers tell them.
    """
    stem = Path(name).stem
    runtime = (RUNTIME_FOLDER / "capture.c").read_text()
    before, after = runtime.split("/* THE REGIONS */\n")
    edits = [e for n, one in enumerate(regions, 1) for e in _edits(source, one, n)]
    origin = f"/* Generated by annotune {__version__} from {name}, to record its regions. */\n"
    own = _definitions(source, regions, how, name, stem)
    path = quoted(source.path)
    return f'{origin}# 2 "annotune_capture.c" 3\n{before}{own}{after}# 1 {path}\n' + splice(
        source.text, edits
    )


def _definitions(
    source: SourceFile, regions: Sequence[Recorded], how: Recording, name: str, stem: str
) -> str:
    """Return what the recorder has to know of the regions and of where its records go."""
    out = Writer()
    for number, one in enumerate(regions, 1):
        counts = (len(one.sizes), len(one.integers), len(one.reals), len(one.arrays))
        fields = ", ".join(map(str, counts))
        text = quoted(json.dumps(one.head(source.text))[1:-1])
        out.line(f"static struct annotune_region annotune_region_{number} = {{{text}, {fields}}};")
    listed = ", ".join(f"&annotune_region_{n}" for n in range(1, len(regions) + 1))
    out.line(f"static struct annotune_region *const annotune_regions[] = {{{listed}}};")
    said = {"annotune": __version__, "capture": FORMAT, "source": name, "byte_order": "little"}
    for what, text in (
        ("head", json.dumps(said)[1:-1]),
        ("stem", stem),
        ("stem_in_json", json.dumps(stem)[1:-1]),
        ("folder", str(how.folder.absolute())),
    ):
        out.line(f"static const char annotune_{what}[] = {quoted(text)};")
    for what, value in (
        ("max_bytes", how.max_bytes),
        ("calls_kept", how.calls),
        ("region_count", len(regions)),
    ):
        out.line(f"static const long annotune_{what} = {value};")
    return out.text()


def _edits(source: SourceFile, one: Recorded, number: int) -> Iterator[Replacement]:
    """Yield what stands before and behind a region's text, each line at its number."""
    text, place, path = source.text, one.region.extent, quoted(source.path)
    line = text.count("\n", 0, place.start) + 1
    lead = re.sub(r"[^\t]", " ", text[text.rfind("\n", 0, place.start) + 1 : place.start])
    yield place.start, place.start, f"{_before(one, number)}# {line} {path}\n{lead}"
    own = f"annotune_region_{number}"
    end = f"\nannotune_end(&{own}, &annotune_call); }}"
    rest = text.find("\n", place.end)
    if rest >= 0 and not text[place.end : rest].strip():
        end += f"\n# {text.count(chr(10), 0, rest) + 2} {path}"
    yield place.end, place.end, end


def _before(one: Recorded, number: int) -> str:
    """Return the block that counts a call, and keeps its arguments where that is its turn."""
    own = f"annotune_region_{number}"
    out = Writer()
    out.line("{")
    # The compiler keeps warnings to itself of what is no text of the user's.
    out.line('# 1 "annotune_capture.c" 3')
    with out.deeper():
        out.line("struct annotune_call annotune_call;")
        sizes = ", ".join(f"(long){name}" for name in one.sizes)
        with out.block(""):
            _declare_aliases(out, one.region, sizes)
            out.line(f"const long annotune_sizes[] = {{{sizes or 0}}};")
            begun = f"annotune_begin(&{own}, &annotune_call, annotune_sizes)"
            if one.analysis is None:
                out.line(f"(void){begun};")
            else:
                # What takes a look at arrays is looked at only where it is wanted.
                with out.block(f"if ({begun})"):
                    record = _record(one, one.analysis, own)
                    _declare_aliases(out, one.region, record)
                    out.lines(record)
        out.line("annotune_start(&annotune_call);")
    return out.text()


def _declare_aliases(out: Writer, region: Region, code: str) -> None:
    for alias in wanted_aliases(region, words(code)):
        out.lines(alias.declaration)


def _record(one: Recorded, analysis: Analysis, own: str) -> str:
    """Return what keeps a call's arguments, in the nest's plain names."""
    integers = ", ".join(f"(long){name}" for name in one.integers)
    reals = ", ".join(_reals(one, analysis))
    out = Writer()
    out.line(f"const long annotune_integers[] = {{{integers or 0}}};")
    out.line(f"const double annotune_reals[] = {{{reals or 0}}};")
    out.line(f"struct annotune_part annotune_parts[{max(1, len(one.arrays))}];")
    out.line("annotune_call.integers = annotune_integers;")
    out.line("annotune_call.reals = annotune_reals;")
    out.line("annotune_call.parts = annotune_parts;")
    # Where a test of the text fails, the nest is not what that means.
    tests = " && ".join(filter(None, [*analysis.region.text.tests, joined(_tests(analysis))]))
    with out.block(f"if ({tests or 1})"):
        out.lines(one.look)
        for line in _part_lines(one, analysis):
            out.line(line)
        out.line(f"annotune_keep(&{own}, &annotune_call);")
    return out.text()


def _reals(one: Recorded, analysis: Analysis) -> Iterator[str]:
    """Yield the values of the scalars that are no integers, a complex one's as two."""
    seen: set[str] = set()
    pairs = signature(analysis.region).complexes
    for name in one.reals:
        if name in pairs:
            yield f"{'__imag__' if name in seen else '__real__'} {name}"
        else:
            yield f"(double){name}"
        seen.add(name)


def _tests(analysis: Analysis) -> tuple[Expr, ...]:
    """Return what a call must pass for what is known of its arrays to hold."""
    region = analysis.region
    known = {} if analysis.all_sizes else region.known_sizes
    tests = (
        *divisor_tests(analysis, region.constants),
        *runs_tests(analysis, region.constants),
        *condition_tests(analysis, region.constants),
        *size_tests(interface(analysis), known, region.constants),
    )
    return tuple(in_64_bits(test, narrow_scalars(region)) for test in tests)


def _part_lines(one: Recorded, analysis: Analysis) -> Iterator[str]:
    """Yield C that tells the recorder of the part of each array that a call touches."""
    for number, array in enumerate(one.arrays):
        part = analysis.shapes[array.name].part
        first, count = (plain_c(in_long(e)) for e in (part.first, part.count))
        place = array.name if array.extents or array.is_pointer else f"&{array.name}"
        own = f"annotune_parts[{number}]"
        yield f"{own}.bytes = (const char *){place};"
        yield f"{own}.first = {first};"
        yield f"{own}.count = {count};"
        yield f"{own}.each = {element_of(array.element).dtype.itemsize};"
