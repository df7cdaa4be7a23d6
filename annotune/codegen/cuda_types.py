"""C's types in CUDA C++, with a complex number of our own: the two have the same layout."""

from __future__ import annotations

import re

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
template <typename A, typename B>
static __host__ __device__ annotune_result<A, B> operator*(annotune_parts<A> a, annotune_parts<B> b)
{
    return annotune_result<A, B>(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
/* Smith's division (Communications of the ACM 5(8), 1962): nothing is squared. */
template <typename A, typename B>
static __host__ __device__ annotune_result<A, B> operator/(annotune_parts<A> a, annotune_parts<B> b)
{
    typedef annotune_wider<A, B> T;
    const T c = b.re, d = b.im;
    if ((c < 0 ? -c : c) >= (d < 0 ? -d : d)) {
        const T ratio = d / c, whole = c + d * ratio;
        return annotune_result<A, B>((a.re + a.im * ratio) / whole, (a.im - a.re * ratio) / whole);
    }
    const T ratio = c / d, whole = c * ratio + d;
    return annotune_result<A, B>((a.re * ratio + a.im) / whole, (a.im * ratio - a.re) / whole);
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


def operation(name: str) -> str:
    """Return the definition of one way to combine two partial results."""
    body = f"return {OPERATIONS[name]};"
    head = "template <typename T> static __host__ __device__ T of(T a, T b)"
    return f"struct {name} {{\n    {head} {{ {body} }}\n}};\n"
