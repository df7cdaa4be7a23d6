"""The C text by which a region is called: the user's file and a function of our own below it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from annotune.codegen.c_expr import c_expr
from annotune.codegen.names import spelled
from annotune.codegen.renaming import body_text
from annotune.codegen.target import RegionCode
from annotune.ir.expr import Var, variables
from annotune.ir.nest import Assign, Local, walk_stmts
from annotune.ir.nest import Loop as LoopNode
from annotune.ir.region import Array, Region, Scalar, SourceFile
from annotune.measure.values import Family, family_of

ENTRY = "annotune_call"
"""``void annotune_call(void **arrays, long long *integers, double *reals)`` of every library."""

REGION = "annotune_region"
"""The function that holds the region's text in every library."""

_F2C_INTEGERS = frozenset({"integer", "logical", "ftnlen"})
_QUALIFIERS = re.compile(r"\b(static|extern|register|volatile|const)\b\s*")


@dataclass(frozen=True, slots=True)
class Signature:
    """The names that `ENTRY` takes, in the order in which it takes them.

    `integers`, `reals` and `complexes` are the scalars that the region uses and does not
    declare itself; complex ones are passed as two reals each, behind the `reals`. `written`
    are the scalars whose value after the region matters and is passed back.
    """

    arrays: tuple[str, ...]
    integers: tuple[str, ...]
    reals: tuple[str, ...]
    written: frozenset[str]
    complexes: tuple[str, ...] = ()

    def slots(self) -> tuple[str, ...]:
        """Return the scalar that each double of the call's `reals` belongs to."""
        return (*self.reals, *(name for name in self.complexes for _ in range(2)))


def signature(region: Region) -> Signature:
    """Return what the wrapper of `region` takes, whichever body stands in it."""
    passed = [s for s in region.scalars.values() if not s.is_local and not s.is_macro]
    integers = integer_names(region)
    changed = _changed(region)
    others = [s for s in passed if s.name not in integers]
    pairs = tuple(s.name for s in others if family_of(s.type) is Family.COMPLEX)
    return Signature(
        tuple(region.arrays),
        tuple(s.name for s in passed if s.name in integers),
        tuple(s.name for s in others if s.name not in pairs),
        frozenset(s.name for s in passed if s.name in changed and s.read_after),
        pairs,
    )


def integer_names(region: Region) -> frozenset[str]:
    """Return the integer scalars of `region`: by their type, or by standing in a subscript.

    A type may be the user's own name, so what a variable is used for speaks as well.
    """
    found = set(_index_names(region))
    for stmt in walk_stmts(region.nest.body):
        if isinstance(stmt, Local) and _is_integer_type(stmt.type):
            found.add(stmt.name)
    for scalar in region.scalars.values():
        if scalar.value is not None or _is_integer_type(scalar.type):
            found.add(scalar.name)
    return frozenset(found)


def _index_names(region: Region) -> Iterator[str]:
    """Yield the names in loop headers, subscripts and extents."""
    for stmt in walk_stmts(region.nest.body):
        if isinstance(stmt, LoopNode):
            yield stmt.var
            yield from variables(stmt.lower) | variables(stmt.upper)
        elif isinstance(stmt, Assign):
            for place in stmt.reads():
                for index in () if isinstance(place, Var) else place.indices:
                    yield from variables(index)
            for index in () if isinstance(stmt.target, Var) else stmt.target.indices:
                yield from variables(index)
    for array in region.arrays.values():
        for extent in array.extents:
            if extent is not None:
                yield from variables(extent)


def _is_integer_type(type_: str) -> bool:
    plain = _QUALIFIERS.sub("", type_).strip()
    return plain in _F2C_INTEGERS or family_of(plain) is Family.INTEGER


def _changed(region: Region) -> frozenset[str]:
    """Return the scalars that the nest assigns, its loop variables among them."""
    assigned = {a.target.name for a in region.nest.assigns() if isinstance(a.target, Var)}
    return frozenset(assigned | {loop.var for loop in region.nest.loops()})


def oracle_source(source: SourceFile, region: Region) -> str:
    """Return C in which `ENTRY` runs the user's own text between the annotations."""
    extent = region.extent
    line = source.text.count("\n", 0, extent.body_start) + 1
    # The exact characters, from the start of their line, so that columns are the user's.
    start = source.text.rfind("\n", 0, extent.body_start) + 1
    lead = re.sub(r"[^\t]", " ", source.text[start : extent.body_start])
    text = body_text(source.text, region)
    placed = f"#line {line} {quoted(source.path)}\n{lead}{text}\n"
    return file_head(source) + _macros(region) + _wrapper(region, placed)


