"""Dense linear algebra: factorisations, systems, eigenvalues, singular values, functions, iterations, randomised methods.

The names and positional arguments of numpy.linalg, scipy.linalg, scipy.sparse.linalg and the Python trnsolver. A numerical outcome
(singular, not converged, ...) is a result: with return_accuracy=True a call returns (result, report), where `report.outcome` says
what happened, `report.bound` is the error bound of the C++ function and `report.rigorous` whether it is proved. Without, an outcome
that is not "ok" is a NumericalWarning, and the result is what the library leaves: NaN, or the last iterate.

cholesky, solve, inv, eigh and svd take stacks (..., n, n) of NumPy's arrays too; the report is then an array of outcomes.
"""
from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from . import _docs, _glossary, _trnsci
from ._core import Array, ExecutorLike
from ._outcome import NumericalWarning, Outcome, Report, concluded, finish, report_of
from ._solver_batched import is_stack, stacked
from ._solver_iterative import (IterationResult, LowRankEigh, SvdResult, TraceEstimate, bicgstab, block_cg,
                                block_jacobi_preconditioner, cg, chebyshev, eigh_randomized, eigsh, expm_multiply, fgmres,
                                filtered_subspace, gmres, hutch_plus_plus, hutchinson, idr, jacobi_preconditioner, lobpcg,
                                lsqr, minres, nystroem, rsvd, ssor_preconditioner)
from ._solver_spectra import (EighResult, NewtonSchulzResult, PolarResult, SchurResult, cosm, eig, eigh, eigh_generalized,
                              eigvals, eigvalsh, expm, inv_sqrt_spd, inv_sqrt_spd_ns, logm, matrix, pair, polar, schur, signm, sinm,
                              smallest_eigenvalue_bound, sqrtm, svd, svdvals, system)
from ._trnsci import Operator

LuResult = NamedTuple("LuResult", [("P", Any), ("L", Any), ("U", Any)])
QrResult = NamedTuple("QrResult", [("Q", Any), ("R", Any)])
LstsqResult = NamedTuple("LstsqResult", [("x", Any), ("residuals", Any), ("rank", int), ("s", Any)])
SlogdetResult = NamedTuple("SlogdetResult", [("sign", Any), ("logabsdet", float)])


def _flat(x: Any, vector: bool) -> Any:
    return x[:, 0] if vector else x


# Factorisations.

