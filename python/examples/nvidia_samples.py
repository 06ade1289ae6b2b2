"""Programs after NVIDIA's CUDA samples, each with its check: python nvidia_samples.py [executor].

    simpleCUFFT_2d_r2c   a real 2-d transform and back
    batchCUBLAS          many products of small matrices
    MC_EstimatePi        pi from pseudo-random and from Sobol points
    cuSolver syevd       eigenvalues and vectors of a symmetric matrix
    conjugateGradient    a 2-d Laplacian, on the host wherever the others run: it is in float64
    cuTENSOR contraction D = alpha A B + beta C over four modes
"""
import sys

import numpy as np

import trnsci
from trnsci import blas, fft, rand, solver, sparse, tensor


def simple_cufft_2d_r2c(n=128, **where):
    x = rand.uniform(n, n, generator=rand.Generator(1))
    y = fft.irfft2(fft.rfft2(x, **where), (n, n), **where)
    return np.linalg.norm(y - x) / np.linalg.norm(x), 1e-6


def batch_cublas(batch=8, n=64, **where):
    g = rand.Generator(2)
    a, b = (g.normal(0.0, 1.0, (batch, n, n), dtype=np.float32) for _ in range(2))
    c = blas.batched_gemm(1.0, a, b, **where)
    exact = a.astype(float) @ b.astype(float)
    return np.linalg.norm(c - exact) / np.linalg.norm(exact), 1e-6


def mc_estimate_pi(n=1 << 16, **where):
    points = np.asarray(rand.uniform(n, 2, generator=rand.Generator(3), **where))
    quasi = rand.sobol(n, 2, seed=3)
    inside = [4 * float(((p.astype(float) ** 2).sum(axis=1) < 1).mean()) for p in (points, quasi)]
    return max(abs(inside[0] - np.pi) / 10, abs(inside[1] - np.pi)), 5e-3


def cusolver_syevd(n=48, **where):
    a = rand.Generator(4).normal(0.0, 1.0, (n, n), dtype=np.float32)
    a = a + a.T
    w, v = solver.eigh(a, **where)
    residual = np.linalg.norm(a @ v - v * w) / np.linalg.norm(a)
    return max(residual, np.linalg.norm(v.T @ v - np.eye(n)) / n), 1e-4


def conjugate_gradient(n=16, **where):
    a = sparse.poisson(n, n)
    b = np.ones(n * n)
    x, iterations, residual = solver.cg(a, b, tol=1e-6, maxiter=1000, M=sparse.ic0(a))
    return np.linalg.norm(b - sparse.spmv(a, x)) / np.linalg.norm(b), 1e-6


def cutensor_contraction(m=16, h=8, **where):
    g = rand.Generator(5)
    a, b = g.normal(0.0, 1.0, (m, h, h, m), dtype=np.float32), g.normal(0.0, 1.0, (m, h, m, h), dtype=np.float32)
    c = g.normal(0.0, 1.0, (m, m, m, m), dtype=np.float32)
    d = tensor.einsum("mhkn,ukvh->munv", a, b, alpha=1.1, beta=0.9, c=c, **where)
    exact = 1.1 * np.einsum("mhkn,ukvh->munv", a.astype(float), b.astype(float), optimize=True) + 0.9 * c
    return np.linalg.norm(d - exact) / np.linalg.norm(exact), 1e-6


SAMPLES = [simple_cufft_2d_r2c, batch_cublas, mc_estimate_pi, cusolver_syevd, conjugate_gradient, cutensor_contraction]


def main(executor=None):
    passed = True
    for sample in SAMPLES:
        error, limit = sample(executor=executor) if executor else sample()
        passed = passed and error <= limit
        place = "host" if sample is conjugate_gradient else executor or "default"
        print(f"{sample.__name__:24} {place:9} error {error:.1e}, limit {limit:.0e}: {'PASSED' if error <= limit else 'FAILED'}")
    return passed


if __name__ == "__main__":
    sys.exit(0 if main(*sys.argv[1:]) else 1)
