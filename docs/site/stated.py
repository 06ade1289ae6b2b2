"""Numbers with units in the words of deep dives and of docs/what-fits.md stand somewhere that is held to the product: in a table or
caption of the deep dives, in a README or in another document, there with at least as many digits.

A number that was changed there is then noticed here, and so is one that nobody ever measured. A unit in the head of a table
counts for its cells, so a cell is compared without units. Weak where the same number stands in two places by accident.
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
DERIVED = {"what-fits.md", "index.md", "roadmap.md", "why.md"}  # they repeat what others state
UNIT = r"(ms|us|ns|[TG]FLOP/s|TF/s|GB/s|%)"
NUMBER = rf"(?<![\w.^-])(\d+(?:\.\d+)?) {UNIT}(?!\w)"


def stated():
    """{unit: numbers}, and numbers in cells of tables under the unit None."""
    known = {None: set()}
    texts = [x.read_text() for x in [ROOT / "README.md", *ROOT.glob("*/README.md"), *(ROOT / "docs").glob("*.md")] if x.name not in DERIVED]
    for page in (ROOT / "docs" / "deep-dives").glob("*.md"):
        texts += re.findall(r"<!-- figure: .*?<!-- end figure -->", page.read_text(), re.S)
    texts += [x.read_text() for x in ROOT.glob("*/src/device/*.cpp")]
    for text in texts:
        for number, unit in re.findall(NUMBER, text):
            known.setdefault(unit, set()).add(float(number))
        for cells in re.findall(r"^\|(.*)\|$", text, re.M):
            known[None] |= {float(x) for x in re.findall(r"(?<![\w.^-])\d+(?:\.\d+)?(?![\w.])", cells)}
    return known


def history(text):
    """Numbers of earlier versions, which the page says are such: <!-- once: 108 ms, 55 us; COMMIT --> names where they stood."""
    return {x.strip() for numbers in re.findall(r"<!-- once: ([^;>]+); [0-9a-f]{7,40} -->", text) for x in numbers.split(",")}


def strangers(prose, known):
    """Numbers of the text that stand nowhere, to as many digits as the text gives."""
    found = []
    for number, unit in re.findall(NUMBER, re.sub(r"`[^`]*`", "", prose)):
        places = len(number.partition(".")[2])
        if not any(f"{x:.{places}f}" == number for x in known.get(unit, set()) | known[None]):
            found.append(f"{number} {unit}")
    return found
