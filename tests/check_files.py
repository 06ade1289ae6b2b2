"""Files that commands read and write, where they are not plain ones: check_files.py TRNSCI

A pipe is read to its end, as `trnsci compare <(...) <(...)` makes them; `-` is standard output for every output that is
text; two outputs that a link joins are refused although the file is not there yet, and the file behind such a link is
written while the link stays; an interrupted `rand --out` leaves the old file, or none; the demonstration in a folder
that is gone says so before it begins.
"""
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MATRIX = "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 4.0\n2 2 5.0\n3 3 6.0\n1 3 1.0\n"
findings = []


def expect(holds, what):
    if not holds:
        findings.append(what)


def main(command):
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def run(line, timeout=60):
            try:
                return subprocess.run([command, *line.split()], cwd=folder, env=environment, capture_output=True, text=True,
                                      timeout=timeout)
            except subprocess.TimeoutExpired:
                findings.append(f"trnsci {line}: does not end")
                return subprocess.CompletedProcess(line, -1, "", "")

        def through_pipes(line, inputs, refusal=""):
            """The command with each of these files behind a named pipe, and with the files themselves; `refusal`: what it says where it
            has read them and refuses them."""
            plain = run(line.format(**{key: path for key, path in inputs.items()}))
            writers = []
            for key, path in inputs.items():
                pipe = folder / f"pipe-{key}{path.suffix}"
                os.mkfifo(pipe)
                writers.append(threading.Thread(target=lambda p=pipe, t=path.read_bytes(): p.write_bytes(t), daemon=True))
                writers[-1].start()
            piped = run(line.format(**{key: f"pipe-{key}{path.suffix}" for key, path in inputs.items()}))
            for key, path in inputs.items():
                (folder / f"pipe-{key}{path.suffix}").unlink()
            expect(plain.returncode == 0 or refusal, f"{line}: {plain.stderr}")
            expect(piped.returncode == plain.returncode, f"{line} from pipes: status {piped.returncode}: {piped.stderr}")
            expect(refusal in plain.stderr and refusal in piped.stderr, f"{line}: {piped.stderr}")

        (folder / "m.mtx").write_text(MATRIX)
        (folder / "water.xyz").write_text((ROOT / "apps" / "mp2" / "molecules" / "water.xyz").read_text())
        small = "--m 8 --n 8 --k 8"
        run(f"bench blas.gemm {small} --repeats 1 --json a.json")
        run(f"dis blas.gemm {small} --output p.json")
        run("silicon-check --exec sim:trn2 --sections machine --output r.json")
        through_pipes("compare {a} {b}", {"a": folder / "a.json", "b": folder / "a.json"})
        through_pipes("sparse info {a}", {"a": folder / "m.mtx"})
        through_pipes("bench sparse.spmv --repeats 1 --exec host --matrix {a}", {"a": folder / "m.mtx"})
        through_pipes("dis file {a}", {"a": folder / "p.json"})
        through_pipes("mp2 {a} --basis sto-3g --quiet", {"a": folder / "water.xyz"})
        through_pipes("silicon-diff {a} {b}", {"a": folder / "r.json", "b": folder / "r.json"})
        report = json.loads((folder / "r.json").read_text())
        report["sections"][0]["core"] = "\x1b[31mother"
        (folder / "other.json").write_text(json.dumps(report))
        other = run("silicon-diff r.json other.json")
        expect(other.returncode == 1 and "silicon-diff: 1 difference\n" in other.stderr,
               f"silicon-diff: status {other.returncode}: {other.stderr}")
        expect("and '\\x1b[31mother'" in other.stdout and "\x1b" not in other.stdout,
               f"silicon-diff prints a report's bytes raw: {other.stdout!r}")
        through_pipes("validate --from {a}", {"a": folder / "r.json"}, "the report has no section 'time'")

        saved = run(f"dis blas.gemm {small} --output -")
        expect(saved.stdout == (folder / "p.json").read_text(), "dis --output - is not what --output FILE writes")
        expect(json.loads(saved.stdout) is not None, "dis --output - is not JSON")
        expect(run("rand --n 3 --text --out -").stdout == run("rand --n 3 --text").stdout, "rand --out - is not rand")
        expect(not (folder / "-").exists(), "a file is called -")

        (folder / "link").symlink_to("behind.json")
        refused = run(f"profile blas.gemm {small} --json link --html behind.json")
        expect(refused.returncode == 2 and "--html and --json name the same file" in refused.stderr,
               f"two outputs, one behind a link to nothing: status {refused.returncode}: {refused.stderr}")
        run(f"profile blas.gemm {small} --json link")
        expect((folder / "link").is_symlink() and (folder / "behind.json").is_file(), "a link to nothing was replaced by the file")
        (folder / "circle").symlink_to("circle")
        expect("in a circle" in run(f"profile blas.gemm {small} --json circle").stderr, "a link to itself is not refused")

        gone = folder / "gone"
        gone.mkdir()
        told = subprocess.run(["bash", "-c", 'cd gone && rmdir ../gone && exec "$0"', command], cwd=folder, env=environment,
                              capture_output=True, text=True, timeout=60)
        expect(told.returncode == 2 and told.stderr.count("\n") == 1 and not told.stdout,
               f"the demonstration in a folder that is gone: status {told.returncode}: {told.stderr}")

        environment["TMPDIR"] = "/nonexistent"  # no temporary file is needed here
        told = run("mp2 water.xyz --basis sto-3g --quiet")
        expect(told.returncode == 0, f"mp2 without a folder for temporary files: {told.stderr}")
        del environment["TMPDIR"]
        environment["OMP_NUM_THREADS"] = "1000000"
        told = run("info")
        expect(told.returncode == 2 and "OMP_NUM_THREADS asks for 1000000 threads; give at most 4096" in told.stderr,
               f"a million threads: status {told.returncode}: {told.stderr}")
        environment["OMP_NUM_THREADS"] = "1"

        (folder / "values").write_text("old")
        process = subprocess.Popen([command, "rand", "--n", "4000000000", "--out", "values"], cwd=folder, env=environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        expect((folder / "values").read_text() == "old", "an interrupted rand --out leaves a part of a file")
        told = subprocess.run([command, "rand", "--n", "1000000", "--out", "values"], cwd=folder, env=environment, capture_output=True,
                              text=True, timeout=60, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000)))
        expect(told.returncode in (1, 2) and "cannot write 'values'" in told.stderr and told.stderr.count("\n") == 1,
               f"rand --out above the limit on the size of files: status {told.returncode}: {told.stderr}")
        expect((folder / "values").read_text() == "old", "a file above the limit on the size of files replaced an older one")

        left = sorted(path.name for path in folder.iterdir() if ".partial" in path.name)
        expect(not left, f"left behind: {left}")
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
