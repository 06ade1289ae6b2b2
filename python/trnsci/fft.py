"""Fourier, cosine and sine transforms: the names and meanings of numpy.fft and scipy.fft.

float32 stays float32, as in SciPy. `precision` is a mode ("native", "tf32x3", "exact", ...) or a target
("target=1e-9"); with return_accuracy=True a call returns (y, accuracy), and
||y - exact|| <= accuracy.bound * ||exact|| for each transform. `out` takes the result on the host. `workers` is checked
as SciPy checks it; the number of threads is OMP_NUM_THREADS's. `overwrite_x` is accepted: the input is never changed.

The module is a backend of scipy.fft: `with scipy.fft.set_backend(trnsci.fft): ...`.
"""
from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from typing import Any, cast, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import _docs, _glossary, _trnsci
from ._core import Accuracy, Array, Executor, ExecutorLike
from ._fft_types import Axes, Cosine, CosineAxes, Norm, OneAxis, SeveralAxes
from ._inputs import as_array

_transform = _trnsci.transform
_cosine = _trnsci.cosine


def _check(workers: int | None, plan: Any) -> None:
    if plan is not None:
        raise NotImplementedError("plan=: passing a precomputed plan is not supported; make a trnsci.fft.Plan and call it")
    if workers is not None:
        count = operator.index(workers)
        processors = os.cpu_count() or 1
        if count == 0:
            raise ValueError("workers must not be zero")
        if count < -processors:
            raise ValueError(f"workers value out of range; got {count}, must not be less than {-processors}")


