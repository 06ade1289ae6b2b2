"""Random numbers: Generator with the methods of numpy.random.Generator, the functions of the Python trnsci's trnrand, and
bit generators for NumPy's own Generator.

A Generator is (algorithm, seed, stream, position): value number n is a function of these alone, the same bits on every
executor for words, uniforms and Bernoulli numbers, however a draw is cut into pieces. Parameters of distributions are
numbers, not arrays. `out=` takes a NumPy array or a device array of the right type; without it results are NumPy's, also
when `executor` is a device.
"""
from __future__ import annotations

import math
import operator
import secrets
from collections.abc import Sequence
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _docs, _glossary, _trnsci
from ._core import Array, ExecutorLike
from ._inputs import integer

Size = int | Sequence[int] | None
Algorithm = Literal["philox4x32-10", "threefry4x32-20", "xorwow", "mrg32k3a", "mt19937", "sobol32", "scrambled-sobol32",
                    "owen-sobol32", "sobol64", "scrambled-sobol64", "halton", "scrambled-halton"]


def _shape(size: Size) -> list[int]:
    if size is None:
        return []
    if isinstance(size, (int, np.integer)):
        return [int(size)]
    return [operator.index(n) for n in size]


_LETTERS = {np.dtype(letter): letter for letter in "fdiIL"}  # float32, float64, int32, uint32, uint64


def _letter(name: str, dtype: DTypeLike) -> str:
    letter = _LETTERS.get(np.dtype(dtype))
    if letter is None:
        raise ValueError(f"rand.{name}: there are no numbers of type {np.dtype(dtype)}")
    return letter


def _high_product(a: NDArray[Any], b: int) -> NDArray[Any]:
    """The upper 64 bits of a b, for 64-bit a and b."""
    low, half = np.uint64(2**32 - 1), np.uint64(32)
    b0, b1 = np.uint64(b & (2**32 - 1)), np.uint64(b >> 32)
    a0, a1 = a & low, a >> half
    middle = a1 * b0 + (a0 * b0 >> half)
    return cast("NDArray[Any]", a1 * b1 + (middle >> half) + ((middle & low) + a0 * b1 >> half))


