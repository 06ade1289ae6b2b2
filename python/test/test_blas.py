"""trnsci.blas against NumPy."""
import numpy as np
import pytest

import trnsci
from trnsci import blas

RNG = np.random.default_rng(3)
TYPES = [np.float32, np.float64, np.complex64, np.complex128]


def array(shape, dtype):
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def near(y, want, dtype):
    want = np.asarray(want)
    assert np.asarray(y).shape == want.shape
    single = np.dtype(dtype).char in "fF"
    assert np.linalg.norm(np.asarray(y) - want) <= (1e-5 if single else 1e-13) * (1 + np.linalg.norm(want))


@pytest.mark.parametrize("t", TYPES)
def test_level1(t):
    x, y = array(9, t), array(9, t)
    near(blas.axpy(2, x, y), 2 * x + y, t)
    assert blas.axpy(2, x, y).dtype == t
    near(blas.scal(3, x[::2]), 3 * x[::2], t)
    near(blas.dot(x, y), (x * y).sum(), t)
    near(blas.dotc(x, y), np.vdot(x, y), t)
    near(blas.nrm2(x[::-1]), np.linalg.norm(x), t)
    near(blas.asum(x), np.abs(x.real).sum() + np.abs(x.imag).sum(), t)
    assert blas.iamax(x) == np.argmax(np.abs(x.real) + np.abs(x.imag))
    assert blas.iamin(x) == np.argmin(np.abs(x.real) + np.abs(x.imag))
    a, b = blas.rot(x, y, 0.6, 0.8)
    near(a, 0.6 * x + 0.8 * y, t)
    near(b, 0.6 * y - 0.8 * x, t)
    c, s, r, _ = blas.rotg(3.0, 4.0)
    assert np.allclose([c, s, r], [0.6, 0.8, 5.0])


def triangle(a, uplo, diag="nonunit"):
    a = np.triu(a) if uplo == "upper" else np.tril(a)
    return a if diag == "nonunit" else a - np.diag(np.diag(a)) + np.eye(len(a))


@pytest.mark.parametrize("t", TYPES)
@pytest.mark.parametrize("uplo", ["upper", "lower"])
def test_level2(t, uplo):
    a, s, x, y, z = array((5, 7), t), array((5, 5), t), array(7, t), array(5, t), array(5, t)
    near(blas.gemv(2, a, x, 3, y), 2 * a @ x + 3 * y, t)
    near(blas.gemv(1, a, y, trans=True), a.T @ y, t)
    near(blas.gemv(1, a, y, trans="C"), a.conj().T @ y, t)
    full = triangle(s, uplo)
    near(blas.symv(2, s, y, 1, z, uplo), 2 * (full + full.T - np.diag(np.diag(full))) @ y + z, t)
    herm = full - np.diag(np.diag(full))
    near(blas.hemv(2, s, y, 1, z, uplo), 2 * (herm + herm.conj().T + np.diag(np.diag(full).real)) @ y + z, t)
    near(blas.ger(2, y, x, a), 2 * np.outer(y, x) + a, t)
    near(blas.gerc(2, y, x), 2 * np.outer(y, x.conj()), t)
    near(blas.syr(2, y, s, uplo), s + triangle(2 * np.outer(y, y), uplo), t)
    near(triangle(blas.her(2, y, None, uplo), uplo), triangle(2 * np.outer(y, y.conj()), uplo), t)
    near(blas.syr2(2, y, z, None, uplo), triangle(2 * (np.outer(y, z) + np.outer(z, y)), uplo), t)
    near(blas.her2(2, y, z, None, uplo), triangle(2 * (np.outer(y, z.conj()) + np.outer(z, y.conj())), uplo), t)
    m = s + 4 * np.eye(5, dtype=t)
    for diag in ["unit", "nonunit"]:
        near(blas.trmv(m, y, uplo, "T", diag), triangle(m, uplo, diag).T @ y, t)
        near(blas.trsv(m, y, uplo, False, diag), np.linalg.solve(triangle(m, uplo, diag), y), t)


