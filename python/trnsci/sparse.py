"""Sparse matrices: products, solves, factorisations, orderings, attention, files. The counterpart of scipy.sparse(.linalg).

Matrices are scipy.sparse's, of any format, or CSRMatrix, COOMatrix and BSRMatrix of this module. A result that is a matrix
is of the kind of the first matrix: csr_array or csr_matrix, over the library's memory, or CSRMatrix. A matrix of SciPy's is
checked and copied once in each call; a CSRMatrix is checked when it is made.
"""
from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _docs, _glossary, _trnsci
from ._core import Array, ExecutorLike, _executor
from ._outcome import NumericalWarning, Outcome, tell
from ._rank_structured import RankFactors, RankMatrix, RankSolve, blr, hodlr
from ._sparse_attention import (attention, attention_backward, attention_mask,
                                block_sparse_attention_tiled)
from ._sparse_factors import (Factor, Solved, amg, approximate_inverse, block_jacobi, chebyshev, factorized, ic0, ilu, ilut, jacobi,
                              splu, spcholesky, spqr, spsolve, ssor)
from ._sparse_iterations import (bsr_diagonal, cg_bsr, chebyshev_bsr, chebyshev_coeffs, jacobi_preconditioner_bsr,
                                 power_iteration_bsr, richardson_bsr)
from ._sparse_matrix import BSRMatrix, COOMatrix, CSRMatrix, Sparse, borrowed, floating, like, native, type_of
from ._sparse_screening import Quartets, density_screen, schwarz_bounds, screen_quartets, screened_spmm, sparsity_stats
from ._trnsci import AttentionMask, Operator

_OPS = {"N": 0, "T": 1, "C": 2}


def _op(op: str) -> int:
    if op not in _OPS:
        raise ValueError(f"op is {op!r}; it must be 'N', 'T' or 'C'")
    return _OPS[op]


class SpmmPlan:
    """A sparse matrix made ready for products with dense ones: alpha op(A) B + beta C, as often as one likes.

    >>> import numpy as np, trnsci.sparse as sp
    >>> plan = sp.SpmmPlan(sp.eye_sparse(3), columns=2)
    >>> plan(np.ones((3, 2)))
    array([[1., 1.],
           [1., 1.],
           [1., 1.]])
    """

    def __init__(self, A: Sparse, *, op: str = "N", columns: int = 1, kernel: str = "automatic", dtype: Any = None,
                 precision: str | None = None, executor: ExecutorLike = None) -> None:
        self._prepare(native(A, np.dtype(dtype or type_of(A))), op, columns, kernel, precision, executor)

    def _prepare(self, matrix: _trnsci.Csr, op: str, columns: int, kernel: str, precision: str | None, executor: ExecutorLike) -> None:
        self.dtype = matrix.data().dtype
        self._plan = _trnsci.spmm_plan(matrix, _op(op), columns, kernel, precision, executor)

    shape = property(lambda self: self._plan.shape)
    executor = property(lambda self: self._plan.executor)

    @property
    def report(self) -> dict[str, Any]:
        """What the plan chose: the kernel, bytes, tiles, fill and modelled times."""
        return dict(self._plan.report())

    def __call__(self, B: Any, alpha: complex = 1.0, C: Any = None, beta: complex = 0.0, *, return_accuracy: bool = False) -> Any:
        if isinstance(B, Array):
            return self._plan.run(alpha, B, beta, C, return_accuracy)
        b = np.asarray(B, dtype=self.dtype)
        c = None if C is None else np.asarray(C, dtype=self.dtype)
        if b.ndim != 1:
            return self._plan.run(alpha, b, beta, c, return_accuracy)
        y = self._plan.run(alpha, b[:, None], beta, None if c is None else c[:, None], return_accuracy)
        return (y[0][:, 0], y[1]) if return_accuracy else y[:, 0]


def _product(A: Any, B: Any, alpha: complex, C: Any, beta: complex, op: str, precision: str | None, executor: ExecutorLike,
             return_accuracy: bool) -> Any:
    where = B.executor if isinstance(B, Array) and executor is None else executor
    dtype = np.result_type(type_of(A), floating(B, "B").dtype) if not isinstance(B, Array) else B.dtype
    columns = B.shape[1] if np.ndim(B) == 2 else 1
    on_host = _executor(where).family == "host"  # one product there does not pay for another format
    plan = object.__new__(SpmmPlan)
    plan._prepare(borrowed(A, dtype), op, columns, "csr" if on_host else "automatic", precision, where)
    return plan(B, alpha, C, beta, return_accuracy=return_accuracy)


