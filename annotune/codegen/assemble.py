"""Copies of the user's functions, for devices that cannot call what is compiled for the host.

A copy has a name of its own: the user's stays as it is, and keeps its name.

A user's file with its regions replaced: what the targets that stay in C hand back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from annotune.analysis.facts import Analysis
from annotune.codegen.names import spelled
from annotune.codegen.renaming import Renaming, checked_constants, constants, declared, redefining
from annotune.codegen.target import Provenance, RegionCode
from annotune.codegen.writer import Writer, words, wrapped
from annotune.frontend.read.tokens import splice
from annotune.ir.expr import Call, Expr
from annotune.ir.functions import own_name
from annotune.ir.nest import Nest
from annotune.ir.region import Condition, MacroText, Redefined, Region, SourceFile, UserFunction
from annotune.space.variants import Variant


def copied(region: Region) -> tuple[UserFunction, ...]:
    """Return the functions of a region of which there can be a copy, what is called first."""
    return tuple(function for function in region.functions if not function.reason)


def definition(
    function: UserFunction, names: Mapping[str, str], qualifiers: str, table: str = ""
) -> str:
    """Return the text of a copy under its name in `names`, those of its callees too.

    `qualifiers` stand before its type, `table` before arrays of constants.
    """
    out = Writer()
    head = f"{qualifiers} {spelled(function.result)} {names[function.name]}"
    with out.block(wrapped(head, function.parameters) + "\n"):
        for constant in function.constants:
            is_array = "[" in constant.partition("=")[0]
            out.line(f"{table}{constant}" if is_array else constant)
        for line in function.body:
            out.line(_renamed(line, function, names))
    return out.text()


def _renamed(line: str, function: UserFunction, names: Mapping[str, str]) -> str:
    """Return a line with the calls of its callees: no other name stands before a ``(``."""
    for name in function.needs:
        line = re.sub(rf"\b{name}(?=\()", names[name], line)
    return line


def calling_copies(variant: Variant, names: Mapping[str, str]) -> Variant:
    """Return a variant whose nest, as written too, and whose plans call the copies in `names`."""
    if not names:
        return variant
    view = _Calls({}, {own_name(name): copy for name, copy in names.items()})

    def analysis(one: Analysis) -> Analysis:
        region = one.region
        nest, original = Nest(view.body(region.nest.body)), region.original
        if original is not None:
            original = Nest(view.body(original.body))
        region = replace(region, nest=nest, original=original)
        return replace(one, region=region, inspector=view.body(one.inspector))

    return variant.rewritten(analysis, view.plan)


@dataclass(frozen=True)
class _Calls(Renaming):
    """Statements that call the `copies` of functions; all names else stay."""

    copies: Mapping[str, str]

    def change(self, part: Expr) -> Expr | None:
        """Return a call of a copy, None for what is no call of a function that has one."""
        if isinstance(part, Call) and part.function in self.copies:
            return Call(self.copies[part.function], tuple(map(self.expr, part.arguments)))
        return None


def assembled(source: SourceFile, codes: Sequence[RegionCode], provenance: Provenance) -> str:
    """Return the user's text with each region replaced, all other bytes unchanged.

    A helper stands directly before the function that encloses its region. The provenance
    opens the first replaced region, since nothing outside the regions may change.
    """
    edits: list[tuple[int, int, str]] = []
    for k, (region, code) in enumerate(zip(source.regions, codes, strict=True)):
        place = region.extent
        if code.helper:
            helper = as_beside(code.helper, region.around.redefined) + "\n"
            edits.append((place.function_start, place.function_start, helper))
        conditions = checked_conditions((*region.text.conditions, *code.conditions))
        own = checked_constants(declared(code.body, region), constants(region))
        body = conditions + checked_texts(own, region.around.texts)
        body = provenance.comment() + body if k == 0 else body
        edits.append((place.start, place.end, indented(body, place.indent)))
    return splice(source.text, edits)


def as_beside(helper: str, redefined: Iterable[Redefined]) -> str:
    """Return a helper that sees the macros in it as they are beside its region."""
    used = words(helper)
    return redefining(helper, [one for one in redefined if one.name in used])


def checked_conditions(conditions: Iterable[Condition]) -> str:
    """Return directives that stop a compiler for which an ``#if`` means another text.

    An empty line first: a directive has a line of its own, whatever stands before the region.
    """
    out: list[str] = []
    for one in dict.fromkeys(conditions):
        said = f"{one.text} is {'true' if one.holds else 'false'}"
        out.append(f"\n#if {'!' if one.holds else ''}({one.text})")
        out.append(f'\n#error "annotune read this region where {_plain(said)}"\n#endif')
    return "".join([*out, "\n"]) if out else ""


def checked_texts(code: str, texts: Sequence[MacroText]) -> str:
    """Return a block that stops a compiler for which a macro stands for another text.

    gcc and clang compare strings when they compile; others compare how long they are.
    """
    if not texts:
        return code
    out = Writer()
    with out.block(""):
        out.lines(_SAYS)
        for one in texts:
            said = f"{one.use} is {_plain(one.text[1:-1])}"
            test = f"ANNOTUNE_SAYS({one.text}, {one.use})"
            out.line(f'_Static_assert({test}, "annotune read this region where {said}");')
        out.lines("#undef ANNOTUNE_SAYS\n#undef ANNOTUNE_TEXT")
        out.lines(code)
    return out.text()


_SAYS = """\
#define ANNOTUNE_TEXT(...) #__VA_ARGS__
#if defined(__GNUC__) && !defined(__NVCOMPILER)
#define ANNOTUNE_SAYS(text, ...) (__builtin_strcmp(text, ANNOTUNE_TEXT(__VA_ARGS__)) == 0)
#else
#define ANNOTUNE_SAYS(text, ...) (sizeof text == sizeof ANNOTUNE_TEXT(__VA_ARGS__))
#endif"""


def _plain(text: str) -> str:
    """Return a text as it may stand in a message: an unpaired quote would be a warning."""
    return re.sub(r"[\"'\\]", "`", text)


def indented(text: str, margin: str) -> str:
    """Return `text` with `margin` before every line but the first, and no newline at its end.

    The first line begins where the annotation did, behind the user's own white space.
    Preprocessor lines keep column one.
    """
    first, *rest = text.rstrip("\n").split("\n")
    rows = [line if not line or line.startswith("#") else margin + line for line in rest]
    return "\n".join([first, *rows])
