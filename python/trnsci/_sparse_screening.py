"""Screening of two-electron integrals by Schwarz's inequality |(ij|kl)| <= Q_ij Q_kl."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _trnsci
from ._sparse_matrix import CSRMatrix, Sparse, like, native


def schwarz_bounds(diagonal_integrals: ArrayLike) -> NDArray[Any]:
    """Q = sqrt |(ij|ij)|, element by element.

    >>> import trnsci.sparse as sp
    >>> sp.schwarz_bounds([4.0, -9.0])
    array([2., 3.])
    """
    return np.asarray(np.sqrt(np.abs(np.asarray(diagonal_integrals, dtype=np.float64))))


class Quartets:
    """The quartets (pair, pair) with Q_p Q_q > threshold. Those of pair p are kets[:counts[p]]."""

    def __init__(self, bra: NDArray[Any], ket: NDArray[Any], threshold: float) -> None:
        counts, kets, kept = _trnsci.quartets(bra.ravel().tolist(), ket.ravel().tolist(), threshold)
        self.counts = np.array(counts, dtype=np.int64).reshape(bra.shape)
        self.kets = np.array(kets, dtype=np.int64)
        self.kept = int(kept)
        self.total = bra.size * ket.size

    @property
    def kept_fraction(self) -> float:
        return self.kept / self.total if self.total else 0.0

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Pairs that occur in a kept quartet: a mask of Q's shape."""
        return (self.counts > 0) if dtype is None else (self.counts > 0).astype(dtype)


def screen_quartets(Q: ArrayLike, threshold: float = 1e-10) -> Quartets:
    """Every quartet above the threshold. (A mask of pairs with Q > sqrt(threshold) would lose some.)

    >>> import numpy as np, trnsci.sparse as sp
    >>> q = sp.screen_quartets(np.array([1.0, 1e-6, 1e-12]), 1e-10)
    >>> q.kept, q.counts.tolist()
    (3, [2, 1, 0])
    """
    bounds = np.asarray(Q, dtype=np.float64)
    return Quartets(bounds, bounds, threshold)


def density_screen(Q: ArrayLike, P: ArrayLike, threshold: float = 1e-10) -> Quartets:
    """Quartets with Q_p Q_q |P_q| above the threshold.

    >>> import trnsci.sparse as sp
    >>> sp.density_screen([1.0, 1e-3], [1.0, 1e-3], 1e-5).kept
    2
    """
    bounds = np.asarray(Q, dtype=np.float64)
    return Quartets(bounds, bounds * np.abs(np.asarray(P, dtype=np.float64)), threshold)


def sparsity_stats(Q: ArrayLike, threshold: float = 1e-10) -> dict[str, float]:
    """How many quartets and pairs are kept.

    >>> import trnsci.sparse as sp
    >>> sp.sparsity_stats([1.0, 1e-12])["significant_quartets"]
    1
    """
    q = screen_quartets(Q, threshold)
    pairs = int((q.counts > 0).sum())
    return {"n_pairs": q.counts.size, "significant_pairs": pairs, "pair_fraction": pairs / q.counts.size if q.counts.size else 0.0,
            "n_quartets": q.total, "significant_quartets": q.kept, "quartet_fraction": q.kept_fraction}


def screened_spmm(A: Any, diag_integrals: ArrayLike, B: ArrayLike, threshold: float = 1e-10, **more: Any) -> Any:
    """A B with the entries of a square A whose Q_i Q_j exceeds the threshold, Q = schwarz_bounds(diag_integrals)."""
    from .sparse import spmm

    matrix: Sparse = CSRMatrix.from_dense(A) if isinstance(A, (np.ndarray, list)) else A
    kept = _trnsci.screened(native(matrix), schwarz_bounds(diag_integrals).ravel().tolist(), threshold)
    return spmm(like(matrix, kept), B, **more)
