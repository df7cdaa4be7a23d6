"""What must be empty for the version of a kernel for whole tiles to do as the other one does.

The texts are compared statement by statement, whoever made them: loops that end elsewhere and
conditions that one of them lacks. Where whole tiles are, at the region's sizes, there must be no
iteration in which these differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from annotune.analysis.domains import Premises
from annotune.certify.certificate import Peeled
from annotune.certify.isl_schedule import within
from annotune.certify.isl_text import ALWAYS, IslText
from annotune.codegen.c_expr import plain_c
from annotune.codegen.c_stmt import full_blocks
from annotune.frozen import dataclass
from annotune.ir.expr import Access, Binary, Call, Cast, Expr, Select, Var, children, conjuncts
from annotune.ir.nest import Assign, Await, Fetch, Local, LocalArray, Loop, Stmt
from annotune.ir.region import Region
from annotune.schedule.plan import HostLoop, Kernel, Plan, Step
from annotune.transforms.tile_ends import whole_tiles
from annotune.transforms.tree import Body


def versions(region: Region, plan: Plan) -> tuple[Peeled, ...]:
    """Return where the two versions of peeled loops in a plan differ."""
    known = Premises.of(region.types, plan.constants)
    found = _in_steps(plan.steps, _Surroundings("", region.sizes), partial(_in_body, known=known))
    return tuple(dict.fromkeys(found))


def block_versions(region: Region, plan: Plan) -> tuple[Peeled, ...]:
    """Return where a core's blocks of registers differ from those that are known to be full."""
    found = _in_steps(plan.steps, _Surroundings("", region.sizes), _in_blocks)
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class _Surroundings:
    """Where statements stand: inside `loops`, of which `where` says in isl text when they run."""

    kernel: str
    sizes: Mapping[str, int]
    loops: tuple[str, ...] = ()
    where: tuple[str, ...] = ()

    @property
    def text(self) -> IslText:
        return IslText({name: f"l{k}" for k, name in enumerate(self.loops)}, self.sizes)

    def inside(self, loop: Loop) -> _Surroundings:
        place = replace(self, loops=(*self.loops, loop.var))
        return replace(place, where=(*place.where, *within(place.text, (loop,))))

    def tested(self, *tests: Expr) -> _Surroundings:
        return replace(self, where=(*self.where, *(self.text.where(test)[0] for test in tests)))

    def differ(self, what: str, where: str) -> Peeled:
        names = ", ".join(f"l{k}" for k in range(len(self.loops)))
        facts = " and ".join((*self.where, where)) or ALWAYS
        return Peeled(self.kernel, what, f"{{ [{names}] : {facts} }}")


def _in_steps(
    steps: Sequence[Step],
    place: _Surroundings,
    of_body: Callable[[Body, _Surroundings], Iterator[Peeled]],
) -> Iterator[Peeled]:
    for step in steps:
        match step:
            case Kernel(name=name, body=body):
                yield from of_body(body, replace(place, kernel=name))
            case HostLoop(loop, inner):
                yield from _in_steps(inner, place.inside(loop), of_body)


def _in_blocks(body: Body, place: _Surroundings) -> Iterator[Peeled]:
    tests, whole = full_blocks(body)
    if tests:
        yield from _between(body, whole, place.tested(*tests))
        return
    for stmt in body:
        if isinstance(stmt, Loop):
            yield from _in_blocks(stmt.body, place.inside(stmt))


def _in_body(body: Body, place: _Surroundings, known: Premises) -> Iterator[Peeled]:
    """Yield where the versions of the loops in `body` differ, as the targets write them."""
    for stmt in body:
        if not isinstance(stmt, Loop):
            continue
        inner, here = place.inside(stmt), known.inside(stmt)
        if not stmt.peeled:
            yield from _in_body(stmt.body, inner, here)
            continue
        there = here.where(stmt.peeled)
        whole = whole_tiles(stmt.body, there)
        tested = inner.tested(*stmt.peeled)
        yield from _between(stmt.body, whole, tested)
        yield from _in_body(whole, tested, there)


