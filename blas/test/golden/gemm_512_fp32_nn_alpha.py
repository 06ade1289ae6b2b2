# blas_gemm: an NKI kernel for trn2, generated from tile program <hash>; never run on silicon.
# Arguments, in order:
#   a: float32 (512, 512)
#   b: float32 (512, 512)
#   alpha: float32 (1)
# Returns, in order:
#   c: float32 (512, 512)
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def blas_gemm(a, b, alpha):
    c = nl.ndarray((512, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    alpha_tile = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=alpha_tile, src=alpha.ap(pattern=[[0, 128], [1, 1]]))
    a_panel = nl.ndarray((128, 4, 512), dtype=nl.float32, buffer=nl.sbuf)
    sums = nl.ndarray((128, 4, 512), dtype=nl.float32, buffer=nl.psum)
    b_chunk = nl.ndarray((128, 4, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=b_chunk, src=b.ap(pattern=[[512, 128], [65536, 4], [1, 512]]))
    for mt in range(4):
        a_rows = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=a_rows, src=a[nl.ds(mt*128, 128), 0:512])
        transposed = nl.ndarray((128, 4, 128), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_transpose(
            dst=transposed.ap(pattern=[[512, 128], [1, 128]]), data=a_rows[0:128, 0:128], engine=nisa.engine.tensor
        )
        nisa.nc_transpose(
            dst=transposed.ap(pattern=[[512, 128], [1, 128]], offset=128),
            data=a_rows[0:128, 128:256],
            engine=nisa.engine.tensor,
        )
        nisa.nc_transpose(
            dst=transposed.ap(pattern=[[512, 128], [1, 128]], offset=256),
            data=a_rows[0:128, 256:384],
            engine=nisa.engine.tensor,
        )
        nisa.nc_transpose(
            dst=transposed.ap(pattern=[[512, 128], [1, 128]], offset=384),
            data=a_rows[0:128, 384:512],
            engine=nisa.engine.tensor,
        )
        nisa.tensor_copy(dst=a_panel[0:128, 0:4, nl.ds(mt*128, 128)], src=transposed)
    for k in range(4):
        nisa.nc_matmul(
            dst=sums.ap(pattern=[[2048, 128], [1, 512]]),
            stationary=a_panel.ap(pattern=[[2048, 128], [1, 128]], offset=k*512),
            moving=b_chunk.ap(pattern=[[2048, 128], [1, 512]], offset=k*512),
            accumulate=(k > 0),
        )
    for k_2 in range(4):
        nisa.nc_matmul(
            dst=sums.ap(pattern=[[2048, 128], [1, 512]], offset=512),
            stationary=a_panel.ap(pattern=[[2048, 128], [1, 128]], offset=k_2*512 + 128),
            moving=b_chunk.ap(pattern=[[2048, 128], [1, 512]], offset=k_2*512),
            accumulate=(k_2 > 0),
        )
    for k_3 in range(4):
        nisa.nc_matmul(
            dst=sums.ap(pattern=[[2048, 128], [1, 512]], offset=1024),
            stationary=a_panel.ap(pattern=[[2048, 128], [1, 128]], offset=k_3*512 + 256),
            moving=b_chunk.ap(pattern=[[2048, 128], [1, 512]], offset=k_3*512),
            accumulate=(k_3 > 0),
        )
    for k_4 in range(4):
        nisa.nc_matmul(
            dst=sums.ap(pattern=[[2048, 128], [1, 512]], offset=1536),
            stationary=a_panel.ap(pattern=[[2048, 128], [1, 128]], offset=k_4*512 + 384),
            moving=b_chunk.ap(pattern=[[2048, 128], [1, 512]], offset=k_4*512),
            accumulate=(k_4 > 0),
        )
    c_new = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(dst=c_new, op=nl.copy, data=sums.ap(pattern=[[2048, 128], [1, 512]]), scale=alpha_tile)
    nisa.dma_copy(dst=c[0:128, 0:512], src=c_new, dge_mode=nisa.dge_mode.none)
    c_new_2 = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_scalar(
        dst=c_new_2,
        data=sums.ap(pattern=[[2048, 128], [1, 512]], offset=512),
        op0=nl.multiply,
        operand0=alpha_tile,
        engine=nisa.engine.vector,
    )
    nisa.dma_copy(dst=c[128:256, 0:512], src=c_new_2, dge_mode=nisa.dge_mode.none)
    c_new_3 = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(
        dst=c_new_3, op=nl.copy, data=sums.ap(pattern=[[2048, 128], [1, 512]], offset=1024), scale=alpha_tile
    )
    nisa.dma_copy(dst=c[256:384, 0:512], src=c_new_3, dge_mode=nisa.dge_mode.none)
    c_new_4 = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_scalar(
        dst=c_new_4,
        data=sums.ap(pattern=[[2048, 128], [1, 512]], offset=1536),
        op0=nl.multiply,
        operand0=alpha_tile,
        engine=nisa.engine.vector,
    )
    nisa.dma_copy(dst=c[384:512, 0:512], src=c_new_4, dge_mode=nisa.dge_mode.none)
    return c
