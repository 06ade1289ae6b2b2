"""Arrays in HBM, SBUF and PSUM and the views on them.

A memory is a run of bytes with one `known` flag per byte. A tensor is a strided window on it, so that slices, access
patterns and dtype views alias as they do on the device. Reading a byte that nothing wrote is an error.
"""

import numpy as np

ON_CHIP = ("sbuf", "psum")


class NkiError(Exception):
    """The kernel broke a documented rule."""


def need(condition, text, *values):
    if not condition:
        raise NkiError(text.format(*values))


class VirtualRegister:
    """A number that only the device knows: no Python arithmetic, no index; `scalar_offset` and loops read it."""

    def __init__(self, value=None, frozen=False):
        self.value, self.frozen = value, frozen

    def set(self, value):
        need(not self.frozen, "the register of a fori_loop is written")
        self.value = (int(value) + 2**31) % 2**32 - 2**31  # 32 bits, signed


def moved_by(offset):
    """The value of a scalar_offset: a register, or a (1, 1) array in SBUF."""
    if isinstance(offset, VirtualRegister):
        need(offset.value is not None, "a register that nothing wrote")
        return offset.value
    need(isinstance(offset, Tensor) and offset.shape == (1, 1) and offset.buffer == "sbuf", "scalar_offset {}", offset)
    need(offset.dtype.name in ("int32", "uint32"), "scalar_offset of {}", offset.dtype)
    offset.memory.usage[1] = True
    return 0 if offset.memory.data is None else int(offset.bits()[0, 0])


class Memory:
    """0xFF is NaN in every float format: what nothing wrote shows in a comparison."""

    def __init__(self, space, size, stored=True):
        self.space, self.size = space, size
        self.usage = [False, False]  # written, read; shared by the arrays of one line
        self.data = np.full(size, 0xFF, np.uint8) if stored else None
        self.known = np.zeros(size, np.uint8) if stored else None


def row_major(shape, itemsize):
    strides, step = [], itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


