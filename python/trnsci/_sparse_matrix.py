"""Sparse matrices: CSRMatrix, COOMatrix and BSRMatrix, and how matrices of scipy.sparse come in and go out."""
from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _trnsci
from ._inputs import as_array

LETTERS = "fdFD"


def floating(x: Any, name: str) -> NDArray[Any]:
    """An array of float32, float64, complex64 or complex128."""
    array = as_array(x, "sparse", name)
    if array.dtype.char in LETTERS:
        return array
    if array.dtype.kind in "biu" or array.dtype == np.float16:
        return array.astype(np.float32 if array.dtype == np.float16 else np.float64)
    raise TypeError(f"sparse: {name} has type {array.dtype}; float32, float64, complex64 and complex128 are possible")


def indices32(x: Any, name: str) -> NDArray[Any]:
    array = np.asarray(x)
    if array.dtype.kind not in "iu" and array.size > 0:
        raise TypeError(f"sparse: {name} has type {array.dtype}; indices are integers")
    if array.dtype != np.int32:
        if array.size > 0 and (array.max() > 2**31 - 1 or array.min() < -(2**31)):
            raise ValueError(f"sparse: {name} has an index beyond 31 bits")
        array = array.astype(np.int32)
    return np.ascontiguousarray(array)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def is_scipy(a: Any) -> bool:
    return type(a).__module__.startswith("scipy.sparse") or any(
        c.__module__.startswith("scipy.sparse") for c in type(a).__mro__)


class CSRMatrix:
    """A row-compressed matrix: an immutable value, checked when it is made.

    Column indices rise within rows and occur once; unsorted rows are sorted, duplicates are summed. `values`,
    `col_indices` and `row_ptrs` are read-only arrays over the matrix's own memory.

    >>> import numpy as np
    >>> from trnsci.sparse import CSRMatrix
    >>> a = CSRMatrix(np.array([1.0, 2.0, 3.0]), [0, 2, 1], [0, 2, 3], (2, 3))
    >>> a.to_dense()
    array([[1., 0., 2.],
           [0., 3., 0.]])
    >>> a @ np.ones(3)
    array([3., 3.])
    """

    __slots__ = ("_csr",)
    _csr: _trnsci.Csr
    __array_priority__ = 10.1

    def __init__(self, values: ArrayLike, col_indices: ArrayLike, row_ptrs: ArrayLike, shape: tuple[int, int]) -> None:
        offsets = np.ascontiguousarray(row_ptrs)
        if offsets.dtype not in (np.int32, np.int64):
            offsets = offsets.astype(np.int64)
        self._csr = _trnsci.csr(int(shape[0]), int(shape[1]), offsets, indices32(col_indices, "col_indices"),
                                np.ascontiguousarray(floating(values, "values")), True)

    @classmethod
    def _of(cls, csr: _trnsci.Csr) -> CSRMatrix:
        made = object.__new__(cls)
        made._csr = csr
        return made

    @classmethod
    def from_dense(cls, A: ArrayLike, threshold: float = 0.0) -> CSRMatrix:
        """The elements with |a| > threshold; NaN is kept.

        Parameters
        ----------
        A : array_like
            A dense matrix.
        """
        return cls._of(_trnsci.csr_from_dense(floating(A, "A"), float(threshold)))

    @classmethod
    def from_scipy(cls, m: Any) -> CSRMatrix:
        """A matrix of scipy.sparse, checked and copied; its element type stays."""
        return cls._of(native(m))

    shape = property(lambda self: cast("tuple[int, int]", self._csr.shape))
    nnz = property(lambda self: int(self._csr.nnz))
    values = property(lambda self: read_only(self._csr.data()))
    col_indices = property(lambda self: read_only(self._csr.indices()))
    row_ptrs = property(lambda self: read_only(self._csr.indptr()))
    dtype = property(lambda self: self._csr.data().dtype)
    T = property(lambda self: CSRMatrix._of(_trnsci.csr_transpose(self._csr, False)))

    @property
    def density(self) -> float:
        rows, columns = self.shape
        return self.nnz / (rows * columns) if rows * columns else 0.0

    def to_dense(self) -> NDArray[Any]:
        """The matrix as an array of NumPy's."""
        return cast("NDArray[Any]", _trnsci.csr_to_dense(self._csr))

    def to_coo(self) -> COOMatrix:
        """The entries with their rows and columns."""
        rows = np.repeat(np.arange(self.shape[0], dtype=np.int64), np.diff(self.row_ptrs))
        return COOMatrix(self.values, rows, self.col_indices, self.shape)

    def to_scipy(self) -> Any:
        """A scipy.sparse.csr_array with arrays of its own: this matrix stays as it is, whatever becomes of them."""
        return scipy_csr(self._csr, True, copy=True)

    def __matmul__(self, other: Any) -> Any:
        from . import sparse

        if isinstance(other, (CSRMatrix, COOMatrix, BSRMatrix)) or is_scipy(other):
            return sparse.spgemm(self, other)
        return sparse.spmv(self, other) if np.ndim(other) == 1 else sparse.spmm(self, other)

    def __repr__(self) -> str:
        return f"CSRMatrix(shape={self.shape}, nnz={self.nnz}, dtype={self.dtype})"


