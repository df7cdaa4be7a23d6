"""Iteration domains and access maps in isl, with products of sizes as opaque parameters.

What isl says of them, read back as polynomials and as C. Where a condition holds: exactly for an
affine one, from both sides for any other. And what the loops and tests around a place imply there,
at every size: asked before a condition is left out of the text, so nothing is implied that is not
proven.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, lru_cache, reduce

import islpy as isl

from annotune.analysis.statements import (
    WIDE_CASTS,
    Halved,
    NestStatement,
    Rounded,
    end_of,
    loops_of,
    named_sizes,
)
from annotune.frozen import dataclass
from annotune.ir.c_types import is_integer_type, is_unsigned_type
from annotune.ir.expr import (
    AS_WRITTEN,
    COMPARISONS,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Negate,
    Select,
    Var,
    accesses,
    children,
    extremum_operands,
    negated,
    print_expr,
    subtracts,
    variables,
)
from annotune.ir.fold import fold
from annotune.ir.nest import Loop
from annotune.ir.poly import ONE, ZERO, Monomial, Poly, from_expr, variable
from annotune.ir.region import Region
from annotune.ir.typing import in_long

# Operations by isl's own count, for the ends of one set and their proof. Rows at fifteen strides
# take less than a tenth, and 10 ms; what takes more counts as not known.
MOST_OPERATIONS = 1_000_000
_PARAMETER = isl.dim_type.param
_NO_DIMS: Mapping[str, str] = {}


class NotLinear(Exception):
    """A polynomial multiplies an iterator by a size, or sizes are missing to make it linear."""

    def __init__(self, poly: Poly, names: frozenset[str]) -> None:
        super().__init__(str(poly))
        self.poly = poly
        self.names = names


def parameter(monomial: Monomial) -> str:
    """Return the isl name of a product of sizes; different products have different names.

    isl reserves words such as ``or`` and ``mod``, and knows no dots: a prefix keeps clear of
    the words, and the code of each character is prefix-free.
    """
    return "p_" + "_t_".join(_spell(name) for name in monomial)


def _spell(name: str) -> str:
    return re.sub(r"\W", lambda m: f"_u{ord(m[0]):x}_", name.replace("_", "__"))


def monomial_of(name: str) -> Monomial:
    """Return the product of sizes whose isl name, as `parameter` makes it, is `name`."""
    factors = [""]
    for code, letter in re.findall(r"(__|_t_|_u[0-9a-f]+_)|(.)", name.removeprefix("p_")):
        if code == "_t_":
            factors.append("")
        else:
            factors[-1] += letter or ("_" if code == "__" else chr(int(code[2:-1], 16)))
    return tuple(factors)


@lru_cache(maxsize=8192)
def parsed_map(text: str) -> isl.Map:
    """Return the map that `text` describes; a search asks for the same ones again."""
    return isl.Map(text)


@lru_cache(maxsize=8192)
def parsed_set(text: str) -> isl.Set:
    """Return the set that `text` describes: much alike is asked of all statements of a nest."""
    return isl.Set(text)


@dataclass(frozen=True, slots=True)
class IslSpace:
    """How polynomials become isl text: `values` are the sizes that take part as numbers.

    These are the sizes that C fixes, or all of them; the others become parameters. `rounded`
    are the sizes that have no name in C, such as ``n / 2``.
    """

    values: Mapping[str, int]
    rounded: frozenset[str] = frozenset()

    def named(self, expr: Expr) -> Poly | None:
        """Return the name of a size that is no polynomial, None for any other expression."""
        text = print_expr(fold(expr))
        return variable(text) if text in self.rounded else None

    def text(self, body: str) -> str:
        """Return ``[parameters] -> { body }``; isl aligns parameters by name."""
        found = sorted(set(re.findall(r"\bp_\w+", body)))
        return f"[{', '.join(found)}] -> {{ {body} }}"

    def having(self, facts: Iterable[str], elements: str = "") -> isl.Set:
        """Return those of `elements`, a tuple of isl's, with all `facts`; else such sizes."""
        return parsed_set(self.text(f"{elements} : {' and '.join(facts) or 'true'}"))

    def instances_having(self, facts: Iterable[str], statement: NestStatement) -> isl.Set:
        """Return the instances of a statement with all `facts`."""
        found = self.having(facts, any_instance(len(statement.loops)))
        return found.set_tuple_name(f"S{statement.number}")

    def where(self, poly: Poly, relation: str) -> isl.Set:
        """Return the sizes at which the value of `poly` stands so, ``>= 0`` for one.

        Raises:
            NotLinear: As `affine`.
        """
        return self.having([f"{self.affine(poly)} {relation}"])

    def affine(self, poly: Poly, dims: Mapping[str, str] = _NO_DIMS) -> str:
        """Return `poly` in isl's syntax, iterators by their names in `dims`.

        Raises:
            NotLinear: An iterator is multiplied by a size without a value, or by an iterator.
        """
        parts = []
        for monomial, factor in poly.at(self.values).terms:
            inside = [name for name in monomial if name in dims]
            if inside and len(monomial) > 1:
                raise NotLinear(poly, frozenset(monomial) - frozenset(inside))
            if inside:
                parts.append(f"{factor}*{dims[inside[0]]}")
            else:
                parts.append(f"{factor}*{parameter(monomial)}" if monomial else str(factor))
        return f"({' + '.join(parts) or '0'})"

    def value(self, expr: Expr, dims: Mapping[str, str]) -> str | None:
        """Return a bound in isl's syntax, extrema and C's quotients in it too; None for others.

        Raises:
            NotLinear: As `affine`.
        """
        poly = from_expr(expr, self.named)
        if poly is not None:
            return self.affine(poly, dims)
        operands = children(expr)
        match expr:
            case Cast(type_, operand) if type_.name in WIDE_CASTS:
                return self.value(operand, dims)
            case Binary("/" | "%" as op, left, right):
                return self._quotient(op, left, right, dims)
            case Binary("*", left, right):
                return self._multiple(fold(left, self.values), fold(right, self.values), dims)
            case Negate() | Binary("+" | "-") | Call("min" | "max"):
                pass
            case _:
                return None
        texts = [self.value(operand, dims) for operand in operands]
        known = [f"({text})" for text in texts if text is not None]
        if len(known) < len(texts):
            return None
        match expr:
            case Binary(sign, _, _):
                return f" {sign} ".join(known)
            case Call(extremum, _):
                return reduce(lambda one, two: f"{extremum}({one}, {two})", known)
        return f"-{known[0]}"

    def _multiple(self, left: Expr, right: Expr, dims: Mapping[str, str]) -> str | None:
        """Return a product with a number, which isl wants on the left, or without parentheses."""
        number, other = (left, right) if isinstance(left, Int) else (right, left)
        if not isinstance(number, Int):
            return None
        text = self.value(other, dims)
        return None if text is None else f"{number.value}*({text})"

    def _quotient(self, op: str, left: Expr, right: Expr, dims: Mapping[str, str]) -> str | None:
        """Return C's quotient or remainder: towards zero, where isl rounds down."""
        whole, step = self.value(left, dims), fold(right, self.values)
        if whole is None or not isinstance(step, Int) or step.value <= 0:
            return None
        by = step.value
        quotient = f"(max(floor(({whole})/{by}), 0) - max(floor((-({whole}))/{by}), 0))"
        return quotient if op == "/" else f"({whole}) - {by}*{quotient}"

    def over(self, poly: Poly, statement: NestStatement) -> str:
        """Return `poly` in isl's syntax over an instance of `statement`.

        Raises:
            NotLinear: As `affine`; or a part is divided by a size without a value, or is half of a
                product of loops.
        """
        names = dims(statement)
        for name in poly.names:
            part = statement.parts.get(name)
            if isinstance(part, Rounded):
                names[name] = self._rounded(part, statement)
            elif isinstance(part, Halved):
                raise NotLinear(poly, frozenset())
        return self.affine(poly, names)

    def _rounded(self, part: Rounded, statement: NestStatement) -> str:
        divisor = part.right.at(self.values).constant
        if divisor is None or divisor <= 0:
            raise NotLinear(part.right, part.right.names - self.values.keys())
        left = self.over(part.left, statement)
        # Rounded down, not towards zero: the model shows that `left` is never negative.
        quotient = f"floor({left}/{divisor})"
        return quotient if part.op == "/" else f"({left} - {divisor}*{quotient})"

    def is_linear(self, poly: Poly, moving: Collection[str]) -> bool:
        """Return whether `affine` accepts `poly`, whose names in `moving` are no sizes."""
        return not any(
            len(monomial) > 1 and any(name in moving for name in monomial)
            for monomial, _ in poly.at(self.values).terms
        )


