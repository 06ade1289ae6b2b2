"""nki.isa: DMA, adding DMA, gathers and shuffles, and registers of 32 bits."""

import numpy as np

from . import _rules
from ._memory import IndirectRows, VirtualRegister, need
from ._operands import _raw, _rows_shape, _same_size, _tile, dge_mode, engine, oob_mode
from ._rules import documented, target


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