class COOMatrix:
    """Rows, columns and values of the entries, in any order; duplicates stand for their sum.

    >>> from trnsci.sparse import COOMatrix
    >>> COOMatrix([1.0, 2.0, 3.0], [0, 1, 1], [0, 0, 0], (2, 2)).to_dense()
    array([[1., 0.],
           [5., 0.]])
    """

    def __init__(self, values: ArrayLike, row_indices: ArrayLike, col_indices: ArrayLike, shape: tuple[int, int]) -> None:
        self.values = np.ascontiguousarray(floating(values, "values"))
        self.row_indices = np.ascontiguousarray(row_indices, dtype=np.int64)
        self.col_indices = np.ascontiguousarray(col_indices, dtype=np.int64)
        self.shape = (int(shape[0]), int(shape[1]))
        if not len(self.values) == len(self.row_indices) == len(self.col_indices):
            raise ValueError("COOMatrix: values, row_indices and col_indices differ in length")

    @property
    def nnz(self) -> int:
        return len(self.values)

    def to_csr(self) -> CSRMatrix:
        """The row-compressed matrix; duplicates are summed."""
        return CSRMatrix._of(_trnsci.csr_from_coo(*self.shape, self.row_indices, self.col_indices, self.values, True))

    def to_dense(self) -> NDArray[Any]:
        """The matrix as an array of NumPy's."""
        return self.to_csr().to_dense()


