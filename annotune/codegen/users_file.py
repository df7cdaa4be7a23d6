"""A user's file with its regions replaced, each text of ours as it must be said there.

Compilers expand macros inside ``#pragma omp`` and ``#pragma acc`` lines too: beside
``#define gang 12`` a loop would be ``parallel loop 12``. What the user's text says in such a
macro has been read, so that ours is made without it.

Where the user's C spells a value otherwise, ``*n`` or ``p->nx``, the nest and all that is printed
from it use plain names; what is put in the place of a region declares them first. The harness
passes them as parameters instead. So it is with ``register`` variables, whose address C does not
give.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from annotune.codegen.build import CompilerUse
from annotune.codegen.names import fresh, spelled
from annotune.codegen.renaming import Renaming, made_names
from annotune.codegen.target import Provenance, RegionCode
from annotune.codegen.writer import Writer, words
from annotune.frontend.read.tokens import Replacement, splice
from annotune.ir.region import (
    Alias,
    Assertion,
    Condition,
    LeftRegion,
    MacroText,
    Premise,
    Redefined,
    Region,
    Scalar,
    SourceFile,
)
from annotune.ir.residency import Called, DataCall, DataEdit
from annotune.printable import in_comment, one_line
from annotune.runtime.texts import SharedRuntime
from annotune.space.variants import Variant


def assembled(
    source: SourceFile,
    codes: Sequence[RegionCode],
    provenance: Provenance,
    runtime: SharedRuntime | None = None,
) -> str:
    """Return the user's text with each region replaced, all other bytes unchanged.

    A helper stands directly before the function that encloses its region. The provenance
    opens the first replaced region, since nothing outside the regions may change. Before one that
    is left as it is a comment says why. Where arrays stay on the device between regions, `runtime`
    has the functions for it; None where there is no device.
    """
    edits = [] if runtime is None else [*_data_edits(source, runtime)]
    for k, (region, code) in enumerate(zip(source.regions, codes, strict=True)):
        place = region.extent
        if code.helper:
            helper = as_beside(code.helper, region.around.redefined) + "\n"
            edits.append((place.function_start, place.function_start, helper))
        body = one_statement("\n".join(filter(None, [code.ahead, code.body])))
        nest = _as_written(source, region, runtime is not None) if region.text.tests else ""
        premises = (*region.text.conditions, *region.around.texts, *code.conditions)
        body = checked(declared(body, region, nest), premises, constants(region))
        body = provenance.comment() + body if k == 0 else body
        edits.append((place.start, place.end, indented(body, place.indent)))
    if not codes and edits:
        start = min(start for start, _, _ in edits)
        edits.insert(0, (start, start, provenance.comment()))
    for left in source.left:
        edits.append((left.start, left.start, _left_comment(left)))
    return splice(source.text, edits)


def _left_comment(left: LeftRegion) -> str:
    """Return what stands before a region that keeps its nest, up to where that begins."""
    return f"/* annotune: as written: {in_comment(one_line(left.reason))} */\n{left.indent}"


class InPlaceTarget:
    """What targets have in common whose text stands in the user's own file alone."""

    suffix: str
    ways: tuple[CompilerUse, ...] = (CompilerUse("c", is_native=True),)

    @property
    def endings(self) -> tuple[str, ...]:
        """Return the suffix of the only file."""
        return (self.suffix,)

    def files(
        self, source: SourceFile, codes: Sequence[RegionCode], provenance: Provenance
    ) -> Mapping[str, str]:
        """Return the user's file with its regions replaced."""
        return {self.suffix: assembled(source, codes, provenance, self.runtime)}

    @property
    def runtime(self) -> SharedRuntime | None:
        """Return the runtime by which arrays stay on a device, None where there is no other
        memory."""
        return None

    def device_file(self, code: RegionCode) -> str:
        """Return nothing: what runs on a device is in the user's file too."""
        return ""


def as_beside(helper: str, redefined: Iterable[Redefined]) -> str:
    """Return a helper that sees the macros in it as they are beside its region."""
    used = words(helper)
    return redefining(helper, [one for one in redefined if one.name in used])


