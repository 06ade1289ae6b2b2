"""NumPy's smoke tests of bit generators, for ours. Not collected by itself: test_other_suites.py runs it."""
import numpy as np
from numpy.random.tests import test_smoke

import trnsci

dtype = getattr(test_smoke, "dtype", None)  # a fixture of NumPy 1's tests


class OurTests(test_smoke.RNG):
    @classmethod
    def setup_class(cls):
        cls.bit_generator = cls.kind
        cls.advance = 2**63 + 2**31 + 2**15 + 1
        cls.seed = [12345]
        cls.rg = np.random.Generator(cls.bit_generator(*cls.seed))
        cls.initial_state = cls.rg.bit_generator.state
        cls.seed_vector_bits = 64
        if hasattr(cls, "_extra_setup"):  # NumPy 1
            cls._extra_setup()

    @classmethod
    def _create_rng(cls):  # NumPy 2
        return test_smoke.RNGData(cls.kind, 2**63 + 2**31 + 2**15 + 1, [12345], np.random.Generator(cls.kind(12345)), 64)


class TestPhilox4x32(OurTests):
    kind = trnsci.rand.Philox4x32


class TestThreefry4x32(OurTests):
    kind = trnsci.rand.Threefry4x32

