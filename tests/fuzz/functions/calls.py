"""How random functions are called: their arguments, and the C that passes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..choices import Choices
from .source import Call, Fill
from .vocabulary import UNSIGNED, extremes, is_whole

if TYPE_CHECKING:
    from .draw import File, Parameter, _Function

OUT_COUNT = 40
"""So many scalars a function may leave in ``out_``."""

STYLES = ("small", "small", "small", "small", "nan", "nan", "zeros", "extreme")


def random_calls(
    choose: Choices, parameters: Sequence[Parameter], tuned: Mapping[str, int]
) -> tuple[Call, ...]:
    """Return calls at the tuned sizes, at 0, 1 and negative ones, and far beyond."""
    calls = [_call(choose, parameters, tuned, dict(tuned.items()), False)]
    kinds = ["zero", "one", "mixed", "mixed", "far", "negative", "tuned", "two"]
    for kind in kinds:
        sizes = {name: _size(choose, kind, v) for name, v in tuned.items()}
        calls.append(_call(choose, parameters, tuned, sizes, True))
    return tuple(calls)


def _size(choose: Choices, kind: str, tuned: int) -> int:
    match kind:
        case "zero":
            return 0
        case "one":
            return 1
        case "two":
            return choose.pick((2, 3))
        case "tuned":
            return tuned
        case "far":
            return choose.pick((33, 33, 37, tuned, tuned + 1))
        case "negative":
            return choose.pick((-3, -1, tuned, 5))
    return choose.pick((0, 1, 3, 4, 5, 6, 9, 11, 13, tuned))


def _call(
    choose: Choices,
    parameters: Sequence[Parameter],
    tuned: Mapping[str, int],
    sizes: Mapping[str, int],
    is_free: bool,
) -> Call:
    style = choose.pick(STYLES) if is_free else "small"
    values: dict[str, str] = {}
    arrays: dict[str, Fill] = {}
    for salt, one in enumerate(parameters):
        slot = one.slot
        if slot.kind == "value" and slot.name in sizes:
            size = sizes[slot.name]
            values[slot.name] = str(abs(size) if slot.type in UNSIGNED else size)
        elif slot.kind == "value":
            values[slot.name] = _number(choose, slot.type, style)
        else:
            arrays[slot.name] = Fill(style, salt)
    for one in parameters:
        if one.optional_for:
            flag = choose.pick(("0", "2", "1"))
            values[one.optional_for] = flag
            if flag == "0":
                arrays[one.slot.name] = Fill(is_null=True)
    if is_free and choose.chance(18):
        _shared(choose, parameters, arrays)
    return Call(values, arrays)


def _shared(choose: Choices, parameters: Sequence[Parameter], arrays: dict[str, Fill]) -> None:
    """Let two arrays share memory, where neither says that it does not."""
    open_ = [p for p in parameters if p.slot.kind == "array" and not p.is_restrict]
    open_ = [p for p in open_ if not arrays[p.slot.name].is_null and not p.optional_for]
    if len(open_) < 2:
        return
    first = choose.pick(open_)
    others = [p for p in open_ if p is not first and p.slot.type == first.slot.type]
    if others:
        fill = arrays[first.slot.name]
        offset = choose.pick((0, 0, 1, 3, -2))
        second = choose.pick(others)
        arrays[second.slot.name] = Fill(fill.style, fill.salt, False, first.slot.name, offset)


def _number(choose: Choices, type_: str, style: str) -> str:
    if is_whole(type_):
        if type_ == "_Bool":
            return choose.pick("01")
        if style == "extreme" and choose.chance(40):
            least, greatest = extremes(type_)
            return str(choose.pick((least, greatest, greatest - 1, greatest // 2)))
        return choose.pick(
            ("0", "1", "2", "3") if type_ in UNSIGNED else ("0", "1", "2", "-1", "3")
        )
    if style == "nan" and choose.chance(30):
        return choose.pick(("nan", "inf", "-inf", "-0.0"))
    return choose.pick(("1.0", "2.0", "0.5", "-1.0", "0.0", "3.0", "-5.0"))


# C -----------------------------------------------------------------------------------------


def harness(name: str, file: File, functions: Sequence[_Function]) -> str:
    """Return C that calls the functions of a file, for a place behind its text."""
    lines = [f"#undef {macro}" for macro in file.macros]
    lines += file.hidden
    lines += [f"void {name}_call(int function, void **p)", "{", "  switch (function) {"]
    for k, one in enumerate(functions):
        lines += [f"  case {k}: {{", *_arguments(one), "    break;", "  }"]
    lines += ["  }", "}"]
    lines += [f"long {name}_extent(int function, int slot, void **p)", "{"]
    for k, one in enumerate(functions):
        lines += [f"  if (function == {k}) {{", *_extents(one), "  }"]
    lines += ["  return 0;", "}", f"long {name}_row(int function, int slot, void **p)", "{"]
    for k, one in enumerate(functions):
        lines += [f"  if (function == {k}) {{", *_extents(one, rows=True), "  }"]
    lines += ["  return 1;", "}", f"void *{name}_object(int k)", "{", "  switch (k) {"]
    lines += [f"  case {k}: return &{o};" for k, (o, _, _) in enumerate(file.objects)]
    return "\n".join([*lines, "  }", "  return 0;", "}", ""])


def _arguments(one: _Function) -> list[str]:
    """Return the call of a function with the arguments that `p` points to, its value kept."""
    given, members = [], []
    count = len(one.parameters)
    for k, parameter in enumerate(one.parameters):
        slot = parameter.slot
        word = f"p[{k}]" if slot.kind == "array" else f"*({slot.type} *)p[{k}]"
        if not parameter.declaration:
            members.append(word)
        elif parameter.by_address:
            given.append(f"({slot.type} *)p[{k}]")
        else:
            given.append(word)
    lines = []
    if one.struct:
        lines.append(f"    struct {one.name}_s s_ = {{ {', '.join(members)} }};")
        given.insert(0, "&s_")
    value = f"((double *)p[{count}])[0] = " if one.returns != "void" else ""
    return [*lines, f"    {value}{one.name}({', '.join([*given, f'(double *)p[{count}]'])});"]


def _extents(one: _Function, rows: bool = False) -> list[str]:
    """Return C for the number of elements of each array, or of what an element of it holds."""
    lines = []
    for k, parameter in enumerate(one.parameters):
        if parameter.slot.name in one.tuned:
            slot = parameter.slot
            lines.append(f"    long {slot.name} = *({slot.type} *)p[{k}];")
    for k, parameter in enumerate(one.parameters):
        count = parameter.row if rows else parameter.extent
        if count:
            lines.append(f"    if (slot == {k}) return {count};")
    return lines
