#!/usr/bin/env python3
"""Runs notebooks without Jupyter: run.py [--write] NOTEBOOK...

Cells run in order in one namespace. With --write their outputs are put into the file, otherwise they are compared with the
outputs that stand there, numbers aside. python/test/test_notebooks.py calls it.
"""
import ast
import contextlib
import io
import json
import pathlib
import re
import sys

DISPLAYS = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_"}


def lines(text):
    return text.splitlines(keepends=True)


def shown(value):
    """The output of a cell that ends with an expression, as Jupyter keeps it."""
    data = {"text/plain": lines(repr(value))}
    for kind, method in DISPLAYS.items():
        if hasattr(value, method):
            data[kind] = lines(getattr(value, method)())
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}


def run_cell(source, space, name):
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, outputs = io.StringIO(), []
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), space)
        value = eval(compile(ast.Expression(last.value), name, "eval"), space) if last else None
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())})
    if value is not None:
        outputs.append(shown(value))
    return outputs


def execute(path):
    """The notebook with the outputs of a run just made."""
    book = json.loads(path.read_text())
    space = {"__name__": "__main__"}
    number = 0
    for cell in book["cells"]:
        if cell["cell_type"] != "code":
            continue
        number += 1
        cell["outputs"] = run_cell("".join(cell["source"]), space, f"{path.name}, cell {number}")
        cell["execution_count"] = number
    return book


def words(book):
    """What the outputs say, without the numbers, whose last digits are the machine's."""
    told = []
    for cell in book["cells"]:
        for output in cell.get("outputs", []):
            text = "".join(output.get("text", [])) + "".join(output.get("data", {}).get("text/plain", []))
            told.append((re.sub(r"\s*-?\d[\d.]*(e[+-]?\d+)?\s*", " # ", text), sorted(output.get("data", {}))))
    return told


def main():
    write = "--write" in sys.argv
    for path in [pathlib.Path(a) for a in sys.argv[1:] if a != "--write"]:
        book = execute(path)
        if write:
            path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n")
        elif words(book) != words(json.loads(path.read_text())):
            sys.exit(f"{path}: the outputs are not those of a run; --write puts them there")


if __name__ == "__main__":
    main()
