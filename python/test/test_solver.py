"""trnsci.solver against NumPy and SciPy."""
import numpy as np
import pytest
import scipy.linalg as sl
import scipy.sparse as ss
import scipy.sparse.linalg as ssl

import trnsci
from trnsci import solver as ts
from trnsci import sparse as sp

RNG = np.random.default_rng(8)
TYPES = [np.float32, np.float64, np.complex64, np.complex128]


def dense(*shape, dtype=np.float64):
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def spd(n, dtype=np.float64):
    a = dense(n, n, dtype=dtype)
    return (a @ a.conj().T + n * np.eye(n)).astype(dtype)


def wide(dtype):
    return np.result_type(dtype, np.float64)


def near(y, want, factor=200):
    y, want = np.asarray(y), np.asarray(want)
    assert y.shape == want.shape and y.dtype == want.dtype
    assert np.abs(y - want).max(initial=0) <= factor * np.finfo(want.dtype).eps * max(np.abs(want).max(initial=0), 1e-300)


@pytest.mark.parametrize("dtype", TYPES)
def test_factorisations(dtype):
    a, h = dense(12, 12, dtype=dtype), spd(12, dtype)
    l, report = ts.cholesky(h, return_accuracy=True)
    near(l, np.linalg.cholesky(h))
    assert report.ok and (np.abs(h - l @ l.conj().T) <= 4 * report.bound * (np.abs(l) @ np.abs(l).T)).all()
    u = ts.cholesky(h, upper=True)
    near(u, np.linalg.cholesky(h).conj().T)
    b = dense(12, 3, dtype=dtype)
    near(ts.cho_solve((l, True), b), np.linalg.solve(h, b), 2000)
    p, low, up = ts.lu(a)
    near(p @ low @ up, a)
    near(ts.lu_solve(ts.lu_factor(a), b[:, 0]), np.linalg.solve(a, b[:, 0]), 1e4)
    near(ts.lu_solve(ts.lu_factor(a), b, 2), np.linalg.solve(a.conj().T, b), 1e4)
    p, low, up = ts.lu(dense(7, 4, dtype=dtype))
    assert (p.shape, low.shape, up.shape) == ((7, 7), (7, 4), (4, 4))
    for shape in ((9, 5), (5, 9), (6, 6)):
        m = dense(*shape, dtype=dtype)
        q, r = ts.qr(m)
        near(q @ r, m)
        assert np.abs(q.conj().T @ q - np.eye(q.shape[1])).max() < 40 * np.finfo(dtype).eps and np.abs(np.tril(r, -1)).max() == 0
        q, r = ts.qr(m, "complete")
        assert q.shape == (shape[0],) * 2 and r.shape == shape
        near(q @ r, m)
        q, r, piv = ts.qr(m, pivoting=True)
        near(q @ r, m[:, piv])
        assert (np.diff(np.abs(r.diagonal())) <= 1e-6).all()


