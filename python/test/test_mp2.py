"""trnsci.mp2: energies against published ones, devices, wrong input."""
import pathlib

import pytest

import trnsci

try:
    from trnsci import _mp2
except ImportError:
    pytest.skip("this build has no libint2", allow_module_level=True)
import trnsci.mp2 as mp2

WATER = pathlib.Path(__file__).resolve().parents[2] / "apps" / "mp2" / "molecules" / "water.xyz"
TEXT = WATER.read_text()


@pytest.fixture(scope="module")
def water():
    return mp2.energy(WATER, "sto-3g", jk="exact", ri="cc-pvdz-ri", executor="host")


def test_water(water):
    assert water.converged and water.values["formula"] == "H2O" and repr(water).startswith("<trnsci.mp2.Result")
    assert abs(water.total_energy - (water.scf_energy + water.correlation_energy)) < 1e-12
    assert abs(water.correlation_energy - (water.same_spin + water.opposite_spin)) < 1e-12
    assert abs(water.scs_correlation_energy - (1.2 * water.opposite_spin + water.same_spin / 3)) < 1e-12
    assert abs(water.sos_correlation_energy - 1.3 * water.opposite_spin) < 1e-12
    assert water.bound < 1e-8 and {s.name for s in water.stages} and water.modelled_seconds == 0 and water.stochastic is None


def test_the_three_ways_to_give_a_molecule(water):
    lines = [line.split() for line in TEXT.splitlines()[2:] if line.strip()]
    pairs = [(s, (float(x), float(y), float(z))) for s, x, y, z in lines]
    for molecule in (TEXT, pairs, str(WATER)):
        assert mp2.energy(molecule, "sto-3g", jk="exact", ri="cc-pvdz-ri").total_energy == pytest.approx(water.total_energy, abs=1e-10)


def test_on_a_device(water):
    with trnsci.use("sim:trn2"):
        r = mp2.energy(WATER, "sto-3g", jk="exact", ri="cc-pvdz-ri", precision="exact")
    assert r.values["executor"] == "sim:trn2" and r.modelled_seconds > 0
    assert abs(r.correlation_energy - water.correlation_energy) <= r.bound + water.bound + 1e-10


def test_progress_and_ctrl_c():
    seen = []
    mp2.energy(WATER, "sto-3g", progress=lambda *at: seen.append(at))
    assert [at[0] for at in seen] == list(range(seen[0][0], seen[0][0] + len(seen))) and len(seen) > 3

    def stop(number, *_):
        if number >= 2:
            raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        mp2.energy(WATER, "sto-3g", progress=stop)


def test_more():
    r = mp2.energy(WATER, "sto-3g", samples=50, seed=3)
    assert r.stochastic is not None and r.stochastic["samples"] == 50
    short = mp2.energy(WATER, "sto-3g", scf_iterations=1)
    assert not short.converged
    with pytest.raises(ValueError, match="did not converge"):
        short.total_energy
    for wrong, words in [({"molecule": "no.xyz"}, "no.xyz"), ({"molecule": "1\n\nXx 0 0 0\n"}, "molecule"), ({"molecule": [("H", 1.0)]}, "pairs"),
                         ({"fit": "no"}, "'exact' or 'same'"), ({"scf": "no"}, "'host' or 'executor'"), ({"basis": "sto-9g"}, "sto-9g"),
                         ({"multiplicity": 2}, "multiplicity|electrons"), ({"executor": "sim:trn9"}, "sim:trn9")]:
        with pytest.raises(ValueError, match=words):
            mp2.energy(**{"molecule": WATER, "basis": "sto-3g", **wrong})
