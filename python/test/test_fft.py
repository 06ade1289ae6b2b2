"""trnsci.fft against NumPy and SciPy, which are other programs."""
import numpy as np
import pytest
import scipy.fft

import trnsci
from trnsci import fft

RNG = np.random.default_rng(7)
ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
SEVERAL = ["fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn", "fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2"]


def array(name, shape, dtype=np.float64):
    x = RNG.standard_normal(shape)
    if name.startswith(("rfft", "ihfft")):
        return x.astype(dtype)
    return (x + 1j * RNG.standard_normal(shape)).astype(np.result_type(dtype, np.complex64))


def near(y, want, single=False):
    assert y.shape == want.shape and y.dtype == want.dtype
    assert np.linalg.norm(y - want) <= (4e-6 if single else 4e-15) * max(np.linalg.norm(want), 1e-300)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
def test_one_axis(name, norm):
    for n in [2, 3, 8, 30, 97, 256, 1001]:
        for single in (False, True):
            x = array(name, (3, n), np.float32 if single else np.float64)
            near(getattr(fft, name)(x, norm=norm), getattr(scipy.fft, name)(x, norm=norm), single)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("n", [5, 12, 20])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_cut_and_padded(name, n, axis):
    x = array(name, (12, 14, 11))[::2, ::-1]
    near(getattr(fft, name)(x, n, axis), getattr(scipy.fft, name)(x, n, axis))


@pytest.mark.parametrize("name", SEVERAL)
def test_several_axes(name):
    x = array(name, (6, 5, 8))
    axes_list = [(0, 1), (2, 0), (1, 2)] + ([None] if not name.endswith("2") else [])
    for axes in axes_list:
        near(getattr(fft, name)(x, axes=axes), getattr(scipy.fft, name)(x, axes=axes))
    near(getattr(fft, name)(x, s=(7, 4)), getattr(scipy.fft, name)(x, s=(7, 4)))


@pytest.mark.parametrize("name", ["fft", "ifft", "fftn", "ifft2"])
def test_real_arrays_are_mirrored(name):
    for shape in [(1, 1), (2, 3), (4, 5, 6), (3, 7, 4), (5, 4, 9)]:
        x = RNG.standard_normal(shape)
        near(getattr(fft, name)(x), getattr(scipy.fft, name)(x))
        y, accuracy = getattr(fft, name)(x, return_accuracy=True)
        exact = getattr(scipy.fft, name)(x.astype(np.longdouble))
        assert np.linalg.norm(y - exact) <= accuracy.bound * np.linalg.norm(exact)


@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_cosine(name, kind):
    x = RNG.standard_normal((4, 9))
    for norm in [None, "forward"]:
        near(getattr(fft, name)(x, kind, norm=norm), getattr(scipy.fft, name)(x, kind, norm=norm))
        near(getattr(fft, name + "n")(x, kind, norm=norm), getattr(scipy.fft, name + "n")(x, kind, norm=norm))
    near(getattr(fft, name)(x + 2j * x, kind, n=6, axis=0), getattr(scipy.fft, name)(x + 2j * x, kind, n=6, axis=0))


def test_helpers():
    for n in [1, 2, 5, 8]:
        np.testing.assert_allclose(fft.fftfreq(n, 0.3), scipy.fft.fftfreq(n, 0.3), rtol=4e-16)  # theirs rounds twice
        np.testing.assert_allclose(fft.rfftfreq(n, 0.3), scipy.fft.rfftfreq(n, 0.3), rtol=4e-16)
        for kind in (np.float64, np.complex64, np.int32):
            x = np.arange(n * 3).reshape(n, 3).astype(kind)
            np.testing.assert_array_equal(fft.fftshift(x), scipy.fft.fftshift(x))
            np.testing.assert_array_equal(fft.ifftshift(x, axes=0), scipy.fft.ifftshift(x, axes=0))
    assert fft.fftfreq(4, dtype=np.float32).dtype == np.float32
    assert fft.next_fast_len(1021) == 1024


