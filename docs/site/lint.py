"""Holds the deep dives to the rules of docs/writing-a-deep-dive.md, and all documents to saying for whom they are.

usage: lint.py                  every page of docs/deep-dives
       lint.py --self-test      damages a good page in every way the rules forbid; each damage must be found
"""
import pathlib
import re
import sys

import stated

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "deep-dives"
HEADINGS = ["Lead", "The problem", "What the architecture suggests", "The approach", "Implementation", "What didn't work", "Numbers",
            "What's next", "Takeaway"]
LIBRARIES = ["trnblas", "trnfft", "trnrand", "trnsolver", "trnsparse", "trntensor", "trnsci"]
CAP = 2000
KNOWN = stated.stated()
BOASTS = r"\b(unprecedented|blazing\w*|revolutionary|seamless\w*|cutting-edge|world-class|game-chang\w*|state-of-the-art|effortless\w*)\b"


def front_matter(text):
    """{key: value} and the rest; None where there is none."""
    found = re.match(r"---\n(.*?)\n---\n", text, re.S)
    if not found:
        return None, text
    return dict(re.findall(r"^(\w+): *(.*)$", found.group(1), re.M)), text[found.end():]


def without_code(text):
    return re.sub(r"^```.*?^```$", "", re.sub(r"<!--.*?-->", "", text, flags=re.S), flags=re.S | re.M)


def prose(text):
    """What counts as words: no code, tables, headings, pictures and their captions."""
    lines = without_code(text).split("\n")
    kept = [x for x in lines if not re.match(r"\||!\[|#|    |\*[^*].*\*$", x)]
    return re.sub(r"\]\([^)]*\)", "]", "\n".join(kept))


def words(text):
    return len(re.findall(r"\S*\w\S*", prose(text)))


