"""Dense matrices whose blocks away from the diagonal have low rank: products, factors and solves with a bound."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import _trnsci
from ._core import ExecutorLike
from ._outcome import Outcome, tell
from ._sparse_matrix import floating
from ._trnsci import Operator


class RankSolve(NamedTuple):
    """A solution with ||b - A~ x||_F for the compressed matrix, and a bound of ||b - A x||_F for the one before compression."""

    x: Any
    residual: float
    residual_bound: float


class RankFactors:
    """Factors of a RankMatrix: see `RankMatrix.factor`."""

    def __init__(self, factors: Any, dtype: Any) -> None:
        self._factors = factors
        self.dtype = np.dtype(dtype)

    @property
    def outcome(self) -> Outcome:
        return Outcome(*self._factors.report()[0])

    @property
    def truncation(self) -> float:
        """||L U - A~||_F, at most, roundings apart; 0 for hodlr."""
        return float(self._factors.report()[1])

    @property
    def stored(self) -> int:
        """Numbers in the factors."""
        return int(self._factors.report()[2])

    def solve(self, b: ArrayLike, *, refinements: int = 1) -> RankSolve:
        """x with A~ x = b, refined by products with A~."""
        rhs = floating(b, "b")
        if rhs.dtype.kind == "c" and self.dtype.kind != "c":
            raise TypeError("sparse.RankFactors.solve: b is complex, the factors are real")
        column = rhs.astype(self.dtype, copy=False)
        x, residual, bound = self._factors.solve(column[:, None] if rhs.ndim == 1 else column, refinements)
        tell("sparse.RankFactors.solve", self.outcome)
        return RankSolve(x[:, 0] if rhs.ndim == 1 else x, residual, bound)

    def operator(self) -> Operator:
        """The approximate inverse as an operator: a preconditioner."""
        made: Operator = self._factors.operator()
        return made


class RankMatrix:
    """A compressed matrix: see `blr` and `hodlr`."""

    def __init__(self, matrix: Any, dtype: Any, shape: tuple[int, int]) -> None:
        self._matrix = matrix
        self.dtype, self.shape = np.dtype(dtype), shape
        self._operator: Operator = matrix.operator()

    @property
    def report(self) -> dict[str, Any]:
        """Numbers of blocks, the largest rank, numbers stored, norms: `error` bounds ||A - A~||_F."""
        return dict(self._matrix.report())

    @property
    def error(self) -> float:
        return float(self.report["error"])

    def operator(self) -> Operator:
        """As an operator, which the iterative methods of trnsci.solver take."""
        return self._operator

    def __matmul__(self, x: Any) -> Any:
        """A~ x, for a vector or the columns of a matrix."""
        return self._operator @ x

    matvec = __matmul__
    matmat = __matmul__

    def rmatvec(self, x: Any) -> Any:
        """A~^H x."""
        return self._operator.rmatvec(x)

    def to(self, executor: ExecutorLike) -> RankMatrix:
        """A copy on a device, which float32 can have."""
        return RankMatrix(self._matrix.to(executor), self.dtype, self.shape)

    def factor(self, kind: str = "lu", *, tolerance: float = 0.0) -> RankFactors:
        """"lu" or "cholesky" (of blr). Tiles of the factors are compressed again to `tolerance`, 0: the matrix's."""
        if kind not in ("lu", "cholesky"):
            raise ValueError(f"sparse.RankMatrix.factor: kind is {kind!r}; it must be 'lu' or 'cholesky'")
        return RankFactors(self._matrix.factor(kind == "cholesky", tolerance), self.dtype)

    def __repr__(self) -> str:
        r = self.report
        share = r["stored"] / max(self.shape[0] * self.shape[1], 1)
        return f"RankMatrix(shape={self.shape}, dtype={self.dtype}, {share:.1%} stored, largest rank {r['largest_rank']})"


def _compressed(hierarchical: bool, A: Any, shape: tuple[int, int] | None, tolerance: float, tile: int, seed: int) -> RankMatrix:
    if callable(A):
        if shape is None:
            raise ValueError("sparse: A is a function of (rows, columns), so shape is needed")
        A = A(np.arange(shape[0])[:, None], np.arange(shape[1])[None, :])
    array = floating(A, "A")
    made = _trnsci.rank_matrix(hierarchical, array, float(tolerance), int(tile), int(seed))
    return RankMatrix(made, array.dtype, (int(array.shape[0]), int(array.shape[1])))


def blr(A: ArrayLike | Callable[[Any, Any], Any], *, shape: tuple[int, int] | None = None, tolerance: float = 1e-8, tile: int = 128,
        seed: int = 0) -> RankMatrix:
    """A in tiles of `tile` x `tile`, of which those away from the diagonal become U V^H where that is smaller.

    A is an array, or a function of arrays of row and column numbers together with `shape`. ||A - A~||_F <= error is computed, and
    each block's is at most `tolerance` of its norm.

    Parameters
    ----------
    A : array_like or callable
        A dense matrix, or a function of arrays of row and column numbers.

    >>> import numpy as np, trnsci.sparse as sp
    >>> x = np.sort(np.random.default_rng(1).random(512))
    >>> a = sp.blr(lambda i, j: 1 / (0.01 + abs(x[i] - x[j])) + 100.0 * (i == j), shape=(512, 512), tile=64)
    >>> solved = a.factor().solve(np.ones(512))
    >>> a.report["stored"] < 512 * 512, solved.residual_bound < 1e-4
    (True, True)
    """
    return _compressed(False, A, shape, tolerance, tile, seed)


def hodlr(A: ArrayLike | Callable[[Any, Any], Any], *, shape: tuple[int, int] | None = None, tolerance: float = 1e-8, tile: int = 128,
          seed: int = 0) -> RankMatrix:
    """A square A, halved until `tile` rows are left; what lies away from the diagonal in each halving becomes U V^H.

    Parameters
    ----------
    A : array_like or callable
        A dense matrix, or a function of arrays of row and column numbers.
    """
    return _compressed(True, A, shape, tolerance, tile, seed)
