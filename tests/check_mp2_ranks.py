"""`trnsci mp2` under mpirun prints what one process prints: check_mp2_ranks.py TRNSCI MOLECULE.xyz

Everything but times and the number of threads of a rank ("geometry"), bit for bit: JSON numbers have all their digits.
"""

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "comm_mpi" / "test"))

from mpirun import mpirun  # noqa: E402


def facts(text):
    result = json.loads(text[text.index("{"):])
    return {key: value for key, value in result.items() if "seconds" not in key and key not in ("command", "geometry")}


def main(command, molecule):
    words = [command, "mp2", molecule, "--quiet", "--json", "-"]
    one = facts(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    wrong = 0
    for ranks in (1, 2, 4):
        status, output, _ = mpirun(ranks, words, 120)
        same = status == 0 and facts(output) == one
        wrong += not same
        print(f"{ranks} ranks: {'the same' if same else f'WRONG, status {status}: {output}'}")
    status, output, _ = mpirun(2, [command, "mp2", "/nowhere.xyz"], 60)
    if status == 0 or "cannot read '/nowhere.xyz'" not in output:
        wrong += 1
        print(f"WRONG: a file that is not there: status {status}: {output}")
    print(f"{len(one)} values compared, {one['total_energy']} hartree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
