#!/usr/bin/env python3
"""Makes the reference energies of test/data with Psi4, which must be installed (Debian: psi4).

usage: psi4_references.py open-shells|dimers

open-shells: UHF and DF-MP2 energies of radicals and triplets, into test/data/psi4_open_shells.json.
dimers: RHF and DF-MP2 energies of dimers of the A24 set and of their monomers, into test/data/psi4_dimers.json. Files
test/data/dimers/NAME.xyz hold the geometries; the comment line says how many of the atoms are the first monomer's.

Every case is one input like INPUT below. Tests read the files, never Psi4.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

DATA = pathlib.Path(__file__).parent / "test" / "data"
INPUT = """memory 2 gb
molecule {{
{charge} {multiplicity}
{atoms}
symmetry c1
no_com
no_reorient
}}
set {{
basis {basis}
reference {reference}
scf_type {scf_type}
mp2_type df
freeze_core {freeze_core}
e_convergence 11
d_convergence 10
{more}
}}
energy('mp2')
import json
json.dump(dict(psi4.core.variables()), open('variables.json', 'w'))
"""
# Molecule, charge, multiplicity, basis, J and K ("df", "pk"), whether core orbitals are frozen.
OPEN_SHELLS = [("oh", 0, 2, "cc-pvdz", "df", False), ("oh", 0, 2, "cc-pvdz", "pk", True), ("oh", 0, 2, "cc-pvtz", "df", True),
               ("no", 0, 2, "cc-pvdz", "df", False), ("ch3", 0, 2, "cc-pvdz", "df", True), ("ch3", 0, 2, "aug-cc-pvdz", "df", False),
               ("o2", 0, 3, "cc-pvdz", "df", False), ("o2", 0, 3, "cc-pvdz", "df", True), ("nh2", 0, 2, "cc-pvdz", "pk", False),
               ("nh2", 1, 3, "cc-pvdz", "df", False), ("h2o", 1, 2, "cc-pvdz", "df", True)]
# Options beyond INPUT, where Psi4 finds another state without them.
MORE = {}
BASIS = "aug-cc-pvdz"


def psi4(atoms, charge, multiplicity, basis, scf_type, freeze_core, more=""):
    text = INPUT.format(charge=charge, multiplicity=multiplicity, atoms="\n".join(atoms), basis=basis, scf_type=scf_type,
                        reference="rhf" if multiplicity == 1 else "uhf", freeze_core=str(freeze_core).lower(), more=more)
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "in.dat").write_text(text)
        subprocess.run(["psi4", "-i", "in.dat", "-o", "out.dat", "-n", "1"], cwd=folder, check=True, capture_output=True)
        v = json.loads(pathlib.Path(folder, "variables.json").read_text())
        out = pathlib.Path(folder, "out.dat").read_text()
    result = {"charge": charge, "multiplicity": multiplicity, "basis": basis, "scf_type": scf_type, "freeze_core": freeze_core,
              "E_nuc": v["NUCLEAR REPULSION ENERGY"], "E_scf": v["SCF TOTAL ENERGY"], "E_mp2_corr": v["MP2 CORRELATION ENERGY"],
              "E_ss": v["MP2 SAME-SPIN CORRELATION ENERGY"], "E_os": v["MP2 OPPOSITE-SPIN CORRELATION ENERGY"],
              "E_scs_corr": v["SCS-MP2 CORRELATION ENERGY"]}
    spin = re.search(r"S\^2 Observed:\s+(\S+)", out)
    if spin:
        result["S2"] = float(spin.group(1))
    if more:
        result["options"] = more
    return result


def atoms_of(path):
    lines = path.read_text().splitlines()
    return lines[1], lines[2:2 + int(lines[0])]


def write(name, results):
    head = {"program": "Psi4 1.3.2 (Debian)", "bohr_in_angstrom": 0.52917721067, "units": "hartree",
            "input": "apps/mp2/psi4_references.py", "results": results}
    (DATA / name).write_text(json.dumps(head, indent=1) + "\n")


def open_shells():
    results = []
    for name, *case in OPEN_SHELLS:
        results.append({"molecule": name, **psi4(atoms_of(DATA / f"{name}.xyz")[1], *case, MORE.get((name, case[2]), ""))})
        print(results[-1], flush=True)
    write("psi4_open_shells.json", results)


def dimers():
    results = []
    for path in sorted((DATA / "dimers").glob("*.xyz")):
        comment, atoms = atoms_of(path)
        first = int(re.search(r"first (\d+) atom", comment).group(1))
        parts = {part: psi4(lines, 0, 1, BASIS, "df", True) for part, lines in
                 (("dimer", atoms), ("first", atoms[:first]), ("second", atoms[first:]))}
        results.append({"name": path.stem, "first_atoms": first, **parts})
        print(path.stem, flush=True)
    write("psi4_dimers.json", results)


if len(sys.argv) != 2 or sys.argv[1] not in ("open-shells", "dimers"):
    sys.exit(__doc__)
{"open-shells": open_shells, "dimers": dimers}[sys.argv[1]]()
