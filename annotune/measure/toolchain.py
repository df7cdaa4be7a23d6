"""Which compilers are here, proven by compiling a few lines with each."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, replace
from functools import lru_cache
from pathlib import Path

from annotune.diagnostics import Diagnostic, Severity, Span, Template
from annotune.frozen import dataclass
from annotune.measure.command import Finished, run_command

PROBE_LIMIT_S = 20.0
"""How long one probe may run; nvcc's own takes 0.6 s, and a cold disk ten times that."""

PROBE_ARCH = "sm_90"

SETTINGS = ("CC", "CXX", "NVCC", "NVC", "PATH", "CUDA_HOME", "CUDA_PATH", "NVHPC", "NVHPC_ROOT")
"""The environment variables that decide which compilers are found."""

_C_PROBE = "int annotune_probe(int n, double *a) { a[0] = n; return 0; }\n"
_OPENMP_PROBE = "#include <omp.h>\nint annotune_probe(void) { return omp_get_max_threads(); }\n"
_OPENACC_PROBE = (
    "void annotune_probe(int n, double *a) {\n"
    "#pragma acc parallel loop copy(a[0:n])\n"
    "for (int i = 0; i < n; i++) a[i] += 1; }\n"
)
_CUDA_PROBE = (
    '#include <cuda_runtime.h>\nextern "C" __global__ void annotune_probe(double *a)\n'
    "{ a[threadIdx.x] *= 2; }\n"
)
_CUDART_PROBE = """\
#ifdef __cplusplus
extern "C"
#endif
int cudaGetDeviceCount(int *);
int main(void) { int n; return cudaGetDeviceCount(&n) < 0; }
"""


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler that works: the words that start it and what its own version line says.

    `flags` are needed in every call. `include` and `library` are the folders of the CUDA
    headers and of cudart for nvcc, `link` the words by which an object of it is linked; all three
    are empty for the others.
    """

    command: tuple[str, ...]
    version: str
    flags: tuple[str, ...] = ()
    include: str = ""
    library: str = ""
    link: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        return self.command[0]


MENDED_NVCC = (13, 2)
"""The release that mended a fault of those before it, from 11.8 on: of a loop written out
several times, where it works out one address from another of the same array, it forgets what the
first has added. It reads or writes beside the element then (docs/hardware.md)."""

FAULTY_NVCC = Template(
    "AT621",
    "nvcc {release} compiles some unrolled loops to code that reads or writes beside the elements",
    "each variant is checked on a GPU where there is one; compile what was checked nowhere else "
    "with nvcc 13.2 or newer",
    Severity.WARNING,
)


@dataclass(frozen=True, slots=True)
class Toolchains:
    """The compilers of this machine and what they can do.

    `problems` says for each role without a working compiler what was tried and what came
    back: ``c``, ``cxx``, ``nvcc``, ``nvc``, ``openmp``, ``openacc``, ``asan``, ``cudart``.
    `native` holds the flag for this CPU's own instructions when the C compiler takes it.
    `offload` names gcc's offload targets that are really installed, such as ``nvptx-none``;
    what is checked on this host never uses them. `nvdisasm` and `ncu` are paths, empty for none.
    """

    c: Compiler | None
    cxx: Compiler | None
    nvcc: Compiler | None
    nvc: Compiler | None
    nvdisasm: str
    native: tuple[str, ...]
    openmp: bool
    openacc: bool
    offload: tuple[str, ...]
    asan: str
    problems: Mapping[str, str] = field(default_factory=dict)
    ncu: str = ""

    def role(self, name: str) -> Compiler | None:
        """Return the compiler for a role: ``c``, ``cxx``, ``nvcc`` or ``nvc``."""
        roles = {"c": self.c, "cxx": self.cxx, "nvcc": self.nvcc, "nvc": self.nvc}
        return roles[name]


def nvcc_warnings(tools: Toolchains, path: str) -> tuple[Diagnostic, ...]:
    """Return the warning that this machine's nvcc makes wrong code at times, at the file `path`."""
    version = tools.nvcc.version if tools.nvcc is not None else ""
    release = re.search(r"release (\d+)\.(\d+)", version)
    if release is None or (int(release[1]), int(release[2])) >= MENDED_NVCC:
        return ()
    return (FAULTY_NVCC.at(Span(path, 1, 1), release=".".join(release.groups())),)


