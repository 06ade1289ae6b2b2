"""Attention of which only blocks are computed: a local window, a dilated one, and one with global tokens.

    python block_sparse_attention.py [executor]

softmax(Q K^T / sqrt(d)) V over the pairs that a mask of 64 x 64 blocks allows. Nothing of the size queries x keys is kept. Each pattern is
compared with dense attention in float64 over the same pairs.
"""
import sys

import numpy as np

import trnsci
from trnsci import rand, sparse

TOKENS, WIDTH, BLOCK = 512, 64, 64
COUNT = TOKENS // BLOCK


def patterns():
    """Which block of queries sees which block of keys."""
    i, j = np.indices((COUNT, COUNT))
    return {"local": np.abs(i - j) <= 1, "dilated": (np.abs(i - j) <= 4) & ((i - j) % 2 == 0), "global": (np.abs(i - j) <= 1) | (i == 0) | (j == 0)}


def mask_of(pattern):
    rows, columns = np.nonzero(pattern)
    return sparse.BSRMatrix(np.ones((rows.size, BLOCK, BLOCK), np.float32), columns, np.searchsorted(rows, np.arange(COUNT + 1)),
                            (TOKENS, TOKENS), BLOCK)


def dense(q, k, v, pattern):
    """The same in float64, with the whole matrix of weights."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    scores = np.where(np.kron(pattern, np.ones((BLOCK, BLOCK))) > 0, q @ k.T / np.sqrt(WIDTH), -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ v


def main(executor=None):
    g = rand.Generator(8)
    q, k, v = (g.normal(0.0, 1.0, (TOKENS, WIDTH), dtype=np.float32) for _ in range(3))
    result = {}
    for name, pattern in patterns().items():
        mask = mask_of(pattern)
        with trnsci.use(executor or "host"), trnsci.record() as record:
            y = sparse.attention(q, k, v, mask)
        error = float(np.abs(y - dense(q, k, v, pattern)).max())
        result[name] = {"error": error, "share": float(pattern.mean()), "family": record.family_of("sparse.attention"),
                        "seconds": record.modelled_seconds}
        print(f"{name:8} {pattern.mean():4.0%} of the blocks, error {error:.1e}, {record.modelled_seconds * 1e6:.0f} us modelled")
    return result


if __name__ == "__main__":
    main(*sys.argv[1:])
