"""The CUDA target: ``S.cu`` with kernels and entries, and the user's file calling them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from annotune.analysis.facts import Analysis
from annotune.codegen.build import CompilerUse
from annotune.codegen.c_stmt import final_values
from annotune.codegen.cuda.both import host_share
from annotune.codegen.cuda.columns import fitted
from annotune.codegen.cuda.cpp import (
    CPP_WORDS,
    HELD_RESIDENT,
    HOST_MEMORY,
    MACROS,
    c_spelling,
    held_scalars,
    viewed,
)
from annotune.codegen.cuda.host import HostText, Version
from annotune.codegen.cuda.kernel import KernelText, kernel_text
from annotune.codegen.cuda.memory import RESIDENT, SEND
from annotune.codegen.guards import plainly, refuse_indices_away
from annotune.codegen.names import Interface, interface, spelled, unmentioned, with_hosts
from annotune.codegen.renaming import calling_copies, copied, definition
from annotune.codegen.several_sizes import (
    OTHERS,
    Definitions,
    served,
    suffixes,
    tests_by_size,
)
from annotune.codegen.target import Provenance, RegionCode, Vocabulary
from annotune.codegen.users_file import assembled, in_users_file, without_macros
from annotune.codegen.writer import Writer, words
from annotune.diagnostics import AnnotuneError, Template
from annotune.ir.nest import MemorySpace
from annotune.ir.region import Region, Scalar, SourceFile
from annotune.runtime.texts import CUDA_RUNTIME, cuda_head
from annotune.schedule.plan import Plan
from annotune.space.points import GpuPoints
from annotune.space.variants import Variant
from annotune.transforms.map import PLACES
from annotune.transforms.stage import copied_whole
from annotune.transforms.transform import Feature

NO_DEVICE_FUNCTION = Template(
    "AT402",
    "a CUDA kernel cannot call '{name}': {reason}",
    "write what it computes into the nest, or leave CUDA out: --target openacc,openmp",
)
# What C++ keeps, and what its standard headers define as macros.
_NO_NAMES = frozenset({*CPP_WORDS.split(), *MACROS.split()})


class CudaTarget:
    """CUDA C++ for nvcc, and C that calls it."""

    name = "cuda"
    kind = "cuda-cpu"
    is_for_cpu = False
    ways = (CompilerUse("nvcc", ("-arch={arch}",)),)
    endings = (".cu", "_cuda.c")
    points = GpuPoints.of
    vocabulary = Vocabulary(
        frozenset(PLACES["block"]) | frozenset(PLACES["thread"]),
        frozenset({MemorySpace.SHARED, MemorySpace.PRIVATE}),
        frozenset({Feature.DEVICE_THREADS, Feature.BLOCK_THREADS, Feature.TILE_ENDS})
        | {Feature.HOST_SUMS, Feature.HOST_SHARE},
    )

    def region(self, variant: Variant, resident: bool) -> RegionCode:
        """Return kernels, host entry and call of one region.

        Raises:
            AnnotuneError: A scalar must keep its value, and the data are on the device; or the
                nest calls a function of the user's.
        """
        if resident:
            variant = _of_what_is_there(variant)
        as_written = variant.analysis
        both = variant.tuned.both
        share = None if both is None else host_share(variant, both, resident)
        functions = _device_functions(as_written.region)
        lasting = in_users_file(variant).analysis.region
        ends = suffixes(variant)
        variant = calling_copies(variant, _copies(as_written.region))
        plain = plainly(variant, resident)
        # What is asked of plain expressions alone is what the kernels' file takes.
        user = interface(plain.analysis)
        variant, view = viewed(plain)
        held = held_scalars(as_written.region, view)
        if resident:
            refuse_indices_away(as_written.region)
        if resident and held:
            place = as_written.region.span
            raise AnnotuneError.of(HELD_RESIDENT.at(place, name=held[0].name))
        analysis = variant.analysis
        outer = interface(analysis)
        if resident:
            _refuse_host_memory(analysis)
            user = user.without([*filter(plain.analysis.stays_on_device, plain.analysis.uses)])
        kernels = _Kernels(Definitions() if variant.others else None)
        general = None
        if variant.general is not None:
            general = kernels.version(analysis, variant.general, "")
        found = zip(variant.size_cases, ends, tests_by_size(variant, outer), strict=True)
        tuned = tuple(
            replace(kernels.version(part.analysis, part.tuned, end), tests=tests)
            for part, end, tests in found
        )
        host = HostText(analysis, outer, tuned, general, resident, view.held, share)
        helper = host.shared_text()
        definitions = kernels.definitions((*tuned, *([general] if general is not None else [])))
        parts = [_undefined(analysis.region), *definitions, host.text()]
        device = "\n".join(part for part in parts if part)
        call = _call(as_written, user, c_spelling(host.caller.types()), held, lasting)
        conditions = (c for f in as_written.region.functions for c in f.conditions)
        code = RegionCode(call, helper, device, functions, tuple(dict.fromkeys(conditions)))
        return without_macros(code, as_written.region)

    def files(
        self, source: SourceFile, codes: Sequence[RegionCode], provenance: Provenance
    ) -> Mapping[str, str]:
        """Return ``.cu`` and ``_cuda.c``."""
        functions = dict.fromkeys(f for code in codes for f in code.functions)
        devices = [*functions, *(code.device for code in codes)]
        # Where arrays stay on the device, the other file calls the runtime as well.
        also = (SEND + RESIDENT,) if source.residency else ()
        parts = [provenance.comment(), cuda_head("\n".join(devices), also), *devices]
        return {
            ".cu": fitted("\n".join(part.rstrip("\n") + "\n" for part in parts)),
            "_cuda.c": assembled(source, codes, provenance, CUDA_RUNTIME),
        }

    def device_file(self, code: RegionCode) -> str:
        """Return ``S.cu`` for one region."""
        device = "\n".join([*code.functions, code.device])
        return f"{cuda_head(device)}\n{device}"


def _refuse_host_memory(analysis: Analysis) -> None:
    """Raise for arrays of which a kernel on resident data would get an address of the host's.

    They are what C declares as arrays, and what the function around the region allocates. What is
    declared for the region alone gets memory of the device.

    Raises:
        AnnotuneError: There are some.
    """
    arrays = analysis.region.arrays.values()
    own = [a for a in arrays if a.is_scratch or (a.extents and not a.is_pointer)]
    own = [a for a in own if not analysis.has_own_memory(a.name)]
    if own:
        raise AnnotuneError.of(*(HOST_MEMORY.at(a.span, name=a.name) for a in own))


def _of_what_is_there(variant: Variant) -> Variant:
    """Return a variant without plans that copy what conditions may leave out.

    Of arrays that were copied to the device all elements are there, with values or without;
    of those of the caller's, only what the nest touches.
    """
    plans = (part.tuned for part in variant.size_cases)
    if variant.general is None or not any(
        copied_whole(variant.analysis, plan.schedule) for plan in plans
    ):
        return variant
    return replace(variant, tuned=variant.general, general=None, others=(), partly=None)


def _copies(region: Region) -> dict[str, str]:
    """Return the names in ``S.cu`` of the user's functions; no entry or kernel ends so."""
    return {function.name: f"annotune_{function.name}_pure" for function in copied(region)}


