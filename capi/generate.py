#!/usr/bin/env python3
"""Makes the C face of trnsci from the tables in capi/api: one row there is one routine here.

    generate.py TABLES OUT            writes below OUT
        include/trn*.h                the C headers
        cuda/include/*.h              the same functions under CUDA's names (declarations with asm labels, no symbols)
        src/*_thunks.cpp              the exported functions: each calls its template inside the one place that catches
        exports.map, symbols.txt      what the shared library shows
        test/every_row.c              a C11 program that calls each function once, without a handle
        check/*_check.cpp             compares types and values with NVIDIA's own headers, where they are installed
    generate.py TABLES --count        prints how many rows, names and enumerators there are
    generate.py TABLES --accept FILE  writes the ABI down: every function with its types, every enumerator with its value
    generate.py TABLES --rosetta FILE writes docs/rosetta.md: CUDA's names, ours, and those that are missing (absent.txt);
                                      --check-rosetta compares
    generate.py TABLES --abi FILE LIBRARY
                                      compares the tables, and what LIBRARY exports, with FILE

capi/README.md says how a table is read.
"""
import os
import re
import subprocess
import sys

LETTERS = {  # letter: C type, CUDA type, C++ type, and the same of its real type
    "S": ("float", "float", "float", "float", "float"),
    "D": ("double", "double", "double", "double", "double"),
    "C": ("trnComplex", "cuComplex", "std::complex<float>", "float", "float"),
    "Z": ("trnDoubleComplex", "cuDoubleComplex", "std::complex<double>", "double", "double"),
}
ENUM_KINDS = {"op": "&Operation_t", "uplo": "&FillMode_t", "side": "&SideMode_t", "diag": "&DiagType_t"}  # cuBLAS's
SPACED = {"int_32": "int", "const_int": "const int", "const_char": "const char", "unsigned_long_long": "unsigned long long", "long_long": "long long"}
VERSION = "TRN_0.1"  # the version node of every symbol; a released node is closed, and new functions get a new one
ORDER = ["runtime", "blas", "fft", "rand", "solver", "sparse", "tensor"]


class Library:
    def __init__(self, name):
        self.name, self.enums, self.types, self.constants, self.rows = name, [], [], [], []
        self.handle = None


class Row:
    """One `fn` line: a name pattern, the letters it is made for, and its arguments."""

    def __init__(self, line):
        head, tail = line[3:].split(":", 1)
        words = head.split()
        self.pattern, flags = words[0], words[1:]
        self.wide = "64" in flags
        self.v2 = "v2" in flags
        self.ours = "ours" in flags
        self.manual = "manual" in flags
        self.queued = "queued" in flags
        self.captured = "capture" in flags
        self.named = "names" in flags
        self.inline = "inline" in flags
        self.no_handle = "nohandle" in flags or "anyhandle" in flags or self.named
        self.any_handle = "anyhandle" in flags
        self.letters = []
        for flag in flags:
            if "=" in flag:
                self.letters.append(tuple(flag.split("=")))
            elif flag in LETTERS:
                self.letters.append((flag, flag))
        match = re.fullmatch(r"\s*(?:(\S+) )?([\w<>]+)\((.*)\)\s*", tail)
        if not match:
            raise SystemExit(f"cannot read the row: {line}")
        self.returns, self.body, arguments = match.groups()
        self.inline = self.inline or "<T>" in self.body
        self.arguments = [self.argument(a) for a in arguments.split(",")] if arguments.strip() else []

    @staticmethod
    def argument(text):
        kind, name = re.fullmatch(r"\s*(.*?)\s*(\w+)\s*", text).groups()
        return kind, name

    def names(self):
        """(name without prefix, letter or None) of each routine."""
        if not self.letters:
            return [(self.pattern, None)]
        return [(re.sub(r"[?*]", part, self.pattern), letter) for part, letter in self.letters]


