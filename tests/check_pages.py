"""The pages that commands write: check_pages.py TRNSCI

Each page has a title, the command that made it, the shape, the type and the machine; its tags are closed; it says how
wide a phone is, and needs nothing from outside. The page of a molecule names it and draws it. A program of more
instructions than bars is shown to its end, and what is cut is said.
"""
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PHONE = 390
VOID = {"meta", "br", "wbr", "line", "rect", "circle", "path", "input", "polyline", "img", "hr"}
MATRIX = "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 4.0\n2 2 5.0\n3 3 6.0\n1 3 1.0\n"


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.columns, self.cells = [], [], 0, 0

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self.cells = 0
        if tag in ("td", "th"):
            self.cells += 1
            self.columns = max(self.columns, self.cells)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def width_on_a_phone(browser, path):
    """Pixels that a page takes, with what is hidden at the right of a card: a script in a copy says so in its title."""
    copy = path.with_name("phone-" + path.name)
    told = ("<script>document.title = 'width ' + (document.documentElement.scrollWidth + Math.max(0, "
            "...[...document.querySelectorAll('.card')].map(c => c.scrollWidth - c.clientWidth)));</script></body>")
    copy.write_text(path.read_text().replace("</body>", told))
    # A window is at least 500 pixels wide, a frame in it is not.
    outer = path.with_name("outer-" + path.name)
    outer.write_text(f"<iframe id='f' src='{copy.name}' width='{PHONE}' height='800' style='border:0'></iframe><script>"
                     "f.onload = () => { document.title = f.contentDocument.title; };</script>")
    shown = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
                            "--virtual-time-budget=3000", "--dump-dom", outer.as_uri()], capture_output=True, text=True, timeout=120)
    found = re.search(r"<title>width (\d+)", shown.stdout)
    return int(found.group(1)) if found else 9999


def main(command):
    findings = []
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "m.mtx").write_text(MATRIX)
        environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

        def run(line):
            done = subprocess.run([command, *line.split()], cwd=folder, env=environment, capture_output=True, text=True)
            if done.returncode != 0:
                findings.append(f"trnsci {line}: {done.stderr}")
            return done.stdout

        water = ROOT / "apps" / "mp2" / "molecules" / "water.xyz"
        run("bench blas.gemm --m 64 --n 64 --k 64 --repeats 1 --json a.json")
        run("bench blas.gemm --m 64 --n 64 --k 64 --repeats 1 --json b.json")
        cases = [
            ("profile blas.gemm --m 300 --n 200 --k 100 --dtype bf16 --html gemm.html", "gemm.html",
             ["<h1>blas.gemm on trn2, modelled</h1>", "--m 300 --n 200 --k 100", "<dt>dtype</dt><dd>bf16", "one NeuronCore-v3 core"]),
            ("profile solver.potrf --n 300 --html potrf.html", "potrf.html",
             ["<dt>program</dt><dd>step ", "<h2>The whole call: ", "<th>runs</th><th>each</th><th>together</th>"]),
            (f"mp2 {water} --exec sim:trn2 --precision tf32x3 --quiet --report mp2.html", "mp2.html",
             ["<h1>water, H2O: DF-MP2 in cc-pVDZ</h1>", "Drawing of the molecule", "Convergence of the SCF", "Two times for a stage",
              "5 occupied orbitals", "float32, tf32x3", "MP2 on sim:trn2", "<td>total</td>"]),
            ("", "trnsci-report.html", ["<h1>water, H2O: DF-MP2 in cc-pVDZ</h1>", "The machine at work: a larger molecule"]),
            ("compare a.json b.json --html compare.html", "compare.html", ["<dt>first</dt><dd>a.json: trnsci bench blas.gemm --m 64", "host float32 native m=64 n=64 k=64"]),
            ("scale gemm --n 4096 --html scale.html", "scale.html",
             ["<h1>gemm fp32 4096 x 4096 x 4096 on trn2, modelled</h1>", "<dt>shape</dt><dd>gemm fp32 4096", "<dt>dtype</dt><dd>fp32",
              "<dt>machine</dt><dd>16 chips of trn2"]),
            ("silicon-check --exec sim:trn2 --sections machine,exactness --output silicon.json --html silicon.html", "silicon.html",
             ["<h1>silicon-check of sim:trn2</h1>", "<dt>shape</dt><dd>2 sections", "<dt>dtype</dt>", "<dt>machine</dt><dd>trn2"]),
            ("sparse info m.mtx --html sparse.html", "sparse.html",
             ["3 x 3, 4 entries", "<h2>Orderings</h2>", "<h2>Order: rcm</h2>", "<th>modelled</th><th>host core</th>", "<td>longest row</td><td>2</td>"]),
            ("einsum ij,jk,kl --sizes i=8,j=30,k=4,l=9 --html einsum.html", "einsum.html",
             ["<h1>ij, jk, kl -&gt; il</h1>", "<h2>Contraction tree</h2>", "<th>algorithm, mode</th>"]),
        ]
        for line, name, parts in cases:
            run(line)
            path = pathlib.Path(folder, name)
            if not path.exists():
                findings.append(f"{name}: not there")
                continue
            text = path.read_text()
            shown = "trnsci" + (" " + line if line else "")
            text = re.sub(r'<span class="word">([^<]*)</span>', r"\1", text)  # options that are not broken
            for part in [shown, 'name="viewport" content="width=device-width', "<title>", "</html>", *parts]:
                if part not in text:
                    findings.append(f"{name}: lacks '{part}'")
            # Of two runs shape, type and machine stand in the commands that made them.
            for fact in ("command", "version") if name == "compare.html" else ("command", "shape", "dtype", "machine", "version"):
                if f"<dt>{fact}</dt>" not in text:
                    findings.append(f"{name}: does not say its {fact}")
            for unit in ("µs", " MiB read", "MiB written"):
                if unit in text:
                    findings.append(f"{name}: has '{unit}', which the text of commands has not")
            for outside in ("http://", "https://", 'src="', "@import", "url("):
                if outside in text:
                    findings.append(f"{name}: has '{outside}'")
            tags = Tags()
            tags.feed(re.sub(r"<script.*?</script>", "", text, flags=re.S))
            if tags.wrong or tags.open:
                findings.append(f"{name}: tags that are not closed: {tags.wrong or tags.open}")
            if "{&quot;" in text or "<pre>{" in text:
                findings.append(f"{name}: shows JSON")
            if tags.columns > 7:
                findings.append(f"{name}: a table of {tags.columns} columns does not fit a phone")
            if len(text) > 1_500_000:
                findings.append(f"{name}: {len(text)} characters")
        browser = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)
        for _, name, _ in cases if browser else []:
            width = width_on_a_phone(browser, pathlib.Path(folder, name))
            if width > PHONE:
                findings.append(f"{name}: {width} pixels wide on a phone of {PHONE}")
        if not browser:
            print("no Chromium: widths on a phone were not looked at")
        # 381,000 instructions: the last bar ends where the run ends.
        said = run("profile blas.pair_energy --nocc 64 --naux 1536 --nvir 448 --html large.html")
        text = pathlib.Path(folder, "large.html").read_text()
        if "The timeline holds the first" in text or "the first" in said:
            findings.append("large.html: the timeline is cut")
        data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))
        if not data["lanes"]:
            findings.append("large.html: no lane")
    for finding in findings:
        print(finding)
    print(f"{len(cases) + 1} pages, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
