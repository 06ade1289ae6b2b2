"""nki.isa as far as emitted kernels use it, one function per documented call with its documented signature.

Operands are read whole before dst is written. Arithmetic follows docs/simulator.md: float32 with one rounding per
operator, the result rounded to dst's dtype; reductions in element order. The machine is the documented
NEURON_PLATFORM_TARGET_OVERRIDE (trn1, trn2, trn3).
"""

from enum import Enum

import numpy as np

from . import _arithmetic as arith
from . import _rules
from . import _search as search
from ._memory import IndirectRows, Tensor, VirtualRegister, need
from ._rules import documented, target
from ._signatures import ENUMS, FP32_MIN, ISA

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


# DMA


@documented
def dma_copy(dst, src, priority=None, oob_mode=oob_mode.error, dge_mode=dge_mode.unknown, engine=engine.unknown,
             name=None):
    need("psum" not in (dst.buffer, src.buffer), "DMA with an operand in PSUM")
    need(dst.size == src.size, "{} elements to {}", src.size, dst.size)
    indirect = isinstance(src, IndirectRows) or isinstance(dst, IndirectRows)
    need(not indirect or target() != "trn1", "an indirect copy on trn1")
    need(engine.name == "unknown" or (dge_mode.name == "hwdge" and engine.name in ("sync", "scalar")),
         "engine {} with {}", engine.name, dge_mode)
    if dge_mode.name == "hwdge":
        need(target() != "trn1" and not indirect, "hwdge on {} or indirect", target())
        need(dst.dtype is src.dtype, "hwdge from {} to {}", src.dtype, dst.dtype)
    if indirect:
        need(dge_mode.name in ("unknown", "swdge"), "an indirect copy with {}", dge_mode)
    skip = oob_mode.name == "skip"
    if isinstance(src, IndirectRows):
        for i, row in src.rows(skip):
            _move(_row(dst, i), row)
    elif isinstance(dst, IndirectRows):
        for i, row in dst.rows(skip):
            _move(row, _row(src, i))
    else:
        _move(dst, src)


def _row(tensor, i):
    return tensor[(slice(i, i + 1),) + (slice(None),) * (len(tensor.shape) - 1)]


def _move(dst, src):
    if dst.dtype is src.dtype:
        dst.write_bits(src.bits())
    else:
        dst.write(src.values().reshape(dst.shape))


@documented
def dma_transpose(dst, src, axes=None, priority=None, dge_mode=dge_mode.unknown, oob_mode=oob_mode.error, name=None):
    need(dst.buffer == "sbuf" and src.buffer != "psum", "dma_transpose from {} to {}", src.buffer, dst.buffer)
    documented = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}
    order = documented.get(len(src.shape)) if axes is None else axes
    need(order == documented.get(len(src.shape)), "axes {} of {}", axes, src.shape)
    need(dst.shape == tuple(src.shape[i] for i in order), "a transpose of {} into {}", src.shape, dst.shape)
    need(dst.dtype is src.dtype, "a transpose of {} into {}", src.dtype, dst.dtype)
    need(dge_mode.name in ("unknown", "hwdge"), "a transpose with {}", dge_mode)
    if dge_mode.name == "hwdge":
        need(len(src.shape) == 2 and src.shape[0] == 16 and src.shape[1] % 128 == 0 and src.dtype.size == 2, "hwdge transpose of {}", src.shape)
    dst.write_bits(np.transpose(src.bits(), order))


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


# Exponentials and statistics on the Vector Engine


@documented
def exponential(dst, src, max_value=0.0, reduce_res=None, reduce_cmd=reduce_cmd.idle, reduce_init=0.0, name=None):
    _same_size(_tile(dst, "dst"), _tile(src, "src"))
    with np.errstate(all="ignore"):
        x = _rows(src) - _scalar(max_value, src, "max_value")
    x = arith.activate("exp", np.broadcast_to(x, _rows_shape(src)))
    lanes = slice(src.partition, src.partition + src.shape[0])
    if reduce_cmd.name == "reset_reduce":
        _vector_registers[lanes] = 0
    elif reduce_cmd.name == "load_reduce":
        _vector_registers[lanes] = np.broadcast_to(_scalar(reduce_init, src, "reduce_init"), (src.shape[0], 1))[:, 0]
    elif reduce_cmd.name == "reduce":
        need(_vector_began[lanes].all(), "sums that nothing began")
    _vector_began[lanes] = reduce_cmd.name != "idle"  # idle leaves them undefined
    _vector_registers[lanes] = arith.fold("add", np.concatenate([_vector_registers[lanes, None], x], axis=1))
    dst.write(x.reshape(dst.shape))
    if reduce_res is not None:
        need(reduce_cmd.name != "idle", "reduce_res of an idle exponential")
        need(_tile(reduce_res, "reduce_res").shape == (src.shape[0], 1), "reduce_res has shape {}", reduce_res.shape)
        reduce_res.write(_vector_registers[lanes, None])


