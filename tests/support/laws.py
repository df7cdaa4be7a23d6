"""On how many examples a costly law is tried: all in `make test-all`, a sixth in `make test`."""

from __future__ import annotations

from hypothesis import settings

SHARE = 1 if settings.get_current_profile_name() == "thorough" else 6


def tried(examples: int) -> settings:
    """Return the settings of a law that is tried on so many examples where time allows."""
    return settings(max_examples=max(5, examples // SHARE))
