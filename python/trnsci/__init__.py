"""trnsci: FFT, BLAS, random numbers, solvers, sparse matrices and tensors for AWS Trainium, its simulator, and this host.

NumPy in, NumPy out. Every function takes `executor=`, a name or an Executor; `with trnsci.use("sim:trn2"):` sets it for
a block. See docs/python.md.
"""
from __future__ import annotations

from . import blas, fft, rand, solver, sparse, tensor
from ._core import (Accuracy, Array, DeviceError, Event, Executor, Progress, Record, asarray, asnumpy, current_executor, progress,
                    record, use)
from ._outcome import NumericalWarning

__version__ = "0.1.0"
__all__ = ["Accuracy", "Array", "DeviceError", "Event", "Executor", "NumericalWarning", "Progress", "Record", "asarray", "asnumpy",
           "blas", "current_executor", "fft", "progress", "rand", "record", "solver", "sparse", "tensor", "use"]


def __getattr__(name: str) -> object:
    """`trnsci.mp2`, `trnsci.torch` and `trnsci.array_api` are imported when they are asked for."""
    if name in ("array_api", "mp2", "torch"):
        import importlib

        return importlib.import_module(f"trnsci.{name}")
    raise AttributeError(f"module 'trnsci' has no attribute {name!r}")
