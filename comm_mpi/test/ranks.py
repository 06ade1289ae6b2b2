"""Runs the test program with several numbers of ranks: all comparisons must hold, and results that are printed as bits
must be the same for every number of ranks.

ranks.py PROGRAM CASES [--ranks 1,2,3,4,7,12] [--seconds 120]
"""
import argparse
import re
import sys

from mpirun import mpirun


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("cases")
    parser.add_argument("--ranks", default="1,2,3,4,7,12")
    parser.add_argument("--seconds", type=float, default=120)
    arguments = parser.parse_args()
    wrong, first = [], None
    for ranks in map(int, arguments.ranks.split(",")):
        status, output, seconds = mpirun(ranks, [arguments.program, arguments.cases], arguments.seconds)
        counts = re.search(rf"^{ranks} ranks: (\d+) comparisons, 0 wrong$", output, re.M)
        bits = dict(re.findall(r"^bits (\S+) ([0-9a-f]+)$", output, re.M))
        print(f"{ranks} ranks: {counts.group(1) if counts else 'no'} comparisons, {len(bits)} results as bits, {seconds:.1f} s")
        if status != 0 or not counts or int(counts.group(1)) == 0:
            wrong.append(f"{ranks} ranks: status {status}\n{output}")
        first = bits if first is None else first
        if bits.keys() != first.keys():
            wrong.append(f"{ranks} ranks print other results: {sorted(bits.keys() ^ first.keys())}")
        wrong += [f"{name}: {value} with {ranks} ranks, {first[name]} before" for name, value in bits.items() if first.get(name) != value]
    if wrong:
        sys.exit("WRONG:\n" + "\n".join(wrong))


main()