def spmv(A: Sparse, x: ArrayLike | Array, alpha: complex = 1.0, y: Any = None, beta: complex = 0.0, *, op: str = "N",
         precision: str | None = None, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """alpha op(A) x + beta y for a vector x.

    >>> import numpy as np, trnsci.sparse as sp
    >>> sp.spmv(sp.from_dense([[1.0, 2.0], [0.0, 3.0]]), [1.0, 1.0])
    array([3., 3.])
    """
    if not isinstance(x, Array) and np.ndim(x) != 1:
        raise ValueError(f"sparse.spmv: x has rank {np.ndim(x)}; it must have rank 1")
    return _product(A, x if isinstance(x, Array) else np.asarray(x), alpha, y, beta, op, precision, executor, return_accuracy)


def spmm(A: Sparse, B: ArrayLike | Array, alpha: complex = 1.0, C: Any = None, beta: complex = 0.0, *, op: str = "N",
         precision: str | None = None, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """alpha op(A) B + beta C for a dense B.

    >>> import numpy as np, trnsci.sparse as sp
    >>> sp.spmm(sp.from_dense([[1.0, 2.0], [0.0, 3.0]]), np.eye(2))
    array([[1., 2.],
           [0., 3.]])
    """
    if not isinstance(B, Array) and np.ndim(B) != 2:
        raise ValueError(f"sparse.spmm: B has rank {np.ndim(B)}; it must have rank 2")
    return _product(A, B if isinstance(B, Array) else np.asarray(B), alpha, C, beta, op, precision, executor, return_accuracy)


def spmv_symmetric(A: Sparse, x: ArrayLike, alpha: complex = 1.0, uplo: str = "upper", **more: Any) -> Any:
    """alpha S x with the symmetric S whose triangle `uplo` is A's; the other triangle of A is not read.

    >>> import trnsci.sparse as sp
    >>> sp.spmv_symmetric(sp.from_dense([[1.0, 2.0], [0.0, 3.0]]), [1.0, 1.0])
    array([3., 5.])
    """
    if uplo not in ("upper", "lower"):
        raise ValueError(f"sparse.spmv_symmetric: uplo is {uplo!r}; it must be 'upper' or 'lower'")
    half = _trnsci.csr_triangle(native(A), uplo == "upper", 0)
    strict = _trnsci.csr_transpose(_trnsci.csr_triangle(native(A), uplo == "upper", 1 if uplo == "upper" else -1), False)
    return spmv(CSRMatrix._of(_trnsci.csr_add(1.0, half, 1.0, strict)), x, alpha, **more)


def bsr_spmm(A_bsr: Sparse, B: ArrayLike | Array, **more: Any) -> Any:
    """A B for a matrix of blocks."""
    return spmm(A_bsr, B, **more)


def _pair(A: Any, B: Any) -> tuple[_trnsci.Csr, _trnsci.Csr]:
    """Both of one type, for operations whose result has memory of its own."""
    dtype = np.result_type(type_of(A), type_of(B))
    return borrowed(A, dtype), borrowed(B, dtype)


def spgemm(A: Sparse, B: Sparse, alpha: complex = 1.0) -> Any:
    """alpha A B as a sparse matrix; an entry wherever a product falls.

    Parameters
    ----------
    B : sparse matrix
        The other matrix.

    Returns
    -------
    sparse matrix
        Of the kind of A: scipy.sparse's where A is, else a CSRMatrix.

    >>> import trnsci.sparse as sp
    >>> sp.spgemm(sp.eye_sparse(2), sp.eye_sparse(2), 3.0).to_dense()
    array([[3., 0.],
           [0., 3.]])
    """
    a, b = _pair(A, B)
    return like(A, _trnsci.spgemm(a, b, alpha))


def power(A: Sparse, k: int) -> Any:
    """A^k as a sparse matrix, k >= 0.

    Parameters
    ----------
    k : int
        The exponent.

    Returns
    -------
    sparse matrix
        Of the kind of A: scipy.sparse's where A is, else a CSRMatrix.

    >>> import trnsci.sparse as sp
    >>> sp.power(sp.from_dense([[0.0, 2.0], [1.0, 0.0]]), 2).to_dense()
    array([[2., 0.],
           [0., 2.]])
    """
    return like(A, _trnsci.sparse_power(native(A), k))


def sddmm(A: ArrayLike | Array, B: ArrayLike | Array, S: Sparse, alpha: complex = 1.0, beta: complex = 0.0, *,
          executor: ExecutorLike = None) -> Any:
    """alpha (A B)(i, j) + beta S(i, j) on the pattern of S, for dense A and B.

    Parameters
    ----------
    A : array_like or Array
        The left dense matrix.
    B : array_like or Array
        The right dense matrix.

    Returns
    -------
    sparse matrix
        Of the kind of S.

    >>> import numpy as np, trnsci.sparse as sp
    >>> sp.sddmm(np.ones((2, 3)), np.ones((3, 2)), sp.eye_sparse(2)).to_dense()
    array([[3., 0.],
           [0., 3.]])
    """
    if isinstance(A, Array):
        return like(S, _trnsci.sddmm(alpha, A, B, beta, native(S, A.dtype), executor))
    a, b = floating(A, "A"), floating(B, "B")
    dtype = np.result_type(a.dtype, b.dtype, type_of(S))
    return like(S, _trnsci.sddmm(alpha, a.astype(dtype, copy=False), b.astype(dtype, copy=False), beta, native(S, dtype), executor))


def spsolve_triangular(A: Sparse, b: ArrayLike, lower: bool = True, overwrite_A: bool = False, overwrite_b: bool = False,
                       unit_diagonal: bool = False, *, op: str = "N", return_accuracy: bool = False) -> Any:
    """x with op(T) x = b, T the lower or upper triangle of A; the other one is not read.

    A zero on the diagonal is an outcome ("zero pivot", with the row): x is NaN then.

    >>> import trnsci.sparse as sp
    >>> sp.spsolve_triangular(sp.from_dense([[2.0, 0.0], [1.0, 1.0]]), [2.0, 3.0])
    array([1., 2.])
    """
    rhs = floating(b, "b")
    dtype = np.result_type(type_of(A), rhs.dtype)
    column = rhs.astype(dtype, copy=False)
    x, outcome = _trnsci.sparse_triangular(borrowed(A, dtype), column[:, None] if rhs.ndim == 1 else column, not lower, _op(op), unit_diagonal)
    x = x[:, 0] if rhs.ndim == 1 else x
    if return_accuracy:
        return x, Outcome(*outcome)
    tell("sparse.spsolve_triangular", Outcome(*outcome))
    return x


def solve_banded_batch(diagonals: Any, b: ArrayLike, *, pivot: bool = True, return_accuracy: bool = False) -> Any:
    """Many tridiagonal (3 diagonals) or pentadiagonal (5) systems: everything is (n, count), system k in column k.

    Diagonal -1 begins with an element that is not read, diagonal +1 ends with one.

    >>> import numpy as np, trnsci.sparse as sp
    >>> ones = np.ones((3, 1))
    >>> x = sp.solve_banded_batch([-ones, 4 * ones, -ones], np.array([[3.0], [2.0], [3.0]]))
    >>> np.allclose(x, 1)
    True
    """
    rhs = floating(b, "b")
    parts = [np.asarray(d, dtype=rhs.dtype) for d in diagonals]
    if len(parts) not in (3, 5):
        raise ValueError(f"sparse.solve_banded_batch: {len(parts)} diagonals; 3 or 5 are possible")
    x, outcome = _trnsci.sparse_tridiagonal(parts, rhs, pivot)
    if return_accuracy:
        return x, Outcome(*outcome)
    tell("sparse.solve_banded_batch", Outcome(*outcome))
    return x


# What one does with matrices.

def from_dense(A: ArrayLike, threshold: float = 0.0) -> CSRMatrix:
    """The elements of a dense matrix with |a| > threshold, as a CSRMatrix.

    Parameters
    ----------
    A : array_like
        A dense matrix.

    >>> import trnsci.sparse as sp
    >>> sp.from_dense([[1.0, 1e-9], [0.0, 2.0]], 1e-6)
    CSRMatrix(shape=(2, 2), nnz=2, dtype=float64)
    """
    return CSRMatrix.from_dense(A, threshold)


def from_scipy(m: Any) -> CSRMatrix:
    """A CSRMatrix of a scipy.sparse matrix; its element type stays.

    >>> import scipy.sparse, trnsci.sparse as sp
    >>> sp.from_scipy(scipy.sparse.csr_matrix([[0.0, 1.0]]))
    CSRMatrix(shape=(1, 2), nnz=1, dtype=float64)
    """
    return CSRMatrix.from_scipy(m)


def eye_sparse(n: int, dtype: Any = np.float64) -> CSRMatrix:
    """The identity.

    >>> import trnsci.sparse as sp
    >>> sp.eye_sparse(2).to_dense()
    array([[1., 0.],
           [0., 1.]])
    """
    return CSRMatrix(np.ones(n, dtype), np.arange(n, dtype=np.int32), np.arange(n + 1), (n, n))


def sparse_add(A: Sparse, B: Sparse, alpha: complex = 1.0, beta: complex = 1.0) -> Any:
    """alpha A + beta B on the union of the patterns.

    Parameters
    ----------
    B : sparse matrix
        The other matrix.

    Returns
    -------
    sparse matrix
        Of the kind of A: scipy.sparse's where A is, else a CSRMatrix.

    >>> import trnsci.sparse as sp
    >>> a = sp.from_dense([[1.0, 0.0]])
    >>> sp.sparse_add(a, sp.from_dense([[0.0, 1.0]]), 2.0, 3.0).to_dense()
    array([[2., 3.]])
    """
    a, b = _pair(A, B)
    return like(A, _trnsci.csr_add(alpha, a, beta, b))


def sparse_multiply(A: Sparse, B: Sparse) -> Any:
    """A(i, j) B(i, j) on the intersection of the patterns.

    Parameters
    ----------
    B : sparse matrix
        The other matrix.

    Returns
    -------
    sparse matrix
        Of the kind of A: scipy.sparse's where A is, else a CSRMatrix.

    >>> import trnsci.sparse as sp
    >>> sp.sparse_multiply(sp.from_dense([[2.0, 1.0]]), sp.from_dense([[3.0, 0.0]])).to_dense()
    array([[6., 0.]])
    """
    a, b = _pair(A, B)
    return like(A, _trnsci.csr_multiply(a, b))


def sparse_scale(A: Sparse, alpha: complex) -> Any:
    """alpha A.

    Returns
    -------
    sparse matrix
        Of the kind of A: scipy.sparse's where A is, else a CSRMatrix.

    >>> import trnsci.sparse as sp
    >>> sp.sparse_scale(sp.eye_sparse(1), 3.0).to_dense()
    array([[3.]])
    """
    return like(A, _trnsci.csr_scale(alpha, native(A)))


def sparse_transpose(A: Sparse, conjugate: bool = False) -> Any:
    """A^T, or A^H.

    Returns
    -------
    sparse matrix
        Of the kind of A: scipy.sparse's where A is, else a CSRMatrix.

    >>> import trnsci.sparse as sp
    >>> sp.sparse_transpose(sp.from_dense([[1.0, 2.0]])).to_dense()
    array([[1.],
           [2.]])
    """
    return like(A, _trnsci.csr_transpose(native(A), conjugate))


def prune(A: Sparse, threshold: float = 0.0) -> Any:
    """The entries with |a| > threshold; NaN is kept.

    Returns
    -------
    sparse matrix
        Of the kind of A: scipy.sparse's where A is, else a CSRMatrix.
    """
    return like(A, _trnsci.csr_prune(native(A), threshold))


def tril(A: Sparse, k: int = 0) -> Any:
    """The entries on diagonal k and below it.

    Returns
    -------
    sparse matrix
        Of the kind of A: scipy.sparse's where A is, else a CSRMatrix.
    """
    return like(A, _trnsci.csr_triangle(native(A), False, k))


def triu(A: Sparse, k: int = 0) -> Any:
    """The entries on diagonal k and above it.

    Returns
    -------
    sparse matrix
        Of the kind of A: scipy.sparse's where A is, else a CSRMatrix.
    """
    return like(A, _trnsci.csr_triangle(native(A), True, k))


def _stack(name: str, parts: Any, beside: bool) -> Any:
    parts = list(parts)
    if not parts:
        raise ValueError(f"sparse.{name}: give at least one matrix")
    return like(parts[0], _trnsci.csr_stack([native(p) for p in parts], beside))


def vstack(parts: Any) -> Any:
    """Matrices above one another.

    Returns
    -------
    sparse matrix
        Of the kind of the first one.
    """
    return _stack("vstack", parts, False)


def hstack(parts: Any) -> Any:
    """Matrices side by side.

    Returns
    -------
    sparse matrix
        Of the kind of the first one.
    """
    return _stack("hstack", parts, True)


def permute(A: Sparse, rows: Any, columns: Any = None) -> Any:
    """Row k of the result is row rows[k] of A, column k is column columns[k] (as rows where there is none).

    Returns
    -------
    sparse matrix
        Of the kind of A: scipy.sparse's where A is, else a CSRMatrix.

    >>> import trnsci.sparse as sp
    >>> sp.permute(sp.from_dense([[1.0, 2.0], [0.0, 3.0]]), [1, 0]).to_dense()
    array([[3., 0.],
           [2., 1.]])
    """
    r = [int(i) for i in rows]
    return like(A, _trnsci.csr_permute(native(A), r, r if columns is None else [int(i) for i in columns]))


def diagonal(A: Sparse) -> Any:
    """A(i, i), zero where there is no entry.

    Returns
    -------
    ndarray
        A(i, i).

    >>> import trnsci.sparse as sp
    >>> sp.diagonal(sp.poisson(3))
    array([2., 2., 2.])
    """
    return _trnsci.csr_diagonal(borrowed(A))


def nnz_per_row(A: Sparse) -> Any:
    """The number of entries in each row.

    Returns
    -------
    ndarray of int
        One number for each row.

    >>> import trnsci.sparse as sp
    >>> sp.nnz_per_row(sp.from_dense([[1.0, 2.0], [0.0, 3.0]])).tolist()
    [2, 1]
    """
    return np.diff(borrowed(A).indptr())


def structure(A: Sparse) -> dict[str, Any]:
    """Which symmetries hold exactly, bandwidths, empty rows and columns, the longest row.

    >>> import trnsci.sparse as sp
    >>> s = sp.structure(sp.poisson(4))
    >>> s["symmetric"], s["upper_bandwidth"]
    (True, 1)
    """
    return dict(_trnsci.csr_structure(borrowed(A)))


# Orderings and colours.

def reverse_cuthill_mckee(A: Sparse, symmetric_mode: bool = False) -> Any:
    """An order of the rows of A + A^T with a small bandwidth: use permute(A, order).

    Returns
    -------
    ndarray of int
        The order of the rows.

    >>> import trnsci.sparse as sp
    >>> sorted(sp.reverse_cuthill_mckee(sp.poisson(4)).tolist())
    [0, 1, 2, 3]
    """
    return np.array(_trnsci.ordering(native(A), "reverse_cuthill_mckee", 0), dtype=np.int64)


def minimum_degree(A: Sparse) -> Any:
    """An order that keeps the factors of Cholesky and LU thin.

    Returns
    -------
    ndarray of int
        The order of the rows.
    """
    return np.array(_trnsci.ordering(native(A), "minimum_degree", 0), dtype=np.int64)


def nested_dissection(A: Sparse) -> Any:
    """METIS's nested dissection: less work than minimum_degree for large meshes.

    Returns
    -------
    ndarray of int
        The order of the rows.
    """
    return np.array(_trnsci.ordering(native(A), "nested_dissection", 0), dtype=np.int64)


def partition(A: Sparse, size: int) -> Any:
    """Neighbouring vertices in parts of at most `size`, part after part.

    Returns
    -------
    ndarray of int
        The order of the rows.
    """
    return np.array(_trnsci.ordering(native(A), "partition", size), dtype=np.int64)


def colouring(A: Sparse) -> Any:
    """A colour for each row, so that no two neighbours have the same one.

    Returns
    -------
    ndarray of int
        A number for each row.
    """
    return np.array(_trnsci.colouring(native(A)), dtype=np.int32)


def cholesky_entries(A: Sparse, order: Any) -> int:
    """Entries of the Cholesky factor of a matrix with this pattern in this order."""
    return int(_trnsci.cholesky_entries(native(A), [int(i) for i in order]))


# Files and model problems.

def _existing(path: Any) -> str:
    """The path of a file that can be read; FileNotFoundError and its relatives otherwise."""
    name = os.fsdecode(path)
    with open(name, "rb"):
        return name


def _read(path: Any, format: str, complex_values: bool) -> CSRMatrix:
    return CSRMatrix._of(_trnsci.read_sparse(_existing(path), format, complex_values))


def _write(path: Any, format: str, a: Sparse, text: str, compressed: bool) -> None:
    matrix, name = native(a), os.fsdecode(path)
    os.stat(os.path.dirname(name) or ".")  # FileNotFoundError where there is no such folder
    _trnsci.write_sparse(name, format, matrix, text, compressed)


def mmread(source: Any) -> CSRMatrix:
    """A Matrix Market file, coordinate or array, of any field and symmetry."""
    return _read(source, "mtx", _trnsci.matrix_market_is_complex(_existing(source)))


def mmwrite(target: Any, a: Sparse, comment: str = "") -> None:
    """A Matrix Market file. Values are written with as many digits as it takes to read the same bits again.

    >>> import os, tempfile, trnsci.sparse as sp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sp.mmwrite(os.path.join(folder, "a.mtx"), sp.eye_sparse(2))
    ...     sp.mmread(os.path.join(folder, "a.mtx")).nnz
    2
    """
    _write(target, "mtx", a, comment, False)


def load_npz(file: Any, *, dtype: Any = np.float64) -> CSRMatrix:
    """What scipy.sparse.save_npz wrote; complex files need dtype=complex."""
    return _read(file, "npz", np.dtype(dtype).kind == "c")


def save_npz(file: Any, matrix: Sparse, compressed: bool = True) -> None:
    """A file that scipy.sparse.load_npz reads."""
    _write(file, "npz", matrix, "", compressed)


def hb_read(path: Any, *, dtype: Any = np.float64) -> CSRMatrix:
    """A Harwell-Boeing or Rutherford-Boeing file."""
    return _read(path, "rb", np.dtype(dtype).kind == "c")


def hb_write(path: Any, m: Sparse, title: str = "") -> None:
    """As Rutherford-Boeing."""
    _write(path, "rb", m, title, False)


def poisson(nx: int, ny: int = 1, nz: int = 1) -> CSRMatrix:
    """Laplace's equation by finite differences in one, two or three dimensions.

    >>> import trnsci.sparse as sp
    >>> sp.poisson(3).to_dense()
    array([[ 2., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  2.]])
    """
    return CSRMatrix._of(_trnsci.poisson(nx, ny, nz))


def elasticity(nx: int, ny: int, poisson_ratio: float = 0.3) -> CSRMatrix:
    """Plane elasticity on nx x ny elements, clamped at the left."""
    return CSRMatrix._of(_trnsci.elasticity(nx, ny, poisson_ratio))


__all__ = ["AttentionMask", "BSRMatrix", "COOMatrix", "CSRMatrix", "Factor", "NumericalWarning", "Operator", "Outcome",
           "Quartets", "RankFactors", "RankMatrix", "RankSolve", "Solved", "SpmmPlan", "amg", "approximate_inverse", "attention", "attention_backward",
           "attention_mask", "block_jacobi", "blr", "block_sparse_attention_tiled", "bsr_diagonal", "bsr_spmm", "cg_bsr", "chebyshev",
           "chebyshev_bsr", "chebyshev_coeffs", "cholesky_entries", "colouring", "density_screen", "diagonal", "elasticity",
           "eye_sparse", "factorized", "from_dense", "from_scipy", "hb_read", "hb_write", "hodlr", "hstack", "ic0", "ilu", "ilut",
           "jacobi", "jacobi_preconditioner_bsr", "load_npz", "minimum_degree", "mmread", "mmwrite", "nested_dissection",
           "nnz_per_row", "partition", "permute", "poisson", "power", "power_iteration_bsr", "prune", "reverse_cuthill_mckee",
           "richardson_bsr", "save_npz", "schwarz_bounds", "screen_quartets", "screened_spmm", "sddmm", "solve_banded_batch",
           "sparse_add", "sparse_multiply", "sparse_scale", "sparse_transpose", "sparsity_stats", "spcholesky", "spgemm", "splu",
           "spmm", "spmv", "spmv_symmetric", "spqr", "spsolve", "spsolve_triangular", "ssor", "structure", "tril", "triu",
           "vstack"]

_docs.complete(globals(), _glossary.SPARSE)
