#!/usr/bin/env python3
"""The libraries' device programs on `neuron`, computed by the emitted text: the fake toolchain's NEFF holds the text, the
fake runtime runs it in the NumPy stand-in (rule `text`), and silicon-check compares every result with the simulator.

    check_texts_run.py TRNSCI LIBNRT TOOLCHAIN

Every program that runs on the simulator has its bits; with activations, whose bits the stand-in does not promise, it
runs.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def main():
    trnsci, library, toolchain = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.json"
        environment = {**os.environ, "TRN_NKI_PYTHON": toolchain, "TRN_NEFF_CACHE": f"{folder}/cache",
                       "TRN_NRT_LIBRARY": library, "TRN_FAKE_NRT": "text"}
        run = subprocess.run([trnsci, "silicon-check", "--exec", "neuron", "--sections", "bits", "operations", "-o", str(path)],
                             env=environment, capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"silicon-check: status {run.returncode}\n{run.stdout}{run.stderr}")
        rows = [row for section in json.loads(path.read_text())["sections"] for row in section["programs"]]
    by_status, by_library = {}, {}
    for row in rows:
        by_status.setdefault(row["status"], []).append(row)
        if row["status"] == "equal":
            library_of = re.match(r"\w+", row["program"])[0]
            by_library[library_of] = by_library.get(library_of, 0) + 1
    wrong = by_status.pop("differs", []) + by_status.pop("not run", [])
    # A program that this machine has not is the only one that may not run.
    wrong = [row for row in wrong if "microscaling" not in row.get("error", "")]
    for row in wrong:
        print(f"{row['program']}: {row['status']} {row.get('error', '')} {row.get('largest_ulps', '')}")
    if wrong or any(by_library.get(name, 0) < 1 for name in ("blas", "fft", "rand", "solver", "sparse", "tensor")):
        sys.exit(f"{len(wrong)} programs are not as promised; equal by library: {by_library}")
    print(f"{len(by_status['equal'])} lines and calls with {sum(row.get('programs', 1) for row in by_status['equal'])} programs "
          f"that have the simulator's bits from their text: {by_library}; "
          f"{len(by_status.get('differs, with activations', []))} more with activations")


if __name__ == "__main__":
    main()
