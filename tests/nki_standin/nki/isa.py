"""nki.isa as far as emitted kernels use it, one function per documented call with its documented signature: the calls are
in the files _isa_*.py.

Operands are read whole before dst is written. Arithmetic follows docs/simulator.md: float32 with one rounding per
operator, the result rounded to dst's dtype; reductions in element order. The machine is the documented
NEURON_PLATFORM_TARGET_OVERRIDE (trn1, trn2, trn3).
"""

from ._isa_dma import (  # noqa: F401
    dma_compute, dma_copy, dma_transpose, nc_n_gather, nc_stream_shuffle, register_alloc, register_load,
    register_move, register_store)
from ._isa_reduce import (  # noqa: F401
    activation, bn_aggr, bn_stats, exponential, max8, nc_find_index8, nc_match_replace8, range_select,
    select_reduce, tensor_scalar_cumulative, tensor_scalar_reduce)
from ._isa_tensor import nc_matmul, nc_matmul_mx, nc_transpose, quantize_mx  # noqa: F401
from ._isa_vector import (  # noqa: F401
    affine_select, iota, local_gather, memset, nonzero_with_count, reciprocal, scalar_tensor_tensor, tensor_copy,
    tensor_copy_predicated, tensor_partition_reduce, tensor_reduce, tensor_scalar, tensor_tensor,
    tensor_tensor_scan)
from ._operands import dge_mode, engine, matmul_perf_mode, oob_mode, reduce_cmd  # noqa: F401
from ._rules import documented
from ._signatures import ISA


def __getattr__(name):
    """Documented calls that this stand-in checks in a dry run and does not execute."""
    if name not in ISA:
        raise AttributeError(name)

    def absent(**kwargs):
        raise NotImplementedError(f"nisa.{name} is not part of this stand-in")

    absent.__name__ = name
    return documented(absent)
