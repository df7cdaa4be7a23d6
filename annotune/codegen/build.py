"""How a file of ours becomes a program: the commands that compile it and link it with the rest.

They have the flags with which its text was measured: what takes 209 us with ``-O3 -march=native``
was seen to take 1959 us with ``-O2``.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise
from pathlib import Path

from annotune.frozen import dataclass
from annotune.runtime.texts import RUNTIMES

USUAL = "-O3"
"""The optimisation of what is measured, unless a variant has another one of its own."""

NATIVE = "-march=native"
# With the instructions of this very CPU, as OpenMP's files alone, the host joins products and sums
# as the device does.
OF_THE_HOSTS_SHARE = f"-Xcompiler=-fopenmp,{NATIVE}"
# Highest that gcc 12 knows; a newer GPU's driver compiles it for that.
GCC_OFFLOAD = ("-foffload=nvptx-none", "-foffload-options=nvptx-none=-misa=sm_80")
REST = "main.c"
"""Stands for the files of the user's program that are none of ours."""


@dataclass(frozen=True, slots=True)
class CompilerUse:
    """One compiler that takes a target's files, by its role, and the flags that these need.

    `role` is ``c``, ``nvcc`` or ``nvc``. ``{arch}`` in a flag is the GPU's architecture, and
    ``{cc}`` its number. `is_native` asks for the instructions of this very CPU.
    """

    role: str
    flags: tuple[str, ...] = ()
    is_native: bool = False


@dataclass(frozen=True, slots=True)
class Compilers:
    """The words that start the user's compilers, by role, and the GPU's architecture."""

    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    arch: str = "sm_90"

    def start(self, way: CompilerUse) -> tuple[str, ...]:
        """Return the first words of a command."""
        name = {"c": "gcc"}.get(way.role, way.role)
        return self.words.get(way.role) or (name,)


@dataclass(frozen=True, slots=True)
class Project:
    """The folder `root` of a user's project, with the current folder `here` and the files' `home`.

    All are absolute and without symbolic links. What lies in the project is named as it is seen
    from another folder of it, so that the project can be moved; all else by its absolute name.
    """

    root: Path
    here: Path
    home: Path

    @classmethod
    def of(cls, folders: Iterable[Path], home: Path) -> Project:
        """Return the project with emitted files in `home`, and the user's own `folders`.

        It is around the current folder, and around those that are given by their place beside it.
        """
        here = Path.cwd()
        # The absolute name of ../headers is /here/../headers.
        near = [one.resolve() for one in folders if one.absolute().is_relative_to(here)]
        root = Path(os.path.commonpath((here.resolve(), *near)))
        return cls(root, here.resolve(), home.resolve())

    def seen_from_home(self, folder: str) -> str:
        """Return the name of an absolute `folder` for a command that is run in `home`."""
        return self._seen(folder, self.home)

    def seen_from_here(self, folder: str) -> str:
        """Return the name of an absolute `folder` for a command that is run in `here`."""
        return self._seen(folder, self.here)

    def _seen(self, folder: str, place: Path) -> str:
        own = Path(folder).resolve()
        is_inside = own.is_relative_to(self.root) and self.home.is_relative_to(self.root)
        return os.path.relpath(own, place) if is_inside else folder


@dataclass(frozen=True, slots=True)
class Told:
    """What the compilers are told of one file's text: by the user, and by its variants.

    `user` are ``-D``, `include` the folders of ``-I``, `quoted` that in which headers in quotes are
    looked for, empty where there are none. `host` and `nvcc` are what the text was measured with
    beside `USUAL`.
    """

    user: tuple[str, ...] = ()
    quoted: str = ""
    host: tuple[str, ...] = ()
    nvcc: tuple[str, ...] = ()
    include: tuple[str, ...] = ()

    def seen(self, name: Callable[[str], str]) -> Told:
        """Return the same with other names for the folders."""
        quoted = name(self.quoted) if self.quoted else ""
        return replace(self, quoted=quoted, include=tuple(map(name, self.include)))


