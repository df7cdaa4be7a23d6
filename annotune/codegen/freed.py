"""Words of C and of directives that are the user's macros where our text stands.

Compilers expand macros inside ``#pragma omp`` and ``#pragma acc`` lines too: beside
``#define gang 12`` a loop would be ``parallel loop 12``. What the user's text says in such a
macro has been read, so that ours is made without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from annotune.codegen.code import RegionCode
from annotune.codegen.names import words
from annotune.codegen.writer import Writer
from annotune.ir.region import Redefined, Region, Scalar

_IN_DIRECTIVES = frozenset(
    (
        *("GCC", "omp", "acc", "unroll", "parallel", "loop", "simd", "seq", "routine", "cache"),
        *("gang", "worker", "vector", "num_gangs", "num_workers", "vector_length", "num_threads"),
        *("schedule", "static", "collapse", "tile", "reduction", "min", "max", "private", "data"),
        *("present", "copy", "copyin", "copyout", "create", "deviceptr"),
    )
)
_IN_C = frozenset(
    (
        *("char", "short", "int", "long", "float", "double", "signed", "unsigned", "void"),
        *("for", "if", "else", "while", "return", "sizeof"),
    )
)
_DIRECTIVE = re.compile(r"^[ ]*#pragma (?!push_macro|pop_macro)(?:\\\n|.)*", re.MULTILINE)


def without_macros(code: RegionCode, region: Region) -> RegionCode:
    """Return a text of ours in which none of our words is the user's macro."""
    body, helper = (_freed(text, region) for text in (code.body, code.helper))
    return replace(code, body=in_block(body) if body != code.body else body, helper=helper)


def _freed(text: str, region: Region) -> str:
    found = (words(text) & _IN_C) | (words(" ".join(_DIRECTIVE.findall(text))) & _IN_DIRECTIVES)
    return redefining(
        text, [Redefined(name, None) for name in sorted(found & region.around.macros)]
    )


def redefining(text: str, redefined: Sequence[Redefined]) -> str:
    """Return a text in which macros are others than around it.

    gcc, clang and nvc have these pragmas; the user's text goes on as it was.
    """
    before = [f'#pragma push_macro("{one.name}")' for one in redefined]
    before += [line for one in redefined for line in one.directives()]
    after = [f'#pragma pop_macro("{one.name}")' for one in redefined]
    return "\n".join([*before, text.rstrip("\n"), *after, ""]) if redefined else text


def constants(region: Region) -> tuple[Scalar, ...]:
    """Return the constants whose names are among our words: their values stand for them."""
    return tuple(s for s in region.scalars.values() if s.is_macro and s.name in _IN_DIRECTIVES)


def checked_constants(code: str, found: Iterable[Scalar]) -> str:
    """Return a block that stops a compiler for which a constant has another value than it had."""
    checks = [
        f'_Static_assert({one.name} == {one.value}, "annotune read this region where {one.name} '
        f'is {one.value}");'
        for one in found
    ]
    return in_block("\n".join([*checks, code])) if checks else code


def in_block(code: str) -> str:
    """Return a block of `code`, so that lines of the preprocessor have lines of their own."""
    out = Writer()
    with out.block(""):
        out.lines(code)
    return out.text()
