"""What the headers of ISO C define as macros, known without reading them: on 64-bit Linux."""

from __future__ import annotations

from collections.abc import Mapping

_LIMITS = {
    "CHAR_BIT": "8",
    "SCHAR_MAX": "127",
    "SHRT_MAX": "32767",
    "SHRT_MIN": "(-32768)",
    "INT_MAX": "2147483647",
    "INT_MIN": "(-2147483647 - 1)",
    "UINT_MAX": "4294967295U",
    "LONG_MAX": "9223372036854775807L",
    "LONG_MIN": "(-9223372036854775807L - 1)",
}
_INTEGERS = {
    "INT32_MAX": "2147483647",
    "INT64_MAX": "9223372036854775807L",
    "UINT32_MAX": "4294967295U",
    "SIZE_MAX": "18446744073709551615UL",
}
_FLOAT = {
    "FLT_EPSILON": "1.19209290e-7f",
    "DBL_EPSILON": "2.2204460492503131e-16",
    "FLT_MAX": "3.40282347e+38f",
    "DBL_MAX": "1.7976931348623157e+308",
    "FLT_MIN": "1.17549435e-38f",
    "DBL_MIN": "2.2250738585072014e-308",
}
_MATH = {
    "M_E": "2.7182818284590452354",
    "M_LOG2E": "1.4426950408889634074",
    "M_LOG10E": "0.43429448190325182765",
    "M_LN2": "0.69314718055994530942",
    "M_LN10": "2.30258509299404568402",
    "M_PI": "3.14159265358979323846",
    "M_PI_2": "1.57079632679489661923",
    "M_PI_4": "0.78539816339744830962",
    "M_1_PI": "0.31830988618379067154",
    "M_2_PI": "0.63661977236758134308",
    "M_2_SQRTPI": "1.12837916709551257390",
    "M_SQRT2": "1.41421356237309504880",
    "M_SQRT1_2": "0.70710678118654752440",
}
STANDARD_MACROS: Mapping[str, Mapping[str, str]] = {
    "limits.h": _LIMITS,
    "stdint.h": _INTEGERS,
    "inttypes.h": _INTEGERS,
    "float.h": _FLOAT,
    "math.h": _MATH,
    "tgmath.h": _MATH,
    "complex.h": {"complex": "_Complex"},
    "stdbool.h": {"bool": "_Bool", "true": "1", "false": "0"},
    "stdlib.h": {"RAND_MAX": "2147483647", "EXIT_SUCCESS": "0", "EXIT_FAILURE": "1"},
}
