"""Outcomes: what a factorisation, a solve or an iteration says about its work. They are results, not exceptions."""
from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

from ._trnsci import Accuracy


class NumericalWarning(RuntimeWarning):
    """A call whose outcome is not "ok" and whose caller did not ask for the report with return_accuracy=True."""


@dataclass(frozen=True)
class Outcome:
    """`status` is "ok" or says what happened ("singular", "not converged", ...); `index` where, or -1."""

    status: str
    index: int = -1
    boosted: int = 0

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    def __str__(self) -> str:
        return self.status if self.index < 0 else f"{self.status} at {self.index}"


@dataclass(frozen=True)
class Report:
    """The outcome of a solver, its error bound, and the algorithm that ran.

    `bound` is what the C++ header of the operation states, relative to the quantity it names; `rigorous` says whether it
    is proved for this input. `more` has what one operation alone reports: residuals, ranks, error bounds.
    """

    outcome: Outcome
    accuracy: Accuracy
    rigorous: bool = False
    condition: float = 0.0
    iterations: int = 0
    levels: int = 0
    algorithm: str = ""
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return self.outcome.ok

    @property
    def bound(self) -> float:
        return self.accuracy.bound


def report_of(values: tuple[Any, ...], **more: Any) -> Report:
    status, index, accuracy, rigorous, condition, iterations, levels, algorithm = values
    return Report(Outcome(status, index), accuracy, rigorous, condition, iterations, levels, algorithm, more)


def finish(operation: str, result: Any, report: Report, return_accuracy: bool, level: int = 4) -> Any:
    """The result, with its report where that was asked for; otherwise trouble is a warning, `level` frames up."""
    if return_accuracy:
        return result, report
    tell(operation, report.outcome, level)
    return result


def concluded(operation: str, result: Any, values: tuple[Any, ...], return_accuracy: bool) -> Any:
    """finish() with what the extension said: a call that went well and whose report nobody asked for makes none."""
    if not return_accuracy and values[0] == "ok":
        return result
    return finish(operation, result, report_of(values), return_accuracy, 5)


def tell(operation: str, outcome: Outcome, level: int = 4) -> None:
    if not outcome.ok:
        warnings.warn(f"{operation}: {outcome}; return_accuracy=True gives the report", NumericalWarning, stacklevel=level)
