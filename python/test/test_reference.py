"""The site's pages about the Python functions, made from the sources, name what the modules have."""
import importlib
import pathlib
import sys

import pytest

import trnsci

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs" / "site"))
import python_reference  # noqa: E402

TYPES = {"AttentionMask", "MxMatrix", "Operator", "backend_calls", "nn"}  # the extension's, a table of numbers, a module


@pytest.mark.parametrize("module", [m for m in python_reference.MODULES if m not in ("mp2", "torch", "torch.nn", "array_api")])
def test_every_function_has_an_entry(module):
    page = python_reference.render(module)
    there = importlib.import_module(f"trnsci.{module}")
    missing = [n for n in there.__all__ if f"## {n}\n" not in page and n not in TYPES and not issubclass(type(getattr(there, n)), type)]
    assert not missing
    first = trnsci.fft.fft.__doc__.splitlines()[0]
    assert module != "fft" or (first in page and "fft(x, n=None, axis=-1" in page)


def test_pages():
    names = dict(python_reference.pages())
    assert len(names) == len(python_reference.MODULES) + 1 and "energy(molecule, basis='cc-pVDZ'" in names["python/reference/mp2.md"]
