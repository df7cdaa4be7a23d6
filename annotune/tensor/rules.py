"""What a program must fulfil, whatever text it comes from: its meaning is then one."""

from __future__ import annotations

from collections.abc import Iterator

from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.tensor.fuse import inner_lengths
from annotune.tensor.messages import (
    CUT_TO_REAL,
    NOT_ON_THE_RIGHT,
    NOT_SET_BEFORE,
    OTHER_SIZE,
    READS_OUTPUT,
    TAKEN_NAME,
    TOO_LARGE_TENSOR,
    TOO_MUCH,
    TWICE_ON_THE_LEFT,
    TWO_SIZES,
    UNCLEAR_SUM,
    UNUSABLE_NAME,
    UNUSED_TENSOR,
    WRONG_APPLIED,
)
from annotune.tensor.names import OF_COMPLEX, why_unusable
from annotune.tensor.program import (
    Added,
    Applied,
    ElementType,
    Length,
    Multiplied,
    Number,
    Operation,
    Reference,
    Tensor,
    TensorExpr,
    TensorProgram,
    Term,
    indices,
    parts,
    references,
)

# Compilers take more loops in one another, and nobody can wait for as many.
MAX_LOOPS = 32
# What pointers and their differences hold.
LARGEST_BYTES = 2**63 - 1


def refuse_mistakes(program: TensorProgram) -> None:
    """Refuse a program that has no meaning, or more than one.

    Its tensors are declared, and stand with as many indices as they have dimensions.

    Raises:
        AnnotuneError: With all its mistakes, in the order of the text.
    """
    found = [d for one in program.operations for d in _of_operation(program, one)]
    found += too_large(program, None)
    found += _unset(program)
    if found:
        raise AnnotuneError(tuple(sorted(dict.fromkeys(found), key=lambda one: one.span)))


def remarks(program: TensorProgram) -> tuple[Diagnostic, ...]:
    """Return warnings of what is declared in vain."""
    used = {
        one.tensor
        for operation in program.operations
        for one in (operation.output, *operation.reads())
    }
    unused = (one for one in program.tensors if one.name not in used)
    return tuple(UNUSED_TENSOR.at(one.span, name=one.name) for one in unused)


def too_large(program: TensorProgram, memory_bytes: int | None) -> list[Diagnostic]:
    """Return the refusals of tensors that no memory holds.

    Those that are internal have to fit into `memory_bytes`, where that is known.
    """
    found: list[Diagnostic] = []
    for one in program.tensors:
        taken = bytes_of(program, one)
        is_own = one.is_internal and memory_bytes is not None
        limit = memory_bytes if is_own and memory_bytes is not None else LARGEST_BYTES
        if taken is not None and taken > limit:
            size, most = f"{taken / 2**30:.4g} GiB", f"the {limit / 2**30:.4g} GiB"
            most = f"{most} of this machine's memory" if is_own else f"{most} of an address space"
            hint = "compute it in parts, or leave it out: `--no-factor`" if is_own else ""
            where = one.span
            found.append(
                TOO_LARGE_TENSOR.at(where, name=one.name, size=size, limit=most, hint=hint)
            )
    return found


def bytes_of(program: TensorProgram, tensor: Tensor) -> int | None:
    """Return how much memory a tensor takes; None where a size is known at run time alone.

    One of loops around all operations takes what one of their iterations does.
    """
    taken = tensor.element.size_bytes
    kept = zip(tensor.room, inner_lengths(program, tensor), strict=True)
    for length in (length for length, is_kept in kept if is_kept):
        value = program.value(length)
        if value is None:
            return None
        taken *= value
    return taken


def _of_operation(program: TensorProgram, operation: Operation) -> Iterator[Diagnostic]:
    yield from _names(program, operation)
    yield from _sizes(program, operation)
    yield from _left_side(operation)
    yield from _own_reads(operation)
    for term in operation.terms:
        yield from _unclear(operation, term)
        yield from _functions(program, term.value)
    yield from _cut(program, operation)
    count = len(program.lengths(operation))
    if count > MAX_LOOPS:
        what = f"this operation has {count} indices"
        hint = "compute it in several steps"
        yield TOO_MUCH.at(operation.span, what=what, limit=MAX_LOOPS, hint=hint)


