"""YAML files as nodes that know their places; nothing in a file is ever constructed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

import yaml

from annotune.annotation.grammar import Origin, place
from annotune.annotation.messages import (
    BAD_YAML,
    MISSING_KEY,
    UNKNOWN_KEY,
    UNREADABLE,
    WRONG_YAML,
    declared_twice,
    did_you_mean,
)
from annotune.annotation.spec import Value
from annotune.diagnostics import AnnotuneError, Span, Template
from annotune.frozen import dataclass

_YAML_TAG = "tag:yaml.org,2002:"
# What YAML itself calls a plain value; all other tags are names of a program's own types.
_PLAIN_TAGS = frozenset(
    ["map", "seq", "str", "int", "float", "bool", "null", "timestamp", "merge", "value"]
)
# Deeper lists and longer ones have no meaning here, and could come from a chain of aliases.
_MAX_DEPTH = 8
_MAX_NODES = 100_000


@dataclass(frozen=True, slots=True)
class YamlFile:
    """A YAML file's name, its text and the node of its only document."""

    file: str
    text: str
    root: yaml.Node

    def span(self, node: yaml.Node) -> Span:
        """Return the place of `node`."""
        return place(self.file, self.text, node.start_mark.index, node.end_mark.index)

    def refuse(self, node: yaml.Node, template: Template, **values: object) -> NoReturn:
        """Raise the error for `node`."""
        raise AnnotuneError.of(template.at(self.span(node), **values))

    def wrong(self, node: yaml.Node, what: str, wanted: str, hint: str = "") -> NoReturn:
        """Raise the error that `what` at `node` must be `wanted`."""
        self.refuse(node, WRONG_YAML, what=what, wanted=wanted, hint=hint)

    def mapping(
        self, node: yaml.Node, what: str, known: Iterable[str] = ()
    ) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        """Return the entries of a mapping, key and value nodes by key.

        Raises:
            AnnotuneError: It is no mapping, a key stands twice or is not in `known`.
        """
        if not isinstance(node, yaml.MappingNode):
            self.wrong(node, what, "a mapping, `key: value`")
        self._refuse_tag(node, what)
        entries: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        names = tuple(known)
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.wrong(key, "a key", "a word")
            name = str(key.value)
            if names and name not in names:
                self.refuse(key, UNKNOWN_KEY, key=name, hint=did_you_mean(name, names))
            if name in entries:
                first = self.span(entries[name][0])
                raise AnnotuneError.of(declared_twice(name, self.span(key), first))
            entries[name] = (key, value)
        return entries

    def required(
        self, entries: dict[str, tuple[yaml.Node, yaml.Node]], key: str, owner: yaml.Node
    ) -> yaml.Node:
        """Return the value of `key`, which must be there."""
        if key not in entries:
            self.refuse(owner, MISSING_KEY, key=key)
        return entries[key][1]

    def sequence(self, node: yaml.Node, what: str) -> list[yaml.Node]:
        """Return the items of a list."""
        if not isinstance(node, yaml.SequenceNode):
            self.wrong(node, what, "a list")
        self._refuse_tag(node, what)
        return list(node.value)

    def word(self, node: yaml.Node, what: str) -> str:
        """Return a scalar as text, whatever YAML would make of it."""
        if not isinstance(node, yaml.ScalarNode) or not str(node.value).strip():
            self.wrong(node, what, "a word")
        self._refuse_tag(node, what)
        return str(node.value)

    def _refuse_tag(self, node: yaml.Node, what: str) -> None:
        """Raise where a tag such as ``!!python/object`` asks for more than a plain value."""
        if node.tag.removeprefix(_YAML_TAG) not in _PLAIN_TAGS:
            self.wrong(node, what, "a plain value, without a tag", "remove the `!…`")

    def value(self, node: yaml.Node, what: str) -> Value:
        """Return a scalar or a list of scalars as a Value."""
        return self._value(node, what, 0, [0])

    def _value(self, node: yaml.Node, what: str, depth: int, seen: list[int]) -> Value:
        seen[0] += 1
        if depth > _MAX_DEPTH or seen[0] > _MAX_NODES:
            self.wrong(node, what, "smaller")
        self._refuse_tag(node, what)
        if isinstance(node, yaml.SequenceNode):
            return tuple(self._value(item, what, depth + 1, seen) for item in node.value)
        if not isinstance(node, yaml.ScalarNode):
            self.wrong(node, what, "a number, a word or a list")
        return self._scalar(node, what)

    def _scalar(self, node: yaml.ScalarNode, what: str) -> Value:
        text = str(node.value)
        match node.tag.removeprefix(_YAML_TAG):
            case "int":
                # YAML 1.1 reads 010 as octal and 1:30 as a sum of sixties; nobody means that.
                if not re.fullmatch(r"[-+]?(0|[1-9][0-9]{0,17})", text):
                    self.wrong(node, what, "a decimal number", "quote it if it is a word")
                return int(text)
            case "float":
                if not re.fullmatch(r"[-+]?[0-9.]+([eE][-+]?[0-9]{1,2})?", text):
                    self.wrong(node, what, "a decimal number", "quote it if it is a word")
                return float(text)
            case "bool" if text.lower() in ("true", "false"):
                return text.lower() == "true"
            case "str" | "bool" | "timestamp":
                return text
        wanted = "a number, a word or a list"
        raise AnnotuneError.of(WRONG_YAML.at(self.span(node), what=what, wanted=wanted, hint=""))

    def origin(self, node: yaml.ScalarNode) -> Origin:
        """Return the origin of a scalar's text, exact where YAML does not change the text."""
        start, end = node.start_mark.index, node.end_mark.index
        raw = self.text[start:end]
        if node.style == "|":
            pieces = _block_pieces(raw, str(node.value), start)
            if pieces:
                return Origin(self.file, self.text, pieces)
        first = start + (1 if node.style in ("'", '"') else 0)
        if self.text.startswith(str(node.value), first):
            return Origin.at(self.file, self.text, first)
        return Origin(self.file, self.text, whole=self.span(node))


