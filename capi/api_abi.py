"""The promise to programs that are compiled already: every exported function with its types, every enumerator with its
value; compared with what was written down and with what the library exports.
"""
import re
import subprocess

from api_tables import VERSION, enumerator, prototype, routines


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
