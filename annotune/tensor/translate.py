"""From a tensor file to C: what this package's steps make of it, one after the other.

That is one of its formulations: the same mathematics in other nests, each a program of its own.
Which is the fastest depends on the target, as the matrix view and the tensor view of nekbone do in
section 5.5 of Rivera's thesis (University of Utah, 2014). Each differs from the usual one in one
thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count

from annotune.annotation.messages import nearest
from annotune.diagnostics import AnnotuneError, Diagnostic, Severity, Span
from annotune.frozen import dataclass
from annotune.tensor.contraction_order import TRIP_FLOP
from annotune.tensor.einsum import einsum_program
from annotune.tensor.flatten import loops_of
from annotune.tensor.fuse import fusions, inner_lengths
from annotune.tensor.messages import NO_SUCH_FORMULATION
from annotune.tensor.minimise import Minimised, minimised
from annotune.tensor.program import Addressing, ElementType, Pattern, Tensor, TensorProgram
from annotune.tensor.read import read_program
from annotune.tensor.rules import remarks, too_large
from annotune.tensor.text import tensor_text
from annotune.tensor.write import Written, written

__all__ = ["USUAL", "Translated", "einsum_of", "file_text", "read_program", "translated"]

USUAL = "usual"
"""The formulation that is written where none is asked for: what all others are compared with."""

# There are 105 orders of five factors: the first few that cost nearly as little will do.
MOST_ORDERS = 4


@dataclass(frozen=True, slots=True)
class Formulation:
    """One of a program's formulations: what it is called, what it is, and what it takes."""

    name: str
    words: str
    made: Minimised

    @property
    def cost(self) -> int:
        """Return its operations, and those that could be done while temporaries go to memory.

        Temporaries of one iteration stay near. Each loop counts as an operation, so that of two
        with the same operations the one with longer loops costs less.
        """
        made = self.made
        trips = 0 if made.program.around else made.temporaries_elements
        return made.flop_after + TRIP_FLOP * trips + loops_of(made.program)


def formulations(program: TensorProgram, is_factored: bool = True) -> tuple[Formulation, ...]:
    """Return the formulations of a program, the usual one first; no two are the same program.

    Unless it `is_factored`, its operations stay as they are written in all of them.
    """
    found: dict[TensorProgram, Formulation] = {}
    for one in _every(program, is_factored):
        found.setdefault(one.made.program, one)
    return tuple(found.values())


def usual(program: TensorProgram, is_factored: bool = True) -> Formulation:
    """Return the first of a program's formulations."""
    made = minimised(program) if is_factored else Minimised.of(program, program)
    return Formulation(USUAL, "what is written where none is asked for", made)


def _every(program: TensorProgram, is_factored: bool) -> Iterator[Formulation]:
    first = usual(program, is_factored)
    own = first.made.program

    def formed(name: str, words: str, made: TensorProgram) -> Formulation:
        return Formulation(name, words, Minimised.of(program, made))

    yield first
    for one in fusions(own):
        names = ", ".join(one.around)
        words = f"all operations in common loops over {names}, temporaries of one iteration"
        yield formed(f"around-{'-'.join(one.around)}", words, one)
    flat = replace(own, is_flat=True)
    if own.addressing is Addressing.LINEARIZE and loops_of(flat) < loops_of(own):
        words = "indices that stay adjacent in memory as one: contractions of matrices"
        yield formed("matrix", words, flat)
    other = Pattern.STRIDED if own.pattern is Pattern.CONTIGUOUS else Pattern.CONTIGUOUS
    words = f"the loops over the output's indices in the order of `pattern: {other}`"
    yield formed(str(other), words, replace(own, pattern=other))
    if not is_factored:
        return
    before = own
    for number in count(1):
        made = minimised(program, number).program
        if made == before or number == MOST_ORDERS:
            break
        words = "the factors of products multiplied in another order that costs nearly as little"
        yield formed(f"order-{number + 1}", words, made)
        before = made
    yield formed("as-written", "the operations as the file has them", program)
    words = "each product with temporaries of its own, also where another one has the same"
    yield formed("apart", words, minimised(program, is_shared=False).program)


_MOST_SHOWN = 6
IN_THE_TEXT = "in the C text of this operation it is here"


