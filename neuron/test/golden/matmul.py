# matmul: an NKI kernel for trn2, generated from tile program <hash>; never run on silicon.
# Arguments, in order:
#   lhsT: bfloat16 (512, 256)
#   rhs: bfloat16 (512, 1024)
# Returns, in order:
#   out: float32 (256, 1024)
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def matmul(lhsT, rhs):
    out = nl.ndarray((256, 1024), dtype=nl.float32, buffer=nl.shared_hbm)
    for m in range(2):
        for n in range(2):
            ps = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
            for k in range(4):
                x = nl.ndarray((128, 128), dtype=nl.bfloat16, buffer=nl.sbuf)
                y = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)
                nisa.dma_copy(dst=x, src=lhsT[nl.ds(k*128, 128), nl.ds(m*128, 128)])
                nisa.dma_copy(dst=y, src=rhs[nl.ds(k*128, 128), nl.ds(n*512, 512)])
                nisa.nc_matmul(dst=ps, stationary=x, moving=y, accumulate=(k > 0))
            o = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_copy(dst=o, src=ps, engine=nisa.engine.vector)
            nisa.dma_copy(dst=out[nl.ds(m*128, 128), nl.ds(n*512, 512)], src=o)
    return out
