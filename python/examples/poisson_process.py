"""A day of calls whose rate rises and falls: a Poisson process by thinning, and its counts by the hour.

    python poisson_process.py [executor]

Points of a process with the largest rate come after exponential gaps; each is kept with probability rate(t) / largest. What is kept is a
process with rate(t): its counts in an hour are Poisson with the integral of the rate there. The program simulates many days, and
compares each hour's mean and variance, which are equal for such a process; a second way draws the counts themselves, on the host.
With an executor the gaps and the choices are drawn there.
"""
import sys

import numpy as np

from trnsci import rand

HOURS, LARGEST = 24, 40.0


def rate(t):
    """Calls an hour at time t."""
    return LARGEST / 2 * (1 - np.cos(2 * np.pi * t / HOURS))


def expected():
    """The integral of the rate over each hour."""
    edges = np.arange(HOURS + 1.0)
    whole = LARGEST / 2 * (edges - HOURS / (2 * np.pi) * np.sin(2 * np.pi * edges / HOURS))
    return np.diff(whole)


def day(g, executor):
    """The times of one day's calls."""
    n = int(HOURS * LARGEST + 8 * np.sqrt(HOURS * LARGEST))  # enough gaps for a day, but for 1e-15
    kind = np.float32 if executor else np.float64  # devices draw float32
    times = np.cumsum(g.exponential(1 / LARGEST, n, dtype=kind, executor=executor), dtype=np.float64)
    assert times[-1] > HOURS
    times = times[times < HOURS]
    return times[g.random(times.size, kind, executor=executor) < rate(times) / LARGEST]


def main(executor=None, days=400):
    g = rand.Generator(17)
    counts = np.stack([np.histogram(day(g, executor), HOURS, (0, HOURS))[0] for _ in range(days)])
    drawn = np.stack([g.poisson(mean, days) for mean in expected()], axis=1)
    result = {"expected": expected(), "thinned": counts, "drawn": drawn}
    for name in ("thinned", "drawn"):
        mean, variance = result[name].mean(axis=0), result[name].var(axis=0, ddof=1)
        busiest = int(mean.argmax())
        print(f"{name:8} busiest hour {busiest}: mean {mean[busiest]:.2f}, variance {variance[busiest]:.2f}, "
              f"expected {result['expected'][busiest]:.2f}; calls a day {mean.sum():.1f}, expected {result['expected'].sum():.1f}")
    return result


if __name__ == "__main__":
    main(*sys.argv[1:])
