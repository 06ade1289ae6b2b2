"""Block-sparse attention, forward and backward."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _trnsci
from ._core import Array, ExecutorLike
from ._sparse_matrix import BSRMatrix, CSRMatrix, Sparse, native
from ._trnsci import AttentionMask


def attention_mask(allowed: Any, *, queries: int | None = None, keys: int | None = None) -> AttentionMask:
    """Which query meets which key: a sparse matrix or a boolean array with an entry for each pair, "causal" or "full".

    >>> import trnsci.sparse as sp
    >>> sp.attention_mask("causal", queries=4, keys=4).pairs
    10
    """
    if isinstance(allowed, AttentionMask):
        return allowed
    if isinstance(allowed, str):
        if allowed not in ("causal", "full") or queries is None or keys is None:
            raise ValueError("sparse.attention_mask: 'causal' or 'full', with queries= and keys=")
        made = _trnsci.attention_mask_causal if allowed == "causal" else _trnsci.attention_mask_full
        return made(queries, keys)
    if isinstance(allowed, BSRMatrix):
        ones = CSRMatrix(np.ones(allowed.n_blocks), allowed.block_col_indices, allowed.block_row_ptrs,
                         (len(allowed.block_row_ptrs) - 1, -(-allowed.shape[1] // allowed.block_size)))
        return _trnsci.attention_mask_blocks(*allowed.shape, allowed.block_size, native(ones))
    if isinstance(allowed, (np.ndarray, list)):
        allowed = CSRMatrix.from_dense(np.asarray(allowed, dtype=np.float64))
    return _trnsci.attention_mask(native(allowed))


def _heads(x: Any, flat: bool) -> Any:
    return x[None] if flat else x


def attention(q: ArrayLike | Array, k: ArrayLike | Array, v: ArrayLike | Array, mask: AttentionMask | Sparse, *, scale: float = 0.0,
              return_log_sums: bool = False, precision: str | None = None, executor: ExecutorLike = None,
              return_accuracy: bool = False) -> Any:
    """softmax(scale Q K^T over the allowed pairs) V. q (heads, queries, d), k and v (kv_heads, keys, ...); rank 2: one head.

    scale 0 is 1/sqrt(d). return_log_sums adds the log of each query's sum, which attention_backward needs.

    Parameters
    ----------
    k : array_like or Array
        Keys, (kv_heads, keys, d) or (keys, d).

    Returns
    -------
    ndarray or Array, or a tuple
        The output, of the shape of q with the width of v; with return_log_sums also the logarithms.

    >>> import numpy as np, trnsci.sparse as sp
    >>> v = np.array([[1.0], [3.0]])
    >>> sp.attention(np.zeros((2, 4)), np.zeros((2, 4)), v, sp.attention_mask("causal", queries=2, keys=2))
    array([[1.],
           [2.]])
    """
    flat = np.ndim(q) == 2 if not isinstance(q, Array) else False
    if not isinstance(q, Array):
        q, k, v = (_heads(np.ascontiguousarray(x), flat) for x in (q, k, v))
    o, sums, accuracy = _trnsci.attention(attention_mask(mask), q, k, v, scale, precision, executor)
    if flat:
        o, sums = o[0], sums[0]
    result = (o, sums) if return_log_sums else o
    return (result, accuracy) if return_accuracy else result


def attention_backward(q: ArrayLike | Array, k: ArrayLike | Array, v: ArrayLike | Array, o: Any, log_sums: Any, d_o: Any,
                       mask: AttentionMask | Sparse, *, scale: float = 0.0, precision: str | None = None,
                       executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """The gradients (d_q, d_k, d_v) of a function whose gradient by the output is d_o.

    Parameters
    ----------
    k : array_like or Array
        Keys, (kv_heads, keys, d) or (keys, d).

    Returns
    -------
    tuple of arrays
        (d_q, d_k, d_v).
    """
    flat = np.ndim(q) == 2 if not isinstance(q, Array) else False
    given = (q, k, v, o, log_sums, d_o)
    if not isinstance(q, Array):
        given = tuple(_heads(np.ascontiguousarray(x), flat) for x in given)
    *gradients, accuracy = _trnsci.attention_backward(attention_mask(mask), *given, scale, precision, executor)
    result = tuple(g[0] for g in gradients) if flat else tuple(gradients)
    return (result, accuracy) if return_accuracy else result


def block_sparse_attention_tiled(Q: ArrayLike, K: ArrayLike, V: ArrayLike, mask_bsr: Any, scale: float | None = None, **more: Any) -> Any:
    """The Python trnsparse's name of attention, where scale is honoured."""
    return attention(Q, K, V, mask_bsr, scale=0.0 if scale is None else scale, **more)
