"""trnsci: FFT, BLAS, random numbers, solvers, sparse matrices and tensors for AWS Trainium, its simulator, and this host.

NumPy in, NumPy out. Every function takes `executor=`, a name or an Executor; `with trnsci.use("sim:trn2"):` sets it for
a block. See docs/python.md.
"""
from __future__ import annotations

from . import blas, fft, rand, solver, sparse, tensor
from ._core import (Accuracy, Array, DeviceError, Event, Executor, Record, asarray, asnumpy, current_executor, record,
                    use)
from ._outcome import NumericalWarning

__version__ = "0.1.0"
__all__ = ["Accuracy", "Array", "DeviceError", "Event", "Executor", "NumericalWarning", "Record", "asarray", "asnumpy", "blas",
           "current_executor", "fft", "rand", "record", "solver", "sparse", "tensor", "use"]
