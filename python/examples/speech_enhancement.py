"""Speech enhancement with a complex mask: STFT, a mask by a small complex layer, inverse STFT.

    python speech_enhancement.py [executor]

The "speech" is a sum of harmonics with a moving pitch, the noise is white. For every frequency a complex layer sees three frames of
the noisy spectrum and gives the clean one: y_kt = sum_d w_kd x_k,t+d. Its weights are fitted by least squares on one recording (the
Wiener filter that a trained layer converges to) and used on another.
"""
import sys

import numpy as np

import trnsci
from trnsci import blas, fft, rand, solver

RATE, N_FFT, HOP, TAPS = 8000, 256, 64, 3


def recording(seed, seconds=1.0):
    """(clean, noisy), float32."""
    t = np.arange(int(RATE * seconds)) / RATE
    g = rand.Generator(seed)
    pitch = 140 + 30 * np.sin(2 * np.pi * 2 * t + seed)
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    clean = sum(np.sin(h * phase) / h for h in range(1, 9)) * (0.6 + 0.4 * np.sin(2 * np.pi * 3 * t))
    return clean.astype(np.float32), (clean + g.normal(0.0, 0.5, len(t))).astype(np.float32)


def taps(spectrum):
    """(frequencies, frames, taps): each frame with its neighbours."""
    padded = np.pad(spectrum, ((0, 0), (TAPS // 2, TAPS // 2)))
    return np.stack([padded[:, d:d + spectrum.shape[1]] for d in range(TAPS)], axis=2)


def train(noisy, clean):
    """Complex weights of each frequency, by least squares."""
    x, y = taps(fft.stft(noisy, N_FFT, HOP)), fft.stft(clean, N_FFT, HOP)
    return np.stack([solver.lstsq(x[k], y[k]).x for k in range(x.shape[0])])


def enhance(noisy, weights):
    """The layer is one batched complex product, (frames x taps) times (taps x 1) for each frequency."""
    layer = blas.batched_gemm(1.0, taps(fft.stft(noisy, N_FFT, HOP)), weights[:, :, None])
    return fft.istft(np.ascontiguousarray(layer[:, :, 0]), N_FFT, HOP, length=len(noisy))


def ratio(clean, other):
    """Signal to noise in dB."""
    return 10 * np.log10((clean**2).sum() / ((clean - other) ** 2).sum())


def main(executor=None):
    clean, noisy = recording(1)
    weights = train(noisy, clean)
    clean, noisy = recording(2)
    better = enhance(noisy, weights)
    before, after = ratio(clean, noisy), ratio(clean, better)
    print(f"signal to noise {before:.2f} dB before, {after:.2f} dB after")
    result = {"before": before, "after": after}
    if executor:
        with trnsci.use(executor), trnsci.record() as record:
            spectrum = fft.stft(noisy, N_FFT, HOP)
        host = fft.stft(noisy, N_FFT, HOP)
        result["difference"] = np.linalg.norm(spectrum - host) / np.linalg.norm(host)
        print(f"the spectrum on {executor} differs by {result['difference']:.1e}; {record.modelled_seconds * 1e6:.0f} us modelled")
    return result


if __name__ == "__main__":
    main(*sys.argv[1:])
