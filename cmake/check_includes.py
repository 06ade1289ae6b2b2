#!/usr/bin/env python3
"""Compares every #include <trn/...> with the component graph stated in CMakeLists.txt.

usage: check_includes.py SOURCE_DIR GRAPH_FILE | --self-test

A graph line reads `blas: core tile | neuron`: blas may include trn/blas, trn/core and trn/tile anywhere, and
trn/neuron in its test/ folder only. A component is a folder of the root or of apps/. Folders that are not a component (tools, examples, tests) are leaves: they may include
everything, and nothing may include them.
"""
import pathlib
import re
import sys
import tempfile

INCLUDE = re.compile(r'^\s*#\s*include\s*<trn/(\w+)/[^>]*>', re.MULTILINE)


def read_graph(text):
    graph = {}
    for line in text.splitlines():
        if not line.strip():
            continue
        name, rest = line.split(":")
        depends, _, test_only = rest.partition("|")
        graph[name.strip()] = (set(depends.replace(";", " ").split()), set(test_only.replace(";", " ").split()))
    return graph


def violations(root, graph):
    found = []
    for component, (depends, test_only) in graph.items():
        folder = root / "apps" / component if (root / "apps" / component).is_dir() else root / component
        for path in sorted(folder.rglob("*.[hc]pp")):
            allowed = {component} | depends
            if path.relative_to(folder).parts[0] in ("test", "bench"):
                allowed |= test_only
            for match in INCLUDE.finditer(path.read_text()):
                if match.group(1) not in allowed:
                    found.append(f"{path.relative_to(root)}: includes trn/{match.group(1)}, but {component} "
                                 f"depends on {', '.join(sorted(depends)) or 'nothing'}")
            if "<trn/trn.hpp>" in path.read_text():
                found.append(f"{path.relative_to(root)}: includes the umbrella header, which is for applications")
    return found


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "core" / "src").mkdir(parents=True)
        (root / "core" / "test").mkdir()
        graph = read_graph("core:  | neuron\ntile: core\n")
        (root / "core" / "src" / "good.cpp").write_text("#include <trn/core/a.hpp>\n")
        (root / "core" / "test" / "good.cpp").write_text("#include <trn/neuron/a.hpp>\n")
        assert violations(root, graph) == [], "a legal include was rejected"
        (root / "core" / "src" / "bad.cpp").write_text("#include <trn/tile/a.hpp>\n")
        assert len(violations(root, graph)) == 1, "an illegal include was accepted"


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root, graph = pathlib.Path(sys.argv[1]), read_graph(pathlib.Path(sys.argv[2]).read_text())
    if not graph:
        sys.exit("no components in the graph")
    found = violations(root, graph)
    print("\n".join(found) if found else f"{len(graph)} components, every include follows the graph")
    sys.exit(1 if found else 0)


main()
