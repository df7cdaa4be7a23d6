"""A ``begin Loop ( … )`` of Orio's: its text, and its transformations as wishes for loops."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import islice, product

from annotune.annotation import expressions as ex
from annotune.annotation.expressions import (
    at_commas,
    evaluate_node,
    free_names,
    lexemes,
    names_in,
    parse_expression,
    placed,
)
from annotune.annotation.flags import placed_names
from annotune.annotation.grammar import Opener, Origin, place
from annotune.annotation.messages import (
    BAD_TRANSFORM,
    NO_LOOP_AFTER,
    NO_LOOPS,
    TEXTS_DIFFER,
    TEXTS_DIFFER_HERE,
    UNCLOSED_BRACKET,
    UNEXPECTED,
    UNKNOWN_NAME,
    UNKNOWN_SLOT,
    UNKNOWN_TRANSFORM,
    UNSEARCHED,
    UNSUPPORTED_TRANSFORM,
    UNUSED_TRANSFORM,
    did_you_mean,
    gathered,
)
from annotune.annotation.orio.declarations import c_tokens, loop_iterators
from annotune.annotation.spec import LoopWish, Spec, Value, WishKind
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.frozen import dataclass

_TRANSFORM = re.compile(r"\btransform\b")
_HEAD = re.compile(r"\s*([A-Za-z_]\w*)?\s*", re.ASCII)
# In C text: what a `transform` could seem to stand in.
_SKIPPED = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Operand:
    """One argument of a transformation: its tree, and its name when it has one."""

    name: str
    node: ex.Node
    span: Span


@dataclass(frozen=True, slots=True)
class Transformation:
    """``transform NAME(arguments)``. `for_index` counts the ``for`` before it, from 0.

    So it is the index of the first ``for`` after it; `loop_count` says how many there are
    in the whole text.
    """

    name: str
    operands: tuple[Operand, ...]
    for_index: int
    span: Span


@dataclass(frozen=True, slots=True)
class LoopText:
    """A Loop annotation's text.

    `c_text` is the text with every transformation blanked, newlines kept: C at the offsets
    of the annotation's own text. It is all blanks where the loops stand after the annotation.
    """

    transformations: tuple[Transformation, ...]
    c_text: str

    @property
    def has_loops(self) -> bool:
        return bool(c_tokens(self.c_text))


def read_loop_text(text: str, origin: Origin) -> LoopText:
    """Return the transformations and the C of a Loop annotation.

    Raises:
        AnnotuneError: A transformation is malformed; the C is not looked at.
    """
    found: list[Transformation] = []
    shown = _without_comments(text)
    kept: list[str] = []
    at = loops = 0
    while (match := _TRANSFORM.search(shown, at)) is not None:
        start = match.start()
        loops += sum(token.text == "for" for token in c_tokens(shown[at:start]))
        one, end = _transformation(text, shown, start, loops, origin)
        found.append(one)
        kept += [text[at:start], re.sub(r"[^\n\r]", " ", text[start:end])]
        at = end
    return LoopText(tuple(found), "".join([*kept, text[at:]]))


def _without_comments(text: str) -> str:
    """Return `text` with C's comments blanked; strings too, as no command stands in one."""
    return _SKIPPED.sub(lambda match: re.sub(r"[^\n\r]", " ", match[0]), text)


def _transformation(
    text: str, shown: str, start: int, loops: int, origin: Origin
) -> tuple[Transformation, int]:
    """Return the transformation at `start`, and the offset after its ')'."""
    index = start + len("transform")
    head = _HEAD.match(shown, index)
    assert head is not None
    name = head[1] or ""
    open_ = head.end()
    if not name or shown[open_ : open_ + 1] != "(":
        found = f"'{shown[open_ : open_ + 1].strip() or 'end'}'"
        span = origin.span(open_ if name else index, open_ + 1)
        raise AnnotuneError.of(
            UNEXPECTED.at(span, found=found, hint="write `transform NAME(argument = value)`")
        )
    close = _closing(shown, open_)
    if close is None:
        raise AnnotuneError.of(UNCLOSED_BRACKET.at(origin.span(open_, open_ + 1), bracket="("))
    span = origin.span(start, close + 1)
    operands = tuple(_operands(text[open_ + 1 : close], origin.part(open_ + 1)))
    return Transformation(name, operands, loops, span), close + 1


def _closing(text: str, at: int) -> int | None:
    depth = 0
    for index in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return index
    return None


def _operands(text: str, origin: Origin) -> Iterator[Operand]:
    """Yield the arguments in ``tile = [('i',T,'ii')], unrolljam = (['i'],[U])``."""
    with placed(origin.span):
        stream = [one for one in lexemes(text) if one.kind != "end"]
    for part in filter(None, at_commas(stream)):
        name = ""
        if len(part) > 2 and part[0].kind == "name" and part[1].text == "=":
            name, part = part[0].text, part[2:]
        start, end = part[0].start, part[-1].end
        with placed(origin.part(start).span):
            node = parse_expression(text[start:end])
        yield Operand(name, node, origin.span(start, end))


# More combinations of an argument's parameters than this are not tried.
_MAX_COMBINATIONS = 10_000
_OWN = "annotune decides that itself, and checks it"
_CPU = "it concerns the C compiler's CPU code, which annotune leaves to the compiler"


