#!/usr/bin/env python3
"""Holds the libraries to the one way in which they reach executors and the environment.

usage: check_seam.py SOURCE_DIR | --self-test

1. The environment is read in core/src/environment.cpp. ENVIRONMENT names every other file that calls getenv, with the
   reason.
2. Libraries neither copy nor launch behind the events: no copy_in, copy_out, device.run or programs().get outside of
   core, tile and neuron (and tests).
3. No function of a library's namespace `device` is called outside of its device kernels and of the tables that dispatch
   chooses from (kernels.hpp, kernels/).
"""
import pathlib
import re
import sys
import tempfile

LIBRARIES = ("blas", "fft", "rand", "solver", "sparse", "tensor")
ENVIRONMENT = {
    "core/src/environment.cpp": "the one place",
    "capi/test/memory_test.cpp": "puts a variable back after setting it",
    "solver/test/spectral_division_test.cpp": "a longer run by hand",
    "solver/test/svd_exact_device_test.cpp": "a longer run by hand",
    "tests/fake_toolchain/fake_toolchain.cpp": "a stand-in for a compiler: its orders from the test that starts it",
    "tests/support/over_neuron.cpp": "puts a runtime under a test program: its orders from the test that starts it",
    "tests/support/nki_run.cpp": "rewrites expected texts by hand",
    "tests/neff/parsers_test.cpp": "a longer run by hand",
    "tests/neff/cache_test.cpp": "a longer run by hand",
    "tests/fake_nrt/execute.cpp": "a stand-in for AWS's runtime, which reads these variables",
    "tests/fake_nrt/api_runs.cpp": "a stand-in for AWS's runtime, which reads these variables",
    "tests/fake_nrt/state.cpp": "a stand-in for AWS's runtime: its orders from the test that starts it",
}
DEVICES = {
    "tools/recording_device.cpp": "a device itself: it passes on what the one behind it is asked",
    "tools/silicon_time.cpp": "measures a device's own runs",
}
LAUNCH = re.compile(r"\bcopy_in\s*\(|\bcopy_out\s*\(|\bdevice\.run\s*\(|\bprograms\(\)\.get\b")
CALL = re.compile(r"(?<![\w:])device::(\w+)(?:<[^;{}()]*>)?\(")
COMMENT = re.compile(r"//[^\n]*")


def code_of(path):
    return COMMENT.sub("", path.read_text())


def violations(root):
    found = []
    for path in sorted(root.rglob("*.[hc]pp")):
        name = path.relative_to(root).as_posix()
        parts = name.split("/")
        if parts[0] in ("build", ".git"):
            continue
        code = code_of(path)
        if re.search(r"\bgetenv\s*\(", code) and name not in ENVIRONMENT:
            found.append(f"{name}: reads the environment; trn::environment() of core does that")
        if "test" in parts[:-1] or parts[0] == "tests" or "bench" in parts[:-1]:
            continue
        if parts[0] not in ("core", "tile", "neuron") and name not in DEVICES:
            for match in LAUNCH.finditer(code):
                found.append(f"{name}: {match.group(0).strip()}...) goes around tile::launch and trn::copy")
        if parts[0] in LIBRARIES and "device" not in parts[:-1] and "kernels" not in parts and parts[-1] != "kernels.hpp":
            for match in CALL.finditer(code):
                found.append(f"{name}: calls device::{match.group(1)}; put it into the kernel table")
    return found


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        cases = {
            "core/src/environment.cpp": ("secure_getenv(name); getenv(name);", 0),
            "tools/text.cpp": ('std::getenv("TERM");', 1),
            "blas/src/gemm.cpp": ("device::gemm(executor, args);", 1),
            "blas/src/trsm.cpp": ("device::on<float>(executor);", 1),
            "blas/src/kernels.hpp": ("[](auto& e) { device::gemm(e); }", 0),
            "blas/src/device/gemm.cpp": ("device::gemm(executor, args);", 0),
            "blas/src/table.cpp": ("return {operation, host::gemm, device::gemm}; device::Args{1};  // device::gemm(x)", 0),
            "fft/src/run.cpp": ("backend.copy_in (to, from); device.run(it);", 2),
            "neuron/src/run.cpp": ("backend.copy_in(to, from);", 0),
            "fft/test/run.cpp": ("backend.copy_in(to, from);", 0),
        }
        for name, (text, wrong) in cases.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")
            found = violations(root)
            assert len(found) == wrong, (name, found)
            path.unlink()


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return
    root = pathlib.Path(sys.argv[1])
    found = violations(root)
    for name in ENVIRONMENT:
        if not (root / name).exists() or "getenv" not in (root / name).read_text():
            found.append(f"{name}: does not read the environment any more; drop it from check_seam.py")
    print("\n".join(found) if found else "executors and the environment are reached in one way")
    sys.exit(1 if found else 0)


main()
