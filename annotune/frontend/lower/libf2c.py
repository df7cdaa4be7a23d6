"""The functions of f2c's library, by value: ``pow_di(&x[i], n)`` is ``f2c_pow_di(x[i], *n)``.

The values are those of libf2c: each function here computes what the library's does, operation by
operation, and the tests compare the two bit by bit where the library is installed. ``x**n`` is
repeated multiplication there, of the inverse of x for a negative n. Only what ends a program there
has a value here: a complex division by zero.

Why a call by value is the same: these functions read what their arguments point to, before they
store a result, and keep no address. A result goes to a variable that no argument names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pycparser import c_ast
from pycparser.c_parser import Coord

from annotune.frontend.lower.names import is_defined
from annotune.frontend.read.region_finder import ParsedFunction
from annotune.frontend.read.syntax import extent, names_in, replace_nodes
from annotune.frontend.types.symbols import Types
from annotune.frozen import dataclass
from annotune.ir.functions import FUNCTIONS
from annotune.ir.region import UserFunction

BY_VALUE = "libf2c"
"""The file that the coordinates name of what stands for a call of the library."""

_PREFIX = "f2c_"
# By f2c's letters: doublereal, real, integer, doublecomplex, complex.
_PARTS = {"d": "double", "r": "float", "i": "integer", "z": "double", "c": "float"}
_WORD = re.compile(r"\b(?!if\b|do\b)[a-z][a-z]?\b")

_SIGN = ("t = x >= 0 ? x : -x;", "return y >= 0 ? t : -t;")
_NINT = "x >= 0 ? floor(x + .5) : -floor(.5 - x)"
_POWER = (
    "double p = 1;",
    "double t = n < 0 ? 1 / (double)x : x;",
    "for (unsigned long u = n < 0 ? -(unsigned long)n : (unsigned long)n; u != 0; u >>= 1) {",
    "    if (u & 1) p *= t;",
    "    t *= t;",
    "}",
    "return p;",
)
_REMAINDER = ("double q = (double)x / y;", "return x - y * (q >= 0 ? floor(q) : -floor(-q));")
_LENGTH = (
    "if (xr < 0) xr = -xr;",
    "if (xi < 0) xi = -xi;",
    "if (xi > xr) {",
    "    double s = xr;",
    "    xr = xi;",
    "    xi = s;",
    "}",
    "if (xr + xi == xr) return xr;",
    "double t = xi / xr;",
    "return xr * sqrt(1.0 + t * t);",
)
_DIVIDED = (
    "if ((yr < 0 ? -yr : yr) <= (yi < 0 ? -yi : yi)) {{",
    "    double t = (double)yr / yi;",
    "    return {0} / (yi * (1 + t * t));",
    "}}",
    "double t = (double)yi / yr;",
    "return {1} / (yr * (1 + t * t));",
)
_ROOT = (
    "double m = f2c_z_abs(xr, xi);",
    "if (m == 0) return 0;",
    "if (xr > 0) return {0};",
    "double t = sqrt(0.5 * (m - xr));",
    "if (xi < 0) t = -t;",
    "return {1};",
)
_HALVES = ("sqrt(0.5 * (m + xr))", "0.5 * (xi / t)"), ("0.5 * (xi / sqrt(0.5 * (m + xr)))", "t")
_SWAPPED = _LENGTH[2:7]
_LOG = (
    *_LENGTH[:2],
    *_SWAPPED,
    "double q = xi / xr;",
    "double s = xr * sqrt(1 + q * q);",
    "if ((s < 1 ? 1 - s : s - 1) > .01) return log(s);",
    "double t = ((xr * xr - 1) + xi * xi) / (s + 1);",
    "double p = 1 - 0.5 * t;",
    "double u = 1;",
    "double v = 1;",
    "double w;",
    "do {",
    "    w = p;",
    "    u *= t * t;",
    "    v += 2;",
    "    p += u / v - t * u / (v + 1);",
    "} while (p > w);",
    "return p * t;",
)
_COMPLEX_POWER = (
    "double p = 1;",
    "double q = 0;",
    "double s = n < 0 ? f2c_z_div_r(1, 0, xr, xi) : xr;",
    "double t = n < 0 ? f2c_z_div_i(1, 0, xr, xi) : xi;",
    "for (unsigned long u = n < 0 ? -(unsigned long)n : (unsigned long)n; u != 0; u >>= 1) {{",
    "    if (u & 1) {{",
    "        double v = p * s - q * t;",
    "        q = p * t + q * s;",
    "        p = v;",
    "    }}",
    "    double w = s * s - t * t;",
    "    t = 2 * s * t;",
    "    s = w;",
    "}}",
    "return {0};",
)
_POWERS = (
    "double a = log(f2c_z_abs(xr, xi));",
    "double b = atan2(xi, xr);",
    "double t = a * yi + b * yr;",
    "return exp(a * yr - b * yi) * {0}(t);",
)
_QUOTIENTS = ("(xr * t + xi)", "(xr + xi * t)"), ("(xi * t - xr)", "(xi - xr * t)")


@dataclass(frozen=True, slots=True)
class _Entry:
    """A function by its result and arguments in f2c's letters, and C for what it returns.

    A complex result has two functions, each with a `body` of its own; without any the two
    expressions of its `parts` give them, made of ``.r`` and ``.i`` of the argument.
    """

    result: str
    arguments: str
    bodies: tuple[tuple[str, ...], ...]
    needs: tuple[str, ...] = ()


def _each(lines: Iterable[str], choices: Iterable[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(line.format(*choice) for line in lines) for choice in choices)


def _exponential(part: str) -> tuple[str, ...]:
    return (f"return exp(xr) * {part}(xi);",)


_EXP = (_exponential("cos"), _exponential("sin"))
_ANGLE = ("return atan2(xi, xr);",)
_SIN = (("return sin(xr) * cosh(xi);",), ("return cos(xr) * sinh(xi);",))
_COS = (("return cos(xr) * cosh(xi);",), ("return -sin(xr) * sinh(xi);",))
_ONE_OF = (("p", ""), ("q", ""))
_TABLE: Mapping[str, _Entry] = {
    "pow_dd": _Entry("d", "dd", (("return pow(x, y);",),)),
    "pow_di": _Entry("d", "di", (_POWER,)),
    "pow_ri": _Entry("d", "ri", (_POWER,)),
    "pow_ii": _Entry(
        "i",
        "ii",
        (
            (
                "if (n <= 0) {",
                "    if (n == 0 || x == 1) return 1;",
                "    if (x != -1) return x == 0 ? 1 / x : 0;",
                "    n = -n;",
                "}",
                "unsigned long p = 1;",
                "unsigned long t = x;",
                "for (unsigned long u = n; u != 0; u >>= 1) {",
                "    if (u & 1) p *= t;",
                "    t *= t;",
                "}",
                "return p;",
            ),
        ),
    ),
    "d_sign": _Entry("d", "dd", ((f"double {_SIGN[0]}", _SIGN[1]),)),
    "r_sign": _Entry("d", "rr", ((f"double {_SIGN[0]}", _SIGN[1]),)),
    "i_sign": _Entry("i", "ii", ((f"integer {_SIGN[0]}", _SIGN[1].replace("y", "n")),)),
    "d_dim": _Entry("d", "dd", (("return x > y ? x - y : 0;",),)),
    "r_dim": _Entry("d", "rr", (("return x > y ? x - y : 0;",),)),
    "i_dim": _Entry("i", "ii", (("return x > n ? x - n : 0;",),)),
    "i_nint": _Entry("i", "r", ((f"return (integer)({_NINT});",),)),
    "i_dnnt": _Entry("i", "d", ((f"return (integer)({_NINT});",),)),
    "d_nint": _Entry("d", "d", ((f"return {_NINT};",),)),
    "r_nint": _Entry("d", "r", ((f"return {_NINT};",),)),
    "d_int": _Entry("d", "d", (("return x > 0 ? floor(x) : -floor(-x);",),)),
    "r_int": _Entry("d", "r", (("return x > 0 ? floor(x) : -floor(-x);",),)),
    "d_lg10": _Entry("d", "d", (("return 0.43429448190325182765 * log(x);",),)),
    "r_lg10": _Entry("d", "r", (("return 0.43429448190325182765 * log(x);",),)),
    "d_mod": _Entry("d", "dd", (_REMAINDER,)),
    "r_mod": _Entry("d", "rr", (_REMAINDER,)),
    "z_abs": _Entry("d", "z", (_LENGTH,)),
    "c_abs": _Entry("d", "z", (_LENGTH,)),
    "d_imag": _Entry("d", "z", ()),
    "r_imag": _Entry("d", "c", ()),
    "d_cnjg": _Entry("z", "z", ()),
    "r_cnjg": _Entry("c", "c", ()),
    "z_div": _Entry("z", "zz", _each(_DIVIDED, _QUOTIENTS)),
    "c_div": _Entry("c", "cc", _each(_DIVIDED, _QUOTIENTS)),
    "z_sqrt": _Entry("z", "z", _each(_ROOT, _HALVES), ("z_abs",)),
    "c_sqrt": _Entry("c", "c", _each(_ROOT, _HALVES), ("z_abs",)),
    "z_exp": _Entry("z", "z", _EXP),
    "c_exp": _Entry("c", "c", _EXP),
    "z_log": _Entry("z", "z", (_LOG, _ANGLE)),
    "c_log": _Entry("c", "c", (("return log(f2c_z_abs(xr, xi));",), _ANGLE), ("z_abs",)),
    "z_sin": _Entry("z", "z", _SIN),
    "c_sin": _Entry("c", "c", _SIN),
    "z_cos": _Entry("z", "z", _COS),
    "c_cos": _Entry("c", "c", _COS),
    "pow_zi": _Entry("z", "zi", _each(_COMPLEX_POWER, _ONE_OF), ("z_div_r", "z_div_i")),
    "pow_ci": _Entry("c", "ci", _each(_COMPLEX_POWER, _ONE_OF), ("z_div_r", "z_div_i")),
    "pow_zz": _Entry("z", "zz", _each(_POWERS, (("cos", ""), ("sin", ""))), ("z_abs",)),
}


def _functions() -> Iterator[UserFunction]:
    for name, entry in _TABLE.items():
        ends = ("_r", "_i") if entry.result in "zc" else ("",)
        for end, body in zip(ends, entry.bodies, strict=False):
            yield UserFunction(
                f"{_PREFIX}{name}{end}",
                _PARTS[entry.result],
                tuple(f"{type_} {_PREFIX}{own}" for own, type_ in _parameters(entry)),
                body=tuple(_WORD.sub(lambda word: f"{_PREFIX}{word[0]}", line) for line in body),
                needs=tuple(f"{_PREFIX}{need}" for need in entry.needs),
                is_library=True,
            )


def _parameters(entry: _Entry) -> Iterator[tuple[str, str]]:
    for own, letter in zip("xy", entry.arguments, strict=False):
        if letter in "zc":
            yield from ((f"{own}r", _PARTS[letter]), (f"{own}i", _PARTS[letter]))
        else:
            yield "n" if (own, letter) == ("y", "i") else own, _PARTS[letter]


_OF_BITS = {"&": "and", "|": "or", "^": "xor"}


def of_bits(op: str, kind: str) -> str:
    """Return the function that is ``&``, ``|`` or ``^`` of two integers of type `kind`."""
    return f"annotune_{_OF_BITS[op]}_{kind.replace(' ', '_')}"


def bits_operator(name: str) -> str:
    """Return the operator that a function is by `of_bits`, empty for any other function."""
    ours, _, rest = name.partition("_")
    words = {word: op for op, word in _OF_BITS.items()}
    return words.get(rest.partition("_")[0], "") if ours == "annotune" else ""


def _bits() -> Iterator[UserFunction]:
    for op in _OF_BITS:
        for kind in (f"{sign}{size}" for sign in ("", "unsigned ") for size in _SIZES):
            x, y = f"{kind} annotune_x", f"{kind} annotune_y"
            body = (f"return annotune_x {op} annotune_y;",)
            yield UserFunction(of_bits(op, kind), kind, (x, y), body=body, is_library=True)


_SIZES = ("int", "long", "long long")
LIBRARY: Mapping[str, UserFunction] = {one.name: one for one in (*_functions(), *_bits())}
"""The functions by value, by name; ``integer`` is f2c's, int or long.

