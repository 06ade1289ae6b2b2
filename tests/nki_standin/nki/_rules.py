"""Holds calls against the table of documented signatures (`_signatures.py`).

`documented(function)` wraps one call of the stand-in: keywords, engine, machine, memory spaces, dtypes, operators,
immediates and access patterns are checked before anything is computed, and which arrays were written and read is noted.
In a dry run (`DRY`) nothing is computed at all: that is how long kernels are checked without executing them.
"""

import functools
import os
import sys
from collections import Counter

import numpy as np

from . import _signatures as facts
from ._memory import IndirectRows, NkiError, Tensor, VirtualRegister

DRY = False
CALLS = Counter()  # executed calls by name
LINES = {}  # (space, line of the allocation) -> [written, read]
RESULTS = set()  # the arrays that one call writes, by id() of their entries in LINES


class RuleError(NkiError):
    """A call that the documentation does not cover; `rule` is its short name."""

    def __init__(self, rule, text):
        super().__init__(f"{rule}: {text}")
        self.rule = rule


def rule(name, condition, text, *values):
    if not condition:
        raise RuleError(name, text.format(*values))


def target():
    return os.environ.get("NEURON_PLATFORM_TARGET_OVERRIDE", "trn2")


def since(machine):
    return facts.MACHINES.index(target()) >= facts.MACHINES.index(machine)


def space(tensor):
    return "hbm" if tensor.buffer.endswith("hbm") else tensor.buffer


def free_dims(tensor):
    """Free dimensions as the hardware sees them: neighbours that form one run merged, sizes of 1 dropped."""
    runs = []
    for size, stride in zip(tensor.shape[1:], tensor.strides[1:]):
        if size == 1:
            continue
        if runs and runs[-1] == stride * size:
            runs[-1] = stride
        else:
            runs.append(stride)
    return len(runs)


def allocated(tensor):
    """Notes who allocates an array that something has to read: the line of the kernel's text."""
    frame = sys._getframe(2)
    key = (tensor.buffer, frame.f_code.co_filename, frame.f_lineno)
    tensor.memory.usage = LINES.setdefault(key, [False, False])


def never_read():
    """'psum array of line 12' for every array on chip or in scratch that a call writes none of whose results is read.

    A call with several results, such as activation with reduce_res, needs a reader for one of them: it cannot leave the
    others out.
    """
    wanted = {id(usage) for (buffer, *_), usage in LINES.items() if usage[1] or buffer == "shared_hbm"}
    idle = set().union(*(results for results in RESULTS if not results & wanted))
    return [f"{buffer} array of line {line}" for (buffer, _, line), usage in LINES.items() if id(usage) in idle]


def forget():
    """Begins a new kernel."""
    LINES.clear()
    RESULTS.clear()


def _tensors(value):
    if isinstance(value, IndirectRows):
        return [value.tensor]
    return [value] if isinstance(value, Tensor) else [t for v in value for t in _tensors(v)] if isinstance(value, list) else []


def _mark(value, role):
    for tensor in _tensors(value):
        if role in "wu":
            tensor.memory.usage[0] = True
        if role in "ru":
            tensor.memory.usage[1] = True
    for v in value if isinstance(value, list) else [value]:
        if isinstance(v, IndirectRows):
            v.index.memory.usage[1] = True


def _keywords(name, function, args, kwargs):
    call = facts.ISA[name]
    if args:
        rule("positional-argument", name in facts.POSITIONAL, "nisa.{} with {} arguments by position", name, len(args))
        kwargs = dict(zip(call["required"] + call["optional"], args), **kwargs)
    for keyword in kwargs:
        rule("unknown-keyword", keyword in call["required"] + call["optional"], "nisa.{} has no {}", name, keyword)
    for keyword in call["required"]:
        rule("missing-keyword", keyword in kwargs, "nisa.{} needs {}", name, keyword)
    return kwargs


