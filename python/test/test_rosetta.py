"""docs/rosetta.md's Python column, name by name: each is there, and gives NumPy's or SciPy's numbers."""
import pathlib
import re

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse

import trnsci
from trnsci import blas, sparse

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "rosetta.md").read_text()
NAMES = sorted(set(re.findall(r"\| `trnsci\.([\w.]+)` \|$", PAGE, re.M)))
R = np.random.default_rng(3)
A, B, C = (R.standard_normal((4, 4)) for _ in range(3))
F = A.astype(np.float32)
S = A @ A.T + 4 * np.eye(4)
H = S + 1j * (A - A.T)
X, Y = R.standard_normal(4), R.standard_normal(4)
Z = X + 1j * Y
U = np.triu(A) + 4 * np.eye(4)
T = R.standard_normal((3, 4, 5))
P = sparse.poisson(4, 4)  # symmetric, positive definite
D = P.to_dense()
M = scipy.sparse.csr_matrix(np.where(np.abs(A) > 0.5, A, 0))
ONES = np.ones(16)


def same(a, b, tol=1e-10):
    return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=tol, atol=tol * max(np.abs(b).max(initial=0), 1e-300))


def generator():
    return trnsci.rand.Generator(5)


def mean(x, want, slack):
    return abs(float(np.mean(x, dtype=np.float64)) - want) < slack


def reordered(p):
    return sorted(p) == list(range(16))


def low(x):
    return np.tril(x)


def rotated(f):
    c, s = 0.6, 0.8
    x, y = f(X, Y, c, s)
    return same(x, c * X + s * Y) and same(y, c * Y - s * X)



def qr_of(f):
    q, r = f(A)
    return same(q @ r, A) and same(q.T @ q, np.eye(4)) and same(r, np.triu(r))


def incomplete(f):
    """The product of the factors has P's values where P has entries, so the preconditioned system is near the identity."""
    applied = np.column_stack([f(P) @ column for column in D])
    return np.abs(applied - np.eye(16)).max() < 0.6


