#!/usr/bin/env python3
"""Libraries for programs without ranks hold nothing of comm and need no MPI, nor do the packages they come in.

    check_links.py BUILD SCRATCH [--ranks LIBRARY] LIBRARY...

Of each LIBRARY: no libmpi among what it needs, no function of trn::comm in its symbols; the one with LAPACK's names
holds OpenBLAS and needs no second one. The components that become the
packages libtrnsci0 and trnsci-dropins are installed to SCRATCH, and no file in them needs libmpi. The library after
--ranks does use ranks and MPI: it has to be told apart from the others, or the check sees nothing.
"""
import pathlib
import shutil
import subprocess
import sys


def output(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout


def needs(path, name):
    return [line for line in output("objdump", "-p", path).splitlines() if "NEEDED" in line and name in line]


def needs_mpi(path):
    return needs(path, "mpi")


def holds_comm(path):
    # Functions and tables. Names of types (_ZTI, _ZTS) and what headers define inline may be anywhere.
    symbols = (line.split() for line in output("nm", "--defined-only", path).splitlines())
    return [s[-1] for s in symbols if len(s) == 3 and s[1] in "tTdDbB" and s[-1].startswith(("_ZN3trn4comm", "_ZNK3trn4comm"))]


def main():
    build, scratch, arguments = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    if arguments[0] == "--ranks":
        if not needs_mpi(arguments[1]) or not holds_comm(arguments[1]):
            sys.exit(f"{arguments[1]} uses ranks over MPI, and the check does not see it")
        arguments = arguments[2:]
    for library in arguments:
        if found := needs_mpi(library):
            sys.exit(f"{library} needs {found}")
        if "lapack" in pathlib.Path(library).name and (found := needs(library, "openblas")):
            sys.exit(f"{library} holds OpenBLAS and needs {found}")
        if found := holds_comm(library):
            sys.exit(f"{library} has {len(found)} functions of trn::comm, the first {found[0]}")
    shutil.rmtree(scratch, ignore_errors=True)
    count = 0
    for component in ("runtime", "dropins"):
        output("cmake", "--install", build, "--component", component, "--prefix", scratch / component)
        for path in (scratch / component).rglob("*.so*"):
            count += 1
            if found := needs_mpi(path):
                sys.exit(f"component {component}: {path.name} needs {found}")
    shutil.rmtree(scratch)
    if count < 5:
        sys.exit(f"only {count} libraries were installed")
    print(f"{len(arguments)} libraries without comm, {count} installed names without MPI")


if __name__ == "__main__":
    main()