class Generator:
    """A random number generator.

    >>> import trnsci
    >>> g = trnsci.rand.Generator(seed=42)
    >>> a = g.random(4)
    >>> g.position = 0                       # two words a double: the same numbers again
    >>> bool((g.random(4) == a).all())
    True
    """

    def __init__(self, seed: int | None = None, *, algorithm: Algorithm = "philox4x32-10", stream: int = 0,
                 position: int = 0, dimensions: int = 1, executor: ExecutorLike = None) -> None:
        if seed is None:
            seed = 0 if "sobol" in algorithm or "halton" in algorithm else secrets.randbits(64)
        self.state = (algorithm, seed, stream, position, False, dimensions, 0)
        self._executor = executor

    def __repr__(self) -> str:
        return f"trnsci.rand.Generator(seed={self.seed}, algorithm='{self.algorithm}', stream={self.stream}, position={self.position})"

    @property
    def state(self) -> tuple[Any, ...]:
        """(algorithm, seed, stream, position, legacy ordering, dimensions, origin): the whole state, a plain value."""
        return cast("tuple[Any, ...]", self._generator.state())

    @state.setter
    def state(self, value: tuple[Any, ...]) -> None:
        if not isinstance(value, (tuple, list)) or len(value) != 7 or not isinstance(value[0], str):
            raise TypeError("rand.Generator: a state is (algorithm, seed, stream, position, legacy ordering, dimensions, origin)")
        algorithm, seed, stream, position, legacy, dimensions, origin = value
        self._generator = _trnsci.RandomGenerator(
            algorithm, integer(seed, "rand.Generator", "seed"), integer(stream, "rand.Generator", "stream"),
            integer(position, "rand.Generator", "position"), bool(legacy),
            integer(dimensions, "rand.Generator", "dimensions", 1, 2**32 - 1), integer(origin, "rand.Generator", "origin"))

    def __getstate__(self) -> Any:
        return self.state

    def __setstate__(self, state: Any) -> None:
        self._executor = None
        self.state = state

    @property
    def algorithm(self) -> str:
        return cast(str, self.state[0])

    @property
    def seed(self) -> int:
        return cast(int, self.state[1])

    @property
    def stream(self) -> int:
        return cast(int, self.state[2])

    @property
    def position(self) -> int:
        """The number of the next 32-bit word; of the next point for quasi-random algorithms."""
        return cast(int, self.state[3])

    @position.setter
    def position(self, value: int) -> None:
        state = self.state
        self.state = (*state[:3], value, *state[4:6], 0)

    def skip(self, n: int) -> None:
        """As if n words (points) were drawn."""
        self._generator.skip(integer(n, "rand.Generator.skip", "n"))

    def new_program(self) -> GeneratorProgram:
        """Draws to be put down once and made many times: see GeneratorProgram."""
        return GeneratorProgram(self)

    def spawn(self, n: int) -> list[Generator]:
        """n generators of the next streams: they never share a number with this one.

        >>> import trnsci
        >>> [g.stream for g in trnsci.rand.Generator(1).spawn(2)]
        [1, 2]
        """
        return [Generator(self.seed, algorithm=cast(Algorithm, self.algorithm), stream=self.stream + i + 1) for i in range(n)]

    def _draw(self, name: str, parameters: list[float], size: Size, dtype: DTypeLike, out: Any, executor: ExecutorLike) -> Any:
        if out is not None:
            if not isinstance(out, (np.ndarray, Array)):
                raise TypeError(f"rand.{name}: out is a {type(out).__name__}; it must be a NumPy array or a device array")
            if size is not None and tuple(_shape(size)) != tuple(out.shape):
                raise ValueError(f"rand.{name}: size is {tuple(_shape(size))}, but out has shape {tuple(out.shape)}")
            if executor is not None:
                raise ValueError(f"rand.{name}: out= says where to draw; leave executor out")
            _trnsci.draw_into(self._generator, name, out, parameters)
            return out
        where = self._executor if executor is None else executor
        array = _trnsci.draw(self._generator, name, _letter(name, dtype), _shape(size), parameters, where)
        return array[()] if size is None else array

    def random(self, size: Size = None, dtype: DTypeLike = np.float64, out: Any = None, *, executor: ExecutorLike = None) -> Any:
        """Uniform in [0, 1): multiples of 2^-53, for float32 of 2^-24.

        Returns
        -------
        float or ndarray
            Numbers of the given type, or `out`.

        >>> import trnsci
        >>> x = trnsci.rand.Generator(42).random(1000)
        >>> bool((x >= 0).all() and (x < 1).all())
        True
        """
        return self._draw("random", [], size, dtype, out, executor)

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Size = None, *, dtype: DTypeLike = np.float64, out: Any = None,
                executor: ExecutorLike = None) -> Any:
        """low + (high - low) random(). OverflowError where a bound or high - low is not finite in this type.

        Returns
        -------
        float or ndarray
            Numbers of the given type, or `out`.
        """
        if out is not None and hasattr(out, "dtype"):
            dtype = out.dtype
        if np.dtype(dtype).kind == "f":
            limit = float(np.finfo(cast(Any, np.dtype(dtype))).max)
            if not (abs(low) <= limit and abs(high) <= limit and abs(high - low) <= limit):
                raise OverflowError(f"rand.uniform: the range from {low} to {high} is not finite in {np.dtype(dtype)}")
        if isinstance(out, Array) and (low, high) != (0, 1):
            raise NotImplementedError("rand.uniform: a device array is filled with numbers in [0, 1) alone; scale them there")
        x = self._draw("random", [], size, dtype, out, executor)
        if low == 0 and high == 1:
            return x
        number: Any = np.dtype(dtype).type
        if out is not None:
            np.multiply(out, number(high - low), out=out)
            return np.add(out, number(low), out=out)
        return x * number(high - low) + number(low)

    def standard_normal(self, size: Size = None, dtype: DTypeLike = np.float64, out: Any = None, *, executor: ExecutorLike = None) -> Any:
        """Normal numbers with mean 0 and standard deviation 1.

        Returns
        -------
        float or ndarray
            Numbers of the given type, or `out`.
        """
        return self._draw("normal", [0.0, 1.0, 0.0], size, dtype, out, executor)

    def normal(self, loc: float = 0.0, scale: float = 1.0, size: Size = None, *, dtype: DTypeLike = np.float64, out: Any = None,
               method: Literal["box-muller", "inverse", "curand"] = "box-muller", executor: ExecutorLike = None) -> Any:
        """Normal numbers.

        Box and Muller's transformation of two uniforms, the inverse of the distribution function, or the order of words that cuRAND has.

        Returns
        -------
        float or ndarray
            Numbers of the given type, or `out`.

        >>> import trnsci
        >>> x = trnsci.rand.Generator(1).normal(10.0, 2.0, size=10000)
        >>> abs(x.mean() - 10) < 0.1 and abs(x.std() - 2) < 0.1
        True
        """
        if method not in ("box-muller", "inverse", "curand"):
            raise ValueError(f"rand.normal: method is {method!r}; it must be 'box-muller', 'inverse' or 'curand'")
        number = {"box-muller": 0.0, "inverse": 1.0, "curand": 2.0}[method]
        return self._draw("normal", [loc, scale, number], size, dtype, out, executor)

    def lognormal(self, mean: float = 0.0, sigma: float = 1.0, size: Size = None, *, dtype: DTypeLike = np.float64, out: Any = None, executor: ExecutorLike = None) -> Any:
        """exp of normal numbers.

        Returns
        -------
        float or ndarray
            Numbers of the given type, or `out`.
        """
        return self._draw("lognormal", [mean, sigma], size, dtype, out, executor)

    def exponential(self, scale: float = 1.0, size: Size = None, *, dtype: DTypeLike = np.float64, out: Any = None, executor: ExecutorLike = None) -> Any:
        """Exponential numbers with mean `scale`.

        Returns
        -------
        float or ndarray
            Numbers of the given type, or `out`.
        """
        if scale == 0:
            raise ValueError("rand.exponential: scale is 0; it must be > 0")
        return self._draw("exponential", [1.0 / scale], size, dtype, out, executor)

    def standard_exponential(self, size: Size = None, dtype: DTypeLike = np.float64, out: Any = None, *, executor: ExecutorLike = None) -> Any:
        """Exponential numbers with mean 1.

        Returns
        -------
        float or ndarray
            Numbers of the given type, or `out`.
        """
        return self._draw("exponential", [1.0], size, dtype, out, executor)

    def laplace(self, loc: float = 0.0, scale: float = 1.0, size: Size = None, *, dtype: DTypeLike = np.float64, out: Any = None, executor: ExecutorLike = None) -> Any:
        """Numbers with density exp(-|x - loc| / scale) / (2 scale).

        Returns
        -------
        float or ndarray
            Numbers of the given type, or `out`.
        """
        return self._draw("laplace", [loc, scale], size, dtype, out, executor)

    def weibull(self, a: float, size: Size = None, *, scale: float = 1.0, dtype: DTypeLike = np.float64, out: Any = None, executor: ExecutorLike = None) -> Any:
        """Numbers with distribution function 1 - exp(-(x / scale)^a).

        Returns
        -------
        float or ndarray
            Numbers of the given type, or `out`.
        """
        return self._draw("weibull", [a, scale], size, dtype, out, executor)

    def standard_cauchy(self, size: Size = None, *, dtype: DTypeLike = np.float64, out: Any = None, executor: ExecutorLike = None) -> Any:
        """Numbers with density 1 / (pi (1 + x^2)).

        Returns
        -------
        float or ndarray
            Numbers of the given type, or `out`.
        """
        return self._draw("cauchy", [0.0, 1.0], size, dtype, out, executor)

    def gamma(self, shape: float, scale: float = 1.0, size: Size = None, *, dtype: DTypeLike = np.float64, out: Any = None, executor: ExecutorLike = None) -> Any:
        """Gamma numbers with mean shape times scale.

        Returns
        -------
        float or ndarray
            Numbers of the given type, or `out`.
        """
        return self._draw("gamma", [shape, scale], size, dtype, out, executor)

    def standard_gamma(self, shape: float, size: Size = None, dtype: DTypeLike = np.float64, out: Any = None, *, executor: ExecutorLike = None) -> Any:
        """Gamma numbers with scale 1.

        Returns
        -------
        float or ndarray
            Numbers of the given type, or `out`.
        """
        return self._draw("gamma", [shape, 1.0], size, dtype, out, executor)

    def chisquare(self, df: float, size: Size = None, *, dtype: DTypeLike = np.float64, out: Any = None, executor: ExecutorLike = None) -> Any:
        """Sums of df squares of normal numbers.

        Returns
        -------
        float or ndarray
            Numbers of the given type, or `out`.
        """
        return self._draw("chisquare", [df], size, dtype, out, executor)

    def beta(self, a: float, b: float, size: Size = None, *, dtype: DTypeLike = np.float64, out: Any = None, executor: ExecutorLike = None) -> Any:
        """Numbers in (0, 1) with density proportional to x^(a - 1) (1 - x)^(b - 1).

        Returns
        -------
        float or ndarray
            Numbers of the given type, or `out`.
        """
        return self._draw("beta", [a, b], size, dtype, out, executor)

    def standard_t(self, df: float, size: Size = None, *, dtype: DTypeLike = np.float64, out: Any = None, executor: ExecutorLike = None) -> Any:
        """Student's t with df degrees of freedom.

        Returns
        -------
        float or ndarray
            Numbers of the given type, or `out`.
        """
        return self._draw("standard_t", [df], size, dtype, out, executor)

    def f(self, dfnum: float, dfden: float, size: Size = None, *, dtype: DTypeLike = np.float64, out: Any = None, executor: ExecutorLike = None) -> Any:
        """Ratios of two chi-squares, each by its degrees of freedom.

        Returns
        -------
        float or ndarray
            Numbers of the given type, or `out`.
        """
        return self._draw("f", [dfnum, dfden], size, dtype, out, executor)

    def vonmises(self, mu: float, kappa: float, size: Size = None, *, dtype: DTypeLike = np.float64, out: Any = None, executor: ExecutorLike = None) -> Any:
        """Angles in [-pi, pi] around mu.

        Returns
        -------
        float or ndarray
            Numbers of the given type, or `out`.
        """
        return self._draw("vonmises", [mu, kappa], size, dtype, out, executor)

    def truncated_normal(self, mean: float = 0.0, std: float = 1.0, low: float = -math.inf, high: float = math.inf, size: Size = None, *,
                         dtype: DTypeLike = np.float64, out: Any = None, executor: ExecutorLike = None) -> Any:
        """A normal number, given that it lies in [low, high].

        Parameters
        ----------
        low : float
            The lower end of the interval.
        high : float
            The upper end.

        Returns
        -------
        float or ndarray
            Numbers of the given type, or `out`.
        """
        return self._draw("truncated_normal", [mean, std, low, high], size, dtype, out, executor)

    def poisson(self, lam: float = 1.0, size: Size = None, *, dtype: DTypeLike = np.uint32, out: Any = None, executor: ExecutorLike = None) -> Any:
        """Poisson numbers: counts of rare events, `lam` of them on average. Exact for every rate.

        Returns
        -------
        int or ndarray
            Counts of the given type, or `out`.

        >>> import trnsci
        >>> x = trnsci.rand.Generator(1).poisson(4.0, size=10000)
        >>> x.dtype.name, bool(abs(x.mean() - 4) < 0.1)
        ('uint32', True)
        """
        return self._draw("poisson", [lam], size, dtype, out, executor)

    def geometric(self, p: float, size: Size = None, *, dtype: DTypeLike = np.uint32, out: Any = None, executor: ExecutorLike = None) -> Any:
        """The number of trials up to the first success.

        Returns
        -------
        int or ndarray
            Counts of the given type, or `out`.
        """
        return self._draw("geometric", [p], size, dtype, out, executor)

    def binomial(self, n: int, p: float, size: Size = None, *, out: Any = None, executor: ExecutorLike = None) -> Any:
        """Successes among n trials.

        Returns
        -------
        int or ndarray
            Counts of the given type, or `out`.
        """
        return self._draw("binomial", [float(n), p], size, np.uint32, out, executor)

    def hypergeometric(self, ngood: int, nbad: int, nsample: int, size: Size = None, *, out: Any = None, executor: ExecutorLike = None) -> Any:
        """Marked things among nsample that are taken without putting back.

        Returns
        -------
        int or ndarray
            Counts of the given type, or `out`.
        """
        return self._draw("hypergeometric", [float(ngood), float(nbad), float(nsample)], size, np.uint32, out, executor)

    def bernoulli(self, p: float = 0.5, size: Size = None, *, dtype: DTypeLike = np.uint32, out: Any = None, executor: ExecutorLike = None) -> Any:
        """1 with probability p, else 0.

        Returns
        -------
        int or ndarray
            Counts of the given type, or `out`.
        """
        return self._draw("bernoulli", [p], size, dtype, out, executor)

    def integers(self, low: int, high: int | None = None, size: Size = None, dtype: DTypeLike | None = None, endpoint: bool = False, *,
                 out: Any = None, executor: ExecutorLike = None) -> Any:
        """Integers in low .. high - 1, or 0 .. low - 1; with endpoint the last one too.

        The type is int32, uint32, int64 or uint64; without dtype int32 where the bounds fit it, else int64. Numbers of 32
        bits are exactly uniform. Those of 64 bits are floor(r s / 2^128) for s possible values and 128 random bits r: their
        probabilities differ from 1/s by less than 2^-128.

        Parameters
        ----------
        low : int
            The lower end; without high the numbers are 0 .. low - 1.
        high : int or None
            The upper end, not included unless endpoint says so.
        dtype : dtype or None
            int32, uint32, int64 or uint64.

        Returns
        -------
        int or ndarray
            Counts of the given type, or `out`.

        >>> import trnsci
        >>> x = trnsci.rand.Generator(1).integers(6, size=600) + 1
        >>> int(x.min()), int(x.max())
        (1, 6)
        """
        if high is None:
            low, high = 0, low
        wide = (-(2**63), 2**64)
        first, last = integer(low, "rand.integers", "low", *wide), integer(high, "rand.integers", "high", *wide) - (not endpoint)
        if first > last:
            raise ValueError(f"rand.integers: no integer lies in low = {low} .. high = {high}{'' if endpoint else ' - 1'}")
        if out is not None:
            dtype = out.dtype
        elif dtype is None:
            dtype = np.int32 if -(2**31) <= first and last < 2**31 else np.int64
        kind = np.dtype(dtype)
        if kind not in (np.int32, np.uint32, np.int64, np.uint64):
            raise ValueError(f"rand.integers: there are no numbers of type {kind}; int32, uint32, int64 and uint64 are possible")
        limits = np.iinfo(cast(Any, kind))
        if not int(limits.min) <= first <= last <= int(limits.max):
            raise ValueError(f"rand.integers: {first} .. {last} does not fit {kind}")
        if kind.itemsize == 4:
            return self._draw("integers", [float(first), float(last + 1)], size, kind, out, executor)
        if isinstance(out, Array) or "sobol" in self.algorithm or "halton" in self.algorithm:
            raise NotImplementedError(f"rand.integers: {kind} needs a pseudo-random algorithm and no device array for out")
        if out is not None and size is not None and tuple(_shape(size)) != out.shape:
            raise ValueError(f"rand.integers: size is {tuple(_shape(size))}, but out has shape {out.shape}")
        words = self.raw((*(_shape(size) if out is None else out.shape), 2), 64, executor=executor)
        count = last - first + 1
        number = words[..., 1]
        if count < 2**64:
            below = number * np.uint64(count)
            carry = below + _high_product(words[..., 0], count) < below
            number = _high_product(number, count) + carry.astype(np.uint64)
        made = (number + np.uint64(first % 2**64)).astype(np.uint64).view(kind)
        if out is not None:
            out[...] = made
            return out
        return made[()] if size is None else made

    def raw(self, size: Size = None, bits: Literal[32, 64] = 32, *, out: Any = None, executor: ExecutorLike = None) -> Any:
        """Words of 32 or 64 random bits.

        Returns
        -------
        int or ndarray
            Counts of the given type, or `out`.
        """
        return self._draw(f"raw{bits}", [], size, np.uint32 if bits == 32 else np.uint64, out, executor)

    def permutation(self, x: int | NDArray[Any]) -> NDArray[Any]:
        """0 .. x - 1 in random order, or the rows of x.

        Returns
        -------
        ndarray
            The numbers, or the rows in random order.

        >>> import trnsci
        >>> sorted(trnsci.rand.Generator(1).permutation(4).tolist())
        [0, 1, 2, 3]
        """
        rows = None if np.ndim(x) == 0 else np.asarray(x)
        n = integer(x, "rand.permutation", "x", 0, 2**31 - 1) if rows is None else rows.shape[0]
        order = cast("NDArray[Any]", self._draw("permutation", [], n, np.int32, None, "host"))
        return order if rows is None else cast("NDArray[Any]", rows[order])


