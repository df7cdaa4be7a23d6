"""A function of a C file built as a library and called from Python, with arrays of NumPy's.

A bridge in C is compiled behind the file: it takes the address of every argument, so that what
stands in between knows nothing of how C passes them, and works out the lengths of arrays as C does.
"""

from __future__ import annotations

import ctypes
import inspect
import numbers
import operator
from collections.abc import Mapping, Sequence
from enum import StrEnum
from keyword import iskeyword
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from annotune.diagnostics import NOWHERE, AnnotuneError, Template
from annotune.frontend.prototype import Formal, Prototype
from annotune.frozen import dataclass
from annotune.measure.compile import CompileJob, compile_job
from annotune.measure.toolchain import Toolchains
from annotune.measure.values import element_of

NOT_BUILT = Template(
    "AT681",
    "'{name}' is no library for {target}: {reason}",
    "`annotune doctor` says which compilers work; a function that the file calls must be in it",
)

_CALL, _LENGTHS = "annotune_python_call", "annotune_python_lengths"
_GIVEN, _FOUND = "annotune_python_given", "annotune_python_found"
_EXPORTED = '__attribute__((visibility("default"))) void'
# Kernels run on CUDA's legacy stream; what they are given may still be computed on another one.
_WAIT = "cudaDeviceSynchronize"


class CallMemory(StrEnum):
    """Where the arrays of a call may lie: in the host's memory, on its GPU, or in either."""

    HOST = "host"
    DEVICE = "device"
    EITHER = "either"


@dataclass(frozen=True)
class Library:
    """A function to call, the target whose text it is, in words where it runs, and on what."""

    function: Prototype
    target: str
    where: str
    memory: CallMemory = CallMemory.HOST

    def bridge(self) -> str:
        """Return the C, to be compiled behind the file, by which the function is called."""
        formals = self.function.formals
        scalars = [(n, one) for n, one in enumerate(formals) if one.lengths is None]
        values = [f"{_c(one.type)} {one.name} = {_value(n, one)};" for n, one in scalars]
        lengths = [text for one in formals for text in one.lengths or ()]
        found = [f"{_FOUND}[{n}] = {text or '-1'};" for n, text in enumerate(lengths)]
        passed = (
            f"{_GIVEN}[{n}]" if one.lengths is not None else _value(n, one)
            for n, one in enumerate(formals)
        )
        result = _c(self.function.result)
        kept = "" if result == "void" else f"*({result} *){_FOUND} = "
        unused = [f"(void){name};" for name in (*(one.name for _, one in scalars), _GIVEN, _FOUND)]
        is_cuda = self.memory is not CallMemory.HOST
        lines = [
            *([f"int {_WAIT}(void);"] if is_cuda else []),
            f"{_EXPORTED} {_LENGTHS}(void *const *{_GIVEN}, long long *{_FOUND})",
            *("{", *values, *unused, *found, "}"),
            f"{_EXPORTED} {_CALL}(void *const *{_GIVEN}, void *{_FOUND})",
            *("{", *unused[-2:], *([f"{_WAIT}();"] if is_cuda else [])),
            *(f"{kept}{self.function.name}({', '.join(passed)});", "}"),
        ]
        return "\n" + "\n".join(lines) + "\n"


def _c(type_: str) -> str:
    """Return a type as C knows it without <complex.h>."""
    return type_.replace("complex", "_Complex")


def _value(number: int, formal: Formal) -> str:
    return f"*({_c(formal.type)} *){_GIVEN}[{number}]"


def built(library: Library, job: CompileJob, tools: Toolchains) -> CompiledFunction:
    """Return what calls a library's function, which `job` compiles with its bridge.

    Raises:
        AnnotuneError: It does not compile here, or needs what it does not bring.
    """
    with TemporaryDirectory(prefix="annotune-") as folder:
        result = compile_job(job, tools, Path(folder))
        try:
            if result.ok:
                return CompiledFunction(library, ctypes.CDLL(str(result.path)))
            lines = [line for line in result.output.splitlines() if line.strip()]
            reason = next((line for line in lines if "error" in line), lines[0] if lines else "")
        except OSError as error:
            reason = str(error).removeprefix(f"{result.path}: ")
    raise not_built(library, reason)


def not_built(library: Library, reason: str) -> AnnotuneError:
    """Return the refusal of a library that cannot be made, with the reason."""
    name, target = library.function.name, library.target
    return AnnotuneError.of(NOT_BUILT.at(NOWHERE, name=name, target=target, reason=reason))


@dataclass(frozen=True)
class _Given:
    """What stands for an argument: its address and its shape, and what keeps both."""

    value: Any
    address: int
    shape: tuple[int, ...] = ()


