"""Density-fitted MP2 energies of molecules, with a bound of what the arithmetic may have changed.

    import trnsci.mp2
    r = trnsci.mp2.energy("water.xyz", basis="cc-pVDZ", executor="sim:trn2", precision="target=1e-9")
    r.total_energy, r.bound

Needs libint2 when trnsci is built; docs/mp2.md has the method, its stages and its precision.
"""
from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from . import _docs, _glossary
from ._core import Executor, ExecutorLike, current_executor

try:
    from . import _mp2
except ImportError as _trouble:
    raise ImportError("trnsci.mp2 is not part of this build: it needs libint2 (libint2-dev) where `pip install .` runs; "
                      f"{_trouble}") from _trouble

Atom = tuple[str, Sequence[float]]
Molecule = str | os.PathLike[str] | Iterable[Atom]


@dataclass(frozen=True)
class Stage:
    """One part of the work: where and in which arithmetic it ran, for how long here and on the modelled device."""

    name: str
    executor: str
    precision: str
    seconds: float
    modelled_seconds: float


@dataclass(frozen=True)
class Result:
    """Energies in hartree. `bound` is on the correlation energy: what the arithmetic of the executor may have changed.

    `values` has everything that `trnsci mp2 --json` prints, by the same names.
    """

    values: dict[str, Any]

    @property
    def converged(self) -> bool:
        """Whether the SCF converged; without it there is no correlation energy."""
        return bool(self.values["converged"])

    def _energy(self, name: str) -> float:
        if name not in self.values:
            raise ValueError(f"mp2: there is no {name}: the SCF did not converge ({self.values.get('reason', '')})")
        return float(self.values[name])

    @property
    def scf_energy(self) -> float:
        return float(self.values["scf_energy"])

    @property
    def correlation_energy(self) -> float:
        return self._energy("correlation_energy")

    @property
    def same_spin(self) -> float:
        return self._energy("same_spin")

    @property
    def opposite_spin(self) -> float:
        return self._energy("opposite_spin")

    @property
    def scs_correlation_energy(self) -> float:
        return self._energy("scs_correlation_energy")

    @property
    def sos_correlation_energy(self) -> float:
        return self._energy("sos_correlation_energy")

    @property
    def total_energy(self) -> float:
        return self._energy("total_energy")

    @property
    def bound(self) -> float:
        return self._energy("bound")

    @property
    def stochastic(self) -> dict[str, Any] | None:
        """The estimate from random orbitals, where `samples` asked for one."""
        found = self.values.get("stochastic")
        return None if found is None else dict(found)

    @property
    def stages(self) -> list[Stage]:
        v = self.values
        return [Stage(name, v["stage_executor"][name], v["stage_precision"][name], v["seconds"][name],
                      v["modelled_seconds"].get(name, 0.0)) for name in v["stage_executor"]]

    @property
    def modelled_seconds(self) -> float:
        return sum(s.modelled_seconds for s in self.stages)

    def __repr__(self) -> str:
        energy = f"{self.total_energy:.9f} hartree, bound {self.bound:.1e}" if self.converged else "not converged"
        return f"<trnsci.mp2.Result {self.values['molecule']} {self.values['basis']}: {energy}>"


def _xyz(molecule: Molecule) -> tuple[str, str]:
    """Text of an .xyz file, and what messages call it."""
    if isinstance(molecule, str) and "\n" in molecule:
        return molecule, "molecule"
    if isinstance(molecule, (str, os.PathLike)):
        path = os.fspath(molecule)
        try:
            with open(path, encoding="utf-8") as file:
                return file.read(), path
        except OSError as trouble:
            raise ValueError(f"mp2: {path}: {trouble.strerror}; molecule is a path, the text of an .xyz file, or (symbol, (x, y, z)) pairs") from None
    try:
        lines = [f"{symbol} {float(x)!r} {float(y)!r} {float(z)!r}" for symbol, (x, y, z) in molecule]
    except (TypeError, ValueError):
        raise ValueError("mp2: molecule is a path, the text of an .xyz file, or (symbol, (x, y, z)) pairs in angstrom") from None
    return "\n".join([str(len(lines)), "", *lines, ""]), "molecule"


def energy(molecule: Molecule, basis: str = "cc-pVDZ", *, charge: int = 0, multiplicity: int = 1, unrestricted: bool = False,
           ri: str = "", jk: str = "", frozen_core: bool = False, fit: str = "exact", scf: str = "host", scf_iterations: int = 100,
           memory_bytes: int = 2**31, scratch: str | os.PathLike[str] = "", samples: int = 0, seed: int = 0,
           progress: Callable[[int, float, float, float], Any] | None = None, precision: str | None = None,
           executor: ExecutorLike = None) -> Result:
    """The MP2 energy of a molecule, with a bound of what the arithmetic may have changed. Ctrl-C is seen in each cycle of the SCF.

    Returns
    -------
    Result
        Energies, the bound, and the stages with their times.

    >>> import trnsci.mp2
    >>> h2 = [("H", (0, 0, 0)), ("H", (0, 0, 0.74))]
    >>> r = trnsci.mp2.energy(h2, "cc-pVDZ")
    >>> round(r.total_energy, 6), r.converged, r.bound < 1e-9
    (-1.155061, True, True)
    """
    if fit not in ("exact", "same"):
        raise ValueError(f"mp2: fit is {fit!r}; it must be 'exact' or 'same'")
    if scf not in ("host", "executor"):
        raise ValueError(f"mp2: scf is {scf!r}; it must be 'host' or 'executor'")
    where = current_executor() if executor is None else executor
    text, source = _xyz(molecule)
    options = {"basis": basis, "ri": ri, "jk": "" if jk == "exact" else jk, "frozen_core": bool(frozen_core),
               "multiplicity": int(multiplicity), "unrestricted": bool(unrestricted),
               "executor": where.name if isinstance(where, Executor) else where, "memory_bytes": int(memory_bytes),
               "scratch": os.fspath(scratch), "samples": int(samples), "seed": int(seed), "iterations": int(scf_iterations)}
    return Result(json.loads(_mp2.run(text, source, int(charge), options, precision or "", jk == "exact", fit == "same",
                                      scf == "executor", progress)))


__all__ = ["Result", "Stage", "energy"]

_docs.complete(globals(), _glossary.MP2)
