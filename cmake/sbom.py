#!/usr/bin/env python3
"""Writes the list of what trnsci is made of and linked with, as SPDX 2.3 JSON: sbom.py OUT VERSION.

The versions are those of the Debian packages on the machine that builds; a package that is not installed is left out.
"""
import json
import subprocess
import sys

# Debian package: upstream name, licence, what uses it.
PARTS = {
    "libopenblas0-openmp": ("OpenBLAS", "BSD-3-Clause", "host kernels; inside the BLAS and LAPACK drop-ins"),
    "libfmt9": ("fmt", "MIT", "messages"),
    "libhwy1": ("Highway", "Apache-2.0", "vector instructions"),
    "zlib1g": ("zlib", "Zlib", ".npz files of the sparse library"),
    "libmetis5": ("METIS", "Apache-2.0", "orderings of the sparse direct solvers"),
    "nlohmann-json3-dev": ("JSON for Modern C++", "MIT", "headers, compiled in"),
    "libcli11-dev": ("CLI11", "BSD-3-Clause", "headers, compiled into the trnsci command"),
    "libint2-2": ("libint", "LGPL-3.0-only", "the trnsci command: mp2"),
    "libopenmpi3": ("Open MPI", "BSD-3-Clause", "comm_mpi; the ScaLAPACK drop-in"),
    "libgomp1": ("libgomp", "GPL-3.0-or-later WITH GCC-exception-3.1", "threads"),
    "libgfortran5": ("libgfortran", "GPL-3.0-or-later WITH GCC-exception-3.1", "the LAPACK drop-in"),
    "libstdc++6": ("libstdc++", "GPL-3.0-or-later WITH GCC-exception-3.1", "the C++ library"),
}


def version(package):
    found = subprocess.run(["dpkg-query", "-W", "-f", "${Version}\n", package], capture_output=True, text=True)
    return found.stdout.split("\n")[0] if found.returncode == 0 else None


def entry(name, identifier, number, licence, comment):
    return {"name": name, "SPDXID": f"SPDXRef-{identifier}", "versionInfo": number, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence, "comment": comment}


def main():
    out, own = sys.argv[1:3]
    packages = [entry("trnsci", "trnsci", own, "Apache-2.0", "this product")]
    # Data of others that the object files hold.
    packages.append(entry("Joe and Kuo's direction numbers", "joe-kuo", "21201", "NOASSERTION",
                          "data of Sobol sequences, packed in rand/data; the authors' licence is not recorded here yet"))
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-trnsci"},
                 {"spdxElementId": "SPDXRef-trnsci", "relationshipType": "CONTAINS", "relatedSpdxElement": "SPDXRef-joe-kuo"}]
    for package, (name, licence, use) in PARTS.items():
        number = version(package)
        if number is None:
            continue
        identifier = package.replace("+", "")
        packages.append(entry(name, identifier, number, licence, f"{use}; Debian package {package}"))
        relations.append({"spdxElementId": "SPDXRef-trnsci", "relationshipType": "DEPENDS_ON",
                          "relatedSpdxElement": f"SPDXRef-{identifier}"})
    document = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"trnsci-{own}",
                "documentNamespace": f"urn:trnsci:sbom:{own}",
                "creationInfo": {"created": "2026-01-01T00:00:00Z", "creators": ["Tool: cmake/sbom.py"]},
                "packages": packages, "relationships": relations}
    with open(out, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)


main()
