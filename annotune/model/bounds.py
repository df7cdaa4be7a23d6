"""What no kernel on a device can beat: the roofline, and the bound of MAGMA's model.

The copies between host and device around a region's kernels, and the time that they take.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from math import prod

from annotune.analysis.facts import AccessFacts, Analysis, Work
from annotune.annotation.devices import Device
from annotune.frozen import dataclass
from annotune.ir.c_types import WORD, element_bytes, real_bytes
from annotune.ir.constants import value_at
from annotune.ir.expr import Access, Binary, Expr, Int, Negate, Real, Var, is_coefficient
from annotune.ir.region import Region
from annotune.schedule.units import Unit
from annotune.transforms.tree import find_assign

REGISTER_BYTES = 4
CHUNK_BYTES = 1 << 20
"""What threads copy at a time, as `ANNOTUNE_CHUNK` in the text for CUDA says."""
STAGED = 0.87
"""Share of the rate from pinned memory: 48 of 55.3 GB/s of 1 GiB either way on an H200."""
SMALL = 10
"""One array in so many times its share of the copies is not named."""
KIB = 1024


def widest_real(region: Region) -> int:
    """Return the bytes of the widest reals that a region computes with, doubles for none."""
    found = (real_bytes(array.element) for array in region.arrays.values())
    return max((size for size in found if size is not None), default=WORD)


def peak_flop_s(element: int, device: Device) -> float:
    """Return the rate of multiply-adds of vectors in flop/s, for reals of `element` bytes."""
    return (device.fp64_tflops if element == WORD else device.fp32_tflops) * 1e12


def roofline_time(flop: int, traffic: int, element: int, device: Device) -> float:
    """Return the least time in seconds that a device allows: memory or arithmetic alone.

    Arithmetic is bound by the tensor cores' attainable rate in double precision, where the
    device has them, as in the project's roofline tables.
    """
    attainable = max(device.fp64_tflops, device.fp64_tensor_attainable_tflops)
    peak = (attainable if element == WORD else device.fp32_tflops) * 1e12
    return max(flop / peak, traffic / (device.sustained_bandwidth_gb_s * 1e9))


@dataclass(frozen=True, slots=True)
class BatchedProducts:
    """A statement as many small matrix products: ``count`` times m by n with sums of k.

    `bytes` is what one product reads and writes, each matrix by itself.
    """

    count: int
    m: int
    n: int
    k: int
    bytes: int


def magma_time(unit: Unit, device: Device) -> float | str:
    """Return the bound of MAGMA's model on a unit's time in seconds, or why there is none.

    The model: one block computes one product, which reads A, B and, where it adds to it, C from
    device memory, and writes C; computing costs nothing. What the products share is read by each.

    Source:
        A. Abdelfattah et al., "High-performance Tensor Contractions for GPUs", ICCS 2016,
        section 5.1, doi:10.1016/j.procs.2016.05.302; there m = n = k, and P_max = n B / 16.
    """
    total = 0.0
    for statement in unit.statements:
        found = batched_products(unit, statement, device)
        if isinstance(found, str):
            return found
        total += found.count * found.bytes / (device.sustained_bandwidth_gb_s * 1e9)
    return total


def batched_products(unit: Unit, statement: int, device: Device) -> BatchedProducts | str:
    """Return a statement as the tiny products of a batch, or in words why it is none."""
    name = f"statement {statement}"
    roles = _roles(unit, statement)
    if isinstance(roles, str):
        return f"{name} {roles}"
    a, b, c, loops = roles
    trips = {loop: unit.trip(statement, loop) or 0 for loop in loops}
    if not all(trips.values()):
        return f"{name} has loops without a known count"
    batch = _batch(a, b, c, loops)

    def count(*moving: AccessFacts, without: AccessFacts | None = None) -> int:
        own = (n for n in loops if n not in batch and all(f.strides.get(n) != 0 for f in moving))
        return prod(trips[n] for n in own if without is None or without.strides.get(n) == 0)

    m, n, k = count(a, c), count(b, c), count(a, b, without=c)
    if not batch or min(m, n, k) < 2:
        return f"{name} is one matrix product, not a batch of them"
    sizes = [element_bytes(unit.analysis.region.arrays[f.access.array].element) for f in (a, b, c)]
    inputs = m * k * sizes[0] + k * n * sizes[1]
    if inputs > device.shared_memory_per_block_kib * KIB:
        return f"{name} multiplies {m} by {k} with {k} by {n}: too large for one block's memory"
    if m * n * sizes[2] > device.registers_per_sm * REGISTER_BYTES:
        return f"{name} computes {m} by {n} elements at once: too many for one block's registers"
    is_read = not unit.analysis.uses[c.access.array].overwritten
    return BatchedProducts(
        prod(trips[x] for x in batch), m, n, k, inputs + (1 + is_read) * m * n * sizes[2]
    )


def _roles(
    unit: Unit, statement: int
) -> tuple[AccessFacts, AccessFacts, AccessFacts, tuple[str, ...]] | str:
    """Return both inputs, the output and the loops of a contraction, or why it is none."""
    assign = find_assign(unit.body, statement)
    facts = unit.analysis.accesses[statement]
    target = next((f for f in facts if f.is_write), None)
    factors = list(_factors(assign.value))
    is_product = all(isinstance(factor, Access | Real | Int | Var) for factor in factors)
    elements = [f for f in factors if isinstance(f, Access) and not is_coefficient(f)]
    inputs = [next((f for f in facts if f.access == one), None) for one in elements]
    sums = assign.op in ("+=", "-=")
    if target is None or not sums or not is_product or len(inputs) != 2:
        return "does not accumulate a product of two array elements"
    a, b = inputs
    loops = unit.loops_around(statement)
    if (
        a is None
        or b is None
        or any(f.strides.get(n) is None for f in (a, b, target) for n in loops)
    ):
        return "has subscripts whose strides are not known"
    if all(target.strides.get(n) != 0 for n in loops):
        return "sums over no loop"
    if all(target.strides.get(n) == 0 for n in loops):
        return "has an output of one element"
    return a, b, target, loops


def _batch(
    a: AccessFacts, b: AccessFacts, c: AccessFacts, loops: tuple[str, ...]
) -> frozenset[str]:
    """Return the loops that pick one product of a batch.

    They are in all three arrays, or outermost in the output and in the one input that has them:
    the other matrix is then the same in every product, as an operator of finite elements is.
    """
    common = {n for n in loops if all(f.strides.get(n) for f in (a, b, c))}
    if common:
        return frozenset(common)
    moved = [n for n in loops if c.strides.get(n)]
    if not moved:
        return frozenset()
    outer = max(moved, key=lambda n: abs(c.strides[n] or 0))
    owner = a if a.strides.get(outer) else b
    if outer != max(loops, key=lambda n: abs(owner.strides.get(n) or 0)):
        return frozenset()
    return frozenset((outer,))


def _factors(expr: Expr) -> Iterator[Expr]:
    """Yield what a product is made of, up to its sign."""
    match expr:
        case Binary("*", left, right):
            yield from _factors(left)
            yield from _factors(right)
        case Negate(operand):
            yield from _factors(operand)
        case _:
            yield expr


def least_time(work: Work, region: Region, device: Device) -> float:
    """Return the roofline's least time of a region's work on a device, in seconds."""
    traffic = work.bytes_read + work.bytes_written
    return roofline_time(work.flop, traffic, widest_real(region), device)


@dataclass(frozen=True, slots=True)
class HostCopies:
    """The bytes that an entry copies to the device and back, and those of each array both ways."""

    to_device: int
    to_host: int
    of: Mapping[str, int] = field(default_factory=dict, compare=False)

    @property
    def total(self) -> int:
        return self.to_device + self.to_host

    def most(self) -> tuple[str, ...]:
        """Return the arrays that make up nearly all of the copies, the longest first."""
        longest = sorted(self.of.items(), key=lambda one: -one[1])
        return tuple(name for name, size in longest if size * SMALL * len(longest) >= self.total)


def copies(
    analysis: Analysis,
    sizes: Mapping[str, int] | None = None,
    added: Collection[str] = (),
) -> HostCopies | str:
    """Return what the entry of a region copies, at its sizes or others, or why it is not known.

    Arrays to which the host adds what kernels have `added` are not sent.
    """
    known = analysis.region.sizes if sizes is None else sizes
    to_device = to_host = 0
    of: dict[str, int] = {}
    for name, use in analysis.uses.items():
        array = analysis.region.arrays.get(name)
        if array is None:
            continue  # a local array stays on the device
        if analysis.stays_on_device(name):
            continue
        length = value_at(analysis.shapes[name].length, known)
        if length is None:
            return f"the length of {name} is not known"
        size = max(0, length) * element_bytes(array.element)
        sent = size if (use.is_read or not use.overwritten) and name not in added else 0
        fetched = size if use.is_written else 0
        to_device, to_host, of[name] = to_device + sent, to_host + fetched, sent + fetched
    return HostCopies(to_device, to_host, of)


def need_not_be_sent(analysis: Analysis, array: str, device: Device) -> bool:
    """Return whether the host had better add to an array than send it, if it is only added to.

    The bus takes longer to send it than the device to have nothing there, with a launch. On the
    host nothing is lost: to add reads and writes the array, as the copy of it does which a call
    keeps of what it sends and overwrites.
    """
    use = analysis.uses.get(array)
    if use is None or not (use.is_read and use.is_written):
        return False
    length = value_at(analysis.shapes[array].length, analysis.region.sizes)
    size = 0 if length is None else length * element_bytes(analysis.region.arrays[array].element)
    begun_s = device.kernel_launch_us * 1e-6 + size / (device.sustained_bandwidth_gb_s * 1e9)
    return size / (device.sustained_host_link_gb_s * 1e9) > begun_s


def copy_time(moved: HostCopies, device: Device, is_staged: bool = False) -> float:
    """Return the seconds that copies take over the device's link to its host, one way at a time.

    A user's pages are not pinned, so the preset's rate for pageable memory counts. Copies that are
    staged, through a ring of pinned memory, have that for the first chunk of a direction alone,
    which the bus waits for. Allocation on the device is not in it (docs/model.md).
    """
    if not is_staged:
        return moved.total / (device.pageable_host_link_gb_s * 1e9)
    first = [min(CHUNK_BYTES, one) for one in (moved.to_device, moved.to_host)]
    staged_gb_s = STAGED * device.sustained_host_link_gb_s
    slow_s = sum(first) / (device.pageable_host_link_gb_s * 1e9)
    return slow_s + (moved.total - sum(first)) / (staged_gb_s * 1e9)
