"""trnsci for PyTorch: transforms, products, einsum, sparse times dense and block-sparse attention, with gradients.

Tensors are the processor's, dense, and are used where they lie; results are tensors over trnsci's memory. `executor=` says where a
call and its gradients run, as everywhere in trnsci. `trnsci.torch.nn` has complex layers. Needs torch; nothing else here does.

    import torch, trnsci.torch as tt
    x = torch.randn(8, 100, requires_grad=True)
    tt.rfft(x, executor="sim:trn2").abs().sum().backward()
"""
from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

try:
    torch: Any = importlib.import_module("torch")
except ImportError as _trouble:
    raise ImportError("trnsci.torch needs torch: pip install torch") from _trouble

from .. import _docs, _glossary
from .. import fft as _fft
from .. import sparse as _sparse
from .. import tensor as _tensor
from .._core import ExecutorLike

Tensor = Any
_ADJOINT: dict[Any, Any] = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def _array(x: Tensor, name: str) -> Any:
    """The tensor's memory as an array of NumPy's."""
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"trnsci.torch: {name} is a {type(x).__name__}; it must be a tensor")
    if x.device.type != "cpu" or x.layout != torch.strided:
        raise ValueError(f"trnsci.torch: {name} is a {x.layout} tensor on {x.device}; it must be dense and on the processor, .cpu() copies it")
    return x.detach().resolve_conj().resolve_neg().numpy()


def _tensor_of(x: Any) -> Tensor:
    return torch.from_numpy(np.asarray(x, order="C"))


def _fitted(g: Any, n: int, axis: int) -> Any:
    """g cut, or continued with zeros, to n numbers along the axis: the adjoint of the same done to the input."""
    if g.shape[axis] >= n:
        return np.take(g, range(n), axis=axis) if g.shape[axis] > n else g
    width = [(0, 0)] * g.ndim
    width[axis] = (0, n - g.shape[axis])
    return np.pad(g, width)


