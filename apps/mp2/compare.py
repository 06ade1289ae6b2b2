#!/usr/bin/env python3
"""Compares `trnsci mp2` with Psi4 and PySCF.

usage: compare.py TRNSCI references [--runs host:native,host:exact,sim:trn2:target=1e-9] [--more sim:trn2:tf32x3,sim:trn2:native] [--only h2o,ch4]
       compare.py TRNSCI speed [MOLECULE.xyz ...] [--basis cc-pvdz] [--jk fitted,exact] [--threads 1,2] [--repeats 3]
       compare.py TRNSCI open-shells [--runs host:native,sim:trn2:target=1e-9]
       compare.py TRNSCI interactions [--exec host] [--precision native]
       compare.py TRNSCI a24 [--exec host] [--precision native] [--only hf_hf,...]
       compare.py TRNSCI pyscf

references: every case of test/data/psi4_energies.json with every run (executor:precision), and those with fitted J and K and all electrons with the runs of
--more, too, as one row of a Markdown table: the difference to Psi4 1.3.2 in nanohartree and, in brackets, the bound in hartree. Ends with status 1 when an SCF
energy is off by more than 1e-8 hartree; when the correlation energy of float64 is off by more than one nanohartree or by more than the bounds from
another run's, or a bound is not what was asked for.

speed: the same molecule with Psi4, when it is installed, and with trnsci, in turn, each several times; the least wall time counts. On one thread the
processor time of the MP2 part is printed, too: it means something on a busy machine as well. Benzene and (H2O)8 when no molecule is named. Ends with status 1
when a MP2 part is not twice as fast as Psi4's, or a total is slower.

open-shells: every case of test/data/psi4_open_shells.json with every run, as a table like that of references. Ends with status 1 when an energy is off by more
than 1e-8 hartree or a bound is not what was asked for.

interactions: interaction energies of the A24 dimers of test/data/dimers, not corrected for superposition, beside Psi4's of test/data/psi4_dimers.json. Ends with
status 1 when a MP2 or SCS-MP2 interaction energy is off by more than 1e-9 hartree.

a24: interaction energies of all dimers of the A24 set, as they are and corrected for superposition (counterpoise), beside PySCF's of
test/data/pyscf_dimers.json. Ends with status 1 when an energy of a dimer or a monomer is off by more than 1e-8 hartree.

pyscf: closed and open shells in cc-pVDZ, fitted J and K, beside PySCF, which the Python that runs this must have (a second reference: another program's
integrals, SCF and MP2). Ends with status 1 when an SCF or correlation energy is off by more than 1e-8 hartree, 3 when PySCF is not installed.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

DATA = pathlib.Path(__file__).parent / "test" / "data"
PSI4_BOHR = "0.52917721067"


def trnsci(command, molecule, *options, threads=1, bohr=PSI4_BOHR):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        begin = time.perf_counter()
        done = subprocess.run([command, "mp2", str(molecule), "--bohr", bohr, "--quiet", "--json", out.name, *options], text=True, capture_output=True,
                              env={"OMP_NUM_THREADS": str(threads), "PATH": "/usr/bin:/bin"}, check=False)
        if done.returncode != 0:
            return {"error": done.stderr.strip()}
        return {**json.load(open(out.name)), "wall": time.perf_counter() - begin}


def mp2_part(j, kind):
    return sum(v for k, v in j[kind].items() if k != "scf")


def references(args):
    runs, more = ([r.rsplit(":", 1) for r in text.split(",") if r] for text in (args.runs, args.more))
    wrong = []
    print("| molecule, basis | J, K | core | SCF, nHa | " + " | ".join(", ".join(r) for r in runs + more) + " |")
    print("|---|---|---|---:|" + "---:|" * len(runs + more))
    for r in json.load(open(DATA / "psi4_energies.json"))["results"]:
        if args.only and r["molecule"] not in args.only.split(","):
            continue
        case = f"{r['molecule']}, {r['basis']} | {'four-centre' if r['scf_type'] == 'pk' else 'fitted'} | {'frozen' if r['freeze_core'] else 'all'}"
        chosen = r["scf_type"] == "df" and not r["freeze_core"]
        cells, tight, scf = [], {}, 0.0
        for executor, precision in runs + (more if chosen else []):
            options = ["--basis", r["basis"], "--exec", executor, "--precision", precision]
            options += ["--exact-jk"] * (r["scf_type"] == "pk") + ["--frozen-core"] * r["freeze_core"]
            j = trnsci(args.trnsci, DATA / (r["molecule"] + ".xyz"), *options)
            name = f"{case} on {executor} in {precision}"
            if "error" in j:
                cells.append("refused")
                wrong.append(f"{name}: {j['error']}")
                continue
            scf, correlation = j["scf_energy"] - r["E_scf"], j["correlation_energy"] - r["E_mp2_corr"]
            cells.append(f"{correlation * 1e9:+.3f} ({j['bound']:.1e})")
            if abs(scf) > 1e-8:
                wrong.append(f"{name}: SCF energy off by {scf:.1e}")
            if precision.startswith("target") and not j["bound"] <= float(precision[7:]):
                wrong.append(f"{name}: bound {j['bound']:.1e}")
            if j["dtype"] == "float64":
                if abs(correlation) > 1e-9:
                    wrong.append(f"{name}: off by {correlation:.1e}")
                tight[name] = (j["correlation_energy"], j["bound"])
        for one, (e, bound) in tight.items():
            wrong += [f"{one} and {two} differ by {e - f:.1e}" for two, (f, other) in tight.items() if one < two and abs(e - f) > bound + other]
        print(f"| {case} | {scf * 1e9:+.3f} | " + " | ".join(cells + [""] * (len(runs + more) - len(cells))) + " |", flush=True)
    print("\n".join(wrong), file=sys.stderr)
    return len(wrong)


def psi4(molecule, basis, exact, threads):
    """Seconds of everything and of the MP2 part (wall, and processor time of all threads), the energies."""
    lines = pathlib.Path(molecule).read_text().splitlines()
    atoms = "\n".join(lines[2:2 + int(lines[0])])
    text = (f"memory 4 gb\nmolecule {{\n{atoms}\nsymmetry c1\nno_com\nno_reorient\n}}\nset {{\nbasis {basis}\nscf_type {'pk' if exact else 'df'}\nmp2_type df\n"
            "e_convergence 10\nd_convergence 8\n}\nenergy('mp2')\n")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "in.dat").write_text(text)
        begin = time.perf_counter()
        subprocess.run(["psi4", "-i", "in.dat", "-o", "out.dat", "-n", str(threads)], cwd=folder, check=True, capture_output=True,
                       env={**os.environ, "OMP_NUM_THREADS": str(threads)})
        wall = time.perf_counter() - begin
        timers = pathlib.Path(folder, "timer.dat").read_text()
        out = pathlib.Path(folder, "out.dat").read_text()
    # The list of timers comes first, then a tree of the same; Aia and Qia include the timers below them.
    found = [re.search(rf"^DFMP2 {name}\s*:\s*([\d.]+)u\s+([\d.]+)s\s+([\d.]+)w", timers, re.M) for name in ("Singles", "Aia", "Qia", "Energy")]
    part, cpu = sum(float(f.group(3)) for f in found), sum(float(f.group(1)) + float(f.group(2)) for f in found)
    scf = float(re.search(r"Total Energy =\s+(\S+)", out).group(1))
    correlation = float(re.search(r"Correlation Energy\s+=\s+(\S+)", out).group(1))
    return wall, part, cpu, scf, correlation


def compare_speed(args, molecule, jk, threads):
    """One line; whether a goal is missed."""
    options = ["--basis", args.basis] + ["--exact-jk"] * (jk == "exact")
    have = shutil.which("psi4") is not None
    ours, theirs = [], []
    for _ in range(args.repeats):
        j = trnsci(args.trnsci, molecule, *options, threads=threads)
        if "error" in j:
            sys.exit(j["error"])
        ours.append((j["wall"], mp2_part(j, "seconds"), mp2_part(j, "cpu_seconds"), j["scf_energy"], j["correlation_energy"]))
        if have:
            theirs.append(psi4(molecule, args.basis, jk == "exact", threads))
    least = [[min(row[k] for row in rows) for k in range(3)] for rows in (ours, theirs) if rows]
    names = f"| {pathlib.Path(molecule).stem}, {args.basis} | {jk} | {threads} |"
    if not have:
        print(f"{names} {least[0][0]:.2f} s | - | - | {least[0][1]:.3f} s | - | - | {least[0][2]:.3f} s | - | - |", flush=True)
        return False
    ratios = [theirs / ours for ours, theirs in zip(*least)]
    digits, cells = (2, 3, 3), []
    for k in range(3):
        shown = k < 2 or threads == 1
        cells += [f"{least[0][k]:.{digits[k]}f} s", f"{least[1][k]:.{digits[k]}f} s", f"{ratios[k]:.2f}"] if shown else ["-"] * 3
    print(names, " | ".join(cells), "|", flush=True)
    return ratios[0] < 1 or ratios[1] < 2


def speed(args):
    print("| molecule | J, K | threads | trnsci total | Psi4 total | ratio | trnsci MP2 | Psi4 MP2 | ratio | trnsci MP2, cpu | Psi4 MP2, cpu | ratio |")
    print("|---|---|---:|" + "---:|" * 9)
    missed = 0
    for molecule in args.molecule or [pathlib.Path(__file__).parent / "molecules" / f"{name}.xyz" for name in ("benzene", "water8")]:
        for jk in args.jk.split(","):
            for threads in args.threads.split(","):
                missed += compare_speed(args, molecule, jk, int(threads))
    return missed


def open_shells(args):
    runs = [r.rsplit(":", 1) for r in args.runs.split(",") if r]
    print("| molecule, charge, multiplicity, basis | J, K | core | SCF, nHa | <S^2> | " + " | ".join(", ".join(r) for r in runs) + " |")
    print("|---|---|---|---:|---:|" + "---:|" * len(runs))
    wrong = []
    for r in json.load(open(DATA / "psi4_open_shells.json"))["results"]:
        cells, scf, spin = [], 0.0, 0.0
        for executor, precision in runs:
            options = ["--basis", r["basis"], "--charge", str(r["charge"]), "--multiplicity", str(r["multiplicity"]), "--exec", executor, "--precision", precision]
            j = trnsci(args.trnsci, DATA / (r["molecule"] + ".xyz"), *options, *["--exact-jk"] * (r["scf_type"] == "pk"), *["--frozen-core"] * r["freeze_core"])
            name = f"{r['molecule']} {r['charge']:+d} {r['multiplicity']} {r['basis']} on {executor} in {precision}"
            if "error" in j:
                cells.append("refused")
                wrong.append(f"{name}: {j['error']}")
                continue
            scf, spin, off = j["scf_energy"] - r["E_scf"], j["spin_squared"], j["correlation_energy"] - r["E_mp2_corr"]
            cells.append(f"{off * 1e9:+.3f} ({j['bound']:.1e})")
            if abs(scf) > 1e-8 or abs(off) > 1e-8 or abs(spin - r["S2"]) > 1e-6:
                wrong.append(f"{name}: SCF energy off by {scf:.1e}, correlation by {off:.1e}, <S^2> by {spin - r['S2']:.1e}")
            if precision.startswith("target") and not j["bound"] <= float(precision[7:]):
                wrong.append(f"{name}: bound {j['bound']:.1e}")
        print(f"| {r['molecule']}, {r['charge']:+d}, {r['multiplicity']}, {r['basis']} | {'four-centre' if r['scf_type'] == 'pk' else 'fitted'} | "
              f"{'frozen' if r['freeze_core'] else 'all'} | {scf * 1e9:+.3f} | {spin:.4f} | " + " | ".join(cells) + " |", flush=True)
    print("\n".join(wrong), file=sys.stderr)
    return len(wrong)


KCAL = 627.5094740631  # of one hartree, CODATA 2018


def interactions(args):
    print("| dimer | MP2, kcal/mol | to Psi4, nHa | SCS-MP2, kcal/mol | to Psi4, nHa | SOS-MP2, kcal/mol | bound, hartree |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    wrong = 0
    for r in json.load(open(DATA / "psi4_dimers.json"))["results"]:
        lines = (DATA / "dimers" / (r["name"] + ".xyz")).read_text().splitlines()
        atoms, first = lines[2:2 + int(lines[0])], r["first_atoms"]
        sums = dict.fromkeys(("mp2", "scs", "sos", "psi4", "psi4_scs", "bound"), 0.0)
        for part, some, sign in (("dimer", atoms, 1), ("first", atoms[:first], -1), ("second", atoms[first:], -1)):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, f"{r['name']}_{part}.xyz")
                path.write_text("\n".join([str(len(some)), part, *some]) + "\n")
                j = trnsci(args.trnsci, path, "--basis", r[part]["basis"], "--frozen-core", "--exec", args.exec, "--precision", args.precision)
            if "error" in j:
                sys.exit(j["error"])
            sums["mp2"] += sign * j["total_energy"]
            for kind in ("scs", "sos"):
                sums[kind] += sign * (j["scf_energy"] + j[kind + "_correlation_energy"])
            sums["bound"] += j["bound"]
            sums["psi4"] += sign * (r[part]["E_scf"] + r[part]["E_mp2_corr"])
            sums["psi4_scs"] += sign * (r[part]["E_scf"] + r[part]["E_scs_corr"])
        off, off_scs = sums["mp2"] - sums["psi4"], sums["scs"] - sums["psi4_scs"]
        wrong += max(abs(off), abs(off_scs)) > 1e-9
        print(f"| {r['name'].replace('_', ', ')} | {sums['mp2'] * KCAL:.4f} | {off * 1e9:+.3f} | {sums['scs'] * KCAL:.4f} | {off_scs * 1e9:+.3f} | "
              f"{sums['sos'] * KCAL:.4f} | {sums['bound']:.1e} |", flush=True)
    return wrong


def a24(args):
    file = json.load(open(DATA / "pyscf_dimers.json"))
    print(f"{file['program']}, {file['date']}\n\n| number, dimer | MP2, kcal/mol | corrected | SCS-MP2, corrected | published CCSD(T) | largest difference of five energies, nHa |")
    print("|---|---:|---:|---:|---:|---:|")
    worst, mean, count = 0.0, 0.0, 0
    for number, r in enumerate(file["results"], 1):
        if args.only and r["name"] not in args.only.split(","):
            continue
        lines = (DATA / "dimers" / (r["name"] + ".xyz")).read_text().splitlines()
        atoms, first = lines[2:2 + int(lines[0])], r["first_atoms"]
        one, two = atoms[:first], atoms[first:]
        parts = {"dimer": atoms, "first": one, "second": two, "first_in_dimer": one + ["@" + s for s in two], "second_in_dimer": ["@" + s for s in one] + two}
        total, scs, off = {}, {}, 0.0
        for part, some in parts.items():
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, f"{r['name']}_{part}.xyz")
                path.write_text("\n".join([str(len(some)), part, *some]) + "\n")
                j = trnsci(args.trnsci, path, "--basis", file["basis"], "--frozen-core", "--exec", args.exec, "--precision", args.precision,
                           bohr=str(file["bohr_in_angstrom"]))
            if "error" in j:
                sys.exit(j["error"])
            theirs = r[part]
            off = max(off, abs(j["scf_energy"] - theirs["E_scf"]), abs(j["correlation_energy"] - theirs["E_mp2_corr"]),
                      abs(j["opposite_spin"] - theirs["E_os"]))
            total[part], scs[part] = j["total_energy"], j["scf_energy"] + j["scs_correlation_energy"]
        worst = max(worst, off)
        plain = (total["dimer"] - total["first"] - total["second"]) * KCAL
        corrected, corrected_scs = ((e["dimer"] - e["first_in_dimer"] - e["second_in_dimer"]) * KCAL for e in (total, scs))
        mean, count = mean + abs(corrected - r["published_kcal_per_mol"]), count + 1
        print(f"| {number}, {r['name'].replace('_', ', ')} | {plain:.3f} | {corrected:.3f} | {corrected_scs:.3f} | {r['published_kcal_per_mol']:.3f} | {off * 1e9:.3f} |",
              flush=True)
    print(f"\nlargest difference {worst * 1e9:.3f} nHa; corrected MP2 is off the published energies by {mean / max(count, 1):.3f} kcal/mol on average")
    return not worst <= 1e-8


def compare_pyscf(args):
    try:
        import pyscf
        import pyscf.gto
        import pyscf.scf
        from pyscf.mp import dfmp2_native, dfump2_native
    except ImportError as missing:
        print(f"compare.py: PySCF is not installed: {missing}", file=sys.stderr)
        sys.exit(3)
    cases = [(name, 0, 1) for name in ("h2o", "nh3", "ch4")] + [("oh", 0, 2), ("ch3", 0, 2), ("o2", 0, 3), ("nh2", 1, 3), ("h2o", 1, 2)]
    print(f"PySCF {pyscf.__version__}\n\n| molecule, charge, multiplicity | SCF, nHa | MP2, nHa |\n|---|---:|---:|")
    wrong = 0
    for name, charge, multiplicity in cases:
        lines = (DATA / f"{name}.xyz").read_text().splitlines()
        atoms = [(s, [float(x) / float(PSI4_BOHR) for x in rest]) for s, *rest in (line.split() for line in lines[2:2 + int(lines[0])])]
        mol = pyscf.gto.M(atom=atoms, unit="Bohr", basis="cc-pvdz", charge=charge, spin=multiplicity - 1, verbose=0)
        mf = (pyscf.scf.RHF if multiplicity == 1 else pyscf.scf.UHF)(mol).density_fit(auxbasis="cc-pvdz-jkfit")
        mf.conv_tol, mf.conv_tol_grad, mf.max_cycle = 1e-12, 1e-8, 200
        mf.kernel()
        mp2 = (dfmp2_native.DFMP2 if multiplicity == 1 else dfump2_native.DFUMP2)(mf, auxbasis="cc-pvdz-ri")
        mp2.kernel()
        j = trnsci(args.trnsci, DATA / f"{name}.xyz", "--charge", str(charge), "--multiplicity", str(multiplicity))
        if "error" in j:
            sys.exit(j["error"])
        scf, correlation = j["scf_energy"] - mf.e_tot, j["correlation_energy"] - mp2.e_corr
        wrong += not (abs(scf) < 1e-8 and abs(correlation) < 1e-8)
        print(f"| {name}, {charge:+d}, {multiplicity} | {scf * 1e9:+.3f} | {correlation * 1e9:+.3f} |", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trnsci", help="the command, like build/release/trnsci")
    what = parser.add_subparsers(required=True)
    r = what.add_parser("references")
    r.add_argument("--runs", default="host:native,host:exact,sim:trn2:target=1e-9")
    r.add_argument("--more", default="sim:trn2:tf32x3,sim:trn2:native")
    r.add_argument("--only", default="")
    r.set_defaults(run=references)
    s = what.add_parser("speed")
    s.add_argument("molecule", nargs="*")
    s.add_argument("--basis", default="cc-pvdz")
    s.add_argument("--jk", default="fitted,exact")
    s.add_argument("--threads", default="1,2")
    s.add_argument("--repeats", type=int, default=3)
    s.set_defaults(run=speed)
    o = what.add_parser("open-shells")
    o.add_argument("--runs", default="host:native,sim:trn2:target=1e-9")
    o.set_defaults(run=open_shells)
    i = what.add_parser("interactions")
    i.add_argument("--exec", default="host")
    i.add_argument("--precision", default="native")
    i.set_defaults(run=interactions)
    d = what.add_parser("a24")
    d.add_argument("--exec", default="host")
    d.add_argument("--precision", default="native")
    d.add_argument("--only", default="")
    d.set_defaults(run=a24)
    what.add_parser("pyscf").set_defaults(run=compare_pyscf)
    args = parser.parse_args()
    args.trnsci = str(pathlib.Path(args.trnsci).resolve())
    sys.exit(1 if args.run(args) else 0)


main()
