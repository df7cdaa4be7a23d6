"""Compiles the texts of many random files together, and finds those that do not compile."""

from __future__ import annotations

import fcntl
import re
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from support.acc_as_openmp import as_openmp
from support.runtime import APART, cuda_player, cuda_runtime

from annotune.measure.compile import RUNTIME_FOLDER
from annotune.measure.cuda_text import translate
from annotune.runtime.texts import standalone_text

from ..execute import COMPILE_LIMIT_S, FAST, NVCC, SHARED, Builder
from .emitted import Made, device_text
from .source import placed

STRICT = ("-Wl,-z,defs", "-lm")
OFFLOAD = (*FAST, "-fopenacc", "-foffload-options=nvptx-none=-misa=sm_80 -lm")
TOUCHED = Path(__file__).with_name("touched.c")
_TYPES = ("_Bool", "char", "short", "int", "long", "unsigned", "signed", "float", "double")
# gcc drops a read that its value does not need, even with -O0, unless it is of a volatile object.
VOLATILE = tuple(f"-D{name}=volatile {name}" for name in _TYPES)
SANITIZED = ("-fsanitize=thread", "-fsanitize=undefined,float-cast-overflow,bounds")
EXAM = (*SHARED, "-O0", *SANITIZED, *VOLATILE)
_ERROR = re.compile(r"^(?:[^\s:]*/)?(\w+)\.(?:c|cpp):(\d+):\d+: (?:fatal )?error", re.MULTILINE)
C = ("gcc", "-std=gnu11")
QUICK = (*SHARED, "-O0")
"""For texts that take a compiler much longer when it optimizes."""
MEMORY_HEADER, MEMORY_SOURCE = RUNTIME_FOLDER / "acc_memory.h", RUNTIME_FOLDER / "acc_memory.c"
HAS_MEMORY = MEMORY_HEADER.exists()
"""Whether the checkout of annotune that is looked at gives OpenACC a memory of its own."""
MEMORY = ("-include", str(MEMORY_HEADER), str(MEMORY_SOURCE)) if HAS_MEMORY else ()
ACC = ("-fopenacc", "-foffload=disable", *MEMORY)
PLAYED = ("-fopenmp", *MEMORY)


@dataclass(frozen=True)
class Gpu:
    """The compilers of a machine with a GPU: nvcc, and a gcc that offloads, or none."""

    nvcc: str
    openacc: str = ""


@dataclass(frozen=True)
class Refused:
    """One text that a compiler refuses: the place of its file in the batch, and why."""

    number: int
    library: str
    words: str


def groups(ones: Sequence[Made]) -> list[list[int]]:
    """Return the files that one C file may hold, by their places.

    Functions with the names of a library keep them apart from all that may use the library.
    """
    made: list[tuple[set[str], list[int]]] = [(set(), [])]
    for k, one in enumerate(ones):
        own = set(one.source.own)
        home = made[0] if not own else next((g for g in made[1:] if not g[0] & own), None)
        if home is None:
            home = (set(), [])
            made.append(home)
        home[0].update(own)
        home[1].append(k)
    return [members for _, members in made if members]


