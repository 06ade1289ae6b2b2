"""nki.isa: the Tensor Engine, and microscaling."""

import numpy as np

from . import _arithmetic as arith
from ._memory import need
from ._operands import _MATMUL, _engine, _raw, _rows, _rows_shape, _tile, engine, matmul_perf_mode
from ._rules import documented, target


# Tensor Engine


@documented
def nc_matmul(dst, stationary, moving, is_stationary_onezero=False, is_moving_onezero=False, is_transpose=False,
              accumulate=None, tile_position=(), tile_size=(), perf_mode=matmul_perf_mode.none, name=None):
    need(isinstance(accumulate, bool), "accumulate is {}, emitted kernels say it", accumulate)
    _tile(dst, "dst", ("psum",))
    for operand, label in ((stationary, "stationary"), (moving, "moving")):
        _tile(operand, label, ("sbuf",))
        need(operand.dtype.name in _MATMUL, "{} of dtype {}", label, operand.dtype)
    wide = [t.dtype.size == 4 for t in (stationary, moving)]
    need(wide[0] == wide[1], "{} with {}", stationary.dtype, moving.dtype)
    need(stationary.shape[0] == moving.shape[0], "{} and {} rows", stationary.shape, moving.shape)
    if is_transpose and target() != "trn1":
        return _pass_through(dst, stationary, moving, accumulate)
    a, b = stationary.values(), moving.values()
    if perf_mode.name == "double_row":
        need(target() != "trn1" and stationary.dtype.size == 1 and moving.dtype.size == 1, "double_row without fp8")
        need(stationary.shape[1] == 2 and moving.shape[1] == 2, "double_row of {}, {}", stationary.shape, moving.shape)
        a, b = (x.reshape(2 * x.shape[0], -1) for x in (a, b))  # rows (0, 0), (0, 1), (1, 0), ...
    a, b = (x.reshape(x.shape[0], -1) for x in (a, b))
    limit = 512 if target() != "trn3" else 4096 if dst.dtype.size == 4 else 8192
    need(a.shape[1] <= 128 and b.shape[1] <= limit, "stationary {}, moving {}", a.shape, b.shape)
    need(_rows_shape(dst) == (a.shape[1], b.shape[1]), "dst {} of {} by {}", dst.shape, a.shape, b.shape)
    need(dst.dtype.name in (("float32", "bfloat16") if target() == "trn3" else ("float32",)), "dst {}", dst.dtype)
    total = arith.matmul(a, b)
    dst.write((_rows(dst) + total if accumulate else total).reshape(dst.shape))


def _pass_through(dst, stationary, moving, accumulate):
    identity = _rows(moving)
    need(np.array_equal(identity, np.eye(len(identity), dtype=np.float32)), "moving is not the identity")
    need(not accumulate, "a transpose that accumulates")
    _transposed(dst, stationary)


def _transposed(dst, data):
    """Pass-through: the same bits; an 8-bit element fills 16 bits of PSUM, the upper ones zero."""
    wanted = "uint16" if data.dtype.size == 1 else data.dtype.name
    need(dst.dtype.name == wanted, "a transpose of {} into {}", data.dtype, dst.dtype)
    bits = _raw(data).T
    dst.write_bits(bits.astype(np.uint16) if data.dtype.size == 1 else bits)


@documented
def nc_transpose(dst, data, engine=engine.unknown, name=None):
    _engine(engine, ("tensor", "vector"))
    rows, columns = data.shape[0], data.size // data.shape[0]
    use = engine.name if engine.name != "unknown" else "vector" if max(rows, columns) <= 32 else "tensor"
    _tile(dst, "dst", ("psum",) if use == "tensor" else ("sbuf", "psum"))
    _tile(data, "data", ("sbuf",) if use == "tensor" else ("sbuf", "psum"))
    limit = 128 if use == "tensor" else 32
    need(max(rows, columns) <= limit and _rows_shape(dst) == (columns, rows), "{} to {}", data.shape, dst.shape)
    if use == "tensor" and target() != "trn1":
        return _transposed(dst, data)
    need(dst.dtype is data.dtype, "{} to {}", data.dtype, dst.dtype)
    if use == "tensor":
        dst.write(arith.matmul(_rows(data), np.eye(rows, dtype=np.float32)).reshape(dst.shape))
    else:
        dst.write_bits(_raw(data).T)