def _engine(name, kwargs):
    call, chosen = facts.ISA[name], kwargs.get("engine")
    if chosen is None or chosen.name == "unknown":
        return "unknown"
    rule("wrong-engine", chosen.name in call["engines"], "nisa.{} on {}, documented: {}", name, chosen.name, call["engines"])
    return chosen.name


def _operand(name, keyword, value, about, is_dma):
    rule("wrong-operand", isinstance(value, (Tensor, IndirectRows)), "{} of nisa.{} is {!r}", keyword, name, value)
    where = space(value)
    rule("wrong-space", where in about["spaces"], "{} of nisa.{} is in {}, documented: {}", keyword, name, where, about["spaces"])
    if about["dtypes"]:
        rule("wrong-dtype", value.dtype.name in about["dtypes"], "{} of nisa.{} is {}", keyword, name, value.dtype)
    if where == "hbm":
        rule("hbm-levels", len(value.shape) <= facts.HBM_LEVELS, "{} of nisa.{} has {} levels of access, at most {} in HBM",
             keyword, name, len(value.shape), facts.HBM_LEVELS)
        return
    if isinstance(value, IndirectRows):
        return
    dims = free_dims(value)
    limit = facts.FREE_DIMS if is_dma else about["free"]
    rule("free-dims", dims <= limit, "{} of nisa.{} has {} free dimensions, at most {}", keyword, name, dims, limit)
    if is_dma:
        return
    if keyword.endswith("_scale"):
        return  # _scales
    count, start = value.shape[0], value.partition
    step = 128 if count > 64 else 64 if count > 32 else 32
    rule("partition-start", count <= facts.PARTITIONS and start % step == 0, "{} of nisa.{} has {} partitions from {}",
         keyword, name, count, start)


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _column(name, keyword, value, partitions, bitvec):
    if value is None:
        return
    if isinstance(value, Tensor):
        _operand(name, keyword, value, facts.operand("r"), False)
        rule("wrong-operand", value.shape == (partitions, 1), "{} of nisa.{} has shape {}", keyword, name, value.shape)
        return
    rule("wrong-operand", _is_number(value), "{} of nisa.{} is {!r}", keyword, name, value)
    if bitvec:
        rule("wrong-operand", isinstance(value, int), "{} of a bit operator is {!r}", keyword, value)
        rule("immediate", int(np.float32(value)) == value, "{} = {:#x} is not an fp32 number; take it from a tile", keyword, value)


def _operators(name, kwargs):
    for keyword, known in facts.ISA[name]["ops"].items():
        op = kwargs.get(keyword)
        if op is None:
            continue
        rule("wrong-operator", op in known, "{} = {} in nisa.{}", keyword, op, name)
        first = facts.OPERATOR_SINCE.get(op, "trn1")
        rule("wrong-machine", since(first), "nl.{} needs {}, this is {}", op, first, target())


def _tensor_scalar(kwargs, engine):
    op0, op1 = kwargs["op0"], kwargs.get("op1")
    classes = {op in facts.BITVEC for op in (op0, op1) if op is not None}
    rule("wrong-operator", len(classes) == 1, "a bit operator with an arithmetic one")
    bitvec = True in classes
    if bitvec:
        rule("wrong-engine", engine in ("unknown", "vector"), "bit operators on {}", engine)
        for keyword in ("dst", "data"):
            rule("wrong-dtype", not kwargs[keyword].dtype.is_float, "a bit operator on {} in {}", kwargs[keyword].dtype, keyword)
    for keyword, op in (("op0", op0), ("op1", op1)):
        if op in facts.TENSOR_SCALAR_ENGINES:
            legal = facts.TENSOR_SCALAR_ENGINES[op]
            rule("wrong-engine", engine in legal + ("unknown",), "nl.{} in tensor_scalar on {}, documented: {}", op, engine, legal)
        if op in facts.TENSOR_SCALAR_SINCE:
            first = facts.TENSOR_SCALAR_SINCE[op]
            rule("wrong-machine", since(first) and keyword == "op0", "nl.{} as {} of tensor_scalar on {}", op, keyword, target())
        operand = kwargs.get("operand0" if keyword == "op0" else "operand1")
        if op in facts.UNARY:
            rule("wrong-operand", operand is None or (_is_number(operand) and operand == 0), "nl.{} with operand {}", op, operand)
        elif not bitvec and isinstance(operand, Tensor):
            rule("wrong-dtype", operand.dtype.name == "float32", "an operand of {}", operand.dtype)
    if engine == "gpsimd":
        rule("wrong-engine", op0 == "rsqrt" and op1 is None, "tensor_scalar {} on GpSimd", op0)
    if engine == "scalar":
        legal = since("trn3") or (since("trn2") and (op0, op1) in facts.SCALAR_ENGINE_PAIRS)
        rule("wrong-engine", legal, "({}, {}) on the Scalar Engine of {}", op0, op1, target())
    return bitvec


