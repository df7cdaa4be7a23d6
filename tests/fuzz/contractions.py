"""Random tensor contractions, in the ways in which people and translators write them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from .choices import Choices, Drawn

LETTERS = "ijklabc"
STYLES = ("shaped", "expanded", "horner", "f2c")


@dataclass(frozen=True)
class ContractionOptions:
    """What may be used: f2c's one-based columns need a front end that follows pointers."""

    with_f2c: bool = True


@dataclass(frozen=True)
class Contraction:
    """``output[…] op factor * first[…] * second[…]``, summed over what the output lacks.

    Tensors are index strings in the order of their memory, the last one contiguous. `extents` gives
    the values of each index at the sizes to run at, the tuned ones first. `order` is the
    order of the loops, outermost first; `form` is ``plain``, ``assigned`` (``C = C + …``),
    ``temporary`` (a scalar takes the sum) or ``zeroed`` (a nest of its own sets the output first).
    """

    name: str
    extents: Mapping[str, tuple[int, ...]]
    output: str
    inputs: tuple[str, ...]
    order: str
    op: str = "+="
    factor: str = ""
    style: str = "shaped"
    form: str = "plain"
    fixed: bool = False
    restricted: bool = True

    @property
    def summed(self) -> str:
        return "".join(x for x in self.order if x not in self.output)

    def size(self, index: str) -> str:
        """Return how C names the extent of an index."""
        return str(self.extents[index][0]) if self.fixed else f"n{index}"

    def sizes(self) -> list[dict[str, int]]:
        if self.fixed:
            return [{}]
        count = len(next(iter(self.extents.values())))
        return [{f"n{x}": self.extents[x][k] for x in self.order} for k in range(count)]

    def text(self) -> str:
        return "\n".join(_fortran(self) if self.style == "f2c" else _plain(self)) + "\n"


def _heading(c: Contraction) -> list[str]:
    runs = "; ".join(" ".join(f"{k}={v}" for k, v in s.items()) for s in c.sizes())
    tensors = " ".join(f"{n}[{t}]" for n, t in zip("ABDE", c.inputs, strict=False))
    extents = " ".join(f"{x}={c.size(x)}" for x in c.order)
    op = "=" if c.form == "zeroed" else c.op
    formula = f"C[{c.output}] {op} {c.factor or 1} {tensors}"
    return [f"/* fuzz {c.name}: {runs} */", f"/* einsum {formula} where {extents} */"]


def _given(c: Contraction) -> str:
    params = " ".join(f"param n{x} = {c.extents[x][0]};" for x in c.order)
    return "" if c.fixed else f"def input_params {{ {params} }}"


def _plain(c: Contraction) -> list[str]:
    """Return C with arrays of sizes, or pointers and one subscript."""
    names = "CABDE"[: len(c.inputs) + 1]
    parameters = [] if c.fixed else [f"int n{x}" for x in c.order]
    for name, tensor in zip(names, (c.output, *c.inputs), strict=True):
        if c.style == "shaped" and tensor:
            parameters.append(f"double {name}" + "".join(f"[{c.size(x)}]" for x in tensor))
        else:
            parameters.append(f"double *{'restrict ' if c.restricted else ''}{name}")
    parameters += [f"double {c.factor}"] if c.factor.isidentifier() else []
    lines = [*_heading(c), f"void {c.name}({', '.join(parameters)})", "{"]
    lines.append(f"  /*@ begin PerfTuning ({_given(c)}) @*/")
    lines += _nest(c, lambda name, tensor: _element(c, name, tensor))
    return [*lines, "  /*@ end @*/", "}"]


def _element(c: Contraction, name: str, tensor: str) -> str:
    if c.style == "shaped" and tensor:
        return name + "".join(f"[{x}]" for x in tensor)
    if c.style == "horner":
        text = ""
        for x in tensor:
            text = f"({text}) * {c.size(x)} + {x}" if text else x
        return f"{name}[{text or '0'}]"
    parts = []
    for k, x in enumerate(tensor):
        strides = [c.size(y) for y in reversed(tensor[k + 1 :])]
        parts.append(" * ".join([*strides, x]))
    return f"{name}[{' + '.join(parts) or '0'}]"


def _nest(c: Contraction, element: Any, one: int = 0, less: str = "<") -> list[str]:
    def loop(x: str, depth: int) -> str:
        declared = "" if one else "int "
        bound = f"i__{x}" if one else c.size(x)
        return f"{'  ' * depth}for ({declared}{x} = {one}; {x} {less} {bound}; {x}++) {{"

    def around(indices: str, inner: list[str], depth: int = 1) -> list[str]:
        lines = [loop(x, depth + k) for k, x in enumerate(indices)]
        lines += ["  " * (depth + len(indices)) + line for line in inner]
        return [*lines, *("  " * (depth + k) + "}" for k in range(len(indices) - 1, -1, -1))]

    target = element("C", c.output)
    terms = [element(n, t) for n, t in zip("ABDE", c.inputs, strict=False)]
    product = " * ".join([*([c.factor] if c.factor else []), *terms])
    if c.form == "assigned":
        return around(c.order, [f"{target} = {target} {c.op[0]} {product};"])
    if c.form == "temporary":
        outer = "".join(x for x in c.order if x in c.output)
        sum_ = around(c.summed, [f"t += {product};"], 0)
        return around(outer, ["double t = 0.0;", *sum_, f"{target} {c.op} t;"])
    if c.form == "zeroed":
        outer = "".join(x for x in c.order if x in c.output)
        zero = around(outer, [f"{target} = 0.0;"])
        return [*zero, *around(c.order, [f"{target} += {product};"])]
    return around(c.order, [f"{target} {c.op} {product};"])