def _sum(x):
    """Along each partition, in element order from +0, as a column."""
    return arith.fold("add", np.concatenate([np.zeros((len(x), 1), np.float32), x], axis=1))[:, None]


def _triple(x):
    """Count, mean and sum of squared distances from it, per partition; zeros where there is no element."""
    count = np.float32(x.shape[1])
    if x.shape[1] == 0:
        return np.zeros((len(x), 3), np.float32)
    with np.errstate(all="ignore"):
        mean = _sum(x) / count
        d = x - mean
        return np.concatenate([np.full((len(x), 1), count), mean, _sum(d * d)], axis=1)


@documented
def bn_stats(dst, data, name=None):
    _tile(dst, "dst"), _tile(data, "data")
    x = _rows(data)
    need(x.shape[1] <= 512 and _rows_shape(dst) == (len(x), 6), "{} into {}", data.shape, dst.shape)
    dst.write(np.concatenate([_triple(x[:, 0::2]), _triple(x[:, 1::2])], axis=1).reshape(dst.shape))


@documented
def bn_aggr(dst, data, name=None):
    _tile(dst, "dst"), _tile(data, "data")
    x = _rows(data)
    need(x.shape[1] % 3 == 0 and _rows_shape(dst) == (len(x), 2), "{} into {}", data.shape, dst.shape)
    count, mean, squares = x[:, 0::3], x[:, 1::3], x[:, 2::3]
    with np.errstate(all="ignore"):
        total = _sum(count)
        mu = _sum(count * mean) / total
        d = mean - mu
        variance = _sum(squares + count * (d * d)) / total
    dst.write(np.concatenate([mu, variance], axis=1).reshape(dst.shape))


# Vector, Scalar and GpSimd Engines


@documented
def tensor_tensor(dst, data1, data2, op, engine=engine.unknown, name=None):
    operands = [_tile(t, n) for t, n in ((dst, "dst"), (data1, "data1"), (data2, "data2"))]
    _same_size(*operands)
    _not_both_psum(data1, data2)
    _engine(engine, ("vector", "gpsimd"), *operands)
    if op in arith.BITVEC:
        need(engine.name != "gpsimd", "{} on GpSimd", op)
        return _bitvec(dst, op, data1, _raw(data2))
    need(op in arith.BINARY, "{} is not a binary operator", op)
    words = all(t.dtype.name in _WORDS for t in operands)
    on_chip = all(t.buffer == "sbuf" for t in operands)
    if words and (engine.name == "gpsimd" or (engine.name == "unknown" and on_chip)):
        return dst.write_bits(arith.integer(op, _raw(data1), _raw(data2), dst.dtype.storage))
    dst.write(arith.arithmetic(op, _rows(data1), _rows(data2)).reshape(dst.shape))


def _bitvec(dst, op, data, operand, reverse=False):
    """A bit operator on raw bits; shifts are logical."""
    integers = not dst.dtype.is_float and not data.dtype.is_float
    need(integers and dst.dtype.size == data.dtype.size, "{} of {} into {}", op, data.dtype, dst.dtype)
    unsigned = np.dtype(f"u{data.dtype.size}")
    x, y = _raw(data).view(unsigned), np.asarray(operand).astype(np.int64).astype(unsigned)
    result = arith.BITVEC[op](y, x) if reverse else arith.BITVEC[op](x, y)
    dst.write_bits(result.astype(unsigned).view(dst.dtype.storage))