def _registers(name, kwargs):
    """Calls that reduce into the Vector Engine's registers."""
    cmd = kwargs["reduce_cmd"].name if "reduce_cmd" in kwargs else None
    known = facts.REDUCE_CMDS[name]
    rule("wrong-operand", cmd is None or cmd in known, "reduce_cmd.{} in nisa.{}, documented: {}", cmd, name, known)
    rule("wrong-operand", kwargs.get("reduce_res") is None or cmd != "idle", "reduce_res of an idle nisa.{}", name)
    if name in facts.LOADED:
        given = kwargs.get(facts.LOADED[name]) is not None
        rule("wrong-operand", given == (cmd == "load_reduce"), "{} with reduce_cmd.{}", facts.LOADED[name], cmd)
        op0, operand = kwargs["op0"], kwargs["operand0" if "operand0" in kwargs else "imm0"]
        rule("wrong-operand", not kwargs.get("reverse0"), "reverse0 of nisa.{} is not supported", name)
        rule("wrong-engine", op0 not in facts.TENSOR_SCALAR_ENGINES, "nl.{} on the Vector Engine", op0)
        first = facts.TENSOR_SCALAR_SINCE.get(op0, "trn1")
        rule("wrong-machine", since(first), "nl.{} in nisa.{} on {}", op0, name, target())
        rule("wrong-operand", op0 not in facts.UNARY or operand is None or (_is_number(operand) and operand == 0),
             "nl.{} with operand {}", op0, operand)
        for keyword in facts.ISA[name]["column"]:
            value = kwargs.get(keyword)
            rule("wrong-dtype", not isinstance(value, Tensor) or value.dtype.name == "float32", "{} of {}", keyword, value)
    columns = ("bound0", "bound1", "reduce_res") if name == "range_select" else ("reduce_res",)
    partitions = kwargs["dst"].shape[0]
    for keyword in columns:
        value = kwargs.get(keyword)
        rule("wrong-operand", value is None or value.shape == (partitions, 1), "{} of nisa.{}: one value per partition",
             keyword, name)
    if name == "range_select":
        rule("wrong-operand", kwargs.get("on_false_value", facts.FP32_MIN) == facts.FP32_MIN, "on_false_value {}",
             kwargs.get("on_false_value"))


def _searches(name, kwargs):
    keyword, low, high = facts.SEARCHED[name]
    size = kwargs[keyword].size // kwargs[keyword].shape[0]
    rule("size", low <= size <= high, "{} of nisa.{} has {} elements per partition", keyword, name, size)
    for keyword in facts.EIGHT[name]:
        value = kwargs.get(keyword)
        rule("size", value is None or value.size == 8 * value.shape[0], "{} of nisa.{}: 8 per partition", keyword, name)


