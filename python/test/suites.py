"""Runs other people's test suites on trnsci, whole, and prints a table: suites.py [SUITE ...].

    PYTHONPATH=build/release/python/site PYTHON python/test/suites.py

PYTHON is the interpreter of an environment with numpy, scipy, pytest, hypothesis, opt_einsum, pooch and pytest-timeout; suites whose
package is missing are skipped, which the table says. The array API's tests are no package: ARRAY_API_TESTS names a checkout of
github.com/data-apis/array-api-tests.

Suites: scipy.fft, numpy.fft, numpy.random, numpy.einsum, opt_einsum, scipy.sparse, array-api. Columns: tests that passed, failed, were skipped or
expected to fail; calls that reached trnsci; calls that were left to the package's own code, which trnsci does not have (longdouble,
integers, rows that are not sorted). Names of failed tests follow, so that each can be looked at.
"""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SUITES = {
    "scipy.fft": ["--pyargs", "scipy.fft"],
    "numpy.fft": ["--pyargs", "numpy.fft"],
    "numpy.random": [HERE / "smoke_of_ours.py"],
    "numpy.einsum": ["--pyargs", "numpy._core.tests.test_einsum"],
    "opt_einsum": ["--pyargs", "opt_einsum"],
    "scipy.sparse": ["--pyargs", "scipy.sparse.tests.test_base", "scipy.sparse.tests.test_csr", "scipy.sparse.tests.test_csc",
                     "scipy.sparse.linalg.tests.test_expm_multiply", "scipy.sparse.linalg._isolve.tests.test_iterative"],
}


def array_api():
    """The checkout's own command, with its hypothesis limited to 20 examples."""
    folder = os.environ.get("ARRAY_API_TESTS")
    if not folder:
        return None
    return pathlib.Path(folder), ["array_api_tests/test_fft.py", "array_api_tests/test_linalg.py", "--max-examples=20"]


def run(name):
    """(counts, calls, declined, failed tests), or None where the suite is not there."""
    variables = dict(os.environ, TRN_SUITE=name, PYTHONPATH=f"{os.environ.get('PYTHONPATH', '')}:{HERE}", OMP_NUM_THREADS="1",
                     OPENBLAS_NUM_THREADS="1")
    folder, arguments = pathlib.Path("/"), SUITES.get(name, [])
    if name == "array-api":
        found = array_api()
        if found is None:
            return None
        folder, arguments = found
        variables["ARRAY_API_TESTS_MODULE"] = "trnsci.array_api"
        variables["ARRAY_API_TESTS_VERSION"] = "2024.12"
    elif name not in ("numpy.random", "numpy.einsum") and importlib.util.find_spec(name) is None:
        return None
    plain = [] if name in ("array-api", "scipy.fft") else ["--noconftest"]  # these two have fixtures of their own
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-rf", "--tb=line", "-p", "no:cacheprovider", "-p", "suite_plugin", *plain, "-W", "ignore",
                           *map(str, arguments)], capture_output=True, text=True, env=variables, cwd=folder)
    tail = done.stdout.splitlines()[-1] if done.stdout else done.stderr[-200:]
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|skipped|xfailed|xpassed|errors?|deselected)", tail)}
    told = re.search(r"calls that reached trnsci: (\d+) of (\d+) functions; declined: (\d+)", done.stdout)
    if told is None:
        sys.exit(done.stdout[-3000:] + done.stderr[-3000:])
    return counts, (int(told.group(1)), int(told.group(2))), int(told.group(3)), re.findall(r"^FAILED (\S+)", done.stdout, re.M)


def main():
    import numpy
    import scipy
    print(f"NumPy {numpy.__version__}, SciPy {scipy.__version__}")
    print(f"{'suite':14} {'passed':>7} {'failed':>7} {'skipped':>8} {'xfailed':>8}   {'calls':>8} of functions   left to others")
    for name in sys.argv[1:] or [*SUITES, "array-api"]:
        found = run(name)
        if found is None:
            print(f"{name:14} is not installed: skipped")
            continue
        counts, (calls, functions), declined, failed = found
        print(f"{name:14} {counts.get('passed', 0):7d} {counts.get('failed', 0) + counts.get('error', 0) + counts.get('errors', 0):7d} "
              f"{counts.get('skipped', 0):8d} {counts.get('xfailed', 0):8d}   {calls:8d} {functions:12d} {declined:16d}", flush=True)
        for test in failed:
            print(f"    {test}")


main()
