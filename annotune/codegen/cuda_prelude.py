"""What stands before the kernels of ``S.cu``: headers, and functions that the text calls."""

from __future__ import annotations

from annotune.codegen.cuda_types import (
    COMBINED,
    COMPLEX,
    FUNCTIONS,
    IMAGINARY_UNIT,
    OPERATIONS,
    operation,
)
from annotune.codegen.names import words

_OF_COMPLEX = {"annotune_complex", "annotune_complexf", *FUNCTIONS.values(), IMAGINARY_UNIT}
_INCLUDES = """\
#include <cstdio>
#include <cstdlib>
#include <cstring>
"""

_PIPELINE = "#include <cuda_pipeline.h>\n"

_EXTENT = """\
/* The extent of a grid axis for `count` iterations, of which the kernel strides over the rest. */
static inline unsigned annotune_extent(long long count, long long limit)
{
    if (count < 1)
        return 1;
    return (unsigned)(count < limit ? count : limit);
}
"""

_APART = """\
/* Whether two ranges of bytes have none in common. */
static inline bool annotune_apart(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    const char *p = (const char *)a, *q = (const char *)b;
    return p + a_bytes <= q || q + b_bytes <= p;
}
"""


def prelude(device: str) -> str:
    """Return what must stand before `device`: headers, and the functions that it calls.

    A function that nothing calls would be a warning of nvcc's.
    """
    called = words(device)
    parts = [_INCLUDES + (_PIPELINE if "__pipeline_commit" in called else "")]
    parts += [_EXTENT] if "annotune_extent" in called else []
    parts += [_APART] if "annotune_apart" in called else []
    parts += [COMPLEX] if _OF_COMPLEX & set(called) else []
    parts += [operation(name) for name in OPERATIONS if name in called]
    parts += [COMBINED] if "annotune_combined" in called else []
    return "\n".join(parts)
