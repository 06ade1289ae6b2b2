"""Holds the text of emitted kernels against the documented signatures, without executing it: check_text.py FILE ...

Two passes. The first reads the syntax tree: every statement is one that kernels are made of, every call is documented
(`nki/_signatures.py`), with known keywords and none missing. The second runs the kernel dry: arrays have shapes and no
data, loops run their first and their last iteration, and every call goes through `nki/_rules.py`. At the end a call
none of whose results is read is a finding.

NKI unrolls `range`, and a text that unrolls to more calls than the emitter's own limit is a finding, too: its loops
belong into nl.fori_loop.

Prints one line per finding, `file:line: rule: text`, then the number of kernels and calls; exit status 1 if there are
findings. The arguments' shapes come from the header that the emitter writes.
"""

import ast
import json
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from nki import _rules, _signatures as facts  # noqa: E402
import nki.isa  # noqa: E402
import nki.language as nl  # noqa: E402
from nki._memory import NkiError  # noqa: E402

STATEMENTS = (ast.Import, ast.FunctionDef, ast.For, ast.Assign, ast.Expr, ast.Return, ast.Pass)


UNROLLED_CALLS = 20000  # neuron::NkiOptions::unroll_limit


class Finding(Exception):
    def __init__(self, line, rule, text):
        super().__init__(f"{line}: {rule}: {text}")
        self.rule = rule


def _named(node, module):
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == module


def _check_call(node):
    """Findings of one call in the tree."""
    f = node.func
    if _named(f, "nisa"):
        table, name = facts.ISA, f.attr
    elif _named(f, "nl"):
        table, name = facts.LANGUAGE, f.attr
    elif isinstance(f, ast.Attribute):
        table, name = facts.METHODS, f.attr
    elif isinstance(f, ast.Name) and f.id in ("range", "float"):
        return
    else:
        yield "unknown-call", ast.unparse(f)
        return
    if name not in table:
        yield "unknown-call", ast.unparse(f)
        return
    call, given = table[name], [k.arg for k in node.keywords]
    known = call["required"] + call["optional"]
    if node.args and table is facts.ISA and name not in facts.POSITIONAL:
        yield "positional-argument", f"{ast.unparse(f)} with {len(node.args)}"
    given = list(known[: len(node.args)]) + given
    for keyword in given:
        if keyword not in known:
            yield "unknown-keyword", f"{ast.unparse(f)} has no {keyword}"
    for keyword in call["required"]:
        if keyword not in given:
            yield "missing-keyword", f"{ast.unparse(f)} needs {keyword}"


def check_tree(tree):
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not isinstance(node, STATEMENTS):
            yield Finding(node.lineno, "statement", ast.unparse(node).split("\n")[0])
        if isinstance(node, ast.Call):
            for rule, text in _check_call(node):
                yield Finding(node.lineno, rule, text)
        if isinstance(node, ast.Attribute) and _named(node.value, "nisa"):  # nisa.engine.vector
            if node.attr not in facts.ENUMS.get(node.value.attr, ()):
                yield Finding(node.lineno, "unknown-name", ast.unparse(node))
        if _named(node, "nl") and id(node) not in called and not hasattr(nl, node.attr):
            yield Finding(node.lineno, "unknown-name", ast.unparse(node))


def unrolled_calls(statements):
    """nisa calls after NKI has unrolled every `range`; the body of a device loop is there once."""
    total = 0
    for node in statements:
        if isinstance(node, ast.For):
            bounds = [ast.literal_eval(bound) for bound in node.iter.args]
            total += len(range(*bounds)) * unrolled_calls(node.body)
        elif isinstance(node, ast.FunctionDef):
            total += unrolled_calls(node.body)
        else:
            total += sum(isinstance(n, ast.Call) and _named(n.func, "nisa") for n in ast.walk(node))
    return total


def calls(text):
    """The same of a whole text."""
    return unrolled_calls(ast.parse(text).body)


def check_length(tree, most):
    """A text that unrolls to more than `most` calls."""
    for kernel in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        calls = unrolled_calls(kernel.body)
        if calls > most:
            yield Finding(kernel.lineno, "unrolled-calls", f"{kernel.name} unrolls to {calls} calls; at most {most}: use nl.fori_loop")


def _header(text):
    """(machine, [(dtype, shape)]) from the comment that begins the file."""
    machine = re.search(r"an NKI kernel for (\w+),", text).group(1)
    arguments, listing = [], False
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        if line.startswith("# ") and not line.startswith("#  "):
            listing = line.startswith("# Arguments")
        elif listing and (found := re.match(r"#   (\w+): (\w+) \(([\d, ]*)\)", line)):
            arguments.append([found.group(2), tuple(int(n) for n in found.group(3).split(",") if n.strip())])
        elif listing and (found := re.match(r"#     strides .* memory of (\d+) elements", line)):
            arguments[-1][1] = (int(found.group(1)),)
    return machine, arguments


def _ends(*bounds):
    whole = range(*bounds)
    return (whole[0], whole[-1]) if len(whole) > 1 else whole


def _line_of(error, name):
    """The last line of the kernel's own text in the traceback."""
    line, trace = 0, error.__traceback__
    while trace:
        line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == name else line
        trace = trace.tb_next
    return line


def check_dry(tree, text, name):
    """The first finding of a dry run, or what nobody reads."""
    machine, arguments = _header(text)
    os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"] = machine
    _rules.DRY = True
    _rules.forget()
    kernel = next(n for n in tree.body if isinstance(n, ast.FunctionDef))
    space = {"range": _ends}
    try:
        exec(compile(tree, name, "exec"), space)
        space[kernel.name](*(nl.ndarray(shape, dtype=getattr(nl, dtype), buffer=nl.shared_hbm) for dtype, shape in arguments))
    except NkiError as error:
        return [Finding(_line_of(error, name), getattr(error, "rule", "illegal"), str(error))]
    except TypeError as error:  # a register in Python arithmetic
        return [Finding(_line_of(error, name), "register", str(error))]
    finally:
        _rules.DRY = False
    return [Finding(0, "never-read", what) for what in _rules.never_read()]


def check(text, name="kernel.py", most=UNROLLED_CALLS):
    """All findings of one kernel's text, which may unroll to `most` calls."""
    tree = ast.parse(text)
    findings = list(check_tree(tree)) + list(check_length(tree, most))
    return findings or check_dry(tree, text, name)


def main(paths):
    bad = kernels = 0
    for path in paths:
        kernels += 1
        for finding in check(Path(path).read_text(), path):
            print(f"{path}:{finding}")
            bad += 1
    print(json.dumps({"kernels": kernels, "calls": sum(_rules.CALLS.values()), "findings": bad}))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
