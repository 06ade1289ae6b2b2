"""A user's program: `mypy --strict` has nothing to say about it, and it runs."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import trnsci


def spectrum(x: NDArray[np.float64]) -> NDArray[Any]:
    y = trnsci.fft.rfft(x, norm="ortho")
    z, accuracy = trnsci.fft.fft(x, executor="host", return_accuracy=True)
    assert accuracy.bound > 0 and z.shape == x.shape
    return y


def on_a_device(x: NDArray[np.float32]) -> float:
    with trnsci.use("sim:trn2") as executor, trnsci.record() as r:
        a: trnsci.Array = trnsci.asarray(x)
        b: trnsci.Array = trnsci.fft.fftn(a, axes=(0, 1))
        assert b.executor == executor and b.shape == a.shape
    plan = trnsci.fft.Plan("fft", x.shape, np.complex64, axes=-1)
    assert plan.accuracy.mode == "native"
    return r.modelled_seconds


def numbers(seed: int) -> float:
    g = trnsci.rand.Generator(seed, algorithm="threefry4x32-20")
    a = np.asarray(g.standard_normal((4, 4)))
    value: float = trnsci.blas.nrm2(a[0])
    c = trnsci.blas.gemm(1.0, a, a, transB=True, precision="exact")
    d = trnsci.tensor.einsum("ij,jk->ik", a, c)
    return value + float(np.linalg.norm(d))


if __name__ == "__main__":
    print(spectrum(np.ones(8)), on_a_device(np.ones((4, 8), dtype=np.float32)), numbers(3))
