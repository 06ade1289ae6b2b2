"""Bit generators for numpy.random.Generator over the counter-based generators of trnrand.

    np.random.Generator(trnsci.rand.Philox4x32(seed=42)).random(1000)

gives the numbers of trnsci.rand.Generator with the same seed: number i is made of the words 2 i and 2 i + 1.
"""
from __future__ import annotations

import operator
from typing import Any, cast

import numpy as np
from numpy.random import BitGenerator

from . import _trnsci
from ._inputs import integer

PERIOD = 2**63 - 1  # numbers of a stream, then it begins again


class _Stream(BitGenerator):
    _algorithm = ""

    def __init__(self, seed: Any = None, *, stream: int = 0) -> None:
        super().__init__(seed)
        number = np.asarray(seed).item() if isinstance(seed, (int, np.integer, list, np.ndarray)) and np.size(seed) == 1 else None
        if isinstance(number, int) and number >= 0:  # the seed itself, as trnsci.rand.Generator takes it
            key = number & (2**64 - 1)
        else:
            sequence = cast(Any, self)._seed_seq
            key = int(sequence.generate_state(1, np.uint64)[0])
        self._bits = _trnsci.BitStream(self._algorithm, key, integer(stream, f"rand.{type(self).__name__}", "stream"))
        self._capsule = self._bits.capsule()

    @property
    def capsule(self) -> Any:
        return self._capsule

    @property
    def state(self) -> Any:
        _, seed, stream, position, has_half, half = self._bits.state()
        return {"bit_generator": type(self).__name__, "state": {"seed": seed, "stream": stream, "position": position},
                "has_uint32": has_half, "uinteger": half}

    @state.setter
    def state(self, value: Any) -> None:
        if not isinstance(value, dict):
            raise TypeError("state must be a dict")
        if value.get("bit_generator", "") != type(self).__name__:
            raise ValueError(f"state must be for a {type(self).__name__} PRNG")
        where = f"rand.{type(self).__name__}"
        seed, stream, position = (integer(value["state"][name], where, name) for name in ("seed", "stream", "position"))
        self._bits.set_state(seed, stream, position, bool(value["has_uint32"]), integer(value["uinteger"], where, "uinteger", 0, 2**32 - 1))

    def random_raw(self, size: Any = None, output: bool = True) -> Any:
        """64-bit numbers.

        Returns
        -------
        int, ndarray or None
            The numbers; None with output=False.
        """
        count = 1 if size is None else int(np.prod(size))
        if not output:
            self._bits.skip(count % PERIOD)
            return None
        with self.lock:
            numbers = [self._bits.next() for _ in range(count)]
        return numbers[0] if size is None else np.array(numbers, dtype=np.uint64).reshape(size)

    def advance(self, delta: int) -> _Stream:
        """As if delta 64-bit numbers were drawn, modulo the period of 2^63 - 1 numbers; negative goes back.

        Returns
        -------
        BitGenerator
            This one.
        """
        value = self.state
        number = value["state"]["position"] // 2 + operator.index(delta)
        value["state"]["position"] = 2 * (number % PERIOD)
        value["has_uint32"], value["uinteger"] = 0, 0
        self.state = value
        return self

    def jumped(self, jumps: int = 1) -> _Stream:
        """A generator of the stream that lies `jumps` further: they share no number.

        Returns
        -------
        BitGenerator
            A new one.
        """
        value = self.state
        other = type(self)(0)
        value["state"] = {**value["state"], "stream": value["state"]["stream"] + jumps}
        value["has_uint32"], value["uinteger"] = 0, 0
        other.state = value
        return other

    def __getstate__(self) -> Any:
        return self.state

    def __setstate__(self, state: Any) -> None:
        self.state = state[0] if isinstance(state, tuple) else state

    def __reduce__(self) -> Any:
        return _make, (type(self).__name__,), self.state  # in three parts, as NumPy 1's Generator takes it apart


class Philox4x32(_Stream):
    """Philox with four 32-bit words and ten rounds: cuRAND's stream of this seed."""

    _algorithm = "philox4x32-10"


class Threefry4x32(_Stream):
    """Threefry with four 32-bit words and twenty rounds."""

    _algorithm = "threefry4x32-20"


def _make(name: str) -> _Stream:
    return {"Philox4x32": Philox4x32, "Threefry4x32": Threefry4x32}[name](0)