def _places(operation: Operation) -> Iterator[tuple[str, Span, Reference, int]]:
    """Yield every index at every place: its name, where it stands, of what, which dimension."""
    for one in (operation.output, *operation.reads()):
        for place, index in enumerate(one.indices):
            yield index, one.index_span(place), one, place


def _names(program: TensorProgram, operation: Operation) -> Iterator[Diagnostic]:
    tensors = {one.name for one in program.tensors}
    taken = tensors | {one.name for one in program.sizes} | {program.name}
    seen: set[str] = set()
    for index, where, _, _ in _places(operation):
        if index in seen:
            continue
        seen.add(index)
        why = why_unusable(index)
        if why:
            yield UNUSABLE_NAME.at(where, name=index, why=why, such=f"{index.strip('_') or 'i'}_0")
        elif index in taken:
            own = "the function" if index == program.name else "a size"
            yield TAKEN_NAME.at(where, name=index, first="a tensor" if index in tensors else own)


def _sizes(program: TensorProgram, operation: Operation) -> Iterator[Diagnostic]:
    """Yield the indices that run over dimensions of which it is not known that they are alike."""
    first: dict[str, tuple[Length, Span]] = {}
    told: set[str] = set()
    for index, where, one, place in _places(operation):
        length = program.tensor(one.tensor).lengths[place]
        known, there = first.setdefault(index, (length, where))
        if index in told or _is_same(program, known, length):
            continue
        told.add(index)
        shown = _shown(program, known), _shown(program, length)
        hint = "an index runs over dimensions of one size"
        note = OTHER_SIZE.at(there, length=shown[0])
        problem = TWO_SIZES.at(where, index=index, first=shown[0], second=shown[1], hint=hint)
        yield problem.with_note(note)


def _is_same(program: TensorProgram, one: Length, other: Length) -> bool:
    if one == other:
        return True
    fixed = {n.name for n in program.sizes if not n.is_parameter}
    # What a caller gives may be any number, whatever it is tuned for.
    if any(isinstance(n, str) and n not in fixed for n in (one, other)):
        return False
    return program.value(one) == program.value(other)


def _shown(program: TensorProgram, length: Length) -> str:
    value = program.value(length)
    return str(length) if isinstance(length, int) or value is None else f"{length} = {value}"


def _left_side(operation: Operation) -> Iterator[Diagnostic]:
    output = operation.output
    every = {name for term in operation.terms for name in indices(term.value)}
    # A number alone is one for all elements, whatever indices these have.
    is_filled = not any(True for one in operation.reads() if one.indices)
    for place, index in enumerate(output.indices):
        where = output.index_span(place)
        if index in output.indices[:place]:
            yield TWICE_ON_THE_LEFT.at(where, index=index)
        elif index not in every and not is_filled:
            hint = f"give '{index}' to a tensor on the right, or take it away from the left"
            yield NOT_ON_THE_RIGHT.at(where, index=index, hint=hint)


def _own_reads(operation: Operation) -> Iterator[Diagnostic]:
    """Yield the reads of what is set that would not find what it was before the operation."""
    name = operation.output.tensor
    for term in operation.terms:
        for one in references(term.value):
            if one.tensor != name:
                continue
            hint = "set another tensor, such as an internal one, and take it from there"
            if one.indices != operation.output.indices:
                yield READS_OUTPUT.at(one.span, name=name, how="at other indices", hint=hint)
            elif operation.summed(term):
                yield READS_OUTPUT.at(one.span, name=name, how="in the sum that sets it", hint=hint)