def _between(body: Body, whole: Body, place: _Surroundings) -> Iterator[Peeled]:
    """Yield where two versions of statements differ."""
    if len(body) != len(whole):
        yield place.differ("the number of statements", ALWAYS)
        return
    for one, two in zip(body, whole, strict=True):
        match one, two:
            case Loop(), Loop() if _same_loop(one, two):
                yield from _ends(one, two, place)
                # What runs in one of them alone is told by the ends.
                yield from _between(one.body, two.body, place.inside(two))
            case Assign(), Assign() if _same_place(one, two):
                yield from _guards(one.guard, two.guard, place)
                ran = place if one.guard is None else place.tested(one.guard)
                yield from _values(one.value, two.value, ran)
            case Local(name, type_, start), Local(other, kind, begin) if (name, type_) == (
                other,
                kind,
            ):
                if start is not None and begin is not None:
                    yield from _values(start, begin, place)
                elif start is not begin:
                    yield place.differ(f"the start of {name}", ALWAYS)
            case ((LocalArray() | Await()), _) if one == two:
                pass
            case Fetch(), Fetch():
                # What is asked for early changes no value.
                pass
            case _:
                yield place.differ(_name(one), ALWAYS)


def _same_loop(one: Loop, two: Loop) -> bool:
    return replace(one, upper=two.upper, body=(), peeled=()) == replace(two, body=(), peeled=())


def _same_place(one: Assign, two: Assign) -> bool:
    return replace(one, guard=None, value=two.value) == replace(two, guard=None)


def _ends(one: Loop, two: Loop, place: _Surroundings) -> Iterator[Peeled]:
    """Yield the iterations of either loop that are none of the other."""
    if one.upper == two.upper:
        return
    for this, that in ((one, two), (two, one)):
        inner = place.inside(this)
        holds = inner.text.where(Binary("<", Var(this.var), that.upper))[1]
        yield inner.differ(f"the end of {this.var}", f"not ({holds})")


def _guards(one: Expr | None, two: Expr | None, place: _Surroundings) -> Iterator[Peeled]:
    """Yield where one condition holds and the other may not."""
    if one is None and two is None:
        return
    mine, its = ([] if guard is None else list(conjuncts(guard)) for guard in (one, two))
    mine, its = [x for x in mine if x not in its], [x for x in its if x not in mine]
    # What both ask for in two forms are choices, of which one version may leave a part out.
    pairs = [(x, y) for x, y in zip(mine, its, strict=False) if _is_choice(x) and _is_choice(y)]
    for x, y in pairs:
        assert isinstance(x, Binary)
        assert isinstance(y, Binary)
        yield from _guards(x.left, y.left, place)
        yield from _guards(x.right, y.right, place)
    paired = {id(x) for pair in pairs for x in pair}
    for test in (*mine, *its):
        if id(test) not in paired:
            yield place.differ(plain_c(test), f"not ({place.text.where(test)[1]})")


def _is_choice(condition: Expr) -> bool:
    return isinstance(condition, Binary) and condition.op == "||"


def _values(one: Expr, two: Expr, place: _Surroundings) -> Iterator[Peeled]:
    if one == two:
        return
    parts, others = children(one), children(two)
    match one, two:
        case Select(condition, if_true, if_false), Select(other, this, that):
            yield from _guards(condition, other, place)
            yield from _values(if_true, this, place)
            yield from _values(if_false, that, place)
        case Select(condition, if_true, _), _:
            yield from _guards(condition, None, place)
            yield from _values(if_true, two, place)
        case _ if parts and _head(one) == _head(two) and len(parts) == len(others):
            for part, its in zip(parts, others, strict=True):
                yield from _values(part, its, place)
        case _:
            yield place.differ(plain_c(one), ALWAYS)


def _head(expr: Expr) -> tuple[type, str]:
    """Return what an expression is, but for its operands."""
    match expr:
        case Access(name) | Binary(name) | Call(name):
            return type(expr), name
        case Cast(type_):
            return Cast, type_.name
        case _:
            return type(expr), ""


def _name(stmt: Stmt) -> str:
    match stmt:
        case Loop(var):
            return f"the loop {var}"
        case Assign(number):
            return f"statement {number}"
        case Local(name) | LocalArray(name):
            return f"the declaration of {name}"
        case Await():
            return "a wait"
        case Fetch():
            return "a fetch ahead"
