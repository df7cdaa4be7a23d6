"""The pure functions that a nest may call: no side effect, the result from the arguments alone.

Names are those of C11 7.12 (``math.h``), 7.3 (``complex.h``) and 7.22 (``stdlib.h``); CUDA has
the real ones under the same names in device code (CUDA C++ Programming Guide, 17.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from annotune.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Function:
    """What is known of a function.

    `result` is the C type of its value. `parameters` holds one C type per argument. `flops`
    counts a call as so many operations on reals. `is_exact` says that the value is one of the
    arguments, up to its sign or the order in which they stand: it rounds nothing.
    """

    name: str
    result: str
    parameters: tuple[str, ...]
    header: str = "math.h"
    flops: int = 1
    is_exact: bool = False


_UNARY = (
    *("sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
    *("asinh", "acosh", "atanh", "erf", "erfc", "tgamma", "lgamma"),
    *("floor", "ceil", "round", "trunc", "rint", "nearbyint", "fabs"),
)
_BINARY = ("pow", "atan2", "hypot", "fmod", "fmin", "fmax", "fdim", "copysign", "remainder")
_EXACT = frozenset({"fabs", "fmin", "fmax", "copysign"})


def _real(name: str, arity: int) -> tuple[Function, Function]:
    """Return the function for double and its twin for float."""
    exact = name in _EXACT
    return (
        Function(name, "double", ("double",) * arity, is_exact=exact),
        Function(f"{name}f", "float", ("float",) * arity, is_exact=exact),
    )


def _table() -> Mapping[str, Function]:
    known: list[Function] = []
    for names, arity in ((_UNARY, 1), (_BINARY, 2), (("fma",), 3)):
        for name in names:
            known += _real(name, arity)
    known += [
        Function("abs", "int", ("int",), "stdlib.h", is_exact=True),
        Function("labs", "long", ("long",), "stdlib.h", is_exact=True),
        Function("creal", "double", ("double complex",), "complex.h", is_exact=True),
        Function("cimag", "double", ("double complex",), "complex.h", is_exact=True),
        Function("cabs", "double", ("double complex",), "complex.h"),
        Function("conj", "double complex", ("double complex",), "complex.h", is_exact=True),
    ]
    return MappingProxyType({function.name: function for function in known})


FUNCTIONS = _table()
"""The functions that annotune knows, by name."""

_INTEGER_RESULTS = frozenset({"int", "long"})
# Our own, for bounds: of integers, whatever their type.
_INTEGER_NAMES = frozenset({"min", "max"})
# Ends the name of a function of the user's that annotune would take for another; none of C's does.
_OWN = "'"


def own_name(name: str) -> str:
    """Return how a nest calls the user's function `name`: never as one that annotune knows."""
    return f"{name}{_OWN}" if name in FUNCTIONS or name in _INTEGER_NAMES else name


def c_name(name: str) -> str:
    """Return what C calls a function of a nest; in parentheses it is nothing but the function."""
    return f"({name.removesuffix(_OWN)})" if name.endswith(_OWN) else name


def is_integer(name: str) -> bool:
    """Return whether a call of `name` gives an integer."""
    known = FUNCTIONS.get(name)
    return name in _INTEGER_NAMES or (known is not None and known.result in _INTEGER_RESULTS)
