#!/usr/bin/env python3
"""Compares `trnsci mp2` with Psi4.

usage: compare.py TRNSCI references [--exec host,sim:trn2] [--precision native,target=1e-9] [--only h2o,ch4]
       compare.py TRNSCI speed MOLECULE.xyz [--basis cc-pvdz] [--exact-jk] [--threads 1] [--repeats 3]

references: every case of test/data/psi4_energies.json on each executor and precision that go together, as rows of a table: differences to
Psi4 1.3.2 in nanohartree, the bound, seconds. Ends with status 1 when an SCF energy is off by more than 1e-8 hartree, or the
correlation energy of native on the host or of exact and target by more than one nanohartree or its bound is not what was asked for.

speed: the same molecule with Psi4, when it is installed, and with trnsci, one after the other, each several times; the least wall time counts.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

DATA = pathlib.Path(__file__).parent / "test" / "data"
PSI4_BOHR = "0.52917721067"


def trnsci(command, molecule, *options, threads=1):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        begin = time.perf_counter()
        done = subprocess.run([command, "mp2", str(molecule), "--bohr", PSI4_BOHR, "--quiet", "--json", out.name, *options], text=True, capture_output=True,
                              env={"OMP_NUM_THREADS": str(threads), "PATH": "/usr/bin:/bin"}, check=False)
        if done.returncode != 0:
            return {"error": done.stderr.strip()}
        return {**json.load(open(out.name)), "wall": time.perf_counter() - begin}


def references(args):
    wrong = 0
    print("| molecule | basis | J, K | core | executor | precision | SCF, nHa | correlation, nHa | bound, hartree | modelled |")
    print("|---|---|---|---|---|---|---:|---:|---:|---:|")
    for r in json.load(open(DATA / "psi4_energies.json"))["results"]:
        if args.only and r["molecule"] not in args.only.split(","):
            continue
        for executor in args.exec.split(","):
            for precision in args.precision.split(","):
                if executor == "host" and precision not in ("native", "exact") and not precision.startswith("target"):
                    continue
                options = ["--basis", r["basis"], "--exec", executor, "--precision", precision]
                options += ["--exact-jk"] * (r["scf_type"] == "pk") + ["--frozen-core"] * r["freeze_core"]
                j = trnsci(args.trnsci, DATA / (r["molecule"] + ".xyz"), *options)
                names = [r["molecule"], r["basis"], "exact" if r["scf_type"] == "pk" else "fitted", "frozen" if r["freeze_core"] else "all", executor, precision]
                if "error" in j:
                    print("| " + " | ".join(names) + f" | {j['error']} |")
                    wrong += 1
                    continue
                scf, correlation = j["scf_energy"] - r["E_scf"], j["correlation_energy"] - r["E_mp2_corr"]
                tight = precision == "exact" or precision.startswith("target") or executor == "host"
                wrong += abs(scf) > 1e-8 or (tight and abs(correlation) > 1e-9) or (precision.startswith("target") and j["bound"] > float(precision[7:]))
                modelled = sum(j["modelled_seconds"].values())
                print("| " + " | ".join(names) + f" | {scf * 1e9:+.3f} | {correlation * 1e9:+.3f} | {j['bound']:.1e} | " +
                      (f"{modelled * 1e3:.2f} ms |" if modelled else "- |"), flush=True)
    return wrong


def psi4(molecule, basis, exact, threads):
    """Seconds of everything and of the MP2 part, the energies."""
    lines = pathlib.Path(molecule).read_text().splitlines()
    atoms = "\n".join(lines[2:2 + int(lines[0])])
    text = (f"memory 4 gb\nmolecule {{\n{atoms}\nsymmetry c1\nno_com\nno_reorient\n}}\nset {{\nbasis {basis}\nscf_type {'pk' if exact else 'df'}\nmp2_type df\n"
            "e_convergence 10\nd_convergence 8\n}\nenergy('mp2')\n")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "in.dat").write_text(text)
        begin = time.perf_counter()
        subprocess.run(["psi4", "-i", "in.dat", "-o", "out.dat", "-n", str(threads)], cwd=folder, check=True, capture_output=True)
        wall = time.perf_counter() - begin
        timers = pathlib.Path(folder, "timer.dat").read_text()
        out = pathlib.Path(folder, "out.dat").read_text()
    # The list of timers comes first, then a tree of the same; Aia and Qia include the timers below them.
    part = sum(float(re.search(rf"^DFMP2 {name}\s*:.*?([\d.]+)w", timers, re.M).group(1)) for name in ("Singles", "Aia", "Qia", "Energy"))
    scf = float(re.search(r"Total Energy =\s+(\S+)", out).group(1))
    correlation = float(re.search(r"Correlation Energy\s+=\s+(\S+)", out).group(1))
    return wall, part, scf, correlation


def speed(args):
    options = ["--basis", args.basis] + ["--exact-jk"] * args.exact_jk
    have = shutil.which("psi4") is not None
    ours, theirs = [], []
    for _ in range(args.repeats):
        j = trnsci(args.trnsci, args.molecule, *options, threads=args.threads)
        if "error" in j:
            sys.exit(j["error"])
        ours.append((j["wall"], sum(v for k, v in j["seconds"].items() if k != "scf"), j["scf_energy"], j["correlation_energy"]))
        if have:
            theirs.append(psi4(args.molecule, args.basis, args.exact_jk, args.threads))
    print(f"{pathlib.Path(args.molecule).stem} {args.basis}, J and K {'exact' if args.exact_jk else 'fitted'}, {args.threads} thread(s), least of {args.repeats}")
    for name, rows in (("trnsci", ours), ("psi4", theirs)):
        if rows:
            print(f"  {name:<7} total {min(r[0] for r in rows):8.2f} s   MP2 part {min(r[1] for r in rows):8.3f} s   SCF {rows[0][2]:.10f}   correlation {rows[0][3]:.10f}")
    if have:
        print(f"  ratio   total {min(r[0] for r in theirs) / min(r[0] for r in ours):8.2f}     MP2 part {min(r[1] for r in theirs) / min(r[1] for r in ours):8.2f}")
    else:
        print("  psi4 is not installed")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trnsci", help="the command, like build/release/trnsci")
    what = parser.add_subparsers(required=True)
    r = what.add_parser("references")
    r.add_argument("--exec", default="host,sim:trn2")
    r.add_argument("--precision", default="native,target=1e-9")
    r.add_argument("--only", default="")
    r.set_defaults(run=references)
    s = what.add_parser("speed")
    s.add_argument("molecule")
    s.add_argument("--basis", default="cc-pvdz")
    s.add_argument("--exact-jk", action="store_true")
    s.add_argument("--threads", type=int, default=1)
    s.add_argument("--repeats", type=int, default=3)
    s.set_defaults(run=speed)
    args = parser.parse_args()
    args.trnsci = str(pathlib.Path(args.trnsci).resolve())
    sys.exit(1 if args.run(args) else 0)


main()
