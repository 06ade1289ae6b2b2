"""nki.language as far as emitted kernels use it: dtypes, memory spaces, ndarray, ds and the names of operators."""

from ._dtypes import DTYPES
from . import _rules
from ._memory import Memory, NkiError, Tensor, VirtualRegister, need

globals().update(DTYPES)

sbuf, psum, hbm, private_hbm, shared_hbm = "sbuf", "psum", "hbm", "private_hbm", "shared_hbm"
_SPACES = (sbuf, psum, hbm, private_hbm, shared_hbm)
_PSUM_BYTES, _PARTITIONS = 16 * 1024, 128


class Operator(str):
    """An operator or activation function, known by its name."""


for _name in (
    "add subtract multiply maximum minimum power abs_max abs_min equal not_equal greater_equal greater less_equal less "
    "logical_and logical_or logical_xor abs square relu rsqrt reciprocal bitwise_and bitwise_or bitwise_xor invert "
    "left_shift right_shift copy sigmoid gelu gelu_dx gelu_apprx_tanh gelu_apprx_sigmoid silu silu_dx tanh softplus "
    "mish erf erf_dx exp log sin arctan sqrt sign"
).split():
    globals()[_name] = Operator(_name)


def ndarray(shape, dtype, buffer=sbuf, name="", address=None):
    need(isinstance(shape, tuple) and shape and all(isinstance(n, int) and n >= 1 for n in shape), "shape {}", shape)
    need(buffer in _SPACES, "buffer {}", buffer)
    tensor = Tensor(Memory(buffer, 0), dtype, shape)
    if tensor.on_chip:
        need(len(shape) >= 2 and shape[0] <= _PARTITIONS, "an on-chip array of shape {}", shape)
    if buffer == psum:
        need(tensor.strides[0] <= _PSUM_BYTES, "{} bytes per partition of PSUM", tensor.strides[0])
    tensor.memory = Memory(buffer, tensor.size * dtype.size, stored=not _rules.DRY)
    _rules.allocated(tensor)
    return tensor


def ds(start, size):
    if size < 1:
        raise NkiError(f"ds of size {size}")
    return slice(start, start + size)


def fori_loop(lower, upper, body_fun, step=1):
    """body_fun(i) with i in a register; in a dry run the first and the last iteration, or one if a register counts."""
    bounds = [n.value if isinstance(n, VirtualRegister) else n for n in (lower, upper)]
    need(all(isinstance(n, int) for n in bounds + [step]) and step >= 1, "fori_loop({}, {}, {})", *bounds, step)
    values = range(*bounds, step)
    if _rules.DRY and isinstance(upper, VirtualRegister):
        values = (0,)
    elif _rules.DRY and len(values) > 2:
        values = (values[0], values[-1])
    for value in values:
        body_fun(VirtualRegister(value, frozen=True))


def while_loop(init, body_fun):
    """As long as the register is not zero: body_fun(r), which returns the next one; once in a dry run."""
    need(isinstance(init, VirtualRegister) and init.value is not None, "while_loop({})", init)
    value = init.value
    while value != 0 or _rules.DRY:
        register = body_fun(VirtualRegister(value))
        need(isinstance(register, VirtualRegister), "the body of a while_loop returns {}", register)
        if _rules.DRY:
            return
        value = register.value
