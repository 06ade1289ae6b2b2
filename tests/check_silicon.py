#!/usr/bin/env python3
"""silicon-check on `neuron` over the fake runtime and the fake toolchain, as a user runs it.

    check_silicon.py TRNSCI LIBNRT TOOLCHAIN

Every section is ok, every program has the simulator's bits, and the report names the runtime's version. silicon-diff
against a report of sim:trn2 finds other times (the fake's times are this host's), and nothing else.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SECTIONS = ["machine", "toolchain", "exactness", "bits", "time", "contract", "faults", "cores"]


def main():
    trnsci, library, toolchain = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TRN_NKI_PYTHON": toolchain, "TRN_NEFF_CACHE": f"{folder}/cache"}

        def check(executor, **more):
            path = pathlib.Path(folder) / f"{executor.replace(':', '_')}.json"
            run = subprocess.run([trnsci, "silicon-check", "--exec", executor, "--minutes", "10", "-o", str(path)],
                                 env={**environment, **more}, capture_output=True, text=True)
            if run.returncode != 0:
                sys.exit(f"silicon-check --exec {executor}: status {run.returncode}\n{run.stdout}{run.stderr}")
            sections = {s["name"]: s for s in json.loads(path.read_text())["sections"]}
            for section in SECTIONS:
                if (status := sections[section]["status"]) != "ok":
                    sys.exit(f"{executor}: section {section} is '{status}'")
            return path, sections

        model, _ = check("sim:trn2")
        measured, sections = check("neuron", TRN_NRT_LIBRARY=library)
        if not sections["machine"]["runtime_version"].startswith("2.34.0.0 (fake"):
            sys.exit(f"runtime_version is '{sections['machine']['runtime_version']}'")
        if sections["machine"]["simulated"]:
            sys.exit("neuron calls itself simulated")
        diff = subprocess.run([trnsci, "silicon-diff", str(model), str(measured)], capture_output=True, text=True)
        # A difference begins in the first column; its further lines are indented.
        found = [line for line in diff.stdout.splitlines() if line and not line.startswith((" ", "not compared"))]
        others = [line for line in found if not line.startswith("time: ")]
        if others or not found:
            sys.exit(f"silicon-diff: {others or 'no time differs'}\n{diff.stdout}{diff.stderr}")
        print(f"{len(sections['bits']['programs'])} programs with equal bits, {len(found)} times differ")


if __name__ == "__main__":
    main()