class BSRMatrix:
    """Square dense blocks on a pattern of blocks; what hangs over the shape is not part of the matrix.

    >>> import numpy as np
    >>> from trnsci.sparse import BSRMatrix
    >>> a = BSRMatrix.from_dense(np.eye(5), block_size=2)
    >>> a.n_blocks, a.shape, np.array_equal(a.to_dense(), np.eye(5))
    (3, (5, 5), True)
    """

    def __init__(self, blocks: ArrayLike, block_col_indices: ArrayLike, block_row_ptrs: ArrayLike, shape: tuple[int, int],
                 block_size: int = 128) -> None:
        self.blocks = floating(blocks, "blocks")
        self.block_col_indices = indices32(block_col_indices, "block_col_indices")
        self.block_row_ptrs = np.ascontiguousarray(block_row_ptrs, dtype=np.int64)
        self.shape = (int(shape[0]), int(shape[1]))
        self.block_size = int(block_size)
        self._check()

    def _check(self) -> None:
        if self.block_size < 1 or min(self.shape) < 0:
            raise ValueError(f"BSRMatrix: blocks of order {self.block_size} in a matrix of shape {self.shape}")
        rows, columns = (-(-n // self.block_size) for n in self.shape)
        if self.blocks.shape != (len(self.block_col_indices), self.block_size, self.block_size):
            raise ValueError(f"BSRMatrix: blocks have shape {self.blocks.shape}; "
                             f"{(len(self.block_col_indices), self.block_size, self.block_size)} is needed")
        if len(self.block_row_ptrs) != rows + 1:
            raise ValueError(f"BSRMatrix: {len(self.block_row_ptrs)} row pointers for {rows} block rows")
        if self.block_row_ptrs[0] != 0 or self.block_row_ptrs[-1] != len(self.blocks) or (np.diff(self.block_row_ptrs) < 0).any():
            raise ValueError(f"BSRMatrix: block_row_ptrs must rise from 0 to the number of blocks, {len(self.blocks)}")
        outside = (self.block_col_indices < 0) | (self.block_col_indices >= columns)
        if outside.any():
            raise ValueError(f"BSRMatrix: block {outside.argmax()} has column {self.block_col_indices[outside.argmax()]}; "
                             f"there are {columns} block columns")

    @classmethod
    def from_dense(cls, A: ArrayLike, block_size: int = 128, threshold: float = 0.0) -> BSRMatrix:
        """The blocks that hold an element with |a| > threshold.

        Parameters
        ----------
        A : array_like
            A dense matrix.
        """
        dense = floating(A, "A")
        if dense.ndim != 2:
            raise ValueError(f"BSRMatrix.from_dense: A has rank {dense.ndim}; it must have rank 2")
        b = int(block_size)
        if b < 1:
            raise ValueError(f"BSRMatrix.from_dense: block_size is {b}; it must be >= 1")
        rows, columns = -(-dense.shape[0] // b), -(-dense.shape[1] // b)
        padded = np.zeros((rows * b, columns * b), dense.dtype)
        padded[:dense.shape[0], :dense.shape[1]] = dense
        tiles = padded.reshape(rows, b, columns, b).swapaxes(1, 2)
        kept = ~(np.abs(tiles) <= threshold).all(axis=(2, 3))
        offsets = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
        return cls(tiles[kept], np.nonzero(kept)[1].astype(np.int32), offsets, (dense.shape[0], dense.shape[1]), b)

    @classmethod
    def from_csr(cls, A: Any, block_size: int = 128) -> BSRMatrix:
        """The blocks that hold an entry of a sparse matrix."""
        csr = CSRMatrix._of(native(A))
        b = int(block_size)
        if b < 1:
            raise ValueError(f"BSRMatrix.from_csr: block_size is {b}; it must be >= 1")
        rows = np.repeat(np.arange(csr.shape[0], dtype=np.int64), np.diff(csr.row_ptrs))
        columns = csr.col_indices.astype(np.int64)
        wide = -(-csr.shape[1] // b)
        keys, place = np.unique(rows // b * wide + columns // b, return_inverse=True)
        blocks = np.zeros((len(keys), b, b), csr.dtype)
        blocks[place, rows % b, columns % b] = csr.values
        counts = np.bincount(keys // wide, minlength=-(-csr.shape[0] // b)) if wide else np.zeros(0, np.int64)
        return cls(blocks, (keys % wide).astype(np.int32) if wide else [], np.concatenate([[0], np.cumsum(counts)]), csr.shape, b)

    @property
    def n_blocks(self) -> int:
        return len(self.blocks)

    @property
    def nnz(self) -> int:
        return int(self.blocks.size)

    @property
    def dtype(self) -> Any:
        return self.blocks.dtype

    @property
    def density(self) -> float:
        b = self.block_size
        blocks = -(-self.shape[0] // b) * -(-self.shape[1] // b)
        return self.n_blocks / blocks if blocks else 0.0

    def to_csr(self) -> CSRMatrix:
        """The row-compressed matrix; zeros within blocks are entries."""
        self._check()  # its arrays can be written
        b, count = self.block_size, self.n_blocks
        block_row = np.repeat(np.arange(len(self.block_row_ptrs) - 1, dtype=np.int64), np.diff(self.block_row_ptrs))
        rows = np.broadcast_to((block_row * b)[:, None, None] + np.arange(b)[None, :, None], (count, b, b)).ravel()
        columns = np.broadcast_to((self.block_col_indices.astype(np.int64) * b)[:, None, None] + np.arange(b), (count, b, b)).ravel()
        inside = (rows < self.shape[0]) & (columns < self.shape[1])
        return COOMatrix(self.blocks.ravel()[inside], rows[inside], columns[inside], self.shape).to_csr()

    def to_dense(self) -> NDArray[Any]:
        """The matrix as an array of NumPy's."""
        return self.to_csr().to_dense()


Sparse = CSRMatrix | COOMatrix | BSRMatrix | Any  # the last: any array or matrix of scipy.sparse


def native(a: Any, dtype: Any = None) -> _trnsci.Csr:
    """The matrix as the extension has it, of the given element type."""
    if isinstance(a, (COOMatrix, BSRMatrix)):
        a = a.to_csr()
    if isinstance(a, CSRMatrix):
        if dtype is None or a.dtype == dtype:
            return a._csr
        return _trnsci.csr(a.shape[0], a.shape[1], a.row_ptrs, a.col_indices, a.values.astype(dtype), True)
    if not is_scipy(a):
        raise TypeError(f"sparse: a {type(a).__name__} is not a sparse matrix; see trnsci.sparse.from_dense")
    if a.format == "coo":
        data = floating(a.data, "data")
        return _trnsci.csr_from_coo(a.shape[0], a.shape[1], np.ascontiguousarray(a.row, np.int64), np.ascontiguousarray(a.col, np.int64),
                                    np.ascontiguousarray(data, dtype or data.dtype), True)
    flipped = a.format == "csc"
    m = a if flipped or a.format == "csr" else a.tocsr()
    data = floating(m.data, "data")
    if dtype is not None:
        data = data.astype(dtype, copy=False)
    shape = m.shape[::-1] if flipped else m.shape
    csr = _trnsci.csr(shape[0], shape[1], np.ascontiguousarray(m.indptr), indices32(m.indices, "indices"), np.ascontiguousarray(data), True)
    return _trnsci.csr_transpose(csr, False) if flipped else csr


def borrowed(a: Any, dtype: Any = None) -> _trnsci.Csr:
    """native(a, dtype) for the duration of one call: a csr of SciPy's is used where it lies.

    That needs rows sorted without duplicates, contiguous arrays of 32-bit indices and of this element type; the matrix must not be
    kept, nor shared with a result, because SciPy's arrays can be written.
    """
    if is_scipy(a) and a.format == "csr" and a.data.dtype.char in LETTERS and (dtype is None or a.data.dtype == dtype):
        if a.indices.dtype == np.int32 and all(x.ndim == 1 and x.flags.c_contiguous for x in (a.indptr, a.indices, a.data)):
            made = _trnsci.csr_borrowed(a.shape[0], a.shape[1], a.indptr, a.indices[:a.indptr[-1]], a.data[:a.indptr[-1]])
            if made is not None:
                return made
    return native(a, dtype)


def type_of(a: Any) -> Any:
    """The element type that the matrix has for the extension."""
    if not isinstance(a, (CSRMatrix, COOMatrix, BSRMatrix)) and not is_scipy(a):
        raise TypeError(f"sparse: a {type(a).__name__} is not a sparse matrix; see trnsci.sparse.from_dense")
    dtype = a.values.dtype if isinstance(a, COOMatrix) else a.dtype
    return np.dtype(np.float64) if dtype.kind in "biu" else dtype


def scipy_csr(csr: _trnsci.Csr, new: bool, *, copy: bool) -> Any:
    """A matrix of SciPy's: csr_array, or csr_matrix where `new` is false.

    SciPy's arrays can be written, so those of a matrix that lives on here are copied. A result that nobody else has hands over
    its own memory; only the row pointers, of which SciPy wants the type of the indices, are made anew.
    """
    import scipy.sparse  # type: ignore[import-untyped,unused-ignore]

    indptr = csr.indptr().astype(np.int32 if csr.nnz < 2**31 else np.int64)  # SciPy wants one type for both
    data, indices = csr.data(), csr.indices()
    kind = scipy.sparse.csr_array if new else scipy.sparse.csr_matrix
    made = kind((data.copy() if copy else data, indices.copy() if copy else indices, indptr), shape=csr.shape, copy=False)
    made.has_canonical_format = True
    return made


def like(model: Any, csr: _trnsci.Csr) -> Any:
    """A new result of the kind of `model`: CSRMatrix for ours, csr_array or csr_matrix for SciPy's.

    Where the model is SciPy's nothing else shares the result's memory: the operand was copied on its way in, or, borrowed for the call,
    went into an operation whose result has memory of its own.
    """
    if not is_scipy(model):
        return CSRMatrix._of(csr)
    return scipy_csr(csr, not hasattr(model, "getrow") or type(model).__name__.endswith("_array"), copy=False)
