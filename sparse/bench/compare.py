#!/usr/bin/env python3
"""Host operations of trnsparse beside SciPy, Eigen, MKL and PyAMG, on the same matrices, in one run.

    ninja -C build/release trnsci sparse_host_peers
    OMP_NUM_THREADS=1 python3 sparse/bench/compare.py build/release [--small] [--wall] [--only OPERATION,...]

Processor time (--wall: the wall's clock, for several threads on an idle machine; OMP_WAIT_POLICY=passive then, or the
peer's waiting threads hold the cores while we run), the least of many rounds; ours and the
peers take turns, twice. MKL and PyAMG take part when this Python has them (`pip install mkl pyamg` in an environment
beside), Eigen when sparse_host_peers is built. Ratios are the peer's time for ours: above 1 we are quicker.
"""
import ctypes
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy
import scipy.io
import scipy.sparse as sp

SMALL, WALL = "--small" in sys.argv, "--wall" in sys.argv
ONLY = sys.argv[sys.argv.index("--only") + 1].split(",") if "--only" in sys.argv else None
CLOCK = time.perf_counter if WALL else time.process_time


def poisson(*sizes):
    a = None
    for n in sizes:
        one = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
        a = one if a is None else sp.kronsum(a, one)
    return sp.csr_matrix(a)


def stencil27(n):
    one = sp.diags([1.0, 1.0, 1.0], [-1, 0, 1], shape=(n, n))
    return sp.csr_matrix(27 * sp.identity(n ** 3) - sp.kron(sp.kron(one, one), one))


def blocks2(n):
    """A nine-point grid whose entries are full 2 x 2 blocks, as plane elasticity has them."""
    one = sp.diags([1.0, 1.0, 1.0], [-1, 0, 1], shape=(n, n))
    return sp.csr_matrix(sp.kron(sp.kron(one, one), np.array([[2.0, 0.5], [0.5, 3.0]])))


def rmat(scale, seed=1):
    rng = np.random.default_rng(seed)
    count = 16 << scale
    rows = np.zeros(count, dtype=np.int64)
    columns = np.zeros(count, dtype=np.int64)
    for _ in range(scale):
        p = rng.random(count)
        rows = 2 * rows + (p >= 0.76)
        columns = 2 * columns + (((p >= 0.57) & (p < 0.76)) | (p >= 0.95))
    return sp.csr_matrix((rng.random(count), (rows, columns)), shape=(1 << scale, 1 << scale))


def mesh(n, seed=3):
    """Short rows of unequal length in a random order: a triangulated grid with its nodes shuffled."""
    one, up = sp.diags([1.0, 1.0, 1.0], [-1, 0, 1], shape=(n, n)), sp.diags([1.0], [1], shape=(n, n))
    grid = sp.kron(sp.identity(n), one) + sp.kron(up + up.T, sp.identity(n)) + sp.kron(up, up) + sp.kron(up.T, up.T)
    order = np.random.default_rng(seed).permutation(n * n)
    return sp.csr_matrix(grid)[order][:, order]


