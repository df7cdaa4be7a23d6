"""Names in a tensor file: what C can have as one, and the functions that are known."""

from __future__ import annotations

import re
from collections.abc import Mapping

FUNCTIONS: Mapping[str, int] = {
    **dict.fromkeys(("sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p"), 1),
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"), 1),
    **dict.fromkeys(("erf", "erfc", "floor", "ceil", "round", "trunc", "fabs", "conj"), 1),
    **dict.fromkeys(("pow", "atan2", "hypot", "fmin", "fmax", "copysign"), 2),
}
"""How many arguments a function takes for each element; the names are those of C11's math.h."""

OF_COMPLEX = frozenset({"conj"})
"""The functions of complex numbers, whose value is complex; the others are of real ones."""

# C11's keywords, C++'s, for a header may be included there, and the annotation language's.
_WORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while asm typeof
    alignas alignof and bitand bitor bool catch class compl consteval constexpr constinit const_cast
    co_await co_return co_yield decltype delete dynamic_cast explicit export false friend mutable
    namespace new noexcept not nullptr operator or private protected public reinterpret_cast
    requires static_assert static_cast template this thread_local throw true try typeid typename
    using virtual wchar_t xor
    def let param arg constraint decl option import spec in True False
"""
_KEYWORDS = frozenset(_WORDS.split())
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
# What headers have macros for.
_MACROS = frozenset(
    {"I", "complex", "imaginary", "NULL", "EOF", "NAN", "INFINITY", "errno", "main"}
)


# What the C text calls, and common names of the headers that it includes.
_LIBRARY_WORDS = """
malloc calloc realloc free exit abort abs labs div rand system perror printf puts remove rename
fma fmod ldexp stdin stdout stderr linux unix M_PI M_E EXIT_FAILURE RAND_MAX BUFSIZ HUGE_VAL
"""
_LIBRARY = frozenset(_LIBRARY_WORDS.split())


def why_unusable(name: str) -> str:
    """Return why C cannot have this name for a variable or a function; empty when it can."""
    if not _NAME.fullmatch(name):
        return "it is not made of letters, digits and '_'"
    if name in _KEYWORDS:
        return "it is a word of C, of C++ or of an annotation"
    if name in _MACROS or name == "main":
        return "C has a meaning for it"
    if name in FUNCTIONS or name in _LIBRARY:
        return "C's library has it"
    if name.startswith("__") or (name[0] == "_" and name[1:2].isupper()) or name == "_":
        return "C keeps it for compilers"
    if name.startswith("annotune_"):
        return "annotune calls its own so"
    return "" if len(name) <= LONGEST_NAME else f"it has more than {LONGEST_NAME} letters"


# C11 5.2.4.1: so many of a name's letters count.
LONGEST_NAME = 63


def fresh(name: str, taken: frozenset[str]) -> str:
    """Return `name`, with a number behind it where it is taken."""
    found, number = name, 2
    while found in taken or why_unusable(found):
        found, number = f"{name}_{number}", number + 1
    return found