def test_hankel():
    r = np.logspace(-3, 3, 64)
    dln = np.log(r[1] / r[0])
    a = r * np.exp(-r * r)
    for mu, bias in [(0.0, 0.0), (1.5, 0.2), (0.0, -0.4)]:
        offset = fft.fhtoffset(dln, mu, 0.1, bias)
        assert abs(offset - scipy.fft.fhtoffset(dln, mu, 0.1, bias)) < 1e-12
        want = scipy.fft.fht(a, dln, mu, offset, bias)
        np.testing.assert_allclose(fft.fht(a, dln, mu, offset, bias), want, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(fft.ifht(want, dln, mu, offset, bias), a, rtol=1e-8, atol=1e-10)


def test_plan():
    for name in ["fft", "rfft", "irfft"]:
        x = array(name, (4, 9), np.float32)
        plan = fft.Plan(name, x.shape, np.float32)
        near(plan(x), getattr(scipy.fft, name)(x), True)
        out = np.empty(plan.output_shape, plan(x).dtype)
        assert plan(x, out=out) is out
        near(out, getattr(scipy.fft, name)(x), True)
        near(plan(np.asfortranarray(x)), getattr(scipy.fft, name)(x), True)
    with pytest.raises(ValueError, match="the plan is for"):
        plan(x[1:])
    assert plan.accuracy.bound > 0


def test_no_copies_on_the_host():
    x = array("fft", (64, 64))
    y = np.empty_like(x)
    with trnsci.record("host") as r:
        fft.fft(x, axis=0)
        fft.fft(x[::2], out=y[::2])
        fft.rfft(x.real)
    assert r.count("copy") == 0 and r.count("dispatch") > 0


def test_device():
    x = array("fft", (3, 64), np.float32)
    want = scipy.fft.fft(x)
    with trnsci.use("sim:trn2"), trnsci.record() as r:
        y, accuracy = fft.fft(x, return_accuracy=True)
    near(y, want, True)
    assert r.family_of("fft.c2c") == "device" and r.modelled_seconds > 0
    assert np.linalg.norm(y - want) <= accuracy.bound * np.linalg.norm(want)
    a = trnsci.asarray(x, "sim:trn2")
    b = fft.ifft(fft.fft(a))
    assert isinstance(b, trnsci.Array) and b.executor == a.executor
    near(b.numpy(), x, True)


def test_scipy_backend():
    x = array("fft", (3, 10))
    before = fft.backend_calls.get("fft", 0)
    with scipy.fft.set_backend(fft, only=True):
        near(scipy.fft.fft(x), np.fft.fft(x))
    assert fft.backend_calls["fft"] == before + 1


def test_numpys_own_names():
    x = np.random.default_rng(4).standard_normal((6, 8))
    z = x + 1j * x[::-1]
    theirs = {name: getattr(np.fft, name) for name in ("fft", "rfftn", "irfftn", "fftn")}
    before = dict(fft.backend_calls)
    with fft.in_numpy(), fft.in_numpy():
        assert np.fft.fft is not theirs["fft"] and np.fft.fft(x.astype(np.float32)).dtype == np.complex64
        np.testing.assert_allclose(np.fft.fft(z, 5, 0, "ortho"), theirs["fft"](z, 5, 0, "ortho"), atol=1e-13)
        np.testing.assert_allclose(np.fft.rfftn(x, (9, 9), (0, 1)), theirs["rfftn"](x, (9, 9), (0, 1)), atol=1e-12)
        # An axis given twice is transformed twice, the last one first.
        np.testing.assert_allclose(np.fft.fftn(z, (4, 6, 8), (0, 0, 1)), theirs["fftn"](z, (4, 6, 8), (0, 0, 1)), atol=1e-12)
        np.testing.assert_allclose(np.fft.irfftn(z, (4, 6, 8), (0, 0, 1)), theirs["irfftn"](z, (4, 6, 8), (0, 0, 1)), atol=1e-12)
        out = z.copy()
        assert np.fft.fft(out, 4, 0, out=out[:4]).base is out and np.array_equal(out[4:], z[4:])  # memory of the operand
        np.testing.assert_allclose(out[:4], theirs["fft"](z, 4, 0), atol=1e-12)
        with pytest.raises(ValueError, match="wrong shape"):
            np.fft.fft(z, out=np.empty(3, complex))
        with pytest.raises(TypeError, match="Cannot cast"):
            np.fft.fft(z, out=np.empty(z.shape))
        with pytest.raises(TypeError, match="ArrayType"):
            np.fft.fft(z, out="no")
        with pytest.raises(ValueError, match="Invalid number of FFT data points"):
            np.fft.ifft([])
        assert np.fft.fft(np.ones(4, np.longdouble)).dtype in (np.clongdouble, np.complex128)  # NumPy's own
    assert all(getattr(np.fft, name) is f for name, f in theirs.items())
    assert fft.backend_calls["fft"] >= before.get("fft", 0) + 3 and fft.backend_declined["fft"] >= 1


@pytest.mark.parametrize("name, mu, bias", [("fht", -3.5, 0.5), ("ifht", -2.5, 0.5)])
def test_singular_hankel_transforms(name, mu, bias):
    a = np.random.default_rng(6).standard_normal(64)
    with pytest.warns(trnsci.NumericalWarning, match="singular transform"):
        ours = getattr(fft, name)(a, 0.3, mu, bias=bias)
    with pytest.warns(Warning):
        theirs = getattr(scipy.fft, name)(a, 0.3, mu, bias=bias)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())
