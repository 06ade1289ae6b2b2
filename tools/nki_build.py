"""Builds one emitted kernel with AWS's toolchain: nki and neuronx-cc. No device is needed.

    python3 nki_build.py REQUEST RESULT       builds what the JSON file REQUEST describes
    python3 nki_build.py --versions RESULT    writes {"nki": "0.6.0", "neuronx-cc": "2.27...", "python": "3.12.3"}

trnsci starts this file itself, in a folder of its own, with the interpreter that TRN_NKI_PYTHON names; its text is a
part of the library. REQUEST, with paths relative to its folder:

    {"format": 1, "kernel": "kernel.py", "program": "program.json", "output": "kernel.neff", "entry": "gemm",
     "machine": "trn2", "lnc": 1,
     "parameters": [{"name": "a", "dtype": "bfloat16", "shape": [128, 64], "bytes": 16384, "parameter": -1,
                     "tensor": "a"}, ...],
     "results":    [{"name": "c", ..., "parameter": 2}, ...]}      "parameter": the one that is stored into and returned;
                                                                   "tensor": the name that the program has for it

RESULT is {"status": "ok", "api": "...", "inputs": [names], "outputs": [names], "versions": {...}} beside the NEFF, or
{"status": "refused", "message": "..."}. The names are those of the NEFF's tensors, in its order.

Three interfaces of nki are tried, newest first: the device-free one of 0.6, the one of 0.4, and the documented one, which
writes its artifacts to a folder while it calls the kernel (and may fail to run it: only the NEFF is wanted). The first two
are marked internal by AWS; nothing here was run with AWS's packages yet.
"""

import importlib.util
import json
import os
import signal
import stat
import sys
import threading
import traceback
from importlib import metadata
from pathlib import Path

PACKAGES = ("nki", "neuronx-cc")


def versions():
    found = {"python": ".".join(str(x) for x in sys.version_info[:3])}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            pass
    return found


def end_with_the_caller():
    """Standard input is a pipe that the caller holds: when it closes, the caller is gone and nobody wants the result."""

    if not stat.S_ISFIFO(os.fstat(0).st_mode):
        return  # started by hand

    def wait():
        try:
            while os.read(0, 4096):
                pass
        except OSError:
            return
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()


def kernel_of(request, folder):
    spec = importlib.util.spec_from_file_location("trnsci_kernel", folder / request["kernel"])
    module = importlib.util.module_from_spec(spec)
    sys.modules["trnsci_kernel"] = module  # parsers look their sources up
    spec.loader.exec_module(module)
    return getattr(module, request["entry"])


def array_of(argument):
    import numpy as np

    name = argument["dtype"]
    try:
        dtype = np.dtype(name)
    except TypeError:
        try:
            import ml_dtypes

            dtype = np.dtype(getattr(ml_dtypes, name))
        except (ImportError, AttributeError):
            import nki.language as nl

            dtype = getattr(nl, name)
    return np.zeros(tuple(argument["shape"]), dtype)


def inputs_of(request):
    return {p["name"]: array_of(p) for p in request["parameters"]}


def expected_names(request):
    return [p["name"] for p in request["parameters"]], [r["name"] for r in request["results"]]


def with_nki_06(request, folder):
    from nki.compiler.driver import compile_to_bir
    from nki.compiler.frontend import ParserFrontend
    from nki.compiler.ncc_driver import CompileOptions, compile_bir_to_neff

    output = folder / request["output"]
    options = CompileOptions(target=request["machine"], lnc=request["lnc"], output_path=str(output),
                             artifacts_dir=str(folder / "artifacts_06"))
    result = compile_to_bir(kernel_func=kernel_of(request, folder), frontend=ParserFrontend, inputs=inputs_of(request),
                            compile_opts=options, output_names=expected_names(request)[1])
    inputs = [s.name for s in result.descriptor.input_specs]
    outputs = [s.name for s in result.descriptor.output_specs]
    compiled = compile_bir_to_neff(options, result, [], inputs, outputs)
    return Path(compiled.neff_path), inputs, outputs


def with_nki_04(request, folder):
    from nki.compiler.frontend import ParserFrontend
    from nki.compiler.ncc_driver import CompiledKernel, CompileOptions

    options = CompileOptions(target=request["machine"], lnc=request["lnc"], output_path=str(folder / request["output"]),
                             artifacts_dir=str(folder / "artifacts_04"))
    result = ParserFrontend.compile(kernel_of(request, folder), inputs=inputs_of(request), target=request["machine"],
                                    lnc=request["lnc"], artifacts_dir=str(folder / "artifacts_04"),
                                    output_names=expected_names(request)[1])
    compiled = CompiledKernel.from_frontend(result, options)
    names = [getattr(compiled, which, None) for which in ("input_names", "output_names")]
    expected = expected_names(request)
    return Path(compiled.neff_path), *(list(n) if n else e for n, e in zip(names, expected))


def with_artifacts(request, folder):
    artifacts = folder / "artifacts"
    artifacts.mkdir()
    os.environ["NKI_ARTIFACTS_DIR"] = str(artifacts)  # read when nki is imported
    os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"] = request["machine"]
    os.environ["NEURON_LOGICAL_NC_CONFIG"] = str(request["lnc"])
    error = None
    try:
        kernel_of(request, folder)(*inputs_of(request).values())
    except Exception as e:  # without a device the call fails after the compiler is done
        error = e
    found = sorted(artifacts.rglob("*.neff"))
    if not found:
        raise error or RuntimeError("no NEFF in the folder of artifacts")
    inputs = expected_names(request)[0]
    # What the documentation says of names: parameters keep theirs, results are output_0, output_1, ...
    outputs = [f"output_{i}" if r["parameter"] < 0 else r["name"] for i, r in enumerate(request["results"])]
    return found[0], inputs, outputs


INTERFACES = (("nki 0.6", with_nki_06), ("nki 0.4", with_nki_04), ("artifacts", with_artifacts))


def build(request, folder):
    messages = []
    for name, interface in INTERFACES:
        try:
            neff, inputs, outputs = interface(request, folder)
        except ImportError as e:
            messages.append(f"{name}: {e}")
            continue
        except Exception as e:
            traceback.print_exc()
            messages.append(f"{name}: {type(e).__name__}: {e}")
            continue
        wanted = folder / request["output"]
        if neff.resolve() != wanted.resolve():
            os.replace(neff, wanted)
        return {"status": "ok", "api": name, "inputs": inputs, "outputs": outputs, "versions": versions()}
    return {"status": "refused", "message": "; ".join(messages)}


def write(path, content):
    Path(path + ".part").write_text(json.dumps(content))
    os.replace(path + ".part", path)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if sys.argv[1] == "--versions":
        return write(sys.argv[2], versions())
    end_with_the_caller()
    request = Path(sys.argv[1]).resolve()
    content = json.loads(request.read_text())
    if content.get("format") != 1:
        sys.exit(f"{request}: format {content.get('format')} is not known here")
    write(sys.argv[2], build(content, request.parent))


main()
