# blas_gemm: an NKI kernel for trn2, generated from tile program <hash>; never run on silicon.
# Arguments, in order:
#   a: bfloat16 (256, 256)
#     strides (1, 256): the 1-D memory of 65536 elements, from the lowest address to the highest
#   b: bfloat16 (256, 512)
# Returns, in order:
#   c: bfloat16 (256, 512)
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def blas_gemm(a, b):
    c = nl.ndarray((256, 512), dtype=nl.bfloat16, buffer=nl.shared_hbm)
    a_panel = nl.ndarray((128, 2, 256), dtype=nl.bfloat16, buffer=nl.sbuf)
    sums = nl.ndarray((128, 2, 512), dtype=nl.float32, buffer=nl.psum)
    b_chunk = nl.ndarray((128, 2, 512), dtype=nl.bfloat16, buffer=nl.sbuf)
    nisa.dma_copy(dst=b_chunk, src=b.ap(pattern=[[512, 128], [65536, 2], [1, 512]]))
    nisa.dma_copy(dst=a_panel, src=a.ap(pattern=[[256, 128], [32768, 2], [1, 256]]))
    for k in range(2):
        nisa.nc_matmul(
            dst=sums.ap(pattern=[[1024, 128], [1, 512]]),
            stationary=a_panel.ap(pattern=[[512, 128], [1, 128]], offset=k*256),
            moving=b_chunk.ap(pattern=[[1024, 128], [1, 512]], offset=k*512),
            accumulate=(k > 0),
        )
    for k_2 in range(2):
        nisa.nc_matmul(
            dst=sums.ap(pattern=[[1024, 128], [1, 512]], offset=512),
            stationary=a_panel.ap(pattern=[[512, 128], [1, 128]], offset=k_2*256 + 128),
            moving=b_chunk.ap(pattern=[[1024, 128], [1, 512]], offset=k_2*512),
            accumulate=(k_2 > 0),
        )
    c_new = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)
    nisa.tensor_copy(dst=c_new, src=sums.ap(pattern=[[1024, 128], [1, 512]]), engine=nisa.engine.scalar)
    nisa.dma_copy(dst=c[0:128, 0:512], src=c_new, dge_mode=nisa.dge_mode.none)
    c_new_2 = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)
    nisa.tensor_copy(
        dst=c_new_2, src=sums.ap(pattern=[[1024, 128], [1, 512]], offset=512), engine=nisa.engine.vector
    )
    nisa.dma_copy(dst=c[128:256, 0:512], src=c_new_2, dge_mode=nisa.dge_mode.none)
    return c
