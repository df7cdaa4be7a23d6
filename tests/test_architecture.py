"""docs/architecture.md says what is so: the packages in order, and the nest that it follows."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from support.regions import text_regions
from test_layers import COMMANDS, PACKAGE, STAGES

from annotune.analysis.analyse import analyse
from annotune.annotation.devices import load_device
from annotune.codegen.recipes import exact_recipe, first_variant
from annotune.codegen.target import load_target
from annotune.space.decision import Base
from annotune.space.space import region_space

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "architecture.md").read_text()
SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_is_that_of_the_packages() -> None:
    assert tuple(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == STAGES
    assert {p.parent.name for p in PACKAGE.glob("*/__init__.py")} == {*STAGES, *COMMANDS}


def test_the_picture_of_the_stages_has_each_package_as_text_in_the_light_and_the_dark() -> None:
    picture = (DOCS / "stages.svg").read_text()
    root = ElementTree.fromstring(picture)
    texts = [one for one in root.iter(f"{SVG}text") if one.get("class") == "package"]
    assert {name for one in texts for name in (one.text or "").split()} == {*STAGES}
    light, dark = picture.split("@media (prefers-color-scheme: dark)")
    coloured = re.findall(r"\.(\w+) {[^}]*#", light)
    assert coloured == re.findall(r"\.(\w+) {[^}]*#", dark)
    for page in ("architecture.md", "algorithm.md"):
        assert "](stages.svg)" in (DOCS / page).read_text()


def test_what_the_page_names_is_there() -> None:
    named = re.findall(r"`([\w/]+\.py)`", PAGE)
    assert named
    folders = (PACKAGE, PACKAGE.parent, PACKAGE / "codegen")
    missing = [name for name in named if not any((folder / name).exists() for folder in folders)]
    assert not missing


def test_the_nest_is_followed_as_it_goes() -> None:
    c_text, cuda_text = re.findall(r"```c\n(.*?)```", PAGE, re.DOTALL)
    (recipe,) = re.findall(r"```\n(target.*?)```", PAGE, re.DOTALL)
    (region,) = text_regions(c_text)
    base, target, device = Base.of(analyse(region)), load_target("cuda"), load_device("h200")
    variant = first_variant(target, base, region_space(base), device)
    assert exact_recipe("cuda", variant) == recipe
    assert cuda_text in target.region(variant, resident=False).device
    assert variant.predicted_s is not None
    assert f"{variant.predicted_s * 1e6:.3g} us" in PAGE


DIFFS = re.findall(r"^### (.*?)\n.*?```diff\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE)
SAMPLE = PACKAGE.parent / "docs" / "plugins" / "sample" / "annotune_sample"


def test_what_is_added_fits_what_is_there() -> None:
    assert [name for name, _ in DIFFS] == [
        "A transform",
        "A strategy",
        "A target",
        "A search",
    ]
    for name, diff in DIFFS:
        files = re.split(r"^\+\+\+ (.*)\n", diff, flags=re.MULTILINE)[1:]
        assert len(files) <= 2 * 4, name
        for path, lines in zip(files[::2], files[1::2], strict=True):
            _check_lines(path, lines.splitlines(), is_there=name == "A target")


def _check_lines(path: str, lines: list[str], is_there: bool) -> None:
    """Check that a file has the lines that stay or go, and what `is_there` has been added.

    A new file is one of the sample package.
    """
    file = PACKAGE.parent / path
    is_new = not file.exists()
    text = (SAMPLE / file.name if is_new else file).read_text().splitlines()
    kept = [line[1:] for line in lines if line[:1] != "+" or is_new or is_there]
    assert [line for line in kept if line not in text] == [], path
