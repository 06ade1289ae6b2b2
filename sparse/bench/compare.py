#!/usr/bin/env python3
"""Sparse operations of the trnsci command beside SciPy's, on the same matrices, in one run.

    OMP_NUM_THREADS=1 python3 sparse/bench/compare.py build/release/trnsci [--small]

Processor time of one thread, the best of many rounds, the two taking turns. A matrix is written once as .npz, so that both
read the same bits.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.io
import scipy.sparse as sp


def poisson3d(n):
    one = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    return sp.csr_matrix(sp.kronsum(sp.kronsum(one, one), one))


def stencil27(n):
    one = sp.diags([1.0, 1.0, 1.0], [-1, 0, 1], shape=(n, n))
    all27 = sp.kron(sp.kron(one, one), one)
    return sp.csr_matrix(27 * sp.identity(n ** 3) - all27)


def blocks2(n):
    """A nine-point grid whose entries are full 2 x 2 blocks, as plane elasticity has them."""
    one = sp.diags([1.0, 1.0, 1.0], [-1, 0, 1], shape=(n, n))
    grid = sp.kron(one, one)
    return sp.csr_matrix(sp.kron(grid, np.array([[2.0, 0.5], [0.5, 3.0]])))


def rmat(scale, seed=1):
    rng = np.random.default_rng(seed)
    count = 16 << scale
    rows = np.zeros(count, dtype=np.int64)
    columns = np.zeros(count, dtype=np.int64)
    for _ in range(scale):
        p = rng.random(count)
        rows = 2 * rows + (p >= 0.76)
        columns = 2 * columns + (((p >= 0.57) & (p < 0.76)) | (p >= 0.95))
    n = 1 << scale
    return sp.csr_matrix((rng.random(count), (rows, columns)), shape=(n, n))


def ours(command, operation, path, repeats, *more):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([command, "bench", operation, "--matrix", path, "--cpu-time", "--repeats", str(repeats),
                        "--json", out.name, *more], check=True, stdout=subprocess.DEVNULL)
        row = json.load(open(out.name))[0]
    return row["seconds"], row["shape"]["kernel"]


def theirs(call, seconds=0.4):
    call()
    best, spent = 1e9, 0.0
    while spent < seconds:
        begin = time.thread_time()
        call()
        took = time.thread_time() - begin
        best, spent = min(best, took), spent + took
    return best


def main():
    command = sys.argv[1]
    small = "--small" in sys.argv
    matrices = {"poisson3d": poisson3d(40 if small else 100), "stencil27": stencil27(24 if small else 64),
                "blocks 2 x 2": blocks2(80 if small else 400), "rmat": rmat(12 if small else 18)}
    ratios = {}
    print("| operation | matrix | rows | nnz | kernel | ours, ms | SciPy, ms | ratio |\n|---|---|---|---|---|---|---|---|")

    def line(operation, name, a, mine, kernel, peer):
        ratios.setdefault(operation, []).append(peer / mine)
        print(f"| {operation} | {name} | {a.shape[0]} | {a.nnz} | {kernel} | {mine * 1e3:.2f} | {peer * 1e3:.2f} | {peer / mine:.2f} |",
              flush=True)

    with tempfile.TemporaryDirectory() as folder:
        for name, a in matrices.items():
            a.sort_indices()
            path = os.path.join(folder, "a.npz")
            sp.save_npz(path, a, compressed=False)
            x = np.random.default_rng(2).random(a.shape[1])
            b = np.random.default_rng(3).random((a.shape[1], 32))

            def both(operation, peer, *more):
                mine, kernel = ours(command, operation, path, 30, *more)
                seconds = theirs(peer)
                again, _ = ours(command, operation, path, 30, *more)
                line(operation, name, a, min(mine, again), kernel, min(seconds, theirs(peer)))

            both("sparse.spmv", lambda: a @ x)
            both("sparse.spmm", lambda: a @ b, "--columns", "32")
            both("sparse.csr2csc", lambda: a.tocsc())
        for name, a in {"poisson3d": poisson3d(48), "stencil27": stencil27(16 if small else 32), "rmat": rmat(10 if small else 13)}.items():
            path = os.path.join(folder, "a.npz")
            sp.save_npz(path, a, compressed=False)

            def square():
                c = a @ a
                c.sort_indices()

            mine, kernel = ours(command, "sparse.spgemm", path, 10)
            line("sparse.spgemm", name, a, mine, kernel, theirs(square))
        a = matrices["stencil27"]
        path = os.path.join(folder, "a.mtx")
        scipy.io.mmwrite(path, a[: min(a.shape[0], 40000)], precision=17)
        mine, _ = ours(command, "sparse.read", path, 5)
        print(f"\nMatrix Market: {os.path.getsize(path) / mine / 1e6:.0f} MB/s; SciPy "
              f"{os.path.getsize(path) / theirs(lambda: scipy.io.mmread(path), 0.1) / 1e6:.0f} MB/s")
    for operation, all_ in ratios.items():
        print(f"{operation}: geometric mean {np.exp(np.mean(np.log(all_))):.2f}, least {min(all_):.2f}")


main()
