"""Reference results for the tests of the functions in the NumPy manner: SciPy in long double, as JSON lines on standard output.

    scipy_reference.py FAMILY       transforms, shifts, cosine, convolve, stft or windows

Each line: {"f": function, "o": options, "in": [arrays], "out": array}, an array being {"shape", "re", "im" (complex only)} with doubles.
Inputs are exact in float32, so that one reference serves both precisions.
"""
import json
import sys

import numpy as np
import scipy.fft
import scipy.signal

rng = np.random.default_rng(12345)


def array(x):
    x = np.asarray(x)
    result = {"shape": list(x.shape), "re": np.real(x).astype(np.float64).ravel().tolist()}
    if np.iscomplexobj(x):
        result["im"] = np.imag(x).astype(np.float64).ravel().tolist()
    return result


def emit(f, options, inputs, out):
    given = {k: v for k, v in options.items() if v is not None}
    print(json.dumps({"f": f, "o": given, "in": [array(x) for x in inputs], "out": array(out)}))


def data(shape, complex_):
    x = rng.standard_normal(shape).astype(np.float32).astype(np.longdouble)
    if complex_:
        x = x + 1j * rng.standard_normal(shape).astype(np.float32).astype(np.longdouble)
    return x


def extent():
    return int(rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 30]))


NORMS = ["backward", "ortho", "forward"]


def transforms():
    one = {"fft": True, "ifft": True, "rfft": False, "irfft": True, "hfft": True, "ihfft": False}
    for name, complex_ in one.items():
        for i in range(24):
            shape = [extent() for _ in range(int(rng.integers(1, 4)))]
            axis = int(rng.integers(-len(shape), len(shape)))
            n = None if i % 3 == 0 else extent()
            if name in ("irfft", "hfft") and n is None and shape[axis] == 1:
                n = 5
            x = data(shape, complex_ if name not in ("fft", "ifft") else i % 4 != 0)
            norm = NORMS[i % 3]
            emit(name, {"n": n, "axis": axis, "norm": norm}, [x], getattr(scipy.fft, name)(x, n=n, axis=axis, norm=norm))
    many = {"fft2": True, "ifft2": True, "rfft2": False, "irfft2": True, "hfft2": True, "ihfft2": False,
            "fftn": True, "ifftn": True, "rfftn": False, "irfftn": True, "hfftn": True, "ihfftn": False}
    for name, complex_ in many.items():
        two = name.endswith("2")
        for i in range(10):
            rank = int(rng.integers(2, 5))
            shape = [int(rng.choice([1, 2, 3, 4, 5, 6, 8])) for _ in range(rank)]
            if name in ("irfft2", "hfft2", "irfftn", "hfftn"):
                shape = [max(e, 2) for e in shape]
            count = 2 if two else int(rng.integers(1, rank + 1))
            axes = None if i % 4 == 0 else [int(a) for a in rng.permutation(rank)[:count]]
            if axes and i % 2:
                axes = [a - rank for a in axes]
            s = None
            if i % 3 == 1:
                s = [int(rng.choice([1, 2, 3, 4, 5, 7])) for _ in range(count if axes or two else rank)]
            x = data(shape, complex_ if name.strip("2n") not in ("fft", "ifft") else i % 5 != 0)
            norm = NORMS[i % 3]
            kw = {"s": s, "norm": norm}
            if axes is not None:
                kw["axes"] = axes
            emit(name, {"s": s, "axes": axes, "norm": norm}, [x], getattr(scipy.fft, name)(x, **kw))


def shifts():
    for n in (1, 2, 3, 8, 9, 100, 101):
        for d in (1.0, 0.1, -2.5):
            for f in ("fftfreq", "rfftfreq"):
                emit(f, {"n": n, "spacing": d}, [], getattr(scipy.fft, f)(n, d))
    for f in ("fftshift", "ifftshift"):
        for shape, axes in (([1], None), ([4], None), ([5], None), ([3, 4], None), ([3, 4], [1]), ([3, 4, 5], [0, -1]), ([2, 3, 4], [])):
            if axes == []:
                continue
            for complex_ in (False, True):
                x = data(shape, complex_)
                emit(f, {"axes": axes}, [x], getattr(scipy.fft, f)(x, axes=axes))


