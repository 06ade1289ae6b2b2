"""Runs the commands behind the documents' figures and writes pictures and tables from their JSON.

usage: figures.py TRNSCI [--check] [NAME...]

A page holds "<!-- figure: NAME -->" ... "<!-- end figure -->"; what lies between is written here: the picture's line, a table,
and the commands. The pictures are figures/NAME.svg beside the page. --check compares instead of writing. Modelled times do
not depend on the machine this runs on.
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys

import drawings

DOCS = pathlib.Path(__file__).resolve().parents[1]
BLOCK = r"<!-- figure: ([\w-]+) -->\n(.*?)<!-- end figure -->"


class Runner:
    """Runs commands once, and remembers what they said."""

    def __init__(self, command):
        self.command, self.said = command, {}

    def text(self, line):
        """For commands without --json."""
        if line not in self.said:
            done = subprocess.run([self.command, *shlex.split(line)], capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"trnsci {line} fails: {done.stderr.strip()}")
            self.said[line] = done.stdout
        return self.said[line]

    def __call__(self, line):
        return json.loads(self.text(f"{line} --json -"))


class Recording:
    """Says which commands a figure used."""

    def __init__(self, runner):
        self.runner, self.lines = runner, []

    def __call__(self, line):
        self.lines.append(line)
        return self.runner(line)

    def text(self, line):
        self.lines.append(line)
        return self.runner.text(line)


def table(rows):
    head, *rest = rows
    return "\n".join("| " + " | ".join(x) + " |" for x in [head, ["---"] * len(head), *rest])


def block(name, figure):
    parts = [f"![{figure.caption}](figures/{name}.svg)", f"*{figure.caption}*"]
    if figure.table:
        parts.append(table(figure.table))
    if figure.commands:
        parts.append("```\n" + "\n".join(f"trnsci {x}" for x in dict.fromkeys(figure.commands)) + "\n```")
    return "\n" + "\n\n".join(parts) + "\n\n"


def main():
    arguments = sys.argv[1:]
    check = "--check" in arguments
    command, *names = [x for x in arguments if x != "--check"]
    runner, findings, used = Runner(command), [], set()

    def keep(path, wanted, what):
        if path.exists() and path.read_text() == wanted:
            return
        if check:
            findings.append(f"{what} is not what `python3 docs/site/figures.py TRNSCI` writes")
        else:
            path.write_text(wanted)
            print("wrote", what)

    for path in sorted(DOCS.glob("*.md")) + sorted(DOCS.glob("deep-dives/[!_]*.md")):
        text = path.read_text()
        for name in re.findall(BLOCK, text, re.S):
            name = name[0]
            used.add(name)
            if names and name not in names:
                continue
            if name not in drawings.ALL:
                findings.append(f"{path.name}: no figure is called {name}")
                continue
            recording = Recording(runner)
            figure = drawings.ALL[name](recording)
            figure.commands = recording.lines
            keep(path.parent / "figures" / f"{name}.svg", figure.svg, f"figures/{name}.svg")
            wanted = f"<!-- figure: {name} -->\n{block(name, figure)}<!-- end figure -->"
            text = re.sub(rf"<!-- figure: {name} -->\n.*?<!-- end figure -->", lambda _: wanted, text, flags=re.S)
        keep(path, text, f"a figure of {path.name}")
    findings += [f"no page shows the figure {x}" for x in sorted(set(drawings.ALL) - used)]
    print("\n".join(findings) or f"{len(used)} figures, {len(runner.said)} commands run")
    return 1 if findings else 0


sys.exit(main())
