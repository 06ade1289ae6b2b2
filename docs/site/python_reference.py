"""The functions of trnsci for Python as pages: signatures and docstrings, read from the sources without importing the package."""
import ast
import importlib
import pathlib
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "trnsci"
MODULES = ["fft", "blas", "rand", "solver", "sparse", "tensor", "mp2", "torch", "torch.nn", "array_api"]

# The package's own words about parameters, without importing the package, which needs the extension.
words = types.ModuleType("trnsci_words")
words.__path__ = [str(PACKAGE)]
sys.modules["trnsci_words"] = words
_docs = importlib.import_module("trnsci_words._docs")
_glossary = importlib.import_module("trnsci_words._glossary")


def source(module):
    """The file of trnsci.MODULE."""
    path = PACKAGE.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def exported(tree):
    """The names of __all__, or the public functions and classes where there is none."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return [item.value for item in node.value.elts]
    return [n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and not n.name.startswith("_")]


def definitions(path, seen=()):
    """What a file defines or takes from its neighbours, by name; of overloads the last one, which has the body."""
    found = {}
    tree = ast.parse(path.read_text())
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level and path not in seen:
            folder = path.parent if node.level == 1 else path.parent.parent
            other = folder / f"{node.module}.py"
            if other.is_file():
                there = definitions(other, (*seen, path))
                found.update({a.asname or a.name: there[a.name] for a in node.names if a.name in there})
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") in found:
            made = returned(found[node.value.func.id], node.value)
            if made:
                found[node.targets[0].id] = made
    return found


def returned(maker, call):
    """The function that a call such as _one_axis(0, "fft", "...") returns: the maker's inner one, with the longest text as its own."""
    inner = next((n for n in maker.body if isinstance(n, ast.FunctionDef)), None)
    words = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    if inner is None or not words:
        return None
    made = ast.parse(ast.unparse(inner)).body[0]
    made.body.insert(0, ast.Expr(ast.Constant(max(words, key=len))))
    bound = dict(zip([a.arg for a in maker.args.args], call.args))
    made.args.defaults = [bound.get(getattr(d, "id", ""), d) for d in made.args.defaults]
    return made


def parameters(node, method):
    """The parameters of a definition, as _docs has them."""
    arguments = node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    optional = [False] * (len(plain) - len(arguments.defaults)) + [True] * len(arguments.defaults)
    found = [_docs.Parameter(a.arg, o) for a, o in zip(plain, optional)][1 if method else 0:]
    if arguments.vararg:
        found.append(_docs.Parameter("*" + arguments.vararg.arg, False))
    found += [_docs.Parameter(a.arg, d is not None) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    if arguments.kwarg:
        found.append(_docs.Parameter("**" + arguments.kwarg.arg, False))
    return found


def described(node, glossary):
    """A function's docstring with its sections: what goes in as a table."""
    returned = ast.unparse(node.returns) if node.returns else "Any"
    prose, made = _docs.sections(ast.get_docstring(node) or "", parameters(node, False), returned, glossary)
    lines = [*prose.splitlines(), ""]
    cell = lambda text: text.replace("|", "\\|")  # noqa: E731
    if made.get("Parameters"):
        lines += ["| parameter | | |", "|---|---|---|"]
        lines += [f"| `{name}` | {cell(kind)} | {cell(meaning)} |" for name, (kind, meaning) in made["Parameters"].items()]
        lines.append("")
    if "Returns" in made:
        kind, meaning = made["Returns"]
        lines += [f"Returns {kind}: {meaning}", ""]
    for name, meaning in made.get("Raises", {}).items():
        if _docs.RAISES.get(name) != meaning:
            lines += [f"Raises `{name}`: {meaning}", ""]
    return lines + code_blocks(made.get("Examples", ""))


def docstring(node):
    """Prose, and the example as code."""
    return code_blocks(ast.get_docstring(node) or "")


def code_blocks(text):
    prose, code = [], []
    for line in text.splitlines():
        if line.startswith((">>>", "...")) or (code and line.strip()):
            code.append(line)
        elif code:
            prose += ["```python", *code, "```", ""]
            code = []
        else:
            prose.append(line)
    return prose + (["", "```python", *code, "```"] if code else [])


def signature(node, name, method=False):
    arguments = node.args
    if method:
        arguments = ast.parse(ast.unparse(node)).body[0].args
        (arguments.posonlyargs or arguments.args)[:1] = []
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        each.annotation = None
    return f"{name}({ast.unparse(arguments)})"


def entry(name, node, glossary):
    lines = [f"## {name}", ""]
    if isinstance(node, ast.FunctionDef):
        return [*lines, f"    {signature(node, name)}", "", *described(node, glossary), ""]
    made = next((m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == "__init__"), None)
    if made:
        lines += [f"    {signature(made, name, True)}", ""]
    lines += [*docstring(node), ""]
    methods = [m for m in node.body if isinstance(m, ast.FunctionDef) and not m.name.startswith("_") and
               not any(isinstance(d, ast.Attribute) for d in m.decorator_list)]  # setters
    if methods:
        lines += ["| | |", "|---|---|"]
    for m in methods:
        plain = any(isinstance(d, ast.Name) and d.id == "property" for d in m.decorator_list)
        text = (ast.get_docstring(m) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
        lines.append(f"| `{m.name if plain else signature(m, m.name, True)}` | {text} |".replace(" | None", " or None"))
    return [*lines, ""]


def render(module):
    path = source(module)
    tree, known = ast.parse(path.read_text()), definitions(path)
    glossary = getattr(_glossary, module.split(".")[0].upper(), {})
    lines = [f"# trnsci.{module}", "", *docstring(tree), ""]
    for name in sorted(exported(tree), key=str.lower):
        if name in known:
            lines += entry(name, known[name], glossary)
    return "\n".join(lines) + "\n"


def pages():
    """Places and texts."""
    listed = [f"| [trnsci.{m}]({m}.md) | {(ast.get_docstring(ast.parse(source(m).read_text())) or '').splitlines()[0]} |" for m in MODULES]
    yield "python/reference/index.md", "\n".join(["# Python, function by function", "", "Made from the sources of the package; [trnsci for Python](../../python.md) "
                                                   "says what holds for all of them.", "", "| module | |", "|---|---|", *listed]) + "\n"
    for module in MODULES:
        yield f"python/reference/{module}.md", render(module)