def find_toolchains(environ: Mapping[str, str]) -> Toolchains:
    """Return the compilers that `environ` leads to, each proven by a compilation.

    The answer is kept for the life of the process, once for each set of `SETTINGS`.
    """
    return _find(tuple((name, environ.get(name, "")) for name in SETTINGS))


@lru_cache(maxsize=8)
def _find(settings: tuple[tuple[str, str], ...]) -> Toolchains:
    environ = dict(settings)
    search = environ["PATH"] or None
    problems: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="annotune-probe-") as name:
        folder = Path(name)
        # nvcc's probe takes longest by far, so it runs beside all the others.
        with ThreadPoolExecutor(2) as pool:
            cuda = pool.submit(_find_nvcc, environ, search, folder)
            c = _first_working(
                _candidates("CC", ("gcc", "cc"), environ, search), folder, "c", problems
            )
            cxx = _first_working(
                _candidates("CXX", ("g++", "c++"), environ, search), folder, "cxx", problems
            )
            cxx = _painting(cxx, folder)
            can = _capabilities(c, folder, problems)
            nvcc, cuda_problem = cuda.result()
        if cuda_problem:
            problems["nvcc"] = cuda_problem
        nvcc = _with_cudart(nvcc, cxx or c, folder, problems)
    return Toolchains(
        c=c,
        cxx=cxx,
        nvcc=nvcc,
        nvc=_find_nvc(environ, search, problems),
        nvdisasm=binary_utility("nvdisasm", search, nvcc),
        native=("-march=native",) if can["native"] else (),
        openmp=can["openmp"],
        openacc=can["openacc"],
        offload=_offload_targets(c),
        asan=_asan_library(c) if can["asan"] else "",
        problems=problems,
        ncu=binary_utility("ncu", search, nvcc),
    )


def _candidates(
    variable: str, names: tuple[str, ...], environ: Mapping[str, str], search: str | None
) -> list[tuple[str, ...]]:
    """Return the commands to try: the variable's words alone when it is set, else `names`."""
    chosen = shlex.split(environ.get(variable, ""))
    if chosen:
        return [tuple(chosen)]
    return [(found,) for name in names if (found := shutil.which(name, path=search))]