# Microscaling: a scale s stands for 2^(s - 127), 255 for NaN; 8 partitions x 4 values share one.


_FP4 = np.float32([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def _scale_row(k):
    return k // 32 * 32 + k % 32 // 8


def _dequantized(data, scale):
    """(4 K, width) float32: row 4 k + q holds value q of every element of partition k, times its scale."""
    words = _raw(data).astype(np.int64)
    bits = 2 * data.dtype.size
    codes = (words[:, :, None] >> (bits * np.arange(4))) & ((1 << bits) - 1)
    values = _FP4[codes] if bits == 4 else data.dtype.element.decode(codes.astype(np.uint8))
    rows = [_raw(scale[(slice(_scale_row(k), _scale_row(k) + 1),) + (slice(None),) * (len(scale.shape) - 1)])[0]
            for k in range(len(words))]
    s = np.stack(rows).astype(np.int64)
    factor = np.where(s == 255, np.nan, np.ldexp(1.0, s - 127)).astype(np.float32)
    with np.errstate(all="ignore"):
        scaled = values.astype(np.float32) * factor[:, :, None]
    return scaled.transpose(0, 2, 1).reshape(4 * len(words), -1)


@documented
def nc_matmul_mx(dst, stationary, moving, stationary_scale, moving_scale, tile_position=None, tile_size=None,
                 accumulate=None, name=None):
    need(isinstance(accumulate, bool), "accumulate is {}, emitted kernels say it", accumulate)
    _tile(dst, "dst", ("psum",)), _tile(stationary, "stationary", ("sbuf",)), _tile(moving, "moving", ("sbuf",))
    need(stationary.shape[0] == moving.shape[0], "{} and {} rows", stationary.shape, moving.shape)
    a, b = _dequantized(stationary, stationary_scale), _dequantized(moving, moving_scale)
    need(a.shape[1] <= 128 and a.shape[1] % 2 == 0 and b.shape[1] <= (4096 if dst.dtype.size == 4 else 8192),
         "stationary {}, moving {}", a.shape, b.shape)
    need(_rows_shape(dst) == (a.shape[1], b.shape[1]), "dst {} of {} by {}", dst.shape, a.shape, b.shape)
    need(_rows_shape(stationary_scale)[1] == a.shape[1] and _rows_shape(moving_scale)[1] == b.shape[1], "scales")
    total = arith.matmul(a, b)
    dst.write((_rows(dst) + total if accumulate else total).reshape(dst.shape))


@documented
def quantize_mx(dst, src, dst_scale, name=None):
    _tile(dst, "dst", ("sbuf",)), _tile(src, "src", ("sbuf",))
    values = _rows(src).astype(np.float64)
    partitions, n = values.shape
    need(n % 4 == 0 and _rows_shape(dst) == (partitions, n // 4), "{} into {}", src.shape, dst.shape)
    need(_rows_shape(dst_scale)[1] == n // 4, "scales {}", dst_scale.shape)
    element = dst.dtype.element
    largest_exponent, largest = (8, 448.0) if element.name == "float8_e4m3fn" else (15, 57344.0)
    groups = values.reshape(partitions // 8, 8, n // 4, 4).transpose(0, 2, 1, 3).reshape(partitions // 8, n // 4, 32)
    amax = np.abs(groups).max(axis=2)
    exponent = np.where(np.isfinite(amax), np.frexp(np.where(np.isfinite(amax), amax, 1.0))[1] - 1, 128)
    s = np.clip(exponent - (largest_exponent - 1) + 127, 0, 254)
    s = np.where(amax == 0, 0, s)
    quotient = np.ldexp(values, (127 - s.repeat(8, axis=0).repeat(4, axis=1)))
    codes = element.encode(np.clip(quotient, -largest, largest).astype(np.float32)).astype(np.uint32)
    dst.write_bits((codes.reshape(partitions, n // 4, 4) << (8 * np.arange(4, dtype=np.uint32))).sum(axis=2))
    for g in range(partitions // 8):
        row = _scale_row(8 * g)
        part = dst_scale[(slice(row, row + 1),) + (slice(None),) * (len(dst_scale.shape) - 1)]
        part.write_bits(s[g].astype(np.uint8))