@pytest.mark.parametrize("dtype", TYPES)
def test_systems(dtype):
    a, b = dense(15, 15, dtype=dtype), dense(15, 2, dtype=dtype)
    near(ts.solve(a, b), np.linalg.solve(a, b), 1e4)
    near(ts.solve(a, b[:, 0], factor="qr"), np.linalg.solve(a, b[:, 0]), 1e4)
    h = spd(15, dtype)
    near(ts.solve(np.tril(h), b, True, assume_a="pos"), np.linalg.solve(h, b), 1e3)
    near(ts.solve_spd(h, b), np.linalg.solve(h, b), 1e3)
    k = (a + a.conj().T).astype(dtype)
    near(ts.solve(k, b, assume_a="her"), np.linalg.solve(k, b), 1e4)
    near(ts.solve((a + a.T).astype(dtype), b, assume_a="sym"), np.linalg.solve((a + a.T).astype(dtype), b), 1e4)
    t = (np.tril(a) + 9 * np.eye(15)).astype(dtype)
    near(ts.solve_triangular(t, b, lower=True), np.linalg.solve(t, b), 1e3)
    near(ts.solve_triangular(t, b, 2, lower=True), np.linalg.solve(t.conj().T, b), 1e3)
    near(ts.inv(a), np.linalg.inv(a), 1e4)
    near(ts.inv_spd(h), np.linalg.inv(h), 1e3)
    sign, log_absolute = ts.slogdet(a)
    want = np.linalg.slogdet(a)
    # Factors of order 15 and condition of some hundreds: at most n kappa eps, and the logarithm's own rounding.
    small = 1e4 * np.finfo(dtype).eps
    assert abs(sign - want[0]) < small and abs(log_absolute - want[1]) < small * abs(want[1])
    assert np.isclose(ts.det(h), np.linalg.det(h), rtol=small)
    assert 0.3 < ts.cond(a) / np.linalg.cond(a, 1) < 1.01
    m, rhs = dense(20, 6, dtype=dtype), dense(20, 2, dtype=dtype)
    for method in ("svd", "qr"):
        x, residuals, rank, s = ts.lstsq(m, rhs, method=method)
        want = np.linalg.lstsq(m, rhs, rcond=None)
        near(x, want[0], 1e3)
        assert np.allclose(residuals, want[1], rtol=1e-4) and rank == 6
    low = dense(8, 3, dtype=dtype) @ dense(3, 6, dtype=dtype)
    near(ts.pinv(low, 1e-4), np.linalg.pinv(low, 1e-4), 1e4)
    assert ts.matrix_rank(low, 1e-4) == 3 and ts.orth(low, 1e-4).shape == (8, 3) and ts.null_space(low, 1e-4).shape == (6, 3)
    assert np.abs(low @ ts.null_space(low, 1e-4)).max() < 1e-4


@pytest.mark.parametrize("dtype", TYPES)
def test_stacks(dtype):
    for n in (3, 40):  # within a register's lanes, and beyond
        a, b = dense(2, 3, n, n, dtype=dtype) + n * np.eye(n, dtype=dtype), dense(2, 3, n, 2, dtype=dtype)
        h = (a @ a.conj().swapaxes(-1, -2)).astype(dtype)
        near(ts.solve(a, b), np.linalg.solve(a, b), 2000)
        near(ts.solve(a, b[..., 0]), np.linalg.solve(a, b[..., :1])[..., 0], 2000)
        near(ts.inv(a), np.linalg.inv(a), 2000)
        near(ts.cholesky(h), np.linalg.cholesky(h), 2000)
        near(ts.cholesky(h, upper=True), np.linalg.cholesky(h).conj().swapaxes(-1, -2), 2000)
        w, v = ts.eigh(h)
        near(w, np.linalg.eigvalsh(h), 2000)
        near(h @ v, (v * w[..., None, :]).astype(dtype), 4000)
        u, s, vh = ts.svd(a[..., :2])
        near((u * s[..., None, :]).astype(dtype) @ vh, a[..., :2], 2000)
    a[1, 2] = 0
    x, outcomes = ts.solve(a, b, return_accuracy=True)
    assert outcomes.shape == (2, 3) and outcomes[1, 2].status == "singular" and outcomes[0, 0].ok and np.isfinite(x[0]).all()
    with pytest.warns(trnsci.NumericalWarning, match="1 of 6, the first at 5: singular"):
        ts.inv(a)
    with pytest.raises(NotImplementedError):
        ts.eigh(h, certify=True)
    with pytest.raises(ValueError):
        ts.cholesky(dense(2, 3, 4))


