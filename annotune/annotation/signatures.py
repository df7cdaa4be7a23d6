"""The commands of a recipe: one row each, with their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

_THESIS = "Rivera 2014, Table 3.1"
_CHILL = "CHiLL, as in Orio's examples"
_TALK = "PNNL, Deep Dive into GPU Programming"
# A grid and a thread block have three dimensions (CUDA C++ Programming Guide).
_DIMENSIONS = 3
# How a parameter says that no loop stands here: param TX[] = ['h3','1'].
NO_LOOP = "1"


class Kind(StrEnum):
    """What an argument may be; the value is the wording of a diagnostic."""

    STATEMENT = "a statement's number"
    LOOP = 'a loop\'s name, such as "i"'
    LOOPS = 'a list of loops\' names, such as ("i","j")'
    NAMES = 'a list of names, such as ("a","b")'
    COUNT = "a number from 1, or a parameter"
    NAME = 'a name, such as "x"'


@dataclass(frozen=True, slots=True)
class Slot:
    """One argument of a command. A `repeated` slot takes all arguments that follow.

    Of a slot with `shares`, a loop may stand in another one as well.
    """

    name: str
    kind: Kind
    required: bool = True
    repeated: int = 0
    most: int = 0
    by_name: bool = False
    shares: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """A row of the command table."""

    name: str
    slots: tuple[Slot, ...]
    meaning: str
    example: str
    source: str
    supported: bool = True

    @property
    def usage(self) -> str:
        """Return the command with its arguments' names, as a user writes it."""
        return f"`{self.example}`"


_STATEMENT = Slot("statement", Kind.STATEMENT)
_LOOP = Slot("loop", Kind.LOOP)


def _named(name: str, kind: Kind, most: int = 0) -> Slot:
    return Slot(name, kind, required=False, most=most, by_name=True)


