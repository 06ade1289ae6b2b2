"""Runs Netlib's LAPACK testers (Debian: liblapack-test) on the drop-in LAPACK and fails unless every line of them passes and the drop-in
served the calls. Prints how many tests and calls there were.

netlib_lapack.py LIBRARY_FOLDER TESTERS_FOLDER LETTERS [--executor NAME] [--precision NAME] [--only PART] [--paths LETTERS] [--fault LIBRARY] [--peer FOLDER]

LETTERS: s, d, c, z, any of them. --only takes the parameter files whose names contain PART; --paths takes of those files the tests of
these matrices (PO, QR: two letters each, separated by commas), which are told apart by lines such as "DPO 9". --fault preloads a library that spoils
results: then tests must fail. --peer names the folder of OpenBLAS's own liblapack.so.3, which is the code behind the drop-in: a complaint
that the tester makes about it in the same words is counted apart, as inherited.
"""
import argparse
import os
import re
import subprocess
import sys

EIGEN = ["nep", "sep", "se2", "svd", "glm", "gqr", "gsv", "lse", "csd"]
EIGEN_BY_LETTER = ["ec", "ed", "gg", "gd", "sb", "sg", "bb", "bal", "bak", "gbal", "gbak"]
WRONG = re.compile(r"failed to pass|\*\*\*|FAIL|ERROR(?!-EXITS|S? EXITS)|invalid|not detected|illegal value", re.I)
# What the testers print when all is well, and WRONG would match.
FINE = re.compile(r"passed the tests of the error exits|RELATIVE MACHINE|largest (test )?error|TESTING|Tests of the Non|error (in|flag)", re.I)


def runs(letter):
    yield f"xlintst{letter}", f"{letter}test.in"
    yield f"xlintstrf{letter}", f"{letter}test_rfp.in"
    if letter in "dz":
        mixed = {"d": "ds", "z": "zc"}[letter]
        yield f"xlintst{mixed}", f"{mixed}test.in"
    for name in EIGEN + [letter + n for n in EIGEN_BY_LETTER]:
        yield f"xeigtst{letter}", f"{name}.in"


def complaints(run):
    bad = [line.strip() for line in run.stdout.splitlines() if WRONG.search(line) and not FINE.search(line)]
    if run.returncode != 0:
        bad.append(f"exit status {run.returncode}: {run.stderr[-300:]}")
    if "End of tests" not in run.stdout and "completed" not in run.stdout:
        bad.append("did not reach its end")
    return bad


def wanted(line, paths):
    test = re.match(r"[SDCZ](\w\w)\s+\d+\s", line)
    return not paths or not test or test.group(1) in paths.split(",")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("testers")
    parser.add_argument("letters")
    parser.add_argument("--executor", default="host")
    parser.add_argument("--precision", default="native")
    parser.add_argument("--only", default="")
    parser.add_argument("--paths", default="")
    parser.add_argument("--fault")
    parser.add_argument("--peer")
    a = parser.parse_args()
    environment = dict(os.environ, LD_LIBRARY_PATH=os.path.abspath(a.library), TRN_REPORT="1", TRN_EXECUTOR=a.executor,
                       TRN_PRECISION=a.precision)
    if a.fault:
        environment["LD_PRELOAD"] = os.path.abspath(a.fault)
    wrong, inherited, tests, exits, served, programs = [], [], 0, 0, {}, 0
    for letter in a.letters:
        for tester, file in runs(letter):
            path = os.path.join(a.testers, file)
            if a.only not in file or not os.path.exists(path):
                continue
            def start(env):
                with open(path) as parameters:
                    lines = [line for line in parameters if wanted(line, a.paths)]
                return subprocess.run([os.path.join(a.testers, tester)], input="".join(lines), env=env, capture_output=True, text=True,
                                      errors="replace")
            run = start(environment)
            programs += 1
            bad = complaints(run)
            if bad and a.peer:
                peer = complaints(start(dict(os.environ, LD_LIBRARY_PATH=a.peer)))
                inherited += [f"{tester} {file}: {line}" for line in bad if line in peer]
                bad = [line for line in bad if line not in peer]
            wrong += [f"{tester} {file}: {line}" for line in bad]
            tests += sum(int(n) for n in re.findall(r"\(\s*(\d+) tests? run\)", run.stdout))
            exits += len(re.findall(r"passed the tests of the error exits", run.stdout))
            for name, calls in re.findall(r"trnlapack: (\S+) served (\d+) calls", run.stderr):
                served[name] = served.get(name, 0) + int(calls)
    print(f"{a.letters} on {a.executor}: {programs} runs, {tests} tests, {exits} groups of error exits, {len(wrong)} complaints, {len(inherited)} inherited; calls served: "
          + ", ".join(f"{name} {calls}" for name, calls in served.items()))
    for line in inherited:
        print("  inherited:", line)
    if a.fault:
        noticed = [line for line in wrong if "failed to pass" in line]
        if not noticed:
            sys.exit("the fault went unnoticed")
        print("the fault was noticed:", noticed[0])
        return
    if programs == 0 or tests == 0:
        wrong.append("nothing was tested")
    if served.get(a.executor, 0) == 0:
        wrong.append(f"the drop-in LAPACK served no call on {a.executor}")
    if wrong:
        print("WRONG:", *wrong[:40], sep="\n  ")
        sys.exit(1)


main()
