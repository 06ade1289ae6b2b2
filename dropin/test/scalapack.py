"""Runs Debian's ScaLAPACK testers with four ranks on the drop-in: every test must pass, and calls must have reached us.

scalapack.py LIBRARY TESTERS s|d|c|z [--only LLT] [--whole] [--executor sim:trn2 --precision exact]
"""
import argparse
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "comm_mpi" / "test"))
from mpirun import mpirun  # noqa: E402


def pblas_complaints(text):
    rows = re.findall(r"\|\s+(P\w+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)", text)
    wrong = [f"{name}: {passed} of {total} passed, {failed} failed, {skipped} skipped"
             for name, total, passed, failed, skipped in rows if int(passed) != int(total) or int(total) == 0]
    wrong += [line.strip() for line in text.splitlines() if re.search(r"FAILED\s+\*|\*\*\*\*\* .*FAILED", line)]
    return wrong, sum(int(row[1]) for row in rows)


def solver_complaints(text):
    tests = re.search(r"Finished\s+(\d+)\s+tests", text)
    passed = re.search(r"(\d+)\s+tests completed and passed", text)
    wrong = []
    if not tests or not passed or tests.group(1) != passed.group(1):
        wrong.append("not all tests passed")
    for kind in ("failed residual checks", "skipped because of illegal"):
        found = re.search(rf"(\d+)\s+tests .*{kind}", text)
        if found and int(found.group(1)) > 0:
            wrong.append(found.group(0))
    return wrong, int(passed.group(1)) if passed else 0


def shortened(text):
    """The solvers' parameter file with the first two of everything but the grids (432 tests of a few elements each are too
    many), and without condition estimates, in which Debian's own xsllt hangs on four ranks."""
    text = re.sub(r"^T(\s+\(T or F\) Test Cond)", r"F\1", text, flags=re.M)
    return re.sub(r"^[34](\s+[Nn]umber of (problems|NB's|NRHS's|NBRHS's))", r"2\1", text, flags=re.M)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("testers")
    parser.add_argument("letter")
    parser.add_argument("--only")
    parser.add_argument("--whole", action="store_true", help="the solvers' parameter files as they are")
    parser.add_argument("--executor", default="host")
    parser.add_argument("--precision", default="native")
    parser.add_argument("--seconds", type=float, default=200)
    arguments = parser.parse_args()
    p, testers, failures = arguments.letter, pathlib.Path(arguments.testers), []
    runs = [("PBLAS3", testers / "PBLAS" / f"{p}pb3tst", testers / "PBLAS" / f"P{p.upper()}BLAS3TST.dat", pblas_complaints)]
    runs += [(name, testers / f"x{p}{name.lower()}", testers / f"{name}.dat", solver_complaints) for name in ("LLT", "LU", "QR")]
    for name, program, parameters, complaints in runs:
        if arguments.only and arguments.only != name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            text = parameters.read_text()
            (pathlib.Path(folder) / parameters.name).write_text(text if name == "PBLAS3" or arguments.whole else shortened(text))
            exported = {"LD_PRELOAD": os.path.abspath(arguments.library), "TRN_REPORT": "1", "TRN_EXECUTOR": arguments.executor,
                        "TRN_PRECISION": arguments.precision}
            status, output, seconds = mpirun(4, [str(program)], arguments.seconds, exported=exported, cwd=folder)
        wrong, tests = complaints(output)
        served = [int(n) for n in re.findall(r"trnscalapack: served (\d+) calls", output)]
        passed_on = [int(n) for n in re.findall(r"passed on (\d+)", output)]
        if status != 0:
            wrong.append(f"status {status}")
        if tests == 0:
            wrong.append("no test ran")
        if output.count(f" on {arguments.executor}, passed on") != 4:
            wrong.append(f"not every rank's calls ran on {arguments.executor}")
        if len(served) != 4 or min(served) == 0:
            wrong.append(f"calls served by the four ranks: {served}")
        print(f"{name}, {p}: {tests} tests, calls served {sum(served)}, passed on {sum(passed_on)}, {seconds:.1f} s")
        if wrong:
            failures.append(f"{program.name}: {wrong}\n{output[-6000:]}")
    if failures:
        sys.exit("WRONG:\n" + "\n".join(failures))


main()
