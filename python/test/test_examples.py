"""The programs of python/examples do what they say."""
import importlib.util
import math
import pathlib
import sys

import numpy as np
import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "examples"


sys.path.append(str(FOLDER))  # they import their neighbour


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


@pytest.mark.parametrize("executor", [None, "sim:trn2"])
def test_mc_integration(executor):
    result = load("mc_integration").main(executor, sizes=(1 << 12, 1 << 14))
    for n, estimates in result.items():
        for value, error in (estimates["random"], estimates["sobol"]):
            assert abs(value - 1) < 5 * error
        assert abs(estimates["halton"] - 1) < 0.05
    assert result[1 << 14]["sobol"][1] < 0.2 * result[1 << 14]["random"][1]  # what the structure of the points is for


def probability_of_better(sales, visits):
    """P(rate_B > rate_A) of two beta posteriors with whole parameters: a finite sum (integrate B's distribution function by parts)."""
    (sa, sb), (na, nb) = sales, visits
    a, b, c, d = sa + 1, na - sa + 1, sb + 1, nb - sb + 1
    log_beta = lambda x, y: math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)  # noqa: E731
    return math.fsum(math.exp(log_beta(a + i, b + d) - math.log(d + i) - log_beta(1 + i, d) - log_beta(a, b)) for i in range(c))


@pytest.mark.parametrize("executor", [None, "sim:trn2"])
def test_bayesian_ab_test(executor):
    module = load("bayesian_ab_test")
    r = module.main(executor, draws=20_000)
    assert r["sales"] == module.main(None, draws=100)["sales"]
    assert all(abs(s - 2000 * p) < 5 * math.sqrt(2000 * p) for s, p in zip(r["sales"], module.RATES))
    assert abs(r["better"] - probability_of_better(r["sales"], (2000, 2000))) < 5 * r["error"]
    for mean, s in zip((r["rate_a"], r["rate_b"]), r["sales"]):
        assert abs(mean - (s + 1) / 2002) < 5 * math.sqrt(0.075 / 2002 / 20_000)
    assert r["interval"][0] < r["gain"] < r["interval"][1] and 0 < r["loss"] < 1e-3


@pytest.mark.parametrize("executor", [None, "sim:trn2"])
def test_gamma_waiting_times(executor):
    r = load("gamma_waiting_times").main(executor, draws=20_000)
    assert max(r["gamma"], r["sums"]) < 1.95 and abs(r["mean"] - 1.6) < 0.03
    assert abs(r["late"] - math.exp(-7.5) * (1 + 7.5 + 7.5**2 / 2 + 7.5**3 / 6)) < 5 * math.sqrt(0.06 / 20_000)


@pytest.mark.parametrize("executor, days", [(None, 200), ("sim:trn2", 20)])
def test_poisson_process(executor, days):
    r = load("poisson_process").main(executor, days)
    assert abs(r["expected"].sum() - 24 * 20) < 1e-9
    for counts in (r["thinned"], r["drawn"]):
        assert (np.abs(counts.mean(axis=0) - r["expected"]) < 5 * np.sqrt(r["expected"] / days)).all()
        # Of a Poisson distribution the sum of (x - mean)^2 / mean over all hours is chi-squared with as many degrees of freedom.
        chi = ((counts - r["expected"]) ** 2 / r["expected"]).sum()
        assert abs(chi - counts.size) < 6 * math.sqrt(2 * counts.size * (1 + 1 / (2 * r["expected"].min())))


def test_scf_eigen():
    module = load("scf_eigen")
    r = module.main("sim:trn2")
    h, s, b = module.molecule()
    d, f = r["density"], r["fock"]
    assert np.abs(d @ s @ d - d).max() < 1e-8 and abs(np.trace(d @ s) - module.OCCUPIED) < 1e-9 and r["difference"] < 1e-5 and r["gap"] > 0
    # The energy of a density matrix, written without the program's functions, is stationary and least here.
    def total(density):
        coulomb, exchange = np.einsum("pmn,pls,ls->mn", b, b, density, optimize=True), np.einsum("pml,pns,ls->mn", b, b, density, optimize=True)
        return (density * (2 * h + 2 * coulomb - exchange)).sum()
    assert abs(total(d) - r["energy"]) < 1e-9 and np.abs(f @ d @ s - s @ d @ f).max() < 1e-8
    _, c = np.linalg.eigh(np.linalg.cholesky(np.linalg.inv(s)).T @ f @ np.linalg.cholesky(np.linalg.inv(s)))
    c = np.linalg.cholesky(np.linalg.inv(s)) @ c
    for angle in (0.05, -0.05):
        turned = c[:, :module.OCCUPIED].copy()
        turned[:, -1] = np.cos(angle) * c[:, module.OCCUPIED - 1] + np.sin(angle) * c[:, module.OCCUPIED]
        assert total(turned @ turned.T) > r["energy"]


def test_sparse_fock():
    r = load("sparse_fock").main("sim:trn2")
    assert 0 < r["entries"] < r["blocks"] < 1 and r["dense error"] < 1e-3
    for name in ("entries", "blocks"):
        assert r["dense error"] < r[name + " error"] <= r["bound"] + 1e-3
    assert r["dense error"] < r["fused error"] < 3 * r["bound"] and r["quartets"]["quartet_fraction"] < 0.9


def test_block_sparse_attention():
    r = load("block_sparse_attention").main("sim:trn2")
    assert [round(64 * x["share"]) for x in r.values()] == [22, 28, 34]
    assert all(x["error"] < 2e-5 and x["family"] == "device" and x["seconds"] > 0 for x in r.values())


@pytest.mark.parametrize("name", ["bench_syrk", "bench_trsm"])
def test_benches(name, capsys):
    rows = load(name).main("sim:trn2", ((128, 64),))
    assert len(rows) == 1 and min(*rows[0]["host"], *rows[0]["device"]) > 0 and "128" in capsys.readouterr().out
    shapes = load("measured").shapes
    assert shapes(["sim:trn1", "8,4"]) == ("sim:trn1", ((8, 4),)) and shapes([]) == ("sim:trn2",)
