"""The arithmetic of the engines on NumPy arrays: fused multiply-add, operators, activation functions.

Every operator takes and returns float32 and rounds once. Transcendental functions are computed in float64 and
rounded to float32 at the end.
"""

import math

import numpy as np

F32, F64 = np.float32, np.float64


def fused_multiply_add(a, b, c):
    """round_to_float32(a * b + c) with one rounding, for float32 arrays.

    a * b is exact in float64. Its sum with c is rounded to odd there: when the float64 sum is inexact (the error term
    of TwoSum is not 0) and its last bit is even, the neighbour on the error's side is the odd one. 53 bits are at
    least 24 + 2, so rounding that to float32 equals rounding the exact value.
    """
    p, c = a.astype(F64) * b.astype(F64), c.astype(F64)
    s = p + c
    t = s - p
    error = (p - (s - t)) + (c - t)
    even = (s.view(np.int64) & 1) == 0
    adjust = np.isfinite(s) & (error != 0) & even
    odd = np.nextafter(s, np.where(error > 0, np.inf, -np.inf))
    return np.where(adjust, odd, s).astype(F32)


def matmul(stationary, moving):
    """sum over k of stationary[k, m] * moving[k, n] by fused multiply-add, k ascending, from zero."""
    with np.errstate(all="ignore"):
        total = np.zeros((stationary.shape[1], moving.shape[1]), F32)
        for k in range(stationary.shape[0]):
            total = fused_multiply_add(stationary[k][:, None], moving[k][None, :], total)
        return total


def _choose(first):
    """x where first(x, y), y elsewhere and on a tie; NaN when either is NaN."""
    return lambda x, y: np.where(np.isnan(x) | np.isnan(y), F32(np.nan), np.where(first(x, y), x, y))


def _compare(f):
    return lambda x, y: f(x, y).astype(F32)


def _wide(f):
    return lambda x, *rest: f(x.astype(F64), *(np.asarray(r, F64) for r in rest)).astype(F32)


BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply,
    "maximum": _choose(np.greater), "minimum": _choose(np.less),
    "power": _wide(np.power),
    "abs_max": _choose(lambda x, y: np.abs(x) > np.abs(y)),
    "abs_min": _choose(lambda x, y: np.abs(x) < np.abs(y)),
    "equal": _compare(np.equal), "not_equal": _compare(np.not_equal), "greater_equal": _compare(np.greater_equal),
    "greater": _compare(np.greater), "less_equal": _compare(np.less_equal), "less": _compare(np.less),
    "logical_and": _compare(np.logical_and), "logical_or": _compare(np.logical_or),
    "logical_xor": _compare(np.logical_xor),
}
UNARY = {
    "abs": np.abs, "square": lambda x: x * x, "relu": lambda x: np.maximum(x, F32(0)),
    "rsqrt": _wide(lambda x: 1 / np.sqrt(x)), "reciprocal": lambda x: F32(1) / x,
}
BITVEC = {
    "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
    "left_shift": np.left_shift, "right_shift": np.right_shift, "invert": lambda x, _: np.invert(x),
}
COMPARISONS = ("equal", "not_equal", "greater_equal", "greater", "less_equal", "less")
REDUCTIONS = ("add", "subtract", "multiply", "maximum", "minimum", "logical_and", "logical_or", "logical_xor",
              "bitwise_and", "bitwise_or", "bitwise_xor")


def arithmetic(op, x, y):
    """op on float32 arrays; unary operators ignore y."""
    with np.errstate(all="ignore"):
        if op in UNARY:
            return np.asarray(UNARY[op](np.asarray(x, F32)), F32)
        return np.asarray(BINARY[op](np.asarray(x, F32), np.asarray(y, F32)), F32)


def integer(op, x, y, storage):
    """op on 32-bit integers with wraparound; comparisons give 0 and 1."""
    with np.errstate(all="ignore"):
        result = BINARY[op](x.astype(np.int64), y.astype(np.int64))
    return np.asarray(result).astype(np.int64).astype(storage)


def fold(op, x):
    """op over the last axis of a float32 array, in element order, starting from the first element."""
    total = x[..., 0]
    for i in range(1, x.shape[-1]):
        total = arithmetic(op, total, x[..., i])
    return total


_erf = np.vectorize(math.erf, otypes=[F64])


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _normal_cdf(x):
    return 0.5 * (1 + _erf(x / math.sqrt(2)))


def _softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _sin(x):
    """Outside [-pi, pi] the documented cubic, not a sine."""
    u = np.abs(x) - math.pi
    return np.where(np.abs(x) <= math.pi, np.sin(x), np.sign(x) * (u**3 / 6 - u))


def _vanishing(function):
    """The limit 0 at minus infinity, where the formula is infinity times zero."""
    return lambda x: np.where(np.isneginf(x), 0.0, function(x))


ACTIVATIONS = {
    "copy": lambda x: x, "square": lambda x: x * x, "sigmoid": _sigmoid, "relu": lambda x: np.maximum(x, 0),
    "gelu": _vanishing(lambda x: x * _normal_cdf(x)),
    "gelu_dx": lambda x: _normal_cdf(x) + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi),
    "gelu_apprx_tanh": _vanishing(lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))),
    "gelu_apprx_sigmoid": _vanishing(lambda x: x * _sigmoid(1.702 * x)),
    "silu": _vanishing(lambda x: x * _sigmoid(x)), "silu_dx": lambda x: _sigmoid(x) * (1 + x * (1 - _sigmoid(x))),
    "tanh": np.tanh, "softplus": _softplus, "mish": _vanishing(lambda x: x * np.tanh(_softplus(x))),
    "erf": _erf, "erf_dx": lambda x: 2 / math.sqrt(math.pi) * np.exp(-x * x), "exp": np.exp, "log": np.log,
    "sin": _sin, "arctan": np.arctan, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal": lambda x: 1 / x,
    "sign": np.sign, "abs": np.abs,
}


def activate(function, x):
    with np.errstate(all="ignore"):
        return ACTIVATIONS[function](x.astype(F64)).astype(F32)