def siblings(line):
    """The row, and those that its words with + stand for: the same routine for const operands, and what comes before it."""
    head, tail = line.split(":", 1)
    words = head.split()
    name, extra = words[1], [w for w in words if w.startswith("+")]
    plain = " ".join(w for w in words if w not in extra)
    found = [plain + (" inline:" if "+const" in extra else ":") + tail]
    for word in extra:
        if word == "+const":
            other = name.replace("Create", "CreateConst") if name.startswith("Create") else "Const" + name
            arguments = re.sub(r"\$((?:Sp|Dn)(?:Vec|Mat)Descr_t)", r"$Const\1", re.sub(r"\bvoid\*", "const void*", tail))
            found.append(f"{plain.replace(name, other)} inline:{arguments}")
        else:  # +bufferSize, +preprocess
            body = "buffer_size" if word == "+bufferSize" else "prepare"
            arguments = re.sub(r"\w+\(", body + "(", tail, count=1)
            if body == "buffer_size":
                arguments = re.sub(r"void\* \w+\)", "size_t* bufferSize)", arguments)
            found.append(f"{plain.replace(name, name + '_' + word[1:])} inline:{arguments}")
    return found


def read(path):
    text = re.sub(r"\n[ \t]+(?=\S)", " ", open(path, encoding="utf-8").read())
    library = None
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("library "):
            words = line.split()
            library = Library(words[1])
            fields = " ".join(words[2:])
            library.c, library.cuda = re.search(r"\bc (\w+) cuda (\w+)", fields).groups()
            library.enum_c, library.enum_cuda = re.search(r"enumerators (\w+) (\w+)", fields).groups()
            library.c_header, library.cuda_header = re.search(r"header (\S+) (\S+)", fields).groups()
            library.status = re.search(r"status (\w+)", fields).group(1)
            if handle := re.search(r"handle (\w+) (\w+)", fields):
                library.handle = handle.groups()
        elif line.startswith("enum "):
            head, values = line[5:].split(":", 1)
            name, tag = head.split()
            library.enums.append((name, tag, [v.split("=") for v in values.split()]))
        elif line.startswith("constant "):
            kind, values = line[9:].split(":", 1)
            library.constants += [(kind, *v.split("=")) for v in values.split()]
        elif line.startswith("type "):
            _, name, definition = line.split(" ", 2)
            library.types.append((name, definition))
        elif line.startswith("fn "):
            library.rows += [Row(text) for text in siblings(line)]
        else:
            raise SystemExit(f"{path}: cannot read the line: {line}")
    return library


def spell(library, text, face):
    """The type `text` of a table in the C or the CUDA face."""
    text = re.sub(r"\w+", lambda word: SPACED.get(word[0], word[0]), text)
    complex_names = {"@fComplex": ("trnComplex", "cufftComplex"), "@dComplex": ("trnDoubleComplex", "cufftDoubleComplex")}
    for name, (c, cuda) in complex_names.items():
        text = text.replace(name, c if face == "c" else cuda)
    text = text.replace("&", "trnblas" if face == "c" else "cublas")
    text = text.replace("#", "trn" if face == "c" else "cuda")
    text = text.replace("~", library.c if face == "c" else "")
    text = text.replace("$", library.c if face == "c" else library.cuda)
    return text.replace("@", "trn" if face == "c" else "cuda")


def declaration_type(library, kind, letter, wide, face):
    """How an argument of this kind is declared; an array kind leaves its brackets to the caller."""
    integer = "int64_t" if wide else "int"
    words = kind.split()
    first = words[0] if words else ""
    if first == "int" and len(words) == 1:
        return integer
    if first in ENUM_KINDS:
        return spell(library, ENUM_KINDS[first], face)
    if first == "real" and len(words) == 1:
        return LETTERS[letter][3]
    if first in ("scalar", "in", "out", "result", "inarray", "outarray", "outpointers"):
        which = words[1] if len(words) > 1 else "T"
        types = LETTERS[letter]
        column = (0 if face == "c" else 1) if which == "T" else 3
        value = integer if which == "int" else types[column]
        return {"scalar": f"const {value}*", "in": f"const {value}*", "out": f"{value}*", "result": f"{value}*",
                "inarray": f"const {value}* const*", "outarray": f"{value}* const*", "outpointers": f"{value}**"}[first]
    return spell(library, kind, face)


def routines(library):
    """(row, name, letter, wide) of every routine of the library."""
    for row in library.rows:
        for name, letter in row.names():
            yield row, name, letter, False
            if row.wide:
                yield row, name + "_64", letter, True


