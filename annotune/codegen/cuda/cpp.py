"""What CUDA C++ says otherwise than C: types, names that it keeps, and what it must be given first.

A complex number is one of our own, with the same layout. What stands before the kernels of ``S.cu``
are headers, and functions that the text calls.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from annotune.analysis.facts import Analysis, ArrayShape, ArrayUse
from annotune.codegen.cuda.bulk import bulk_definitions
from annotune.codegen.cuda.copies import ANEW_TEXTS
from annotune.codegen.cuda.fragments import definitions
from annotune.codegen.cuda.memory import TELL, TOLD, headers, shared_parts
from annotune.codegen.in_place import between_kernels, lasting
from annotune.codegen.renaming import Renaming, made_names
from annotune.codegen.writer import words
from annotune.diagnostics import Template
from annotune.frozen import dataclass
from annotune.ir.expr import Access, Call, Expr, Int, Real, Var
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


COMPLEX = """\
/* A complex number with the layout of C's: real and imaginary part. */
template <typename T> struct annotune_parts {
    T re, im;
    annotune_parts() = default;
    __host__ __device__ annotune_parts(T re_, T im_ = 0) : re(re_), im(im_) {}
    template <typename S> __host__ __device__ annotune_parts(annotune_parts<S> z)
        : re((T)z.re), im((T)z.im) {}
    template <typename S> __host__ __device__ annotune_parts &operator+=(S z);
    template <typename S> __host__ __device__ annotune_parts &operator-=(S z);
    template <typename S> __host__ __device__ annotune_parts &operator*=(S z);
    template <typename S> __host__ __device__ annotune_parts &operator/=(S z);
};
typedef annotune_parts<double> annotune_complex;
typedef annotune_parts<float> annotune_complexf;

/* The precision of a result: double where an operand is; an integer takes the other one's. */
template <typename T> struct annotune_real_type { typedef float type; };
template <> struct annotune_real_type<double> { typedef double type; };
template <typename A, typename B> using annotune_wider
    = decltype(typename annotune_real_type<A>::type() * typename annotune_real_type<B>::type());
template <typename A, typename B> using annotune_result = annotune_parts<annotune_wider<A, B>>;

template <typename A, typename B>
static __host__ __device__ annotune_result<A, B> operator+(annotune_parts<A> a, annotune_parts<B> b)
{
    return annotune_result<A, B>(a.re + b.re, a.im + b.im);
}
template <typename A, typename B>
static __host__ __device__ annotune_result<A, B> operator-(annotune_parts<A> a, annotune_parts<B> b)
{
    return annotune_result<A, B>(a.re - b.re, a.im - b.im);
}
/* C11 G.5.1: the product, or quotient, of numbers for which both parts came out as NaN. They are
   apart, as hardly any are. An infinity is one whatever the other part is. */
