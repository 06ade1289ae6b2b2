"""BLAS: vectors, matrices, products, with the names and positional arguments of the Python trnsci's trnblas.

Every function returns a new array and leaves its operands as they are. Types are promoted as NumPy promotes; float32
stays float32. `trans` is True, False, "N", "T" or "C"; `uplo` "upper" or "lower"; `side` "left" or "right"; `diag`
"unit" or "nonunit". `precision` and `return_accuracy` are those of trnsci: for products
|C - exact|(i, j) <= accuracy.bound * (|alpha| ||a_i|| ||b_j|| + |beta c_ij|).

`axpy`, `axpby`, `scal`, `gemm`, `matmul` and `to_float16` take precision="sr" with `seed` and `step`: what is updated is float16
and stays it, computed in float32 and rounded stochastically, E[result] = the float32 value. The same bits for a seed and
a step on every executor.

`gemm` and `matmul` take precision="fp8_e4m3", "fp8_e4m3fn", "fp8_e5m2", "mxfp8_e4m3", "mxfp8_e5m2" or "mxfp4" for
float32: the operands are quantised to 8 or 4 bits with scales of rows (MX: of 32 neighbours) and multiplied; the bound
counts that, and the same bits come from every executor that has the format (trn2 and trn3, MX trn3, fp4 the host).
"""
from __future__ import annotations

from typing import Any, Literal, cast, overload

from numpy.typing import ArrayLike

from . import _docs, _glossary, _trnsci
from ._blas_scaled import Float8Matrix, mx_gemm, mx_matrix, mx_quantize, quantize, scaled_gemm
from ._core import Accuracy, Array, ExecutorLike
from ._inputs import as_float32, integer
from ._trnsci import MxMatrix

Trans = bool | Literal["N", "T", "C"]
Uplo = Literal["upper", "lower"]
Side = Literal["left", "right"]
Diag = Literal["unit", "nonunit"]
Number = float | complex
Operand = ArrayLike | Array
Result = Any  # an array of NumPy's, or a device array where the operands are


QUANTIZED = ("fp8_e4m3", "fp8_e4m3fn", "fp8_e5m2", "mxfp8_e4m3", "mxfp8_e5m2", "mxfp4")


def _words(operation: str, precision: str | None, seed: int | None, step: int, *, modes: bool = False) -> tuple[int, int] | None:
    """Seed and step of precision="sr", else None; refuses a seed that nothing would use."""
    if precision == "sr":
        return (integer(0 if seed is None else seed, operation, "seed"), integer(step, operation, "step", 0, 2**48 - 1))
    if precision is not None and not modes:
        raise ValueError(f'{operation}: precision is {precision!r}; it must be "sr" or None')
    if seed is not None or step != 0:
        raise ValueError(f'{operation}: seed and step are of precision="sr"')
    return None


def axpy(alpha: Number, x: Operand, y: Operand, *, precision: Literal["sr"] | None = None, seed: int | None = None,
         step: int = 0, executor: ExecutorLike = None) -> Result:
    """alpha x + y. precision="sr": y is float16, x float16 or float32.

    >>> import numpy as np, trnsci
    >>> trnsci.blas.axpy(2.0, np.array([1.0, 2.0]), np.array([10.0, 20.0]))
    array([12., 24.])
    >>> w = np.ones(1000, np.float16)
    >>> for step in range(64):  # updates of a quarter of a unit, all lost to nearest
    ...     w = trnsci.blas.axpy(2.0**-12, np.ones(1000, np.float32), w, precision="sr", seed=1, step=step)
    >>> bool(abs(w.astype(float).mean() - (1 + 64 * 2.0**-12)) < 5e-4)
    True
    """
    words = _words("blas.axpy", precision, seed, step)
    return _trnsci.axpy(alpha, x, y, executor) if words is None else _trnsci.narrow_axpy(alpha, x, y, *words, executor)


