"""The part of an array that one call touches, where sizes and switches decide it.

A section is the same for all calls. Where a call may touch less, as behind ``if (beta != 0)``, or
of ``a[n][n]`` in a triangle alone, isl says which indices are the first and the last: dimensions
are proven to hold their indices, and so the order of indices is that of addresses.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from annotune.analysis.bounds import Bounds
from annotune.analysis.delinearise import Layout, declared_extents
from annotune.analysis.domains import NotLinear, access_map, ends, monomial_of
from annotune.analysis.facts import Part
from annotune.analysis.poly import ONE, ZERO, Monomial, Poly, product, to_expr
from annotune.ir.expr import (
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Negate,
    Select,
    Var,
    conjuncts,
    negated,
    rewrite,
    walk,
)
from annotune.ir.fold import fold

# Cases of one expression, at most: more would be no test that a user reads.
MOST_PIECES = 4
# A condition in C's own types stands in these parentheses, where all else is counted in long.
AS_WRITTEN = ""
_PARAMETER = isl.dim_type.param
_SWITCH = "s_"
_PLAIN_CALLS = frozenset({"min", "max", "abs", "labs", "fabs", "fabsf", "isnan"})


class _TooHard(Exception):
    """What isl found is no expression that emitted code should hold."""


@dataclass(frozen=True, slots=True)
class Hull:
    """A part, and as polynomials its first element and its length where they are some."""

    part: Part
    ends: tuple[Poly, Poly] | None = None


@dataclass(frozen=True)
class Touched:
    """The indices that calls touch of one array, over sizes and switches.

    `switches` are the conditions that one call decides for all its iterations, by the name of a
    parameter that is 1 where they hold. `context` has the sizes of the model and all switches.
    """

    elements: isl.Set
    context: isl.Set
    switches: Mapping[str, Expr]
    layout: Layout
    bounds: Bounds
    order: Sequence[str]

    @classmethod
    def of(
        cls, name: str, bounds: Bounds, order: Sequence[str], is_sure: bool = False
    ) -> Touched | None:
        """Return what calls touch of the array `name`; None where no isl set can say it.

        Where memory decides, it is taken to be touched, or with `is_sure` to be left alone.
        """
        model, layout = bounds.model, bounds.model.layouts[name]
        if not layout.proven or any(extent is None for extent in layout.extents[1:]):
            return None
        switches: dict[Expr, str] = {}
        elements: isl.Set | None = None
        context = model.sizes
        for reference in model.references[name]:
            statement = model.statement(reference.statement)
            runs = bounds.switched_on(reference, statement, is_sure)
            try:
                found = access_map(statement, model.rows[reference], model.space, runs).range()
            except NotLinear:
                return None
            for one in (c for whole in reference.conditions for c in conjuncts(whole)):
                if not bounds.is_switch(one):
                    continue
                if not _may_be_tested(one):
                    found = isl.Set.empty(found.get_space()) if is_sure else found
                    continue
                # Both branches of one `if` hang on one switch.
                is_off = negated(negated(one)) == one and negated(one) in switches
                test = negated(one) if is_off else one
                number = switches.setdefault(test, f"{_SWITCH}{len(switches)}")
                found = found.intersect_params(_at(number, f"= {int(not is_off)}"))
            elements = found if elements is None else elements.union(found)
        for number in switches.values():
            context = context.intersect(_at(number, ">= 0")).intersect(_at(number, "<= 1"))
        if elements is None:
            return None
        return cls(
            elements.intersect_params(context),
            context,
            {number: one for one, number in switches.items()},
            layout,
            bounds,
            order,
        )

    def is_certain(self) -> bool:
        """Return whether each call touches something, if need be by a demand on the sizes."""
        nowhere = self.context.subtract(self.elements.params())
        if nowhere.is_empty():
            return True
        never = self.bounds.model.sizes.subtract(_of_sizes(self.elements.params()))
        if not never.is_empty():
            self.bounds.demands.exclude(never)
        return False

    def is_within(self, sure: Touched) -> bool:
        """Return whether at each call `sure` has the first and the last of these elements."""
        both = ends(self.elements)
        return both is not None and all(
            isl.Set.from_pw_multi_aff(end).is_subset(sure.elements) for end in both
        )

    def part(self) -> Hull | None:
        """Return the elements from the first to the last; None where that is too long to say."""
        strides = [product(_known(self.layout.extents[k + 1 :])) for k in range(self._depth)]
        return self._part(self.elements, strides, self.layout.offset)

    def rows(self) -> Hull | None:
        """Return the indices of the outermost dimension from the first to the last."""
        set_ = isl.dim_type.set
        outermost = self.elements.project_out(set_, 1, self._depth - 1)
        return self._part(outermost, [ONE], ZERO)

    @property
    def _depth(self) -> int:
        return len(self.layout.extents)

    def _part(self, elements: isl.Set, strides: Sequence[Poly], offset: Poly) -> Hull | None:
        if elements.is_empty():
            return Hull(Part(Int(0), Int(0), may_be_none=True))
        both = ends(elements)
        if both is None:
            return None
        try:
            first, last = (self._corner(end, strides, offset) for end in both)
            is_certain = self.is_certain()
            if isinstance(first, Poly) and isinstance(last, Poly):
                length = last - first + ONE
                part = Part(fold(self._expr(first)), fold(self._expr(length)))
                if is_certain:
                    return Hull(part, (first, length))
            else:
                count = Binary("-", self._expr(last), self._expr(first))
                part = Part(fold(self._expr(first)), fold(Binary("+", count, Int(1))))
                if is_certain:
                    return Hull(part)
            touching = self.elements.params().gist(self.context)
            is_any = self._converted(self._build.expr_from_set(touching))
        except _TooHard:
            return None
        return Hull(replace(part, count=Select(is_any, part.count, Int(0)), may_be_none=True))

    def _corner(self, corner: isl.PwMultiAff, strides: Sequence[Poly], offset: Poly) -> Poly | Expr:
        """Return the address of the indices that `corner` gives, as a polynomial if it is one."""
        pieces: list[tuple[isl.Set, isl.MultiAff]] = []
        corner.gist_params(self.context).coalesce().foreach_piece(
            lambda where, indices: pieces.append((where, indices))
        )
        if not 0 < len(pieces) <= MOST_PIECES:
            raise _TooHard
        found = [self._address(indices, strides, offset) for _, indices in pieces]
        if len(found) == 1:
            return found[0]
        value = self._expr(found[-1])
        for (where, _), address in reversed(list(zip(pieces[:-1], found[:-1], strict=True))):
            test = self._converted(self._build.expr_from_set(where.params().gist(self.context)))
            value = Select(test, self._expr(address), value)
        return value

    def _address(self, indices: isl.MultiAff, strides: Sequence[Poly], offset: Poly) -> Poly | Expr:
        affs = [indices.get_at(k) for k in range(len(strides))]
        polys = [_poly(aff) for aff in affs]
        total, sum_ = offset, None
        for aff, poly, stride in zip(affs, polys, strides, strict=True):
            if poly is not None:
                total = total + poly * stride
                continue
            index = self._converted(self._build.expr_from_pw_aff(isl.PwAff.from_aff(aff)))
            term = fold(Binary("*", index, self._expr(stride)))
            sum_ = term if sum_ is None else Binary("+", sum_, term)
        return total if sum_ is None else fold(Binary("+", sum_, self._expr(total)))

    def _expr(self, address: Poly | Expr) -> Expr:
        if isinstance(address, Poly):
            return to_expr(address, self.order, self.bounds.rounded)
        return address

    @property
    def _build(self) -> isl.AstBuild:
        return isl.AstBuild.from_context(self.context)

    def _converted(self, found: isl.AstExpr) -> Expr:
        """Return an expression of isl's as one of C."""
        kind = isl.ast_expr_type(found.get_type())
        if kind == isl.ast_expr_type.int:
            return Int(int(found.get_val().to_python()))
        if kind == isl.ast_expr_type.id:
            name = found.get_id().get_name()
            if name in self.switches:
                raise _TooHard
            return self._expr(Poly.of({monomial_of(name): 1}))
        switch = self._switch(found)
        if switch is not None:
            return switch
        operands = [self._converted(found.get_op_arg(k)) for k in range(found.get_op_n_arg())]
        made = _OPERATIONS.get(_KIND(found.get_op_type()))
        if made is None:
            raise _TooHard
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
            raise _TooHard
        condition = self.switches[left.get_id().get_name()]
        number = int(right.get_val().to_python())
        holds = [relation(value, number) for value in (0, 1)]
        if holds[0] == holds[1]:
            return Int(int(holds[0]))
        return Call(AS_WRITTEN, (condition if holds[1] else negated(condition),))


