"""A C file and its annotations turned into regions: the front end's one entry."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pycparser import c_ast

from annotune.annotation.data_block import DataBlock
from annotune.annotation.perf_tuning import MAX_SIZES, problem_sizes
from annotune.annotation.regions import AnnotationBlock
from annotune.annotation.spec import Spec
from annotune.diagnostics import AnnotuneError, Diagnostic, Severity, internal_errors_at
from annotune.frontend import messages
from annotune.frontend.functions import user_functions
from annotune.frontend.lower.aliases import Aliased, with_aliases
from annotune.frontend.lower.around import (
    Stability,
    declarations,
    definitions,
    learn,
    read_after,
    set_in_text,
    tuned_sizes,
)
from annotune.frontend.lower.arrays import (
    constant_lengths,
    derived_from,
    describe,
    mixes_widths,
    refuse_shared,
)
from annotune.frontend.lower.libf2c import LIBRARY, call_by_value, integer_type, library_functions
from annotune.frontend.lower.names import Given, Names
from annotune.frontend.lower.statements import lower
from annotune.frontend.lower.steps import sequenced, stepped
from annotune.frontend.lower.temporaries import forwarded, with_rows
from annotune.frontend.lower.unique_names import UniqueNames, with_unique_names
from annotune.frontend.macro_texts import conditions_at, surroundings
from annotune.frontend.outliving import with_declarations_ahead
from annotune.frontend.own_directives import check_own_directives
from annotune.frontend.read.counted import counted
from annotune.frontend.read.function_index import index_of
from annotune.frontend.read.ladder import Ladder, Rung, ladder_of
from annotune.frontend.read.parse import TopLevel
from annotune.frontend.read.preprocess import HeaderSearch
from annotune.frontend.read.region_finder import (
    ParsedFunction,
    RegionPlace,
    check_directives,
    find,
    function_at,
    macros_defined_in,
    part_of,
)
from annotune.frontend.read.syntax import offset, token_place, walk_tree
from annotune.frontend.read.tokens import WORD
from annotune.frontend.residency import residency
from annotune.frontend.scratch import scratch_arrays
from annotune.frontend.type_premises import types_read
from annotune.frozen import dataclass
from annotune.ir.expr import Var
from annotune.ir.nest import Nest
from annotune.ir.region import (
    Array,
    Extent,
    LeftRegion,
    Premise,
    Region,
    RegionText,
    SourceFile,
    Spelling,
    UserFunction,
)

_NOTHING: Mapping[str, int] = {}
_NO_DEFINES: Mapping[str, str] = {}
_NO_SEARCH = HeaderSearch()


@dataclass(frozen=True, slots=True)
class Loaded:
    """The regions of a file that are sound, and what is wrong with the others, its `left` ones.

    `functions` are those with an annotated region, in text order. `of_data` is what there is to say
    of blocks of Data.
    """

    source: SourceFile
    problems: tuple[Diagnostic, ...]
    functions: tuple[str, ...]
    of_data: tuple[Diagnostic, ...] = ()


def load(
    path: str,
    text: str,
    blocks: Sequence[AnnotationBlock],
    overrides: Mapping[str, int] = _NOTHING,
    defines: Mapping[str, str] = _NO_DEFINES,
) -> SourceFile:
    """Return the regions of a C file, with `defines` as macros of ``-D``.

    Raises:
        AnnotuneError: The file or a region is refused, with every reason found.
    """
    loaded = load_sound(path, text, blocks, overrides, search=HeaderSearch(defines=defines))
    if any(problem.severity is Severity.ERROR for problem in loaded.problems):
        raise AnnotuneError(loaded.problems)
    return loaded.source


def load_sound(
    path: str,
    text: str,
    blocks: Sequence[AnnotationBlock],
    overrides: Mapping[str, int] = _NOTHING,
    function: str = "",
    search: HeaderSearch = _NO_SEARCH,
    kept: Sequence[DataBlock] = (),
    ladder: Ladder | None = None,
) -> Loaded:
    """Return what is sound of a C file, so that one refused region does not hide the others.

    `overrides` are sizes that win over the annotation's. `function` leaves out the regions of all
    other functions, unless it is empty. `kept` are blocks in which arrays stay on the device.
    `ladder` has what was read already of the file, perhaps with another text.

    Raises:
        AnnotuneError: The file as a whole is no C file.
    """
    blocks = sorted(blocks, key=lambda b: b.start)
    if ladder is None or ladder.source.text != text:
        ladder = ladder_of(path, text, search)
    ahead = with_declarations_ahead(ladder, text, blocks, kept)
    if ahead.made.text != text:
        text, blocks, kept = ahead.made.text, ahead.made.blocks, ahead.made.kept
        ladder = ladder_of(path, text, search)
    reading = _Reading(ladder, blocks, overrides)
    regions: list[Region] = []
    problems: list[Diagnostic] = []
    left: list[LeftRegion] = []
    for number, block in enumerate(blocks):
        try:
            with internal_errors_at(block.span):
                found = reading.region_or_too_deep(block, function)
            if found is None:
                continue
            if number in ahead.refused:
                raise ahead.refused[number]
            regions.append(found)
        except AnnotuneError as refusal:
            wrong = ahead.refused.get(number, refusal).diagnostics
        else:
            continue
        problems += [p for p in wrong if p not in problems]
        left.append(_left(ladder, block, wrong))
    problems += [p for p in reading.warnings if p not in problems]
    problems.sort(key=lambda p: p.span)
    resident = residency(ladder, kept, blocks)
    if resident.residency:
        regions = [replace(region, is_resident=True) for region in regions]
    source = SourceFile(path, text, tuple(regions), tuple(left), resident.residency)
    return Loaded(source, tuple(problems), tuple(reading.counts), resident.problems)


def _left(ladder: Ladder, block: AnnotationBlock, wrong: Sequence[Diagnostic]) -> LeftRegion:
    indent = ladder.first.file.source.indent(block.start)
    reason = next(d.message for d in wrong if d.severity is Severity.ERROR)
    return LeftRegion(block.start, indent, block.span, reason)


class _Reading:
    """The regions of one file, each read on the lowest rung of the ladder that is enough."""

    def __init__(
        self, ladder: Ladder, blocks: Sequence[AnnotationBlock], overrides: Mapping[str, int]
    ) -> None:
        self.ladder = ladder
        self.overrides = overrides
        self.counts: Counter[str] = Counter()
        self.warnings: list[Diagnostic] = []
        self.blocks = blocks
        self.named: tuple[c_ast.Compound, NamesByRegion] | None = None
        self.places = [block.start for block in blocks]
        self.erased = macros_defined_in(ladder.first.file.clean, blocks)

    def region_or_too_deep(self, block: AnnotationBlock, function: str) -> Region | None:
        """Return what `region` does, or refuse what is nested deeper than Python can call."""
        try:
            return self.region(block, function)
        except RecursionError:
            raise AnnotuneError.of(messages.TOO_DEEP.at(block.span)) from None

    def region(self, block: AnnotationBlock, function: str) -> Region | None:
        """Return the region of a block; None in a function other than the one asked for.

        Raises:
            AnnotuneError: The region is refused.
        """
        refusal: AnnotuneError | None = None
        doubtful: tuple[Region, list[str]] | None = None
        is_counted = False
        for rung in self.ladder.rungs():
            try:
                part = part_of(rung.file, block)
                # A refused region counts too, so that the others keep their numbers.
                self.counts[part.function] += not is_counted
                is_counted = True
                if function not in ("", part.function):
                    return None
                check_directives(rung.file, block, part)
                check_own_directives(rung.file, block)
                made = self._region(rung, part, block)
            except AnnotuneError as error:
                # A rung that failed on its way is no better witness than the one before it.
                refusal = error if refusal is None or not rung.problem else refusal
                if not self.ladder.may_help(error):
                    break
                continue
            if rung.from_table:
                self.warnings.append(messages.F2C_FROM_TABLE.at(block.span))
            doubts = rung.is_in_doubt(part)
            if not doubts:
                return made
            doubtful = doubtful or (made, doubts)
        if doubtful is not None:
            made, doubts = doubtful
            self._warn(block, doubts)
            return made
        assert refusal is not None
        raise self.ladder.explained(refusal)

    def _warn(self, block: AnnotationBlock, names: Sequence[str]) -> None:
        for name in dict.fromkeys(names):
            warning = messages.DECIDED_ALONE.at(block.span, name=name)
            for note in self.ladder.unread_notes():
                warning = warning.with_note(note)
            self.warnings.append(warning)

    def _function(self, rung: Rung, part: TopLevel) -> ParsedFunction:
        """Return a function as all its regions take it, parsed once for one set of regions."""
        file = rung.file
        opens, closes = file.tokens.starts[part.first], file.tokens.ends[part.last]
        own = tuple(place for place in self.places if opens <= place < closes)
        key = part.first, self.erased, own
        function = rung.functions.get(key)
        if function is None:
            function = rung.functions[key] = function_at(file, part, self.erased, own)
            call_by_value(function)
        return function

    def _region(self, rung: Rung, part: TopLevel, block: AnnotationBlock) -> Region:
        function = self._function(rung, part)
        # The blocks around one region are not those around the next.
        function = replace(function, scope=function.scope.copy())
        made = _region(function, block, self.counts[part.function], self.overrides, self.erased)
        known = self.named
        if known is None or known[0] is not function.body:
            known = self.named = function.body, NamesByRegion.of(function.body, self.blocks)
        return replace(made, text=replace(made.text, unread=_unread(function, block, known[1])))


def _region(
    function: ParsedFunction,
    block: AnnotationBlock,
    index: int,
    overrides: Mapping[str, int],
    erased: frozenset[str],
) -> Region:
    inside = (block.body_start, block.body_end)
    unique = with_unique_names(function, block)
    function = unique.function
    aliased, names = _before(unique, block, overrides)
    statements = sequenced(forwarded(counted(stepped(aliased.statements, names)), names))
    nest, names = lower(statements, names)
    # An integer that nothing reads may be made of an array that no statement is left to touch.
    used, touched = names.used, nest.arrays()
    used.arrays = {name: symbol for name, symbol in used.arrays.items() if name in touched}
    if not nest.loops():
        raise AnnotuneError.of(messages.NO_NEST.at(block.span))
    spec = _with_plain_sizes(block.spec, aliased, names)
    arrays = _arrays(nest, spec.assumptions.extents, names)
    place = find(function, block.body_start, block.body_end, block.span)
    for name in scratch_arrays(function, place.statements, used.arrays.values()):
        # Nobody else has its address.
        arrays[name] = replace(arrays[name], is_scratch=True, is_restrict=True)
    changing = {loop.var for loop in nest.loops()}
    changing |= {a.target.name for a in nest.assigns() if isinstance(a.target, Var)}
    types = types_read(names, place.statements, aliased.formulas, inside)
    premises = (*conditions_at(names, *inside, erased), *types)
    text = _text(unique, aliased, names, nest, arrays, premises)
    first, *others = (
        tuned_sizes(names, text.aliases, changing, given, overrides)
        for given in problem_sizes(block.spec, MAX_SIZES) or ({},)
    )
    return Region(
        function.part.function,
        index,
        nest,
        arrays,
        used.scalars,
        first,
        spec,
        _extent(function, block),
        block.span,
        text,
        _functions(function, used.functions, block.body_start),
        other_sizes=tuple(others),
        varied=tuple(n for n in first if any(one.get(n) != first[n] for one in others)),
        around=surroundings(names, index, inside),
    )


def _unread(
    function: ParsedFunction, block: AnnotationBlock, named: NamesByRegion
) -> tuple[str, ...]:
    """Return the local variables that the text of a region names, and nothing else reads."""
    here = named.inside.get(block.start, frozenset())
    # What is declared behind the region is none of its names.
    before = {name for name, place in named.declared if place < block.start}
    return tuple(n for n in named.order if n in here and n in before - named.outside)


@dataclass(frozen=True)
class NamesByRegion:
    """Where a function names its variables.

    `inside` are the names in each region, by its start, and `order` all of them in the order of the
    tree; `outside` those that are read outside of all regions. `declared` are the variables of the
    function's own block, and where; those of a region itself are gone with its text.
    """

    inside: Mapping[int, frozenset[str]]
    order: Sequence[str]
    outside: frozenset[str]
    declared: Sequence[tuple[str, int]]

    @classmethod
    def of(cls, body: c_ast.Compound, blocks: Sequence[AnnotationBlock]) -> NamesByRegion:
        """Return where a function names its variables; `blocks` are in text order."""
        starts = [block.start for block in blocks]

        def region_at(place: int) -> int | None:
            number = bisect_right(starts, place) - 1
            return starts[number] if number >= 0 and place < blocks[number].end else None

        index = index_of(body)
        assigned = index.of_kind(c_ast.Assignment)
        stores = {id(node.lvalue) for node in assigned if node.op == "="}
        # The size of a variable is a number in the nest, whose text need not have the variable.
        sizes = (node.expr for node in index.of_kind(c_ast.UnaryOp) if node.op == "sizeof")
        measured = {id(inner) for size in sizes for inner in walk_tree(size)}
        inside: defaultdict[int, set[str]] = defaultdict(set)
        order: dict[str, None] = {}
        outside: set[str] = set()
        for node in index.of_kind(c_ast.ID):
            region = region_at(offset(node)) if node.coord is not None else None
            if region is not None and id(node) in measured:
                continue
            if region is not None:
                order[node.name] = None
                inside[region].add(node.name)
            elif node.coord is not None and id(node) not in stores:
                outside.add(node.name)
        declared = [
            (item.name, offset(item))
            for item in body.block_items or []
            if isinstance(item, c_ast.Decl)
            and item.name
            and not isinstance(item.type, c_ast.FuncDecl)
            and region_at(offset(item)) is None
        ]
        names = {region: frozenset(found) for region, found in inside.items()}
        return cls(names, tuple(order), frozenset(outside), declared)


def _text(
    unique: UniqueNames,
    aliased: Aliased,
    names: Names,
    nest: Nest,
    arrays: Mapping[str, Array],
    conditions: tuple[Premise, ...],
) -> RegionText:
    """Return what only the text of a region says."""
    used, around = names.used, aliased.around
    declared = declarations(aliased.statements, names, aliased.formulas)
    return RegionText(
        (*unique.aliases, *aliased.aliases, *used.starts),
        _joint_spellings(
            tuple(used.sizes.values()), _joint_spellings(aliased.spellings, unique.spellings)
        ),
        (*declared, *around.declarations),
        (*set_in_text(aliased.statements, names, nest), *around.pointers),
        frozenset(used.counted),
        conditions,
        frozenset(used.asked_first),
        used.is_wide or mixes_widths(nest, used.scalars),
        around.behind,
        around.tests,
        lengths=constant_lengths(names, arrays.values()),
    )


def _joint_spellings(whole: Sequence[Spelling], words: Sequence[Spelling]) -> tuple[Spelling, ...]:
    """Return where the text has other names, but not the words in expressions written anew."""
    own = (w for w in words if not any(s.start <= w.start < s.end for s in whole))
    return tuple(sorted((*whole, *own), key=lambda s: s.start))


def _functions(
    function: ParsedFunction, wanted: Iterable[str], place: int
) -> tuple[UserFunction, ...]:
    """Return the functions that a region calls, the user's and those of f2c's library."""
    names = list(wanted)
    own = [name for name in names if name not in LIBRARY]
    integer = integer_type(function.scope.types) or "int"
    return (*user_functions(function.file, own, place), *library_functions(names, integer))


def _before(
    unique: UniqueNames, block: AnnotationBlock, overrides: Mapping[str, int]
) -> tuple[Aliased, Names]:
    """Return a region's statements, and what its names mean before the first of them."""
    function = unique.function
    place = find(function, block.body_start, block.body_end, block.span)
    _refuse_jumps_into(place.statements, function, block)
    sizes = {*overrides, *(parameter.name for parameter in block.spec.input_params)}
    sizes |= {alias.name for alias in unique.aliases if alias.key in sizes}
    given = Given(
        block.start,
        len(place.scopes),
        read_after(function.body, place.statements) | _results(block.spec, place),
        block.spec.assumptions.disjoint,
        frozenset(block.spec.assumptions.pure),
        frozenset(sizes),
    )
    names = Names(function, given, place.scopes)
    formulas = definitions(place.statements, names, sizes)
    names = replace(names, derived_from=derived_from(names, ()))
    extents = block.spec.assumptions.extents.values()
    stated = dict.fromkeys(WORD.findall(" ".join(text for texts in extents for text in texts)))
    made, pointers = with_rows(place.statements, names)
    aliased = with_aliases(place.statements, formulas, names, made, pointers, stated)
    names = learn(
        aliased.formulas, replace(names, derived_from=derived_from(names, aliased.aliases))
    )
    sizes |= {alias.name for alias in aliased.aliases if alias.key in sizes}
    live = given.live_after | aliased.around.live
    return aliased, replace(names, given=replace(given, sizes=frozenset(sizes), live_after=live))


