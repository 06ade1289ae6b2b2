"""Every emitted kernel through AWS's own tools, where they are installed: nki's compiler (trnsci neffc) and nki.simulate,
whose results are compared with those of the stand-in (tests/nki_standin).

    check_aws.py TRNSCI [OPERATION ...]
    check_aws.py --self-test TRNSCI

Where the packages are missing every operation is counted as skipped, which is printed; the status is then 77. The
self-test runs this script with stand-ins in the place of AWS's packages: results that agree pass, a wrong bit is found.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

STANDIN = Path(__file__).resolve().parent.parent / "nki_standin"
sys.path.insert(0, str(STANDIN))
from kernel_text import arguments, entry  # noqa: E402

# Small enough for a simulator that executes element by element.
SIZES = {"blas.axpy": "--n 1000", "rand.raw32": "--n 1000", "blas.gemm": "--m 40 --n 50 --k 60", "fft.c2c": "--n 16 --batch 4", "fft.r2c": "--n 16 --batch 4", "fft.c2r": "--n 16 --batch 4"}

SIMULATE = """
import importlib.util, json, sys
import numpy as np
import nki
manifest = json.load(open(sys.argv[1]))
spec = importlib.util.spec_from_file_location("kernel", manifest["module"])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
def dtype(name):
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes
        return np.dtype(getattr(ml_dtypes, name))
arrays = [np.fromfile(i["file"], dtype(i["dtype"])).reshape(i["shape"]) for i in manifest["inputs"]]
results = nki.simulate(getattr(module, manifest["kernel"]))(*arrays)
results = results if isinstance(results, tuple) else (results,)
for array, entry in zip(results, manifest["outputs"]):
    np.ascontiguousarray(array).tofile(entry["file"] + ".aws")
"""


def operations(command):
    text = subprocess.run([command, "emit", "--help"], capture_output=True, text=True).stdout
    return re.findall(r"^  (\w+\.\w+) ", text, re.MULTILINE)


def emitted(command, only):
    for name in only or operations(command):
        done = subprocess.run([command, "emit", name, "--machine", "trn2", *SIZES.get(name, "").split()],
                              capture_output=True, text=True)
        if done.returncode == 0:
            yield name, done.stdout


def self_test(command):
    tests = STANDIN.parent
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "python"
        packages = ":".join(str(tests / "fake_toolchain" / name) for name in ("aws", "nki06", "."))
        python.write_text(f"#!/bin/sh\nPYTHONPATH='{packages}' exec {sys.executable} \"$@\"\n")
        python.chmod(0o755)
        environment = {**os.environ, "TRN_NKI_PYTHON": str(python), "TRN_NEFF_CACHE": f"{folder}/cache"}
        operations = ["blas.gemm", "blas.axpy", "fft.c2c", "rand.raw32"]
        for wrong, status in (("", 0), ("wrong", 1)):
            run = subprocess.run([sys.executable, "-B", __file__, command, *operations], capture_output=True, text=True,
                                 env={**environment, "TRN_FAKE_SIMULATE": wrong})
            compared = re.search(r"^(\d+) results compared, (\d+) findings$", run.stdout, re.MULTILINE)
            if run.returncode != status or not compared or int(compared[1]) < len(operations) or (
                    int(compared[2]) != (int(compared[1]) if wrong else 0)):
                raise SystemExit(f"with stand-ins{', one wrong' if wrong else ''}: status {run.returncode}\n{run.stdout}{run.stderr}")
            print(run.stdout.splitlines()[-1])
    return 0


def main(command, *only):
    python = os.environ.get("TRN_NKI_PYTHON", "python3")
    try:
        probe = subprocess.run([python, "-c", "import nki; nki.simulate"], capture_output=True)
        installed = probe.returncode == 0
    except OSError:
        installed = False
    if not installed:
        print(f"skipped: {len(operations(command))} operations; AWS's package nki is not installed for '{python}' (TRN_NKI_PYTHON)")
        return 77
    import numpy as np

    failures, compared = [], 0
    for name, text in emitted(command, only):
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            (folder / "list.txt").write_text(f"{name} {SIZES.get(name, '')}\n")
            done = subprocess.run([command, "neffc", "--machine", "trn2", "--list", folder / "list.txt", "-o", folder / "bundle"],
                                  capture_output=True, text=True)
            if done.returncode != 0:
                failures.append(f"{name}: compiler: {done.stderr.strip()}")
            (folder / "kernel.py").write_text(text)
            parameters, results = arguments(text)
            random = np.random.default_rng(1)
            manifest = {"module": str(folder / "kernel.py"), "kernel": entry(text),
                        "target": "trn2", "inputs": [], "outputs": []}
            for i, (_, dtype, shape) in enumerate(parameters):
                n = int(np.prod(shape))
                if dtype == "float32":
                    values = random.standard_normal(n).astype(np.float32)
                elif dtype in ("bfloat16", "tfloat32"):
                    bits = random.standard_normal(n).astype(np.float32).view(np.uint32)
                    values = (bits >> 16).astype(np.uint16) if dtype == "bfloat16" else bits & np.uint32(0xffffe000)
                elif dtype == "float16":
                    values = random.standard_normal(n).astype(np.float16)
                else:
                    values = (np.arange(n) % 8).astype(dtype)
                values.tofile(folder / f"in{i}.bin")
                manifest["inputs"].append({"file": str(folder / f"in{i}.bin"), "dtype": dtype, "shape": shape})
            names = [p[0] for p in parameters]
            for i, (result, _, _) in enumerate(results):
                manifest["outputs"].append({"file": str(folder / f"out{i}.bin")} | ({"argument": names.index(result)} if result in names else {}))
            (folder / "manifest.json").write_text(json.dumps(manifest))
            ours = subprocess.run([sys.executable, STANDIN / "run_kernel.py", folder / "manifest.json"], capture_output=True, text=True)
            theirs = subprocess.run([python, "-c", SIMULATE, folder / "manifest.json"], capture_output=True, text=True,
                                    env={**os.environ, "NEURON_PLATFORM_TARGET_OVERRIDE": "trn2"})
            if ours.returncode != 0 or theirs.returncode != 0:
                failures.append(f"{name}: stand-in {ours.returncode}, nki.simulate {theirs.returncode}: {(ours.stderr + theirs.stderr).strip()[-300:]}")
                continue
            for output in manifest["outputs"]:
                a, b = Path(output["file"]).read_bytes(), Path(output["file"] + ".aws").read_bytes()
                compared += 1
                if a != b:
                    failures.append(f"{name}: {output['file']}: {sum(x != y for x, y in zip(a, b))} bytes differ from nki.simulate")
    print("\n".join(failures))
    print(f"{compared} results compared, {len(failures)} findings")
    return 1 if failures or compared == 0 else 0


sys.exit(self_test(sys.argv[2]) if sys.argv[1] == "--self-test" else main(*sys.argv[1:]))
