"""The tables of baselines.md, one for each library: baselines.py TRNSCI [--no-host] prints them in Markdown.

Trainium is modelled (`trnsci bench --model-only`, one core); a chip is its cores with independent work on each. This host
is measured in the same run, one core in processor time: the least of our call and of the peer that `bench` times beside it. The H200 was measured
(figures/h200.json, made by tools/cuda/baselines.cpp). H100 and A10G are the least times that their published peaks allow.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

# Dollars for an hour of one chip, with their dates in baselines.md.
DOLLARS = {"H200": 54.92 / 8, "trn1": 9.532 / 16, "trn2": 35.7608 / 16}
CORES = {"trn1": 2, "trn2": 8, "trn3": 8}
# Published peaks, dense: flops by type, and bytes, in a second.
PEAKS = {
    "H100": {"fp32": 66.9e12, "tf32": 494e12, "bf16": 989e12, "fp8": 1979e12, "fp64": 67e12, "bytes": 3.35e12},
    "A10G": {"fp32": 31.2e12, "bf16": 62.5e12, "bytes": 600e9},
}
# Operation and shape of the H200's row, its type, our options, and what a call needs: flops in which type, bytes.
N = 4096
ROWS = [
    ("blas.gemm", "4096^3", "fp32", "--m 4096 --n 4096 --k 4096", ("fp32", 2 * N**3), 12 * N * N),
    ("blas.gemm", "4096^3", "tf32", "--m 4096 --n 4096 --k 4096 --dtype tf32", ("tf32", 2 * N**3), 12 * N * N),
    ("blas.gemm", "4096^3", "bf16", "--m 4096 --n 4096 --k 4096 --dtype bf16", ("bf16", 2 * N**3), 6 * N * N),
    ("blas.gemm", "1024^3", "bf16", "--m 1024 --n 1024 --k 1024 --dtype bf16", ("bf16", 2 * 1024**3), 6 * 1024**2),
    ("blas.scaled_gemm", "4096^3", "fp8_e4m3", "--m 4096 --n 4096 --k 4096 --scales tensor", ("fp8", 2 * N**3), 6 * N * N),
    ("blas.gemm", "4096^3", "fp64", "--m 4096 --n 4096 --k 4096 --dtype fp64 --precision exact", ("fp64", 2 * N**3), 24 * N * N),
    ("blas.syrk", "4096 x 4096", "fp32", "--n 4096 --k 4096", ("fp32", N**3), 6 * N * N),
    ("blas.trsm", "4096 x 4096", "fp32", "--m 4096 --n 4096", ("fp32", N**3), 10 * N * N),
    ("blas.gemm_batched", "1000 of 64^3", "fp32", "--m 64 --n 64 --k 64 --count 1000", ("fp32", 2000 * 64**3), 12000 * 64**2),
    ("fft.c2c", "8192 of 1024", "complex64", "--n 1024 --batch 8192", None, 16 * 8192 * 1024),
    ("fft.c2c", "8192 of 1000", "complex64", "--n 1000 --batch 8192", None, 16 * 8192 * 1000),
    ("fft.c2c", "128 of 65536", "complex64", "--n 65536 --batch 128", None, 16 * 128 * 65536),
    ("fft.c2c", "8 of 1048576", "complex64", "--n 1048576 --batch 8", None, 16 * 8 * 1048576),
    ("fft.c2c", "128 x 128 x 128", "complex64", "--n 128,128,128 --batch 1", None, 16 * 128**3),
    ("fft.r2c", "2048 of 4096", "fp32", "--n 4096 --batch 2048", None, 4 * 2048 * 4096 + 8 * 2048 * 2049),
    ("fft.c2c", "2048 of 1024", "complex128", "--n 1024 --batch 2048 --dtype fp64 --precision exact", None, 32 * 2048 * 1024),
    ("rand.uniform", "2^26", "fp32", "--n 67108864", None, 4 * 2**26),
    ("rand.normal", "2^26", "fp32", "--n 67108864", None, 4 * 2**26),
    ("rand.sobol", "2^26", "uint32", "--n 67108864 --generator sobol32", None, 4 * 2**26),
    ("solver.potrf", "1024", "fp32", "--n 1024", ("fp32", 1024**3 / 3), 8 * 1024**2),
    ("solver.potrf", "4096", "fp32", "--n 4096", ("fp32", N**3 / 3), 8 * N * N),
    ("solver.eigh", "512", "fp32", "--n 512", None, None),
    ("solver.svd", "512", "fp32", "--m 512 --n 512", None, None),
    ("solver.geqrf", "1024", "fp32", "--n 1024", ("fp32", 4 / 3 * 1024**3), 8 * 1024**2),
    ("sparse.spmm", "poisson2d:100, 128 columns", "fp32", "--generate poisson2d:100 --columns 128 --dtype fp32", None,
     8 * 128 * 10000 + 8 * 49600),
    ("sparse.spmm", "poisson3d:24, 128 columns", "fp32", "--generate poisson3d:24 --columns 128 --dtype fp32", None,
     8 * 128 * 13824 + 8 * 93312),
    ("sparse.spmm", "stencil27:24, 128 columns", "fp32", "--generate stencil27:24 --columns 128 --dtype fp32", None,
     8 * 128 * 13824 + 8 * 343000),
    ("sparse.sddmm", "poisson2d:100, 128 columns", "fp32", "--generate poisson2d:100 --columns 128 --dtype fp32", None,
     8 * 128 * 10000 + 8 * 49600),
    ("tensor.einsum", "abc,cbd->da, 512 64 64 512", "fp32", "--expression abc,cbd->da --sizes a=512,b=64,c=64,d=512", ("fp32", 2 * 512**2 * 64**2),
     4 * (2 * 512 * 4096 + 512**2)),
    ("tensor.einsum", "abcd,dcef->efab, all 32", "fp32", "--expression abcd,dcef->efab --sizes a=32,b=32,c=32,d=32,e=32,f=32", ("fp32", 2 * 32**6),
     12 * 32**4),
]


def bench(command, operation, options, executor, *more):
    operation = "rand.raw32" if operation == "rand.sobol" else operation
    done = subprocess.run([command, "bench", operation, *options.split(), "--exec", executor, *more, "--json", "-"], capture_output=True,
                          text=True, env=dict(os.environ, OMP_NUM_THREADS="1"))
    if done.returncode != 0:
        return None
    row = json.loads(done.stdout)
    row = row[0] if isinstance(row, list) else row
    return None if row.get("refused") else row


def modelled(command, operation, options, machine):
    row = bench(command, operation, options, "sim:" + machine, "--model-only")
    return row and row["modelled_seconds"]


def on_host(command, operation, options):
    row = bench(command, operation, options.replace(" --precision exact", ""), "host", "--repeats", "3", "--cpu-time")
    times = [row[k] for k in ("seconds", "peer_seconds") if row and row.get(k)]
    return min(times) if times else None


def least(card, work, size):
    peaks = PEAKS[card]
    if work is None and size is None or work is not None and work[0] not in peaks:
        return None
    return max(work[1] / peaks[work[0]] if work else 0, size / peaks["bytes"] if size else 0)


def time(seconds):
    if seconds is None:
        return "-"
    for unit, size in (("us", 1e-6), ("ms", 1e-3), ("s", 1)):
        if seconds < 1000 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def main(command, with_host=True):
    measured = json.loads((Path(__file__).parent / "figures" / "h200.json").read_text())["rows"]
    library = None
    for operation, shape, dtype, options, work, size in ROWS:
        if operation.split(".")[0] != library:
            library = operation.split(".")[0]
            print(f"\n### trn{library}\n")
            print("| operation | type | host, measured | trn1 core | chip | trn2 core | chip | trn3 core | chip | H200, measured | H100, at least | A10G, at least "
                  "| trn2 chips for an H200 | trn1 for a dollar | trn2 for a dollar | break-even trn3 |")
            print("|" + "---|" * 16)
        peer = next((r["seconds"] for r in measured if (r["op"], r["shape"], r["dtype"]) == (operation, shape, dtype)), None)
        ours = {m: modelled(command, operation, options, m) for m in CORES}
        cells = [f"`{operation}` {shape}", dtype, time(on_host(command, operation, options) if with_host else None)]
        for m in CORES:
            cells += [time(ours[m]), time(ours[m] and ours[m] / CORES[m])]
        cells += [time(peer), time(least("H100", work, size)), time(least("A10G", work, size))]
        known = lambda m: peer is not None and ours[m] is not None
        cells.append(f"{ours['trn2'] / CORES['trn2'] / peer:.2g}" if known("trn2") else "-")
        cells += [f"{peer * CORES[m] / ours[m] * DOLLARS['H200'] / DOLLARS[m]:.2g}" if known(m) else "-" for m in ("trn1", "trn2")]
        cells.append(f"${DOLLARS['H200'] * peer * CORES['trn3'] / ours['trn3']:.2f}" if known("trn3") else "-")
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], "--no-host" not in sys.argv[2:])
