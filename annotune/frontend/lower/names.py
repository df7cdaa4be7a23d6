"""The names that a region uses, as they are met: arrays, scalars, and integers in formulas.

The pointers through which a function reads, and those that it surely has read through.

A name for ``p->nx`` is given its value before a region. Where the region reads it only under a
condition, or in a loop that may not run, `p` may be NULL.

What a region declares itself: scalars, and small arrays that each iteration has anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from annotune.diagnostics import AnnotuneError, Span
from annotune.frontend import messages
from annotune.frontend.read.filescope import File, FileScope
from annotune.frontend.read.syntax import c_ast, c_generator, extent, walk_tree
from annotune.frontend.types.kinds import COMPLEX, Typed, promoted
from annotune.frontend.types.symbols import REALS, Symbol
from annotune.ir.c_types import StoredName
from annotune.ir.expr import Expr, Int, Var, rewrite, substitute, variables
from annotune.ir.nest import LocalArray, Stmt
from annotune.ir.region import Scalar

_INT_MAXIMUM = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Formula:
    """What an integer that the region sets is here, in iterators and sizes.

    `index` is for subscripts and bounds, where no integer is taken to overflow; `value` keeps
    the conversions that C makes, and has the integer's own type. `number` is equal to it, of any
    type, and what subscripts round is made of it; None where it is `value`.
    """

    index: Expr
    value: Expr
    number: Expr | None = None

    def substituted(self, values: Mapping[str, Expr]) -> Formula:
        """Return the formula with expressions for some of its variables."""
        number = None if self.number is None else substitute(self.number, values)
        return Formula(substitute(self.index, values), substitute(self.value, values), number)


# Ends the name of what a loop leaves; none of C's does.
_LEFT = "#"


@dataclass(frozen=True, slots=True)
class Left:
    """What a loop leaves, a number of iterations or its iterator: `value`.

    Where a loop of as many `trips` runs, so has this one, and what it left is `ran`: no maximum.
    """

    trips: Expr
    value: Expr
    ran: Expr


@dataclass
class Names:
    """The declarations in force at one place of a region, and what the region used so far.

    `formulas` holds the integers that the region itself sets; `iterators` the loops around the
    place, outermost first. `written` are the scalars that the region assigns anywhere,
    `loop_names` the iterators of all its loops. `assigned` are the integers that stay variables
    which the nest assigns, because no formula gives their value everywhere; those that turn out
    to be such are put into `needed`. `changes` gives the last offset at which the function
    changes a scalar. `is_wide` says that the user computes subscripts in 64 bits. `are_disjoint`
    says that the user vouches for arrays that do not overlap, `pure` for which functions, and
    `sizes` are the names that the annotation gives values;
    `functions` are those of them that the region calls. `derived_from` are names from which the
    function may make other pointers. `counted` are the integers that some loop moves in every
    iteration, and that have formulas all the same. `left` are the values that loops leave, by the
    names that stand for them in formulas until a statement is made of one. `fixed` are the words
    of constant expressions of which the nest has the value alone. `asked_first` are the conditions
    that stand outside all loops, with those around them before them, of what the region leaves
    as it is.
    """

    file: File
    file_scope: FileScope
    scopes: list[dict[str, Symbol]]
    live_after: frozenset[str]
    changes: Mapping[str, int]
    written: frozenset[str] = frozenset()
    loop_names: frozenset[str] = frozenset()
    region_depth: int = 0
    formulas: dict[str, Formula] = field(default_factory=dict)
    assigned: frozenset[str] = frozenset()
    needed: set[str] = field(default_factory=set)
    iterators: list[str] = field(default_factory=list)
    arrays: dict[str, Symbol] = field(default_factory=dict)
    scalars: dict[str, Scalar] = field(default_factory=dict)
    meanings: dict[str, Symbol] = field(default_factory=dict)
    is_wide: bool = False
    are_disjoint: bool = False
    pure: frozenset[str] = frozenset()
    sizes: frozenset[str] = frozenset()
    functions: dict[str, None] = field(default_factory=dict)
    derived_from: frozenset[str] = frozenset()
    counted: set[str] = field(default_factory=set)
    left: dict[str, Left] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    asked_first: set[Expr] = field(default_factory=set)

    def place(self, node: Any) -> Span:
        """Return the place of a syntax tree in the user's file."""
        return self.file.source.span(*extent(node, self.file.tokens))

    def declare(self, symbol: Symbol, span: Span) -> None:
        """Take in a declaration of the region itself."""
        for scope in self.scopes[self.region_depth : -1]:
            if symbol.name in scope:
                raise AnnotuneError.of(messages.TWO_MEANINGS.at(span, name=symbol.name))
        self.scopes[-1][symbol.name] = symbol
        self.formulas.pop(symbol.name, None)

    def is_restrict(self, symbol: Symbol) -> bool:
        """Return whether an array is reached through this name alone, by its declaration."""
        return symbol.is_restrict and symbol.name not in self.derived_from

    def place_of(self, symbol: Symbol) -> StoredName:
        """Return what the declarations say of the memory behind a variable or an array."""
        return StoredName(symbol.base, symbol.is_pointer, self.is_restrict(symbol))

    def find(self, name: str) -> Symbol | None:
        """Return the innermost declaration of `name`, None when there is none."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return self.file_scope.symbols.get(name)

    def leave(self, left: Left) -> Expr:
        """Return a name for what a loop leaves, or its value where that is no choice."""
        if isinstance(left.value, Int) or left.value == left.ran:
            return left.value
        for name, known in self.left.items():
            if known == left:
                return Var(name)
        name = f"{len(self.left)}{_LEFT}"
        self.left[name] = left
        return Var(name)

    def resolved(self, expr: Expr) -> Expr:
        """Return an expression with what loops leave in the place of the names for it."""
        return rewrite(expr, self.value_left)

    def value_left(self, part: Expr) -> Expr | None:
        """Return what a loop leaves where `part` is a name for it, None for other parts."""
        left = self.left.get(part.name) if isinstance(part, Var) else None
        return left.value if left is not None else None

    def running(self, formulas: Mapping[str, Formula], trips: Expr) -> dict[str, Formula]:
        """Return formulas as they read inside a loop of so many trips, which runs."""
        ran = {name: left.ran for name, left in self.left.items() if left.trips == trips}
        return {name: formula.substituted(ran) for name, formula in formulas.items()}

    def symbol(self, node: Any) -> Symbol:
        """Return the variable that an identifier means, checked for use in a region."""
        name = node.name
        symbol = self.find(name)
        span = self.place(node)
        if symbol is None:
            raise AnnotuneError.of(messages.UNDECLARED.at(span, name=name))
        if not symbol.is_known:
            problem = messages.UNKNOWN_TYPE.at(span, type=symbol.base, name=name)
            raise AnnotuneError.of(problem)
        if symbol.special:
            problem = messages.SPECIAL[symbol.special].at(span, name=name)
            raise AnnotuneError.of(problem)
        own = name.removeprefix("annotune_") if name.startswith("annotune_") else ""
        if own.startswith("if_") or own in self.loop_names:
            # The conditions and iterators that annotune adds are called so.
            raise AnnotuneError.of(messages.TWO_MEANINGS.at(span, name=name))
        first = self.meanings.setdefault(name, symbol)
        both_local = first.storage == symbol.storage == "region" and first.base == symbol.base
        if first.start != symbol.start and not both_local:
            raise AnnotuneError.of(messages.TWO_MEANINGS.at(span, name=name))
        is_number = symbol.is_integer or symbol.base in REALS | COMPLEX
        if not symbol.is_array and not is_number:
            raise AnnotuneError.of(messages.SCALAR_TYPE.at(span, name=name, type=symbol.base))
        return symbol

    def read(self, node: Any, in_index: bool = False, is_rounded: bool = False) -> Typed:
        """Return a scalar's value: itself, or the formula of an integer that the region sets.

        It may be a part of a subscript, or of what a subscript rounds.
        """
        name, span = node.name, self.place(node)
        constant = self.constant(name, node.coord.line, span)
        if constant is not None:
            return constant
        symbol = self.symbol(node)
        if symbol.is_array:
            expected = len(symbol.layers)
            raise AnnotuneError.of(
                messages.SUBSCRIPTS.at(span, name=name, expected=expected, given=0)
            )
        if not symbol.is_integer:
            self.use(symbol)
            return Typed(Var(name, span), symbol.base)
        kind = promoted(symbol.base)
        if name in self.formulas:
            formula = self.formulas[name]
            chosen = formula.index if in_index else formula.value
            if is_rounded and formula.number is not None:
                chosen = formula.number
            if name in variables(chosen):
                # Its value before the region.
                self.use(symbol)
            return Typed(chosen, kind)
        if name in self.iterators:
            return Typed(Var(name, span), kind)
        if name in self.loop_names:
            raise AnnotuneError.of(messages.ITERATOR_OUTSIDE.at(span, name=name))
        if name in self.written:
            self.needed.add(name)
        elif symbol.storage == "region":
            raise AnnotuneError.of(messages.NOT_SINGLE.at(span, name=name))
        self.use(symbol)
        return Typed(Var(name, span), kind)

    def fixed_value(self, node: Any, known: dict[str, int]) -> int | None:
        """Return the value of a constant expression, which the nest shows in its place."""
        value = self.file.value(node, known)
        if value is not None:
            self.fixed |= {part.name for part in walk_tree(node) if isinstance(part, c_ast.ID)}
        return value

    def constant(self, name: str, offset: int, span: Span) -> Typed | None:
        """Return a ``#define`` or an enumerator as a scalar with a value, None for others."""
        macro = self.file.clean.macro(name, offset)
        value = macro.value if macro else None
        if value is None and self.find(name) is None:
            value = self.file_scope.enumerators.get(name)
        if value is None:
            return None
        type_ = "int" if abs(value) <= _INT_MAXIMUM else "long"
        scalar = Scalar(name, type_, value, is_macro=macro is not None, span=span)
        self.scalars.setdefault(name, scalar)
        return Typed(Var(name, span), type_)

    def use(self, symbol: Symbol) -> None:
        """Note that the region uses a scalar."""
        if symbol.name in self.scalars:
            return
        self.scalars[symbol.name] = Scalar(
            symbol.name,
            symbol.base,
            symbol.value,
            is_local=symbol.storage == "region",
            read_after=self.may_be_read_after(symbol),
            is_register=symbol.is_register and not symbol.is_const,
            span=self.file.source.span(symbol.start, symbol.end),
        )

    def use_array(self, symbol: Symbol) -> None:
        """Note that the region uses an array."""
        self.arrays.setdefault(symbol.name, symbol)

    def may_be_read_after(self, symbol: Symbol) -> bool:
        """Return whether a variable's value may be read once the region is over."""
        if symbol.storage == "region" or symbol.is_const:
            return False
        return symbol.storage == "file" or symbol.name in self.live_after