def test_outcomes_and_proofs():
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    x, report = ts.solve(singular, [1.0, 1.0], return_accuracy=True)
    assert report.outcome.status == "singular" and np.isnan(x).all()
    with pytest.warns(trnsci.NumericalWarning, match="singular"):
        ts.solve(singular, [1.0, 1.0])
    _, report = ts.cholesky(np.diag([1.0, 1.0, -1.0]), return_accuracy=True)
    assert report.outcome.index == 2
    bad = np.eye(3)
    bad[1, 2] = np.nan
    _, report = ts.lu_factor(bad, return_accuracy=True)
    assert (report.outcome.status, report.outcome.index) == ("not finite", 5)
    hilbert = sl.hilbert(11)
    b = hilbert @ np.ones(11)
    x, report = ts.solve(hilbert, b, certify=True, target_error=1e-15, return_accuracy=True)
    assert report.ok and report.rigorous
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(80):
        exact = mpmath.lu_solve(mpmath.matrix(hilbert.tolist()), mpmath.matrix(b.tolist()))
        error = max(abs(mpmath.mpf(float(x[i])) - exact[i]) for i in range(11)) / max(abs(e) for e in exact)
    assert error <= report.bound <= 1e-15
    assert 0 < ts.smallest_eigenvalue_bound(spd(6)) and ts.smallest_eigenvalue_bound(-np.eye(3)) <= 0
    for call in (lambda: ts.solve(np.ones((2, 3)), np.ones(2)), lambda: ts.cholesky(np.ones(3)), lambda: ts.eigh(np.ones((2, 3))),
                 lambda: ts.solve(np.eye(2), np.ones(3)), lambda: ts.solve(np.eye(2), np.ones(2), assume_a="odd")):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(TypeError):
        ts.svd(np.ones((2, 2), dtype=object))


@pytest.mark.parametrize("dtype", TYPES)
def test_spectra(dtype):
    a = dense(14, 14, dtype=dtype)
    h = (a + a.conj().T).astype(dtype)
    w, v = ts.eigh(h)
    want = np.linalg.eigvalsh(h)
    near(w, want)
    near(h @ v, (v * w).astype(dtype), 1000)
    near(ts.eigh(np.triu(h), UPLO="U").eigenvalues, want)
    near(ts.eigvalsh(h), want)
    near(ts.eigh(h, subset_by_index=(2, 5)).eigenvalues, want[2:6])
    inside = ts.eigh(h, subset_by_value=(0, 100)).eigenvalues
    near(inside, want[want > 0])
    (w, _), report = ts.eigh(h, certify=True, return_accuracy=True)
    exact = np.linalg.eigvalsh(h.astype(np.complex128))
    assert report.rigorous and (np.abs(w - exact) <= report.more["error_bounds"] + 1e-13 * np.abs(exact).max()).all()
    b = spd(14, dtype)
    w, v = ts.eigh_generalized(h, b)
    near(w, sl.eigh(h, b, eigvals_only=True), 1000)
    assert np.abs(v.conj().T @ b @ v - np.eye(14)).max() < 400 * np.finfo(dtype).eps
    w, v = ts.eig(a)
    assert np.abs(a @ v - v * w).max() < 400 * np.finfo(dtype).eps * np.abs(w).max()
    distance = np.abs(ts.eigvals(a)[:, None] - np.linalg.eigvals(a)[None]).min(axis=1)
    assert distance.max() < 1e4 * np.finfo(dtype).eps
    w, left, right = ts.eig(a, left=True)
    assert np.abs(left.conj().T @ a - w[:, None] * left.conj().T).max() < 400 * np.finfo(dtype).eps * np.abs(w).max()
    t, z = ts.schur(a)
    near(z @ t @ z.conj().T, a, 400)
    m = dense(9, 6, dtype=dtype)
    u, s, vh = ts.svd(m)
    near(s, np.linalg.svd(m, compute_uv=False))
    near((u * s) @ vh, m)
    assert ts.svd(m, True).U.shape == (9, 9)
    near(ts.svdvals(m), s)


@pytest.mark.parametrize("dtype", TYPES)
def test_functions(dtype):
    a, h = dense(7, 7, dtype=dtype), spd(7, dtype)
    for name in ("expm", "cosm", "sinm"):
        near(getattr(ts, name)(a), getattr(sl, name)(a).astype(dtype), 4000)
    near(ts.logm(h), sl.logm(h.astype(wide(dtype))).astype(dtype), 1000)
    near(ts.sqrtm(h) @ ts.sqrtm(h), h, 1000)
    near(ts.signm(h), np.eye(7, dtype=dtype), 4000)
    x = ts.inv_sqrt_spd(h)
    near(x @ h @ x, np.eye(7, dtype=dtype), 1000)
    near(ts.inv_sqrt_spd_ns(h).X, x, 4000)
    u, p = ts.polar(dense(9, 7, dtype=dtype))
    near(u.conj().T @ u, np.eye(7, dtype=dtype), 100)
    _, report = ts.sqrtm(np.diag([-1.0, 2.0]), return_accuracy=True)
    assert report.outcome.status == "not defined"
    near(ts.expm_multiply(a, np.ones(7, dtype), 0.5), sl.expm(0.5 * a).astype(dtype) @ np.ones(7, dtype), 4000)