def checked(code: str, premises: Iterable[Premise], known: Iterable[Scalar]) -> str:
    """Return a text that stops a compiler for which it is not right.

    So it is where one of `premises` does not hold, or a constant of `known` has another value.
    """
    found = [*dict.fromkeys(premises)]
    tests = [one for one in found if isinstance(one, Assertion)]
    tests += [
        Assertion(f"{one.name} == {one.value}", f"{one.name} is {one.value}") for one in known
    ]
    lines = [f"_Static_assert({one.test}, {_stop_message(one.said)});" for one in tests]
    code = in_block("\n".join([*lines, code])) if lines else code
    code = _checked_texts(code, [one for one in found if isinstance(one, MacroText)])
    return _checked_conditions(one for one in found if isinstance(one, Condition)) + code


def _stop_message(said: str) -> str:
    """Return the message, a C string, for a compiler for which a text is not right."""
    return f'"annotune read this region where {_plain(said)}; run annotune again"'


def _checked_conditions(conditions: Iterable[Condition]) -> str:
    """Return directives that stop a compiler for which an ``#if`` means another text.

    An empty line first: a directive has a line of its own, whatever stands before the region.
    """
    out: list[str] = []
    for one in conditions:
        said = f"{one.text} is {'true' if one.holds else 'false'}"
        out.append(f"\n#if {'!' if one.holds else ''}({one.text})")
        out.append(f"\n#error {_stop_message(said)}\n#endif")
    return "".join([*out, "\n"]) if out else ""


def _checked_texts(code: str, texts: Sequence[MacroText]) -> str:
    """Return a block that stops a compiler for which a macro stands for another text.

    gcc and clang compare strings when they compile; others compare how long they are.
    """
    if not texts:
        return code
    out = Writer()
    with out.block(""):
        out.lines(_SAYS)
        for one in texts:
            test = f"ANNOTUNE_SAYS({one.text}, {one.use})"
            out.line(f"_Static_assert({test}, {_stop_message(f'{one.use} is {one.text[1:-1]}')});")
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


