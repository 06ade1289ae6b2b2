"""What the head of an emitted text says about its kernel: parameters and results."""

import re


def arguments(text):
    """[name, dtype, shape] of the parameters, and of the results; a result that is a parameter has no dtype and shape."""
    head, parameters, results, into = text.split("import nki")[0], [], [], None
    for line in head.split("\n"):
        if line.startswith("# Arguments"):
            into = parameters
        elif line.startswith("# Returns"):
            into = results
        elif found := re.match(r"#   (\w+): (\w+) \(([\d, ]*)\)", line):
            into.append([found[1], found[2], [int(x) for x in found[3].split(",") if x.strip()]])
        elif found := re.match(r"#   (\w+): the argument", line):
            into.append([found[1], None, None])
        elif found := re.search(r"1-D memory of (\d+) elements", line):
            into[-1][2] = [int(found[1])]
    return parameters, results


def entry(text):
    """The kernel's name."""
    return re.search(r"^def (\w+)\(", text, re.MULTILINE)[1]
