"""What calls of nki.isa need of their operands: enumerators, the accumulators, views as (partitions, elements), and the
checks that many calls share.
"""

from enum import Enum

import numpy as np

from ._memory import Tensor, need
from ._signatures import ENUMS

engine, dge_mode, oob_mode, reduce_cmd, matmul_perf_mode = (
    Enum(name, ENUMS[name]) for name in ("engine", "dge_mode", "oob_mode", "reduce_cmd", "matmul_perf_mode"))
_MATMUL = ("float8_e4m3", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "tfloat32", "float32")
_WORDS = ("int32", "uint32")
# The accumulators of the Scalar and of the Vector Engine, one per partition, and whether something began them.
_registers, _began = np.zeros(128, np.float32), np.zeros(128, bool)
_vector_registers, _vector_began = np.zeros(128, np.float32), np.zeros(128, bool)
_IDENTITY = {"add": 0.0, "subtract": 0.0, "multiply": 1.0, "maximum": -np.inf, "minimum": np.inf}


def _tile(operand, name, spaces=("sbuf", "psum")):
    """An on-chip operand that obeys the partition-start rule."""
    need(isinstance(operand, Tensor), "{} is not a tensor", name)
    need(operand.buffer in spaces, "{} is in {}, allowed: {}", name, operand.buffer, spaces)
    count, start = operand.shape[0], operand.partition
    step = 128 if count > 64 else 64 if count > 32 else 32
    need(count <= 128 and start % step == 0, "{} has {} partitions from {}", name, count, start)
    return operand


def _rows(operand):
    """Float32 values as (partitions, elements per partition)."""
    return operand.values().reshape(operand.shape[0], -1)


def _raw(operand):
    return operand.bits().reshape(operand.shape[0], -1)


def _rows_shape(operand):
    return operand.shape[0], operand.size // operand.shape[0]


def _same_size(*operands):
    shapes = {_rows_shape(t) for t in operands}
    need(len(shapes) == 1, "operands of (partitions, elements) {}", shapes)


def _not_both_psum(a, b):
    need(not (a.buffer == "psum" and b.buffer == "psum"), "two inputs in PSUM")


def _scalar(value, data, name):
    """A constant, or a (P, 1) tile as a column."""
    if isinstance(value, Tensor):
        _tile(value, name)
        need(value.shape == (data.shape[0], 1), "{} has shape {}", name, value.shape)
        return value.values()
    need(isinstance(value, (int, float)), "{} is {}", name, value)
    return np.float32(value)


def _engine(chosen, allowed, *operands):
    need(chosen.name == "unknown" or chosen.name in allowed, "engine {}, allowed: {}", chosen.name, allowed)
    if chosen.name == "gpsimd":
        need(all(t.buffer == "sbuf" for t in operands), "GpSimd with an operand in PSUM")
