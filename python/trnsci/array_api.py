"""A namespace of the Python array API standard: NumPy's, with trnsci's `fft`, `linalg` and products.

    import trnsci.array_api as xp
    y = xp.fft.fft(x); z = xp.matmul(a, b); w, v = xp.linalg.eigh(s)

Everything else is NumPy's own function, and so are products of integers and matrices without elements: the libraries compute
with floating-point numbers. `calls` counts what reached trnsci. A singular matrix is numpy.linalg.LinAlgError. Needs NumPy 2,
whose main namespace follows the standard.
"""
from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _array_linalg
from . import fft as _fft
from . import tensor as _tensor

calls: dict[str, int] = {}


def _count(name: str) -> None:
    calls[name] = calls.get(name, 0) + 1


def _ours(*arrays: Any) -> bool:
    return all(np.asarray(a).dtype.char in "fdFD" for a in arrays)


def matmul(x1: NDArray[Any], x2: NDArray[Any], /) -> NDArray[Any]:
    """The product of matrices, stacks of matrices and vectors."""
    if not _ours(x1, x2) or np.ndim(x1) == 0 or np.ndim(x2) == 0:
        return np.asarray(np.matmul(x1, x2))
    if np.ndim(x1) >= 2 and np.ndim(x2) >= 2 and np.shape(x1)[-1] != np.shape(x2)[-2]:
        raise ValueError(f"matmul: shapes {np.shape(x1)} and {np.shape(x2)} do not fit")
    _count("matmul")
    left = "...ij" if np.ndim(x1) > 1 else "j"
    right = "...jk" if np.ndim(x2) > 1 else "j"
    out = "..." + ("i" if np.ndim(x1) > 1 else "") + ("k" if np.ndim(x2) > 1 else "")
    result: NDArray[Any] = _tensor.einsum(f"{left},{right}->{out}", x1, x2)
    return result


def tensordot(x1: NDArray[Any], x2: NDArray[Any], /, *, axes: Any = 2) -> NDArray[Any]:
    """The sum over pairs of axes."""
    if not _ours(x1, x2):
        return np.asarray(np.tensordot(x1, x2, axes))
    _count("tensordot")
    result: NDArray[Any] = _tensor.tensordot(x1, x2, axes)
    return result


def vecdot(x1: NDArray[Any], x2: NDArray[Any], /, *, axis: int = -1) -> NDArray[Any]:
    """sum conj(x1) x2 along one axis, the others broadcast."""
    if np.shape(x1)[axis] != np.shape(x2)[axis]:
        raise ValueError(f"vecdot: the axes have {np.shape(x1)[axis]} and {np.shape(x2)[axis]} elements")
    if not _ours(x1, x2):
        product = np.conjugate(x1) * x2
        return np.asarray(np.sum(product, axis=axis, dtype=product.dtype))
    _count("vecdot")
    a, b = np.broadcast_arrays(np.moveaxis(x1, axis, -1), np.moveaxis(x2, axis, -1))
    result: NDArray[Any] = _tensor.einsum("...i,...i->...", np.conjugate(a), b)
    return result


_names = ["fft", "ifft", "fftn", "ifftn", "rfft", "irfft", "rfftn", "irfftn", "hfft", "ihfft", "fftfreq", "rfftfreq", "fftshift",
          "ifftshift"]


def _counted(name: str) -> Any:
    function = getattr(_fft, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        _count(name)
        return function(*args, **kwargs)

    call.__name__ = name
    call.__doc__ = function.__doc__
    return call


fft = SimpleNamespace(**{name: _counted(name) for name in _names})
linalg = SimpleNamespace(**{name: getattr(np.linalg, name) for name in dir(np.linalg) if not name.startswith("_")})
linalg.matmul, linalg.tensordot, linalg.vecdot = matmul, tensordot, vecdot
for _name, _function in _array_linalg.functions(_count).items():
    setattr(linalg, _name, _function)


def __getattr__(name: str) -> Any:
    return getattr(np, name)