CASES = {
    "Executor": lambda f: f("host").name == "host",
    "use": lambda f: f("host").__enter__() is not None,
    "asarray": lambda f: same(f(A, "host").numpy(), A),
    "asnumpy": lambda f: same(f(trnsci.asarray(A, "host")), A),
    "blas.axpy": lambda f: same(f(2.0, X, Y), 2 * X + Y),
    "blas.scal": lambda f: same(f(2.0, X), 2 * X),
    "blas.dot": lambda f: same(f(X, Y), X @ Y),
    "blas.dotc": lambda f: same(f(Z, X + 0j), np.vdot(Z, X)),
    "blas.asum": lambda f: same(f(X), np.abs(X).sum()),
    "blas.nrm2": lambda f: same(f(X), np.linalg.norm(X)),
    "blas.iamax": lambda f: f(X) == np.abs(X).argmax(),
    "blas.iamin": lambda f: f(X) == np.abs(X).argmin(),
    "blas.rot": rotated,
    "blas.rotg": lambda f: same(np.array(f(3.0, 4.0)[:3]), np.array([0.6, 0.8, 5.0])),
    "blas.gemv": lambda f: same(f(2.0, A, X, 3.0, Y), 2 * A @ X + 3 * Y),
    "blas.symv": lambda f: same(f(2.0, np.triu(S), X), 2 * S @ X),
    "blas.hemv": lambda f: same(f(2.0, np.triu(H), Z), 2 * H @ Z),
    "blas.trmv": lambda f: same(f(A, X), np.triu(A) @ X),
    "blas.trsv": lambda f: same(f(U, X), np.linalg.solve(U, X)),
    "blas.ger": lambda f: same(f(2.0, X, Y, A), A + 2 * np.outer(X, Y)),
    "blas.gerc": lambda f: same(f(1.0, Z, Z, A + 0j), A + np.outer(Z, Z.conj())),
    "blas.syr": lambda f: same(low(f(1.0, X, S, uplo="lower")), low(S + np.outer(X, X))),
    "blas.her": lambda f: same(low(f(1.0, Z, H, uplo="lower")), low(H + np.outer(Z, Z.conj()))),
    "blas.syr2": lambda f: same(low(f(1.0, X, Y, S, uplo="lower")), low(S + np.outer(X, Y) + np.outer(Y, X))),
    "blas.her2": lambda f: same(low(f(1.0, Z, X + 0j, H, uplo="lower")), low(H + np.outer(Z, X) + np.outer(X, Z.conj()))),
    "blas.gemm": lambda f: same(f(2.0, A, B, 3.0, C), 2 * A @ B + 3 * C),
    "blas.matmul": lambda f: same(f(A, B), A @ B),
    "blas.batched_gemm": lambda f: same(f(1.0, np.stack([A, B]), np.stack([B, C])), np.stack([A @ B, B @ C])),
    "blas.symm": lambda f: same(f(1.0, np.tril(S), B, 0.0, None, "left", "lower"), S @ B),
    "blas.hemm": lambda f: same(f(1.0, np.tril(H), B + 0j, 0.0, None, "left", "lower"), H @ B),
    "blas.syrk": lambda f: same(np.triu(f(1.0, A)), np.triu(A @ A.T)),
    "blas.herk": lambda f: same(np.triu(f(1.0, H)), np.triu(H @ H.conj().T)),
    "blas.syr2k": lambda f: same(np.triu(f(1.0, A, B)), np.triu(A @ B.T + B @ A.T)),
    "blas.her2k": lambda f: same(np.triu(f(1.0, H, B + 0j)), np.triu(H @ B.T + B @ H.conj().T)),
    "blas.trmm": lambda f: same(f(2.0, A, B), 2 * np.triu(A) @ B),
    "blas.trsm": lambda f: same(f(2.0, U, B), np.linalg.solve(U, 2 * B)),
    "blas.geam": lambda f: same(f(2.0, A, 3.0, B), 2 * A + 3 * B),
    "blas.dgmm": lambda f: same(f("left", A, X), np.diag(X) @ A),
    "blas.axpby": lambda f: (f(0.25, np.ones(4, np.float32), 0.75, np.full(4, 3, np.float16), precision="sr", seed=1) == 2.5).all(),
    "blas.to_float16": lambda f: np.abs(f(X.astype(np.float32), precision="sr", seed=1).astype(float) - X).max() < 4e-3,
    "blas.quantize": lambda f: np.abs(f(F).numpy() - F).max() <= np.abs(F).max() / 16,
    "blas.scaled_gemm": lambda f: np.abs(f(blas.quantize(F), blas.quantize(F, axis=0)) - F @ F).max() < 0.15 * (np.abs(F) @ np.abs(F)).max(),
    "blas.mx_quantize": lambda f: np.abs(f(F).numpy() - F).max() <= np.abs(F).max() / 8,
    "blas.mx_gemm": lambda f: np.abs(f(blas.mx_quantize(F), blas.mx_quantize(F)) - F @ F.T).max() < 0.3 * (np.abs(F) @ np.abs(F.T)).max(),
    "fft.fft": lambda f: same(f(Z), np.fft.fft(Z)),
    "fft.rfft": lambda f: same(f(X), np.fft.rfft(X)),
    "fft.irfft": lambda f: same(f(np.fft.rfft(X), 4), X),
    "fft.Plan": lambda f: same(f("fft", (4,), np.complex128)(Z), np.fft.fft(Z)),
    "rand.Generator": lambda f: same(f(3).random(5), f(3).random(5)),
    "rand.Generator.raw": lambda f: f(generator(), 1000).dtype == np.uint32,
    "rand.Generator.lognormal": lambda f: mean(np.log(f(generator(), 1.0, 0.5, 10000)), 1, 0.03),
    "rand.Generator.binomial": lambda f: mean(f(generator(), 20, 0.25, 10000), 5, 0.1),
    "rand.uniform": lambda f: mean(f(10000, low=2.0, high=3.0, generator=generator()), 2.5, 0.02),
    "rand.normal": lambda f: mean(f(10000, mean=3.0, std=2.0, generator=generator()), 3, 0.1),
    "rand.poisson": lambda f: mean(f(10000, lam=30.0, generator=generator()), 30, 0.4),
    "solver.cholesky": lambda f: same(f(S), np.linalg.cholesky(S)),
    "solver.cho_solve": lambda f: same(S @ f((np.linalg.cholesky(S), True), X), X),
    "solver.inv_spd": lambda f: same(f(S) @ S, np.eye(4)),
    "solver.lu_factor": lambda f: same(scipy.linalg.lu_solve(f(A), X), np.linalg.solve(A, X), 1e-9),
    "solver.lu_solve": lambda f: same(f(scipy.linalg.lu_factor(A), X), np.linalg.solve(A, X), 1e-9),
    "solver.qr": qr_of,
    "solver.solve": lambda f: same(f(A, X), np.linalg.solve(A, X), 1e-9),
    "solver.eig": lambda f: same(A @ f(A)[1], f(A)[1] * f(A)[0], 1e-9),
    "solver.eigh": lambda f: same(f(S)[0], np.linalg.eigvalsh(S)),
    "solver.eigh_generalized": lambda f: same(f(A + A.T, S)[0], scipy.linalg.eigh(A + A.T, S, eigvals_only=True), 1e-9),
    "solver.svd": lambda f: same(f(A)[1], np.linalg.svd(A)[1]),
    "sparse.from_dense": lambda f: same(f(D).to_dense(), D),
    "sparse.from_scipy": lambda f: same(f(M).to_dense(), M.toarray()),
    "sparse.CSRMatrix.to_dense": lambda f: same(f(sparse.from_scipy(M)), M.toarray()),
    "sparse.spmv": lambda f: same(f(P, ONES), D @ ONES),
    "sparse.spmm": lambda f: same(f(P, D), D @ D),
    "sparse.sddmm": lambda f: same(f(A, B, M).toarray(), np.where(M.toarray() != 0, A @ B, 0)),
    "sparse.spgemm": lambda f: same(f(P, P).to_dense(), D @ D),
    "sparse.sparse_add": lambda f: same(f(P, P).to_dense(), 2 * D),
    "sparse.spsolve_triangular": lambda f: same(np.tril(D) @ f(sparse.tril(P), ONES), ONES),
    "sparse.solve_banded_batch": lambda f: same(D[:4, :4] @ f([np.full((4, 1), -1.0), np.diag(D)[:4, None], np.full((4, 1), -1.0)], ONES[:4, None]), ONES[:4, None]),
    "sparse.ilu": incomplete,
    "sparse.ic0": incomplete,
    "sparse.splu": lambda f: same(D @ f(P).solve(ONES), ONES),
    "sparse.spqr": lambda f: same(D @ f(P).solve(ONES), ONES),
    "sparse.spcholesky": lambda f: same(D @ f(P).solve(ONES), ONES),
    "sparse.Factor.refactor": lambda f: same(2 * D @ f(sparse.splu(P), sparse.sparse_scale(P, 2.0)).solve(ONES), ONES),
    "sparse.reverse_cuthill_mckee": lambda f: reordered(f(P)),
    "sparse.minimum_degree": lambda f: reordered(f(P)),
    "sparse.nested_dissection": lambda f: reordered(f(P)),
    "sparse.permute": lambda f: same(f(P, np.roll(np.arange(16), 3), np.roll(np.arange(16), 5)).to_dense(), D[np.roll(np.arange(16), 3)][:, np.roll(np.arange(16), 5)]),
    "tensor.einsum": lambda f: same(f("ijk,kj->i", T, T[0].T), np.einsum("ijk,kj->i", T, T[0].T)),
    "tensor.contract": lambda f: same(f("ij,jk->ik", A, B), A @ B),
    "tensor.permute": lambda f: same(f("ijk->kij", T), T.transpose(2, 0, 1)),
    "tensor.reduce": lambda f: same(f("add", "ijk->i", T), T.sum((1, 2))),
}


def test_every_name_has_a_case():
    assert NAMES == sorted(CASES)


@pytest.mark.parametrize("name", NAMES)
def test_name(name):
    found = trnsci
    for part in name.split("."):
        found = getattr(found, part)
    assert CASES[name](found)
