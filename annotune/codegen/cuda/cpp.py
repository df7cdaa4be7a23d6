"""What CUDA C++ says otherwise than C: its types, and the names that it keeps.

A complex number is one of our own, with the same layout (``annotune/runtime/annotune_runtime.h``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from annotune.analysis.facts import Analysis, ArrayShape, ArrayUse
from annotune.codegen.in_place import between_kernels, lasting
from annotune.codegen.renaming import Renaming, made_names
from annotune.diagnostics import Template
from annotune.frozen import dataclass
from annotune.ir.expr import Access, Call, Cast, Expr, Int, Real, Var
from annotune.ir.region import Array, Region, Scalar
from annotune.schedule.plan import Plan
from annotune.space.variants import Variant

_COMPLEX = {"double": "annotune_complex", "float": "annotune_complexf"}
# C11 7.3 by the names of the functions below.
FUNCTIONS = {
    "creal": "annotune_real",
    "cimag": "annotune_imag",
    "conj": "annotune_conj",
    "cabs": "annotune_abs",
}
IMAGINARY_UNIT = "annotune_i"


def cuda_type(type_: str) -> str:
    """Return a C type as CUDA C++ spells it; one that is spelled so already stays."""
    words = type_.split()
    if not {"complex", "_Complex"} & set(words):
        return re.sub(r"\b_Bool\b", "bool", type_)
    part = "float" if "float" in words else "double"
    return " ".join([*(word for word in words if word == "const"), _COMPLEX[part]])


def c_spelling(text: str) -> str:
    """Return C text in which C++'s types are those of C again."""
    text = re.sub(r"\bannotune_complexf\b", "float _Complex", re.sub(r"\bbool\b", "_Bool", text))
    return re.sub(r"\bannotune_complex\b", "double _Complex", text)


OPERATIONS = {
    "annotune_sum": "a + b",
    "annotune_product": "a * b",
    # NaN is passed over, as fmin and fmax do.
    "annotune_least": "b < a || a != a ? b : a",
    "annotune_greatest": "a < b || a != a ? b : a",
    "annotune_all_bits": "a & b",
    "annotune_any_bits": "a | b",
    "annotune_odd_bits": "a ^ b",
}

# What the host's text calls the parts of an array, after its name.
PARTS = ("bytes", "first", "touched")


# And its memory on the device, before its name.
PLACE = "d"


HELD_RESIDENT = Template(
    "AT401",
    "'{name}' is computed in this region, and with --data resident nothing copies it back",
    "make it an array of one element on the device",
)


HOST_MEMORY = Template(
    "AT403",
    "'{name}' is memory of the host, and with --data resident the kernels get its address",
    "have the caller pass a pointer to memory of the device, or leave out --data resident",
)


# Words that C leaves to the user and C++ does not (C++17, [lex.key] and [lex.digraph]).
CPP_WORDS = (
    "alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t class compl concept "
    "const_cast constexpr decltype delete dynamic_cast explicit export false friend mutable "
    "namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
    "reinterpret_cast requires static_assert static_cast template this thread_local throw true "
    "try typeid typename using virtual wchar_t xor xor_eq"
)


# Macros of nvcc's, of the compilers behind it, and of the headers that a text includes.
MACROS = (
    "linux unix NULL EOF BUFSIZ stdin stdout stderr errno math_errhandling NAN INFINITY SNAN SNANF "
    "HUGE_VAL HUGE_VALF HUGE_VALL MAXFLOAT NZERO RAND_MAX TMP_MAX FOPEN_MAX NAME_MAX PATH_MAX "
    "LINE_MAX PIPE_BUF IOV_MAX L_tmpnam P_tmpdir CHAR_BIT LONG_BIT WORD_BIT CHAR_MAX CHAR_MIN "
    "SHRT_MAX SHRT_MIN INT_MAX INT_MIN LONG_MAX LONG_MIN UINT_MAX ULONG_MAX SIZE_MAX BYTE_ORDER "
    "BIG_ENDIAN LITTLE_ENDIAN PDP_ENDIAN SEEK_CUR SEEK_END SEEK_SET M_E M_PI M_PI_2 M_PI_4 M_1_PI "
    "M_2_PI M_LN2 M_LN10 M_LOG2E M_LOG10E M_SQRT2 M_SQRT1_2 M_2_SQRTPI EXIT_SUCCESS EXIT_FAILURE"
)


