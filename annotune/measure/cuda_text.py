"""Generated CUDA C++ becomes text that g++ compiles with ``runtime/cuda_on_cpu.h``.

Only what is not C++ is rewritten, each piece on its own line, so that compilers and
sanitizers still name the user's lines:

    kernel<<<grid, block>>>(a, n);   a launch; the kernel's need for fibers is worked out
    __shared__ double tile[8][9];    followed by a call that poisons it for each block
    extern __shared__ double t[];    a pointer into the block's dynamic shared memory
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from annotune.frontend.read.tokens import Replacement, splice
from annotune.frozen import dataclass
from annotune.runtime.texts import CUDA_RUNTIME

_TOKEN = re.compile(
    r"""
    (?P<skip> //(?:\\\n|[^\n])* | /\*.*?\*/ | R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"
            | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*')
  | (?P<directive> ^[ \t]*\#(?:\\\r?\n|/\*.*?\*/|[^\n])*)
  | (?P<number> (?<![\w$])\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*)
  | (?P<word> [A-Za-z_]\w*)
  | (?P<mark> <<<|>>>|::|\S)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_INCLUDE = re.compile(r"#\s*include\s*[<\"]([^>\"]+)[>\"]")
_DEFINE = re.compile(r"#\s*define\s+(\w+)")
_CONDITION = re.compile(r"#\s*(if|ifdef|ifndef|elif|else|endif)\b\s*(.*)", re.DOTALL)

# What cuda_on_cpu.h declares itself.
_PROVIDED_HEADERS = frozenset(
    {"cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h", "vector_types.h"}
    | {"cuda_pipeline.h", "cuda_pipeline_primitives.h", "cuda/ptx"}
    | {"cmath", "math.h", "cstdlib", "stdlib.h", "cstring", "string.h", "cstdio", "stdio.h"}
)
_REFUSED_HEADERS = re.compile(
    r"cooperative_groups|^mma\.h$|^cuda/(?!ptx$)|^cub/|^thrust/|^cuda_fp16|^cuda\.h$"
)
_REFUSED_WORDS = frozenset(
    {"cudaLaunchKernel", "cudaLaunchKernelEx", "cudaLaunchKernelExC", "__cluster_dims__"}
    | {"cudaLaunchCooperativeKernel", "cooperative_groups", "nvcuda", "asm", "__asm__"}
)
# A thread that calls one of these waits for others, or has copies of its own under way.
_WAITS = re.compile(
    r"__syncthreads\w*|__syncwarp|__\w+_sync|__pipeline_\w+|annotune_mma_\w+"
    r"|mbarrier_\w+|cp_async_bulk\w*|fence_proxy_async"
)
_NOT_A_NAME = frozenset(["__launch_bounds__", "__attribute__", "__align__", "alignas", "decltype"])


class UnsupportedCuda(ValueError):
    """A construct that the CPU check does not execute, with its line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


@dataclass(frozen=True, slots=True)
class _CudaToken:
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class _Function:
    """A function definition: its body is ``tokens[first:last]``, braces included."""

    name: str
    is_kernel: bool
    first: int
    last: int


def translate(cuda_text: str) -> str:
    """Return `cuda_text` as C++ for ``cuda_on_cpu.h``, every line at its number.

    Raises:
        UnsupportedCuda: The text uses what cannot be executed on the CPU.
    """
    return _Translator(cuda_text).translated()


class _Translator:
    def __init__(self, text: str) -> None:
        self.text = text
        self.line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self.edits: list[Replacement] = []
        self.macros: dict[str, set[str]] = {}
        self.tokens = list(self._live_tokens())
        self.functions = list(self._functions())
        self.waiting = self._waiting_names()

    def translated(self) -> str:
        for index, token in enumerate(self.tokens):
            if token.text in _REFUSED_WORDS:
                self._refuse(token.start, f"'{token.text}' is not executed on the CPU")
            elif token.text == "__shared__":
                self._rewrite_shared(index)
            elif token.text == "<<<":
                self._rewrite_launch(index)
        return splice(self.text, self.edits)

    def _refuse(self, offset: int, message: str) -> None:
        raise UnsupportedCuda(bisect_right(self.line_starts, offset), message)

    def _live_tokens(self) -> Iterator[_CudaToken]:
        """Yield the tokens outside comments, strings and what ANNOTUNE_CPU excludes."""
        # One entry per open #if: True, False or, for any other condition, None.
        live: list[bool | None] = []
        for match in _TOKEN.finditer(self.text):
            kind = match.lastgroup or ""
            if kind == "directive":
                self._follow_condition(match.group(), live)
                if False not in live:
                    self._read_directive(match.group(), match.start())
            elif kind != "tag" and match.group("skip") is None and False not in live:
                yield _CudaToken(kind, match.group(), match.start())

    @staticmethod
    def _follow_condition(directive: str, live: list[bool | None]) -> None:
        match = _CONDITION.search(directive)
        if match is None:
            return
        word, condition = match.groups()
        is_ours = re.search(r"\bANNOTUNE_CPU\b", condition) is not None
        is_negative = word == "ifndef" or re.match(r"!\s*defined", condition) is not None
        if word.startswith("if"):
            live.append(not is_negative if is_ours else None)
        elif word == "endif" and live:
            live.pop()
        elif live and live[-1] is not None:
            live[-1] = not live[-1]

    def _read_directive(self, directive: str, start: int) -> None:
        include = _INCLUDE.search(directive)
        if include is not None and _REFUSED_HEADERS.search(include.group(1)):
            self._refuse(start, f"<{include.group(1)}> is not executed on the CPU")
        if include is not None and include.group(1) in _PROVIDED_HEADERS:
            self.edits.append((start, start, "//"))
        define = _DEFINE.search(directive)
        if define is None:
            return
        for word in ("<<<", "__shared__"):
            if word in directive:
                self._refuse(start, f"'{word}' inside a macro is not executed on the CPU")
        self.macros[define.group(1)] = set(re.findall(r"\w+", directive[define.end() :]))

    def _functions(self) -> Iterator[_Function]:
        """Yield the function definitions in file, namespace, ``extern "C"`` and struct scope."""
        head = index = 0
        while index < len(self.tokens):
            text = self.tokens[index].text
            if text == "{":
                words = [token.text for token in self.tokens[head:index]]
                name = _function_name(words)
                if name is not None:
                    last = self._closing(index, "{", "}")
                    yield _Function(name, "__global__" in words, index, last + 1)
                    index = last
                elif "=" in words or "enum" in words:
                    index = self._closing(index, "{", "}")
            if text in "{};":
                head = index + 1
            index += 1

    def _closing(self, index: int, opening: str, closing: str) -> int:
        """Return the index of the token that closes the one at `index`."""
        depth = 0
        for at in range(index, len(self.tokens)):
            depth += (self.tokens[at].text == opening) - (self.tokens[at].text == closing)
            if depth == 0:
                return at
        self._refuse(self.tokens[index].start, f"'{opening}' is never closed")
        raise AssertionError

    def _waiting_names(self) -> set[str]:
        """Return the functions and macros that wait, themselves or in what they call."""
        used = dict(self.macros)
        if CUDA_RUNTIME.is_included(self.text):
            used |= {name: {"__syncthreads"} for name in waiting_in_header()}
        for function in self.functions:
            words = {token.text for token in self.tokens[function.first : function.last]}
            used[function.name] = used.get(function.name, set()) | words
        waiting = {name for name, words in used.items() if any(map(_WAITS.fullmatch, words))}
        while more := {name for name, words in used.items() if words & waiting} - waiting:
            waiting |= more
        return waiting

    def _rewrite_shared(self, index: int) -> None:
        token = self.tokens[index]
        if not any(f.is_kernel and f.first <= index < f.last for f in self.functions):
            self._refuse(token.start, "'__shared__' outside a __global__ function")
        last = next(at for at in range(index, len(self.tokens)) if self.tokens[at].text == ";")
        if self.tokens[index - 1].text == "extern":
            self._rewrite_dynamic_shared(index, last)
            return
        end = self.tokens[last].end
        calls = "".join(
            f" annotune_cpu::declare_shared(&{name}, sizeof {name});"
            for name in _declared_names(self.tokens[index + 1 : last + 1])
        )
        self.edits.append((end, end, calls))

    def _rewrite_dynamic_shared(self, index: int, last: int) -> None:
        declaration = self.text[self.tokens[index].end : self.tokens[last].start]
        match = re.fullmatch(r"(?P<type>.*?)(?P<name>\w+)\s*\[\s*\]\s*", declaration, re.DOTALL)
        if match is None:
            self._refuse(self.tokens[index].start, "expected 'extern __shared__ T name[];'")
            return
        unaligned = re.sub(r"(__align__|alignas)\s*\([^()]*\)", "", match["type"])
        type_text = " ".join(unaligned.split())
        lines = declaration.count("\n") * "\n"
        start = self.tokens[index - 1].start
        pointer = f"({type_text} *)annotune_cpu::dynamic_shared"
        text = f"{type_text} *const {match['name']} = {pointer}{lines}"
        self.edits.append((start, self.tokens[last].start, text))

    def _rewrite_launch(self, index: int) -> None:
        opening = self.tokens[index]
        first = self._launched(index)
        words = [token.text for token in self.tokens[first:index]]
        plain = next((w for w, after in pairwise([*words, ""]) if after in ("<", "")), "")
        if not any(f.is_kernel and f.name == plain for f in self.functions):
            self._refuse(opening.start, f"launch of '{plain}', no __global__ function of this text")
        depth = 0
        for at in range(index + 1, len(self.tokens)):
            token = self.tokens[at]
            depth += (token.text in "([{") - (token.text in ")]}")
            if depth == 0 and token.text == ">>>":
                break
            if depth < 0 or token.text == ";":
                self._refuse(opening.start, "'<<<' without '>>>'")
        else:
            self._refuse(opening.start, "'<<<' without '>>>'")
        start = self.tokens[first].start
        needs = "FIBERS" if plain in self.waiting else "PLAIN_LOOPS"
        self.edits += [
            (start, start, "annotune_cpu::launch<"),
            (opening.start, opening.end, f', annotune_cpu::{needs}>("{plain}", '),
            (token.start, token.end, ")"),
        ]

    def _launched(self, index: int) -> int:
        """Return where the kernel's name begins that ends before the ``<<<`` at `index`."""
        at = index - 1
        if at >= 0 and self.tokens[at].text == ">":
            depth, parentheses = 0, 0
            while at >= 0:
                text = self.tokens[at].text
                parentheses += (text == ")") - (text == "(")
                if parentheses == 0:
                    depth += (text == ">") - (text == "<")
                if depth == 0:
                    break
                at -= 1
            at -= 1
        if at < 0 or self.tokens[at].kind != "word":
            self._refuse(self.tokens[index].start, "expected a kernel's name before '<<<'")
        while at >= 2 and self.tokens[at - 1].text == "::":
            at -= 2
        return at


@cache
def waiting_in_header() -> frozenset[str]:
    """Return the functions of the runtime's header of which a call makes a thread wait."""
    return frozenset(_Translator(CUDA_RUNTIME.texts[CUDA_RUNTIME.header]).waiting)


def _function_name(head: list[str]) -> str | None:
    """Return the name that `head`, the words before a ``{``, defines as a function.

    It is the word before the last parameter list, for a macro call may stand before it all.
    """
    name: str | None = None
    depth = 0
    for word, after in pairwise(head):
        depth += (word == "(") - (word == ")")
        if depth == 0 and word == "=":
            return None
        if depth == 0 and after == "(" and word not in _NOT_A_NAME and word.isidentifier():
            name = word
    return name


def _declared_names(declaration: list[_CudaToken]) -> list[str]:
    """Return the variables of a declaration, whose last token is the ``;``."""
    names, depth = [], 0
    for token, after in pairwise(declaration):
        depth += (token.text in "([<") - (token.text in ")]>")
        if depth == 0 and token.kind == "word" and after.text in ("[", ",", ";"):
            names.append(token.text)
    return names


# Kernel time is the sum over the launches, each between two events; the entry's copies and
# allocations are in the end-to-end time, which the caller takes around the call. The runtime must
# not cut launches in parts: the wait after each would keep the copies of the next one back.
_TIMER = r"""
#include <cuda_runtime.h>
#include <time.h>
static cudaEvent_t annotune_timer_begin, annotune_timer_end;
static double annotune_kernel_s;
static int annotune_launched;
static int annotune_flush_wanted;
static double annotune_flush_s;

/* Overwrites the L2, so that the next kernel finds nothing of its own there. */
static void annotune_flush(void)
{
    static void *scratch;
    static size_t bytes;
    if (!scratch) {
        int l2 = 0;
        cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0);
        bytes = 2 * (size_t)l2;
        if (cudaMalloc(&scratch, bytes) != cudaSuccess) return;
    }
    cudaMemset(scratch, 0, bytes);
    cudaDeviceSynchronize();
}

static void annotune_before_launch(void)
{
    if (annotune_flush_wanted) {
        /* Here, for the copies to the device have left their data in the L2. */
        timespec before, after;
        annotune_flush_wanted = 0;
        cudaDeviceSynchronize();
        clock_gettime(CLOCK_MONOTONIC, &before);
        annotune_flush();
        clock_gettime(CLOCK_MONOTONIC, &after);
        annotune_flush_s += (double)(after.tv_sec - before.tv_sec)
            + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
    }
    if (!annotune_timer_begin) {
        cudaEventCreate(&annotune_timer_begin);
        cudaEventCreate(&annotune_timer_end);
    }
    cudaEventRecord(annotune_timer_begin);
}
static void annotune_after_launch(void)
{
    float ms = 0;
    cudaEventRecord(annotune_timer_end);
    cudaEventSynchronize(annotune_timer_end);
    if (cudaEventElapsedTime(&ms, annotune_timer_begin, annotune_timer_end) != cudaSuccess) return;
    annotune_kernel_s += 1e-3 * ms;
    annotune_launched++;
}
#define ANNOTUNE_EXPORTED extern "C" __attribute__((visibility("default")))
/* Seconds in kernels since the last call of this function. */
ANNOTUNE_EXPORTED double annotune_kernel_seconds(void)
{
    double seconds = annotune_kernel_s;
    annotune_kernel_s = 0;
    return seconds;
}
ANNOTUNE_EXPORTED int annotune_gpu_launches(void) { return annotune_launched; }
/* Has the L2 overwritten before the first kernel of the next call. */
ANNOTUNE_EXPORTED void annotune_flush_l2(void) { annotune_flush_wanted = 1; }
/* Seconds that this took since the last call of this function: no part of a call's time. */
ANNOTUNE_EXPORTED double annotune_flush_seconds(void)
{
    double seconds = annotune_flush_s;
    annotune_flush_s = 0;
    return seconds;
}
"""

# A launch statement of generated text, on one or more lines. What the runtime launches takes the
# place of a copy, and is not timed.
_LAUNCH = re.compile(
    r"\b(?!annotune_nothing\b)\w+(?:<[^<>;{}]*>)?\s*<<<[^;{}]*?>>>\s*\([^;{}]*\)\s*;"
)


_COUNTER = r"""
static int annotune_launched;
extern "C" __attribute__((visibility("default"))) int annotune_gpu_launches(void)
{
    return annotune_launched;
}
"""


def counted_device_text(device: str) -> str:
    """Return ``S.cu`` as it is handed out, which counts its launches: whole calls are timed."""
    # Several threads may drive a device each.
    count = "__atomic_add_fetch(&annotune_launched, 1, __ATOMIC_RELAXED);"
    body = _LAUNCH.sub(lambda launch: f"{{ {count} {launch[0]} }}", device)
    return f"{_COUNTER}#line 1\n{body}"


def timed_device_text(device: str) -> str:
    """Return ``S.cu`` with a pair of events around every launch, for kernel time alone.

    Launches that overlap in streams are put in sequence by it: end-to-end time tells of those.
    """
    body = _LAUNCH.sub(
        lambda launch: f"{{ annotune_before_launch(); {launch[0]} annotune_after_launch(); }}",
        device,
    )
    return _TIMER + "#line 1\n" + body
