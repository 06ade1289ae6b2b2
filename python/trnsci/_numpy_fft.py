"""numpy.fft's own names on trnsci: NumPy has no backends, so its functions are replaced for the time of a block."""
from __future__ import annotations

import contextlib
import functools
import operator
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

NAMES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")
_lock = threading.Lock()
_depth = 0


def _into(ours: Callable[..., Any], x: Any, out: Any, *arguments: Any) -> Any:
    """The transform, with NumPy's rules for out: any memory, also that of x, and what casts to its type."""
    if out is None:
        return ours(x, *arguments)
    if not isinstance(out, np.ndarray):
        raise TypeError("return arrays must be of ArrayType")
    try:
        return ours(x, *arguments, out=out)
    except ValueError:  # memory that this library does not write to directly
        return _copied(ours(x, *arguments), out)


def _copied(y: Any, out: Any) -> Any:
    if out.shape != y.shape:
        raise ValueError(f"output array has wrong shape: {out.shape}; the transform has {y.shape}")
    if not np.can_cast(y.dtype, out.dtype, "same_kind"):
        raise TypeError(f"Cannot cast the transform from {y.dtype} to {out.dtype} with casting rule 'same_kind'")
    out[...] = y
    return out


def _several(name: str, x: Any, s: Any, axes: Any, norm: Any, out: Any) -> Any:
    """A transform over several axes, as NumPy reads its arguments: None in s, and axes that come twice, one after another."""
    from . import fft

    a = np.asarray(x)
    if s is not None:
        new = np.lib.NumpyVersion(np.__version__) >= "2.0.0"
        if axes is None and new:
            warnings.warn("`axes` should not be `None` if `s` is not `None` (Deprecated in NumPy 2.0); the last axes are transformed",
                          DeprecationWarning, stacklevel=4)
        if any(n is None for n in s) and new:
            warnings.warn("Passing an array containing `None` values to `s` is deprecated in NumPy 2.0", DeprecationWarning, stacklevel=4)
    chosen = list(range(a.ndim) if s is None else range(a.ndim - len(s), a.ndim)) if axes is None else [operator.index(k) for k in axes]
    if all(-a.ndim <= k < a.ndim for k in chosen) and len({k % max(a.ndim, 1) for k in chosen}) < len(chosen):
        real, inverse = "r" in name, name.startswith("i")
        step = fft.ifft if inverse else fft.fft
        lengths = [None] * len(chosen) if s is None else list(s)
        pairs = list(zip(lengths, chosen))
        for n, axis in pairs[:-1] if real and inverse else []:
            a = step(a, n, axis, norm)
        if real:
            a = (fft.irfft if inverse else fft.rfft)(a, *pairs[-1], norm)
        for n, axis in [] if real and inverse else reversed(pairs[:-1] if real else pairs):
            a = step(a, n, axis, norm)
        return a if out is None else _copied(a, out)
    return _into(getattr(fft, name), a, out, s, axes, norm)


def _function(name: str, theirs: Callable[..., Any]) -> Callable[..., Any]:
    from . import fft

    def counted(x: Any) -> bool:
        """Whether the call is ours; longdouble is NumPy's."""
        kept = fft.backend_declined if np.asarray(x).dtype.char in "gG" else fft.backend_calls
        kept[name] = kept.get(name, 0) + 1
        return kept is fft.backend_calls

    if name[-1] in "2n":
        default = (-2, -1) if name[-1] == "2" else None

        @functools.wraps(theirs)
        def several(a: Any, s: Any = None, axes: Any = default, norm: Any = None, out: Any = None) -> Any:
            if not counted(a):
                return theirs(a, s, axes, norm, **({} if out is None else {"out": out}))
            return _several("fftn" if name == "fft2" else name[:-1] + "n", a, s, axes, norm, out)

        return several

    @functools.wraps(theirs)
    def one(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        if not counted(a):
            return theirs(a, n, axis, norm, **({} if out is None else {"out": out}))
        x = np.asarray(a)
        points = x.shape[axis] if n is None and -x.ndim <= axis < x.ndim else 1 if n is None else operator.index(n)
        if points < 1:
            raise ValueError(f"Invalid number of FFT data points ({points}) specified.")
        return _into(getattr(fft, name), x, out, n, axis, norm)

    return one


@contextlib.contextmanager
def in_numpy() -> Iterator[None]:
    """Within the block the fourteen transforms of numpy.fft are trnsci's, for the whole process, on the block's executor.

    Arguments, messages and warnings are NumPy's. `backend_calls` counts what arrived, `backend_declined` what was left to NumPy's own
    functions (longdouble). Blocks may be nested, and entered by several threads.

    >>> import numpy as np, trnsci
    >>> with trnsci.fft.in_numpy():
    ...     np.fft.fft(np.ones(4, np.float32)).dtype
    dtype('complex64')
    """
    global _depth
    with _lock:
        if _depth == 0:
            _kept.update({name: getattr(np.fft, name) for name in NAMES})
            for name in NAMES:
                setattr(np.fft, name, _function(name, _kept[name]))
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if _depth == 0:
                for name in NAMES:
                    setattr(np.fft, name, _kept[name])


_kept: dict[str, Callable[..., Any]] = {}
