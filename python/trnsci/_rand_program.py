"""GeneratorProgram: draws that are put down once and filled in as often as one likes, the Python trnrand's streaming interface."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .rand import Generator


class GeneratorProgram:
    """A list of draws; `stream_into` makes them all. Buffers are NumPy's arrays or device arrays.

    >>> import numpy as np, trnsci
    >>> program = trnsci.rand.Generator(1).new_program().normal(4, 0.0, 1.0, "z").uniform(8, -1.0, 1.0, "u").build()
    >>> buffers = {"z": np.empty(4, np.float32), "u": np.empty(8, np.float32)}
    >>> program.stream_into(buffers)
    >>> bool((abs(buffers["u"]) <= 1).all())
    True
    """

    def __init__(self, generator: Generator) -> None:
        self._generator = generator
        self._draws: list[tuple[str, int, tuple[float, ...], str]] = []
        self._built = False

    def _add(self, kind: str, n: int, parameters: tuple[float, ...], out: str) -> GeneratorProgram:
        if self._built:
            raise ValueError("rand.GeneratorProgram: it is built; begin another with Generator.new_program()")
        if any(name == out for *_, name in self._draws):
            raise ValueError(f"rand.GeneratorProgram: two draws fill {out!r}")
        self._draws.append((kind, int(n), parameters, out))
        return self

    def normal(self, n: int, mean: float = 0.0, std: float = 1.0, out: str = "normal") -> GeneratorProgram:
        """Adds n normal numbers.

        Parameters
        ----------
        out : str
            The name of its buffer.

        Returns
        -------
        GeneratorProgram
            This one, so that calls can follow one another.
        """
        return self._add("normal", n, (mean, std), out)

    def uniform(self, n: int, low: float = 0.0, high: float = 1.0, out: str = "uniform") -> GeneratorProgram:
        """Adds n numbers in [low, high).

        Parameters
        ----------
        out : str
            The name of its buffer.

        Returns
        -------
        GeneratorProgram
            This one, so that calls can follow one another.
        """
        return self._add("uniform", n, (low, high), out)

    def exponential(self, n: int, rate: float = 1.0, out: str = "exponential") -> GeneratorProgram:
        """Adds n exponential numbers with mean 1 / rate.

        Parameters
        ----------
        out : str
            The name of its buffer.

        Returns
        -------
        GeneratorProgram
            This one, so that calls can follow one another.
        """
        if not rate > 0:
            raise ValueError(f"rand.GeneratorProgram: rate is {rate}; it must be positive")
        return self._add("exponential", n, (1.0 / rate,), out)

    def build(self) -> GeneratorProgram:
        """Ends the list.

        Returns
        -------
        GeneratorProgram
            This one.
        """
        self._built = True
        return self

    def stream_into(self, buffers: Mapping[str, Any]) -> None:
        """Fills the buffer of every draw, in order; each has as many elements as the draw."""
        for kind, n, _, out in self._draws:
            if out not in buffers:
                raise ValueError(f"rand.GeneratorProgram: no buffer for {out!r}")
            if buffers[out].size != n:
                raise ValueError(f"rand.GeneratorProgram: the buffer for {out!r} has {buffers[out].size} elements; its draw has {n}")
        for kind, _, parameters, out in self._draws:
            getattr(self._generator, kind)(*parameters, out=buffers[out], dtype=buffers[out].dtype)
