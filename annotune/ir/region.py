"""A region: one annotated nest of one function, with the names it uses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import reduce
from typing import TypeAlias

from annotune.annotation.spec import Spec
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.frozen import dataclass
from annotune.ir.expr import Access, Binary, Call, Expr, Int, rewrite, walk
from annotune.ir.identity import once_for_each
from annotune.ir.nest import Local, LocalArray, Nest, walk_stmts
from annotune.ir.poly import Poly
from annotune.ir.recorded import RecordedCall
from annotune.ir.residency import DataText

_START = Int(0)


@dataclass(frozen=True, slots=True)
class Array:
    """An array that a region uses.

    `element` is a C type: ``double``, ``float``, an integer type or ``double complex``.
    `extents` holds one entry per dimension of the declaration, outermost first; an entry is
    None where C does not say (``double *a``, ``a[][n]``), and an Expr over sizes otherwise.
    `is_pointer` tells a function parameter or
    pointer variable from an array object. `parameter` is the C declaration that passes it to
    a function under its own name, such as ``double A[n][m]`` or ``const double *A``. `root`
    names the array that a pointer variable is set to point into, `offset` elements from its
    start; it is empty where the text does not say. `first` is the subscript of the element from
    which its length counts: another than 0 where the function has moved its pointer before the
    region, and None where that is not known. One that `is_scratch` the function around the region
    declares or allocates for it, and uses nowhere else: nothing reads it afterwards. Where it
    `is_enumeration`, C has another name for the type of its elements. Without any extent the array
    is a scalar in memory, one that the whole region writes: its element is an `Access` without
    indices.
    """

    name: str
    element: str
    extents: tuple[Expr | None, ...]
    is_pointer: bool
    is_restrict: bool = False
    is_const: bool = False
    parameter: str = ""
    span: Span = field(default=NOWHERE, compare=False, repr=False)
    root: str = ""
    offset: int = 0
    first: Expr | None = _START
    is_scratch: bool = False
    is_enumeration: bool = False


def flattened(expr: Expr, arrays: Mapping[str, Array]) -> Expr | None:
    """Return an element of a shaped array as one of the flat array under it, else None.

    ``A[i][j]`` of ``double A[m][n]`` is ``A[i*n + j]`` (C11 6.5.2.1).
    """
    # A local array of our own is none of the region's and keeps its shape.
    if not isinstance(expr, Access) or len(expr.indices) < 2 or expr.array not in arrays:
        return None
    extents = arrays[expr.array].extents
    assert len(extents) == len(expr.indices)

    def step(offset: Expr, pair: tuple[Expr, Expr | None]) -> Expr:
        index, extent = pair
        assert extent is not None, "only the outermost extent may be open"
        return Binary("+", Binary("*", offset, extent), index)

    # A subscript may read such an element itself.
    first, *others = (rewrite(i, lambda part: flattened(part, arrays)) for i in expr.indices)
    offset: Expr = reduce(step, zip(others, extents[1:], strict=True), first)
    return Access(expr.array, (offset,), expr.span)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar that a region uses: a size, a coefficient, an iterator or a temporary.

    `value` is set for ``#define n 10`` and ``const int n = 10``. `is_local` marks a variable
    declared inside the region. `is_macro` marks a ``#define``. `read_after` says that the
    function may read the variable after the region, so that its final value matters. A variable
    that `is_register` has no address.
    """

    name: str
    type: str
    value: int | None = None
    is_local: bool = False
    is_macro: bool = False
    read_after: bool = False
    is_register: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Alias:
    """A plain name for what the user's C spells otherwise: ``*n``, ``p->nx``, ``s.q``.

    `declaration` is C that declares `name` with the value of `spelling`, such as
    ``const int n_ = *n;``; texts put in the place of a region begin with it. Of a name that the
    nest sets, they end with `behind`.
    """

    name: str
    spelling: str
    declaration: str
    behind: str = ""

    @property
    def key(self) -> str:
        """The name under which a user gives it a value: ``n`` for ``*n``."""
        return self.spelling.replace("->", ".").split(".")[-1].strip("*() ")


@dataclass(frozen=True, slots=True)
class Spelling:
    """A place of the region's text, in characters of the file, that an alias stands for."""

    start: int
    end: int
    name: str


