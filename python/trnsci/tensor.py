"""Tensors: einsum, planned, with a bound; contractions; a backend of opt_einsum.

    opt_einsum.contract("ij,jk,kl->il", a, b, c, backend="trnsci.tensor")

Integers and booleans are computed as float64; float16 in float32, whose type the result then has. `backend_calls` counts
what was called, by name.
"""
from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _docs, _glossary, _trnsci
from ._block_sparse import BlockSparse, block_contract
from ._core import Accuracy, Array, ExecutorLike
from ._tensor_more import (CacheInfo, check_repeats, ContractionPlan, CpResult, DecompositionReport, PathInfo, Step, TuckerResult, ao_to_mo_transform,
                           clear_plan_cache, contract, contract_path, cp_decompose, cp_reconstruct, einsum_gradient, estimate_flops,
                           from_xla, mp2_energy, multi_einsum, permute, plan_cache_info, plan_contraction, reduce, select_precision_for_error, to_xla,
                           tt_decompose, tt_reconstruct, tt_round, tucker_decompose, tucker_reconstruct)

backend_calls: dict[str, int] = {}


def _count(name: str) -> None:
    backend_calls[name] = backend_calls.get(name, 0) + 1


def _text(arguments: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """The expression and the operands of NumPy's two notations."""
    if arguments and isinstance(arguments[0], str):
        return arguments[0], list(arguments[1:])
    letters = string.ascii_letters
    numbers: dict[Any, str] = {}

    def labels(given: Any) -> str:
        text = ""
        for label in given:
            if label is Ellipsis:
                text += "..."
            else:
                if label not in numbers:
                    if len(numbers) == len(letters):
                        raise ValueError("tensor.einsum: more than 52 labels; write the expression as text")
                    numbers[label] = ""
                text += f"\0{label!r}\0"
        return text

    pairs = len(arguments) // 2
    inputs = [labels(arguments[2 * i + 1]) for i in range(pairs)]
    output = labels(arguments[-1]) if len(arguments) % 2 else None
    for letter, label in zip(letters, sorted(numbers)):  # an implicit output has its labels in order of the numbers
        inputs = [t.replace(f"\0{label!r}\0", letter) for t in inputs]
        output = output.replace(f"\0{label!r}\0", letter) if output is not None else None
    text = ",".join(inputs) + (f"->{output}" if output is not None else "")
    return text, [arguments[2 * i] for i in range(pairs)]


def einsum(*operands: Any, alpha: complex = 1.0, beta: complex = 0.0, c: Any = None, out: NDArray[Any] | None = None,
           dtype: DTypeLike | None = None, order: str = "K", casting: str = "safe", optimize: Any = True,
           precision: str | None = None, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """alpha einsum(operands) + beta c, in NumPy's notation, text or lists of labels. The order of products is chosen here:
    `optimize` is accepted and not needed.

    >>> import numpy as np, trnsci
    >>> a = np.arange(6.0).reshape(2, 3)
    >>> trnsci.tensor.einsum("ij,kj->ki", a, a)
    array([[ 5., 14.],
           [14., 50.]])
    """
    _count("einsum")
    text, given = _text(operands)
    check_repeats("tensor.einsum", text, given)
    if order not in ("K", "C", "A"):
        raise ValueError(f"tensor.einsum: order is {order!r}; results are row-major: 'K', 'C' or 'A'")
    if dtype is not None:
        given = [x if isinstance(x, Array) else np.asarray(x).astype(dtype, casting=cast(Any, casting), copy=False) for x in given]
    elif casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise ValueError(f"tensor.einsum: casting is {casting!r}; it must be 'no', 'equiv', 'safe', 'same_kind' or 'unsafe'")
    return _trnsci.einsum(text, given, alpha, beta, c, out, precision, executor, return_accuracy)


def tensordot(a: Any, b: Any, axes: Any = 2, *, precision: str | None = None, executor: ExecutorLike = None) -> Any:
    """The sum over pairs of axes, as NumPy's tensordot.

    >>> import numpy as np, trnsci
    >>> trnsci.tensor.tensordot(np.eye(2), np.ones((2, 3)), axes=1).shape
    (2, 3)
    """
    _count("tensordot")
    rank_a, rank_b = np.ndim(a) if not isinstance(a, Array) else a.ndim, np.ndim(b) if not isinstance(b, Array) else b.ndim
    if isinstance(axes, (int, np.integer)):
        left, right = list(range(rank_a - axes, rank_a)), list(range(int(axes)))
    else:
        left, right = ([int(a)] if isinstance(a, (int, np.integer)) else list(a) for a in axes)
    if len(left) != len(right) or len(left) > min(rank_a, rank_b):
        raise ValueError(f"tensor.tensordot: axes {axes} do not pair the axes of ranks {rank_a} and {rank_b}")
    if any(not -rank <= k < rank for axes_of, rank in ((left, rank_a), (right, rank_b)) for k in axes_of):
        raise ValueError(f"tensor.tensordot: axes {axes} are not all axes of operands of ranks {rank_a} and {rank_b}")
    if rank_a + rank_b > 52:
        raise ValueError("tensor.tensordot: more than 52 axes")
    letters = iter(string.ascii_letters)
    label_a = [next(letters) for _ in range(rank_a)]
    label_b = [next(letters) for _ in range(rank_b)]
    for i, j in zip(left, right):
        label_b[j] = label_a[i]
    kept = [x for i, x in enumerate(label_a) if i not in [k % rank_a for k in left]]
    kept += [x for j, x in enumerate(label_b) if j not in [k % rank_b for k in right]]
    text = f"{''.join(label_a)},{''.join(label_b)}->{''.join(kept)}"
    return _trnsci.einsum(text, [a, b], 1.0, 0.0, None, None, precision, executor, False)


def transpose(a: Any, axes: Sequence[int] | None = None, *, executor: ExecutorLike = None) -> Any:
    """The axes in another order. Of NumPy's arrays a view; of device arrays a copy made on the device.

    >>> import numpy as np, trnsci
    >>> trnsci.tensor.transpose(np.ones((2, 3))).shape
    (3, 2)
    """
    _count("transpose")
    if not isinstance(a, Array):
        return np.transpose(a, axes)
    order = list(range(a.ndim))[::-1] if axes is None else [k + a.ndim if k < 0 else k for k in axes]
    if sorted(order) != list(range(a.ndim)):
        raise ValueError(f"tensor.transpose: axes {axes} are not an order of {a.ndim} axes")
    letters = string.ascii_letters[:a.ndim]
    return _trnsci.einsum(f"{letters}->{''.join(letters[k] for k in order)}", [a], 1.0, 0.0, None, None, None, executor, False)


class Plan:
    """An einsum planned for operands of given shapes and types: see `plan`."""

    def __init__(self, plan: Any) -> None:
        self._plan = plan

    def __call__(self, *operands: Any, return_accuracy: bool = False) -> Any:
        return self._plan(list(operands), return_accuracy)

    def explain(self) -> str:
        """One line per step."""
        return cast(str, self._plan.explain())

    @property
    def flops(self) -> float:
        return cast(float, self._plan.flops)

    @property
    def seconds(self) -> float:
        return cast(float, self._plan.seconds)

    @property
    def workspace_bytes(self) -> int:
        return cast(int, self._plan.workspace_bytes)

    @property
    def accuracy(self) -> Accuracy:
        return cast(Accuracy, self._plan.accuracy)


def plan(subscripts: str, *operands: Any, dtype: DTypeLike = np.float64, precision: str | None = None,
         executor: ExecutorLike = None, memory_bytes: int = 0) -> Plan:
    """A plan for operands like these: arrays, or shapes together with dtype.

    >>> import numpy as np, trnsci
    >>> p = trnsci.tensor.plan("ij,jk->ik", (2, 3), (3, 4))
    >>> p(np.ones((2, 3)), np.ones((3, 4)))[0, 0], p.flops
    (3.0, 48.0)
    """
    if not isinstance(subscripts, str):
        raise TypeError(f"tensor.plan: subscripts is a {type(subscripts).__name__}; it must be text, as 'ij,jk->ik'")
    shapes, types = [], []
    for x in operands:
        is_shape = isinstance(x, (tuple, list)) and all(isinstance(n, (int, np.integer)) for n in x)
        shapes.append([int(n) for n in (x if is_shape else x.shape)])
        types.append(np.dtype(dtype if is_shape else x.dtype).name)
    for shape in shapes:
        if any(n < 0 for n in shape):
            raise ValueError(f"tensor.plan: shape {shape} has a negative extent")
    check_repeats("tensor.plan", subscripts, [np.broadcast_to(np.int8(0), shape) for shape in shapes])
    return Plan(_trnsci.make_einsum_plan(subscripts, shapes, types, precision, executor, memory_bytes))


__all__ = ["BlockSparse", "CacheInfo", "ContractionPlan", "CpResult", "DecompositionReport", "PathInfo", "Plan", "Step", "TuckerResult",
           "ao_to_mo_transform", "backend_calls", "block_contract", "clear_plan_cache", "contract", "contract_path", "cp_decompose", "cp_reconstruct",
           "einsum", "einsum_gradient", "estimate_flops", "from_xla", "mp2_energy", "multi_einsum", "permute", "plan",
           "plan_cache_info", "plan_contraction", "reduce", "select_precision_for_error", "tensordot", "to_xla", "transpose", "tt_decompose", "tt_reconstruct",
           "tt_round", "tucker_decompose", "tucker_reconstruct"]

_docs.complete(globals(), _glossary.TENSOR)
