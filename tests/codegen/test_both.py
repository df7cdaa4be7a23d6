"""What the host and a GPU can share: the loop, the host's text, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Golden
from hypothesis import given
from hypothesis import strategies as st
from support.cli import annotune
from support.executed import Call, Executable, Part, emitted
from support.nests import refused
from support.regions import analysis_of
from test_in_parts import BOTH, EACH, MATRICES, VECTORS, N, text

from annotune.codegen.cuda.target import CudaTarget
from annotune.codegen.recipes import exact_recipe
from annotune.diagnostics import Span
from annotune.runtime.texts import standalone_files
from annotune.schedule.apply import apply
from annotune.schedule.plan import Plan
from annotune.transforms.cache import COUNTER, Both, is_share
from annotune.transforms.transform import (
    Context,
    Feature,
)

VECTOR = text(VECTORS, f"{EACH} b[i] += a[i];", 2048)
PRODUCT = (
    text(
        "double c[restrict n][9], const double a[restrict n][9], const double b[restrict 9][9]",
        f"{EACH} for (int j = 0; j < 9; j++) for (int k = 0; k < 9; k++)\n"
        "        c[i][j] += a[i][k] * b[k][j];",
        192,
    ),
    (192 * 9, 192 * 9, 81),
)
SHARED = {
    "tiles of a vector": (VECTOR, (2048, 2048)),
    "rows and those beside them": (
        text(MATRICES, f"{BOTH} b[i][j] += a[i][j] + a[i + 2][n - 1 - j];"),
        (N * N, N * N + 2 * N),
    ),
    "rows of a product": PRODUCT,
    "rows inside": (
        text(
            "double b[restrict n][n], const double a[restrict n][n]",
            "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)\n"
            "        b[i][j] = a[i - 1][j] + a[i + 1][j] + a[i][j + 1];",
            66,
        ),
        (66 * 66,) * 2,
    ),
    "two nests of one loop": (
        text(
            "double b[restrict n][9], double c[restrict n][9], const double a[restrict n][9]",
            f"{EACH} {{ for (int j = 0; j < 9; j++) b[i][j] = 2.0 * a[i][j];\n"
            "        for (int j = 0; j < 9; j++) c[i][j] += b[i][8 - j]; }",
            192,
        ),
        (192 * 9,) * 3,
    ),
}


@pytest.mark.alike(4)
@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("share", ["0.3", "1", COUNTER])
def test_no_bit_differs(name: str, share: str, tmp_path: Path) -> None:
    source, buffers = SHARED[name]
    emission = emitted(tmp_path, source, both=share)
    made = Executable(tmp_path, source, emission.files, "-Wno-unknown-pragmas")
    size = int(re.findall(r"param n = (\d+)", source)[0])
    given = (size, *(Part(k) for k in range(len(buffers))))
    for outcomes in made.outcomes(Call("f", given, buffers)):
        for one in outcomes:
            assert one.same, one.message
            assert (one.live_allocations, one.broken_zones) == (0, 0)
            if share != COUNTER:
                assert (one.launches == 0) is (share == "1")


def test_a_recipe_says_it_as_the_option_does(tmp_path: Path) -> None:
    made = emitted(tmp_path, VECTOR, both="0.25")
    recipe = exact_recipe("cuda", made.variants[0]["cuda"])
    assert recipe.count('both(0, "0.25")') >= 1
    for said in ('both(0, "0.25")\n', recipe):
        asked = VECTOR.replace("for", f"/*@ begin CHiLL (\n{said}) @*/\n    for", 1)
        again = emitted(tmp_path, asked.replace("/*@ end @*/", "/*@ end @*/ /*@ end @*/"))
        for end in (".cu", "_cuda.c"):
            here, there = (
                re.sub(r"(?s)/\*.*?\*/", "", one.files[end].partition("void f(")[0])
                for one in (made, again)
            )
            assert here == there


def test_the_text(tmp_path: Path, golden: Golden) -> None:
    files = emitted(tmp_path, SHARED["two nests of one loop"][0], both="0.25").files
    device = files[".cu"]
    device = device[device.index("/* In the user's file") :]
    golden.check("codegen/both.c", files["_cuda.c"] + device)


UNTAKEN = "\n    compute();\n"


@pytest.mark.alike(2)
@pytest.mark.parametrize(("is_wrong", "gpus"), [(False, 1), (True, 1), (False, 2)])
def test_what_all_need_cannot_be_sent(is_wrong: bool, gpus: int, tmp_path: Path) -> None:
    source, buffers = PRODUCT
    files = standalone_files(emitted(tmp_path, source, both="0.5", gpus=gpus).files)
    assert files[".cu"].count(UNTAKEN) == 1
    if is_wrong:
        files[".cu"] = files[".cu"].replace(UNTAKEN, "\n")
    made = Executable(tmp_path, source, files, "-Wno-unknown-pragmas", devices=gpus)
    plain = Call("f", (192, *map(Part, range(3))), buffers, orders=(0,))
    ((one,),) = made.outcomes(plain)
    assert one.same
    assert one.launches > 0
    failing = [replace(plain, fail_at=k) for k in range(1, one.counted["calls"] + 1)]
    outcomes = [one for (one,) in made.outcomes(*failing)]
    assert all(one.same for one in outcomes) is not is_wrong
    # How many calls of CUDA's there are differs where two devices share them.
    failed = [
        o for job, o in zip(failing, outcomes, strict=True) if job.fail_at <= o.counted["calls"]
    ]
    assert [(one.live_allocations, one.broken_zones) for one in failed] == [(0, 0)] * len(failed)


ALONE = text(VECTORS, f"{EACH} b[0] += a[i];", 2048)
REFUSED = {
    "a sum": (ALONE, {}, "no loop that OpenMP's threads share"),
    "columns": (
        text(MATRICES, f"{EACH} for (int j = 1; j < n; j++) b[j][i] = b[j - 1][i] + a[j][i];"),
        {},
        "no loop that OpenMP's threads share",
    ),
    "data on the device": (VECTOR, {"resident": True}, "its data may be on the device"),
    "a function": (
        text(VECTORS, f"{EACH} b[i] = sin(a[i]);", 2048).replace("void", "#include <math.h>\nvoid"),
        {},
        "it calls functions",
    ),
    "several sizes": (
        VECTOR.replace("n = 2048", "n[] = [2048, 4096]"),
        {},
        "it is tuned for several sizes",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_shared(name: str, tmp_path: Path) -> None:
    source, options, reason = REFUSED[name]
    emission = emitted(tmp_path, source.replace("restrict restrict", "restrict"), **options)
    assert not [d for d in emission.diagnostics if d.code == "AT404"]
    (tmp_path / "user.c").write_text(source)
    given = ("--data", "resident") if options else ()
    done = annotune("emit", tmp_path / "user.c", "--both", "0.5", "--target", "cuda", *given)
    assert "the host and the GPU cannot share this region" in done.err
    assert reason in done.err
    assert "[AT404]" in done.err


SAID = Span("t.c", 7, 3, 9)


@pytest.mark.parametrize("share", ["0", "0.25", "1", COUNTER])
def test_the_nest_stays_as_it_is(share: str) -> None:
    one = analysis_of(VECTOR)
    found = apply((Both(0, share),), Context(one, one.region.sizes))
    assert isinstance(found, Plan)
    assert found.both == Both(0, share)
    assert tuple(s for kernel in found.kernels() for s in kernel.body) == one.region.nest.body


@pytest.mark.parametrize("share", ["half", "1.5", "-1", "nan", ""])
def test_no_share(share: str) -> None:
    one = analysis_of(VECTOR)
    found = refused(Both(0, share, span=SAID), one.region.nest.body, one)
    assert (found.code, found.span) == ("AT349", SAID)


@given(st.floats(allow_nan=True))
def test_a_share_is_from_0_to_1(number: float) -> None:
    assert is_share(str(number)) is (0 <= number <= 1)


def test_other_targets_are_as_without(tmp_path: Path) -> None:
    (tmp_path / "user.c").write_text(VECTOR)
    texts = []
    for more in ((), ("--both", "0.5")):
        done = annotune("emit", tmp_path / "user.c", "-o", tmp_path, *more)
        assert done.code == 0
        texts.append((tmp_path / "user_omp.c").read_text())
    assert texts[0] == texts[1]
    assert Feature.HOST_SHARE in CudaTarget.vocabulary.features


def test_the_command_compiles_the_hosts_share(tmp_path: Path) -> None:
    (tmp_path / "user.c").write_text(VECTOR)
    options = ("--target", "cuda", "-o", tmp_path)
    for more, said in (((), 0), (("--both", "0.5"), 1), (("--gpus", "2"), 1)):
        done = annotune("emit", tmp_path / "user.c", *options, *more)
        assert done.err.count(" -Xcompiler=-fopenmp,-march=native ") == said
        assert ("annotune_call_of_both" in (tmp_path / "user.cu").read_text()) is bool(said)


def test_so_many_devices(tmp_path: Path) -> None:
    made = emitted(tmp_path, VECTOR, gpus=3)
    assert re.search(r"\b8 : 0, 0, 3, launch, host\);", made.files[".cu"])
    assert 'both(0, "0", gpus=3)' in exact_recipe("cuda", made.variants[0]["cuda"])
    for number in ("0", "17"):
        done = annotune("emit", tmp_path / "user.c", "--gpus", number)
        assert done.code == 2
