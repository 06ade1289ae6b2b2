# scale_and_shift: an NKI kernel for trn2, generated from tile program <hash>; never run on silicon.
# Arguments, in order:
#   x: float32 (200, 300)
#     strides (320, 1): the 1-D memory of 63980 elements, from the lowest address to the highest
#   scale: float32 (200, 1)
# Returns, in order:
#   y: bfloat16 (200, 300)
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def scale_and_shift(x, scale):
    y = nl.ndarray((200, 300), dtype=nl.bfloat16, buffer=nl.shared_hbm)
    t = nl.ndarray((128, 300), dtype=nl.float32, buffer=nl.sbuf)
    s = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    o = nl.ndarray((128, 300), dtype=nl.bfloat16, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=x.ap(pattern=[[320, 128], [1, 300]]))
    nisa.dma_copy(dst=s, src=scale[0:128, 0:1])
    nisa.tensor_scalar(
        dst=o, data=t, op0=nl.multiply, operand0=s, op1=nl.add, operand1=0.5, engine=nisa.engine.vector
    )
    nisa.dma_copy(dst=y[0:128, 0:300], src=o)
    t_2 = nl.ndarray((72, 300), dtype=nl.float32, buffer=nl.sbuf)
    s_2 = nl.ndarray((72, 1), dtype=nl.float32, buffer=nl.sbuf)
    o_2 = nl.ndarray((72, 300), dtype=nl.bfloat16, buffer=nl.sbuf)
    nisa.dma_copy(dst=t_2, src=x.ap(pattern=[[320, 72], [1, 300]], offset=40960))
    nisa.dma_copy(dst=s_2, src=scale[128:200, 0:1])
    nisa.tensor_scalar(
        dst=o_2, data=t_2, op0=nl.multiply, operand0=s_2, op1=nl.add, operand1=0.5, engine=nisa.engine.vector
    )
    nisa.dma_copy(dst=y[128:200, 0:300], src=o_2)
    return y
