"""The fast Hankel transform on logarithmic grids (FFTLog): scipy.fft.fht, ifht, fhtoffset.

    A(k) = int_0^inf a(r) J_mu(kr) k dr      on r_j = r_c exp((j - j_c) dln), k_j likewise, with ln(k_c r_c) = offset

and a power-law bias q. On that grid the transform is a convolution: one rfft, a product with the coefficients u_m, one
irfft (Hamilton 2000). With x = (mu + 1 + q)/2, w = (mu + 1 - q)/2 and y_m = pi m/(n dln),

    u_m = 2^q exp(2 i y_m (ln 2 - offset)) Gamma(x + i y_m)/Gamma(w - i y_m)

The Gamma functions are SciPy's.
"""
from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._core import ExecutorLike
from ._outcome import NumericalWarning


def _coefficients(n: int, dln: float, mu: float, offset: float, bias: float) -> NDArray[Any]:
    from scipy.special import loggamma, poch  # type: ignore[import-untyped,unused-ignore]

    x, w = (mu + 1 + bias) / 2, (mu + 1 - bias) / 2
    y = np.linspace(0, math.pi * (n // 2) / (n * dln), n // 2 + 1)
    above, below = loggamma(x + 1j * y), loggamma(w + 1j * y)
    u: NDArray[Any] = np.exp(above.real - below.real + bias * math.log(2)
                             + 1j * (2 * (math.log(2) - offset) * y + above.imag + below.imag))
    if n % 2 == 0:
        u.imag[-1] = 0  # the highest frequency is real
    if not np.isfinite(u[0]):  # Gamma(x)/Gamma(w) at a pole of either
        u[0] = 2**bias * poch(w, x - w)
    return u


def _transform(a: ArrayLike, dln: float, mu: float, offset: float, bias: float, inverse: bool,
               executor: ExecutorLike) -> NDArray[Any]:
    from .fft import irfft, rfft

    values = np.asarray(a)
    if values.ndim == 0 or values.shape[-1] == 0 or dln == 0:
        raise ValueError(f"fft.fht: an array of shape {values.shape} with spacing dln = {dln}; a point and a spacing are needed")
    n = values.shape[-1]
    place = np.arange(n) - (n - 1) / 2
    u = _coefficients(n, dln, mu, offset, bias)
    if bias != 0:
        values = values * (np.exp(bias * (place * dln + offset)) if inverse else np.exp(-bias * place * dln))
    if u[0] == 0 if inverse else not np.isfinite(u[0]):  # what remains without the mean is SciPy's answer too
        warnings.warn(f"fft.{'ifht' if inverse else 'fht'}: singular transform; the mean is left out. Choose another bias", NumericalWarning,
                      stacklevel=3)
        u[0] = np.inf if inverse else 0
    spectrum = rfft(values, executor=executor)
    spectrum = spectrum / u.conj() if inverse else spectrum * u
    result = irfft(spectrum, n, executor=executor)[..., ::-1]
    if bias != 0:
        result = result * (np.exp(bias * place * dln) if inverse else np.exp(-bias * (place * dln + offset)))
    return np.ascontiguousarray(result)


def fht(a: ArrayLike, dln: float, mu: float, offset: float = 0.0, bias: float = 0.0, *,
        executor: ExecutorLike = None) -> NDArray[Any]:
    """The Hankel transform of a on a logarithmic grid with spacing dln.

    Returns
    -------
    ndarray
        The transform, on its grid.

    >>> import numpy as np, trnsci
    >>> r = np.logspace(-4, 4, 64)
    >>> a = r * np.exp(-r**2 / 2)
    >>> dln = np.log(r[1] / r[0])
    >>> b = trnsci.fft.ifht(trnsci.fft.fht(a, dln, 0.0), dln, 0.0)
    >>> bool(np.allclose(a, b))
    True
    """
    return _transform(a, dln, mu, offset, bias, False, executor)


def ifht(A: ArrayLike, dln: float, mu: float, offset: float = 0.0, bias: float = 0.0, *,
         executor: ExecutorLike = None) -> NDArray[Any]:
    """The inverse of fht.

    Returns
    -------
    ndarray
        The values on the grid of a.
    """
    return _transform(A, dln, mu, offset, bias, True, executor)


def fhtoffset(dln: float, mu: float, initial: float = 0.0, bias: float = 0.0) -> float:
    """The offset nearest to `initial` for which the highest coefficient is real without being made so."""
    from scipy.special import loggamma

    if dln == 0:
        raise ValueError("fft.fhtoffset: dln is 0")
    x, w = (mu + 1 + bias) / 2, (mu + 1 - bias) / 2
    y = math.pi / (2 * dln)
    turns = (math.log(2) - initial) / dln + (loggamma(x + 1j * y).imag + loggamma(w + 1j * y).imag) / math.pi
    return float(initial + (turns - round(float(turns))) * dln)