def _name(function: Any, name: str, doc: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _one_axis(number: int, name: str, doc: str) -> OneAxis:
    def transform(x: Any, n: int | None = None, axis: int = -1, norm: Norm = None, overwrite_x: bool = False,
                  workers: int | None = None, *, plan: None = None, out: Any = None, precision: str | None = None,
                  executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
        if workers is not None or plan is not None:
            _check(workers, plan)
        return _transform(number, x, n, axis, norm, precision, executor, out, return_accuracy)

    return cast(OneAxis, _name(transform, name, doc))


def _several_axes(number: int, name: str, doc: str, default: tuple[int, ...] | None = None) -> SeveralAxes:
    def transform(x: Any, s: Axes = None, axes: Axes = default, norm: Norm = None, overwrite_x: bool = False,
                  workers: int | None = None, *, plan: None = None, out: Any = None, precision: str | None = None,
                  executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
        if workers is not None or plan is not None:
            _check(workers, plan)
        return _transform(number, x, s, axes, norm, precision, executor, out, return_accuracy)

    return cast(SeveralAxes, _name(transform, name, doc))


fft = _one_axis(0, "fft", """y_k = sum_j x_j exp(-2 pi i jk/n) along one axis.

    >>> import numpy as np, trnsci
    >>> trnsci.fft.fft(np.array([1.0, 2.0, 3.0, 4.0])).round(12)
    array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    >>> y, accuracy = trnsci.fft.fft(np.ones(8), return_accuracy=True)
    >>> accuracy.bound < 1e-14
    True
    """)
ifft = _one_axis(1, "ifft", """The inverse of fft: x_j = 1/n sum_k y_k exp(+2 pi i jk/n).

    >>> import numpy as np, trnsci
    >>> trnsci.fft.ifft(trnsci.fft.fft(np.array([1.0, 2.0, 3.0]))).real.round(12)
    array([1., 2., 3.])
    """)
rfft = _one_axis(2, "rfft", """The fft of a real array, k = 0 .. n/2.

    >>> import numpy as np, trnsci
    >>> trnsci.fft.rfft(np.ones(4))
    array([4.+0.j, 0.+0.j, 0.+0.j])
    """)
irfft = _one_axis(3, "irfft", """The inverse of rfft: n real points (by default 2 (m - 1)) from m = n/2 + 1 complex ones.

    >>> import numpy as np, trnsci
    >>> trnsci.fft.irfft(trnsci.fft.rfft(np.array([1.0, 2.0, 3.0])), 3).round(12)
    array([1., 2., 3.])
    """)
hfft = _one_axis(4, "hfft", """The real spectrum of a Hermitian signal, given its half.

    >>> import numpy as np, trnsci
    >>> trnsci.fft.hfft(np.array([1.0, 2.0, 3.0])).round(12)
    array([ 8., -2.,  0., -2.])
    """)
ihfft = _one_axis(5, "ihfft", "The inverse of hfft.")
fftn = _several_axes(6, "fftn", """The fft over several axes, by default all.

    >>> import numpy as np, trnsci
    >>> trnsci.fft.fftn(np.ones((2, 2)))
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])
    """)
ifftn = _several_axes(7, "ifftn", "The inverse of fftn.")
rfftn = _several_axes(8, "rfftn", """The fft of a real array over several axes; the last one given is halved.

    >>> import numpy as np, trnsci
    >>> trnsci.fft.rfftn(np.ones((4, 6)), axes=(0, 1)).shape
    (4, 4)
    """)
irfftn = _several_axes(9, "irfftn", """The inverse of rfftn.

    >>> import numpy as np, trnsci
    >>> x = np.arange(12.0).reshape(3, 4)
    >>> np.allclose(trnsci.fft.irfftn(trnsci.fft.rfftn(x), x.shape), x)
    True
    """)
hfftn = _several_axes(10, "hfftn", "The real spectrum of a signal that is Hermitian over several axes.")
ihfftn = _several_axes(11, "ihfftn", "The inverse of hfftn.")
fft2 = _several_axes(6, "fft2", """The fft over two axes, by default the last two.

    >>> import numpy as np, trnsci
    >>> trnsci.fft.fft2(np.eye(2)).real.round(12)
    array([[2., 0.],
           [0., 2.]])
    """, (-2, -1))
ifft2 = _several_axes(7, "ifft2", "The inverse of fft2.", (-2, -1))
rfft2 = _several_axes(8, "rfft2", "The fft of a real array over two axes.", (-2, -1))
irfft2 = _several_axes(9, "irfft2", "The inverse of rfft2.", (-2, -1))
hfft2 = _several_axes(10, "hfft2", "The real spectrum of a signal that is Hermitian over two axes.", (-2, -1))
ihfft2 = _several_axes(11, "ihfft2", "The inverse of hfft2.", (-2, -1))


def _wave(number: int, x: Any, type: int, s: Any, axes: Any, norm: Norm, orthogonalize: bool | None,
          precision: str | None, executor: ExecutorLike) -> Any:
    if not isinstance(x, Array):
        x = as_array(x, "fft.dct", "x")
        if x.dtype.kind == "c":  # two real transforms, as in SciPy
            real = _cosine(number, x.real, type, s, axes, norm, orthogonalize, precision, executor)
            imag = _cosine(number, x.imag, type, s, axes, norm, orthogonalize, precision, executor)
            y = np.empty(real.shape, dtype=np.result_type(real.dtype, np.complex64))
            y.real = real
            y.imag = imag
            return y
    return _cosine(number, x, type, s, axes, norm, orthogonalize, precision, executor)


def _cosine_one(number: int, name: str, doc: str) -> Cosine:
    def transform(x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: Norm = None,
                  overwrite_x: bool = False, workers: int | None = None, orthogonalize: bool | None = None, *,
                  precision: str | None = None, executor: ExecutorLike = None) -> Any:
        _check(workers, None)
        return _wave(number, x, type, n, axis, norm, orthogonalize, precision, executor)

    return cast(Cosine, _name(transform, name, doc))


def _cosine_several(number: int, name: str, doc: str) -> CosineAxes:
    def transform(x: Any, type: int = 2, s: Axes = None, axes: Axes = None, norm: Norm = None,
                  overwrite_x: bool = False, workers: int | None = None, *, orthogonalize: bool | None = None,
                  precision: str | None = None, executor: ExecutorLike = None) -> Any:
        _check(workers, None)
        return _wave(number, x, type, s, axes, norm, orthogonalize, precision, executor)

    return cast(CosineAxes, _name(transform, name, doc))


dct = _cosine_one(0, "dct", """The cosine transform of type 1, 2, 3 or 4.

    >>> import numpy as np, trnsci
    >>> trnsci.fft.dct(np.array([1.0, 1.0])).round(12)
    array([4., 0.])
    """)
idct = _cosine_one(1, "idct", """The inverse of dct.

    >>> import numpy as np, trnsci
    >>> trnsci.fft.idct(trnsci.fft.dct(np.array([1.0, 2.0]))).round(12)
    array([1., 2.])
    """)
dst = _cosine_one(2, "dst", """The sine transform of type 1, 2, 3 or 4. With norm="ortho" its matrix is orthogonal.

    >>> import numpy as np, trnsci
    >>> trnsci.fft.dst(np.array([1.0]), type=1)
    array([2.])
    """)
idst = _cosine_one(3, "idst", "The inverse of dst.")
dctn = _cosine_several(4, "dctn", "The cosine transform over several axes.")
idctn = _cosine_several(5, "idctn", "The inverse of dctn.")
dstn = _cosine_several(6, "dstn", "The sine transform over several axes.")
idstn = _cosine_several(7, "idstn", "The inverse of dstn.")


def _real_type(dtype: DTypeLike | None, operation: str) -> bool:
    kind = np.dtype(np.float64 if dtype is None else dtype)
    if kind not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"{operation}: dtype must be float32 or float64; it is {kind}")
    return bool(kind == np.float32)


def _count(n: Any, operation: str) -> int:
    try:
        return operator.index(n)
    except TypeError:
        raise ValueError(f"{operation}: n should be an integer; it is {n!r}") from None


def fftfreq(n: int, d: float = 1.0, *, dtype: DTypeLike | None = None, device: Any = None, xp: Any = None,
            executor: ExecutorLike = None) -> NDArray[Any]:
    """The sample frequencies of fft.

    >>> import trnsci
    >>> trnsci.fft.fftfreq(5, d=0.5)
    array([ 0. ,  0.4,  0.8, -0.8, -0.4])
    """
    return cast(NDArray[Any], _trnsci.frequencies(_count(n, "fft.fftfreq"), float(d), False, _real_type(dtype, "fft.fftfreq"), executor))


def rfftfreq(n: int, d: float = 1.0, *, dtype: DTypeLike | None = None, device: Any = None, xp: Any = None,
             executor: ExecutorLike = None) -> NDArray[Any]:
    """The sample frequencies of rfft.

    >>> import trnsci
    >>> trnsci.fft.rfftfreq(6, d=0.5).round(12)
    array([0.        , 0.33333333, 0.66666667, 1.        ])
    """
    return cast(NDArray[Any], _trnsci.frequencies(_count(n, "fft.rfftfreq"), float(d), True, _real_type(dtype, "fft.rfftfreq"), executor))


def _shifted(x: Any, axes: Axes, inverse: bool, executor: ExecutorLike) -> Any:
    if not isinstance(x, Array):
        x = as_array(x, "fft.fftshift", "x")
        if x.dtype.char not in "fdFD" or x.ndim == 0:  # a permutation of elements of any type: NumPy's roll
            if axes is None:
                axes = tuple(range(x.ndim))
            elif isinstance(axes, (int, np.integer)):
                axes = (int(axes),)
            for axis in axes:
                if not -x.ndim <= axis < x.ndim:
                    raise ValueError(f"fft.fftshift: axis {axis} of an array of rank {x.ndim}")
            moves = [-(x.shape[a] // 2) if inverse else x.shape[a] // 2 for a in axes]
            return np.roll(x, moves, tuple(axes))
    return _trnsci.shift(x, axes, inverse, executor)


@overload
def fftshift(x: Array, axes: Axes = ..., *, executor: ExecutorLike = ...) -> Array: ...
@overload
def fftshift(x: ArrayLike, axes: Axes = ..., *, executor: ExecutorLike = ...) -> NDArray[Any]: ...
def fftshift(x: Any, axes: Axes = None, *, executor: ExecutorLike = None) -> Any:
    """Moves index 0 of each axis to n/2.

    >>> import numpy as np, trnsci
    >>> trnsci.fft.fftshift(np.array([0.0, 1.0, 2.0, -2.0, -1.0]))
    array([-2., -1.,  0.,  1.,  2.])
    """
    return _shifted(x, axes, False, executor)


@overload
def ifftshift(x: Array, axes: Axes = ..., *, executor: ExecutorLike = ...) -> Array: ...
@overload
def ifftshift(x: ArrayLike, axes: Axes = ..., *, executor: ExecutorLike = ...) -> NDArray[Any]: ...
def ifftshift(x: Any, axes: Axes = None, *, executor: ExecutorLike = None) -> Any:
    """Undoes fftshift.

    >>> import trnsci
    >>> trnsci.fft.ifftshift([-2.0, -1.0, 0.0, 1.0, 2.0])
    array([ 0.,  1.,  2., -2., -1.])
    """
    return _shifted(x, axes, True, executor)


def next_fast_len(target: int, real: bool = False) -> int:
    """The smallest length >= target whose prime factors are 2, 3, 5 and 7.

    Returns
    -------
    int
        The length.

    >>> import trnsci
    >>> trnsci.fft.next_fast_len(121)
    125
    """
    value = operator.index(target)
    if value < 0:
        raise ValueError(f"fft.next_fast_len: target is {value}; it must be >= 0")
    if value > 2**62:
        raise ValueError(f"fft.next_fast_len: target is {value}; it must be at most 2^62")
    return cast(int, _trnsci.next_fast_len(max(value, 1))) if value else 0


_NUMBERS = {"fft": 0, "ifft": 1, "rfft": 2, "irfft": 3, "hfft": 4, "ihfft": 5, "fftn": 6, "ifftn": 7, "rfftn": 8,
            "irfftn": 9, "hfftn": 10, "ihfftn": 11}


class Plan:
    """One transform, prepared, for row-major arrays of one shape and type. Safe to call from several threads.

    >>> import numpy as np, trnsci
    >>> plan = trnsci.fft.Plan("rfft", (3, 16), np.float64)
    >>> plan.output_shape
    (3, 9)
    >>> y = np.empty((3, 9), dtype=np.complex128)
    >>> plan(np.ones((3, 16)), out=y) is y
    True
    """

    def __init__(self, name: str, shape: Sequence[int], dtype: DTypeLike = np.float64, *, s: Axes = None,
                 axes: Axes = None, norm: Norm = None, precision: str | None = None,
                 executor: ExecutorLike = None) -> None:
        if name not in _NUMBERS:
            raise ValueError(f"fft.Plan: '{name}' is not a transform; choose one of {', '.join(_NUMBERS)}")
        kind = np.dtype(dtype)
        if kind.char not in "fdFD":
            raise TypeError(f"fft.Plan: dtype must be float32, float64, complex64 or complex128; it is {kind}")
        number = _NUMBERS[name]
        if axes is None and number < 6:
            axes = -1
        self._plan = _trnsci.make_plan(number, [operator.index(n) for n in shape], kind.char in "fF", s, axes, norm,
                                       precision, executor)

    def __call__(self, x: Any, out: NDArray[Any] | None = None) -> Any:
        return self._plan(x, out)

    @property
    def executor(self) -> Executor:
        return cast(Executor, self._plan.executor)

    @property
    def accuracy(self) -> Accuracy:
        return cast(Accuracy, self._plan.accuracy)

    @property
    def workspace_bytes(self) -> int:
        return cast(int, self._plan.workspace_bytes)

    @property
    def input_shape(self) -> tuple[int, ...]:
        return cast("tuple[int, ...]", self._plan.input_shape)

    @property
    def output_shape(self) -> tuple[int, ...]:
        return cast("tuple[int, ...]", self._plan.output_shape)


# The protocol of scipy.fft's backends. Calls that reach us, and calls that are left to the next backend because of a
# type that no library here has (longdouble), are counted by name.
__ua_domain__ = "numpy.scipy.fft"
backend_calls: dict[str, int] = {}
backend_declined: dict[str, int] = {}


def __ua_function__(method: Any, args: Any, kwargs: Any) -> Any:
    name = method.__name__
    function = globals().get(name) if name in __all__ else None
    x = args[0] if args else kwargs.get("x", kwargs.get("a"))
    if function is None or (isinstance(x, np.ndarray) and x.dtype.char in "gG"):
        backend_declined[name] = backend_declined.get(name, 0) + 1
        return NotImplemented
    backend_calls[name] = backend_calls.get(name, 0) + 1
    return function(*args, **kwargs)


from ._convolve import convolve, correlate, fftconvolve, oaconvolve  # noqa: E402
from ._numpy_fft import in_numpy  # noqa: E402 (uses all of them)
from ._fht import fht, fhtoffset, ifht  # noqa: E402 (uses rfft and irfft)
from ._stft import get_window, istft, stft  # noqa: E402
from ._trnfft import complex_gemm, complex_linear, complex_mask_apply, complex_matmul, create_plan, clear_plan_cache  # noqa: E402 (uses Plan)

__all__ = ["Plan", "clear_plan_cache", "complex_gemm", "complex_linear", "complex_mask_apply", "complex_matmul", "convolve", "correlate",
           "create_plan", "fftconvolve", "oaconvolve", "dct", "dctn", "dst", "dstn", "fft", "fft2", "fftfreq", "fftn", "fftshift", "fht", "fhtoffset", "get_window", "hfft",
           "hfft2", "hfftn", "idct", "idctn", "idst", "idstn", "ifft", "ifft2", "ifftn", "ifftshift", "ifht", "ihfft",
           "ihfft2", "ihfftn", "in_numpy", "irfft", "irfft2", "irfftn", "istft", "next_fast_len", "rfft", "rfft2", "rfftfreq", "rfftn",
           "stft"]

_docs.complete(globals(), _glossary.FFT)