def _transfer(name, kwargs):
    dst, src, mode = kwargs["dst"], kwargs["src"], kwargs.get("dge_mode")
    mode = mode.name if mode is not None else "unknown"
    indirect = any(isinstance(t, IndirectRows) for t in (dst, src))
    dynamic = any(t.is_dynamic for t in (dst, src))
    rule("size", dst.size == src.size, "{} elements to {}", src.size, dst.size)
    rule("indirect-machine", not indirect or since("trn2"), "indirect addresses on {}", target())
    rule("wrong-dge", not indirect or mode in ("unknown", "swdge"), "an indirect copy with {}", mode)
    rule("wrong-dge", not dynamic or mode != "none", "an address from a register with static descriptors")
    if mode == "hwdge":
        rule("wrong-machine", since("trn2"), "hwdge on {}", target())
        rule("wrong-dtype", dst.dtype is src.dtype, "hwdge from {} to {}", src.dtype, dst.dtype)
    engine = kwargs.get("engine")
    rule("wrong-engine", engine is None or engine.name == "unknown" or mode == "hwdge", "engine of a DMA without hwdge")
    if name == "dma_transpose":
        shape = src.shape
        axes = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}.get(len(shape))
        rule("wrong-operand", axes is not None and kwargs.get("axes") in (None, axes), "axes {} of {}", kwargs.get("axes"), shape)
        rule("wrong-dge", mode in (("unknown", "swdge") if indirect else ("unknown", "hwdge")), "dma_transpose with {}", mode)
        if mode == "hwdge":
            rows = shape[0] == 16 if len(shape) == 2 else shape[0] in (1, 2, 4, 8, 16) and shape[0] * shape[-2] % 16 == 0
            rule("wrong-dge", rows and shape[-1] <= 128 and src.dtype.size == 2, "hwdge transpose of {} {}", shape, src.dtype)


def _array_tile(name, kwargs):
    """The part of the 128 x 128 array of a matmul: rows are fed by the partitions of the same numbers, columns write them."""
    position, size = kwargs.get("tile_position"), kwargs.get("tile_size")
    rule("array-tile", bool(position) == bool(size), "tile_position and tile_size go together")
    if not size:
        return
    sides = (64, 128) if target() == "trn1" else (32, 64, 128)
    whole_columns = name == "nc_matmul_mx" or (kwargs.get("perf_mode") is not None and kwargs["perf_mode"].name == "double_row")
    rule("array-tile", len(size) == 2 and all(s in sides for s in size), "tile_size {} on {}", size, target())
    rule("array-tile", not whole_columns or size[1] == 128, "tile_size {}: all columns are needed", size)
    rule("array-tile", all(p % s == 0 and 0 <= p < 128 for p, s in zip(position, size)), "tile_position {} of {}", position, size)
    stationary, moving, dst = (kwargs[k] for k in ("stationary", "moving", "dst"))
    rule("array-tile", stationary.shape[0] <= size[0] and dst.shape[0] <= size[1], "{} by {} in a part of {}",
         stationary.shape[0], dst.shape[0], size)
    rule("array-tile", stationary.partition == moving.partition == position[0] and dst.partition == position[1],
         "partitions {}, {} and {} at {}", stationary.partition, moving.partition, dst.partition, position)


def _scales(kwargs, data, scale):
    """Scales lie in the quadrant of their data, in its first four partitions or 4, 8, 12 further on."""
    data, scale = kwargs[data], kwargs[scale]
    count = data.shape[0]
    rule("mx-layout", count % 32 == 0 and count <= 128, "{} partitions", count)
    rule("mx-layout", scale.partition - data.partition in (0, 4, 8, 12), "scales at partition {}, data at {}", scale.partition,
         data.partition)
    rule("mx-layout", count - 28 <= scale.shape[0] <= count, "{} partitions of scales for {}", scale.shape[0], count)


def _same_view(a, b):
    if isinstance(a, IndirectRows) and isinstance(b, IndirectRows):
        return _same_view(a.tensor, b.tensor) and _same_view(a.index, b.index)
    return isinstance(a, Tensor) and isinstance(b, Tensor) and a.memory is b.memory and (a.offset, a.shape, a.strides) == (
        b.offset, b.shape, b.strides)