def sine(name, x, type, n=None, axis=-1, norm=None, orthogonalize=None):
    """dst or idst with the last row or column scaled, which makes types II and III orthogonal.

    SciPy 1.10 scales the first, and its matrix is not orthogonal.
    """
    if orthogonalize is None:
        orthogonalize = norm == "ortho"
    plain = getattr(scipy.fft, name)
    kw = {"type": type, "axis": axis, "norm": norm, "orthogonalize": False}
    kind = {2: 3, 3: 2}.get(type, type) if name == "idst" else type
    if not orthogonalize or kind not in (2, 3):
        return plain(x, n=n, **kw)
    scale = np.sqrt(np.longdouble(2))
    x = np.moveaxis(x, axis, -1)
    if n is not None:
        x = np.concatenate([x, np.zeros(x.shape[:-1] + (max(n - x.shape[-1], 0),), x.dtype)], -1)[..., :n]
    x = x.copy()
    if kind == 3:
        x[..., -1] *= scale
    y = plain(x, **dict(kw, axis=-1))
    if kind == 2:
        y[..., -1] /= scale
    return np.moveaxis(y, -1, axis)


def sines(name, x, type, s=None, axes=None, norm=None):
    if axes is None:
        axes = range(x.ndim - (len(s) if s else x.ndim), x.ndim)
    for i, axis in enumerate(axes):
        x = sine(name, x, type, s[i] if s else None, axis, norm)
    return x


def cosine():
    for name in ("dct", "idct", "dst", "idst"):
        for type_ in (1, 2, 3, 4):
            for norm in NORMS:
                for i, n in enumerate([2, 3, 4, 5, 8, 15, 16, 33]):
                    orthogonalize = [None, True, False][i % 3]
                    shape = [[n], [3, n], [n, 2], [2, n, 3]][i % 4]
                    axis = [0, 1, 0, 1][i % 4]
                    length = None if i % 2 else int(n + rng.integers(-1, 3))
                    if length is not None and length < 2:
                        length = 2
                    x = data(shape, False)
                    kw = {"type": type_, "n": length, "axis": axis, "norm": norm, "orthogonalize": orthogonalize}
                    y = sine(name, x, **kw) if "s" in name else getattr(scipy.fft, name)(x, **kw)
                    emit(name, kw, [x], y)
        for type_ in (1, 2, 3, 4):
            x = data([4, 5, 6], False)
            for axes, s in ((None, None), ([0, 2], None), ([2, 1], [7, 3]), (None, [3, 9])):
                kw = {"type": type_, "s": s, "axes": axes, "norm": "ortho"}
                emit(name + "n", kw, [x], sines(name, x, **kw) if "s" in name else getattr(scipy.fft, name + "n")(x, **kw))


def convolve():
    cases = []
    for _ in range(30):
        rank = int(rng.integers(1, 4))
        big = 40 if rank == 1 else 9
        a = [int(rng.integers(1, big)) for _ in range(rank)]
        b = [int(rng.integers(1, big)) for _ in range(rank)]
        axes = None
        if rank > 1 and rng.integers(2):
            axes = sorted(int(v) for v in rng.permutation(rank)[: int(rng.integers(1, rank))])
            for d in range(rank):
                if d not in axes:
                    b[d] = [a[d], 1][int(rng.integers(2))]
        cases.append((a, b, axes))
    cases += [([500], [7], None), ([11], [300], None), ([3, 400], [3, 9], [1]), ([200, 5], [6, 3], None), ([90, 4], [8, 1], [0])]
    for i, (a, b, axes) in enumerate(cases):
        for mode in ("full", "same", "valid"):
            dims = axes if axes is not None else range(len(a))
            if mode == "valid" and not (all(a[d] >= b[d] for d in dims) or all(b[d] >= a[d] for d in dims)):
                continue
            complex_ = i % 3 == 0
            x, y = data(a, complex_), data(b, complex_)
            emit("fftconvolve", {"mode": mode, "axes": axes}, [x, y], scipy.signal.fftconvolve(x, y, mode, axes=axes))
            emit("oaconvolve", {"mode": mode, "axes": axes}, [x, y], scipy.signal.fftconvolve(x, y, mode, axes=axes))
            if axes is None:
                for method in ("auto", "direct", "fft"):
                    emit("convolve", {"mode": mode, "method": method}, [x, y], scipy.signal.fftconvolve(x, y, mode))
                    emit("correlate", {"mode": mode, "method": method}, [x, y], scipy.signal.correlate(x, y, mode, method="fft"))


