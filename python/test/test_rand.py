"""trnsci.rand: against NumPy's Philox bits, against itself in pieces, and its moments."""
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import trnsci
from trnsci import rand


def test_pieces_and_executors_agree():
    whole = rand.Generator(5).random(1000, np.float32)
    g = rand.Generator(5)
    np.testing.assert_array_equal(np.concatenate([g.random(300, np.float32), g.random(700, np.float32)]), whole)
    np.testing.assert_array_equal(rand.Generator(5).random(1000, np.float32, executor="sim:trn2"), whole)
    a = trnsci.asarray(np.zeros(1000, np.float32), "sim:trn2")
    rand.uniform_into(a, generator=rand.Generator(5))
    np.testing.assert_array_equal(a.numpy(), whole)


def test_long_draws_are_the_same():
    n = (1 << 22) + 1000
    g = rand.Generator(9)
    whole = g.raw(n)
    h = rand.Generator(9)
    h.skip(n - 50)
    np.testing.assert_array_equal(whole[-50:], h.raw(50))
    assert g.position == h.position == n


@pytest.mark.parametrize("name", ["philox4x32-10", "threefry4x32-20"])
def test_bit_generator_has_the_same_numbers(name):
    kind = rand.Philox4x32 if name.startswith("philox") else rand.Threefry4x32
    numpy = np.random.Generator(kind(77))
    ours = rand.Generator(77, algorithm=name)
    np.testing.assert_array_equal(numpy.random(500), ours.random(500))
    bits = kind(77)
    np.testing.assert_array_equal(bits.random_raw(300), rand.Generator(77, algorithm=name).raw(300, 64))
    state = bits.state
    ahead = bits.random_raw(7)
    bits.state = state
    np.testing.assert_array_equal(bits.random_raw(7), ahead)
    copy = pickle.loads(pickle.dumps(bits))
    np.testing.assert_array_equal(bits.random_raw(9), copy.random_raw(9))
    np.testing.assert_array_equal(kind(1).advance(200).random_raw(3), kind(1).random_raw(203)[200:])
    assert not np.array_equal(kind(1).jumped().random_raw(4), kind(1).random_raw(4))


MOMENTS = [
    ("random", (), 0.5, 1 / 12), ("standard_normal", (), 0, 1), ("normal", (2, 3), 2, 9), ("exponential", (2.0,), 2, 4),
    ("gamma", (3.0, 2.0), 6, 12), ("beta", (2.0, 3.0), 0.4, 0.04), ("poisson", (4.0,), 4, 4), ("binomial", (10, 0.3), 3, 2.1),
    ("geometric", (0.25,), 4, 12), ("bernoulli", (0.25,), 0.25, 0.1875), ("laplace", (1.0, 2.0), 1, 8),
    ("chisquare", (4.0,), 4, 8), ("integers", (0, 10), 4.5, 8.25), ("hypergeometric", (5, 5, 4), 2, 2 / 3),
    ("lognormal", (0.0, 0.25), np.exp(1 / 32), np.expm1(1 / 16) * np.exp(1 / 16)), ("weibull", (1.0,), 1, 1),
    ("standard_t", (9.0,), 0, 9 / 7), ("f", (5.0, 20.0), 20 / 18, 2 * 400 * 23 / (5 * 18**2 * 16)), ("vonmises", (0.0, 4.0), 0, None),
    ("truncated_normal", (0.0, 1.0, -1.0, 1.0), 0, 0.29112509),
]


@pytest.mark.parametrize("name, arguments, mean, variance", MOMENTS, ids=[m[0] for m in MOMENTS])
def test_moments(name, arguments, mean, variance):
    n = 40000
    x = getattr(rand.Generator(11), name)(*arguments, size=n).astype(float)
    spread = np.sqrt(x.var())
    assert abs(x.mean() - mean) < 5 * spread / np.sqrt(n)
    if variance is not None:
        assert abs(x.var() - variance) < 0.1 * variance
    assert np.ndim(getattr(rand.Generator(11), name)(*arguments)) == 0


def test_permutation_and_functions():
    assert sorted(rand.randperm(100, rand.Generator(1))) == list(range(100))
    x = np.arange(12).reshape(6, 2)
    assert sorted(rand.Generator(2).permutation(x)[:, 0]) == [0, 2, 4, 6, 8, 10]
    for name in ["uniform", "normal", "standard_normal", "exponential", "bernoulli", "truncated_normal", "gamma", "chi_squared", "beta"]:
        y = getattr(rand, name)(3, 4, generator=rand.Generator(3))
        assert y.shape == (3, 4) and y.dtype == np.float32
    assert rand.randint(5, low=2, high=4, generator=rand.Generator(3)).tolist() != []
    assert rand.latin_hypercube(8, 3, generator=rand.Generator(1)).shape == (8, 3)
    assert rand.sobol(8, 3, seed=4).shape == (8, 3)
    np.testing.assert_allclose(rand.halton(3, 2, np.float64), [[1 / 2, 1 / 3], [1 / 4, 2 / 3], [3 / 4, 1 / 9]])


def test_interrupted():
    g = rand.Generator(1)
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    out = np.empty(1 << 25)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        for _ in range(200):
            g.state = rand.Generator(1).state
            g.standard_gamma(2.5, out=out)
    assert time.monotonic() - begin < 20
    assert g.position == 0  # as if nothing had been drawn


def test_two_threads_one_generator():
    g = rand.Generator(8)
    parts = []
    threads = [threading.Thread(target=lambda: parts.append(g.raw(1000))) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert g.position == 8000
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.sort(rand.Generator(8).raw(8000)))


def test_bad_input():
    with pytest.raises(ValueError, match="not an algorithm"):
        rand.Generator(1, algorithm="random")
    with pytest.raises(ValueError):
        rand.Generator(1).normal(0, -1, 3)
    with pytest.raises(NotImplementedError):
        rand.Generator(1).gamma(2.0, 1.0, 3, executor="sim:trn2")
    with pytest.raises(ValueError, match="shape"):
        rand.Generator(1).random(3, out=np.empty(4))
    with pytest.raises(ValueError, match="aligned and of a type|no numbers"):
        rand.Generator(1).random(out=np.empty(4, np.int32))
