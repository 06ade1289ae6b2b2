"""Preconditioners as operators, and direct solvers, of trnsci.sparse."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _trnsci
from ._outcome import Outcome, tell
from ._sparse_matrix import Sparse, floating, like, native, type_of
from ._trnsci import Operator


def ilu(A: Sparse, level: int = 0, *, boost: tuple[float, float] | None = None) -> Operator:
    """ILU(level) as an operator that solves with L U. `boost` = (tolerance, value) replaces small pivots.

    A pivot that is zero is a result: `.outcome`, and the operator gives NaN.

    >>> import numpy as np, trnsci.sparse as sp
    >>> m = sp.ilu(sp.poisson(4))                    # tridiagonal: ILU(0) is LU
    >>> np.allclose(sp.poisson(4) @ m(np.ones(4)), 1)
    True
    """
    tolerance, value = boost if boost is not None else (-1.0, 1.0)
    return _trnsci.ilu(native(A), level, tolerance, value)


def ilut(A: Sparse, drop_tol: float = 1e-3, fill: int = 10) -> Operator:
    """ILU with a threshold: entries below drop_tol times the row's norm go, `fill` of each row of L and U stay."""
    return _trnsci.ilut(native(A), drop_tol, fill)


def ic0(A: Sparse, shift: float = 0.0) -> Operator:
    """Incomplete Cholesky on the pattern of A's lower triangle; `shift` is added to the diagonal, relative to it.

    >>> import numpy as np, trnsci.sparse as sp
    >>> a = sp.poisson(4)                            # tridiagonal: IC(0) is Cholesky
    >>> np.allclose(a @ sp.ic0(a)(np.ones(4)), 1)
    True
    """
    return _trnsci.ic0(native(A), shift)


def jacobi(A: Sparse) -> Operator:
    """The inverse of the diagonal.

    >>> import numpy as np, trnsci.sparse as sp
    >>> sp.jacobi(sp.poisson(2))(np.array([2.0, 4.0]))
    array([1., 2.])
    """
    return _trnsci.sparse_jacobi(native(A), 1)


def block_jacobi(A: Sparse, block_size: int = 16) -> Operator:
    """The inverses of the blocks on the diagonal."""
    return _trnsci.sparse_jacobi(native(A), block_size)


def ssor(A: Sparse, omega: float = 1.0) -> Operator:
    """Symmetric successive overrelaxation, rows sorted by colour."""
    return _trnsci.sparse_ssor(native(A), omega)


def chebyshev(A: Sparse, degree: int = 3, *, largest: float = 0.0, ratio: float = 30.0) -> Operator:
    """A Chebyshev polynomial in D^-1 A; `largest` is the largest eigenvalue of it, 0: estimated."""
    return _trnsci.sparse_chebyshev(native(A), degree, largest, ratio)


def approximate_inverse(A: Sparse) -> Any:
    """The matrix M on the pattern of A with the least ||A M - I||_F.

    Returns
    -------
    sparse matrix
        Of the kind of A.
    """
    return like(A, _trnsci.approximate_inverse(native(A)))


def amg(A: Sparse, nullspace: ArrayLike | None = None, *, block: int = 1, strength: float = 0.0, coarsest: int = 200) -> Operator:
    """Smoothed aggregation multigrid for Hermitian positive definite A: one V-cycle as an operator.

    `nullspace` (n x k) is what A hardly changes: constants where there is none, rigid motions for elasticity. `block` is the
    number of unknowns of a node.

    >>> import numpy as np, trnsci
    >>> a = trnsci.sparse.poisson(20, 20)
    >>> x, iterations, residual = trnsci.solver.cg(a, np.ones(400), tol=1e-8, M=trnsci.sparse.amg(a))
    >>> residual <= 1e-8, iterations < 30
    (True, True)
    """
    vectors = None if nullspace is None else np.asarray(nullspace, dtype=type_of(A))
    return _trnsci.amg(native(A), vectors, block, strength, coarsest)


@dataclass(frozen=True)
class Solved:
    """What remains after a direct solve: `componentwise` max |b - A x|_i / (|A||x|)_i, `normwise` the same of maxima."""

    outcome: Outcome
    steps: int
    componentwise: float
    normwise: float


