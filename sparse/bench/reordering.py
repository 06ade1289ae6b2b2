"""What orderings do to tiles: modelled SpMM on trn2 for gallery matrices (or files) in three orders.

    python3 sparse/bench/reordering.py TRNSCI [FILE.mtx ...]

Prints the table of docs/sparse-on-tiles.md. Nothing is computed: the times are modelled.
"""

import re
import subprocess
import sys
import tempfile

MATRICES = ["poisson2d:200", "poisson3d:32", "stencil27:24", "elasticity:80", "rmat:12"]
ORDERS = ["none", "rcm", "partition"]


def row(command, matrix, order, columns):
    source = ["--matrix", matrix] if matrix.endswith(".mtx") else ["--generate", matrix]
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        run = subprocess.run([command, "bench", "sparse.spmm", "--dtype", "fp32", "--exec", "sim:trn2", "--model-only", "--reorder", order,
                              "--columns", str(columns), "--json", out.name, *source], capture_output=True, text=True, check=True)
        modelled = re.search(r'"modelled[^"]*": ([0-9.e+-]+)', open(out.name).read())
    note = re.search(r"kernel (\w+): (\d+) (?:tiles|diagonals) filled ([0-9.]+) %, above ([0-9.]+) % quicker than one host core \(([0-9.]+) us\)", " ".join(run.stdout.split()))
    return note[1], int(note[2]), float(note[3]), float(note[4]), 1e6 * float(modelled[1]), float(note[5])


def main(command, files):
    print("| matrix | order | 32 columns: kernel, tiles, filled | device / host core, us | 512 columns: kernel, tiles, filled | device / host core, us |")
    print("|---|---|---|---|---|---|")
    for matrix in files or MATRICES:
        for order in ORDERS:
            cells = []
            for columns in (32, 512):
                kernel, tiles, fill, _, device, host = row(command, matrix, order, columns)
                cells += [f"{kernel}, {tiles}, {fill:.2f} %", f"{device:.0f} / {host:.0f}"]
            print(f"| {matrix} | {order} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