class Mkl:
    """MKL's sparse BLAS by ctypes: handles, products, and the conversion to columns."""

    class Description(ctypes.Structure):
        _fields_ = [("type", ctypes.c_int), ("mode", ctypes.c_int), ("diagonal", ctypes.c_int)]

    def __init__(self):
        found = glob.glob(os.path.join(sys.prefix, "lib", "libmkl_rt.so*"))
        self.library = ctypes.CDLL(found[0]) if found else None
        self.general = self.Description(20, 40, 50)

    def check(self, status):
        assert status == 0, f"MKL says {status}"

    def matrix(self, a):
        """a must live as long as the handle, and its offsets be 32 bits wide."""
        handle = ctypes.c_void_p()
        at = [x.ctypes.data_as(ctypes.c_void_p) for x in (a.indptr, a.indptr[1:], a.indices, a.data)]
        self.check(self.library.mkl_sparse_d_create_csr(ctypes.byref(handle), 0, *map(ctypes.c_int, a.shape), *at))
        return handle

    def spmv(self, a, x, hint):
        handle, y = self.matrix(a), np.empty(a.shape[0])
        if hint:
            self.check(self.library.mkl_sparse_set_mv_hint(handle, 10, self.general, 1000))
            self.check(self.library.mkl_sparse_optimize(handle))
        one, zero, into = ctypes.c_double(1), ctypes.c_double(0), y.ctypes.data_as(ctypes.c_void_p)
        given = x.ctypes.data_as(ctypes.c_void_p)
        return lambda: self.check(self.library.mkl_sparse_d_mv(10, one, handle, self.general, given, zero, into))

    def spmm(self, a, b, hint):
        handle, c, n = self.matrix(a), np.empty((a.shape[0], b.shape[1])), ctypes.c_int(b.shape[1])
        if hint:
            self.check(self.library.mkl_sparse_set_mm_hint(handle, 10, self.general, 101, n, 1000))
            self.check(self.library.mkl_sparse_optimize(handle))
        one, zero = ctypes.c_double(1), ctypes.c_double(0)
        at = [x.ctypes.data_as(ctypes.c_void_p) for x in (b, c)]
        return lambda: self.check(
            self.library.mkl_sparse_d_mm(10, one, handle, self.general, 101, at[0], n, n, zero, at[1], n))

    def square(self, a, ordered):
        handle = self.matrix(a)

        def call():
            out = ctypes.c_void_p()
            self.check(self.library.mkl_sparse_spmm(10, handle, handle, ctypes.byref(out)))
            if ordered:
                self.check(self.library.mkl_sparse_order(out))
            self.check(self.library.mkl_sparse_destroy(out))
        return call

    def convert(self, a):
        """The rows of the transpose: what CSR to CSC makes."""
        handle = self.matrix(a)

        def call():
            out = ctypes.c_void_p()
            self.check(self.library.mkl_sparse_convert_csr(handle, 11, ctypes.byref(out)))
            self.check(self.library.mkl_sparse_destroy(out))
        return call


def least(call, seconds=0.5):
    call()
    best, spent = 1e9, 0.0
    while spent < seconds:
        begin = CLOCK()
        call()
        took = CLOCK() - begin
        best, spent = min(best, took), spent + took
    return best


def amg_of_pyamg(pyamg, a):
    """Set-up by PyAMG's defaults but for Chebyshev's smoother of our degree; iterations of CG to 1e-8."""
    def make():
        smoother = ("chebyshev", {"degree": 2, "iterations": 1})
        return pyamg.smoothed_aggregation_solver(a, max_coarse=200, presmoother=smoother, postsmoother=smoother)
    hierarchy, residuals = make(), []
    hierarchy.solve(np.ones(a.shape[0]), tol=1e-8, accel="cg", residuals=residuals)
    return least(make), len(residuals) - 1


