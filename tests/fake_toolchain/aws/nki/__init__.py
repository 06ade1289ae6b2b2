"""Stands for the whole of AWS's package nki: the stub of its compiler (nki06) and, as its simulator, the NumPy stand-in
(tests/nki_standin). For tests of tests/neff/check_aws.py. With TRN_FAKE_SIMULATE=wrong every result has a wrong bit."""

import os
from pathlib import Path

TESTS = Path(__file__).resolve().parents[3]
__path__ += [str(TESTS / "nki_standin" / "nki"), str(TESTS / "fake_toolchain" / "nki06" / "nki")]


def jit(kernel):
    return kernel


def simulate(kernel):
    import nki.language as nl
    import numpy as np

    def run(*arrays):
        arguments = []
        for array in arrays:
            dtype = getattr(nl, array.dtype.name)
            tensor = nl.ndarray(array.shape, dtype=dtype, buffer=nl.shared_hbm)
            tensor.write_bits(np.ascontiguousarray(array).view(dtype.storage).reshape(-1))
            arguments.append(tensor)
        results = kernel(*arguments)
        results = results if isinstance(results, tuple) else (results,)
        found = [np.frombuffer(t.memory.data.tobytes(), np.uint8).copy() for t in results]
        if os.environ.get("TRN_FAKE_SIMULATE") == "wrong":
            for bits in found:
                bits[0] ^= 1
        return tuple(found)

    return run
