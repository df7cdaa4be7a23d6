"""The emitted CUDA, executed on the CPU: right at every size, not at the tuned ones alone.

One file holds all functions, so that it is built once. Each is called with sizes that its
kernels were not made for: zero, one, negative, primes, one more than tiles.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.executed import FORWARDS, Call, Executable, Part, emitted, executable
from support.regions import EXAMPLES

A, B = Part(0), Part(1)
ROOM = (4000, 4000)


def region(nest: str, params: str = "", recipe: str = "") -> str:
    """Return an annotated nest."""
    known = f" def input_params {{ {params} }} " if params else ""
    chill = f"/*@ begin CHiLL (\n{recipe}\n) @*/\n" if recipe else ""
    closer = "/*@ end @*/\n" if recipe else ""
    return f"/*@ begin PerfTuning ({known}) @*/\n{chill}{nest}\n{closer}/*@ end @*/\n"


# Functions of n and two arrays that do not overlap: the parameter of n, the nest, and the tuned n.
NESTS = {
    # Names that C++ keeps for itself, and names that the generated text uses.
    "keywords": ("int new", "for (int this = 0; this < new; this++) a[this] = b[this];", 8),
    "locals": (
        "int status",
        "for (int blocks = 0; blocks < status; blocks++)\n"
        "for (int threads = 0; threads < status; threads++)\n"
        "a[blocks*status+threads] += b[threads];",
        6,
    ),
    "derived": (
        "int a_bytes",
        "for (int d_a = 0; d_a < a_bytes; d_a++) for (int fits = 0; fits < 3; fits++) "
        "a[d_a] += b[fits];",
        6,
    ),
    "copies": (
        "int a_acc",
        "for (int i = 0; i < 5; i++) for (int k = 0; k < a_acc; k++) a[i*a_acc] += b[k];",
        6,
    ),
    "minimum": ("int min", "for (int i = 0; i < min; i++) a[i] = b[i];", 1000),
    "tiles": ("int i_t", "for (int i = 0; i < i_t; i++) a[i] = b[i];", 1000),
    "own": ("int annotune_n", "for (int i = 0; i < annotune_n; i++) a[i] = b[i];", 10),
    # Types of iterators and sizes.
    "longs": ("long n", "for (long i = -1; i < n; i++) a[i + 1] = b[i + 1];", 8),
    "long_tiles": ("int n", "for (long i = -3; i < n; i++) a[i + 3] = b[i + 3];", 1000),
    "sizes": (
        "unsigned long n",
        "for (int i = 0; i < 5; i++) for (unsigned long k = 0; k < n; k++) a[i] += b[k];",
        16,
    ),
    "unsigned_ends": (
        "unsigned n",
        "for (unsigned i = 0; i < 5; i++) for (unsigned k = 1; k < n + 1; k++) a[i] += b[k];",
        16,
    ),
    # Bounds.
    "inclusive": (
        "int n",
        "for (int i = 1; i <= n; i++) for (int k = 2; k <= n; k++) a[i - 1] += b[k*n+i];",
        8,
    ),
    "steps": (
        "int n",
        "for (int i = 1; i < n; i += 3) for (int k = 0; k < n; k += 2) a[i] += b[k+i];",
        16,
    ),
    "step_tiles": ("int n", "for (int i = 1; i < n; i += 2) a[i] = b[i];", 1000),
    "triangle": (
        "int n",
        "for (int i = 0; i < n; i++) for (int k = i + 1; k < n; k++) a[n-2-i] += b[k];",
        8,
    ),
    "short_triangle": (
        "int n",
        "for (int i = 0; i < n; i++) for (int k = i + 2; k < n; k++) a[i] += b[k];",
        8,
    ),
    # Long axes.
    "threads": (
        "int n",
        "for (int j = 0; j < 3; j++) for (int i = 0; i < n; i++) a[i*3+j] = b[i];",
        1200,
    ),
    # Several kernels, values that travel between them, and loops of the host.
    "kernels": (
        "int n",
        "double s = 0.0;\nfor (int i = 0; i < n; i++) s += b[i];\n"
        "for (int i = 0; i < n; i++) a[i] = s*b[i];",
        9,
    ),
    "jacobi": (
        "int n",
        "for (int threads = 1; threads < 4; threads++) {\n"
        "for (int i = 1; i < n - 1; i++) b[i] = a[i-1] + a[i+1] + threads;\n"
        "for (int i = 1; i < n - 1; i++) a[i] = b[i];\n}",
        20,
    ),
    "factors": (
        "int n",
        "for (int k = 0; k < n; k++) for (int i = k + 1; i < n; i++) "
        "for (int j = 0; j < n; j++) a[i*n+j] += b[i*n+k]*a[k*n+(n-1-j)];",
        7,
    ),
    # Without the functions of C++, whose arguments must be of one type.
    "value_after": (
        "long n",
        "for (int i = 0; i < 5; i++) { int k; a[i] = 0; "
        "for (k = 0; k < n; k++) a[i] += b[k]; a[i] += k; }",
        7,
    ),
    "subscript_after": (
        "int n",
        "for (int i = 0; i < n; i++) { int k; a[i] = 0; "
        "for (k = 0; k < n; k += 3) a[i] += b[k]; a[i] += b[k + 1]; }",
        7,
    ),
    "strides_of_least": (
        "long n",
        "for (int k = 0; k < 5; k++) for (long i = 0; i < n && i <= n - k; i++) "
        "a[i+k] += b[i] + (i < k ? i : k);",
        300,
    ),
    "from_the_greater": (
        "unsigned n",
        "for (int i = 2; i < 5; i++) "
        "for (unsigned k = (n > i ? n : i); k < 2 * n; k++) a[k*5+i] += b[k];",
        20,
    ),
    "long_sums": (
        "int n",
        "for (int i = 0; i < n; i++) a[i] = b[i+1] + (b[i+2] - b[i+3]) "
        "+ b[i+4] + (b[i+5] - b[i+6]) + b[i+7] + (b[i+8] - b[i+9]) - b[i+10];",
        9,
    ),
}

# The recipe, the nest, and the tuned n.
RECIPES = {
    "many_threads": ('cuda(0, block={"j"}, thread={"i"})', NESTS["threads"][1], 1200),
    "tiled": (
        'tile(0,"i",3) cuda(0, block={"i_t","j"}, thread={"i"}) tile(0,"k",4) '
        'registers(0,"k_t") unroll(0,"k",2)',
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) "
        "a[i*n+j] += b[k*n+i];",
        8,
    ),
    # Thread y chooses the tile in which thread x runs.
    "tiles_on_threads": (
        'tile(0,"i",2,"ii") tile(0,"j",3,"jj") cuda(0, block={"ii","i"}, thread={"j","jj"})',
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) "
        "a[i*n+j] += b[i+k*n]*b[j+k];",
        8,
    ),
    # The bounds of both loops that unrolling makes are expressions with a minimum in them.
    "long_bounds": (
        'cuda(0, thread={"i"}) tile(0,"k",6) unroll(0,"k",3)',
        "for (int i = 0; i < n; i++) for (long k = 1; k < n; k++) a[i] += b[k];",
        13,
    ),
    "unrolled_twice": (
        'cuda(0, block={"i"}) registers(0,"k") unroll(0,"k",4) unroll(0,"j",2)',
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < 4; k++) "
        "a[i*n+j] += b[k+j];",
        6,
    ),
    "host_bounds": ('cuda(0, block={"i"}, thread={"j"})', NESTS["factors"][1], 7),
}
SIZES = (1, 2, 3, 5, 7, 9, 11, 0, -1)


def text() -> str:
    parts = []
    for name, (size, nest, tuned) in NESTS.items():
        param = f"param {size.split()[-1]} = {tuned};"
        body = region(nest, param)
        parts.append(f"void {name}({size}, double *restrict a, double *restrict b)\n{{\n{body}}}\n")
    for name, (recipe, nest, tuned) in RECIPES.items():
        body = region(nest, f"param n = {tuned};", recipe)
        parts.append(f"void {name}(int n, double *restrict a, double *restrict b)\n{{\n{body}}}\n")
    return "\n".join(parts)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Executable:
    return executable(tmp_path_factory.mktemp("built"), text())


@pytest.mark.alike(2)
@pytest.mark.parametrize("name", [*NESTS, *RECIPES])
def test_is_right_at_every_size(built: Executable, name: str) -> None:
    tuned = (NESTS.get(name) or RECIPES[name])[2]
    others = [n for n in SIZES if n >= 0 or "unsigned" not in NESTS.get(name, ("",))[0]]
    if tuned > 100:
        others += [255, 256, 257, 1025, tuned + 1]
    built.check(Call(name, (tuned, A, B), ROOM), launches=True)
    built.check(*(Call(name, (n, A, B), ROOM) for n in others))
    # What is proven holds for more than the tuned sizes, but where a division or a bound of
    # two variables is beyond the proofs.
    (outcome,) = built.outcomes(Call(name, (11, A, B), ROOM, orders=(FORWARDS,)))[0]
    assert (outcome.launches > 0) is (name not in ("subscript_after", "strides_of_least"))


FINALS = f"""
int finals(int n, double *restrict a, double *restrict b) {{
  int i = -5, j = -6, k = -7;
{
    region(
        "for (i = 1; i <= n; i += 2) for (j = i; j < n; j++) for (k = j; k <= i + 1; k++) "
        "a[i] += b[k];",
        "param n = 6;",
    )
}
  return 10000*i + 100*j + k;
}}
int box(int n, double *restrict a, double *restrict b) {{
  int i = -5, j = -6;
{region("for (i = 2; i <= n; i += 3) for (j = 1; j < n; j += 2) a[i] += b[j];", "param n = 6;")}
  return 100*i + j;
}}
double total(int n, double *restrict a, double *restrict b) {{
  double s = 3.0; int i;
{
    region(
        '''for (i = 0; i < n; i++) a[i] += b[i];
for (i = 0; i < n; i++) s += a[i];''',
        "param n = 6;",
    )
}
  b[0] = s;
  return s;
}}
void again(int n, double *a, double *b) {{
  int i;
{region("for (i = 0; i < n; i++) a[i] = b[i];", "param n = 6;")}
  if (n > 3)
    a[0] = 5;
{region("for (i = 0; i < n; i++) b[i] += a[n - 1 - i];", "param n = 6;")}
}}
void shifted(int n, double *a, double *b) {{
{region("for (int i = 0; i < n; i++) a[i-3] = b[i-5] + b[i+2];", "param n = 8;")}
}}
void square(int n, double a[n][n], double b[n][n]) {{
{
    region(
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) "
        "a[i][j] += b[i][k]*b[k][j];",
        "param n = 6;",
    )
}
}}
void singles(int n, float x, float *restrict a, const float *restrict b) {{
{
    region(
        "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) a[i] += b[k*n+i];", "param n = 8;"
    )
}
}}
"""


@pytest.fixture(scope="module")
def finals(tmp_path_factory: pytest.TempPathFactory) -> Executable:
    return executable(tmp_path_factory.mktemp("finals"), FINALS)


@pytest.mark.parametrize("name", ["finals", "box"])
def test_iterators_keep_their_final_values(finals: Executable, name: str) -> None:
    calls = [Call(name, (n, A, B), (100, 100)) for n in (6, 1, 2, 3, 4, 5, 7, 0, -3)]
    finals.check(*calls, returns=True)


def test_a_scalars_value_travels_between_kernels_and_out(finals: Executable) -> None:
    finals.check(*(Call("total", (n, A, B), (100, 100)) for n in (6, 1, 7, 0)))


def test_two_regions_of_one_function(finals: Executable) -> None:
    calls = [Call("again", (n, A, B), (100, 100)) for n in (6, 1, 2, 7, 0)]
    finals.check(*calls)
    (outcomes,) = finals.outcomes(Call("again", (6, A, B), (100, 100)))
    assert [o.launches for o in outcomes] == [2, 2, 2]


@pytest.mark.parametrize("offset", [-20, -8, -1, 0, 1, 5, 12, 13, 14, 40])
@pytest.mark.parametrize("n", [8, 3])
def test_arrays_that_overlap_run_the_original_nest(finals: Executable, offset: int, n: int) -> None:
    # a[-3 … n-4] is written, b[-5 … n+1] read.
    written = range(-3, n - 3)
    apart = not set(written) & set(range(offset - 5, offset + n + 2))
    call = Call("shifted", (n, Part(0, 30), Part(0, 30 + offset)), (100,))
    finals.check(call, launches=apart)


@pytest.mark.parametrize("offset", [0, 3, 15, 16, 17])
def test_matrices_that_overlap(finals: Executable, offset: int) -> None:
    finals.check(Call("square", (4, Part(0, offset), Part(0)), (100,)), launches=offset >= 16)


@pytest.mark.parametrize("n", [8, 1, 0, 9])
def test_floats(finals: Executable, n: int) -> None:
    finals.check(Call("singles", (n, 1.0, A, B), (100, 100), floats=(0, 1)))


@pytest.mark.parametrize("function", ["square", "total"])
def test_every_call_may_fail(finals: Executable, function: str) -> None:
    every_call_fails(finals, Call(function, (6, A, B), (64, 64)))


def every_call_fails(one: Executable, call: Call) -> None:
    """Check that nothing is lost, whichever call of the CUDA library fails."""
    ((outcome, *_),) = one.outcomes(call)
    last = outcome.counted["calls"]
    failing = [replace(call, fail_at=k) for k in range(1, last + 1)]
    for planned, outcomes in zip(failing, one.outcomes(*failing), strict=True):
        for outcome in outcomes:
            assert outcome.same, (planned, outcome)
            assert (outcome.live_allocations, outcome.broken_zones) == (0, 0), (planned, outcome)


@pytest.fixture(scope="module")
def triples(tmp_path_factory: pytest.TempPathFactory) -> Executable:
    source = (EXAMPLES / "nwchem" / "sd_t_d1.c").read_text().replace("= 16;", "= 4;")
    folder = tmp_path_factory.mktemp("triples")
    return executable(folder, source, function="sd_t_d1_1")


@pytest.mark.parametrize(
    "sizes",
    [(4,) * 7, (1,) * 7, (2, 3, 1, 5, 2, 3, 7), (5, 4, 3, 2, 3, 2, 1), (4, 4, 4, 4, 4, 4, 3)],
)
def test_triples(triples: Executable, sizes: tuple[int, ...]) -> None:
    h3, h2, h1, p6, p5, p4, h7 = sizes
    room = (h3 * h2 * h1 * p6 * p5 * p4, h7 * p4 * p5 * h1, h3 * h2 * p6 * h7)
    pointers = (Part(0), Part(1), Part(2))
    triples.check(Call("sd_t_d1_1", (*sizes, *pointers), room), launches=True)


@pytest.mark.parametrize("position", range(7))
def test_triples_with_an_empty_index(triples: Executable, position: int) -> None:
    sizes = [4] * 7
    sizes[position] = 0
    pointers = (Part(0), Part(1), Part(2))
    triples.check(Call("sd_t_d1_1", (*sizes, *pointers), (4096, 256, 256)), launches=False)


def small_gradient() -> str:
    source = (EXAMPLES / "nekbone" / "local_grad3.c").read_text()
    return source.replace("#define lx 10", "#define lx 4").replace("nelt 1000", "nelt 3")


GRADIENT_ROOM = (192, 192, 192, 16, 192, 16)


@pytest.mark.slow
def test_the_gradient_of_nekbone(tmp_path: Path) -> None:
    one = executable(tmp_path, small_gradient())
    arrays = tuple(Part(k) for k in range(6))
    call = Call("local_grad3", arrays, GRADIENT_ROOM)
    one.check(call, launches=True)
    (outcomes,) = one.outcomes(call)
    # What it has had stays for the next call.
    counted = {name: outcomes[0].counted[name] for name in ("mallocs", "memcpys", "frees")}
    assert counted == {"mallocs": 6, "memcpys": 9, "frees": 0}
    every_call_fails(one, call)


def test_a_macro_with_another_value_than_annotune_saw(tmp_path: Path) -> None:
    files = emitted(tmp_path, small_gradient()).files
    one = Executable(tmp_path, small_gradient(), files, "-Dlx=5")
    arrays = tuple(Part(k) for k in range(6))
    room = (375, 375, 375, 25, 375, 25)
    one.check(Call("local_grad3", arrays, room), launches=False)
