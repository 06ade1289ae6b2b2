"""Convolution and correlation, with the names and arguments of scipy.signal."""
from __future__ import annotations

from typing import Any

from . import _trnsci
from ._core import ExecutorLike


def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto", *, axes: Any = None, precision: str | None = None,
             executor: ExecutorLike = None) -> Any:
    """sum_j in1_j in2_(k - j), by sums or by transforms, whichever is cheaper, or as `method` says ("direct", "fft").

    >>> import trnsci
    >>> trnsci.fft.convolve([1.0, 2.0, 3.0], [0.0, 1.0, 0.5])
    array([0. , 1. , 2.5, 4. , 1.5])
    """
    return _trnsci.convolve("convolve", in1, in2, mode, method, axes, precision, executor)


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto", *, axes: Any = None, precision: str | None = None,
              executor: ExecutorLike = None) -> Any:
    """sum_j in1_(j + k) conj(in2_j), for k from 1 - len(in2) on.

    >>> import trnsci
    >>> trnsci.fft.correlate([1.0, 2.0, 3.0], [0.0, 1.0, 0.5])
    array([0.5, 2. , 3.5, 3. , 0. ])
    """
    return _trnsci.convolve("correlate", in1, in2, mode, method, axes, precision, executor)


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None, *, precision: str | None = None,
                executor: ExecutorLike = None) -> Any:
    """Convolution by transforms of the padded arrays; the error is relative to norms.

    >>> import numpy as np, trnsci
    >>> trnsci.fft.fftconvolve(np.ones(3), np.ones(2)).round(12)
    array([1., 2., 2., 1.])
    """
    return _trnsci.convolve("fftconvolve", in1, in2, mode, "auto", axes, precision, executor)


def oaconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None, *, precision: str | None = None,
               executor: ExecutorLike = None) -> Any:
    """Convolution by transforms of blocks, for one array that is much longer than the other."""
    return _trnsci.convolve("oaconvolve", in1, in2, mode, "auto", axes, precision, executor)