@dataclass(frozen=True, slots=True)
class BuildCommand:
    """A command that makes a program of our `files` and the rest of the user's.

    It begins with `start` where it is run in the folder of the files, and with `from_here` where
    annotune has been run.
    """

    start: tuple[str, ...]
    files: tuple[str, ...]
    is_whole: bool = False
    from_here: tuple[str, ...] = ()

    def text(self, folder: str = "") -> str:
        """Return the command for a shell in the files' own folder, or outside of that `folder`."""
        place = f"{folder.rstrip('/')}/" if folder else ""
        rest = () if self.is_whole else (REST,)
        start = self.from_here if folder and self.from_here else self.start
        return shlex.join([*start, *rest, *(place + name for name in self.files), "-lm"])


def commands(
    ways: Sequence[CompilerUse],
    files: Sequence[str],
    compilers: Compilers,
    told: Told,
    source: str,
    project: Project | None = None,
) -> tuple[BuildCommand, ...]:
    """Return the commands for a target's files, each with another compiler.

    `source` is the text of the user's file, which may be a program of itself.
    """
    home = here = told
    if project is not None:
        home, here = told.seen(project.seen_from_home), told.seen(project.seen_from_here)
    return tuple(
        BuildCommand(
            _start(way, compilers, home),
            tuple(files),
            has_main(source),
            _start(way, compilers, here),
        )
        for way in ways
    )


def with_runtime(command: str, names: Sequence[str]) -> str:
    """Return the text of a command that links the runtimes `names`, and no others."""
    sources = {one.source for one in RUNTIMES}
    words = [word for word in shlex.split(command) if word not in sources]
    return shlex.join([*words[:-1], *names, *words[-1:]])


def _start(way: CompilerUse, compilers: Compilers, told: Told) -> tuple[str, ...]:
    arch = compilers.arch
    own = tuple(flag.format(arch=arch, cc=arch.replace("sm_", "cc")) for flag in way.flags)
    # What gcc knows beside -O need not be known to the others.
    is_gcc = way.role == "c"
    host = told.host if is_gcc else tuple(flag for flag in told.host if flag.startswith("-O"))
    native = way.is_native and not any(flag.startswith("-march=") for flag in host)
    quoted = ("-iquote" if is_gcc else "-I", told.quoted) if told.quoted else ()
    return (
        *compilers.start(way),
        *optimised(host),
        *((NATIVE,) if native else ()),
        *(told.nvcc if way.role == "nvcc" else ()),
        *own,
        *(f"-I{folder}" for folder in told.include),
        *told.user,
        *quoted,
    )


def optimised(host: tuple[str, ...]) -> tuple[str, ...]:
    """Return a variant's flags for the C compiler, with `USUAL` where they say nothing else."""
    return host if any(flag.startswith("-O") for flag in host) else (USUAL, *host)


def has_main(source: str) -> bool:
    """Return whether a C text defines a whole program's ``main``."""
    return re.search(r"^[ \t]*(?:int|void)\s+main\s*\(", source, re.MULTILINE) is not None


def headline(found: Iterable[str]) -> str:
    """Return what is said before commands."""
    if not any(map(_has_rest, found)):
        return "Compile and link:"
    return f"Compile and link, {REST} being the rest of the program:"


def header_lines(found: Sequence[str]) -> tuple[str, ...]:
    """Return the lines on commands in a file's header; each is another way to do the same."""
    if not found:
        return ()
    place = " in the folder of this file" if any(map(_has_place, found)) else ""
    starts = (f"Build{place}:", *("Or:" for _ in found[1:]))
    return tuple(
        line
        for start, command in zip(starts, found, strict=True)
        for line in _in_lines([start, *map(shlex.quote, shlex.split(command))])
    )


HEADER_COLUMNS = 97
"""So long are the lines of a comment of 100 columns."""


def _in_lines(words: Sequence[str]) -> list[str]:
    """Return a command over several lines where it is too long, as a shell takes it."""
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) < HEADER_COLUMNS - 2:
            lines[-1] += f" {word}"
        else:
            lines.append(f"  {word}")
    return [*(f"{line} \\" for line in lines[:-1]), *lines[-1:]]


def _has_rest(command: str) -> bool:
    """Return whether a command names a file for the rest of the user's program."""
    return REST in shlex.split(command)


def _has_place(command: str) -> bool:
    """Return whether a command names folders as they are seen from the one that it is run in."""
    words = shlex.split(command)
    after = (word for flag, word in pairwise(words) if flag in ("-I", "-iquote"))
    joined = (word[2:] for word in words if word.startswith("-I") and word != "-I")
    return any(not folder.startswith("/") for folder in (*after, *joined))
