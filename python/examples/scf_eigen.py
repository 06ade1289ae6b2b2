"""A self-consistent field on a synthetic molecule: generalised eigenproblems F C = S C e until the orbitals reproduce themselves.

    python scf_eigen.py [executor]

Fitted integrals B(P, mu nu) give the Coulomb and exchange parts of the Fock matrix of a closed shell with density D = C_occ C_occ^T:
    J_mn = sum_P B_P,mn gamma_P,  gamma_P = sum_ls B_P,ls D_ls,    K_mn = sum_P,i (B_P C)_mi (B_P C)_ni,    F = H + 2 J - K.
Pulay's extrapolation (DIIS) takes the combination of earlier Fock matrices whose error F D S - S D F is smallest. With an executor the
last Fock matrix is formed there in float32 and compared.
"""
import sys

import numpy as np

import trnsci
from trnsci import blas, rand, solver, tensor

ORBITALS, AUXILIARY, OCCUPIED = 20, 40, 4


def molecule():
    """(H, S, B): one-electron matrix, overlaps, fitted integrals, all of which fall off with distance."""
    g = rand.Generator(99)
    distance = np.abs(np.subtract.outer(np.arange(ORBITALS), np.arange(ORBITALS)))
    decay = np.exp(-0.8 * distance)
    b = g.normal(0.0, 0.05, (AUXILIARY, ORBITALS, ORBITALS)) * decay
    levels = np.linspace(-1.0, 2.0, ORBITALS) + 2.0 * (np.arange(ORBITALS) >= OCCUPIED)
    return np.diag(levels) - 0.5 * decay, np.eye(ORBITALS) * 0.8 + 0.2 * decay, b + b.swapaxes(1, 2)


def fock(h, b, occupied):
    density = blas.gemm(1.0, occupied, occupied, transB=True)
    gamma = tensor.einsum("pls,ls->p", b, density)
    coulomb = tensor.einsum("pmn,p->mn", b, gamma)
    half = tensor.einsum("pmn,ni->pmi", b, occupied)
    exchange = tensor.einsum("pmi,pni->mn", half, half)
    return h + 2 * coulomb - exchange, density


def energy(h, f, density):
    """Electrons' energy of a closed shell: tr D (H + F)."""
    return float((density * (h + f)).sum())


def extrapolated(history):
    """The combination, with weights of sum 1, of least error."""
    n = len(history)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = [[(x * y).sum() for _, y in history] for _, x in history]
    system[n, :n] = system[:n, n] = -1
    weights = solver.solve(system, -np.eye(n + 1)[n], assume_a="sym", lower=True)[:n]
    return sum(w * f for w, (f, _) in zip(weights, history))


def main(executor=None, limit=1e-9):
    h, s, b = molecule()
    e, c = solver.eigh_generalized(h, s)
    history = []
    for iteration in range(1, 61):
        f, density = fock(h, b, np.ascontiguousarray(c[:, :OCCUPIED]))
        error = f @ density @ s - s @ density @ f
        history = [*history[-7:], (f, error)]
        if np.abs(error).max() < limit:
            break
        e, c = solver.eigh_generalized(extrapolated(history) if iteration > 1 else f, s)
    else:
        sys.exit("the field did not become self-consistent")
    result = {"energy": energy(h, f, density), "iterations": iteration, "commutator": float(np.abs(error).max()), "density": density,
              "fock": f, "gap": float(e[OCCUPIED] - e[OCCUPIED - 1])}
    print(f"E = {result['energy']:.10f} after {iteration} iterations, |FDS - SDF| = {result['commutator']:.1e}, gap {result['gap']:.3f}")
    if executor:
        with trnsci.use(executor), trnsci.record() as record:
            there, _ = fock(h.astype(np.float32), b.astype(np.float32), c[:, :OCCUPIED].astype(np.float32))
        result["difference"] = float(np.linalg.norm(there - f) / np.linalg.norm(f))
        print(f"the Fock matrix on {executor} differs by {result['difference']:.1e}; {record.modelled_seconds * 1e6:.0f} us modelled")
    return result


if __name__ == "__main__":
    main(*sys.argv[1:])
