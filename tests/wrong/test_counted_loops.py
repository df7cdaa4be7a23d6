"""Loops that count otherwise than from an assignment up to a bound, and what they leave.

The condition steps the iterator, the loop goes on from the value that it has, or it is a ``while``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from annotune.codegen.target import load_target
from annotune.diagnostics import AnnotuneError
from annotune.pipeline import Settings, emit
from wrong.called import Array, Call, Program

FUNCTION = """\
{type} f{number}({type} n, {type} k, double *restrict a, double *restrict b)
{{
    {type} i = k;
    /*@ begin PerfTuning ( def input_params {{ param n = 67; param k = 1; }} ) @*/
    {loop}
    /*@ end @*/
    return i;
}}
"""
# By the type of `n`, `k` and `i`.
COUNTED = {
    "int": (
        "for (i = n; i-- > 0;) b[i] = 2 * a[i] + i;",
        "for (i = n; i-- > k;) { b[i] = a[i]; b[i] += i; }",
        "for (i = n; --i >= k;) b[i] = a[i] + i;",
        "for (i = n; 0 < i--;) b[i] += a[i];",
        "for (; i < n; i++) b[i] += a[i];",
        "for (; i < n; i += 3) b[i] += a[i];",
        "i = n; for (; i >= k; i--) b[i] = 3 * a[i] - i;",
        "i = n; while (i-- > 0) b[i] -= a[i];",
        "i = n < 0 ? 0 : n; while (i--) b[i] -= a[i];",
        "i = n < 0 ? 0 : n; for (; i; i--) b[i] -= a[i];",
        "i = n < 0 ? 0 : n; while (i) { b[i] += a[i]; --i; }",
        "k = n < 0 ? 0 : n; for (i = 0; k; k -= 1, i++) b[i] = a[k];",
        "while (++i < n) b[i] = a[i] * i;",
        "while (i++ < n) b[i] = a[i] * i;",
        "while (i < n) { b[i] = a[i]; i++; }",
        "while (i < n) { b[i] = a[i]; i = 2 + i; }",
        "while (i < n) b[i++] = 2;",
        "for (; i < n && i < 5; i++) b[i] += a[i];",
        "while (i < n) { int j = 3; while (j-- > 0) b[3 * i + j] += a[j]; i += 1; }",
        "for (i = 0; i + 3 < n; i += 4) { b[i] += 1; b[i + 1] += 2; b[i + 3] += 3; }"
        " for (; i < n; i++) b[i] += 5;",
        "for (; n > 0; n--) b[n] = a[n] + i; i = n;",
        "for (i = 0; i < n; i++) b[i] += a[i]; while (i > k) { b[i] *= 2; i--; }",
        # What macros are made of.
        "do { for (; i < n; i++) do { double t = a[i]; b[i] += t; } while (0); } while (0);",
        "for (; i < n; i++) if (a[i] > 1) do b[i] = 1; while (0); else do { b[i] = 2; } while (0);",
        "for (; i < n; i++) do { for (int j = 0; j < 3; j++) { if (j == k) continue; b[i] += j; } }"
        " while (0);",
        # What the iterator has before the region, in other integers and loops.
        "k = i; for (i = 0; i < n; i++) a[i] = k; for (; i < n + 3; i++) b[i] += k + i;",
        "k = 2 * i; for (i = 1; i < n; i++) a[i] += k; for (; i < n + 3; i++) b[i] += k; i += k;",
        "k = 0; while (i < n) { b[k] = a[i]; b[k + 1] = i; k += 2; i++; } i = 300 * i + k;",
        "k = i; while (i < n) { b[k] = a[i]; k += 3; i++; } for (; i > 2; i--) b[i] += k; i -= k;",
        "k = 80; for (; i < n; i++, k--) b[i] += a[k] * k; i += 100 * k;",
    ),
    "long": (
        "for (i = n - 1; i > -1; --i) b[i] = a[i] + i;",
        "for (i = n; i-- > 0;) b[i] = 2 * a[i] + i;",
        "while (i <= n) { b[i] = a[i]; ++i; }",
    ),
    "short": ("for (; i < n; i++) b[i] += a[i];", "for (i = n; i-- > 0;) b[i] += i;"),
    "unsigned long": (
        "for (i = n; i-- > 0;) b[i] = 2 * a[i] + i;",
        "for (i = n; i-- != 0;) b[i] = a[i] + 1;",
        "for (i = n; i--;) b[i] = a[i] + 2;",
        "while (i < n) { b[i] = a[i] + i; i++; }",
        "for (; i < n; i++) b[i] += a[i];",
    ),
    "unsigned": ("for (i = n; i-- > 0;) b[i] += (i - 2) / 2;", "while (i < n) b[i++] = 2;"),
}
KINDS = {"int": "i4", "long": "i8", "short": "i2", "unsigned long": "u8", "unsigned": "u4"}
# The host's own loops around a region, which read and set what the region does.
NEST = "/*@ begin PerfTuning ( def input_params { param n = 64; param k = 1; } ) @*/ "
END = " /*@ end @*/ "
HOST = (
    f"while (k < 5) {{ {NEST} for (int j = 0; j < n; j++) b[j] += k; {END} k++; }} i = k;",
    f"while (k-- > 0) {{ b[0] += i; {NEST} for (i = 0; i < n; i++) b[i] += k; {END} }} i += k;",
    f"do {{ int q = k; {NEST} for (i = 0; i < n; i++) b[i] += q; {END} k = q + i; }} while (0);",
    f"while (k < 6) {{ int q = k; i = 0; {NEST} while (i < n) {{ b[i] += q; i++; }} {END}"
    " k += q > 3 ? 1 : 2; }",
    f"for (;;) {{ if (k > 4) break; {NEST} for (; i < n; i++) b[i] += k; {END} i = k++; }}",
    f"while (n > 0) {NEST} for (; n > 0; n--) b[n - 1] += n; {END} i = n;",
    # The step of the host's loop is a statement of the region.
    f"while (k < 5) {{ {NEST} for (int j = 0; j < n; j++) b[j] += k; k++; {END} }} i = k;",
    f"while (k < 9) {{ b[1] += 1; {NEST} for (i = 0; i < n; i++) b[i] += 1; k += 2; {END} }}",
    f"while (i < n) {{ {NEST} for (int j = 0; j < 4; j++) b[j] += i; i = i + 1; {END} }}",
    f"for (int r = 0; r < 2; r++) while (k < 5 + r) {{ {NEST} for (i = 0; i < n; i++) b[i] += r;"
    f" k++; {END} }}",
    f"while (k < 8) {{ while (i < k) {{ {NEST} for (int j = 0; j < n; j++) b[j] += a[j]; ++i;"
    f" {END} }} k++; }}",
    f"while (n > k) {{ k--; k++; {NEST} for (i = 0; i < n; i++) b[i] += k; n--; {END} }} i = n;",
    f"while (k < 3) {{ if (a[k] > 2) {{ k++; continue; }} {NEST}"
    f" for (int j = 0; j < n; j++) b[j] += 1; {END} k++; }} i = k;",
)
HEAD = "int f{number}(int n, int k, double *restrict a, double *restrict b)\n"
REFUSED = {
    "while (i < n) { if (a[i] > 0) { i++; continue; } b[i] = 1; i++; }": "AT131",
    "do { b[i] += 1; i++; } while (i < n);": "AT131",
    "for (; i < n; i++) do { if (a[i] > 1) break; b[i] = 1; } while (0);": "AT131",
    "while (b[0] > 1) { for (int j = 0; j < n; j++) b[j] *= 0.5; }": "AT131",
    "while (i < n) { b[i] = 1; i *= 2; }": "AT131",
    "while (i < n) { b[i] = 1; if (a[i] > 0) i++; i++; }": "AT131",
    "while (i-- > 0 && a[i] > 0) b[i] = 1;": "AT131",
    "for (; i-- > 0 && a[i] > 0;) b[i] = 1;": "AT141",
    "while (i-- > i / 2) b[i] = 1;": "AT141",
    "for (; i < n; i++) { b[i] = 1; i += k; }": "AT144",
    "for (; i + n < n; n--) b[n] = 1;": "AT141",
    "for (int j = 0; j < 4; j++) for (; i < n; i++) b[i] += j;": "AT140",
}


def test_each_runs_as_often_and_leaves_what_c_leaves(tmp_path: Path) -> None:
    pairs = [(kind, loop) for kind, loops in COUNTED.items() for loop in loops]
    texts = (
        FUNCTION.format(type=kind, number=k, loop=loop) for k, (kind, loop) in enumerate(pairs)
    )
    (tmp_path / "counted.c").write_text("".join(texts))
    program = Program(tmp_path, tmp_path / "counted.c", ("cuda", "openacc", "openmp"))
    left = [one.message for one in program.emission.diagnostics if one.code == "AT623"]
    assert not left
    calls = []
    for number, (kind, _) in enumerate(pairs):
        code = KINDS[kind]
        for n, k in ((67, 1), (6, 2), (1, 4), (0, 0), *([] if code[0] == "u" else [(-2, 1)])):
            arrays = Array("f8", 240, seed=number), Array("f8", 240)
            calls.append(Call(f"f{number}", (code, n), (code, k), *arrays, returns=code))
    program.check(*calls)


def test_the_host_goes_on_from_what_a_region_leaves(tmp_path: Path) -> None:
    texts = (
        HEAD.format(number=number) + f"{{\nint i = 2;\n{body}\nreturn i;\n}}\n"
        for number, body in enumerate(HOST)
    )
    (tmp_path / "host.c").write_text("".join(texts))
    program = Program(tmp_path, tmp_path / "host.c", ("cuda", "openacc", "openmp"))
    assert not [one.message for one in program.emission.diagnostics if one.code == "AT623"]
    arrays = Array("f8", 90), Array("f8", 90, seed=1)
    calls = (
        Call(f"f{number}", ("i4", n), ("i4", k), *arrays, returns="i4")
        for number in range(len(HOST))
        for n, k in ((67, 1), (6, 2), (0, 4), (9, 0))
    )
    program.check(*calls)


@pytest.mark.parametrize("loop", REFUSED)
def test_what_is_not_counted_is_refused(loop: str, tmp_path: Path) -> None:
    source = tmp_path / "refused.c"
    source.write_text(FUNCTION.format(type="int", number=0, loop=loop))
    with pytest.raises(AnnotuneError) as refused:
        emit(Settings(source, ("openmp",)), [load_target("openmp")])
    assert REFUSED[loop] in {one.code for one in refused.value.diagnostics}
