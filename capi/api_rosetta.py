"""docs/rosetta.md: CUDA's names, ours, and the C++ functions that do the same; written, and compared with the tables."""
import os
import re
import sys

from api_tables import routines

COMMON_WORDS = {"create", "destroy", "set_stream", "get_stream"}
OTHER_NAMES = {"syevd": "eigh", "syevdx": "eigh", "sygvd": "eigh_generalized", "gesvd": "svd", "generate_poisson": "poisson",
               "sp_mv": "spmv", "sp_mm": "spmm", "sp_gemm_compute": "spgemm", "gtsv2": "solve_tridiagonal", "contract": "einsum", "block_sparse_contract": "contract",
               "gtsv2_nopivot": "solve_tridiagonal", "gpsv_interleaved_batch": "solve_pentadiagonal", "contract_trinary": "einsum",
               "binary": "elementwise", "trinary": "elementwise", "geev": "eig", "gesv": "solve", "syevj": "eigh", "sygvj": "eigh_generalized",
               "sygvdx": "eigh_generalized", "gesvdj": "svd", "gesvdp": "svd", "gesvdr": "svd", "generate_binomial": "binomial", "generate_uniform": "uniform", "generate_normal": "normal"}


def cpp_name(library, row, root):
    """The C++ function of the same name, where a public header of the library has one, and that header."""
    name = re.sub("^x_", "", row.body.replace("<T>", ""))
    name = OTHER_NAMES.get(name, name)
    folder = os.path.join(root, library.name, "include", "trn", library.name)
    if name in COMMON_WORDS or not os.path.isdir(folder):
        return "-"
    for header in sorted(os.listdir(folder)):
        text = re.sub(r"//[^\n]*", "", open(os.path.join(folder, header), encoding="utf-8").read())
        if re.search(rf"(?<![\w.:]){name}\(const Executor", text):
            return f"`trn::{library.name}::{name}`, {header}"
    return "-"


def cells(libraries, tables):
    """A program that names each function of the page's C++ column, with its header: it compiles if they exist."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(tables)))
    found = sorted({cpp_name(lib, row, root) for lib in libraries for row in lib.rows} - {"-"})
    pairs = [re.fullmatch(r"`trn::(\w+)::(\w+)`, (.*)", cell).groups() for cell in found]
    lines = ["// Made from the tables in capi/api: the C++ column of docs/rosetta.md, each name with its header."]
    lines += sorted({f"#include <trn/{library}/{header}>" for library, _, header in pairs}) + [""]
    for library, name, _ in pairs:
        lines.append(f"namespace {library}_{name} {{ using trn::{library}::{name}; }}")
    return lines + ["", "#include <cstdio>", f"int main() {{ std::puts(\"{len(pairs)} functions of the page exist\"); }}"]


def rosetta(libraries, tables):
    """Every function of CUDA's libraries: its C name and its C++ counterpart, or why there is none."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(tables)))
    lines = ["# CUDA's names and ours", "", "For programmers who know a function of CUDA's libraries and look for ours. A table to search in.", "", "Written by `python3 capi/generate.py capi/api --rosetta docs/rosetta.md` from the tables in `capi/api`; a test compares. "
             "`*_64` forms and `_v2` spellings exist where CUDA has them and are not repeated. The C++ column names the function that does the "
             "same in C++, and its header; plans and generators are objects there: see the table in each library's README.", ""]
    for library in libraries:
        lines += [f"## {library.cuda_header}", "", "| CUDA | C | C++ |", "|---|---|---|"]
        for row in library.rows:
            names = [name for name, _ in row.names()]
            cuda = "-" if row.ours else ", ".join(f"`{library.cuda}{n}`" for n in names)
            lines.append(f"| {cuda} | {', '.join(f'`{library.c}{n}`' for n in names)} | {cpp_name(library, row, root)} |")
        lines.append("")
    lines += ["## Names without a row", "", "A program that uses one of these does not link, and the linker names it.", ""]
    header = None
    for line in open(os.path.join(tables, "absent.txt"), encoding="utf-8"):
        if line.startswith("#") or not line.strip():
            continue
        if "|" in line:
            found, reason = (part.strip() for part in line.split("|", 1))
            lines += ["", f"### {found}"] if found != header else []
            header = found
            lines += ["", f"*{reason}*", ""]
        else:
            lines.append(" ".join(f"`{name}`" for name in line.split()))
    return lines


def check_rosetta(libraries, tables, path):
    """The page is up to date, and no name is both in a table and among the absent."""
    wanted = "\n".join(rosetta(libraries, tables)) + "\n"
    have = {lib.cuda + name for lib in libraries for row, name, _, _ in routines(lib) if not row.ours}
    absent = open(os.path.join(tables, "absent.txt"), encoding="utf-8").read().split()
    both = sorted(have & set(absent))
    if both:
        sys.exit("has a row and is called absent: " + ", ".join(both))
    if open(path, encoding="utf-8").read() != wanted:
        sys.exit(f"{path} is out of date: python3 capi/generate.py capi/api --rosetta docs/rosetta.md")
    print("the page agrees with the tables")
