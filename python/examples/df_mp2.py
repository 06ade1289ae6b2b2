"""DF-MP2 on a synthetic molecule, with all six libraries: random integrals (rand), screening (sparse), the metric's Cholesky factor
(solver), the fitted integrals (blas, tensor), the energy (tensor), and a stochastic estimate of it (solver, rand).

    python df_mp2.py [executor]

For each pair i <= j of occupied orbitals T_ab = sum_P B(i,a,P) B(j,b,P), and
    E = sum over i, j, a, b of T_ab (2 T_ab - T_ba) / (e_i + e_j - e_a - e_b).
The stochastic part writes the opposite-spin energy, sum of T^2 / gap, as the trace of a matrix: with 1 / gap = -integral of
exp(gap t) dt over t >= 0 in a few quadrature points, E_os = -sum_t w_t trace(G_t^2), G_t(P,Q) = sum_ia B(i,a,P) B(i,a,Q) exp((e_i - e_a) t),
which needs no pairs. Hutch++ estimates it from products with G_t.
"""
import sys

import numpy as np

import trnsci
from trnsci import blas, rand, solver, sparse, tensor

N_AO, N_AUX, N_OCC = 24, 48, 5


def synthetic():
    """Integrals (P|mu nu) that fall off with the distance of mu and nu, a metric (P|Q), orbitals and their energies."""
    g = rand.Generator(2026)
    decay = np.exp(-0.6 * np.abs(np.subtract.outer(np.arange(N_AO), np.arange(N_AO))))
    three = g.normal(0.0, 0.3, (N_AUX, N_AO, N_AO)) * decay
    three = three + three.swapaxes(1, 2)
    root = g.normal(0.0, 0.1, (N_AUX, N_AUX))
    metric = root @ root.T + np.eye(N_AUX)
    overlap = np.eye(N_AO) + 0.1 * decay
    orbital_energies, orbitals = solver.eigh_generalized(-decay + np.diag(np.linspace(0, 3, N_AO)), overlap)
    orbital_energies[N_OCC:] += 1.0  # a gap
    return three, metric, orbitals, orbital_energies


def fitted(three, metric, orbitals):
    """B(i,a,P): integrals over molecular orbitals times the inverse of the metric's Cholesky factor."""
    mo = tensor.ao_to_mo_transform(three, orbitals[:, :N_OCC], orbitals[:, N_OCC:])  # (P|ia)
    lower = solver.cholesky(metric)
    flat = blas.trsm(1.0, lower, mo.reshape(N_AUX, -1), "left", "lower")
    return np.ascontiguousarray(flat.reshape(mo.shape).transpose(1, 2, 0))


def screening(three):
    """Which pairs of atomic orbitals matter: Schwarz bounds from the diagonal (mu nu|mu nu)."""
    bounds = sparse.schwarz_bounds((three**2).sum(axis=0))
    return sparse.sparsity_stats(bounds, 1e-4)


def opposite_spin(b, e_occ, e_vir):
    t = np.einsum("iap,jbp->ijab", b, b)
    gaps = e_occ[:, None, None, None] + e_occ[:, None, None] - e_vir[:, None] - e_vir
    return (t * t / gaps).sum()


def stochastic(b, e_occ, e_vir, points=12, samples=30):
    """The same from traces: (estimate, standard error)."""
    gap = e_vir[None, :] - e_occ[:, None]
    x, w = np.polynomial.legendre.leggauss(points)
    t, weight = (1 + x) / (1 - x) / (2 * gap.min()), 2 * w / (1 - x) ** 2 / (2 * gap.min())
    total, variance = 0.0, 0.0
    for k in range(points):
        scaled = b * np.exp(-gap * t[k] / 2)[:, :, None]
        rows = scaled.reshape(-1, N_AUX)
        gram = blas.syrk(1.0, rows, trans=True, uplo="lower")
        gram = np.tril(gram) + np.tril(gram, -1).T
        estimate = solver.hutch_plus_plus(tensor.einsum("pq,qr->pr", gram, gram), samples, seed=k)
        total -= weight[k] * estimate.value
        variance += (weight[k] * estimate.standard_error) ** 2
    return total, variance**0.5


def main(executor=None):
    three, metric, orbitals, energies = synthetic()
    e_occ, e_vir = energies[:N_OCC], energies[N_OCC:]
    stats = screening(three)
    print(f"screening keeps {stats['quartet_fraction']:.1%} of {stats['n_quartets']} quartets")
    b = fitted(three, metric, orbitals)
    energy = tensor.mp2_energy(b, e_occ, e_vir)
    print(f"E(MP2) = {energy:.10f}, on the host in float64")
    exact, (estimate, error) = opposite_spin(b, e_occ, e_vir), stochastic(b, e_occ, e_vir)
    print(f"opposite spin: {exact:.6f}, from traces {estimate:.6f} +- {error:.6f}")
    result = {"energy": energy, "opposite_spin": exact, "estimate": estimate, "error": error, "kept": stats["quartet_fraction"]}
    if executor:
        with trnsci.use(executor), trnsci.record() as record:
            result["device"] = tensor.mp2_energy(b.astype(np.float32), e_occ, e_vir)
        print(f"E(MP2) = {result['device']:.10f}, on {executor} in float32; {record.modelled_seconds * 1e6:.0f} us modelled, {record.count('run')} launches")
    return result


if __name__ == "__main__":
    main(*sys.argv[1:])
