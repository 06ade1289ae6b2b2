"""Docstrings in NumPy's form, composed from what a function says of itself and from what its parameters mean everywhere.

A docstring in the sources says what is computed and shows an example. Within a module a name of a parameter means one thing, so that
is said once, in _glossary.py; a docstring whose parameter means something else has a Parameters section of its own for it. `complete`
puts the sections together when a module is imported, and docs/site does the same for the pages: this file needs no other module.
"""
from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

Glossary = Mapping[str, tuple[str, str]]  # name: (type, meaning)
SECTIONS = ("Parameters", "Returns", "Raises", "Notes", "Examples")

# The word for a result, by the annotation of the function; what is not here stands as it is written.
RESULTS = {"Any": "ndarray or Array", "Result": "ndarray or Array", "NDArray[Any]": "ndarray", "Number": "float or complex",
           "tuple[Result, Result]": "tuple of arrays", "tuple[float, Number, Number, Number]": "tuple of numbers",
           "dict[str, Any]": "dict", "list[Any]": "list", "OneAxis": "ndarray or Array", "SeveralAxes": "ndarray or Array",
           "Cosine": "ndarray or Array", "CosineAxes": "ndarray or Array", "NDArray[np.float32]": "ndarray", "Tensor": "torch.Tensor",
           "Matrices": "ndarray"}
RAISES = {"ValueError": "Arguments that do not fit one another, or operands of two executors: nothing crosses unasked.",
          "NotImplementedError": "The executor has no kernel for it: nothing falls back."}


class Parameter(NamedTuple):
    name: str  # with its stars
    optional: bool


class Parts(NamedTuple):
    prose: str
    sections: dict[str, str]  # without their headings; Examples has the lines from the first >>> on


def parts(doc: str) -> Parts:
    """A docstring taken apart."""
    text = inspect.cleandoc(doc)
    heading = re.compile(rf"^({'|'.join(SECTIONS)})\n-{{3,}}\n", re.M)
    text, mark, rest = (text + "\n").partition("\n>>>")  # the examples come last
    sections = {"Examples": (mark + rest).strip()} if mark else {}
    pieces = heading.split(text.removesuffix("Examples\n--------\n") + "\n")
    sections.update(zip(pieces[1::2], (body.strip() for body in pieces[2::2])))
    return Parts(pieces[0].strip(), sections)


def entries(section: str) -> dict[str, tuple[str, str]]:
    """The entries of a Parameters section: name: (type, meaning)."""
    found = {}
    for match in re.finditer(r"^(\S[^\n]*?)(?: : ([^\n]+))?\n((?:    [^\n]*\n?|\n)+)", section + "\n", re.M):
        meaning = inspect.cleandoc(match.group(3)).replace("\n", " ")
        for name in match.group(1).split(", "):
            found[name] = (match.group(2) or "", meaning)
    return found


def first_sentence(prose: str) -> str:
    paragraph = prose.split("\n\n")[0].replace("\n", " ")
    return re.split(r"(?<=[.:]) (?=[A-Z]|precision=)", paragraph)[0].rstrip(":")


def wrapped(text: str, width: int = 96) -> str:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return "\n".join("    " + line for line in lines)


def described(parameters: Iterable[Parameter], own: Glossary, glossary: Glossary) -> dict[str, tuple[str, str]]:
    """name: (type, meaning) of the parameters, in order; of those that nothing is said about ("", "")."""
    result = {}
    for name, optional in parameters:
        kind, meaning = own.get(name) or own.get(name.lstrip("*")) or glossary.get(name.lstrip("*")) or ("", "")
        result[name] = (kind.removesuffix(", optional") + (", optional" if optional and kind else ""), meaning)
    return result


