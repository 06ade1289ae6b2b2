"""Eigenvalues, singular values and functions of matrices, of trnsci.solver."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import _trnsci
from ._core import Array, ExecutorLike
from ._inputs import as_array
from ._outcome import concluded, finish, report_of
from ._solver_batched import is_stack, stacked
from ._solver_iterative import SvdResult

EighResult = NamedTuple("EighResult", [("eigenvalues", Any), ("eigenvectors", Any)])
SchurResult = NamedTuple("SchurResult", [("T", Any), ("Z", Any)])
PolarResult = NamedTuple("PolarResult", [("u", Any), ("p", Any)])
NewtonSchulzResult = NamedTuple("NewtonSchulzResult", [("X", Any), ("iterations", int), ("residual", float)])


def matrix(a: Any, name: str = "A") -> Any:
    """a as a matrix of a floating type; integers become float64."""
    if isinstance(a, Array) or isinstance(a, np.ndarray) and a.dtype.char in "fdFD":
        return a
    array = as_array(a, "solver", name)
    return array.astype(np.float64) if array.dtype.kind in "biu" else array


def pair(a: Any, b: Any) -> tuple[Any, Any]:
    """A and B of one type."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype is b.dtype and a.dtype.char in "fdFD":  # the usual case
        return a, b
    if isinstance(a, Array) or isinstance(b, Array):
        return a, b
    m, rhs = matrix(a), matrix(b, "b")
    dtype = np.result_type(m.dtype, rhs.dtype)
    return m.astype(dtype, copy=False), rhs.astype(dtype, copy=False)


def system(a: Any, b: Any) -> tuple[Any, Any, bool]:
    """A and B of one type, B as a block of columns, and whether it was a vector."""
    m, rhs = pair(a, b)
    vector = isinstance(rhs, np.ndarray) and rhs.ndim == 1
    return m, rhs[:, None] if vector else rhs, vector


def _eigh(operation: str, A: Any, lower: bool, vectors: bool, by_value: Any, by_index: Any, certify: bool, executor: ExecutorLike) -> Any:
    kind, lo, hi = 0, 0.0, 0.0
    if by_value is not None:
        kind, lo, hi = 1, float(by_value[0]), float(by_value[1])
    elif by_index is not None:
        kind, lo, hi = 2, float(by_index[0]), float(by_index[1]) + 1
    w, v, report, bounds, found = _trnsci.solver_eigh(matrix(A), lower, vectors, kind, lo, hi, certify, executor)
    if isinstance(w, np.ndarray) and kind != 0:
        w, v = w[:found], v[:, :found]
    return w, v, report_of(report, error_bounds=np.array(bounds), found=found)