@dataclass(frozen=True, slots=True)
class Condition:
    """What an ``#if`` asked when the text was read, as an expression of ``#if``; all on one line.

    Text made of what was read is right only where the condition has the same truth again.
    """

    text: str
    holds: bool


@dataclass(frozen=True, slots=True)
class MacroText:
    """What a macro stood for when the text was read.

    `use` is the macro with its parameters, ``SCALE`` or ``AT(i, j)``, and `text` the C string of
    what ``#`` makes of that. Text made of what was read is right only where it is the same again.
    """

    use: str
    text: str


@dataclass(frozen=True, slots=True)
class Assertion:
    """A constant expression of C that was true when the text was read; `said` is it in words.

    Unlike a `Condition` it may ask for types, enumerators and ``sizeof``.
    """

    test: str
    said: str


Premise: TypeAlias = Condition | MacroText | Assertion
"""What must hold again where a text that was made of what was read is compiled."""


@dataclass(frozen=True, slots=True)
class Redefined:
    """A name that is another macro beside a region than elsewhere in the file.

    `definition` is what stands after ``#define`` for the region, None where it is no macro there.
    """

    name: str
    definition: str | None

    def directives(self) -> tuple[str, ...]:
        """Return the lines after which the name means what it does beside the region."""
        again = () if self.definition is None else (f"#define {self.definition}",)
        return (f"#undef {self.name}", *again)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the file around a region says of names.

    `label` begins the names of what a region puts beside functions; the file has none of these.
    `macros` are macros somewhere in the file, so that no name of ours may be one, and `redefined`
    those that a text before the region's function must see as the region does; `later` those that
    a text at the file's end must. `texts` are macros that the region is made of, which a compiler's
    ``-D`` may change. `has_registers` says that the region's function declares variables
    ``register``: those have no address. Something in the file may read ``errno`` unless it
    `ignores_errno`.
    """

    label: str = ""
    macros: frozenset[str] = frozenset()
    redefined: tuple[Redefined, ...] = ()
    texts: tuple[MacroText, ...] = ()
    later: tuple[Redefined, ...] = ()
    has_registers: bool = False
    ignores_errno: bool = False


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A function of the user's that a nest calls, or that such a function calls.

    Where the file defines it, and it computes with numbers alone, `body` is the text of its block
    in plain C without macros, without the braces; `parameters` and `constants` are C declarations,
    the latter of what it reads of the file. `needs` names the functions that it calls, as ``g(``.
    Else `reason` says why there is none. A copy is right only under `conditions`. One of a library
    that is called otherwise, `is_library`, is no name of the file: all texts have a copy.
    """

    name: str
    result: str = ""
    parameters: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    reason: str = ""
    conditions: tuple[Premise, ...] = ()
    is_library: bool = False


@dataclass(frozen=True, slots=True)
class Extent:
    """Where a region stands in the bytes of its file; offsets count characters of the text.

    `start`..`end` is the whole annotated text, first comment opener to last closer;
    `body_start`..`body_end` is the C between the annotations; `function_start` is the start
    of the line on which the enclosing function's definition begins, where a helper may be
    inserted; `indent` is the white space before the region.
    """

    start: int
    end: int
    body_start: int
    body_end: int
    function_start: int
    indent: str = ""


