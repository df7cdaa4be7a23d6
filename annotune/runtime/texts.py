"""The runtime that emitted files share: its texts, and what a file needs of it.

Memory that stays for later calls, copies through pinned memory and arrays that stay on the device
are the same for every region. So they are no part of an emitted file: it includes a header, and a
program is linked with one object of the runtime. Each symbol of a runtime carries its version, the
hash of its texts: files of two releases in one program each use their own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path

from annotune.frozen import dataclass

RUNTIME_TEXTS = Path(__file__).parent
"""The folder of the runtimes' texts, from which a build may take them."""

# What a file of CUDA's defines before it includes the header, by what its kernels call.
_FEATURES = {
    "ANNOTUNE_PIPELINE": ("__pipeline_", "annotune_copy_or_zero"),
    "ANNOTUNE_BULK_COPIES": ("annotune_bulk_",),
}
# Templates of the header, with the function of the source that they call.
_CALLING = {
    "annotune_call": "annotune_run_in_parts",
    "annotune_call_of_both": "annotune_run_on_both",
}
_DEFINED = re.compile(
    r"^[^\n#]*\bANNOTUNE_SHARED [^;={]*?\b(annotune_\w+)(?:<\w+>)?\(", re.MULTILINE
)
# What of a header C does not read begins here.
_CPP = "/* What follows is C++. */\n"
# A part of a text begins so, and the last one ends so.
_PART = re.compile(r"^/\* Part (\w+)(?:, which needs (\w+))?\. \*/\n", re.MULTILINE)
_END = "/* End of the parts. */\n"
_NAME = re.compile(r"\bannotune_\w+")
_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class SharedRuntime:
    """A runtime: a `header` that files include, a `source` that is compiled once, their version.

    The version stands in the header as `macro`; `prefix` begins the names of symbols.
    """

    header: str
    source: str
    macro: str
    prefix: str

    @property
    def texts(self) -> dict[str, str]:
        """Return both texts by the names of their files."""
        return {name: _runtime_text(name) for name in (self.header, self.source)}

    @cached_property
    def version(self) -> str:
        """Return the version that the header has."""
        found = self._definition().search(_runtime_text(self.header))
        assert found is not None, self.header
        return found[2]

    def hashed_version(self) -> str:
        """Return what the version is, by the texts: the header must have it."""
        texts = self.texts
        texts[self.header] = self._definition().sub(r"\1", texts[self.header])
        return hashlib.sha256("".join(texts.values()).encode()).hexdigest()[:8]

    def _definition(self) -> re.Pattern[str]:
        return re.compile(rf"^(#define {self.macro} )(\w+)$", re.MULTILINE)

    def include(self) -> str:
        """Return the lines by which a file includes the header of its version."""
        return f'#include "{self.header}"\n{self._check()}'

    def _check(self) -> str:
        check = self.macro.replace("ANNOTUNE_", "ANNOTUNE_NEEDS_")
        return f"{check}({self.version});\n"

    def is_included(self, text: str) -> bool:
        """Return whether a text includes the header."""
        return self.include() in text

    def is_called(self, text: str) -> bool:
        """Return whether a text calls what the source defines."""
        return bool(self.defined & self.called(text))

    def called(self, text: str) -> set[str]:
        """Return the names in a text, and what templates of the header call for it."""
        found = {*_WORD.findall(text)}
        return found | {one for name, one in _CALLING.items() if name in found}

    @cached_property
    def defined(self) -> frozenset[str]:
        """Return the functions that the source defines."""
        return frozenset(_DEFINED.findall(_runtime_text(self.source)))

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the names that the header declares."""
        return frozenset(_NAME.findall(_runtime_text(self.header)))

    @cached_property
    def c_words(self) -> frozenset[str]:
        """Return the identifiers in what C reads of the header."""
        return frozenset(_WORD.findall(self._for_c()))

    def symbol(self, name: str) -> str:
        """Return a symbol of this version."""
        return f"{self.prefix}_{self.version}_{name}"

    def inlined(self, text: str, name: str, called: Collection[str]) -> str:
        """Return a text that includes the header as one that does not.

        A file of the source's language gets what the files of a program have `called`.
        """
        if not name.endswith(Path(self.source).suffix):
            return text.replace(self.include(), self._for_c(), 1)
        parts = [_with_parts(_runtime_text(self.header), called, _NAME)]
        if self.defined & {*called}:
            source = _runtime_text(self.source).replace(f'#include "{self.header}"\n', "", 1)
            parts.append(_with_parts(source, called, _DEFINED))
        return text.replace(self.include(), "\n".join(parts), 1)

    def _for_c(self) -> str:
        """Return what C reads of the header."""
        return f"{_runtime_text(self.header).partition(_CPP)[0]}#endif\n"


def _with_parts(text: str, called: Collection[str], names: re.Pattern[str]) -> str:
    """Return a text with those of its parts of which names are `called`, and what these need."""
    first, *cut = _PART.split(text.partition(_END)[0])
    bodies = dict(zip(cut[::3], cut[2::3], strict=True))
    needs = dict(zip(cut[::3], cut[1::3], strict=True))
    common = {*names.findall(first)}
    wanted = {
        part for part, body in bodies.items() if ({*names.findall(body)} - common) & {*called}
    }
    while more := {needs[part] for part in wanted if needs[part]} - wanted:
        wanted |= more
    kept = [body for part, body in bodies.items() if part in wanted]
    return "".join([first, *kept, text.partition(_END)[2]])


@cache
def _runtime_text(name: str) -> str:
    return (RUNTIME_TEXTS / name).read_text(encoding="utf-8")


CUDA_RUNTIME = SharedRuntime(
    "annotune_runtime.h", "annotune_runtime.cu", "ANNOTUNE_RUNTIME", "annotune"
)
ACC_RUNTIME = SharedRuntime(
    "annotune_runtime_acc.h", "annotune_runtime_acc.c", "ANNOTUNE_RUNTIME_ACC", "annotune_acc"
)
RUNTIMES = (CUDA_RUNTIME, ACC_RUNTIME)


def runtime_texts(texts: Iterable[str]) -> dict[str, str]:
    """Return the files, name to text, that files with these texts need in their folder."""
    found: dict[str, str] = {}
    for text in texts:
        for one in RUNTIMES:
            if one.is_included(text):
                found[one.header] = one.texts[one.header]
            if one.is_included(text) and one.is_called(text):
                found[one.source] = one.texts[one.source]
    return found


def linked_sources(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the runtimes' sources that files with these texts are linked with."""
    sources = {one.source for one in RUNTIMES}
    return tuple(name for name in runtime_texts(texts) if name in sources)


def standalone_files(files: Mapping[str, str]) -> dict[str, str]:
    """Return files, name or suffix to text, with the runtime in them: they need no other file."""
    found = dict(files)
    for one in RUNTIMES:
        texts = {name: text for name, text in files.items() if one.is_included(text)}
        called = set[str]().union(*map(one.called, texts.values()))
        found |= {name: one.inlined(text, name, called) for name, text in texts.items()}
    return found


def standalone_text(device: str) -> str:
    """Return a text of CUDA's with the runtime in it."""
    return standalone_files({".cu": device})[".cu"]


def cuda_head(device: str, also: Collection[str] = ()) -> str:
    """Return what stands before the kernels and functions of `device`.

    `also` are further names that the program calls.
    """
    called = {*_WORD.findall(device), *also}
    features = [
        f"#define {feature}\n"
        for feature, starts in _FEATURES.items()
        if any(name.startswith(starts) for name in called)
    ]
    if features or CUDA_RUNTIME.names & called:
        return "".join(features) + CUDA_RUNTIME.include()
    return "#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n"