_default = Generator()


def manual_seed(seed: int) -> Generator:
    """The default generator begins again with this seed.

    >>> import trnsci
    >>> g = trnsci.rand.manual_seed(7)
    >>> first = trnsci.rand.uniform(3)
    >>> g = trnsci.rand.manual_seed(7)
    >>> bool((trnsci.rand.uniform(3) == first).all())
    True
    """
    global _default
    _default = Generator(seed)
    return _default


def get_default_generator() -> Generator:
    """The generator that the functions take when they are given none."""
    return _default


def _sizes(size: tuple[Any, ...]) -> Size:
    return size[0] if len(size) == 1 and not isinstance(size[0], (int, np.integer)) else size


# The functions of trnrand: sizes first, float32 by default.
def uniform(*size: int, low: float = 0.0, high: float = 1.0, dtype: DTypeLike = np.float32, generator: Generator | None = None, executor: ExecutorLike = None) -> NDArray[Any]:
    """Uniform in [low, high).

    >>> import trnsci
    >>> trnsci.rand.uniform(2, 3, generator=trnsci.rand.Generator(1)).shape
    (2, 3)
    """
    return cast("NDArray[Any]", (generator or _default).uniform(low, high, _sizes(size), dtype=dtype, executor=executor))


def normal(*size: int, mean: float = 0.0, std: float = 1.0, dtype: DTypeLike = np.float32, generator: Generator | None = None, executor: ExecutorLike = None) -> NDArray[Any]:
    """Normal numbers.

    >>> import trnsci
    >>> trnsci.rand.normal(2, 3, generator=trnsci.rand.Generator(1)).shape
    (2, 3)
    """
    return cast("NDArray[Any]", (generator or _default).normal(mean, std, _sizes(size), dtype=dtype, executor=executor))


