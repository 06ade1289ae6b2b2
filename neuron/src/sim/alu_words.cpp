// Operators on rows of 32-bit words: bit operations of the Vector Engine and integer arithmetic of GpSimd.
#include <bit>
#include <trn/core/error.hpp>

#include "sim/alu.hpp"

namespace trn::neuron::sim {

namespace {

using tile::AluOp;
using Word = std::uint32_t;

// Int is the signed or unsigned reading of a word.
template <class Int> Word magnitude(Int v) {
  if constexpr (Int(-1) < Int(0)) return v < 0 ? Word(0) - static_cast<Word>(v) : static_cast<Word>(v);
  return static_cast<Word>(v);
}

// Operators that depend on the order of the numbers.
template <class Int> void ordered(AluOp op, const Term<Word>& a, const Term<Word>& b, Word* out, std::int64_t n) {
  const auto compare = [&](auto holds) {
    map_terms(a, b, out, n,
              [&](Word x, Word y) { return static_cast<Word>(holds(static_cast<Int>(x), static_cast<Int>(y))); });
  };
  const auto choose = [&](auto first) {
    map_terms(a, b, out, n, [&](Word x, Word y) { return first(static_cast<Int>(x), static_cast<Int>(y)) ? x : y; });
  };
  switch (op) {
    case AluOp::Maximum:
      return choose([](Int x, Int y) { return x > y; });
    case AluOp::Minimum:
      return choose([](Int x, Int y) { return x < y; });
    case AluOp::AbsMax:
      return choose([](Int x, Int y) { return magnitude(x) > magnitude(y); });
    case AluOp::AbsMin:
      return choose([](Int x, Int y) { return magnitude(x) < magnitude(y); });
    case AluOp::GreaterEqual:
      return compare([](Int x, Int y) { return x >= y; });
    case AluOp::Greater:
      return compare([](Int x, Int y) { return x > y; });
    case AluOp::LessEqual:
      return compare([](Int x, Int y) { return x <= y; });
    case AluOp::Less:
      return compare([](Int x, Int y) { return x < y; });
    case AluOp::Abs:
      return map_terms(a, b, out, n, [](Word x, Word) { return magnitude(static_cast<Int>(x)); });
    case AluOp::Relu:
      return map_terms(a, b, out, n, [](Word x, Word) { return static_cast<Int>(x) > 0 ? x : Word(0); });
    default:
      fail<NotImplemented>("simulator: operator {} does not compute on integers", name(op));
  }
}

}  // namespace

void combine_words(AluOp op, Signedness signedness, int width_bits, const Term<Word>& a, const Term<Word>& b, Word* out,
                   std::int64_t n) {
  const auto width = static_cast<Word>(width_bits);
  const Word mask = width_bits < 32 ? (Word(1) << width) - 1 : ~Word(0);
  switch (op) {
    case AluOp::Add:
      return map_terms(a, b, out, n, [](Word x, Word y) { return x + y; });
    case AluOp::Subtract:
      return map_terms(a, b, out, n, [](Word x, Word y) { return x - y; });
    case AluOp::Multiply:
      return map_terms(a, b, out, n, [](Word x, Word y) { return x * y; });
    case AluOp::Square:
      return map_terms(a, b, out, n, [](Word x, Word) { return x * x; });
    case AluOp::Equal:
      return map_terms(a, b, out, n, [](Word x, Word y) { return Word(x == y); });
    case AluOp::NotEqual:
      return map_terms(a, b, out, n, [](Word x, Word y) { return Word(x != y); });
    case AluOp::LogicalAnd:
      return map_terms(a, b, out, n, [](Word x, Word y) { return Word((x != 0) & (y != 0)); });
    case AluOp::LogicalOr:
      return map_terms(a, b, out, n, [](Word x, Word y) { return Word((x | y) != 0); });
    case AluOp::LogicalXor:
      return map_terms(a, b, out, n, [](Word x, Word y) { return Word((x != 0) != (y != 0)); });
    case AluOp::BitwiseAnd:
      return map_terms(a, b, out, n, [](Word x, Word y) { return x & y; });
    case AluOp::BitwiseOr:
      return map_terms(a, b, out, n, [](Word x, Word y) { return x | y; });
    case AluOp::BitwiseXor:
      return map_terms(a, b, out, n, [](Word x, Word y) { return x ^ y; });
    case AluOp::Invert:
      return map_terms(a, b, out, n, [](Word x, Word) { return ~x; });
    case AluOp::LeftShift:
      return map_terms(a, b, out, n, [=](Word x, Word y) { return y < width ? (x << (y & 31)) & mask : Word(0); });
    case AluOp::RightShift:
      return map_terms(a, b, out, n, [=](Word x, Word y) { return y < width ? (x & mask) >> (y & 31) : Word(0); });
    default:
      if (signedness == Signedness::Signed) return ordered<std::int32_t>(op, a, b, out, n);
      return ordered<std::uint32_t>(op, a, b, out, n);
  }
}

}  // namespace trn::neuron::sim