def _fortran(c: Contraction) -> list[str]:
    """Return what f2c makes of Fortran: columns first, indices from 1, sizes by reference."""
    names = "CABDE"[: len(c.inputs) + 1]
    tensors = dict(zip(names, (c.output, *c.inputs), strict=True))
    parameters = [f"int *n{x}" for x in c.order] + [f"double *{name}" for name in names]
    parameters += [f"double {c.factor}"] if c.factor.isidentifier() else []
    lines = [*_heading(c), f"int {c.name}({', '.join(parameters)})", "{"]
    declared, adjusted = [], []
    for name, tensor in tensors.items():
        fast_first = tensor[::-1]
        dims = [f"{name}_dim{k}" for k in range(1, len(tensor))]
        declared += [*dims, f"{name}_offset"]
        adjusted += [f"  {d} = *n{x};" for d, x in zip(dims, fast_first, strict=False)]
        adjusted.append(f"  {name}_offset = {_offset(dims, len(tensor))};")
        adjusted.append(f"  {name} -= {name}_offset;")
    counters = [f"i__{x}" for x in c.order]
    lines.append(f"  int {', '.join([*declared, *counters, *c.order])};")
    lines += adjusted
    lines += [f"  i__{x} = *n{x};" for x in c.order]
    lines.append(f"  /*@ begin PerfTuning ({_given(c)}) @*/")
    lines += _nest(c, _column, 1, "<=")
    return [*lines, "  /*@ end @*/", "  return 0;", "}"]


def _offset(dims: list[str], rank: int) -> str:
    """Return ``1 + a_dim1 * (1 + a_dim2)``, the place of element (1, 1, …)."""
    text = "1" if rank else "0"
    for dim in reversed(dims):
        text = f"1 + {dim} * ({text})" if text != "1" else f"1 + {dim}"
    return text


def _column(name: str, tensor: str) -> str:
    fast_first = tensor[::-1]
    text = fast_first[-1:] or "0"
    for k in range(len(fast_first) - 2, -1, -1):
        text = f"{fast_first[k]} + {f'({text})' if '+' in text else text} * {name}_dim{k + 1}"
    return f"{name}[{text}]"


# Drawing ----------------------------------------------------------------------------------


def contraction(choose: Choices, options: ContractionOptions, name: str) -> Contraction:
    """Return a random contraction of two to seven indices.

    A third of them are outer products of tensors with two indices of their own at the least: the
    kind that is cut into two-level tiles.
    """
    is_outer = choose.chance(33)
    count = choose.pick((5, 6, 7) if is_outer else (2, 3, 3, 3, 4, 4, 5, 6, 7))
    letters = LETTERS[:count]
    output, tensors = (_outer if is_outer else _any_tensors)(choose, letters)
    mixed = tuple(_shuffled(choose, t) for t in tensors if t)
    style = choose.pick(STYLES if options.with_f2c else STYLES[:-1])
    forms = ("plain", "plain", "plain", "assigned", "temporary", "zeroed")
    form = "plain" if is_outer else choose.pick(forms)
    most = {2: 7, 3: 6, 4: 4, 5: 3, 6: 3, 7: 2}[count]
    return Contraction(
        name,
        {x: (choose.integer(2, most), choose.integer(1, most), 1) for x in letters},
        _shuffled(choose, output),
        mixed,
        _shuffled(choose, letters),
        choose.pick(("+=", "+=", "-=")),
        choose.pick(("", "", "alpha", "2.0", "3.0")),
        style,
        form,
        style != "f2c" and choose.chance(20),
        choose.chance(70),
    )