Those of C's operators on bits stand beside them, for which a nest has no operator.
"""


def uses_integer(function: UserFunction) -> bool:
    """Return whether a function of the library is one of f2c's integers."""
    return "integer" in " ".join([function.result, *function.parameters])


def library_functions(wanted: Iterable[str], integer: str) -> tuple[UserFunction, ...]:
    """Return those functions of the library, with what they call before them.

    `integer` is C's type for f2c's.
    """
    found: dict[str, UserFunction] = {}
    for name in wanted:
        if name in LIBRARY:
            for one in (*LIBRARY[name].needs, name):
                found[one] = _with_integer(LIBRARY[one], integer)
    return tuple(found.values())


def _with_integer(function: UserFunction, integer: str) -> UserFunction:
    def changed(text: str) -> str:
        return re.sub(r"\binteger\b", integer, text)

    return replace(
        function,
        result=changed(function.result),
        parameters=tuple(map(changed, function.parameters)),
        body=tuple(map(changed, function.body)),
    )


def called_functions(functions: Iterable[UserFunction]) -> tuple[str, ...]:
    """Return the functions of ``math.h`` that the texts of functions call."""
    words = {word for one in functions for word in re.findall(r"\w+(?=\()", " ".join(one.body))}
    return tuple(sorted(words & FUNCTIONS.keys()))


