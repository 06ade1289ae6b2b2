"""Emits every operation that the command line knows for every machine, and holds the texts against the documented NKI
signatures: check_emitted.py TRNSCI

An operation without a program on the command line says so in so many words and stands in HOST_ONLY; every other failure
to emit is a finding, and so is an operation of that list that has a program. Prints the number of kernels and calls.
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
LONG_EXACT = "--precision exact --dtype fp64 --m 2048 --n 2048 --k 2048"
LONG_PAIRS = "--nocc 40 --naux 672 --nvir 152"
# Beside every operation as it is by default: options that make another kernel.
VARIANTS = {
    "blas.gemm": ["--op-a T", "--op-b T", "--dtype bf16", "--precision bf16x6 --m 300 --n 200 --k 500",
                  "--precision exact --dtype fp64 --m 200 --n 100 --k 300", "--m 4096 --n 4096 --k 4096", LONG_EXACT,
                  "--m 24 --n 97344 --k 312", "--m 3000 --n 4000 --k 24 --op-a T"],
    "blas.gemm_batched": ["--listed --count 5", "--m 200 --n 300 --k 260 --count 3"],
    "blas.scaled_gemm": ["--scales tensor --m 33 --n 70 --k 301", "--scales blocks --m 600 --n 200 --k 700 --dtype fp8_e5m2"],
    "blas.quantize": ["--scales tensor --m 300 --k 3000", "--scales blocks --m 40 --k 2100"],
    "blas.round": ["--dtype fp16 --n 3001", "--dtype fp8_e5m2 --n 700000", "--rounding nearest"],
    "blas.trsm": ["--m 300 --n 70 --op T", "--m 300 --n 1", "--uplo U --precision bf16x6 --m 200 --n 100"],
    "blas.pair_energy": ["--precision bf16x6", "--dtype fp64 --nocc 5 --naux 70 --nvir 60", LONG_PAIRS],
    "fft.c2c": ["--n 256 --batch 200", "--n 1000", "--n 65536", "--n 100 60", "--n 1024 --precision bf16x6", "--n 512 --precision exact --dtype fp64", "--n 1048576", "--n 1024 1024"],
    "fft.r2c": ["--n 130 --batch 200", "--n 131072", "--n 64 64"],
    "sparse.attention": ["--queries 300 --heads 4 --kv-heads 2 --d 200 --precision bf16 --mask full"],
    "sparse.attention.backward": ["--queries 300 --heads 4 --kv-heads 2 --precision bf16 --mask band:1"],
    "sparse.spmv": ["--generate poisson2d:30 --kernel resident", "--generate stencil27:9 --kernel dia", "--generate stencil27:9 --kernel stencil",
                    "--generate poisson3d:12 --kernel stencil"],
    "sparse.tridiagonal.solve": ["--n 200 --count 130 --order unknowns", "--n 1030 --count 200"],
    "sparse.spmm": ["--generate poisson2d:20 --kernel dia --columns 40", "--generate stencil27:9 --kernel gather --columns 600", "--generate poisson2d:20 --precision bf16x6",
                    "--generate poisson2d:20 --kernel pinned --precision tf32x3", "--generate rmat:9 --kernel gather --precision bf16x6"],
    "fft.c2r": ["--n 256 --batch 200", "--n 131072"],
    "solver.potrf": ["--n 4096"],
    "tensor.einsum": ["--expression adb,cd->cba --sizes a=312,b=312,c=24,d=312",
                      "--expression bafg,cged->fedcba --sizes a=24,b=16,c=16,d=24,e=16,f=16,g=24",
                      "--expression fbea,cedf->dcba --sizes a=24,b=24,c=24,d=24,e=24,f=24",
                      "--expression ik,kj->ij --sizes i=300,j=700,k=300 --operators exp,rcp,tanh",
                      "--expression adb,cd->cba --sizes a=32,b=64,c=24,d=130 --operators neg,sqrt,relu",
                      "--expression ijk,jr,kr->ir --sizes i=300,j=130,k=70,r=16",
                      "--expression ijk,ir,jr->kr --sizes i=130,j=70,k=300,r=16"],
    "solver.eigh": ["--n 150"],
    "solver.svd": ["--n 140"],
    "solver.svd_batched": ["--m 3 --n 6 --count 130"],
    "solver.fused_cg": ["--n 200 --nrhs 3"],
    "solver.fused_chebyshev": ["--n 200 --nrhs 3"],
}


# Small enough that a run of several programs has few of them.
SIZES = {"solver.geqrf": "--n 100", "solver.getrf": "--n 140", "solver.solve": "--n 60", "solver.eigh": "--n 17", "solver.svd": "--n 12",
         "solver.eigh_batched": "--n 5 --count 3", "solver.svd_batched": "--m 6 --n 5 --count 3",
         "sparse.spmv": "--generate poisson2d:30", "sparse.spmm": "--generate poisson2d:30", "sparse.attention": "--queries 300",
         "sparse.attention.backward": "--queries 300", "sparse.sddmm": "--generate poisson2d:20 --columns 130",
         "sparse.spgemm": "--generate poisson2d:20 --dtype fp32", "sparse.spsv": "--generate poisson2d:20 --columns 20 --dtype fp32",
         "sparse.tridiagonal.solve": "--n 200 --count 130"}


# The words in which an operation says that it has no program, after its own name.
REFUSALS = (r"works on the caller's own numbers; it has no device kernel", r"has no device kernel(?: for [\w ]+)?; it runs on the host",
            r"\w+ has no gathers; it runs on the host",
            r"no device kernel for these types on executor '\w+'; use an executor of the other family")
# Operations without a program, and the machines on which that is so.
HOST_ONLY = {
    **{f"blas.{name}": MACHINES for name in
       "dgmm gbmv geam gemm_epilogue hbmv hemv her her2 hpmv hpr hpr2 rotg rotmg sbmv spmv spr spr2 symv syr syr2 tbmv tbsv tpmv "
       "tpsv tpttr trmv trsv trttp".split()},
    **{f"sparse.{name}": MACHINES for name in "cholesky csr2csc lu qr read".split()},
    "solver.getrf": ("trn1",),
}
# Kernels that unroll to more calls than check_text.UNROLLED_CALLS: how many, and why their loops cannot be the device's,
# whose registers go into addresses in HBM alone.
LONG = {
    ("blas.gemm", LONG_EXACT): (45000, "loops over moduli and blocks choose constants and residues in SBUF"),
    ("blas.pair_energy", LONG_PAIRS): (48000, "the loop over pairs chooses columns of energies in SBUF"),
    ("solver.potrf", "--n 4096"): (21000, "each panel is recorded between the columns of the one before, in SBUF"),
}


def refused(name, stderr):
    """Whether this is the one line in which the operation says that it has no program."""
    return any(re.fullmatch(rf"trnsci: {re.escape(name)}: {words}", " ".join(stderr.split())) for words in REFUSALS)


def names_in(help_text):
    return re.findall(r"^  (\w+\.[\w.]+) ", help_text, re.MULTILINE)


def operations(command):
    text = subprocess.run([command, "emit", "--help"], capture_output=True, text=True).stdout
    names = names_in(text)
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

    kernels, host_only, longest, findings = 0, set(), {}, []
    with ThreadPoolExecutor(2) as pool:
        for (name, options, machine), results in pool.map(emit, cases):
            where = f"{name} {options} on {machine}"
            for result in results:
                if result.returncode == 0:
                    kernels += 1
                    most = LONG.get((name, options), (check_text.UNROLLED_CALLS,))[0]
                    findings += [f"{where}:{finding}" for finding in check_text.check(result.stdout, most=most)]
                    longest[name, options] = max(longest.get((name, options), 0), check_text.calls(result.stdout))
                elif refused(name, result.stderr):
                    host_only.add((name, machine))
                else:
                    findings.append(f"{where}: not emitted: {result.stderr.strip()}")
    expected = {(name, machine) for name, where in HOST_ONLY.items() for machine in where}
    findings += [f"{name} on {machine}: has no program and is not in HOST_ONLY" for name, machine in sorted(host_only - expected)]
    findings += [f"{name} on {machine}: is in HOST_ONLY and has a program" for name, machine in sorted(expected - host_only)]
    findings += [f"{' '.join(case)}: is in LONG and unrolls to {longest.get(case, 0)} calls" for case in LONG
                 if longest.get(case, 0) <= check_text.UNROLLED_CALLS]
    for finding in findings:
        print(finding)
    print(f"{kernels} kernels, {sum(_rules.CALLS.values())} calls, {len(findings)} findings; longest {max(longest.values())} calls "
          f"unrolled; host only: {', '.join(sorted({name for name, _ in host_only})) or 'none'}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
