"""Element types: their storage and the conversions between stored bits and float32.

Narrow formats are kept as unsigned bit patterns. Rounding is to nearest, ties to even, done here by scaling to the
format's quantum in float64, where every step is exact.
"""

import numpy as np


class DType:
    """A dtype name with its storage; float formats also have exponent and mantissa widths."""

    def __init__(self, name, storage, kind, exponent=0, mantissa=0, infinity=True):
        self.name, self.storage, self.kind = name, np.dtype(storage), kind
        self.exponent, self.mantissa, self.infinity = exponent, mantissa, infinity
        self.size = self.storage.itemsize
        self._table = None

    def __repr__(self):
        return self.name

    @property
    def is_float(self):
        return self.kind == "f"

    def decode(self, stored):
        """float32 values of stored elements; 32-bit integers round to nearest even."""
        if not self.is_float:
            return stored.astype(np.float32)
        if self.size == 4:
            return stored.view(np.float32).copy()
        if self._table is None:
            self._table = self._decode_table()
        return self._table[stored]

    def encode(self, values):
        """Stored elements of float32 values: RNE; integers saturate and take 0 for NaN."""
        values = np.ascontiguousarray(values, dtype=np.float32)
        if not self.is_float:
            info = np.iinfo(self.storage)
            rounded = np.rint(values.astype(np.float64))
            return np.where(np.isnan(rounded), 0, np.clip(rounded, info.min, info.max)).astype(self.storage)
        if self.name == "float32":
            return values.view(np.uint32).copy()
        with np.errstate(invalid="ignore"):  # signalling NaN
            rounded, overflow = self._round(values.astype(np.float64))
        if self.name == "tfloat32":
            out = rounded.astype(np.float32)
            out = np.where(overflow, np.copysign(np.float32(np.inf), values), out).view(np.uint32)
            quiet = (values.view(np.uint32) | np.uint32(0x00400000)) & np.uint32(0xFFFFE000)
            return np.where(np.isnan(values), quiet, out)
        return self._pattern(values, rounded, overflow)

    # The smallest normal number is 2**low; the largest finite one is `largest`.
    @property
    def _low(self):
        return 2 - (1 << (self.exponent - 1))

    @property
    def _largest(self):
        top = (1 << (self.exponent - 1)) - (1 if self.infinity else 0)
        fraction = 2 - 2.0**-self.mantissa if self.infinity else 2 - 2.0 ** (1 - self.mantissa)
        return fraction * 2.0**top

    def _round(self, x):
        """x to the format's grid with an unbounded exponent, and where that is beyond the largest number."""
        finite = np.isfinite(x)
        x = np.where(finite, x, 0.0)
        exponent = np.maximum(np.frexp(x)[1] - 1, self._low)
        quantum = np.ldexp(1.0, exponent - self.mantissa)
        rounded = np.rint(x / quantum) * quantum
        return rounded, ~finite | (np.abs(rounded) > self._largest)

    def _pattern(self, values, rounded, overflow):
        m, bias = self.mantissa, 1 - self._low
        size = np.where(overflow, 0.0, np.abs(rounded))
        exponent = np.where(size > 0, np.maximum(np.frexp(size)[1] - 1, self._low), self._low)
        fraction = np.ldexp(size, m - exponent).astype(np.int64)
        # A normal number's fraction has its leading bit set; it adds one to the exponent field of a subnormal.
        code = ((exponent + bias - 1) << m) + fraction
        special = ((1 << self.exponent) - 1) << m
        infinity = special if self.infinity else special | ((1 << m) - 1)
        code = np.where(overflow, infinity, code)
        payload = (values.view(np.uint32).astype(np.int64) >> (23 - m)) & ((1 << m) - 1)
        nan = special | payload | (1 << (m - 1)) if self.infinity else special | ((1 << m) - 1)
        code = np.where(np.isnan(values), nan, code)
        sign = (values.view(np.uint32) >> np.uint32(31)).astype(np.int64) << (self.exponent + m)
        return (code | sign).astype(self.storage)

    def _decode_table(self):
        codes = np.arange(1 << (8 * self.size), dtype=np.int64)
        m, top = self.mantissa, (1 << self.exponent) - 1
        sign = np.where(codes >> (self.exponent + m), -1.0, 1.0)
        field, fraction = (codes >> m) & top, codes & ((1 << m) - 1)
        whole = (fraction + np.where(field > 0, 1 << m, 0)).astype(np.float64)
        value = np.ldexp(whole, np.maximum(field, 1) - 1 + self._low - m)
        if self.infinity:
            value = np.where(field == top, np.where(fraction == 0, np.inf, np.nan), value)
        else:
            value = np.where((field == top) & (fraction == (1 << m) - 1), np.nan, value)
        return (sign * value).astype(np.float32)


_FLOATS = [
    ("float32", np.uint32, 8, 23, True), ("tfloat32", np.uint32, 8, 10, True), ("bfloat16", np.uint16, 8, 7, True),
    ("float16", np.uint16, 5, 10, True), ("float8_e4m3", np.uint8, 4, 3, True),
    ("float8_e4m3fn", np.uint8, 4, 3, False), ("float8_e5m2", np.uint8, 5, 2, True),
]
DTYPES = {name: DType(name, storage, "f", e, m, inf) for name, storage, e, m, inf in _FLOATS}
# Four microscaling values in one element, only moved and viewed as a whole: name -> storage, format of a value.
_PACKED = {"float8_e4m3fn_x4": (np.uint32, DTYPES["float8_e4m3fn"]), "float8_e5m2_x4": (np.uint32, DTYPES["float8_e5m2"]),
           "float4_e2m1fn_x4": (np.uint16, None)}
for _name, (_storage, _element) in _PACKED.items():
    DTYPES[_name] = DType(_name, _storage, "x")
    DTYPES[_name].element = _element
for _name in ("int32", "int16", "int8", "uint32", "uint16", "uint8"):
    DTYPES[_name] = DType(_name, _name, "u" if _name[0] == "u" else "i")
