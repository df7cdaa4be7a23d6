"""The calls by which the host's text has arrays stay on the device between regions.

All targets for devices that have such arrays give these functions the same names; what they do is
in ``resident.cuh`` and in ``resident.c``. A program is linked of files that agree on where arrays
are: a function that is named in ``calls`` has a symbol where its file looks after its arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from annotune.codegen.renaming import redefining
from annotune.codegen.writer import words
from annotune.frontend.read.tokens import Replacement
from annotune.ir.region import Redefined, SourceFile
from annotune.ir.residency import Called, DataCall, DataEdit, Residency
from annotune.printable import in_comment

_PROTOTYPES = {
    DataCall.BEGIN: "void annotune_data_begin(void);",
    DataCall.ENTER: "void annotune_data_enter(const void *array, unsigned long bytes);",
    DataCall.EXIT: "void annotune_data_exit(const void *array);",
    DataCall.END: "void annotune_data_end(void);",
    DataCall.ON_HOST: "void annotune_data_on_host(const void *array, int is_written);",
    DataCall.ASIDE: "void annotune_data_aside(int is_begun);",
    DataCall.FORGET: "void annotune_data_forget(const void *array);",
}


def calls_by_region(residency: Residency) -> Mapping[int, str]:
    """Return what must be called before the nests of regions run as they are written."""
    found: dict[int, str] = {}
    for edit in residency.edits:
        if edit.region is not None:
            before = found.get(edit.region, "")
            found[edit.region] = "\n".join(filter(None, [before, _text(edit.before, "\n")]))
    return found


def data_edits(source: SourceFile, runtime: str) -> Iterator[Replacement]:
    """Yield what becomes of a text in which arrays stay on the device.

    `runtime` are the functions where the text has them itself, else they are declared.
    """
    residency = source.residency
    if not residency:
        return
    edits = residency.for_regions({region.extent.start for region in source.regions})
    needed: dict[int, dict[str, None]] = {}
    for edit in edits:
        for call, _ in () if runtime else (*edit.before, *edit.behind):
            needed.setdefault(edit.function_start, {})[_PROTOTYPES[call]] = None
    for name, start in residency.present.items():
        symbol = f"annotune_present_{name}"
        text = f"extern const char {symbol};\nconst char {symbol} = 1;"
        needed.setdefault(start, {})[text] = None
    for name, start in residency.calls.items():
        symbol = f"annotune_present_{name}"
        used = f"static const char *const annotune_uses_{name} = &{symbol};"
        text = f"extern const char {symbol};\n__attribute__((used)) {used}"
        needed.setdefault(start, {})[text] = None
    if runtime:
        starts = [edit.function_start for edit in edits]
        starts += [region.extent.function_start for region in source.regions]
        first = min([*starts, *needed])
        needed[first] = {runtime.rstrip("\n"): None, **needed.get(first, {})}
    for start, texts in needed.items():
        text = "\n".join(texts)
        clashes = sorted(words(text) & residency.macros)
        yield start, start, redefining(text, [Redefined(one, None) for one in clashes]) + "\n"
    for edit in edits:
        yield from _replacements(edit)


def _replacements(edit: DataEdit) -> Iterator[Replacement]:
    joint = f"\n{edit.indent}"
    before, behind = _text(edit.before, joint), _text(edit.behind, joint)
    if edit.title:
        yield edit.start, edit.end, joint.join([f"/* {in_comment(edit.title)} */", before])
        return
    opened, closed = ("{ ", " }") if edit.is_alone else ("", "")
    yield edit.start, edit.start, f"{opened}{before}{joint}"
    if behind or closed:
        yield edit.end, edit.end, (f"{joint}{behind}" if behind else "") + closed


def _text(calls: Sequence[Called], joint: str) -> str:
    return joint.join(f"annotune_data_{name}({', '.join(given)});" for name, given in calls)
