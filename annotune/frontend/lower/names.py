"""The names that a region uses, as they are met: arrays, scalars, and integers in formulas.

What a region declares itself: scalars, and small arrays that each iteration has anew. Whose
function a name is: the C library's, as annotune knows it, or one of the user's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import partial

from pycparser import c_ast

from annotune.diagnostics import AnnotuneError, Span
from annotune.frontend import messages
from annotune.frontend.read.filescope import File
from annotune.frontend.read.preprocess import INCLUDE_LINE, Clean, is_standard
from annotune.frontend.read.region_finder import ParsedFunction
from annotune.frontend.read.syntax import (
    extent,
    has_sizeof,
    is_table,
    names_in,
    offset,
    text_of,
    walk_tree,
)
from annotune.frontend.types.kinds import COMPLEX, Typed, of_type, promoted
from annotune.frontend.types.layout import Layouts
from annotune.frontend.types.symbols import INTEGERS, REALS, Layer, Symbol, Types, field_of
from annotune.frozen import dataclass
from annotune.ir.c_types import StoredName
from annotune.ir.ctype import INT, TYPES, CType
from annotune.ir.expr import Access, Cast, Expr, Int, Var, accesses, rewrite, substitute, variables
from annotune.ir.functions import FUNCTIONS
from annotune.ir.region import Alias, Assertion, Scalar, Spelling
from annotune.ir.typing import Interval, ctype, interval

_INT_MAXIMUM = 2**31 - 1


@dataclass(frozen=True, slots=True)
class IntegerFormula:
    """What an integer that the region sets is here, in iterators and sizes.

    `index` is for subscripts and bounds, where no integer is taken to overflow; `value` keeps
    the conversions that C makes, and has the integer's own type. `number` is equal to it, of any
    type, and what subscripts round is made of it; None where it is `value`.
    """

    index: Expr
    value: Expr
    number: Expr | None = None

    def substituted(self, values: Mapping[str, Expr]) -> IntegerFormula:
        """Return the formula with expressions for some of its variables."""
        number = None if self.number is None else substitute(self.number, values)
        return IntegerFormula(
            substitute(self.index, values), substitute(self.value, values), number
        )


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


@dataclass(frozen=True)
class Given:
    """What is fixed for a region: where it starts, and what the annotation says of it.

    `depth` is how many scopes are around it, and `live_after` are the variables that may be read
    after it. `are_disjoint` says that the user vouches for arrays that do not overlap, `pure` for
    which functions, and `sizes` are the names that the annotation gives values.
    """

    start: int
    depth: int
    live_after: frozenset[str] = frozenset()
    are_disjoint: bool = False
    pure: frozenset[str] = frozenset()
    sizes: frozenset[str] = frozenset()


@dataclass
class Used:
    """What a region uses, as it is met.

    `meanings` are the declarations behind its names, `functions` those of the user's that it calls.
    `is_wide` says that the user computes subscripts in 64 bits. `counted` are the integers that
    some loop moves in every iteration, and that have formulas all the same. `left` are the values
    that loops leave, by the names that stand for them in formulas until a statement is made of one.
    `fixed` are the words of constant expressions of which the nest has the value alone, `rows` what
    it takes the rows of arrays to be.
    `sizes` are the numbers for a ``sizeof`` where the region's text stands alone.
    `asked_first` are the conditions that stand outside all loops, with those around them before
    them, of what the region leaves as it is.
    """

    arrays: dict[str, Symbol] = field(default_factory=dict)
    scalars: dict[str, Scalar] = field(default_factory=dict)
    meanings: dict[str, Symbol] = field(default_factory=dict)
    functions: dict[str, None] = field(default_factory=dict)
    is_wide: bool = False
    counted: set[str] = field(default_factory=set)
    left: dict[str, Left] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    rows: dict[Assertion, None] = field(default_factory=dict)
    asked_first: set[Expr] = field(default_factory=set)
    starts: list[Alias] = field(default_factory=list)
    guessed: dict[str, c_ast.Node] = field(default_factory=dict)
    sizes: dict[tuple[int, int], Spelling] = field(default_factory=dict)

    def copy(self) -> Used:
        """Return what may learn more arrays, scalars and functions without these."""
        return replace(
            self,
            arrays=dict(self.arrays),
            scalars=dict(self.scalars),
            meanings=dict(self.meanings),
            functions=dict(self.functions),
        )


@dataclass(frozen=True)
class Sets:
    """The scalars that a region assigns anywhere, and the iterators of all its loops.

    `assigned` are the integers that stay variables which the nest assigns, because no formula
    gives their value everywhere; those that turn out to be such are put into `needed`. Of iterators
    that are `continued` the nest has the value from before the region; of others that turn out to
    be such it is `asked`.
    """

    written: frozenset[str] = frozenset()
    loop_names: frozenset[str] = frozenset()
    assigned: frozenset[str] = frozenset()
    needed: set[str] = field(default_factory=set)
    continued: frozenset[str] = frozenset()
    asked: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Names:
    """What names mean at one place of a region.

    `scopes` are the declarations in force, the innermost last. `formulas` holds the integers that
    the region itself sets, as the statements so far leave them. `iterators` are the loops around
    the place, outermost first, and `spans` the values of the nest's own iterators; `asked` are the
    conditions around it. `derived_from` are names from which the function may make other pointers.
    """

    function: ParsedFunction
    given: Given
    scopes: Sequence[dict[str, Symbol]]
    used: Used = field(default_factory=Used)
    sets: Sets = field(default_factory=Sets)
    derived_from: frozenset[str] = frozenset()
    formulas: dict[str, IntegerFormula] = field(default_factory=dict)
    iterators: tuple[str, ...] = ()
    spans: Mapping[str, Interval] = field(default_factory=dict)
    asked: tuple[Expr, ...] = ()

    def block(self) -> Names:
        """Return the names of a block at this place, which may declare more."""
        return replace(self, scopes=[*self.scopes, {}])

    def branch(self, test: Expr) -> Names:
        """Return the names where `test` holds, with formulas of their own."""
        return replace(self, formulas=dict(self.formulas), asked=(*self.asked, test))

    def leaves(self, formulas: Mapping[str, IntegerFormula]) -> None:
        """Take in the formulas that hold after a statement."""
        self.formulas.clear()
        self.formulas.update(formulas)

    def place(self, node: c_ast.Node) -> Span:
        """Return the place of a syntax tree in the user's file."""
        return self.function.file.source.span(*extent(node, self.function.file.tokens))

    def declare(self, symbol: Symbol, span: Span) -> None:
        """Take in a declaration of the region itself."""
        for scope in self.scopes[self.given.depth : -1]:
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
        return self.function.scope.find(name, self.scopes)

    def declared(self, place: c_ast.Node) -> Symbol | None:
        """Return what is declared of a variable, a member or a part of one, moved or not.

        Of its layers those are left that the place still has.
        """
        match place:
            case c_ast.ID(name=name):
                return self.find(name)
            case c_ast.ArrayRef(name=inner) | c_ast.UnaryOp(op="*", expr=inner):
                symbol = self.declared(inner)
                if symbol is None or not symbol.layers:
                    return None
                return replace(symbol, layers=symbol.layers[1:])
            case c_ast.BinaryOp(op="+" | "-", left=inner):
                return self.declared(inner)
            case c_ast.StructRef():
                owner = self.declared(place.name)
                if owner is None or owner.record is None:
                    return None
                decl = field_of(owner.record, place.field.name)
                is_owner = len(owner.layers) == (place.type == "->")
                if decl is None or not is_owner:
                    return None
                return self.function.scope.types.symbol(decl, "file")
        return None

    def leave(self, left: Left) -> Expr:
        """Return a name for what a loop leaves, or its value where that is no choice."""
        if isinstance(left.value, Int) or left.value == left.ran:
            return left.value
        for name, known in self.used.left.items():
            if known == left:
                return Var(name)
        name = f"{len(self.used.left)}{_LEFT}"
        self.used.left[name] = left
        return Var(name)

    def resolved(self, expr: Expr) -> Expr:
        """Return an expression with what loops leave in the place of the names for it."""
        return rewrite(expr, self.value_left)

    def value_left(self, part: Expr) -> Expr | None:
        """Return what a loop leaves where `part` is a name for it, None for other parts."""
        left = self.used.left.get(part.name) if isinstance(part, Var) else None
        return left.value if left is not None else None

    def running(
        self, formulas: Mapping[str, IntegerFormula], trips: Expr
    ) -> dict[str, IntegerFormula]:
        """Return formulas as they read inside a loop of so many trips, which runs."""
        ran = {name: left.ran for name, left in self.used.left.items() if left.trips == trips}
        return {name: formula.substituted(ran) for name, formula in formulas.items()}

    def symbol(self, node: c_ast.ID) -> Symbol:
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
        if own.startswith("if_") or own in self.sets.loop_names:
            # The conditions and iterators that annotune adds are called so.
            raise AnnotuneError.of(messages.TWO_MEANINGS.at(span, name=name))
        first = self.used.meanings.setdefault(name, symbol)
        both_local = first.storage == symbol.storage == "region" and first.base == symbol.base
        if first.start != symbol.start and not both_local:
            raise AnnotuneError.of(messages.TWO_MEANINGS.at(span, name=name))
        is_number = symbol.is_integer or symbol.base in REALS | COMPLEX
        if not symbol.is_array and not is_number:
            raise AnnotuneError.of(messages.SCALAR_TYPE.at(span, name=name, type=symbol.base))
        return symbol

    def read(self, node: c_ast.ID, in_index: bool = False, is_rounded: bool = False) -> Typed:
        """Return a scalar's value: itself, or the formula of an integer that the region sets.

        It may be a part of a subscript, or of what a subscript rounds.
        """
        name, span = node.name, self.place(node)
        constant = self.constant(name, offset(node), span)
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
        if name in self.sets.loop_names:
            self.sets.asked.add(name)
            raise AnnotuneError.of(messages.ITERATOR_OUTSIDE.at(span, name=name))
        if name in self.sets.written:
            self.sets.needed.add(name)
        elif symbol.storage == "region":
            raise AnnotuneError.of(messages.NOT_SINGLE.at(span, name=name))
        self.use(symbol)
        return Typed(Var(name, span), kind)

    def type_of(self, expr: Expr) -> CType | None:
        """Return the type in which the emitted C computes an expression, None if unknown."""
        return ctype(expr, self._type_of_name)

    def _type_of_name(self, name: str) -> CType | None:
        if name in self.used.left:
            return self.type_of(self.used.left[name].value)
        if name in self.used.scalars:
            # A loop may count in another type than the user's iterator.
            return TYPES.get(self.used.scalars[name].type)
        return self._declared_type(name)

    def _declared_type(self, name: str) -> CType | None:
        if name in self.used.left:
            return ctype(self.used.left[name].value, self._declared_type)
        symbol = self.find(name)
        return INT if symbol is None else TYPES.get(symbol.base)

    def may_be_int(self, expr: Expr) -> bool:
        """Return whether C computes an expression as an int, in the nest or in the user's types.

        The nest also runs as written, where the user's variables have their own types.
        """
        return INT in (self.type_of(expr), ctype(expr, self._declared_type))

    def range_of(self, expr: Expr) -> Interval | None:
        """Return between which integers `expr` lies wherever it is computed, None if unknown."""
        return interval(expr, self._range_of_leaf)

    def _range_of_leaf(self, leaf: Var | Access | Cast) -> Interval | None:
        if isinstance(leaf, Cast):
            return leaf.type.limits
        if isinstance(leaf, Access):
            symbol = self.find(leaf.array)
            return None if symbol is None else of_type(symbol.base)
        if leaf.name in self.used.left:
            return self.range_of(self.used.left[leaf.name].value)
        if leaf.name in self.spans:
            return self.spans[leaf.name]
        scalar = self.used.scalars.get(leaf.name)
        if scalar is None:
            return None
        return of_type(scalar.type) if scalar.value is None else (scalar.value, scalar.value)

    def is_nonnegative(self, expr: Expr) -> bool:
        """Return whether an integer expression is 0 or more wherever it is computed."""
        span = self.range_of(expr)
        return span is not None and span[0] >= 0

    def is_sized(self, expr: Expr) -> bool:
        """Return whether an integer is made of sizes and iterators, which go round in no type."""
        return variables(expr) <= self.given.sizes | self.spans.keys() and not accesses(expr)

    def fixed_value(self, node: c_ast.Node) -> int | None:
        """Return the value of a constant expression, which the nest shows in its place."""
        known = partial(self.function.scope.constant, scopes=self.scopes)
        value = self.function.file.value(node, known, self._size_of)
        if value is not None:
            self.used.fixed.update(names_in(node))
            for part in walk_tree(node) if has_sizeof(node) else ():
                if isinstance(part, c_ast.UnaryOp) and part.op == "sizeof":
                    self._spell_size(part)
        return value

    def extent_of_size(self, node: c_ast.UnaryOp) -> tuple[int, int]:
        """Return where a ``sizeof`` stands; of an alias in it the nodes' places are elsewhere."""
        tokens = self.function.file.tokens
        first = tokens.at(offset(node))
        return tokens.starts[first], tokens.ends[tokens.sizeof_end(first)]

    def _spell_size(self, node: c_ast.UnaryOp) -> None:
        """Note a ``sizeof`` of the region that is another number where only its text stands.

        Raises:
            AnnotuneError: A macro makes it, so that it has no text that could be changed.
        """
        start, end = self.extent_of_size(node)
        types = self.function.scope.types
        named = types.scalar(node.expr) if isinstance(node.expr, c_ast.Typename) else None
        is_plain = named in INTEGERS | REALS
        if is_plain or start < self.given.start:
            return
        written = self.function.file.clean.text[start:end]
        if not written.startswith("sizeof"):
            shown = {"name": text_of(node), "macro": written}
            raise AnnotuneError.of(messages.ALIAS_IN_MACRO.at(self.place(node), **shown))
        size = self._size_of(node.expr)
        self.used.sizes[start, end] = Spelling(start, end, f"((unsigned long){size})")

    def _size_of(self, operand: c_ast.Node) -> int | None:
        """Return the bytes of a type, or of a variable or a part of one; None if they may vary."""
        types = self.function.scope.types
        layouts = Layouts(types, self.fixed_value)
        if isinstance(operand, c_ast.Typename):
            room, record = layouts.room_of(operand), types.record_of(operand.type)
        else:
            is_place = isinstance(operand, c_ast.ID | c_ast.ArrayRef | c_ast.StructRef)
            is_place = is_place or (isinstance(operand, c_ast.UnaryOp) and operand.op == "*")
            symbol = self.declared(operand) if is_place else None
            is_known = symbol is not None and symbol.is_known and not symbol.special
            if symbol is None or not is_known or "()" in {one.kind for one in symbol.layers}:
                return None
            # A parameter's outermost array is a pointer; a member's, which has a name here, is one.
            is_name = isinstance(operand, c_ast.ID)
            spelled = self.function.scope.spelled(symbol.name)
            is_member = not spelled.isidentifier() and not spelled.startswith("(&")
            is_pointer = is_name and symbol.is_pointer and not is_member
            layers = (Layer("*"),) if is_pointer else symbol.layers
            room, record = layouts.room(layers, symbol.base, symbol.record), symbol.record
        struct, own = types.name_of(record), layouts.room((), "struct", record)
        if struct and own is not None:
            said = f"{struct} has {own.bytes} bytes"
            self.used.rows[Assertion(f"sizeof({struct}) == {own.bytes}", said)] = None
        return None if room is None or (record and not struct) else room.bytes

    def constant(self, name: str, offset: int, span: Span) -> Typed | None:
        """Return a ``#define`` or an enumerator as a scalar with a value, None for others."""
        macro = self.function.file.clean.macro(name, offset)
        value = macro.value if macro else None
        if value is None and self.find(name) is None:
            value = self.function.scope.enumerators.get(name)
        if value is None:
            return None
        type_ = "int" if abs(value) <= _INT_MAXIMUM else "long"
        scalar = Scalar(name, type_, value, is_macro=macro is not None, span=span)
        self.used.scalars.setdefault(name, scalar)
        return Typed(Var(name, span), type_)

    def use(self, symbol: Symbol) -> None:
        """Note that the region uses a scalar."""
        if symbol.name in self.used.scalars:
            return
        self.used.scalars[symbol.name] = Scalar(
            symbol.name,
            symbol.base,
            symbol.value,
            is_local=symbol.storage == "region",
            read_after=self.may_be_read_after(symbol),
            is_register=symbol.is_register and not symbol.is_const,
            span=self.function.file.source.span(symbol.start, symbol.end),
        )

    def may_be_read_after(self, symbol: Symbol) -> bool:
        """Return whether a variable's value may be read once the region is over."""
        if symbol.storage == "region" or symbol.is_const:
            return False
        return symbol.storage == "file" or symbol.name in self.given.live_after