@pytest.mark.parametrize("t", TYPES)
@pytest.mark.parametrize("uplo", ["upper", "lower"])
def test_level3(t, uplo):
    a, b, c, s = array((4, 6), t), array((6, 5), t), array((4, 5), t), array((4, 4), t)
    near(blas.gemm(2, a, b, 3, c), 2 * a @ b + 3 * c, t)
    near(blas.gemm(1, a.T, np.asfortranarray(b.T), transA="T", transB=True), a @ b, t)
    y, accuracy = blas.gemm(1, a, b, precision="exact", return_accuracy=True)
    near(y, a @ b, t)
    assert accuracy.mode == "exact"
    full = triangle(s, uplo)
    sym = full + full.T - np.diag(np.diag(full))
    her = full - np.diag(np.diag(full))
    her = her + her.conj().T + np.diag(np.diag(full).real)
    near(blas.symm(2, s, c, 1, c, "left", uplo), 2 * sym @ c + c, t)
    near(blas.symm(1, s, c.T, 0, None, "right", uplo), c.T @ sym, t)
    near(blas.hemm(2, s, c, 1, c, "left", uplo), 2 * her @ c + c, t)
    near(blas.syrk(2, a, 0, None, False, uplo), triangle(2 * a @ a.T, uplo), t)
    near(blas.syrk(2, a, 1, s, False, uplo), s + triangle(2 * a @ a.T, uplo), t)
    near(blas.herk(2, a, 0, None, True, "upper"), np.triu(2 * a.conj().T @ a), t)
    near(blas.syr2k(1, a, a + 1, 0, None, False, uplo), triangle(a @ (a + 1).T + (a + 1) @ a.T, uplo), t)
    near(blas.her2k(1, a, a + 1, 0, None, False, uplo), triangle(a @ (a + 1).conj().T + (a + 1) @ a.conj().T, uplo), t)
    m = s + 4 * np.eye(4, dtype=t)
    near(blas.trsm(2, m, c, "left", uplo), np.linalg.solve(triangle(m, uplo), 2 * c), t)
    near(blas.trmm(2, m, c.T, "right", uplo, "C", "unit"), 2 * c.T @ triangle(m, uplo, "unit").conj().T, t)
    near(blas.geam(2, a, 3, b[:4, :4].T @ np.zeros((4, 6), t)), 2 * a, t)
    near(blas.dgmm("right", a, b[:, 0]), a @ np.diag(b[:, 0]), t)
    u, v = array((3, 4, 6), t), array((3, 5, 6), t)
    near(blas.batched_gemm(2, u, v, transB=True), 2 * u @ v.transpose(0, 2, 1), t)


def test_types_are_promoted():
    assert blas.gemm(1, np.eye(2, dtype=np.float32), [[1, 2], [3, 4]]).dtype == np.float64
    assert blas.gemm(1, np.eye(2, dtype=np.float32), np.eye(2, dtype=np.complex64)).dtype == np.complex64
    assert blas.axpy(1, np.ones(2, np.complex64), np.ones(2)).dtype == np.complex128


def test_device():
    a, b = array((64, 32), np.float32), array((32, 48), np.float32)
    with trnsci.use("sim:trn2"), trnsci.record() as r:
        c = blas.gemm(1, a, b)
    near(c, a @ b, np.float32)
    assert r.family_of("blas.gemm") == "device" and r.count("copy") == 3
    d = blas.gemm(1, trnsci.asarray(a, "sim:trn2"), trnsci.asarray(b, "sim:trn2"))
    assert isinstance(d, trnsci.Array)
    near(d.numpy(), c, np.float32)
    with pytest.raises(ValueError, match="beside an array of NumPy"):
        blas.gemm(1, trnsci.asarray(a, "sim:trn2"), b)
    x = array((3, 3), np.float64)
    with pytest.raises(NotImplementedError):
        blas.gemm(1, x, x, executor="sim:trn2")
    near(blas.gemm(1, x, x, executor="sim:trn2", precision="exact"), x @ x, np.float64)


def test_bad_input():
    x = np.ones((2, 3))
    with pytest.raises(ValueError):
        blas.gemm(1, x, x)
    with pytest.raises(ValueError, match="rank 2"):
        blas.dot(x, x)
    with pytest.raises(ValueError, match="complex factor"):
        blas.scal(1j, x[0])
    with pytest.raises(ValueError, match="uplo"):
        blas.syrk(1, x, uplo="middle")
    with pytest.raises(ValueError, match="trans"):
        blas.gemv(1, x, x[0], trans="X")
    with pytest.raises(ValueError, match="C has shape"):
        blas.gemm(1, x, x.T, 1, np.ones((3, 3)))


