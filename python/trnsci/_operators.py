"""Linear operators: preconditioners and factorisations as objects that can be called, and what may stand for a matrix."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _trnsci
from ._core import Array
from ._outcome import Outcome
from ._sparse_matrix import BSRMatrix, COOMatrix, CSRMatrix, is_scipy, native, type_of
from ._trnsci import Operator


def _dtype(self: Operator) -> np.dtype[Any]:
    return np.dtype(self._type_name)


def _outcome(self: Operator) -> Outcome | None:
    values = self._outcome
    return None if values is None else Outcome(*values)


def _apply(self: Operator, x: Any, op: int) -> Any:
    if isinstance(x, Array):
        return self._apply(x, op, None)
    array = np.asarray(x, dtype=np.dtype(self._type_name))
    y = self._apply(array[:, None] if array.ndim == 1 else array, op, self.executor)
    return y[:, 0] if array.ndim == 1 else y


def _call(self: Operator, x: Any) -> Any:
    return _apply(self, x, 0)


def _adjoint(self: Operator, x: Any) -> Any:
    return _apply(self, x, 2)


def _repr(self: Operator) -> str:
    return f"<trnsci Operator {self.kind}: {self.shape[0]} x {self.shape[1]}, {self._type_name}, '{self.executor.name}'>"


for _name, _value in {
    "dtype": property(_dtype), "outcome": property(_outcome), "__call__": _call, "__matmul__": _call, "matvec": _call,
    "matmat": _call, "rmatvec": _adjoint, "rmatmat": _adjoint, "__repr__": _repr,
}.items():
    setattr(Operator, _name, _value)


def is_sparse(a: Any) -> bool:
    return isinstance(a, (CSRMatrix, COOMatrix, BSRMatrix)) or (is_scipy(a) and hasattr(a, "tocsr"))


def is_operator(a: Any) -> bool:
    """An Operator, a LinearOperator of SciPy's, or a function."""
    return isinstance(a, Operator) or hasattr(a, "matvec") or (callable(a) and not isinstance(a, (np.ndarray, Array)))


def element_type(a: Any) -> Any:
    """The element type of what stands for a matrix, or None where it does not say."""
    if is_sparse(a):
        return type_of(a)
    dtype = getattr(a, "dtype", None)
    if dtype is None and not is_operator(a):
        dtype = np.asarray(a).dtype
    if dtype is None:
        return None
    return np.dtype(np.float64) if np.dtype(dtype).kind in "biu" else np.dtype(dtype)


def operand(a: Any, dtype: Any, shape: tuple[int, int] | None = None) -> Any:
    """a as the extension takes it: a sparse matrix, an Operator, or an array of this type."""
    if a is None or isinstance(a, (Operator, Array)):
        return a
    if is_sparse(a):
        return native(a, dtype)
    if not is_operator(a):
        return np.asarray(a, dtype=dtype)
    where = tuple(getattr(a, "shape", None) or shape or ())
    if len(where) != 2:
        raise ValueError("an operator needs a shape: give an object with .shape and .matvec, such as scipy.sparse.linalg.LinearOperator")

    def columns(function: Any) -> Any:
        def apply(x: Any) -> Any:
            y = np.stack([np.asarray(function(x[:, j])).reshape(-1) for j in range(x.shape[1])], axis=1)
            if y.dtype.kind == "c" and np.dtype(dtype).kind != "c":
                raise TypeError("the operator's values are complex, the other operands are real; convert b to complex")
            return y.astype(dtype, copy=False)
        return apply

    adjoint = getattr(a, "rmatvec", None)
    return _trnsci.callback_operator(np.dtype(dtype).char, columns(getattr(a, "matvec", a)),
                                     None if adjoint is None else columns(adjoint), int(where[0]), int(where[1]))
