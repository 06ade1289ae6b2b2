"""Products of 8-bit floats with scales, and of microscaling (MX) matrices."""
from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from . import _trnsci
from ._core import Accuracy, Array, ExecutorLike
from ._inputs import as_float32
from ._trnsci import MxMatrix

Float8 = Literal["float8_e4m3", "float8_e5m2", "float8_e4m3fn"]
MxFormat = Literal["float8_e4m3fn", "float8_e5m2", "float4_e2m1fn"]
Stored = Literal["float32", "float16"]


@functools.cache
def _values(format: str) -> NDArray[np.float32]:
    """The number that each of the 256 codes stands for."""
    code = np.arange(256)
    bits = 2 if format == "float8_e5m2" else 3
    bias = 15 if bits == 2 else 7
    exponent, fraction = code >> bits & (2**(7 - bits) - 1), code & (2**bits - 1)
    magnitude = np.where(exponent == 0, np.ldexp(fraction.astype(float), 1 - bias - bits),
                         np.ldexp(1 + fraction / 2**bits, exponent - bias))
    top = exponent == 2**(7 - bits) - 1
    if format == "float8_e4m3fn":  # no infinities: all ones is NaN, the rest are numbers
        magnitude = np.where(top & (fraction == 7), np.nan, magnitude)
    else:
        magnitude = np.where(top, np.where(fraction == 0, np.inf, np.nan), magnitude)
    return np.where(code < 128, magnitude, -magnitude).astype(np.float32)


@dataclass(frozen=True)
class Float8Matrix:
    """A matrix of 8-bit floats with scales, as `quantize` makes it and `scaled_gemm` takes it.

    `codes` are its bits as uint8, `scale` float32 with 1 x 1 numbers, one in each row, or one for each 128 neighbours of a row. With
    `transposed` the matrix is the transpose of what they describe. `.T` turns it without a copy.
    """

    codes: Any
    scale: Any
    format: str
    transposed: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.codes.shape
        return (columns, rows) if self.transposed else (rows, columns)

    @property
    def T(self) -> Float8Matrix:
        return Float8Matrix(self.codes, self.scale, self.format, not self.transposed)

    def numpy(self) -> NDArray[np.float32]:
        """The values, codes times scales."""
        codes, scale = np.asarray(self.codes), np.asarray(self.scale)
        wide = np.repeat(scale, 128, axis=1)[:, :codes.shape[1]] if scale.shape[1] > 1 else scale
        values: NDArray[np.float32] = _values(self.format)[codes] * wide
        return values.T if self.transposed else values

    def __repr__(self) -> str:
        return f"Float8Matrix(shape={self.shape}, format='{self.format}', scales={tuple(self.scale.shape)})"


def quantize(x: Any, format: Float8 = "float8_e4m3", *, scales: Literal["matrix", "rows", "blocks"] = "rows", axis: int = 1,
             executor: ExecutorLike = None) -> Float8Matrix:
    """x, float32, in 8-bit floats and scales that are powers of two, rounded to nearest.

    `scales` is one for the matrix, one for each row, or one for each 128 neighbours of a row; with axis=0 rows are columns. In a
    product A B they have to lie along the inner index: axis=1 for A, axis=0 for B.
    |x - scale q| <= max(u |x|, scale eta / 2), u = 2^-4, eta = 2^-9 for both e4m3, u = 2^-3, eta = 2^-16 for e5m2.

    Parameters
    ----------
    x : array_like or Array
        The matrix, float32.
    format : str
        "float8_e4m3", "float8_e5m2" or "float8_e4m3fn".

    >>> import numpy as np, trnsci
    >>> q = trnsci.blas.quantize(np.array([[1.0, 300.0], [0.1, -2.0]], np.float32))
    >>> q.numpy().tolist()
    [[1.0, 288.0], [0.1015625, -2.0]]
    """
    if axis not in (0, 1, -1, -2):
        raise ValueError(f"blas.quantize: axis is {axis}; it must be 0 or 1")
    turn = axis in (0, -2)
    codes, scale = _trnsci.quantize(as_float32(x, "blas.quantize", "x"), format, scales, turn, executor)
    return Float8Matrix(codes, scale, format, turn)


@overload
def scaled_gemm(A: Float8Matrix, B: Float8Matrix, alpha: float = ..., beta: float = ..., C: Any = ..., *, dtype: Stored = ...,
                executor: ExecutorLike = ..., return_accuracy: Literal[False] = ...) -> Any: ...
@overload
def scaled_gemm(A: Float8Matrix, B: Float8Matrix, alpha: float = ..., beta: float = ..., C: Any = ..., *, dtype: Stored = ...,
                executor: ExecutorLike = ..., return_accuracy: Literal[True]) -> tuple[Any, Accuracy]: ...