def _refuse_jumps_into(
    statements: Sequence[c_ast.Node], function: ParsedFunction, block: AnnotationBlock
) -> None:
    """Refuse a region with a label to which the rest of its function jumps: the text has it not."""
    nodes = [node for statement in statements for node in walk_tree(statement)]
    labels = {node.name for node in nodes if isinstance(node, c_ast.Label)}
    for node in walk_tree(function.body) if labels else ():
        if not isinstance(node, c_ast.Goto) or node.name not in labels:
            continue
        if not block.body_start <= offset(node) < block.body_end:
            span = function.file.source.span(*token_place(node))
            raise AnnotuneError.of(messages.JUMPED_INTO.at(span, name=node.name))


def _results(spec: Spec, place: RegionPlace) -> frozenset[str]:
    """Return the parameters that a driver of Orio's reads after the region.

    It declares the variables of ``decl`` as globals and compares them, scalars too: passed by
    value here, they would otherwise be dead.
    """
    outermost = place.scopes[0]
    named = (one.name for one in spec.input_vars if not one.extents and not one.is_pointer)
    return frozenset(n for n in named if n in outermost and outermost[n].storage == "parameter")


def _arrays(nest: Nest, stated: Mapping[str, tuple[str, ...]], names: Names) -> dict[str, Array]:
    """Return the arrays that a nest uses; `stated` are the lengths that the annotation gives."""
    _use_sizes_of(stated, names)
    stability = Stability.of(names)
    refuse_shared(names, nest, stability)
    used = names.used.arrays
    return {n: describe(symbol, names, stability, n in stated) for n, symbol in used.items()}


