"""Times of trnsci for Python beside NumPy and SciPy in the same run: speed.py [fft] [rand] [calls] [overhead].

    PYTHONPATH=build/release/python/site OMP_NUM_THREADS=1 build/release/python/venv/bin/python python/test/speed.py

Each figure is the least processor time of several rounds, the two sides in turn: other programs on the machine count little.
`overhead` sets the same small calls in C++ beside Python's; they are another program, built by
`ninja -C build/release/python/extension trn_python_calls`.
"""
import pathlib
import subprocess
import sys
import time

import numpy as np
import scipy.fft

import trnsci


def fastest(calls, seconds=0.15, rounds=7):
    """The least time per call of each of several functions, taken in turn."""
    counts = []
    for call in calls:
        call()
        begin = time.perf_counter()
        call()
        counts.append(max(1, int(seconds / rounds / max(time.perf_counter() - begin, 1e-7))))
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for i, call in enumerate(calls):
            begin = time.process_time()
            for _ in range(counts[i]):
                call()
            best[i] = min(best[i], (time.process_time() - begin) / counts[i])
    return best


def fft():
    print("length         kind        trnsci us   scipy us   scipy/trnsci")
    rng = np.random.default_rng(1)
    for n in [4, 16, 64, 100, 127, 128, 256, 360, 500, 512, 997, 1000, 1024, 2048, 2310, 4096, 4097, 8192, 10007, 16384, 30030, 65536,
              100000, 131072, 262144, 1048576]:
        z = rng.standard_normal(n) + 1j * rng.standard_normal(n)
        x = np.ascontiguousarray(z.real)
        for kind, ours, theirs in [
                ("c128", lambda: trnsci.fft.fft(z), lambda: scipy.fft.fft(z)),
                ("c64", lambda y=z.astype(np.complex64): trnsci.fft.fft(y), lambda y=z.astype(np.complex64): scipy.fft.fft(y)),
                ("rfft f64", lambda: trnsci.fft.rfft(x), lambda: scipy.fft.rfft(x)),
                ("fft of f64", lambda: trnsci.fft.fft(x), lambda: scipy.fft.fft(x))]:
            a, b = fastest([ours, theirs])
            print(f"{n:8d}  {kind:12s} {a * 1e6:12.2f} {b * 1e6:10.2f} {b / a:10.2f}", flush=True)


def rand():
    n = 10**7
    out = np.empty(n)
    ours, theirs = trnsci.rand.Generator(1), np.random.Generator(np.random.Philox(1))
    mixed = np.random.Generator(trnsci.rand.Philox4x32(1))
    cases = [("random", lambda: ours.random(out=out), lambda: theirs.random(out=out), lambda: mixed.random(out=out)),
             ("standard_normal", lambda: ours.standard_normal(out=out), lambda: theirs.standard_normal(out=out), lambda: mixed.standard_normal(out=out)),
             ("standard_exponential", lambda: ours.standard_exponential(out=out), lambda: theirs.standard_exponential(out=out), lambda: mixed.standard_exponential(out=out))]
    for name, a, b, c in cases:
        ta, tb, tc = fastest([a, b, c], 1.0, 5)
        print(f"{name:22s} 1e7 doubles: trnsci {ta * 1e3:7.1f} ms, NumPy's Philox {tb * 1e3:7.1f} ms ({tb / ta:.2f}), "
              f"NumPy on our Philox {tc * 1e3:7.1f} ms ({tb / tc:.2f})")


def calls():
    z = np.ones(8, dtype=np.complex128)
    y = np.empty_like(z)
    plan = trnsci.fft.Plan("fft", (8,), np.complex128)
    a = np.ones((4, 4))
    for name, ours, theirs in [("fft of 8", lambda: trnsci.fft.fft(z), lambda: scipy.fft.fft(z)),
                               ("fft of 8, out=", lambda: trnsci.fft.fft(z, out=y), lambda: np.fft.fft(z)),
                               ("plan of 8", lambda: plan(z, y), lambda: scipy.fft.fft(z)),
                               ("gemm 4 x 4", lambda: trnsci.blas.gemm(1.0, a, a), lambda: a @ a),
                               ("dot of 4", lambda: trnsci.blas.dot(a[0], a[0]), lambda: np.dot(a[0], a[0]))]:
        s, t = fastest([ours, theirs])
        print(f"{name:18s} {s * 1e6:7.2f} us   NumPy or SciPy {t * 1e6:7.2f} us")


def overhead():
    """What a call from Python takes beyond the same call in C++, in microseconds: at most 2 is the aim."""
    program = pathlib.Path(sys.prefix).parent / "extension" / "trn_python_calls"
    if not program.exists():
        sys.exit(f"{program} is not there: ninja -C {program.parent} trn_python_calls")
    x, a, z = np.ones(4), np.full((4, 4), 1.0) + 3 * np.eye(4), np.ones(8, np.complex128)
    g, out, w = trnsci.rand.Generator(0), np.empty(8), np.empty(8, np.complex128)
    product = trnsci.sparse.SpmmPlan(trnsci.sparse.eye_sparse(4))
    ours = {"dot": lambda: trnsci.blas.dot(x, x), "axpy": lambda: trnsci.blas.axpy(1e-9, x, x), "gemv": lambda: trnsci.blas.gemv(1.0, a, x),
            "gemm": lambda: trnsci.blas.gemm(1.0, a, a), "fft": lambda: trnsci.fft.fft(z, out=w), "random": lambda: g.random(out=out),
            "cholesky": lambda: trnsci.solver.cholesky(a), "solve": lambda: trnsci.solver.solve(a, x), "spmv": lambda: product(x),
            "einsum": lambda: trnsci.tensor.einsum("ij,jk->ik", a, a)}
    there = {name: [] for name in ours}
    here = {name: [] for name in ours}
    for _ in range(3):  # in turn, so that both have the same machine
        for line in subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines():
            name, nanoseconds = line.split("\t")
            there[name].append(float(nanoseconds) / 1e3)
        for name, call in ours.items():
            here[name].append(fastest([call])[0] * 1e6)
    print("call        Python us    C++ us   overhead us")
    for name in ours:
        python, cpp = min(here[name]), min(there[name])
        print(f"{name:10s} {python:10.2f} {cpp:9.2f} {python - cpp:13.2f}")


for part in sys.argv[1:] or ["calls", "overhead", "rand", "fft"]:
    {"fft": fft, "rand": rand, "calls": calls, "overhead": overhead}[part]()