def dims(statement: NestStatement, letter: str = "i") -> dict[str, str]:
    """Return the isl name of each iterator of `statement`, outermost first."""
    return {var: f"{letter}{depth}" for depth, var in enumerate(statement.iterators)}


def tuple_text(statement: NestStatement, letter: str = "i") -> str:
    """Return the isl tuple of an instance of `statement`: ``S0[i0, i1]``."""
    return instance_text(statement.number, len(statement.loops), letter)


def instance_text(number: int, depth: int, letter: str = "i") -> str:
    """Return the isl tuple of an instance of a statement inside `depth` loops: ``S0[i0, i1]``."""
    return f"S{number}[{', '.join(f'{letter}{k}' for k in range(depth))}]"


def any_instance(depth: int, letter: str = "i") -> str:
    """Return the isl tuple of an instance of any statement inside `depth` loops: ``S[i0, i1]``."""
    return f"S[{', '.join(f'{letter}{k}' for k in range(depth))}]"


def context(
    statements: Sequence[NestStatement], space: IslSpace, extents: Iterable[Poly]
) -> isl.Set:
    """Return the sizes for which every loop with fixed bounds runs and every array exists."""
    facts = []
    moving: frozenset[str] = frozenset().union(*(s.moving for s in statements))
    for loop in loops_of(statements):
        for lower in loop.lower:
            for upper in loop.upper:
                trip = upper - lower
                if space.is_linear(trip, ()) and trip.names.isdisjoint(moving):
                    facts.append(f"{space.affine(trip)} >= 1")
    facts += [f"{space.affine(extent)} >= 1" for extent in extents]
    for name, expr in named_sizes(statements).items():
        facts += size_facts(name, expr, space)
    return space.having(dict.fromkeys(facts))


