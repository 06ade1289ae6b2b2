"""Iterations on matrices of blocks, by the names of the Python trnsparse. trnsci.solver has the methods themselves."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _trnsci
from ._sparse_factors import jacobi
from ._sparse_matrix import Sparse, native
from ._trnsci import Operator


def cg_bsr(A: Sparse, b: ArrayLike, x0: Any = None, tol: float = 1e-6, max_iter: int = 1000, M: Any = None) -> Any:
    """Conjugate gradients, under the Python trnsparse's name: solver.cg.

    Returns
    -------
    IterationResult
        (x, iterations, residual).
    """
    from ._solver_iterative import cg

    return cg(A, b, x0, tol, max_iter, M)


def chebyshev_coeffs(lam_min: float, lam_max: float, K: int) -> NDArray[Any]:
    """c_k of 1/x = sum_k c_k T_k(t) on [lam_min, lam_max], t = (2 x - lam_max - lam_min) / (lam_max - lam_min).

    With r = (sqrt(lam_min) - sqrt(lam_max)) / (sqrt(lam_min) + sqrt(lam_max)): c_0 = 1/sqrt(lam_min lam_max),
    c_k = 2 r^k / sqrt(lam_min lam_max).

    Parameters
    ----------
    K : int
        How many coefficients.

    >>> import numpy as np, trnsci.sparse as sp
    >>> c = sp.chebyshev_coeffs(1.0, 4.0, 40)
    >>> abs(np.polynomial.chebyshev.chebval((2 * 2.5 - 5) / 3, c) - 1 / 2.5) < 1e-15
    True
    """
    if not 0 < lam_min < lam_max:
        raise ValueError(f"sparse.chebyshev_coeffs: 0 < lam_min < lam_max is needed; they are {lam_min} and {lam_max}")
    lo, hi = np.sqrt(lam_min), np.sqrt(lam_max)
    c = 2 * ((lo - hi) / (lo + hi)) ** np.arange(K, dtype=np.float64) / (lo * hi)
    c[0] /= 2
    return np.asarray(c)


def chebyshev_bsr(A: Sparse, b: ArrayLike, lam_min: float, lam_max: float, K: int = 50, x0: Any = None) -> Any:
    """At most K steps of Chebyshev's iteration for a spectrum in [lam_min, lam_max]: x.

    Parameters
    ----------
    K : int
        The most steps.
    """
    from ._solver_iterative import chebyshev

    result, _ = chebyshev(A, b, (lam_min, lam_max), x0, 1e-300, K, return_accuracy=True)
    return result.x


def richardson_bsr(A: Sparse, b: ArrayLike, omega: float, K: int = 100, x0: Any = None) -> Any:
    """K steps of x <- x + omega (b - A x).

    Parameters
    ----------
    omega : float
        The factor of the residual.
    K : int
        Steps.
    """
    from .sparse import SpmmPlan

    rhs = np.asarray(b)
    plan = SpmmPlan(A, columns=1 if rhs.ndim == 1 else rhs.shape[1], dtype=np.result_type(rhs.dtype, native(A).data().dtype))
    x = np.zeros(rhs.shape, plan.dtype) if x0 is None else np.array(x0, dtype=plan.dtype)
    for _ in range(K):
        x += omega * (rhs - plan(x))
    return x


def power_iteration_bsr(A: Sparse, v0: Any = None, max_iter: int = 100, tol: float = 1e-9) -> tuple[float, NDArray[Any], int]:
    """(eigenvalue, vector, steps): the eigenvalue of largest modulus; stops when the Rayleigh quotient changes by tol of itself."""
    from .sparse import SpmmPlan

    plan = SpmmPlan(A)
    v = np.ones(plan.shape[1], plan.dtype) if v0 is None else np.array(v0, dtype=plan.dtype)
    v /= np.linalg.norm(v)
    value = 0.0
    for step in range(1, max_iter + 1):
        w = plan(v)
        new = np.vdot(v, w)
        norm = np.linalg.norm(w)
        if norm == 0:
            return 0.0, v, step
        v = w / norm
        if step > 1 and abs(new - value) <= tol * abs(new):
            return new.item(), v, step
        value = new
    return value.item() if hasattr(value, "item") else value, v, max_iter


def jacobi_preconditioner_bsr(A: Sparse) -> Operator:
    """The inverse of the diagonal, under the Python trnsparse's name: jacobi(A)."""
    return jacobi(A)


def bsr_diagonal(A: Sparse) -> Any:
    """The diagonal."""
    return _trnsci.csr_diagonal(native(A))
