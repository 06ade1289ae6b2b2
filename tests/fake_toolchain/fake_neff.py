"""The NEFF that the stubs of nki make: the documented header of 1024 bytes and a tar file, as fake_toolchain.cpp does."""

import io
import json
import struct
import tarfile
from pathlib import Path


def write(path, lnc, inputs, outputs):
    """inputs and outputs: names as the NEFF has them. The request lies in the folder in which the worker runs."""
    request = json.loads(Path("request.json").read_text())
    arguments = [{"name": n, "bytes": p["bytes"], "output": False, "alias": "", "tensor": p["tensor"]}
                 for n, p in zip(inputs, request["parameters"])]
    arguments += [{"name": n, "bytes": r["bytes"], "output": True, "tensor": r["tensor"],
                   "alias": "" if r["parameter"] < 0 else inputs[r["parameter"]]}
                  for n, r in zip(outputs, request["results"])]
    manifest = {"format": 1, "program": "", "hash": "0" * 16, "entry": request["entry"], "machine": request["machine"],
                "lnc": lnc, "arguments": arguments, "sha256": "0" * 64, "versions": {}}
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, text in (("kernel.py", Path(request["kernel"]).read_bytes()),
                           ("program.json", Path(request["program"]).read_bytes()),
                           ("manifest.json", json.dumps(manifest).encode())):
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))
    data = content.getvalue()
    header = bytearray(1024)
    struct.pack_into("<QQQQQ128s", header, 0, 2, 1024, len(data), 2, 0, b"stub of nki")
    struct.pack_into("<I", header, 168, 1)
    struct.pack_into("<256s", header, 220, request["entry"].encode())
    struct.pack_into("<I", header, 476, 1)
    struct.pack_into("<I", header, 552, lnc)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_bytes(bytes(header) + data)


def names(kernel, outputs):
    """Parameters of the kernel; those that are returned too are marked, as AWS's tools mark them."""
    import inspect

    parameters = list(inspect.signature(kernel).parameters)
    return [p + ".must_alias_input" if p in outputs else p for p in parameters]
