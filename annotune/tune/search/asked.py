"""The names of the searches, ours and Orio's, and what an annotation asks for by them."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from annotune.annotation.spec import Value
from annotune.diagnostics import NOWHERE, AnnotuneError, Span, Template

SEARCH_NAMES = (
    "auto",
    "exhaustive",
    "random",
    "gp",
    "rf",
    "tpe",
    "cma-es",
    "genetic",
    "annealing",
    "simplex",
)

# What the algorithms of Orio 0.6 (orio/main/tuner/search) are nearest to here.
ORIO_NAMES: Mapping[str, str] = {
    "exhaustive": "exhaustive",
    "randomsearch": "random",
    "randomlocal": "annealing",
    "randomsimple": "random",
    "simplex": "simplex",
    "msimplex": "simplex",
    "annealing": "annealing",
    "genetic": "genetic",
    "mlsearch": "rf",
    "hybrid": "auto",
}

UNKNOWN_SEARCH = Template("AT645", "there is no search '{name}'", "{hint}searches: {known}")


class UnknownSearch(Exception):
    """There is no search of a name; the message says which there are."""


def search_name(name: str) -> str:
    """Return our name for a search, which may be Orio's; case does not count.

    Raises:
        UnknownSearch: There is none of that name.
    """
    plain = _plain(name)
    if plain is None:
        raise UnknownSearch(f"there is no search '{name}'; {_hint(name)}searches: {_listed()}")
    return plain


def search_from_spec(search: Mapping[str, Value], span: Span = NOWHERE) -> str | None:
    """Return our name for the ``algorithm`` of ``def search``, None where it has none.

    Raises:
        AnnotuneError: There is no search of that name; at `span`.
    """
    asked = search.get("algorithm")
    if asked is None:
        return None
    plain = _plain(str(asked))
    if plain is None:
        hint = _hint(str(asked))
        raise AnnotuneError.of(UNKNOWN_SEARCH.at(span, name=asked, hint=hint, known=_listed()))
    return plain


def _plain(name: str) -> str | None:
    """Return our name for a search, None for what is no search."""
    plain = name.strip().lower()
    return plain if plain in SEARCH_NAMES else ORIO_NAMES.get(plain)


def _hint(name: str) -> str:
    near = get_close_matches(name.strip().lower(), [*SEARCH_NAMES, *ORIO_NAMES], 1)
    return f"did you mean '{near[0]}'? " if near else ""


def _listed() -> str:
    return ", ".join(SEARCH_NAMES)