def integer_type(types: Types) -> str | None:
    """Return C's type for f2c's ``integer``, None where no header that was read says it."""
    if "integer" not in types.typedefs:
        return None
    type_ = c_ast.TypeDecl(None, [], [], c_ast.IdentifierType(["integer"]))
    return types.scalar(c_ast.Typename(None, [], [], type_))


def call_by_value(function: ParsedFunction) -> None:
    """Put calls by value in the place of those of f2c's library, in a tree that nobody else has.

    A file is f2c's where it asks for ``f2c.h`` or declares the function.
    """
    file = function.file

    def change(node: c_ast.Node) -> c_ast.Node | None:
        match node:
            case c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList()) if name in _TABLE:
                replace_nodes(node, change)
                if is_defined(name, file):
                    return None
                return _by_value(node, name, function)
        return None

    if file.clean.has_f2c or not _TABLE.keys().isdisjoint(names_in(function.body)):
        replace_nodes(function.body, change)


def _by_value(node: c_ast.FuncCall, name: str, function: ParsedFunction) -> c_ast.Node | None:
    entry, pointers = _TABLE[name], list(node.args.exprs if node.args else ())
    start, _ = extent(node.name, function.file.tokens)
    place = Coord(BY_VALUE, start, node.name.coord.column if node.name.coord else None)
    is_complex = entry.result in "zc"
    result = pointers.pop(0) if is_complex and pointers else None
    if len(pointers) != len(entry.arguments):
        return None
    values: list[c_ast.Node] = []
    for pointer, letter in zip(pointers, entry.arguments, strict=True):
        if name == "c_abs" or letter in "zc":
            values += [_member(pointer, part, place) for part in "ri"]
        else:
            values.append(_value(pointer))
    if not is_complex:
        return _call(f"{_PREFIX}{name}", values, place) if entry.bodies else values[1]
    if not isinstance(result, c_ast.UnaryOp) or not isinstance(result.expr, c_ast.ID):
        return None
    if result.op != "&" or any(result.expr.name in names_in(pointer) for pointer in pointers):
        return None
    made = [*values[:1], c_ast.UnaryOp("-", values[1], place)]
    if entry.bodies:
        made = [_call(f"{_PREFIX}{name}_{part}", values, place) for part in "ri"]
    return c_ast.ExprList(
        [
            c_ast.Assignment("=", _member(result, part, place), value, place)
            for part, value in zip("ri", made, strict=True)
        ],
        place,
    )


def _call(name: str, values: list[c_ast.Node], place: Coord) -> c_ast.Node:
    return c_ast.FuncCall(c_ast.ID(name, place), c_ast.ExprList(list(values), place), place)


def _value(pointer: c_ast.Node) -> c_ast.Node:
    if isinstance(pointer, c_ast.UnaryOp) and pointer.op == "&":
        return pointer.expr
    return c_ast.UnaryOp("*", pointer, pointer.coord)


def _member(pointer: c_ast.Node, part: str, place: Coord) -> c_ast.Node:
    if isinstance(pointer, c_ast.UnaryOp) and pointer.op == "&":
        return c_ast.StructRef(pointer.expr, ".", c_ast.ID(part, place), place)
    return c_ast.StructRef(pointer, "->", c_ast.ID(part, place), place)
