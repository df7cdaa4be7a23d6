"""Values out of a JSON text by their types, with the place of the first that is wrong."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from msgspec import inspect as kinds

from annotune.measure.trial import NOT_WRITTEN

Step = str | int

_SPACE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Mistake:
    """A value that is not what it should be; `path` leads to it from the root."""

    path: tuple[Step, ...]
    problem: str

    def where(self) -> str:
        """Return the path as people write it: ``regions[0].rows[2].time_s``."""
        steps = (f"[{s}]" if isinstance(s, int) else f".{s}" for s in self.path)
        return "".join(steps).lstrip(".") or "the whole"


def first_mistake(value: Any, kind: kinds.Type, path: tuple[Step, ...] = ()) -> Mistake | None:
    """Return what is first wrong with a value of a JSON text, None where it is of its type.

    msgspec converts what passes here. Alone it would take infinity, and fill in what is missing.
    """
    expected = _expected(kind, value)
    if expected:
        return Mistake(path, f"expected {expected}, found {_found(value)}")
    for step, inner in _parts(kind, value):
        if isinstance(value, dict) and step not in value:
            return Mistake(path, f"the field '{step}' is missing")
        mistake = first_mistake(value[step], inner, (*path, step))
        if mistake is not None:
            return mistake
    return None


def _parts(kind: kinds.Type, value: Any) -> Iterator[tuple[Step, kinds.Type]]:
    """Yield the name or number of each value that stands in one of type `kind`, and its type."""
    match kind:
        case kinds.UnionType(types):
            yield from _parts(next(one for one in types if not _expected(one, value)), value)
        case kinds.StructType(fields=fields) | kinds.DataclassType(fields=fields):
            yield from ((field.name, field.type) for field in fields if is_written(field))
        case kinds.DictType(value_type=inner):
            yield from ((name, inner) for name in value)
        case kinds.VarTupleType(item_type=inner):
            yield from ((number, inner) for number in range(len(value)))


def is_written(field: kinds.Field) -> bool:
    """Return whether a field of a record stands in its JSON."""
    return not isinstance(field.type, kinds.Metadata) or field.type.extra != NOT_WRITTEN


def _expected(kind: kinds.Type, value: Any) -> str:
    """Return what `value` should be, empty where it is that, whatever stands in it."""
    match kind:
        case kinds.UnionType(types):
            return "" if not all(_expected(one, value) for one in types) else _either(types, value)
        case kinds.Metadata(extra_json_schema={"enum": names}):
            return "" if value in names else f"one of {', '.join(names)}"
        case kinds.EnumType(known):
            return "" if value in tuple(known) else f"one of {', '.join(map(str, known))}"
        case kinds.IntType(ge=least):
            if type(value) is not int:
                return "an integer"
            return "" if least is None or value >= least else f"an integer >= {least}"
        case kinds.FloatType(ge=least):
            is_right = _is_finite(value) and (least is None or value >= least)
            return "" if is_right else f"a finite number{'' if least is None else f' >= {least}'}"
    python, words = _KINDS[type(kind)]
    return "" if isinstance(value, python) else words


# What stands for a type in Python, and in words.
_KINDS: dict[type, tuple[type, str]] = {
    kinds.StructType: (dict, "an object"),
    kinds.DataclassType: (dict, "an object"),
    kinds.DictType: (dict, "an object"),
    kinds.VarTupleType: (list, "an array"),
    kinds.StrType: (str, "a string"),
    kinds.BoolType: (bool, "true or false"),
    kinds.NoneType: (type(None), "null"),
}


def _either(types: tuple[kinds.Type, ...], value: Any) -> str:
    """Return in words which types there may be; of numbers the wider, and an object is the rule."""
    words = dict.fromkeys(_expected(one, value) for one in types)
    if "an object" in words:
        return "an object"
    narrow = {"an integer", "true or false"} if len(words) > 2 else set()
    return " or ".join(one for one in words if one not in narrow)


def parse_strict(text: str) -> Any:
    """Return the value of a JSON text, read by the letter of RFC 8259.

    Raises:
        ValueError: It is no JSON; a field is given twice; it holds NaN or Infinity.
    """
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def offset_of(text: str, path: tuple[Step, ...]) -> int:
    """Return where the value at `path` begins in `text`, which must be valid JSON."""
    decode = json.JSONDecoder().raw_decode
    at = _skip(text, 0)
    for step in path:
        at = _skip(text, at + 1)
        number = 0
        while True:
            key: Step = number
            if isinstance(step, str):
                key, end = decode(text, at)
                at = _skip(text, _skip(text, end) + 1)
            if key == step:
                break
            _, end = decode(text, at)
            # Past the comma, to the next key or element.
            at = _skip(text, _skip(text, end) + 1)
            number += 1
    return at


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _is_finite(value: Any) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    # An integer too large for a float is finite, but no time or rate.
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field '{twice}' is given twice")
    return fields


def _found(value: Any) -> str:
    match value:
        case dict():
            return "an object"
        case list():
            return "an array"
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return f"'{value[:40]}'"
    try:
        return str(value)[:40]
    except ValueError:  # an integer too long for Python to print
        return "a very long number"
