"""Short-time Fourier transforms and windows, with the arguments of torch.stft and of the Python trnfft."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _trnsci
from ._core import Array, ExecutorLike

_MODES = {"constant": "zeros", "reflect": "reflect", "even": "reflect", "odd": "odd", "replicate": "replicate", "circular": "circular"}


def _boundary(center: bool, pad_mode: str) -> str:
    if not center:
        return "none"
    if pad_mode not in _MODES:
        raise ValueError(f"fft.stft: pad_mode is {pad_mode!r}; it must be one of {', '.join(_MODES)}")
    return _MODES[pad_mode]


def get_window(window: str, Nx: int, fftbins: bool = True, *, beta: float = 12.0) -> NDArray[Any]:
    """A window of Nx points: "boxcar", "bartlett", "hann", "hamming", "blackman" or "kaiser"; periodic unless fftbins is False.

    >>> import trnsci
    >>> trnsci.fft.get_window("hann", 4)
    array([0. , 0.5, 1. , 0.5])
    """
    return np.array(_trnsci.fft_window(window, Nx, fftbins, beta))


def _window(window: Any) -> list[float]:
    return [] if window is None else np.asarray(window, dtype=np.float64).tolist()


def stft(x: ArrayLike | Array, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: ArrayLike | None = None,
         center: bool = True, pad_mode: str = "reflect", normalized: bool = False, onesided: bool = True, *,
         precision: str | None = None, executor: ExecutorLike = None) -> Any:
    """The spectra (..., frequencies, frames) of frames of n_fft points, hop_length apart (default n_fft/4).

    Without a window the periodic Hann window is taken. Complex signals have all frequencies: onesided=False.

    >>> import numpy as np, trnsci
    >>> y = trnsci.fft.stft(np.sin(np.arange(512.0)), 64)
    >>> y.shape, bool(np.allclose(trnsci.fft.istft(y, 64, length=512), np.sin(np.arange(512.0))))
    ((33, 33), True)
    """
    return _trnsci.stft(x, n_fft, hop_length or 0, win_length or 0, _window(window), _boundary(center, pad_mode), normalized, onesided,
                        precision, executor)


def istft(y: ArrayLike | Array, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: ArrayLike | None = None,
          center: bool = True, normalized: bool = False, onesided: bool = True, length: int | None = None, *, return_complex: bool = False,
          precision: str | None = None, executor: ExecutorLike = None) -> Any:
    """The signal of a spectrogram made with the same arguments: overlapping frames, divided by the sum of squared windows.

    A point that no window covers is a ValueError: nothing is invented.

    >>> import numpy as np, trnsci
    >>> x = np.arange(256.0)
    >>> y = trnsci.fft.istft(trnsci.fft.stft(x, 32), 32, length=256)
    >>> bool(np.allclose(x, y))
    True
    """
    return _trnsci.istft(y, n_fft, hop_length or 0, win_length or 0, _window(window), _boundary(center, "reflect"), normalized,
                         onesided, return_complex, -1 if length is None else length, precision, executor)