@documented
def tensor_scalar(dst, data, op0, operand0, reverse0=False, op1=None, operand1=None, reverse1=False,
                  engine=engine.unknown, name=None):
    _same_size(_tile(dst, "dst"), _tile(data, "data"))
    _engine(engine, ("vector", "scalar", "gpsimd"), dst, data)
    steps = [(op0, operand0, reverse0)] + ([(op1, operand1, reverse1)] if op1 is not None else [])
    bitvec = {op in arith.BITVEC for op, _, _ in steps}
    need(len(bitvec) == 1, "a bit operator with an arithmetic one")
    if True in bitvec:
        need(engine.name in ("unknown", "vector"), "bit operators on {}", engine.name)
        for op, operand, reverse in steps:
            _bitvec(dst, op, data, operand.bits() if isinstance(operand, Tensor) else operand, reverse)
            data = dst
        return
    need("rsqrt" not in (op0, op1) or engine.name in ("unknown", "gpsimd"), "rsqrt on {}", engine.name)
    _check_scalar_engine(engine, op0, op1)
    x = _rows(data)
    for op, operand, reverse in steps:
        if op in arith.UNARY:
            need(operand is None or operand == 0, "{} with operand {}", op, operand)
            x = arith.arithmetic(op, x, 0)
            continue
        if isinstance(operand, Tensor):
            need(operand.dtype.name == "float32", "an operand of dtype {}", operand.dtype)
        y = _scalar(operand, data, "operand")
        x = arith.arithmetic(op, y, x) if reverse else arith.arithmetic(op, x, y)
    dst.write(np.broadcast_to(x, _rows_shape(data)).reshape(dst.shape))


def _check_scalar_engine(chosen, op0, op1):
    if chosen.name == "gpsimd":
        need(op0 == "rsqrt" and op1 is None, "tensor_scalar {} on GpSimd", op0)
    if chosen.name == "scalar":
        need(target() != "trn1", "tensor_scalar on the Scalar Engine of trn1")
        known = (op0 == "multiply" and op1 in (None, "add")) or (op0 == "add" and op1 is None)
        need(known or target() == "trn3", "({}, {}) on the Scalar Engine of trn2", op0, op1)


@documented
def scalar_tensor_tensor(dst, data, op0, operand0, op1, operand1, reverse0=False, reverse1=False, name=None):
    _same_size(_tile(dst, "dst"), _tile(data, "data"), _tile(operand1, "operand1"))
    _not_both_psum(data, operand1)
    x, y = _rows(data), _scalar(operand0, data, "operand0")
    x = arith.arithmetic(op0, y, x) if reverse0 else arith.arithmetic(op0, x, y)
    z = _rows(operand1)
    dst.write((arith.arithmetic(op1, z, x) if reverse1 else arith.arithmetic(op1, x, z)).reshape(dst.shape))


@documented
def tensor_reduce(dst, op, data, axis, negate=False, keepdims=False, name=None):
    _tile(dst, "dst"), _tile(data, "data")
    need(op in arith.REDUCTIONS, "{} is not a reduction", op)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    rank = len(data.shape)
    need(axes == tuple(range(rank - len(axes), rank)) and 0 < axes[0], "axis {} of {} dimensions", axes, rank)
    kept = data.shape[: axes[0]]
    need(dst.size == int(np.prod(kept)) and dst.shape[0] == kept[0], "{} over {} into {}", data.shape, axes, dst.shape)
    if op in arith.BITVEC:
        need(not negate and dst.dtype is data.dtype, "a bit reduction of {} into {}", data.dtype, dst.dtype)
        return dst.write_bits(arith.BITVEC[op].reduce(data.bits().reshape(kept + (-1,)), axis=-1))
    result = arith.fold(op, data.values().reshape(kept + (-1,)))
    dst.write((result * np.float32(-1) if negate else result).reshape(dst.shape))


@documented
def tensor_tensor_scan(dst, data0, data1, initial, op0, op1, reverse0=False, reverse1=False, name=None):
    _same_size(_tile(dst, "dst"), _tile(data0, "data0"), _tile(data1, "data1"))
    _not_both_psum(data0, data1)
    x, y = _rows(data0), _rows(data1)
    state = np.broadcast_to(_scalar(initial, data0, "initial"), (x.shape[0], 1))[:, 0]
    result = np.empty_like(x)
    for i in range(x.shape[1]):
        left = (state, x[:, i]) if reverse0 else (x[:, i], state)
        state = arith.arithmetic(op0, *left)
        right = (y[:, i], state) if reverse1 else (state, y[:, i])
        result[:, i] = state = arith.arithmetic(op1, *right)
    dst.write(result.reshape(dst.shape))


