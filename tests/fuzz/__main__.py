"""The long run: ``python -m tests.fuzz --nests 10000 --contractions 10000 --garbage 20000``."""

from __future__ import annotations

import sys
from pathlib import Path

# The other tests' helpers, and annotune as it stands in this checkout, or in the one that is named.
CHECKOUT = Path(__file__).parents[2]
named = [a.partition("=")[2] for a in sys.argv[1:] if a.startswith("--annotune=")]
sys.path[:0] = [*named, *(str(CHECKOUT / name) for name in ("tests", "benchmarks", "."))]

from .driver import main  # noqa: E402  (the path comes first)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