def size_facts(name: str, expr: Expr, space: IslSpace) -> list[str]:
    """Return what isl is to know of the size `name`, which is `expr`; nothing is sound too."""
    own = space.affine(variable(name))
    match expr:
        case Binary("/" | "%" as op, left, right):
            numerator, divisor = from_expr(left), from_expr(right)
            step = None if divisor is None else divisor.at(space.values).constant
            if numerator is None or step is None or step <= 0:
                return []
            value = space.affine(numerator)
            rest = f"{value} - {step}*{own}" if op == "/" else own
            fact = (
                f"(({value} >= 0 and 0 <= {rest} < {step}) or "
                f"({value} < 0 and -{step} < {rest} <= 0))"
            )
            if op == "/":
                return [fact]
            return [fact, f"(exists q : {value} - {own} = {step}*q)"]
        case Call("min" | "max" as function, arguments):
            polys = [from_expr(argument) for argument in arguments]
            values = [space.affine(poly) for poly in polys if poly is not None]
            sign = "<=" if function == "min" else ">="
            facts = [f"{own} {sign} {value}" for value in values]
            if len(values) == len(polys):
                facts.append(f"({' or '.join(f'{own} = {value}' for value in values)})")
            return facts
        case Select(Binary("<", left, right), if_true, if_false):
            polys = [from_expr(part) for part in (left, right, if_true, if_false)]
            texts = [space.affine(poly) for poly in polys if poly is not None]
            if len(texts) == len(polys):
                one, two, first, second = texts
                is_first = f"{one} < {two} and {own} = {first}"
                return [f"(({is_first}) or ({one} >= {two} and {own} = {second}))"]
    return []


def domain(statement: NestStatement, space: IslSpace, sizes: isl.Set) -> isl.Set:
    """Return the iterations of the loops around `statement` for the `sizes` of the context.

    Raises:
        NotLinear: A bound multiplies an outer iterator by a size without a value.
    """
    runs = space.instances_having(bound_facts(statement, space), statement)
    return runs.intersect_params(sizes)


def bound_facts(
    statement: NestStatement, space: IslSpace, outermost: int | None = None
) -> list[str]:
    """Return in isl's syntax that the `outermost` so many loops of `statement` run.

    Raises:
        NotLinear: A bound multiplies an outer iterator by a size without a value.
    """
    facts: list[str] = []
    for depth, loop in enumerate(statement.loops[:outermost]):
        lower = [space.over(bound, statement) for bound in loop.lower]
        facts += [f"i{depth} >= {bound}" for bound in lower]
        facts += [f"i{depth} < {space.over(bound, statement)}" for bound in loop.upper]
        if loop.loop.step > 1:
            facts.append(_on_step(depth, lower, loop.loop.step))
    return facts


def _on_step(depth: int, lower: Sequence[str], step: int) -> str:
    """Return that the loop at `depth` is a multiple of `step` away from its greatest bound."""
    cases = []
    for first in lower:
        greatest = [f"{first} >= {other}" for other in lower if other != first]
        at = f"(exists q{depth} : i{depth} = {first} + {step} * q{depth})"
        cases.append(f"({' and '.join([*greatest, at])})")
    return f"({' or '.join(cases)})"