def parameters(library, row, letter, wide, face):
    found = []
    if library.handle and not row.manual and (not row.no_handle or row.any_handle):
        kind, name = library.handle
        found.append((spell(library, "$" + kind, face), name))
    for kind, name in row.arguments:
        found.append((declaration_type(library, kind, letter, wide, face), name))
    return found


def returned(library, row, face):
    return spell(library, row.returns, face) if row.returns else spell(library, "$" + library.status, face)


def prototype(library, row, name, letter, wide, face):
    listed = ", ".join(f"{t} {n}" for t, n in parameters(library, row, letter, wide, face)) or "void"
    prefix = library.c if face == "c" else library.cuda
    return f"{returned(library, row, face)} {prefix}{name}({listed})"


def enumerator(library, name, face):
    prefix = library.enum_c if face == "c" else library.enum_cuda
    if name.startswith("-"):  # CUSOLVERDN_GETRF: the name goes on where the prefix ends
        return prefix + name[1:]
    return prefix + ("_" if prefix.isupper() else "") + name


def enums(library, face):
    lines = []
    for name, tag, values in library.enums:
        if face == "c":
            tag = tag.replace(library.cuda, library.c, 1)
        lines.append(f"typedef enum {tag} {{")
        lines += [f"  {enumerator(library, n, face)} = {v}," for n, v in values]
        lines[-1] = lines[-1].rstrip(",")
        lines.append(f"}} {spell(library, '$' + name, face)};\n")
    for name, definition in library.types:
        lines.append(f"typedef {spell(library, definition, face)} {spell(library, name if name.startswith('~') else '$' + name, face)};")
    for kind, name, value in library.constants:
        lines.append(f"#define {enumerator(library, name, face)} (({spell(library, kind, face)}){value})")
    return lines


def c_header(library):
    guard = library.c_header.upper().replace(".", "_")
    lines = [f"/* {library.c_header}: made from capi/api/{library.name}.api. The contract of each routine is that of the CUDA",
             "   function of the same name; capi/README.md says what differs. */", f"#ifndef {guard}", f"#define {guard}", "",
             "#include \"trn_types.h\""]
    if library.name != "runtime":
        lines.append("#include \"trn_runtime.h\"")
    if library.name == "solver":
        lines.append("#include \"trnblas.h\"")
    lines += ["", "#ifdef __cplusplus", "extern \"C\" {", "#endif", ""] + enums(library, "c") + [""]
    lines += ["#pragma GCC visibility push(default)"]
    for row, name, letter, wide in routines(library):
        lines.append(prototype(library, row, name, letter, wide, "c") + ";")
    return lines + ["#pragma GCC visibility pop", "", "#ifdef __cplusplus", "}", "#endif", "", "#endif"]


GUARDS = {"cuda_runtime_api.h": "__CUDA_RUNTIME_API_H__", "cublas_v2.h": "CUBLAS_V2_H_", "curand.h": "CURAND_H_",
          "cufft.h": "_CUFFT_H_", "cusolverDn.h": "CUSOLVERDN_H_", "cusparse.h": "CUSPARSE_H_",
          "cutensor.h": "CUTENSOR_H_"}
EXTRA_GUARDS = {"cublas_v2.h": ["CUBLAS_API_H_"], "cusolverDn.h": ["CUSOLVER_COMMON_H_"], "cusparse.h": ["CUSPARSEAPI"]}
INCLUDES = {"cuda_runtime_api.h": ["driver_types.h"],
            "cublas_v2.h": ["cuda_runtime_api.h", "cuComplex.h", "library_types.h"],
            "curand.h": ["cuda_runtime_api.h"], "cufft.h": ["cuda_runtime_api.h", "cuComplex.h", "library_types.h"],
            "cusolverDn.h": ["cublas_v2.h"], "cusparse.h": ["cuda_runtime_api.h", "cuComplex.h", "library_types.h"],
            "cutensor.h": ["cuda_runtime_api.h", "cuComplex.h", "library_types.h"]}


