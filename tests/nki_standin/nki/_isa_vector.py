"""nki.isa: elementwise calls and reductions of the Vector, Scalar and GpSimd Engines."""

import numpy as np

from . import _arithmetic as arith
from ._isa_dma import _move, _row
from ._memory import Tensor, need
from ._operands import _WORDS, _engine, _not_both_psum, _raw, _rows, _rows_shape, _same_size, _scalar, _tile, engine
from ._rules import documented, target


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