@documented
def tensor_copy(dst, src, engine=engine.unknown, name=None):
    _same_size(_tile(dst, "dst"), _tile(src, "src"))
    _engine(engine, ("vector", "scalar", "gpsimd"), dst, src)
    need(engine.name != "scalar" or target() != "trn1", "tensor_copy on the Scalar Engine of trn1")
    _move(dst, src)


@documented
def tensor_copy_predicated(dst, src, predicate, reverse_pred=False, name=None):
    _same_size(_tile(dst, "dst"), _tile(predicate, "predicate"))
    need(predicate.dtype.name in ("uint8", "uint16", "uint32"), "predicate of dtype {}", predicate.dtype)
    if isinstance(src, Tensor):
        _same_size(dst, _tile(src, "src"))
        _not_both_psum(src, predicate)
        need(src.dtype is dst.dtype, "{} into {}", src.dtype, dst.dtype)
        bits = _raw(src)
    else:
        need(isinstance(src, float if dst.dtype.is_float else int), "{!r} into {}", src, dst.dtype)
        bits = dst.dtype.encode(np.float32([src])) if dst.dtype.is_float else np.array([src]).astype(dst.dtype.storage)
    take = (_raw(predicate) != 0) != reverse_pred
    dst.write_bits(np.where(take, bits, _raw(dst)))


@documented
def reciprocal(dst, data, name=None):
    _same_size(_tile(dst, "dst"), _tile(data, "data"))
    dst.write(arith.arithmetic("reciprocal", _rows(data), 0).reshape(dst.shape))


@documented
def memset(dst, value, engine=engine.unknown, name=None):
    _engine(engine, ("vector", "gpsimd"), _tile(dst, "dst"))
    need(isinstance(value, float if dst.dtype.is_float else int), "memset of {} with {!r}", dst.dtype, value)
    if dst.dtype.is_float:
        dst.write(np.full(dst.shape, value, np.float32))
    else:
        info = np.iinfo(dst.dtype.storage)
        dst.write_bits(np.full(dst.shape, min(max(value, info.min), info.max), dst.dtype.storage))


def _chain(x, data, op, cmd, loaded=None):
    """x through the Vector Engine's registers, in element order: register = op(element, register)."""
    lanes = slice(data.partition, data.partition + data.shape[0])
    if cmd.name == "idle":  # may leave anything
        _vector_began[lanes] = False
        return None
    if cmd.name == "reduce":
        need(_vector_began[lanes].all(), "sums that nothing began")
        state = _vector_registers[lanes].copy()
    else:
        start = _IDENTITY[op] if cmd.name != "load_reduce" else _scalar(loaded, data, "the loaded value")
        state = np.broadcast_to(np.float32(start), (len(x), 1))[:, 0]
    running = np.empty_like(x)
    for i in range(x.shape[1] if cmd.name != "reset" else 0):
        running[:, i] = state = arith.arithmetic(op, x[:, i], state)
    _vector_registers[lanes], _vector_began[lanes] = state, True
    return running


def _read_out(reduce_res, data, negate=False):
    if reduce_res is not None:
        value = _vector_registers[data.partition : data.partition + data.shape[0], None]
        _tile(reduce_res, "reduce_res").write(-value if negate else value)


@documented
def tensor_scalar_reduce(dst, data, op0, operand0, reduce_op, reduce_res=None, reverse0=False,
                         reduce_cmd=reduce_cmd.reset_reduce, reduce_init=None, reduce_res_negate=False, name=None):
    _same_size(_tile(dst, "dst"), _tile(data, "data"))
    operand = 0 if op0 in arith.UNARY else _scalar(operand0, data, "operand0")
    x = arith.arithmetic(op0, _rows(data), operand)
    _chain(x, data, reduce_op, reduce_cmd, reduce_init)
    dst.write(x.reshape(dst.shape))
    _read_out(reduce_res, data, reduce_res_negate)


@documented
def tensor_scalar_cumulative(dst, src, op0, op1, imm0, imm1=None, reduce_cmd=reduce_cmd.reset_reduce, name=None):
    _same_size(_tile(dst, "dst"), _tile(src, "src"))
    operand = 0 if op0 in arith.UNARY else _scalar(imm0, src, "imm0")
    x = _chain(arith.arithmetic(op0, _rows(src), operand), src, op1, reduce_cmd, imm1)
    dst.write(x.reshape(dst.shape))


