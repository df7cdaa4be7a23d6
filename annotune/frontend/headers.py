"""Where included headers are looked for, and how many of them are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

# gcc stops at 200 nested headers; a header that includes itself twice needs the other two.
_MAXIMUM_DEPTH = 100
_MAXIMUM_HEADERS = 5_000
_MAXIMUM_BYTES = 64_000_000
_NO_DEFINES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Search:
    """What the user's compiler is told about the source.

    `include` are the folders of ``-I`` in order, `defines` the macros of ``-D``. `compiler` are
    the words that start the C compiler; without any it is not asked.
    """

    include: tuple[str, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    compiler: tuple[str, ...] = ()


class Headers:
    """The headers that one file reaches by its own folder and ``-I``, read when asked for."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self._texts: dict[Path, str | None] = {}
        self._bytes = 0
        self.count = 0
        # Headers with `#pragma once`.
        self.read_once: set[str] = set()

    def find(self, name: str, is_quoted: bool, includer: str, depth: int) -> tuple[str, str]:
        """Return the path and the text of a header; no path, and why, when it is not read."""
        if depth > _MAXIMUM_DEPTH or self.count >= _MAXIMUM_HEADERS:
            return "", "headers include each other without end"
        folders = [Path(includer).parent] if is_quoted else []
        for folder in [*folders, *map(Path, self.search.include)]:
            path = folder / name
            text = self._read(path)
            if text is not None:
                self.count += 1
                return str(path), text
        return "", "it is not beside the file nor in a folder of -I"

    def _read(self, path: Path) -> str | None:
        if path not in self._texts:
            text = None
            try:
                if path.is_file() and self._bytes + path.stat().st_size <= _MAXIMUM_BYTES:
                    text = path.read_bytes().decode("utf-8", "surrogateescape")
                    self._bytes += len(text)
            except (OSError, ValueError):
                text = None
            self._texts[path] = text if text is None or "\0" not in text else None
        return self._texts[path]
