"""An integral over the unit cube in six dimensions: pseudo-random, Sobol and Halton points, each with the error that it states.

    python mc_integration.py [executor]

f(x) = prod (pi/2) sin(pi x_i), whose integral is 1. Of n random points the standard error falls as n^-1/2. Sobol points scrambled with
independent seeds give independent estimates, so that their spread is an error estimate too, and it falls faster; Halton points have none.
"""
import sys

import numpy as np

from trnsci import rand

DIMENSIONS, SCRAMBLES = 6, 16


def f(x):
    return np.prod(np.pi / 2 * np.sin(np.pi * x.astype(np.float64)), axis=1)


def pseudo(n, executor):
    """(estimate, standard error) from n points, drawn on the executor."""
    values = f(rand.Generator(1).random((n, DIMENSIONS), np.float32, executor=executor))
    return values.mean(), values.std(ddof=1) / np.sqrt(n)


def sobol(n):
    """The same number of points, in independent scramblings, which the host makes."""
    means = [f(rand.sobol(n // SCRAMBLES, DIMENSIONS, seed=s)).mean() for s in range(SCRAMBLES)]
    return np.mean(means), np.std(means, ddof=1) / np.sqrt(SCRAMBLES)


def main(executor=None, sizes=(1 << 12, 1 << 14, 1 << 16)):
    result = {}
    print(f"{'points':>8}  {'random':>22}  {'Sobol':>22}  {'Halton':>10}")
    for n in sizes:
        random, quasi, halton = pseudo(n, executor), sobol(n), f(rand.halton(n, DIMENSIONS)).mean()
        print(f"{n:8d}  {random[0]:.6f} +- {random[1]:.6f}  {quasi[0]:.6f} +- {quasi[1]:.6f}  {halton:.6f}")
        result[n] = {"random": random, "sobol": quasi, "halton": halton}
    return result


if __name__ == "__main__":
    main(*sys.argv[1:])
