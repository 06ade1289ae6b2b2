"""The linalg functions of trnsci.array_api: factorisations, solves and spectra of matrices and of stacks of them."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import solver

Matrices = NDArray[Any]


class EighResult(NamedTuple):
    eigenvalues: Matrices
    eigenvectors: Matrices


class QRResult(NamedTuple):
    Q: Matrices
    R: Matrices


class SlogdetResult(NamedTuple):
    sign: Matrices
    logabsdet: Matrices


class SVDResult(NamedTuple):
    U: Matrices
    S: Matrices
    Vh: Matrices


def _checked(name: str, answer: Any) -> Any:
    """The result of a call with return_accuracy=True; an outcome that is not "ok" is NumPy's exception."""
    result, report = answer
    for outcome in report.ravel() if isinstance(report, np.ndarray) else [getattr(report, "outcome", report)]:
        if not outcome.ok:
            raise np.linalg.LinAlgError(f"{name}: {outcome}")
    return result


def _each(function: Callable[[Matrices], Any], x: Matrices) -> list[Matrices]:
    """The parts of function's answers for each matrix, stacked as x is."""
    answers = [function(m) for m in x.reshape(-1, *x.shape[-2:])]
    parts = zip(*(a if isinstance(a, tuple) else (a,) for a in answers))
    return [np.stack([np.asarray(p) for p in part]).reshape((*x.shape[:-2], *np.shape(part[0]))) for part in parts]


def cholesky(x: Matrices, /, *, upper: bool = False) -> Matrices:
    factor: Matrices = _checked("cholesky", solver.cholesky(x, upper, return_accuracy=True))
    return factor


def eigh(x: Matrices, /) -> EighResult:
    return EighResult(*_checked("eigh", solver.eigh(x, return_accuracy=True)))


def eigvalsh(x: Matrices, /) -> Matrices:
    return eigh(x).eigenvalues if x.ndim > 2 else _checked("eigvalsh", solver.eigvalsh(x, return_accuracy=True))


def svd(x: Matrices, /, *, full_matrices: bool = True) -> SVDResult:
    return SVDResult(*_each(lambda m: tuple(_checked("svd", solver.svd(m, full_matrices, return_accuracy=True))), x))


def svdvals(x: Matrices, /) -> Matrices:
    return _each(lambda m: _checked("svdvals", solver.svdvals(m, return_accuracy=True)), x)[0]


def qr(x: Matrices, /, *, mode: str = "reduced") -> QRResult:
    if mode not in ("reduced", "complete"):
        raise ValueError(f"qr: mode is {mode!r}; it must be 'reduced' or 'complete'")
    return QRResult(*_each(lambda m: tuple(_checked("qr", solver.qr(m, mode, return_accuracy=True))), x))


def inv(x: Matrices, /) -> Matrices:
    inverse: Matrices = _checked("inv", solver.inv(x, return_accuracy=True))
    return inverse


def solve(x1: Matrices, x2: Matrices, /) -> Matrices:
    block = x2[:, None] if x2.ndim == 1 else x2
    lead = np.broadcast_shapes(x1.shape[:-2], block.shape[:-2])
    a, b = np.broadcast_to(x1, (*lead, *x1.shape[-2:])), np.broadcast_to(block, (*lead, *block.shape[-2:]))
    x: Matrices = _checked("solve", solver.solve(a, b, return_accuracy=True))
    return x[..., 0] if x2.ndim == 1 else x


def _with_tolerance(function: Callable[[Matrices, float | None], Any], x: Matrices, rtol: Any, nothing: Any) -> Matrices:
    """function(matrix, rtol) of each matrix with its own rtol; `nothing(matrix)` where rtol >= 1 leaves no singular value."""
    if rtol is None:
        return _each(lambda m: function(m, None), x)[0]
    limits = iter(np.broadcast_to(np.asarray(rtol, float), x.shape[:-2]).ravel())

    def one(m: Matrices) -> Any:
        limit = float(next(limits))
        return nothing(m) if limit >= 1 else function(m, limit)
    return _each(one, x)[0]


def pinv(x: Matrices, /, *, rtol: Any = None) -> Matrices:
    return _with_tolerance(lambda m, r: _checked("pinv", solver.pinv(m, r, return_accuracy=True)), x, rtol, lambda m: np.zeros_like(m.T))


def matrix_rank(x: Matrices, /, *, rtol: Any = None) -> Matrices:
    return _with_tolerance(lambda m, r: np.int64(solver.matrix_rank(m, r)), x, rtol, lambda m: np.int64(0))


def slogdet(x: Matrices, /) -> SlogdetResult:
    return SlogdetResult(*(part.astype(t, copy=False) for part, t in zip(_each(lambda m: tuple(solver.slogdet(m)), x), (x.dtype, x.real.dtype))))


def det(x: Matrices, /) -> Matrices:
    return _each(lambda m: solver.det(m), x)[0].astype(x.dtype, copy=False)


def _joined(name: str, ours: Callable[..., Any], count: Callable[[str], None]) -> Callable[..., Any]:
    numpys = getattr(np.linalg, name)

    def call(x: Any, /, *rest: Any, **options: Any) -> Any:
        if any(np.asarray(a).dtype.char not in "fdFD" or np.size(a) == 0 for a in (x, *rest)) or np.ndim(x) < 2:
            return numpys(x, *rest, **options)
        count(name)
        return ours(np.asarray(x), *map(np.asarray, rest), **options)

    call.__name__ = name
    call.__doc__ = f"{name} of the array API standard, by trnsci.solver."
    return call


def functions(count: Callable[[str], None]) -> dict[str, Callable[..., Any]]:
    """The functions by name; `count` is told each call that trnsci answers."""
    ours: list[Callable[..., Any]] = [cholesky, det, eigh, eigvalsh, inv, matrix_rank, pinv, qr, slogdet, solve, svd, svdvals]
    return {f.__name__: _joined(f.__name__, f, count) for f in ours if hasattr(np.linalg, f.__name__)}
