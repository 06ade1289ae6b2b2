"""docs/rosetta.md: CUDA's names, ours, and the C++ and Python functions that do the same; written, and compared."""
import os
import re
import sys

from api_tables import routines

# The library whose C++ headers and Python module a table's rows are looked up in.
MODULES = {"runtime": "core", "blasxt": "blas", "solversp": "sparse", "solverrf": "sparse", "solvermg": "solver"}
COMMON_WORDS = {"create", "destroy", "set_stream", "get_stream"}
# Bodies that C++ calls by another name; a capital letter begins a class, @ names the header where several have the name.
OTHER_NAMES = {"syevd": "eigh", "syevdx": "eigh", "sygvd": "eigh_generalized", "gesvd": "svd", "generate_poisson": "poisson",
               "sp_mv": "spmv", "sp_mm": "spmm", "sp_gemm_compute": "spgemm", "gtsv2": "solve_tridiagonal", "contract": "einsum", "block_sparse_contract": "contract",
               "gtsv2_nopivot": "solve_tridiagonal", "gpsv_interleaved_batch": "solve_pentadiagonal", "contract_trinary": "einsum",
               "binary": "elementwise", "trinary": "elementwise", "geev": "eig", "gesv": "solve", "syevj": "eigh", "sygvj": "eigh_generalized",
               "sygvdx": "eigh_generalized", "gesvdj": "svd", "gesvdp": "svd", "gesvdr": "svd", "generate_binomial": "binomial", "generate_uniform": "uniform", "generate_normal": "normal",
               "malloc": "Array", "memcpy": "Array", "memcpy_async": "Array", "stream_create": "Stream", "event_record": "Marker",
               "device_open": "Executor", "exec_c2c": "Plan", "exec_r2c": "Plan", "exec_c2r": "Plan", "xt_exec": "Plan", "plan": "Plan", "create_generator": "Generator",
               "csrlsvlu_host": "Lu", "csrlsvqr": "Qr", "csrlsvqr_host": "Qr", "csrlsvchol": "Cholesky", "csrlsvchol_host": "Cholesky", "csrlsqvqr_host": "Qr",
               "csrqr_factor": "Qr", "csrchol_factor": "Cholesky", "refactor": "Lu", "symrcm": "reverse_cuthill_mckee", "symamd": "minimum_degree",
               "symmdq": "minimum_degree", "metisnd": "nested_dissection", "csrperm": "permute", "csrgeam2": "add", "csrilu02": "ilu", "csric02": "ic0",
               "scaled_gemm": "scaled_gemm", "quantize": "quantize", "gemv_batched": "gemm_batched", "gemv_strided_batched": "gemm_strided_batched",
               "axpy_stochastic": "axpy@narrow.hpp", "axpby_stochastic": "axpby@narrow.hpp", "scal_stochastic": "scal@narrow.hpp", "copy_stochastic": "copy@narrow.hpp",
               "gemm_stochastic": "gemm@narrow.hpp", "gemm_quantized": "gemm@quantized_gemm.hpp"}
# Bodies that the Python module calls by another name than C++; what is in neither has none.
PYTHON_NAMES = {
    "core": {"malloc": "asarray", "memcpy": "asnumpy", "device_open": "Executor", "set_device": "use"},
    "blas": {"gemm_batched": "batched_gemm", "gemm_strided_batched": "batched_gemm", "gemm_ex": "matmul", "amax": "iamax", "amin": "iamin",
             "gemm3m": "gemm", "syrkx": "syrk", "copy_stochastic": "to_float16", "axpy_stochastic": "axpy", "axpby_stochastic": "axpby", "scal_stochastic": "scal", "gemm_stochastic": "gemm", "gemm_quantized": "gemm"},
    "fft": {"exec_c2c": "fft", "exec_r2c": "rfft", "exec_c2r": "irfft", "xt_exec": "fft", "plan": "Plan"},
    "rand": {"create_generator": "Generator", "generate": "Generator.raw", "generate_uniform": "uniform", "generate_normal": "normal",
             "generate_log_normal": "Generator.lognormal", "generate_poisson": "poisson", "generate_binomial": "Generator.binomial"},
    "solver": {"potrf": "cholesky", "potrs": "cho_solve", "potri": "inv_spd", "getrf": "lu_factor", "getrs": "lu_solve", "geqrf": "qr", "orgqr": "qr",
               "potrf_batched": "cholesky", "gesv": "solve", "geev": "eig"},
    "sparse": {"sp_mv": "spmv", "sp_mm": "spmm", "sddmm": "sddmm", "sp_gemm_compute": "spgemm", "sp_sv_solve": "spsolve_triangular", "sp_sm_solve": "spsolve_triangular",
               "csrilu02": "ilu", "csric02": "ic0", "gtsv2": "solve_banded_batch", "gtsv2_strided_batch": "solve_banded_batch", "csrgeam2": "sparse_add",
               "sparse_to_dense": "CSRMatrix.to_dense", "dense_to_sparse_convert": "from_dense", "create_csr": "from_scipy",
               "csrlsvlu_host": "splu", "csrlsvqr": "spqr", "csrlsvqr_host": "spqr", "csrlsvchol": "spcholesky", "csrlsvchol_host": "spcholesky",
               "refactor": "Factor.refactor"},
    "tensor": {"contract": "einsum", "contract_trinary": "einsum", "permute": "permute", "reduction": "reduce"},
}