def declared_rows(name: str, bounds: Bounds) -> bool:
    """Return whether the rows of an array's layout are those that C declares."""
    array, layout = bounds.model.arrays.get(name), bounds.model.layouts[name]
    declared = declared_extents(array, len(layout.extents))
    is_alike = array is not None and len(array.extents) == len(layout.extents)
    return is_alike and layout.offset.is_zero and declared[1:] == layout.extents[1:]


def rows_of(part: Part, row: Expr) -> Part:
    """Return the rows, each of `row` elements, that hold the elements of `part`."""
    last = Binary("-", Binary("+", part.first, part.count), Int(1))
    first = fold(_floored([part.first, row]))
    count = fold(Binary("+", Binary("-", _floored([last, row]), first), Int(1)))
    if part.may_be_none:
        count = Select(Binary(">", _long(part.count), Int(0)), count, Int(0))
    return Part(first, count, part.may_be_none, is_whole=False)


def _known(extents: Iterable[Poly | None]) -> list[Poly]:
    return [extent for extent in extents if extent is not None]


def _at(switch: str, relation: str) -> isl.Set:
    return isl.Set(f"[{switch}] -> {{ : {switch} {relation} }}")


def _of_sizes(sizes: isl.Set) -> isl.Set:
    """Return the sizes at which there is a setting of the switches."""
    for place in reversed(range(sizes.dim(_PARAMETER))):
        if (sizes.get_dim_name(_PARAMETER, place) or "").startswith(_SWITCH):
            sizes = sizes.project_out(_PARAMETER, place, 1)
    return sizes