def cuda_header(library):
    header = library.cuda_header
    lines = [f"/* {header}: CUDA's names for the functions of libtrnsci, made from capi/api/{library.name}.api. */",
             f"#ifndef {GUARDS[header]}", f"#define {GUARDS[header]}"]
    lines += [f"#define {g}" for g in EXTRA_GUARDS.get(header, [])]
    lines += ["", "#include <stddef.h>", "#include <stdint.h>"]
    lines += [f"#include \"{i}\"" for i in INCLUDES[header]]
    head = f"{header[:-2]}_head.h"
    lines += [f"#if __has_include(\"trn_{head}\")", f"#include \"trn_{head}\"", "#endif"]
    lines += ["", "#ifdef __cplusplus", "extern \"C\" {", "#endif", ""]
    skip = {"Error_t", "MemcpyKind", "MemoryType", "ComputeMode", "DeviceAttr"} if library.name == "runtime" else set()
    if not skip:
        lines += enums(library, "cuda")
    lines.append("")
    for row, name, letter, wide in routines(library):
        if row.ours:
            continue
        label = f" __asm__(\"{library.c}{name}\");"
        lines.append(prototype(library, row, name, letter, wide, "cuda") + label)
        if row.v2:
            spelled = name[:-3] + "_v2_64" if wide else name + "_v2"
            lines.append(prototype(library, row, spelled, letter, wide, "cuda") + label)
    lines += ["", "#ifdef __cplusplus", "}", "#endif", ""]
    tail = f"trn_{header[:-2]}_tail.h"
    return lines + [f"#if __has_include(\"{tail}\")", f"#include \"{tail}\"", "#endif", "", "#endif"]


def driver_types(library):
    """The runtime's enums, which CUDA has in a header of their own."""
    lines = ["/* driver_types.h: CUDA's names for the types of the runtime, made from capi/api/runtime.api. */",
             "#ifndef __DRIVER_TYPES_H__", "#define __DRIVER_TYPES_H__", "", "#include <stddef.h>", "#include <stdint.h>", "",
             "#ifdef __cplusplus", "extern \"C\" {", "#endif", ""]
    lines += enums(library, "cuda")
    return lines + ["", "#ifdef __cplusplus", "}", "#endif", "", "#include \"trn_driver_types_tail.h\"", "", "#endif"]


def thunks(library):
    lines = [f"// Made from capi/api/{library.name}.api: the exported functions.", f"#include <{library.c_header}>", "",
             f"#include \"{library.name}/{library.name}.hpp\"", "", "namespace capi = trn::capi;", ""]
    for row, name, letter, wide in routines(library):
        if row.manual:
            continue
        listed = parameters(library, row, letter, wide, "c")
        body = row.body.replace("<T>", f"<{LETTERS[letter][2]}>") if letter else row.body
        passed = [f"capi::native({n})" for _, n in listed]
        full = f"{library.c}{name}"
        space = f"capi::{library.name}"
        if row.named:
            lines += status_names(library, row, name)
            continue
        if row.returns:
            lines.append(f"{prototype(library, row, name, letter, wide, 'c')} {{ {returned(library, row, 'c')} found_{{}}; (void){space}::call(\"{full}\", "
                         f"[&] {{ found_ = {space}::{body}({', '.join(passed)}); }}); return found_; }}")
            continue
        if library.handle and not row.no_handle:
            passed[0] = "call_"
            function = "call_queued" if row.queued else "call_captured" if row.captured else "call"
            by = "=" if row.captured else "&"
            call = f"{space}::{function}({listed[0][1]}, \"{full}\", [{by}](auto& call_) {{ {space}::{body}({', '.join(passed)}); }})"
        else:
            if row.any_handle:
                passed = passed[1:]
            call = f"{space}::call(\"{full}\", [&] {{ {space}::{body}({', '.join(passed)}); }})"
        unused = f" (void){listed[0][1]};" if row.any_handle else ""
        lines.append(f"{prototype(library, row, name, letter, wide, 'c')} {{{unused} return {call}; }}")
    return lines


def status_names(library, row, name):
    """A function from a status to CUDA's name of it, or to the name's words."""
    _, _, values = library.enums[0]
    lines = [prototype(library, row, name, None, False, "c") + " {", f"  switch (static_cast<int>({row.arguments[0][1]})) {{"]
    for n, v in values:
        text = enumerator(library, n, "cuda") if name.endswith("Name") else n.replace("STATUS_", "").replace("_", " ").lower()
        lines += [f"    case {v}:", f"      return \"{text}\";"]
    return lines + ["    default:", "      return \"unrecognized error code\";", "  }", "}"]


