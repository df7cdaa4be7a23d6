"""What the analysis of a region knows, as values that later stages ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from functools import cached_property

import islpy as isl

from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.frozen import dataclass
from annotune.ir.expr import Access, Expr, Int
from annotune.ir.nest import Loop, Stmt
from annotune.ir.poly import from_expr, product
from annotune.ir.region import Region


class LoopKind(StrEnum):
    """What a loop's dependences allow, with the loops around it run in order."""

    PARALLEL = "parallel"
    REDUCTION = "reduction"
    SERIAL = "serial"


class DependenceKind(StrEnum):
    """The order of the two accesses: write-read, read-write or write-write."""

    FLOW = "flow"
    ANTI = "anti"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Dependence:
    """Two accesses to one place, at least one a write, that must keep their order.

    `pairs` maps source instances ``S[i, j, …]`` to the sink instances that run after them and
    touch the same element; dimensions are the statement's original loops, outermost first.
    Dependences that are alike share it. `is_reduction` marks pairs that accumulate into what they
    touch by one operator, of one statement or of two, which may be reordered but not run at the
    same time; where one `is_ordered` only workers that combine what they have may, and the serial
    order must stay that of the text. Where what it is made of is there afterwards, it
    `may_run_again`. `known` are what orders it was compared with already, and how each breaks it: a
    schedule asks after every step. Those of equal relations know the same.
    """

    array: str
    kind: DependenceKind
    source: int
    sink: int
    pairs: isl.Map
    is_reduction: bool = False
    is_ordered: bool = False
    may_run_again: bool = False
    span: Span = NOWHERE
    known: dict[object, Conflict | None] = field(default_factory=dict, compare=False, repr=False)

    @property
    def is_free(self) -> bool:
        """Return whether one worker may run the two in any order, also in kernels of their own."""
        return self.is_reduction and not self.is_ordered

    @property
    def relation(self) -> isl.Map:
        """Return `pairs` with the names of the two statements: ``S<source>`` to ``S<sink>``."""
        pairs = self.pairs.set_tuple_name(isl.dim_type.in_, f"S{self.source}")
        return pairs.set_tuple_name(isl.dim_type.out, f"S{self.sink}")


@dataclass(frozen=True, slots=True)
class Conflict:
    """How an order or a placement breaks what is alike in several dependences.

    It does at `loop`, in the words `said` of the array, none where the sink comes first.
    """

    loop: str
    said: str = ""

    def of(self, dependence: Dependence) -> Violation:
        """Return how it breaks one of them."""
        late = f"needs statement {dependence.source} before statement {dependence.sink}"
        return Violation(dependence, self.loop, f"{dependence.array} {self.said or late}")


@dataclass(frozen=True, slots=True)
class Violation:
    """A dependence that an order or a placement breaks, with one pair that shows it.

    `loop` is the loop at which it breaks; `text` says it in words with the distance, such as
    ``t3 is carried by h7 (distance 1)``.
    """

    dependence: Dependence
    loop: str
    text: str


@dataclass(frozen=True, slots=True)
class LoopFacts:
    """One loop's kind, the scalars private to its iterations, and the proof in words.

    `path` names the loops around it, outermost first, and ends with the loop itself.
    """

    loop: Loop
    path: tuple[str, ...]
    kind: LoopKind
    private: tuple[str, ...]
    proof: str
    carried: tuple[Dependence, ...] = ()

    @property
    def name(self) -> str:
        return self.loop.var


@dataclass(frozen=True, slots=True)
class ElementRange:
    """Neighbours in an array, elements or rows, that one call touches: the first and the count.

    With `may_be_none` there are calls for which `count` is 0. `is_whole` says of rows that the
    first begins and the last ends with an element that is touched.
    """

    first: Expr
    count: Expr
    may_be_none: bool = False
    is_whole: bool = True


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """An array as the analysis sees it: the dimensions recovered from its subscripts.

    `extents` are the sizes of the recovered dimensions, outermost first, None for the
    outermost when nothing bounds it. `lowest` and `length` are C expressions over the
    region's scalars: the first element that any call with its sizes touches (0 nearly always),
    and the number of elements from there to the last one, for positive trip counts; of an array
    that C declares with its extents, all of it. `touched` is the part of that which one call
    touches, None where it is the same; `rows` are, of an array of rows, those with an element of
    that part. `may_be_null` says that memory decides whether anything is touched. Where it
    `is_inspected`, `touched` is made of what the `inspector` of the analysis leaves.
    """

    array: str
    extents: tuple[Expr | None, ...]
    lowest: Expr
    length: Expr
    touched: ElementRange | None = None
    rows: ElementRange | None = None
    may_be_null: bool = False
    is_inspected: bool = False

    @property
    def part(self) -> ElementRange:
        """Return the elements that one call touches, from the first to the last."""
        return self.touched or ElementRange(self.lowest, self.length)


