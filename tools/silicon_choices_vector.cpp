// Questions about the Vector Engine, integers and conversions: choices 7, 8, 10 to 15, 29 to 31.
#include <cmath>
#include <limits>

#include "silicon_choice.hpp"

namespace trn::tools::silicon {

namespace {

using tile::Access;
using tile::AluOp;
using tile::Engine;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Values wide(const std::vector<float>& v) { return {v.begin(), v.end()}; }

Question maximum(const tile::Machine& machine) {
  Question q(7, "maximum of NaN and of zeros of both signs", machine);
  const Access a = q.tile("a", DType::Float32, 1, 4, wide({kNan, 1, 0.0f, -0.0f}));
  const Access b = q.tile("b", DType::Float32, 1, 4, wide({1, kNan, -0.0f, 0.0f}));
  const Access o = q.empty("o", DType::Float32, 1, 4);
  q.b.tensor_tensor(o, a, b, AluOp::Maximum, Engine::Vector);
  q.answer(o);
  q.rule("NaN propagates, a tie gives the second operand", floats({kNan, kNan, -0.0f, 0.0f}));
  q.rule("NaN propagates, a tie gives the first operand", floats({kNan, kNan, 0.0f, -0.0f}));
  q.rule("NaN propagates, +0 is larger than -0", floats({kNan, kNan, 0.0f, 0.0f}));
  q.rule("numbers win over NaN, a tie gives the second operand", floats({1, 1, -0.0f, 0.0f}));
  q.rule("numbers win over NaN, a tie gives the first operand", floats({1, 1, 0.0f, -0.0f}));
  q.rule("numbers win over NaN, +0 is larger than -0", floats({1, 1, 0.0f, 0.0f}));
  q.rule("a > b ? a : b", floats({1, kNan, -0.0f, 0.0f}));
  q.rule("a < b ? b : a", floats({kNan, 1, 0.0f, -0.0f}));
  return q;
}

Question truth(const tile::Machine& machine) {
  Question q(8, "results of comparisons; NaN as a truth value", machine);
  const Access a = q.tile("a", DType::Float32, 1, 4, wide({2, 1, kNan, kNan}));
  const Access b = q.tile("b", DType::Float32, 1, 4, wide({1, 2, 1, kNan}));
  const Access o = q.empty("o", DType::Float32, 1, 12);
  q.b.tensor_tensor(o(tile::all, tile::ds(0, 4)), a, b, AluOp::Greater, Engine::Vector);
  q.b.tensor_tensor(o(tile::all, tile::ds(4, 4)), a, b, AluOp::NotEqual, Engine::Vector);
  q.b.tensor_tensor(o(tile::all, tile::ds(8, 4)), a, b, AluOp::LogicalAnd, Engine::Vector);
  q.answer(o);
  q.rule("1 and 0; NaN counts as true", floats({1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}));
  q.rule("1 and 0; NaN counts as false", floats({1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0}));
  const float all = std::bit_cast<float>(0xffffffffu);
  q.rule("all ones and 0; NaN counts as true", floats({all, 0, 0, 0, all, all, all, all, all, all, all, all}));
  q.rule("1 and 0; NaN is equal to everything", floats({1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 1}));
  return q;
}

Question scan(const tile::Machine& machine) {
  Question q(10, "precision of the running value of a scan", machine);
  constexpr std::size_t kLength = 256;
  const Values x(kLength, 1.0 / 128), one(kLength, 1);
  const Access a = q.tile("one", DType::BFloat16, 1, kLength, one), b = q.tile("x", DType::BFloat16, 1, kLength, x);
  const Access o = q.empty("o", DType::BFloat16, 1, kLength);
  q.b.tensor_tensor_scan(o, a, b, 1.0, AluOp::Multiply, AluOp::Add);
  q.answer(o);
  Values kept, narrow;
  float wide_sum = 1, narrow_sum = 1;
  for (std::size_t i = 0; i < kLength; ++i) {
    wide_sum += 1.0f / 128;
    narrow_sum = bfloat16(narrow_sum + 1.0f / 128);
    kept.push_back(wide_sum);
    narrow.push_back(narrow_sum);
  }
  q.rule("fp32, each element rounded for dst only", as(DType::BFloat16, kept));
  q.rule("rounded to dst's type at every step", as(DType::BFloat16, narrow));
  return q;
}

Question overlap(const tile::Machine& machine) {
  Question q(11, "a copy whose destination overlaps its source by one element", machine);
  std::vector<float> x, moved{0}, rippled;
  for (int i = 0; i < 64; ++i) {
    x.push_back(static_cast<float>(i));
    if (i < 63) moved.push_back(static_cast<float>(i));
    rippled.push_back(0);
  }
  const Access t = q.tile("x", DType::Float32, 1, 64, wide(x));
  q.b.tensor_copy(t(tile::all, tile::ds(1, 63)), t(tile::all, tile::ds(0, 63)), Engine::Vector);
  q.answer(t);
  q.rule("the row is read before it is written", floats(moved));
  q.rule("element by element", floats(rippled));
  return q;
}

Question vector_integers(const tile::Machine& machine) {
  Question q(12, "integers on the Vector Engine", machine);
  const Access a = q.tile("a", DType::Int32, 1, 4, words({16777217, 2147483647, 5, 0x80000000u}));
  const Access b = q.tile("b", DType::Int32, 1, 4, words({2, 1, 0xfffffff6u, 0xffffffffu}));
  const Access o = q.empty("o", DType::Int32, 1, 4);
  q.b.tensor_tensor(o, a, b, AluOp::Add, Engine::Vector);
  q.answer(o);
  // 2^24 + 1 becomes 2^24 (ties to even), and 2^24 + 2 is a number of fp32.
  q.rule("through fp32, saturating", words({16777218, 2147483647, 0xfffffffbu, 0x80000000u}));
  q.rule("exact modulo 2^32", words({16777219, 0x80000000u, 0xfffffffbu, 0x7fffffffu}));
  q.rule("exact, saturating", words({16777219, 2147483647, 0xfffffffbu, 0x80000000u}));
  q.rule("through fp32, wrapping", words({16777218, 0x80000000u, 0xfffffffbu, 0x80000000u}));
  return q;
}

Question gpsimd_integers(const tile::Machine& machine) {
  Question q(13, "integers on GpSimd", machine);
  const Access a = q.tile("a", DType::UInt32, 1, 3, words({0xffffffffu, 16777217, 70000}));
  const Access b = q.tile("b", DType::UInt32, 1, 3, words({3, 3, 70001}));
  const Access o = q.empty("o", DType::UInt32, 1, 3);
  q.b.tensor_tensor(o, a, b, AluOp::Multiply, Engine::GpSimd);
  q.answer(o);
  q.rule("exact modulo 2^32", words({0xfffffffdu, 50331651, static_cast<std::uint32_t>(70000ull * 70001)}));
  q.rule("exact, saturating", words({0xffffffffu, 50331651, 0xffffffffu}));
  q.rule("through fp32, saturating", words({0xffffffffu, 50331648, 0xffffffffu}));
  return q;
}

Question copy_integers(const tile::Machine& machine) {
  Question q(14, "tensor_copy from int32 to uint32", machine);
  const Access a = q.tile("a", DType::Int32, 1, 2, words({16777217, 0xffffffffu}));
  const Access o = q.empty("o", DType::UInt32, 1, 2);
  q.b.tensor_copy(o, a, Engine::Vector);
  q.answer(o);
  q.rule("through fp32, saturating", words({16777216, 0}));
  q.rule("through fp32, wrapping", words({16777216, 0xffffffffu}));
  q.rule("exact, saturating", words({16777217, 0}));
  q.rule("bits are moved", words({16777217, 0xffffffffu}));
  return q;
}

Question shifts(const tile::Machine& machine) {
  Question q(15, "shifts by the width or more", machine);
  const Access a = q.tile("a", DType::UInt32, 1, 3, words({0x80000001u, 0x80000001u, 0x80000001u}));
  const Access b = q.tile("b", DType::UInt32, 1, 3, words({31, 32, 33}));
  const Access o = q.empty("o", DType::UInt32, 1, 6);
  q.b.tensor_tensor(o(tile::all, tile::ds(0, 3)), a, b, AluOp::LeftShift, Engine::Vector);
  q.b.tensor_tensor(o(tile::all, tile::ds(3, 3)), a, b, AluOp::RightShift, Engine::Vector);
  q.answer(o);
  q.rule("0", words({0x80000000u, 0, 0, 1, 0, 0}));
  q.rule("modulo the width", words({0x80000000u, 0x80000001u, 2, 1, 0x80000001u, 0x40000000u}));
  q.rule("as if by 31", words({0x80000000u, 0x80000000u, 0x80000000u, 1, 1, 1}));
  return q;
}

constexpr float kTiny = 1e-40f;

Question denormals(const tile::Machine& machine, const char* where) {
  Question q(29, std::string("denormals on the ") + where, machine);
  const std::vector<float> x{kTiny, -kTiny, std::numeric_limits<float>::min(), 1};
  const Access t = q.tile("x", DType::Float32, 1, 4, wide(x)), o = q.empty("o", DType::Float32, 1, 4);
  const std::string engine = where;
  if (engine == "Vector Engine") q.b.tensor_scalar(o, t, AluOp::Multiply, 0.5, {.engine = Engine::Vector});
  if (engine == "GpSimd") {
    q.b.tensor_tensor(o, t, q.tile("half", DType::Float32, 1, 4, Values(4, 0.5)), AluOp::Multiply, Engine::GpSimd);
  }
  if (engine == "Scalar Engine") q.b.activation(o, tile::ActFunction::Copy, t, {.scale = 0.5});
  q.answer(o);
  const float half = std::numeric_limits<float>::min() / 2;
  q.rule("kept", floats({kTiny / 2, -kTiny / 2, half, 0.5f}));
  q.rule("flushed to zero, the sign kept", floats({0.0f, -0.0f, 0.0f, 0.5f}));
  q.rule("flushed to +0", floats({0.0f, 0.0f, 0.0f, 0.5f}));
  q.rule("operands are flushed, results are kept", floats({0.0f, -0.0f, half, 0.5f}));
  return q;
}

Question matmul_denormals(const tile::Machine& machine) {
  Question q(29, "denormals on the Tensor Engine", machine);
  const Access a = q.tile("a", DType::Float32, 1, 1, Values{0.5});
  const Access b = q.tile("b", DType::Float32, 1, 3, wide({kTiny, std::numeric_limits<float>::min(), 1}));
  const Access c = q.b.psum("c", 1, {3});
  q.b.nc_matmul(c, a, b);
  q.answer(c, true);
  const float half = std::numeric_limits<float>::min() / 2;
  q.rule("kept", floats({kTiny / 2, half, 0.5f}));
  q.rule("flushed to zero", floats({0, 0, 0.5f}));
  q.rule("operands are flushed, results are kept", floats({0, half, 0.5f}));
  return q;
}

Question fp8_overflow(const tile::Machine& machine, DType dtype, double largest) {
  Question q(30, std::string("overflow of ") + std::string(name(dtype)), machine);
  const Access x = q.tile("x", DType::Float32, 1, 4, wide({1e6f, -1e6f, kInf, 1}));
  const Access o = q.empty("o", dtype, 1, 4);
  q.b.tensor_copy(o, x, Engine::Vector);
  q.answer(o);
  const Bytes plain = as(dtype, {1e6, -1e6, INFINITY, 1});
  const bool has_infinity = dtype != DType::Float8E4M3FN;
  q.rule(has_infinity ? "infinity" : "NaN", plain);
  q.rule("the largest number", as(dtype, {largest, -largest, largest, 1}));
  if (has_infinity) q.rule("the largest number, infinity stays", as(dtype, {largest, -largest, INFINITY, 1}));
  return q;
}

Question nan_to_integer(const tile::Machine& machine) {
  Question q(31, "NaN to an integer", machine);
  const Access x = q.tile("x", DType::Float32, 1, 2, wide({kNan, -kNan})), o = q.empty("o", DType::Int32, 1, 2);
  q.b.tensor_copy(o, x, Engine::Vector);
  q.answer(o);
  q.rule("0", words({0, 0}));
  q.rule("the lowest integer", words({0x80000000u, 0x80000000u}));
  q.rule("the largest integer", words({0x7fffffffu, 0x7fffffffu}));
  q.rule("the largest or lowest integer by the sign", words({0x7fffffffu, 0x80000000u}));
  return q;
}

}  // namespace

void add_vector_questions(std::vector<Question>& all, const tile::Machine& machine) {
  all.push_back(maximum(machine));
  all.push_back(truth(machine));
  all.push_back(scan(machine));
  all.push_back(overlap(machine));
  all.push_back(vector_integers(machine));
  all.push_back(gpsimd_integers(machine));
  all.push_back(copy_integers(machine));
  all.push_back(shifts(machine));
  for (const char* where : {"Vector Engine", "GpSimd", "Scalar Engine"}) all.push_back(denormals(machine, where));
  all.push_back(matmul_denormals(machine));
  all.push_back(fp8_overflow(machine, DType::Float8E4M3, 240));
  all.push_back(fp8_overflow(machine, DType::Float8E5M2, 57344));
  if (machine.name == "trn3") all.push_back(fp8_overflow(machine, DType::Float8E4M3FN, 448));
  all.push_back(nan_to_integer(machine));
}

}  // namespace trn::tools::silicon
