"""The documentation as a site: all of it in the navigation, and no link that leads nowhere."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text())


def _navigation() -> ModuleType:
    spec = importlib.util.spec_from_file_location("navigation", DOCS / "navigation.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


NAVIGATION = _navigation()
PAGES = (*(ROOT / name for name in NAVIGATION.BESIDE.values()), *sorted(DOCS.rglob("*.md")))


def pages_in(nav: Any) -> Iterator[str]:
    """Yield the pages of a part of `nav`."""
    match nav:
        case str():
            yield nav
        case dict():
            for part in nav.values():
                yield from pages_in(part)
        case _:
            for part in nav:
                yield from pages_in(part)


@cache
def anchors(page: Path) -> Counter[str]:
    """Return how often each anchor is there that GitHub and MkDocs name alike."""
    text = re.sub(r"^( *)```.*?^\1```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    found = Counter(re.findall(r'<a id="([^"]+)"', text))
    for heading in re.findall(r"^#+ (.*?)\s*$", text, re.MULTILINE):
        plain = re.sub(r"\]\([^)]*\)|[^\w\s-]", "", heading).lower()
        # MkDocs makes one hyphen of several, GitHub does not.
        found[re.sub(r"\s", "-", plain)] += "--" not in re.sub(r"\s", "-", plain)
    return found


def links(page: Path) -> list[str]:
    """Return where the links and pictures of a page lead."""
    found: list[str] = []
    NAVIGATION.replaced(page.read_text(), lambda _, to: found.append(to) or "")
    return found


def wrong(page: Path, link: str) -> str:
    """Return what is wrong with a link, and nothing if it leads somewhere."""
    path, _, anchor = link.partition("#")
    place = (page.parent / path).resolve() if path else page
    if not place.is_file():
        return f"there is no file {path}"
    if anchor and anchors(place)[anchor] != 1:
        return f"{place.name} has #{anchor} {anchors(place)[anchor]} times"
    return ""


def test_every_page_is_in_the_navigation_once() -> None:
    config = {"nav": SITE["nav"]}
    NAVIGATION.on_config(config)
    listed = Counter(pages_in(config["nav"]))
    there = {*NAVIGATION.BESIDE, *(str(p.relative_to(DOCS)) for p in DOCS.rglob("*.md"))}
    assert there == set(listed)
    assert {page for page, count in listed.items() if count > 1} == set()


def test_users_pages_stand_apart_from_developers() -> None:
    (developers,) = (part["For developers"] for part in SITE["nav"] if "For developers" in part)
    assert {"architecture", "execution", "fuzzing", "benchmarks", "hardware"} < {
        Path(page).stem for page in developers
    }
    assert "strategies/write-a-strategy.md" in developers


def test_every_link_leads_somewhere() -> None:
    found = [(page, link) for page in PAGES for link in links(page)]
    assert len(found) > 300
    bad = [
        f"{page.relative_to(ROOT)}: {link}: {reason}"
        for page, link in found
        if not re.match(r"[a-z]+:", link) and (reason := wrong(page, link))
    ]
    assert bad == []


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ("model.md", ""),
        ("#the-steps", ""),
        ("model.md#what-it-counts", ""),
        ("models.md", "there is no file models.md"),
        ("strategies/", "there is no file strategies/"),
        ("model.md#what-it-count", "model.md has #what-it-count 0 times"),
        ("results.md#report---t4", "results.md has #report---t4 0 times"),
    ],
)
def test_a_link_that_leads_nowhere_is_found(link: str, reason: str) -> None:
    assert wrong(DOCS / "algorithm.md", link) == reason


@pytest.mark.parametrize(
    ("page", "text", "shown"),
    [
        ("index.md", "[tuning](docs/tuning.md#ctrl-c)", "[tuning](tuning.md#ctrl-c)"),
        ("index.md", "![page](docs/page.png)", "![page](page.png)"),
        ("strategies/direct.md", "[it](../model.md)", "[it](../model.md)"),
        ("clusters.md", "[PBS](../annotations/x.py)", "PBS (`annotations/x.py`)"),
        ("data.md", "[Changes](../CHANGELOG.md)", "[Changes](changelog.md)"),
        ("data.md", "[W](https://w.org) `[a](b)` [up](#a)", "[W](https://w.org) `[a](b)` [up](#a)"),
        ("data.md", "| `a \\| b` \\| c |", "| `a | b` \\| c |"),
        ("data.md", "```\n[a](b.md)\n```", "```\n[a](b.md)\n```"),
    ],
)
def test_links_of_the_checkout_lead_to_pages_of_the_site(page: str, text: str, shown: str) -> None:
    place = SimpleNamespace(file=SimpleNamespace(src_uri=page))
    assert NAVIGATION.on_page_markdown(text, place) == shown


def test_nothing_of_the_site_is_fetched() -> None:
    assert SITE["theme"]["font"] is False
    assert SITE["plugins"] == ["search"]
    assert "repo_url" not in SITE


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    for name in ("mkdocs", "material"):
        pytest.importorskip(name, reason="pip install '.[docs]' has what makes the site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    # Where a proxy leads nowhere, nothing is fetched.
    nowhere = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **nowhere}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for page in ("index.html", "changelog.html", "plugins/index.html", "diagnostics/AT110.html"):
        text = (tmp_path / page).read_text()
        fetched = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="?(https?:[^">\s]+)', text)
        assert fetched == []
    assert not list(tmp_path.rglob("navigation*.py*"))
