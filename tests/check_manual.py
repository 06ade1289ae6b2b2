#!/usr/bin/env python3
"""The manual pages say what the commands say.

    check_manual.py TRNSCI

cmake/man/trnsci.1 has each subcommand of `trnsci --help` with its words, and no other; cmake/man/trncc.1 names each
environment variable that capi/trncc reads. Where groff is installed it finds nothing to complain about in either.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ROOT / "cmake" / "man"


def plain(text):
    return text.replace("\\-", "-").replace("\\(dq", '"')


def main():
    wrong = []
    shown = subprocess.run([sys.argv[1], "--help"], check=True, capture_output=True, text=True).stdout
    listed = shown[shown.index("Subcommands:"):]
    said = {name: " ".join(words.split()) for name, words in re.findall(r"^  (\S+)\s{2,}(.*(?:\n {5,}.*)*)", listed, re.M)}
    page = (PAGES / "trnsci.1").read_text(encoding="utf-8")
    section = page[page.index(".SH SUBCOMMANDS"):page.index(".SH OPTIONS")]
    written = dict(re.findall(r"\.TP\n\.B (\S+)\n(.*)\.\n", plain(section)))
    for name in sorted(said.keys() | written.keys()):
        if said.get(name) != written.get(name):
            wrong.append(f"trnsci.1: {name}: the command says {said.get(name)!r}, the page {written.get(name)!r}")
    script = (ROOT / "capi" / "trncc").read_text(encoding="utf-8")
    trncc = (PAGES / "trncc.1").read_text(encoding="utf-8")
    for variable in sorted(set(re.findall(r"\$\{(TRN_\w+|CXX):-", script))):
        if f".B {variable}\n" not in trncc:
            wrong.append(f"trncc.1: {variable} is missing")
    if shutil.which("groff"):
        for name in ("trnsci.1", "trncc.1"):
            found = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", str(PAGES / name)], capture_output=True, text=True)
            wrong += found.stderr.splitlines()
    print("\n".join(wrong) or f"{len(said)} subcommands agree")
    sys.exit(bool(wrong) or not said)


if __name__ == "__main__":
    main()
