"""Compiles the generated checks of types and values against CUDA's own headers, and looks for names that are nowhere.

python3 capi/check_signatures.py COMPILER FOLDER_OF_CHECKS FOLDER_OF_HEADERS [FOLDER_OF_TABLES]

With the tables: every function that a header declares has a row or stands in absent.txt with a reason. A library whose
header is not in the folder (cuTENSOR is a package of its own) is counted and named. Where none is there, the check is
skipped with the status 77.
"""

import pathlib
import re
import subprocess
import sys

DECLARED = {
    "cuda": ["cuda_runtime_api.h"],
    "cublas": ["cublas_api.h", "cublasXt.h", "cublasLt.h"],
    "cufft": ["cufft.h", "cufftXt.h"],
    "curand": ["curand.h"],
    "cusolver": ["cusolver_common.h", "cusolverDn.h", "cusolverMg.h", "cusolverRf.h", "cusolverSp.h",
                 "cusolverSp_LOWLEVEL_PREVIEW.h"],
    "cusparse": ["cusparse.h"],
    "cutensor": ["cutensor.h"],
}  # fmt: skip


def declared(path, prefix):
    """The functions of a header; the forms with 64-bit integers and the spellings _v2 are not names of their own."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(errors="replace"), flags=re.S)
    text = re.sub(r"^\s*#.*$", "", text.replace("\\\n", " "), flags=re.M)
    text = re.sub(r"\btypedef\b[^;{]*;", "", text)  # of functions, which name their types before an opening parenthesis
    found = re.findall(rf"\b({prefix}[A-Za-z]\w*)\s*\(", text)
    return {re.sub(r"(_v2)?(_64|_ptsz|_ptds)?$", "", name) for name in found}


def nowhere(headers, tables):
    """Names of CUDA's that have neither a row nor a reason."""
    from api_tables import ORDER, read, routines

    known = set((tables / "absent.txt").read_text().split())
    for name in ORDER:
        library = read(str(tables / f"{name}.api"))
        known |= {library.cuda + routine for _, routine, _, _ in routines(library)}
    names = {
        name
        for prefix, files in DECLARED.items()
        for file in files
        if (headers / file).exists()
        for name in declared(headers / file, prefix)
    }
    return len(names), sorted(names - known)


def main(compiler, checks, headers, tables=None):
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
    if tables and agree:
        count, lost = nowhere(pathlib.Path(headers), pathlib.Path(tables))
        print(f"{count} names of CUDA's, {len(lost)} without a row or a reason" + "".join(f"\n  {name}" for name in lost))
        wrong += bool(lost)
    return 1 if wrong else 0 if agree else 77


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) in (4, 5) else 77)