def access_map(
    statement: NestStatement,
    subscripts: Sequence[Poly],
    space: IslSpace,
    instances: isl.Set,
    unknown: frozenset[str] = frozenset(),
    extents: Sequence[Poly | None] = (),
) -> isl.Map:
    """Return the map from instances to elements, whose tuple has no name.

    A subscript with an `unknown` name may be any index inside the extent of its dimension, and
    is one between the ends of what the name may be where these are known.
    """
    element: list[str] = []
    facts: list[str] = []
    for place, one in enumerate(subscripts):
        if unknown.isdisjoint(one.names):
            element.append(space.over(one, statement))
            continue
        element.append(f"u{place}")
        facts += _end_facts(f"u{place}", one, statement, space, unknown)
        extent = extents[place] if place < len(extents) else None
        if extent is not None:
            facts.append(f"0 <= u{place} < {space.affine(extent)}")
    text = f"{any_instance(len(statement.loops))} -> [{', '.join(element)}]"
    condition = f" : {' and '.join(facts)}" if facts else ""
    touched = parsed_map(space.text(text + condition))
    touched = touched.set_tuple_name(isl.dim_type.in_, f"S{statement.number}")
    return touched.intersect_domain(instances)


def _end_facts(
    name: str, index: Poly, statement: NestStatement, space: IslSpace, unknown: frozenset[str]
) -> Iterator[str]:
    """Yield in isl's syntax what is known of `name`, an index with `unknown` names in it."""
    for sign, relation in ((-1, ">="), (1, "<=")):
        end = end_of(index, index.names & unknown, statement.parts, sign)
        if end is not None and space.is_linear(end, statement.moving):
            yield f"{name} {relation} {space.over(end, statement)}"


def ends(elements: isl.Set) -> tuple[isl.PwMultiAff, isl.PwMultiAff] | None:
    """Return the first and the last element at each size, in order; None where it is not known.

    isl 0.27 and 0.28 name elements in between, or fail, for some sets in which one index is the
    remainder of another: what they say counts where sets prove it.
    """
    context = elements.get_ctx()
    context.reset_operations()
    context.set_max_operations(MOST_OPERATIONS)
    try:
        first, last = elements.lexmin_pw_multi_aff(), elements.lexmax_pw_multi_aff()
        lowest, highest = map(isl.Set.from_pw_multi_aff, (first, last))
        are_ends = _is_end(lowest, elements, lowest.lex_gt_set) and is_last(highest, elements)
        return (first, last) if are_ends else None
    except isl.Error:
        return None
    finally:
        context.set_max_operations(0)


def is_last(chosen: isl.Set, elements: isl.Set) -> bool:
    """Return whether `chosen` has at each size the last of `elements`, in order, and no other."""
    return _is_end(chosen, elements, chosen.lex_lt_set)


def _is_end(chosen: isl.Set, elements: isl.Set, beyond: Callable[[isl.Set], isl.Map]) -> bool:
    """Return whether `chosen` has some of `elements` wherever there are any, and none are beyond.

    Part by part: with the whole of a union at once isl takes time exponential in its parts.
    """
    parts: list[isl.Set] = []
    elements.foreach_basic_set(lambda part: parts.append(isl.Set.from_basic_set(part)))
    left = chosen
    for part in parts:
        left = left.subtract(part)
    return bool(left.is_empty()) and all(
        part.params().is_subset(chosen.params()) and beyond(part).is_empty() for part in parts
    )


def outside(
    statement: NestStatement, value: Poly, extent: Poly, space: IslSpace, instances: isl.Set
) -> isl.Set:
    """Return the instances at which ``0 <= value < extent`` does not hold.

    Raises:
        NotLinear: As `IslSpace.over`.
    """
    one = space.over(value, statement)
    wrong = f"{one} < 0 or {one} >= {space.over(extent, statement)}"
    return space.instances_having([wrong], statement).intersect(instances)


def runs_inside(statement: NestStatement, value: Poly, extent: Poly) -> bool:
    """Return whether `value` is a loop variable that runs from 0 to below `extent`.

    The common case, decided without isl.
    """
    for loop in statement.loops:
        if value.terms == (((loop.var,), 1),):
            return ZERO in loop.lower and extent in loop.upper
    constant, size = value.constant, extent.constant
    return constant is not None and size is not None and 0 <= constant < size


class TooHard(Exception):
    """What isl found is no expression that emitted code should hold."""


