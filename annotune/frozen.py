"""`dataclass`, quicker for frozen records: a command defines hundreds before its first word.

The library's own writes up to seven methods of each as text, for Python to compile. Only
`__init__` needs a text, one for all records of a shape, and only once there is a record: the others
are closures over the names of the fields. A class takes 0.11 ms in place of 0.63, `check` of
`gemm.c`, which makes 380 of them, 0.44 s in place of 0.59 (Python 3.11, two cores of an AMD EPYC).

Of libraries, `attrs` takes as long as `dataclasses`; `msgspec.Struct` takes 0.08 ms, but compares
all its fields, where most records here leave out where they were read, and its `replace` takes any
value for a field, where a checker of types knows that of `dataclasses`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError
from functools import cache
from inspect import get_annotations
from operator import attrgetter
from types import CodeType, FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, NoReturn

__all__ = ["HashedOnce", "dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, **others):
        """Return `cls` as the library's decorator makes it, or such a decorator."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, slots=slots, **others)
        if not frozen or others:
            return dataclasses.dataclass(cls, frozen=frozen, slots=slots, **others)
        return _frozen(cls, slots)


class HashedOnce:
    """The base of frozen records that are keys of many tables: each works out its hash once.

    That of another record is a walk over what it holds, each time.
    """

    __slots__ = ("_hash",)
    _hash: int


# What the library keeps of a frozen record, and of what is a field of one.
_SAMPLE: Any = dataclasses.make_dataclass("_SAMPLE", [("one", int)], frozen=True)
_PARAMETERS = _SAMPLE.__dataclass_params__
_A_FIELD = dataclasses.fields(_SAMPLE)[0]._field_type  # type: ignore[attr-defined]  # private


def _frozen(cls: type[Any], slots: bool) -> type[Any]:
    fields: dict[str, Field[Any]] = {}
    for base in cls.__mro__[:0:-1]:
        fields |= getattr(base, "__dataclass_fields__", {})
    own = get_annotations(cls).items()
    fields |= {name: _field(cls, name, kind) for name, kind in own if "ClassVar" not in str(kind)}
    body = {
        "__dataclass_fields__": fields,
        "__dataclass_params__": _PARAMETERS,
        "__match_args__": tuple(field.name for field in fields.values() if not field.kw_only),
    }
    once = issubclass(cls, HashedOnce)
    methods = _methods([*fields.values()], once)
    methods += (__getstate__, __setstate__) if slots else ()
    # What the class itself defines stays; that it defines `__eq__` leaves None for a hash.
    defined = {name for name, value in vars(cls).items() if value is not None}
    body |= {one.__name__: one for one in methods if one.__name__ not in defined}
    body |= {"__setattr__": __setattr__, "__delattr__": __delattr__}
    made = _slotted(cls, body) if slots else cls
    if not slots:
        for name, value in body.items():
            setattr(cls, name, value)
    if "__init__" not in defined:
        made.__init__ = _first_init(made)
    return made


def _field(cls: type[Any], name: str, kind: object) -> Field[Any]:
    """Return a field as the library keeps it; what stands in the class is its default alone."""
    default: Any = getattr(cls, name, MISSING)
    if isinstance(default, MemberDescriptorType):
        default = MISSING  # the slot of a class that this one inherits from
    field: Any = default if isinstance(default, Field) else dataclasses.field(default=default)
    field.name, field.type, field._field_type = name, kind, _A_FIELD
    field.kw_only = field.kw_only is True
    if field is default and field.default is MISSING:
        delattr(cls, name)
    elif field is default:
        setattr(cls, name, field.default)
    found: Field[Any] = field
    return found


def _slotted(cls: type[Any], body: Mapping[str, Any]) -> type[Any]:
    """Return the class again, for slots are given to a class when it is made."""
    names = body["__dataclass_fields__"]
    inherited = {slot for base in cls.__mro__[1:] for slot in vars(base).get("__slots__", ())}
    left_out = {*names, "__dict__", "__weakref__"}
    kept = {name: value for name, value in vars(cls).items() if name not in left_out}
    slots = tuple(name for name in names if name not in inherited)
    own = {"__slots__": slots, "__qualname__": cls.__qualname__}
    kind: Any = type(cls)
    made: type[Any] = kind(cls.__name__, cls.__bases__, kept | own | dict(body))
    return made


