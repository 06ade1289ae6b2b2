#!/usr/bin/env python3
"""No line of text that the trnsci command prints is wider than 80 columns.

    check_width.py TRNSCI            every subcommand and every operation, at small extents; prints the wide lines
    check_width.py TRNSCI --help-only

Left out, because programs read them: JSON, NKI source (`emit`), tile programs (`dis`), the Markdown tables and the
tab-separated lists of `coverage`, and the numbers of `rand`. Columns are counted in characters, without the escape
sequences of colours.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import check_operations

COLUMNS = 80
ROOT = pathlib.Path(__file__).resolve().parent.parent
WATER = str(ROOT / "apps" / "mp2" / "molecules" / "water.xyz")
MATRIX = "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 4.0\n2 2 5.0\n3 3 6.0\n1 3 1.0\n"
# {dir} is a folder with what the commands before it wrote. One list runs in order.
LISTS = [
    ["", "info"],
    ["validate", "validate --explain", "validate --collectives --explain"],
    ["mp2 {water}", "mp2 {water} --exec sim:trn2 --precision target=1e-9 --explain",
     "mp2 {water} --frozen-core --exact-jk --basis sto-3g --quiet"],
    ["mp2-model --explain", "mp2-model --cores 8 --precision tf32x3"],
    *[[f"scale {operation} --chips 16 --explain"] for operation in
      ["gemm", "syrk", "trsm", "cholesky", "lu", "qr", "fft", "cg", "mp2", "rand", "redistribute"]],
    ["scale gemm --machine trn2u --chips 64 --nodes 4", "scale gemm --chips 16 --curves"],
    ["bench blas.gemm --m 64 --n 64 --k 64 --exec host,sim:trn1,sim:trn2,sim:trn3 --explain",
     "bench blas.gemm --m 64 --n 64 --k 64 --dtype fp64 --precision exact",
     "bench blas.gemm --m 64 --n 64 --k 64 --dtype fp64 --precision target=1e-12 --exec sim:trn2",
     "bench fft.c2c --n 64,64 --batch 2 --explain"],
    ["profile solver.potrf --n 200 --explain", "profile fft.c2c --n 1000,30 --machine trn1"],
    ["einsum ij,jk->ik --sizes i=20,j=30,k=40", "einsum ijk,kl,lm->ijm --sizes i=20,j=30,k=40,l=8,m=7 --explain"],
    ["sparse info {dir}/m.mtx", "sparse --help", "sparse info --help", "bench sparse.spmv --matrix {dir}/m.mtx"],
    ["bench blas.gemm --m 64 --n 64 --k 64 --json {dir}/a.json", "bench blas.gemm --m 64 --n 64 --k 64 --json {dir}/b.json",
     "compare {dir}/a.json {dir}/b.json"],
    ["silicon-check --help", "silicon-check --exec sim:trn2 --sections machine --output {dir}/r.json",
     "silicon-diff {dir}/r.json {dir}/r.json"],
    *[[f"fuzz {family} --cases 3 --seed 1"] for family in ["blas", "exact", "fft", "rand", "solver", "sparse", "tensor", "files", "tile"]],
]


def main(command, only_help):
    folder = tempfile.mkdtemp(prefix="trnsci-width-")
    pathlib.Path(folder, "m.mtx").write_text(MATRIX)
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NO_COLOR="1")
    findings, count = [], [0]

    def run(words, may_fail=False):
        count[0] += 1
        done = subprocess.run([command, *words], capture_output=True, text=True, cwd=folder, env=environment, check=False)
        shown = "trnsci " + " ".join(words)
        if done.returncode != 0 and not may_fail:
            findings.append(f"{shown}: status {done.returncode}: {done.stderr.strip()[:200]}")
        for line in (done.stdout + (done.stderr if done.returncode == 0 else "")).split("\n"):
            line = re.sub(r"\033\[[0-9;]*m", "", line)
            if len(line) > COLUMNS and " " in line.strip():  # a path alone is as long as it is
                findings.append(f"{shown}: {len(line)} columns: {line}")
        return done.stdout

    def subcommands(text):
        return re.findall(r"^  ([a-z][\w.-]*) ", text.split("Subcommands:", 1)[-1], re.M) if "Subcommands:" in text else []

    commands = subcommands(run(["--help"]))
    if len(commands) < 15:
        findings.append(f"trnsci --help lists {len(commands)} commands")
    work = []
    for name in commands:
        inner = subcommands(run([name, "--help"]))
        same = name in ("profile", "emit", "dis")  # whose help differs by the command's own options alone
        work += [[[name, x, "--help"]] for x in (inner[:1] if same else inner)]
        if name == "bench" and not only_help:
            for operation in inner:
                small = check_operations.small(command, operation)
                host = [["bench", operation, "--repeats", "1", *small]] if operation != "sparse.read" else []
                work.append(host + [["profile", operation, *small]])
    if not only_help:
        work += [[[w.format(dir=folder, water=WATER) for w in line.split()] for line in lines] for lines in LISTS]

    def several(lines):
        for words in lines:
            run(words, may_fail=words[:1] == ["profile"])  # an operation without a device kernel says so

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(several, work))
    for finding in findings:
        print(finding)
    print(f"{count[0]} commands run, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), "--help-only" in sys.argv))
