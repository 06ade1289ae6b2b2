"""Renders a C++ or C header as a page: its first comment as text, then declarations with the comments above them as text.

Comments are taken as they are. Lines that are indented inside a comment (formulas, tables) stay as they are, too.
"""
import re


def escaped(text):
    """Markdown's special characters as entities, so that |A||x| and a_i * b_j look as they do in the source. `Names` and
    **emphasis** stay."""
    parts = re.split(r"(`[^`]+`|\*\*[^*\s][^*]*\*\*)", text)
    parts[::2] = [re.sub(r"[&<>`*_|#\[\]\\]", lambda x: f"&#{ord(x.group())};", x) for x in parts[::2]]
    return "".join(parts)


def prose(comment):
    """Lines of one comment, without slashes, as Markdown."""
    out, code = [], False
    for line in comment:
        indented = line.startswith("  ") and line.strip()
        if bool(indented) != code:
            out.append("")
        code = bool(indented)
        out.append("    " + line if indented else escaped(line.strip()))
    return out


def sections(lines):
    """(comment, code) pairs: a comment that begins in column 0 after an empty line starts a new pair."""
    pairs, comment, code = [], [], []
    fresh = True
    for line in lines:
        if line.startswith("//") and not line.startswith("///") and (fresh or (comment and not code)):
            if code:
                pairs.append((comment, code))
                comment, code = [], []
            comment.append(line[3:])
        else:
            code.append(line)
        fresh = not line.strip()
    pairs.append((comment, code))
    return pairs


def first_sentence(path):
    text = " ".join(x[3:].strip() for x in head(path))
    return escaped(re.split(r"(?<=[a-z)`\]])\. |(?<=[a-z)])\.$", text)[0])


def head(path):
    lines = path.read_text().split("\n")
    end = next((i for i, x in enumerate(lines) if not x.startswith("//")), len(lines))
    return lines[:end]


def render(path, name):
    """The page of a header."""
    out = [f"# {name}", ""]
    for comment, code in sections(path.read_text().rstrip("\n").split("\n")):
        out += prose(comment) + [""]
        while code and not code[0].strip():
            code.pop(0)
        while code and not code[-1].strip():
            code.pop()
        if code:
            out += ["```cpp", *code, "```", ""]
    return "\n".join(out)
