# transpose: an NKI kernel for trn3, generated from tile program <hash>; never run on silicon.
# Arguments, in order:
#   in_2: float32 (256, 128)
#     strides (1, 256): the 1-D memory of 32768 elements, from the lowest address to the highest
# Returns, in order:
#   out: float32 (128, 256)
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def transpose(in_2):
    out = nl.ndarray((128, 256), dtype=nl.float32, buffer=nl.shared_hbm)
    for i in range(2):
        t = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
        ps = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
        o = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=t, src=in_2.ap(pattern=[[1, 128], [256, 128]], offset=i*128))
        nisa.nc_transpose(dst=ps, data=t, engine=nisa.engine.tensor)
        nisa.tensor_copy(dst=o, src=ps)
        nisa.dma_copy(dst=out[0:128, nl.ds(i*128, 128)], src=o)
    return out
