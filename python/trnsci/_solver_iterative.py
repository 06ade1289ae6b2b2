"""Iterative and randomised methods of trnsci.solver, for operators of any kind.

A stands for a dense array, a sparse matrix (SciPy's or ours), an Operator of trnsci, a scipy LinearOperator or anything with .shape and
.matvec, or, for square systems, a function of a vector. b may have several columns: one product serves all of them.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import _trnsci
from ._core import Array, ExecutorLike
from ._operators import element_type, is_operator, operand
from ._outcome import Outcome, finish, report_of
from ._trnsci import Operator

Monitor = Callable[[int, list[float]], bool | None]


class IterationResult(NamedTuple):
    """The solution, how many iterations were made, and the largest relative residual, formed from x at the end."""

    x: Any
    iterations: int
    residual: float


SvdResult = NamedTuple("SvdResult", [("U", Any), ("S", Any), ("Vh", Any)])
LowRankEigh = NamedTuple("LowRankEigh", [("eigenvalues", Any), ("eigenvectors", Any)])


def _krylov(method: str, A: Any, b: Any, x0: Any, tol: float, maxiter: int | None, M: Any, restart: int, spectrum: tuple[float, float],
            monitor: Monitor | None, executor: ExecutorLike, return_accuracy: bool) -> Any:
    rhs: Any
    if isinstance(b, Array):
        rhs, guess, vector, dtype = b, x0, False, b.dtype
    else:
        array = np.asarray(b)
        types = [t for t in (element_type(A), array.dtype, None if M is None else element_type(M)) if t is not None]
        dtype = np.result_type(*types)
        dtype = np.dtype(np.float64) if dtype.kind in "biu" else dtype
        vector = array.ndim == 1
        rhs = array.astype(dtype, copy=False)[:, None] if vector else array.astype(dtype, copy=False)
        guess = x0
        if x0 is not None:
            start = np.asarray(x0, dtype=dtype)
            guess = start[:, None] if start.ndim == 1 else start
    if rhs.ndim == 0:
        raise ValueError("solver: the right-hand side is a number; it must be a vector or a matrix")
    n = rhs.shape[0]
    x, report, residuals, products, normal = _trnsci.solver_krylov(
        method, operand(A, dtype, (n, n)), rhs, guess, operand(M, dtype, (n, n)), float(tol), int(maxiter or 0), int(restart),
        float(spectrum[0]), float(spectrum[1]), monitor, executor)
    made = report_of(report, residuals=np.array(residuals), products=products, normal_residuals=np.array(normal))
    result = IterationResult(x[:, 0] if vector else x, made.iterations, max(residuals, default=0.0))
    return finish(f"solver.{method}", result, made, return_accuracy)


def cg(A: Any, b: ArrayLike | Array, x0: Any = None, tol: float = 1e-6, maxiter: int | None = 1000, M: Any = None, *,
       monitor: Monitor | None = None, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """Conjugate gradients for Hermitian positive definite A: (x, iterations, residual).

    Stops when ||b - A x|| <= tol ||b||, checked with a residual formed from x. M approximates A^-1. `monitor(iteration, residuals)`
    is called in every iteration; False stops. Ctrl-C stops too.

    Returns
    -------
    IterationResult
        (x, iterations, residual): the solution, how many iterations were made, the largest relative residual.

    >>> import numpy as np, trnsci.solver as ts, trnsci.sparse as sp
    >>> a = sp.poisson(8, 8)
    >>> x, iterations, residual = ts.cg(a, np.ones(64), tol=1e-10, M=sp.ic0(a))
    >>> residual <= 1e-10, bool(np.abs(a @ x - 1).max() < 1e-9)
    (True, True)
    """
    return _krylov("cg", A, b, x0, tol, maxiter, M, 30, (0, 0), monitor, executor, return_accuracy)


def gmres(A: Any, b: ArrayLike | Array, x0: Any = None, tol: float = 1e-6, maxiter: int | None = None, restart: int = 30, M: Any = None, *,
          monitor: Monitor | None = None, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """GMRES for any square A, preconditioned from the right: (x, iterations, residual). maxiter counts products.

    Returns
    -------
    IterationResult
        (x, iterations, residual): the solution, how many iterations were made, the largest relative residual.

    >>> import numpy as np, trnsci.solver as ts
    >>> x, iterations, residual = ts.gmres(np.array([[2.0, 1.0], [0.0, 1.0]]), [3.0, 1.0], tol=1e-12)
    >>> np.allclose(x, 1), residual <= 1e-12
    (True, True)
    """
    return _krylov("gmres", A, b, x0, tol, maxiter, M, restart, (0, 0), monitor, executor, return_accuracy)


def _short(method: str, doc: str) -> Any:
    def iteration(A: Any, b: ArrayLike | Array, x0: Any = None, tol: float = 1e-6, maxiter: int | None = None, M: Any = None, *,
                  monitor: Monitor | None = None, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
        return _krylov(method, A, b, x0, tol, maxiter, M, 30, (0, 0), monitor, executor, return_accuracy)

    iteration.__name__ = iteration.__qualname__ = method
    iteration.__doc__ = f"{doc}\n\nReturns\n-------\nIterationResult\n    (x, iterations, residual), as cg has them."
    return iteration


block_cg = _short("block_cg", "Conjugate gradients with one Krylov space for all columns of b.")
minres = _short("minres", "Hermitian A, indefinite too.")
bicgstab = _short("bicgstab", "Any square A, short recurrences.")
idr = _short("idr", "IDR(4) for any square A.")
fgmres = _short("fgmres", "GMRES whose preconditioner may change from call to call.")


def chebyshev(A: Any, b: ArrayLike | Array, spectrum: tuple[float, float], x0: Any = None, tol: float = 1e-6, maxiter: int | None = None,
              M: Any = None, *, monitor: Monitor | None = None, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """Chebyshev's iteration for Hermitian A with eigenvalues in spectrum = (lo, hi), lo > 0.

    Returns
    -------
    IterationResult
        (x, iterations, residual): the solution, how many iterations were made, the largest relative residual.

    >>> import numpy as np, trnsci.solver as ts
    >>> x, _, residual = ts.chebyshev(np.diag([1.0, 2.0, 3.0]), np.ones(3), (1.0, 3.0), tol=1e-10)
    >>> np.allclose(x, [1, 1 / 2, 1 / 3])
    True
    """
    return _krylov("chebyshev", A, b, x0, tol, maxiter, M, 30, spectrum, monitor, executor, return_accuracy)


def lsqr(A: Any, b: ArrayLike | Array, x0: Any = None, tol: float = 1e-6, maxiter: int | None = None, *, monitor: Monitor | None = None,
         executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """Least squares for A of any shape; report.more["normal_residuals"] says how well A^H (b - A x) vanishes.

    Returns
    -------
    IterationResult
        (x, iterations, residual): the solution, how many iterations were made, the largest relative residual.

    >>> import numpy as np, trnsci.solver as ts
    >>> x, _, _ = ts.lsqr(np.array([[1.0], [1.0]]), [1.0, 3.0], tol=1e-12, return_accuracy=True)[0]
    >>> np.allclose(x, 2)
    True
    """
    return _krylov("lsqr", A, b, x0, tol, maxiter, None, 30, (0, 0), monitor, executor, return_accuracy)


def jacobi_preconditioner(A: ArrayLike | Array, *, executor: ExecutorLike = None) -> Operator:
    """The inverse of A's diagonal as an operator that can be called.

    >>> import trnsci.solver as ts
    >>> ts.jacobi_preconditioner([[2.0, 1.0], [1.0, 4.0]])([2.0, 4.0])
    array([1., 1.])
    """
    return _trnsci.solver_jacobi(_dense(A), executor)


def block_jacobi_preconditioner(A: ArrayLike | Array, block_size: int = 16, *, executor: ExecutorLike = None) -> Operator:
    """The inverses of the diagonal blocks."""
    return _trnsci.solver_block_jacobi(_dense(A), block_size, executor)


def ssor_preconditioner(A: ArrayLike | Array, omega: float = 1.0, *, executor: ExecutorLike = None) -> Operator:
    """Symmetric successive overrelaxation, 0 < omega < 2."""
    return _trnsci.solver_ssor(_dense(A), omega, executor)


def _dense(A: Any) -> Any:
    if isinstance(A, Array):
        return A
    array = np.asarray(A)
    return array.astype(np.float64) if array.dtype.kind in "biu" else array


def _prepared(A: Any) -> tuple[Any, str]:
    dtype = np.dtype(element_type(A) or np.float64)
    if is_operator(A) and not isinstance(A, Operator) and not hasattr(A, "shape"):
        raise ValueError("this method needs the operator's shape: give an object with .shape and .matvec")
    return operand(A, dtype), dtype.char


def _few(method: str, A: Any, k: int, which: str, tol: float, maxiter: int | None, M: Any, seed: int, executor: ExecutorLike,
         return_accuracy: bool) -> Any:
    if which not in ("SA", "LA"):
        raise ValueError(f"solver.{method}: which is {which!r}; it must be 'SA' (smallest) or 'LA' (largest)")
    a, letter = _prepared(A)
    m = None if M is None else operand(M, np.dtype(letter), tuple(A.shape))
    w, v, report, residuals, products = _trnsci.solver_few(method, a, letter, k, which == "LA", tol, int(maxiter or 0), m, seed, executor)
    made = report_of(report, residuals=np.array(residuals), products=products)
    return finish(f"solver.{method}", LowRankEigh(w, v), made, return_accuracy)


def eigsh(A: Any, k: int = 6, *, which: str = "SA", tol: float = 0.0, maxiter: int | None = None, seed: int = 0,
          executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """The k smallest ("SA") or largest ("LA") eigenvalues and their vectors, by Lanczos with thick restarts.

    Returns
    -------
    LowRankEigh
        (eigenvalues, eigenvectors), the vectors as columns.

    >>> import numpy as np, trnsci.solver as ts
    >>> w, v = ts.eigsh(np.diag(np.arange(1.0, 41)), 2)
    >>> np.allclose(w, [1, 2])
    True
    """
    return _few("lanczos", A, k, which, tol, maxiter, None, seed, executor, return_accuracy)


def lobpcg(A: Any, k: int = 6, M: Any = None, *, which: str = "SA", tol: float = 0.0, maxiter: int | None = None, seed: int = 0,
           executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """The k smallest ("SA") or largest ("LA") eigenvalues and their vectors by LOBPCG, with a preconditioner M for the smallest.

    Returns
    -------
    LowRankEigh
        (eigenvalues, eigenvectors), the vectors as columns.
    """
    return _few("lobpcg", A, k, which, tol, maxiter, M, seed, executor, return_accuracy)


def filtered_subspace(A: Any, k: int = 6, *, which: str = "SA", tol: float = 0.0, maxiter: int | None = None, seed: int = 0,
                      executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """The k smallest ("SA") or largest ("LA") eigenvalues and their vectors by subspace iteration with Chebyshev polynomials.

    Returns
    -------
    LowRankEigh
        (eigenvalues, eigenvectors), the vectors as columns.
    """
    return _few("filtered_subspace", A, k, which, tol, maxiter, None, seed, executor, return_accuracy)


def _low_rank(method: str, A: Any, k: int, oversampling: int, power_iterations: int, seed: int, measure_error: bool,
              executor: ExecutorLike) -> Any:
    a, letter = _prepared(A)
    u, values, vh, report, error, products = _trnsci.solver_low_rank(method, a, letter, k, oversampling, power_iterations, seed,
                                                                     measure_error, executor)
    return u, np.array(values, dtype=np.dtype(letter.lower())), vh, report_of(report, error=error, products=products)


def rsvd(A: Any, k: int, oversampling: int = 10, power_iterations: int = 2, *, seed: int = 0, measure_error: bool = True,
         executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """(U, s, Vh) of rank k from a random sketch; report.more["error"] bounds ||A - U s Vh||_F.

    Returns
    -------
    SvdResult
        (U, S, Vh) of rank k.

    >>> import numpy as np, trnsci.solver as ts
    >>> a = np.outer(np.arange(1.0, 30), np.ones(20))
    >>> (u, s, vh), report = ts.rsvd(a, 1, return_accuracy=True)
    >>> bool(np.linalg.norm(a - u * s @ vh) <= report.more["error"] < 1e-11), report.rigorous
    (True, True)
    """
    u, s, vh, report = _low_rank("rsvd", A, k, oversampling, power_iterations, seed, measure_error, executor)
    return finish("solver.rsvd", SvdResult(u, s, vh), report, return_accuracy)


def eigh_randomized(A: Any, k: int, oversampling: int = 10, power_iterations: int = 2, *, seed: int = 0, measure_error: bool = True,
                    executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """The k eigenvalues of largest modulus of a Hermitian operator, from a sketch.

    Returns
    -------
    LowRankEigh
        (eigenvalues, eigenvectors), the vectors as columns.

    >>> import numpy as np, trnsci.solver as ts
    >>> ts.eigh_randomized(np.diag([5.0, -3.0] + 30 * [0.0]), 2).eigenvalues.round(9).tolist()
    [5.0, -3.0]
    """
    v, w, _, report = _low_rank("eigh_randomized", A, k, oversampling, power_iterations, seed, measure_error, executor)
    return finish("solver.eigh_randomized", LowRankEigh(w, v), report, return_accuracy)


def nystroem(A: Any, k: int, oversampling: int = 10, *, seed: int = 0, measure_error: bool = True, executor: ExecutorLike = None,
             return_accuracy: bool = False) -> Any:
    """A positive semidefinite operator of rank k from one pass over it.

    Returns
    -------
    LowRankEigh
        (eigenvalues, eigenvectors), the vectors as columns.
    """
    v, w, _, report = _low_rank("nystroem", A, k, oversampling, 0, seed, measure_error, executor)
    return finish("solver.nystroem", LowRankEigh(w, v), report, return_accuracy)


class TraceEstimate(NamedTuple):
    """The estimate, its standard error (estimated from the samples, no bound), and the products that were made."""

    value: Any
    standard_error: float
    products: int
    outcome: Outcome


def _trace(A: Any, samples: int, plus: bool, seed: int, executor: ExecutorLike) -> TraceEstimate:
    a, letter = _prepared(A)
    value, error, products, outcome = _trnsci.solver_trace(a, letter, samples, plus, seed, executor)
    return TraceEstimate(value if letter in "FD" else value.real, error, products, Outcome(*outcome))


def hutchinson(A: Any, samples: int, *, seed: int = 0, executor: ExecutorLike = None) -> TraceEstimate:
    """The trace of a square operator from products with random signs.

    Returns
    -------
    TraceEstimate
        (value, standard_error, products, outcome).

    >>> import numpy as np, trnsci.solver as ts
    >>> ts.hutchinson(np.eye(20), 4).value
    20.0
    """
    return _trace(A, samples, False, seed, executor)


def hutch_plus_plus(A: Any, samples: int, *, seed: int = 0, executor: ExecutorLike = None) -> TraceEstimate:
    """Hutch++: two thirds of the samples go to a low-rank part, whose trace is exact.

    Returns
    -------
    TraceEstimate
        (value, standard_error, products, outcome).
    """
    return _trace(A, samples, True, seed, executor)


def expm_multiply(A: Any, B: ArrayLike | Array, t: float = 1.0, *, norm: float = 0.0, executor: ExecutorLike = None,
                  return_accuracy: bool = False) -> Any:
    """e^(t A) B from products with A; `norm` bounds an operator norm of A, 0: the 1-norm is computed.

    Returns
    -------
    ndarray or Array
        e^(t A) B, of B's shape.

    >>> import numpy as np, trnsci.solver as ts
    >>> np.allclose(ts.expm_multiply(np.diag([0.0, 1.0]), np.ones(2)), [1, np.e])
    True
    """
    block: Any
    if isinstance(B, Array):
        dtype, block, vector = B.dtype, B, False
    else:
        array = np.asarray(B)
        dtype = np.result_type(*[x for x in (element_type(A), array.dtype, np.float32) if x is not None])
        vector = array.ndim == 1
        block = array.astype(dtype, copy=False)[:, None] if vector else array.astype(dtype, copy=False)
    f, report = _trnsci.solver_expm_multiply(operand(A, dtype, (block.shape[0],) * 2), block, t, norm, executor)
    return finish("solver.expm_multiply", f[:, 0] if vector else f, report_of(report), return_accuracy)
