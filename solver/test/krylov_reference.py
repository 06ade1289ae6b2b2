#!/usr/bin/env python3
"""Writes krylov_reference.inc: how many iterations SciPy's Krylov methods take on ten matrices.

usage: krylov_reference.py > krylov_reference.inc

The matrices are given by formulas that krylov_reference_test.cpp states again. The number is the first iteration
whose residual ||b - A x_k|| is at most 1e-8 ||b||: computed from the iterate where the callback gives it (cg, minres,
bicgstab), the method's own norm for gmres, and the stopping test for lsqr, whose atol is 0. A method that does not get
there, or that is not meant for the matrix, has -1; so has a number that roundings made, for they differ from one BLAS
and one processor to the next: a number above the order n (exact arithmetic would be done by then), and one that moves
by more than one when the entries of b move by half an ulp. Made with SciPy 1.10.1 and NumPy 1.24.2.
"""
import numpy as np
import scipy.sparse.linalg as sla

TOLERANCE = 1e-8


def grid(entry, n):
    return np.array([[entry(i, j) for j in range(n)] for i in range(n)], dtype=float)


def laplace2d(m, convection=0.0, shift=0.0):
    """Five points on an m x m grid, n = m^2; convection leans on the neighbours of one direction."""
    n = m * m
    a = np.zeros((n, n))
    for i in range(n):
        row, column = divmod(i, m)
        a[i, i] = 4 - shift
        if row > 0:
            a[i, i - m] = -1
        if row < m - 1:
            a[i, i + m] = -1
        if column > 0:
            a[i, i - 1] = -1 - convection
        if column < m - 1:
            a[i, i + 1] = -1 + convection
    return a


MATRICES = [
    ("second difference", grid(lambda i, j: 2.0 if i == j else -1.0 if abs(i - j) == 1 else 0.0, 60), "spd"),
    ("five points", laplace2d(9), "spd"),
    ("Lehmer and one", grid(lambda i, j: 2.0 if i == j else (min(i, j) + 1.0) / (max(i, j) + 1.0), 40), "spd"),
    ("powers of one half", grid(lambda i, j: 0.5 ** abs(i - j), 64), "spd"),
    ("graded diagonal", grid(lambda i, j: 1.0 + 4.0 * i if i == j else 0.25 if abs(i - j) == 1 else 0.0, 64), "spd"),
    ("Helmholtz", laplace2d(8, 0.0, 1.0), "symmetric"),
    ("antidiagonal", grid(lambda i, j: (1.0 + i % 3 if i == j else 0.0) + (4.0 if i + j == 31 else 0.0), 32), "symmetric"),
    ("convection", laplace2d(8, 0.5), "general"),
    ("Grcar and three", grid(lambda i, j: 4.0 if i == j else -1.0 if i == j + 1 else 1.0 if 0 < j - i <= 3 else 0.0, 50),
     "general"),
    ("dominant", grid(lambda i, j: 12.0 if i == j else ((7 * i + 11 * j) % 13 - 6.0) / 16.0, 40), "general"),
]


def first_small(a, b, method, limit):
    """The first iteration with a small residual, from iterates."""
    sizes = []
    try:
        method(a, b, lambda x: sizes.append(np.linalg.norm(b - a @ np.asarray(x)) / np.linalg.norm(b)), limit)
    except Exception:
        return -1
    for k, size in enumerate(sizes[:len(b)]):
        if size <= TOLERANCE:
            return k + 1
    return -1


def gmres(a, b, restart):
    sizes = []
    sla.gmres(a, b, tol=TOLERANCE, atol=0, restart=restart, maxiter=20, callback=sizes.append, callback_type="pr_norm")
    for k, size in enumerate(sizes):
        if size <= TOLERANCE:
            return k + 1
    return -1


PERTURBATIONS = 12


def steady(count, b):
    """count(b), or -1 where roundings decide: the counts of nearby right-hand sides differ by more than one."""
    random = np.random.default_rng(1)
    counts = [count(b)]
    for _ in range(PERTURBATIONS):
        counts.append(count(b * (1 + np.finfo(float).eps * random.integers(-1, 2, len(b)))))
    return counts[0] if min(counts) > 0 and max(counts) - min(counts) <= 1 else -1


def lsqr(a, b):
    n = len(b)
    result = sla.lsqr(a, b, atol=0, btol=TOLERANCE, conlim=0, iter_lim=4 * n)
    return result[2] if result[1] == 1 and result[2] <= n else -1


def main():
    print("// Made by krylov_reference.py with SciPy 1.10.1: iterations to a residual of 1e-8. -1: not tried, not reached.")
    print("// name, cg, minres, gmres(n), gmres(10), bicgstab, lsqr")
    for name, a, kind in MATRICES:
        n = a.shape[0]
        b = np.array([((37 * i + 11) % 101) / 64.0 - 0.75 for i in range(n)])
        def iterates(method, limit, **options):
            return lambda b: first_small(
                a, b, lambda a, b, c, m: method(a, b, maxiter=m, callback=c, **options), limit * n)

        tight = {"tol": 1e-12, "atol": 0}
        cg = steady(iterates(sla.cg, 3, **tight), b) if kind == "spd" else -1
        minres = steady(iterates(sla.minres, 5, tol=1e-15), b) if kind != "general" else -1
        counts = [cg, minres, steady(lambda b: gmres(a, b, n), b), steady(lambda b: gmres(a, b, 10), b),
                  steady(iterates(sla.bicgstab, 2, **tight), b), steady(lambda b: lsqr(a, b), b)]
        print(f'{{"{name}", {", ".join(map(str, counts))}}},')


if __name__ == "__main__":
    main()
