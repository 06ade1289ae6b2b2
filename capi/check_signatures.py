"""Compiles the generated checks of types and values against CUDA's own headers.

python3 capi/check_signatures.py COMPILER FOLDER_OF_CHECKS FOLDER_OF_HEADERS

A library whose header is not in the folder (cuTENSOR is a package of its own) is counted and named. Where none is
there, the check is skipped with the status 77.
"""

import pathlib
import re
import subprocess
import sys


def main(compiler, checks, headers):
    agree, missing, wrong = [], [], 0
    for check in sorted(pathlib.Path(checks).glob("*_check.cpp")):
        header = re.search(r"#include <([^>]+)>", check.read_text()).group(1)
        if not (pathlib.Path(headers) / header).exists():
            missing.append(header)
            continue
        done = subprocess.run(
            [compiler, "-std=c++20", "-w", "-fsyntax-only", "-I", headers, str(check)], capture_output=True, text=True
        )
        if done.returncode == 0:
            agree.append(header)
            continue
        wrong += 1
        lines = [line for line in done.stderr.splitlines() if "error" in line]
        print(f"{header}: {len(lines)} differences")
        print("\n".join(lines[:10]))
    print(f"{len(agree)} headers agree ({', '.join(agree) or 'none'}); not installed: {', '.join(missing) or 'none'}")
    return 1 if wrong else 0 if agree else 77


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 4 else 77)
