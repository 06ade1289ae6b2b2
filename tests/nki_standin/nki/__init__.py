"""A stand-in for AWS's `nki` package: the calls that emitted kernels use, on NumPy, eagerly and in program order.

It exists so that emitted text can be executed where AWS's toolchain is not installed. It is written from the public
documentation of nki.isa and nki.language, and where that leaves the arithmetic open it makes the choices that
docs/simulator.md states. It checks arguments; it knows nothing of time, capacity or scheduling.
"""


def jit(kernel):
    """The kernel itself: arguments are the stand-in's tensors, calls run as Python reaches them."""
    return kernel