@dataclass(frozen=True, slots=True)
class RegionText:
    """What only the text of a region says, where the nest has plain names and formulas.

    `aliases` are names of ours for what is no plain name in C; the nest and the names of the region
    use them. `spellings` are their places in the text, in order. `declarations` are C for the
    integers of the text that the nest shows as formulas: whoever compiles that text by itself puts
    them before it. `formulas` are the integers that the text sets and no statement or loop of the
    nest does, in text order; `counted` those whose value the text carries from one iteration of a
    loop to the next, where the nest has formulas of the iterator. `conditions` are what a
    compiler's ``-D``, or a header that is written anew, may decide otherwise. `asked_first` are
    conditions that the text asks outside all loops, of what the region leaves as it is. `is_wide`
    says that the user computes in 64-bit integers, by a cast or a suffix that the nest no longer
    shows, or by a loop that a schedule may unroll. `behind` is C that whoever compiles the text by
    itself puts behind it: what the nest's names are by then. `tests` are names that the aliases
    declare: where one is 0, the nest is not what the text means. `unread` are variables of the
    function that only texts of regions read. `lengths` say by their names what the constants
    are that a compiler finds in the extents of arrays.
    """

    aliases: tuple[Alias, ...] = ()
    spellings: tuple[Spelling, ...] = ()
    declarations: tuple[str, ...] = ()
    formulas: tuple[str, ...] = ()
    counted: frozenset[str] = frozenset()
    conditions: tuple[Premise, ...] = ()
    asked_first: frozenset[Expr] = frozenset()
    is_wide: bool = False
    behind: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    lengths: Mapping[str, Assertion] = field(default_factory=dict)

    def user_name(self, name: str) -> str:
        """Return the name under which a user gives an integer its value: ``n`` of ours for ``*n``.

        Where it would be that of several, as of ``p->n`` and ``q->n``, each keeps ours.
        """
        keys = [alias.key for alias in self.aliases]
        own = {alias.name: alias.key for alias in self.aliases if keys.count(alias.key) == 1}
        return own.get(name, name)

    def in_user_words(self, problems: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        """Yield diagnostics with C's spelling of what the nest has plain names for: ``p->n``.

        A help has names by themselves in that spelling; what it says to type keeps ours.
        """
        spelled = {alias.name: alias.spelling for alias in self.aliases}
        name = rf"\b(?:{'|'.join(map(re.escape, spelled))})\b"

        def user_words(one: Diagnostic) -> Diagnostic:
            message = re.sub(name, lambda found: spelled[found[0]], one.message)
            quoted = re.sub(f"'{name}'", lambda found: f"'{spelled[found[0][1:-1]]}'", one.help)
            return replace(one, message=message, help=quoted, notes=(*map(user_words, one.notes),))

        yield from map(user_words, problems) if spelled else problems


@dataclass(frozen=True, slots=True)
class Normalised:
    """A change of the nest that was made before anything was asked of it, and why it is exact."""

    proof: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Region:
    """One annotated nest: its loops, its names, its annotation and its place.

    `index` counts the regions of a function from 1. `arrays` and `scalars` hold what the
    nest uses, in the order of first use in the text. `sizes` are the values that the
    analysis and the tuning take for integer scalars that C leaves open (from
    ``input_params`` and ``--set``), together with those that C fixes. `other_sizes` are
    like `sizes`, for the other problem sizes of ``input_params``, and `varied` the names that have
    several values among them all. `index_ranges` has for an array of integers the names of two
    sizes: between them lies all that the nest reads of it. `text` is what the nest does not show,
    and `around` what the file says of names. `functions` are those that the nest calls and only the
    user's text knows, each inside a cast to its type, with what they call in turn; what is called
    stands before its callers. Arrays of one that `is_resident` may be on the device when it is
    called, by a block of Data. `recorded` are calls that a program has made, and `varying` those
    sizes that differ from call to call, such as offsets. `original` is the nest
    before it was brought into the form that is analysed, None where nothing was changed, and
    `steps` what was; that is right at sizes where
    none of `never_negative` is below 0.
    """

    function: str
    index: int
    nest: Nest
    arrays: Mapping[str, Array]
    scalars: Mapping[str, Scalar]
    sizes: Mapping[str, int]
    spec: Spec
    extent: Extent
    span: Span = NOWHERE
    text: RegionText = field(default_factory=RegionText)
    functions: tuple[UserFunction, ...] = ()
    original: Nest | None = None
    steps: tuple[Normalised, ...] = ()
    never_negative: tuple[Poly, ...] = ()
    other_sizes: tuple[Mapping[str, int], ...] = ()
    varied: tuple[str, ...] = ()
    index_ranges: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    around: Surroundings = field(default_factory=Surroundings)
    is_resident: bool = False
    recorded: tuple[RecordedCall, ...] = ()
    varying: frozenset[str] = frozenset()

    def recorded_at(self, sizes: Mapping[str, int]) -> tuple[RecordedCall, ...]:
        """Return the recorded calls whose integers are these sizes, none where there are none."""
        return tuple(
            call
            for call in self.recorded
            if all(sizes.get(name, value) == value for name, value in call.integers.items())
        )

    @property
    def as_written(self) -> Nest:
        """Return the user's nest, which runs where sizes or overlaps forbid what `nest` became."""
        return self.original or self.nest

    @property
    def types(self) -> dict[str, str]:
        """Return the C types of the names, of an array that of its elements."""
        return {
            **{scalar.name: scalar.type for scalar in self.scalars.values()},
            **{array.name: array.element for array in self.arrays.values()},
        }

    @property
    def constants(self) -> dict[str, int]:
        """Return the sizes that the C text itself fixes, by ``#define`` or ``const int``."""
        return {s.name: s.value for s in self.scalars.values() if s.value is not None}

    @property
    def index_ends(self) -> frozenset[str]:
        """Return the sizes that are the least or the greatest index in an array."""
        return frozenset(name for ends in self.index_ranges.values() for name in ends)

    @property
    def tuned_constants(self) -> dict[str, int]:
        """Return the sizes that code for the tuned ones takes for granted.

        Not what is `varying`, nor between which numbers indices lie: that hardly matters.
        """
        unfixed = self.index_ends | self.varying
        return {name: size for name, size in self.sizes.items() if name not in unfixed}

    @property
    def called_sizes(self) -> frozenset[str]:
        """Return the sizes that have a value here which a call may give another."""
        own = self.scalars.values()
        return frozenset(s.name for s in own if s.value is None and s.name in self.sizes)

    @property
    def known_sizes(self) -> dict[str, int]:
        """Return the sizes that have a value; C wins over the annotation."""
        return {**self.sizes, **self.constants}

    def left(self, reason: str) -> LeftRegion:
        """Return the region as one that stays as it is written."""
        return LeftRegion(self.extent.start, self.extent.indent, self.span, reason)

    @property
    def entry(self) -> str:
        """Return the name of the function that runs this region's CUDA kernels."""
        return f"annotune_{self.label}"

    @property
    def label(self) -> str:
        """Return what begins the names of the region's kernels and functions."""
        return self.around.label or f"{self.function}_{self.index}"

    @property
    def called(self) -> frozenset[str]:
        """Return the functions that the nest calls."""
        found = [*self.nest.assigns(), *self.as_written.assigns()]
        exprs = (part for one in found for part in (one.target, *one.sources()))
        calls = (part for expr in exprs for part in walk(expr) if isinstance(part, Call))
        return frozenset(call.function for call in calls)

    @property
    def taken(self) -> frozenset[str]:
        """Return the names that nothing may have which is declared inside the region's text."""
        return frozenset((*self.names, *self.around.macros, *self.called))

    @property
    def names(self) -> frozenset[str]:
        """Return the names that mean something in the region's expressions, or have a value."""
        return frozenset((*self.scalars, *self.arrays, *self.sizes))


def fresh_name(base: str, region: Region) -> str:
    """Return a name that starts with `base` and that nothing in the region has."""
    taken = {*region.taken, *(alias.name for alias in region.text.aliases)}
    stmts = walk_stmts(region.nest.body)
    taken |= {stmt.name for stmt in stmts if isinstance(stmt, Local | LocalArray)}
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base}{count}"
    return name