def laplace(dtype):
    return ss.csr_array(sp.poisson(12, 12).to_scipy().astype(dtype))


@pytest.mark.parametrize("dtype", TYPES)
def test_iterations(dtype):
    a = laplace(dtype)
    b = dense(144, dtype=dtype)
    want = np.linalg.solve(a.toarray(), b)
    tol = 30 * np.finfo(dtype).eps
    for method in ("cg", "block_cg", "minres", "gmres", "fgmres", "bicgstab", "idr"):
        (x, iterations, residual), report = getattr(ts, method)(a, b, tol=tol, return_accuracy=True)
        assert report.ok and residual <= tol and iterations > 0, method
        assert np.linalg.norm(x - want) <= 200 * tol * np.linalg.norm(want)
        assert abs(np.linalg.norm(b - a @ x) / np.linalg.norm(b) - residual) <= tol
    d = a.toarray()
    for m in (sp.ic0(a), sp.amg(a), sp.jacobi(a), ts.jacobi_preconditioner(d), ts.block_jacobi_preconditioner(d, 12),
              ts.ssor_preconditioner(d), lambda v: v / 4, np.linalg.inv(d.astype(wide(dtype))).astype(dtype)):
        x, iterations, residual = ts.cg(d, b, tol=tol, M=m)
        assert residual <= tol and np.linalg.norm(x - want) <= 200 * tol * np.linalg.norm(want)
    for A in (ssl.aslinearoperator(a), lambda v: a @ v, sp.CSRMatrix.from_scipy(a)):
        assert ts.cg(A, b, tol=tol).residual <= tol
    x0 = want * 1.0001
    assert ts.cg(a, b, x0, tol).iterations < ts.cg(a, b, None, tol).iterations
    w = np.linalg.eigvalsh(d)
    assert ts.chebyshev(a, b, (w[0] * 0.99, w[-1] * 1.01), tol=1e-4).residual <= 1e-4
    block = dense(144, 3, dtype=dtype)
    assert ts.cg(a, block, tol=tol).x.shape == (144, 3)
    tall = ss.csr_array(np.vstack([d, np.eye(144, dtype=dtype)]))
    for A in (tall, ssl.aslinearoperator(tall)):
        x = ts.lsqr(A, dense(288, dtype=dtype) * 0 + 1, tol=1e-5).x
        want = np.linalg.lstsq(tall.toarray(), np.ones(288, dtype), rcond=None)[0]
        assert np.linalg.norm(x - want) < 1e-3 * np.linalg.norm(want)


def test_iterations_that_do_not_end_well():
    a = laplace(np.float64)
    b = np.ones(144)
    (x, iterations, residual), report = ts.cg(a, b, maxiter=3, return_accuracy=True)
    assert iterations == 3 and report.outcome.status == "not converged" and residual > 1e-6
    with pytest.warns(trnsci.NumericalWarning, match="not converged"):
        ts.cg(a, b, maxiter=3)
    _, report = ts.cg(-a, b, return_accuracy=True)
    assert report.outcome.status == "not positive definite"
    seen = []
    ts.cg(a, b, monitor=lambda i, r: seen.append((i, r[0])) or i < 5, return_accuracy=True)
    assert [i for i, _ in seen] == [1, 2, 3, 4, 5]

    def broken(v):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        ts.cg(broken, b)
    with pytest.raises(ValueError):
        ts.cg(lambda v: v[:3], b)
    with pytest.raises(ValueError, match="shape"):
        ts.eigsh(lambda v: v, 2)
    with pytest.raises(NotImplementedError, match="adjoint"):
        class OneWay:
            shape, dtype = (4, 4), np.dtype(float)
            matvec = staticmethod(lambda v: v)
        ts.lsqr(OneWay(), np.ones(4))


