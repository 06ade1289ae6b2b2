"""Times of trsm, triangular systems with many right-hand sides, beside a product of the same size: host measured, device modelled.

    python bench_trsm.py [executor] [n,columns ...]

Fewest seconds of five calls each. A solve has half the operations of the product, one after another along the diagonal.
"""
import sys

import numpy as np
from measured import fastest, modelled, shapes

from trnsci import blas, rand


def main(executor="sim:trn2", sizes=((256, 256), (512, 512), (1024, 512))):
    rows = []
    print(f"{'n':>6} {'k':>6} {'host trsm ms':>13} {'gemm ms':>9} {'ratio':>6}   {executor} trsm us {'gemm us':>9} {'ratio':>6}")
    for n, k in sizes:
        g = rand.Generator(n)
        t = np.tril(g.normal(0.0, 1.0, (n, n), dtype="f4")) / np.float32(n) + np.eye(n, dtype="f4")
        b = g.normal(0.0, 1.0, (n, k), dtype="f4")
        calls = [lambda: blas.trsm(1.0, t, b, uplo="lower"), lambda: blas.gemm(1.0, t, b)]
        host, device = [fastest(c) for c in calls], [modelled(executor, c) for c in calls]
        rows.append({"n": n, "k": k, "host": host, "device": device})
        print(f"{n:6d} {k:6d} {host[0] * 1e3:13.3f} {host[1] * 1e3:9.3f} {host[0] / host[1]:6.2f}   "
              f"{device[0] * 1e6:{len(executor) + 8}.1f} {device[1] * 1e6:9.1f} {device[0] / device[1]:6.2f}")
    return rows


if __name__ == "__main__":
    main(*shapes(sys.argv[1:]))
