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

The tables are read by api_tables.py; api_rosetta.py and api_abi.py make and compare the page and the ABI.
"""
import os
import re
import sys

from api_abi import abi, check_abi
from api_rosetta import cells, check_rosetta, rosetta
from api_tables import LETTERS, ORDER, VERSION, enumerator, parameters, prototype, read, returned, routines, spell


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
        lines.append(f"typedef {spell(library, definition, face)} {spell(library, name if name[0] in '~#' else '$' + name, face)};")
    for kind, name, value in library.constants:
        lines.append(f"#define {enumerator(library, name, face)} (({spell(library, kind, face)}){value})")
    return lines


def c_header(library):
    guard = library.c_header.upper().replace(".", "_")
    lines = [f"/* {library.c_header}: made from capi/api/{library.name}.api. The contract of each routine is that of the CUDA",
             "   function of the same name; capi/README.md says what differs. */", f"#ifndef {guard}", f"#define {guard}", "",
             "#include \"trn_types.h\""]
    lines += [f"#include \"{i}\"" for i in library.c_includes]
    lines += ["", "#ifdef __cplusplus", "extern \"C\" {", "#endif", ""] + enums(library, "c") + [""]
    lines += ["#pragma GCC visibility push(default)"]
    for row, name, letter, wide in routines(library):
        lines.append(prototype(library, row, name, letter, wide, "c") + ";")
    return lines + ["#pragma GCC visibility pop", "", "#ifdef __cplusplus", "}", "#endif", "", "#endif"]


def cuda_header(library):
    header = library.cuda_header
    lines = [f"/* {header}: CUDA's names for the functions of libtrnsci, made from capi/api/{library.name}.api. */",
             f"#ifndef {library.guards[0]}"]
    lines += [f"#define {g}" for g in library.guards]
    lines += ["", "#include <stddef.h>", "#include <stdint.h>"]
    lines += [f"#include \"{i}\"" for i in library.cuda_includes]
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
        full = f"{library.c}{name}"
        space = f"capi::{library.name}"
        body = re.sub(r"<([a-z]\w+_\w+)>", f"<{space}::\\1>", body)  # a template of another body
        passed = [argument(row, n) for _, n in listed if n not in row.unused and n not in row.types + row.real_types]
        if row.named:
            lines += status_names(library, row, name)
            continue
        if row.returns:
            lines.append(f"{prototype(library, row, name, letter, wide, 'c')} {{ {returned(library, row, 'c')} found_{{}}; (void)capi::call<{space}::Face>(\"{full}\", "
                         f"[&] {{ found_ = {space}::{body}({', '.join(passed)}); }}); return found_; }}")
            continue
        if library.handle and not row.no_handle:
            handle = library.handle[1]
            passed = ["call_"] + [a for a in passed if a != f"capi::native({handle})"]
            function = f"{space}::call_queued" if row.queued else f"{space}::call_captured" if row.captured else f"capi::call<{space}::Face>"
            by = "=" if row.captured else "&"
            work = f"{space}::{body}({', '.join(passed)});"
            if row.types:  # chosen at run time
                work = f"capi::by_type({{{', '.join(row.types)}}}, {{{', '.join(row.real_types)}}}, [&]<class T>(T*) {{ {work} }});"
            call = f"{function}({handle}, \"{full}\", [{by}](auto& call_) {{ {work} }})"
        else:
            if row.any_handle:
                passed = passed[1:]
            call = f"capi::call<{space}::Face>(\"{full}\", [&] {{ {space}::{body}({', '.join(passed)}); }})"
        unused = "".join(f" (void){n};" for _, n in listed if n in row.unused or (row.any_handle and n == listed[0][1]))
        lines.append(f"{prototype(library, row, name, letter, wide, 'c')} {{{unused} return {call}; }}")
    return lines


def argument(row, name):
    """How a body gets an argument: complex numbers as C++'s; where the type is known at run time alone, of that type."""
    first, *rest = dict((n, k) for k, n in row.arguments).get(name, "").split() or [""]
    if row.types and first in ("in", "out", "scalar", "result", "inarray", "outarray") and rest != ["int"]:
        return f"capi::as<{'capi::blas::Real<T>' if rest else 'T'}>({name})"
    return f"capi::native({name})"


def status_names(library, row, name):
    """A function from a status to CUDA's name of it, or to the name's words."""
    _, _, values = library.enums[0]
    lines = [prototype(library, row, name, None, False, "c") + " {", f"  switch (static_cast<int>({row.arguments[0][1]})) {{"]
    for n, v in values:
        text = enumerator(library, n, "cuda") if name.endswith("Name") else n.replace("STATUS_", "").replace("_", " ").lower()
        lines += [f"    case {v}:", f"      return \"{text}\";"]
    return lines + ["    default:", "      return \"unrecognized error code\";", "  }", "}"]


def bodies(library):
    """Declarations of the bodies that the library's sources define: those that are not templates. A library with 64-bit
    forms has one body for both."""
    wide = any(row.wide for row in library.rows)
    lines = [f"// Made from capi/api/{library.name}.api: the bodies that the sources define.", "#pragma once", "",
             f"namespace trn::capi::{library.name} {{", ""]
    for row in library.rows:
        if not row.inline and not row.manual and not row.named and not row.letters and not row.types:
            listed = [t for t, n in parameters(library, row, None, wide, "c") if n not in row.unused]
            if library.handle and not row.no_handle:
                listed.insert(0, "Call&")
                listed.pop(-1 if row.handle_last else 1)
            elif row.any_handle:
                listed.pop(0)
            lines.append(f"{returned(library, row, 'c') if row.returns else 'void'} {row.body}({', '.join(listed)});")
    return lines + ["", f"}}  // namespace trn::capi::{library.name}"]


def check(library):
    """Compiled against NVIDIA's headers and ours side by side: the same types in the same order, the same values."""
    lines = [f"// Compares capi/api/{library.name}.api with CUDA's own {library.cuda_header}: compile it where that is installed."]
    lines += [f"#include <{header}>" for header in [library.cuda_header] + library.more_headers] + [""]
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
            zeros = [f"({t}){{0}}" if t in ("trnComplex", "trnDoubleComplex") else f"({t})0" for t, _ in listed]
            call = f"{full}({', '.join(zeros)})"
            if lib.handle and not row.no_handle:
                lines.append(f"  expect(\"{full}\", (int){call}, {lib.handle_status});")
            else:
                lines.append(f"  ++calls, (void){call};")
    lines += ["  printf(\"%d functions called, %d failures\\n\", calls, failures);", "  return failures != 0;", "}"]
    return lines


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
