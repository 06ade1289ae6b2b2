"""8-bit floats with scales and MX matrices: bits against decoders and rounding of their own, products against float64."""
import numpy as np
import pytest

import trnsci
from trnsci import blas

R = np.random.default_rng(8)
FORMATS = {"float8_e4m3": (3, 7, 240.0), "float8_e5m2": (2, 15, 57344.0), "float8_e4m3fn": (3, 7, 448.0)}


def numbers(form):
    """The numbers >= 0 of a format, in order of their codes, from its definition."""
    bits, bias, largest = FORMATS[form]
    values = []
    for code in range(128):
        e, f = code >> bits, code & (2**bits - 1)
        values.append(f * 2.0 ** (1 - bias - bits) if e == 0 else (1 + f / 2**bits) * 2.0 ** (e - bias))
    return np.array([v for v in values if v <= largest])


def nearest(x, values):
    """The index of the number nearest to x >= 0, ties to the even index."""
    up = int(np.searchsorted(values, x))
    if up == 0 or up == len(values):
        return min(up, len(values) - 1)
    low, high = x - values[up - 1], values[up] - x
    return up - 1 if low < high or (low == high and (up - 1) % 2 == 0) else up


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("scales", ["matrix", "rows", "blocks"])
@pytest.mark.parametrize("axis", [0, 1])
def test_quantize(form, scales, axis):
    x = (R.standard_normal((5, 200)) * np.exp2(R.integers(-8, 9, (5, 200)))).astype(np.float32)
    given = x if axis == 1 else x.T
    q = blas.quantize(given, form, scales=scales, axis=axis)
    assert q.shape == given.shape and q.codes.shape == (5, 200) and q.codes.dtype == np.uint8
    values, largest = numbers(form), FORMATS[form][2]
    width = {"matrix": None, "rows": 200, "blocks": 128}[scales]
    for i in range(5):
        for at in range(0, 200, width or 200):
            group = x if width is None else x[i:i + 1, at:at + width]
            scale = 2.0 ** np.ceil(np.log2(np.abs(group).max() / largest))
            assert q.scale[0 if width is None else i, at // width if width else 0] == scale
            for j in range(at, min(at + (width or 200), 200), 7):
                code = nearest(abs(float(x[i, j])) / scale, values)
                assert q.codes[i, j] == code + (128 if x[i, j] < 0 else 0)
                assert q.numpy()[(i, j) if axis == 1 else (j, i)] == np.copysign(values[code] * scale, x[i, j])


@pytest.mark.parametrize("executor", ["host", "sim:trn2", "sim:trn3"])
@pytest.mark.parametrize("scales", ["matrix", "rows", "blocks"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_scaled_gemm(executor, scales, dtype):
    a, b = R.standard_normal((70, 300)).astype(np.float32), R.standard_normal((300, 50)).astype(np.float32)
    q, p = blas.quantize(a, scales=scales), blas.quantize(b, "float8_e5m2", scales=scales, axis=0)
    c0 = R.standard_normal((70, 50)).astype(dtype)
    with trnsci.record(executor) as r:
        c, accuracy = blas.scaled_gemm(q, p, 2.0, 0.5, c0, dtype=dtype, executor=executor, return_accuracy=True)
    left, right = q.numpy().astype(float), p.numpy().astype(float)
    exact, size = 2 * left @ right + 0.5 * c0.astype(float), 2 * abs(left) @ abs(right) + 0.5 * abs(c0.astype(float))
    assert c.dtype == dtype and (np.abs(c - exact) <= accuracy.bound * size).all()
    assert (c == blas.scaled_gemm(q, p, 2.0, 0.5, c0, dtype=dtype, executor="host")).all()
    assert r.family_of("blas.scaled_gemm") == ("host" if executor == "host" else "device")


def test_scaled_gemm_of_device_arrays_and_transposes():
    a = R.standard_normal((32, 256)).astype(np.float32)
    want = blas.scaled_gemm(blas.quantize(a), blas.quantize(a.T, axis=0), executor="host")
    d = trnsci.asarray(a, "sim:trn2")
    q = blas.quantize(d)
    c = blas.scaled_gemm(q, q.T)
    assert isinstance(q.codes, trnsci.Array) and isinstance(c, trnsci.Array) and (c.numpy() == want).all()
    assert (blas.scaled_gemm(blas.quantize(a), blas.quantize(a).T) == want).all()


def test_scaled_refusals():
    a = np.ones((4, 256), np.float32)
    with pytest.raises(ValueError, match="axis=0"):
        blas.scaled_gemm(blas.quantize(a), blas.quantize(a.T))
    with pytest.raises(ValueError, match="A's columns"):
        blas.scaled_gemm(blas.quantize(a), blas.quantize(a, axis=0))
    with pytest.raises(ValueError, match="float8_e4m3, float8_e5m2"):
        blas.quantize(a, "float8")
    with pytest.raises(ValueError, match="matrix, rows or blocks"):
        blas.quantize(a, scales="columns")
    with pytest.raises(TypeError, match="Accepted: float32"):
        blas.quantize(a.astype(float))
    with pytest.raises(TypeError, match="quantize"):
        blas.scaled_gemm(a, a)
    with pytest.raises(ValueError, match="float32 or float16"):
        blas.scaled_gemm(blas.quantize(a), blas.quantize(a).T, dtype="float64")
    with pytest.raises(NotImplementedError):
        blas.scaled_gemm(blas.quantize(a), blas.quantize(a).T, executor="sim:trn1")


@pytest.mark.parametrize("form, digits, largest", [("float8_e4m3fn", 3, 448.0), ("float8_e5m2", 2, 57344.0), ("float4_e2m1fn", 1, 6.0)])
def test_mx(form, digits, largest):
    x = R.standard_normal((6, 90)).astype(np.float16)
    m = blas.mx_quantize(x, form)
    assert m.shape == (6, 90) and m.format == form and m.executor.name == "host"
    values = m.numpy()
    emax = np.floor(np.log2(largest))
    for i in range(6):
        for at in range(0, 90, 32):
            group = x[i, at:at + 32].astype(float)
            scale = 2.0 ** (np.floor(np.log2(np.abs(group).max())) - (emax - 1))
            ulp = np.exp2(np.floor(np.log2(np.maximum(np.abs(group) / scale, {3: 2.0**-6, 2: 2.0**-14, 1: 1.0}[digits])))) / 2**digits
            np.testing.assert_array_equal(values[i, at:at + 32], np.round(group / scale / ulp) * ulp * scale)
    n = blas.mx_quantize(R.standard_normal((5, 90)).astype(np.float32), form)
    exact, size = values.astype(float) @ n.numpy().T.astype(float), abs(values).astype(float) @ abs(n.numpy()).T.astype(float)
    c, accuracy = blas.mx_gemm(m, n, return_accuracy=True)
    assert (np.abs(c - exact) <= accuracy.bound * size).all()
    with trnsci.record("sim:trn3") as r:
        d = blas.mx_gemm(m.to("sim:trn3"), n.to("sim:trn3"))
    assert (c == d).all() and r.family_of("blas.mx_gemm") == "device"


def test_mx_bits_and_refusals():
    m = blas.mx_matrix([[0x38, 0xC0, 0x01]], [[128]], "float8_e4m3fn")  # 1, -2, 2^-9, times 2
    np.testing.assert_array_equal(m.numpy(), [[2.0, -4.0, 2.0**-8]])
    with pytest.raises(ValueError, match="need"):
        blas.mx_matrix([[0, 0]], [[1, 1]], "float8_e4m3fn")
    with pytest.raises(ValueError, match="float4_e2m1fn"):
        blas.mx_quantize(np.ones((2, 2), np.float16), "float4")
    with pytest.raises(NotImplementedError):
        blas.mx_quantize(np.ones((2, 2), np.float16), executor="sim:trn2")
    with pytest.raises(TypeError, match="mx_quantize"):
        blas.mx_gemm(np.ones((2, 2)), m)
