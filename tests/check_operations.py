"""Every operation of the command line with bench, profile, emit and dis: check_operations.py TRNSCI

An operation that has a device kernel must be served by all four, on trn2, with small extents; one that has none must
say so in one line, and its row of bench on the host must come. In every precision that an operation offers a device's
share of its roof must lie in (0, 1]; a few large products come near it. Prints the counts.
"""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# Operations beside trnblas that have no device kernel; `trnsci coverage blas` tells trnblas's. Everything else has one.
HOST_ONLY = {"sparse.spgemm", "sparse.spsv", "sparse.csr2csc", "sparse.read", "sparse.cholesky", "sparse.lu", "sparse.qr"}
# Operations whose kernel needs a later machine than trn2.
MACHINES = {"blas.mx_gemm": "trn3", "blas.mx_quantize": "trn3"}
# Extents by option, taken by the operations that have the option; others keep their defaults.
EXTENTS = {"blas": {"--m": "96", "--n": "80", "--k": "64", "--count": "3"},
           "blas.pair_energy": {"--nocc": "3", "--naux": "40", "--nvir": "30"},
           "rand": {"--n": "5000"},
           "fft": {"--n": "256", "--batch": "8"},
           "fft.stft": {"--n": "4096", "--batch": "2"},
           "solver": {"--n": "40"},
           "sparse": {"--generate": "poisson2d:20", "--columns": "130"},
           "sparse.attention": {"--queries": "300"},
           "sparse.attention.backward": {"--queries": "300"},
           "sparse.read": {}}


PRECISIONS = ["native", "tf32", "bf16", "tf32x3", "bf16x6", "exact"]
# Near the roof of their precision, where a roof of another one would be exceeded.
LARGE = ["blas.gemm --m 2048 --n 2048 --k 2048 --dtype bf16", "blas.gemm --m 2048 --n 2048 --k 2048 --dtype tf32",
         "blas.gemm --m 2048 --n 2048 --k 2048 --precision bf16", "blas.gemm --m 1024 --n 1024 --k 1024 --dtype fp64 --precision exact",
         "blas.syrk --n 1024 --k 1024 --precision bf16", "tensor.einsum --dtype bfloat16", "tensor.einsum --precision bf16",
         "blas.trsm --m 1024 --n 1024 --precision bf16"]


def small(command, name, device=False):
    """Options that make an operation small."""
    help_text = subprocess.run([command, "bench", name, "--help"], capture_output=True, text=True).stdout
    known = re.findall(r"^  (--[\w-]+)", help_text, re.MULTILINE)
    wanted = EXTENTS.get(name, EXTENTS.get(name.split(".")[0], {}))
    if device and name.startswith("sparse.s"):  # whose type on the host is double
        wanted = {**wanted, "--dtype": "fp32"}
    return [word for option, value in wanted.items() if option in known for word in (option, value)]


def main(command):
    def run(*words):
        return subprocess.run([command, *words], capture_output=True, text=True)

    names = re.findall(r"^  (\w+\.[\w.]+) ", run("bench", "--help").stdout, re.MULTILINE)
    if len(names) < 90:
        raise SystemExit(f"trnsci bench names {len(names)} operations")

    table = re.findall(r"^\| (\w+) \|.*\| (.*?) \|[^|]*\|$", run("coverage", "blas").stdout, re.MULTILINE)
    host_only = HOST_ONLY | {"blas." + name for name, on_trn2 in table if on_trn2 == "-"}
    if len(host_only) < 10:
        raise SystemExit(f"trnsci coverage blas is not understood: {table}")

    def options(name, device):
        return small(command, name, device)

    def below_roof(what, row):
        share = row["roof_fraction"]
        return [] if 0 < share <= 1 else [f"{what}: {share} of the roof"]

    def share_of_roof(name):
        """The precisions that a device has of the operation: how many, and findings."""
        findings, offered = [], 0
        if name in host_only or "--precision" not in run("bench", name, "--help").stdout:
            return 0, []
        for precision in PRECISIONS:
            words = ["bench", name, "--exec", "sim:" + MACHINES.get(name, "trn2"), "--model-only", "--json", "-", "--precision", precision]
            done = run(*words, *options(name, True))
            if done.returncode == 0:
                offered += 1
                findings += below_roof(" ".join(words), json.loads(done.stdout)[0])
            elif done.returncode != 2 or len(done.stderr.strip().splitlines()) != 1:
                findings.append(f"{' '.join(words)}: status {done.returncode}: {done.stderr[:300]}")
        if offered == 0:
            findings.append(f"bench {name} --precision: none is served")
        return offered, findings

    def large(line):
        done = run("bench", *line.split(), "--exec", "sim:trn2", "--model-only", "--json", "-")
        if done.returncode != 0:
            return [f"bench {line}: {done.stderr[:300]}"]
        return below_roof("bench " + line, json.loads(done.stdout)[0])

    def check(name):
        findings, served = [], 0
        small = options(name, name not in host_only)
        machine = MACHINES.get(name, "trn2")
        on = ["--machine", machine]
        for words in (["bench", name, "--exec", "sim:" + machine, "--json", "-"],
                      ["bench", name, "--exec", "sim:" + machine, "--model-only"],
                      ["profile", name, *on], ["profile", name, *on, "--json", "-"], ["emit", name, *on], ["dis", name, *on]):
            done = run(*words, *small)
            what = " ".join([*words, *small])
            if name in host_only:
                if done.returncode != 2 or len(done.stderr.strip().splitlines()) != 1:
                    findings.append(f"{what}: status {done.returncode}, and it has no device kernel: {done.stderr}")
                continue
            served += 1
            if done.returncode != 0 or not done.stdout.strip():
                findings.append(f"{what}: status {done.returncode}: {done.stderr.strip()[:300]}")
            elif "-" in words:
                row = json.loads(done.stdout)
                row = row[0] if isinstance(row, list) else row
                if not row["modelled_seconds"] > 0:
                    findings.append(f"{what}: no modelled time")
                if "bench" in words:
                    findings += below_roof(what, row)
        if name != "sparse.read":  # which needs a file
            done = run("bench", name, "--exec", "host", "--repeats", "1", *options(name, False))
            if done.returncode != 0:
                findings.append(f"bench {name} --exec host: {done.stderr.strip()[:300]}")
        return served, findings

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(check, names))
        shares = list(pool.map(share_of_roof, names))
        near = list(pool.map(large, LARGE))
    findings = [f for _, found in results + shares for f in found] + [f for found in near for f in found]
    for finding in findings:
        print(finding)
    print(f"{len(names)} operations, {sum(s for s, _ in results)} commands served on devices, {sum(s for s, _ in shares)} precisions below their roofs, {len(host_only)} operations on the host "
          f"only, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
