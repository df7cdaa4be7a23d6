"""Imports point one way, in no circle; a class has one name, a diagnostic one owner."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from support.modules import MODULES, PACKAGE, nodes

# In the order in which a kernel crosses annotune. `annotation` comes before `ir` because a
# region carries its annotation's values; `tensor` makes C text of its own, and no later stage
# knows of it.
STAGES = (
    "annotation",
    "tensor",
    "ir",
    "frontend",
    "analysis",
    "transforms",
    "schedule",
    "model",
    "strategies",
    "space",
    "runtime",
    "codegen",
    "certify",
    "measure",
    "tuning",
    "report",
)
# Modules at the top of the package: what every stage may use, and what uses every stage.
SHARED = {
    "annotune",
    "annotune.diagnostics",
    "annotune.files",
    "annotune.plugins",
    "annotune.printable",
    "annotune.frozen",
}
# Packages of one command each, which use every stage.
COMMANDS = ("init",)
ABOVE = {
    "annotune.settings_check",
    "annotune.options",
    "annotune.pipeline",
    "annotune.api",
    "annotune.kernels",
    "annotune.compiled",
    "annotune.formulated",
    "annotune.rebuild",
    "annotune.verify",
    "annotune.config_file",
    "annotune.interfaces",
    "annotune.suites",
    "annotune.cli",
    "annotune.__main__",
}


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in found if name == "annotune" or name.startswith("annotune.")}


def _named(path: Path) -> set[str]:
    """Return the modules that texts name, or something in them: what is imported when needed."""
    texts = (n.value for n in nodes(path) if isinstance(n, ast.Constant))
    named = {text.partition(":")[0] for text in texts if isinstance(text, str)}
    return named & set(map(_name, MODULES))


def _stage(module: str) -> int | None:
    parts = module.split(".")
    return STAGES.index(parts[1]) if len(parts) > 1 and parts[1] in STAGES else None


def test_modules_import_only_earlier_stages() -> None:
    for path in MODULES:
        if _stage(_name(path)) is None and path.parent.name not in COMMANDS:
            assert _name(path) in SHARED | ABOVE, f"{_name(path)} belongs to no stage"
        elif path.parent.name not in COMMANDS:
            _check_imports(path)


def _check_imports(path: Path) -> None:
    own = _stage(_name(path))
    assert own is not None
    for imported in _imports(path) | _named(path):
        stage = _stage(imported)
        if stage is not None:
            assert stage <= own, f"{_name(path)} imports {imported}, a later stage"
        else:
            top = ".".join(imported.split(".")[:2])
            assert top in SHARED or imported.startswith("annotune.__"), (
                f"{_name(path)} imports {imported}, which stands above the stages"
            )


def test_what_verifies_a_certificate_uses_nothing_else_of_annotune() -> None:
    assert not _imports(PACKAGE / "certify" / "certificate.py")


def test_every_code_is_said_by_one_module() -> None:
    owners: dict[str, str] = {}
    for path in MODULES:
        for node in nodes(path):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Template":
                code = node.args[0]
                assert isinstance(code, ast.Constant)
                assert owners.setdefault(code.value, _name(path)) == _name(path)


def test_no_module_imports_one_that_imports_it() -> None:
    names = {_name(path) for path in MODULES}
    imports = {_name(path): _imports(path) & names - {_name(path)} for path in MODULES}
    done: set[str] = set()
    for start in sorted(names):
        _follow(start, imports, (), done)


def _follow(
    module: str, imports: dict[str, set[str]], around: tuple[str, ...], done: set[str]
) -> None:
    assert module not in around, f"a cycle: {' -> '.join((*around, module))}"
    if module not in done:
        for imported in sorted(imports[module]):
            _follow(imported, imports, (*around, module), done)
        done.add(module)


def test_a_class_name_means_one_thing() -> None:
    owners: dict[str, str] = {}
    for path in MODULES:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                own = f"{_name(path)}:{node.lineno}"
                assert owners.setdefault(node.name, own) == own, f"{node.name}: {own}"
