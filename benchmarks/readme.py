"""The README's example, run as a reader would: `make readme`.

What `check` and `run` print of `mm.c` takes the place of what the README has, and `docs/` gets
pictures of the run's page: wide and light, narrow and dark. They take chromium, or chrome.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
# What each block of the README begins with.
SOURCE, CHECK, RUN = "void mm(", "mm.c:3:5: mm, region 1", "$ annotune run mm.c\n"
# A larger picture would make every checkout of the project larger.
MOST_BYTES = 150_000
# Of the pixels of a window, so many are enough to read.
SCALE = 0.75


@dataclass(frozen=True)
class Picture:
    """A window, in pixels, and the file in `docs/` that shows what stands in it."""

    name: str
    width: int
    height: int
    is_dark: bool


PICTURES = (
    Picture("page.png", 1280, 1150, is_dark=False),
    Picture("page-narrow.png", 500, 1150, is_dark=True),
)


def block(text: str, begin: str) -> str:
    """Return the block of the README that has a line which begins so, from that line on."""
    at = text.index(f"\n{begin}") + 1
    return text[at : text.index("```", at)]


def take(page: Path, picture: Picture) -> None:
    """Write the picture of a page."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"no browser here: none of {', '.join(BROWSERS)} is on PATH")
    path = ROOT / "docs" / picture.name
    options = (
        f"--force-device-scale-factor={SCALE}",
        f"--blink-settings=preferredColorScheme={0 if picture.is_dark else 1}",
        f"--user-data-dir={page.parent / picture.name}",
        f"--window-size={picture.width},{picture.height}",
        f"--screenshot={path}",
    )
    fixed = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
    subprocess.run([browser, *fixed, *options, page.as_uri()], check=True, capture_output=True)
    if path.stat().st_size > MOST_BYTES:
        sys.exit(f"{path} has {path.stat().st_size} bytes, more than {MOST_BYTES}")


def main() -> None:
    """Run the example, write what it printed into the README, and take the pictures."""
    text = README.read_text()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "mm.c").write_text(block(text, SOURCE))
        for begin, command in ((CHECK, "check"), (RUN, "run")):
            done = subprocess.run(
                [sys.executable, "-m", "annotune", command, "mm.c"],
                cwd=folder,
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            )
            asked = begin if begin.startswith("$") else ""
            text = text.replace(block(text, begin), f"{asked}{done.stdout.rstrip()}\n")
        for picture in PICTURES:
            take(folder / "annotune-out" / "mm" / "report.html", picture)
    README.write_text(text)


if __name__ == "__main__":
    main()