def axpby(alpha: Number, x: Operand, beta: Number, y: Operand, *, precision: Literal["sr"] | None = None, seed: int | None = None,
          step: int = 0, executor: ExecutorLike = None) -> Result:
    """alpha x + beta y in float16, x float16 or float32: to nearest, or with precision="sr" stochastically. The moments of an
    optimiser are such sums.

    >>> import numpy as np, trnsci
    >>> v = np.ones(1000, np.float16)
    >>> for step in range(100):  # v <- 0.9998 v + 0.0002 * 0: to nearest it never falls
    ...     v = trnsci.blas.axpby(0.0002, np.zeros(1000, np.float32), 0.9998, v, precision="sr", seed=1, step=step)
    >>> bool(abs(v.astype(float).mean() - 0.9998**100) < 1e-3)
    True
    """
    words = _words("blas.axpby", precision, seed, step)
    return _trnsci.narrow_axpby(alpha, x, beta, y, words is not None, *(words or (0, 0)), executor)


def scal(alpha: Number, x: Operand, *, precision: Literal["sr"] | None = None, seed: int | None = None, step: int = 0,
         executor: ExecutorLike = None) -> Result:
    """alpha x. precision="sr": x is float16.

    >>> import trnsci
    >>> trnsci.blas.scal(2.0, [1.0, 3.0])
    array([2., 6.])
    """
    words = _words("blas.scal", precision, seed, step)
    return _trnsci.scal(alpha, x, executor) if words is None else _trnsci.narrow_scal(alpha, x, *words, executor)


def to_float16(x: Operand, *, precision: Literal["sr"] | None = None, seed: int | None = None, step: int = 0,
               executor: ExecutorLike = None) -> Result:
    """x, which is float32, as float16: to nearest, or with precision="sr" stochastically; elements are numbered in
    row-major order. Numbers, lists and integers become float32 first; arrays of float64 are refused.

    >>> import trnsci
    >>> trnsci.blas.to_float16([1.5, 2])
    array([1.5, 2. ], dtype=float16)
    """
    words = _words("blas.to_float16", precision, seed, step)
    return _trnsci.to_float16(as_float32(x, "blas.to_float16", "x"), words is not None, *(words or (0, 0)), executor)