def declare(decl: c_ast.Decl, names: Names) -> Symbol:
    """Take in a declaration of the region and return what it declares.

    Raises:
        AnnotuneError: It is ``extern``, or ``static`` without one value for ever, or an array that
            is not one of each iteration alone, with extents that C fixes.
    """
    symbol = names.function.scope.types.symbol(decl, "region")
    span = names.function.file.source.span(symbol.start, symbol.end)
    # Also where it is refused: its uses need no refusal of their own.
    names.declare(symbol, span)
    if {"extern", "static"} & {*(decl.storage or [])} and not is_table(decl):
        raise AnnotuneError.of(messages.SCALAR_TYPE.at(span, name=decl.name, type=decl.storage[0]))
    if symbol.is_array:
        is_small = names.iterators and fixed_extents(symbol, names) is not None
        earlier = names.used.meanings.get(symbol.name)
        if not is_small:
            raise AnnotuneError.of(messages.LOCAL_ARRAY.at(span, name=decl.name))
        if earlier is not None and fixed_extents(earlier, names) != fixed_extents(symbol, names):
            raise AnnotuneError.of(messages.TWO_MEANINGS.at(span, name=decl.name))
    return symbol


def fixed_extents(symbol: Symbol, names: Names) -> tuple[int, ...] | None:
    """Return the extents of an array as C fixes them, None where one is open or below 1."""
    if any(layer.kind != "[]" for layer in symbol.layers):
        return None
    found = [
        names.fixed_value(layer.dim) if layer.dim is not None else None for layer in symbol.layers
    ]
    fixed = tuple(value for value in found if value is not None and value > 0)
    return fixed if len(fixed) == len(found) else None


