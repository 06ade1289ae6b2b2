// Rules about element types (illegal-dtype): what each engine computes with, which operands must match, and which
// values an integer destination can hold.
#include <cmath>
#include <initializer_list>

#include "verify_rules.hpp"

namespace trn::tile::rules {

namespace {

constexpr std::string_view kDType = "illegal-dtype";

bool four_byte_float(DType d) { return d == DType::Float32 || d == DType::TFloat32; }

// Whether an integer type of this width holds the number; bit operations take either sign.
bool fits(double value, DType dtype, bool either_sign) {
  const bool is_signed = dtype == DType::Int32 || dtype == DType::Int16 || dtype == DType::Int8;
  const int bits = static_cast<int>(8 * size_bytes(dtype));
  const double low = is_signed || either_sign ? -std::ldexp(1.0, bits - 1) : 0.0;
  const double end = is_signed && !either_sign ? std::ldexp(1.0, bits - 1) : std::ldexp(1.0, bits);
  return std::trunc(value) == value && value >= low && value < end;
}

void check_everywhere(const Context& c) {
  for (std::size_t slot = 0; slot < c.instruction.operands.size(); ++slot) {
    const Access& a = c.operand(slot);
    if (!a.present()) continue;
    if (a.dtype == DType::Float64) {
      c.report(kDType, c.operand_name(slot),
               "float64, which neither the engines nor DMA have; split the values into float32 parts on the host");
    }
    if (is_complex(a.dtype)) {
      c.report(kDType, c.operand_name(slot),
               "{}, which neither the engines nor DMA have; view the parts as {} with twice the stride", name(a.dtype),
               name(real_of(a.dtype)));
    }
    if (is_int64(a.dtype)) {
      c.report(kDType, c.operand_name(slot),
               "{}, which neither the engines nor DMA have; view the words as uint32 with twice the stride",
               name(a.dtype));
    }
    if (a.dtype == DType::Float8E4M3FN && a.is_tile() && !c.machine.float8_e4m3fn) {
      c.report(kDType, c.operand_name(slot), "{} has no float8_e4m3fn; use float8_e4m3", c.machine.name);
    }
  }
}

void expect_same(const Context& c, std::size_t a, std::size_t b) {
  const DType x = c.operand(a).dtype, y = c.operand(b).dtype;
  if (x == y) return;
  c.report(kDType, c.operand_name(a), "{} but {} is {}; they must be equal: use a tile of that dtype or view()",
           name(x), c.operand_name(b), name(y));
}

// The Tensor Engine's pass-through keeps the dtype, but an 8-bit element fills 16 bits of PSUM, the upper ones zero.
void expect_transposed(const Context& c, std::size_t dst, std::size_t data) {
  if (!is_fp8(c.operand(data).dtype)) return expect_same(c, dst, data);
  if (c.operand(dst).dtype == DType::UInt16) return;
  c.report(kDType, c.operand_name(dst),
           "{}; {} transposes {} into 16-bit elements whose upper byte is zero: use a uint16 tile and view() every "
           "second byte",
           name(c.operand(dst).dtype), c.machine.name, name(c.operand(data).dtype));
}

void check_dtype(const Context& c, const isa::NcMatmul& a) {
  using I = isa::NcMatmul;
  const DType dst = c.operand(I::dst).dtype, stationary = c.operand(I::stationary).dtype,
              moving = c.operand(I::moving).dtype;
  for (const I::Slot slot : {I::stationary, I::moving}) {
    const DType d = c.operand(slot).dtype;
    if (!is_float(d)) c.report(kDType, c.operand_name(slot), "{}; matmul operands are floating point", name(d));
    if (a.perf_mode == MatmulMode::DoubleRow && !is_fp8(d)) {
      c.report(kDType, c.operand_name(slot), "{}; double_row takes 8-bit floats only", name(d));
    }
  }
  if (four_byte_float(stationary) != four_byte_float(moving)) {
    c.report(kDType, "stationary and moving", "{} and {}; a 4-byte operand needs a 4-byte partner: convert one of them",
             name(stationary), name(moving));
  }
  const bool mixed = (stationary == DType::Float8E4M3 && moving == DType::Float8E4M3FN) ||
                     (stationary == DType::Float8E4M3FN && moving == DType::Float8E4M3);
  if (mixed) c.report(kDType, "stationary and moving", "float8_e4m3 and float8_e4m3fn cannot be mixed; convert one");
  if (a.is_transpose) {
    expect_transposed(c, I::dst, I::stationary);
    expect_same(c, I::stationary, I::moving);
    return;
  }
  const bool bf16 = c.machine.matmul_spans_banks && dst == DType::BFloat16;
  if (dst != DType::Float32 && !bf16) {
    c.report(kDType, "dst", "{}; a matmul of {} writes float32{}: convert when copying out of PSUM", name(dst),
             c.machine.name, c.machine.matmul_spans_banks ? " or bfloat16" : "");
  }
}

// What holds the elements of a microscaling tile, and its scales.
void expect_packed(const Context& c, std::size_t slot, MxFormat format) {
  const DType wanted = format == MxFormat::Float4E2M1FN ? DType::UInt16 : DType::UInt32;
  if (c.operand(slot).dtype == wanted) return;
  c.report(kDType, c.operand_name(slot), "{}; four values of {} are one {}: use a tile of that dtype or view()",
           name(c.operand(slot).dtype), name(format), name(wanted));
}
void expect_scale(const Context& c, std::size_t slot) {
  if (c.operand(slot).dtype == DType::UInt8) return;
  c.report(kDType, c.operand_name(slot), "{}; scales are uint8, the exponent plus 127", name(c.operand(slot).dtype));
}
void check_dtype(const Context& c, const isa::NcMatmulMx& a) {
  using I = isa::NcMatmulMx;
  expect_packed(c, I::stationary, a.stationary_format);
  expect_packed(c, I::moving, a.moving_format);
  expect_scale(c, I::stationary_scale);
  expect_scale(c, I::moving_scale);
  const DType dst = c.operand(I::dst).dtype;
  if (dst == DType::Float32 || dst == DType::BFloat16) return;
  c.report(kDType, "dst", "{}; nc_matmul_mx writes float32 or bfloat16: convert when copying out of PSUM", name(dst));
}
void check_dtype(const Context& c, const isa::QuantizeMx& a) {
  using I = isa::QuantizeMx;
  expect_packed(c, I::dst, a.format);
  expect_scale(c, I::dst_scale);
  const DType src = c.operand(I::src).dtype;
  if (src == DType::Float16 || src == DType::BFloat16) return;
  c.report(kDType, "src", "{}; quantize_mx takes float16 or bfloat16: convert with tensor_copy", name(src));
}

// A [P, 1] operand, or the number in its place: float32 for arithmetic, the integers of the data for bit operations.
void check_scalar_operand(const Context& c, std::size_t slot, AluOp op, double immediate, DType data) {
  const Access& a = c.operand(slot);
  if (op == AluOp::None || is_unary(op)) return;
  if (!a.present()) {
    if (is_bitvec(op) && !fits(immediate, data, true)) {
      c.report(kDType, c.operand_name(slot), "{} is not a {} value, and {} acts on bits", immediate, name(data),
               name(op));
    }
    return;
  }
  if (is_bitvec(op)) {
    if (!is_integer(a.dtype) || size_bytes(a.dtype) != size_bytes(data)) {
      c.report(kDType, c.operand_name(slot), "{}; {} needs integers as wide as the data's {}", name(a.dtype), name(op),
               name(data));
    }
  } else if (a.dtype != DType::Float32) {
    c.report(kDType, c.operand_name(slot), "{}; per-partition operands are float32: convert with tensor_copy",
             name(a.dtype));
  }
}

// Bit operations act on integers, all of one width.
void check_bits(const Context& c, AluOp op, std::initializer_list<std::size_t> slots) {
  if (!is_bitvec(op)) return;
  const DType dst = c.instruction.dst().dtype;
  for (const std::size_t slot : slots) {
    const DType d = c.operand(slot).dtype;
    if (!is_integer(d) || size_bytes(d) != size_bytes(dst)) {
      c.report(kDType, c.operand_name(slot), "{} with dst {}; {} needs integers of one width: use view()", name(d),
               name(dst), name(op));
    }
  }
}

void expect_float32_if_present(const Context& c, std::size_t slot) {
  const Access& a = c.operand(slot);
  if (!a.present() || a.dtype == DType::Float32) return;
  c.report(kDType, c.operand_name(slot), "{}; per-partition operands are float32: convert with tensor_copy",
           name(a.dtype));
}

void check_dtype(const Context& c, const isa::Activation&) {
  using I = isa::Activation;
  const Access& bias = c.operand(I::bias);
  if (bias.present() && (!is_float(bias.dtype) || bias.dtype == DType::TFloat32)) {
    c.report(kDType, "bias", "{}; a bias is any float but tfloat32", name(bias.dtype));
  }
  expect_float32_if_present(c, I::scale);
}

// The documented lists lack float8_e4m3fn, tfloat32 as an input and uint32 as an output.
void check_dtype(const Context& c, const isa::Exponential&) {
  using I = isa::Exponential;
  const auto refuse = [&](I::Slot slot, bool wrong) {
    if (wrong) c.report(kDType, c.operand_name(slot), "{}; exponential does not take it", name(c.operand(slot).dtype));
  };
  const DType dst = c.operand(I::dst).dtype, src = c.operand(I::src).dtype;
  refuse(I::dst, dst == DType::Float8E4M3FN || dst == DType::UInt32);
  refuse(I::src, src == DType::Float8E4M3FN || src == DType::TFloat32);
  expect_float32_if_present(c, I::max_value);
  expect_float32_if_present(c, I::reduce_init);
  const Access& sums = c.operand(I::reduce_res);
  refuse(I::reduce_res, sums.present() && (!is_float(sums.dtype) || sums.dtype == DType::Float8E4M3FN));
}
void check_dtype(const Context& c, const isa::DmaTranspose&) {
  expect_same(c, isa::DmaTranspose::dst, isa::DmaTranspose::src);
}
void check_dtype(const Context& c, const isa::DmaCopy& a) {
  using I = isa::DmaCopy;
  if (a.route.dge == DgeMode::Hardware) expect_same(c, I::dst, I::src);
  if (!c.operand(I::index).present()) return;
  const DType index = c.operand(I::index).dtype;
  if (index == DType::UInt32 || index == DType::Int32) return;
  c.report(kDType, "index", "{}; row indices are uint32 or int32", name(index));
}
void check_dtype(const Context& c, const isa::NcTranspose&) {
  using I = isa::NcTranspose;
  const Engine engine = c.instruction.engine;
  const bool on_tensor = engine == Engine::Tensor ||
                         (engine == Engine::Any && c.in_psum(c.operand(I::dst)) && c.in_sbuf(c.operand(I::data)));
  if (on_tensor && c.machine.pass_through_transpose) return expect_transposed(c, I::dst, I::data);
  expect_same(c, I::dst, I::data);
}

void check_dtype(const Context& c, const isa::TensorTensor& a) {
  using I = isa::TensorTensor;
  check_bits(c, a.op, {I::dst, I::data1, I::data2});
}
void check_dtype(const Context& c, const isa::TensorReduce& a) {
  check_bits(c, a.op, {isa::TensorReduce::dst, isa::TensorReduce::data});
}
void check_dtype(const Context& c, const isa::TensorPartitionReduce& a) {
  check_bits(c, a.op, {isa::TensorPartitionReduce::dst, isa::TensorPartitionReduce::data});
}
void check_dtype(const Context& c, const isa::TensorScalar& a) {
  using I = isa::TensorScalar;
  const DType data = c.operand(I::data).dtype;
  check_bits(c, is_bitvec(a.op0) ? a.op0 : a.op1, {I::dst, I::data});
  check_scalar_operand(c, I::operand0, a.op0, a.operand0_value, data);
  check_scalar_operand(c, I::operand1, a.op1, a.operand1_value, data);
  if (a.op1 != AluOp::None && is_bitvec(a.op0) != is_bitvec(a.op1)) {
    c.report(kDType, "op1", "{} and {}; both operators act on bits or both on numbers: use two instructions",
             name(a.op0), name(a.op1));
  }
}
void check_dtype(const Context& c, const isa::ScalarTensorTensor&) {
  expect_float32_if_present(c, isa::ScalarTensorTensor::operand0);
}
void check_dtype(const Context& c, const isa::TensorTensorScan&) {
  expect_float32_if_present(c, isa::TensorTensorScan::initial);
}
void check_dtype(const Context& c, const isa::TensorCopyPredicated& a) {
  using I = isa::TensorCopyPredicated;
  const DType dst = c.operand(I::dst).dtype;
  if (c.operand(I::src).present()) {
    expect_same(c, I::src, I::dst);
  } else if (is_integer(dst) && !fits(a.src_value, dst, false)) {
    c.report(kDType, "src", "{} is not a {} value; choose one that dst holds", a.src_value, name(dst));
  }
  const DType d = c.operand(I::predicate).dtype;
  if (d == DType::UInt8 || d == DType::UInt16 || d == DType::UInt32) return;
  c.report(kDType, "predicate", "{}; predicates are uint8, uint16 or uint32", name(d));
}
void check_dtype(const Context& c, const isa::Memset& a) {
  const DType d = c.instruction.dst().dtype;
  if (!is_integer(d) || fits(a.value, d, false)) return;
  c.report(kDType, "value", "{} is not a {} value; memset does not convert", a.value, name(d));
}
void check_dtype(const Context& c, const isa::LocalGather&) {
  using I = isa::LocalGather;
  expect_same(c, I::dst, I::src_buffer);
  if (c.operand(I::index).dtype == DType::UInt16) return;
  c.report(kDType, "index", "{}; local_gather indices are uint16", name(c.operand(I::index).dtype));
}

// Places are unsigned.
void expect_places(const Context& c, std::size_t slot) {
  const Access& a = c.operand(slot);
  if (!a.present() || a.dtype == DType::UInt16 || a.dtype == DType::UInt32) return;
  c.report(kDType, c.operand_name(slot), "{}; places are uint16 or uint32", name(a.dtype));
}
// Neither 32-bit integers nor tfloat32.
void expect_narrow(const Context& c, std::size_t slot) {
  const DType d = c.operand(slot).dtype;
  if (d != DType::Int32 && d != DType::UInt32 && d != DType::TFloat32) return;
  c.report(kDType, c.operand_name(slot), "{}, which {} does not have; convert with tensor_copy", name(d),
           opcode_info(c.instruction.opcode()).name);
}
void expect_float_if_present(const Context& c, std::size_t slot) {
  const Access& a = c.operand(slot);
  if (!a.present() || is_float(a.dtype)) return;
  c.report(kDType, c.operand_name(slot), "{}; use a floating-point tile", name(a.dtype));
}

void check_dtype(const Context& c, const isa::TensorScalarReduce&) {
  using I = isa::TensorScalarReduce;
  expect_float32_if_present(c, I::operand0);
  expect_float32_if_present(c, I::reduce_init);
}
void check_dtype(const Context& c, const isa::TensorScalarCumulative&) {
  using I = isa::TensorScalarCumulative;
  for (const I::Slot slot : {I::dst, I::src}) expect_narrow(c, slot);
  expect_float32_if_present(c, I::imm0);
  expect_float32_if_present(c, I::imm1);
}
void check_dtype(const Context& c, const isa::SelectReduce&) {
  using I = isa::SelectReduce;
  expect_narrow(c, I::on_true);
  expect_float_if_present(c, I::reduce_res);
  const DType d = c.operand(I::predicate).dtype;
  if (is_integer(d) && size_bytes(d) <= 2) return;
  c.report(kDType, "predicate", "{}; predicates are int8, uint8, int16 or uint16", name(d));
}
void check_dtype(const Context& c, const isa::RangeSelect&) {
  using I = isa::RangeSelect;
  expect_float_if_present(c, I::on_true_tile);
  expect_float32_if_present(c, I::bound0);
  expect_float32_if_present(c, I::bound1);
}
void check_dtype(const Context& c, const isa::NcFindIndex8&) { expect_places(c, isa::NcFindIndex8::dst); }
void check_dtype(const Context& c, const isa::NcMatchReplace8&) { expect_places(c, isa::NcMatchReplace8::dst_idx); }
void check_dtype(const Context& c, const isa::NonzeroWithCount& a) {
  using I = isa::NonzeroWithCount;
  const DType dst = c.operand(I::dst).dtype, src = c.operand(I::src).dtype;
  if (dst != DType::Int32) c.report(kDType, "dst", "{}; places and their count are int32", name(dst));
  if (src != DType::Float32 && src != DType::Int32) c.report(kDType, "src", "{}; use float32 or int32", name(src));
  if (!fits(static_cast<double>(a.padding_val), DType::Int32, false)) {
    c.report(kDType, "padding_val", "{} is not an int32 value", a.padding_val);
  }
}

void expect_word(const Context& c, std::size_t slot, std::string_view what) {
  const Access& a = c.operand(slot);
  if (!a.present() || a.dtype == DType::UInt32 || a.dtype == DType::Int32) return;
  c.report(kDType, c.operand_name(slot), "{}; {} are uint32 or int32", name(a.dtype), what);
}
void check_dtype(const Context& c, const isa::DmaCompute&) { expect_word(c, isa::DmaCompute::index, "row indices"); }
void check_dtype(const Context& c, const isa::NcNGather&) {
  using I = isa::NcNGather;
  expect_same(c, I::dst, I::data);
  if (c.operand(I::indices).dtype == DType::UInt32) return;
  c.report(kDType, "indices", "{}; nc_n_gather indices are uint32", name(c.operand(I::indices).dtype));
}
void check_dtype(const Context& c, const isa::NcStreamShuffle&) {
  expect_same(c, isa::NcStreamShuffle::dst, isa::NcStreamShuffle::src);
}
template <isa::OneOf<isa::RegisterMove, isa::RegisterLoad, isa::RegisterStore> I>
void check_dtype(const Context& c, const I&) {
  expect_word(c, I::dst, "registers and what they exchange");
  expect_word(c, I::src, "registers and what they exchange");
}
// Every dtype, in any combination.
template <
    isa::OneOf<isa::BnStats, isa::BnAggr, isa::AffineSelect, isa::TensorCopy, isa::Reciprocal, isa::Max8, isa::Iota> I>
void check_dtype(const Context&, const I&) {}

}  // namespace

void check_dtypes(const Context& c) {
  check_everywhere(c);
  c.instruction.visit([&](const auto& attributes) { check_dtype(c, attributes); });
}

}  // namespace trn::tile::rules