template <typename T> static __host__ __device__ bool annotune_is_infinite(T x)
{
    return x == x && x - x != x - x;
}
template <typename T> static __host__ __device__ T annotune_unit(T x)
{
    return copysign(annotune_is_infinite(x) ? (T)1 : (T)0, x);
}
template <typename T> static __host__ __device__ T annotune_zero_for_nan(T x)
{
    return x != x ? copysign((T)0, x) : x;
}
template <typename T> static __host__ __device__ __noinline__ annotune_parts<T>
annotune_infinite_product(annotune_parts<T> x, annotune_parts<T> y)
{
    T a = x.re, b = x.im, c = y.re, d = y.im;
    const T infinity = (T)HUGE_VAL;
    const bool overflows = annotune_is_infinite(a * c) || annotune_is_infinite(b * d)
                           || annotune_is_infinite(a * d) || annotune_is_infinite(b * c);
    const bool first = annotune_is_infinite(a) || annotune_is_infinite(b);
    const bool second = annotune_is_infinite(c) || annotune_is_infinite(d);
    if (first) {
        a = annotune_unit(a);
        b = annotune_unit(b);
        c = annotune_zero_for_nan(c);
        d = annotune_zero_for_nan(d);
    }
    if (second) {
        c = annotune_unit(c);
        d = annotune_unit(d);
        a = annotune_zero_for_nan(a);
        b = annotune_zero_for_nan(b);
    }
    if (!first && !second) {
        if (!overflows)
            return annotune_parts<T>(a * c - b * d, a * d + b * c);
        a = annotune_zero_for_nan(a);
        b = annotune_zero_for_nan(b);
        c = annotune_zero_for_nan(c);
        d = annotune_zero_for_nan(d);
    }
    return annotune_parts<T>(infinity * (a * c - b * d), infinity * (a * d + b * c));
}
template <typename T> static __host__ __device__ __noinline__ annotune_parts<T>
annotune_infinite_quotient(annotune_parts<T> x, annotune_parts<T> y, annotune_parts<T> found)
{
    T a = x.re, b = x.im, c = y.re, d = y.im;
    const T infinity = (T)HUGE_VAL;
    const bool first = annotune_is_infinite(a) || annotune_is_infinite(b);
    const bool second = annotune_is_infinite(c) || annotune_is_infinite(d);
    if (c == 0 && d == 0 && (a == a || b == b))
        return annotune_parts<T>(copysign(infinity, c) * a, copysign(infinity, c) * b);
    if (first && c - c == 0 && d - d == 0) {
        a = annotune_unit(a);
        b = annotune_unit(b);
        return annotune_parts<T>(infinity * (a * c + b * d), infinity * (b * c - a * d));
    }
    if (second && a - a == 0 && b - b == 0) {
        c = annotune_unit(c);
        d = annotune_unit(d);
        return annotune_parts<T>((T)0 * (a * c + b * d), (T)0 * (b * c - a * d));
    }
    return found;
}
template <typename A, typename B>
static __host__ __device__ annotune_result<A, B> operator*(annotune_parts<A> a, annotune_parts<B> b)
{
    typedef annotune_wider<A, B> T;
    const annotune_parts<T> z(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
    return z.re != z.re && z.im != z.im ? annotune_infinite_product<T>(a, b) : z;
}
/* Smith's division (Communications of the ACM 5(8), 1962): nothing is squared. Of floats squares in
 * double neither overflow nor lose a bit; so has gcc's library. */
template <typename T> static __host__ __device__ annotune_parts<T>
annotune_quotient(annotune_parts<T> x, annotune_parts<T> y)
{
    const double a = x.re, b = x.im, c = y.re, d = y.im;
    if (sizeof(T) < sizeof(double)) {
        const double whole = c * c + d * d;
        return annotune_parts<T>((T)((a * c + b * d) / whole), (T)((b * c - a * d) / whole));
    }
    if ((c < 0 ? -c : c) >= (d < 0 ? -d : d)) {
        const double ratio = d / c, whole = c + d * ratio;
        return annotune_parts<T>((T)((a + b * ratio) / whole), (T)((b - a * ratio) / whole));
    }
    const double ratio = c / d, whole = c * ratio + d;
    return annotune_parts<T>((T)((a * ratio + b) / whole), (T)((b * ratio - a) / whole));
}
template <typename A, typename B>
static __host__ __device__ annotune_result<A, B> operator/(annotune_parts<A> a, annotune_parts<B> b)
{
    typedef annotune_wider<A, B> T;
    const annotune_parts<T> z = annotune_quotient(annotune_parts<T>(a), annotune_parts<T>(b));
    return z.re != z.re && z.im != z.im ? annotune_infinite_quotient<T>(a, b, z) : z;
}
#define ANNOTUNE_WITH_REAL(OP, RIGHT, LEFT)                                                 \\
    template <typename A, typename B>                                                       \\
    static __host__ __device__ annotune_result<A, B> operator OP(annotune_parts<A> a, B b)  \\
    {                                                                                       \\
        typedef annotune_wider<A, B> T;                                                     \\
        return RIGHT;                                                                       \\
    }                                                                                       \\
    template <typename A, typename B>                                                       \\
    static __host__ __device__ annotune_result<A, B> operator OP(A a, annotune_parts<B> b)  \\
    {                                                                                       \\
        typedef annotune_wider<A, B> T;                                                     \\
        return LEFT;                                                                        \\
    }
#define ANNOTUNE_PARTS annotune_result<A, B>
ANNOTUNE_WITH_REAL(+, ANNOTUNE_PARTS(a.re + (T)b, a.im), ANNOTUNE_PARTS((T)a + b.re, b.im))
ANNOTUNE_WITH_REAL(-, ANNOTUNE_PARTS(a.re - (T)b, a.im), ANNOTUNE_PARTS((T)a - b.re, -b.im))
ANNOTUNE_WITH_REAL(*, ANNOTUNE_PARTS(a.re * (T)b, a.im * (T)b),
                   ANNOTUNE_PARTS((T)a * b.re, (T)a * b.im))
ANNOTUNE_WITH_REAL(/, ANNOTUNE_PARTS(a.re / (T)b, a.im / (T)b), annotune_parts<T>((T)a) / b)
#undef ANNOTUNE_WITH_REAL
#undef ANNOTUNE_PARTS
template <typename T>
static __host__ __device__ annotune_parts<T> operator-(annotune_parts<T> z)
{
    return annotune_parts<T>(-z.re, -z.im);
}
template <typename A, typename B>
static __host__ __device__ bool operator==(annotune_parts<A> a, annotune_parts<B> b)
{
    return a.re == b.re && a.im == b.im;
}
template <typename A, typename B>
static __host__ __device__ bool operator==(annotune_parts<A> a, B b)
{
    return a.re == (annotune_wider<A, B>)b && a.im == 0;
}
template <typename A, typename B>
static __host__ __device__ bool operator==(A a, annotune_parts<B> b)
{
    return b == a;
}
template <typename A, typename B>
static __host__ __device__ bool operator!=(annotune_parts<A> a, B b)
{
    return !(a == b);
}
template <typename A, typename B>
static __host__ __device__ bool operator!=(A a, annotune_parts<B> b)
{
    return !(b == a);
}
template <typename A, typename B>
static __host__ __device__ bool operator!=(annotune_parts<A> a, annotune_parts<B> b)
{
    return !(a == b);
}
#define ANNOTUNE_ASSIGNED(OP)                                                               \\
    template <typename T> template <typename S>                                             \\
    __host__ __device__ annotune_parts<T> &annotune_parts<T>::operator OP##=(S z)           \\
    {                                                                                       \\
        return *this = annotune_parts<T>(*this OP z);                                       \\
    }
ANNOTUNE_ASSIGNED(+)
ANNOTUNE_ASSIGNED(-)
ANNOTUNE_ASSIGNED(*)
ANNOTUNE_ASSIGNED(/)
#undef ANNOTUNE_ASSIGNED
template <typename T> static __host__ __device__ T annotune_real(annotune_parts<T> z)
{
    return z.re;
}
template <typename T> static __host__ __device__ T annotune_imag(annotune_parts<T> z)
{
    return z.im;
}
template <typename T>
static __host__ __device__ annotune_parts<T> annotune_conj(annotune_parts<T> z)
{
    return annotune_parts<T>(z.re, -z.im);
}
template <typename T> static __host__ __device__ T annotune_abs(annotune_parts<T> z)
{
    return hypot(z.re, z.im);
}
static inline __host__ __device__ annotune_complexf annotune_i()
{
    return annotune_complexf(0.0f, 1.0f);
}
"""

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

COMBINED = """\
/* What the threads of a block have of one value, combined in a fixed order, for all of them. */
template <typename Operation, typename T> static __device__ T annotune_combined(T mine, T *parts)
{
    const int threads = blockDim.x * blockDim.y * blockDim.z;
    const int me = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    parts[me] = mine;
    __syncthreads();
    for (int count = threads; count > 1; count = (count + 1) / 2) {
        const int half = (count + 1) / 2;
        if (me + half < count)
            parts[me] = Operation::of(parts[me], parts[me + half]);
        __syncthreads();
    }
    const T all = parts[0];
    __syncthreads();
    return all;
}
"""


TURN = """\
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#error "kernels of several streams would share memory: compile without --default-stream per-thread"
#endif

/* A call's turn to put its kernels into the stream, whose order keeps them from those of others. */
struct annotune_turn {
    static std::atomic_flag &taken() { static std::atomic_flag one = ATOMIC_FLAG_INIT; return one; }
    annotune_turn() { while (taken().test_and_set(std::memory_order_acquire)) { } }
    ~annotune_turn() { taken().clear(std::memory_order_release); }
};
"""


def operation(name: str) -> str:
    """Return the definition of one way to combine two partial results."""
    body = f"return {OPERATIONS[name]};"
    head = "template <typename T> static __host__ __device__ T of(T a, T b)"
    return f"struct {name} {{\n    {head} {{ {body} }}\n}};\n"


_OF_COMPLEX = {"annotune_complex", "annotune_complexf", *FUNCTIONS.values(), IMAGINARY_UNIT}
_INCLUDES = """\
#include <cstdio>
#include <cstdlib>
#include <cstring>
"""

_PIPELINE = "#include <cuda_pipeline.h>\n"

_EXTENT = """\
/* The extent of a grid axis for `count` iterations, of which the kernel strides over the rest. */
static inline unsigned annotune_extent(long long count, long long limit)
{
    if (count < 1)
        return 1;
    return (unsigned)(count < limit ? count : limit);
}
"""

_APART = """\
/* Whether two ranges of bytes have none in common. */
static inline bool annotune_apart(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    const char *p = (const char *)a, *q = (const char *)b;
    return p + a_bytes <= q || q + b_bytes <= p;
}
"""


def prelude(device: str, also: Collection[str] = ()) -> str:
    """Return what must stand before `device`: headers, and the functions that it calls.

    A function that nothing calls would be a warning of nvcc's; the host calls those of `also`.
    """
    called = words(device) | {*also}
    parts = [_INCLUDES + (_PIPELINE if "__pipeline_commit" in called else "")]
    parts[0] += headers(called)
    parts[0] += "#include <atomic>\n" if "annotune_turn" in called else ""
    bulk = bulk_definitions(called)
    parts[0] += "#include <cstdint>\n#include <cuda/ptx>\n" if bulk else ""
    parts += shared_parts(called)
    parts += [TOLD] if TELL in called else []
    parts += [TURN] if "annotune_turn" in called else []
    parts += [_EXTENT] if "annotune_extent" in called else []
    parts += [_APART] if "annotune_apart" in called else []
    parts += [COMPLEX] if _OF_COMPLEX & set(called) else []
    parts += [operation(name) for name in OPERATIONS if name in called]
    parts += [COMBINED] if "annotune_combined" in called else []
    parts += [text for name, text in ANEW_TEXTS.items() if name in called]
    parts += [text for text in (definitions(called), bulk) if text]
    return "\n".join(parts)


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
            case Call(function, arguments) if function in FUNCTIONS or function.startswith("("):
                inner = tuple(map(self.expr, arguments))
                return Call(FUNCTIONS.get(function) or f"({cuda_type(function[1:-1])})", inner)
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