@dataclass(frozen=True, slots=True)
class Translated:
    """A program, which formulation was made of it, and warnings of its text.

    `others` are its other formulations, where all are asked for.
    """

    asked: TensorProgram
    formulation: Formulation
    c: Written
    diagnostics: tuple[Diagnostic, ...]
    others: tuple[Translated, ...] = ()

    @property
    def made(self) -> Minimised:
        """Return the program that the C text computes, and what it takes."""
        return self.formulation.made

    @property
    def is_usual(self) -> bool:
        """Return whether it is the formulation that is written where none is asked for."""
        return self.formulation.name == USUAL

    @property
    def every(self) -> tuple[Translated, ...]:
        """Return the program in each of the formulations asked for, this one first."""
        return (self, *self.others)

    @property
    def program(self) -> TensorProgram:
        """Return the program that the C text computes."""
        return self.made.program

    def at_operations(self, problems: Iterable[Diagnostic], file: str) -> tuple[Diagnostic, ...]:
        """Return diagnostics of the C text, which is `file`, at the operations it stems from."""
        return tuple(self._at_operation(one, file) for one in problems)

    def _at_operation(self, problem: Diagnostic, file: str) -> Diagnostic:
        place = problem.span
        operation = self.c.operation_at(place.line) if place.file == file else None
        if operation is None:
            return problem
        note = Diagnostic(problem.code, IN_THE_TEXT, place, severity=Severity.NOTE)
        return replace(problem, span=operation, notes=(note, *problem.notes))

    @property
    def summary(self) -> str:
        """Return in a line what the operations are, and what became of them."""
        made = self.made
        if made.program == self.asked:
            return f"{_flop(made.flop_before)} flop{self._at}"
        if made.program.operations == self.asked.operations:
            return self.cost
        times = made.flop_before / max(1, made.flop_after)
        return (
            f"{_flop(made.flop_after)} flop{self._at}, {times:.3g} times fewer than as written; "
            f"{_mib(made.bytes_after)}, as written {_mib(made.bytes_before)}"
            f"{self._temporaries}; sums are added in another order than as written"
        )

    @property
    def cost(self) -> str:
        """Return in a line what the formulation takes."""
        made = self.made
        shown = f"{_flop(made.flop_after)} flop{self._at}; {_mib(made.bytes_after)}"
        return f"{shown}{self._temporaries}"

    @property
    def _at(self) -> str:
        sizes = "".join(f", {name} = {value}" for name, value in self.made.assumed.items())
        return f" at{sizes[1:]}" if sizes else ""

    @property
    def _temporaries(self) -> str:
        around = self.made.program.around
        shown = [f"{one.name}{self._shape(one)}" for one in self.made.temporaries]
        more = [f"{len(shown) - _MOST_SHOWN} more"] if len(shown) > _MOST_SHOWN else []
        names = ", ".join((*shown[:_MOST_SHOWN], *more))
        of_one = f" of one iteration of {', '.join(around)}" if around else ""
        return f"; temporaries{of_one} {names}" if names else ""

    def _shape(self, tensor: Tensor) -> str:
        kept = zip(tensor.lengths, inner_lengths(self.program, tensor), strict=True)
        return f"({', '.join(str(length) for length, is_kept in kept if is_kept)})"


def _mib(count: int) -> str:
    return f"{count / 2**20:.3g} MiB"


def _flop(count: int) -> str:
    return f"{count:,}" if count < 10**7 else f"{count:.4g}"


def translated(
    program: TensorProgram,
    origin: str,
    version: str,
    is_factored: bool,
    memory_bytes: int | None,
    name: str | None = USUAL,
) -> Translated:
    """Return the C text of a program that was read from the file `origin`.

    Where it `is_factored`, it computes the same with the fewest operations. `name` is that of the
    formulation that is written; for None it is the usual one, with all others beside it. Its
    temporaries have to fit into so much memory; of others those that do not are left out.

    Raises:
        AnnotuneError: There is no such formulation, or a tensor takes more than there is.
    """
    is_usual = name == USUAL
    found = (usual(program, is_factored),) if is_usual else formulations(program, is_factored)
    chosen = next((one for one in found if one.name == (name or USUAL)), None)
    if chosen is None:
        names = [one.name for one in found]
        where, hint = Span("--formulation", 1, 1), nearest(str(name), names)
        said = {"name": name, "known": ", ".join(names), "hint": hint}
        raise AnnotuneError.of(NO_SUCH_FORMULATION.at(where, **said))
    refused = too_large(chosen.made.program, memory_bytes)
    if refused:
        raise AnnotuneError(tuple(one.placed(program.span) for one in refused))

    def made(one: Formulation, others: tuple[Translated, ...] = ()) -> Translated:
        said = "" if one.name == USUAL else f", in the formulation {one.name}"
        text = written(one.made.program, f"{origin}{said}", version)
        return Translated(program, one, text, remarks(program), others)

    rest = (one for one in found if one is not chosen) if name is None else ()
    fitting = (one for one in rest if not too_large(one.made.program, memory_bytes))
    return made(chosen, tuple(map(made, fitting)))


_ELEMENTS = {one.value.rpartition(" ")[2]: one for one in ElementType}


def einsum_of(text: str, sizes: Mapping[str, int], element: str, name: str) -> TensorProgram:
    """Return the program of an einsum string; `element` is ``float``, ``double`` or ``complex``.

    Raises:
        AnnotuneError: The string is none, or a size is no size.
    """
    return einsum_program(text, sizes, _ELEMENTS[element], name)


def file_text(program: TensorProgram, version: str) -> str:
    """Return a tensor file of a program, marked as one that annotune may write again."""
    return f"# Generated by annotune {version}.\n{tensor_text(program)}"
