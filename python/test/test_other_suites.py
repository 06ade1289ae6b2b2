"""A small part of other people's suites on trnsci; docs/python.md has the figures of the whole ones."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent


def suite(name, *arguments):
    variables = dict(os.environ, TRN_SUITE=name, PYTHONPATH=f"{os.environ.get('PYTHONPATH', '')}:{HERE}")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "suite_plugin", "--noconftest",
                           "-W", "ignore", *map(str, arguments)], capture_output=True, text=True, env=variables)
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|error)", done.stdout.splitlines()[-1])}
    calls = int(re.search(r"calls that reached trnsci: (\d+)", done.stdout).group(1))
    assert set(counts) == {"passed"}, done.stdout[-3000:]
    return counts["passed"], calls


def test_numpy_fft():
    pytest.importorskip("numpy.fft.tests.test_pocketfft")
    passed, calls = suite("numpy.fft", "--pyargs", "numpy.fft")
    assert passed > 30 and calls > 500


def test_scipy_fft():
    pytest.importorskip("scipy.fft.tests.test_numpy")
    passed, calls = suite("scipy.fft", "--pyargs", "scipy.fft.tests.test_numpy", "-k", "not float128 and not complex256 and not Thread")
    assert passed > 40 and calls > 300


def test_numpy_random():
    pytest.importorskip("numpy.random.tests.test_smoke")
    passed, _ = suite("numpy.random", HERE / "smoke_of_ours.py", "-k", "Philox")
    assert passed > 60


def test_opt_einsum():
    pytest.importorskip("opt_einsum.tests.test_input")
    passed, calls = suite("opt_einsum", "--pyargs", "opt_einsum.tests.test_input")
    assert passed > 10 and calls > 10
