"""Short-time transforms against NumPy and scipy.signal."""
import numpy as np
import pytest
import scipy.signal

import trnsci
from trnsci import fft

RNG = np.random.default_rng(4)


def frames(x, n, hop, window, mode):
    if mode is not None:
        x = np.pad(x, n // 2, mode={"reflect": "reflect", "constant": "constant", "replicate": "edge", "circular": "wrap"}[mode])
    return np.stack([x[i:i + n] * window for i in range(0, len(x) - n + 1, hop)], axis=1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n,hop", [(64, None), (64, 20), (100, 25), (30, 30)])
def test_against_numpy(n, hop, dtype):
    x = RNG.standard_normal(400).astype(dtype)
    step = hop or n // 4
    tolerance = 20 * np.finfo(dtype).eps * np.sqrt(n)
    for mode in ("reflect", "constant", "replicate", "circular", None):
        for window in (None, scipy.signal.get_window("hamming", n)):
            w = scipy.signal.get_window("hann", n) if window is None else window
            want = np.fft.rfft(frames(x.astype(float), n, step, w, mode), axis=0)
            y = fft.stft(x, n, hop, window=window, center=mode is not None, pad_mode=mode or "reflect")
            assert y.shape == want.shape and y.dtype == np.result_type(dtype, np.complex64)
            assert np.abs(y - want).max() <= tolerance * np.abs(want).max()
    y = fft.stft(x, n, hop, normalized=True, onesided=False)
    want = np.fft.fft(frames(x.astype(float), n, step, scipy.signal.get_window("hann", n), "reflect"), axis=0) / np.sqrt(n)
    assert np.abs(y - want).max() <= tolerance * np.abs(want).max()


def test_back_again():
    x = RNG.standard_normal((2, 3, 500))
    for options in ({}, {"hop_length": 16}, {"window": scipy.signal.get_window("blackman", 64)}, {"normalized": True}, {"win_length": 48}):
        y = fft.stft(x, 64, **options)
        assert np.abs(fft.istft(y, 64, length=500, **options) - x).max() < 1e-12
    z = x + 1j * RNG.standard_normal(x.shape)
    y = fft.stft(z, 64, onesided=False)
    assert np.abs(fft.istft(y, 64, onesided=False, length=500, return_complex=True) - z).max() < 1e-12
    with pytest.raises(ValueError):  # a Hann window is zero where frames only touch: nothing is known there
        fft.istft(fft.stft(x, 64, 64), 64, 64, length=500)


@pytest.mark.parametrize("name", ["boxcar", "bartlett", "hann", "hamming", "blackman"])
def test_windows(name):
    for periodic in (True, False):
        assert np.allclose(fft.get_window(name, 33, periodic), scipy.signal.get_window(name, 33, periodic), atol=1e-14)
    assert np.allclose(fft.get_window("kaiser", 33, beta=8.0), scipy.signal.get_window(("kaiser", 8.0), 33), atol=1e-14)


def test_on_a_device():
    x = RNG.standard_normal(1000).astype(np.float32)
    with trnsci.use("sim:trn2"), trnsci.record() as r:
        y = fft.stft(x, 64)
    assert r.count("run") >= 1 and np.linalg.norm(y - fft.stft(x, 64)) < 1e-5 * np.linalg.norm(y)
    d = trnsci.asarray(x, "sim:trn2")
    assert np.array_equal(fft.stft(d, 64).numpy(), y)


def test_bad_input():
    for call in (lambda: fft.stft(np.ones(10), 64), lambda: fft.stft(np.ones(100), 0), lambda: fft.stft(np.ones(100), 8, pad_mode="odd one"),
                 lambda: fft.stft(np.ones(100) + 0j, 8), lambda: fft.stft(np.ones(100), 8, window=np.ones(9)), lambda: fft.get_window("round", 8)):
        with pytest.raises(ValueError):
            call()
