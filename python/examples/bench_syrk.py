"""Times of syrk, one triangle of A A^T, beside gemm, which computes both: on the host measured, on a device modelled.

    python bench_syrk.py [executor] [n,k ...]

Fewest seconds of five calls each. Half of gemm's work is needed; the ratio says how much of that a call saves.
"""
import sys

from measured import fastest, modelled, shapes

from trnsci import blas, rand


def main(executor="sim:trn2", sizes=((256, 256), (512, 512), (1024, 512))):
    rows = []
    print(f"{'n':>6} {'k':>6} {'host syrk ms':>13} {'gemm ms':>9} {'ratio':>6}   {executor} syrk us {'gemm us':>9} {'ratio':>6}")
    for n, k in sizes:
        a = rand.Generator(n).normal(0.0, 1.0, (n, k), dtype="f4")
        host = [fastest(lambda: blas.syrk(1.0, a)), fastest(lambda: blas.gemm(1.0, a, a, transB=True))]
        device = [modelled(executor, lambda: blas.syrk(1.0, a)), modelled(executor, lambda: blas.gemm(1.0, a, a, transB=True))]
        rows.append({"n": n, "k": k, "host": host, "device": device})
        print(f"{n:6d} {k:6d} {host[0] * 1e3:13.3f} {host[1] * 1e3:9.3f} {host[0] / host[1]:6.2f}   "
              f"{device[0] * 1e6:{len(executor) + 8}.1f} {device[1] * 1e6:9.1f} {device[0] / device[1]:6.2f}")
    return rows


if __name__ == "__main__":
    main(*shapes(sys.argv[1:]))
