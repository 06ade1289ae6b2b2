"""Names of the Python trnfft that have another form here."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _trnsci
from ._core import ExecutorLike


def complex_matmul(a: Any, b: Any, *, precision: str | None = None, executor: ExecutorLike = None) -> Any:
    """The product of two complex matrices: trnsci.blas.gemm.

    >>> import trnsci
    >>> trnsci.fft.complex_matmul([[1j]], [[2.0 + 1j]])
    array([[-1.+2.j]])
    """
    from . import blas

    return blas.gemm(1.0, a, b, precision=precision, executor=executor)


def complex_gemm(a: Any, b: Any, *, precision: str | None = None, executor: ExecutorLike = None) -> Any:
    """The same as complex_matmul, under the name of trnfft.nki."""
    return complex_matmul(a, b, precision=precision, executor=executor)


def complex_linear(x: Any, w_re: Any, w_im: Any, *, precision: str | None = None, executor: ExecutorLike = None) -> Any:
    """x W^T for W = w_re + i w_im: a complex linear layer without its bias.

    >>> import numpy as np, trnsci
    >>> trnsci.fft.complex_linear(np.array([[1.0 + 1j]]), np.array([[2.0]]), np.array([[1.0]]))
    array([[1.+3.j]])
    """
    from . import blas

    w = np.asarray(w_re) + 1j * np.asarray(w_im)
    return blas.gemm(1.0, x, w.astype(np.result_type(w_re, np.complex64), copy=False), transB=True, precision=precision, executor=executor)


def complex_mask_apply(mask: Any, spec: Any, *, executor: ExecutorLike = None) -> Any:
    """mask times spec, element by element: a complex ratio mask on a spectrogram.

    >>> import numpy as np, trnsci
    >>> trnsci.fft.complex_mask_apply(np.array([1j, 0.5]), np.array([2.0 + 0j, 4.0]))
    array([0.+2.j, 2.+0.j])
    """
    from . import tensor

    labels = "abcdefgh"[:mask.ndim]
    return tensor.einsum(f"{labels},{labels}->{labels}", mask, spec, executor=executor)


def create_plan(n: int, inverse: bool = False, *, dtype: Any = np.complex64, executor: ExecutorLike = None) -> Any:
    """A Plan of one transform of n points; the Python trnfft's was a label.

    Returns
    -------
    Plan
        It can be called.

    >>> import numpy as np, trnsci
    >>> trnsci.fft.create_plan(4)(np.ones(4, np.complex64))
    array([4.+0.j, 0.+0.j, 0.+0.j, 0.+0.j], dtype=complex64)
    """
    from .fft import Plan

    return Plan("ifft" if inverse else "fft", (n,), dtype=dtype, executor=executor)


def clear_plan_cache() -> None:
    """Forgets the plans that calls have made."""
    _trnsci.plan_cache_clear()