@documented
def select_reduce(dst, predicate, on_true, on_false, reduce_res=None, reduce_cmd=reduce_cmd.idle, reduce_op="maximum",
                  reverse_pred=False, name=None):
    _same_size(_tile(dst, "dst"), _tile(predicate, "predicate"), _tile(on_true, "on_true"))
    take = (_raw(predicate) != 0) != reverse_pred
    x = np.where(take, _rows(on_true), _scalar(on_false, on_true, "on_false"))
    _chain(x, on_true, reduce_op, reduce_cmd)
    dst.write(x.reshape(dst.shape))
    _read_out(reduce_res, on_true)


@documented
def range_select(dst, on_true_tile, comp_op0, comp_op1, bound0, bound1, reduce_cmd=reduce_cmd.reset_reduce,
                 reduce_res=None, reduce_op="maximum", range_start=0, on_false_value=FP32_MIN, name=None):
    _same_size(_tile(dst, "dst"), _tile(on_true_tile, "on_true_tile"))
    x = _rows(on_true_tile)
    last = range_start + x.shape[1] - 1
    need(isinstance(range_start, int) and max(-range_start, last) <= 2**24, "element numbers {}..{}", range_start, last)
    k = (range_start + np.arange(x.shape[1])).astype(np.float32)
    take = (arith.arithmetic(comp_op0, k, _scalar(bound0, on_true_tile, "bound0")) != 0) & (
        arith.arithmetic(comp_op1, k, _scalar(bound1, on_true_tile, "bound1")) != 0)
    x = np.where(take, x, np.float32(on_false_value))
    _chain(x, on_true_tile, reduce_op, reduce_cmd)
    dst.write(x.reshape(dst.shape))
    _read_out(reduce_res, on_true_tile)


def _places(tensor, places):
    """-1, which stands for no place, becomes all ones."""
    tensor.write_bits(places.astype(tensor.dtype.storage).reshape(tensor.shape))


@documented
def max8(dst, src, name=None):
    _tile(dst, "dst"), _tile(src, "src")
    dst.write(search.largest(_rows(src), 8).reshape(dst.shape))


@documented
def nc_find_index8(dst, data, vals, name=None):
    _tile(dst, "dst"), _tile(data, "data"), _tile(vals, "vals")
    _places(dst, search.find(_rows(data), _rows(vals)))


@documented
def nc_match_replace8(dst, data, vals, imm, dst_idx=None, name=None):
    _same_size(_tile(dst, "dst"), _tile(data, "data"))
    places = search.match(_rows(data), _rows(_tile(vals, "vals")))
    kept = _raw(data) if dst.dtype is data.dtype else dst.dtype.encode(_rows(data))
    for row, found in zip(kept, places):
        row[found[found >= 0]] = dst.dtype.encode(np.float32([imm]))[0]
    dst.write_bits(kept)
    if dst_idx is not None:
        _places(_tile(dst_idx, "dst_idx"), places)


@documented
def activation(dst, op, data, bias=None, scale=1.0, reduce_op=None, reduce_res=None, reduce_cmd=reduce_cmd.idle,
               name=None):
    _same_size(_tile(dst, "dst"), _tile(data, "data"))
    need(op in arith.ACTIVATIONS, "activation function {}", op)
    need(target() != "trn1" or bias is None or isinstance(bias, Tensor), "a constant bias on trn1")
    with np.errstate(all="ignore"):
        x = _rows(data) * _scalar(scale, data, "scale")
        x = x + _scalar(0.0 if bias is None else bias, data, "bias")
    x = arith.activate(op, np.broadcast_to(x, _rows_shape(data)))
    dst.write(x.reshape(dst.shape))
    _use_registers(x, data, reduce_op, reduce_res, reduce_cmd)


def _use_registers(x, data, reduce_op, reduce_res, reduce_cmd):
    need(reduce_cmd.name != "load_reduce", "activation has no value to load")
    lanes = slice(data.partition, data.partition + data.shape[0])
    if reduce_cmd.name in ("reset", "reset_reduce"):
        _registers[lanes] = 0
        _began[lanes] = True
    if reduce_cmd.name in ("reduce", "reset_reduce"):
        need(reduce_op == "add", "reduce {}", reduce_op)
        need(_began[lanes].all(), "sums that nothing began")
        from_zero = np.concatenate([np.zeros((len(x), 1), np.float32), x], axis=1)
        with np.errstate(all="ignore"):
            _registers[lanes] += arith.fold("add", from_zero)
    if reduce_res is not None:
        need(_began[lanes].all(), "sums that nothing began")
        need(_tile(reduce_res, "reduce_res").shape == (data.shape[0], 1), "reduce_res has shape {}", reduce_res.shape)
        reduce_res.write(_registers[lanes, None])


