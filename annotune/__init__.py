"""annotune: annotated C loop nests become checked CUDA, OpenACC and OpenMP."""

from importlib import import_module

__version__ = "0.2.0"

# What programs use, and where it stands: it is imported on first use.
_PLACES = {
    "AnnotuneError": "annotune.diagnostics",
    "RunResults": "annotune.report.views",
    "check": "annotune.api",
    "compile": "annotune.api",
    "emit": "annotune.api",
    "load_results": "annotune.api",
    "tune": "annotune.api",
}
__all__ = [*_PLACES]


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module 'annotune' has no attribute '{name}'")
    found: object = getattr(import_module(_PLACES[name]), name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *_PLACES]