def _methods(fields: Sequence[Field[Any]], once: bool) -> tuple[Callable[..., Any], ...]:
    shown = [field.name for field in fields if field.repr]
    compared = _values([field.name for field in fields if field.compare])
    hashed = _values([f.name for f in fields if (f.compare if f.hash is None else f.hash)])

    def __repr__(self: object) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{type(self).__qualname__}({values})"

    def __eq__(self: object, other: object) -> bool:
        if other.__class__ is self.__class__:
            return compared(self) == compared(other)
        return NotImplemented

    def __hash__(self: object) -> int:
        return hash(hashed(self))

    if once:
        return __repr__, __eq__, _kept_hash(hashed)
    return __repr__, __eq__, __hash__


def _kept_hash(hashed: Callable[[object], tuple[Any, ...]]) -> Callable[[Any], int]:
    """Return the hash of a record that has a slot for it."""

    def __hash__(self: Any) -> int:
        try:
            found: int = self._hash
        except AttributeError:
            found = hash(hashed(self))
            object.__setattr__(self, "_hash", found)
        return found

    return __hash__


def _values(names: Sequence[str]) -> Callable[[object], tuple[Any, ...]]:
    """Return what gives the values of attributes: `attrgetter`, which makes no tuple of one."""
    if len(names) > 1:
        return attrgetter(*names)
    if not names:
        return lambda self: ()
    only = attrgetter(*names)
    return lambda self: (only(self),)


def _first_init(made: type[Any]) -> Callable[..., None]:
    """Return what makes the first record of a class: many have none in a command."""

    def __init__(self: object, *values: object, **named: object) -> None:
        made.__init__ = _init(made)
        made.__init__(self, *values, **named)

    return __init__


def _init(made: type[Any]) -> Callable[..., None]:
    """Return what sets the fields of a new record, in the library's words."""
    fields = sorted(dataclasses.fields(made), key=attrgetter("kw_only"))
    keywords = [field.name for field in fields if field.kw_only]
    names: dict[str, Any] = {"put": object.__setattr__, "missing": MISSING}
    defaults: dict[str, object] = {}
    shape = []
    for place, field in enumerate(fields):
        slot: Any = getattr(made, field.name, None)
        has_slot, is_made = isinstance(slot, MemberDescriptorType), _is_made(field)
        names |= {f"set{place}": slot.__set__} if has_slot else {f"name{place}": field.name}
        names |= {f"make{place}": field.default_factory} if is_made else {}
        if is_made or field.default is not MISSING:
            defaults[field.name] = field.default  # which is `MISSING` where it is made
        shape.append((has_slot, is_made))
    code = _code(tuple(shape), len(keywords), hasattr(made, "__post_init__"))
    code = code.replace(co_varnames=("self", *(field.name for field in fields)))
    given = tuple(value for name, value in defaults.items() if name not in keywords)
    init = FunctionType(code, names, "__init__", given)
    init.__kwdefaults__ = {name: defaults[name] for name in keywords if name in defaults}
    return init


def _is_made(field: Field[Any]) -> bool:
    return field.default_factory is not MISSING


@cache
def _code(shape: tuple[tuple[bool, bool], ...], keywords: int, is_checked: bool) -> CodeType:
    """Return an `__init__` for all records of a shape: their fields are but numbers here.

    The shape says of each field whether it has a slot and whether its default is made.
    """
    takes, body = ["self"], []
    for place, (has_slot, is_made) in enumerate(shape):
        takes += ["*"] if place == len(shape) - keywords else []
        takes.append(f"v{place}")
        value = f"make{place}() if v{place} is missing else v{place}" if is_made else f"v{place}"
        # A slot's own setter takes less than half as long.
        body.append(f"{f'set{place}(self' if has_slot else f'put(self, name{place}'}, {value})")
    body += ["self.__post_init__()"] if is_checked else []
    found: dict[str, Any] = {}
    exec(f"def __init__({', '.join(takes)}):\n " + "\n ".join(body or ["pass"]), found)
    code: CodeType = found["__init__"].__code__
    return code


def __setattr__(self: object, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def __delattr__(self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


# As the library's own, what pickle takes of an object with slots, and gives back to it.
def __getstate__(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def __setstate__(self: Any, state: Sequence[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
