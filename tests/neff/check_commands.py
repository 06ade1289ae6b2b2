"""neffc, silicon-check, silicon-diff and validate --from as commands, over the fake toolchain; bench over the fake
runtime.

    check_commands.py TRNSCI FAKE_TOOLCHAIN FAKE_RUNTIME
"""

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def main(command, toolchain, runtime):
    folder = Path(tempfile.mkdtemp(prefix="trn_silicon_", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TRN_")}
    environment.update(TRN_NKI_PYTHON=toolchain, TRN_NEFF_CACHE=str(folder / "cache"), OMP_NUM_THREADS="1")

    def run(*arguments, status=0):
        done = subprocess.run([command, *map(str, arguments)], capture_output=True, text=True, env=environment)
        if done.returncode != status:
            raise SystemExit(f"{arguments}: status {done.returncode}, not {status}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def holds(text, *parts):
        for part in parts:
            if part not in text:
                raise SystemExit(f"'{part}' is not in:\n{text}")

    # A bundle of four programs, one saved; the second time they are there.
    run("dis", "blas.gemm", "--m", 40, "--n", 30, "--k", 20, "--machine", "trn2", "--save", folder / "saved.json")
    (folder / "kernels.txt").write_text("# programs\nblas.gemm --m 64 --n 64 --k 64 --dtype bf16\n\nblas.axpy --n 1000 # one\n"
                                        f"fft.c2c --n 16 --batch 4\nfile {folder}/saved.json\n")
    arguments = ("neffc", "--machine", "trn2", "--list", folder / "kernels.txt", "-o", folder / "bundle")
    holds(run(*arguments), "4 programs: 4 built, 0 there before, 0 failed", f"TRN_NEFF_BUNDLE={folder}/bundle")
    holds(run(*arguments), "4 programs: 0 built, 4 there before, 0 failed")
    holds(run("neffc", "--machine", "trn1", *arguments[3:], status=2), "kernels.txt:6: the program is for trn2, not for trn1")
    # One line may be several programs.
    (folder / "several.txt").write_text("solver.potrf --n 40\nblas.axpy --n 1000\n")
    count = run("dis", "solver.potrf", "--n", 40).count("# program ") + 1
    if count < 3:
        raise SystemExit("solver.potrf runs one program: this test needs a line of several")
    several = ("neffc", "--machine", "trn2", "--list", folder / "several.txt", "-o", folder / "several")
    holds(run(*several), f"{count} programs: {count} built, 0 there before, 0 failed")
    holds(run(*several), f"{count} programs: 0 built, {count} there before, 0 failed")
    # A toolchain that refuses: on record, and tried again when asked.
    wrapper = folder / "refusing"
    wrapper.write_text(f"#!/bin/sh\nTRN_FAKE_TOOLCHAIN=refuse exec {toolchain} \"$@\"\n")
    wrapper.chmod(0o755)
    (folder / "one.txt").write_text("blas.scal --n 500\n")
    arguments = ("neffc", "--machine", "trn2", "--list", folder / "one.txt", "-o", folder / "bundle")
    environment["TRN_NKI_PYTHON"] = str(wrapper)
    holds(run(*arguments, status=1), "1 of 1 programs failed", "SyntaxError")
    holds(run(*several[:-1], folder / "refused", status=1), f"{count} programs: 0 built, 0 there before, {count} failed",
          f"{count} of {count} programs failed")
    environment["TRN_NKI_PYTHON"] = toolchain
    holds(run(*arguments, status=1), "on record")
    holds(run(*arguments, "--retry"), "1 built")
    environment["TRN_NKI_PYTHON"] = str(folder / "nothing")
    holds(run("neffc", "--machine", "trn3", "--list", folder / "one.txt", "-o", folder / "bundle", status=1), "set TRN_NKI_PYTHON")
    environment["TRN_NKI_PYTHON"] = toolchain

    # Two reports of one simulator are the same; one with another answer is not, and says which.
    sections = "machine,toolchain,exactness,time,contract,faults,cores"
    for name in ("a", "b"):
        text = run("silicon-check", "--exec", "sim:trn2", "--sections", sections, "-o", folder / f"{name}.json")
    run("silicon-check", "--exec", "sim:trn2", "--sections", "machine,faults", "-o", folder / "d.json", "--html", folder / "d.html")
    holds(run("silicon-diff", folder / "a.json", folder / "d.json"), "not compared: time: in the first report only", "no differences")
    holds((folder / "d.html").read_text(), "silicon-check of sim:trn2", "more memory than there is", "</html>")
    holds(text, "exactness", "choices confirmed", "report: ", "10 of 10 as expected, 1 answered, 1 skipped")
    holds(run("silicon-diff", folder / "a.json", folder / "b.json"), "no differences")
    report = json.loads((folder / "a.json").read_text())
    for section in report["sections"]:
        if section["status"] != "ok":
            raise SystemExit(f"sim:trn2: {json.dumps(section, indent=1)}")
    content = (folder / "a.json").read_text()
    for secret in (os.uname().nodename, str(folder), environment.get("HOME", "/nothing") + "/"):
        if secret in content:
            raise SystemExit(f"the report holds '{secret}'")
    holds(run("validate", "--from", folder / "a.json"), "0 constants would move")
    for section in report["sections"]:
        if section["name"] == "exactness":
            wrong = next(c for c in section["choices"] if c["number"] == 29)
            wrong.update(status="other", rule="flushed to zero, the sign kept", found="00000000")
        if section["name"] == "time":
            section["rows"][0]["measured_us"] += 10
    (folder / "b.json").write_text(json.dumps(report))
    holds(run("silicon-diff", folder / "a.json", folder / "b.json", status=1), f"choice: 29, {wrong['title']}",
          "flushed to zero, the sign kept", "time: a load and a store", "2 differences")
    # A launch is a part of every kernel's time.
    for row in next(section for section in report["sections"] if section["name"] == "time")["rows"][1:]:
        row["measured_us"] += 10
    (folder / "launch.json").write_text(json.dumps(report))
    holds(run("validate", "--from", folder / "launch.json"), "launch and finish: 15 us would become 25 us", "1 constants would move")
    # No time: every section is there and says so.
    run("silicon-check", "--exec", "sim:trn2", "--minutes", 0, "-o", folder / "c.json")
    late = json.loads((folder / "c.json").read_text())
    if [s["status"] for s in late["sections"]] != ["skipped"] * 11:
        raise SystemExit(late)
    holds(run("silicon-diff", folder / "a.json", folder / "c.json"), "not compared: exactness: skipped in the second report", "no differences")
    # Time that runs out inside a section: it is cut, and what was not asked is not a difference.
    text = run("silicon-check", "--exec", "sim:trn2", "--minutes", 1e-5, "--sections", "exactness", "-o", folder / "e.json")
    section = json.loads((folder / "e.json").read_text())["sections"][0]
    if section["status"] == "cut":  # otherwise it had not even begun
        holds(text, f"{section['left_out']} left out, the time was up")
    elif section["status"] != "skipped":
        raise SystemExit(section)
    holds(run("silicon-diff", folder / "a.json", folder / "e.json"), "not compared: ", "no differences")
    # To standard output: the report alone.
    report = json.loads(run("silicon-check", "--exec", "sim:trn2", "--sections", "machine", "-o", "-"))
    if [s["name"] for s in report["sections"]] != ["machine"]:
        raise SystemExit(report)
    # A signal: the report of what was measured, status 1, and no other file.
    stopped = folder / "stopped"
    stopped.mkdir()
    for number in (signal.SIGINT, signal.SIGTERM):
        # Before the check has begun a signal ends it at once and leaves nothing: then later, for a busy machine.
        delay = 0.25
        while True:
            process = subprocess.Popen([command, "silicon-check", "--exec", "sim:trn2", "-o", stopped / "r.json"], env=environment,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            time.sleep(delay)
            process.send_signal(number)
            text = process.communicate()[0]
            if process.returncode != -number or delay > 60:
                break
            if os.listdir(stopped):
                raise SystemExit(f"a signal at the beginning leaves {os.listdir(stopped)}")
            delay *= 2
        holds(text, "stopped by a signal; the report holds what was measured")
        report = json.loads((stopped / "r.json").read_text())
        if process.returncode != 1 or len(report["sections"]) != 11 or report["sections"][-1]["status"] != "skipped":
            raise SystemExit(f"status {process.returncode}\n{text}")
        if os.listdir(stopped) != ["r.json"]:
            raise SystemExit(os.listdir(stopped))
        (stopped / "r.json").unlink()
    # A signal while a compiler runs without end: it is ended, and the section says that it was cut.
    wrapper.write_text(f"#!/bin/sh\nTRN_FAKE_TOOLCHAIN='hang builds={folder}/hanging' exec {toolchain} \"$@\"\n")
    environment["TRN_NKI_PYTHON"] = str(wrapper)
    for number in (signal.SIGINT, signal.SIGHUP):
        process = subprocess.Popen([command, "silicon-check", "--exec", "sim:trn2", "--sections", "machine,toolchain", "-o", stopped / "r.json"],
                                   env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        while not (folder / "hanging").exists():
            time.sleep(0.01)
        if [s["name"] for s in json.loads((stopped / "r.json").read_text())["sections"]] != ["machine"]:
            raise SystemExit("the report so far is not there while the next section runs")
        process.send_signal(number)
        text = process.communicate(timeout=120)[0]
        holds(" ".join(text.split()), "stopping; a second signal ends it at once", "0 of 8 kernels built; 8 left out, the check was stopped")
        section = json.loads((stopped / "r.json").read_text())["sections"][1]
        if process.returncode != 1 or section["status"] != "cut" or section["left_out"] != 8:
            raise SystemExit(f"status {process.returncode}\n{text}\n{section}")
        (folder / "hanging").unlink()
        (stopped / "r.json").unlink()
    environment["TRN_NKI_PYTHON"] = toolchain
    # The second signal ends the process at once; what was measured before is there.
    process = subprocess.Popen([command, "silicon-check", "--exec", "sim:trn2", "--sections", "machine,bits", "-o", stopped / "r.json"],
                               env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while not (stopped / "r.json").exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate()
    report = json.loads((stopped / "r.json").read_text())
    if process.returncode not in (1, -signal.SIGINT) or report["sections"][0]["name"] != "machine":
        raise SystemExit(f"status {process.returncode}: {report}")
    # Who names no executor hears which one it was.
    if not list(Path("/dev").glob("neuron*")):
        holds(run("silicon-check", "--sections", "machine", "-o", folder / "g.json"), "without --exec: sim:trn2, a simulator",
              "sim:trn2 (trn2), a simulator: nothing of this was run on hardware")
    # Hardware has no model: rates are those of the clock.
    environment["TRN_NRT_LIBRARY"] = runtime
    for arguments in (("blas.gemm", "--m", 128, "--n", 128, "--k", 128), ("blas.axpy", "--n", 1000), ("blas.trsm", "--m", 20, "--n", 5),
                      ("rand.raw32", "--n", 1000), ("solver.potrf", "--n", 40), ("tensor.permute", "--sizes", "a=8,b=8,c=8")):
        row = json.loads(run("bench", *arguments, "--exec", "neuron", "--json", "-"))[0]
        rates = [row["rate"], row["roof_fraction"], row.get("gemm_equivalents", 1)]
        measured = row["rate"] > 0 or row["gbytes"] > 0
        if row["modelled_seconds"] is not None or not row["seconds"] > 0 or not measured or not all(map(math.isfinite, rates)) or rates[2] == 0:
            raise SystemExit(row)
        text = run("bench", *arguments, "--exec", "neuron")
        if not any(line.startswith("neuron ") for line in text.splitlines()) or "modelled" in text or " inf" in text:
            raise SystemExit(text)
    # A run recorded on hardware, beside its model.
    environment["TRN_NEURON_EXPLORER"] = str(Path(__file__).resolve().parent.parent / "fake_toolchain" / "neuron-explorer")
    text = run("profile", "blas.gemm", "--m", 64, "--n", 64, "--k", 64, "--recorded", "--html", folder / "p.html")
    holds(text, "recorded on neuron", "total_time", "dma_active_time")
    holds((folder / "p.html").read_text().replace("<wbr>", ""), "Model and measurement", "total_time")
    subprocess.run(["rm", "-rf", folder], check=True)
    print("commands of the way to hardware: as expected")


main(*sys.argv[1:])