def _affine(partitions, pattern, offset, channel_multiplier):
    need(1 <= len(pattern) <= 4, "a pattern of {} dimensions", len(pattern))
    value = np.zeros((partitions, 1), np.int64) + offset + channel_multiplier * np.arange(partitions)[:, None]
    for step, count in pattern:
        value = (value[:, :, None] + step * np.arange(count)).reshape(partitions, -1)
    return value.astype(np.int32)


@documented
def iota(dst, pattern, offset=0, channel_multiplier=0, name=None):
    _tile(dst, "dst", ("sbuf",))
    value = _affine(dst.shape[0], pattern, offset, channel_multiplier)
    need(value.size == dst.size, "a pattern of {} for {} elements", value.size, dst.size)
    if dst.dtype.is_float:
        dst.write(value.astype(np.float32).reshape(dst.shape))
    else:
        info = np.iinfo(dst.dtype.storage)
        dst.write_bits(np.clip(value.astype(np.int64), info.min, info.max))


@documented
def affine_select(dst, pattern, channel_multiplier, on_true_tile, on_false_value, cmp_op="equal", offset=0, name=None):
    _same_size(_tile(dst, "dst", ("sbuf",)), _tile(on_true_tile, "on_true_tile", ("sbuf",)))
    need(cmp_op in arith.COMPARISONS and isinstance(on_false_value, float), "{}, {!r}", cmp_op, on_false_value)
    value = _affine(dst.shape[0], pattern, offset, channel_multiplier)
    need(value.size == dst.size, "a pattern of {} for {} elements", value.size, dst.size)
    take = arith.BINARY[cmp_op](value, 0) != 0
    same = on_true_tile.dtype is dst.dtype
    true = _raw(on_true_tile) if same else dst.dtype.encode(_rows(on_true_tile))
    dst.write_bits(np.where(take, true, dst.dtype.encode(np.float32([on_false_value]))))


@documented
def local_gather(dst, src_buffer, index, num_elem_per_idx=1, num_valid_indices=None, name=None):
    for operand, label in ((dst, "dst"), (src_buffer, "src_buffer"), (index, "index")):
        _tile(operand, label, ("sbuf",))
    partitions = src_buffer.shape[0]
    need(index.shape[0] == partitions and partitions % 16 == 0, "{} and {} partitions", index.shape, src_buffer.shape)
    need(index.dtype.name == "uint16" and dst.dtype is src_buffer.dtype, "index {}, dst {}", index.dtype, dst.dtype)
    need(num_elem_per_idx in (1, 2, 4, 8, 16, 32), "{} elements per index", num_elem_per_idx)
    src, where, result = _raw(src_buffer), _raw(index).astype(np.int64), []
    for core in range(0, partitions, 16):
        starts = where[core : core + 16].flatten(order="F")[:num_valid_indices]  # column by column
        columns = (starts[:, None] + np.arange(num_elem_per_idx)).reshape(-1)
        need(columns.max() < src.shape[1], "index {} of {} elements", columns.max(), src.shape[1])
        result.append(src[core : core + 16, columns])
    dst.write_bits(np.concatenate(result))


@documented
def nonzero_with_count(dst, src, index_offset=0, padding_val=-1, name=None):
    _tile(dst, "dst", ("sbuf",)), _tile(src, "src", ("sbuf",))
    room, size = dst.size // dst.shape[0], src.size // src.shape[0]
    need(dst.shape[0] == src.shape[0] and room == size + 1, "{} into {}", src.shape, dst.shape)
    for p in range(0, src.shape[0], 16):  # the first partition of each core
        places = index_offset + np.flatnonzero(_row(src, p).values().reshape(-1) != 0)
        padding = np.full(size - len(places), padding_val)
        _row(dst, p).write_bits(np.concatenate([places, padding, [len(places)]]))


