"""The devices annotune knows: ``annotations/devices/NAME.yaml``, one file each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from functools import cache
from pathlib import Path

import yaml

from annotune.annotation.messages import MISSING_KEY, UNKNOWN_DEVICE, did_you_mean, gathered
from annotune.annotation.yaml_nodes import YamlFile, read_yaml
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.frozen import dataclass

_KEYS = ("value", "unit", "source")


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU as its data sheet describes it; units stand in the names.

    GB/s and TFLOP/s are decimal, KiB, MiB and GiB are binary. `sources` says where each
    number comes from. `can_compile` tells whether today's nvcc has the architecture.
    """

    name: str
    vendor_name: str
    compute_capability: str
    can_compile: bool
    sm_count: int
    clock_ghz: float
    warp_size: int
    max_threads_per_block: int
    max_threads_per_sm: int
    max_blocks_per_sm: int
    registers_per_sm: int
    max_registers_per_thread: int
    shared_memory_per_sm_kib: float
    shared_memory_per_block_kib: float
    l1_kib: float
    l2_mib: float
    memory_gib: float
    memory_bandwidth_gb_s: float
    sustained_bandwidth_gb_s: float
    fp64_tflops: float
    fp64_tensor_tflops: float
    fp32_tflops: float
    l2_bandwidth_gb_s: float
    l1_bytes_per_clock_per_sm: float
    host_link_gb_s: float
    kernel_launch_us: float
    fp64_tensor_attainable_tflops: float
    sustained_host_link_gb_s: float
    pageable_host_link_gb_s: float
    sources: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def arch(self) -> str:
        """Return the architecture's name for nvcc, such as ``sm_90``."""
        return f"sm_{self.compute_capability.replace('.', '')}"


# Each field's type as the annotation above spells it.
_TYPES = {one.name: str(one.type) for one in fields(Device) if one.name != "sources"}


def presets_folder() -> Path:
    """Return the folder of the presets: the checkout's, else the one in the wheel."""
    package = Path(__file__).resolve().parent.parent
    checkout = package.parent / "annotations"
    return checkout if (checkout / "devices").is_dir() else package / "_presets"


def device_names() -> tuple[str, ...]:
    """Return the names of the GPU presets; ``cpu`` describes the host and is none of them."""
    paths = (presets_folder() / "devices").glob("*.yaml")
    return tuple(sorted(path.stem for path in paths if path.stem != "cpu"))


def load_device(name_or_path: str | Path) -> Device:
    """Return the device of a preset's name, or of a YAML file's path.

    Raises:
        AnnotuneError: There is no such device, or its file is damaged; at the place in it.
    """
    text = str(name_or_path)
    if isinstance(name_or_path, str) and not text.endswith((".yaml", ".yml")) and "/" not in text:
        names = {name.lower(): name for name in device_names()}
        if text.lower() not in names:
            hint = did_you_mean(text, names.values())
            where = Span("--device", 1, 1, max(1, len(text)))
            raise AnnotuneError.of(UNKNOWN_DEVICE.at(where, name=text, hint=hint))
        return _preset(presets_folder() / "devices" / f"{names[text.lower()]}.yaml")
    return _read(read_yaml(Path(name_or_path)))


@cache
def _preset(path: Path) -> Device:
    """Return the device of a preset, which no user changes while the process runs."""
    return _read(read_yaml(path, is_sound=True))


def _read(file: YamlFile) -> Device:
    entries = file.mapping(file.root, "a device", _TYPES)
    mistakes: list[Diagnostic] = [
        MISSING_KEY.at(Span(file.file, 1, 1), key=name) for name in _TYPES if name not in entries
    ]
    values: dict[str, object] = {}
    sources: dict[str, str] = {}
    for name, (_, node) in entries.items():
        with gathered(mistakes):
            values[name], sources[name] = _field(file, name, node)
    if mistakes:
        raise AnnotuneError.of(*mistakes)
    return Device(**values, sources=sources)  # type: ignore[arg-type]  # checked by _field


def _field(file: YamlFile, name: str, node: yaml.Node) -> tuple[object, str]:
    """Return the value and the source of ``name: {value, unit, source}``."""
    parts = file.mapping(node, f"'{name}'", _KEYS)
    found = file.required(parts, "value", node)
    unit = file.required(parts, "unit", node)
    source = file.required(parts, "source", node)
    file.word(unit, "the unit")
    kind = _TYPES[name]
    if kind == "str":
        return file.word(found, f"'{name}'"), file.word(source, "the source")
    value = file.value(found, f"'{name}'")
    if kind == "bool":
        if not isinstance(value, bool):
            file.wrong(found, f"'{name}'", "true or false")
        return value, file.word(source, "the source")
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        file.wrong(found, f"'{name}'", "a number from 0")
    if kind == "int" and not isinstance(value, int):
        file.wrong(found, f"'{name}'", "a whole number")
    return (value if kind == "int" else float(value)), file.word(source, "the source")
