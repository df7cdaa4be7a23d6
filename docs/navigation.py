"""What MkDocs is told of pages beyond those that mkdocs.yml lists; nothing of annotune needs it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
# What stands beside docs/ and is a page of the site, by the page's name.
BESIDE = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
}
# The first digit of the codes that are about one thing.
SUBJECTS = {
    "0": "Annotations and recipes",
    "1": "C files",
    "2": "Dependences and schedules",
    "3": "What a target cannot have",
    "4": "Data on the device",
    "5": "C compilers",
    "6": "Commands and files",
    "7": "Tensor files",
}
_FENCED = re.compile(r"^( *)```.*?^\1```", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_ROW = re.compile(r"^\|.*", re.MULTILINE)
_LINK = re.compile(r"(?<!\\)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<to>[^()\s]+)\)")


def diagnostics() -> list[dict[str, list[str]]]:
    """Return the pages of diagnostics, by what they are about, as a part of `nav`."""
    names = sorted(path.name for path in (CHECKOUT / "docs/diagnostics").glob("AT*.md"))
    return [
        {title: [f"diagnostics/{name}" for name in names if name[2] == digit]}
        for digit, title in SUBJECTS.items()
    ]


def replaced(text: str, new: Callable[[str, str], str]) -> str:
    """Return Markdown with ``new(text, to)`` for each link or picture that is no code."""
    code = [found.span() for found in _FENCED.finditer(text)]
    prose = [(m.start(), m.end()) for m in _CODE.finditer(text)]

    def one(found: re.Match[str]) -> str:
        at = found.start()
        if any(first <= at < last for first, last in (*code, *prose)):
            return found[0]
        return new(found["text"], found["to"])

    return _LINK.sub(one, text)


def on_config(config: Any) -> None:
    """Put the pages of diagnostics below their heading."""
    for part in config["nav"]:
        if isinstance(part, dict) and "Diagnostics" in part:
            part["Diagnostics"] = diagnostics()


def on_files(files: Any, config: Any) -> None:
    """Add the pages that stand beside docs/."""
    from mkdocs.structure.files import File

    for page, name in BESIDE.items():
        text = (CHECKOUT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead the links of a checkout to pages of the site; what is none of these is named."""
    own = page.file.src_uri
    stands = CHECKOUT / BESIDE.get(own, f"docs/{own}")
    pages = {CHECKOUT / name: page for page, name in BESIDE.items()}

    def link(text: str, to: str) -> str:
        path, hash_sign, anchor = to.partition("#")
        if not path or re.match(r"[a-z]+:", to):
            return f"[{text}]({to})"
        place = Path(os.path.normpath(stands.parent / path))
        if place.is_relative_to(CHECKOUT / "docs"):
            name = str(place.relative_to(CHECKOUT / "docs"))
        elif place in pages:
            name = pages[place]
        else:
            named = f"`{place.relative_to(CHECKOUT)}`"
            return (
                named if text in (named, str(place.relative_to(CHECKOUT))) else f"{text} ({named})"
            )
        return f"[{text}]({os.path.relpath(name, Path(own).parent)}{hash_sign}{anchor})"

    # GitHub wants a bar of a table's code escaped, MkDocs shows what escapes it.
    bare = _ROW.sub(
        lambda row: _CODE.sub(lambda code: code[0].replace("\\|", "|"), row[0]), markdown
    )
    return replaced(bare, link)
