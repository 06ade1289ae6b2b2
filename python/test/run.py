#!/usr/bin/env python3
"""Builds trnsci for Python below a build tree and runs its tests: run.py BUILD_DIR PYTHON_DIR [pytest arguments].

BUILD_DIR/python then holds
    venv        a virtual environment on this interpreter, with its NumPy and SciPy, and nanobind and pytest from pip
    extension   the extension modules, linked from the libraries of BUILD_DIR
    site        the package: links to the sources and to the extension
Without nanobind and without an index that pip can reach, the tests are skipped, and say so (exit 77).
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

NEEDED = ["nanobind", "pytest"]
WANTED = ["mpmath", "mypy", "opt_einsum"]  # their tests are counted skips without them


def quiet(*command):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def must(*command):
    code, text = quiet(*command)
    if code != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{text}")
    return text


def has(python, names):
    return quiet(python, "-c", f"import {', '.join(names)}")[0] == 0


def environment(folder):
    """The environment's interpreter, or None where it cannot be made complete."""
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        must(sys.executable, "-m", "venv", "--system-site-packages", folder / "venv")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "20"]
    if not has(python, NEEDED):
        code, text = quiet(*pip, *NEEDED)
        if code != 0:
            print(text)
            return None
    for name in WANTED:
        if not has(python, [name]):
            quiet(*pip, name)
    return python


def compiler(build_dir):
    """The one that the libraries were compiled with: the extension needs the same OpenMP."""
    cache = build_dir / "CMakeCache.txt"
    found = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.+)$", cache.read_text(), re.M) if cache.exists() else None
    return found.group(1) if found else "c++"


def build(folder, build_dir, source, python):
    extension = folder / "extension"
    if not (extension / "build.ninja").exists():
        must("cmake", "-S", source, "-B", extension, "-G", "Ninja", f"-DTRN_BUILD={build_dir}", f"-DPython_EXECUTABLE={python}",
             f"-DCMAKE_CXX_COMPILER={compiler(build_dir)}")
    must("ninja", "-C", extension)
    package = folder / "site" / "trnsci"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for path in [p for p in (source / "trnsci").iterdir() if p.name != "__pycache__"] + list(extension.glob("_*.so")):
        (package / path.name).symlink_to(path)
    return package.parent


def main():
    build_dir, source = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
    folder = build_dir / "python"
    folder.mkdir(exist_ok=True)
    python = environment(folder)
    if python is None:
        print("SKIPPED, counted as 1: the tests of trnsci for Python need nanobind and pytest, and pip reaches no index")
        sys.exit(77)
    site = build(folder, build_dir, source, python)
    variables = dict(os.environ, PYTHONPATH=str(site), PYTHONDONTWRITEBYTECODE="1")
    given = [str(pathlib.Path(a).resolve()) if pathlib.Path(a).exists() else a for a in sys.argv[3:]]
    arguments = given or ["-q", "-rs", str(source / "test")]
    sys.exit(subprocess.run([python, "-m", "pytest", "-p", "no:cacheprovider", *arguments], env=variables, cwd=folder).returncode)


main()
