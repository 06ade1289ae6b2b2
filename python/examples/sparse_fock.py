"""A screened matrix times a dense one, as a Fock build has it, in three ways: dense, entries, blocks.

    python sparse_fock.py [executor]

A holds integrals that fall off with the distance of two functions, Q_i = sqrt(|(ii|ii)|) bounds them: |A_ij| <= Q_i Q_j. Entries with
Q_i Q_j <= threshold are left out. What that loses is known before: ||(A - A~) D|| <= ||A - A~|| ||D||, at most the sum of what was dropped.
Blocks of 128 are what a NeuronCore multiplies, so there the third way is the one to take.
"""
import sys

import numpy as np

import trnsci
from trnsci import rand, sparse

FUNCTIONS, COLUMNS, BLOCK = 512, 64, 128


def problem():
    """(A, diagonal integrals, D): float32, functions on a line, each with its own size."""
    g = rand.Generator(3)
    place = np.arange(FUNCTIONS) / 8.0
    size = np.exp(-0.08 * place)[:, None] * np.exp(-0.08 * place)
    a = size * np.exp(-0.5 * np.abs(np.subtract.outer(place, place))) * (0.5 + 0.5 * g.random((FUNCTIONS, FUNCTIONS)))
    a = np.tril(a) + np.tril(a, -1).T
    return a.astype(np.float32), np.exp(-0.16 * place), g.normal(0.0, 1.0, (FUNCTIONS, COLUMNS), dtype=np.float32)


def main(executor=None, threshold=1e-3):
    a, diagonal, d = problem()
    where = {"executor": executor} if executor else {}
    exact = a.astype(np.float64) @ d
    csr = sparse.from_dense(a, threshold)                     # entries above the threshold
    blocks = sparse.BSRMatrix.from_csr(csr, BLOCK)            # blocks that hold one of them
    dropped = a - csr.to_dense()
    bound = np.linalg.norm(dropped.astype(np.float64)) * np.linalg.norm(d.astype(np.float64), 2)
    result = {"entries": csr.density, "blocks": blocks.density, "bound": bound, "quartets": sparse.sparsity_stats(sparse.schwarz_bounds(diagonal), threshold)}
    for name, product in (("dense", lambda: trnsci.blas.matmul(a, d, **where)), ("entries", lambda: sparse.spmm(csr, d)),
                          ("blocks", lambda: sparse.bsr_spmm(blocks, d, **where)),
                          ("fused", lambda: sparse.screened_spmm(a, diagonal, d, threshold))):
        y = product()
        result[name + " error"] = float(np.linalg.norm(y - exact))
        print(f"{name:8} |error| {result[name + ' error']:.2e}, of |A D| = {np.linalg.norm(exact):.2e}; bound of what is dropped {bound:.2e}")
    print(f"kept: {csr.density:.1%} of the entries, {blocks.density:.0%} of the blocks, {result['quartets']['quartet_fraction']:.1%} by Schwarz's bound")
    return result


if __name__ == "__main__":
    main(*sys.argv[1:])