_IN_DIRECTIVES = frozenset(
    (
        *("GCC", "omp", "acc", "unroll", "parallel", "loop", "simd", "seq", "routine", "cache"),
        *("gang", "worker", "vector", "num_gangs", "num_workers", "vector_length", "num_threads"),
        *("schedule", "static", "collapse", "tile", "reduction", "min", "max", "private", "data"),
        *("present", "copy", "copyin", "copyout", "create", "deviceptr"),
        *("target", "teams", "distribute", "declare", "end", "num_teams", "thread_limit"),
        *("map", "to", "from", "tofrom", "alloc"),
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
    texts = code.body, code.helper, code.ahead
    body, helper, ahead = (_freed(text, region) for text in texts)
    body = in_block(body) if body != code.body else body
    return replace(code, body=body, helper=helper, ahead=ahead)


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


def one_statement(code: str) -> str:
    """Return C as exactly one statement, a block, whatever it is made of.

    A region may be one statement where C allows no more: the body of a loop or branch without
    braces. Behind a label or a ``case`` a declaration is none before C23.
    """
    return code if _is_block(code) else in_block(code)


# White space and comments, and else what may hold a brace that opens or closes nothing.
_PIECES = re.compile(
    r"\s+|/\*.*?\*/|//[^\n]*|"
    r"(?P<piece>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|#(?:\\\n|[^\n])*|[{}]|[^\s{}\"'#/]+|.)",
    re.DOTALL,
)


def _is_block(code: str) -> bool:
    """Return whether a text is one block: its first brace is closed by its last piece."""
    depth, count = 0, 0
    for found in _PIECES.finditer(code):
        piece = found["piece"]
        if piece is None:
            continue
        if not depth and (count or piece != "{"):
            return False
        count += 1
        depth += (piece == "{") - (piece == "}")
    return count > 0 and not depth


def in_block(code: str) -> str:
    """Return a block of `code`, so that lines of the preprocessor have lines of their own."""
    out = Writer()
    with out.block(""):
        out.lines(code)
    return out.text()


# Types that the text may name, of which a loop ``size`` in tiles would make a variable.
_TYPES = frozenset({"size_t", "ptrdiff_t", "wchar_t", "int8_t", "int16_t", "int32_t", "int64_t"})


def in_users_file(variant: Variant) -> Variant:
    """Return a variant whose own names are safe in the user's file.

    There macros of any name may hold, and what is called must be seen. What the user declares
    keeps its name.
    """
    region = variant.analysis.region
    made = made_names(region, variant.plans())
    # Iterators and conditions that reading made, declared where they are used.
    scalars = region.scalars.values()
    made |= {s.name for s in scalars if s.is_local and s.name.startswith("annotune_")}
    said = words(" ".join(alias.declaration for alias in region.text.aliases))
    reserved = _TYPES | region.around.macros | region.called | said
    clashes = sorted(made & reserved)
    names = {s.name: str(s.value) for s in constants(region)}
    if not clashes and not names:
        return variant
    known = {*made, *reserved, *region.names}
    for clash in clashes:
        names[clash] = fresh(clash, known)
        known.add(names[clash])
    view = Renaming(names)
    return variant.rewritten(view.analysis, view.plan)


def body_text(text: str, region: Region, edits: Sequence[Replacement] = ()) -> str:
    """Return the user's own text between the annotations in plain names.

    `edits` are further changes, with offsets in the whole file's `text`.
    """
    place = region.extent
    plain = [(s.start, s.end, s.name) for s in region.text.spellings]
    new = splice(text, [*edits, *plain])
    body = new[place.body_start : place.body_end + len(new) - len(text)]
    return "\n".join([body, *region.text.behind])


def declared(code: str, region: Region, as_written: str = "") -> str:
    """Return a block that replaces a region, with the plain names that it uses declared.

    Where a test of the region fails, its own text runs, `as_written`.
    """
    used = words(code)
    registers = [s for s in region.scalars.values() if s.is_register and _is_addressed(code, s)]
    for scalar in registers:
        code = _in_memory(code, scalar, region)
    if region.text.tests:
        used |= {*region.text.tests}
        code = _tested(code, region, as_written)
    wanted = wanted_aliases(region, used)
    if not wanted:
        return code
    out = Writer()
    with out.block(""):
        for alias in wanted:
            out.lines(alias.declaration)
        out.lines(code)
        for alias in wanted:
            if alias.behind:
                out.line(alias.behind)
    return out.text()


def _tested(code: str, region: Region, as_written: str) -> str:
    out = Writer()
    with out.block(f"if ({' && '.join(region.text.tests)})"):
        out.lines(code)
    with out.block("else"):
        out.line("/* As written: the nest above would not be that. */")
        out.lines(as_written)
    return out.text()


def wanted_aliases(region: Region, used: frozenset[str]) -> list[Alias]:
    """Return the plain names that a text uses, and those that their own declarations use."""
    found: list[Alias] = []
    for alias in reversed(region.text.aliases):
        if alias.name in used or used & words(alias.declaration) & {*region.text.tests}:
            found.insert(0, alias)
            used |= words(f"{alias.declaration} {alias.behind}")
    return found


# A directive for a device with the lines that it goes on over.
_DEVICE_DIRECTIVE = re.compile(r"#pragma (?:acc|omp target)(?:\\\n|.)*")


def _is_addressed(code: str, scalar: Scalar) -> bool:
    """Return whether a text needs a variable's address, in a call or in a data clause."""
    if scalar.is_local:
        return False
    return f"&{scalar.name}" in code or any(
        scalar.name in words(directive) for directive in _DEVICE_DIRECTIVE.findall(code)
    )


def _in_memory(code: str, scalar: Scalar, region: Region) -> str:
    """Return a block in which a register variable is one with an address.

    ``{ T p_kept = p; { T p = p_kept; CODE p_kept = p; } p = p_kept; }``
    """
    kept = fresh(f"{scalar.name}_kept", region.taken | words(code))
    name, type_ = scalar.name, spelled(scalar.type)
    out = Writer()
    with out.block(""):
        out.line(f"{type_} {kept} = {name};")
        with out.block(""):
            out.line(f"{type_} {name} = {kept};")
            out.lines(code)
            out.line(f"{kept} = {name};")
        out.line(f"{name} = {kept};")
    return out.text()


# Arrays that stay on the device between regions ---------------------------------------


def _as_written(source: SourceFile, region: Region, has_device: bool) -> str:
    """Return the nest of a region as its file has it, with what the host needs for its arrays."""
    edits = source.residency.edits if has_device else ()
    own = (edit for edit in edits if edit.region == region.extent.start)
    text = splice(source.text, list(_around_statements(own)))
    last = region.extent.body_end + len(text) - len(source.text)
    return text[region.extent.body_start : last].strip()


def _data_edits(source: SourceFile, runtime: SharedRuntime) -> Iterator[Replacement]:
    """Yield what becomes of a text in which arrays stay on the device, by functions of `runtime`.

    A program is linked of files that agree: a function that is named in ``calls`` has a symbol
    where its file looks after its arrays, by the same version of the same runtime.
    """
    residency = source.residency
    if not residency:
        return
    edits = residency.for_regions({region.extent.start for region in source.regions})
    needed: dict[int, dict[str, None]] = {}
    named: set[tuple[int, str]] = set()
    # The nest as written stands beside the kernels of these.
    tested = {region.extent.start for region in source.regions if region.text.tests}
    for edit in (*edits, *(edit for edit in residency.edits if edit.region in tested)):
        for _, arguments in (*edit.before, *edit.behind):
            named.update((edit.function_start, one) for one in arguments)
    for one in residency.given:
        if (one.function_start, one.name) in named:
            text = f"{one.joint}const void *const {one.name} = {one.parameter};"
            yield one.place, one.place, text
    for name, start in residency.present.items():
        symbol = runtime.symbol(f"present_{name}")
        text = f"extern const char {symbol};\nconst char {symbol} = 1;"
        needed.setdefault(start, {})[text] = None
    for name, start in residency.calls.items():
        symbol = runtime.symbol(f"present_{name}")
        used = f"static const char *const annotune_uses_{name} = &{symbol};"
        text = f"extern const char {symbol};\n__attribute__((used)) {used}"
        needed.setdefault(start, {})[text] = None
    starts = [edit.function_start for edit in edits]
    starts += [region.extent.function_start for region in source.regions]
    first = min([*starts, *needed])
    needed[first] = {runtime.include().rstrip("\n"): None, **needed.get(first, {})}
    for start, texts in needed.items():
        text = "\n".join(texts)
        seen = words(text) | (runtime.c_words if start == first else frozenset())
        clashes = sorted(seen & residency.macros)
        yield start, start, redefining(text, [Redefined(one, None) for one in clashes]) + "\n"
    yield from _around_statements(edits)


def _around_statements(edits: Iterable[DataEdit]) -> Iterator[Replacement]:
    """Yield what stands before statements and behind them, where several end at one place in order.

    What is around another statement begins before it, and ends behind it.
    """
    ordered = sorted(edits, key=lambda edit: (edit.start, -edit.end))
    for edit in reversed(ordered):
        behind, closed = _data_calls(edit.behind, edit), " }" if edit.is_alone else ""
        if (behind or closed) and not edit.title:
            yield edit.end, edit.end, (f"{_space_between(edit)}{behind}" if behind else "") + closed
    for edit in ordered:
        before, joint = _data_calls(edit.before, edit), _space_between(edit)
        is_end = any(name == DataCall.END for name, _ in edit.before)
        opened = "{ " if edit.is_alone and not is_end else ""
        if edit.title:
            text = joint.join([f"/* {in_comment(edit.title)} */", before])
            yield edit.start, edit.end, f"{opened}{text}{' }' if edit.is_alone and is_end else ''}"
        else:
            yield edit.start, edit.start, f"{opened}{before}{joint}"


def _space_between(edit: DataEdit) -> str:
    """Return what stands between a statement and the calls around it."""
    return " " if edit.is_alone or edit.is_inside_line else f"\n{edit.indent}"


def _data_calls(calls: Sequence[Called], edit: DataEdit) -> str:
    return _space_between(edit).join(
        f"annotune_data_{name}({', '.join(given)});" for name, given in calls
    )
