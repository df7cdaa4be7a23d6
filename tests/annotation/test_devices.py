"""Devices: every preset loads, and a damaged one is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotune.annotation.devices import device_names, load_device, presets_folder
from annotune.diagnostics import AnnotuneError


@pytest.mark.parametrize("name", device_names())
def test_preset(name: str) -> None:
    device = load_device(name)
    assert device.name == name
    assert device.warp_size == 32
    assert 0 < device.sustained_bandwidth_gb_s <= device.memory_bandwidth_gb_s
    assert device.sources["fp64_tflops"]


def test_h200() -> None:
    assert load_device("H200") == load_device(presets_folder() / "devices" / "h200.yaml")
    assert load_device("h200").arch == "sm_90"


@pytest.mark.parametrize(
    ("name", "help_text"),
    [("h20", "did you mean 'h200'?"), ("cpu", f"known: {', '.join(device_names())}")],
)
def test_unknown(name: str, help_text: str) -> None:
    with pytest.raises(AnnotuneError, match=f"unknown device '{name}'") as refusal:
        load_device(name)
    assert refusal.value.diagnostics[0].help == help_text


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("sm_count: {value: ", "sm_count: {value: x", "'sm_count' must be a number from 0"),
        ("sm_count: {value: ", "sm_count: {value: 0.5 # ", "not valid YAML"),
        ("warp_size:", "wrap_size:", "unknown key 'wrap_size'"),
        ("clock_ghz: {value:", "clock_ghz: {valeu:", "unknown key 'valeu'"),
        ("can_compile: {value: true", "can_compile: {value: 3", "must be true or false"),
    ],
)
def test_damaged(tmp_path: Path, old: str, new: str, expected: str) -> None:
    text = (presets_folder() / "devices" / "h200.yaml").read_text()
    assert old in text
    path = tmp_path / "mine.yaml"
    path.write_text(text.replace(old, new))
    with pytest.raises(AnnotuneError, match=expected) as refusal:
        load_device(path)
    (first, *_) = refusal.value.diagnostics
    assert first.span.file == str(path)
    assert first.span.line >= text[: text.index(old)].count("\n") + 1
