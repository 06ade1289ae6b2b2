"""Block-sparse tensors, as quantum numbers make them, and their contraction."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _trnsci
from ._core import Array, ExecutorLike, asnumpy

Coordinates = tuple[int, ...]


class BlockSparse:
    """Every mode is cut into `sections`; a block is one section of each mode, and those that `blocks` has are there.

    >>> import numpy as np
    >>> from trnsci.tensor import BlockSparse
    >>> a = BlockSparse([[2, 1], [3, 1]], {(0, 0): np.ones((2, 3)), (1, 1): np.ones((1, 1))})
    >>> a.to_dense()
    array([[1., 1., 1., 0.],
           [1., 1., 1., 0.],
           [0., 0., 0., 1.]])
    """

    def __init__(self, sections: Sequence[Sequence[int]], blocks: Mapping[Coordinates, Any]) -> None:
        self.sections = [[int(n) for n in mode] for mode in sections]
        self.blocks: dict[Coordinates, Any] = {}
        for at, block in blocks.items():
            key = tuple(int(i) for i in at)
            inside = len(key) == len(self.sections) and all(0 <= i < len(s) for i, s in zip(key, self.sections))
            if not inside:
                raise ValueError(f"BlockSparse: block {key} is not one of {tuple(len(s) for s in self.sections)} sections")
            array = block if isinstance(block, Array) else np.asarray(block)
            want = tuple(s[i] for i, s in zip(key, self.sections))
            if tuple(array.shape) != want:
                raise ValueError(f"BlockSparse: block {key} has shape {tuple(array.shape)}; its sections have {want}")
            self.blocks[key] = array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(sum(s) for s in self.sections)

    @property
    def dtype(self) -> Any:
        found = [b.dtype for b in self.blocks.values()]
        return np.result_type(*found) if found else np.dtype(np.float64)

    def to_dense(self) -> NDArray[Any]:
        """The tensor as an array of NumPy's, with zeros where no block is."""
        dense = np.zeros(self.shape, self.dtype)
        starts = [np.concatenate([[0], np.cumsum(s)]) for s in self.sections]
        for at, block in self.blocks.items():
            dense[tuple(slice(s[i], s[i + 1]) for i, s in zip(at, starts))] = asnumpy(block)
        return dense

    def __repr__(self) -> str:
        return f"BlockSparse(shape={self.shape}, {len(self.blocks)} blocks, dtype={self.dtype})"


def block_contract(subscripts: str, a: BlockSparse, b: BlockSparse, *, precision: str | None = None, executor: ExecutorLike = None,
                   return_accuracy: bool = False) -> Any:
    """The contraction of two block-sparse tensors, with all the blocks that the result has.

    Parameters
    ----------
    a : BlockSparse
        One tensor.
    b : BlockSparse
        The other one.

    >>> import numpy as np
    >>> from trnsci.tensor import BlockSparse, block_contract
    >>> a = BlockSparse([[2, 1], [3, 1]], {(0, 0): np.ones((2, 3)), (1, 1): np.full((1, 1), 2.0)})
    >>> b = BlockSparse([[3, 1], [2]], {(0, 0): np.ones((3, 2))})
    >>> block_contract("ij,jk->ki", a, b).blocks
    {(0, 0): array([[3., 3.],
           [3., 3.]])}
    """
    for name, x in (("a", a), ("b", b)):
        if not isinstance(x, BlockSparse):
            raise TypeError(f"tensor.block_contract: {name} is a {type(x).__name__}; it must be a BlockSparse")
    given = [*a.blocks.values(), *b.blocks.values()]
    device = any(isinstance(x, Array) for x in given)
    dtype = np.result_type(a.dtype, b.dtype)
    if dtype.kind in "biu":
        dtype = np.dtype(np.float64)
    arrays = [[x if device else x.astype(dtype, copy=False) for x in t.blocks.values()] for t in (a, b)]
    sections, blocks, results, accuracy, _, _ = _trnsci.block_contract(
        subscripts, a.sections, [list(k) for k in a.blocks], arrays[0], b.sections, [list(k) for k in b.blocks], arrays[1],
        dtype.name, precision, executor)
    made = BlockSparse(sections, {tuple(at): x for at, x in zip(blocks, results)})
    return (made, accuracy) if return_accuracy else made
