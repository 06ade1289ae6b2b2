"""More of trnsci.tensor: contractions with paths and memory limits, gradients, decompositions, integral transformations."""
from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _trnsci
from ._core import Accuracy, Array, ExecutorLike, asarray, asnumpy
from ._outcome import NumericalWarning

_METHODS = {True: "auto", "optimal": "dp", "auto-hq": "auto", "branch-all": "branch-and-bound", "random-greedy-128": "random-greedy"}


@functools.lru_cache(maxsize=256)
def _repeating(text: str) -> tuple[tuple[int, str, str], ...]:
    """The operands that have a label twice: (number, labels before the ellipsis, labels behind it)."""
    found = []
    for number, labels in enumerate(text.split("->")[0].replace(" ", "").split(",")):
        head, _, tail = labels.partition("...")
        if len(set(head + tail)) < len(head + tail):
            found.append((number, head, tail))
    return tuple(found)


def check_repeats(operation: str, text: str, operands: Sequence[Any]) -> None:
    """An axis of extent 1 stands for any extent beside another operand, but not within one: NumPy's rule."""
    for number, head, tail in _repeating(text):
        if number >= len(operands):
            break
        x = operands[number]
        shape = x.shape if hasattr(x, "shape") else np.shape(x)
        extents: dict[str, int] = {}
        for label, extent in [*zip(head, shape), *zip(reversed(tail), reversed(shape))]:
            if extents.setdefault(label, extent) != extent:
                raise ValueError(f"{operation}: label '{label}' of operand {number} has extents {extents[label]} and {extent}")