def module_of(library):
    return MODULES.get(library.name, library.name)


def plain_body(row):
    return re.sub("^x_", "", re.sub("<.*>", "", row.body))


def cpp_name(library, row, root):
    """The C++ function or class that does the same, where a public header of the library has it, and that header."""
    name, _, only = OTHER_NAMES.get(plain_body(row), plain_body(row)).partition("@")
    module = module_of(library)
    folder = os.path.join(root, module, "include", "trn", module)
    if name in COMMON_WORDS or not os.path.isdir(folder):
        return "-"
    wanted = rf"class {name}\b[^;]*{{" if name[0].isupper() else rf"(?<![\w.:]){name}\((const Executor|const Csr<|const Pattern<)"
    for header in [only] if only else sorted(os.listdir(folder), key=lambda h: (h != f"{name}.hpp", h)):
        text = re.sub(r"//[^\n]*", "", open(os.path.join(folder, header), encoding="utf-8").read())
        if re.search(wanted, text):
            return f"`trn::{'' if module == 'core' else module + '::'}{name}`, {header}"
    return "-"


def python_name(library, row, root):
    """The Python function that does the same; python/test/test_rosetta.py calls each."""
    module = module_of(library)
    body = plain_body(row)
    name = PYTHON_NAMES.get(module, {}).get(body)
    path = os.path.join(root, "python", "trnsci", f"{module}.py")
    if not name and body not in COMMON_WORDS and os.path.exists(path):
        text = open(path, encoding="utf-8").read()
        imported = " ".join(re.findall(r"^from \._\w+ import (\(.*?\)|[^(\n]*$)", text, re.M | re.S))
        known = set(re.findall(r"^def (\w+)", text, re.M)) | set(re.findall(r"\w+", imported))
        name = next((n for n in (body, OTHER_NAMES.get(body)) if n in known), None)
    return f"`trnsci.{'' if module == 'core' else module + '.'}{name}`" if name else "-"


def cells(libraries, tables):
    """A program that names each function of the page's C++ column, with its header: it compiles if they exist."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(tables)))
    found = sorted({(module_of(lib), cpp_name(lib, row, root)) for lib in libraries for row in lib.rows if cpp_name(lib, row, root) != "-"})
    lines = ["// Made from the tables in capi/api: the C++ column of docs/rosetta.md, each name with its header."]
    pairs = [(module, *re.fullmatch(r"`(.*)`, (.*)", cell).groups()) for module, cell in found]
    lines += sorted({f"#include <trn/{module}/{header}>" for module, _, header in pairs}) + [""]
    for module, name, _ in pairs:
        lines.append(f"namespace {name.replace('::', '_')}_ {{ using {name}; }}")
    return lines + ["", "#include <cstdio>", f"int main() {{ std::puts(\"{len(pairs)} functions of the page exist\"); }}"]


def rosetta(libraries, tables):
    """Every function of CUDA's libraries: its C name and its C++ counterpart, or why there is none."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(tables)))
    lines = ["# CUDA's names and ours", "", "For programmers who know a function of CUDA's libraries and look for ours. A table to search in.", "", "Written by `python3 capi/generate.py capi/api --rosetta docs/rosetta.md` from the tables in `capi/api`; a test compares. "
             "`*_64` forms and `_v2` spellings exist where CUDA has them and are not repeated. The C++ column names the function or class that does the "
             "same in C++, and its header; plans and generators are objects there: see the table in each library's README. The Python "
             "column names what a test calls and compares with NumPy and SciPy.", ""]
    for library in libraries:
        lines += [f"## {library.cuda_header}", "", "| CUDA | C | C++ | Python |", "|---|---|---|---|"]
        for row in library.rows:
            names = [name for name, _ in row.names()]
            cuda = "-" if row.ours else ", ".join(f"`{library.cuda}{n}`" for n in names)
            lines.append(f"| {cuda} | {', '.join(f'`{library.c}{n}`' for n in names)} | {cpp_name(library, row, root)} | {python_name(library, row, root)} |")
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
