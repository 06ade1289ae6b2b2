"""SciPy's pocketfft beside the host engines, as a Markdown table.

    python3 fft/bench/scipy_speed.py build/release/fft/bench/fft_host_speed

Both are timed in turn for every length, complex64, dense lines, one thread; the smallest time of all rounds counts.
"""

import subprocess
import sys
import time

import numpy
import scipy.fft

LENGTHS = [4, 8, 16, 64, 100, 256, 360, 1000, 1024, 1009, 2017, 4093, 4096, 16384, 65536, 99991]


def ours(program, lines, n):
    """Microseconds a line."""
    text = subprocess.run([program, "float", "complex", lines, "1", "0.01", str(n)], check=True, capture_output=True, text=True).stdout
    return float([row for row in text.splitlines() if row.startswith("| chosen")][0].split("|")[4])


def theirs(lines, n):
    x = numpy.random.default_rng(1).standard_normal((lines, n)).astype(numpy.complex64)
    best = float("inf")
    for _ in range(20 if lines * n < 1 << 20 else 6):
        start = time.perf_counter()
        scipy.fft.fft(x, axis=1, workers=1)
        best = min(best, time.perf_counter() - start)
    return best / lines * 1e6


def main():
    program = sys.argv[1]
    print("| n | lines | ours, us a line | SciPy / ours |\n|---|---|---|---|")
    for many in ("many", "one"):
        for n in LENGTHS:
            if many == "one" and n < 1000:
                continue  # Python's own call would be measured
            lines = max(16, (1 << 18) // n) if many == "many" else 1
            first = ours(program, many, n)
            peer = min(theirs(lines, n), theirs(lines, n))
            best = min(first, ours(program, many, n))
            print(f"| {n} | {lines} | {best:.4g} | {peer / best:.2f} |", flush=True)


if __name__ == "__main__":
    main()