def _adding(kwargs):
    """dma_compute: at most 16 sources of dst's size, scales of 1; with an index two sources, of which one is dst."""
    dst, srcs, scales = kwargs["dst"], kwargs["srcs"], kwargs.get("scales")
    rule("wrong-operand", isinstance(srcs, list) and 1 <= len(srcs) <= facts.DMA_SOURCES, "{} sources", len(srcs))
    rule("wrong-operand", scales is None or all(s == 1.0 for s in scales), "scales {}", scales)
    for src in srcs:
        rule("size", src.size == dst.size, "{} elements to {}", src.size, dst.size)
    rule("register", not any(t.is_dynamic for t in [dst] + srcs), "an address of dma_compute from a register")
    if not any(isinstance(t, IndirectRows) for t in [dst] + srcs):
        return
    rule("indirect-machine", since("trn2"), "indirect addresses on {}", target())
    rule("wrong-operand", kwargs.get("unique_indices", True), "indices that are not unique")
    rule("wrong-operand", len(srcs) == 2 and _same_view(srcs[0], dst), "with an index the first of two sources is dst")
    listed, indexed = (srcs[1], dst) if isinstance(dst, IndirectRows) else (dst, srcs[1])
    rule("wrong-operand", isinstance(indexed, IndirectRows) and isinstance(listed, Tensor), "one side by index")
    rule("wrong-space", listed.buffer == "sbuf", "rows beside an index in {}", listed.buffer)


def _register(name, kwargs):
    for keyword in ("dst", "src"):
        value = kwargs.get(keyword)
        if keyword in facts.ISA[name]["operands"]:
            rule("wrong-operand", value.shape in ((1,), (1, 1)), "{} of nisa.{} has shape {}", keyword, name, value.shape)
            rule("wrong-dtype", value.dtype.name in ("int32", "uint32"), "{} of nisa.{} is {}", keyword, name, value.dtype)
        elif value is not None:
            number = keyword == "src" and name == "register_move" and type(value) is int
            rule("register", number or isinstance(value, VirtualRegister), "{} of nisa.{} is {!r}", keyword, name, value)


