"""nki.isa: calls that use the accumulators of the Vector and the Scalar Engine, statistics and searches."""

import numpy as np

from . import _arithmetic as arith
from . import _search as search
from ._memory import Tensor, need
from ._operands import (
    _IDENTITY, _began, _raw, _registers, _rows, _rows_shape, _same_size, _scalar, _tile, _vector_began,
    _vector_registers, reduce_cmd)
from ._rules import documented, target
from ._signatures import FP32_MIN


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