def stft():
    for i in range(40):
        nperseg = int(rng.choice([4, 8, 9, 16, 25]))
        noverlap = int(rng.integers(0, nperseg))
        nfft = nperseg if i % 3 else nperseg + int(rng.integers(0, 9))
        boundary = [None, "zeros", "even", "odd", "constant"][i % 5]
        padded = bool(i % 2)
        scaling = ["spectrum", "psd"][i % 4 // 2]
        complex_ = i % 6 == 5
        onesided = not complex_ and i % 7 != 0
        window = ["hann", "hamming", "blackman", "bartlett", "boxcar", ("kaiser", 5.0)][i % 6]
        fs = [1.0, 44.1][i % 2]
        shape = [[60], [2, 50], [2, 1, 41]][i % 3]
        x = data(shape, complex_)
        kw = {"nperseg": nperseg, "noverlap": noverlap, "nfft": nfft, "boundary": boundary, "padded": padded, "scaling": scaling, "fs": fs}
        w = scipy.signal.get_window(window, nperseg)
        z = scipy.signal.stft(x, window=w, return_onesided=onesided, **kw)[2]
        options = dict(kw, onesided=onesided, window=w.tolist(), boundary=boundary or "none")
        emit("stft", options, [x], z)
        if boundary is not None and scipy.signal.check_NOLA(w, nperseg, noverlap, 1e-3) and (onesided or complex_):
            z = z.astype(np.complex64).astype(np.clongdouble)
            back = scipy.signal.istft(z, fs=fs, window=w, nperseg=nperseg, noverlap=noverlap, nfft=nfft, input_onesided=onesided,
                                      boundary=True, scaling=scaling)[1]
            emit("istft", dict(options, complex=complex_), [z], back)


def windows():
    names = {"boxcar": "boxcar", "bartlett": "bartlett", "hann": "hann", "hamming": "hamming", "blackman": "blackman"}
    for n in (1, 2, 3, 8, 17, 64):
        for periodic in (True, False):
            for name, scipy_name in names.items():
                w = scipy.signal.get_window(scipy_name, n, fftbins=periodic)
                emit("window", {"kind": name, "n": n, "periodic": periodic}, [], w)
            for beta in (0.0, 1.5, 12.0, 40.0):
                w = scipy.signal.get_window(("kaiser", beta), n, fftbins=periodic)
                emit("window", {"kind": "kaiser", "n": n, "periodic": periodic, "beta": beta}, [], w)
    for n, hop in ((8, 4), (8, 3), (9, 3), (8, 8), (8, 9), (16, 4)):
        for name in names:
            w = scipy.signal.get_window(name, n)
            cola = bool(hop <= n and scipy.signal.check_COLA(w, n, n - hop)) if hop <= n else False
            nola = bool(scipy.signal.check_NOLA(w, n, n - hop)) if hop <= n else False
            emit("overlap", {"kind": name, "n": n, "hop": hop, "cola": cola, "nola": nola}, [], np.zeros(1))


{"transforms": transforms, "shifts": shifts, "cosine": cosine, "convolve": convolve, "stft": stft, "windows": windows}[sys.argv[1]]()