@documented
def tensor_partition_reduce(dst, op, data, name=None):
    _tile(dst, "dst", ("sbuf",)), _tile(data, "data", ("sbuf",))
    need(op in ("add", "maximum", "bitwise_or", "bitwise_and"), "{} across partitions", op)
    need(dst.shape[0] == 1 and dst.size * data.shape[0] == data.size, "{} into {}", data.shape, dst.shape)
    if op in arith.BITVEC:
        return dst.write_bits(arith.BITVEC[op].reduce(_raw(data), axis=0))
    if dst.dtype.name in _WORDS and data.dtype.name in _WORDS:
        reduce = np.add.reduce if op == "add" else np.maximum.reduce
        return dst.write_bits(reduce(_raw(data).astype(np.int64), axis=0).astype(dst.dtype.storage))
    dst.write(arith.fold(op, _rows(data).T).reshape(dst.shape))


def __getattr__(name):
    """Documented calls that this stand-in checks in a dry run and does not execute."""
    if name not in ISA:
        raise AttributeError(name)

    def absent(**kwargs):
        raise NotImplementedError(f"nisa.{name} is not part of this stand-in")

    absent.__name__ = name
    return documented(absent)


# Adding DMA, gathers and shuffles


@documented
def dma_compute(dst, srcs, reduce_op, scales=None, unique_indices=True, oob_mode=oob_mode.error, name=None):
    need(reduce_op == "add", "dma_compute with {}", reduce_op)
    skip = oob_mode.name == "skip"
    if isinstance(dst, IndirectRows):
        seen = set()
        for i, row in dst.rows(skip):
            need(row.offset not in seen, "the row of index {} comes twice", i)
            seen.add(row.offset)
            _add(row, [row, _row(srcs[1], i)])
    elif isinstance(srcs[-1], IndirectRows):
        for i, row in srcs[-1].rows(skip):
            _add(_row(dst, i), [_row(dst, i), row])
    else:
        _add(dst, srcs)


def _add(dst, srcs):
    """In float32, from the first source to the last."""
    total = srcs[0].values().reshape(-1)
    for src in srcs[1:]:
        total = total + src.values().reshape(-1)
    dst.write(total.reshape(dst.shape))


@documented
def nc_n_gather(dst, data, indices, name=None):
    for operand, label in ((dst, "dst"), (data, "data"), (indices, "indices")):
        _tile(operand, label, ("sbuf",))
    need(dst.dtype is data.dtype and indices.dtype.name == "uint32", "{} of {} by {}", dst.dtype, data.dtype, indices.dtype)
    _same_size(dst, indices)
    rows, at = _raw(data), _raw(indices).astype(np.int64)
    need(rows.shape[0] == at.shape[0] and (at < rows.shape[1]).all(), "index {} of {}", at.max(), rows.shape[1])
    dst.write_bits(np.take_along_axis(rows, at, axis=1).reshape(dst.shape))


@documented
def nc_stream_shuffle(dst, src, shuffle_mask, name=None):
    _tile(dst, "dst")
    _tile(src, "src")
    need(_rows_shape(dst)[1] == _rows_shape(src)[1], "{} from {}", dst.shape, src.shape)
    active = -(-max(dst.shape[0], src.shape[0]) // 32) * 32
    step = 128 if active > 64 else active
    need(dst.partition % step == 0 and src.partition % step == 0, "{} active partitions from {} and {}", active,
         dst.partition, src.partition)
    moves = [(p, p // 32 * 32 + shuffle_mask[p % 32]) for p in range(dst.shape[0]) if shuffle_mask[p % 32] != 255]
    need(all(q < src.shape[0] for _, q in moves), "a partition beyond {}", src.shape[0])
    rows = {p: _row(src, q).bits() for p, q in moves}  # before dst changes
    for p, bits in rows.items():
        _row(dst, p).write_bits(bits)


# Registers of 32 bits


@documented
def register_alloc(x=None):
    register = VirtualRegister()
    if x is not None or _rules.DRY:
        register.set(x or 0)
    return register


@documented
def register_move(dst, src):
    value = src.value if isinstance(src, VirtualRegister) else src
    need(value is not None, "a register that nothing wrote")
    dst.set(value)


@documented
def register_load(dst, src):
    dst.set(0 if _rules.DRY else int(src.bits().reshape(-1)[0]))


@documented
def register_store(dst, src):
    need(src.value is not None, "a register that nothing wrote")
    if not _rules.DRY:
        dst.write_bits(np.asarray(src.value, np.int64).astype(dst.dtype.storage).reshape(dst.shape))