def _weights(n: int, ends: float, inner: float, axis: int, like: Any) -> Any:
    """The factor of each frequency of a half spectrum: `inner` where its mirror image is left out."""
    w = np.full(n // 2 + 1, inner, like.real.dtype)
    w[0] = ends
    if n % 2 == 0:
        w[-1] = ends
    shape = [1] * like.ndim
    shape[axis] = w.size
    return w.reshape(shape)


class _Transform(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
    """fft, ifft, rfft and irfft of one axis. All are linear, so the gradient is the adjoint transform."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, name: str, n: int | None, axis: int, norm: Any, options: dict[str, Any]) -> Tensor:
        a = _array(x, "input")
        y = getattr(_fft, name)(a, n, axis, norm, **options)
        points = y.shape[axis] if name == "irfft" else a.shape[axis] if n is None else n
        ctx.what = (name, int(points), axis, norm, options, a.shape[axis], a.dtype)
        return _tensor_of(y)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        name, points, axis, norm, options, extent, dtype = ctx.what
        g, back = _array(grad, "gradient"), _ADJOINT[norm]
        if name in ("fft", "ifft"):
            made = getattr(_fft, "ifft" if name == "fft" else "fft")(g, None, axis, back, **options)
        elif name == "rfft":
            made = _fft.irfft(g * _weights(points, 1.0, 0.5, axis, g), points, axis, back, **options)
        else:
            made = _fft.rfft(g, points, axis, back, **options)
            made = made * _weights(points, 1.0, 2.0, axis, made)
        made = _fitted(np.asarray(made), extent, axis)
        if dtype.kind != "c":
            made = made.real
        return _tensor_of(made.astype(dtype, copy=False)), None, None, None, None, None


def _one(name: str, x: Tensor, n: int | None, dim: int, norm: str | None, precision: str | None, executor: ExecutorLike) -> Tensor:
    if norm not in _ADJOINT:
        raise ValueError(f"trnsci.torch.{name}: norm is {norm!r}; it must be 'backward', 'ortho' or 'forward'")
    return _Transform.apply(x, name, n, dim, norm, {"precision": precision, "executor": executor})


def fft(x: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, precision: str | None = None,
        executor: ExecutorLike = None) -> Tensor:
    """torch.fft.fft by trnsci.fft.

    >>> import torch, trnsci.torch as tt
    >>> x = torch.ones(4, requires_grad=True)
    >>> tt.fft(x).real.sum().backward()
    >>> x.grad
    tensor([4., 0., 0., 0.])
    """
    return _one("fft", x, n, dim, norm, precision, executor)


def ifft(x: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, precision: str | None = None,
         executor: ExecutorLike = None) -> Tensor:
    """torch.fft.ifft by trnsci.fft."""
    return _one("ifft", x, n, dim, norm, precision, executor)


def rfft(x: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, precision: str | None = None,
         executor: ExecutorLike = None) -> Tensor:
    """torch.fft.rfft by trnsci.fft."""
    return _one("rfft", x, n, dim, norm, precision, executor)


def irfft(x: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, precision: str | None = None,
          executor: ExecutorLike = None) -> Tensor:
    """torch.fft.irfft by trnsci.fft."""
    return _one("irfft", x, n, dim, norm, precision, executor)


def _several(one: Any, x: Tensor, dim: Sequence[int] | None, norm: str | None, options: dict[str, Any]) -> Tensor:
    for d in range(x.ndim) if dim is None else dim:
        x = one(x, None, d, norm, **options)
    return x


def fftn(x: Tensor, dim: Sequence[int] | None = None, norm: str | None = None, *, precision: str | None = None,
         executor: ExecutorLike = None) -> Tensor:
    """torch.fft.fftn by trnsci.fft, an axis after the other."""
    return _several(fft, x, dim, norm, {"precision": precision, "executor": executor})


def ifftn(x: Tensor, dim: Sequence[int] | None = None, norm: str | None = None, *, precision: str | None = None,
          executor: ExecutorLike = None) -> Tensor:
    """torch.fft.ifftn by trnsci.fft, an axis after the other."""
    return _several(ifft, x, dim, norm, {"precision": precision, "executor": executor})


class _Einsum(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
    @staticmethod
    def forward(ctx: Any, text: str, options: dict[str, Any], *operands: Tensor) -> Tensor:
        arrays = [_array(x, f"operand {i}") for i, x in enumerate(operands)]
        ctx.text, ctx.options = text, options
        ctx.save_for_backward(*operands)
        return _tensor_of(_tensor.einsum(text, *arrays, **options))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        operands, g = ctx.saved_tensors, _array(grad, "gradient")
        arrays = [_array(x, "operand") for x in operands]
        dtype = np.result_type(g, *arrays)
        arrays = [a.astype(dtype, copy=False) for a in arrays]
        made: list[Any] = []
        for i, x in enumerate(operands):
            if not ctx.needs_input_grad[2 + i]:
                made.append(None)
                continue
            d = _tensor.einsum_gradient(ctx.text, *arrays, adjoint=g.astype(dtype, copy=False), argument=i, **ctx.options)
            made.append(_tensor_of(d if x.is_complex() else np.real(d)).to(x.dtype))
        return (None, None, *made)


def einsum(subscripts: str, *operands: Tensor, precision: str | None = None, executor: ExecutorLike = None) -> Tensor:
    """torch.einsum by trnsci.tensor, whatever the order of labels.

    >>> import torch, trnsci.torch as tt
    >>> a = torch.eye(2, requires_grad=True)
    >>> tt.einsum("ij,jk->ki", a, torch.ones(2, 2)).sum().backward()
    >>> a.grad
    tensor([[2., 2.],
            [2., 2.]])
    """
    return _Einsum.apply(subscripts, {"precision": precision, "executor": executor}, *operands)


def matmul(a: Tensor, b: Tensor, *, precision: str | None = None, executor: ExecutorLike = None) -> Tensor:
    """The product of matrices, or of stacks of them."""
    return einsum("...ij,...jk->...ik", a, b, precision=precision, executor=executor)


class _Spmm(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
    @staticmethod
    def forward(ctx: Any, values: Tensor, dense: Tensor, pattern: Any, options: dict[str, Any]) -> Tensor:
        a = _sparse.CSRMatrix(_array(values, "values"), pattern.col_indices, pattern.row_ptrs, pattern.shape)
        if a.nnz != pattern.nnz:
            raise ValueError(f"trnsci.torch.spmm: {values.numel()} values for {pattern.nnz} entries")
        ctx.a, ctx.options = a, options
        ctx.save_for_backward(dense)
        return _tensor_of(_sparse.spmm(a, _array(dense, "B"), **options))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        g, (dense,) = _array(grad, "gradient"), ctx.saved_tensors
        d_values = d_dense = None
        if ctx.needs_input_grad[0]:
            ones = _sparse.CSRMatrix(np.ones(ctx.a.nnz, ctx.a.dtype), ctx.a.col_indices, ctx.a.row_ptrs, ctx.a.shape)
            b = np.ascontiguousarray(np.conj(_array(dense, "B")).T)
            d_values = _tensor_of(_sparse.sddmm(g, b, ones, executor=ctx.options["executor"]).values.copy())
        if ctx.needs_input_grad[1]:
            turned = _sparse.sparse_transpose(ctx.a, conjugate=ctx.a.dtype.kind == "c")
            d_dense = _tensor_of(_sparse.spmm(turned, g, **ctx.options))
        return d_values, d_dense, None, None


def spmm(A: Any, B: Tensor, values: Tensor | None = None, *, precision: str | None = None, executor: ExecutorLike = None) -> Tensor:
    """A B for a sparse A: trnsci's CSRMatrix, scipy's, or a torch tensor of layout sparse_csr.

    With `values`, the entries row by row, those take the place of A's; they and B have gradients, A itself is a constant.

    >>> import torch, trnsci, trnsci.torch as tt
    >>> a = trnsci.sparse.from_dense([[1.0, 0.0], [2.0, 3.0]])
    >>> v = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    >>> tt.spmm(a, torch.ones(2, 1, dtype=torch.float64), v).sum().backward()
    >>> v.grad
    tensor([1., 1., 1.], dtype=torch.float64)
    """
    if isinstance(A, torch.Tensor):
        if A.layout != torch.sparse_csr:
            raise ValueError(f"trnsci.torch.spmm: A is a tensor of layout {A.layout}; .to_sparse_csr() makes what is needed")
        pattern = _sparse.CSRMatrix(_array(A.values(), "A"), A.col_indices().numpy(), A.crow_indices().numpy(), (A.shape[0], A.shape[1]))
    else:
        pattern = A if isinstance(A, _sparse.CSRMatrix) else _sparse.from_scipy(A)
    entries = _tensor_of(pattern.values.copy()) if values is None else values
    return _Spmm.apply(entries, B, pattern, {"precision": precision, "executor": executor})


class _Attention(torch.autograd.Function):  # type: ignore[misc,unused-ignore]
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, mask: Any, scale: float, options: dict[str, Any]) -> Tensor:
        o, sums = _sparse.attention(_array(q, "q"), _array(k, "k"), _array(v, "v"), mask, scale=scale, return_log_sums=True, **options)
        ctx.mask, ctx.scale, ctx.options, ctx.result = mask, scale, options, (o, sums)
        ctx.save_for_backward(q, k, v)
        return _tensor_of(o)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (q, k, v), (o, sums) = (_array(x, "operand") for x in ctx.saved_tensors), ctx.result
        made = _sparse.attention_backward(q, k, v, o, sums, _array(grad, "gradient"), ctx.mask, scale=ctx.scale, **ctx.options)
        return (*map(_tensor_of, made), None, None, None)


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Any, *, scale: float = 0.0, precision: str | None = None,
              executor: ExecutorLike = None) -> Tensor:
    """softmax(scale q k^T over the allowed pairs) v; `mask` is trnsci.sparse.attention_mask's, scale 0 is 1/sqrt(d)."""
    return _Attention.apply(q, k, v, mask, scale, {"precision": precision, "executor": executor})


from . import nn  # noqa: E402 (uses einsum)

__all__ = ["attention", "einsum", "fft", "fftn", "ifft", "ifftn", "irfft", "matmul", "nn", "rfft", "spmm"]

_docs.complete(globals(), _glossary.TORCH)