def pointers_in(node: Any) -> Iterator[str]:
    """Yield the pointers that a place such as ``p->grid->nx`` is read through, outermost first."""
    match node:
        case c_ast.StructRef():
            yield from pointers_in(node.name)
            if node.type == "->":
                yield _text(node.name)
        case c_ast.UnaryOp(op="*"):
            yield from pointers_in(node.expr)
            yield _text(node.expr)


def sure_pointers(
    body: Any, statements: Sequence[Any], names: Names, region_start: int
) -> Iterator[str]:
    """Yield the pointers that a function reads through before a region's first iteration."""
    for item in body.block_items or []:
        is_plain = isinstance(item, c_ast.Decl | c_ast.Assignment) and item.coord is not None
        if is_plain and item.coord.line < region_start:
            # What is set again since may be NULL by now.
            yield from (p for p in _read_through(item) if p not in names.changes)
    for loop in statements:
        if isinstance(loop, c_ast.For):
            yield from _read_through(loop.init)
            yield from _read_through(loop.cond)


def _read_through(node: Any) -> Iterator[str]:
    """Yield the pointers that evaluating an expression surely reads through."""
    if node is None or (isinstance(node, c_ast.UnaryOp) and node.op in ("&", "sizeof")):
        return
    parts = [*node]
    if isinstance(node, c_ast.TernaryOp) or (
        isinstance(node, c_ast.BinaryOp) and node.op in ("&&", "||")
    ):
        parts = parts[:1]
    yield from pointers_in(node)
    for part in parts:
        yield from _read_through(part)


