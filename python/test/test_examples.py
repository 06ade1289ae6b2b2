"""The programs of python/examples do what they say."""
import importlib.util
import pathlib

import numpy as np
import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_df_mp2(capsys):
    module = load("df_mp2")
    result = module.main("sim:trn2")
    three, metric, orbitals, energies = module.synthetic()
    occ, vir = orbitals[:, :module.N_OCC], orbitals[:, module.N_OCC:]
    mo = np.einsum("pmn,mi,na->pia", three, occ, vir, optimize=True)
    t = np.einsum("pia,pq,qjb->ijab", mo, np.linalg.inv(metric), mo, optimize=True)
    e, v = energies[:module.N_OCC], energies[module.N_OCC:]
    gaps = e[:, None, None, None] + e[:, None, None] - v[:, None] - v
    want = (t * (2 * t - t.swapaxes(2, 3)) / gaps).sum()
    assert abs(result["energy"] - want) < 1e-10 * abs(want)
    assert abs(result["device"] - want) < 1e-5 * abs(want)
    exact = (t * t / gaps).sum()
    assert abs(result["opposite_spin"] - exact) < 1e-10 * abs(exact)
    assert abs(result["estimate"] - exact) < 6 * result["error"] + 1e-4 * abs(exact) and result["error"] < 0.1 * abs(exact)
    assert 0 < result["kept"] < 1 and "sim:trn2" in capsys.readouterr().out


def test_speech_enhancement():
    result = load("speech_enhancement").main("sim:trn2")
    assert result["after"] > result["before"] + 3 and result["difference"] < 1e-5


@pytest.mark.parametrize("sample", [s.__name__ for s in load("nvidia_samples").SAMPLES])
def test_nvidia_samples(sample):
    error, limit = getattr(load("nvidia_samples"), sample)()
    assert error <= limit