def _block_pieces(raw: str, value: str, start: int) -> tuple[tuple[int, int], ...]:
    """Return where each line of a ``|`` block's value stands, or () when that is unclear."""
    pieces: list[tuple[int, int]] = []
    at = raw.find("\n") + 1
    offset = 0
    for line in value.split("\n"):
        raw_end = raw.find("\n", at)
        raw_line = raw[at : raw_end if raw_end >= 0 else len(raw)].rstrip("\r")
        if not raw_line.endswith(line):
            return ()
        pieces.append((offset, start + at + len(raw_line) - len(line)))
        offset += len(line) + 1
        if raw_end < 0:
            break
        at = raw_end + 1
    return tuple(pieces)


def read_yaml(path: Path, *, is_sound: bool = False) -> YamlFile:
    """Return the file at `path` as nodes; sooner one that `is_sound`, as our own are.

    Raises:
        AnnotuneError: It cannot be read, is not valid YAML, or is empty.
    """
    file = str(path)
    start = Span(file, 1, 1)
    try:
        # newline="": offsets must stay those of the file.
        with path.open(encoding="utf-8", newline="") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise AnnotuneError.of(UNREADABLE.at(start, path=file, why=why)) from None
    try:
        # A loader in C, where there is one, words mistakes in another way.
        sooner = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        root = yaml.compose(text, Loader=sooner if is_sound else yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        span = Span(file, mark.line + 1, mark.column + 1) if mark else start
        why = str(error.problem or error.context)
        raise AnnotuneError.of(BAD_YAML.at(span, why=why)) from None
    except yaml.reader.ReaderError as error:
        at = int(error.position)
        why = f"character {chr(int(error.character))!r}"
        raise AnnotuneError.of(BAD_YAML.at(place(file, text, at, at + 1), why=why)) from None
    except (yaml.YAMLError, RecursionError, ValueError):
        raise AnnotuneError.of(BAD_YAML.at(start, why="it is nested too deeply")) from None
    if root is None:
        raise AnnotuneError.of(BAD_YAML.at(start, why="the file is empty"))
    return YamlFile(file, text, root)
