"""SciPy's linalg on the drop-in LAPACK: factorisations, drivers and workspace queries against residuals. The test that starts it looks at
the report of served calls."""
import concurrent.futures

import numpy as np
import scipy
import scipy.linalg as la

random = np.random.default_rng(5)


def close(a, b, dtype, scale):
    error = np.abs(a - b).max() / scale
    assert error < 200 * np.finfo(dtype).eps, error


def check(dtype, n):
    a = random.standard_normal((n, n)).astype(dtype)
    b = random.standard_normal((n + 7, n)).astype(dtype)
    if np.iscomplexobj(a):
        a, b = a + 1j * random.standard_normal(a.shape).astype(a.real.dtype), b + 1j * random.standard_normal(b.shape).astype(b.real.dtype)
        a, b = a.astype(dtype), b.astype(dtype)
    h = (a + a.conj().T) / 2
    spd = a @ a.conj().T + n * np.eye(n, dtype=dtype)
    x = np.ones(n, dtype)
    l = la.cholesky(spd, lower=True)
    close(l @ l.conj().T, spd, dtype, np.abs(spd).max() * n)
    close(la.cho_solve((l, True), spd @ x), x, dtype, np.linalg.cond(spd))
    p, lo, up = la.lu(a)
    close(p @ lo @ up, a, dtype, n)
    close(la.solve(a, a @ x), x, dtype, np.linalg.cond(a))
    close(la.inv(spd) @ spd, np.eye(n), dtype, np.linalg.cond(spd))
    q, r = la.qr(b, mode="economic")
    close(q @ r, b, dtype, n)
    close(q.conj().T @ q, np.eye(n), dtype, n)
    for driver in ("ev", "evd", "evr", "evx"):
        w, v = la.eigh(h, driver=driver)
        close(h @ v, v * w, dtype, n * np.abs(w).max())
        close(v.conj().T @ v, np.eye(n), dtype, n)
    for driver in ("gv", "gvd", "gvx"):
        w, v = la.eigh(h, spd, driver=driver)
        close(h @ v, spd @ v * w, dtype, n * np.abs(spd).max())
    for driver in ("gesvd", "gesdd"):
        for m in (b, b.conj().T):
            for full in (False, True):
                u, s, vh = la.svd(m, full_matrices=full, lapack_driver=driver)
                k = len(s)
                close(u[:, :k] * s @ vh[:k], m, dtype, n * s[0])
                close(u.conj().T @ u, np.eye(u.shape[1]), dtype, n)
                close(vh @ vh.conj().T, np.eye(vh.shape[0]), dtype, n)
            close(la.svd(m, compute_uv=False, lapack_driver=driver), s, dtype, s[0] * n)
    w, v = la.eig(a)
    close(a @ v, v * w, dtype, n * np.abs(w).max())
    t, z = la.schur(a)
    close(z @ t @ z.conj().T, a, dtype, n * n)
    for driver in ("gelsd", "gelsy", "gelss"):
        close(la.lstsq(b, b @ x, lapack_driver=driver)[0], x, dtype, np.linalg.cond(b))
    lu, d, perm = la.ldl(h)
    close(lu @ d @ lu.conj().T, h, dtype, n * n)


for dtype in (np.float32, np.float64, np.complex64, np.complex128):
    for n in (2, 5, 60):
        check(dtype, n)
with concurrent.futures.ThreadPoolExecutor(4) as pool:  # callers at the same time
    list(pool.map(lambda n: check(np.float64, n), [20, 30, 40, 50, 60, 35, 45, 26]))
try:
    la.cholesky(-np.eye(3))
except la.LinAlgError as e:
    assert "1-th leading minor" in str(e), e
else:
    raise AssertionError("an indefinite matrix was factored")
print("scipy", scipy.__version__, "agrees")
