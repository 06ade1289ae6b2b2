#!/usr/bin/env python3
"""Which sources of a target can be compiled as one translation unit.

    unity_groups.py MOST FOLDER... -- SOURCE...
    unity_groups.py --self-test

Prints "SOURCE|GROUP" for each source, or "SOURCE|" for one that stays alone. Sources of one group share no name that
two of them (or headers of the project, found in the FOLDERs) define: not a helper in an unnamed namespace, not a macro.
So each means in the group what it means alone. Sources of several ranks, those below a folder src/dist, form groups of
their own ("dist_0", ...): who uses no ranks links nothing of them, nor of what they call. Names are found by the layout that clang-format gives every file: what
begins in the first column stands at namespace scope. A name too many only makes groups smaller.
"""
import os
import re
import sys
import tempfile

NOT_NAMES = {"TEST", "TEST_F", "TEST_P", "TYPED_TEST", "TYPED_TEST_SUITE", "INSTANTIATE_TEST_SUITE_P",
             "static_assert", "decltype", "alignas", "requires", "operator", "noexcept", "sizeof"}
NAME = re.compile(r"(?<![:\w])([A-Za-z_]\w*)\s*(?=[({\[=;])")
TYPE = re.compile(r"^(?:template\s*<>\s*)?(?:struct|enum\s+class|class|enum|union|using)\s+([A-Za-z_]\w*)")
NO_DEFINITION = re.compile(r"^(?:namespace\b|using\s+namespace\b|using\s+[\w:]+;|extern\b|"
                           r"(?:template\s*<>\s*)?(?:struct|class)\s+\w+;)")
INCLUDE = re.compile(r'#\s*include\s+(?:"|<(?=trn/))([^">]+)')


def read(path, memo={}):
    """The names that only this file defines, its functions that others may overload, what it includes of the project,
    and whether it has to stay alone."""
    if path not in memo:
        names, functions, includes, alone, unnamed, statement = set(), set(), [], False, False, ""
        for line in open(path, encoding="utf-8"):
            alone = alone or "hwy/foreach_target.h" in line
            if found := INCLUDE.match(line):
                includes.append(found[1])
            elif found := re.match(r"#\s*define\s+(\w+)", line):
                names.add(found[1])
            elif line.startswith("namespace {"):
                unnamed = True
            elif line.startswith("}  // namespace"):
                unnamed = unnamed and line.rstrip() != "}  // namespace"
            elif line[0] not in " \t\n#/})":
                statement = line.split("//")[0]
            elif statement and line[0] in " \t":  # the declarator may stand on a later line
                statement += line.split("//")[0]
            if line[0] in "}#" or not re.search(r"[;{(=]", statement):
                continue
            head = re.sub(r"<[^<>;]*>", "<>", re.sub(r'"[^"]*"', '""', statement))
            head = re.match(r"[^({=]*(?:=[^{;]*[;{]?|[({]?)", head)[0]  # up to a body or a list of parameters
            if NO_DEFINITION.match(head):
                statement = ""
                continue
            found = TYPE.search(head)
            new = {found[1]} if found else set(NAME.findall(head))
            # Functions outside an unnamed namespace are the component's: overloads, which only a helper can hide.
            own = unnamed or "(" not in head or head.startswith(("inline", "static", "[[nodiscard]] inline"))
            (names if own else functions).update(new - NOT_NAMES)
            if not statement.rstrip().endswith(","):
                statement = ""
        memo[path] = (names, functions, includes, alone)
    return memo[path]


def definitions(path, folders, seen):
    """Of a source and its headers: each name, the file that defines it, and whether that is an overload."""
    if path in seen:
        return
    seen.add(path)
    names, functions, includes, _ = read(path)
    yield from ((name, path, False) for name in names)
    yield from ((name, path, True) for name in functions)
    for include in includes:
        for folder in [os.path.dirname(path), *folders]:
            candidate = os.path.join(folder, include)
            if os.path.isfile(candidate):
                yield from definitions(os.path.realpath(candidate), folders, seen)
                break


