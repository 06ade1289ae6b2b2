"""The documented calls of nki.isa and nki.language 0.6, as facts: what a call is named, which keywords it takes and which
of them it needs, where its operands may lie, on which engines and machines it runs, and how large they may be.

Read from the public documentation (aws-neuron-sdk, August 2026) and written down in this table's own terms; `_rules.py`
holds every emitted call against it. Calls that no emitted kernel uses yet are here because kernels will.

A call is call(required, optional, operands, ...) with the keywords

  required, optional   keyword names, separated by blanks; every nisa call also takes `name`
  operands             keyword -> operand(role, spaces, dtypes, free): how it is used ("r" read, "w" written, "u" both),
                       where it may lie, its dtypes if not all, and the most free dimensions if not 4
  column               operands that are a number or one value per partition, as a (P, 1) tile
  engines              legal values of `engine` beside unknown; the default where the call has no such keyword
  since                the first machine that has the call
  one_psum             pairs of inputs of which at most one may lie in PSUM
  same_dtype           operands that must have one dtype
  ops                  keyword -> operators it takes
"""

SBUF, PSUM, HBM = "sbuf", "psum", "hbm"
CHIP = (SBUF, PSUM)
MACHINES = ("trn1", "trn2", "trn3")

HBM_LEVELS = 4  # [step, count] pairs of a DMA access pattern on the HBM side
FREE_DIMS = 4  # of an engine access; most instructions with two tensor inputs have room for 3
PARTITIONS = 128
DMA_SOURCES = 16  # of one dma_compute

FLOATS = ("float32", "tfloat32", "bfloat16", "float16", "float8_e4m3", "float8_e4m3fn", "float8_e5m2")
INTEGERS = ("int32", "int16", "int8", "uint32", "uint16", "uint8")
NARROW = ("float32", "bfloat16", "float16", "float8_e4m3", "float8_e4m3fn", "float8_e5m2", "uint8", "uint16", "int8",
          "int16")
X4 = ("float8_e5m2_x4", "float8_e4m3fn_x4", "float4_e2m1fn_x4")
DTYPES = FLOATS + INTEGERS + X4 + ("float8_e8m0fnu", "bool_")

