"""Runs emitted kernels one after the other for a process that holds their tensors: the fake runtime's rule `text`.

A request on standard input is a line of JSON and then the bytes of its inputs, one after the other:

    {"key": 3, "text": "...", "target": "trn2", "inputs": [["x", 512], ["y.must_alias_input", 64]],
     "outputs": [["y", 64, "y.must_alias_input"]]}

The text comes with the first request of its key and is null afterwards. Names and sizes are those of the NEFF; what the
kernel's parameters and results are is taken from the text alone, and the two must agree. The answer is a line of JSON,
{"error": "..."}; where the error is "", the bytes of the outputs follow.
"""

import json
import sys
import tempfile
import traceback
from pathlib import Path

import kernel_text
import run_kernel

CONTINUED = ".must_alias_input"


def matched(text, request):
    """(dtype, shape) of each parameter with the number of its input, and (name, parameter) of each result."""
    parameters, results = kernel_text.arguments(text)
    names = [name for name, _, _ in parameters]
    returned = {name for name, _, _ in results if name in names}
    given = [name for name, _ in request["inputs"]]
    wanted = [name + (CONTINUED if name in returned else "") for name in names]
    if sorted(given) != sorted(wanted):
        raise run_kernel.WrongResult(f"inputs are {given}; the text has {wanted}")
    outputs = []
    for name, _, alias in request["outputs"]:
        if alias != (name + CONTINUED if name in returned else ""):
            raise run_kernel.WrongResult(f"output {name} continues '{alias}', which is not what the text does")
        outputs.append((name, names.index(name) if name in names else None))
    if [name for name, _ in outputs] != [name for name, _, _ in results]:
        raise run_kernel.WrongResult(f"outputs are {outputs}; the text has {results}")
    return [(given.index(w), dtype, shape) for w, (_, dtype, shape) in zip(wanted, parameters)], outputs


def main():
    source, sink, kernels = sys.stdin.buffer, sys.stdout.buffer, {}
    sys.stdout = sys.stderr  # a kernel's own prints must not be taken for an answer
    with tempfile.TemporaryDirectory(prefix="trn_standin_") as folder:
        while line := source.readline():
            request = json.loads(line)
            inputs = [source.read(size) for _, size in request["inputs"]]
            results, error = [], ""
            try:
                if request["text"] is not None:
                    path = Path(folder) / f"kernel{request['key']}.py"
                    path.write_text(request["text"])
                    kernels[request["key"]] = run_kernel.load(path, request["target"]), request["text"]
                module, text = kernels[request["key"]]
                run_kernel.os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"] = request["target"]
                parameters, outputs = matched(text, request)
                arrays = [(dtype, shape, inputs[number]) for number, dtype, shape in parameters]
                results = run_kernel.call(getattr(module, kernel_text.entry(text)), arrays, outputs)
                for (name, size, _), data in zip(request["outputs"], results):
                    if len(data) != size:
                        raise run_kernel.WrongResult(f"output {name} has {len(data)} bytes, not {size}")
            except Exception as wrong:  # whatever the kernel does wrong is the answer
                error = f"{type(wrong).__name__}: {wrong} ({traceback.format_exc().strip().splitlines()[-2].strip()})"
            sink.write(json.dumps({"error": error}).encode() + b"\n")
            if not error:
                for data in results:
                    sink.write(data)
            sink.flush()


if __name__ == "__main__":
    main()
