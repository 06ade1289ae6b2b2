"""Every operation of the command line with bench, profile, emit and dis: check_operations.py TRNSCI [--kinds]

An operation that has a device kernel must be served by all four, on trn2, with small extents; one that has none must
say so in one line, and its row of bench on the host must come (but for those of devices alone, which say so). Which
have none is what `trnsci coverage` finds by calling the libraries. In every precision that an operation offers a
device's share of its roof must lie in (0, 1]; a few large products come near it. What `trnsci coverage blas` finds for
another type on trn2 is served by bench and one of the three others. Of other types and precisions one of each operation
is asked of all four commands, which must agree: all serve it, with one modelled time, or all refuse it; with --kinds
all types and precisions, by all four, which takes minutes. Prints the counts.
"""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# Operations beside trnblas that have no device kernel, with their rows in `trnsci coverage sparse`, which must agree;
# `trnsci coverage blas` tells trnblas's. Everything else has one.
HOST_ONLY = {"sparse.csr2csc": "conversions, transpose, add", "sparse.read": "",
             **{f"sparse.{name}": "Cholesky, LU, QR: factor, refactor, solve" for name in ("cholesky", "lu", "qr")}}
# Operations of devices alone, whose place the host has another function for (cg, chebyshev): bench on the host says so.
DEVICE_ONLY = ("solver.fused_cg", "solver.fused_chebyshev")
# Operations whose kernel needs a later machine than trn2.
MACHINES = {"blas.mx_gemm": "trn3", "blas.mx_quantize": "trn3"}
# Extents by option, taken by the operations that have the option; others keep their defaults.
EXTENTS = {"blas": {"--m": "96", "--n": "80", "--k": "64", "--count": "3"},
           "blas.pair_energy": {"--nocc": "3", "--naux": "40", "--nvir": "30"},
           "rand": {"--n": "5000"},
           "fft": {"--n": "256", "--batch": "8"},
           "fft.stft": {"--n": "4096", "--batch": "2"},
           "solver": {"--n": "40"},
           **{f"solver.{name}_batched": {"--n": "6", "--count": "3"} for name in ("eigh", "svd")},
           "sparse": {"--generate": "poisson2d:20", "--columns": "130"},
           "sparse.attention": {"--queries": "300"},
           "sparse.attention.backward": {"--queries": "300"},
           "sparse.tridiagonal.solve": {"--n": "200", "--count": "130"},
           "sparse.read": {}}


PRECISIONS = ["native", "tf32", "bf16", "tf32x3", "bf16x6", "exact"]
TYPES = ["fp32", "fp64", "complex64", "complex128", "bf16", "fp16", "tf32", "fp8_e4m3", "fp8_e5m2"]
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


