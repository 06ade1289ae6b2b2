"""Runs one of Netlib's BLAS testers on the drop-in BLAS and fails unless every line of it passes and the drop-in served the calls.

netlib.py LIBRARY_FOLDER TESTER [--input FILE] [--executor NAME] [--precision NAME] [--sizes "0 1 2"] [--factors N] [--device-calls]

--sizes and --factors shorten a tester's own parameter file: other sizes, only the last N values of alpha and beta.
--device-calls demands that every call reached the device.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile


def shortened(lines, sizes, factors):
    """The parameter file with other sizes and fewer factors. A count line says what the next line holds."""
    out = list(lines)
    for i, line in enumerate(lines):
        if "NUMBER OF VALUES OF N" in line and sizes:
            values = sizes.split()
            out[i] = f"{len(values)}                 NUMBER OF VALUES OF N"
            out[i + 1] = " ".join(values) + "       VALUES OF N"
        if ("NUMBER OF VALUES OF ALPHA" in line or "NUMBER OF VALUES OF BETA" in line) and factors:
            values = re.findall(r"\([^)]*\)|[-+.0-9]+", lines[i + 1].split("VALUES")[0])[-factors:]
            name = line.rsplit(" ", 1)[-1]
            out[i] = f"{len(values)}                 NUMBER OF VALUES OF {name}"
            out[i + 1] = " ".join(values) + f"       VALUES OF {name}"
    return out


def check(text, parameters):
    """The complaints about a tester's output."""
    wrong = [line for line in text.splitlines() if re.search(r"FAIL|SUSPECT|ERROR(?!-EXITS)|\*\*\*\*|ABANDON|ILLEGAL|INCORRECT", line, re.I)]
    if not parameters:  # level 1: one line a routine
        tests = len(re.findall(r"Test of subprogram number", text))
        passes = len(re.findall(r"-----\s*PASS\s*-----", text))
        if tests == 0 or passes != tests:
            wrong.append(f"{passes} of {tests} routines passed")
        return wrong, tests
    both_orders = any("ROW-MAJOR" in line and line.split()[0] == "2" for line in parameters)
    routines = [line.split()[0] for line in parameters if re.match(r"\S+\s+T PUT F", line)]
    # Counted together: the CBLAS testers of level 2 print the name of geru for gerc here.
    exits = len(re.findall(r"PASSED THE TESTS OF ERROR-EXITS", text))
    if exits != len(routines):
        wrong.append(f"{exits} of {len(routines)} routines passed the tests of error exits")
    for routine in routines:
        found = len(re.findall(rf"^ *{routine} +PASSED THE (?:COLUMN-MAJOR +|ROW-MAJOR +)?COMPUTATIONAL TESTS", text, re.M | re.I))
        if found != (2 if both_orders else 1):
            wrong.append(f"{routine}: passed the computational tests {found} times, with {2 if both_orders else 1} order(s) to test")
    if not routines or "END OF TESTS" not in text:
        wrong.append("the tester did not reach its end")
    return wrong, len(routines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("tester")
    parser.add_argument("--input")
    parser.add_argument("--executor", default="host")
    parser.add_argument("--precision", default="native")
    parser.add_argument("--sizes")
    parser.add_argument("--factors", type=int)
    parser.add_argument("--device-calls", action="store_true")
    arguments = parser.parse_args()
    parameters = []
    if arguments.input:
        with open(arguments.input) as file:
            parameters = shortened(file.read().splitlines(), arguments.sizes, arguments.factors)
    environment = dict(os.environ, LD_LIBRARY_PATH=os.path.abspath(arguments.library), TRN_REPORT="1", TRN_EXECUTOR=arguments.executor,
                       TRN_PRECISION=arguments.precision)
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([arguments.tester], input="\n".join(parameters) + "\n", env=environment, cwd=folder, capture_output=True, text=True)
        text = run.stdout
        for name in sorted(os.listdir(folder)):  # Fortran testers write their summary to a file
            with open(os.path.join(folder, name)) as file:
                text += file.read()
    wrong, routines = check(text, parameters)
    served = {name: int(calls) for name, calls in re.findall(r"trnblas: (\S+) served (\d+) calls", run.stderr)}
    if run.returncode != 0:
        wrong.append(f"exit status {run.returncode}")
    if sum(served.values()) == 0:
        wrong.append("the drop-in BLAS served no call")
    device = sum(calls for name, calls in served.items() if name != "host")
    if arguments.device_calls and (device == 0 or served.get("host", 0) > 0):
        wrong.append("not every call reached the device")
    print(f"{os.path.basename(arguments.tester)} on {arguments.executor}, {arguments.precision}: {routines} routines, "
          f"calls served by the host {served.get('host', 0)}, by the device {device}")
    if wrong:
        print(text)
        print(run.stderr)
        print("WRONG:", *wrong[:40], sep="\n  ")
        sys.exit(1)


if __name__ == "__main__":
    main()