class Tensor:
    """`shape` elements of `dtype` at byte `offset` of `memory`, `strides` bytes apart."""

    def __init__(self, memory, dtype, shape, strides=None, offset=0, array=None):
        self.memory, self.dtype, self.shape, self.offset = memory, dtype, tuple(shape), offset
        self.strides = row_major(self.shape, dtype.size) if strides is None else tuple(strides)
        self.array = array or self  # the ndarray this is a view of
        self.is_dynamic = False  # starts where a register says

    @property
    def buffer(self):
        return self.memory.space

    @property
    def size(self):
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def on_chip(self):
        return self.memory.space in ON_CHIP

    @property
    def partition(self):
        """The first partition of an on-chip view."""
        return self.offset // (self.array.strides[0])

    def _window(self, buffer, dtype, shape, strides):
        return np.ndarray(shape, dtype, buffer=buffer, offset=self.offset, strides=strides)

    def bits(self):
        """A copy of the stored elements."""
        known = self._window(self.memory.known, np.uint8, self.shape, self.strides)
        need(known.all(), "read of {} of {} elements that nothing wrote", int((known == 0).sum()), self.size)
        return self._window(self.memory.data, self.dtype.storage, self.shape, self.strides).copy()

    def values(self):
        return self.dtype.decode(self.bits())

    def write_bits(self, stored):
        stored = np.asarray(stored, self.dtype.storage).reshape(self.shape)
        self._window(self.memory.data, self.dtype.storage, self.shape, self.strides)[...] = stored
        self._window(self.memory.known, np.uint8, self.shape + (self.dtype.size,), self.strides + (1,))[...] = 1

    def write(self, values):
        self.write_bits(self.dtype.encode(np.asarray(values, np.float32)))

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        need(len(key) == len(self.shape), "{} indices for {} dimensions", len(key), len(self.shape))
        need(not self.is_dynamic, "a slice of an access through a register")
        shape, offset = [], self.offset
        for item, extent, stride in zip(key, self.shape, self.strides):
            need(isinstance(item, slice) and item.step is None, "index {} is not a slice without step", item)
            start = 0 if item.start is None else item.start
            stop = extent if item.stop is None else item.stop
            need(isinstance(start, int) and isinstance(stop, int), "slice {}:{} is not of integers", start, stop)
            need(0 <= start < stop <= extent, "slice {}:{} leaves a dimension of {}", start, stop, extent)
            shape.append(stop - start)
            offset += start * stride
        return Tensor(self.memory, self.dtype, shape, self.strides, offset, self.array)

    def view(self, dtype):
        """The whole array in another dtype; the last dimension scales."""
        need(self.array is self, "view() of a slice")
        last = self.shape[-1] * self.dtype.size
        need(last % dtype.size == 0, "{} bytes do not hold whole {} elements", last, dtype)
        return Tensor(self.memory, dtype, self.shape[:-1] + (last // dtype.size,), None, 0, self)

    def reshape(self, shape):
        """The whole array with other extents: for `indirect_dim`, whose step is that of the reshaped dimension."""
        need(self.array is self and not self.on_chip, "reshape() of a slice or of an array on chip")
        need(int(np.prod(shape, dtype=np.int64)) == self.size, "{} elements as {}", self.size, shape)
        result = Tensor(self.memory, self.dtype, shape)
        result.reshaped = True
        return result

    def ap(self, pattern, offset=0, scalar_offset=None, vector_offset=None, indirect_dim=0, dtype=None):
        need(self.array is self, ".ap() is defined on arrays, not on their views")
        need(pattern and all(len(p) == 2 and p[0] >= 0 and p[1] >= 1 for p in pattern), "pattern {}", pattern)
        need(all(isinstance(n, int) for p in pattern for n in p) and isinstance(offset, int), "{}, {}", pattern, offset)
        need(scalar_offset is None or vector_offset is None, "scalar_offset with vector_offset")
        need(0 <= indirect_dim < len(self.shape), "indirect_dim {} of {}", indirect_dim, self.shape)
        dtype = dtype or self.dtype
        shape = [count for _, count in pattern]
        strides = [step * dtype.size for step, _ in pattern]
        if self.on_chip:
            step = self.strides[0] // dtype.size
            need(strides[0] == self.strides[0], "partition step {} instead of {}", pattern[0][0], step)
            last = offset % pattern[0][0] + sum(step * (count - 1) for step, count in pattern[1:])
            need(last < pattern[0][0], "the pattern leaves its partition")
        if scalar_offset is not None:
            need(dtype is self.dtype and not self.on_chip, "scalar_offset with another dtype or on chip")
            offset += moved_by(scalar_offset) * self.strides[indirect_dim] // dtype.size
        result = Tensor(self.memory, dtype, shape, strides, offset * dtype.size, self)
        result.is_dynamic = scalar_offset is not None
        if vector_offset is None:
            last = offset + sum(step * (count - 1) for step, count in pattern)
            need(0 <= offset and (last + 1) * dtype.size <= self.memory.size, "elements {}..{} of {} bytes", offset, last,
                 self.memory.size)
            return result
        need(indirect_dim == 0 and not self.on_chip, "vector_offset needs an HBM array and indirect_dim=0")
        need(strides[0] == self.strides[0], "the first step {} is not the row length of the array", pattern[0][0])
        need(vector_offset.shape == (shape[0], 1) and vector_offset.buffer == "sbuf", "vector_offset: SBUF (P, 1)")
        need(vector_offset.dtype.name in ("uint32", "int32"), "vector_offset of dtype {}", vector_offset.dtype)
        return IndirectRows(result, vector_offset)


class IndirectRows:
    """Rows of an HBM array, one per element of `index`: row i starts index[i] rows after the pattern's offset."""

    def __init__(self, tensor, index):
        self.tensor, self.index = tensor, index
        self.shape, self.dtype, self.size, self.buffer = tensor.shape, tensor.dtype, tensor.size, tensor.buffer
        self.is_dynamic = False

    def rows(self, skip):
        """(i, row) for the indices inside the array; others are skipped or refused."""
        t = self.tensor
        for i, row in enumerate(self.index.bits().reshape(-1).tolist()):
            inside = 0 <= row < t.array.shape[0]
            need(inside or skip, "index {} of {} rows", row, t.array.shape[0])
            if inside:
                start = t.offset + row * t.strides[0]
                yield i, Tensor(t.memory, t.dtype, t.shape[1:], t.strides[1:], start, t.array)