def _with_plain_sizes(spec: Spec, aliased: Aliased, names: Names) -> Spec:
    """Return the annotation with the names that the nest has for what extents are made of.

    ``x[n]`` beside ``integer *n`` is ``x[n_]``. An array whose length cannot be had so has none.
    """
    plain = {alias.key: alias.name for alias in aliased.aliases}
    plain |= {a.spelling[1:]: a.name for a in aliased.aliases if a.spelling[0] == "*"}

    def is_open(word: str) -> bool:
        symbol = names.find(word)
        return symbol is not None and symbol.is_array

    def spelled(word: re.Match[str]) -> str:
        name = word.group()
        return plain.get(name, name) if names.find(name) is None or is_open(name) else name

    assumed = spec.assumptions
    extents = {
        a: tuple(WORD.sub(spelled, t) for t in texts) for a, texts in assumed.extents.items()
    }
    stated = {a: t for a, t in extents.items() if not any(map(is_open, WORD.findall(" ".join(t))))}
    return replace(spec, assumptions=replace(assumed, extents=stated)) if extents else spec


def _use_sizes_of(extents: Mapping[str, tuple[str, ...]], names: Names) -> None:
    """Note the sizes in the extents that the annotation gives to the region's arrays."""
    texts = [text for array in names.used.arrays for text in extents.get(array, ())]
    for word in WORD.findall(" ".join(texts)):
        symbol = names.find(word)
        if symbol is not None and symbol.is_integer:
            names.use(symbol)


def _extent(function: ParsedFunction, block: AnnotationBlock) -> Extent:
    file, part = function.file, function.part
    first = file.tokens.starts[part.first]
    before = file.tokens.ends[part.first - 1] if part.first else 0
    line_start = file.source.line_start(first)
    return Extent(
        block.start,
        block.end,
        block.body_start,
        block.body_end,
        # Another declaration may end on the line on which the function starts.
        line_start if line_start >= before else first,
        file.source.indent(block.start),
    )
