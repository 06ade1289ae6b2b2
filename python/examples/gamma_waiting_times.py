"""How long until the k-th call? Waiting times of a Poisson process, drawn in two ways and compared with the formula.

    python gamma_waiting_times.py [executor]

Calls come at `RATE` an hour. The k-th one comes after a time with the gamma distribution of shape k, which is also the sum of k exponential
gaps, drawn on the executor: P(T > t) = exp(-rate t) sum over j < k of (rate t)^j / j!. The largest difference between the drawn and the exact distribution
function, times the root of n, follows Kolmogorov's distribution: above 1.95 it would be one in a thousand.
"""
import math
import sys

import numpy as np

from trnsci import rand

RATE, CALLS = 2.5, 4


def exact(t):
    """P(T <= t)."""
    x = RATE * t
    return 1 - np.exp(-x) * sum(x**j / math.factorial(j) for j in range(CALLS))


def kolmogorov(times):
    """sqrt(n) max |F_n - F|."""
    x = np.sort(times)
    n = x.size
    above, below = np.arange(1, n + 1) / n - exact(x), exact(x) - np.arange(n) / n
    return math.sqrt(n) * max(above.max(), below.max())


def main(executor=None, draws=100_000):
    g = rand.Generator(5)
    gamma = g.gamma(CALLS, 1 / RATE, draws)
    gaps = g.exponential(1 / RATE, (draws, CALLS), dtype=np.float32 if executor else np.float64, executor=executor)  # devices draw float32
    sums = gaps.sum(axis=1, dtype=np.float64)
    result = {"mean": float(gamma.mean()), "gamma": kolmogorov(gamma), "sums": kolmogorov(sums), "late": float((gamma > 3).mean()),
              "exactly_late": float(1 - exact(3.0))}
    print(f"the mean wait for call {CALLS} is {result['mean']:.4f} h, exactly {CALLS / RATE:.4f}")
    print(f"longer than 3 h: {result['late']:.4f}, exactly {result['exactly_late']:.4f}")
    print(f"Kolmogorov's statistic: gamma {result['gamma']:.2f}, sums of exponentials {result['sums']:.2f}")
    return result


if __name__ == "__main__":
    main(*sys.argv[1:])