def _compile(
    command: tuple[str, ...], folder: Path, text: str, suffix: str, *flags: str
) -> Finished:
    """Return how `command` compiled `text`; the object lies beside it and is not kept."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        source = Path(scratch) / f"probe{suffix}"
        source.write_text(text)
        words = (*command, str(source), "-o", str(Path(scratch) / "probe.out"), *flags)
        return run_command(words, PROBE_LIMIT_S, Path(scratch))


def _words(finished: Finished) -> str:
    """Return how a probe failed: the command, its ending and its first line that says error."""
    lines = [line for line in finished.output.splitlines() if line.strip()]
    telling = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "")
    return f"{shlex.join(finished.command[:1])}: {finished.ending()}: {telling}".rstrip(": ")


def _version(command: tuple[str, ...]) -> str:
    """Return the line of ``--version`` that holds a number, or an empty string."""
    finished = run_command((*command, "--version"), PROBE_LIMIT_S)
    lines = [line.strip() for line in finished.output.splitlines() if re.search(r"\d", line)]
    release = [line for line in lines if "release" in line]
    return (release or lines or [""])[0] if finished.ok else ""


def _first_working(
    candidates: list[tuple[str, ...]], folder: Path, role: str, problems: dict[str, str]
) -> Compiler | None:
    """Return the first candidate that compiles three lines; say in `problems` why none did."""
    suffix = ".c" if role == "c" else ".cpp"
    problems[role] = "not set and not on PATH"
    for command in candidates:
        finished = _compile(command, folder, _C_PROBE, suffix, "-c")
        if finished.ok:
            del problems[role]
            return Compiler(command, _version(command))
        problems[role] = _words(finished)
    return None


# A local that is read before it is written is zero by luck in most builds; with this flag of gcc
# 12 and clang 8 it is -5e303. On a GPU it is what the register held before.
PAINT = "-ftrivial-auto-var-init=pattern"


def _painting(cxx: Compiler | None, folder: Path) -> Compiler | None:
    """Return the compiler of translated kernels with `PAINT`, where it knows the flag."""
    if cxx is None or not _compile(cxx.command, folder, _C_PROBE, ".cpp", "-c", PAINT).ok:
        return cxx
    return replace(cxx, flags=(*cxx.flags, PAINT))


def _capabilities(c: Compiler | None, folder: Path, problems: dict[str, str]) -> dict[str, bool]:
    """Return what the C compiler can do: native code, OpenMP, OpenACC, the sanitizers."""
    probes = {
        "native": (_C_PROBE, ("-c", "-march=native")),
        "openmp": (_OPENMP_PROBE, ("-fopenmp", "-fPIC", "-shared")),
        "openacc": (_OPENACC_PROBE, ("-fopenacc", "-foffload=disable", "-fPIC", "-shared")),
        "asan": (_C_PROBE, ("-fsanitize=address,undefined", "-fPIC", "-shared")),
    }
    if c is None:
        return dict.fromkeys(probes, False)
    can = {}
    for name, (text, flags) in probes.items():
        finished = _compile(c.command, folder, text, ".c", *flags)
        can[name] = finished.ok
        if not finished.ok:
            problems[name] = _words(finished)
    return can


def _offload_targets(c: Compiler | None) -> tuple[str, ...]:
    """Return the offload targets that gcc was built for and whose compiler is installed."""
    if c is None:
        return ()
    finished = run_command((*c.command, "-v"), PROBE_LIMIT_S)
    named = re.search(r"^OFFLOAD_TARGET_NAMES=(.*)$", finished.output, re.MULTILINE)
    if not named:
        return ()
    installed = []
    for target in named[1].split(":"):
        # Debian's gcc names targets whose packages are not there; the program tells.
        program = f"-print-prog-name=accel/{target}/mkoffload"
        answer = run_command((*c.command, program), PROBE_LIMIT_S).output.strip()
        if Path(answer).is_file():
            installed.append(target)
    return tuple(installed)


def _asan_library(c: Compiler | None) -> str:
    """Return the path of the compiler's libasan.so, empty when it has none."""
    if c is None:
        return ""
    finished = run_command((*c.command, "-print-file-name=libasan.so"), PROBE_LIMIT_S)
    path = Path(finished.output.strip())
    # A compiler that does not know the file answers with the bare name.
    return str(path.resolve()) if path.is_absolute() and path.exists() else ""


def _nvcc_candidates(environ: Mapping[str, str], search: str | None) -> list[tuple[str, ...]]:
    """Return the nvcc commands to try: NVCC, PATH, CUDA_HOME, CUDA_PATH, PyPI's wheels."""
    chosen = shlex.split(environ.get("NVCC", ""))
    if chosen:
        return [tuple(chosen)]
    found = [shutil.which("nvcc", path=search) or ""]
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if environ.get(variable):
            found.append(str(Path(environ[variable]) / "bin" / "nvcc"))
    for entry in sys.path:
        if entry.endswith("site-packages"):
            found += sorted(map(str, Path(entry).glob("nvidia/cu*/bin/nvcc")), reverse=True)
    unique = dict.fromkeys(path for path in found if path and Path(path).exists())
    return [(path,) for path in unique]


