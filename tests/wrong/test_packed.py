"""Packed and triangular storage: rows that grow or shrink, in closed forms of running indices."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.borders import check_borders

from annotune.analysis.facts import LoopKind
from annotune.certify.certificate import verify
from annotune.certify.kernels import certify_cores
from annotune.ir.constants import value_at
from annotune.pipeline import Settings, check
from annotune.space.decision import Base
from annotune.space.openmp import first_plan
from wrong.called import Array, Call, Program, some

BEGIN = "/*@ begin PerfTuning ( def input_params { param n = 12; param kk = 3; } ) @*/"
LOOPS = {
    "upper": "k = 0; {} for (j = 0; j < n; j++) for (i = 0; i <= j; i++) ap[k++] = a[i + j];",
    "lower": "{} long l = 0; for (j = 0; j < n; j++) for (i = j; i < n; i++)"
    " {{ ap[l] = a[i]; l++; }}",
    "later": "k = 5; {} for (j = 0; j < n; j++) for (i = 0; i <= j; i++) ap[k++] = a[i + j];",
    "formula": "{} for (j = 0; j < n; j++) for (i = 0; i <= j; i++)"
    " ap[j * (j + 1) / 2 + i] = a[i + j];",
    "below": "{} for (j = 0; j < n; j++) for (i = j; i < n; i++)"
    " ap[(2 * n - j - 1) * j / 2 + i] = a[i + 2 * j];",
    "strict": "{} for (j = 1; j < n; j++) for (i = 0; i < j; i++) ap[j * (j - 1) / 2 + i] += a[i];",
    "before": "{} for (j = 2; j < n; j++) for (i = 0; i < j - 1; i++)"
    " ap[j * (j - 1) / 2 + i] += ap[(j - 1) * (j - 2) / 2 + i];",
    "twos": "k = 0; {} for (j = 0; j < n; j++) for (i = 0; i <= j; i++)"
    " {{ ap[k] = a[i]; ap[k + 1] = a[j]; k += 2; }}",
    "diagonal": "{} for (j = 0; j < n; j++) {{ double t = a[j];"
    " for (i = 0; i <= j; i++) ap[kk + i] += a[i] * t; ap[kk + j] += 1; b[j] = ap[kk];"
    " kk += j + 1; }}",
    "down": "k = n * (n + 1) / 2; {} for (j = n; j > 0; j--) for (i = j; i > 0; i--)"
    " ap[--k] = a[i + j];",
    "guarded": "int l; kk = 1; {} for (j = 1; j <= n; j++) {{ if (a[j] > 3) {{ l = kk;"
    " for (i = j; i <= n; i++) {{ ap[l] += a[i]; l++; }} }} kk = kk + n - j + 1; }}",
    "columns": "int l; {} kk = 0; for (j = 1; j <= n; j++) {{"
    " for (l = kk; l <= kk + j - 1; l++) ap[l] = 2 * ap[l] + a[j]; kk += j; }}",
    "read": "kk = 0; {} for (j = 0; j < n; j++) {{ double t = 0;"
    " for (i = 0; i <= j; i++) t += ap[kk + i] * a[i]; b[j] = t; kk += j + 1; }}",
    "steep": "kk = 0; {} for (j = 0; j < n; j++) {{"
    " for (i = 0; i < 3 * j + 2; i++) ap[kk + i] = a[i]; kk += 3 * j + 2; }}",
}
HEAD = (
    "int {}(int n, int kk, double *restrict ap, double *restrict b, const double *restrict a)\n"
    "{{ int i, j, k = 7;\n {}\n /*@ end @*/\n return k + 100 * kk; }}\n"
)
SERIAL = {"before"}


def text(loops: dict[str, str]) -> str:
    return "".join(HEAD.format(name, one.format(BEGIN)) for name, one in loops.items())


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("packed")
    source = folder / "packed.c"
    source.write_text(text(LOOPS))
    return Program(folder, source)


def calls(name: str) -> list[Call]:
    found = []
    for n in (-2, 0, 1, 2, 3, 7, 12, 19):
        for kk in (0, 3):
            arrays = Array("f8", 900, offset=10), Array("f8", 60), Array("f8", 90, seed=2)
            found.append(Call(name, n, kk, *arrays, returns="i4"))
    return found


@pytest.mark.alike(18)
@pytest.mark.parametrize("name", LOOPS)
def test_packed_rows_do_what_the_c_does(name: str, program: Program) -> None:
    program.check(*calls(name))
    check_borders(program.libraries, *some(calls(name)))


@pytest.mark.parametrize("name", LOOPS)
def test_rows_are_proven_apart_at_all_sizes(name: str, tmp_path: Path) -> None:
    source = tmp_path / "packed.c"
    source.write_text(text({name: LOOPS[name]}))
    analysis = check(Settings(source)).regions[0].analysis
    assert analysis is not None
    assert analysis.all_sizes
    assert (analysis.loops[0].kind is LoopKind.SERIAL) == (name in SERIAL)


@pytest.mark.parametrize("name", LOOPS)
def test_a_certificate_finds_the_rows_by_itself(name: str, tmp_path: Path) -> None:
    source = tmp_path / "packed.c"
    source.write_text(text({name: LOOPS[name]}))
    analysis = check(Settings(source)).regions[0].analysis
    assert analysis is not None
    certificate = certify_cores(analysis, first_plan(Base.of(analysis)))
    assert {*certificate.rows} == {"ap"}
    assert verify(certificate) == ()
    rows = certificate.rows["ap"]
    closer = replace(rows, slope=rows.slope - 2)
    assert any("leaves" in fault for fault in verify(replace(certificate, rows={"ap": closer})))
    low, high = certificate.lengths["ap"]
    for short in ((low + 1, high), (low, high - 1)):
        faults = verify(replace(certificate, lengths={"ap": short}))
        assert any("leaves ap" in fault for fault in faults)


def test_a_length_that_rows_leave_is_not_that_of_what_is_touched(tmp_path: Path) -> None:
    """C does not care for the length of a parameter."""
    source = tmp_path / "short.c"
    one = text({"strict": LOOPS["strict"]}).replace("double *restrict ap", "double ap[restrict n]")
    source.write_text(one)
    analysis = check(Settings(source)).regions[0].analysis
    assert analysis is not None
    assert value_at(analysis.shapes["ap"].length, {"n": 12}) == 66


NEAR = {
    "one too long": "{} for (j = 1; j < n; j++) for (i = 0; i <= j; i++)"
    " ap[j * (j - 1) / 2 + i] = 1;",
    "one too early": "{} for (j = 1; j < n; j++) for (i = 0; i < j; i++)"
    " ap[j * (j - 1) / 2 + i] = ap[j * (j - 1) / 2 + 2 * i];",
    "of bands that may be empty": "k = 0; {} for (j = 0; j < n; j++) for (i = 0; i < j + kk; i++)"
    " ap[k++] = a[i];",
    "of three loops": "k = 0; {} for (int l = 0; l < n; l++) for (j = 0; j <= l; j++)"
    " for (i = 0; i <= j; i++) ap[k++] = a[i];",
    "counted where it holds": "k = 0; {} for (j = 0; j < n; j++) for (i = 0; i <= j; i++)"
    " if (a[i] > 3) ap[k++] = a[i];",
    "not whole": "{} for (j = 0; j < n; j++) for (i = 0; i <= j; i++) ap[j * j / 2 + i] = a[i];",
    "of two squares": "{} for (j = 0; j < n; j++) for (i = 0; i <= j; i++)"
    " ap[j * (j + 1) / 2 + i * (i + 1) / 2] = a[i];",
    "without a sign": "unsigned u = 0; {} for (j = 0; j < n; j++) for (i = 0; i <= j; i++)"
    " ap[u++] = a[i];",
}


@pytest.mark.parametrize("why", NEAR)
def test_rows_that_are_not_proven_apart_are_no_parallel_loop(why: str, tmp_path: Path) -> None:
    source = tmp_path / "near.c"
    source.write_text(text({"near": NEAR[why]}))
    found = check(Settings(source))
    analysis = found.regions[0].analysis
    is_refused = any(d.code in ("AT201", "AT202") for d in found.diagnostics)
    assert is_refused or analysis is None or analysis.loops[0].kind is LoopKind.SERIAL