_ROWS = (
    Signature(
        "permute",
        (_STATEMENT, Slot("order", Kind.LOOPS)),
        "put the statement's loops in this order, outermost first",
        'permute(0, ("j","i"))',
        _THESIS,
    ),
    Signature(
        "cuda",
        (
            _STATEMENT,
            _named("block", Kind.LOOPS, _DIMENSIONS),
            _named("thread", Kind.LOOPS, _DIMENSIONS),
            _named("max_blocks", Kind.COUNT),
        ),
        "run loops as grid blocks and as threads, each x, y, z in this order",
        'cuda(0, block={"h2","p6"}, thread={"h3","h1"})',
        _THESIS,
    ),
    Signature(
        "registers",
        (_STATEMENT, _LOOP),
        "keep values that are reused across the loop in registers",
        'registers(0, "h7")',
        _THESIS,
    ),
    Signature(
        "unroll",
        (_STATEMENT, _LOOP, Slot("factor", Kind.COUNT)),
        "unroll by a factor of the tuned trip count; other sizes get a remainder loop",
        'unroll(0, "h7", UF)',
        _THESIS,
    ),
    Signature(
        "fuse",
        (Slot("statements", Kind.STATEMENT, repeated=2),),
        "run the statements in the same loops",
        "fuse(0,1)",
        _THESIS,
    ),
    Signature(
        "distribute",
        (Slot("statements", Kind.STATEMENT, repeated=1),),
        "give each of the statements loops of its own",
        "distribute(0,1)",
        _CHILL,
    ),
    Signature(
        "tile",
        (
            _STATEMENT,
            _LOOP,
            Slot("factor", Kind.COUNT),
            Slot("control", Kind.NAME, required=False),
        ),
        "split the loop into tiles of the factor; `control` names the loop over tiles",
        'tile(0, "h7", 4)',
        _CHILL,
    ),
    Signature(
        "deal",
        (_STATEMENT, _LOOP, Slot("workers", Kind.COUNT)),
        "give each of the workers every so-manieth iteration; `i_w` is the loop over those of `i`",
        'deal(0, "j", 16)',
        "High Performance Fortran 2.0, CYCLIC",
    ),
    Signature(
        "merge",
        (_STATEMENT, Slot("loops", Kind.LOOPS)),
        "run nested loops as one that is called by their names together, outermost first",
        'merge(0, ("h2","h3"))',
        _TALK,
    ),
    Signature(
        "contract",
        (
            _STATEMENT,
            Slot("thread", Kind.LOOPS, most=2, by_name=True),
            Slot("register", Kind.LOOPS, most=2, by_name=True, shares=True),
            Slot("sum", Kind.LOOP, by_name=True),
            *(
                Slot(name, Kind.COUNT, by_name=True)
                for name in ("thread_x", "thread_y", "register_x", "register_y", "step")
            ),
            _named("assign", Kind.NAMES, 2),
            _named("stage", Kind.NAMES, 2),
        ),
        "compute a tile of a contraction's output per block, a part of it in registers",
        'contract(0, thread={"h3","p5"}, register={"h2","p4"}, sum="h7", '
        "thread_x=16, thread_y=8, register_x=8, register_y=8, step=16)",
        "Kim et al. 2019, 3",
    ),
    Signature(
        "pipeline",
        (_STATEMENT, Slot("stages", Kind.COUNT), Slot("through", Kind.NAME, required=False)),
        "copy the inputs of later steps of the sum while the present one is multiplied",
        'pipeline(0, 2, "registers")',
        "CUTLASS, Efficient GEMM in CUDA",
    ),
    Signature(
        "vectors",
        (_STATEMENT, _named("copied", Kind.COUNT), _named("read", Kind.COUNT)),
        "copy neighbours at once, and lay out the copies so that neighbours are read at once",
        "vectors(0, copied=2)",
        "CUDA C++ Programming Guide",
    ),
    Signature(
        "stream",
        (_STATEMENT,),
        "let what the statement accumulates into pass by the caches",
        "stream(0)",
        "CUDA C++ Programming Guide",
    ),
    Signature(
        "resident",
        (_STATEMENT, Slot("blocks", Kind.COUNT)),
        "let a thread have so few registers that this many blocks fit on a multiprocessor",
        "resident(0, 3)",
        "CUDA C++ Programming Guide",
    ),
    Signature(
        "stage",
        (
            _STATEMENT,
            Slot("array", Kind.NAME),
            Slot("loop", Kind.LOOP, required=False),
            _named("order", Kind.LOOPS),
            _named("padding", Kind.COUNT),
            _named("memory", Kind.NAME),
        ),
        "copy what the statement reads of the array in the loop into shared memory before it",
        'stage(0, "v2", "h7", padding=1)',
        "Kim et al. 2018, 4",
    ),
    Signature(
        "hold",
        (_STATEMENT, _LOOP),
        "keep the block of elements that the statement updates in the loop in registers",
        'hold(0, "h7_t")',
        "Kim et al. 2018, 4",
    ),
    Signature(
        "pad",
        (_STATEMENT, Slot("loops", Kind.LOOPS)),
        "run tiles in full where a loop ends inside one, without touching what lies beyond",
        'pad(0, ("h3","h2"))',
        "Kim et al. 2019, 3",
    ),
    Signature(
        "peel",
        (_STATEMENT, Slot("loops", Kind.LOOPS)),
        "test once whether the tiles of these loops are whole, and run whole ones unconditioned",
        'peel(0, ("h3","h2"))',
        "Wolfe 1996, 9",
    ),
    Signature(
        "acc",
        (
            _STATEMENT,
            _named("gang", Kind.LOOPS),
            _named("worker", Kind.LOOPS),
            _named("vector", Kind.LOOPS),
            _named("num_gangs", Kind.COUNT),
            _named("num_workers", Kind.COUNT),
            _named("vector_length", Kind.COUNT),
            _named("cache", Kind.NAMES),
            _named("clause", Kind.NAME),
        ),
        "run loops as OpenACC gangs, workers and vectors, collapsed where several are named",
        'acc(0, gang={"e"}, worker={"j"}, vector={"k"})',
        "OpenACC 3.3, 2.9",
    ),
    Signature(
        "stm",
        (_STATEMENT, Slot("loops", Kind.LOOPS), Slot("output", Kind.NAME)),
        "state the statement's loops and output; changes nothing",
        'stm(0, ("i","j"), "c")',
        _CHILL,
    ),
    Signature(
        "shared",
        (_STATEMENT, Slot("array", Kind.NAME)),
        "stage the array in shared memory",
        'shared(0, "v2")',
        "Rivera 2014, 3.1.3",
        supported=False,
    ),
    Signature(
        "vectorize",
        (_STATEMENT, _LOOP),
        "run the loop with vector instructions",
        'vectorize(0, "i")',
        _CHILL,
        supported=False,
    ),
)
COMMANDS: Mapping[str, Signature] = {row.name: row for row in _ROWS}