def main():
    build = sys.argv[1]
    program = os.path.join(build, "sparse/bench/sparse_host_peers")
    mkl, ratios = Mkl(), {}
    try:
        import pyamg
    except ImportError:
        pyamg = None
    print(f"SciPy {scipy.__version__}, Eigen {'yes' if os.path.exists(program) else 'no'}, MKL "
          f"{'yes' if mkl.library else 'no'}, PyAMG {pyamg.__version__ if pyamg else 'no'}; {os.environ.get('OMP_NUM_THREADS')} "
          f"threads, {'wall' if WALL else 'processor'} time, TRN_SIMD {os.environ.get('TRN_SIMD', 'not set')}\n")
    print("| operation | matrix | rows | nnz | kernel | ours, ms | peers, ms | of the best peer |\n|---|---|---|---|---|---|---|---|")

    def ours(operation, path):
        out = subprocess.run([program, operation, path] + (["--wall"] if WALL else []), check=True, stdout=subprocess.PIPE)
        return json.loads(out.stdout)

    def row(operation, name, a, path, peers):
        if ONLY and operation not in ONLY:
            return
        mine, times = {}, {}
        for _ in range(2):
            now = ours(operation, path)
            mine = now if not mine else {**now, **{k: min(v, now[k]) for k, v in mine.items() if isinstance(v, float)}}
            for peer, call in peers().items():
                times[peer] = min(times.get(peer, 1e9), least(call))
        if "eigen" in mine:
            times["Eigen"] = mine["eigen"]
        best = min(times.values())
        ratios.setdefault(operation, []).append(best / mine["ours"])
        for peer, seconds in times.items():
            ratios.setdefault(f"{operation}, {peer}", []).append(seconds / mine["ours"])
        said = ", ".join(f"{peer} {seconds * 1e3:.2f}" for peer, seconds in times.items())
        print(f"| {operation} | {name} | {a.shape[0]} | {a.nnz} | {mine['kernel']} | {mine['ours'] * 1e3:.2f} | {said} | "
              f"{best / mine['ours']:.2f} |", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        def saved(a):
            a.sort_indices()
            path = os.path.join(folder, "a.npz")
            sp.save_npz(path, a, compressed=False)
            return path

        matrices = {"7-point": poisson(*[40 if SMALL else 100] * 3), "27-point": stencil27(24 if SMALL else 64),
                    "blocks 2 x 2": blocks2(80 if SMALL else 400), "rmat": rmat(12 if SMALL else 18),
                    "5-point": poisson(*[100 if SMALL else 700] * 2), "shuffled mesh": mesh(60 if SMALL else 180)}
        for name, a in matrices.items():
            path = saved(a)
            x = np.random.default_rng(2).random(a.shape[1])
            b = np.random.default_rng(3).random((a.shape[1], 32))
            row("spmv", name, a, path, lambda: {"SciPy": lambda: a @ x, **(
                {"MKL": mkl.spmv(a, x, False), "MKL optimised": mkl.spmv(a, x, True)} if mkl.library else {})})
            row("spmm", name, a, path, lambda: {"SciPy": lambda: a @ b, **(
                {"MKL": mkl.spmm(a, b, False), "MKL optimised": mkl.spmm(a, b, True)} if mkl.library else {})})
            row("csr2csc", name, a, path, lambda: {"SciPy": lambda: a.tocsc(), **(
                {"MKL": mkl.convert(a)} if mkl.library else {})})
        for name, a in {"7-point": poisson(*[16 if SMALL else 48] * 3), "27-point": stencil27(12 if SMALL else 32),
                        "blocks 2 x 2": blocks2(40 if SMALL else 120), "rmat": rmat(10 if SMALL else 13)}.items():
            def sorted_square():
                (a @ a).sort_indices()
            row("spgemm", name, a, saved(a), lambda: {"SciPy": sorted_square, "SciPy unsorted": lambda: a @ a, **(
                {"MKL": mkl.square(a, True), "MKL unsorted": mkl.square(a, False)} if mkl.library else {})})
        if not ONLY or "read" in ONLY:
            a = matrices["27-point"]
            path = os.path.join(folder, "a.mtx")
            scipy.io.mmwrite(path, a[: min(a.shape[0], 40000)], precision=17)
            out = os.path.join(folder, "out.json")
            subprocess.run([os.path.join(build, "trnsci"), "bench", "sparse.read", "--matrix", path, "--repeats", "5", "--json", out]
                           + ([] if WALL else ["--cpu-time"]), check=True, stdout=subprocess.DEVNULL)
            mine, size = json.load(open(out))[0]["seconds"], os.path.getsize(path)
            print(f"\nMatrix Market: {size / mine / 1e6:.0f} MB/s; SciPy {size / least(lambda: scipy.io.mmread(path), 0.1) / 1e6:.0f} MB/s")
        if not ONLY or "amg" in ONLY:
            print("\n| multigrid | rows | set-up, ms: ours, PyAMG | ratio | iterations: ours, PyAMG | levels, complexity |\n|---|---|---|---|---|---|")
            for name, a in {"7-point": poisson(*[16 if SMALL else 48] * 3), "5-point": poisson(*[60 if SMALL else 300] * 2)}.items():
                mine = ours("amg", saved(a))
                seconds, steps = amg_of_pyamg(pyamg, a) if pyamg else (float("nan"), "-")
                again = ours("amg", saved(a))
                setup = min(mine["ours"], again["ours"])
                print(f"| {name} | {a.shape[0]} | {setup * 1e3:.1f}, {seconds * 1e3:.1f} | {seconds / setup:.2f} | "
                      f"{mine['iterations']}, {steps} | {mine['levels']}, {mine['complexity']:.2f} |", flush=True)
    print()
    for operation, all_ in ratios.items():
        print(f"{operation}: geometric mean {np.exp(np.mean(np.log(all_))):.2f}, least {min(all_):.2f}")


main()