@dataclass(frozen=True, slots=True)
class AccessFacts:
    """One access of one statement: its recovered subscripts and its strides.

    `indices` are affine in the loops, one per dimension of the array's `ArrayShape`. `strides`
    gives for each loop around the statement the distance in elements between consecutive
    iterations: an int where it is known at the region's sizes, None where it is not.
    """

    access: Access
    statement: int
    is_write: bool
    indices: tuple[Expr, ...]
    strides: Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class Work:
    """Operations and least traffic of a statement or a region at its sizes.

    `flop` counts additions, subtractions, multiplications and divisions of reals; `bytes_read` and
    `bytes_written` count every touched element once. A statement has a number of `runs`.
    """

    flop: int
    bytes_read: int
    bytes_written: int
    runs: int = 0


@dataclass(frozen=True, slots=True)
class ArrayUse:
    """How a region uses an array: what a copy to a device must bring and take back.

    `overwritten` holds when the region writes every element of the section that `ArrayShape`
    gives before it reads any, so that nothing need be copied in. One that `starts_new` reads no
    element before it has written that, and may leave others as they are.
    """

    array: str
    is_read: bool
    is_written: bool
    overwritten: bool
    starts_new: bool = False


@dataclass(frozen=True)
class Analysis:
    """All that is known of a region.

    `all_sizes` is True when every claim is proven for every value of the sizes that makes
    all trip counts positive and fulfils `conditions`, such as ``ldc >= n``, which emitted code
    must test; otherwise the claims hold for `region.sizes` alone and emitted
    code must check them. `loops` is in textual order. `private` are the scalars that each iteration
    writes before it reads, in the nest or in that of the text. `homes` has for each private scalar,
    and each array that the region declares in a loop, the statements that use it and the position
    in the text of the loop whose iteration owns it. `rounded` are the sizes in expressions that are
    no polynomials, such as ``n / 2``, by their C text.

    `inspector` is what the host runs to learn which elements a call touches, where memory decides
    that; the parts of those arrays are made of what it leaves. Where it cannot be learned,
    `unseen` says so: such a region has no copies.
    """

    region: Region
    loops: tuple[LoopFacts, ...]
    dependences: tuple[Dependence, ...]
    shapes: Mapping[str, ArrayShape]
    accesses: Mapping[int, tuple[AccessFacts, ...]]
    uses: Mapping[str, ArrayUse]
    private: frozenset[str]
    work: Mapping[int, Work]
    total: Work
    all_sizes: bool
    warnings: tuple[Diagnostic, ...] = field(default=())
    homes: Mapping[str, Mapping[int, tuple[int, ...]]] = field(default_factory=dict)
    rounded: Mapping[str, Expr] = field(default_factory=dict)
    conditions: tuple[Expr, ...] = ()
    inspector: tuple[Stmt, ...] = ()
    unseen: tuple[Diagnostic, ...] = ()

    def is_there(self, array: str) -> bool:
        """Return whether an array has all elements that its accesses may name at a call's sizes.

        Not where memory decides which of them a call touches, of an array without a length: others
        need not exist.
        """
        shape = self.shapes.get(array)
        if shape is None or self.region.spec.assumptions.whole:
            return shape is not None
        is_part = shape.touched is not None and shape.touched.may_be_none
        return not (shape.is_inspected or shape.may_be_null or is_part)

    def users(self, array: str) -> frozenset[int]:
        """Return the statements that touch elements of an array."""
        every = self.accesses.items()
        return frozenset(n for n, facts in every if any(f.access.array == array for f in facts))

    def stays_on_device(self, array: str) -> bool:
        """Return whether a device needs no copy of an array, neither before nor afterwards.

        What the function around the region has for it alone, and what it does not read before it
        has written it, is no longer read when it ends.
        """
        own, use = self.region.arrays.get(array), self.uses.get(array)
        return own is not None and own.is_scratch and use is not None and use.starts_new

    def has_own_memory(self, array: str) -> bool:
        """Return whether a device can make an array that stays there for calls of all sizes.

        It has to be as long as the nest as written needs it, which is what C declares.
        """
        if not self.stays_on_device(array):
            return False
        own, shape = self.region.arrays[array], self.shapes[array]
        extents = [from_expr(extent) for extent in own.extents if extent is not None]
        polys = [poly for poly in extents if poly is not None]
        is_whole = shape.lowest == Int(0) and from_expr(shape.length) == product(polys)
        return is_whole and len(polys) == len(own.extents) and not own.is_pointer

    @cached_property
    def answers(self) -> dict[tuple[object, ...], object]:
        """Return what later stages have found out of the region, by the question."""
        return {}

    @cached_property
    def facts_of(self) -> Mapping[int, LoopFacts]:
        """Return the facts of each loop by its identity: others may have its name and bounds."""
        return {id(facts.loop): facts for facts in self.loops}

    @cached_property
    def paths(self) -> Mapping[int, tuple[Loop, ...]]:
        """Return each statement's original loops, outermost first."""
        return self.region.nest.paths()
