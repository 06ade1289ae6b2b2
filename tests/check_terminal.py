"""What the trnsci command does on a terminal, and in a shell: check_terminal.py TRNSCI

Colours where standard output is a terminal and NO_COLOR is not set, and nowhere else. What takes over two seconds says
on standard error what it does and for how long, on a terminal alone. `trnsci completion bash` completes commands,
options and values, also after the ':' at which bash splits words; so do zsh's and fish's scripts, where these are installed.
"""
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time

findings = []


def on_terminal(words, seconds=60, **more):
    """All that a terminal shows."""
    environment = {**os.environ, "TERM": "xterm", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **more}
    if "NO_COLOR" not in more:
        environment.pop("NO_COLOR", None)
    master, slave = pty.openpty()
    process = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    shown, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if not select.select([master], [], [], 0.2)[0]:
            continue
        try:
            part = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    process.wait(timeout=seconds)
    os.close(master)
    return shown.decode()


def completed(command, line):
    """What bash offers at the end of a line."""
    script = f'''eval "$({command} completion bash)"
COMP_LINE="$1"; COMP_POINT=${{#COMP_LINE}}
_trnsci
printf '%s\\n' "${{COMPREPLY[@]}}"
'''
    done = subprocess.run(["bash", "-c", script, "bash", line.replace("trnsci", command, 1)], capture_output=True, text=True)
    if done.stderr:
        findings.append(f"completion of '{line}': {done.stderr}")
    return done.stdout.split()


def expect(holds, what):
    if not holds:
        findings.append(what)


# Lines, and a word that is among the answers of every shell.
LINES = (("trnsci ben", "bench"), ("trnsci bench blas.ge", "blas.gemm"), ("trnsci bench blas.gemm --prec", "--precision"),
         ("trnsci bench blas.gemm --exec sim:", "sim:trn2"), ("trnsci mp2 --guess s", "sad"))


def shell(name, script, command):
    """What a shell says to a script, with trnsci on its path; None when there is no such shell."""
    if shutil.which(name) is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(command, os.path.join(folder, "trnsci"))
        found = subprocess.run([name, *(["-f"] if name == "zsh" else ["--no-config"]), "-c", script], capture_output=True, text=True,
                               env={**os.environ, "PATH": folder + ":" + os.environ["PATH"], "HOME": folder})
    expect(found.returncode == 0 and not found.stderr, f"{name}: status {found.returncode}: {found.stderr[:300]}")
    return found.stdout.split("\n")


def check_zsh(command):
    """The function itself, with stand-ins for the editor's own: compadd prints what would be offered."""
    for line, word in LINES:
        words = " ".join(f"'{w}'" for w in line.split(" "))
        said = shell("zsh", "compdef() { :; }; compadd() { shift; print -rl -- \"$@\"; }; _files() { print -r -- FILES; }; "
                     f"eval \"$(trnsci completion zsh)\"; words=({words}); CURRENT=$#words; _trnsci", command)
        if said is None:
            return False
        expect(word in said, f"zsh: '{line}' is not completed with {word}: {said[:8]}")
    said = shell("zsh", "compdef() { :; }; _files() { print -r -- FILES; }; eval \"$(trnsci completion zsh)\"; "
                 "words=(trnsci mp2 wat); CURRENT=3; _trnsci", command)
    expect("FILES" in said, f"zsh: a file name is not left to the shell: {said[:8]}")
    return True


def check_fish(command):
    """fish's own editor, asked for the completions of a line."""
    for line, word in LINES:
        said = shell("fish", f"trnsci completion fish | source; complete -C '{line}'", command)
        if said is None:
            return False
        expect(word in [x.split("\t")[0] for x in said], f"fish: '{line}' is not completed with {word}: {said[:8]}")
    return True


def main(command):
    coloured = on_terminal([command, "info"])
    expect("\033[1m" in coloured, f"no colour on a terminal: {coloured[:300]}")
    expect("\033[" not in on_terminal([command, "info"], NO_COLOR="1"), "colour although NO_COLOR is set")
    expect("\033[" not in on_terminal([command, "info"], TERM="dumb"), "colour on a dumb terminal")
    piped = subprocess.run([command, "info"], capture_output=True, text=True, check=True)
    expect("\033[" not in piped.stdout, "colour in a pipe")

    slow = [command, "bench", "blas.gemm", "--m", "512", "--n", "512", "--k", "512", "--dtype", "fp64", "--precision", "exact",
            "--exec", "sim:trn2", "--repeats", "3"]
    begin = time.monotonic()
    shown = on_terminal(slow)
    took = time.monotonic() - begin
    if took > 3.5:
        expect("blas.gemm on sim:trn2: 2 s" in shown, f"{took:.1f} s, and no word of what is under way: {shown[:300]}")
    else:
        print(f"the slow run took {took:.1f} s: progress was not looked at")

    expect(completed(command, "trnsci ben") == ["bench"], "ben is not completed to bench")
    expect("blas.gemm" in completed(command, "trnsci bench blas.ge"), "operations are not completed")
    expect(completed(command, "trnsci bench blas.gemm --prec") == ["--precision"], "options are not completed")
    expect("sim:trn2" in completed(command, "trnsci bench blas.gemm --exec "), "executors are not completed")
    expect("trn2" in completed(command, "trnsci bench blas.gemm --exec sim:"), "executors are not completed after the colon")
    expect(completed(command, "trnsci mp2 --guess s") == ["sad"], "choices are not completed")
    expect(completed(command, "trnsci bench blas.gemm --exec host,sim:trn1,sim:") == ["trn1", "trn2", "trn3"],
           "executors are not completed after a comma")
    for line, word in (("bench blas.gemm --dtype b", "bf16"), ("bench blas.symm --dtype complex1", "complex128"),
                       ("bench fft.c2c --dtype fp6", "fp64"), ("bench blas.gemm --precision tf32x", "tf32x3"),
                       ("mp2 water.xyz --precision ex", "exact"), ("rand --generator mrg", "mrg32k3a"),
                       ("bench rand.normal --generator xor", "xorwow"), ("rand --dist cau", "cauchy"),
                       ("profile blas.gemm --exec sim:trn3", "trn3"), ("einsum ij,jk->ik --dtype comp", "complex64")):
        expect(word in completed(command, "trnsci " + line), f"trnsci {line}: {word} is not offered")
    # A refusal is one line for programs, and wrapped on a terminal.
    shown = on_terminal([command, "bench", "blas.gemm", "--m", "99999999999999999999"])
    lines = shown.replace("\r", "").strip("\n").split("\n")
    expect(lines[0].startswith("trnsci: bench blas.gemm: --m") and len(lines) > 1 and max(map(len, lines)) <= 80,
           f"a refusal is not wrapped on a terminal: {lines}")
    expect(completed(command, "trnsci mp2 wat") == [], "a file name is not left to the shell")
    for shell in ("bash", "zsh", "fish"):
        script = subprocess.run([command, "completion", shell], capture_output=True, text=True)
        expect(script.returncode == 0 and "completion words" in script.stdout, f"no script for {shell}")
    skipped = [shell for shell, check in (("zsh", check_zsh), ("fish", check_fish)) if not check(command)]
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings, {len(skipped)} shells skipped: {', '.join(skipped) or 'none'}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
