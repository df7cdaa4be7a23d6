"""Random heads of loops whose first value, bound and step have types and signs of their own.

Where such a loop ends, how often it runs and what it leaves in its variable is a question of C's
conversions alone; what it counts is used behind it.
"""

from __future__ import annotations

from collections.abc import Sequence

from .scope import Iterator, Scope
from .vocabulary import COUNTED, is_real, is_whole

FAR = 60
"""Behind where an array starts; loops that begin below 0 are there with all their values."""

_BOUNDS = (
    *("{s}", "{s} + 1", "{s} - 2", "{s} / 2", "({s} > 3 ? {s} : 4)", "({s} % 5)", "{s} * 2"),
    *("(int){s}", "(unsigned){s}", "(long){s} - 1", "-{s}", "{s} + {o}", "{s} - {o}", "9"),
    *("{s} - ({o} > 2)", "({s} & 7)", "{s} >> 1", "(short)({s} + {o})", "(unsigned char){s}"),
    *("(long){s} * 700000001 / 700000001", "({o} * 3000000001L + {s}) / 3000000001L"),
    *("{s} - 1", "{s} - 1u", "({s} < {o} ? {s} : {o})", "({s} > 2 || {o} > 3 ? {s} : {o})"),
)
_FIRST = (
    *("0", "1", "{o}", "{s}", "{o} - 1", "{s} - 1", "({o} > {s} ? 1 : 2)", "{s} / 3", "-2", "2u"),
    *("(short){o}", "{s} - {o}", "-{o}", "(int)(((long){s} << 31) >> 31) - 1"),
)
_UP = ("{v}++", "{v}++", "++{v}", "{v} += 2", "{v} += 3", "{v} = {v} + 1")
_DOWN = ("{v}--", "{v} -= 2", "--{v}", "{v} = {v} - 1")
_UPDATES = (
    *("{t} += {w}", "{t} -= {w}", "{t}++", "{t}--", "{t} = {t} + 3", "{t} -= 2", "{t} = {t} - {w}"),
)
_LEFT = ("{v}", "{v} * 2", "{v} - 3", "{v} / 2", "{t}", "{t} / 2", "{t} - {v}", "-{v}", "-{t}")


def head(scope: Scope, name: str, declared: str) -> str:
    """Return the head of a loop over `name`, which it declares with the type if there is one."""
    choose = scope.choose
    bounds, first = list(_BOUNDS), list(_FIRST)
    if "MAX" in scope.features:
        bounds += ["MIN({s}, {o})", "MAX({s}, {o})", "MIN({s}, 9) - 1"]
        first += ["MAX(0, {o})", "MIN(2, {s} - 1)"]
    if scope.has_math and not any(called == "abs" for called, _ in scope.calls):
        bounds += ["abs({s})"]
    numbers = [*scope.sizes, *(s.word for s in scope.scalars if is_whole(s.type))]
    words = {"s": choose.pick(list(scope.sizes)), "o": choose.pick(numbers), "v": name}
    if choose.chance(40):
        step = choose.pick(_DOWN)
        ends = choose.pick((">", ">=", ">"))
    else:
        step = choose.pick(_UP)
        ends = choose.pick(("<", "<", "<=", "!="))
        ends = "<" if ends == "!=" and "+= " in step else ends
    text = f"{{v}} = {choose.pick(first)}; {{v}} {ends} {choose.pick(bounds)}; {step}"
    return f"for ({declared + ' ' if declared else ''}{text.format(**words)})"


def counted(
    scope: Scope, name: str, type_: str, outside: bool, left: str, iterators: Sequence[Iterator]
) -> list[str]:
    """Return a loop in an iteration that counts something, and what of it goes into `left`."""
    choose = scope.choose
    kind = choose.pick(COUNTED)
    update = _updated(scope, "cnt_")
    usable = [u for u in _LEFT if outside or "{v}" not in u]
    body = [f"{update};"]
    if choose.chance(30):
        body.append(f"if ({scope.condition(list(iterators))}) {left} += 1;")
    return [
        "{",
        f"  {kind} cnt_ = {scope.value(list(iterators), kind, 0)};",
        f"  {head(scope, name, '' if outside else type_)} {{ {' '.join(body)} }}",
        f"  {left} += {choose.pick(usable).format(t='cnt_', v=name)};",
        "}",
    ]


def swept(scope: Scope, name: str, type_: str, outside: bool) -> list[str]:
    """Return a loop with such a head around elements of an array, and a scalar that it counts."""
    choose = scope.choose
    lines = []
    counters = [s for s in scope.scalars if s.is_written and is_whole(s.type) and s.type != "_Bool"]
    one = choose.pick(counters) if counters and choose.chance(60) else None
    if one is not None:
        lines.append(f"{_updated(scope, one.word)};")
    for _ in range(4):
        made = scope.new_array((choose.pick(list(scope.sizes)),))
        if made is not None and made.form == "flat" and not made.is_const:
            value = choose.pick(_LEFT).format(t=one.word if one else name, v=name)
            part = " * 0.5" if is_real(made.element) else ""
            lines.append(f"{made.element_at([f'{name} + {FAR}'])} = {value}{part};")
            break
    text = head(scope, name, "" if outside else type_)
    return [f"{text} {{", *("  " + line for line in lines), "}"]


def _updated(scope: Scope, word: str) -> str:
    """Return a statement that changes a counter by what the loop does not change."""
    choose = scope.choose
    steady = [s for s in scope.scalars if not s.is_written and is_whole(s.type)]
    by = choose.pick([*(one.word for one in steady), *scope.sizes, "2"])
    return choose.pick(_UPDATES).format(t=word, w=by)