def _text(node: Any) -> str:
    return str(c_generator.CGenerator().visit(node))


def declare(decl: Any, names: Names) -> Symbol:
    """Take in a declaration of the region and return what it declares.

    Raises:
        AnnotuneError: It is ``static`` or ``extern``, or an array that is not one of each
            iteration alone, with extents that C fixes.
    """
    symbol = names.file_scope.types.symbol(decl, "region")
    span = names.file.source.span(symbol.start, symbol.end)
    # Also where it is refused: its uses need no refusal of their own.
    names.declare(symbol, span)
    if "extern" in (decl.storage or []) or "static" in (decl.storage or []):
        raise AnnotuneError.of(messages.SCALAR_TYPE.at(span, name=decl.name, type=decl.storage[0]))
    if symbol.is_array:
        is_small = names.iterators and fixed_extents(symbol, names) is not None
        earlier = names.meanings.get(symbol.name)
        if not is_small:
            raise AnnotuneError.of(messages.LOCAL_ARRAY.at(span, name=decl.name))
        if earlier is not None and fixed_extents(earlier, names) != fixed_extents(symbol, names):
            raise AnnotuneError.of(messages.TWO_MEANINGS.at(span, name=decl.name))
    return symbol


def fixed_extents(symbol: Symbol, names: Names) -> tuple[int, ...] | None:
    """Return the extents of an array as C fixes them, None where one is open or below 1."""
    if any(layer.kind != "[]" for layer in symbol.layers):
        return None
    known = dict(names.file_scope.enumerators)
    for scope in [names.file_scope.symbols, *names.scopes]:
        for name, other in scope.items():
            known.pop(name, None)
            if other.value is not None:
                known[name] = other.value
    found = [
        names.fixed_value(layer.dim, known) if layer.dim is not None else None
        for layer in symbol.layers
    ]
    fixed = tuple(value for value in found if value is not None and value > 0)
    return fixed if len(fixed) == len(found) else None