def sections(text):
    """{heading: body} of the level-2 headings, in order."""
    parts = re.split(r"^## (.+)$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def findings(text, folder=FOLDER):
    found = []
    say = found.append
    front, body = front_matter(text)
    if front is None:
        say("no front matter")
        front = {}
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", front.get("date", "")):
        say("front matter: no date")
    category = re.fullmatch(r"\[Deep dive, (\w+)\]", front.get("categories", ""))
    if not category or category.group(1) not in LIBRARIES:
        say("front matter: categories must be [Deep dive, LIBRARY]")
    if set(front) & {"author", "authors"} or re.search(r"^(\*|_)*[Bb]y [A-Z][a-z]+ [A-Z]", body, re.M):
        say("a byline")
    if not re.search(r"^# .+\n\nFor [^\n]+ \w+ minutes\.\n\n", body, re.M):
        say("no line below the title says for whom it is and how long it takes")
    code_free = without_code(body)
    title = re.search(r"^# (.+)$", code_free, re.M)
    if not title or not category or category.group(1) not in title.group(1):
        say("the title does not name the library")
    if re.findall(r"^## (.+)$", code_free, re.M) != HEADINGS:
        say("the nine headings are not there in order")
    part = sections(body)
    person = re.search(r"(?<![\w'/.`-])(I|[Ww]e|[Mm]y|[Oo]urs?)(?![\w/.`(-])", re.sub(r"`[^`]*`", "", prose(body)))
    if person:
        say(f"first person: {person.group(0)}")
    if re.search("[\U0001F300-\U0001FAFF\u2600-\u27BF]", body):
        say("an emoji")
    boast = re.search(BOASTS, body, re.I)
    if boast:
        say(f"a boast: {boast.group(0)}")
    for number in stated.strangers(prose(body), KNOWN):
        if number not in stated.history(text):
            say(f"{number} stands in no table and no other document")
    if words(body) > CAP:
        say(f"{words(body)} words of prose, more than {CAP}")
    lead = len(re.findall(r"[.?!](?:\s|$)", prose(part.get("Lead", ""))))
    if not 2 <= lead <= 4:
        say(f"the lead has {lead} sentences, not two to four")
    fit = re.search(r"^### Fit\b.*?\n(.*?)(?=^##|\Z)", body, re.M | re.S)
    if not fit or words(fit.group(1)) < 60:
        say("no section on fit (### Fit) of 60 words or more")
    check_figures(part, folder, say)
    ask = [x for x in part.get("What didn't work", "").strip().split("\n\n") if x][-1:]
    if not ask or not re.match(r"\*\*Upstream ask: [^*]{8,}\*\*", ask[0]) or words(ask[0]) < 25:
        say("What didn't work does not end with an upstream ask that has a name")
    samples = re.findall(r"<!-- lines of: (\S+) -->\n```\w*\n(.*?)```", part.get("Implementation", ""), re.S)
    if not samples:
        say("Implementation: no code from the repository (lines of: FILE)")
    for name, code in samples:
        if not (ROOT / name).is_file() or code not in (ROOT / name).read_text():
            say(f"Implementation: the code is not a part of {name}")
    if "roadmap.md" not in part.get("What's next", ""):
        say("What's next does not link the roadmap")
    if not re.search(r"\]\([\w-]+\.md", body):
        say("no link to another deep dive")
    if not re.search(r"never run on (Trainium )?(hardware|silicon)", body, re.I):
        say("does not say what was never run on hardware")
    takeaway = len(re.findall(r"[.?!](?:\s|$)", prose(part.get("Takeaway", ""))))
    if not 3 <= takeaway <= 6:
        say(f"the takeaway has {takeaway} sentences, not three to six")
    return found


def check_figures(part, folder, say):
    """A contrast figure in the section on the architecture; a figure with its commands among the numbers; files there."""
    pictures = {h: re.findall(r"!\[[^\]]*\]\((figures/[\w-]+\.svg)\)", body) for h, body in part.items()}
    contrast = [x for x in pictures.get("What the architecture suggests", []) if x.endswith("-contrast.svg")]
    if not contrast:
        say("no contrast figure in What the architecture suggests")
    for name in contrast:
        if (folder / name).exists() and (folder / name).read_text().count('class="panel"') < 2:
            say(f"{name} does not show two designs")
    numbers = part.get("Numbers", "")
    if not pictures.get("Numbers") or "```\ntrnsci " not in numbers:
        say("Numbers: no figure with the command that makes it")
    for names in pictures.values():
        for name in names:
            if not (folder / name).exists():
                say(f"{name} does not exist")


DAMAGES = [
    ("no front matter", lambda t: t.split("---\n", 2)[2]),
    ("no date", lambda t: re.sub(r"^date:.*\n", "", t, flags=re.M)),
    ("categories", lambda t: t.replace("[Deep dive, ", "[News, ", 1)),
    ("byline", lambda t: t.replace("comments:", "authors: [someone]\ncomments:", 1)),
    ("byline", lambda t: t.replace("## Lead\n", "By Ada Lovelace\n\n## Lead\n", 1)),
    ("title", lambda t: re.sub(r"^# .*$", "# A fast kernel", t, count=1, flags=re.M)),
    ("for whom", lambda t: re.sub(r"^For .*\n\n", "", t, count=1, flags=re.M)),
    ("headings", lambda t: t.replace("## Takeaway", "## Conclusion")),
    ("headings", lambda t: t.replace("## Numbers", "## X").replace("## Implementation", "## Numbers").replace("## X", "## Implementation")),
    ("headings", lambda t: t.replace("## What didn't work", "### What didn't work")),
    ("first person", lambda t: t.replace("## The problem\n", "## The problem\n\nWe built a kernel.\n", 1)),
    ("emoji", lambda t: t.replace("## The problem\n", "## The problem\n\n\U0001F680\n", 1)),
    ("boast", lambda t: t.replace("## The problem\n", "## The problem\n\nThis is unprecedented.\n", 1)),
    ("stands in no table", lambda t: t.replace("## The problem\n", "## The problem\n\nIt takes 1234.567 ms.\n", 1)),
    ("stands in no table", lambda t: t.replace("## The problem\n", "## The problem\n\nIt took 1234.567 ms.<!-- once: 1234.567 ms -->\n", 1)),
    ("words of prose", lambda t: t.replace("## The problem\n", "## The problem\n\n" + "word " * 2001 + "\n", 1)),
    ("lead", lambda t: re.sub(r"## Lead\n.*?\n## ", "## Lead\n\nOne sentence.\n\n## ", t, flags=re.S)),
    ("section on fit", lambda t: t.replace("### Fit", "### Shape")),
    ("contrast", lambda t: t.replace("-contrast.svg", "-one.svg")),
    ("does not exist", lambda t: t.replace("figures/", "figures/no-")),
    ("upstream ask", lambda t: t.replace("**Upstream ask: ", "**A wish: ")),
    ("upstream ask", lambda t: t.replace("\n## Numbers", "\nOne more thing.\n\n## Numbers", 1)),
    ("command that makes it", lambda t: t.replace("```\ntrnsci ", "```\n")),
    ("lines of", lambda t: t.replace("<!-- lines of: ", "<!-- from: ")),
    ("not a part of", lambda t: re.sub(r"(<!-- lines of: \S+ -->\n```\w*\n)", r"\1  pseudo(code);\n", t)),
    ("roadmap", lambda t: t.replace("roadmap.md", "overview.md")),
    ("another deep dive", lambda t: re.sub(r"\]\([\w-]+\.md", "](../x.md", t)),
    ("never run", lambda t: t.replace("never run on", "seldom run on").replace("Never run on", "Seldom run on")),
    ("takeaway", lambda t: re.sub(r"## Takeaway\n.*", "## Takeaway\n\nDone.\n", t, flags=re.S)),
]


def self_test(pages):
    page = pages[0].read_text()
    wrong = [f"the good page is refused: {x}" for x in findings(page)]
    for expected, damage in DAMAGES:
        damaged = damage(page)
        if damaged == page:
            wrong.append(f"the damage changes nothing: {expected}")
        elif not any(expected in x for x in findings(damaged)):
            wrong.append(f"not found: {expected}; found instead: {findings(damaged)}")
    template = (FOLDER / "_template.md").read_text()
    if re.findall(r"^## (.+)$", template, re.M) != HEADINGS:
        wrong.append("_template.md does not have the nine headings")
    wrong += [f"not seen as '{what}': {text[:60]!r}" for text, what in READERS if bool(what) != bool(reader(text)) or what not in reader(text)]
    print("\n".join(wrong) or f"{len(DAMAGES) + len(READERS)} damages, all found")
    return 1 if wrong else 0


NUMBERS = {"two": 2, "three": 3, "five": 5, "ten": 10}
WORDS_A_MINUTE = 300  # tables, which the eye only runs through, among them


def reader(text):
    """What is wrong with the line that says for whom a document is and how long it takes: it stands below the title, and so
    many words can be read in that time up to the heading that it links to, or to the end."""
    line = next((x for x in text.split("\n")[1:4] if x.startswith("For ")), None)
    if line is None:
        return "does not say for whom it is (\"For ...\" below its title)"
    took = re.search(r"\b(\w+) minutes", line)
    if not took:
        return "" if re.search(r"reference|to look things up in|to search in", line) else "does not say how many minutes it takes"
    to = re.search(r"minutes to \[[^\]]*\]\(#([^)]*)\)", line)
    if re.search("A reference", line[:took.start()]):
        return ""
    if to:
        for heading in re.finditer(r"^#+ (.+)$", text, re.M):
            if re.sub(r"[^\w\- ]", "", heading.group(1).lower()).replace(" ", "-") == to.group(1):
                text = text[:heading.start()]
                break
        else:
            return f"takes {took.group(0)} to a heading that is not there: {to.group(1)}"
    words = len(text.split())
    most = WORDS_A_MINUTE * NUMBERS.get(took.group(1).lower(), 0)
    return f"takes more than {took.group(0)}: {words} words" if words > most else ""


def documents():
    return (sorted((ROOT / "docs").glob("*.md")) + sorted((ROOT / "docs" / "start").glob("*.md")) + [FOLDER / "index.md"] +
            sorted(ROOT.glob("*/README.md")))


READERS = [("# A\n\nText.\n", "for whom"), ("# A\n\nFor all.\n", "how many"), ("# A\n\nFor all. Two minutes.\n" + 700 * "word ", "more than"),
           ("# A\n\nFor all. Two minutes to [B](#b); the rest.\n" + 700 * "word " + "\n## B\n", "more than"),
           ("# A\n\nFor all. Two minutes to [C](#c); the rest.\n## B\n", "not there"), ("# A\n\nFor all. Ten minutes.\n", "")]


def main():
    pages = sorted(x for x in FOLDER.glob("*.md") if x.name != "index.md" and not x.name.startswith("_"))
    if "--self-test" in sys.argv:
        return self_test(pages)
    wrong = [f"docs/deep-dives/{x.name}: {f}" for x in pages for f in findings(x.read_text())]
    have = {front_matter(x.read_text())[0]["categories"] for x in pages if front_matter(x.read_text())[0]}
    wrong += [f"no deep dive about {x}" for x in LIBRARIES if f"[Deep dive, {x}]" not in have]
    fits = prose((ROOT / "docs" / "what-fits.md").read_text().replace("|", " "))
    wrong += [f"docs/what-fits.md: {x} stands in no other document" for x in stated.strangers(fits, KNOWN)]
    found = [(x.relative_to(ROOT).as_posix(), reader(x.read_text())) for x in documents()]
    wrong += [f"{name}: {what}" for name, what in found if what]
    print("\n".join(wrong) or f"{len(pages)} deep dives, {', '.join(str(words(front_matter(x.read_text())[1])) for x in pages)} words")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