def _operands(subscripts: Any, operands: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """Text and arrays of numpy.einsum's two forms: a string, or operands and lists of labels in turn."""
    if isinstance(subscripts, str):
        text, arrays = subscripts, list(operands)
    else:
        given = [subscripts, *operands]
        pairs = len(given) // 2
        arrays = given[0:2 * pairs:2]
        lists = list(given[1:2 * pairs:2]) + given[2 * pairs:]

        def letters(labels: Any) -> str:
            return "".join("..." if a is Ellipsis else chr((ord("a") if a < 26 else ord("A") - 26 if a < 52 else 192 - 52) + a) for a in labels)

        text = ",".join(letters(labels) for labels in lists[:pairs]) + ("->" + letters(lists[pairs]) if len(lists) > pairs else "")
    device = [isinstance(a, Array) for a in arrays]
    if any(device):
        if not all(device):
            raise ValueError("tensor.contract: device arrays beside arrays of NumPy; copy some with trnsci.asarray or .numpy()")
        check_repeats("tensor", text, arrays)
        return text, arrays
    arrays = [np.asarray(a) for a in arrays]
    check_repeats("tensor", text, arrays)
    whole = [a.dtype.kind in "biu" for a in arrays]
    return text, [a.astype(np.float64) if w else a for a, w in zip(arrays, whole)]


def _method(optimize: Any) -> str:
    if optimize is False or optimize is None:
        return "auto"
    if isinstance(optimize, (bool, str)):
        return str(_METHODS.get(optimize, optimize))
    raise NotImplementedError("tensor: optimize= takes the name of a method; a fixed path is not taken")


def _target(precision: str | None, target_forward_error: float | None) -> str | None:
    if target_forward_error is None:
        return precision
    if precision is not None:
        raise ValueError("tensor.contract: precision and target_forward_error together")
    return f"target={float(target_forward_error)!r}"


def contract(subscripts: Any, *operands: Any, alpha: complex = 1.0, beta: complex = 0.0, c: Any = None, dtype: Any = None,
           optimize: Any = True, minimize: str = "flops", effort: str = "normal", memory_limit: int = 0,
           precision: str | None = None, target_forward_error: float | None = None, executor: ExecutorLike = None,
           componentwise: bool = False, return_accuracy: bool = False) -> Any:
    """alpha einsum(subscripts, *operands) + beta c, as a new array, with opt_einsum's options.

    `optimize` names how the path is found ("auto", "greedy", "dp", "random-greedy", "partition", "anneal", ...), memory_limit is
    in bytes of intermediates and is kept by slicing. `componentwise` adds a bound of each element's error.

    >>> import numpy as np, trnsci.tensor as tt
    >>> tt.contract("ij,jk->ki", np.array([[1.0, 2.0]]), np.array([[1.0], [1.0]]))
    array([[3.]])
    >>> y, accuracy = tt.contract("ij,jk", np.ones((2, 8)), np.ones((8, 2)), return_accuracy=True)
    >>> accuracy.bound < 1e-14
    True
    """
    text, arrays = _operands(subscripts, operands)
    if dtype is not None:
        if any(isinstance(a, Array) for a in arrays):
            raise ValueError("tensor.contract: dtype= is for NumPy arrays; types are not converted on a device")
        arrays = [a.astype(np.dtype(dtype), copy=False) for a in arrays]
    if beta == 0:
        c = None
    elif c is None:
        raise ValueError("tensor.contract: beta is not 0, so c is needed")
    elif not isinstance(c, Array):
        c = np.asarray(c, dtype=np.result_type(*arrays))
    y, accuracy, bounds = _trnsci.tensor_einsum(text, arrays, complex(alpha), complex(beta), c, _method(optimize), minimize, effort,
                                                memory_limit, _target(precision, target_forward_error), componentwise, executor)
    result = (y, bounds) if componentwise else y
    return (result, accuracy) if return_accuracy else result


def multi_einsum(*contractions: Any, precision: str | None = None, target_forward_error: float | None = None,
                 executor: ExecutorLike = None) -> list[Any]:
    """Several einsums, each (subscripts, operand, ...); plans of equal shapes are made once.

    Returns
    -------
    list of arrays
        One result for each.

    >>> import numpy as np, trnsci.tensor as tt
    >>> [y.tolist() for y in tt.multi_einsum(("i,i->", [1.0, 2.0], [1.0, 1.0]), ("ij->ji", np.ones((1, 2))))]
    [3.0, [[1.0], [1.0]]]
    """
    return [contract(*c, precision=precision, target_forward_error=target_forward_error, executor=executor) for c in contractions]


def einsum_gradient(subscripts: str, *operands: Any, adjoint: Any, argument: int = 0, precision: str | None = None,
                    executor: ExecutorLike = None) -> Any:
    """The gradient, by operand `argument`, of a real function whose gradient by the einsum's result is `adjoint`.

    >>> import numpy as np, trnsci.tensor as tt
    >>> tt.einsum_gradient("i,i->", np.array([1.0, 2.0]), np.array([3.0, 4.0]), adjoint=np.float64(1))
    array([3., 4.])
    """
    text, arrays = _operands(subscripts, operands)
    return _trnsci.tensor_gradient(text, arrays, argument, adjoint, precision, executor)


def select_precision_for_error(dtype: Any, K: int, target: float, *, executor: ExecutorLike = None) -> str:
    """The word of the cheapest mode in which a sum of K products of this type keeps the error, relative to the norms.

    >>> import trnsci.tensor as tt
    >>> tt.select_precision_for_error("float32", 512, 1e-2, executor="sim:trn2")
    'bf16'
    """
    from . import blas

    terms = int(K)
    if terms < 1:
        raise ValueError(f"tensor.select_precision_for_error: K is {K}; it must be >= 1")
    ones = np.ones((1, terms), np.dtype(dtype))
    accuracy: Accuracy = blas.gemm(1.0, ones, ones, transB=True, precision=f"target={float(target)!r}", executor=executor, return_accuracy=True)[1]
    return accuracy.mode


def permute(subscripts: str, a: Any, alpha: complex = 1.0, *, executor: ExecutorLike = None) -> Any:
    """alpha A with its axes in another order: permute("abc->cab", a).

    >>> import numpy as np, trnsci.tensor as tt
    >>> tt.permute("ij->ji", np.array([[1.0, 2.0]]), 2.0)
    array([[2.],
           [4.]])
    """
    if not isinstance(subscripts, str):
        raise TypeError(f"tensor.permute: subscripts is a {type(subscripts).__name__}; it must be text, as 'abc->cab'")
    return _trnsci.tensor_permute(subscripts, a, complex(alpha), executor)


def reduce(op: str, subscripts: str, a: Any, *, executor: ExecutorLike = None) -> Any:
    """The sum, product, maximum or minimum ("add", "mul", "max", "min") over the labels that the result lacks.

    Parameters
    ----------
    op : {"add", "mul", "max", "min"}
        What is done with the elements.

    >>> import numpy as np, trnsci.tensor as tt
    >>> tt.reduce("max", "ij->i", np.array([[1.0, 5.0], [7.0, 2.0]]))
    array([5., 7.])
    """
    if not isinstance(op, str) or not isinstance(subscripts, str):
        raise TypeError("tensor.reduce: op and subscripts must be text, as 'add' and 'abc->a'")
    check_repeats("tensor.reduce", subscripts, [a])
    return _trnsci.tensor_reduce(op, subscripts, a, executor)


class Step(NamedTuple):
    labels: str
    folded: str
    algorithm: str
    mode: str
    flops: float
    bound: float


@dataclass(frozen=True)
class ContractionPlan:
    """What an einsum will do: its steps, cost, memory and error bound. Call it with operands of the same shapes."""

    subscripts: str
    steps: list[Step]
    estimated_flops: float
    moved_bytes: float
    seconds: float
    workspace_bytes: int
    intermediate_bytes: int
    accuracy: Accuracy
    explanation: str
    passes: float
    options: dict[str, Any] = field(repr=False, default_factory=dict)

    @property
    def strategy(self) -> str:
        """The algorithm of the only step, or "path"."""
        return self.steps[0].algorithm if len(self.steps) == 1 else "path"

    def __call__(self, *operands: Any, **more: Any) -> Any:
        return contract(self.subscripts, *operands, **self.options, **more)

    def __str__(self) -> str:
        return self.explanation


def plan_contraction(subscripts: Any, *operands: Any, precision: str | None = None, optimize: Any = True, minimize: str = "flops",
                     effort: str = "normal", memory_limit: int = 0, executor: ExecutorLike = None) -> ContractionPlan:
    """The plan of an einsum. Nothing is computed.

    >>> import numpy as np, trnsci.tensor as tt
    >>> p = tt.plan_contraction("ij,jk->ik", np.ones((2, 3)), np.ones((3, 4)))
    >>> p.estimated_flops, len(p.steps)
    (48.0, 1)
    """
    text, arrays = _operands(subscripts, operands)
    steps, flops, moved, seconds, workspace, intermediates, accuracy, explanation, passes = _trnsci.tensor_plan(
        text, arrays, _method(optimize), minimize, effort, memory_limit, precision, executor)
    options = {"precision": precision, "optimize": optimize, "minimize": minimize, "effort": effort, "memory_limit": memory_limit,
               "executor": executor}
    return ContractionPlan(text, [Step(*s) for s in steps], flops, moved, seconds, workspace, intermediates, accuracy, explanation, passes, options)


def estimate_flops(subscripts: Any, *operands: Any) -> int:
    """Additions and multiplications of the einsum along its path.

    >>> import numpy as np, trnsci.tensor as tt
    >>> tt.estimate_flops("ij,jk->ik", np.ones((2, 3)), np.ones((3, 4)))
    48
    """
    return int(plan_contraction(subscripts, *operands).estimated_flops)


class PathInfo(NamedTuple):
    path: list[tuple[int, ...]]
    flops: float
    largest_intermediate: float
    method: str


def contract_path(subscripts: str, *operands: Any, optimize: Any = True, minimize: str = "flops", effort: str = "normal",
                  seed: int = 0, shapes: bool = False) -> PathInfo:
    """The order of contraction in opt_einsum's notation, with its cost. With shapes=True the operands are shapes.

    >>> import trnsci.tensor as tt
    >>> tt.contract_path("ij,jk,kl->il", (2, 100), (100, 3), (3, 50), shapes=True).path
    [(0, 1), (0, 1)]
    """
    sizes = [list(o) if shapes else list(np.shape(o)) for o in operands]
    positions, flops, largest, method = _trnsci.tensor_path(subscripts, sizes, _method(optimize), minimize, effort, seed)
    return PathInfo([tuple(p) for p in positions] or [(0,)], flops, largest, method)


class CacheInfo(NamedTuple):
    hits: int
    misses: int
    maxsize: int
    currsize: int


def plan_cache_info() -> CacheInfo:
    """Hits, misses and sizes of the cache of plans that einsum keeps."""
    return CacheInfo(*_trnsci.tensor_cache_info())


def clear_plan_cache() -> None:
    """Forgets the plans that einsum keeps."""
    _trnsci.tensor_cache_clear()


# Decompositions.

@dataclass(frozen=True)
class DecompositionReport:
    """`error` is ||X - reconstruction||, `bound` that with its rounding; `stop_reason` "direct", "converged", ..."""

    norm: float
    error: float
    bound: float
    fit: float
    discarded: float
    iterations: int
    stop_reason: str


def _finish(operation: str, result: Any, report: tuple[Any, ...], return_accuracy: bool) -> Any:
    made = DecompositionReport(*report)
    if return_accuracy:
        return result, made
    if made.stop_reason == "not finite":
        warnings.warn(f"{operation}: not finite; return_accuracy=True gives the report", NumericalWarning, stacklevel=3)
    return result


class CpResult(NamedTuple):
    factors: list[NDArray[Any]]
    weights: NDArray[Any]


def cp_decompose(T: ArrayLike, rank: int, max_iter: int = 500, tol: float = 1e-10, nonneg: bool = False, *, method: str = "als",
                 starts: int = 1, seed: int = 0, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """T ~ sum_r weights[r] factors[0][:, r] o factors[1][:, r] o ...: (factors, weights), columns of norm 1.

    Not converging is a result: return_accuracy=True adds the report with its fit and stop_reason.

    Returns
    -------
    CpResult
        (factors, weights).

    >>> import numpy as np, trnsci.tensor as tt
    >>> x = np.einsum("i,j,k->ijk", [1.0, 2.0], [3.0, 4.0], [1.0, 1.0])
    >>> (factors, weights), report = tt.cp_decompose(x, 1, return_accuracy=True)
    >>> report.fit > 1 - 1e-12, bool(abs(weights[0] - np.linalg.norm(x)) < 1e-12)
    (True, True)
    """
    if method not in ("als", "nonnegative", "randomized"):
        raise ValueError(f"tensor.cp_decompose: method {method!r} is none of 'als', 'nonnegative', 'randomized'")
    weights, factors, report = _trnsci.tensor_cp(T, rank, "nonnegative" if nonneg else method, max_iter, tol, starts, seed, executor)
    made = CpResult(list(factors), np.array(weights, dtype=factors[0].dtype if isinstance(factors[0], np.ndarray) else None))
    return _finish("tensor.cp_decompose", made, report, return_accuracy)


def cp_reconstruct(factors: Sequence[Any], weights: ArrayLike) -> NDArray[Any]:
    """The tensor of a CP decomposition.

    >>> import numpy as np, trnsci.tensor as tt
    >>> tt.cp_reconstruct([np.ones((2, 1)), np.ones((2, 1))], [3.0])
    array([[3., 3.],
           [3., 3.]])
    """
    letters = [chr(ord("a") + k) for k in range(len(factors))]
    text = "z," + ",".join(letter + "z" for letter in letters) + "->" + "".join(letters)
    return np.asarray(contract(text, np.asarray(weights, dtype=factors[0].dtype), *factors))


class TuckerResult(NamedTuple):
    core: NDArray[Any]
    factors: list[NDArray[Any]]


def tucker_decompose(T: ArrayLike, ranks: Sequence[int] = (), *, epsilon: float = 0.0, method: str = "st-hosvd", max_iter: int = 50,
                     seed: int = 0, executor: ExecutorLike = None, return_accuracy: bool = False) -> Any:
    """T ~ core x_0 factors[0] x_1 factors[1] ...: (core, factors), by "hosvd", "st-hosvd", "hooi" or "randomized".

    A rank of 0, or no ranks, leaves them to epsilon: error <= epsilon ||T||.

    Returns
    -------
    TuckerResult
        (core, factors).

    >>> import numpy as np, trnsci.tensor as tt
    >>> x = np.einsum("i,j,k->ijk", [1.0, 2.0], [3.0, 4.0], [1.0, 1.0])
    >>> core, factors = tt.tucker_decompose(x, epsilon=1e-10)
    >>> core.shape, np.allclose(tt.tucker_reconstruct(core, factors), x)
    ((1, 1, 1), True)
    """
    if method not in ("hosvd", "st-hosvd", "hooi", "randomized"):
        raise ValueError(f"tensor.tucker_decompose: method {method!r} is none of 'hosvd', 'st-hosvd', 'hooi', 'randomized'")
    core, factors, report = _trnsci.tensor_tucker(T, [int(r) for r in ranks], method, epsilon, max_iter, seed, executor)
    return _finish("tensor.tucker_decompose", TuckerResult(core, list(factors)), report, return_accuracy)


def tucker_reconstruct(core: Any, factors: Sequence[Any]) -> NDArray[Any]:
    """The tensor of a Tucker decomposition."""
    small = [chr(ord("a") + k) for k in range(len(factors))]
    large = [chr(ord("A") + k) for k in range(len(factors))]
    text = "".join(small) + "," + ",".join(b + a for a, b in zip(small, large)) + "->" + "".join(large)
    return np.asarray(contract(text, core, *factors))


def tt_decompose(T: ArrayLike, max_rank: int = 0, *, epsilon: float = 0.0, executor: ExecutorLike = None,
                 return_accuracy: bool = False) -> Any:
    """The cores (r_k, n_k, r_k+1) of a tensor train: ||T - train|| <= epsilon ||T||, or at most max_rank.

    Returns
    -------
    list of arrays
        The cores.

    >>> import numpy as np, trnsci.tensor as tt
    >>> x = np.arange(8.0).reshape(2, 2, 2)
    >>> cores = tt.tt_decompose(x, epsilon=1e-10)
    >>> [c.shape for c in cores], np.allclose(tt.tt_reconstruct(cores), x)
    ([(1, 2, 2), (2, 2, 2), (2, 2, 1)], True)
    """
    cores, report = _trnsci.tensor_train(T, epsilon, max_rank, executor)
    return _finish("tensor.tt_decompose", list(cores), report, return_accuracy)


def tt_round(cores: Sequence[Any], max_rank: int = 0, *, epsilon: float = 0.0, return_accuracy: bool = False) -> Any:
    """The same tensor with smaller ranks.

    Returns
    -------
    list of arrays
        The cores.
    """
    made, report = _trnsci.tensor_train_round(list(cores), epsilon, max_rank)
    return _finish("tensor.tt_round", list(made), report, return_accuracy)


def tt_reconstruct(cores: Sequence[Any]) -> NDArray[Any]:
    """The tensor of a train."""
    x = np.asarray(cores[0])[0]
    for core in cores[1:]:
        left = x.reshape(-1, x.shape[-1])
        x = np.asarray(contract("ar,rnb->anb", left, np.asarray(core))).reshape(*x.shape[:-1], *np.shape(core)[1:])
    return np.asarray(x[..., 0])


# Quantum chemistry.

def ao_to_mo_transform(eri: ArrayLike, C_occ: ArrayLike, C_vir: ArrayLike, *, executor: ExecutorLike = None) -> Any:
    """Integrals over molecular orbitals: (P|ia) from (P|mu nu) of rank 3, (ia|jb) from (mu nu|lambda sigma) of rank 4.

    >>> import numpy as np, trnsci.tensor as tt
    >>> tt.ao_to_mo_transform(np.ones((3, 4, 4)), np.ones((4, 1)), np.ones((4, 2))).shape
    (3, 1, 2)
    """
    x = np.asarray(eri)
    occ, vir = np.asarray(C_occ, x.dtype), np.asarray(C_vir, x.dtype)
    return _trnsci.tensor_to_orbitals(x, [occ, vir] if x.ndim == 3 else [occ, vir, occ, vir], False, executor)


def mp2_energy(B: ArrayLike, eps_occ: ArrayLike, eps_vir: ArrayLike, *, executor: ExecutorLike = None) -> float:
    """sum over ij, ab of T (2 T - T^t) / (e_i + e_j - e_a - e_b), T_ab = sum_P B(i,a,P) B(j,b,P); B is (occ, vir, aux).

    The energy of closed-shell MP2 in the density-fitting approximation. Pairs i <= j are formed once.

    >>> import numpy as np, trnsci.tensor as tt
    >>> tt.mp2_energy(np.ones((1, 1, 1)), [-1.0], [1.0])
    -0.25
    """
    b = np.asarray(B)
    if b.ndim != 3:
        raise ValueError(f"tensor.mp2_energy: B has rank {b.ndim}; it must be (occ, vir, aux)")
    occ, vir = np.asarray(eps_occ, np.float64), np.asarray(eps_vir, np.float64)
    energy = 0.0
    for i in range(b.shape[0]):
        t = asnumpy(contract("ap,jbp->jab", b[i], b[i:], executor=executor)).astype(np.float64)
        gaps = occ[i] + occ[i:, None, None] - vir[None, :, None] - vir[None, None, :]
        pairs = (t * (2 * t - t.swapaxes(1, 2)) / gaps).sum(axis=(1, 2))
        energy += float(pairs[0] + 2 * pairs[1:].sum())
    return energy


def to_xla(x: Any, executor: ExecutorLike = None) -> Array:
    """The Python trntensor's name of trnsci.asarray: a copy on the executor, where it stays.

    >>> import trnsci.tensor as tt
    >>> tt.to_xla([1.0], "host").executor.name
    'host'
    """
    return asarray(x, executor)


def from_xla(x: Any) -> NDArray[Any]:
    """The Python trntensor's name of trnsci.asnumpy."""
    return asnumpy(x)