class CompiledFunction:
    """A function of C's, called like one of Python's, by position or keyword.

    A parameter with the name of one of Python's own words has ``_`` behind it, such as ``from_``.
    Numbers are Python's or NumPy's; arrays are NumPy's, or on a GPU what has the CUDA array
    interface, and are written in place. Before each call their types, axes, lengths and order in
    memory are compared with what C declares: TypeError or ValueError says what is wrong.
    """

    def __init__(self, library: Library, loaded: ctypes.CDLL) -> None:
        self.library = library
        self.function = library.function
        self._call, self._lengths = loaded[_CALL], loaded[_LENGTHS]
        self._call.restype = self._lengths.restype = None
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        formals = self.function.formals
        names = [f"{one.name}_" if iskeyword(one.name) else one.name for one in formals]
        named = [
            inspect.Parameter(name, kind, annotation=one.declared)
            for name, one in zip(names, formals, strict=True)
        ]
        self.__signature__ = inspect.Signature(named, return_annotation=self.function.result)
        self.__name__ = self.__qualname__ = self.function.name
        self.__doc__ = f"{self.function}\n\n{library.target}, {library.where}."

    def __repr__(self) -> str:
        return f"<{self.function}: {self.library.target}, {self.library.where}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the C function returns, None where that is nothing."""
        try:
            bound = self.__signature__.bind(*args, **kwargs).arguments.values()
        except TypeError as error:
            raise TypeError(f"{self.function.name}(): {error}; C has {self.function}") from None
        # All are there, in the order of the signature.
        given = [self._given(*pair) for pair in zip(self.function.formals, bound, strict=True)]
        addresses = (ctypes.c_void_p * max(1, len(given)))(*(one.address for one in given))
        self._compare_lengths(addresses, given)
        if self.function.result == "void":
            self._call(addresses, None)
            return None
        found = np.zeros(1, element_of(self.function.result).dtype)
        self._call(addresses, ctypes.c_void_p(found.ctypes.data))
        return found[0].item()

    def _given(self, formal: Formal, value: Any) -> _Given:
        try:
            if formal.lengths is None:
                number = _number(formal, value)
                return _Given(number, number.ctypes.data)
            return self._array(formal, value)
        except (TypeError, ValueError, OverflowError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            words = f"{self.function.name}(): '{formal.name}' {error}; C has '{formal.declared}'"
            raise kind(words) from None

    def _array(self, formal: Formal, value: Any) -> _Given:
        """Return the address of an array's first element, and its shape."""
        on_device = getattr(value, "__cuda_array_interface__", None)
        if on_device is None:
            if not isinstance(value, np.ndarray):
                raise TypeError(f"is no array but {type(value).__name__}")
            if self.library.memory is CallMemory.DEVICE:
                raise TypeError("lies in the host's memory, and this was made for arrays on a GPU")
            array, address = value, value.ctypes.data
            is_writable = value.flags.writeable
        else:
            if self.library.memory is CallMemory.HOST:
                raise TypeError(f"lies on a GPU, and this is {self.library.where}")
            address, is_read_only = on_device["data"]
            is_writable, array = not is_read_only, _shadow(on_device)
        _refuse_unfit(formal, array, is_writable)
        return _Given(value, address or 0, array.shape)

    def _compare_lengths(self, addresses: Any, given: Sequence[_Given]) -> None:
        """Raise where an array has less elements on an axis than C takes from it."""
        count = sum(len(one.lengths or ()) for one in self.function.formals)
        room = (ctypes.c_longlong * max(1, count))()
        self._lengths(addresses, room)
        left = iter(room)
        for formal, one in zip(self.function.formals, given, strict=True):
            wanted = [next(left) for _ in formal.lengths or ()]
            if formal.is_flat or not wanted:
                continue
            # How far the outermost axis goes C does not mind, if that is far enough.
            is_enough = one.shape[0] >= wanted[0]
            if not is_enough or any(n != m for n, m in zip(one.shape[1:], wanted[1:], strict=True)):
                least = ", ".join("any" if n < 0 else str(n) for n in wanted)
                raise ValueError(
                    f"{self.function.name}(): '{formal.name}' has the shape {one.shape}, expected "
                    f"({least}); C has '{formal.declared}'"
                )


def _shadow(interface: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """Return an array that nobody may read, laid out in memory as one on a GPU."""
    one = np.zeros((), np.dtype(interface["typestr"]))
    shape, strides = tuple(interface["shape"]), interface.get("strides")
    if strides is None:
        step, strides = one.itemsize, ()
        for length in reversed(shape):
            step, strides = step * length, (step, *strides)
    return np.lib.stride_tricks.as_strided(one, shape, strides)


def _number(formal: Formal, value: Any) -> np.ndarray[Any, Any]:
    """Return a number as C stores it."""
    dtype = element_of(formal.type).dtype
    if isinstance(value, np.ndarray) and not value.ndim:
        value = value[()]
    if dtype.kind in "iu":
        try:
            whole = operator.index(value)
        except TypeError:
            raise TypeError(f"is no whole number but {type(value).__name__}") from None
        if formal.type == "_Bool":
            return np.array(bool(whole), dtype)
        limits = np.iinfo(dtype)
        if not limits.min <= whole <= limits.max:
            raise ValueError(f"is {whole}, beyond {limits.min} to {limits.max}")
        return np.array(whole, dtype)
    wanted = numbers.Complex if dtype.kind == "c" else numbers.Real
    if not isinstance(value, wanted):
        raise TypeError(f"is no number but {type(value).__name__}")
    return np.array(value, dtype)


def _refuse_unfit(formal: Formal, array: np.ndarray[Any, Any], is_writable: bool) -> None:
    """Raise where an array's elements do not lie in memory as C expects them."""
    dtype, lengths = element_of(formal.type).dtype, formal.lengths or ()
    is_bool = formal.type == "_Bool" and array.dtype == np.bool_
    if array.dtype != dtype and not is_bool:
        raise TypeError(f"has elements of {array.dtype}, expected {dtype}")
    if not formal.is_flat and array.ndim != len(lengths):
        raise ValueError(f"has {array.ndim} axes, expected {len(lengths)}")
    is_whole = array.flags.c_contiguous or (formal.is_flat and array.flags.f_contiguous)
    if not is_whole or not array.flags.aligned:
        raise ValueError(
            "does not lie in memory row after row without gaps: numpy.ascontiguousarray copies it"
        )
    if not (is_writable or formal.is_const):
        raise ValueError("is read-only, and the function may write it")