@dataclass(frozen=True, slots=True)
class LeftRegion:
    """An annotated region that stays as it is written: where it begins in the text, and why.

    `indent` is the white space before it, `span` its place for a message.
    """

    start: int
    indent: str
    span: Span
    reason: str


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A user's C file: its path, its text exactly as read, and its regions in text order.

    `left` are other annotated regions, which stay as they are. `residency` is for arrays that stay
    on the device between regions.
    """

    path: str
    text: str
    regions: tuple[Region, ...]
    left: tuple[LeftRegion, ...] = ()
    residency: DataText = field(default_factory=DataText)

    def without(self, reasons: Mapping[int, str]) -> SourceFile:
        """Return the file with some of its regions left as they are, by their numbers."""
        every = tuple(enumerate(self.regions))
        kept = tuple(region for number, region in every if number not in reasons)
        left = tuple(r.left(reasons[number]) for number, r in every if number in reasons)
        return replace(self, regions=kept, left=(*self.left, *left))


@once_for_each(1 << 4)
def types_of(region: Region) -> Mapping[str, str]:
    """Return the C types of a region's variables and arrays, those that it declares included."""
    declared = {s.name: s.type for s in walk_stmts(region.nest.body) if isinstance(s, LocalArray)}
    return {**region.types, **declared}
