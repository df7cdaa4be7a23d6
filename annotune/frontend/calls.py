"""Calls in a nest: of the functions that annotune knows, and of those the user vouches for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from annotune.annotation.messages import did_you_mean
from annotune.diagnostics import AnnotuneError
from annotune.frontend import messages
from annotune.frontend.kinds import COMPLEX, Typed, cast, common, is_integer, promoted
from annotune.frontend.library import (
    is_generic,
    lacks_prototype,
    may_come_from_headers,
    own_meaning,
)
from annotune.frontend.names import Names
from annotune.frontend.parse import parse
from annotune.frontend.symbols import REALS, Symbol
from annotune.frontend.syntax import c_ast
from annotune.frontend.truth import compared
from annotune.ir.expr import Binary, Call, Expr, Int, Negate, Select
from annotune.ir.functions import FUNCTIONS, Function, own_name

if TYPE_CHECKING:
    from annotune.frontend.expressions import Expressions

_EXTREMA = {"min": "<=", "max": ">="}
# f2c.h: dmin(a, b) is (doublereal)min(a, b).
_F2C = {"dmin": "min", "dmax": "max"}


def call(node: Any, expressions: Expressions) -> Typed:
    """Return the value of a function call.

    Raises:
        AnnotuneError: The function may have effects, or is given the wrong arguments.
    """
    names = expressions.names
    if not isinstance(node.name, c_ast.ID):
        raise _unknown(node, expressions.text(node.name), expressions)
    name = node.name.name
    if name not in names.pure:
        _check_known(node, name, expressions)
    arguments = [expressions.exact_value(a) for a in (node.args.exprs if node.args else ())]
    if name in names.pure:
        return _vouched(node, name, arguments, expressions)
    made = _macro(name, arguments, expressions)
    if made is not None:
        return made
    if name in FUNCTIONS:
        return _known(node, _generic(node, name, arguments, expressions), arguments, expressions)
    raise _unknown(node, name, expressions)


def _check_known(node: Any, name: str, expressions: Expressions) -> None:
    """Raise where a name means no function that annotune knows."""
    names = expressions.names
    clean = names.file.clean
    if not (name in FUNCTIONS or name in _EXTREMA or name in _F2C or name == "dabs"):
        raise _unknown(node, name, expressions)
    reason = own_meaning(name, names)
    if not reason and name in _EXTREMA and not may_come_from_headers(clean):
        reason = "the C library has none, and no macro of the name is defined"
    if reason:
        vouch = f"if it has no effects, say so: def assume {{ arg pure = ['{name}']; }}"
        raise expressions.refuse(
            messages.OWN_FUNCTION, node.name, name=name, reason=reason, help=vouch
        )


def _generic(
    node: Any, name: str, arguments: Sequence[Typed], expressions: Expressions
) -> Function:
    """Return the function that a name means for these arguments.

    Under <tgmath.h> that is the one for float where no argument is wider.
    """
    names = expressions.names
    clean, known = names.file.clean, FUNCTIONS[name]
    kinds = {argument.kind for argument in arguments}
    reason = help_ = ""
    as_given = tuple(argument.kind for argument in arguments) == known.parameters
    # A float becomes a double on its way.
    if lacks_prototype(name, clean, names.find(name)) and (not as_given or "float" in kinds):
        reason = "without its parameters declared C does not convert what it is given"
        help_ = f"<{known.header}>"
    twin = FUNCTIONS.get(f"{name}f")
    is_complex = known.header == "complex.h"
    if is_generic(clean) and (twin is not None or is_complex):
        if kinds != {"double complex"} if is_complex else kinds & COMPLEX:
            reason, help_ = "in <tgmath.h> it is one for such a type", "<math.h> and <complex.h>"
        elif twin is not None and kinds == {"float"}:
            return twin
    if reason:
        help_ = f"include {help_}"
        raise expressions.refuse(
            messages.OWN_FUNCTION, node.name, name=name, reason=reason, help=help_
        )
    return known


def _unknown(node: Any, name: str, expressions: Expressions) -> AnnotuneError:
    hint = did_you_mean(name, FUNCTIONS)
    return expressions.refuse(
        messages.CALL, node.name, name=name, hint=f"{hint} " if hint.startswith("did") else ""
    )


def _known(
    node: Any, function: Function, arguments: Sequence[Typed], expressions: Expressions
) -> Typed:
    """Return the call of a function of the table, each argument in its parameter's type.

    C converts arguments by itself; in C++, and so in CUDA, ``sqrt`` and ``abs`` are overloaded
    and would compute in the argument's type.
    """
    expected, given = len(function.parameters), len(arguments)
    if expected != given:
        raise expressions.refuse(
            messages.ARGUMENTS, node, name=function.name, expected=expected, given=given
        )
    pairs = zip(arguments, function.parameters, strict=True)
    converted = tuple(cast(argument, kind) for argument, kind in pairs)
    return Typed(Call(function.name, converted), function.result)


def _macro(name: str, arguments: Sequence[Typed], expressions: Expressions) -> Typed | None:
    """Return a call of min, max or f2c's abs, which headers define as macros; else None."""
    is_f2c = "f2c.h" in {h.split("/")[-1] for h in expressions.names.file.clean.headers}
    kinds = [argument.kind for argument in arguments]
    if is_f2c and name in ("abs", "dabs") and len(arguments) == 1 and kinds[0] not in COMPLEX:
        (x,) = arguments
        choice = Select(Binary(">=", x.expr, Int(0)), x.expr, Negate(x.expr))
        return (
            Typed(cast(Typed(choice, x.kind), "double"), "double")
            if name == "dabs"
            else (Typed(choice, x.kind))
        )
    plain = _F2C.get(name, name) if is_f2c else name
    if plain not in _EXTREMA or len(arguments) != 2 or COMPLEX & set(kinds):
        return None
    kind = common(*kinds)
    a, b = (argument.expr for argument in arguments)
    if is_integer(kind):
        a, b = (compared(argument, kind, expressions) for argument in arguments)
        extremum: Expr = Call(plain, (a, b))
        if not expressions.in_index:
            extremum = Select(Binary(_EXTREMA[plain], a, b), a, b)
    elif is_f2c:
        extremum = Select(Binary(_EXTREMA[plain], a, b), a, b)
    else:
        return None
    return (
        Typed(cast(Typed(extremum, kind), "double"), "double")
        if plain != name
        else (Typed(extremum, kind))
    )