@dataclass(frozen=True, slots=True)
class IntoC:
    """Reads isl's expressions over the parameters of `context` as C.

    `size` writes a polynomial over sizes. `switches` are the conditions for which a parameter
    stands that is 1 where they hold, and 0 elsewhere.
    """

    context: isl.Set
    switches: Mapping[str, Expr]
    size: Callable[[Poly], Expr]

    def condition(self, where: isl.Set) -> Expr:
        """Return the test that the parameters are in `where`.

        Raises:
            TooHard: It is no test that emitted code should hold.
        """
        build = isl.AstBuild.from_context(self.context)
        return self._converted(build.expr_from_set(where.gist(self.context)))

    def value(self, aff: isl.Aff) -> Expr:
        """Return the value of `aff`.

        Raises:
            TooHard: It is nothing that emitted code should hold.
        """
        build = isl.AstBuild.from_context(self.context)
        return self._converted(build.expr_from_pw_aff(isl.PwAff.from_aff(aff)))

    def _converted(self, found: isl.AstExpr) -> Expr:
        """Return an expression of isl's as one of C."""
        kind = isl.ast_expr_type(found.get_type())
        if kind == isl.ast_expr_type.int:
            return Int(int(found.get_val().to_python()))
        if kind == isl.ast_expr_type.id:
            name = found.get_id().get_name()
            if name in self.switches:
                raise TooHard
            return self.size(Poly.of({monomial_of(name): 1}))
        switch = self._switch(found)
        if switch is not None:
            return switch
        operands = [self._converted(found.get_op_arg(k)) for k in range(found.get_op_n_arg())]
        made = _OPERATIONS.get(_KIND(found.get_op_type()))
        if made is None:
            raise TooHard
        return made(operands)

    def _switch(self, found: isl.AstExpr) -> Expr | None:
        """Return the condition behind a comparison of a switch with 0 or 1."""
        if found.get_op_n_arg() != 2:
            return None
        left, right = found.get_op_arg(0), found.get_op_arg(1)
        is_name = isl.ast_expr_type(left.get_type()) == isl.ast_expr_type.id
        if not is_name or left.get_id().get_name() not in self.switches:
            return None
        relation = _RELATIONS.get(_KIND(found.get_op_type()))
        if relation is None or isl.ast_expr_type(right.get_type()) != isl.ast_expr_type.int:
            # isl may also count with the 0 or 1.
            raise TooHard
        condition = self.switches[left.get_id().get_name()]
        number = int(right.get_val().to_python())
        holds = [relation(value, number) for value in (0, 1)]
        if holds[0] == holds[1]:
            return Int(int(holds[0]))
        return Call(AS_WRITTEN, (condition if holds[1] else negated(condition),))


def poly_of(aff: isl.Aff) -> Poly:
    """Return the sum of sizes in an affine expression; what it rounds is left out."""
    terms: dict[Monomial, int] = {(): int(aff.get_constant_val().to_python())}
    for place in range(aff.dim(_PARAMETER)):
        factor = int(aff.get_coefficient_val(_PARAMETER, place).to_python())
        name = aff.get_dim_name(_PARAMETER, place)
        assert name is not None, "parameters of a context have names"
        if factor:
            terms[monomial_of(name)] = factor
    return Poly.of(terms)


def floored(operands: list[Expr]) -> Expr:
    """Return a division rounded down, of a number that may be negative, by a positive one."""
    value, divisor = operands
    below = Binary("/", Binary("-", Binary("-", divisor, Int(1)), value), divisor)
    is_above = Binary(">=", in_long(value), Int(0))
    return Select(is_above, Binary("/", value, divisor), Negate(below))


def _compared(sign: str) -> Callable[[list[Expr]], Expr]:
    return lambda operands: Binary(sign, in_long(operands[0]), in_long(operands[1]))


def _chained(sign: str) -> Callable[[list[Expr]], Expr]:
    return lambda operands: Binary(sign, operands[0], operands[1])


def _called(function: str) -> Callable[[list[Expr]], Expr]:
    return lambda operands: Call(function, tuple(operands))


