"""A program under mpirun prints the same on 1, 2 and 3 ranks, but for lines that begin with the number of ranks, and
ends with "right": check_ranks.py PROGRAM [ARGUMENTS].
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "comm_mpi" / "test"))

from mpirun import mpirun  # noqa: E402


def main(command):
    wrong, first = [], None
    for ranks in (1, 2, 3):
        status, output, seconds = mpirun(ranks, command, 120)
        text = re.sub(r"^\d+ ranks.*\n", "", output, flags=re.M)
        counted = re.search(rf"^{ranks} ranks", output, re.M)
        first = text if first is None else first
        same = status == 0 and counted and text == first and text.endswith("\nright\n")
        print(f"{ranks} ranks: {'the same' if same else 'WRONG'}, {seconds:.1f} s")
        if not same:
            wrong.append(f"{ranks} ranks: status {status}\n{output}")
    print(first)
    return "WRONG:\n" + "\n".join(wrong) if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
