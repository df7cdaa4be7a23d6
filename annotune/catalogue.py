"""The catalogue of diagnostics: one page of ``docs/diagnostics/`` for each code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from annotune.diagnostics import Template

NO_SUCH_CODE = Template("AT607", "there is no diagnostic '{code}'", "{hint}")

_CODE = re.compile(r"AT[0-9]{3}")
_TITLE = re.compile(r"# (?P<code>AT[0-9]{3}): (?P<title>[^\n]+)\n+")


@dataclass(frozen=True, slots=True)
class Page:
    """What the catalogue says of one code; `text` is the whole page as Markdown."""

    code: str
    title: str
    text: str

    @property
    def meaning(self) -> str:
        """Return the page's first paragraph, on one line."""
        body = _TITLE.sub("", self.text, count=1)
        return " ".join(body.split("\n\n", 1)[0].split())


def pages_folder() -> Path:
    """Return the folder of the pages: the checkout's, else the one in the wheel."""
    package = Path(__file__).resolve().parent
    checkout = package.parent / "docs" / "diagnostics"
    return checkout if checkout.is_dir() else package / "_diagnostics"


@cache
def pages() -> tuple[Page, ...]:
    """Return every page, in the order of the codes."""
    paths = sorted(p for p in pages_folder().glob("AT*.md") if _CODE.fullmatch(p.stem))
    return tuple(_read(path) for path in paths)


def page_of(code: str) -> Page | None:
    """Return the page of a code, whatever its case; None when there is no such code."""
    return next((page for page in pages() if page.code == code.strip().upper()), None)


def nearest(code: str) -> str:
    """Return ``did you mean 'ATnnn'? `` with the page whose number is nearest, if any."""
    number = re.search(r"[0-9]{1,4}", code)
    if number is None or not pages():
        return ""
    wanted = int(number[0])
    found = min(pages(), key=lambda page: abs(int(page.code[2:]) - wanted))
    return f"did you mean '{found.code}'? "


def _read(path: Path) -> Page:
    text = path.read_text(encoding="utf-8")
    found = _TITLE.match(text)
    assert found is not None, f"{path.name} does not begin with '# {path.stem}: title'"
    assert found["code"] == path.stem, f"{path.name} is the page of {found['code']}"
    return Page(path.stem, found["title"], text)