_KIND = isl.ast_expr_op_type
# By their numbers in isl/ast_type.h: Python keeps the names for itself.
_AND, _OR = _KIND(0), _KIND(2)
_OPERATIONS: Mapping[isl.ast_expr_op_type, Callable[[list[Expr]], Expr]] = {
    _AND: _chained("&&"),
    _OR: _chained("||"),
    _KIND.add: _chained("+"),
    _KIND.sub: _chained("-"),
    _KIND.mul: _chained("*"),
    _KIND.div: _chained("/"),
    _KIND.pdiv_q: _chained("/"),
    _KIND.pdiv_r: _chained("%"),
    _KIND.zdiv_r: _chained("%"),
    _KIND.fdiv_q: floored,
    _KIND.minus: lambda operands: Negate(operands[0]),
    _KIND.min: _called("min"),
    _KIND.max: _called("max"),
    _KIND.and_then: _chained("&&"),
    _KIND.or_else: _chained("||"),
    _KIND.eq: _compared("=="),
    _KIND.ge: _compared(">="),
    _KIND.gt: _compared(">"),
    _KIND.le: _compared("<="),
    _KIND.lt: _compared("<"),
    _KIND.cond: lambda operands: Select(*operands),
    _KIND.select: lambda operands: Select(*operands),
}
_RELATIONS: Mapping[isl.ast_expr_op_type, Callable[[int, int], bool]] = {
    _KIND.eq: operator.eq,
    _KIND.ge: operator.ge,
    _KIND.gt: operator.gt,
    _KIND.le: operator.le,
    _KIND.lt: operator.lt,
}


@dataclass(frozen=True, slots=True)
class Truth:
    """The instances at which a condition `maybe` holds, and those at which it `surely` does.

    Both are equal for a condition that is affine in loops and sizes; values in memory make
    the difference.
    """

    maybe: isl.Set
    surely: isl.Set

    @property
    def is_exact(self) -> bool:
        return bool(self.maybe.is_subset(self.surely))

    def __and__(self, other: Truth) -> Truth:
        return Truth(self.maybe.intersect(other.maybe), self.surely.intersect(other.surely))

    def __or__(self, other: Truth) -> Truth:
        return Truth(self.maybe.union(other.maybe), self.surely.union(other.surely))

    def __invert__(self) -> Truth:
        return Truth(self.surely.complement(), self.maybe.complement())


_COMPARE: Mapping[str, Callable[[isl.PwAff, isl.PwAff], isl.Set]] = {
    "<": isl.PwAff.lt_set,
    "<=": isl.PwAff.le_set,
    ">": isl.PwAff.gt_set,
    ">=": isl.PwAff.ge_set,
    "==": isl.PwAff.eq_set,
    "!=": isl.PwAff.ne_set,
}


