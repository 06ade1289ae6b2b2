"""Compares the table between the coverage marks of a component's README with what `trnsci coverage COMPONENT` prints; --write puts it there.

usage: readme_table.py [COMPONENT [TRNSCI]] [--write]
"""
import difflib
import pathlib
import subprocess
import sys

END = "<!-- end coverage -->"


def main():
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    root = pathlib.Path(__file__).resolve().parent.parent
    component = arguments[0] if arguments else "blas"
    readme = root / component / "README.md"
    begin = f"<!-- coverage {component} -->\n"
    command = arguments[1] if len(arguments) > 1 else str(root / "build/release/trnsci")
    table = subprocess.run([command, "coverage", component], check=True, capture_output=True, text=True).stdout
    text = readme.read_text()
    head, rest = text.split(begin, 1)
    old, tail = rest.split(END, 1)
    if "--write" in sys.argv:
        readme.write_text(head + begin + table + END + tail)
        return 0
    if old == table:
        return 0
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), table.splitlines(True), f"{component}/README.md", f"trnsci coverage {component}"))
    print(f"the table in {component}/README.md is not what the library does; write it again with: python3 tests/readme_table.py {component} --write")
    return 1


sys.exit(main())