@overload
def dot(x: Operand, y: Operand, *, precision: str | None = ..., executor: ExecutorLike = ..., return_accuracy: Literal[False] = ...) -> Number: ...
@overload
def dot(x: Operand, y: Operand, *, precision: str | None = ..., executor: ExecutorLike = ..., return_accuracy: Literal[True]) -> tuple[Number, Accuracy]: ...
def dot(x: Any, y: Any, *, precision: str | None = None, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """sum_i x_i y_i, without conjugation. precision="exact": the exact sum, rounded once.

    >>> import numpy as np, trnsci
    >>> trnsci.blas.dot(np.array([1e16, 1.0, -1e16]), np.ones(3), precision="exact")
    1.0
    """
    return _trnsci.dot(x, y, False, precision, executor, return_accuracy)


def dotc(x: Operand, y: Operand, *, precision: str | None = None, executor: ExecutorLike = None) -> Number:
    """sum_i conj(x_i) y_i.

    >>> import trnsci
    >>> trnsci.blas.dotc([1j, 2.0], [1j, 1.0])
    (3+0j)
    """
    return cast(Number, _trnsci.dot(x, y, True, precision, executor, False))


def nrm2(x: Operand, *, precision: str | None = None, executor: ExecutorLike = None) -> float:
    """The Euclidean norm, without overflow or underflow on the way.

    >>> import trnsci
    >>> abs(trnsci.blas.nrm2([3e200, 4e200]) / 5e200 - 1) < 1e-15
    True
    """
    return cast(float, _trnsci.norm(x, False, precision, executor, False))


def asum(x: Operand, *, precision: str | None = None, executor: ExecutorLike = None) -> float:
    """sum_i |re x_i| + |im x_i|.

    >>> import trnsci
    >>> trnsci.blas.asum([1.0, -2.0])
    3.0
    """
    return cast(float, _trnsci.norm(x, True, precision, executor, False))


def iamax(x: Operand, *, executor: ExecutorLike = None) -> int:
    """The number, from 0, of the first element of largest |re| + |im|; -1 when x is empty.

    >>> import trnsci
    >>> trnsci.blas.iamax([1.0, -7.0, 3.0])
    1
    """
    return cast(int, _trnsci.extreme(x, True, executor))


def iamin(x: Operand, *, executor: ExecutorLike = None) -> int:
    """The number, from 0, of the first element of smallest |re| + |im|; -1 when x is empty.

    >>> import trnsci
    >>> trnsci.blas.iamin([1.0, -7.0, 0.5])
    2
    """
    return cast(int, _trnsci.extreme(x, False, executor))


def rot(x: Operand, y: Operand, c: float, s: Number, *, executor: ExecutorLike = None) -> tuple[Result, Result]:
    """(c x + s y, c y - conj(s) x).

    >>> import trnsci
    >>> trnsci.blas.rot([1.0], [2.0], 0.0, 1.0)
    (array([2.]), array([-1.]))
    """
    return cast("tuple[Result, Result]", _trnsci.rot(x, y, c, s, executor))


def rotg(a: Number, b: Number) -> tuple[float, Number, Number, Number]:
    """(c, s, r, z) of the rotation that takes (a, b) to (r, 0).

    >>> import trnsci
    >>> c, s, r, z = trnsci.blas.rotg(3.0, 4.0)
    >>> c, s, r
    (0.6, 0.8, 5.0)
    """
    return cast("tuple[float, Number, Number, Number]", _trnsci.rotg(a, b))


def gemv(alpha: Number, A: Operand, x: Operand, beta: Number = 0, y: Operand | None = None, trans: Trans = False, *,
         precision: str | None = None, executor: ExecutorLike = None, return_accuracy: bool = False) -> Result:
    """alpha op(A) x + beta y.

    >>> import trnsci
    >>> a = [[1.0, 2.0], [3.0, 4.0]]
    >>> trnsci.blas.gemv(1.0, a, [1.0, 1.0]), trnsci.blas.gemv(1.0, a, [1.0, 1.0], trans=True)
    (array([3., 7.]), array([4., 6.]))
    """
    return _trnsci.gemv(alpha, A, x, beta, y, trans, precision, executor, return_accuracy)


def symv(alpha: Number, A: Operand, x: Operand, beta: Number = 0, y: Operand | None = None, uplo: Uplo = "upper", *,
         executor: ExecutorLike = None) -> Result:
    """alpha A x + beta y of a symmetric A, of which one triangle is read.

    >>> import trnsci
    >>> trnsci.blas.symv(1.0, [[1.0, 2.0], [99.0, 3.0]], [1.0, 1.0])
    array([3., 5.])
    """
    return _trnsci.symv(False, alpha, A, x, beta, y, uplo, executor)


def hemv(alpha: Number, A: Operand, x: Operand, beta: Number = 0, y: Operand | None = None, uplo: Uplo = "upper", *,
         executor: ExecutorLike = None) -> Result:
    """alpha A x + beta y of a Hermitian A, of which one triangle is read."""
    return _trnsci.symv(True, alpha, A, x, beta, y, uplo, executor)


def trmv(A: Operand, x: Operand, uplo: Uplo = "upper", trans: Trans = False, diag: Diag = "nonunit", *,
         executor: ExecutorLike = None) -> Result:
    """op(A) x of a triangular A.

    >>> import trnsci
    >>> trnsci.blas.trmv([[1.0, 2.0], [99.0, 3.0]], [1.0, 1.0])
    array([3., 3.])
    """
    return _trnsci.triangular_vector(False, A, x, uplo, trans, diag, executor)


def trsv(A: Operand, x: Operand, uplo: Uplo = "upper", trans: Trans = False, diag: Diag = "nonunit", *,
         executor: ExecutorLike = None) -> Result:
    """The solution of op(A) y = x with a triangular A.

    >>> import trnsci
    >>> trnsci.blas.trsv([[1.0, 2.0], [99.0, 4.0]], [5.0, 8.0])
    array([1., 2.])
    """
    return _trnsci.triangular_vector(True, A, x, uplo, trans, diag, executor)


def ger(alpha: Number, x: Operand, y: Operand, A: Operand | None = None, *, executor: ExecutorLike = None) -> Result:
    """alpha x y^T + A.

    >>> import trnsci
    >>> trnsci.blas.ger(1.0, [1.0, 2.0], [3.0, 4.0])
    array([[3., 4.],
           [6., 8.]])
    """
    return _trnsci.ger(False, alpha, x, y, A, executor)


def gerc(alpha: Number, x: Operand, y: Operand, A: Operand | None = None, *, executor: ExecutorLike = None) -> Result:
    """alpha x y^H + A."""
    return _trnsci.ger(True, alpha, x, y, A, executor)


def syr(alpha: Number, x: Operand, A: Operand | None = None, uplo: Uplo = "upper", *, executor: ExecutorLike = None) -> Result:
    """alpha x x^T + A, one triangle; the other is A's, without A zero.

    >>> import trnsci
    >>> trnsci.blas.syr(1.0, [1.0, 2.0])
    array([[1., 2.],
           [0., 4.]])
    """
    return _trnsci.syr(False, alpha, x, None, A, uplo, executor)


def her(alpha: float, x: Operand, A: Operand | None = None, uplo: Uplo = "upper", *, executor: ExecutorLike = None) -> Result:
    """alpha x x^H + A, one triangle."""
    return _trnsci.syr(True, alpha, x, None, A, uplo, executor)


def syr2(alpha: Number, x: Operand, y: Operand, A: Operand | None = None, uplo: Uplo = "upper", *, executor: ExecutorLike = None) -> Result:
    """alpha (x y^T + y x^T) + A, one triangle."""
    return _trnsci.syr(False, alpha, x, y, A, uplo, executor)


def her2(alpha: Number, x: Operand, y: Operand, A: Operand | None = None, uplo: Uplo = "upper", *, executor: ExecutorLike = None) -> Result:
    """alpha x y^H + conj(alpha) y x^H + A, one triangle."""
    return _trnsci.syr(True, alpha, x, y, A, uplo, executor)


def gemm(alpha: Number, A: Operand, B: Operand, beta: Number = 0, C: Operand | None = None, transA: Trans = False,
         transB: Trans = False, *, precision: str | None = None, seed: int | None = None, step: int = 0,
         executor: ExecutorLike = None, return_accuracy: bool = False) -> Result:
    """alpha op(A) op(B) + beta C. precision="sr": all of them are float16; "fp8_e4m3" and its like: float32.

    >>> import numpy as np, trnsci
    >>> a = np.arange(6.0).reshape(2, 3)
    >>> trnsci.blas.gemm(1.0, a, a, transB=True)
    array([[ 5., 14.],
           [14., 50.]])
    >>> c, accuracy = trnsci.blas.gemm(1.0, a, a.T, precision="exact", executor="sim:trn2", return_accuracy=True)
    >>> c.tolist(), accuracy.mode
    ([[5.0, 14.0], [14.0, 50.0]], 'exact')
    """
    words = _words("blas.gemm", precision, seed, step, modes=True)
    if precision in QUANTIZED:
        return _trnsci.quantized_gemm(alpha, A, B, beta, C, transA, transB, precision, executor, return_accuracy)
    if words is not None:
        return _trnsci.narrow_gemm(alpha, A, B, beta, C, transA, transB, *words, executor, return_accuracy)
    return _trnsci.gemm(alpha, A, B, beta, C, transA, transB, precision, executor, return_accuracy)


def matmul(A: Operand, B: Operand, *, precision: str | None = None, seed: int | None = None, step: int = 0,
           executor: ExecutorLike = None) -> Result:
    """A B. precision="sr": both are float16; "fp8_e4m3" and its like: both are float32.

    >>> import numpy as np, trnsci
    >>> rng = np.random.default_rng(1)
    >>> a, b = (rng.standard_normal((64, 64), dtype=np.float32) for _ in range(2))
    >>> c = trnsci.blas.matmul(a, b, precision="fp8_e4m3")
    >>> bool(np.linalg.norm(c - a @ b) < 0.05 * np.linalg.norm(a @ b))
    True
    """
    return gemm(1.0, A, B, precision=precision, seed=seed, step=step, executor=executor)


def batched_gemm(alpha: Number, A: Operand, B: Operand, beta: Number = 0, C: Operand | None = None, transA: Trans = False,
                 transB: Trans = False, *, precision: str | None = None, executor: ExecutorLike = None,
                 return_accuracy: bool = False) -> Result:
    """alpha op(A_i) op(B_i) + beta C_i for i along the first axis: one program on a device.

    >>> import numpy as np, trnsci
    >>> a = np.stack([np.eye(2), 2 * np.eye(2)])
    >>> trnsci.blas.batched_gemm(1.0, a, a)[1]
    array([[4., 0.],
           [0., 4.]])
    """
    return _trnsci.batched_gemm(alpha, A, B, beta, C, transA, transB, precision, executor, return_accuracy)


def symm(alpha: Number, A: Operand, B: Operand, beta: Number = 0, C: Operand | None = None, side: Side = "left",
         uplo: Uplo = "upper", *, precision: str | None = None, executor: ExecutorLike = None,
         return_accuracy: bool = False) -> Result:
    """alpha A B + beta C (side "right": B A) of a symmetric A, of which one triangle is read.

    >>> import numpy as np, trnsci
    >>> trnsci.blas.symm(1.0, [[1.0, 2.0], [99.0, 3.0]], np.eye(2))
    array([[1., 2.],
           [2., 3.]])
    """
    return _trnsci.symm(False, alpha, A, B, beta, C, side, uplo, precision, executor, return_accuracy)


def hemm(alpha: Number, A: Operand, B: Operand, beta: Number = 0, C: Operand | None = None, side: Side = "left",
         uplo: Uplo = "upper", *, precision: str | None = None, executor: ExecutorLike = None,
         return_accuracy: bool = False) -> Result:
    """alpha A B + beta C (side "right": B A) of a Hermitian A, of which one triangle is read."""
    return _trnsci.symm(True, alpha, A, B, beta, C, side, uplo, precision, executor, return_accuracy)


def syrk(alpha: Number, A: Operand, beta: Number = 0, C: Operand | None = None, trans: Trans = False,
         uplo: Uplo = "upper", *, precision: str | None = None, executor: ExecutorLike = None,
         return_accuracy: bool = False) -> Result:
    """One triangle of alpha op(A) op(A)^T + beta C; the other is C's, without C zero.

    >>> import trnsci
    >>> trnsci.blas.syrk(1.0, [[1.0, 2.0], [3.0, 4.0]], uplo="lower")
    array([[ 5.,  0.],
           [11., 25.]])
    """
    return _trnsci.syrk(False, alpha, A, None, beta, C, trans, uplo, precision, executor, return_accuracy)


def herk(alpha: float, A: Operand, beta: float = 0, C: Operand | None = None, trans: Trans = False,
         uplo: Uplo = "upper", *, precision: str | None = None, executor: ExecutorLike = None,
         return_accuracy: bool = False) -> Result:
    """One triangle of alpha op(A) op(A)^H + beta C."""
    return _trnsci.syrk(True, alpha, A, None, beta, C, trans, uplo, precision, executor, return_accuracy)


def syr2k(alpha: Number, A: Operand, B: Operand, beta: Number = 0, C: Operand | None = None, trans: Trans = False,
          uplo: Uplo = "upper", *, precision: str | None = None, executor: ExecutorLike = None,
          return_accuracy: bool = False) -> Result:
    """One triangle of alpha (op(A) op(B)^T + op(B) op(A)^T) + beta C."""
    return _trnsci.syrk(False, alpha, A, B, beta, C, trans, uplo, precision, executor, return_accuracy)


def her2k(alpha: Number, A: Operand, B: Operand, beta: float = 0, C: Operand | None = None, trans: Trans = False,
          uplo: Uplo = "upper", *, precision: str | None = None, executor: ExecutorLike = None,
          return_accuracy: bool = False) -> Result:
    """One triangle of alpha op(A) op(B)^H + conj(alpha) op(B) op(A)^H + beta C."""
    return _trnsci.syrk(True, alpha, A, B, beta, C, trans, uplo, precision, executor, return_accuracy)


def trsm(alpha: Number, A: Operand, B: Operand, side: Side = "left", uplo: Uplo = "upper", trans: Trans = False,
         diag: Diag = "nonunit", *, precision: str | None = None, executor: ExecutorLike = None,
         return_accuracy: bool = False) -> Result:
    """The solution of op(A) X = alpha B (side "right": X op(A) = alpha B) with a triangular A.

    >>> import numpy as np, trnsci
    >>> trnsci.blas.trsm(1.0, [[2.0, 0.0], [1.0, 1.0]], np.eye(2), uplo="lower")
    array([[ 0.5,  0. ],
           [-0.5,  1. ]])
    """
    return _trnsci.triangular_matrix(True, alpha, A, B, side, uplo, trans, diag, precision, executor, return_accuracy)


def trmm(alpha: Number, A: Operand, B: Operand, side: Side = "left", uplo: Uplo = "upper", trans: Trans = False,
         diag: Diag = "nonunit", *, precision: str | None = None, executor: ExecutorLike = None,
         return_accuracy: bool = False) -> Result:
    """alpha op(A) B (side "right": B op(A)) with a triangular A.

    >>> import numpy as np, trnsci
    >>> trnsci.blas.trmm(1.0, [[2.0, 1.0], [99.0, 1.0]], np.eye(2))
    array([[2., 1.],
           [0., 1.]])
    """
    return _trnsci.triangular_matrix(False, alpha, A, B, side, uplo, trans, diag, precision, executor, return_accuracy)


def geam(alpha: Number, A: Operand, beta: Number, B: Operand, transA: Trans = False, transB: Trans = False, *,
         executor: ExecutorLike = None) -> Result:
    """alpha op(A) + beta op(B).

    >>> import numpy as np, trnsci
    >>> trnsci.blas.geam(1.0, np.array([[1.0, 2.0], [3.0, 4.0]]), 1.0, np.eye(2), transA=True)
    array([[2., 3.],
           [2., 5.]])
    """
    return _trnsci.geam(alpha, A, beta, B, transA, transB, executor)


def dgmm(side: Side, A: Operand, x: Operand, *, executor: ExecutorLike = None) -> Result:
    """diag(x) A for side "left", A diag(x) for "right".

    >>> import numpy as np, trnsci
    >>> trnsci.blas.dgmm("left", np.ones((2, 2)), [1.0, 2.0])
    array([[1., 1.],
           [2., 2.]])
    """
    return _trnsci.dgmm(side, A, x, executor)


__all__ = ["Float8Matrix", "MxMatrix", "asum", "axpby", "axpy", "batched_gemm", "dgmm", "dot", "dotc", "geam", "gemm", "gemv", "ger", "gerc",
           "hemm", "hemv", "her", "her2", "her2k", "herk", "iamax", "iamin", "matmul", "mx_gemm", "mx_matrix", "mx_quantize",
           "nrm2", "quantize", "rot", "rotg", "scal", "scaled_gemm", "symm", "symv", "syr", "syr2", "syr2k", "syrk",
           "to_float16", "trmm", "trmv", "trsm", "trsv"]

_docs.complete(globals(), _glossary.BLAS)
