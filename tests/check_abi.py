#!/usr/bin/env python3
"""Our declarations against AWS's headers, and AWS's sample program against the fake runtime, where a user has them.

    check_abi.py TRNSCI COMPILER FAKE_NRT FAKE_TOOLCHAIN

TRN_NRT_HEADERS is the folder that holds nrt/nrt.h (default /opt/aws/neuron/include); TRN_NRT_SAMPLE is AWS's run_neff.c,
or the page nrt-developer-guide.rst that has its text. What is missing is counted as skipped, which is printed; where all
of it is missing the status is 77.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def sample_of(path):
    """The C program: the file itself, or the code of a page that has a main function."""
    text = path.read_text()
    if path.suffix == ".c":
        return text
    for block in re.split(r"^\.\. code-block:: c\n", text, flags=re.MULTILINE)[1:]:
        lines = []
        for line in block.split("\n"):
            if line.strip() and not line.startswith("    "):
                break
            lines.append(line[4:])
        code = "\n".join(lines)
        if "int main(" in code:
            return code
    sys.exit(f"{path}: no program in it")


def main():
    trnsci, compiler, library, toolchain = sys.argv[1:]
    headers = pathlib.Path(os.environ.get("TRN_NRT_HEADERS", "/opt/aws/neuron/include"))
    sample = os.environ.get("TRN_NRT_SAMPLE", "")
    done, skipped = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if (headers / "nrt" / "nrt.h").exists():
            subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-w", "-I", headers, "-I", ROOT / "neuron" / "src",
                            ROOT / "tests" / "silicon" / "abi_check.cpp"], check=True)
            done.append("declarations agree with AWS's headers")
        else:
            skipped.append(f"no AWS headers in {headers} (TRN_NRT_HEADERS)")
        if sample and (headers / "nrt" / "nrt.h").exists():
            (folder / "list.txt").write_text("blas.dot --n 1000\n")
            environment = {**os.environ, "TRN_NKI_PYTHON": toolchain}
            subprocess.run([trnsci, "neffc", "--machine", "trn2", "--list", folder / "list.txt", "-o", folder / "bundle"],
                           check=True, env=environment, stdout=subprocess.DEVNULL)
            neff = next((folder / "bundle").rglob("kernel.neff"))
            (folder / "run_neff.c").write_text(sample_of(pathlib.Path(sample)))
            shutil.copy(library, folder / "libnrt.so.1")
            (folder / "libnrt.so").symlink_to("libnrt.so.1")
            subprocess.run([os.environ.get("CC", "gcc"), "-w", "run_neff.c", "-o", "run_neff", "-I", headers, "-L.", "-lnrt",
                            "-pthread", "-Wl,-rpath," + name, "-Wl,--allow-shlib-undefined"], check=True, cwd=folder)
            run = subprocess.run([folder / "run_neff", neff], cwd=folder, capture_output=True, text=True, timeout=60,
                                 env={**os.environ, "NEURON_LOGICAL_NC_CONFIG": "1", "TRN_FAKE_NRT": "cores=1",
                                      "NEURON_RT_STOCHASTIC_ROUNDING_EN": "0"})
            if run.returncode != 0:
                sys.exit(f"AWS's sample: status {run.returncode}\n{run.stdout}{run.stderr}")
            done.append("AWS's sample runs")
        else:
            skipped.append("no AWS sample (TRN_NRT_SAMPLE)")
    print(f"{len(done)} checked: {'; '.join(done) or 'nothing'}. {len(skipped)} skipped: {'; '.join(skipped) or 'nothing'}")
    return 0 if done else 77


if __name__ == "__main__":
    sys.exit(main())
