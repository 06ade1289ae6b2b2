"""The table of baselines.md: baselines.py TRNSCI prints it in Markdown.

Trainium is modelled (`trnsci bench --model-only`, one core); the H200 was measured (figures/h200.json, made by
tools/cuda/baselines.cpp). A chip is its cores with independent work on each; the last columns are what a chip-hour may
cost for the work of an H200-hour to cost the same.
"""

import json
import subprocess
import sys
from pathlib import Path

H200_DOLLARS = 63.296 / 8  # p5en.48xlarge, eight H200, on demand in us-east-1, August 2026
CORES = {"trn1": 2, "trn2": 8, "trn3": 8}
ROWS = [  # operation and shape of the H200's row, its type, and ours
    ("blas.gemm", "4096^3", "fp32", "--m 4096 --n 4096 --k 4096"),
    ("blas.gemm", "4096^3", "tf32", "--m 4096 --n 4096 --k 4096 --dtype tf32"),
    ("blas.gemm", "4096^3", "bf16", "--m 4096 --n 4096 --k 4096 --dtype bf16"),
    ("blas.gemm", "1024^3", "bf16", "--m 1024 --n 1024 --k 1024 --dtype bf16"),
    ("blas.scaled_gemm", "4096^3", "fp8_e4m3", "--m 4096 --n 4096 --k 4096 --scales tensor"),
    ("blas.gemm", "4096^3", "fp64", "--m 4096 --n 4096 --k 4096 --dtype fp64 --precision exact"),
    ("blas.syrk", "4096 x 4096", "fp32", "--n 4096 --k 4096"),
    ("blas.trsm", "4096 x 4096", "fp32", "--m 4096 --n 4096"),
    ("blas.gemm_batched", "1000 of 64^3", "fp32", "--m 64 --n 64 --k 64 --count 1000"),
    ("fft.c2c", "8192 of 1024", "complex64", "--n 1024 --batch 8192"),
    ("fft.c2c", "8192 of 1000", "complex64", "--n 1000 --batch 8192"),
    ("fft.c2c", "128 of 65536", "complex64", "--n 65536 --batch 128"),
    ("fft.c2c", "8 of 1048576", "complex64", "--n 1048576 --batch 8"),
    ("fft.c2c", "128 x 128 x 128", "complex64", "--n 128,128,128 --batch 1"),
    ("fft.c2c", "2048 of 1024", "complex128", "--n 1024 --batch 2048 --dtype fp64 --precision exact"),
    ("rand.uniform", "2^26", "fp32", "--n 67108864"),
    ("rand.normal", "2^26", "fp32", "--n 67108864"),
    ("rand.sobol", "2^26", "uint32", "--n 67108864 --generator sobol32"),
    ("solver.potrf", "1024", "fp32", "--n 1024"),
    ("solver.potrf", "4096", "fp32", "--n 4096"),
    ("solver.eigh", "512", "fp32", "--n 512"),
    ("solver.geqrf", "1024", "fp32", "--n 1024"),
    ("sparse.spmm", "poisson2d:100, 128 columns", "fp32", "--generate poisson2d:100 --columns 128 --dtype fp32"),
]


def modelled(command, operation, options, machine):
    operation = "rand.raw32" if operation == "rand.sobol" else operation
    done = subprocess.run([command, "bench", operation, *options.split(), "--exec", "sim:" + machine, "--model-only", "--json", "-"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return None
    row = json.loads(done.stdout)
    return (row[0] if isinstance(row, list) else row)["modelled_seconds"]


def time(seconds):
    if seconds is None:
        return "-"
    for unit, size in (("us", 1e-6), ("ms", 1e-3), ("s", 1)):
        if seconds < 1000 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def main(command):
    measured = json.loads((Path(__file__).parent / "figures" / "h200.json").read_text())["rows"]
    print("| operation | type | trn1 core | trn2 core | trn3 core | H200 | trn2 chips for an H200 | break-even trn1 | trn2 | trn3 |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for operation, shape, dtype, options in ROWS:
        peer = next(r["seconds"] for r in measured if (r["op"], r["shape"], r["dtype"]) == (operation, shape, dtype))
        ours = {m: modelled(command, operation, options, m) for m in CORES}
        worth = ["-" if ours[m] is None else f"${H200_DOLLARS * peer * CORES[m] / ours[m]:.2f}" for m in CORES]
        chips = "-" if ours["trn2"] is None else f"{ours['trn2'] / CORES['trn2'] / peer:.2g}"
        print(f"| `{operation}` {shape} | {dtype} | {time(ours['trn1'])} | {time(ours['trn2'])} | {time(ours['trn3'])} | {time(peer)} "
              f"| {chips} | {' | '.join(worth)} |")


if __name__ == "__main__":
    main(sys.argv[1])
