#!/usr/bin/env python3
"""Makes the reference energies of test/data/pyscf_dimers.json with PySCF, which the Python that runs this must have.

usage: pyscf_references.py [--only NAME,NAME]

For every dimer of the A24 set, test/data/dimers/NAME.xyz: RHF and DF-MP2 energies of the dimer, of either monomer in its own
basis, and of either monomer in the basis of the dimer (the other one's atoms as ghosts), from which an interaction energy
corrected for superposition follows. aug-cc-pVDZ, fitted J and K, frozen core. --only computes these again and keeps the others.
Tests read the file, never PySCF.
"""
import argparse
import datetime
import json
import pathlib
import re

import pyscf
import pyscf.gto
import pyscf.scf
from pyscf.mp import dfmp2_native

DATA = pathlib.Path(__file__).parent / "test" / "data"
FILE = DATA / "pyscf_dimers.json"
BASIS = "aug-cc-pvdz"
BOHR = 0.529177210544  # angstrom, CODATA 2022: what trnsci takes
# Of A24 in the order of the paper, with its interaction energies, CCSD(T) at the limit of the basis with corrections, kcal/mol.
PUBLISHED = {"water_ammonia": -6.524, "water_water": -5.014, "hcn_hcn": -4.749, "hf_hf": -4.572, "ammonia_ammonia": -3.157, "methane_hf": -1.679,
             "ammonia_methane": -0.779, "methane_water": -0.672, "formaldehyde_formaldehyde": -4.474, "ethene_water": -2.578,
             "ethene_formaldehyde": -1.629, "ethyne_ethyne": -1.537, "ethene_ammonia": -1.389, "ethene_ethene": -1.110, "methane_ethene": -0.514,
             "borane_methane": -1.518, "methane_ethane": -0.837, "methane_ethane_c3": -0.615, "methane_methane": -0.538, "methane_argon": -0.408,
             "ethene_argon": -0.370, "ethene_ethyne": 0.784, "ethene_ethene_stacked": 0.897, "ethyne_ethyne_stacked": 1.075}


def energies(atoms):
    mol = pyscf.gto.M(atom=[(s, [x / BOHR for x in at]) for s, at in atoms], unit="Bohr", basis=BASIS, verbose=0)
    mf = pyscf.scf.RHF(mol).density_fit(auxbasis=BASIS + "-jkfit")
    mf.conv_tol, mf.conv_tol_grad, mf.max_cycle = 1e-12, 1e-8, 200
    mf.kernel()
    if not mf.converged:
        raise SystemExit(f"{atoms}: the SCF does not converge")
    frozen = sum(0 if z <= 2 else 1 if z <= 10 else 5 for z in mol.atom_charges())
    mp2 = dfmp2_native.DFMP2(mf, frozen=frozen, auxbasis=BASIS + "-ri")
    mp2.kernel()
    opposite = dfmp2_native.DFMP2(mf, frozen=frozen, auxbasis=BASIS + "-ri")
    opposite.ps, opposite.pt = 1.0, 0.0
    opposite.kernel()
    return {"E_scf": float(mf.e_tot), "E_mp2_corr": float(mp2.e_corr), "E_os": float(opposite.e_corr), "nbf": int(mol.nao)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    only = parser.parse_args().only
    old = {r["name"]: r for r in json.loads(FILE.read_text())["results"]} if FILE.exists() else {}
    for name, published in PUBLISHED.items():
        if only and name not in only.split(","):
            continue
        lines = (DATA / "dimers" / f"{name}.xyz").read_text().splitlines()
        first = int(re.search(r"first (\d+) atom", lines[1]).group(1))
        atoms = [(s, [float(x) for x in at]) for s, *at in (line.split() for line in lines[2:2 + int(lines[0])])]
        one, two = atoms[:first], atoms[first:]
        ghosts = [[("ghost-" + s, at) for s, at in part] for part in (one, two)]
        parts = {"dimer": atoms, "first": one, "second": two, "first_in_dimer": one + ghosts[1], "second_in_dimer": ghosts[0] + two}
        old[name] = {"name": name, "first_atoms": first, "published_kcal_per_mol": published,
                     **{part: energies(some) for part, some in parts.items()}}
        head = {"program": f"PySCF {pyscf.__version__}", "date": datetime.date.today().isoformat(), "bohr_in_angstrom": BOHR, "units": "hartree",
                "basis": BASIS, "scf_type": "df", "freeze_core": True, "input": "apps/mp2/pyscf_references.py",
                "published": "Rezac and Hobza, J. Chem. Theory Comput. 9 (2013) 2151: CCSD(T)/CBS with corrections"}
        FILE.write_text(json.dumps({**head, "results": [old[n] for n in PUBLISHED if n in old]}, indent=1) + "\n")
        print(name, flush=True)


main()