def eigh(A: ArrayLike | Array, tol: float = 1e-10, *, UPLO: str = "L", subset_by_value: Any = None, subset_by_index: Any = None,
         certify: bool = False, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """(eigenvalues, eigenvectors) of a Hermitian matrix, ascending; one triangle is read.

    subset_by_value (lo, hi]: subset_by_index first and last, both included, as SciPy counts. certify=True proves
    report.more["error_bounds"]. `tol` of the Python trnsolver is accepted: the result is as accurate as the type allows.

    Parameters
    ----------
    tol : float
        Accepted as the Python trnsolver has it: the result is as accurate as the type allows.

    Returns
    -------
    EighResult
        (eigenvalues, eigenvectors), ascending, the vectors as columns.

    >>> import numpy as np, trnsci.solver as ts
    >>> ts.eigh(np.array([[2.0, 1.0], [1.0, 2.0]])).eigenvalues
    array([1., 3.])
    """
    if is_stack(A):
        if certify or subset_by_value is not None or subset_by_index is not None:
            raise NotImplementedError("solver.eigh: of a stack all eigenvalues are computed, without a proof")
        (w, v), outcomes = stacked("eigh", A, None, UPLO.upper() == "L", executor, return_accuracy)
        return (EighResult(w, v), outcomes) if return_accuracy else EighResult(w, v)
    w, v, report = _eigh("solver.eigh", A, UPLO.upper() == "L", True, subset_by_value, subset_by_index, certify, executor)
    return finish("solver.eigh", EighResult(w, v), report, return_accuracy)


def eigvalsh(A: ArrayLike | Array, UPLO: str = "L", *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """The eigenvalues of a Hermitian matrix, ascending.

    >>> import trnsci.solver as ts
    >>> ts.eigvalsh([[2.0, 1.0], [1.0, 2.0]]).round(12)
    array([1., 3.])
    """
    w, _, report = _eigh("solver.eigvalsh", A, UPLO.upper() == "L", False, None, None, False, executor)
    return finish("solver.eigvalsh", w, report, return_accuracy)


def eigh_generalized(A: ArrayLike | Array, B: ArrayLike | Array, tol: float = 1e-10, *, UPLO: str = "L", type: int = 1,
                     executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """A v = w B v (type 1), A B v = w v (2) or B A v = w v (3) for Hermitian A and positive definite B.

    Parameters
    ----------
    B : array_like or Array
        The positive definite matrix.
    tol : float
        Accepted as the Python trnsolver has it: the result is as accurate as the type allows.

    Returns
    -------
    EighResult
        (eigenvalues, eigenvectors), ascending.

    >>> import numpy as np, trnsci.solver as ts
    >>> ts.eigh_generalized(np.diag([1.0, 6.0]), np.diag([1.0, 2.0])).eigenvalues.round(12)
    array([1., 3.])
    """
    if type not in (1, 2, 3):
        raise ValueError(f"solver.eigh_generalized: type is {type}; it must be 1, 2 or 3")
    m, b, _ = system(A, B)
    w, v, report = _trnsci.solver_eigh_generalized(m, b, UPLO.upper() == "L", True, type, executor)
    return concluded("solver.eigh_generalized", EighResult(w, v), report, return_accuracy)


def eig(A: ArrayLike, *, left: bool = False, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """(eigenvalues, right eigenvectors) of any square matrix, complex; left=True: (w, left, right) as SciPy has it.

    Returns
    -------
    EighResult
        (eigenvalues, eigenvectors); with left=True a tuple (w, left, right).

    >>> import trnsci.solver as ts
    >>> sorted(ts.eig([[0.0, 1.0], [-1.0, 0.0]]).eigenvalues.round(12).tolist(), key=lambda w: w.imag)
    [-1j, 1j]
    """
    w, right, lefts, report = _trnsci.solver_eig(matrix(A), True, left, executor)
    return concluded("solver.eig", (w, lefts, right) if left else EighResult(w, right), report, return_accuracy)


def eigvals(A: ArrayLike, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """The eigenvalues of any square matrix.

    >>> import trnsci.solver as ts
    >>> sorted(ts.eigvals([[1.0, 5.0], [0.0, 2.0]]).real.tolist())
    [1.0, 2.0]
    """
    w, _, _, report = _trnsci.solver_eig(matrix(A), False, False, executor)
    return concluded("solver.eigvals", w, report, return_accuracy)


def schur(A: ArrayLike, tol: float = 1e-10, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """(T, Z) with A = Z T Z^H: T upper triangular, for real A with 2 x 2 blocks.

    Parameters
    ----------
    tol : float
        Accepted as the Python trnsolver has it.

    Returns
    -------
    SchurResult
        (T, Z).

    >>> import numpy as np, trnsci.solver as ts
    >>> a = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> t, z = ts.schur(a)
    >>> np.allclose(z @ t @ z.T, a), bool(t[1, 0] == 0)
    (True, True)
    """
    t, z, w, report = _trnsci.solver_schur(matrix(A), executor)
    return finish("solver.schur", SchurResult(t, z), report_of(report, eigenvalues=w), return_accuracy)


def svd(A: ArrayLike | Array, full_matrices: bool = False, compute_uv: bool = True, *, certify: bool = False,
        executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """(U, s, Vh) with A = U diag(s) Vh, s descending; compute_uv=False: s alone. Thin unless full_matrices.

    Returns
    -------
    SvdResult or ndarray
        (U, S, Vh), or the singular values alone.

    >>> import numpy as np, trnsci.solver as ts
    >>> u, s, vh = ts.svd(np.array([[0.0, 2.0], [1.0, 0.0], [0.0, 0.0]]))
    >>> s.round(12), u.shape
    (array([2., 1.]), (3, 2))
    """
    if is_stack(A):
        if certify or full_matrices:
            raise NotImplementedError("solver.svd: of a stack the thin decomposition is computed, without a proof")
        (u, s, vh), outcomes = stacked("svd", A, None, False, executor, return_accuracy)
        made = SvdResult(u, s, vh) if compute_uv else s
        return (made, outcomes) if return_accuracy else made
    u, s, vh, report, bounds = _trnsci.solver_svd(matrix(A), full_matrices, compute_uv, certify, executor)
    proof = report_of(report, error_bounds=np.array(bounds))
    return finish("solver.svd", SvdResult(u, s, vh) if compute_uv else s, proof, return_accuracy)


def svdvals(A: ArrayLike | Array, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """The singular values, descending.

    >>> import trnsci.solver as ts
    >>> ts.svdvals([[0.0, 2.0], [1.0, 0.0]]).round(12)
    array([2., 1.])
    """
    return svd(A, compute_uv=False, executor=executor, return_accuracy=return_accuracy)


def smallest_eigenvalue_bound(A: ArrayLike, *, lower: bool = True, executor: ExecutorLike = None) -> float:
    """A proved lower bound of the smallest eigenvalue of a Hermitian matrix; positive: A is positive definite.

    >>> import trnsci.solver as ts
    >>> 0 < ts.smallest_eigenvalue_bound([[2.0, 1.0], [1.0, 2.0]]) <= 1
    True
    """
    return float(_trnsci.solver_smallest_eigenvalue_bound(matrix(A), lower, executor))


# Functions of matrices.

def _function(name: str, A: Any, executor: ExecutorLike, return_accuracy: bool) -> Any:
    x, report = _trnsci.solver_function(name, matrix(A), executor)
    return concluded(f"solver.{name}", x, report, return_accuracy)


def expm(A: ArrayLike | Array, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """e^A.

    >>> import numpy as np, trnsci.solver as ts
    >>> np.allclose(ts.expm([[0.0, 1.0], [0.0, 0.0]]), [[1, 1], [0, 1]])
    True
    """
    return _function("expm", A, executor, return_accuracy)


def logm(A: ArrayLike, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """The principal logarithm; for real A with an eigenvalue <= 0 the outcome is "not defined": take complex A.

    >>> import numpy as np, trnsci.solver as ts
    >>> np.allclose(ts.logm([[1.0, 1.0], [0.0, 1.0]]), [[0, 1], [0, 0]])
    True
    """
    return _function("logm", A, executor, return_accuracy)


def sqrtm(A: ArrayLike, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """The principal square root; "not defined" as for logm.

    >>> import numpy as np, trnsci.solver as ts
    >>> np.allclose(ts.sqrtm([[4.0, 0.0], [0.0, 9.0]]), [[2, 0], [0, 3]])
    True
    """
    return _function("sqrtm", A, executor, return_accuracy)


def signm(A: ArrayLike, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """The matrix sign."""
    return _function("signm", A, executor, return_accuracy)


def cosm(A: ArrayLike, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """cos A."""
    return _function("cosm", A, executor, return_accuracy)


def sinm(A: ArrayLike, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """sin A."""
    return _function("sinm", A, executor, return_accuracy)


def inv_sqrt_spd(A: ArrayLike, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """A^(-1/2) of a Hermitian positive definite matrix. Nothing is clamped: an A that is not definite is an outcome.

    >>> import numpy as np, trnsci.solver as ts
    >>> np.allclose(ts.inv_sqrt_spd([[4.0, 0.0], [0.0, 16.0]]), [[0.5, 0], [0, 0.25]])
    True
    """
    return _function("inv_sqrt_spd", A, executor, return_accuracy)


def inv_sqrt_spd_ns(A: ArrayLike | Array, *, max_iters: int = 60, tol: float = 0.0, executor: ExecutorLike = None,
                    return_accuracy: bool = False) -> Any:
    """(X, iterations, residual): A^(-1/2) by the Newton-Schulz iteration, products alone. tol 0: n eps.

    Returns
    -------
    NewtonSchulzResult
        (X, iterations, residual).

    >>> import numpy as np, trnsci.solver as ts
    >>> x, iterations, residual = ts.inv_sqrt_spd_ns(np.array([[4.0, 0.0], [0.0, 16.0]]))
    >>> np.allclose(x, [[0.5, 0], [0, 0.25]])
    True
    """
    x, report, residual = _trnsci.solver_newton_schulz(matrix(A), max_iters, tol, executor)
    made = report_of(report)
    return finish("solver.inv_sqrt_spd_ns", NewtonSchulzResult(x, made.iterations, residual), made, return_accuracy)


def polar(A: ArrayLike, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """(u, p) with A = u p, u^H u = I, p Hermitian positive semidefinite; A has at least as many rows as columns.

    Returns
    -------
    PolarResult
        (u, p).

    >>> import numpy as np, trnsci.solver as ts
    >>> u, p = ts.polar(np.array([[0.0, -2.0], [2.0, 0.0]]))
    >>> p.round(12).tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """
    u, h, report = _trnsci.solver_polar(matrix(A), executor)
    return concluded("solver.polar", PolarResult(u, h), report, return_accuracy)