def bodies(library):
    """Declarations of the bodies that the library's sources define: those that are no templates."""
    lines = [f"// Made from capi/api/{library.name}.api: the bodies that the sources define.", "#pragma once", "",
             f"namespace trn::capi::{library.name} {{", ""]
    for row in library.rows:
        if not row.inline and not row.manual and not row.named and not row.letters:
            listed = [t for t, _ in parameters(library, row, None, False, "c")]
            if library.handle and not row.no_handle:
                listed[0] = "Call&"
            lines.append(f"{returned(library, row, 'c') if row.returns else 'void'} {row.body}({', '.join(listed)});")
    return lines + ["", f"}}  // namespace trn::capi::{library.name}"]


def check(library):
    """Compiled against NVIDIA's headers and ours side by side: the same types in the same order, the same values."""
    lines = [f"// Compares capi/api/{library.name}.api with CUDA's own {library.cuda_header}: compile it where that is installed.",
             f"#include <{library.cuda_header}>", ""]
    for name, _, values in library.enums:
        for n, v in values:
            lines.append(f"static_assert(static_cast<int>({enumerator(library, n, 'cuda')}) == {v}, \"{enumerator(library, n, 'cuda')}\");")
    for row, name, letter, wide in routines(library):
        if row.ours:
            continue
        spelled = (name[:-3] + "_v2_64" if wide else name + "_v2") if row.v2 else name
        types = ", ".join(t for t, _ in parameters(library, row, letter, wide, "cuda"))
        # A cast that picks an overload compiles only if one has exactly this type.
        lines.append(f"static_assert((static_cast<{returned(library, row, 'cuda')} (*)({types})>(&{library.cuda}{spelled}), true));")
    return lines


BAD_HANDLE = {"runtime": 400, "blas": 1, "fft": 1, "rand": 101, "solver": 1, "sparse": 1, "tensor": 1}
# With zeros for arguments these would do what they say, and are called by the other tests.
NOT_CALLED = {"trnDeviceReset"}


def every_row(libraries):
    """Calls every function with zeros: a missing handle is refused with its status, everything else returns."""
    lines = ["/* Made from the tables in capi/api: each function is called once from C. */", "#include <stdio.h>"]
    lines += [f"#include <{lib.c_header}>" for lib in libraries]
    lines += ["", "static int failures = 0;", "static int calls = 0;", "",
              "static void expect(const char* name, int got, int wanted) {", "  ++calls;",
              "  if (got == wanted) return;", "  ++failures;", "  printf(\"%s returned %d instead of %d\\n\", name, got, wanted);", "}", "",
              "int main(void) {"]
    for lib in libraries:
        for row, name, letter, wide in routines(lib):
            full = lib.c + name
            if row.manual or full in NOT_CALLED:
                continue
            listed = parameters(lib, row, letter, wide, "c")
            call = f"{full}({', '.join(f'({t})0' for t, _ in listed)})"
            if lib.handle and not row.no_handle:
                lines.append(f"  expect(\"{full}\", (int){call}, {BAD_HANDLE[lib.name]});")
            else:
                lines.append(f"  ++calls, (void){call};")
    lines += ["  printf(\"%d functions called, %d failures\\n\", calls, failures);", "  return failures != 0;", "}"]
    return lines


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


COMMON_WORDS = {"create", "destroy", "set_stream", "get_stream"}
OTHER_NAMES = {"syevd": "eigh", "syevdx": "eigh", "sygvd": "eigh_generalized", "gesvd": "svd", "generate_poisson": "poisson",
               "sp_mv": "spmv", "sp_mm": "spmm", "sp_gemm_compute": "spgemm", "gtsv2": "solve_tridiagonal", "contract": "einsum",
               "gtsv2_nopivot": "solve_tridiagonal", "gpsv_interleaved_batch": "solve_pentadiagonal", "contract_trinary": "einsum",
               "binary": "elementwise", "trinary": "elementwise", "geev": "eig", "gesv": "solve", "syevj": "eigh", "sygvj": "eigh_generalized",
               "sygvdx": "eigh_generalized", "gesvdj": "svd", "gesvdp": "svd", "gesvdr": "svd", "generate_binomial": "binomial", "generate_uniform": "uniform", "generate_normal": "normal"}


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


