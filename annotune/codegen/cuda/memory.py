"""What all entries of a program share, as text of ``S.cu``: memory that stays, and the copies.

A program calls a region again and again with arrays of the same sizes, and an allocation costs more
than many a kernel. So what a call has had stays, block by block, until the program asks for it
back; a request finds a block that is not much larger, else it replaces one that is too small. All
files of a program share the blocks, and the ring through which copies go: their definitions are
weak.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib.resources import files

ALLOCATE, FREE, TELL = "annotune_allocate", "annotune_free", "annotune_tell"
SEND, FETCH, ON_HOST = "annotune_send", "annotune_fetch", "annotune_on_host"
# Both, part by part, with the launches between them.
CALL = "annotune_call"
# The same, of which the host computes some.
BOTH = "annotune_call_of_both"
# How the host adds to an array what kernels have computed from nothing, and what it does where the
# nest as written runs after all.
ADDING, PUT_BACK = "annotune_host_sums", "annotune_put_back"
# Behind these names, where arrays may be on the device already.
RESIDENT = "_resident"
ALL_ON_HOST = "annotune_all_on_host"
# Whether a call has come to its kernels.
BEGUN = "annotune_has_begun"

_HEADERS = "#include <pthread.h>\n"
_HEADERS_OF_COPIES = (
    "#include <sched.h>\n#include <signal.h>\n#ifdef __SSE2__\n#include <emmintrin.h>\n#endif\n"
)

# A program whose device fails calls its regions a million times.
TOLD = """\
/* Say once in a program that a device has failed, however many calls do. */
__attribute__((weak)) bool annotune_is_told = false;
static void annotune_tell(const char *entry, cudaError_t status)
{
    if (!annotune_is_told)
        fprintf(stderr, "%s: %s; running the original nest, as all calls that fail\\n", entry,
                cudaGetErrorString(status));
    annotune_is_told = true;
}
"""


def headers(called: Collection[str]) -> str:
    """Return the headers for what a text calls of these."""
    copies = _HEADERS_OF_COPIES if {SEND, SEND + RESIDENT, CALL, BOTH} & {*called} else ""
    return _HEADERS + copies if copies or ALLOCATE in called else ""


def shared_parts(called: Collection[str]) -> tuple[str, ...]:
    """Return the functions for a text that allocates, or copies; none for others."""
    names = ["kept_memory.cuh"]
    is_resident = SEND + RESIDENT in called
    names += ["transfers.cuh"] if is_resident or {SEND, CALL, BOTH} & {*called} else []
    names += ["adding.cuh"] if ADDING in called else []
    names += ["resident.cuh"] if is_resident else []
    names += ["in_parts.cuh"] if {CALL, BOTH} & {*called} else []
    names += ["both.cuh"] if BOTH in called else []
    return tuple(map(_text, names)) if len(names) > 1 or ALLOCATE in called else ()


@cache
def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