def test_stochastic_rounding():
    n = 1000
    ones, w = np.ones(n, np.float32), np.ones(n, np.float16)
    quarter = 2.0**-12  # of float16's unit at 1
    host = blas.axpy(quarter, ones, w, precision="sr", seed=7, step=3)
    assert host.dtype == np.float16 and set(host.tolist()) == {1.0, 1 + 2.0**-10}
    assert abs((host > 1).mean() - 0.25) < 5 * np.sqrt(0.25 * 0.75 / n)
    with trnsci.use("sim:trn2"), trnsci.record() as r:
        device = blas.axpy(quarter, ones, w, precision="sr", seed=7, step=3)
    assert r.family_of("blas.axpy") == "device" and (device == host).all()
    assert (blas.axpy(quarter, ones, w, precision="sr", seed=7, step=4) != host).any()
    assert (blas.to_float16(ones + np.float32(quarter), precision="sr", seed=7, step=3) == host).all()
    assert (blas.to_float16(ones + np.float32(quarter)) == 1).all()
    for given in ([1.5, 2], (1.5, 2.0), [[1.5, 2], [-3, 1e9]], [], 1.5, 7, True, np.arange(5), np.float16([1.5, 2])):
        with np.errstate(over="ignore"):
            expected = np.asarray(given).astype(np.float16)
        found = blas.to_float16(given)
        assert np.shape(found) == expected.shape and np.asarray(found).dtype == np.float16 and (found == expected).all(), given
    for wrong in (np.ones(2), [1j], ["a"], [None], np.longdouble([1])):
        with pytest.raises(TypeError):
            blas.to_float16(wrong)
    assert (blas.scal(1 + quarter, w, precision="sr", seed=7, step=3) == host).all()
    assert (blas.axpby(quarter, ones, 1, w, precision="sr", seed=7, step=3) == host).all()
    moment = blas.axpby(0.25, ones, 0.75, 3 * w, precision="sr", seed=7, step=3)
    assert (moment == 2.5).all() and moment.dtype == np.float16 and (blas.axpby(quarter, ones, 1, w) == 1).all()
    with trnsci.use("sim:trn2"), trnsci.record() as r:
        assert (blas.axpby(quarter, ones, 1, w, precision="sr", seed=7, step=3) == host).all()
    assert r.family_of("blas.axpby") == "device"
    a = (np.arange(12).reshape(3, 4) % 5 - 2).astype(np.float16)
    exact = 0.3 * (a.astype(np.float64) @ a.astype(np.float64).T)
    c, accuracy = blas.gemm(0.3, a, a, transB=True, precision="sr", seed=1, return_accuracy=True)
    assert c.dtype == np.float16 and (np.abs(c - exact) <= np.spacing(np.abs(exact).astype(np.float16))).all()
    assert 2.0**-10 < accuracy.bound < 2.0**-9
    assert (blas.gemm(0.3, a, a, transB=True, precision="sr", seed=1, executor="sim:trn1") == c).all()
    assert (blas.matmul(a, a.T, precision="sr") == a @ a.T).all()
    for wrong in (lambda: blas.axpy(1, ones, ones, precision="sr"), lambda: blas.matmul(a, a.T.astype(np.float32), precision="sr")):
        with pytest.raises(TypeError):
            wrong()
    for wrong in (lambda: blas.scal(1, w, seed=3), lambda: blas.axpy(1, ones, w, precision="exact"),
                  lambda: blas.matmul(a, a.T, seed=1), lambda: blas.axpy(1, ones, w, precision="sr", step=2**48)):
        with pytest.raises(ValueError):
            wrong()


def test_quantised_products():
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((20, 70)).astype(np.float32), rng.standard_normal((70, 30)).astype(np.float32)
    exact = a.astype(np.float64) @ b
    size = np.linalg.norm(a, axis=1)[:, None] * np.linalg.norm(b, axis=0)
    devices = {"fp8_e4m3": "sim:trn2", "fp8_e5m2": "sim:trn2", "fp8_e4m3fn": "sim:trn3", "mxfp8_e4m3": "sim:trn3",
               "mxfp8_e5m2": "sim:trn3", "mxfp4": None}
    assert tuple(sorted(devices)) == tuple(sorted(blas.QUANTIZED))
    for mode, device in devices.items():
        c, accuracy = blas.gemm(1, a, b, precision=mode, return_accuracy=True)
        assert c.dtype == np.float32 and accuracy.mode == mode and accuracy.bound > 2 * accuracy.operands > 0
        assert (np.abs(c - exact) <= accuracy.bound * size).all()
        assert 1e-3 < np.linalg.norm(c - exact) / np.linalg.norm(exact) < 0.5, mode
        if device:
            with trnsci.use(device), trnsci.record() as r:
                there = blas.gemm(1, a, b, precision=mode)
            assert r.family_of("blas.mx_gemm" if "mx" in mode else "blas.scaled_gemm") == "device" and (there == c).all()
    assert (blas.gemm(-2, a, b.T.copy(), 1, np.ones((20, 30), np.float32), transB=True, precision="fp8_e5m2")
            == 1 - 2 * blas.matmul(a, b, precision="fp8_e5m2")).all()
    with pytest.raises(TypeError):
        blas.matmul(a.astype(np.float64), b, precision="fp8_e4m3")
    with pytest.raises(NotImplementedError):
        blas.matmul(a, b, precision="fp8_e4m3", executor="sim:trn1")
    for wrong in (lambda: blas.matmul(a, b, precision="fp8"), lambda: blas.matmul(a, b, precision="mxfp4", seed=1)):
        with pytest.raises(ValueError):
            wrong()