def scaled_gemm(A: Float8Matrix, B: Float8Matrix, alpha: float = 1.0, beta: float = 0.0, C: Any = None, *, dtype: Stored = "float32",
                executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """alpha A B + beta C of matrices made by `quantize`; sums are float32, the result float32 or float16.

    The same bits on every executor. Devices: trn2 and trn3; float8_e4m3fn trn3 alone.

    Parameters
    ----------
    A : Float8Matrix
        The left matrix.
    B : Float8Matrix
        The right matrix.
    dtype : {"float32", "float16"}
        The type of the result.

    >>> import numpy as np, trnsci
    >>> from trnsci.blas import quantize, scaled_gemm
    >>> x = np.random.default_rng(1).standard_normal((64, 256)).astype(np.float32)
    >>> c = scaled_gemm(quantize(x), quantize(x.T, axis=0))
    >>> bool(np.abs(c - x @ x.T).max() < 0.05 * (np.abs(x) @ np.abs(x.T)).max())
    True
    """
    for name, m in (("A", A), ("B", B)):
        if not isinstance(m, Float8Matrix):
            raise TypeError(f"blas.scaled_gemm: {name} is a {type(m).__name__}; make it with trnsci.blas.quantize")
        if m.scale.shape != (1, 1) and m.transposed != (name == "B"):
            raise ValueError(f"blas.scaled_gemm: the scales of {name} do not lie along the inner index; quantize it with axis={int(name == 'A')}")
    if A.shape[1] != B.shape[0]:
        raise ValueError(f"blas.scaled_gemm: A has shape {A.shape} and B {B.shape}; A's columns are B's rows")
    return _trnsci.scaled_gemm(alpha, A.codes, A.scale, A.format, A.transposed, B.codes, B.scale, B.format, B.transposed, beta, C,
                               dtype, executor, return_accuracy)


def mx_quantize(x: Any, format: MxFormat = "float8_e4m3fn", *, executor: ExecutorLike = None) -> MxMatrix:
    """x as an MX matrix: 8-bit or 4-bit floats with one power of two for each 32 neighbours of a row.

    float16 is taken as it is; float32 of NumPy's is rounded to bfloat16 first. Devices: trn3, 8-bit formats; 4-bit matrices are made
    on the host and copied with `.to(executor)`.

    Parameters
    ----------
    x : array_like or Array
        The matrix.

    >>> import numpy as np, trnsci
    >>> m = trnsci.blas.mx_quantize(np.array([[1.0, 2.5, -3.0]], np.float16), "float4_e2m1fn")
    >>> m, m.numpy().tolist()
    (MxMatrix(shape=(1, 3), format='float4_e2m1fn', executor='host'), [[1.0, 2.0, -3.0]])
    """
    given = x if isinstance(x, Array) or getattr(x, "dtype", None) == np.float16 else as_float32(x, "blas.mx_quantize", "x")
    return _trnsci.mx_quantize(given, format, executor)


def mx_matrix(codes: Any, scales: Any, format: MxFormat, *, executor: ExecutorLike = None) -> MxMatrix:
    """An MX matrix from its bits: a byte for each value, and for each 32 of a row the exponent plus 127 (255 is NaN).

    >>> import trnsci
    >>> trnsci.blas.mx_matrix([[0x38]], [[128]], "float8_e4m3fn").numpy()
    array([[2.]], dtype=float32)
    """
    return _trnsci.mx_from_codes(np.asarray(codes, np.uint8), np.asarray(scales, np.uint8), format, executor)


def mx_gemm(A: MxMatrix, B: MxMatrix, alpha: float = 1.0, beta: float = 0.0, C: Any = None, *, dtype: Stored = "float32",
            return_accuracy: bool = False) -> Any:
    """alpha A B^T + beta C, on the executor where A and B lie; groups of both run along the inner index.

    Parameters
    ----------
    A : MxMatrix
        The left matrix.
    B : MxMatrix
        The right matrix, transposed.
    dtype : {"float32", "float16"}
        The type of the result.

    >>> import numpy as np, trnsci
    >>> a = trnsci.blas.mx_quantize(np.eye(4, 32, dtype=np.float32))
    >>> bool((trnsci.blas.mx_gemm(a, a) == np.eye(4)).all())
    True
    """
    for name, m in (("A", A), ("B", B)):
        if not isinstance(m, MxMatrix):
            raise TypeError(f"blas.mx_gemm: {name} is a {type(m).__name__}; make it with trnsci.blas.mx_quantize")
    return _trnsci.mx_gemm(alpha, A, B, beta, C, dtype, return_accuracy)


def _to(self: MxMatrix, executor: ExecutorLike) -> MxMatrix:
    return self._on(executor)


def _repr(self: MxMatrix) -> str:
    return f"MxMatrix(shape={self.shape}, format='{self.format}', executor='{self.executor.name}')"


setattr(MxMatrix, "to", _to)
setattr(MxMatrix, "__repr__", _repr)