def abi(libraries):
    """The promise to programs that are compiled already, one line each."""
    lines = []
    for lib in libraries:
        lines += [prototype(lib, row, name, letter, wide, "c") + f"@{VERSION}" for row, name, letter, wide in routines(lib)]
        lines += [f"{enumerator(lib, n, 'c')} = {v}" for _, _, values in lib.enums for n, v in values]
        lines += [f"{enumerator(lib, n, 'c')} = {v}" for _, n, v in lib.constants]
    return sorted(lines)


def compare_abi(promised, now, exported):
    """What is wrong with the tables `now` and the symbols `exported`, given the lines that were promised."""
    found = [f"gone or changed: {line}" for line in promised if line not in set(now)]
    found += [f"new, to be written down with --accept: {line}" for line in now if line not in set(promised)]
    wanted = {re.search(r"(\w+)\(", line)[1] + line[line.index("@"):] for line in now if "(" in line}
    found += [f"not exported: {name}" for name in sorted(wanted - exported)]
    found += [f"exported and in no table: {name}" for name in sorted(exported - wanted)]
    return found


def check_abi(libraries, path, library):
    promised = open(path, encoding="utf-8").read().splitlines()
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout.splitlines()
    exported = {words[2].replace("@@", "@") for words in map(str.split, lines) if words[1] in "TDBWVR"}
    now = abi(libraries)
    # The check itself: a function that is gone, one with another type and one too many are found.
    broken = compare_abi(promised + ["int trnGone(void)@TRN_0.1"], [now[0] + " "] + now[1:], exported | {"extra@TRN_0.1"})
    if not all(any(text in line for line in broken) for text in ("trnGone", now[0], "extra")):
        raise SystemExit("the comparison does not find a difference")
    found = compare_abi(promised, now, exported)
    print("\n".join(found) or f"{len(exported)} functions and {len(promised) - len(exported)} enumerators as written down")
    return 1 if found else 0


def write(path, lines):
    text = "\n".join(lines) + "\n"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
        open(path, "w", encoding="utf-8").write(text)


def main():
    tables, out = sys.argv[1:3]
    libraries = [read(os.path.join(tables, name + ".api")) for name in ORDER]
    symbols = sorted(f"{lib.c}{name}" for lib in libraries for _, name, _, _ in routines(lib))
    if len(symbols) != len(set(symbols)):
        raise SystemExit("two rows make one name: " + ", ".join(s for s in set(symbols) if symbols.count(s) > 1))
    if out == "--count":
        rows = sum(len(lib.rows) for lib in libraries)
        print(f"{rows} rows, {len(symbols)} functions, {sum(len(e[2]) for lib in libraries for e in lib.enums)} enumerators")
        return
    if out == "--accept":
        return write(os.path.abspath(sys.argv[3]), abi(libraries))
    if out == "--rosetta":
        return write(os.path.abspath(sys.argv[3]), rosetta(libraries, tables))
    if out == "--check-rosetta":
        return check_rosetta(libraries, tables, sys.argv[3])
    if out == "--abi":
        sys.exit(check_abi(libraries, *sys.argv[3:5]))
    for lib in libraries:
        write(f"{out}/include/{lib.c_header}", c_header(lib))
        write(f"{out}/cuda/include/{lib.cuda_header}", cuda_header(lib))
        write(f"{out}/src/{lib.name}_thunks.cpp", thunks(lib))
        write(f"{out}/src/{lib.name}_bodies.hpp", bodies(lib))
        write(f"{out}/check/{lib.name}_check.cpp", check(lib))
    write(f"{out}/cuda/include/driver_types.h", driver_types(libraries[0]))
    write(f"{out}/symbols.txt", symbols)
    write(f"{out}/exports.map", [VERSION + " {", "  global:"] + [f"    {s};" for s in symbols] + ["  local: *;", "};"])
    write(f"{out}/test/every_row.c", every_row(libraries))
    write(f"{out}/test/rosetta_cells.cpp", cells(libraries, tables))


if __name__ == "__main__":
    main()
