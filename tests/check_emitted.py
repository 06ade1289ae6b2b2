"""Emits every operation that the command line knows for every machine, and holds the texts against the documented NKI
signatures: check_emitted.py TRNSCI

An operation without a program on the command line says so and is counted as such; every other failure to emit is a
finding. Prints the number of kernels and calls.
"""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "nki_standin"))

import check_text  # noqa: E402
from nki import _rules  # noqa: E402

MACHINES = ("trn1", "trn2", "trn3")
# Operations that not every machine has.
ONLY = {"blas.scaled_gemm": ("trn2", "trn3"), "blas.mx_gemm": ("trn3",), "blas.mx_quantize": ("trn3",)}
# Beside every operation as it is by default: options that make another kernel.
VARIANTS = {
    "blas.gemm": ["--op-a T", "--op-b T", "--dtype bf16", "--precision bf16x6 --m 300 --n 200 --k 500",
                  "--precision exact --dtype fp64 --m 200 --n 100 --k 300", "--m 4096 --n 4096 --k 4096"],
    "blas.gemm_batched": ["--listed --count 5", "--m 200 --n 300 --k 260 --count 3"],
    "blas.scaled_gemm": ["--scales tensor --m 33 --n 70 --k 301", "--scales blocks --m 600 --n 200 --k 700 --dtype fp8_e5m2"],
    "blas.quantize": ["--scales tensor --m 300 --k 3000", "--scales blocks --m 40 --k 2100"],
    "blas.round": ["--dtype fp16 --n 3001", "--dtype fp8_e5m2 --n 700000", "--rounding nearest"],
    "blas.trsm": ["--m 300 --n 70 --op T", "--m 300 --n 1", "--uplo U --precision bf16x6 --m 200 --n 100"],
    "blas.pair_energy": ["--precision bf16x6", "--dtype fp64 --nocc 5 --naux 70 --nvir 60"],
    "fft.c2c": ["--n 256 --batch 200", "--n 1000", "--n 65536", "--n 100 60", "--n 1024 --precision bf16x6", "--n 512 --precision exact --dtype fp64"],
    "fft.r2c": ["--n 130 --batch 200", "--n 131072", "--n 64 64"],
    "sparse.attention": ["--queries 300 --heads 4 --kv-heads 2 --d 200 --precision bf16 --mask full"],
    "sparse.attention.backward": ["--queries 300 --heads 4 --kv-heads 2 --precision bf16 --mask band:1"],
    "sparse.spmm": ["--generate stencil27:9 --kernel gather --columns 600", "--generate poisson2d:20 --precision bf16x6",
                    "--generate poisson2d:20 --kernel pinned --precision tf32x3", "--generate rmat:9 --kernel gather --precision bf16x6"],
    "fft.c2r": ["--n 256 --batch 200", "--n 131072"],
    "solver.eigh": ["--n 150"],
    "solver.svd": ["--n 140"],
}


# Small enough that a run of several programs has few of them.
SIZES = {"solver.geqrf": "--n 100", "solver.solve": "--n 60", "solver.eigh": "--n 17", "solver.svd": "--n 12",
         "sparse.spmv": "--generate poisson2d:30", "sparse.spmm": "--generate poisson2d:30", "sparse.attention": "--queries 300",
         "sparse.attention.backward": "--queries 300", "sparse.sddmm": "--generate poisson2d:20 --columns 130"}


def operations(command):
    text = subprocess.run([command, "emit", "--help"], capture_output=True, text=True).stdout
    names = re.findall(r"^  (\w+\.\w+) ", text, re.MULTILINE)
    if len(names) < 50:
        raise SystemExit(f"trnsci emit names {len(names)} operations: {text}")
    return names


def main(command):
    cases = [(name, options, machine) for name in operations(command) for machine in ONLY.get(name, MACHINES)
             for options in [SIZES.get(name, "")] + (VARIANTS.get(name, []) if machine == "trn2" else [])]

    def run(case, *more):
        name, options, machine = case
        return subprocess.run([command, "emit", name, "--machine", machine, *options.split(), *more], capture_output=True, text=True)

    def emit(case):
        """The text, or one for each of the programs of an operation that runs several."""
        result = run(case)
        texts = re.split(r"^# program \d+ of \d+: .*\n", result.stdout, flags=re.MULTILINE)
        texts = texts[1:] or texts
        return case, [subprocess.CompletedProcess(result.args, result.returncode, text, result.stderr) for text in texts]

    kernels, host_only, findings = 0, set(), []
    with ThreadPoolExecutor(2) as pool:
        for (name, options, machine), results in pool.map(emit, cases):
            where = f"{name} {options} on {machine}"
            for result in results:
                if result.returncode == 0:
                    kernels += 1
                    findings += [f"{where}:{finding}" for finding in check_text.check(result.stdout)]
                elif re.search("host|no device kernel|no device program", result.stderr):
                    host_only.add(name)
                else:
                    findings.append(f"{where}: not emitted: {result.stderr.strip()}")
    for finding in findings:
        print(finding)
    print(f"{kernels} kernels, {sum(_rules.CALLS.values())} calls, {len(findings)} findings; host only: {', '.join(sorted(host_only)) or 'none'}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