def main(command, all_kinds):
    def run(*words):
        return subprocess.run([command, *words], capture_output=True, text=True)

    names = re.findall(r"^  (\w+\.[\w.]+) ", run("bench", "--help").stdout, re.MULTILINE)
    if len(names) < 90:
        raise SystemExit(f"trnsci bench names {len(names)} operations")

    tables = run("coverage", "blas").stdout
    table = re.findall(r"^\| (\w+) \|.*\| (.*?) \|[^|]*\|$", tables, re.MULTILINE)
    host_only = set(HOST_ONLY) | {"blas." + name for name, on_trn2 in table if on_trn2 == "-"}
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
            if (done.returncode == 0 or "no host kernel" not in done.stderr) if name in DEVICE_ONLY else done.returncode != 0:
                findings.append(f"bench {name} --exec host: {done.stderr.strip()[:300]}")
        return served, findings

    def kinds(name):
        """Types and precisions beside the defaults, on all four commands: how many are served, and findings."""
        findings, served = [], 0
        help_text = run("bench", name, "--help").stdout
        known = re.findall(r"^  (--[\w-]+)", help_text, re.MULTILINE)
        pairs = [(t, p) for t in (TYPES if "--dtype" in known else [None]) for p in (PRECISIONS if "--precision" in known else [None])]
        if name in host_only or pairs == [(None, None)]:
            return 0, []
        small_words = options(name, False)
        machine = MACHINES.get(name, "trn2")
        if not all_kinds:  # one that the name chooses
            likely = [(t, p) for t, p in pairs if t in (None, "fp32", "complex64") or p in (None, "exact")]
            pairs = [likely[sum(map(ord, name)) % len(likely)]]
        for dtype, precision in pairs:
            words = [*small_words, *(["--dtype", dtype] if dtype else []), *(["--precision", precision] if precision else [])]
            seconds, refused, lines = [], 0, []
            for command_words in (["bench", name, "--exec", "sim:" + machine, "--model-only", "--json", "-"],
                                  ["profile", name, "--machine", machine, "--json", "-"], ["emit", name, "--machine", machine],
                                  ["dis", name, "--machine", machine]):
                done = run(*command_words, *words)
                what = " ".join([*command_words, *words])
                if done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1:
                    refused += 1
                    lines.append(done.stderr.strip())
                elif done.returncode != 0 or not done.stdout.strip():
                    findings.append(f"{what}: status {done.returncode}: {done.stderr.strip()[:300]}")
                elif "-" in command_words:
                    row = json.loads(done.stdout)
                    seconds.append((row[0] if isinstance(row, list) else row)["modelled_seconds"])
            if refused not in (0, 4):
                findings.append(f"{name} {' '.join(words)}: {refused} of four commands refuse it: {lines[0]}")
            if len(seconds) == 2 and abs(seconds[0] - seconds[1]) > 1e-9 * seconds[0]:
                findings.append(f"{name} {' '.join(words)}: bench models {seconds[0]} s, profile {seconds[1]} s")
            served += refused == 0
        return served, findings

    def other_types(name):
        """Types that the library has on trn2 beside the default one: how many are served, and findings."""
        findings, served = [], 0
        cell = dict(re.findall(r"^\| (\w+) \|.*\| (.*?) \|[^|]*\|$", tables, re.MULTILINE)).get(name.removeprefix("blas."), "")
        letters = [x for x in cell.split() if x[0] in "dcz"] if name.startswith("blas.") else []
        for i, letter in enumerate(letters):
            words = [*options(name, False), "--dtype", {"d": "fp64", "c": "complex64", "z": "complex128"}[letter[0]]]
            words += ["--precision", "exact"] if letter.endswith("*") else []
            shown = [["profile", "emit", "dis"][(i + len(name)) % 3]] if not all_kinds else ["profile", "emit", "dis"]
            for command_words in (["bench", name, "--exec", "sim:trn2", "--model-only"], *([x, name, "--machine", "trn2"] for x in shown)):
                done = run(*command_words, *words)
                served += 1
                if done.returncode != 0 or not done.stdout.strip():
                    findings.append(f"{' '.join([*command_words, *words])}: status {done.returncode}: {done.stderr.strip()[:300]}")
        return served, findings

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(check, names)) + list(pool.map(other_types, names))
        others = list(pool.map(kinds, names))
        shares = list(pool.map(share_of_roof, names))
        near = list(pool.map(large, LARGE))
    findings = [f for _, found in results + shares + others for f in found] + [f for found in near for f in found]
    sparse = dict(re.findall(r"^\| (.*?) \|.*\| (.*?) \|[^|]*\|$", run("coverage", "sparse").stdout, re.MULTILINE))
    findings += [f"{name} has a device kernel by 'coverage sparse': {sparse.get(row)}" for name, row in HOST_ONLY.items()
                 if row and sparse.get(row) != "-"]
    for finding in findings:
        print(finding)
    print(f"{len(names)} operations, {sum(s for s, _ in results)} commands served on devices, {sum(s for s, _ in shares)} precisions below their roofs, "
          f"{sum(s for s, _ in others)} other types and precisions, {len(host_only)} operations on the host only, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--kinds" in sys.argv))