def _find_nvcc(
    environ: Mapping[str, str], search: str | None, folder: Path
) -> tuple[Compiler | None, str]:
    """Return the first nvcc that makes a cubin, or None with the reason."""
    problem = "not on PATH, in CUDA_HOME, or among this Python's packages"
    host = shutil.which("g++", path=search)
    flags = ("-ccbin", host) if host else ()
    for command in _nvcc_candidates(environ, search):
        finished = _compile(
            command, folder, _CUDA_PROBE, ".cu", *flags, f"-arch={PROBE_ARCH}", "-cubin"
        )
        if finished.ok:
            include, library = _cuda_folders(command)
            return Compiler(command, _version(command), flags, include, library), ""
        problem = _words(finished)
    return None, problem


def binary_utility(name: str, search: str | None, nvcc: Compiler | None) -> str:
    """Return the path of one of CUDA's binary utilities: on PATH, beside nvcc, PyPI's wheels."""
    found = [shutil.which(name, path=search) or ""]
    if nvcc is not None and nvcc.include:
        found.append(str(Path(nvcc.include).parent / "bin" / name))
    for entry in sys.path:
        found += sorted(map(str, Path(entry).glob(f"nvidia/cu*/bin/{name}")), reverse=True)
    return next((path for path in found if path and Path(path).is_file()), "")


def _cuda_folders(command: tuple[str, ...]) -> tuple[str, str]:
    """Return the folders of CUDA's headers and of cudart, as nvcc itself uses them.

    The place of the nvcc file tells nothing: it may be a wrapper or a link.
    """
    finished = run_command((*command, f"-arch={PROBE_ARCH}", "--dryrun", "x.cu"), PROBE_LIMIT_S)
    include = re.search(r'^#\$ INCLUDES=.*?"-I([^"]+)"', finished.output, re.MULTILINE)
    libraries = re.search(r"^#\$ LIBRARIES=(.*)$", finished.output, re.MULTILINE)
    folders = re.findall(r'"-L([^"]+)"', libraries[1]) if libraries else []
    with_cudart = [f for f in folders if list(Path(f).glob("libcudart*"))]
    return (
        str(Path(include[1]).resolve()) if include else "",
        str(Path(with_cudart[0]).resolve()) if with_cudart else "",
    )


def _with_cudart(
    nvcc: Compiler | None, linker: Compiler | None, folder: Path, problems: dict[str, str]
) -> Compiler | None:
    """Return nvcc with the words by which a compiler links its objects, proven by a program.

    That is the C++ compiler where there is one: a C compiler may be without libstdc++. The static
    library: PyPI's wheel has no ``libcudart.so`` for ``-lcudart`` to find.
    """
    if linker is None or nvcc is None:
        return nvcc
    link = (f"-L{nvcc.library}", "-lcudart_static", "-lstdc++", "-lpthread", "-ldl", "-lrt")
    finished = _compile(linker.command, folder, _CUDART_PROBE, ".c", *link)
    if finished.ok:
        return replace(nvcc, link=link)
    problems["cudart"] = _words(finished)
    return nvcc


def _find_nvc(
    environ: Mapping[str, str], search: str | None, problems: dict[str, str]
) -> Compiler | None:
    """Return NVIDIA's HPC compiler when it answers ``--version``."""
    places = [environ.get("NVC", ""), shutil.which("nvc", path=search) or ""]
    for variable in ("NVHPC", "NVHPC_ROOT"):
        root = environ.get(variable)
        if root:
            for below in ("compilers/bin/nvc", "bin/nvc", "Linux_*/*/compilers/bin/nvc"):
                places += sorted(map(str, Path(root).glob(below)), reverse=True)
    for place in filter(None, places):
        command = tuple(shlex.split(place))
        version = _version(command)
        if version:
            return Compiler(command, version)
    problems["nvc"] = "not on PATH or under NVHPC"
    return None
