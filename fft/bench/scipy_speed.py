"""SciPy's pocketfft beside the host engines, as a Markdown table.

    python3 fft/bench/scipy_speed.py build/release/fft/bench/fft_host_speed [float|double]
    python3 fft/bench/scipy_speed.py build/release/fft/bench/fft_nd_speed [float|double]

The first times lines, the second transforms over several axes, complex and real: ratios SciPy / ours. Both libraries are timed in turn, dense arrays, one thread; the
smallest time of all rounds counts.
"""

import subprocess
import sys
import time

import numpy
import scipy.fft

LENGTHS = [4, 8, 16, 64, 100, 256, 360, 1000, 1024, 1009, 2017, 4093, 4096, 16384, 65536, 99991]
SHAPES = ["4x4x4", "8x8x8", "16x16x16", "32x32x32", "64x64x64", "128x128x128", "8x8", "16x16", "32x32", "64x64", "128x128", "256x256",
          "512x512", "1024x1024", "60x60x60", "100x100", "96x48x30"]


def ours(program, real, lines, n):
    """Microseconds a line: c2c, r2c, c2r."""
    def row(kind):
        text = subprocess.run([program, real, kind, lines, "1", "0.005", str(n)], check=True, capture_output=True, text=True).stdout
        return [row for row in text.splitlines() if row.startswith(f"| {n} |")][0].split("|")

    there_and_back = row("real")
    return float(row("complex")[3]), float(there_and_back[3]), float(there_and_back[8])


def ours_nd(program, real, kind, shape):
    """Batch, microseconds."""
    text = subprocess.run([program, real, kind, "out", "1", "0.05", shape], check=True, capture_output=True, text=True).stdout
    row = [row for row in text.splitlines() if row.startswith("| " + shape)][0].split("|")
    return int(row[2]), float(row[3])


def fastest(call, rounds):
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def theirs(real, lines, n):
    x = numpy.random.default_rng(1).standard_normal((lines, n)).astype("float32" if real == "float" else "float64")
    z = (x + 1j * x[::-1]).astype("complex64" if real == "float" else "complex128")
    half = scipy.fft.rfft(x, axis=1)
    calls = (lambda: scipy.fft.fft(z, axis=1, workers=1), lambda: scipy.fft.rfft(x, axis=1, workers=1), lambda: scipy.fft.irfft(half, n, axis=1, workers=1))
    return [fastest(call, 20 if lines * n < 1 << 20 else 6) / lines for call in calls]


def theirs_nd(real, kind, batch, shape):
    extents = [int(n) for n in shape.split("x")]
    axes = tuple(range(1, len(extents) + 1))
    x = numpy.random.default_rng(1).standard_normal([batch] + extents).astype("float32" if real == "float" else "float64")
    if kind == "r2c":
        return fastest(lambda: scipy.fft.rfftn(x, axes=axes, workers=1), 10)
    if kind == "c2r":
        half = scipy.fft.rfftn(x, axes=axes)
        return fastest(lambda: scipy.fft.irfftn(half, s=extents, axes=axes, workers=1), 10)
    z = (x + 1j * x[::-1]).astype("complex64" if real == "float" else "complex128")
    return fastest(lambda: scipy.fft.fftn(z, axes=axes, workers=1), 10)


def lines_table(program, real):
    print("| n | lines | c2c | r2c | c2r |\n|---|---|---|---|---|")
    for many in ("many", "one"):
        for n in LENGTHS:
            if many == "one" and n < 1000:
                continue  # Python's own call would be measured
            lines = max(16, (1 << 18) // n) if many == "many" else 1
            best, peer = ours(program, real, many, n), theirs(real, lines, n)
            best, peer = map(min, best, ours(program, real, many, n)), map(min, peer, theirs(real, lines, n))
            print(f"| {n} | {lines} | " + " | ".join(f"{p / b:.2f}" for p, b in zip(peer, best)) + " |", flush=True)


def nd_table(program, real):
    print("| shape | batch | c2c | r2c | c2r |\n|---|---|---|---|---|")
    for shape in SHAPES:
        ratios = []
        for kind in ("c2c", "r2c", "c2r"):
            batch, first = ours_nd(program, real, kind, shape)
            peer = min(theirs_nd(real, kind, batch, shape), theirs_nd(real, kind, batch, shape))
            ratios.append(peer / min(first, ours_nd(program, real, kind, shape)[1]))
        print(f"| {shape} | {batch} | " + " | ".join(f"{r:.2f}" for r in ratios) + " |", flush=True)


if __name__ == "__main__":
    table = nd_table if "nd_speed" in sys.argv[1] else lines_table
    table(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "float")
