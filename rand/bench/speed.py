#!/usr/bin/env python3
"""speed.py RAND_SPEED: the table of rand/README.md. Runs the program rand_speed and then NumPy's Philox generator on the same
numbers of values, all in one thread and by its processor time, and prints 1e9 values per second and the ratios."""
import subprocess
import sys
import time

import numpy

VALUES, FEW, REPEATS = 1 << 22, 1 << 19, 9


def fastest(draw):
    best = 1e9
    for _ in range(REPEATS):
        begin = time.thread_time()
        draw()
        best = min(best, time.thread_time() - begin)
    return best


def numpy_rows():
    g = numpy.random.Generator(numpy.random.Philox(1))
    single = numpy.empty(VALUES, numpy.float32)
    double = numpy.empty(VALUES, numpy.float64)
    return {
        "raw32": (VALUES, lambda: g.bit_generator.random_raw(VALUES // 2)),  # 64-bit words, two of ours each
        "uniform_float": (VALUES, lambda: g.random(dtype=numpy.float32, out=single)),
        "normal_float": (VALUES, lambda: g.standard_normal(dtype=numpy.float32, out=single)),
        "normal_double": (VALUES, lambda: g.standard_normal(out=double)),
        "exponential_float": (VALUES, lambda: g.standard_exponential(dtype=numpy.float32, out=single)),
        "exponential_double": (VALUES, lambda: g.standard_exponential(out=double)),
        "gamma_2.5": (FEW, lambda: g.standard_gamma(2.5, FEW)),
        "poisson_3": (FEW, lambda: g.poisson(3, FEW)),
        "poisson_1000": (FEW, lambda: g.poisson(1000, FEW)),
    }


def main():
    rates = {"trnrand": {}, "standard": {}, "numpy": {}}
    for line in subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout.splitlines():
        who, what, rate = line.split()
        rates[who][what] = float(rate)
    for what, (values, draw) in numpy_rows().items():
        rates["numpy"][what] = values / fastest(draw) * 1e-9
    print("| 1e9 values/s, one core | trnrand | NumPy Philox | std::mt19937 | against NumPy | against std |")
    print("|---|---|---|---|---|---|")
    for what, ours in rates["trnrand"].items():
        theirs, std = rates["numpy"][what], rates["standard"][what]
        print(f"| {what.replace('_', ' ')} | {ours:.3f} | {theirs:.3f} | {std:.3f} | {ours / theirs:.1f} | {ours / std:.1f} |")


if __name__ == "__main__":
    main()
