"""Docstrings have NumPy's form: every public function says what its parameters are and what comes back, and shows it where people begin."""
import importlib
import inspect
import re

import pytest

import trnsci
from trnsci import _docs, _glossary

MODULES = {"fft": _glossary.FFT, "blas": _glossary.BLAS, "rand": _glossary.RAND, "solver": _glossary.SOLVER, "sparse": _glossary.SPARSE,
           "tensor": _glossary.TENSOR, "_core": _glossary.CORE}
for optional, glossary in (("mp2", _glossary.MP2), ("torch", _glossary.TORCH)):
    try:
        importlib.import_module(f"trnsci.{optional}")
        MODULES[optional] = glossary
    except ImportError:
        pass

# Where people begin: these have examples.
FIRST = {
    "_core": ["asarray", "asnumpy", "current_executor", "progress", "record"],
    "fft": ["fft", "ifft", "rfft", "irfft", "fft2", "fftn", "rfftn", "irfftn", "dct", "idct", "dst", "fftfreq", "rfftfreq", "fftshift", "ifftshift",
            "convolve", "correlate", "fftconvolve", "stft", "istft", "get_window", "next_fast_len", "create_plan"],
    "blas": ["axpy", "scal", "dot", "nrm2", "asum", "iamax", "gemv", "symv", "trmv", "trsv", "ger", "gemm", "matmul", "batched_gemm", "symm",
             "syrk", "trsm", "trmm", "geam", "quantize", "scaled_gemm"],
    "rand": ["Generator.random", "Generator.normal", "Generator.poisson", "Generator.integers", "Generator.permutation", "uniform", "normal",
             "randint", "manual_seed", "uniform_into", "sobol", "halton", "latin_hypercube"],
    "solver": ["cholesky", "cho_solve", "lu", "lu_factor", "lu_solve", "qr", "solve", "solve_triangular", "solve_spd", "lstsq", "pinv", "inv",
               "det", "slogdet", "eigh", "eigvalsh", "eigh_generalized", "eig", "schur", "svd", "expm", "sqrtm", "cg", "gmres", "eigsh", "rsvd"],
    "sparse": ["from_dense", "from_scipy", "spmv", "spmm", "spgemm", "sddmm", "sparse_add", "sparse_transpose", "spsolve", "spsolve_triangular",
               "splu", "spcholesky", "ilu", "ic0", "amg", "attention", "attention_mask", "screen_quartets", "poisson", "mmwrite"],
    "tensor": ["einsum", "contract", "tensordot", "transpose", "permute", "reduce", "plan", "plan_contraction", "cp_decompose", "tucker_decompose",
               "tt_decompose", "einsum_gradient", "mp2_energy", "ao_to_mo_transform"],
    "mp2": ["energy"], "torch": ["fft", "einsum", "spmm"],
}


def functions(module):
    return {name: (function, method) for name, function, method in _docs.public(vars(importlib.import_module(f"trnsci.{module}")))}


@pytest.mark.parametrize("module", MODULES)
def test_every_function_says_what_goes_in_and_what_comes_out(module):
    wrong = []
    for name, (function, method) in functions(module).items():
        if not function.__doc__:
            wrong.append(f"{name}: no docstring")
            continue
        prose, sections = _docs.parts(function.__doc__)
        parameters, returned = _docs.parameters_of(function, method)
        said = _docs.entries(sections.get("Parameters", ""))
        if list(said) != [p.name for p in parameters]:
            wrong.append(f"{name}: describes {list(said)}, takes {[p.name for p in parameters]}")
        wrong += [f"{name}: nothing about {k}" for k, (kind, meaning) in said.items() if not kind or not meaning]
        if not prose or not prose[0].strip():
            wrong.append(f"{name}: no summary")
        if (returned != "None") != bool(sections.get("Returns")):
            wrong.append(f"{name}: returns {returned}, and says {sections.get('Returns')!r}")
    assert not wrong, "\n".join(wrong)


def test_sections_are_numpys():
    doc = trnsci.blas.gemm.__doc__
    order = re.findall(r"^(\w+)\n-{4,}$", doc, re.M)
    assert order == ["Parameters", "Returns", "Raises", "Examples"]
    assert "transA : bool or {\"N\", \"T\", \"C\"}, optional\n    " in doc and "alpha : float or complex\n" in doc
    assert max(map(len, inspect.getdoc(trnsci.solver.solve).splitlines())) <= 140
    trnsci._docs.complete(vars(trnsci.blas), _glossary.BLAS)
    assert trnsci.blas.gemm.__doc__ == doc  # once


@pytest.mark.parametrize("module", [m for m in FIRST if m in MODULES])
def test_examples_where_people_begin(module):
    found = functions(module)
    without = [name for name in FIRST[module] if ">>> " not in (found[name][0].__doc__ or "")]
    assert not without


def test_classes_of_devices_are_described():
    for kind in (trnsci.Array, trnsci.Executor, trnsci.use, trnsci.rand.Generator, trnsci.sparse.CSRMatrix, trnsci.fft.Plan):
        assert ">>> " in kind.__doc__


@pytest.mark.parametrize("module", MODULES)
def test_the_glossary_has_nothing_that_no_function_takes(module):
    taken = {p.name.lstrip("*") for f, method in functions(module).values() for p in _docs.parameters_of(f, method)[0]}
    assert not set(MODULES[module]) - taken - set(_glossary.COMMON)


def test_a_section_of_its_own_counts():
    said = _docs.compose("Doubles.\n\nParameters\n----------\nx : int\n    A number.\n\n>>> 1\n1\n", [_docs.Parameter("x", True), _docs.Parameter("executor", True)],
                         "int", {"x": ("str", "no"), "executor": ("Executor", "Where.")})
    assert said == ("Doubles.\n\nParameters\n----------\nx : int, optional\n    A number.\nexecutor : Executor, optional\n    Where.\n\n"
                    "Returns\n-------\nint\n    Doubles.\n\nRaises\n------\nValueError\n    " + _docs.RAISES["ValueError"] +
                    "\nNotImplementedError\n    " + _docs.RAISES["NotImplementedError"] + "\n\nExamples\n--------\n>>> 1\n1\n")
