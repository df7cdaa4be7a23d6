"""Compiler flags of ``def build``: those that a compiler may get, by an allow-list.

An annotation comes with a file that a user may not have read. Its flags must not write
files, load plugins or run programs, so what is not known to be harmless is left out.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping

from annotune.annotation.messages import REFUSED_FLAG, UNUSED_PARAMETER
from annotune.annotation.spec import Parameter, Spec, Value
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.frozen import dataclass

# Flags of gcc and clang, and the ones that g++ and nvcc share with them.
_HOST = re.compile(
    r"-O[0-3s]?|-Ofast|-g[0-3]?|-w|-W[a-z][a-z0-9=-]*|-std=(?:c|gnu|c\+\+|gnu\+\+)[0-9a-z]{2}"
    r"|-march=[a-z0-9.+-]+|-mtune=[a-z0-9.+-]+|-m(?:avx|avx2|fma|sse[0-9.]*|avx512[a-z]*)"
    r"|-f(?:no-)?(?:fast-math|unroll-loops|tree-vectorize|openmp|strict-aliasing"
    r"|associative-math|math-errno|trapping-math|finite-math-only)|-fPIC|-fopenacc"
)
# Flags of nvcc alone.
_NVCC = re.compile(
    r"-use_fast_math|--use_fast_math|-lineinfo|-ftz=(?:true|false)|-fmad=(?:true|false)"
    r"|-prec-(?:div|sqrt)=(?:true|false)|-maxrregcount=[0-9]{1,3}|-Xptxas|-dlcm=c[agsv]"
)
_CACHE = r"-dlcm=c[agsv]"
# A macro with a plain value; a quote or a space could not come from a sane annotation.
_DEFINE = re.compile(r"-D[A-Za-z_]\w*(?:=[\w.+-]*)?", re.ASCII)
# Known ones that annotune decides itself, or that only say where headers and libraries are.
_SILENT = re.compile(
    r"-arch=sm_\d+|-l[\w+.-]+|-L\S*|-I\S*|-isystem\S*|-openmp|-fast|-c|-o", re.ASCII
)
# What changes no program, or what each target gives to its own compiler.
_IDLE = re.compile(r"-[wW].*|-g[0-3]?|-f(?:no-)?open(?:mp|acc)|-fPIC")
_PLACE = re.compile(r"@(\w+)")


@dataclass(frozen=True, slots=True)
class Flags:
    """The flags of a build command: for the C compiler, and for nvcc; `refused` are others."""

    host: tuple[str, ...] = ()
    nvcc: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def flags_at(spec: Spec, point: Mapping[str, Value]) -> Flags:
    """Return the flags of ``build_command`` where `point` gives ``@NAME`` its value."""
    text = str(spec.build.get("build_command", ""))
    return flags_of(_PLACE.sub(lambda match: str(point.get(match[1], "")), text))


def code_flags_at(spec: Spec, point: Mapping[str, Value]) -> Flags:
    """Return the flags of ``build_command`` at `point` that change what a compiler makes.

    Macros are not among them: a point must not change the C text under the region, see
    `macros`.
    """
    found = flags_at(spec, point)
    host = tuple(f for f in found.host if not _IDLE.fullmatch(f) and not _DEFINE.fullmatch(f))
    return Flags(host, found.nvcc)


def macros(spec: Spec, taken: Collection[str]) -> tuple[str, ...]:
    """Return the ``-D`` flags that ``build_command`` itself gives, but for `taken` names.

    The user's file may need them outside the region; the names of the region's own variables
    would be replaced in the generated text as well.
    """
    found = (flag for flag in flags_at(spec, {}).host if _DEFINE.fullmatch(flag))
    return tuple(flag for flag in found if flag[2:].partition("=")[0] not in taken)


def flags_of(command: str) -> Flags:
    """Return the flags of a compiler's command line, its first word left out.

    No shell ever sees the line; it is only cut into words.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return Flags(refused=(command,))
    host: list[str] = []
    nvcc: list[str] = []
    refused: list[str] = []
    rest = words if words and words[0].startswith("-") else words[1:]
    for number, word in enumerate(rest):
        pair = rest[number : number + 2] if word == "-Xptxas" else rest[max(0, number - 1) :][:2]
        if (word == "-Xptxas" or word.startswith("-dlcm=")) and not _is_cache(pair):
            # Without its other half the compiler would take the next flag for it.
            refused.append(word)
        elif _HOST.fullmatch(word) or _DEFINE.fullmatch(word):
            host.append(word)
        elif _NVCC.fullmatch(word):
            nvcc.append(word)
        elif not _SILENT.fullmatch(word):
            refused.append(word)
    return Flags(tuple(host), tuple(nvcc), tuple(refused))


def _is_cache(words: list[str]) -> bool:
    """Return whether two words are ``-Xptxas -dlcm=ca``, or another of its values."""
    return len(words) == 2 and words[0] == "-Xptxas" and bool(re.fullmatch(_CACHE, words[1]))


def placed_names(spec: Spec) -> frozenset[str]:
    """Return the parameters that ``build_command`` holds, such as CFLAGS for ``@CFLAGS``."""
    return frozenset(_PLACE.findall(str(spec.build.get("build_command", ""))))


def check_flags(spec: Spec, span: Span = NOWHERE) -> tuple[Diagnostic, ...]:
    """Return a warning for each flag of `spec` that no compiler will get.

    `span` is the place of ``build_command``.
    """
    found: list[Diagnostic] = []
    fixed = flags_at(spec, {})
    found += [REFUSED_FLAG.at(span, flag=flag) for flag in fixed.refused]
    for param in spec.performance_params:
        if param.name not in placed_names(spec):
            continue
        for value in param.values:
            refused = flags_of(f"cc {value}").refused
            found += [REFUSED_FLAG.at(param.span, flag=flag) for flag in refused]
    return tuple(found)


def unused_flags(spec: Spec) -> tuple[Parameter, ...]:
    """Return the parameters that are lists of flags, and that ``build_command`` leaves out."""
    return tuple(
        param
        for param in spec.performance_params
        if param.name not in placed_names(spec)
        and any(isinstance(value, str) and value.startswith("-") for value in param.values)
        and all(isinstance(value, str) and (not value or value[0] == "-") for value in param.values)
    )


def without_unused_flags(spec: Spec) -> tuple[tuple[Parameter, ...], tuple[Diagnostic, ...]]:
    """Return the performance parameters but for unused flags, with a warning for each."""
    unused = unused_flags(spec)
    why = "build_command has no '@{}' for it"
    warnings = tuple(
        UNUSED_PARAMETER.at(param.span, name=param.name, why=why.format(param.name))
        for param in unused
    )
    return tuple(p for p in spec.performance_params if p not in unused), warnings
