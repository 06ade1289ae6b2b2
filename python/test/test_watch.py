"""Ctrl-C and progress within a call, and processes that fork."""
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import trnsci

R = np.random.default_rng(1)
A = R.standard_normal((1024, 1024)).astype(np.float32)
S = A @ A.T + 1024 * np.eye(1024, dtype=np.float32)


def work(executor="sim:trn2"):
    """Some sixty launches, a second or less; calls look up every 50 ms, so half a second or more."""
    return trnsci.solver.inv_sqrt_spd_ns(S, executor=executor)[0]


def test_ctrl_c_stops_a_long_call_on_a_device():
    with trnsci.record("sim:trn2") as r:
        want = work()
    whole = r.count("run")
    with trnsci.record("sim:trn2") as r, trnsci.progress(lambda p: None, every=0.0) as p:
        def press():
            while p.launches == 0:
                time.sleep(0.005)
            os.kill(os.getpid(), signal.SIGINT)
        finger = threading.Thread(target=press)
        finger.start()
        with pytest.raises(KeyboardInterrupt):
            work()
        finger.join()
    assert 0 < r.count("run") < whole  # in the middle, not at the end
    assert (work() == want).all()  # the device is as before


def test_ctrl_c_stops_an_iteration_on_the_host():
    a = trnsci.sparse.poisson(40, 40)
    for endless in [lambda: trnsci.solver.eigsh(a, 8, tol=1e-300, maxiter=10**6),
                    lambda: trnsci.solver.lobpcg(a, 4, tol=1e-300, maxiter=10**6)]:
        finger = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
        finger.start()
        begin = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            endless()
        finger.join()
        assert time.monotonic() - begin < 30  # else: hours


def test_progress():
    seen = []
    with trnsci.progress(lambda p: seen.append((p.operation, p.launches, p.modelled_seconds)), every=0.0) as p:
        work()
    launches = [n for _, n, _ in seen]
    assert len(seen) >= 2 and launches == sorted(launches) and launches[-1] > 10 and seen[-1][2] > 0
    assert p.launches == launches[-1] and "launches" in repr(p)
    count = len(seen)
    work()
    assert len(seen) == count  # outside of the block nothing is told

    def stop(p):
        raise RuntimeError("enough")
    with pytest.raises(RuntimeError, match="enough"), trnsci.progress(stop, every=0.0):
        work()


def test_progress_is_of_the_thread_that_asked():
    seen = []
    with trnsci.progress(lambda p: seen.append(p), every=0.0):
        other = threading.Thread(target=lambda: work(trnsci.Executor("sim:trn2")))
        other.start()
        other.join()
    assert not seen


def test_progress_on_standard_error(capfd):
    with trnsci.progress(every=0.0):
        work()
    assert "launches" in capfd.readouterr().err


FORK = """
import os, numpy as np, trnsci
a = np.random.default_rng(1).standard_normal((400, 400))
want = trnsci.blas.matmul(a, a), trnsci.solver.cholesky(a @ a.T + 400 * np.eye(400)), trnsci.fft.fft2(a)
pid = os.fork()
if pid == 0:
    got = trnsci.blas.matmul(a, a), trnsci.solver.cholesky(a @ a.T + 400 * np.eye(400)), trnsci.fft.fft2(a)
    with trnsci.use(trnsci.Executor("sim:trn2")):
        trnsci.blas.matmul(a.astype(np.float32), a.astype(np.float32))
    os._exit(0 if all(np.allclose(x, y) for x, y in zip(got, want)) else 1)
trnsci.blas.matmul(a, a)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


@pytest.mark.parametrize("threads", ["1", "4"])
def test_fork_after_work(threads):
    variables = dict(os.environ, OMP_NUM_THREADS=threads, OPENBLAS_NUM_THREADS=threads)
    assert subprocess.run([sys.executable, "-c", FORK], timeout=60, env=variables).returncode == 0
