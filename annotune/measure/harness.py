"""The C text by which a region is called: the user's file and a function of our own below it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from annotune.codegen.c_expr import c_expr
from annotune.codegen.names import spelled
from annotune.codegen.renaming import body_text
from annotune.codegen.target import RegionCode
from annotune.ir.region import Array, Region, Scalar, SourceFile
from annotune.measure.values import ENTRY, signature

REGION = "annotune_region"
"""The function that holds the region's text in every library."""

_QUALIFIERS = re.compile(r"\b(static|extern|register|volatile|const)\b\s*")


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


# The directives that end where they stand: after them the next part reads as if it were alone.
_HARMLESS = (
    r"(?:if|ifdef|ifndef|elif|else|endif|line|error)\b"
    r"|pragma[ \t]+(?:omp|acc|GCC[ \t]+(?:unroll|ivdep))\b"
)
_DIRECTIVE = re.compile(rf"^[ \t]*(?:#|%:)[ \t]*+(?!{_HARMLESS})", re.MULTILINE)
_NOISE = re.compile(
    r"/\*.*?\*/|//(?:\\\n|[^\n])*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|^[ \t]*(?:#|%:)(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
_TOKEN = re.compile(r"[A-Za-z_]\w*|\S")
_NAME = re.compile(r"[A-Za-z_]\w*")
# Words of the language and of gcc: _Alignas, __attribute__.
_RESERVED = re.compile(r"_[A-Z_]")


def joint_source(source: SourceFile, region: Region, codes: Sequence[RegionCode]) -> str:
    """Return C with the user's file once, and below it an entry for each of `codes`.

    Each part is, character by character, what stands below the file when it is compiled alone;
    macros give its functions names of their own.

    Raises:
        ValueError: One of the texts has a directive, such as a macro, that would reach the next.
    """
    user = set(_NAME.findall(source.text))
    parts = [file_head(source)]
    for number, code in enumerate(codes):
        if _DIRECTIVE.search(f"{code.helper}\n{code.body}"):
            raise ValueError("the text of a variant has a directive that lasts")
        # What the user's file has a name for is not the variant's to rename.
        names = [ENTRY, REGION, *sorted(file_scope_names(code.helper) - user)]
        parts += [f"#define {name} {numbered(name, number)}\n" for name in names]
        parts.append(variant_part(region, code))
        parts += [f"#undef {name}\n" for name in names]
    return "".join(parts)


def numbered(name: str, number: int) -> str:
    """Return what `joint_source` calls a name of file scope in its part `number`."""
    return f"{name}_{number}"


def file_scope_names(text: str) -> set[str]:
    """Return the functions, variables and types that C definitions in `text` name.

    What is overlooked here collides and fails to compile, so that each is compiled alone; what
    would be merged without a word, variables without a value, is among the names.
    """
    found: set[str] = set()
    depth = 0
    before = last = ""
    for token in _TOKEN.findall(_NOISE.sub(" ", text)):
        if not depth and _NAME.fullmatch(last):
            is_tag = token == "{" and before in ("struct", "union", "enum")
            is_own = token in "([=;," and not _RESERVED.match(last) and before not in ("", ";", "}")
            if is_tag or is_own:
                found.add(last)
        depth += (token in "({[") - (token in ")}]")
        before, last = last, token
    return found