def standard_normal(*size: int, dtype: DTypeLike = np.float32, generator: Generator | None = None, executor: ExecutorLike = None) -> NDArray[Any]:
    """Normal numbers with mean 0 and standard deviation 1."""
    return cast("NDArray[Any]", (generator or _default).normal(0.0, 1.0, _sizes(size), dtype=dtype, executor=executor))


def exponential(*size: int, rate: float = 1.0, dtype: DTypeLike = np.float32, generator: Generator | None = None, executor: ExecutorLike = None) -> NDArray[Any]:
    """Exponential numbers with mean 1 / rate."""
    return cast("NDArray[Any]", (generator or _default)._draw("exponential", [rate], _sizes(size), dtype, None, executor))


def bernoulli(*size: int, p: float = 0.5, dtype: DTypeLike = np.float32, generator: Generator | None = None, executor: ExecutorLike = None) -> NDArray[Any]:
    """1 with probability p, else 0; float32 unless dtype says otherwise."""
    return cast("NDArray[Any]", (generator or _default).bernoulli(p, _sizes(size), dtype=dtype, executor=executor))


def randint(*size: int, low: int = 0, high: int = 1, dtype: DTypeLike | None = None, generator: Generator | None = None) -> NDArray[Any]:
    """Integers in low .. high - 1.

    Parameters
    ----------
    low : int
        The smallest one.
    high : int
        One more than the largest.

    >>> import trnsci
    >>> x = trnsci.rand.randint(100, low=3, high=5, generator=trnsci.rand.Generator(1))
    >>> sorted(set(x.tolist()))
    [3, 4]
    """
    return cast("NDArray[Any]", (generator or _default).integers(low, high, _sizes(size), dtype=dtype))