class Factor:
    """A sparse matrix in factors: `solve` as often as one likes, `refactor` for new values on the same pattern."""

    def __init__(self, factor: Any, dtype: Any) -> None:
        self._factor = factor
        self.dtype = np.dtype(dtype)

    shape = property(lambda self: self._factor.shape)

    @property
    def outcome(self) -> Outcome:
        """"ok", or "not positive", "singular", "not finite" with the row or column of A."""
        return Outcome(*self._factor.outcome)

    @property
    def report(self) -> dict[str, Any]:
        """The ordering that was taken, entries and flops of the factors, fronts."""
        return dict(self._factor.report())

    def solve(self, b: ArrayLike, *, steps: int = 1, return_accuracy: bool = False) -> Any:
        """x with A x = b, refined by `steps`; least squares or least norm for QR of a matrix that is not square."""
        rhs = floating(b, "b")
        if rhs.dtype.kind == "c" and self.dtype.kind != "c":
            raise TypeError("sparse: b is complex, the factor is of a real matrix")
        column = rhs.astype(self.dtype, copy=False)
        x, outcome, taken, componentwise, normwise = self._factor.solve(column[:, None] if rhs.ndim == 1 else column, steps)
        x = x[:, 0] if rhs.ndim == 1 else x
        if return_accuracy:
            return x, Solved(Outcome(*outcome), taken, componentwise, normwise)
        tell("sparse.solve", Outcome(*outcome))
        return x

    __call__ = solve

    def refactor(self, A: Sparse) -> Factor:
        """The factors of a matrix with the same pattern and other values; the analysis is used again."""
        return Factor(self._factor.refactor(native(A, self.dtype)), self.dtype)

    def triangle(self) -> tuple[Any, NDArray[Any]]:
        """Cholesky's L or QR's R as a CSRMatrix, and the order of the columns."""
        from ._sparse_matrix import CSRMatrix

        matrix, order = self._factor.triangle()
        return CSRMatrix._of(matrix), np.array(order, dtype=np.int64)

    def log_determinant(self) -> float:
        """log det A, from Cholesky's factor."""
        return float(self._factor.log_determinant())


def _factor(A: Any, kind: str, ordering: str, upper: bool, parameter: float, dtype: Any = None) -> Factor:
    chosen = np.dtype(dtype or type_of(A))
    return Factor(_trnsci.sparse_factor(native(A, chosen), kind, ordering, upper, parameter), chosen)


def spcholesky(A: Sparse, *, lower: bool = True, ordering: str = "best") -> Factor:
    """A = L L^H for a Hermitian positive definite matrix, of which one triangle is read.

    >>> import numpy as np, trnsci.sparse as sp
    >>> f = sp.spcholesky(sp.poisson(10, 10))
    >>> x, solved = f.solve(np.ones(100), return_accuracy=True)
    >>> f.outcome.ok, solved.componentwise < 1e-14
    (True, True)
    """
    return _factor(A, "cholesky", ordering, not lower, 0.0)


def splu(A: Sparse, *, ordering: str = "best", threshold: float = 0.1) -> Factor:
    """P A Q = L U; a pivot is at least `threshold` times the largest of its column.

    >>> import trnsci.sparse as sp
    >>> sp.splu(sp.from_dense([[0.0, 1.0], [2.0, 0.0]])).solve([3.0, 4.0])
    array([2., 3.])
    """
    return _factor(A, "lu", ordering, False, threshold)


def spqr(A: Sparse, *, ordering: str = "best", tolerance: float = -1.0) -> Factor:
    """A = Q R: least squares for tall matrices, least norm for wide ones.

    >>> import numpy as np, trnsci.sparse as sp
    >>> x = sp.spqr(sp.from_dense([[1.0], [1.0]])).solve(np.array([1.0, 3.0]))
    >>> np.allclose(x, 2)
    True
    """
    return _factor(A, "qr", ordering, False, tolerance)


def spsolve(A: Sparse, b: ArrayLike, *, assume_a: str = "gen", return_accuracy: bool = False) -> Any:
    """x with A x = b by LU, or by Cholesky with assume_a="pos".

    >>> import trnsci.sparse as sp
    >>> sp.spsolve(sp.from_dense([[2.0, 0.0], [1.0, 1.0]]), [2.0, 3.0])
    array([1., 2.])
    """
    if assume_a not in ("gen", "pos"):
        raise ValueError(f"sparse.spsolve: assume_a is {assume_a!r}; it must be 'gen' or 'pos'")
    dtype = np.result_type(type_of(A), floating(b, "b").dtype)
    factor = _factor(A, "lu" if assume_a == "gen" else "cholesky", "best", False, 0.1, dtype)
    return factor.solve(b, return_accuracy=return_accuracy)


def factorized(A: Sparse) -> Callable[[ArrayLike], Any]:
    """A function that solves A x = b.

    Returns
    -------
    callable
        solve(b), which gives x.

    >>> import trnsci.sparse as sp
    >>> solve = sp.factorized(sp.from_dense([[2.0, 0.0], [1.0, 1.0]]))
    >>> solve([2.0, 3.0])
    array([1., 2.])
    """
    return splu(A).solve
