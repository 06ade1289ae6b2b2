"""Runs one emitted NKI kernel with the stand-in: python3 run_kernel.py manifest.json

The manifest names everything, paths relative to itself:

    {"module": "kernel.py", "kernel": "matmul", "target": "trn2",
     "inputs":  [{"file": "a.bin", "dtype": "bfloat16", "shape": [128, 64]}, ...],
     "outputs": [{"file": "c.bin"}, {"file": "d.bin", "argument": 1}, ...]}

Files are raw little-endian elements in row-major order. An output with `argument` is that input, stored into and
returned. Every element of any other output must have been written: memory that NKI allocates starts undefined.
"""

import importlib.util
import json
import os
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))


class WrongResult(Exception):
    """The kernel did not return what it has to."""


def load(path, target):
    """The module of an emitted text, for a machine."""
    os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"] = target
    spec = importlib.util.spec_from_file_location("emitted", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def call(kernel, inputs, outputs):
    """The outputs' bytes. `inputs` are (dtype, shape, bytes); `outputs` are (name, number of the argument or None)."""
    import nki.language as nl

    arguments = []
    for name, shape, data in inputs:
        dtype = getattr(nl, name)
        tensor = nl.ndarray(tuple(shape), dtype=dtype, buffer=nl.shared_hbm)
        tensor.write_bits(np.frombuffer(data, dtype.storage))
        arguments.append(tensor)
    results = kernel(*arguments)
    results = results if isinstance(results, tuple) else (results,)
    if len(results) != len(outputs):
        raise WrongResult(f"{len(results)} results for {len(outputs)} outputs")
    for tensor, (name, argument) in zip(results, outputs):
        if argument is not None:
            if tensor is not arguments[argument]:
                raise WrongResult(f"{name}: the result is not argument {argument}")
        elif any(tensor is other for other in arguments):
            raise WrongResult(f"{name}: an argument is returned")
        elif tensor.array is not tensor or not tensor.memory.known.all():
            raise WrongResult(f"{name}: not fully written")
    return [tensor.memory.data.tobytes() for tensor in results]


def run(manifest_path):
    manifest_path = Path(manifest_path)
    folder, manifest = manifest_path.parent, json.loads(manifest_path.read_text())
    module = load(folder / manifest["module"], manifest["target"])
    inputs = [(i["dtype"], i["shape"], (folder / i["file"]).read_bytes()) for i in manifest["inputs"]]
    try:
        results = call(getattr(module, manifest["kernel"]), inputs, [(o["file"], o.get("argument")) for o in manifest["outputs"]])
    except WrongResult as wrong:
        raise SystemExit(str(wrong)) from None
    for entry, data in zip(manifest["outputs"], results):
        (folder / entry["file"]).write_bytes(data)


if __name__ == "__main__":
    run(sys.argv[1])
