"""Specifications in files of their own: ``spec NAME { def … }``."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from lark import Token, Tree

from annotune.annotation.grammar import parse_tree
from annotune.annotation.messages import (
    NO_SPEC_FILE,
    NO_SUCH_SPEC,
    SEVERAL_SPECS,
    did_you_mean,
)
from annotune.annotation.origin import Origin
from annotune.annotation.statements import Statement, Statements, statements_of
from annotune.diagnostics import AnnotuneError, Diagnostic, Span

# A specification is a page of text; a larger file is something else.
MAX_BYTES = 1_000_000


def imported(statement: Statement, folder: Path) -> tuple[Statements, ...]:
    """Return the parts of the specification that ``import spec NAME;`` names.

    It stands in ``NAME.spec`` in `folder`, or in any other ``.spec`` file there; Orio's own
    ptune.c imports a spec from a file of another name.

    Raises:
        AnnotuneError: There is none, or its file does not follow the grammar.
    """
    name = statement.name
    own = folder / f"{name}.spec"
    if own.is_file():
        return _SpecFile.read(own, name, statement.span).named(name, statement.span)
    for path in sorted(folder.glob("*.spec")):
        with suppress(AnnotuneError):  # a file of others, which nobody asked for
            file = _SpecFile.read(path, name, statement.span)
            if name in file.specs:
                return file.named(name, statement.span)
    why = "there is no such file"
    raise AnnotuneError.of(NO_SPEC_FILE.at(statement.span, path=own, why=why, name=name))


def specification(path: Path, span: Span) -> tuple[Statements, ...]:
    """Return the parts of the only specification of a file, for a region at `span`.

    Raises:
        AnnotuneError: The file cannot be read or parsed, or holds none or several.
    """
    file = _SpecFile.read(path, path.stem, Span(str(path), 1, 1))
    if len(file.specs) == 1:
        return file.named(next(iter(file.specs)), span)
    if path.stem in file.specs:
        return file.named(path.stem, span)
    if not file.specs:
        raise AnnotuneError.of(NO_SUCH_SPEC.at(span, name=path.stem, file=path, hint=""))
    names = ", ".join(file.specs)
    first = next(iter(file.specs))
    raise AnnotuneError.of(SEVERAL_SPECS.at(span, file=path, names=names, name=first))


class _SpecFile:
    """A file of specifications: its shared ``let`` statements, and each spec's tree."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.text = text
        self.origin = Origin.at(str(path), text)
        tree = parse_tree(text, "spec_file", self.origin)
        self.specs: dict[str, Tree[Token]] = {}
        lets: list[Tree[Token] | Token] = []
        for child in tree.children:
            assert isinstance(child, Tree)
            if child.data == "let":
                lets.append(child)
            else:
                self.specs.setdefault(str(child.children[0]), child)
        self.shared = statements_of(Tree("perf_tuning", lets), text, self.origin)

    @classmethod
    def read(cls, path: Path, name: str, span: Span) -> _SpecFile:
        """Return the file at `path`, or raise at `span` why it cannot be read."""
        try:
            if path.stat().st_size > MAX_BYTES:
                raise AnnotuneError.of(_unread(path, name, span, "it is too large"))
            with path.open(encoding="utf-8", newline="") as stream:
                text = stream.read()
        except OSError as error:
            raise AnnotuneError.of(_unread(path, name, span, error.strerror or "")) from None
        except UnicodeDecodeError:
            raise AnnotuneError.of(_unread(path, name, span, "it is not UTF-8")) from None
        return cls(path, text)

    def named(self, name: str, span: Span) -> tuple[Statements, ...]:
        if name not in self.specs:
            hint = did_you_mean(name, self.specs)
            raise AnnotuneError.of(NO_SUCH_SPEC.at(span, name=name, file=self.path, hint=hint))
        return (self.shared, statements_of(self.specs[name], self.text, self.origin))


def _unread(path: Path, name: str, span: Span, why: str) -> Diagnostic:
    return NO_SPEC_FILE.at(span, path=path, why=why, name=name)