def local_array(symbol: Symbol, names: Names) -> LocalArray:
    """Return the statement that declares an array, which `declare` has accepted."""
    fixed = fixed_extents(symbol, names)
    assert fixed is not None
    return LocalArray(symbol.name, symbol.base, fixed)


def declared_once(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Return a loop's body with one declaration of each array that several of its blocks have.

    A nest has no blocks of its own. The arrays of one name are alike, and start without values.
    """
    seen: set[str] = set()
    kept: list[Stmt] = []
    for stmt in body:
        if not isinstance(stmt, LocalArray) or stmt.name not in seen:
            kept.append(stmt)
        if isinstance(stmt, LocalArray):
            seen.add(stmt.name)
    return tuple(kept)


def initial(name: str, shape: tuple[int, ...], init: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each element of an array with the expression that ``{…}`` starts it with.

    What the braces leave out starts at 0 (C11 6.7.9).

    Raises:
        ValueError: The braces name elements, hold too many, or nest otherwise than the array.
    """
    for places in product(*map(range, shape)):
        element: Any = c_ast.ID(name, init.coord)
        for place in places:
            element = c_ast.ArrayRef(element, c_ast.Constant("int", str(place)), init.coord)
        yield element, _start_of(init, shape, places)


def _start_of(init: Any, shape: tuple[int, ...], places: tuple[int, ...]) -> Any:
    for length, place in zip(shape, places, strict=True):
        is_list = isinstance(init, c_ast.InitList)
        named = is_list and any(isinstance(e, c_ast.NamedInitializer) for e in init.exprs)
        if not is_list or named or len(init.exprs) > length:
            raise ValueError
        if place >= len(init.exprs):
            return c_ast.Constant("int", "0", init.coord)
        init = init.exprs[place]
    if isinstance(init, c_ast.InitList):
        raise ValueError
    return init