def randperm(n: int, generator: Generator | None = None) -> NDArray[Any]:
    """0 .. n - 1 in random order."""
    return (generator or _default).permutation(n)


def truncated_normal(*size: int, mean: float = 0.0, std: float = 1.0, low: float = -2.0, high: float = 2.0, dtype: DTypeLike = np.float32, generator: Generator | None = None) -> NDArray[Any]:
    """Normal numbers, given that they lie in [low, high]."""
    return cast("NDArray[Any]", (generator or _default).truncated_normal(mean, std, low, high, _sizes(size), dtype=dtype))


def gamma(*size: int, shape: float = 1.0, scale: float = 1.0, dtype: DTypeLike = np.float32, generator: Generator | None = None) -> NDArray[Any]:
    """Gamma numbers with mean shape times scale."""
    return cast("NDArray[Any]", (generator or _default).gamma(shape, scale, _sizes(size), dtype=dtype))


def chi_squared(*size: int, df: float = 1.0, dtype: DTypeLike = np.float32, generator: Generator | None = None) -> NDArray[Any]:
    """Sums of df squares of normal numbers."""
    return cast("NDArray[Any]", (generator or _default).chisquare(df, _sizes(size), dtype=dtype))


def beta(*size: int, alpha: float = 1.0, beta: float = 1.0, dtype: DTypeLike = np.float32, generator: Generator | None = None) -> NDArray[Any]:
    """Numbers in (0, 1) with density proportional to x^(alpha - 1) (1 - x)^(beta - 1)."""
    return cast("NDArray[Any]", (generator or _default).beta(alpha, beta, _sizes(size), dtype=dtype))


