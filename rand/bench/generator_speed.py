#!/usr/bin/env python3
"""Runs the rand_generator_speed program given as argument and NumPy's generators, one thread, and prints rates and ratios."""
import subprocess
import sys
import time

import numpy as np

WORDS = 1 << 22


def best(run):
    times = []
    for _ in range(15):
        begin = time.thread_time()
        run()
        times.append(time.thread_time() - begin)
    return WORDS / min(times) * 1e-9


rates = {}
for line in subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout.splitlines():
    name, rate = line.split()
    rates[name] = float(rate)
philox = np.random.Philox(1)
rates["numpy Philox, integers uint32"] = best(lambda: np.random.Generator(philox).integers(0, 2**32, WORDS, dtype=np.uint32))
rates["numpy Philox, random_raw"] = best(lambda: philox.random_raw(WORDS // 2))  # 64 bits each
for name, rate in rates.items():
    print(f"{name:32} {rate:7.3f} Gwords/s   philox4x32-10 is {rates['philox4x32-10'] / rate:5.2f} x")