def clash(found, known):
    """Whether a source and a group have different definitions of a name that are not both overloads."""
    for name, path, overload in found:
        for other, other_overload in known.get(name, ()):
            if path != other and not (overload and other_overload) and (path, overload) not in known[name]:
                return True
    return False


def assign(most, folders, sources):
    """source -> the number of its group, for those that share one with another source."""
    groups = []  # of (name -> {(file, overload)}, sources)
    for source in sources:
        if not source.endswith(".cpp") or read(source)[3]:
            continue
        found = list(definitions(os.path.realpath(source), folders, set()))
        for known, members in groups:
            if len(members) < most and not clash(found, known):
                break
        else:
            known, members = {}, []
            groups.append((known, members))
        for name, path, overload in found:
            known.setdefault(name, set()).add((path, overload))
        members.append(source)
    return {source: index for index, (_, members) in enumerate(groups) for source in members if len(members) > 1}


def labels(most, folders, sources):
    """source -> the name of its group, "" for none."""
    group_of = {source: str(group) for source, group in assign(most, folders, sources).items()}
    ranks = [source for source in sources if "/src/dist/" in source]
    group_of.update((source, "") for source in ranks)
    group_of.update((source, f"dist_{group}") for source, group in assign(most, folders, ranks).items())
    return {source: group_of.get(source, "") for source in sources}


def self_test():
    files = {
        "shared.hpp": "struct Shared {\n  int x;\n};\n",
        "other.hpp": "struct Shared {\n  double y;\n};\n",
        "a.cpp": '#include "shared.hpp"\nnamespace {\n\nconstexpr int kA = 1, kB = 2;\n\n}  // namespace\n',
        "b.cpp": '#include "shared.hpp"\nnamespace {\n\nint helper(int kA) { return kA; }\n\n}  // namespace\n',
        "c.cpp": "namespace {\n\ntemplate <class T>\nT helper(T x) {\n  return x;\n}\n\n}  // namespace\n",
        "d.cpp": "namespace {\n\nconstexpr long kB = 3;\n\n}  // namespace\nvoid overload(int) {}\n",
        "e.cpp": '#include "other.hpp"\nvoid overload(long) {}\n',
        "f.cpp": "#include <hwy/foreach_target.h>\n",
        "g.cpp": "namespace {\n\nint overload() { return 0; }\n\n}  // namespace\n",
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        sources = [os.path.join(folder, name) for name in files if name.endswith(".cpp")]
        found = {os.path.basename(s): g for s, g in assign(12, [], sources).items()}
        pairs = {os.path.basename(s): g for s, g in assign(2, [], sources).items()}
        os.makedirs(os.path.join(folder, "src/dist"))
        for name in ("p.cpp", "q.cpp"):
            with open(os.path.join(folder, "src/dist", name), "w", encoding="utf-8") as file:
                file.write(f"void {name[0]}() {{}}\n")
            sources.append(os.path.join(folder, "src/dist", name))
        labelled = {os.path.basename(s): label for s, label in labels(12, [], sources).items()}
    # a and b share a header; c has b's helper, d a's constant, e another Shared than a and b. g's helper would hide
    # the functions of d and e.
    expected = {"a.cpp": 0, "b.cpp": 0, "g.cpp": 0, "c.cpp": 1, "d.cpp": 1, "e.cpp": 1}
    if found != expected:
        sys.exit(f"expected {expected}, found {found}")
    if pairs != {"a.cpp": 0, "b.cpp": 0, "c.cpp": 1, "d.cpp": 1}:
        sys.exit(f"groups of two: {pairs}")
    # p and q share no name with a, and yet are not in its group.
    if labelled != {name: str(group) for name, group in expected.items()} | {"f.cpp": "", "p.cpp": "dist_0", "q.cpp": "dist_0"}:
        sys.exit(f"with sources of ranks: {labelled}")
    print("groups as expected")


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    split = sys.argv.index("--")
    sources = sys.argv[split + 1:]
    for source, label in labels(int(sys.argv[1]), sys.argv[2:split], sources).items():
        print(f"{source}|{label}")


if __name__ == "__main__":
    main()