BITVEC = ("invert", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
COMPARISONS = ("equal", "not_equal", "greater_equal", "greater", "less_equal", "less")
BINARY = ("add", "subtract", "multiply", "maximum", "minimum", "power", "abs_max", "abs_min", "logical_and",
          "logical_or", "logical_xor") + COMPARISONS
UNARY = ("abs", "square", "relu", "rsqrt", "reciprocal")
ARITHMETIC = BINARY + UNARY
REDUCTIONS = ("add", "subtract", "multiply", "maximum", "minimum", "logical_and", "logical_or", "logical_xor",
              "bitwise_and", "bitwise_or", "bitwise_xor")
ACTIVATIONS = ("copy", "square", "sigmoid", "relu", "prelu", "gelu", "gelu_dx", "gelu_apprx_tanh", "gelu_apprx_sigmoid",
               "gelu_apprx_sigmoid_dx", "silu", "silu_dx", "tanh", "softplus", "mish", "erf", "erf_dx", "exp", "log",
               "sin", "arctan", "sqrt", "rsqrt", "reciprocal", "sign", "abs")

# Operators that not every machine or engine has: the first machine; for tensor_scalar the engines that compute it.
OPERATOR_SINCE = {"abs_max": "trn3", "abs_min": "trn3"}
TENSOR_SCALAR_ENGINES = {"rsqrt": ("gpsimd",)}  # else Vector; Scalar and GpSimd by the rules of the call
TENSOR_SCALAR_SINCE = {"square": "trn3", "relu": "trn3"}  # as op0 only
SCALAR_ENGINE_PAIRS = (("multiply", "add"), ("multiply", None), ("add", None))  # all that Scalar has before trn3

# What calls that use the Vector Engine's registers may do with them; all but the first two have no value to load.
REDUCE_CMDS = {
    "tensor_scalar_reduce": ("reset_reduce", "reduce", "load_reduce"),
    "tensor_scalar_cumulative": ("reset_reduce", "reduce", "load_reduce"),
    "select_reduce": ("idle", "reset_reduce", "reduce"),
    "range_select": ("idle", "reset", "reset_reduce", "reduce"),
}
LOADED = {"tensor_scalar_reduce": "reduce_init", "tensor_scalar_cumulative": "imm1"}  # what load_reduce begins with
FP32_MIN = -3.4028234663852886e38  # the one fill value of range_select

# Elements per partition: (fewest, most); operands with exactly 8.
SEARCHED = {"max8": ("src", 8, 16384), "nc_find_index8": ("data", 8, 16384), "nc_match_replace8": ("data", 1, 16384)}
EIGHT = {"max8": ("dst",), "nc_find_index8": ("dst", "vals"), "nc_match_replace8": ("vals", "dst_idx")}

ENUMS = {
    "engine": ("unknown", "tensor", "scalar", "gpsimd", "dma", "vector", "sync"),
    "reduce_cmd": ("idle", "reset", "reduce", "reset_reduce", "load_reduce"),
    "dge_mode": ("unknown", "swdge", "hwdge", "none"),
    "oob_mode": ("error", "skip"),
    "matmul_perf_mode": ("none", "double_row"),
    "dma_engine": ("dma", "gpsimd_dma"),
}


def operand(role, spaces=CHIP, dtypes=None, free=FREE_DIMS):
    return {"role": role, "spaces": spaces, "dtypes": dtypes, "free": free}


def call(required, optional="", operands=None, column="", engines=(), since="trn1", one_psum=(), same_dtype=(), ops=None):
    return {"required": tuple(required.split()), "optional": tuple(optional.split()) + ("name",),
            "operands": operands or {}, "column": tuple(column.split()), "engines": tuple(engines), "since": since,
            "one_psum": tuple(one_psum), "same_dtype": tuple(same_dtype), "ops": ops or {}}


_MOVED = (HBM, SBUF)  # what DMA reaches
_TWO = 3  # free dimensions of an instruction with two tensor inputs

ISA = {
    # Tensor Engine
    "nc_matmul": call(
        "dst stationary moving",
        "is_stationary_onezero is_moving_onezero is_transpose accumulate tile_position tile_size perf_mode",
        {"dst": operand("w", (PSUM,)), "stationary": operand("r", (SBUF,), FLOATS), "moving": operand("r", (SBUF,), FLOATS)},
        engines=("tensor",)),
    "nc_matmul_mx": call(
        "dst stationary moving stationary_scale moving_scale", "tile_position tile_size accumulate",
        {"dst": operand("w", (PSUM,), ("float32", "bfloat16")), "stationary": operand("r", (SBUF,), X4),
         "moving": operand("r", (SBUF,), X4), "stationary_scale": operand("r", (SBUF,), ("float8_e8m0fnu", "uint8")),
         "moving_scale": operand("r", (SBUF,), ("float8_e8m0fnu", "uint8"))},
        engines=("tensor",), since="trn3"),
    "nc_transpose": call(
        "dst data", "engine", {"dst": operand("w"), "data": operand("r")},
        engines=("tensor", "vector")),  # dst has data's dtype; from trn2 on Tensor makes 16-bit elements of 8-bit ones
    # Vector Engine, some of it shared with Scalar or GpSimd
    "tensor_tensor": call(
        "dst data1 data2 op", "engine",
        {"dst": operand("w", free=_TWO), "data1": operand("r", free=_TWO), "data2": operand("r", free=_TWO)},
        engines=("vector", "gpsimd"), one_psum=(("data1", "data2"),), ops={"op": BINARY + BITVEC}),
    "tensor_scalar": call(
        "dst data op0 operand0", "reverse0 op1 operand1 reverse1 engine", {"dst": operand("w"), "data": operand("r")},
        column="operand0 operand1", engines=("vector", "scalar", "gpsimd"),
        ops={"op0": ARITHMETIC + BITVEC, "op1": ARITHMETIC + BITVEC}),
    "scalar_tensor_tensor": call(
        "dst data op0 operand0 op1 operand1", "reverse0 reverse1",
        {"dst": operand("w", free=_TWO), "data": operand("r", free=_TWO), "operand1": operand("r", free=_TWO)},
        column="operand0", engines=("vector",), one_psum=(("data", "operand1"),),
        ops={"op0": ARITHMETIC, "op1": ARITHMETIC}),
    "tensor_reduce": call(
        "dst op data axis", "negate keepdims", {"dst": operand("w"), "data": operand("r")}, engines=("vector",),
        ops={"op": REDUCTIONS}),
    "tensor_tensor_scan": call(
        "dst data0 data1 initial op0 op1", "reverse0 reverse1",
        {"dst": operand("w", free=_TWO), "data0": operand("r", free=_TWO), "data1": operand("r", free=_TWO)},
        column="initial", engines=("vector",), one_psum=(("data0", "data1"),), ops={"op0": BINARY, "op1": BINARY}),
    "tensor_scalar_reduce": call(
        "dst data op0 operand0 reduce_op", "reduce_res reverse0 reduce_cmd reduce_init reduce_res_negate",
        {"dst": operand("w", free=_TWO), "data": operand("r", free=_TWO), "reduce_res": operand("w")},
        column="operand0 reduce_init", engines=("vector",), ops={"op0": ARITHMETIC, "reduce_op": ("add", "multiply", "maximum", "minimum")}),
    "tensor_scalar_cumulative": call(
        "dst src op0 op1 imm0", "imm1 reduce_cmd",
        {"dst": operand("w", dtypes=NARROW), "src": operand("r", dtypes=NARROW)}, column="imm0 imm1",
        engines=("vector",), ops={"op0": ARITHMETIC, "op1": ("add", "subtract", "multiply", "maximum", "minimum")}),
    "tensor_copy": call(
        "dst src", "engine", {"dst": operand("w"), "src": operand("r")}, engines=("vector", "scalar", "gpsimd")),
    "tensor_copy_predicated": call(
        "dst src predicate", "reverse_pred",
        {"dst": operand("u", free=_TWO), "src": operand("r", free=_TWO),
         "predicate": operand("r", dtypes=("uint8", "uint16", "uint32"), free=_TWO)},
        engines=("vector",), one_psum=(("src", "predicate"),), same_dtype=("dst", "src")),
    "select_reduce": call(
        "dst predicate on_true on_false", "reduce_res reduce_cmd reduce_op reverse_pred",
        {"dst": operand("w", free=_TWO), "predicate": operand("r", dtypes=("int8", "uint8", "int16", "uint16"), free=_TWO),
         "on_true": operand("r", dtypes=NARROW, free=_TWO),
         "reduce_res": operand("w", dtypes=FLOATS)},
        column="on_false", engines=("vector",), one_psum=(("on_true", "predicate"),), ops={"reduce_op": ("maximum",)}),
    "range_select": call(
        "dst on_true_tile comp_op0 comp_op1 bound0 bound1", "reduce_cmd reduce_res reduce_op range_start on_false_value",
        {"dst": operand("w"), "on_true_tile": operand("r", dtypes=FLOATS), "bound0": operand("r", dtypes=("float32",)),
         "bound1": operand("r", dtypes=("float32",)), "reduce_res": operand("w")},
        engines=("vector",), since="trn2",
        ops={"comp_op0": ("equal", "less", "less_equal", "greater", "greater_equal"),
             "comp_op1": ("equal", "less", "less_equal", "greater", "greater_equal"), "reduce_op": ("maximum",)}),
    "reciprocal": call("dst data", "", {"dst": operand("w"), "data": operand("r")}, engines=("vector",)),
    "exponential": call(
        "dst src", "max_value reduce_res reduce_cmd reduce_init",
        {"dst": operand("w", free=3), "src": operand("r", free=3), "reduce_res": operand("w", dtypes=FLOATS)},
        column="max_value reduce_init", engines=("vector",), since="trn3"),
    "memset": call("dst value", "engine", {"dst": operand("w")}, engines=("vector", "gpsimd")),
    "bn_stats": call("dst data", "", {"dst": operand("w"), "data": operand("r")}, engines=("vector",)),
    "bn_aggr": call("dst data", "", {"dst": operand("w"), "data": operand("r")}, engines=("vector",)),
    "max8": call("dst src", "", {"dst": operand("w", free=1), "src": operand("r", free=2)}, engines=("vector",)),
    "nc_find_index8": call(
        "dst data vals", "",
        {"dst": operand("w", dtypes=("uint16", "uint32"), free=1), "data": operand("r", free=2), "vals": operand("r", free=2)},
        engines=("vector",)),
    "nc_match_replace8": call(
        "dst data vals imm", "dst_idx",
        {"dst": operand("w"), "data": operand("r"), "vals": operand("r"),
         "dst_idx": operand("w", dtypes=("uint16", "uint32"))}, engines=("vector",)),
    "nc_stream_shuffle": call(
        "dst src shuffle_mask", "", {"dst": operand("u"), "src": operand("r")}, engines=("vector",),
        same_dtype=("dst", "src")),
    "quantize_mx": call(
        "dst src dst_scale", "",
        {"dst": operand("w", (SBUF,), ("float8_e5m2_x4", "float8_e4m3fn_x4")),
         "src": operand("r", (SBUF,), ("float16", "bfloat16")),
         "dst_scale": operand("w", (SBUF,), ("float8_e8m0fnu", "uint8"))}, engines=("vector",), since="trn3"),
    # Scalar Engine
    "activation": call(
        "dst op data", "bias scale reduce_op reduce_res reduce_cmd",
        {"dst": operand("w"), "data": operand("r"), "reduce_res": operand("w")}, column="bias scale", engines=("scalar",),
        ops={"op": ACTIVATIONS, "reduce_op": ("add",)}),
    "activation_reduce": call(
        "dst op data reduce_op reduce_res", "bias scale",
        {"dst": operand("w"), "data": operand("r"), "reduce_res": operand("w")}, column="bias scale", engines=("scalar",),
        ops={"op": ACTIVATIONS, "reduce_op": ("add",)}),
    # GpSimd
    "iota": call("dst pattern", "offset channel_multiplier", {"dst": operand("w", (SBUF,))}, engines=("gpsimd",)),
    "affine_select": call(
        "dst pattern channel_multiplier on_true_tile on_false_value", "cmp_op offset",
        {"dst": operand("w", (SBUF,)), "on_true_tile": operand("r", (SBUF,))}, engines=("gpsimd",),
        ops={"cmp_op": COMPARISONS}),
    "local_gather": call(
        "dst src_buffer index", "num_elem_per_idx num_valid_indices",
        {"dst": operand("w", (SBUF,)), "src_buffer": operand("r", (SBUF,)), "index": operand("r", (SBUF,), ("uint16",))},
        engines=("gpsimd",), same_dtype=("dst", "src_buffer")),
    "nc_n_gather": call(
        "dst data indices", "",
        {"dst": operand("w", (SBUF,)), "data": operand("r", (SBUF,)), "indices": operand("r", (SBUF,), ("uint32",))},
        engines=("gpsimd",), same_dtype=("dst", "data")),
    "tensor_partition_reduce": call(
        "dst op data", "", {"dst": operand("w", (SBUF,)), "data": operand("r", (SBUF,))}, engines=("gpsimd",),
        ops={"op": ("add", "average", "maximum", "bitwise_or", "bitwise_and")}),
    "nonzero_with_count": call(
        "dst src", "index_offset padding_val",
        {"dst": operand("u", (SBUF,), ("int32",)), "src": operand("r", (SBUF,), ("float32", "int32"))},
        engines=("gpsimd",), since="trn2"),  # one partition of each core: the rest of dst stays
    # DMA; `engine` names who issues hardware descriptors
    "dma_copy": call(
        "dst src", "priority oob_mode dge_mode engine",
        {"dst": operand("w", _MOVED), "src": operand("r", _MOVED)}, engines=("sync", "scalar")),
    "dma_transpose": call(
        "dst src", "axes priority dge_mode oob_mode",
        {"dst": operand("w", (SBUF,)), "src": operand("r", _MOVED)}, same_dtype=("dst", "src")),
    "dma_compute": call(
        "dst srcs reduce_op", "scales unique_indices oob_mode",
        {"dst": operand("w", _MOVED), "srcs": operand("r", _MOVED)}, ops={"reduce_op": ("add",)}),
    # Registers of 32 bits
    "register_alloc": call("", "x"),
    "register_move": call("dst src"),
    "register_load": call("dst src", "", {"src": operand("r", _MOVED)}),
    "register_store": call("dst src", "", {"dst": operand("w", _MOVED)}),
}

LANGUAGE = {
    "ndarray": call("shape dtype", "buffer address"),
    "ds": call("start size"),
    "fori_loop": call("lower upper body_fun", "step"),
    "while_loop": call("init body_fun"),
}
POSITIONAL = ("ndarray", "ds", "fori_loop", "while_loop", "register_alloc", "register_move", "register_load",
              "register_store")  # calls whose arguments the documentation writes by position

# Methods of a tensor.
METHODS = {
    "ap": call("pattern", "offset scalar_offset vector_offset indirect_dim dtype"),
    "view": call("dtype"),
    "reshape": call("shape"),
}
