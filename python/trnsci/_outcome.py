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


def finish(operation: str, result: Any, report: Report, return_accuracy: bool) -> Any:
    """The result, with its report where that was asked for; otherwise trouble is a warning."""
    if return_accuracy:
        return result, report
    tell(operation, report.outcome)
    return result


def tell(operation: str, outcome: Outcome) -> None:
    if not outcome.ok:
        warnings.warn(f"{operation}: {outcome}; return_accuracy=True gives the report", NumericalWarning, stacklevel=4)