def variant_source(source: SourceFile, region: Region, code: RegionCode) -> str:
    """Return C in which `ENTRY` runs `code.body`, with `code.helper` before it."""
    return file_head(source) + variant_part(region, code)


def variant_part(region: Region, code: RegionCode) -> str:
    """Return what stands below the user's file in `variant_source`."""
    helper = f'#line 1 "{region.entry}_helper.c"\n{code.helper}\n' if code.helper else ""
    return _macros(region) + helper + _wrapper(region, f'#line 1 "{region.entry}.c"\n{code.body}\n')


def file_head(source: SourceFile) -> str:
    """Return the user's file as every text of this module begins with it."""
    return f"#line 1 {quoted(source.path)}\n{source.text}\n"


def nest_source(source: SourceFile, region: Region, body: str) -> str:
    """Return C in which `ENTRY` runs `body`, a text of our own in the user's names."""
    return file_head(source) + _macros(region) + _wrapper(region, body)


def _macros(region: Region) -> str:
    """Return directives after which macros are at the file's end what they are at the region."""
    lines = (line for one in region.around.later for line in one.directives())
    return "".join(f"{line}\n" for line in lines)


def quoted(path: str) -> str:
    """Return `path` as a C string; a newline or a quote in a file's name ends no directive."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    escaped = re.sub(r"[\x00-\x1f\x7f]", lambda c: f"\\{ord(c[0]):03o}", escaped)
    return f'"{escaped}"'


def _wrapper(region: Region, body: str) -> str:
    """Return the two functions at the end: one in the user's types, one that unpacks.

    The inner function's parameters shadow file-scope objects of the same names, so that the
    region works on the caller's arrays and never on the file's own.
    """
    names = signature(region)
    scalars = [region.scalars[n] for n in (*names.integers, *names.reals, *names.complexes)]
    # Sizes first: the types of the arrays after them are made of these parameters.
    parameters = [f"{_plain_type(s)} {s.name}" for s in scalars]
    parameters += [array_parameter(region.arrays[name]) for name in names.arrays]
    parameters += ["long long *annotune_integers", "double *annotune_reals"]
    back, values = [], []
    for vector, group in (("annotune_integers", names.integers), ("annotune_reals", names.reals)):
        for number, name in enumerate(group):
            values.append(f"({_plain_type(region.scalars[name])}){vector}[{number}]")
            if name in names.written:
                back.append(f"  {vector}[{number}] = {name};\n")
    for number, name in enumerate(names.complexes):
        # GNU C's own operators: the user's file need not include complex.h.
        first = len(names.reals) + 2 * number
        real, imaginary = (f"annotune_reals[{first + part}]" for part in (0, 1))
        values.append(f"__builtin_complex({real}, {imaginary})")
        if name in names.written:
            back.append(f"  {real} = __real__ {name};\n  {imaginary} = __imag__ {name};\n")
    values += [f"annotune_arrays[{number}]" for number in range(len(names.arrays))]
    values += ["annotune_integers", "annotune_reals"]
    comma = ",\n    "
    # The user's own text sets these; the nest knows them as formulas.
    unseen = "".join(f"  {line}\n" for line in region.declarations)
    return (
        '#line 1 "annotune_call.c"\n'
        f"__attribute__((noinline)) static void {REGION}(\n    {comma.join(parameters)})\n"
        f"{{\n{unseen}{body}"
        f'#line 2 "annotune_call.c"\n{"".join(back)}'
        "  (void)annotune_integers;\n  (void)annotune_reals;\n}\n\n"
        '__attribute__((visibility("default")))\n'
        f"void {ENTRY}(\n"
        "    void **annotune_arrays, long long *annotune_integers, double *annotune_reals)\n"
        f"{{\n  {REGION}(\n    {comma.join(values)});\n  (void)annotune_arrays;\n}}\n"
    )


def _plain_type(scalar: Scalar) -> str:
    """Return a scalar's type without qualifiers: the parameter is a variable of our own."""
    return spelled(_QUALIFIERS.sub("", scalar.type).strip()) or "int"


def array_parameter(array: Array) -> str:
    """Return the declaration that passes `array` under its own name."""
    if array.parameter:
        return array.parameter
    if len(array.extents) == 1 or None in array.extents[1:]:
        return f"{spelled(array.element)} *{array.name}"
    inner = "".join(f"[{c_expr(e)}]" for e in array.extents[1:] if e is not None)
    return f"{spelled(array.element)} (*{array.name}){inner}"