def poisson(*size: int, lam: float = 1.0, dtype: DTypeLike = np.uint32, generator: Generator | None = None) -> NDArray[Any]:
    """Poisson numbers: counts of rare events, `lam` of them on average."""
    return cast("NDArray[Any]", (generator or _default).poisson(lam, _sizes(size), dtype=dtype))


def uniform_into(buf: NDArray[Any] | Array, low: float = 0.0, high: float = 1.0, generator: Generator | None = None) -> None:
    """Fills buf, NumPy's or a device's, with numbers in [low, high); a device's in [0, 1).

    >>> import numpy as np, trnsci
    >>> buf = np.empty(4, np.float32)
    >>> trnsci.rand.uniform_into(buf, generator=trnsci.rand.Generator(1))
    >>> bool((buf >= 0).all() and (buf < 1).all())
    True
    """
    (generator or _default).uniform(low, high, out=buf)


def normal_into(buf: NDArray[Any] | Array, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> None:
    """Fills buf with normal numbers."""
    (generator or _default).normal(mean, std, out=buf)


def exponential_into(buf: NDArray[Any] | Array, rate: float = 1.0, generator: Generator | None = None) -> None:
    """Fills buf with exponential numbers with mean 1 / rate; never infinite."""
    (generator or _default)._draw("exponential", [rate], None, np.float32, buf, None)


def sobol(n_points: int, n_dims: int, seed: int | None = None, scramble: bool = True, dtype: DTypeLike = np.float32, *,
          executor: ExecutorLike = None) -> NDArray[Any]:
    """Sobol points, shape (n_points, n_dims); scrambled by Owen's method with the seed.

    >>> import trnsci
    >>> trnsci.rand.sobol(4, 2, scramble=False).tolist()
    [[0.0, 0.0], [0.5, 0.5], [0.75, 0.25], [0.25, 0.75]]
    """
    if scramble:
        g = Generator(secrets.randbits(64) if seed is None else seed, algorithm="owen-sobol32", dimensions=n_dims)
    else:
        g = Generator(0, algorithm="sobol32", dimensions=n_dims)
    return cast("NDArray[Any]", g.random((n_dims, n_points), dtype, executor=executor).T)


def halton(n_points: int, n_dims: int, dtype: DTypeLike = np.float32) -> NDArray[Any]:
    """Halton points from number 1 on, shape (n_points, n_dims).

    >>> import trnsci
    >>> trnsci.rand.halton(3, 1).ravel().tolist()
    [0.5, 0.25, 0.75]
    """
    g = Generator(0, algorithm="halton", dimensions=n_dims, position=1)
    return cast("NDArray[Any]", g.random((n_dims, n_points), dtype).T)


def latin_hypercube(n_points: int, n_dims: int, dtype: DTypeLike = np.float32, generator: Generator | None = None) -> NDArray[Any]:
    """Points in [0, 1)^d, one in each of n_points slices of every coordinate; shape (n_points, n_dims).

    >>> import numpy as np, trnsci
    >>> x = trnsci.rand.latin_hypercube(4, 2, generator=trnsci.rand.Generator(1))
    >>> np.sort((4 * x).astype(int), axis=0).T.tolist()
    [[0, 1, 2, 3], [0, 1, 2, 3]]
    """
    return cast("NDArray[Any]", (generator or _default)._draw("latin_hypercube", [], (n_dims, n_points), dtype, None, None).T)


from ._bit_generators import Philox4x32, Threefry4x32  # noqa: E402
from ._rand_program import GeneratorProgram  # noqa: E402

__all__ = ["Generator", "GeneratorProgram", "Philox4x32", "Threefry4x32", "bernoulli", "beta", "chi_squared", "exponential", "exponential_into",
           "gamma", "get_default_generator", "halton", "latin_hypercube", "manual_seed", "normal", "normal_into", "poisson",
           "randint", "randperm", "sobol", "standard_normal", "truncated_normal", "uniform", "uniform_into"]

_docs.complete(globals(), _glossary.RAND)
