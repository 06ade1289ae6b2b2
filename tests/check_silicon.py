#!/usr/bin/env python3
"""silicon-check on `neuron` over the fake runtime and the fake toolchain, as a user runs it.

    check_silicon.py TRNSCI LIBNRT TOOLCHAIN

Every section is ok, every program has the simulator's bits, and the report names the runtime's version. silicon-diff
against a report of sim:trn2 finds other times (the fake's times are this host's), and nothing else. Every operation that
a kernel table of a library has for devices, and every one that `trnsci emit` has, is among those that were run.
"""
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

SECTIONS = ["machine", "toolchain", "exactness", "bits", "time", "contract", "faults", "cores", "operations", "runtime", "end"]
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
# Operations of devices that are not dispatched on one core of a trn2, and why.
ELSEWHERE = {"fft.twiddle": "of plans over several ranks; its program is run by a call of that name",
             "blas.mx_gemm": "trn3's", "blas.mx_quantize": "trn3's"}


def arguments(text):
    """The arguments of an initialiser, without what brackets hold."""
    found, depth = [""], 0
    for c in text:
        depth += (c in "([{<") - (c in ")]}>")
        if c == "," and depth == 0:
            found.append("")
        else:
            found[-1] += c
    return [a.strip() for a in found]


def device_operations():
    """The operations for which a kernel table of a library has a kernel of devices."""
    found = set()
    for path in [*ROOT.glob("*/src/**/*.hpp"), *ROOT.glob("*/src/**/*.cpp"), *ROOT.glob("apps/*/src/**/*.cpp")]:
        for body in re.findall(r"KernelTable<[^;{]*?>\s+\w+(?:<[^>]*>)?\s*\{\s*(\".*?)\}\s*;", path.read_text(), re.DOTALL):
            kernels = arguments(body.replace("->", ""))
            if len(kernels) > 2 and kernels[2] != "nullptr":
                found.add(kernels[0].strip('"'))
    if len(found) < 60:
        sys.exit(f"kernel tables are not understood: {found}")
    return found


def emitted_operations(trnsci):
    """The operations that `trnsci emit` has on trn2."""
    import check_emitted

    host = {name for name, machines in check_emitted.HOST_ONLY.items() if "trn2" in machines}
    return set(check_emitted.operations(trnsci)) - host


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    trnsci, library, toolchain = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TRN_NKI_PYTHON": toolchain, "TRN_NEFF_CACHE": f"{folder}/cache"}

        def check(executor, **more):
            path = pathlib.Path(folder) / f"{executor.replace(':', '_')}.json"
            begin, processor = time.monotonic(), processor_seconds()
            run = subprocess.run([trnsci, "silicon-check", "--exec", executor, "--minutes", "600", "-o", str(path)],
                                 env={**environment, **more}, capture_output=True, text=True)
            if run.returncode != 0:
                sys.exit(f"silicon-check --exec {executor}: status {run.returncode}\n{run.stdout}{run.stderr}")
            # Three minutes, of the processor: others may use the machine, too.
            processor = processor_seconds() - processor
            print(f"silicon-check --exec {executor}: {time.monotonic() - begin:.0f} s, {processor:.0f} s of the processor")
            if processor > 180:
                sys.exit("that is more than three minutes")
            sections = {s["name"]: s for s in json.loads(path.read_text())["sections"]}
            for section in SECTIONS:
                if (status := sections[section]["status"]) != ("skipped" if section in ("runtime", "end") and executor != "neuron" else "ok"):
                    sys.exit(f"{executor}: section {section} is '{status}'")
            return path, sections

        model, _ = check("sim:trn2")
        measured, sections = check("neuron", TRN_NRT_LIBRARY=library)
        if not sections["machine"]["runtime_version"].startswith("2.34.0.0 (fake"):
            sys.exit(f"runtime_version is '{sections['machine']['runtime_version']}'")
        if sections["machine"]["simulated"]:
            sys.exit("neuron calls itself simulated")
        machine = sections["machine"]
        if machine["visible_cores"] != 8 or machine["family"] != 5 or machine["memory_bytes"] != 16 << 30 or machine["lnc"] != 1:
            sys.exit(f"machine: {machine}")
        if "nrt_load" not in machine["functions_found"] or machine["functions_missing"]:
            sys.exit(f"functions: {machine['functions_missing']}")
        # What the fake does with what the executor refuses: known, so that a question that asks nothing shows.
        answers = {i["item"]: i["answer"] for name in ("runtime", "end") for i in sections[name]["items"]}
        wanted = {"one tensor in both sets, not declared": "status 2 at nrt_execute", "two tensors that overlap": "right",
                  "a tensor of no bytes": "status 2 at nrt_tensor_allocate", "a slice of no bytes": "status 2 at nrt_tensor_allocate_slice",
                  "runs that the queue takes": "64", "order in which runs are over": "in order",
                  "a tensor of another core": "status 1002 at nrt_execute", "two threads on one core": "right",
                  "a run beyond the runtime's limit": "status 5 at nrt_execute", "a run on that core afterwards": "right",
                  "a run on another core afterwards": "right",
                  "the runtime closed and started again": "status 14"}
        for item, answer in wanted.items():
            if answers.get(item) != answer:
                sys.exit(f"runtime: {item}: {answers.get(item)}, not {answer}")
        faults = {i["item"]: i["answer"] for i in sections["faults"]["items"]}
        if faults["a NEFF for other logical cores"] != "refused" or faults["a NEFF that is cut off"] != "refused":
            sys.exit(f"faults: {faults}")
        times = sections["time"]
        if len(times["in_flight"]) != 3 or not times["host_launch_us"]["median"] > 0 or not times["published"]:
            sys.exit(f"time: {times}")
        ran = set(sections["operations"]["operations"])
        for name in ("bits", "operations"):
            if sections[name]["false_nan_reports"] != 0:
                sys.exit(f"{name}: the fake reports NaN where there is none")
            rows = sections[name]["programs"]
            if different := [row for row in rows if row["status"] != "equal" and row["program"].split()[0] not in ELSEWHERE]:
                sys.exit(f"{name}: {different}")
            ran |= {row["program"].split()[0].rstrip(",") for row in rows if row["status"] == "equal"}
        known = device_operations() | emitted_operations(trnsci)
        if missing := known - ran - {name for name in ELSEWHERE}:
            sys.exit(f"operations of devices that silicon-check does not run: {sorted(missing)}")
        print(f"{len(known)} operations of devices, {len(sections['operations']['programs'])} calls with {sum(row.get('programs', 1) for row in sections['operations']['programs'])} programs")
        if {c["ranks"] for c in sections["cores"]["collectives"]} != {2, 4, 8} or len(sections["cores"]["streaming_us"]) != 2:
            sys.exit(f"cores: {sections['cores']}")
        diff = subprocess.run([trnsci, "silicon-diff", str(model), str(measured)], capture_output=True, text=True)
        # A difference begins in the first column; its further lines are indented.
        found = [line for line in diff.stdout.splitlines() if line and not line.startswith((" ", "not compared"))]
        others = [line for line in found if not line.startswith("time: ")]
        if others or not found:
            sys.exit(f"silicon-diff: {others or 'no time differs'}\n{diff.stdout}{diff.stderr}")
        print(f"{len(sections['bits']['programs'])} programs with equal bits, {len(found)} times differ")


if __name__ == "__main__":
    main()
