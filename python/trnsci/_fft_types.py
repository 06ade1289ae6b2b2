"""The call signatures of trnsci.fft: NumPy arrays in, a NumPy array out; device arrays in, a device array out; with
return_accuracy=True a pair with the Accuracy."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, overload

from numpy.typing import ArrayLike, NDArray

from ._core import Accuracy, Array, ExecutorLike

Norm = Literal["backward", "ortho", "forward"] | None
Axes = int | Sequence[int] | None


class OneAxis(Protocol):
    @overload
    def __call__(self, x: Array, n: int | None = ..., axis: int = ..., norm: Norm = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., precision: str | None = ..., executor: ExecutorLike = ..., return_accuracy: Literal[False] = ...) -> Array: ...
    @overload
    def __call__(self, x: Array, n: int | None = ..., axis: int = ..., norm: Norm = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., precision: str | None = ..., executor: ExecutorLike = ..., return_accuracy: Literal[True]) -> tuple[Array, Accuracy]: ...
    @overload
    def __call__(self, x: ArrayLike, n: int | None = ..., axis: int = ..., norm: Norm = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., precision: str | None = ..., executor: ExecutorLike = ..., return_accuracy: Literal[False] = ...) -> NDArray[Any]: ...
    @overload
    def __call__(self, x: ArrayLike, n: int | None = ..., axis: int = ..., norm: Norm = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., precision: str | None = ..., executor: ExecutorLike = ..., return_accuracy: Literal[True]) -> tuple[NDArray[Any], Accuracy]: ...


class SeveralAxes(Protocol):
    @overload
    def __call__(self, x: Array, s: Axes = ..., axes: Axes = ..., norm: Norm = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., precision: str | None = ..., executor: ExecutorLike = ..., return_accuracy: Literal[False] = ...) -> Array: ...
    @overload
    def __call__(self, x: Array, s: Axes = ..., axes: Axes = ..., norm: Norm = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: None = ..., precision: str | None = ..., executor: ExecutorLike = ..., return_accuracy: Literal[True]) -> tuple[Array, Accuracy]: ...
    @overload
    def __call__(self, x: ArrayLike, s: Axes = ..., axes: Axes = ..., norm: Norm = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., precision: str | None = ..., executor: ExecutorLike = ..., return_accuracy: Literal[False] = ...) -> NDArray[Any]: ...
    @overload
    def __call__(self, x: ArrayLike, s: Axes = ..., axes: Axes = ..., norm: Norm = ..., overwrite_x: bool = ..., workers: int | None = ..., *, plan: None = ..., out: NDArray[Any] | None = ..., precision: str | None = ..., executor: ExecutorLike = ..., return_accuracy: Literal[True]) -> tuple[NDArray[Any], Accuracy]: ...


class Cosine(Protocol):
    @overload
    def __call__(self, x: Array, type: int = ..., n: int | None = ..., axis: int = ..., norm: Norm = ..., overwrite_x: bool = ..., workers: int | None = ..., orthogonalize: bool | None = ..., *, precision: str | None = ..., executor: ExecutorLike = ...) -> Array: ...
    @overload
    def __call__(self, x: ArrayLike, type: int = ..., n: int | None = ..., axis: int = ..., norm: Norm = ..., overwrite_x: bool = ..., workers: int | None = ..., orthogonalize: bool | None = ..., *, precision: str | None = ..., executor: ExecutorLike = ...) -> NDArray[Any]: ...


class CosineAxes(Protocol):
    @overload
    def __call__(self, x: Array, type: int = ..., s: Axes = ..., axes: Axes = ..., norm: Norm = ..., overwrite_x: bool = ..., workers: int | None = ..., *, orthogonalize: bool | None = ..., precision: str | None = ..., executor: ExecutorLike = ...) -> Array: ...
    @overload
    def __call__(self, x: ArrayLike, type: int = ..., s: Axes = ..., axes: Axes = ..., norm: Norm = ..., overwrite_x: bool = ..., workers: int | None = ..., *, orthogonalize: bool | None = ..., precision: str | None = ..., executor: ExecutorLike = ...) -> NDArray[Any]: ...
