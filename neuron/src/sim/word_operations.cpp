// Tensor operations on 32-bit words, in both storages alike.
//
// Bit operations act on the raw bits of integer elements, all of one width. GpSimd's integer arithmetic is exact modulo
// 2^32: it is chosen when every operand, dst included, is an integer; order is signed unless all inputs are unsigned. A
// result for a dst narrower than 32 bits saturates, like every other conversion between integers.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/alu.hpp"
#include "sim/engines.hpp"

namespace trn::neuron::sim {

namespace {

using Word = std::uint32_t;

bool is_unsigned(DType d) { return d == DType::UInt32 || d == DType::UInt16 || d == DType::UInt8; }

bool has_integer_form(AluOp op) {
  return op != AluOp::Power && op != AluOp::Rsqrt && op != AluOp::Reciprocal && op != AluOp::Average;
}

// What the words of one instruction mean.
struct WordMode {
  bool bits;
  Signedness signedness;
  int width_bits;
  Extend extend() const { return bits ? Extend::Bits : Extend::Value; }
};

// The inputs are the operands after dst; bit operations have all operands of one width.
WordMode mode_of(const Execution& e, AluOp op) {
  WordMode mode{is_bitvec(op), Signedness::Unsigned, static_cast<int>(8 * size_bytes(e.instruction.dst().dtype))};
  for (std::size_t slot = 1; slot < e.instruction.operands.size(); ++slot) {
    if (e.has(slot) && !is_unsigned(e.access(slot).dtype)) mode.signedness = Signedness::Signed;
  }
  if (!mode.bits) mode.width_bits = 32;
  return mode;
}

// Arithmetic results that a narrower dst cannot hold saturate; bit operations keep the low bits.
void finish(const Operand& dst, std::int64_t begin, std::int64_t n, Word* words, const WordMode& mode) {
  if (!mode.bits && dst.element_bytes < 4) {
    const int bits = static_cast<int>(8 * dst.element_bytes);
    const std::int64_t low = is_unsigned(dst.dtype) ? 0 : -(std::int64_t{1} << (bits - 1));
    const std::int64_t high =
        is_unsigned(dst.dtype) ? (std::int64_t{1} << bits) - 1 : (std::int64_t{1} << (bits - 1)) - 1;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t v =
          mode.signedness == Signedness::Signed ? static_cast<std::int32_t>(words[i]) : std::int64_t{words[i]};
      words[i] = static_cast<Word>(std::clamp(v, low, high));
    }
  }
  store_words(dst, begin, n, words);
}

// A [P, 1] operand or an immediate as words.
std::vector<Word> word_column(const Execution& e, std::size_t slot, double immediate, std::int64_t partitions,
                              Extend extend) {
  std::vector<Word> words(static_cast<std::size_t>(partitions));
  if (e.has(slot)) {
    load_words(e.read(slot), 0, partitions, extend, words.data());
  } else {
    std::fill(words.begin(), words.end(), static_cast<Word>(static_cast<std::int64_t>(immediate)));
  }
  return words;
}

}  // namespace

bool immediates_are_words(const Execution& e, const isa::TensorScalar& a) {
  using I = isa::TensorScalar;
  const auto word = [](double v) { return v == std::trunc(v) && v >= -2147483648.0 && v <= 4294967295.0; };
  return (e.has(I::operand0) || is_unary(a.op0) || word(a.operand0_value)) &&
         (e.has(I::operand1) || a.op1 == AluOp::None || is_unary(a.op1) || word(a.operand1_value));
}

bool computes_on_words(const Execution& e, AluOp op0, AluOp op1, bool immediates) {
  const bool integers = std::all_of(e.instruction.operands.begin(), e.instruction.operands.end(),
                                    [](const tile::Access& o) { return !o.present() || is_integer(o.dtype); });
  if (is_bitvec(op0)) {
    if (!integers || !immediates) {
      fail<NotImplemented>("{}: {} acts on the bits of integers; use view() on the tiles and whole numbers", e.where(),
                           name(op0));
    }
    return true;
  }
  const bool forms = has_integer_form(op0) && has_integer_form(op1) && !is_bitvec(op1);
  return e.engine() == tile::Engine::GpSimd && integers && forms && immediates;
}

