"""Orio's transformations as wishes for loops: which have a meaning here, and which none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product

from annotune.annotation import expression as ex
from annotune.annotation.evaluate import evaluate_node, names_in
from annotune.annotation.loop_text import Operand, Transformation
from annotune.annotation.messages import (
    BAD_TRANSFORM,
    NO_LOOP_AFTER,
    UNKNOWN_NAME,
    UNKNOWN_SLOT,
    UNKNOWN_TRANSFORM,
    UNSUPPORTED_TRANSFORM,
    UNUSED_TRANSFORM,
    did_you_mean,
)
from annotune.annotation.spec import LoopWish, Value, WishKind
from annotune.annotation.tokens import ExpressionError
from annotune.diagnostics import AnnotuneError, Diagnostic

# More combinations of an argument's parameters than this are not tried.
_MAX_COMBINATIONS = 10_000
_OWN = "annotune decides that itself, and checks it"
_CPU = "it concerns the C compiler's CPU code, which annotune leaves to the compiler"


@dataclass(frozen=True, slots=True)
class Row:
    """A transformation and its arguments; one with `why_unused` changes nothing here."""

    name: str
    slots: tuple[str, ...]
    why_unused: str = ""


_COMPOSITE_UNUSED: Mapping[str, str] = {
    "permut": "annotune chooses the order of loops by their dependences",
    "arrcopy": _OWN,
    "scalarreplace": _OWN,
    "boundreplace": _OWN,
    "pragma": _CPU,
    "vector": _CPU,
    "openmp": "annotune generates OpenMP of its own",
}
_CUDA_UNUSED = (
    "cacheBlocks",
    "preferL1Size",
    "streamCount",
    "pinHostMem",
    "dataOnDevice",
    "domain",
)
_ROWS = (
    Row("Unroll", ("ufactor", "parallelize")),
    Row("UnrollJam", ("ufactor", "loop", "parallelize")),
    Row("Tile", ("tsize", "tindex")),
    Row("RegTile", ("loops", "ufactors")),
    Row("Composite", (*_COMPOSITE_UNUSED, "tile", "regtile", "unrolljam", "cuda", "opencl")),
    Row("CUDA", ("threadCount", "blockCount", "unrollInner", *_CUDA_UNUSED)),
    Row("ArrCopy", ("aref", "dimsizes", "suffix", "dtype"), _OWN),
    Row("ScalarReplace", ("dtype", "prefix"), _OWN),
    Row("BoundReplace", ("lprefix", "uprefix"), _OWN),
    Row("Permut", ("seq",), "annotune chooses the order of loops by their dependences"),
    Row("Pragma", ("pragma_str",), _CPU),
    Row("Vector", ("vector",), _CPU),
    Row("OpenMP", ("pragma",), "annotune generates OpenMP of its own"),
)
# The others have more arguments than anyone gives without their names.
_BY_PLACE = ("Unroll", "UnrollJam", "Tile", "RegTile")
TRANSFORMATIONS: Mapping[str, Row] = {row.name.lower(): row for row in _ROWS}


@dataclass(slots=True)
class Wished:
    """What the transformations of one region ask, and what is to be said of them.

    `used` are the parameters whose values stand in the wishes.
    """

    wishes: list[LoopWish] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    used: set[str] = field(default_factory=set)


def wishes_of(
    transformations: Sequence[Transformation],
    iterators: Sequence[str],
    values: Mapping[str, tuple[Value, ...]],
) -> Wished:
    """Return the wishes of a region whose ``for`` loops have these iterators, in text order.

    `values` has the values of each parameter and abbreviation.

    Raises:
        AnnotuneError: A transformation is unknown or unsupported, or its arguments are wrong.
    """
    found = Wished()
    mistakes: list[Diagnostic] = []
    for one in transformations:
        try:
            _Reader(one, iterators, values, found).read()
        except AnnotuneError as error:
            mistakes.extend(error.diagnostics)
    if mistakes:
        raise AnnotuneError.of(*mistakes)
    return found


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one transformation into `found`."""

    one: Transformation
    iterators: Sequence[str]
    values: Mapping[str, tuple[Value, ...]]
    found: Wished

    def read(self) -> None:
        name = self.one.name.lower()
        if name == "opencl":
            self.refuse_opencl()
        row = TRANSFORMATIONS.get(name)
        if row is None:
            names = [known.name for known in TRANSFORMATIONS.values()]
            hint = did_you_mean(self.one.name, names)
            raise AnnotuneError.of(
                UNKNOWN_TRANSFORM.at(self.one.span, name=self.one.name, hint=hint)
            )
        if row.why_unused:
            self.note(row.name, row.why_unused)
            return
        given = self.given(row)
        readers: Mapping[str, Callable[[Mapping[str, Operand]], None]] = {
            "unroll": self.unroll,
            "unrolljam": self.unroll,
            "tile": self.tile,
            "regtile": self.regtile,
            "composite": self.composite,
            "cuda": self.cuda,
        }
        readers[name](given)

    def refuse_opencl(self) -> None:
        hint = "use `transform CUDA(…)`, or PerfTuning alone: annotune chooses the launch itself"
        span = self.one.span
        raise AnnotuneError.of(UNSUPPORTED_TRANSFORM.at(span, name="OpenCL", hint=hint))

    def given(self, row: Row) -> dict[str, Operand]:
        """Return the operands by their slots' names."""
        found: dict[str, Operand] = {}
        if row.name not in _BY_PLACE and any(not operand.name for operand in self.one.operands):
            raise self.wrong("arguments", "named", self.one.operands[0])
        lower = {slot.lower(): slot for slot in row.slots}
        free = iter(row.slots)
        for operand in self.one.operands:
            slot = lower.get(operand.name.lower()) if operand.name else next(free, None)
            if slot is None:
                hint = did_you_mean(operand.name, row.slots)
                raise AnnotuneError.of(
                    UNKNOWN_SLOT.at(operand.span, name=row.name, slot=operand.name, hint=hint)
                )
            found[slot] = operand
        return found

    def note(self, name: str, why: str, operand: Operand | None = None) -> None:
        span = operand.span if operand else self.one.span
        self.found.notes.append(UNUSED_TRANSFORM.at(span, name=name, why=why))

    def wrong(self, slot: str, wanted: str, operand: Operand) -> AnnotuneError:
        wrong = BAD_TRANSFORM.at(operand.span, slot=slot, name=self.one.name, wanted=wanted)
        return AnnotuneError.of(wrong)

    # The loops.

    def first_loop(self) -> tuple[str, int]:
        """Return the iterator and the index of the loop after the transformation."""
        index = self.one.for_index
        if index >= len(self.iterators):
            raise AnnotuneError.of(NO_LOOP_AFTER.at(self.one.span, name=self.one.name))
        return self.iterators[index], index

    def loop_named(self, name: str) -> tuple[str, int]:
        """Return the first loop of that iterator from here on; index -1 where there is none."""
        for index in range(self.one.for_index, len(self.iterators)):
            if self.iterators[index] == name:
                return name, index
        return name, -1

    # The values.

    def numbers(self, slot: str, node: ex.Node, operand: Operand) -> tuple[int, ...]:
        """Return the values that an argument takes over those of its parameters.

        Raises:
            AnnotuneError: It names what is no parameter, or takes a value that is no number
                from 1.
        """
        names = list(dict.fromkeys(name.name for name in names_in(node)))
        for name in names:
            if name not in self.values:
                hint = did_you_mean(name, self.values)
                raise AnnotuneError.of(UNKNOWN_NAME.at(operand.span, name=name, hint=hint))
        choices = product(*(self.values[name] for name in names))
        found: dict[int, None] = {}
        for choice in islice(choices, _MAX_COMBINATIONS):
            try:
                value = evaluate_node(node, dict(zip(names, choice, strict=True)))
            except ExpressionError as error:
                raise error.at(lambda start, end: operand.span) from None
            if type(value) is not int or value < 1:
                raise self.wrong(slot, "a number from 1, or a parameter", operand)
            found.setdefault(value)
        self.found.used.update(names)
        return tuple(found)

    def items(self, node: ex.Node) -> tuple[ex.Node, ...]:
        return node.items if isinstance(node, ex.Sequence) else ()

    def add(self, kind: WishKind, loop: tuple[str, int], node: ex.Node, operand: Operand) -> None:
        factors = self.numbers("factor", node, operand)
        if factors == (1,):
            return  # by one changes nothing
        name, index = loop
        if index < 0:
            self.note(f"{self.one.name} of '{name}'", "the text has no such loop", operand)
            return
        self.found.wishes.append(LoopWish(kind, name, index, factors, span=operand.span))

    # The transformations.

    def unroll(self, given: Mapping[str, Operand]) -> None:
        loop = self.first_loop()
        if "ufactor" in given:
            operand = given["ufactor"]
            self.add(WishKind.UNROLL, loop, operand.node, operand)

    def tile(self, given: Mapping[str, Operand]) -> None:
        loop = self.first_loop()
        if "tsize" in given:
            operand = given["tsize"]
            self.add(WishKind.TILE, loop, operand.node, operand)

    def regtile(self, given: Mapping[str, Operand]) -> None:
        loops, factors = given.get("loops"), given.get("ufactors")
        if loops is None or factors is None:
            raise AnnotuneError.of(
                BAD_TRANSFORM.at(
                    self.one.span, slot="loops", name=self.one.name, wanted="given with ufactors"
                )
            )
        self.unroll_each(self.items(loops.node), self.items(factors.node), factors)

    def unroll_each(
        self, loops: Sequence[ex.Node], factors: Sequence[ex.Node], operand: Operand
    ) -> None:
        if len(loops) != len(factors):
            raise self.wrong("factors", "as many as the loops", operand)
        for loop, factor in zip(loops, factors, strict=True):
            name = self.loop_name(loop, operand)
            self.add(WishKind.UNROLL, self.loop_named(name), factor, operand)

    def loop_name(self, node: ex.Node, operand: Operand) -> str:
        if not isinstance(node, ex.Literal) or not isinstance(node.value, str):
            raise self.wrong("loops", "loops' names in quotes", operand)
        return node.value

    def composite(self, given: Mapping[str, Operand]) -> None:
        if "opencl" in given:
            self.refuse_opencl()
        for slot, why in _COMPOSITE_UNUSED.items():
            if slot in given:
                self.note(slot, why, given[slot])
        if "tile" in given:
            self.tiles(given["tile"])
        if "unrolljam" in given:
            self.pair(given["unrolljam"])
            if "regtile" in given:
                self.note("regtile", "its loops are unrolled by unrolljam", given["regtile"])
        elif "regtile" in given:
            self.pair(given["regtile"])
        if "cuda" in given:
            parts = self.items(given["cuda"].node)
            operand = given["cuda"]
            self.parallel(self.numbers("cuda", parts[0], operand) if parts else (), ())

    def pair(self, operand: Operand) -> None:
        parts = self.items(operand.node)
        if len(parts) != 2:
            raise self.wrong(operand.name, "(['i','j'], [2,4])", operand)
        self.unroll_each(self.items(parts[0]), self.items(parts[1]), operand)

    def tiles(self, operand: Operand) -> None:
        for part in self.items(operand.node):
            parts = self.items(part)
            if len(parts) != 3:
                raise self.wrong("tile", "a list of ('i', size, 'ii')", operand)
            if isinstance(parts[0], ex.Sequence):
                self.note("tile of a tile", "one level of tiles is made", operand)
                continue
            name = self.loop_name(parts[0], operand)
            self.add(WishKind.TILE, self.loop_named(name), parts[1], operand)

    def cuda(self, given: Mapping[str, Operand]) -> None:
        for slot in [slot for slot in given if slot in _CUDA_UNUSED]:
            self.note(f"{slot} of CUDA", _OWN, given[slot])
        threads, blocks = (
            self.numbers(slot, given[slot].node, given[slot]) if slot in given else ()
            for slot in ("threadCount", "blockCount")
        )
        self.parallel(threads, blocks)
        if "unrollInner" in given:
            operand = given["unrollInner"]
            self.add(WishKind.UNROLL, self.innermost(), operand.node, operand)

    def innermost(self) -> tuple[str, int]:
        """Return the last loop before the next iterator comes again: the nest's innermost."""
        name, index = self.first_loop()
        seen = {name}
        while index + 1 < len(self.iterators) and self.iterators[index + 1] not in seen:
            index += 1
            seen.add(self.iterators[index])
        return self.iterators[index], index

    def parallel(self, threads: tuple[int, ...], blocks: tuple[int, ...]) -> None:
        name, index = self.first_loop()
        wish = LoopWish(WishKind.PARALLEL, name, index, (), threads, blocks, self.one.span)
        self.found.wishes.append(wish)
