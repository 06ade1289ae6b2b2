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


def run(manifest_path):
    manifest_path = Path(manifest_path)
    folder, manifest = manifest_path.parent, json.loads(manifest_path.read_text())
    os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"] = manifest["target"]
    import nki.language as nl

    spec = importlib.util.spec_from_file_location("emitted", folder / manifest["module"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    arguments = []
    for entry in manifest["inputs"]:
        dtype = getattr(nl, entry["dtype"])
        tensor = nl.ndarray(tuple(entry["shape"]), dtype=dtype, buffer=nl.shared_hbm)
        tensor.write_bits(np.fromfile(folder / entry["file"], dtype.storage))
        arguments.append(tensor)

    results = getattr(module, manifest["kernel"])(*arguments)
    results = results if isinstance(results, tuple) else (results,)
    if len(results) != len(manifest["outputs"]):
        raise SystemExit(f"{len(results)} results for {len(manifest['outputs'])} outputs")
    for tensor, entry in zip(results, manifest["outputs"]):
        if "argument" in entry:
            if tensor is not arguments[entry["argument"]]:
                raise SystemExit(f"{entry['file']}: the result is not argument {entry['argument']}")
        elif any(tensor is argument for argument in arguments):
            raise SystemExit(f"{entry['file']}: an argument is returned")
        elif tensor.array is not tensor or not tensor.memory.known.all():
            raise SystemExit(f"{entry['file']}: not fully written")
        tensor.memory.data.tofile(folder / entry["file"])


if __name__ == "__main__":
    run(sys.argv[1])