def check(name, kwargs):
    """One call with its keywords; raises RuleError on the first rule it breaks."""
    call = facts.ISA[name]
    rule("wrong-machine", since(call["since"]), "nisa.{} needs {}, this is {}", name, call["since"], target())
    engine = _engine(name, kwargs)
    is_dma = name.startswith("dma_")
    for keyword, about in call["operands"].items():
        value = kwargs.get(keyword)
        if value is None:
            continue
        if name == "tensor_copy_predicated" and keyword == "src" and _is_number(value):
            continue
        for v in value if isinstance(value, list) else [value]:
            _operand(name, keyword, v, about, is_dma)
    _operators(name, kwargs)
    bitvec = _tensor_scalar(kwargs, engine) if name == "tensor_scalar" else False
    first = next((kwargs[k] for k in ("data", "src", "data0", "on_true", "dst") if isinstance(kwargs.get(k), Tensor)), None)
    for keyword in call["column"]:
        if keyword in kwargs:
            _column(name, keyword, kwargs[keyword], first.shape[0], bitvec)
    for a, b in call["one_psum"]:
        both = all(isinstance(kwargs[k], Tensor) and kwargs[k].buffer == "psum" for k in (a, b))
        rule("two-psum", not both, "{} and {} of nisa.{} are both in PSUM", a, b, name)
    if call["same_dtype"]:
        dtypes = {kwargs[k].dtype.name for k in call["same_dtype"] if isinstance(kwargs[k], (Tensor, IndirectRows))}
        rule("wrong-dtype", len(dtypes) == 1, "{} of nisa.{} are {}", call["same_dtype"], name, sorted(dtypes))
    if engine == "gpsimd":
        for keyword in call["operands"]:
            if isinstance(kwargs.get(keyword), Tensor):
                rule("wrong-space", kwargs[keyword].buffer == "sbuf", "GpSimd with {} in PSUM", keyword)
    if name in facts.REDUCE_CMDS:
        _registers(name, kwargs)
    if name in facts.SEARCHED:
        _searches(name, kwargs)
    if name in ("dma_copy", "dma_transpose"):
        _transfer(name, kwargs)
    if name == "dma_compute":
        _adding(kwargs)
    if name == "nc_stream_shuffle":
        mask = kwargs["shuffle_mask"]
        rule("wrong-operand", isinstance(mask, list) and len(mask) == 32, "shuffle_mask {}", mask)
        rule("wrong-operand", all(isinstance(m, int) and (0 <= m < 32 or m == 255) for m in mask), "shuffle_mask {}", mask)
    if name.startswith("register_"):
        _register(name, kwargs)
    if name == "nc_transpose":
        dst, data = kwargs["dst"].dtype, kwargs["data"].dtype
        wide = data.size == 1 and dst.name == "uint16" and engine != "vector" and since("trn2")
        rule("wrong-dtype", dst is data or wide, "nc_transpose of {} into {}", data, dst)
    if name == "memset":
        kind = float if kwargs["dst"].dtype.is_float else int
        rule("memset-class", type(kwargs["value"]) is kind, "memset of {} with {!r}", kwargs["dst"].dtype, kwargs["value"])
    if name == "tensor_tensor" and kwargs["op"] == "power":
        rule("wrong-engine", engine in ("unknown", "gpsimd"), "nl.power of two tiles on {}", engine)
    if name == "tensor_copy" and engine == "scalar":
        rule("wrong-engine", since("trn2"), "tensor_copy on the Scalar Engine of trn1")
    if name == "activation" and _is_number(kwargs.get("bias")):
        rule("wrong-operand", since("trn2"), "a constant bias on trn1")
    if name == "nc_matmul":
        mode = kwargs.get("perf_mode")
        rule("wrong-machine", mode is None or mode.name == "none" or since("trn2"), "{} on {}", mode, target())
    if name in ("nc_matmul", "nc_matmul_mx"):
        _array_tile(name, kwargs)
    if name == "nc_matmul_mx":
        _scales(kwargs, "stationary", "stationary_scale")
        _scales(kwargs, "moving", "moving_scale")
    if name == "quantize_mx":
        _scales(kwargs, "src", "dst_scale")
    if name == "exponential":
        cmd = kwargs["reduce_cmd"].name if kwargs.get("reduce_cmd") is not None else "idle"
        rule("wrong-operator", cmd != "reset", "reduce_cmd.reset in nisa.exponential")
        rule("wrong-operand", cmd == "load_reduce" or not kwargs.get("reduce_init"), "reduce_init with {}", cmd)


def documented(function):
    name = function.__name__
    known = facts.ISA[name]

    @functools.wraps(function)
    def checked(*args, **kwargs):
        kwargs = _keywords(name, function, args, kwargs)
        CALLS[name] += 1
        check(name, kwargs)
        results = []
        for keyword, about in known["operands"].items():
            if kwargs.get(keyword) is not None:
                _mark(kwargs[keyword], about["role"])
                results += _tensors(kwargs[keyword]) if about["role"] in "wu" else []
        if name in facts.REDUCE_CMDS:  # what goes to the engine's registers is a result too
            _mark(kwargs["dst"], "u")
        RESULTS.add(frozenset(id(tensor.memory.usage) for tensor in results))
        for keyword in known["column"]:
            _mark(kwargs.get(keyword), "r")
        if not DRY or name.startswith("register_"):
            return function(**kwargs)

    return checked


def refuse_register(value, what):
    rule("register", not isinstance(value, VirtualRegister), "{} from a register; only scalar_offset takes one", what)