def _device_functions(region: Region) -> tuple[str, ...]:
    """Return the definitions of the user's functions that a nest calls, what is called first.

    Raises:
        AnnotuneError: There is one that C++, or a device, cannot have.
    """
    for function in region.functions:
        text = "\n".join([*function.parameters, *function.constants, *function.body])
        word = next((w for w in sorted(_NO_NAMES & words(text))), "")
        reason = function.reason or (f"its '{word}' is a word of C++" if word else "")
        if reason:
            problem = NO_DEVICE_FUNCTION.at(region.span, name=function.name, reason=reason)
            raise AnnotuneError.of(problem)
    names, kind = _copies(region), "static __host__ __device__"
    return tuple(definition(f, names, kind, "static ") for f in copied(region))


class _Kernels:
    """Makes the kernels of one region; `shared` keeps each text once for several problem sizes."""

    def __init__(self, shared: Definitions | None) -> None:
        self.shared = shared
        self.texts: dict[str, KernelText] = {}

    def version(self, analysis: Analysis, plan: Plan, suffix: str) -> Version:
        """Return the kernels of one plan as text, by the name of the kernel."""
        outer, sizes = interface(analysis), served(analysis, plan) if suffix else OTHERS
        texts: dict[str, KernelText] = {}
        for kernel, host in with_hosts(plan.steps, analysis.region):
            text = kernel_text(analysis, outer, kernel, suffix, plan.constants, host)
            texts[kernel.name] = self._once(text, sizes)
        return Version(plan.steps, texts, plan.constants, added=plan.added)

    def _once(self, text: KernelText, sizes: str) -> KernelText:
        """Return `text` under the name of an equal one."""
        if self.shared is None:
            return text
        name = self.shared.add(text.name, text.definitions(), sizes)
        known = self.texts.setdefault(name, text)
        return replace(text, name=name, definition=known.definition, last=known.last)

    def definitions(self, versions: Sequence[Version]) -> tuple[str, ...]:
        """Return the text of every kernel."""
        if self.shared is not None:
            return self.shared.texts()
        return tuple(text.definitions() for v in versions for text in v.texts.values())


def _undefined(region: Region) -> str:
    """Return lines that free the names of the user's macros, which are variables here.

    A build that passes ``-Dn=10`` to every compiler would otherwise break the text.
    """
    names = [s.name for s in region.scalars.values() if s.is_macro]
    return "".join(f"#undef {name}\n" for name in names)


def _call(
    analysis: Analysis, user: Interface, types: str, held: Sequence[Scalar], lasting: Region
) -> str:
    """Return the block that replaces a region: prototype, call, and final iterator values.

    `held` are the scalars that the call reads and writes through their addresses; the final values
    are those of the region as `lasting`, whose own names no macro of the user's has.
    """
    region = analysis.region
    names = {s.name for s in held}
    passed = tuple(s for s in user.scalars if s.name not in names)
    # A variable that is declared ``register`` has no address.
    prefix = f"{region.entry}_" if region.around.has_registers else ""
    addresses = (f"&{prefix}{s.name}" for s in held)
    arguments = [replace(user, scalars=passed).call_arguments(), *addresses]
    out = Writer()
    with out.block(""):
        out.line(f"void {region.entry}({types});")
        for scalar in held:
            if scalar.is_local:
                out.line(f"{spelled(scalar.type)} {scalar.name} = 0;")
            if prefix:
                out.line(f"{spelled(scalar.type)} {prefix}{scalar.name} = {scalar.name};")
        out.line(f"{region.entry}({', '.join(filter(None, arguments))});")
        if prefix:
            for scalar in held:
                out.line(f"{scalar.name} = {prefix}{scalar.name};")
        wanted = frozenset(s.name for s in region.scalars.values() if s.read_after)
        out.lines(final_values(lasting, wanted))
        for name in unmentioned(analysis, out.text()):
            out.line(f"(void){name};")
    return out.text()