def _vouched(node: Any, name: str, arguments: Sequence[Typed], expressions: Expressions) -> Typed:
    """Return the call of a function that the annotation lists as pure.

    Its type stands beside it as a cast: no later stage knows the function.
    """
    names = expressions.names
    symbol = names.find(name) or _definition(name, names)
    if symbol is None:
        raise expressions.refuse(messages.UNDECLARED, node.name, name=name)
    kinds = [layer.kind for layer in symbol.layers]
    result = promoted(symbol.base)
    if kinds != ["()"] or not (is_integer(result) or result in REALS | COMPLEX):
        raise expressions.refuse(messages.RETURNS, node.name, name=name, type=symbol.base)
    names.functions.setdefault(name)
    called = Call(own_name(name), tuple(argument.expr for argument in arguments))
    return Typed(Call(f"({result})", (called,)), result)


def _definition(name: str, names: Names) -> Symbol | None:
    """Return what the file, or a header it reads, defines as function `name`; else None."""
    found = names.file.definition(name)
    if found is None:
        return None
    types = names.file.scope_of(found).types
    parsed = parse(found.file.clean, found.file.tokens, found.part, types.names())
    trees = [tree for tree in parsed.nodes if isinstance(tree, c_ast.FuncDef)]
    return types.symbol(trees[0].decl, "file") if trees else None