class Group:
    """The builds of some files in one folder."""

    def __init__(
        self,
        ones: Sequence[Made],
        members: Sequence[int],
        builder: Builder,
        folder: Path,
        gpu: Gpu | None = None,
    ) -> None:
        self.ones, self.members, self.gpu = ones, list(members), gpu
        self.builder, self.folder = builder, folder
        self.refused: list[Refused] = []
        folder.mkdir(parents=True, exist_ok=True)
        for k in members:
            placed(ones[k].source, folder)

    def libraries(self) -> dict[str, tuple[Path, list[int]]]:
        """Return the shared objects, each with the files that are in it."""
        everyone = self.members
        out = {}
        for name, compiled in (("original", self._original), ("exam", self._exam)):
            out[name] = self._without_refused(name, everyone, compiled)
            everyone = out[name][1]
        out["original"] = (out["original"][0], everyone)
        builds: dict[str, tuple[str, Callable[[str, Sequence[int]], str]]] = {
            "cuda": ("cuda", self._cuda),
            "openacc": ("openacc", self._c_of("_acc.c", (*QUICK, *ACC), _with_memory)),
            "openacc-played": ("openacc", self._c_of("_acc.c", (*QUICK, *PLAYED), _played)),
            "openmp": ("openmp", self._c_of("_omp.c", (*FAST, "-fopenmp"))),
        }
        if self.gpu is not None:
            builds = {name: builds[name] for name in ("cuda", "openacc-played")}
            builds["cuda-gpu"] = ("cuda", self._cuda_gpu)
            if self.gpu.openacc:
                offloaded = self._c_of("_acc.c", OFFLOAD, compiler=self.gpu.openacc)
                builds["openacc-gpu"] = ("openacc", offloaded)
        for name, (target, compiled) in builds.items():
            ready = [k for k in everyone if target in self.ones[k].files]
            out[name] = self._without_refused(name, ready, compiled)
        return {name: one for name, one in out.items() if one[1]}

    # One library -----------------------------------------------------------------------------

    def _without_refused(
        self, name: str, members: list[int], compiled: Callable[[str, Sequence[int]], str]
    ) -> tuple[Path, list[int]]:
        """Compile what can be compiled; return the library and the files that are in it."""
        path = self.folder / f"{name}.so"
        left = list(members)
        while left:
            words = compiled(name, left)
            if not words:
                break
            if len(left) == 1:
                self.refused.append(Refused(left[0], name, words))
                return path, []
            # Alone, for the words may be about what another text has left open.
            blamed = [k for k in self._blamed(name, words) if k in left]
            guilty = {k: alone for k in blamed if (alone := compiled(f"{name}_alone", [k]))}
            guilty = guilty or self._halved(name, left, compiled)
            if not guilty:
                # They do not go together, which no user asks for.
                left = left[: len(left) // 2]
                continue
            self.refused += [Refused(k, name, alone) for k, alone in guilty.items()]
            left = [k for k in left if k not in guilty]
        return path, left

    def _halved(
        self, name: str, members: list[int], compiled: Callable[[str, Sequence[int]], str]
    ) -> dict[int, str]:
        """Return the files that do not compile alone, with the words of the compiler."""
        words = compiled(f"{name}_part", members)
        if not words:
            return {}
        if len(members) == 1:
            return {members[0]: words}
        half = len(members) // 2
        found = self._halved(name, members[:half], compiled)
        return found | self._halved(name, members[half:], compiled)

    def _blamed(self, name: str, words: str) -> list[int]:
        """Return the files in whose lines the errors are."""
        out = []
        for stem, line in _ERROR.findall(words):
            for first, last, k in self._places.get(stem, ()):
                if first <= int(line) <= last:
                    out.append(k)
        return list(dict.fromkeys(out))

    _places: dict[str, list[tuple[int, int, int]]] = {}  # noqa: RUF012  (set per text)

    def _joined(self, stem: str, parts: Iterable[tuple[int, str]]) -> str:
        """Return texts behind each other, and remember the lines of each."""
        lines, places, text = 1, [], []
        for k, part in parts:
            count = part.count("\n") + 1
            places.append((lines, lines + count - 1, k))
            lines += count
            text.append(part)
        self._places = {**self._places, stem: places}
        return "\n".join(text) + "\n"

    def _original(self, name: str, members: Sequence[int]) -> str:
        parts = [(k, self.ones[k].source.text + self.ones[k].source.harness) for k in members]
        return self._c(name, self._joined(name, parts), FAST)

    def _exam(self, name: str, members: Sequence[int]) -> str:
        parts = [(k, self.ones[k].source.text + self.ones[k].source.harness) for k in members]
        source, object_ = self.folder / f"{name}.c", self.folder / f"{name}.o"
        source.write_text(self._joined(name, parts))
        words = _words([*C, *EXAM, "-c", str(source), "-o", str(object_)], self.folder)
        link = [*C, "-shared", str(object_), str(self._hooks()), *STRICT]
        return words or _words([*link, "-o", str(self.folder / f"{name}.so")], self.folder)

    def _hooks(self) -> Path:
        return hooks(self.builder)

    def _c_of(
        self,
        suffix: str,
        flags: Sequence[str],
        change: Callable[[str], str] = str,
        compiler: str = C[0],
    ) -> Callable[[str, Sequence[int]], str]:
        """Return how the C files of a suffix become a library."""

        def compiled(name: str, members: Sequence[int]) -> str:
            parts = []
            for k in members:
                one = self.ones[k]
                texts = next(t for t in one.files.values() if suffix in t)
                parts.append((k, change(texts[suffix]) + one.source.harness))
            return self._c(name, self._joined(name, parts), flags, compiler)

        return compiled

    def _c(self, name: str, text: str, flags: Sequence[str], compiler: str = C[0]) -> str:
        source = self.folder / f"{name}.c"
        source.write_text(text)
        command = [compiler, *C[1:], *flags, "-shared", str(source), *STRICT]
        return _words([*command, "-o", str(self.folder / f"{name}.so")], self.folder)

    def _cuda_host(self, name: str, members: Sequence[int]) -> str:
        """Write the C that calls kernels; return the name of the file without its ending."""
        host = f"{name}_host"
        parts = [
            (k, self.ones[k].files["cuda"]["_cuda.c"] + self.ones[k].source.harness)
            for k in members
        ]
        (self.folder / f"{host}.c").write_text(self._joined(host, parts))
        return host

    def _cuda_gpu(self, name: str, members: Sequence[int]) -> str:
        assert self.gpu is not None
        host, device = self._cuda_host(name, members), f"{name}_device"
        texts = [self.ones[k].files["cuda"] for k in members]
        (self.folder / f"{device}.cu").write_text(standalone_text(device_text(texts)))
        words = _words([*C, *FAST, "-c", f"{host}.c", "-o", f"{host}.o"], self.folder)
        nvcc = [self.gpu.nvcc, *NVCC, "-shared", f"{device}.cu", f"{host}.o"]
        return words or _words([*nvcc, "-o", f"{name}.so", "-lm"], self.folder)

    def _cuda(self, name: str, members: Sequence[int]) -> str:
        host, device = self._cuda_host(name, members), f"{name}_device"
        texts = [self.ones[k].files["cuda"] for k in members]
        whole = device_text(texts)
        (self.folder / f"{device}.cpp").write_text(translate(whole))
        ahead = len(device_text(texts[:0])) and whole.count("\n") - sum(
            t[".cu"].count("\n") + 1 for t in texts
        )
        self._joined(
            device,
            [
                (-1, "\n" * max(0, ahead)),
                *((k, self.ones[k].files["cuda"][".cu"]) for k in members),
            ],
        )
        objects = [self.folder / f"{host}.o", self.folder / f"{device}.o"]
        header = self.builder.header_flags((*QUICK, *APART))
        words = _words([*C, *FAST, "-c", f"{host}.c", "-o", str(objects[0])], self.folder)
        words = words or _words(
            ["g++", *QUICK, *header, *APART, "-c", f"{device}.cpp", "-o", str(objects[1])],
            self.folder,
        )
        objects += [one(otherwise=self.builder.folder) for one in (cuda_runtime, cuda_player)]
        link = ["g++", "-shared", *map(str, objects), *STRICT]
        return words or _words([*link, "-o", str(self.folder / f"{name}.so")], self.folder)


def _with_memory(acc_text: str, is_openmp: bool = False) -> str:
    """Return OpenACC, or what becomes of it in OpenMP, with a device memory of its own."""
    if not HAS_MEMORY:
        return as_openmp(acc_text) if is_openmp else acc_text
    from annotune.measure.directives import with_memory

    return with_memory(acc_text, is_openmp)


def _played(acc_text: str) -> str:
    return _with_memory(acc_text, is_openmp=True)


def hooks(builder: Builder) -> Path:
    """Return the object file of `touched.c`."""
    target = builder.folder / "touched.o"
    if not target.exists():
        command = ["gcc", "-O1", "-fPIC", "-c", str(TOUCHED), "-o", str(target)]
        words = _words(command, builder.folder)
        assert not words, words
    return target


def prepared(folder: Path) -> Builder:
    """Return a builder with what all batches share, compiled by the first process that asks."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        builder = Builder(folder, threads=1)
        hooks(builder)
        builder.header_flags((*QUICK, *APART))
    return builder


def _words(command: Sequence[str], folder: Path) -> str:
    """Return what a compiler says where it fails, and nothing where it does not."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            cwd=folder,
            timeout=COMPILE_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"compiles longer than {COMPILE_LIMIT_S} s"
    return (done.stderr or "the compiler failed")[:6000] if done.returncode else ""