# Words that the generated text uses itself.
_OWN_WORDS = (
    "blockDim blockIdx gridDim threadIdx dim3 min max size_t NULL stderr fprintf abort "
    "cudaError_t cudaSuccess cudaGetLastError cudaGetErrorString cudaGetSymbolAddress "
    "cudaFuncSetAttribute cudaFuncAttributeMaxDynamicSharedMemorySize "
    "arrays blocks threads status fits warpSize failure has_written"
)


@dataclass(frozen=True)
class View(Renaming):
    """What stands in ``S.cu`` for the names of a region.

    `names` maps those that change to their new ones; `held` are the scalars, by their new
    name, that become arrays of one element: the region assigns them and their values travel
    from one kernel to the next, or out. Of a private scalar that does, all uses are in one loop
    that the host runs (`schedule.units.launched`), so that no two threads have one of their own.
    """

    held: frozenset[str]

    @classmethod
    def of(cls, analysis: Analysis, plans: Iterable[Plan]) -> View:
        """Return the view of a region and the plans made for it."""
        region, plans = analysis.region, tuple(plans)
        held = {scalar.name for plan in plans for scalar in between_kernels(analysis, plan)}
        held |= {scalar.name for scalar in lasting(analysis, region.nest.body)}
        names = _renamed(region, held, made_names(region, plans))
        return cls(names, frozenset(names.get(name, name) for name in held))

    def kind(self, type_: str) -> str:
        """Return a C type as C++ says it."""
        return cuda_type(type_)

    def change(self, part: Expr) -> Expr | None:
        """Return a scalar or an element in the names of ``S.cu``, None for other parts."""
        match part:
            case Var(name, span) if self.name(name) in self.held:
                return Access(self.name(name), (Int(0),), span)
            case Real("I"):
                return Call(IMAGINARY_UNIT, ())
            case Call(function, arguments) if function in FUNCTIONS:
                return Call(FUNCTIONS[function], tuple(map(self.expr, arguments)))
            case Cast(type_, operand, is_bare):
                own = replace(type_, name=cuda_type(type_.name))
                return Cast(own, self.expr(operand), is_bare)
            case _:
                return super().change(part)

    def analysis(self, analysis: Analysis) -> Analysis:
        """Return what code generation asks of `analysis`, in the names of ``S.cu``."""
        found = super().analysis(analysis)
        scalars = found.region.scalars
        arrays, shapes, uses = dict(found.region.arrays), dict(found.shapes), dict(found.uses)
        for scalar in (s for name, s in scalars.items() if name in self.held):
            name = scalar.name
            arrays[name] = Array(name, scalar.type, (None,), is_pointer=True)
            shapes[name] = ArrayShape(name, (None,), Int(0), Int(1))
            uses[name] = ArrayUse(name, is_read=True, is_written=True, overwritten=False)
        left = {name: s for name, s in scalars.items() if name not in self.held}
        region = replace(found.region, arrays=arrays, scalars=left)
        return replace(found, region=region, shapes=shapes, uses=uses)


def viewed(variant: Variant) -> tuple[Variant, View]:
    """Return a variant in the names of ``S.cu``, and the view that leads there."""
    view = View.of(variant.analysis, variant.plans())
    return variant.rewritten(view.analysis, view.plan), view


def held_scalars(region: Region, view: View) -> tuple[Scalar, ...]:
    """Return the user's scalars that the kernels keep in memory."""
    return tuple(s for s in region.scalars.values() if view.name(s.name) in view.held)


def _renamed(region: Region, held: set[str], made: frozenset[str]) -> dict[str, str]:
    """Return new names for what cannot keep its own, no two things under one name."""
    users = {*region.arrays, *region.scalars, *made}
    prefix = f"{region.label}_"
    words = {*CPP_WORDS.split(), *MACROS.split(), *_OWN_WORDS.split()}
    names: dict[str, str] = {}
    while True:
        memory = {a: names.get(a, a) for a in (*region.arrays, *held)}
        copies = {f"{PLACE}_{a}": user for user, a in memory.items()}
        parts = {f"{a}_{part}" for a in memory.values() for part in PARTS}
        reserved = words | copies.keys() | parts
        # The copy of ``bytes`` and the size of ``d``: one name for both.
        twice = {user for copy, user in copies.items() if copy in parts}
        clash = next(
            (
                user
                for user in sorted(users)
                if names.get(user, user) in reserved
                or names.get(user, user).startswith(("annotune_", prefix))
                or user in twice
            ),
            None,
        )
        if clash is None:
            return names
        new = f"{names.get(clash, clash)}_"
        if new.startswith(("annotune_", prefix)):
            new = f"own_{new}"
        while new in reserved or new in users or new in names.values():
            new += "_"
        names[clash] = new
