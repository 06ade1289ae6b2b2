"""Names of the Python trnfft that have another form here."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _trnsci
from ._core import ExecutorLike


def complex_matmul(a: Any, b: Any, *, precision: str | None = None, executor: ExecutorLike = None) -> Any:
    """The product of two complex matrices: trnsci.blas.gemm."""
    from . import blas

    return blas.gemm(1.0, a, b, precision=precision, executor=executor)


def create_plan(n: int, inverse: bool = False, *, dtype: Any = np.complex64, executor: ExecutorLike = None) -> Any:
    """A Plan of one transform of n points; the Python trnfft's was a label.

    >>> import numpy as np, trnsci
    >>> trnsci.fft.create_plan(4)(np.ones(4, np.complex64))
    array([4.+0.j, 0.+0.j, 0.+0.j, 0.+0.j], dtype=complex64)
    """
    from .fft import Plan

    return Plan("ifft" if inverse else "fft", (n,), dtype=dtype, executor=executor)


def clear_plan_cache() -> None:
    """Forgets the plans that calls have made."""
    _trnsci.plan_cache_clear()
