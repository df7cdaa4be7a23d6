"""The types, names and macros that random functions are made of."""

from __future__ import annotations

REALS = ("double", "float")
COMPLEX = ("double complex", "float complex")
WHOLE = (
    "int",
    "long",
    "short",
    "signed char",
    "char",
    "unsigned char",
    "unsigned short",
    "unsigned",
    "unsigned long",
    "size_t",
    "long long",
    "_Bool",
)
UNSIGNED = ("unsigned", "unsigned long", "size_t", "unsigned short", "unsigned char")
BITS = {
    **dict.fromkeys(("signed char", "char", "unsigned char"), 8),
    **dict.fromkeys(("short", "unsigned short"), 16),
    **dict.fromkeys(("int", "unsigned"), 32),
}
"""Of integers that have not 64."""

ELEMENTS = (
    *("double",) * 12,
    *("float",) * 4,
    *("int",) * 5,
    *WHOLE[1:],
    *COMPLEX,
    "double complex",
)
SCALARS = (*("double",) * 5, "float", "float", *("int",) * 3, *WHOLE[1:11], "double complex")
SIZES = (
    *("int",) * 16,
    *("long", "long", "size_t", "unsigned", "long long", "short") * 2,
    *("unsigned short", "signed char", "unsigned char"),
)
ITERATORS = (*("int",) * 8, "long", "long", "size_t", "unsigned", "unsigned long", "long long")
COUNTED = (*("int",) * 3, *WHOLE[1:4], *WHOLE[5:11])
"""Types of what a loop counts."""

WIDE = ("double", "long", "unsigned long", "size_t", "long long")
"""Types of which a product of a size and `FAR` is a number."""

FAR = 700000001

PLAIN_ARRAYS = ("a", "b", "c", "d", "u", "v", "w", "x", "y", "r")
PLAIN_SCALARS = ("s", "t", "p", "q", "z", "acc", "sum", "mx", "mn", "al", "be", "ga", "tmp", "fac")
PLAIN_ITERATORS = ("i", "j", "k", "l", "ii", "jj", "e", "col", "row")

# Names that emitted texts, CUDA or C++ have a use for.
GENERATED = (
    *("i_t", "j_t", "k_t", "i_end", "j_end", "i_begin", "k_end", "c_block", "a_block", "b_tile"),
    *("c_tile", "a_tile", "annotune_k", "annotune_n", "threadIdx", "blockIdx", "blockDim"),
    *("gridDim", "min", "max", "warpSize", "count", "limit", "tid", "begin", "end", "status"),
    *("error", "stream", "grid", "block", "thread", "device", "host", "bytes", "n_", "m_", "i_"),
    *("dim3", "float2", "double2", "cudaError_t", "printf_", "first", "last", "d_a", "d_b"),
    *("new", "class", "this", "template", "and", "or", "namespace", "operator", "delete", "try"),
    *("a_d", "b_d", "c_d", "a_bytes", "ok", "err", "stride", "i_0", "i_1", "s_0", "t_0"),
    *("s_part", "s_sum", "t_part", "annotune_s", "j_i", "ij", "i_j", "i2", "j2", "sm", "smem"),
    *("fmax", "fabs", "y0", "y1", "j0", "j1", "jn", "gamma", "index", "round", "sign", "abs"),
)
"""Function and file give two more: `NAME_1_s0` and `annotune_NAME_1`."""

MACRO_VALUES = ("{", "[", "(((", "7", "0", "return", "+")
"""What a macro may stand for that the file does not use, so that any use of it is seen."""

LIBRARY_FUNCTIONS = {
    "max": "double NAME(double x, double y) { return x > y ? x : y * 2; }",
    "min": "double NAME(double x, double y) { return x < y ? x : y + 1; }",
    "round": "double NAME(double x) { return x * 2 + 1; }",
    "sign": "double NAME(double x) { return x > 0 ? 1 : -1; }",
    "fmax": "double NAME(double x, double y) { return x < y ? x : y; }",
    "fabs": "double NAME(double x) { return x + 2; }",
    "sqrt": "double NAME(double x) { return x - 1; }",
    "abs": "int NAME(int x) { return x + 1; }",
    "floor": "double NAME(double x) { return x * 3; }",
    "pow": "double NAME(double x, double y) { return x - y; }",
    "fmin": "double NAME(double x, double y) { return x + y; }",
    "sq": "double NAME(double x) { return x * x; }",
    "exp": "double NAME(double x) { return x * 0.5; }",
}
"""Functions that have the name of a library's, or a common one, and a meaning of their own."""

BUILT_IN = frozenset(LIBRARY_FUNCTIONS) - {"max", "min", "sign", "sq"}
"""Those of a library: C reserves their names for functions that other files may call."""

LIBRARY_MACROS = {
    "max": "#define max(x, y) ((x) > (y) ? (x) : (y) * 2)",
    "min": "#define min(x, y) ((x) + (y))",
    "round": "#define round(x) ((x) * 2)",
    "abs": "#define abs(x) ((x) + 3)",
    "fabs": "#define fabs(x) ((x) < 0 ? 1 : 2)",
    "sqrt": "#define sqrt(x) ((x) + 1)",
    "dabs": "#define dabs(x) ((x) >= 0 ? (x) : -(x))",
    "sign": "#define sign(x) ((x) < 0 ? -1 : 1)",
}


def is_real(type_: str) -> bool:
    return type_ in REALS


def is_complex(type_: str) -> bool:
    return type_ in COMPLEX


def is_whole(type_: str) -> bool:
    return type_ in WHOLE


def extremes(type_: str) -> tuple[int, int]:
    """Return the least and the greatest integer of a type."""
    bits = BITS.get(type_, 64)
    return (0, 2**bits - 1) if type_ in UNSIGNED else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
