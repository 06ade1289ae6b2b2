"""`trnsci mp2` interrupted at ten moments: check_interrupted.py TRNSCI MOLECULE

SIGINT, as Ctrl-C sends it, at ten moments spread over a whole run that writes JSON and a page. After each: the command
has ended, by the signal or with status 0 when it was through; each file is whole or not there, and nothing else lies in
the folder; a file of an earlier run is the old one or the new one, whole. Also: the same with standard error closed, and
the text of a run whose standard error is closed is that of a run whose is not.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MOMENTS = 10


def main(command, molecule):
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="trnsci-interrupted-"))
    words = [command, "mp2", molecule, "--exec", "sim:trn2", "--precision", "tf32x3", "--json", "out.json", "--report", "page.html"]
    findings = []

    def start(stderr=subprocess.DEVNULL):
        return subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=stderr, env=environment)

    def check(what, old):
        names = sorted(p.name for p in folder.iterdir())
        if not set(names) <= {"out.json", "page.html"}:
            findings.append(f"{what}: left behind: {names}")
        for name in names:
            text = (folder / name).read_text()
            if name == "page.html" and not text.endswith("</html>\n"):
                findings.append(f"{what}: a part of the page, {len(text)} characters")
            if name == "out.json":
                try:
                    json.loads(text)
                except ValueError as error:
                    findings.append(f"{what}: a part of the JSON: {error}")
        if old and names != ["out.json", "page.html"]:
            findings.append(f"{what}: a file of an earlier run is gone: {names}")

    begin = time.monotonic()
    whole = start()
    text = whole.communicate()[0].decode()
    seconds = time.monotonic() - begin
    if whole.returncode != 0:
        raise SystemExit(f"the run fails with status {whole.returncode}")
    check("whole run", True)
    ended, killed = 0, 0
    for i in range(MOMENTS):
        old = i % 2 == 1
        if not old:
            for path in folder.iterdir():
                path.unlink()
        else:
            (folder / "out.json").write_text("{}\n")
            (folder / "page.html").write_text("<html></html>\n")
        run = start()
        time.sleep(seconds * (i + 0.5) / MOMENTS)
        run.send_signal(signal.SIGINT)
        try:
            run.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            run.kill()
            findings.append(f"moment {i}: still running 20 s after the signal")
            continue
        killed += run.returncode == -signal.SIGINT
        ended += run.returncode == 0
        if run.returncode not in (0, -signal.SIGINT):
            findings.append(f"moment {i}: status {run.returncode}")
        check(f"moment {i}", old)
    if killed == 0:
        findings.append("no run was interrupted: the moments are wrong")

    def steady(output):  # without the measured times, and without the widths that they give to columns
        return re.sub(r"[ -]+", " ", re.sub(r" +[\d.]+ (ns|us|ms|s)\b", "", output))

    closed = subprocess.run(["bash", "-c", 'exec "$@" 2>&-', "bash", *words], cwd=folder, capture_output=True, text=True, env=environment)
    if closed.returncode != 0 or steady(closed.stdout) != steady(text):
        findings.append(f"standard error closed: status {closed.returncode}, and the text is another one")
    full = subprocess.run(["bash", "-c", 'exec "$@" >/dev/full', "bash", *words], cwd=folder, capture_output=True, text=True, env=environment)
    if full.returncode != 1 or not full.stderr.strip().endswith("No space left on device"):
        findings.append(f"standard output full: status {full.returncode}: {full.stderr[-200:]}")
    shutil.rmtree(folder)
    for finding in findings:
        print(finding)
    print(f"{MOMENTS} moments of {seconds:.1f} s: {killed} runs interrupted, {ended} through; {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])))
