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
