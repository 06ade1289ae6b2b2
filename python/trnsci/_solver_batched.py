"""Stacks of matrices, (..., m, n): one call for all, as numpy.linalg takes them."""
from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import _trnsci
from ._core import Array, ExecutorLike
from ._outcome import NumericalWarning, Outcome


def is_stack(a: Any) -> bool:
    return (a.ndim if isinstance(a, (np.ndarray, Array)) else np.ndim(a)) > 2


def stacked(what: str, a: Any, b: Any, lower: bool, executor: ExecutorLike, return_accuracy: bool) -> Any:
    """The results, one array each with the leading axes of a; with return_accuracy also an array of outcomes of that shape."""
    if isinstance(a, Array):
        raise NotImplementedError(f"solver.{what}: stacks are taken of NumPy's arrays; a device array has one matrix")
    m = np.asarray(a)
    lead = m.shape[:-2]
    rhs = None
    if b is not None:
        block = np.asarray(b)
        dtype = np.result_type(m.dtype, block.dtype, np.float32)
        if block.ndim == 1 or block.ndim == m.ndim - 1 and block.shape != m.shape[:-1]:
            raise ValueError(f"solver.{what}: b has shape {block.shape}; for a stack it is {(*m.shape[:-1], 'columns')} or {m.shape[:-1]}")
        vector = block.ndim == m.ndim - 1
        block = block[..., None] if vector else block
        rhs = np.ascontiguousarray(np.broadcast_to(block, (*lead, *block.shape[-2:])), dtype=dtype).reshape(-1, *block.shape[-2:])
        m = m.astype(dtype, copy=False)
    if m.dtype.kind in "biu":
        m = m.astype(np.float64)
    results, values = _trnsci.solver_batched(what, m.reshape(-1, *m.shape[-2:]), rhs, lower, executor)
    made = [r.reshape(*lead, *r.shape[1:]) for r in results]
    if rhs is not None and vector:
        made[0] = made[0][..., 0]
    outcomes = np.empty(len(values), dtype=object)
    outcomes[:] = [Outcome(*v) for v in values]
    if not return_accuracy:
        bad = [k for k, o in enumerate(outcomes) if not o.ok]
        if bad:
            warnings.warn(f"solver.{what}: {len(bad)} of {len(values)}, the first at {bad[0]}: {outcomes[bad[0]]}; return_accuracy=True "
                          "gives all outcomes", NumericalWarning, stacklevel=4)
    return made, outcomes.reshape(lead)