def cholesky(A: ArrayLike | Array, upper: bool = False, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """L with A = L L^H, or U with A = U^H U; one triangle of A is read.

    The other triangle of the result is zero; of a device array it is A's.

    >>> import numpy as np, trnsci.solver as ts
    >>> ts.cholesky(np.array([[4.0, 2.0], [2.0, 2.0]]))
    array([[2., 0.],
           [1., 1.]])
    >>> l, report = ts.cholesky(-np.eye(2), return_accuracy=True)
    >>> str(report.outcome)
    'not positive definite at 0'
    """
    if is_stack(A):
        (stack,), outcomes = stacked("cholesky", A, None, not upper, executor, return_accuracy)
        stack = np.triu(stack) if upper else np.tril(stack)
        return (stack, outcomes) if return_accuracy else stack
    factor, report = _trnsci.solver_cholesky(matrix(A), not upper, executor)
    return concluded("solver.cholesky", factor, report, return_accuracy)


def cho_solve(c_and_lower: tuple[Any, bool], b: ArrayLike | Array, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """x with A x = b from (factor, lower) of a Cholesky factorisation.

    >>> import numpy as np, trnsci.solver as ts
    >>> a = np.array([[4.0, 2.0], [2.0, 2.0]])
    >>> ts.cho_solve((ts.cholesky(a), True), [8.0, 6.0])
    array([1., 2.])
    """
    c, rhs, vector = system(c_and_lower[0], b)
    x, report = _trnsci.solver_potrs(c, rhs, c_and_lower[1], executor)
    return concluded("solver.cho_solve", _flat(x, vector), report, return_accuracy)


def lu_factor(A: ArrayLike | Array, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """(LU, piv): row i was exchanged with row piv[i].

    Returns
    -------
    tuple of arrays
        (LU, piv): both factors in one matrix, and the exchanges.

    >>> import trnsci.solver as ts
    >>> factor, pivots = ts.lu_factor([[0.0, 1.0], [2.0, 0.0]])
    >>> factor, pivots.tolist()
    (array([[2., 0.],
           [0., 1.]]), [1, 1])
    """
    factor, pivots, report = _trnsci.solver_lu(matrix(A), executor)
    return concluded("solver.lu_factor", (factor, pivots), report, return_accuracy)


def lu_solve(lu_and_piv: tuple[Any, Any], b: ArrayLike | Array, trans: int = 0, *, executor: ExecutorLike = None,
             return_accuracy: bool = False) -> Any:
    """x with A x = b (trans 1: A^T, 2: A^H) from lu_factor's result.

    >>> import trnsci.solver as ts
    >>> ts.lu_solve(ts.lu_factor([[0.0, 1.0], [2.0, 0.0]]), [3.0, 4.0])
    array([2., 3.])
    """
    factor, rhs, vector = system(lu_and_piv[0], b)
    pivots = lu_and_piv[1] if isinstance(lu_and_piv[1], Array) else np.asarray(lu_and_piv[1], dtype=np.int64)
    x, report = _trnsci.solver_lu_solve(factor, pivots, rhs, trans, executor)
    return concluded("solver.lu_solve", _flat(x, vector), report, return_accuracy)


def lu(A: ArrayLike, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """(P, L, U) with A = P L U.

    Returns
    -------
    LuResult
        (P, L, U).

    >>> import trnsci.solver as ts
    >>> p, l, u = ts.lu([[1.0, 2.0], [4.0, 4.0]])
    >>> (p @ l @ u).tolist()
    [[1.0, 2.0], [4.0, 4.0]]
    """
    factor, pivots, report = _trnsci.solver_lu(matrix(A), executor)
    m, n = factor.shape
    k = min(m, n)
    order = np.arange(m)
    for i, p in enumerate(pivots):
        order[[i, p]] = order[[p, i]]
    P = np.zeros((m, m), factor.dtype)
    P[order, np.arange(m)] = 1
    L = np.tril(factor[:, :k], -1)
    L[np.arange(k), np.arange(k)] = 1
    return concluded("solver.lu", LuResult(P, L, np.triu(factor[:k])), report, return_accuracy)


def qr(A: ArrayLike | Array, mode: str = "reduced", *, pivoting: bool = False, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """(Q, R) with A = Q R; mode "complete": Q square. With pivoting=True (Q, R, p), A[:, p] = Q R and |r_ii| falling.

    Returns
    -------
    QrResult
        (Q, R); with pivoting a tuple (Q, R, p).

    >>> import numpy as np, trnsci.solver as ts
    >>> a = np.array([[3.0, 1.0], [4.0, 2.0]])
    >>> q, r = ts.qr(a)
    >>> np.allclose(q @ r, a), np.allclose(q.T @ q, np.eye(2))
    (True, True)
    """
    if mode not in ("reduced", "economic", "complete", "full"):
        raise ValueError(f"solver.qr: mode {mode!r} is none of 'reduced', 'complete'")
    full = mode in ("complete", "full")
    if pivoting:
        if full:
            raise NotImplementedError("solver.qr: pivoting=True has mode 'reduced' only")
        q, f, pivots, report = _trnsci.solver_qr_pivoted(matrix(A), executor)
        return concluded("solver.qr", (q, np.triu(f[:min(f.shape)]), pivots), report, return_accuracy)
    q, r, report = _trnsci.solver_qr(matrix(A), full, executor)
    if full and isinstance(r, np.ndarray) and r.shape[0] < q.shape[1]:
        r = np.vstack([r, np.zeros((q.shape[1] - r.shape[0], r.shape[1]), r.dtype)])
    return concluded("solver.qr", QrResult(q, r), report, return_accuracy)


# Systems.

_STRUCTURES = {"gen": 0, "pos": 1, "her": 2, "sym": 3, "upper triangular": 4, "lower triangular": 4}
_FACTORS = {"auto": 0, "lu": 1, "qr": 2, "cholesky": 3}


def _solve(operation: str, A: Any, b: Any, assume_a: str, lower: bool, unit: bool, factor: str, target: float, measure: str,
           certify: bool, executor: ExecutorLike, return_accuracy: bool) -> Any:
    structure, kind = _STRUCTURES.get(assume_a), _FACTORS.get(factor)
    if structure is None:
        raise ValueError(f"{operation}: assume_a is {assume_a!r}; it must be one of {', '.join(_STRUCTURES)}")
    if kind is None or measure not in ("forward", "backward"):
        raise ValueError(f"{operation}: factor is one of {', '.join(_FACTORS)}, measure 'forward' or 'backward'")
    m, rhs = pair(A, b)
    if structure == 4:
        lower = assume_a == "lower triangular"
    x, report = _trnsci.solver_solve(m, rhs, structure, lower, unit, kind, target, measure == "backward", certify, return_accuracy, executor)
    return x if report is None else concluded(operation, x, report, return_accuracy)


def solve(A: ArrayLike | Array, B: ArrayLike | Array, lower: bool = False, *, assume_a: str = "gen", factor: str = "auto",
          target_error: float = 0.0, measure: str = "forward", certify: bool = False, executor: ExecutorLike = None,
          return_accuracy: bool = False) -> Any:
    """x with A x = b. assume_a: "gen", "pos", "her", "sym", "upper triangular", "lower triangular"; what it names is read.

    target_error refines x with exact residuals until the bound is at most this; certify=True proves the bound.

    >>> import numpy as np, trnsci.solver as ts
    >>> x, report = ts.solve(np.array([[2.0, 1.0], [1.0, 3.0]]), [3.0, 4.0], certify=True, return_accuracy=True)
    >>> x, report.rigorous, report.bound < 1e-15
    (array([1., 1.]), True, True)
    """
    if is_stack(A):
        if (assume_a, factor, target_error, measure, certify) != ("gen", "auto", 0.0, "forward", False):
            raise NotImplementedError("solver.solve: a stack is solved by LU, without structure, target or proof")
        (x,), outcomes = stacked("solve", A, B, False, executor, return_accuracy)
        return (x, outcomes) if return_accuracy else x
    return _solve("solver.solve", A, B, assume_a, lower, False, factor, target_error, measure, certify, executor, return_accuracy)


def solve_triangular(a: ArrayLike | Array, b: ArrayLike | Array, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False, *,
                     executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """x with op(T) x = b for the named triangle T of a; trans 0, 1 or 2: T, T^T or T^H.

    >>> import trnsci.solver as ts
    >>> ts.solve_triangular([[1.0, 2.0], [99.0, 4.0]], [5.0, 8.0])
    array([1., 2.])
    """
    op = {"N": 0, "T": 1, "C": 2}.get(trans, trans) if isinstance(trans, str) else trans
    m = matrix(a)
    if op != 0:
        m = m.T if op == 1 else m.conj().T
        lower = not lower
    return _solve("solver.solve_triangular", m, b, "lower triangular" if lower else "upper triangular", lower, unit_diagonal, "auto", 0.0,
                  "forward", False, executor, return_accuracy)


def solve_spd(A: ArrayLike | Array, B: ArrayLike | Array, iterative_refinement: bool = False, *, executor: ExecutorLike = None,
              return_accuracy: bool = False) -> Any:
    """x with A x = b for Hermitian positive definite A; with refinement until the error is that of one rounding.

    >>> import trnsci.solver as ts
    >>> ts.solve_spd([[4.0, 2.0], [2.0, 2.0]], [8.0, 6.0])
    array([1., 2.])
    """
    dtype = A.dtype if isinstance(A, Array) else np.result_type(matrix(A).dtype, matrix(B).dtype)
    target = float(np.finfo(dtype).eps) if iterative_refinement else 0.0
    return _solve("solver.solve_spd", A, B, "pos", True, False, "auto", target, "forward", False, executor, return_accuracy)


def lstsq(A: ArrayLike, B: ArrayLike, rcond: float | None = None, *, method: str = "svd", executor: ExecutorLike = None,
          return_accuracy: bool = False) -> Any:
    """(x, residuals, rank, s) as numpy.linalg.lstsq has it: x of least norm that minimises ||A x - b||_2.

    Returns
    -------
    LstsqResult
        (x, residuals, rank, s).

    >>> import numpy as np, trnsci.solver as ts
    >>> x, residuals, rank, s = ts.lstsq(np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), [1.0, 3.0, 5.0])
    >>> x.round(12), rank
    (array([1., 2.]), 2)
    """
    if method not in ("svd", "qr"):
        raise ValueError(f"solver.lstsq: method {method!r} is none of 'svd', 'qr'")
    m, rhs, vector = system(A, B)
    x, report, rank, s = _trnsci.solver_lstsq(m, rhs, -1.0 if rcond is None else rcond, method == "qr", executor)
    residuals = np.zeros(0, m.real.dtype)
    if rank == m.shape[1] < m.shape[0]:
        residuals = (np.abs(rhs - m @ x) ** 2).sum(axis=0)
    result = LstsqResult(_flat(x, vector), residuals, rank, np.array(s, dtype=m.real.dtype))
    return concluded("solver.lstsq", result, report, return_accuracy)


def pinv(A: ArrayLike, rcond: float | None = None, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """Moore and Penrose's inverse; singular values at or below rcond times the largest count as zero.

    >>> import trnsci.solver as ts
    >>> ts.pinv([[2.0], [0.0]]).round(12)
    array([[0.5, 0. ]])
    """
    x, report, rank = _trnsci.solver_pinv(matrix(A), -1.0 if rcond is None else rcond, executor)
    return finish("solver.pinv", x, report_of(report, rank=rank), return_accuracy)


def _inverse(operation: str, A: Any, positive: bool, executor: ExecutorLike, return_accuracy: bool) -> Any:
    x, _, _, _, report = _trnsci.solver_inverse(matrix(A), positive, True, executor)
    return concluded(operation, x, report, return_accuracy)


def inv(A: ArrayLike | Array, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """The inverse, by LU.

    >>> import trnsci.solver as ts
    >>> ts.inv([[2.0, 1.0], [1.0, 1.0]]).round(12)
    array([[ 1., -1.],
           [-1.,  2.]])
    """
    if is_stack(A):
        (x,), outcomes = stacked("inv", A, None, False, executor, return_accuracy)
        return (x, outcomes) if return_accuracy else x
    return _inverse("solver.inv", A, False, executor, return_accuracy)


def inv_spd(A: ArrayLike | Array, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """The inverse of a Hermitian positive definite matrix, by Cholesky.

    >>> import trnsci.solver as ts
    >>> ts.inv_spd([[2.0, 1.0], [1.0, 1.0]]).round(12)
    array([[ 1., -1.],
           [-1.,  2.]])
    """
    return _inverse("solver.inv_spd", A, True, executor, return_accuracy)


def _determinant(A: Any, executor: ExecutorLike) -> tuple[complex, float, float, tuple[Any, ...], bool]:
    m = matrix(A)
    _, sign, log_absolute, condition, report = _trnsci.solver_inverse(m, False, False, executor)
    return sign, log_absolute, condition, report, m.dtype.kind == "c"


def _told(operation: str, result: Any, report: tuple[Any, ...], number: float) -> Any:
    """The result; a warning where the number in it is NaN or the outcome says more than "singular", which is a result here."""
    said = report_of(report)
    if np.isnan(number) and said.outcome.status in ("ok", "singular"):
        said = Report(Outcome("not finite"), said.accuracy)
    return result if said.outcome.status == "singular" else finish(operation, result, said, False)


def slogdet(A: ArrayLike, *, executor: ExecutorLike = None) -> SlogdetResult:
    """(sign, log |det A|).

    Returns
    -------
    SlogdetResult
        (sign, logabsdet).

    >>> import trnsci.solver as ts
    >>> sign, logarithm = ts.slogdet([[0.0, 1.0], [1.0, 0.0]])
    >>> float(sign), float(logarithm)
    (-1.0, 0.0)
    """
    sign, log_absolute, _, report, is_complex = _determinant(A, executor)
    result = SlogdetResult(sign if is_complex else sign.real, log_absolute)
    return cast(SlogdetResult, _told("solver.slogdet", result, report, log_absolute + abs(sign)))


def det(A: ArrayLike, *, executor: ExecutorLike = None) -> Any:
    """The determinant; may over- and underflow, slogdet does not.

    Returns
    -------
    float or complex
        The determinant.

    >>> import trnsci.solver as ts
    >>> round(float(ts.det([[1.0, 2.0], [3.0, 4.0]])), 12)
    -2.0
    """
    sign, log_absolute, _, report, is_complex = _determinant(A, executor)
    with np.errstate(over="ignore"):
        result = (sign if is_complex else sign.real) * np.exp(log_absolute)
    return _told("solver.det", result, report, abs(result))


def cond(A: ArrayLike, *, executor: ExecutorLike = None) -> float:
    """An estimate of the condition number in the 1-norm, from LU; infinite when singular.

    >>> import trnsci.solver as ts
    >>> round(ts.cond([[1.0, 0.0], [0.0, 0.01]]), 9)
    100.0
    """
    _, _, condition, report, _ = _determinant(A, executor)
    return cast(float, _told("solver.cond", float(condition), report, condition))


def _basis(operation: str, A: Any, null: bool, rcond: float | None, executor: ExecutorLike, return_accuracy: bool) -> Any:
    v, report, rank = _trnsci.solver_basis(matrix(A), null, -1.0 if rcond is None else rcond, executor)
    return finish(operation, v, report_of(report, rank=rank), return_accuracy)


def orth(A: ArrayLike, rcond: float | None = None, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """Orthonormal columns that span the range.

    >>> import numpy as np, trnsci.solver as ts
    >>> abs(ts.orth(np.array([[3.0, 6.0], [4.0, 8.0]]))).round(12)
    array([[0.6],
           [0.8]])
    """
    return _basis("solver.orth", A, False, rcond, executor, return_accuracy)


def null_space(A: ArrayLike, rcond: float | None = None, *, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """Orthonormal columns that span the null space.

    >>> import numpy as np, trnsci.solver as ts
    >>> a = np.array([[1.0, 1.0], [1.0, 1.0]])
    >>> np.allclose(a @ ts.null_space(a), 0)
    True
    """
    return _basis("solver.null_space", A, True, rcond, executor, return_accuracy)


def matrix_rank(A: ArrayLike, rtol: float | None = None, *, executor: ExecutorLike = None) -> int:
    """The number of singular values above rtol times the largest.

    >>> import trnsci.solver as ts
    >>> ts.matrix_rank([[1.0, 2.0], [2.0, 4.0]])
    1
    """
    m = matrix(A)
    _, report, rank = _trnsci.solver_basis(m, False, -1.0 if rtol is None else rtol, executor)
    number = 0.0 if isinstance(m, Array) or np.isfinite(m).all() else np.nan
    return cast(int, _told("solver.matrix_rank", int(rank), report, number))


__all__ = ["EighResult", "IterationResult", "LowRankEigh", "LstsqResult", "LuResult", "NewtonSchulzResult", "NumericalWarning",
           "Operator", "Outcome", "PolarResult", "QrResult", "Report", "SchurResult", "SlogdetResult", "SvdResult",
           "TraceEstimate", "bicgstab", "block_cg", "block_jacobi_preconditioner", "cg", "chebyshev", "cho_solve",
           "cholesky", "cond", "cosm", "det", "eig", "eigh", "eigh_generalized", "eigh_randomized", "eigsh", "eigvals",
           "eigvalsh", "expm", "expm_multiply", "fgmres", "filtered_subspace", "gmres", "hutch_plus_plus", "hutchinson", "idr",
           "inv", "inv_spd", "inv_sqrt_spd", "inv_sqrt_spd_ns", "jacobi_preconditioner", "lobpcg", "logm", "lsqr", "lstsq", "lu",
           "lu_factor", "lu_solve", "matrix_rank", "minres", "null_space", "nystroem", "orth", "pinv", "polar", "qr", "rsvd",
           "schur", "signm", "sinm", "slogdet", "smallest_eigenvalue_bound", "solve", "solve_spd", "solve_triangular", "sqrtm",
           "ssor_preconditioner", "svd", "svdvals"]

_docs.complete(globals(), _glossary.SOLVER)