def test_interrupt():
    import signal

    def interrupting(i, r):
        if i == 2:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        ts.cg(laplace(np.float64), np.ones(144), tol=1e-12, monitor=interrupting)


@pytest.mark.parametrize("dtype", TYPES)
def test_few_eigenvalues(dtype):
    a = laplace(dtype)
    w = np.linalg.eigvalsh(a.toarray())
    for method in (ts.eigsh, ts.lobpcg, ts.filtered_subspace):
        values, vectors = method(a, 3)
        assert np.allclose(values, w[:3], rtol=2e-3 if np.finfo(dtype).eps > 1e-8 else 1e-7)
        assert np.abs(vectors.conj().T @ vectors - np.eye(3)).max() < 1e-4
    assert np.allclose(ts.eigsh(a, 2, which="LA").eigenvalues, w[-2:], rtol=2e-3)
    assert np.allclose(ts.lobpcg(a, 3, sp.amg(a)).eigenvalues, w[:3], rtol=2e-3)


@pytest.mark.parametrize("dtype", TYPES)
def test_randomised(dtype):
    u, s, vh = np.linalg.svd(dense(60, 40, dtype=dtype), full_matrices=False)
    a = ((u * 2.0 ** -np.arange(40)) @ vh).astype(dtype)
    (u, s, vh), report = ts.rsvd(a, 8, return_accuracy=True)
    error = np.linalg.norm(a - (u * s) @ vh)
    assert error <= report.more["error"] * (1 + 1e-6) and report.rigorous and np.allclose(s, 2.0 ** -np.arange(8), rtol=1e-3)
    h = spd(40, dtype) / 40
    w = np.linalg.eigvalsh(h)[::-1]
    assert np.allclose(ts.eigh_randomized(h, 4, power_iterations=12).eigenvalues, w[:4], rtol=1e-2)
    decay = (u[:, :8] * np.float64(2.0) ** -np.arange(8)) @ u[:, :8].conj().T
    w, v = ts.nystroem(decay.astype(dtype), 8)
    # The rank is 8, so only rounding is left, relative to the largest: 2^7 eps for the smallest, times the order.
    assert np.allclose(w, 2.0 ** -np.arange(8), rtol=1e4 * np.finfo(dtype).eps)
    exact = np.trace(h)
    for method in (ts.hutchinson, ts.hutch_plus_plus):
        t = method(h, 30, seed=3)
        assert abs(t.value - exact) <= 6 * t.standard_error + 1e-4 * abs(exact) and t.products > 0 and t.outcome.ok
    assert abs(ts.hutch_plus_plus(decay.astype(dtype), 60).value - np.trace(decay)) < 1e-3


def test_on_a_device():
    h = spd(64, np.float32)
    with trnsci.use("sim:trn2"), trnsci.record() as r:
        l, report = ts.cholesky(h, return_accuracy=True)
    assert r.count("run") >= 1 and report.algorithm == "blocked cholesky"
    low = np.tril(l).astype(float)
    assert (np.abs(np.tril(h - low @ low.T)) <= report.bound * (np.abs(low) @ np.abs(low).T)).all()
    d = trnsci.asarray(h, "sim:trn2")
    (w, v) = ts.eigh(d)
    assert np.allclose(w.numpy(), np.linalg.eigvalsh(h.astype(float)), rtol=1e-4)
    x, iterations, residual = ts.cg(d, trnsci.asarray(np.ones((64, 2), np.float32), "sim:trn2"), tol=1e-5)
    assert residual <= 1e-5 and np.allclose(h @ x.numpy(), 1, atol=1e-3)
    with pytest.raises(NotImplementedError):
        ts.eig(d)


def test_inverse_that_overflows():
    x, report = ts.inv_spd(np.eye(2) * 1e-310, return_accuracy=True)
    assert report.outcome.status != "ok" and not np.isfinite(x).all()
