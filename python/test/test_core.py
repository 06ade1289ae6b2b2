"""Executors, device arrays, records, and what becomes of unusual operands."""
import asyncio
import pathlib
import subprocess
import sys
import threading

import numpy as np
import pytest

import trnsci
from trnsci import fft


def test_use_is_a_context_variable():
    assert trnsci.current_executor().name == "host"
    seen = []
    with trnsci.use("sim:trn2"):
        assert trnsci.current_executor().name == "sim:trn2"
        thread = threading.Thread(target=lambda: seen.append(trnsci.current_executor().name))
        thread.start()
        thread.join()
    assert seen == ["host"] and trnsci.current_executor().name == "host"

    async def one(name):
        with trnsci.use(name):
            await asyncio.sleep(0.01)
            return trnsci.current_executor().name

    async def both():
        return await asyncio.gather(one("sim:trn1"), one("sim:trn2"))

    assert asyncio.run(both()) == ["sim:trn1", "sim:trn2"]


def test_device_arrays():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)[:, ::2]
    a = trnsci.asarray(x, "sim:trn2")
    assert (a.shape, a.dtype, a.ndim, len(a), a.nbytes) == ((3, 2), np.float32, 2, 3, 24)
    np.testing.assert_array_equal(a.numpy(), x)
    np.testing.assert_array_equal(np.asarray(a), x)
    np.testing.assert_array_equal(np.from_dlpack(a), x)
    np.testing.assert_array_equal(trnsci.asnumpy(a.to("host")), x)
    assert trnsci.asarray(a, "sim:trn2") is a and a.__dlpack_device__() == (1, 0)


def test_no_silent_crossing():
    x = np.ones(8, dtype=np.complex64)
    a = trnsci.asarray(x, "sim:trn2")
    with pytest.raises(ValueError, match="another executor"):
        fft.fft(a, executor="host")
    with pytest.raises(ValueError, match="out="):
        fft.fft(x, executor="sim:trn2", out=np.empty_like(x))
    with pytest.raises(ValueError, match="not known"):
        fft.fft(x, executor="sim:trn9")
    with pytest.raises(TypeError, match="executor must be"):
        fft.fft(x, executor=3)


def test_exceptions():
    with pytest.raises(ValueError, match="axis 3"):
        fft.fft(np.ones(4), axis=3)
    with pytest.raises(NotImplementedError):
        fft.fft(np.ones(4), executor="sim:trn2", precision="native")
    with pytest.raises(ValueError, match="native"):
        fft.fft(np.ones(4), precision="sloppy")
    with pytest.raises(TypeError, match="precision must be a string"):
        fft.fft(np.ones(4), precision=2)
    with pytest.raises(MemoryError):
        trnsci.asarray(np.broadcast_to(np.float32(0), (1 << 20, 1 << 20)), "sim:trn2")
    assert issubclass(trnsci.DeviceError, RuntimeError)


RECORD = np.zeros(6, dtype=[("pad", "u1"), ("value", "f8")])
RECORD["value"] = np.arange(6)
UNALIGNED = np.frombuffer(b"\0" + np.arange(6.0).tobytes(), dtype=np.uint8)[1:].view(np.float64)


@pytest.mark.parametrize("x", [
    list(range(6)), np.arange(6), np.arange(6, dtype=np.uint8), np.arange(6, dtype=">f8"), np.arange(6, dtype=np.float16),
    RECORD["value"], UNALIGNED, np.arange(6) > 2, np.arange(6.0)[::-1], np.arange(6, dtype=">c16"),
], ids=["list", "int", "uint8", "big-endian", "float16", "record", "unaligned", "bool", "reversed", "complex-big-endian"])
def test_converted_once(x):
    y = fft.fft(x)
    want = np.fft.fft(np.asarray(x).astype(np.complex128 if np.asarray(x).dtype.kind == "c" else np.float64))
    np.testing.assert_allclose(y, want, rtol=1e-6, atol=1e-6)


def deep(n):
    x = 1.0
    for _ in range(n):
        x = [x]
    return x


@pytest.mark.parametrize("x, error, words", [
    (np.array([1, "a"], dtype=object), TypeError, "Python objects"),
    (np.arange(4, dtype=np.longdouble), TypeError, "longdouble|float128"),
    (np.arange(4, dtype=np.clongdouble), TypeError, "complex128 first"),
    (np.array(["a", "b"]), TypeError, "not a number"),
    (np.array(["2020-01-01"], dtype="M8[D]"), TypeError, "not a number"),
    (deep(65), ValueError, "65 dimensions"),
    ([[1.0], [1.0, 2.0]], ValueError, "is not an array|inhomogeneous"),
], ids=["object", "longdouble", "clongdouble", "text", "date", "65 dimensions", "ragged"])
def test_refused(x, error, words):
    with pytest.raises(error, match=words):
        fft.fft(x)


def test_out_is_checked():
    x = np.ones((4, 4), dtype=np.complex128)
    with pytest.raises(ValueError, match="overlaps"):
        fft.rfft(x.real, out=x[:, :3])
    with pytest.raises(ValueError, match="overlaps"):
        fft.fft(x[:2], out=x[1:3])
    with pytest.raises(ValueError, match="shape"):
        fft.fft(x, out=np.empty((4, 3), dtype=np.complex128))
    with pytest.raises(ValueError, match="complex128"):
        fft.fft(x, out=np.empty((4, 4)))
    locked = np.empty_like(x)
    locked.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        fft.fft(x, out=locked)
    with pytest.raises(TypeError, match="NumPy array"):
        fft.fft(x, out=[1])
    y = np.empty_like(x)
    assert fft.fft(x, out=y) is y
    z = np.arange(12.0).reshape(3, 4) + 1j
    want = np.fft.fft(z)
    assert fft.fft(z, out=z) is z  # in place
    np.testing.assert_allclose(z, want, atol=1e-13)
    np.testing.assert_allclose(fft.fftn(z, s=(None, 2), axes=(0, 1)), np.fft.fftn(z, s=(3, 2)), atol=1e-12)


def test_record_is_a_page():
    with trnsci.use("sim:trn2"), trnsci.record() as r:
        fft.fft(np.ones(64, dtype=np.complex64))
    page = r.html()
    assert page == r._repr_html_() and "<svg" in page and "http" not in page and "us modelled" in repr(r)
    assert r.count("copy") == 2 and r.bytes("copy") == 2 * 64 * 8


def test_threads_run_without_the_lock():
    x = np.ones((64, 1024), dtype=np.complex128)
    errors = []

    def work():
        try:
            for _ in range(20):
                np.testing.assert_allclose(fft.ifft(fft.fft(x)), x, atol=1e-12)
        except AssertionError as e:
            errors.append(e)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors


def test_after_fork():
    code = "import os, numpy as np, trnsci\nx = np.ones(8)\ntrnsci.fft.fft(x)\npid = os.fork()\nif pid == 0:\n" \
           "    os._exit(0 if trnsci.fft.fft(x)[0] == 8 else 1)\nraise SystemExit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def modules():
    folder = pathlib.Path(trnsci.__file__).parent
    return sorted(p.stem for p in folder.glob("*.py") if p.stem != "__init__")


@pytest.mark.parametrize("name", modules())
def test_doctests(name):
    import doctest
    import importlib
    result = doctest.testmod(importlib.import_module(f"trnsci.{name}"))
    assert result.failed == 0
