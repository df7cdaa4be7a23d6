"""The catalogue of diagnostics: complete, and every example gives what its page says."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import tomllib
from pathlib import Path
from string import Formatter
from types import ModuleType

import pytest
from support.catalogue import differences, example_of
from support.cli import annotune
from support.each import check_each
from support.modules import nodes

import annotune as package
from annotune.diagnostics import Template, page_of, pages, pages_folder

# Codes that no file and no command gives by itself; each page says why.
WITHOUT_EXAMPLE = {
    # It takes a package that adds a module to annotune; tests/test_plugins.py has one.
    "AT014",
    # It takes a mistake of annotune's own; tests/test_own_mistakes.py makes some.
    "AT169",
    # A page cannot hold an empty file or a NUL byte; tests/bad_inputs does.
    *("AT101", "AT102"),
    # A recipe is checked before; these guard the plans that annotune makes by itself.
    *("AT261", "AT272", "AT274", "AT275", "AT278"),
    *("AT287", "AT288", "AT290", "AT291", "AT292", "AT294", "AT296", "AT315"),
    # A note below AT253 and AT258, shown without a code.
    "AT267",
    # They take a compiler's refusal, a machine without one or an old one, and a user's file.
    *("AT501", "AT502", "AT603", "AT621", "AT685"),
    # They take a full disk, a damaged file, and somebody who does the same at the same moment.
    *("AT615", "AT616", "AT617", "AT662"),
    # They take whole runs, or the results of one by this very version.
    *("AT622", "AT667", "AT668", "AT672", "AT673", "AT674", "AT675", "AT684"),
    # They take the records of a program, damaged or of another text.
    *("AT691", "AT695", "AT696", "AT697", "AT698"),
    # An environment without the libraries of a search.
    "AT649",
    # The workers of a run: other processes, and other machines.
    *("AT618", "AT619", "AT620"),
    # What Python calls, which no command makes.
    *("AT681", "AT682", "AT683"),
}

PROJECT = Path(__file__).parent.parent
MODULES = [
    module.name
    for module in pkgutil.walk_packages(package.__path__, "annotune.")
    if not module.name.endswith("__main__")
]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_code_has_its_page_and_every_page_its_code() -> None:
    todo = differences()
    assert not todo, "\n" + "\n".join(todo)


def test_the_pages_without_an_example_are_known_and_say_why() -> None:
    bare = [page for page in pages() if example_of(page) is None]
    assert {page.code for page in bare} == WITHOUT_EXAMPLE
    for page in bare:
        assert re.search(r"\nThere is no example: \w[^\n]{15,}", page.text), page.code


def test_every_example_gives_the_code(tmp_path: Path) -> None:
    shown = [page.code for page in pages() if example_of(page) is not None]
    check_each(shown, the_example_gives_the_code, tmp_path)


def the_example_gives_the_code(code: str) -> None:
    page = page_of(code)
    assert page is not None
    example = example_of(page)
    assert example is not None
    for name, text in example.files.items():
        Path(name).write_text(text)
    done = annotune(*example.arguments)
    assert f"[{code}]" in done.err, f"\n{done.err}"
    assert "<nowhere>" not in done.err
    assert done.code == (1 if re.search(r"(^|: )error: ", done.err, re.MULTILINE) else 0)


def test_a_page_has_the_same_parts_as_the_others() -> None:
    for page in pages():
        headings = re.findall(r"^## .*$", page.text, re.MULTILINE)
        assert headings == ["## Example", "## How to fix it"], page.code
        assert page.meaning.endswith((".", ":")), page.code
        assert page.title[0].islower() or page.title.startswith(("C ", "Orio")), page.code
        assert all(len(line) <= 100 for line in _prose(page.text)), page.code
        assert page.text.endswith("\n"), page.code


def _prose(text: str) -> list[str]:
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE).split("\n")


def _calls_of_at(module: ModuleType) -> list[tuple[int, Template, set[str]]]:
    """Return every ``TEMPLATE.at(span, name=…)`` of a module: line, template and names given."""
    found: list[tuple[int, Template, set[str]]] = []
    for node in nodes(Path(str(module.__file__))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr != "at" or any(word.arg is None for word in node.keywords):
            continue
        value: object = module
        for name in ast.unparse(node.func.value).split("."):
            value = getattr(value, name, None)
        if isinstance(value, Template):
            given = {str(word.arg) for word in node.keywords}
            found.append((node.lineno, value, given))
    return found


def test_every_message_gets_the_values_that_it_names() -> None:
    seen = 0
    for name in MODULES:
        for line, template, given in _calls_of_at(importlib.import_module(name)):
            parts = Formatter().parse(template.message + template.help)
            wanted = {word for _, word, _, _ in parts if word}
            assert wanted <= given, f"{name}:{line}: {template.code} also needs {wanted - given}"
            seen += 1
    assert seen > 150


@pytest.mark.parametrize("word", ["AT110", "at110", "At110", " AT110 "])
def test_explain_prints_the_page(word: str) -> None:
    done = annotune("explain", word)
    assert (done.code, done.err) == (0, "")
    assert done.out == (pages_folder() / "AT110.md").read_text()


def test_explain_lists_all_codes() -> None:
    done = annotune("explain")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [f"{page.code}  {page.title}" for page in pages()]


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("AT1100", "did you mean 'AT727'? "),
        ("at999", "did you mean 'AT727'? "),
        ("permute", ""),
        ("../AT110", "did you mean 'AT110'? "),
    ],
)
def test_an_unknown_code(word: str, hint: str) -> None:
    done = annotune("explain", word)
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        f"error: there is no diagnostic '{word}' [AT607]\n"
        f"  help: {hint}`annotune explain` lists all codes\n"
    )


def test_the_wheel_holds_the_pages() -> None:
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folder = PROJECT / settings["package-dir"]["annotune._diagnostics"]
    assert folder == pages_folder()
    assert "annotune._diagnostics" in settings["packages"]
    assert settings["package-data"]["annotune._diagnostics"] == ["*.md"]
    assert {path.suffix for path in folder.iterdir()} == {".md"}