def own_meaning(name: str, names: Names) -> str:
    """Return why `name`, a function that annotune knows, is not that one here; else nothing."""
    symbol = names.find(name)
    if symbol is not None and [layer.kind for layer in symbol.layers] != ["()"]:
        return "a variable has the name"
    if is_defined(name, names.function.file):
        return "the program defines it itself"
    return "" if symbol is None else unlike_library(name, symbol, names.function.scope.types)


def is_defined(name: str, file: File) -> bool:
    """Return whether the file, or a header of the user's, defines function `name`."""
    found = file.definition(name)
    if found is None:
        return False
    header = INCLUDE_LINE.match(found.file.source.path)
    return header is None or not is_standard(header[1])


def unlike_library(name: str, symbol: Symbol, types: Types) -> str:
    """Return how a declaration differs from the C library's; nothing where it says the same."""
    known = FUNCTIONS.get(name)
    if known is None:
        return "it is declared, and the C library has none"
    (layer,) = symbol.layers
    given = None
    if isinstance(layer.dim, c_ast.ParamList):
        given = tuple(_type(parameter, types) for parameter in layer.dim.params)
    # Empty parentheses leave the parameters open.
    if symbol.base == known.result and given in (None, known.parameters):
        return ""
    return f"the C library's is {known.result} {name}({', '.join(known.parameters)})"


def _type(parameter: c_ast.Node, types: Types) -> str:
    plain = types.scalar(parameter) if isinstance(parameter, c_ast.Decl | c_ast.Typename) else ""
    return plain or "another type"


def may_come_from_headers(clean: Clean) -> bool:
    """Return whether a header that was not read may say what a name is."""
    return any(not is_standard(unread.name) for unread in clean.unread)


def is_generic(clean: Clean) -> bool:
    """Return whether the names of ``math.h`` choose their function by the argument's type."""
    return "tgmath.h" in clean.headers


def lacks_prototype(name: str, clean: Clean, symbol: Symbol | None) -> bool:
    """Return whether C hands the known function `name` its arguments as they are.

    Of what nothing declares, compilers know the parameters, but for ``abs``: its result is what C
    takes any name to have.
    """
    if FUNCTIONS[name].header in clean.headers or may_come_from_headers(clean):
        return False
    if symbol is None:
        return name == "abs"
    return symbol.layers[0].dim is None