@dataclass
class ConditionReader:
    """Reads the conditions of one statement.

    With `is_strict`, a product of a loop and a size without a value is `NotLinear`; else
    nothing is known of the comparison that holds it.
    """

    region: Region
    statement: NestStatement
    space: IslSpace
    is_strict: bool
    _known: dict[Expr, Truth] = field(default_factory=dict)

    @cached_property
    def _written(self) -> frozenset[str]:
        return self.region.nest.written_scalars()

    @cached_property
    def _iterators(self) -> frozenset[str]:
        return self.region.nest.iterators()

    def truth(self, condition: Expr) -> Truth:
        """Return where `condition` is not 0.

        Raises:
            NotLinear: Only with more sizes can it be said exactly.
        """
        found = self._known.get(condition)
        if found is None:
            found = self._known[condition] = self._truth(condition)
        return found

    def _truth(self, condition: Expr) -> Truth:
        match condition:
            case Int(value):
                return self._everywhere if value else ~self._everywhere
            case Binary("&&", left, right):
                return self.truth(left) & self.truth(right)
            case Binary("||", left, right):
                return self.truth(left) | self.truth(right)
            case Binary("==", _, Int(0)) if negated(condition) != Binary("==", condition, Int(0)):
                return ~self.truth(negated(condition))
            case Select(chosen, if_true, if_false):
                is_chosen = self.truth(chosen)
                return (is_chosen & self.truth(if_true)) | (~is_chosen & self.truth(if_false))
            case Binary(op, left, right) if op in COMPARISONS:
                return self._compared(op, left, right)
            case _:
                return self._compared("!=", condition, Int(0))

    @property
    def _everywhere(self) -> Truth:
        everything = parsed_set(f"{{ {tuple_text(self.statement)} }}")
        return Truth(everything, everything)

    @property
    def _unknown(self) -> Truth:
        everything = parsed_set(f"{{ {tuple_text(self.statement)} }}")
        return Truth(everything, isl.Set.empty(everything.get_space()))

    def _compared(self, op: str, left: Expr, right: Expr) -> Truth:
        try:
            if comparison_may_wrap(left, right, self.region):
                return self._unknown
            one, two = self._value(left), self._value(right)
        except NotLinear:
            if self.is_strict:
                raise
            return self._unknown
        if one is None or two is None:
            return self._unknown
        where = _COMPARE[op](one, two)
        return Truth(where, where)

    def _value(self, expr: Expr) -> isl.PwAff | None:
        """Return an integer expression over the instances; None when memory decides it."""
        poly = from_expr(expr)
        if poly is not None:
            return self._affine(poly) if self._is_fixed(poly) else None
        match expr:
            case Negate(operand):
                value = self._value(operand)
                return None if value is None else value.neg()
            case Binary("+" | "-" as op, left, right):
                return self._both(operator.add if op == "+" else operator.sub, left, right)
            case Binary("*", Int(), _) | Binary("*", _, Int()):
                return self._both(isl.PwAff.mul, expr.left, expr.right)
            case Binary("/" | "%" as op, left, right):
                return self._rounded(op, left, right)
            case Call("min" | "max" as function, (first, *rest)):
                smallest = isl.PwAff.min if function == "min" else isl.PwAff.max
                value = self._value(first)
                for other in rest:
                    next_value = self._value(other)
                    if value is None or next_value is None:
                        return None
                    value = smallest(value, next_value)
                return value
            case Call("abs" | "labs", (operand,)):
                value = self._value(operand)
                return None if value is None else value.max(value.neg())
            case _:
                return None

    def _both(
        self, combine: Callable[[isl.PwAff, isl.PwAff], isl.PwAff], left: Expr, right: Expr
    ) -> isl.PwAff | None:
        one, two = self._value(left), self._value(right)
        return None if one is None or two is None else combine(one, two)

    def _rounded(self, op: str, left: Expr, right: Expr) -> isl.PwAff | None:
        divisor = from_expr(right)
        numerator = self._value(left)
        if divisor is None or numerator is None or not self._is_fixed(divisor):
            return None
        value = divisor.at(self.space.values).constant
        if value is None:
            raise NotLinear(divisor, divisor.names)
        if value <= 0:
            return None
        constant = self._affine(Poly.of({(): value}))
        # Rounded towards zero, as C11 6.5.5 has it.
        return numerator.tdiv_q(constant) if op == "/" else numerator.tdiv_r(constant)

    def _is_fixed(self, poly: Poly) -> bool:
        """Return whether loops around the statement and unchanged integers alone decide it."""
        outside = self._iterators - frozenset(self.statement.iterators)
        return outside.isdisjoint(poly.names) and _are_fixed(poly.names, self.region, self._written)

    def _affine(self, poly: Poly) -> isl.PwAff:
        names = dims(self.statement)
        text = f"{tuple_text(self.statement)} -> [{self.space.affine(poly, names)}]"
        return isl.PwAff(self.space.text(text))


def comparison_may_wrap(left: Expr, right: Expr, region: Region) -> bool:
    """Return whether unsigned arithmetic could leave the integers that isl computes with.

    ``i - 1 < n`` is false for an unsigned i of 0, and a negative n compares as a large one.
    """
    scalars = region.scalars
    names = variables(left) | variables(right)
    unsigned = {n for n in names if n in scalars and is_unsigned_type(scalars[n].type)}
    if not unsigned:
        return False
    polys = [from_expr(left), from_expr(right)]
    return unsigned != names or any(
        poly is None or any(factor < 0 for _, factor in poly.terms) for poly in polys
    )


def rooms(conditions: Iterable[Expr], region: Region, written: frozenset[str]) -> Iterator[Poly]:
    """Yield polynomials that are not negative where all `conditions` hold, not all there are."""
    for condition in conditions:
        match condition:
            case Binary("&&", left, right):
                yield from rooms((left, right), region, written)
            case Binary("==", Binary("<" | "<=" | ">" | ">=" as op, left, right), Int(0)):
                # Of integers, whose order is total.
                yield from rooms((Binary(_OPPOSITE[op], left, right),), region, written)
            case Binary("<" | "<=" | ">" | ">=" | "==" as op, left, right):
                one, two = from_expr(left), from_expr(right)
                if one is None or two is None or comparison_may_wrap(left, right, region):
                    continue
                if not _are_fixed(one.names | two.names, region, written):
                    continue
                if op in ("<", "<=", "=="):
                    yield two - one - (ONE if op == "<" else ZERO)
                if op in (">", ">=", "=="):
                    yield one - two - (ONE if op == ">" else ZERO)


_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def _are_fixed(names: Iterable[str], region: Region, written: frozenset[str]) -> bool:
    """Return whether `names` are integers that no statement of the region writes."""
    scalars = region.scalars
    return all(
        name not in written and name in scalars and is_integer_type(scalars[name].type)
        for name in names
    )


