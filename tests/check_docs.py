"""Holds documents to what the product does.

usage: check_docs.py TRNSCI

1. Listings. Where a paragraph ends in "`trnsci ARGUMENTS` ...:" and an indented or fenced block follows, the command is
   run, and the block's lines must appear in its output in this order; "..." stands for any number of lines. Blocks that
   show what a command wrote in other units or on another machine are not written this way.
2. Blocks that say which file they are taken from are still in it.
3. Tables of modelled products: rows of README.md under the command that makes them.
4. The row of batched operations in README.md says what the table of blas/README.md says, which another test holds to
   `trnsci coverage blas`.
5. README.md names every top-level folder, every component has a README or a line there, and every subcommand that
   `trnsci --help` lists is in its table.
6. Links between documents of this checkout lead somewhere, headings included, and files that documents name exist.
7. Lines of README.md are at most 120 columns, without tables and pictures, whose lines cannot be cut.
"""
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS_WITHOUT_A_LINE = {"build"}
findings = []


def run(command, arguments):
    done = subprocess.run([command, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        findings.append(f"trnsci {shlex.join(arguments)} fails: {done.stderr.strip()}")
    return done.stdout


def blocks_after_commands(text):
    """(arguments, block) for every listing of kind 1."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        found = re.search(r"`trnsci ([^`]+)`[^`]*:$", line)
        if not found or i + 2 >= len(lines):
            continue
        start = i + 2
        if lines[start].startswith("```"):
            end = next(k for k in range(start + 1, len(lines)) if lines[k].startswith("```"))
            yield found.group(1), lines[start + 1:end]
        elif lines[start].startswith("    "):
            end = start
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end]):
                end += 1
            yield found.group(1), [x[4:] for x in lines[start:end]]


def check_listings(command):
    count = 0
    for path in sorted(ROOT.glob("docs/*.md")) + [ROOT / "README.md"]:
        for arguments, block in blocks_after_commands(path.read_text()):
            count += 1
            output = [x.rstrip() for x in run(command, shlex.split(arguments)).split("\n")]
            at = 0
            for wanted in block:
                if wanted.strip() in ("", "..."):
                    continue
                if wanted.rstrip() not in output[at:]:
                    findings.append(f"{path.relative_to(ROOT)}: `trnsci {arguments}` does not print (any more, or here): {wanted}")
                    break
                at = output.index(wanted.rstrip(), at) + 1
    if count == 0:
        findings.append("no listing found in docs/: has the way they are written changed?")


def check_lines_of_files():
    """A fenced block after "<!-- lines of: FILE -->" is a part of that file, line by line."""
    for path in sorted(ROOT.glob("docs/**/[!_]*.md")) + [ROOT / "README.md"]:
        for name, block in re.findall(r"<!-- lines of: (\S+) -->\n```\w*\n(.*?)```", path.read_text(), re.S):
            if block not in (ROOT / name).read_text():
                findings.append(f"{path.relative_to(ROOT)}: a listing is not (any more) a part of {name}; it begins with: {block.split(chr(10))[0]}")


def check_modelled_products(command):
    """Rows "| dtype[, `--precision P`] | N | time | TF/s | share |" of README.md."""
    rows = re.findall(r"^\| (\w+)(?:, `--precision (\w+)`)? \| (\d+) \| ([\d.]+) (us|ms) \| ([\d.]+) \| ([\d.]+) % ?.*\|$",
                      (ROOT / "README.md").read_text(), re.M)
    if len(rows) < 10:
        findings.append(f"README.md: {len(rows)} rows of modelled products found, at least 10 expected")
    for dtype, precision, n, time, unit, rate, share in rows:
        arguments = ["bench", "blas.gemm", "--m", n, "--n", n, "--k", n, "--dtype", dtype, "--exec", "sim:trn2",
                     "--model-only"] + (["--precision", precision] if precision else [])
        output = run(command, arguments)
        if f"{time} {unit}" not in output:
            findings.append(f"README.md: {dtype} {precision} {n}: {time} {unit} is not what `trnsci {shlex.join(arguments)}` prints:\n{output}")


def device_types(operation):
    """"s; d c z in Exact" from the columns of the devices in blas/README.md; a star there means in Exact only."""
    cells = re.search(rf"^\| {operation} \|[^|]*\|[^|]*\|(.*)\|$", (ROOT / "blas/README.md").read_text(), re.M)
    cells = {cell.strip() for cell in cells.group(1).split("|")} if cells else set()
    if len(cells) != 1:
        findings.append(f"blas/README.md: {operation} differs among the devices, or is not there: {cells}")
        return "?"
    types = cells.pop().split()
    exact = [x[0] for x in types if x.endswith("*")]
    return " ".join(x for x in types if not x.endswith("*")) + (f"; {' '.join(exact)} in Exact" if exact else "")


def check_summary():
    wanted = f"gemm {device_types('gemm_batched')}; trsm {device_types('trsm_batched')}."
    row = re.search(r"^\| trnblas, batched gemm and trsm \|[^|]*\|([^|]*)\|", (ROOT / "README.md").read_text(), re.M)
    if not row or not row.group(1).strip().startswith(wanted):
        findings.append(f"README.md: the row of batched gemm and trsm should begin with: {wanted}")


def check_folders(command):
    text = (ROOT / "README.md").read_text()
    for folder in sorted(ROOT.iterdir()):
        name = folder.name
        if folder.is_dir() and not name.startswith(".") and name not in FOLDERS_WITHOUT_A_LINE:
            if not re.search(rf"^\| `{name}/", text, re.M):
                findings.append(f"README.md: no line for the folder {name}/")
    commands = re.findall(r"^  ([a-z0-9-]+) ", run(command, ["--help"]).split("Subcommands:", 1)[-1], re.M)
    if len(commands) < 5:
        findings.append(f"trnsci --help: {len(commands)} subcommands found, more expected")
    for name in commands:
        if f"`trnsci {name}" not in text:
            findings.append(f"README.md: no line for the subcommand {name}")


def check_capi():
    """The counts in capi/README.md are those of the tables."""
    counted = subprocess.run([sys.executable, "-B", ROOT / "capi" / "generate.py", ROOT / "capi" / "api", "--count"],
                             capture_output=True, text=True, check=True).stdout
    rows, functions = re.match(r"(\d+) rows, (\d+) functions", counted).groups()
    if f"{rows} rows of the tables make {functions} functions" not in (ROOT / "capi" / "README.md").read_text():
        findings.append(f"capi/README.md: the tables have {rows} rows and make {functions} functions")


def check_links():
    for path in sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("*/*.md")) + sorted(ROOT.glob("apps/*/*.md")) + sorted(ROOT.glob("docs/*/*.md")):
        if "build" in path.relative_to(ROOT).parts:
            continue
        for target in re.findall(r"\[[^\]\n]+\]\(([\w./:-]+)(?:#[^)]*)?\)", path.read_text()):
            if "://" not in target and not (path.parent / target).exists():
                findings.append(f"{path.relative_to(ROOT)}: the link to {target} leads nowhere")
        for target, heading in re.findall(r"\[[^\]\n]+\]\(([\w./-]*)#([^)]*)\)", path.read_text()):
            to = path.parent / target if target else path
            if to.suffix == ".md" and to.exists() and heading not in headings(to):
                findings.append(f"{path.relative_to(ROOT)}: {target} has no heading #{heading}")


def headings(path):
    """The names by which links know the headings of a document."""
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", h.strip().lower()).replace(" ", "-") for h in re.findall(r"^#+ (.+)$", text, re.M)}


def check_readme_lines():
    for number, line in enumerate((ROOT / "README.md").read_text().split("\n"), 1):
        if len(line) > 120 and not line.startswith(("|", "![")) and not re.match(r"^\*.*\*$", line):
            findings.append(f"README.md:{number}: {len(line)} columns")


def check_paths():
    """Back-quoted paths of files. Capitals and <angle brackets> stand for a name that the reader chooses; so does `scale`,
    the operation that docs/adding-an-operation.md adds."""
    parts = "apps|blas|capi|cmake|comm|core|docs|dropin|examples|fft|include|neuron|python|rand|solver|sparse|tensor|tests|tile|tools"
    for path in sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("docs/**/*.md")) + sorted(ROOT.glob("*/README.md")):
        base = [ROOT] if path.parent == ROOT or ROOT / "docs" in path.parents else [ROOT, path.parent]
        for name in re.findall(rf"`((?:{parts}|src|test|bench)/[\w./*-]+\.(?:hpp|cpp|h|md|py|sh|txt|cmake|\*))`", path.read_text()):
            if "scale" in name or re.search(r"[A-Z]{3}", name):
                continue
            if not any(any(b.glob(name)) for b in base):
                findings.append(f"{path.relative_to(ROOT)}: names {name}, which does not exist")


def main():
    command = sys.argv[1]
    check_listings(command)
    check_lines_of_files()
    check_modelled_products(command)
    check_summary()
    check_folders(command)
    check_capi()
    check_links()
    check_paths()
    check_readme_lines()
    print("\n".join(findings) or "documents agree with the product")
    return 1 if findings else 0


sys.exit(main())
