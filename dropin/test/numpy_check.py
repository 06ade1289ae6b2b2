"""NumPy on the drop-in BLAS: matmul, dot, solve, eigenvalues and complex products against integer arithmetic and residuals. The test that starts it
looks at the report of served calls."""
import numpy as np

random = np.random.default_rng(3)
for dtype in (np.float32, np.float64, np.complex64, np.complex128):
    for shape in ((1, 1, 1), (7, 5, 3), (64, 33, 90)):
        m, n, k = shape
        # Small integers: every product and sum is exact in every type.
        a = random.integers(-9, 10, (m, k)).astype(dtype)
        b = random.integers(-9, 10, (k, n)).astype(dtype)
        if np.iscomplexobj(a):
            a = a + (1j * random.integers(-9, 10, (m, k))).astype(dtype)
        exact = np.einsum("ik,kj->ij", a.astype(complex), b.astype(complex), optimize=False)
        assert np.array_equal(a @ b, exact)
        assert np.array_equal(a[::-1] @ b[:, ::2], exact[::-1, ::2])
        assert np.array_equal(a.T.copy().T @ b, exact)
        assert np.array_equal(a @ b[:, 0], exact[:, 0])
        assert np.array_equal(a @ a.T, np.einsum("ik,jk->ij", a.astype(complex), a.astype(complex), optimize=False))
        assert np.vdot(a[0], a[0]) == np.sum(np.abs(a[0].astype(complex)) ** 2).round()
    n = 120
    a = (random.standard_normal((n, n)) + n * np.eye(n)).astype(dtype)
    x = np.linalg.solve(a, a.sum(axis=1))
    assert np.abs(x - 1).max() < 100 * np.finfo(dtype).eps, np.abs(x - 1).max()
    s = (a + a.conj().T) / 2
    w, v = np.linalg.eigh(s)
    assert np.abs(s @ v - v * w).max() < 100 * n * np.finfo(dtype).eps
print("numpy", np.__version__, "agrees")
