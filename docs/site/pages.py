"""Puts the pages of the site together in a folder that mkdocs reads.

usage: pages.py FOLDER

Documents and READMEs are taken as they are, at places of their own, with their links rewritten. Public headers become pages
(headers.py), notebooks (notebooks.py) and functions of the Python package (python_reference.py) too, and so does every other file that a document links to.
"""
import os
import pathlib
import re
import shutil
import sys

import headers
import notebooks
import python_reference

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPONENTS = ["core", "tile", "comm", "neuron", "blas", "fft", "rand", "solver", "sparse", "tensor", "apps/mp2"]
PICTURES = {".svg", ".png", ".jpg"}
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".h": "c", ".py": "python", ".sh": "bash", ".cmake": "cmake"}


def documents():
    names = [ROOT / x for x in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
    names += sorted(ROOT.glob("*/README.md")) + sorted(ROOT.glob("apps/*/README.md"))
    names += sorted((ROOT / "docs").glob("*.md")) + sorted((ROOT / "docs").glob("[!s]*/*.md")) + sorted((ROOT / "docs/start").glob("*.md"))
    names += sorted((ROOT / "python/notebooks").glob("*.ipynb"))
    return [x for x in dict.fromkeys(names) if not x.name.startswith("_") and "build" not in x.relative_to(ROOT).parts]


def public_headers():
    for component in COMPONENTS:
        for path in sorted((ROOT / component / "include").rglob("*.hpp")):
            yield component, path


def place(path):
    """Where a file of the checkout lies among the pages."""
    name = path.relative_to(ROOT).as_posix()
    if name == "README.md":
        return "overview.md"
    if name.startswith("docs/") and (path.suffix == ".md" or path.suffix in PICTURES):
        return name.removeprefix("docs/")
    if path.suffix == ".md" or path.suffix in PICTURES:
        return name
    if path.suffix == ".ipynb":
        return name.removesuffix(".ipynb") + ".md"
    if "/include/" in name and path.suffix == ".hpp":
        return "headers/" + name.split("/include/", 1)[1] + ".md"
    return f"source/{name}.md"


def rewritten(text, source, wanted):
    """The text with links from its new place; files that it links to are added to `wanted`."""
    here = os.path.dirname(place(source))

    def link(found):
        target, fragment = found.group(1), found.group(2) or ""
        if "://" in target or target.startswith(("mailto:", "#")):
            return found.group(0)
        path = (source.parent / target).resolve()
        if path.is_dir():
            path = path / "README.md"
        if not path.is_file() or ROOT not in path.parents:
            return found.group(0)
        wanted.add(path)
        return f"]({os.path.relpath(place(path), here)}{fragment})"

    out, fenced = [], False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        before = out[-1] if out else ""
        if not fenced and not line.startswith("    "):
            line = re.sub(r"\]\(([^)\s#]*)(#[^)\s]*)?\)", link, line)
            # Lists and tables begin after an empty line in Python's Markdown.
            starts = re.match(r"([-*] |\d+\. |\|)", line)
            if starts and before.strip() and not re.match(r"\s*([-*] |\d+\. |\|)|\s{2,}", before) and not before.startswith("```"):
                out.append("")
        out.append(line)
    return "\n".join(out)


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def index_of_headers():
    out = ["# Public headers", "", "Every public header as a page, made from the file itself. `<trn/trn.hpp>` includes what applications need."]
    last = None
    for component, path in public_headers():
        if component != last:
            out += ["", f"## {component}", "", "| header | |", "|---|---|"]
            last = component
        name = place(path).removeprefix("headers/")
        out.append(f"| [{name.removesuffix('.md')}]({name}) | {headers.first_sentence(path)} |")
    return "\n".join(out) + "\n"


def main():
    folder = pathlib.Path(sys.argv[1])
    if folder.exists():
        shutil.rmtree(folder)
    wanted, done = set(), set()
    for path in documents():
        text = notebooks.render(path) if path.suffix == ".ipynb" else path.read_text()
        write(folder, place(path), rewritten(text, path, wanted))
        done.add(path)
    for _, path in public_headers():
        name = place(path)
        write(folder, name, headers.render(path, name.removeprefix("headers/").removesuffix(".md")))
        done.add(path)
    write(folder, "headers/index.md", index_of_headers())
    for name, text in python_reference.pages():
        write(folder, name, text)
    for path in sorted(wanted - done):
        if path.suffix in PICTURES:
            (folder / place(path)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / place(path))
        elif path.suffix == ".md":
            write(folder, place(path), rewritten(path.read_text(), path, set()))
        else:
            name = path.relative_to(ROOT).as_posix()
            text = path.read_text().rstrip("\n")
            write(folder, place(path), f"# {name}\n\n````{LANGUAGES.get(path.suffix, 'text')}\n{text}\n````\n")
    print(f"{sum(1 for _ in folder.rglob('*.md'))} pages in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
