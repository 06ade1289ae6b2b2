"""Complex layers for torch: the modules of the Python trnfft.nn, on complex tensors."""
from __future__ import annotations

import importlib
from typing import Any

from .._core import ExecutorLike

torch: Any = importlib.import_module("torch")

Tensor = Any
Module: Any = torch.nn.Module


class ComplexLinear(Module):  # type: ignore[misc,unused-ignore]
    """x W^T + b with complex W and b, by trnsci.torch.einsum on `executor`.

    >>> import torch, trnsci.torch as tt
    >>> layer = tt.nn.ComplexLinear(3, 2)
    >>> layer(torch.zeros(5, 3, dtype=torch.complex64)).shape
    torch.Size([5, 2])
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, *, executor: ExecutorLike = None) -> None:
        super().__init__()
        self.executor = executor
        scale = (2 * in_features) ** -0.5
        self.weight = torch.nn.Parameter(scale * torch.randn(out_features, in_features, dtype=torch.complex64))
        self.bias = torch.nn.Parameter(torch.zeros(out_features, dtype=torch.complex64)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        from . import einsum

        y = einsum("...i,oi->...o", x, self.weight, executor=self.executor)
        return y if self.bias is None else y + self.bias


class ComplexConv1d(Module):  # type: ignore[misc,unused-ignore]
    """Cross-correlation of (batch, channels, time) with complex filters, as torch.nn.Conv1d."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: int, stride: int = 1, padding: int = 0, bias: bool = True, *,
                 executor: ExecutorLike = None) -> None:
        super().__init__()
        self.executor, self.kernel_size, self.stride, self.padding = executor, kernel_size, stride, padding
        scale = (2 * in_channels * kernel_size) ** -0.5
        self.weight = torch.nn.Parameter(scale * torch.randn(out_channels, in_channels, kernel_size, dtype=torch.complex64))
        self.bias = torch.nn.Parameter(torch.zeros(out_channels, dtype=torch.complex64)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        from . import einsum

        padded = torch.nn.functional.pad(x, (self.padding, self.padding))
        frames = padded.unfold(2, self.kernel_size, self.stride).contiguous()
        y = einsum("nctk,ock->not", frames, self.weight, executor=self.executor)
        return y if self.bias is None else y + self.bias[:, None]


class ComplexBatchNorm1d(Module):  # type: ignore[misc,unused-ignore]
    """Batch normalisation of the real and of the imaginary parts, each by itself."""

    def __init__(self, num_features: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.real, self.imag = torch.nn.BatchNorm1d(num_features, eps), torch.nn.BatchNorm1d(num_features, eps)

    def forward(self, x: Tensor) -> Tensor:
        return torch.complex(self.real(x.real), self.imag(x.imag))


class ComplexModReLU(Module):  # type: ignore[misc,unused-ignore]
    """relu(|z| + b) z / |z|, with a bias for each feature (axis 1 of x, or the only one)."""

    def __init__(self, num_features: int) -> None:
        super().__init__()
        self.bias = torch.nn.Parameter(torch.zeros(num_features))

    def forward(self, x: Tensor) -> Tensor:
        bias = self.bias.reshape(-1, *[1] * max(x.ndim - 2, 0))
        modulus = x.abs()
        return torch.where(modulus > 0, torch.relu(modulus + bias) / modulus.clamp_min(torch.finfo(modulus.dtype).tiny), 0.0) * x


__all__ = ["ComplexBatchNorm1d", "ComplexConv1d", "ComplexLinear", "ComplexModReLU"]