def _may_be_tested(condition: Expr) -> bool:
    """Return whether C may evaluate a switch where the nest would not."""
    for part in walk(condition):
        match part:
            case Access():
                return False
            case Binary("/" | "%", _, divisor) if not isinstance(divisor, Int) or divisor == Int(0):
                return False
            case Call(function, _) if function not in _PLAIN_CALLS and function[:1] != "(":
                return False
    return True


def _poly(aff: isl.Aff) -> Poly | None:
    """Return an affine expression over sizes as a polynomial, None for one that rounds."""
    if aff.dim(isl.dim_type.div) or int(aff.get_denominator_val().to_python()) != 1:
        return None
    terms: dict[Monomial, int] = {(): int(aff.get_constant_val().to_python())}
    for place in range(aff.dim(_PARAMETER)):
        factor = int(aff.get_coefficient_val(_PARAMETER, place).to_python())
        name = aff.get_dim_name(_PARAMETER, place) or ""
        if factor and name.startswith(_SWITCH):
            return None
        if factor:
            terms[monomial_of(name)] = factor
    return Poly.of(terms)


def _floored(operands: list[Expr]) -> Expr:
    """Return a division rounded down, of a number that may be negative, by a positive one."""
    value, divisor = operands
    below = Binary("/", Binary("-", Binary("-", divisor, Int(1)), value), divisor)
    is_above = Binary(">=", _long(value), Int(0))
    return Select(is_above, Binary("/", value, divisor), Negate(below))


def _long(number: Expr) -> Expr:
    """Return a number that isl compares: C would compare one without a sign as another one."""

    def change(part: Expr) -> Expr | None:
        match part:
            case Var():
                return Call("(long)", (part,))
            case Call(function) if function in ("(long)", AS_WRITTEN):
                return part
            case Select(condition, one, other):
                # The user's own, as C compares, or one that is made so already.
                return Select(condition, rewrite(one, change), rewrite(other, change))
        return None

    return rewrite(number, change)


def _compared(sign: str) -> Callable[[list[Expr]], Expr]:
    return lambda operands: Binary(sign, _long(operands[0]), _long(operands[1]))


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
    _KIND.fdiv_q: _floored,
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