def _unclear(operation: Operation, term: Term) -> Iterator[Diagnostic]:
    """Yield the sums that mean one thing to one reader, and another to the next.

    Multiplied out, every product of a term has to have all its indices: else the sum would be over
    some of the products alone, or would count the others once for each value of the index.
    """
    summed = frozenset(operation.summed(term))
    products = _products(term.value, summed)
    if len(products) > _MOST_PRODUCTS:
        what = "sums are multiplied by sums here, too many to look at"
        yield TOO_MUCH.at(operation.span, what=what, limit=f"{_MOST_PRODUCTS} kinds", hint="")
        return
    for index in sorted(summed):
        if not all(index in product for product in products):
            why = "it stands in a part of the brackets alone"
            hint = "multiply out, or give the brackets a tensor of their own"
            yield UNCLEAR_SUM.at(_place_of(term.value, index), index=index, why=why, hint=hint)
    for call in _calls(term.value):
        outside = {n for one in _outside(term.value, call) for n in one.indices}
        for index in summed - outside:
            if sum(index in one.indices for one in references(call)) > 1:
                why = f"the values of {call.function}, or what it is given"
                hint = "give the sum a tensor of its own, and apply the function to that"
                yield UNCLEAR_SUM.at(call.span, index=index, why=why, hint=hint)


_MOST_PRODUCTS = 200


def _products(expr: TensorExpr, summed: frozenset[str]) -> frozenset[frozenset[str]]:
    """Return the sets of summed indices that the products have, if one multiplied out.

    More than `_MOST_PRODUCTS` are not looked for.
    """
    match expr:
        case Multiplied(factors):
            found = frozenset((frozenset[str](),))
            for factor in factors:
                own = _products(factor, summed)
                found = frozenset(a | b for a in found for b in own)
                if len(found) > _MOST_PRODUCTS:
                    break
            return found
        case Added(terms):
            return frozenset(one for term in terms for one in _products(term.value, summed))
        case _:
            return frozenset((summed.intersection(indices(expr)),))


def _place_of(expr: TensorExpr, index: str) -> Span:
    return next(
        one.index_span(one.indices.index(index)) for one in references(expr) if index in one.indices
    )


def _calls(expr: TensorExpr) -> Iterator[Applied]:
    if isinstance(expr, Applied):
        yield expr
    for part in parts(expr):
        yield from _calls(part)


def _outside(expr: TensorExpr, call: Applied) -> Iterator[Reference]:
    """Yield the references of an expression that do not stand in one of its calls."""
    if expr is call:
        return
    if isinstance(expr, Reference):
        yield expr
    for part in parts(expr):
        yield from _outside(part, call)


def _functions(program: TensorProgram, expr: TensorExpr) -> Iterator[Diagnostic]:
    for call in _calls(expr):
        for argument in call.arguments:
            kind = is_complex(program, argument)
            if kind != (call.function in OF_COMPLEX):
                kinds = ("real numbers", "complex ones"), ("complex numbers", "real ones")
                wanted, given = kinds[not kind]
                name = call.function
                yield WRONG_APPLIED.at(call.span, name=name, wanted=wanted, given=given)


def is_complex(program: TensorProgram, expr: TensorExpr) -> bool:
    """Return whether the value of an expression is complex."""
    match expr:
        case Reference(tensor):
            return program.tensor(tensor).element is ElementType.COMPLEX
        case Number():
            return False
        case Applied(function):
            return function in OF_COMPLEX
        case _:
            return any(is_complex(program, part) for part in parts(expr))


def _cut(program: TensorProgram, operation: Operation) -> Iterator[Diagnostic]:
    name = operation.output.tensor
    if program.tensor(name).element is ElementType.COMPLEX:
        return
    if any(is_complex(program, term.value) for term in operation.terms):
        yield CUT_TO_REAL.at(operation.output.span, name=name)


def _unset(program: TensorProgram) -> Iterator[Diagnostic]:
    """Yield the reads of internal tensors that nothing has set."""
    internal = {one.name for one in program.tensors if one.is_internal}
    was_set: set[str] = set()
    for operation in program.operations:
        own = (operation.output,) if operation.assign != "=" else ()
        for one in (*operation.reads(), *own):
            if one.tensor in internal - was_set:
                hint = f"its first operation is `{one.tensor}:(…) = …`"
                yield NOT_SET_BEFORE.at(one.span, name=one.tensor, hint=hint)
        was_set.add(operation.output.tensor)