void execute_words(const Execution& e, const isa::TensorTensor& a) {
  using I = isa::TensorTensor;
  const Operand data1 = e.read(I::data1), data2 = e.read(I::data2), dst = e.write(I::dst);
  const WordMode mode = mode_of(e, a.op);
  for_each_row<Word>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Word>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    Word *x = buffers.get(0, n), *y = buffers.get(1, n);
    load_words(data1, begin, n, mode.extend(), x);
    load_words(data2, begin, n, mode.extend(), y);
    combine_words(a.op, mode.signedness, mode.width_bits, {x}, {y}, x, n);
    finish(dst, begin, n, x, mode);
  });
}

void execute_words(const Execution& e, const isa::TensorScalar& a) {
  using I = isa::TensorScalar;
  const Operand data = e.read(I::data);
  const WordMode mode = mode_of(e, a.op0);
  const std::vector<Word> operand0 = word_column(e, I::operand0, a.operand0_value, data.rows, mode.extend());
  const std::vector<Word> operand1 = word_column(e, I::operand1, a.operand1_value, data.rows, mode.extend());
  const Operand dst = e.write(I::dst);
  for_each_row<Word>(dst.rows, dst.row, [&](std::int64_t p, RowBuffers<Word>& buffers) {
    const std::int64_t n = dst.row, begin = p * n;
    Word* x = buffers.get(0, n);
    load_words(data, begin, n, mode.extend(), x);
    const auto apply = [&](AluOp op, bool reverse, Word operand) {
      const Term<Word> row{x}, value{nullptr, operand};
      combine_words(op, mode.signedness, mode.width_bits, reverse ? value : row, reverse ? row : value, x, n);
    };
    apply(a.op0, a.reverse0, operand0[static_cast<std::size_t>(p)]);
    if (a.op1 != AluOp::None) apply(a.op1, a.reverse1, operand1[static_cast<std::size_t>(p)]);
    finish(dst, begin, n, x, mode);
  });
}

void execute_words(const Execution& e, const isa::TensorReduce& a) {
  const Operand data = e.read(isa::TensorReduce::data), dst = e.write(isa::TensorReduce::dst);
  const WordMode mode = mode_of(e, a.op);
  const std::int64_t group = data.row / dst.row;
  for_each_row<Word>(dst.rows, data.row, [&](std::int64_t p, RowBuffers<Word>& buffers) {
    Word *x = buffers.get(0, data.row), *out = buffers.get(1, dst.row);
    load_words(data, p * data.row, data.row, mode.extend(), x);
    for (std::int64_t g = 0; g < dst.row; ++g) {
      out[g] = x[g * group];
      for (std::int64_t i = 1; i < group; ++i) {
        combine_words(a.op, mode.signedness, mode.width_bits, {nullptr, out[g]}, {nullptr, x[g * group + i]}, out + g,
                      1);
      }
    }
    finish(dst, p * dst.row, dst.row, out, mode);
  });
}

void execute_words(const Execution& e, const isa::TensorPartitionReduce& a) {
  using I = isa::TensorPartitionReduce;
  const Operand data = e.read(I::data), dst = e.write(I::dst);
  const WordMode mode = mode_of(e, a.op);
  const std::int64_t n = data.row;
  std::vector<Word> sum(static_cast<std::size_t>(n)), row(static_cast<std::size_t>(n));
  load_words(data, 0, n, mode.extend(), sum.data());
  for (std::int64_t p = 1; p < data.rows; ++p) {
    load_words(data, p * n, n, mode.extend(), row.data());
    combine_words(a.op, mode.signedness, mode.width_bits, {sum.data()}, {row.data()}, sum.data(), n);
  }
  finish(dst, 0, n, sum.data(), mode);
}

}  // namespace trn::neuron::sim