def sections(doc: str, parameters: Iterable[Parameter], returned: str, glossary: Glossary) -> tuple[str, dict[str, Any]]:
    """The prose and the sections of one docstring: Parameters and Raises as {name: ...}, Returns as (type, meaning)."""
    prose, given = parts(doc)
    parameters = list(parameters)
    names = {p.name for p in parameters}
    made: dict[str, Any] = {}
    if parameters:
        made["Parameters"] = described(parameters, entries(given.get("Parameters", "")), glossary)
    if "Returns" in given:
        kind, _, meaning = given["Returns"].partition("\n")
        made["Returns"] = (kind, " ".join(meaning.split()))
    elif returned != "None":
        # What the first line says is computed is what comes back.
        kind = RESULTS.get(returned, returned)
        made["Returns"] = ("tuple" if kind == "ndarray or Array" and prose.startswith("(") else kind, first_sentence(prose))
    if "return_accuracy" in names and "Returns" in made:
        kind, meaning = made["Returns"]
        made["Returns"] = (kind, meaning.rstrip(".") + ". With return_accuracy=True a pair of this and its accuracy or report.")
    raises = dict(RAISES) if "executor" in names else {}
    raises.update({k: v[1] for k, v in entries(given.get("Raises", "")).items()})
    if raises:
        made["Raises"] = raises
    for name in ("Notes", "Examples"):
        if name in given:
            made[name] = given[name]
    return prose, made


def compose(doc: str, parameters: Iterable[Parameter], returned: str, glossary: Glossary) -> str:
    """The docstring with all of its sections."""
    prose, made = sections(doc, parameters, returned, glossary)
    blocks = [prose]
    for name in [n for n in SECTIONS if n in made]:
        body = made[name]
        if name == "Parameters":
            body = "\n".join(f"{k} : {kind}\n{wrapped(meaning)}" for k, (kind, meaning) in body.items())
        elif name == "Returns":
            body = f"{body[0]}\n{wrapped(body[1])}"
        elif name == "Raises":
            body = "\n".join(f"{k}\n{wrapped(v)}" for k, v in body.items())
        blocks.append(f"{name}\n{'-' * len(name)}\n{body}")
    return "\n\n".join(blocks) + "\n"


def parameters_of(function: Callable[..., Any], method: bool) -> tuple[list[Parameter], str]:
    """The parameters, without self, and the annotation of the result."""
    stars: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    signature = inspect.signature(function)
    given = list(signature.parameters.values())[1 if method else 0:]
    returned = signature.return_annotation
    if returned is inspect.Signature.empty:
        returned = "Any"
    return [Parameter(stars.get(p.kind, "") + p.name, p.default is not inspect.Parameter.empty) for p in given], str(returned)


def public_methods(kind: type) -> dict[str, Callable[..., Any]]:
    """Methods that a class has from this package, by name; class methods by the function within."""
    found: dict[str, Callable[..., Any]] = {}
    for base in reversed(kind.__mro__):
        for name, member in vars(base).items() if base.__module__.startswith("trnsci.") else ():
            function = getattr(member, "__func__", member)
            if not name.startswith("_") and inspect.isfunction(function):
                found[name] = function
    return found


def public(names: Mapping[str, Any]) -> Iterable[tuple[str, Callable[..., Any], bool]]:
    """(name, function, is a method) of everything in a module's __all__ that is written in Python and has a docstring to be made."""
    for name in names["__all__"]:
        thing = names.get(name)
        if inspect.isfunction(thing):
            yield name, thing, False
        elif inspect.isclass(thing) and thing.__module__.startswith("trnsci.") and not thing.__module__.endswith("._trnsci"):
            for method, function in public_methods(thing).items():
                yield f"{name}.{method}", function, True


def complete(names: Mapping[str, Any], glossary: Glossary) -> None:
    """Completes the docstrings of a module's public functions and methods; `names` are its globals."""
    for _, function, method in public(names):
        if function.__doc__ and not getattr(function, "_composed", False):  # python -OO has none
            parameters, returned = parameters_of(function, method)
            function.__doc__ = compose(function.__doc__, parameters, returned, glossary)
            setattr(function, "_composed", True)
