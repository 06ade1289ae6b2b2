"""A sparse matrix that one process cannot hold: with the limit one rank ends with "out of memory", and several have the
bits that one has without it.

check_memory_ranks.py PROGRAM
"""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "comm_mpi" / "test"))

from mpirun import mpirun  # noqa: E402

SIDE, MIB = "40", "64"


def main(program):
    wrong = []
    bits = {}
    for ranks, limit in ((1, "0"), (1, MIB), (6, MIB)):
        status, output, seconds = mpirun(ranks, [program, SIDE, limit], 120)
        found = re.search(r"^bits (.*)$", output, re.M)
        bits[ranks, limit] = found.group(1) if found else None
        text = re.sub(r"\s+", " ", output).strip()
        print(f"{ranks} ranks, {'no limit' if limit == '0' else limit + ' MiB more each'}: status {status}, {seconds:.1f} s: {text[:300]}")
        if (ranks, limit) == (1, MIB):
            if status == 0 or found or not re.search(r"rank 0 of 1.*(out of memory|bad_alloc)", output):
                wrong.append(f"one rank within {MIB} MiB: status {status}\n{output}")
        elif status != 0 or not found:
            wrong.append(f"{ranks} ranks: status {status}\n{output}")
    if bits[1, "0"] != bits[6, MIB]:
        wrong.append(f"bits {bits}")
    return "WRONG:\n" + "\n".join(wrong) if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
