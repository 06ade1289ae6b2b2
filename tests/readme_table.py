"""Compares the table between the coverage marks of blas/README.md with what `trnsci coverage blas` prints; --write puts it there.

usage: readme_table.py README TRNSCI [--write]
"""
import difflib
import pathlib
import subprocess
import sys

BEGIN, END = "<!-- coverage blas -->\n", "<!-- end coverage -->"


def main():
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    root = pathlib.Path(__file__).resolve().parent.parent
    readme = pathlib.Path(arguments[0]) if arguments else root / "blas/README.md"
    command = arguments[1] if len(arguments) > 1 else str(root / "build/release/trnsci")
    table = subprocess.run([command, "coverage", "blas"], check=True, capture_output=True, text=True).stdout
    text = readme.read_text()
    head, rest = text.split(BEGIN, 1)
    old, tail = rest.split(END, 1)
    if "--write" in sys.argv:
        readme.write_text(head + BEGIN + table + END + tail)
        return 0
    if old == table:
        return 0
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), table.splitlines(True), "blas/README.md", "trnsci coverage blas"))
    print("the table in blas/README.md is not what the library does; write it again with: python3 tests/readme_table.py --write")
    return 1


sys.exit(main())
