# The extension module of trnsci.mp2.
from collections.abc import Callable
from typing import Any

def run(xyz: str, source: str, charge: int, options: dict[str, Any], precision: str, exact_jk: bool, fit_same: bool,
        scf_on_executor: bool, progress: Callable[[int, float, float, float], Any] | None) -> str: ...
