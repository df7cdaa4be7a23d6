"""The long run: ``python -m tests.fuzz --nests 10000 --contractions 10000 --garbage 20000``."""

from __future__ import annotations

import sys
from pathlib import Path

# The other tests' helpers, and annotune as it stands in this checkout.
sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from .driver import main  # noqa: E402  (the path comes first)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
