"""The sums of this project do not depend on the number of ranks: no reduction of MPI is called anywhere, and MPI is
known to comm_mpi and to the drop-in ScaLAPACK alone. Programs that measure peers (tests/) are not looked at.

no_reductions.py SOURCE_FOLDER | --self-test
"""
import pathlib
import re
import sys
import tempfile

REDUCTION = re.compile(r"\bMPI_(SUM|PROD|MIN|MAX|MINLOC|MAXLOC|I?(All)?[Rr]educe\w*|I?(Ex)?[Ss]can\w*|Op_create)\b")
MPI = re.compile(r'#\s*include\s*[<"]mpi\.h[>"]|\bMPI::MPI_')
KNOWN = ("comm_mpi/", "dropin/scalapack/")


def findings(root):
    found = []
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if name.startswith(("build", "tests/")) or path.suffix not in (".cpp", ".hpp", ".h", ".c", ".txt", ".cmake") or not path.is_file():
            continue
        text = path.read_text(errors="replace")
        found += [f"{name}: {m.group(0)} depends on the number of ranks" for m in REDUCTION.finditer(text)]
        if not name.startswith(KNOWN) and name != "CMakeLists.txt" and MPI.search(text):
            found.append(f"{name}: knows MPI")
    return found


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "comm_mpi").mkdir()
        (root / "blas").mkdir()
        (root / "comm_mpi" / "a.cpp").write_text("#include <mpi.h>\nMPI_Isend(x);\n")
        assert findings(root) == [], findings(root)
        (root / "comm_mpi" / "b.cpp").write_text("MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_SUM, c);\n")
        (root / "blas" / "c.cpp").write_text("#include <mpi.h>\n")
        assert len(findings(root)) == 3, findings(root)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    found = findings(pathlib.Path(sys.argv[1]))
    if found:
        sys.exit("\n".join(found))


main()
