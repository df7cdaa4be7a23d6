"""What ``S.cu`` calls of the runtime that all entries of a program share (``annotune/runtime``).

A program calls a region again and again with arrays of the same sizes, and an allocation costs more
than many a kernel. So the memory of a call stays, block by block, until the program gives it back;
a request takes a block that is not much larger, or replaces one that is too small. All files of a
program share the blocks, and the ring through which copies go.
"""

from __future__ import annotations

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
# That a call has come to its kernels.
BEGUN = "annotune_begun"