@dataclass(frozen=True, slots=True)
class Slots:
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
    Slots("Unroll", ("ufactor", "parallelize")),
    Slots("UnrollJam", ("ufactor", "loop", "parallelize")),
    Slots("Tile", ("tsize", "tindex")),
    Slots("RegTile", ("loops", "ufactors")),
    Slots("Composite", (*_COMPOSITE_UNUSED, "tile", "regtile", "unrolljam", "cuda", "opencl")),
    Slots("CUDA", ("threadCount", "blockCount", "unrollInner", *_CUDA_UNUSED)),
    Slots("ArrCopy", ("aref", "dimsizes", "suffix", "dtype"), _OWN),
    Slots("ScalarReplace", ("dtype", "prefix"), _OWN),
    Slots("BoundReplace", ("lprefix", "uprefix"), _OWN),
    Slots("Permut", ("seq",), "annotune chooses the order of loops by their dependences"),
    Slots("Pragma", ("pragma_str",), _CPU),
    Slots("Vector", ("vector",), _CPU),
    Slots("OpenMP", ("pragma",), "annotune generates OpenMP of its own"),
)
# The others have more arguments than anyone gives without their names.
_BY_PLACE = ("Unroll", "UnrollJam", "Tile", "RegTile")
TRANSFORMATIONS: Mapping[str, Slots] = {row.name.lower(): row for row in _ROWS}


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
        with gathered(mistakes):
            _Wishes(one, iterators, values, found).read()
    if mistakes:
        raise AnnotuneError.of(*mistakes)
    return found


@dataclass(frozen=True, slots=True)
class _Wishes:
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

    def given(self, row: Slots) -> dict[str, Operand]:
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
            with placed(lambda start, end: operand.span):
                value = evaluate_node(node, dict(zip(names, choice, strict=True)))
            if type(value) is not int or value < 1:
                raise self.wrong(slot, "a number from 1, or a parameter", operand)
            found.setdefault(value)
        self.found.used.update(names)
        return tuple(found)

    def items(self, node: ex.Node) -> tuple[ex.Node, ...]:
        return node.items if isinstance(node, ex.ListDisplay) else ()

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
            if isinstance(parts[0], ex.ListDisplay):
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


@dataclass(frozen=True, slots=True)
class LoopBody:
    """Where a Loop region's C stands, and what its transformations add to the Spec.

    `loop_text` holds the offsets of C that stands in the annotation alone; None where C
    stands after it. `c_text` is that C with the transformations blanked, of the same length.
    """

    spec: Spec
    loop_text: tuple[int, int] | None
    c_text: str


def loop_body(
    opener: Opener, body: str, body_start: int, spec: Spec, lets: Mapping[str, Value]
) -> LoopBody:
    """Return the region of a Loop annotation with the C `body` after it.

    Where both hold loops, those after the annotation are the program: a C compiler sees no
    others. A difference is warned about.

    Raises:
        AnnotuneError: A transformation is unknown, unsupported or malformed, or there is no
            loop anywhere.
    """
    text = read_loop_text(opener.text, opener.origin)
    in_body = [(token.text, token.start) for token in c_tokens(body)]
    if not text.has_loops and not in_body:
        raise AnnotuneError.of(NO_LOOPS.at(opener.span, name=opener.name))
    iterators = loop_iterators(body if in_body else text.c_text)
    values: dict[str, tuple[Value, ...]] = {name: (value,) for name, value in lets.items()}
    params = (*spec.input_params, *spec.performance_params)
    values |= {param.name: param.values for param in params}
    found = wishes_of(text.transformations, iterators, values)
    notes = list({note.message: note for note in reversed(found.notes)}.values())
    if in_body and text.has_loops:
        notes += _difference(opener, text, in_body, body_start)
    spec = replace(spec, wishes=tuple(found.wishes))
    spec, unused = searched(spec, found.used)
    notes = sorted([*spec.notes, *notes, *unused], key=lambda note: note.span)
    spec = replace(spec, notes=tuple(notes))
    if in_body:
        return LoopBody(spec, None, "")
    start = opener.origin.offset(0)
    return LoopBody(spec, (start, start + len(opener.text)), text.c_text)


def _difference(
    opener: Opener, text: LoopText, in_body: list[tuple[str, int]], body_start: int
) -> list[Diagnostic]:
    """Return the warning that the loops in the annotation are not those after it."""
    in_text = [(token.text, token.start) for token in c_tokens(text.c_text)]
    if [one for one, _ in in_text] == [one for one, _ in in_body]:
        return []
    pairs = zip(in_text, in_body, strict=False)
    first = next((k for k, (a, b) in enumerate(pairs) if a[0] != b[0]), None)
    at = min(len(in_text), len(in_body)) - 1 if first is None else first
    word, start = in_body[at]
    source = opener.origin
    span = place(source.file, source.source, body_start + start, body_start + start + len(word))
    here = in_text[at]
    note = TEXTS_DIFFER_HERE.at(source.span(here[1], here[1] + len(here[0])))
    return [TEXTS_DIFFER.at(span).with_note(note)]


def searched(spec: Spec, in_wishes: Collection[str]) -> tuple[Spec, tuple[Diagnostic, ...]]:
    """Return `spec` with the axes of the search, and a note on parameters that change nothing.

    The values of a parameter `in_wishes` stand there; as an axis it would multiply the search
    with those of all others. A constraint that names a parameter which is no axis goes too:
    it rules out points of Orio's code, not of ours.
    """
    formulas = (formula for command in spec.commands for formula in command.formulas)
    axes = {*placed_names(spec), *(name for formula in formulas for name in free_names(formula))}
    kept = tuple(param for param in spec.performance_params if param.name in axes)
    gone = {param.name for param in spec.performance_params} - axes
    if not gone:
        return spec, ()
    constraints = tuple(one for one in spec.constraints if not gone & set(free_names(one.formula)))
    left = [p for p in spec.performance_params if p.name in gone and p.name not in in_wishes]
    spec = replace(spec, performance_params=kept, constraints=constraints)
    if not left:
        return spec, ()
    names = "', '".join(param.name for param in left)
    return spec, (UNSEARCHED.at(left[0].span, names=names),)