def long_product(choose: Choices, name: str) -> Contraction:
    """Return a product of two tensors as long as those that whole warps multiply together.

    Rows, columns and what is summed have one index each or two, and there may be one of a batch.
    Lengths are round or not; at the other sizes they are fewer.
    """
    counts = {
        "ia": choose.pick((1, 1, 2)),
        "jb": choose.pick((1, 1, 2)),
        "kc": choose.pick((1, 1, 1, 2)),
    }
    rows, columns, summed = (letters[:count] for letters, count in counts.items())
    batch = "l" if choose.chance(15) else ""
    lengths = {rows: (40, 48, 64), columns: (48, 64, 66), summed: (16, 17, 20)}
    extents = {}
    for letters, known in lengths.items():
        whole = choose.pick(known)
        inner = choose.pick((4, 5, 8)) if len(letters) > 1 else 1
        for x, length in zip(
            reversed(letters), (inner, -(-whole // inner))[-len(letters) :], strict=True
        ):
            extents[x] = (length, choose.integer(1, length), 1)
    if batch:
        extents[batch] = (2, 1, 3)
    inputs = tuple(_shuffled(choose, batch + own + summed) for own in (rows, columns))
    order = _shuffled(choose, batch + rows + columns + summed)
    return Contraction(
        name,
        extents,
        _shuffled(choose, batch + rows + columns),
        inputs if choose.chance(60) else inputs[::-1],
        order,
        choose.pick(("+=", "+=", "-=")),
        choose.pick(("", "", "alpha", "2.0")),
        choose.pick(STYLES[:-1]),
        choose.pick(("plain", "plain", "temporary", "zeroed")),
        choose.chance(40),
        choose.chance(80),
    )


def _outer(choose: Choices, letters: str) -> tuple[str, list[str]]:
    """Return an output and two tensors that share nothing but one or two summed indices."""
    mixed = _shuffled(choose, letters)
    summed = choose.integer(1, min(2, len(letters) - 4))
    own = mixed[summed:]
    cut = choose.integer(2, len(own) - 2)
    return own, [own[:cut] + mixed[:summed], own[cut:] + mixed[:summed]]


def _any_tensors(choose: Choices, letters: str) -> tuple[str, list[str]]:
    """Return an output and one to three tensors, each index in some of them."""
    inputs = choose.pick((2, 2, 2, 2, 1, 3))
    kept = choose.integer(1 if len(letters) > 2 else 0, len(letters))
    shuffled = _shuffled(choose, letters)
    output, summed = shuffled[:kept], shuffled[kept:]
    tensors = ["" for _ in range(inputs)]
    for x in output:
        tensors[choose.integer(0, inputs - 1)] += x
    for x in summed:
        # What is summed stands in two tensors, now and then in one alone.
        first = choose.integer(0, inputs - 1)
        for k in {first, (first + 1) % inputs} if choose.chance(85) else {first}:
            tensors[k] += x
    return output, tensors


def _shuffled(choose: Choices, letters: str) -> str:
    left, out = list(letters), ""
    while left:
        out += left.pop(choose.integer(0, len(left) - 1))
    return out


@st.composite
def contractions(
    draw: st.DrawFn,
    options: ContractionOptions = ContractionOptions(),
    name: str = "f",
) -> Contraction:
    """The same as a strategy of Hypothesis."""
    return contraction(Drawn(draw), options, name)


def smaller(c: Contraction) -> Iterator[Contraction]:
    """Yield simpler contractions of the same kind, for the reducer."""
    for x in c.order if len(c.order) > 1 else "":
        extents = {k: v for k, v in c.extents.items() if k != x}
        inputs = tuple(t.replace(x, "") for t in c.inputs)
        yield replace(
            c,
            extents=extents,
            output=c.output.replace(x, ""),
            inputs=tuple(t for t in inputs if t) or inputs[:1],
            order=c.order.replace(x, ""),
        )
    for k in range(len(c.inputs) if len(c.inputs) > 1 else 0):
        left = c.inputs[:k] + c.inputs[k + 1 :]
        if all(x in c.output or any(x in t for t in left) for x in c.order):
            yield replace(c, inputs=left)
    for change in ({"factor": ""}, {"style": "shaped"}, {"form": "plain"}, {"op": "+="}):
        if replace(c, **change) != c:  # type: ignore[arg-type]  # names are Contraction's own
            yield replace(c, **change)  # type: ignore[arg-type]
    if c.order != "".join(sorted(c.order)):
        yield replace(c, order="".join(sorted(c.order)))


# numpy --------------------------------------------------------------------------------------

_EINSUM = re.compile(r"/\* einsum C\[(\w*)\] (\S+) (\S+) (.*?) where (.*?) \*/")


def einsum_of(text: str, sizes: Mapping[str, int], factors: Mapping[str, float]) -> dict[str, Any]:
    """Return what `batch_child.contraction` needs, from the comment of a contraction's text.

    Empty where the text is none.
    """
    found = _EINSUM.search(text)
    if not found:
        return {}
    output, op, factor, words, extents = found.groups()
    known = {x: sizes.get(v) or int(v) for x, v in (pair.split("=") for pair in extents.split())}
    tensors = [("C", output), *((w[0], w[2:-1]) for w in words.split())]
    made = []
    for name, indices in tensors:
        shape = [known[x] for x in indices]
        strides = [1] * len(shape)
        for k in range(len(shape) - 2, -1, -1):
            strides[k] = strides[k + 1] * shape[k + 1]
        made.append([name, 0, shape, strides])
    formula = ",".join(indices for _, indices in tensors[1:]) + f"->{output}"
    value = factors[factor] if factor in factors else float(factor)
    return {"tensors": made, "formula": formula, "op": op, "factor": value}
