"""A pytest plugin that runs other people's test suites on trnsci: TRN_SUITE names which.

    numpy.fft      trnsci.fft.in_numpy() replaces the functions of numpy.fft
    scipy.fft      trnsci.fft becomes SciPy's global backend; TRN_ONLY=1: SciPy's own may not help out
    numpy.random   a class of NumPy's smoke tests for each of our bit generators: test_smoke_of_ours.py
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
     "numpy.random": use_numpy_random, "array-api": lambda: None}[os.environ["TRN_SUITE"]]()


def pytest_terminal_summary(terminalreporter):
    calls = dict(trnsci.fft.backend_calls) if os.environ["TRN_SUITE"] in ("scipy.fft", "numpy.fft") else CALLS
    if os.environ["TRN_SUITE"] == "array-api":
        calls = trnsci.array_api.calls
    declined = DECLINED or dict(trnsci.fft.backend_declined)
    terminalreporter.write_line(f"calls that reached trnsci: {sum(calls.values())} of {len(calls)} functions; declined: "
                                f"{sum(declined.values())} {declined}")
