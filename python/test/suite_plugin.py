"""A pytest plugin that runs other people's test suites on trnsci: TRN_SUITE names which.

    numpy.fft      trnsci.fft.in_numpy() replaces the functions of numpy.fft
    scipy.fft      trnsci.fft becomes SciPy's global backend; TRN_ONLY=1: SciPy's own may not help out
    numpy.random   a class of NumPy's smoke tests for each of our bit generators: test_smoke_of_ours.py
    numpy.einsum   numpy.einsum is replaced for two and more operands of floating types: one operand may be a view in NumPy
    opt_einsum     tensordot, transpose and einsum of its NumPy backend are replaced
    array-api      nothing is replaced: the namespace trnsci.array_api is what the suite is told to test
    scipy.sparse   products, transposes, sums and solves of scipy.sparse._sparsetools are replaced: suite_sparse.py

At the end it prints which calls reached us: a suite that passes without any proves nothing.
"""
import os

import trnsci

CALLS = {}
KEPT = []  # blocks that last as long as the process
DECLINED = {}


def counted(name, function):
    def call(*args, **kwargs):
        CALLS[name] = CALLS.get(name, 0) + 1
        return function(*args, **kwargs)

    call.__name__ = name
    call.__doc__ = function.__doc__
    return call


def use_numpy_fft():
    KEPT.append(trnsci.fft.in_numpy())
    KEPT[0].__enter__()


def use_scipy_fft():
    import scipy.fft
    only = os.environ.get("TRN_ONLY") == "1"
    scipy.fft.set_global_backend(trnsci.fft, only=only)
    if not only:
        scipy.fft.register_backend("scipy")  # for what is declined, which is counted


def use_numpy_einsum():
    """One operand may be a view in NumPy, and paths are its own: those calls stay there. Results get NumPy's types and places."""
    import numpy
    theirs = numpy.einsum

    def einsum(*operands, out=None, optimize=False, dtype=None, order="K", casting="safe"):
        arrays = operands[1:] if operands and isinstance(operands[0], str) else operands[:len(operands) // 2 * 2:2]
        types = [numpy.asarray(x).dtype for x in arrays] + ([numpy.dtype(dtype)] if dtype is not None else [])
        if len(arrays) < 2 or not {t.char for t in types} <= set("efdFD") or not isinstance(optimize, (bool, str)) or order not in "KCA":
            DECLINED["einsum"] = DECLINED.get("einsum", 0) + 1
            return theirs(*operands, out=out, optimize=optimize, dtype=dtype, order=order, casting=casting)
        CALLS["einsum"] = CALLS.get("einsum", 0) + 1
        result = trnsci.tensor.einsum(*operands, optimize=optimize, dtype=dtype, order=order, casting=casting)
        if out is None:
            return numpy.asarray(result).astype(types[-1] if dtype is not None else numpy.result_type(*types))[()]
        numpy.copyto(out, result, casting="unsafe" if optimize else "same_kind" if casting == "safe" else casting)
        return out

    numpy.einsum = einsum


def use_opt_einsum():
    from opt_einsum.backends import dispatch
    for name in ["tensordot", "transpose", "einsum"]:
        dispatch._cached_funcs[name, "numpy"] = counted(name, getattr(trnsci.tensor, name))


def use_numpy_random():
    """Counts the bit generators that are made: NumPy's C code draws from them without a call of Python's."""
    for kind in (trnsci.rand.Philox4x32, trnsci.rand.Threefry4x32):
        kind.__init__ = counted(kind.__name__, kind.__init__)


def use_scipy_sparse():
    import suite_sparse
    suite_sparse.replace(CALLS, DECLINED)


def pytest_configure(config):
    {"scipy.sparse": use_scipy_sparse, "numpy.fft": use_numpy_fft, "scipy.fft": use_scipy_fft, "opt_einsum": use_opt_einsum,
     "numpy.random": use_numpy_random, "numpy.einsum": use_numpy_einsum, "array-api": lambda: None}[os.environ["TRN_SUITE"]]()


def pytest_terminal_summary(terminalreporter):
    calls = dict(trnsci.fft.backend_calls) if os.environ["TRN_SUITE"] in ("scipy.fft", "numpy.fft") else CALLS
    if os.environ["TRN_SUITE"] == "array-api":
        calls = trnsci.array_api.calls
    declined = DECLINED or dict(trnsci.fft.backend_declined)
    terminalreporter.write_line(f"calls that reached trnsci: {sum(calls.values())} of {len(calls)} functions; declined: "
                                f"{sum(declined.values())} {declined}")