_ISL = {"==": "="}


@dataclass(frozen=True)
class Premises:
    """What holds at one place: the loops around it run, and some tests were true.

    `sizes` are numbers, `unsigned` the names that wrap around below zero. `integers` are the
    names in bounds and tests; nothing is known of others, which may be no numbers at all.
    Whatever is no polynomial, such as ``n / 2``, is an unknown number: a proof that holds for
    any is one. So is a product of names.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    unsigned: frozenset[str] = frozenset()
    integers: frozenset[str] = frozenset()
    facts: tuple[str, ...] = ()

    @classmethod
    def of(cls, types: Mapping[str, str], sizes: Mapping[str, int]) -> Premises:
        """Return what holds outside all loops: the values of sizes, and the C types of names."""
        unsigned = {name for name, type_ in types.items() if is_unsigned_type(type_)}
        return cls(sizes, frozenset(unsigned), frozenset(sizes))

    def inside(self, loop: Loop) -> Premises:
        """Return what holds in an iteration of `loop`."""
        var = Var(loop.var)
        unsigned = self.unsigned | ({loop.var} if loop.root in self.unsigned else set())
        here = self._naming((var, loop.lower, loop.upper), unsigned)
        bounds = [Binary("<=", low, var) for low in extremum_operands(loop.lower, "max")]
        bounds += [Binary("<", var, high) for high in extremum_operands(loop.upper, "min")]
        found = [text for one in bounds if (text := here._compared(one)) is not None]
        distance = here._affine(Binary("-", var, loop.lower))
        if loop.step > 1 and distance is not None:
            found.append(f"{distance} mod {loop.step} = 0")
        return replace(here, facts=(*self.facts, *found))

    def where(self, tests: Iterable[Expr]) -> Premises:
        """Return what holds where `tests`, none of which wraps around, do as well."""
        tests = tuple(tests)
        here = self._naming(tests, self.unsigned)
        found = (here._comparison(test) for test in tests)
        return replace(here, facts=(*self.facts, *(text for text in found if text is not None)))

    def implies(self, condition: Expr) -> bool:
        """Return whether `condition` is sure to hold here; False also where nobody knows."""
        return self.without(condition) is None

    def without(self, condition: Expr) -> Expr | None:
        """Return what is left of a condition to be asked here, None where it is sure to hold."""
        match condition:
            case Binary("&&", left, right):
                one, two = self.without(left), self.without(right)
                if one is None or two is None:
                    return two if one is None else one
                return Binary("&&", one, two)
            case Binary("||", left, right):
                one, two = self.without(left), self.without(right)
                return None if one is None or two is None else Binary("||", one, two)
            case _:
                return None if self._is_sure(condition) else condition

    def _is_sure(self, condition: Expr) -> bool:
        if not variables(condition) <= self.integers:
            return False
        text = self._compared(condition)
        return text is not None and _contradict((*self.facts, f"not ({text})"))

    def _naming(self, exprs: Iterable[Expr], unsigned: frozenset[str]) -> Premises:
        names = frozenset[str]().union(*map(variables, exprs))
        return replace(self, integers=self.integers | names, unsigned=unsigned)

    def _compared(self, condition: Expr) -> str | None:
        """Return a comparison as isl text where C compares the same numbers."""
        if variables(condition) & self.unsigned and subtracts(condition):
            return None
        return self._comparison(condition)

    def _comparison(self, condition: Expr) -> str | None:
        """Return a comparison as isl text, None for another condition or one that is not affine."""
        if not isinstance(condition, Binary) or condition.op not in COMPARISONS:
            return None
        left, right = self._affine(condition.left), self._affine(condition.right)
        if left is None or right is None:
            return None
        return f"{left} {_ISL.get(condition.op, condition.op)} {right}"

    def _affine(self, expr: Expr) -> str | None:
        if accesses(expr):
            return None  # memory may change between two reads
        poly = from_expr(expr, _unknown)
        return None if poly is None else IslSpace(self.sizes).affine(poly)


def _unknown(expr: Expr) -> Poly | None:
    """Return the name of an integer that is no polynomial: the same for the same expression."""
    is_number = isinstance(expr, Binary) and expr.op in ("/", "%")
    return variable(print_expr(fold(expr))) if is_number else None


@lru_cache(maxsize=8192)
def _contradict(facts: tuple[str, ...]) -> bool:
    """Return whether facts cannot all hold, whatever their names are."""
    return bool(IslSpace({}).having(f"({fact})" for fact in facts).is_empty())
