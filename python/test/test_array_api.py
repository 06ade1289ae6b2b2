"""The array-API namespace: our functions where it says so, NumPy's elsewhere."""
import numpy as np
import pytest

import trnsci.array_api as xp

RNG = np.random.default_rng(4)


@pytest.mark.parametrize("a, b", [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)),
                                  ((5, 1, 2, 3), (6, 3, 4)), ((0, 3), (3, 2)), ((2, 0), (0, 3))])
@pytest.mark.parametrize("t", [np.float32, np.complex128, np.int64])
def test_matmul(a, b, t):
    x, y = (RNG.standard_normal(s) * 4 for s in (a, b))
    x, y = x.astype(t), y.astype(t)
    z = xp.matmul(x, y)
    assert z.dtype == np.matmul(x, y).dtype and z.shape == np.matmul(x, y).shape
    np.testing.assert_allclose(z, np.matmul(x, y), rtol=1e-4, atol=1e-4)


def test_others():
    x, y = RNG.standard_normal((4, 3, 2)), RNG.standard_normal((4, 1, 2))
    np.testing.assert_allclose(xp.vecdot(x, y), (x * y).sum(-1))
    np.testing.assert_allclose(xp.vecdot(x + 1j, y + 0j, axis=0), ((x - 1j) * y).sum(0))
    assert xp.vecdot(np.ones((2, 3), np.uint8), np.ones(3, np.uint8)).dtype == np.uint8
    with pytest.raises(ValueError, match="axes have"):
        xp.vecdot(x, y[..., :1])
    np.testing.assert_allclose(xp.tensordot(x, x, axes=((0, 1), (0, 1))), np.tensordot(x, x, ((0, 1), (0, 1))))
    np.testing.assert_allclose(xp.fft.rfft(x, n=4, axis=0), np.fft.rfft(x, 4, 0))
    assert xp.fft.fftfreq(4, d=2.0, dtype=np.float32).dtype == np.float32
    assert xp.linalg.matmul is xp.matmul and xp.asarray is np.asarray
    assert xp.calls["vecdot"] == 2 and xp.calls["rfft"] == 1
    with pytest.raises(ValueError):
        xp.matmul(x[0], x[0])


STACKS = [(3, 3), (2, 4, 4), (2, 1, 3, 3)]


@pytest.mark.parametrize("shape", STACKS)
@pytest.mark.parametrize("t", [np.float32, np.float64, np.complex128])
def test_linalg(shape, t):
    a = RNG.standard_normal(shape)
    a = (a + 1j * RNG.standard_normal(shape) if np.dtype(t).kind == "c" else a).astype(t)
    h = a @ a.conj().swapaxes(-1, -2) + np.eye(shape[-1], dtype=t)
    slack = 2e-3 if t == np.float32 else 1e-9
    before = dict(xp.calls)

    def same(x, y):
        assert x.shape == y.shape and x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=slack, atol=slack)
    turned = xp.linalg
    same(turned.cholesky(h), np.linalg.cholesky(h))
    same(turned.cholesky(h, upper=True), np.linalg.cholesky(h).conj().swapaxes(-1, -2))
    same(turned.inv(h), np.linalg.inv(h))
    same(turned.det(h), np.linalg.det(h))
    sign, logdet = turned.slogdet(h)
    same(sign, np.linalg.slogdet(h)[0])
    same(logdet, np.linalg.slogdet(h)[1])
    same(turned.pinv(a[..., :2]), np.linalg.pinv(a[..., :2]))
    same(turned.eigvalsh(h), np.linalg.eigvalsh(h))
    w, v = turned.eigh(h)
    same(v * w[..., None, :] @ v.conj().swapaxes(-1, -2), h)
    for full in (True, False):
        u, s, vh = turned.svd(a[..., :2], full_matrices=full)
        same(u[..., :2] * s[..., None, :] @ vh, a[..., :2])
        assert u.shape == np.linalg.svd(a[..., :2], full_matrices=full)[0].shape
    q, r = turned.qr(a, mode="complete")
    same(q @ r, a)
    assert (turned.matrix_rank(h) == shape[-1]).all() and turned.matrix_rank(h).shape == shape[:-2]
    b = a[..., :2]
    same(turned.solve(h, b), np.linalg.solve(h, b))
    vector = a[(0,) * (a.ndim - 2)][0]
    same(turned.solve(h, vector), (np.linalg.inv(h) @ vector[:, None])[..., 0])
    reached = {k for k in xp.calls if xp.calls[k] > before.get(k, 0)}
    assert {"cholesky", "inv", "det", "slogdet", "pinv", "eigvalsh", "eigh", "svd", "qr", "matrix_rank", "solve"} <= reached


def test_linalg_refusals_and_what_stays_numpys():
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        xp.linalg.inv(np.zeros((2, 2)))
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        xp.linalg.cholesky(-np.eye(3))
    with pytest.raises(ValueError, match="mode"):
        xp.linalg.qr(np.eye(2), mode="raw")
    diagonals = np.stack([np.diag([1.0, 0.1, 0.01])] * 3)
    limits = np.array([0.5, 0.05, 1.0])
    np.testing.assert_allclose(xp.linalg.pinv(diagonals, rtol=limits), np.linalg.pinv(diagonals, limits))
    assert xp.linalg.matrix_rank(diagonals, rtol=limits).tolist() == [1, 2, 0]
    before = dict(xp.calls)
    assert xp.linalg.inv(np.ones((0, 3, 3))).shape == (0, 3, 3) and xp.linalg.det(np.eye(2, dtype=int)) == 1
    assert xp.calls == before
