"""What each workload of `c_examples` computes, by numpy: an einsum of the formula in the paper.

A reference takes the arguments of the C function by name, as they are before the call, and returns
the arrays that the call leaves otherwise, and under ``return`` the value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

Outcome = Mapping[str, Any]


def _sum(formula: str, *operands: Any) -> Any:
    # Among loops of no or one iteration the search for the best order leaves out nothing.
    is_tiny = min(n for operand in operands for n in np.shape(operand)) < 2
    return np.einsum(formula, *operands, optimize="greedy" if is_tiny else "optimal")


def _action_2d(a: SimpleNamespace) -> Outcome:
    return {"U": _sum("ka,lb,ekl,kc,ld,ecd->eab", a.B, a.B, a.D, a.B, a.B, a.V)}


def _action_3d(a: SimpleNamespace) -> Outcome:
    basis = (a.B, a.B, a.B)
    return {"U": _sum("ka,lb,mc,eklm,kf,lg,mh,efgh->eabc", *basis, a.D, *basis, a.V)}


def _interpolate(a: SimpleNamespace) -> Outcome:
    return {"V": _sum("ka,lb,mc,eabc->eklm", a.B, a.B, a.B, a.U)}


def _assembly_2d(a: SimpleNamespace) -> Outcome:
    return {"M": _sum("ka,kc,lb,ld,ekl->eabcd", *(a.B,) * 4, a.D)}


def _assembly_3d(a: SimpleNamespace) -> Outcome:
    return {"M": _sum("ka,kf,lb,lg,mc,mh,eklm->eabcfgh", *(a.B,) * 6, a.D)}


def _batched_gemm(a: SimpleNamespace) -> Outcome:
    return {"C": a.alpha * _sum("bik,bkj->bij", a.A, a.B) + a.beta * a.C}


def _product(a: SimpleNamespace) -> Outcome:
    return {"C": a.alpha * _sum("il,lj->ij", a.A, a.B) + a.beta * a.C}


def _sgemm(a: SimpleNamespace) -> Outcome:
    """Return C, whose columns are rows of numpy's arrays; what is between them stays."""
    found = a.C.copy()
    product = _sum("li,jl->ji", a.A[:, : a.m], a.B[:, : a.k])
    found[:, : a.m] = a.alpha * product + a.beta * a.C[:, : a.m]
    return {"C": found}


def _riemann_christoffel(a: SimpleNamespace) -> Outcome:
    added = _sum("mjk,iml->ijkl", a.B, a.B)
    return {"C": a.A - _sum("ilkj->ijkl", a.A) + added - _sum("ilkj->ijkl", added)}


def _ax(a: SimpleNamespace) -> Outcome:
    return _laplacian(a.D, a.u, a.g)


def _nekbone_ax(a: SimpleNamespace) -> Outcome:
    return _laplacian(a.D, a.u, np.stack([a.g1, a.g2, a.g3, a.g4, a.g5, a.g6], axis=-1))


def _laplacian(D: Any, u: Any, g: Any) -> Outcome:
    slopes = ("il,ekjl->ekji", "jl,ekli->ekji", "kl,elji->ekji")
    gradient = np.stack([_sum(slope, D, u) for slope in slopes])
    metric = g[..., [[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
    flux = _sum("ekjixy,yekji->xekji", metric, gradient)
    back = ("li,ekjl->ekji", "lj,ekli->ekji", "lk,elji->ekji")
    return {"w": sum(_sum(one, D, part) for one, part in zip(back, flux, strict=True))}


def _jacobi(a: SimpleNamespace) -> Outcome:
    found, inner = a.to.copy(), (slice(1, -1),) * 3
    beside = [np.roll(vars(a)["from"], step, axis)[inner] for axis in range(3) for step in (1, -1)]
    found[inner] = (sum(beside) + a.h * a.h * a.f[inner]) / 6.0
    return {"to": found}


REFERENCES: Mapping[str, Callable[[SimpleNamespace], Outcome]] = {
    "action_2d": _action_2d,
    "action_3d": _action_3d,
    "interpolate": _interpolate,
    "add2s1": lambda a: {"a": a.c * a.a + a.b},
    "add2s2": lambda a: {"a": a.a + a.c * a.b},
    "assembly_2d": _assembly_2d,
    "assembly_3d": _assembly_3d,
    "ax": _ax,
    "batched_gemm": _batched_gemm,
    "contract_in_place": lambda a: {"A": _sum("isj,ksl->iklj", a.B, a.C)},
    "contract_to_the_end": lambda a: {"A": _sum("isj,ksl->ijkl", a.B, a.C)},
    "contract_twice": lambda a: {"A": _sum("si,sj,ksl->kilj", a.B, a.B, a.C)},
    "gemm": _product,
    "glsc3": lambda a: {"return": _sum("i,i,i->", a.a, a.b, a.c)},
    "jacobi": _jacobi,
    "matrix_product": _product,
    "matrix_sum": lambda a: {"S": a.A + _sum("il,lj->ij", a.B, a.C)},
    "nekbone_ax": _nekbone_ax,
    "riemann_christoffel": _riemann_christoffel,
    "sgemm": _sgemm,
}

# The extents of arrays that C declares without; sgemm's columns are rows here.
SHAPES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "add2s1": {"a": ("n",), "b": ("n",)},
    "add2s2": {"a": ("n",), "b": ("n",)},
    "glsc3": {"a": ("n",), "b": ("n",), "c": ("n",)},
    "sgemm": {"A": ("k", "lda"), "B": ("n", "ldb"), "C": ("n", "ldc")},
}
